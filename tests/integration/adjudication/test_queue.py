"""The queue as leads ask for it, on both databases: what each filter lets through, each order, and what a row says of its pair."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update
from sqlmodel import col

from annotator.adjudication.queue.queue_records import SORTS, QueueFilter
from annotator.adjudication.queue.queue_service import find_disagreements, list_queue
from annotator.domain.settling import QueueReason
from annotator.overview.service import keep_answers
from annotator.storage.database import Database
from annotator.storage.lookup import find_pair_pk
from annotator.storage.tables.adjudication import (
    DisagreementAssignmentRow,
    DisagreementHoldRow,
    DisagreementRow,
    PutOffDisagreementRow,
    ScoreDueRow,
)
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

SOON = NOW + timedelta(minutes=5)


class Queue(JudgedWorld):
    """Five open disagreements a, b, c, d, f of three queries, and e, which is decided; `lea` asks."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        ann, bea, cho = self.person("ann"), self.person("bea"), self.person("cho")
        self.lea, self.lou = self.person("lea", "lead"), self.person("lou", "lead")
        for query_id, category in (("Q2", "law"), ("Q1", None), ("Q3", "setup")):
            self.query(query_id, "一", category=category)
        self.keys: dict[str, str] = {}
        for query_id, doc_id, given in (
            ("Q2", "a", ((ann, 0), (bea, 3))), ("Q2", "b", ((ann, 2), (cho, 3))),
            ("Q1", "c", ((bea, 0), (cho, 2))), ("Q1", "d", ((ann, 1), (bea, None), (self.lea, 1))),
            ("Q3", "e", ((ann, 0), (bea, 3))), ("Q3", "f", ((ann, 1), (bea, 2))),
        ):  # fmt: skip
            self.keys[doc_id] = self.pair(query_id, doc_id)
            for who, grade in given:
                self.judge(who, query_id, doc_id, grade)
        self.judge(cho, "Q2", "a", 3, purpose="conditional")
        self.judge(cho, "Q3", "f", None, outcome="later")
        self.add_decision(self.lou, "Q3", "e", 1)
        for doc_id, impact in (("a", 0.1), ("b", 0.9), ("c", 0.5), ("d", 0.5), ("f", 0.3)):
            self.set(doc_id, impact=impact, taste=doc_id == "b", flips={"c": 2, "f": 0}.get(doc_id))
        self.set("f", since=NOW - timedelta(days=1))
        with database.write() as session:
            session.execute(delete(ScoreDueRow))  # or they would be computed anew, without a run
        keep_answers(database, self.lea, "d", now=NOW)

    def find_pk(self, doc_id: str) -> int:
        with self.database.read() as session:
            return find_pair_pk(session, self.dataset_pk, self.keys[doc_id]) or 0

    def set(self, doc_id: str, **values: Any) -> None:
        pair_pk = self.find_pk(doc_id)
        with self.database.write() as session:
            session.execute(
                update(DisagreementRow).where(col(DisagreementRow.pair_pk) == pair_pk).values(**values)
            )

    def add(self, row: type[Any], doc_id: str, **values: Any) -> None:
        with_pair = row.model_validate({"pair_pk": self.find_pk(doc_id), **values})
        with self.database.write() as session:
            session.add(with_pair)

    def ask(self, *, sort: str = "distance", **wanted: Any) -> str:
        """The documents that the filter lets through, in order; the same a page at a time, counted and as a whole."""
        queue_filter = QueueFilter(**wanted)
        page = list_queue(self.database, self.lea, "d", queue_filter, sort=sort, now=NOW)
        doc_ids = "".join(item.doc_id for item in page.items)
        whole = find_disagreements(
            self.database, self.lea, "d", queue_filter=queue_filter, sort=sort, now=NOW
        )
        assert "".join(item.doc_id for item in whole) == doc_ids
        part = list_queue(self.database, self.lea, "d", queue_filter, sort=sort, offset=1, limit=2, now=NOW)
        assert "".join(item.doc_id for item in part.items) == doc_ids[1:3]
        assert page.total == part.total == len(doc_ids)
        return doc_ids


@pytest.fixture
def queue(copy_world: CopyWorld) -> Queue:
    return copy_world(Queue)


def test_each_order_puts_first_what_it_says_and_among_equals_the_furthest_apart_then_the_oldest(
    queue: Queue,
) -> None:
    assert {sort: queue.ask(sort=sort) for sort in SORTS} == {
        "distance": "acfbd",
        "impact": "bcdfa",
        "age": "fabcd",
        "query": "abcdf",
        "category": "abfcd",
        "grades": "cafbd",
        "annotators": "afbdc",
    }


