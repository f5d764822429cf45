"""What is counted by the column is what the rules say pair by pair, in random worlds, on both databases."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.records import AgreementVerdict
from annotator.agreement.service import compute_agreement, summarize_agreement
from annotator.dataset.coverage_counts import measure_coverage
from annotator.dataset.coverage_service import measure_dataset_coverage
from annotator.dataset.records import QueryFacts
from annotator.domain.people import OPERATOR
from annotator.domain.settling import OPEN, PAIR_STATUSES
from annotator.overview.records import CountedPair, count_pairs
from annotator.overview.service import show_overview
from annotator.releases.gates import SHOWN, is_on_older_text, is_stale
from annotator.releases.gates_service import read_older_sources, survey_pairs
from annotator.releases.releases_sql import find_latest_release, is_published
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pair_states import PairState, bring_in, list_pair_states, list_queries
from annotator.storage.tables.adjudication import DisagreementRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import CheckRow
from tests.integration.guideline_world import GuidelineWorld
from tests.integration.judged_world import NOW
from tests.integration.published_world import PublishedWorld

DOCUMENTS = ("甲", "乙", "가", "나", "é", "Z", "a", "10", "9")


class RandomWorld(GuidelineWorld):
    """Queries and pairs that random things happened to."""

    def __init__(self, database: Database, folder: Path, seed: int) -> None:
        super().__init__(database, folder)
        self.dice = random.Random(seed)
        self.people = [self.hanako, self.minjun, self.person("third"), self.person("fourth", simulated=True)]
        for number in range(3, 6):
            self.query(f"Q{number}", f"検索 {number}")
        self.queries_and_documents = [("Q1", "d1"), ("Q1", "d2"), ("Q2", "d3"), ("Q2", "d4")]
        for number in range(1, 6):
            for document in self.dice.sample(DOCUMENTS, 6):
                self.pair(f"Q{number}", document, text=f"本文 {document}")
                self.queries_and_documents.append((f"Q{number}", document))
        acts = (
            [self._judge] * 12 + [self._decide] * 3 + [self._control, self._import, self._mark, self._retire]
        )
        for step in range(110):
            if step == 55:
                self.publish(self.lea, change="semantic", why="意味が変わった", definition=f"新 {seed}")
            if step == 80:
                self.bring(
                    {document: f"新しい本文 {document}" for document in self.dice.sample(DOCUMENTS, 2)}
                )
            self.dice.choice(acts)()

    def _judge(self) -> None:
        grade = self.dice.choice((0, 0, 1, 2, None))
        outcome = "later" if grade is None and self.dice.random() < 0.5 else None
        purpose = self.dice.choice(("independent",) * 6 + ("conditional",))
        self.judge(
            self.dice.choice(self.people), *self.dice.choice(self.queries_and_documents), grade,
            outcome=outcome, purpose=purpose,
        )  # fmt: skip

    def _decide(self) -> None:
        self.add_decision(self.lea, *self.dice.choice(self.queries_and_documents), self.dice.randrange(4))

    def _control(self) -> None:
        pair = self.dice.choice(self.queries_and_documents)
        grades = {(state.query_id, state.doc_id): state.settlement.grade for state in self.read_states()}
        settled = grades.get(pair)
        if settled is not None:
            self.check_quality(self.lou, *pair, (settled + self.dice.choice((0, 1, 1))) % 4, settled=settled)

    def _import(self) -> None:
        states = self.read_states()
        unjudged = [state for state in states if state.settlement.status == "unjudged"]
        pair_pk = self.dice.choice(unjudged or states).pair_pk
        row = {
            "pair_pk": pair_pk, "grade": self.dice.randrange(4), "keep": self.dice.random() < 0.8,
            "source": {"kind": "qrels"}, "description": None, "note": None, "annotator_grades": [], "extra": {},
            "imported_at": NOW,
        }  # fmt: skip
        with self.database.write() as session:
            bring_in(session, self.dataset_pk, [row])

    def _mark(self) -> None:
        with self.database.write() as session:
            marked = set(session.scalars(select(col(CheckRow.pair_pk))))
            pair_pk = self.dice.choice([s.pair_pk for s in list_pair_states(session, self.dataset_pk)])
            if pair_pk not in marked:
                session.add(CheckRow(pair_pk=pair_pk, kind="gold", grade=1, explanation="", marked_at=NOW))

    def _retire(self) -> None:
        pair_pk = self.dice.choice([state.pair_pk for state in self.read_states()])
        with self.database.write() as session:
            session.execute(update(PairRow).where(col(PairRow.pk) == pair_pk).values(retired_at=NOW))

    def read_states(self) -> list[PairState]:
        with self.database.read() as session:
            return list_pair_states(session, self.dataset_pk)


def name(states: Sequence[PairState]) -> tuple[int, list[tuple[str, str]]]:
    return len(states), [(state.query_id, state.doc_id) for state in states[:SHOWN]]


def survey_plainly(session: Session, dataset_pk: int) -> dict[str, Any]:
    """The figures of a release, pair by pair."""
    states, older = list_pair_states(session, dataset_pk), read_older_sources(session, dataset_pk)
    stale, on_text, on_both = list[PairState](), 0, 0
    for state in states:
        if state.settlement.grade is None:
            continue
        lowest, status = older.judged_under.get(state.pair_pk), state.settlement.status
        meaning = is_stale(
            older.meaning_since, status=status, judged_under=() if lowest is None else (lowest,),
            decided_under=older.decided_under.get(state.pair_pk),
        )  # fmt: skip
        text = is_on_older_text(
            status,
            judged=state.pair_pk in older.judged_on_older,
            decided=state.pair_pk in older.decided_on_older,
        )
        if meaning or text:
            stale.append(state)
            on_text, on_both = on_text + text, on_both + (meaning and text)
    of_query: dict[int, list[int]] = {}
    for state in states:
        if state.settlement.grade is not None:
            of_query.setdefault(state.query_pk, [0, 0, 0, 0])[state.settlement.grade] += 1
    return {
        "statuses": Counter(state.settlement.status for state in states),
        "by_grade": Counter(s.settlement.grade for s in states if s.settlement.grade is not None),
        "of_query": {query_pk: tuple(counts) for query_pk, counts in of_query.items()},
        "with_open_pairs": {state.query_pk for state in states if state.settlement.status in OPEN},
        "opened": name([state for state in states if state.settlement.status in OPEN]),
        "short": name([state for state in states if state.lacking]),
        "stale": name(stale),
        "stale_text": on_text,
        "stale_both": on_both,
    }


def count_plainly(session: Session, dataset_pk: int) -> Any:
    """The counts of the overview, pair by pair."""
    waiting = set(
        session.scalars(
            select(col(DisagreementRow.pair_pk)).where(
                col(DisagreementRow.dataset_pk) == dataset_pk, col(DisagreementRow.open)
            )
        )
    )
    marked = set(session.scalars(select(col(CheckRow.pair_pk))))
    return count_pairs(
        CountedPair(
            state.settlement.status, state.lacking > 0, bool(state.grades or state.unrateable),
            state.pair_pk in waiting, state.pair_pk in marked,
        )
        for state in list_pair_states(session, dataset_pk)
    )  # fmt: skip


@pytest.mark.parametrize("seed", [4, *(pytest.param(seed, marks=pytest.mark.long) for seed in (8, 9))])
def test_counts_by_the_column_are_those_pair_by_pair(database: Database, tmp_path: Path, seed: int) -> None:
    world = RandomWorld(database, tmp_path, seed)
    overview = show_overview(database, OPERATOR, "d")
    with database.read() as session:
        row = find_dataset(session, "d")
        plain = survey_plainly(session, world.dataset_pk)
        settled = read_settlements(session, world.dataset_pk)
        survey = survey_pairs(session, row, settled)
        counted = {
            field: (value.count, list(value.first))
            if hasattr(value := getattr(survey.pairs, field), "first")
            else value
            for field in plain
        }
        assert counted == plain
        queries = list_queries(session, world.dataset_pk)
        facts = [
            QueryFacts(query, plain["of_query"].get(pk, (0, 0, 0, 0)), pk in plain["with_open_pairs"])
            for pk, query in queries.items()
        ]
        coverage = measure_coverage(facts, row.requirements)
        assert measure_dataset_coverage(settled, queries, row.requirements) == coverage == overview.coverage
        assert overview.pairs == count_plainly(session, world.dataset_pk)
        states = list_pair_states(session, world.dataset_pk)
        assert overview.lacking == sum(state.lacking for state in states)
        verdict = summarize_agreement(session, row, settled=settled).verdict
        assert verdict == summarize_agreement(session, row).verdict
    assert verdict == compute_agreement(database, OPERATOR, "d").verdict
    assert isinstance(verdict, AgreementVerdict)


def test_a_random_world_has_every_status_and_stale_pairs(database: Database, tmp_path: Path) -> None:
    """Otherwise the comparison above would prove little."""
    world = RandomWorld(database, tmp_path, 8)
    with database.read() as session:
        plain = survey_plainly(session, world.dataset_pk)
    assert {*plain["statuses"]} == {*PAIR_STATUSES}
    assert plain["stale"][0] > plain["stale_text"] > 0


def test_a_release_differs_from_what_is_settled_as_soon_as_one_grade_does(database: Database) -> None:
    world = PublishedWorld(database)
    ann, bea = world.person("ann"), world.person("bea")
    grades = {("Q1", "甲"): 2, ("Q1", "乙"): 0, ("Q2", "甲"): 0}
    for query_id in ("Q1", "Q2"):
        world.query(query_id, query_id)
        for doc_id in ("甲", "乙"):
            world.pair(query_id, doc_id)
    for (query_id, doc_id), grade in grades.items():
        for person in (ann, bea):
            world.judge(person, query_id, doc_id, grade)

    def compare(published: dict[tuple[str, str], int], version: str) -> bool:
        qrels = [(query_id, doc_id, grade, {}) for (query_id, doc_id), grade in published.items()]
        world.publish(version, qrels, texts=None, hour=int(version))
        with database.read() as session:
            release = find_latest_release(session, world.dataset_pk)
            assert release is not None
            settled = read_settlements(session, world.dataset_pk)
            return is_published(
                session, world.dataset_pk, key_of(release.pk), settled.pair, settled.map_settled()
            )

    assert compare(grades, "1")
    assert not compare({("Q1", "甲"): 2, ("Q1", "乙"): 0}, "2"), "a pair more is settled now"
    assert not compare({**grades, ("Q1", "乙"): 1}, "3"), "another grade"
    assert not compare({**grades, ("Q1", "甲"): 0, ("Q1", "乙"): 2}, "4"), "the same grades on other pairs"
    assert not compare({("Q1", "甲"): 2, ("Q1", "乙"): 0, ("Q2", "gone"): 0}, "5"), (
        "a document that is not there"
    )
