"""Policies: what a lead settles at once where grades differ only by taste, on both databases."""

import threading
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import (
    adjudicate_file,
    list_batches,
    list_pairs_to_settle,
    preview_policy,
    settle_by_policy,
    undo_batch,
)
from annotator.adjudication.bulk.policies import PolicyPreview
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.questions_service import ask_question
from annotator.overview.service import keep_answers
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import count_queries
from annotator.storage.logs.disclosures import has_seen
from annotator.storage.lookup import key_of
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    AuditEventRow,
    DisagreementAssignmentRow,
    DisagreementHoldRow,
    DisagreementRow,
    DiscussionRow,
    SettleBatchRow,
)
from annotator.storage.tables.central import DocumentRow, PairRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(hours=1)
ALL = QueueFilter()


class Bench(JudgedWorld):
    """Three matters of taste (two of them 2 against 3), one across relevance, one far apart; a lead, and two who judged."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.a, self.b, self.lead = self.person("a"), self.person("b"), self.person("lead", "lead")
        self.query("Q1", "検索", category="law")
        self.query("Q2", "검색")
        for query_id, doc_id, grades in (
            ("Q1", "t1", (2, 3)), ("Q1", "t2", (3, 2)), ("Q2", "t3", (1, 2)), ("Q1", "cross", (0, 1)), ("Q1", "far", (0, 3)),
        ):  # fmt: skip
            self.pair(query_id, doc_id)
            self.judge(self.a, query_id, doc_id, grades[0])
            self.judge(self.b, query_id, doc_id, grades[1])

    def look(
        self, policy: str = "lower", wanted: QueueFilter = ALL, *, actor: Actor | None = None
    ) -> PolicyPreview:
        return preview_policy(self.database, actor or self.lead, "d", policy, wanted, now=LATER)

    def settle(self, policy: str = "lower", wanted: QueueFilter = ALL, *, digest: str | None = None, **more):
        seen = self.look(policy, wanted).digest if digest is None else digest
        return settle_by_policy(
            self.database, more.pop("actor", self.lead), "d", policy, wanted,
            rationale=more.pop("rationale", "趣味の違い"), seen_digest=seen, now=LATER,
        )  # fmt: skip

    def decided(self) -> dict[str, object]:
        disagreements = find_disagreements(self.database, self.lead, "d", now=LATER)
        return {item.doc_id: item.decided for item in disagreements if item.status == "decided"}

    def pk_of(self, doc_id: str) -> int:
        """The pair's key, without looking at the queue as a lead."""
        with self.database.read() as session:
            statement = select(col(PairRow.pk)).join(
                DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk)
            )
            return key_of(session.scalar(statement.where(col(DocumentRow.doc_id) == doc_id)))

    def pk(self, doc_id: str) -> int:
        disagreements = find_disagreements(self.database, self.lead, "d", now=LATER)
        (key,) = [item.pair for item in disagreements if item.doc_id == doc_id]
        with self.database.read() as session:
            return session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == key)).one() or 0

    def left(self, **more) -> dict[str, int]:
        return {skipped.obstacle: skipped.pairs for skipped in self.look(**more).left_out}

    def add(self, row: object) -> None:
        with self.database.write() as session:
            session.add(row)


@pytest.fixture
def bench(copy_world: CopyWorld) -> Bench:
    return copy_world(Bench)


def test_the_pairs_are_listed_before_they_are_settled_page_by_page(bench: Bench) -> None:
    look = partial(list_pairs_to_settle, bench.database, bench.lead, "d", "higher", ALL, limit=2, now=LATER)
    first, second, behind = look(), look(offset=2), look(offset=40)
    assert first.preview.pairs == 3 and (first.offset, second.offset, behind.offset) == (0, 2, 2)
    listed = [*first.pairs, *second.pairs]
    assert sorted((pair.query_id, pair.query, pair.doc_id, pair.grades, pair.grade) for pair in listed) == [
        ("Q1", "検索", "t1", (2, 3), 3),
        ("Q1", "検索", "t2", (2, 3), 3),
        ("Q2", "검색", "t3", (1, 2), 2),
    ]
    assert behind == second
    assert first.preview == bench.look("higher")
    with pytest.raises(NotAllowed):
        list_pairs_to_settle(bench.database, bench.a, "d", "higher", ALL, limit=2, now=LATER)


def test_what_a_lead_may_still_judge_is_not_listed_and_what_is_listed_they_no_longer_judge(
    bench: Bench,
) -> None:
    with bench.database.write() as session:
        session.execute(update(PairRow).where(col(PairRow.pk) == bench.pk_of("t1")).values(lacking=1))
        count_queries(session, session.scalars(select(col(PairRow.query_pk)).distinct()))
    listed = list_pairs_to_settle(bench.database, bench.lead, "d", "lower", ALL, limit=9, now=LATER)
    assert {pair.doc_id for pair in listed.pairs} == {"t2", "t3"}
    assert (listed.blind_pairs, listed.preview.pairs) == (1, 2)
    with bench.database.read() as session:
        seen = {
            doc_id
            for doc_id in ("t1", "t2", "t3")
            if has_seen(session, bench.pk_of(doc_id), bench.lead.person_id or 0)
        }
    assert seen == {"t2", "t3"}