def test_decided_ones_come_after_open_ones_and_what_oneself_put_off_last_of_these(queue: Queue) -> None:
    queue.add(PutOffDisagreementRow, "a", lead_pk=queue.lou.person_id, put_off_at=NOW)
    queue.add(PutOffDisagreementRow, "b", lead_pk=queue.lea.person_id, put_off_at=NOW)
    assert queue.ask(shown="all") == "acfdbe"
    assert queue.ask(shown="all", sort="impact") == "cdfabe"


def test_each_filter_lets_through_what_it_says(queue: Queue) -> None:
    queue.set("e", reasons=int(QueueReason.DIFFER | QueueReason.STALE), waiting=0)
    queue.set("a", reasons=int(QueueReason.DIFFER | QueueReason.QUESTION), waiting=int(QueueReason.DIFFER))
    queue.add(DisagreementAssignmentRow, "a", lead_pk=queue.lou.person_id, assigned_at=NOW)
    queue.add(DisagreementAssignmentRow, "c", lead_pk=queue.lea.person_id, assigned_at=NOW)
    for wanted, expected in (
        ({"shown": "decided"}, "e"), ({"shown": "all"}, "acfbde"),
        ({"reasons": QueueReason.UNRATEABLE}, "d"), ({"reasons": QueueReason.UNRATEABLE | QueueReason.DIFFER}, "acfbd"),
        ({"reasons": QueueReason.QUESTION}, ""), ({"reasons": QueueReason.STALE, "shown": "all"}, "e"),
        ({"query_id": "Q1"}, "cd"), ({"category": "law"}, "ab"), ({"category": ""}, "cd"),
        ({"annotators": ("cho",)}, "cb"), ({"annotators": ("ann", "bea")}, "afd"), ({"annotators": ("lou",)}, ""),
        ({"grades": (0, 3)}, "a"), ({"grades": (0, 2)}, "c"), ({"grades": (1, 2)}, "f"), ({"distance": 1}, "fbd"),
        ({"taste": True}, "b"), ({"taste": False}, "acfd"), ({"flips": True}, "c"),
        ({"assigned": "lou"}, "a"), ({"assigned": "lea"}, "c"), ({"assigned": ""}, "fbd"),
        ({"category": "law", "taste": False, "annotators": ("bea",)}, "a"),
    ):  # fmt: skip
        assert queue.ask(**wanted) == expected, wanted  # type: ignore[arg-type]


def test_what_is_open_is_counted_whatever_the_filter(queue: Queue) -> None:
    queue.set("e", reasons=int(QueueReason.DIFFER | QueueReason.QUALITY), waiting=0)
    page = list_queue(queue.database, queue.lea, "d", QueueFilter(shown="decided"), now=NOW)
    assert (page.total, page.open, page.decided, page.due) == (1, 5, 1, 0)
    assert {reason: n for reason, n in page.by_reason.items() if n} == {
        QueueReason.DIFFER: 4,
        QueueReason.UNRATEABLE: 1,
    }
    assert not page.items[0].reopened, "it was, and is decided"
    queue.set("a", waiting=int(QueueReason.QUALITY))
    page = list_queue(queue.database, queue.lea, "d", QueueFilter(), now=NOW)
    assert [item.status for item in page.items if item.reopened] == ["open"]


def test_a_row_says_who_has_its_pair_now_and_what_the_reader_did_with_it(queue: Queue) -> None:
    for doc_id, lead, until in (("a", queue.lou, SOON), ("b", queue.lea, SOON), ("c", queue.lou, NOW)):
        queue.add(DisagreementHoldRow, doc_id, lead_pk=lead.person_id, tab="t", expires_at=until)
    queue.add(DisagreementAssignmentRow, "c", lead_pk=queue.lou.person_id, assigned_at=NOW)
    queue.add(PutOffDisagreementRow, "b", lead_pk=queue.lou.person_id, put_off_at=NOW)
    queue.add(PutOffDisagreementRow, "f", lead_pk=queue.lea.person_id, put_off_at=NOW)
    rows = list_queue(queue.database, queue.lea, "d", QueueFilter(shown="all"), now=NOW).items
    assert {row.doc_id: row.held_by for row in rows if row.held_by} == {"a": "lou"}
    assert {row.doc_id: row.assigned_to for row in rows if row.assigned_to} == {"c": "lou"}
    assert [row.doc_id for row in rows if row.put_off] == ["f"]
    assert [row.doc_id for row in rows if row.yours] == ["d"]
    assert [(row.doc_id, row.decided) for row in rows if row.status == "decided"] == [("e", 1)]