def test_a_preview_says_what_would_be_settled_and_what_is_left_and_changes_nothing(bench: Bench) -> None:
    view = bench.look()
    assert [(settled.low, settled.high, settled.grade, settled.pairs) for settled in view.by_grades] == [
        (1, 2, 1, 1),
        (2, 3, 2, 2),
    ]
    assert (view.pairs, view.impact_sum, view.impact_mean) == (3, None, None)
    assert {skipped.obstacle: skipped.pairs for skipped in view.left_out} == {"not_taste": 2}
    assert bench.look("higher", QueueFilter(query_id="Q2")).by_grades[0].grade == 2
    assert bench.look("lower", QueueFilter(category="law", shown="all")).pairs == 2
    assert bench.decided() == {}


def test_the_impact_of_what_is_settled_is_summed_where_runs_are_known(bench: Bench) -> None:
    with bench.database.write() as session:
        session.execute(
            update(DisagreementRow).values(impact=0.25, recall_impact=0.0, mrr_impact=0.0, flips=1)
        )
    view = bench.look()
    assert (view.impact_sum, view.impact_mean, view.flips) == (0.75, 0.25, 3)


def test_settling_decides_what_was_shown_as_one_batch_with_its_trail(bench: Bench) -> None:
    batch = bench.settle("lower")
    assert bench.decided() == {"t1": 2, "t2": 2, "t3": 1}
    assert (batch.policy, batch.rationale, batch.pairs, batch.holding) == ("lower", "趣味の違い", 3, 3)
    assert (batch.lead, batch.made_at, batch.undone_at) == ("lead", LATER, None)
    assert list_batches(bench.database, bench.lead, "d") == (batch,)
    with bench.database.read() as session:
        made = session.scalars(select(AdjudicationRow)).all()
        events = session.scalars(select(AuditEventRow)).all()
    assert {(decision.batch_pk, decision.rationale, decision.lead_pk) for decision in made} == {
        (batch.number, "趣味の違い", bench.lead.person_id)
    }
    assert [event.action for event in events] == ["settled by policy"] * 3
    assert {(event.after or {})["batch"] for event in events} == {batch.number}


def test_whatever_keeps_a_lead_or_a_policy_from_a_pair_leaves_it_out(bench: Bench) -> None:
    other = bench.person("other", "lead")
    assert bench.left(actor=other) == {"not_taste": 2}
    bench.judge(other, "Q2", "t3", 1)
    keep_answers(bench.database, other, "d", now=LATER)
    assert bench.left(actor=other) == {"not_taste": 2, "judged": 1}
    bench.add(
        DisagreementHoldRow(
            pair_pk=bench.pk("t1"),
            lead_pk=other.person_id or 0,
            tab="t",
            expires_at=LATER + timedelta(minutes=1),
        )
    )
    assert bench.left() == {"not_taste": 2, "held": 1}
    assert bench.left(actor=other) == {"not_taste": 2, "judged": 1}
    bench.add(
        DisagreementAssignmentRow(pair_pk=bench.pk("t2"), lead_pk=other.person_id or 0, assigned_at=LATER)
    )
    assert bench.left() == {"not_taste": 2, "held": 1, "assigned": 1}
    bench.add(DiscussionRow(pair_pk=bench.pk("t3"), asked_by_pk=other.person_id or 0, asked_at=LATER))
    assert bench.left() == {"not_taste": 2, "held": 1, "assigned": 1, "discussed": 1}
    assert bench.look().pairs == 0
    with pytest.raises(StateError, match="Nothing to settle"):
        bench.settle()


def test_a_pair_about_which_something_was_asked_is_left_to_a_lead(bench: Bench) -> None:
    with bench.database.read() as session:
        key = session.scalars(select(col(PairRow.key)).where(col(PairRow.pk) == bench.pk("t1"))).one()
    event_id = "7f3c1f0e-1111-4222-8333-944444444444"
    ask_question(bench.database, bench.a, "d", pair=key, text="どちら?", event_id=event_id, now=LATER)
    assert bench.left() == {"reason": 1, "not_taste": 2}


def test_what_changed_since_the_preview_is_said_and_nothing_is_settled(bench: Bench) -> None:
    digest = bench.look().digest
    bench.judge(bench.a, "Q1", "t1", 3)
    with pytest.raises(ConflictError, match=r"has changed from 3 to 2 since the preview"):
        bench.settle(digest=digest)
    bench.judge(bench.a, "Q1", "t1", 2)
    with pytest.raises(ConflictError, match="Judgments of these pairs have been added or changed"):
        bench.settle(digest=digest)
    with pytest.raises(ConflictError, match="The preview is out of date"):
        bench.settle(digest="")
    with pytest.raises(ConflictError):
        bench.settle("higher", digest=bench.look("lower").digest)
    assert bench.decided() == {}
    with bench.database.read() as session:
        assert session.scalars(select(SettleBatchRow)).all() == []


def test_a_policy_needs_words_a_name_and_a_lead(bench: Bench) -> None:
    for rationale in ("", " \n", "x" * 10_001):
        with pytest.raises(ValidationError):
            bench.settle(rationale=rationale)
    with pytest.raises(ValidationError, match="median, lower, higher"):
        bench.look("mean")
    stranger = JudgedWorld(bench.database, name="other").person("stranger", "lead")
    for actor in (bench.a, OPERATOR, stranger):
        with pytest.raises(NotAllowed):
            bench.look(actor=actor)
        with pytest.raises(NotAllowed):
            bench.settle(actor=actor)
        with pytest.raises(NotAllowed):
            undo_batch(bench.database, actor, "d", 1, now=LATER)
    with pytest.raises(NotAllowed):
        list_batches(bench.database, bench.a, "d")


def test_undoing_takes_back_what_holds_and_leaves_what_was_decided_anew(bench: Bench) -> None:
    other = bench.person("other", "lead")
    batch = bench.settle("median")
    data = "query_id,doc_id,grade,rationale\nQ1,t1,3,見直し\n".encode()
    adjudicate_file(bench.database, other, "d", data, "d.csv", now=LATER)
    assert list_batches(bench.database, bench.lead, "d")[0].holding == 2
    undone = undo_batch(bench.database, other, "d", batch.number, rationale="早すぎた", now=LATER)
    assert (undone.withdrawn, undone.left, undone.batch.holding) == (2, 1, 0)
    assert (undone.batch.undone_at, undone.batch.undone_by) == (LATER, "other")
    assert bench.decided() == {"t1": 3}
    assert bench.look().pairs == 2
    with bench.database.read() as session:
        last = session.scalars(
            select(AdjudicationRow).where(col(AdjudicationRow.outcome) == "withdrawn")
        ).all()
        events = session.scalars(
            select(AuditEventRow).where(col(AuditEventRow.action) == "undid policy")
        ).all()
    assert [(decision.revision, decision.rationale) for decision in last] == [(2, "早すぎた")] * 2
    assert [(event.before or {})["grade"] for event in events] == [2, 1]
    with pytest.raises(StateError, match="already been undone"):
        undo_batch(bench.database, bench.lead, "d", batch.number, now=LATER)
    again = bench.settle("higher")
    assert (again.pairs, [past_batch.number for past_batch in list_batches(bench.database, OPERATOR, "d")]) == (
        2, [again.number, batch.number],
    )  # fmt: skip


def test_a_batch_of_another_dataset_is_none_of_this_one(bench: Bench) -> None:
    batch = bench.settle()
    elsewhere = JudgedWorld(bench.database, name="other")
    lead = elsewhere.person("lead2", "lead")
    for number in (batch.number, batch.number + 1):
        with pytest.raises(NotFound):
            undo_batch(bench.database, lead, "other", number, now=LATER)
    assert len(bench.decided()) == 3


def test_a_policy_that_is_cut_off_half_way_leaves_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("annotator.adjudication.decisions_sql.add_events", fail)
    with pytest.raises(KeyboardInterrupt):
        bench.settle()
    assert bench.decided() == {}
    with bench.database.read() as session:
        assert session.scalars(select(SettleBatchRow)).all() == []


def test_of_a_policy_and_a_lead_who_decides_at_once_neither_is_overwritten(bench: Bench) -> None:
    other, digest, messages = bench.person("other", "lead"), bench.look().digest, list[str]()
    with bench.database.read() as session:
        key = session.scalars(select(col(PairRow.key)).where(col(PairRow.pk) == bench.pk("t1"))).one()
    seen = show_disagreement(bench.database, other, "d", key, now=NOW).seen

    def settle() -> None:
        try:
            bench.settle(digest=digest)
            messages.append("policy")
        except ConflictError as error:
            messages.append(str(error))

    def decide() -> None:
        try:
            adjudicate(bench.database, other, "d", key, grade=3, rationale="x", seen=seen, now=LATER)
            messages.append("lead")
        except ConflictError:
            messages.append("refused")

    threads = [threading.Thread(target=action) for action in (settle, decide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if "lead" in messages:
        assert bench.decided() == {"t1": 3}
        assert any("now it would be 2" in message for message in messages)
    else:
        assert sorted(messages) == ["policy", "refused"]
        assert bench.decided() == {"t1": 2, "t2": 2, "t3": 1}
