"""What is derived of the work that is left equals a computation from scratch, whatever happened before, on both databases."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import add_decisions
from annotator.domain.settling import allows_further, conditional_distance, find_overlap
from annotator.importing.remapping.remapping_sql import retire_pairs
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_rubric
from annotator.storage.pairs.pair_states import bring_in
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    JudgmentRow,
    PairRow,
    QueryRow,
)
from annotator.storage.tables.labeling import CheckRow, QueryAnswersRow, QueryWorkRow
from tests.integration.judged_world import JudgedWorld

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
RULES = (
    None,
    {"conditional": 2},
    {"conditional": 1, "cap": 2},
    {"category": {"law": 3}, "share": {"share": 0.5, "overlap": 1}},
    {"category": {"law": 1}, "conditional": 3, "cap": 4},
)
ANSWERS = (0, 1, 2, 3, "unrateable", "later")
PURPOSES = ("independent", "independent", "independent", "conditional", "gold", "repeat")
OTHERS = [
    "decide",
    "mark",
    "mark",
    "unmark",
    "keep",
    "reopen",
    "retire",
    "settings",
    "settings",
    "pair",
    "pair",
]


class Bench:
    """A dataset with two queries of two pairs each, and what can happen to them."""

    def __init__(self, database: Database) -> None:
        self.database, self.name = database, f"d{uuid4().hex}"
        self.world = JudgedWorld(database, name=self.name)
        self.dataset_pk, self.number, self.minutes = self.world.dataset_pk, count(), count()
        self.people = [
            self.world.person(f"{name}-{self.name}").person_id for name in ("花", "민", "an", "bo")
        ]
        self.pairs: list[int] = []
        for query, category in (("law", "law"), ("other", None)):
            self.world.query(f"{query}-{self.name}", "検索", category=category)
        with database.read() as session:
            self.rubric_pk = find_rubric(session, self.dataset_pk).pk
        for _ in range(4):
            self.pair()

    def pair(self) -> None:
        number = next(self.number)
        query = ("law", "other")[number % 2]
        key = self.world.pair(f"{query}-{self.name}", f"문서/{self.name}/{number}")
        with self.database.read() as session:
            self.pairs.append(
                session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == key)).one() or 0
            )

    def do(self, step: tuple[Any, ...]) -> None:
        kind, *rest = step
        if kind == "pair":
            self.pair()
            return
        with self.database.write() as session:
            if kind == "settings":
                dataset = session.get_one(DatasetRow, self.dataset_pk)
                dataset.overlap, dataset.overlap_rules = rest
                derive_work(session, self.dataset_pk)
            elif kind == "judge":
                self.judge(session, self.pairs[rest[0]], *rest[1:])
            else:
                getattr(self, kind)(session, self.pairs[rest[0]])

    def judge(self, session: Session, pair_pk: int, person: int, answer: int | str, purpose: str) -> None:
        at = NOON + timedelta(minutes=next(self.minutes))
        row = {
            "event_id": str(uuid4()), "pair_pk": pair_pk, "annotator_pk": self.people[person],
            "rubric_pk": self.rubric_pk, "outcome": answer if isinstance(answer, str) else "graded",
            "grade": None if isinstance(answer, str) else answer, "purpose": purpose,
            "judged_at": at, "received_at": at,
        }  # fmt: skip
        session.execute(insert(JudgmentRow), [row])
        derive_current(session, self.dataset_pk, [pair_pk])

    def decide(self, session: Session, pair_pk: int) -> None:
        row = {
            "pair_pk": pair_pk, "revision": 1 + next(self.minutes), "lead_pk": self.people[0],
            "rubric_pk": self.rubric_pk, "grade": 1, "rationale": "r", "reason": None, "decided_at": NOON,
        }  # fmt: skip
        add_decisions(session, self.dataset_pk, [row])

    def mark(self, session: Session, pair_pk: int) -> None:
        self.unmark(session, pair_pk)
        session.add(CheckRow(pair_pk=pair_pk, kind="gold", grade=1, explanation="", marked_at=NOON))
        derive_work(session, self.dataset_pk, [pair_pk])

    def unmark(self, session: Session, pair_pk: int) -> None:
        session.execute(delete(CheckRow).where(col(CheckRow.pair_pk) == pair_pk))
        derive_work(session, self.dataset_pk, [pair_pk])

    def keep(self, session: Session, pair_pk: int, *, keep: bool = True) -> None:
        row = {
            "pair_pk": pair_pk, "grade": 2, "keep": keep, "source": {"kind": "qrels"}, "description": None,
            "note": None, "annotator_grades": [], "extra": {}, "imported_at": NOON,
        }  # fmt: skip
        bring_in(session, self.dataset_pk, [row])

    def reopen(self, session: Session, pair_pk: int) -> None:
        self.keep(session, pair_pk, keep=False)

    def retire(self, session: Session, pair_pk: int) -> None:
        retire_pairs(session, self.dataset_pk, [pair_pk], now=NOON)


def compute(session: Session, dataset_pk: int) -> tuple[dict[int, tuple[int, int]], Any, Any]:
    """(wanted, lacking) by pair; open and begun pairs by query; answers and open ones by query and person. From scratch,
    pair by pair, in plain words."""
    dataset = session.get_one(DatasetRow, dataset_pk)
    categories = {query.pk: query.category for query in session.scalars(select(QueryRow))}
    settled = set(session.scalars(select(col(AdjudicationRow.pair_pk))))
    checks = set(session.scalars(select(col(CheckRow.pair_pk))))
    pairs: dict[int, tuple[int, int]] = {}
    work: Counter[tuple[Any, ...]] = Counter()
    answers: Counter[tuple[Any, ...]] = Counter()
    for pair in session.scalars(select(PairRow).where(col(PairRow.dataset_pk) == dataset_pk)):
        own_judgments = select(CurrentJudgmentRow).where(col(CurrentJudgmentRow.pair_pk) == pair.pk)
        given = [row for row in session.scalars(own_judgments) if row.outcome != "later"]
        grades = [row.grade for row in given if row.purpose == "independent" and row.grade is not None]
        independent = sum(row.purpose == "independent" for row in given)
        assert pair.judged == independent
        wanted = find_overlap(
            dataset.overlap,
            dataset.overlap_rules,
            seed=dataset.seed,
            key=pair.key,
            category=categories[pair.query_pk],
        )
        distance = conditional_distance(dataset.overlap_rules)
        further = (
            distance is not None
            and len(grades) >= 2
            and max(grades) - min(grades) >= distance
            and allows_further(dataset.overlap_rules, wanted)
        )
        never = pair.retired_at or pair.pk in settled | checks or (pair.kept and not independent)
        lacking = 0 if never else max(0, wanted + further - len(given))
        pairs[pair.pk or 0] = (wanted, lacking)
        if lacking:
            work[pair.query_pk, "open"] += 1
            work[pair.query_pk, "begun"] += independent > 0
        for row in given:
            answers[pair.query_pk, row.annotator_pk, "all"] += 1
            answers[pair.query_pk, row.annotator_pk, "open"] += lacking > 0
    return pairs, +work, +answers


def read(session: Session, dataset_pk: int) -> tuple[dict[int, tuple[int, int]], Any, Any]:
    """The same, as it stands in the tables."""
    session.expire_all()
    pairs = {
        pair.pk or 0: (pair.wanted, pair.lacking)
        for pair in session.scalars(select(PairRow).where(col(PairRow.dataset_pk) == dataset_pk))
    }
    work: Counter[tuple[Any, ...]] = Counter()
    answers: Counter[tuple[Any, ...]] = Counter()
    for row in session.scalars(select(QueryWorkRow).where(col(QueryWorkRow.dataset_pk) == dataset_pk)):
        assert row.open_pairs
        work[row.query_pk, "open"], work[row.query_pk, "begun"] = row.open_pairs, row.begun_pairs
    for answers_row in session.scalars(
        select(QueryAnswersRow).where(col(QueryAnswersRow.dataset_pk) == dataset_pk)
    ):
        answers[answers_row.query_pk, answers_row.annotator_pk, "all"] = answers_row.answered
        answers[answers_row.query_pk, answers_row.annotator_pk, "open"] = answers_row.answered_open
    return pairs, +work, +answers


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_what_is_derived_equals_a_computation_from_scratch(database: Database, seed: int) -> None:
    drawn, bench = random.Random(seed), Bench(database)
    for turn in range(90):
        step = draw_step(drawn, bench)
        bench.do(step)
        with database.read() as session:
            expected = compute(session, bench.dataset_pk)
            assert read(session, bench.dataset_pk) == expected, f"{turn}: {step}"
    with database.write() as session:  # all at once says the same as one after the other
        derive_work(session, bench.dataset_pk)
        derive_current(session, bench.dataset_pk)
        assert read(session, bench.dataset_pk) == expected


def draw_step(drawn: random.Random, bench: Bench) -> tuple[Any, ...]:
    """Mostly a judgment, often on the last pairs; now and then something else that changes what pairs lack."""
    pair = drawn.choice([drawn.randrange(len(bench.pairs)), len(bench.pairs) - 1])
    kind = drawn.choice(["judge"] * 12 + OTHERS)
    if kind == "judge":
        return kind, pair, drawn.randrange(4), drawn.choice(ANSWERS), drawn.choice(PURPOSES)
    if kind == "settings":
        return kind, drawn.randint(1, 3), drawn.choice(RULES)
    return (kind, pair)


OF_THREE = ("settings", 3, {"conditional": 2})
OF_THREE_AT_MOST = ("settings", 3, {"conditional": 2, "cap": 3})
CASES: tuple[tuple[str, list[Any], int], ...] = (
    ("fresh", [], 2),
    ("answered", [(0, 3)], 1),
    ("answered by one who cannot rate it", [(0, "unrateable")], 1),
    ("put off", [(0, "later")], 2),
    ("answered by all and one more", [(0, 3), (1, 3), (2, 3)], 0),
    ("answered as a check only", [(0, 3, "gold"), (1, 3, "repeat")], 2),
    ("revised", [(0, 3), (0, 1)], 1),
    ("far apart", [(0, 0), (1, 2)], 1),
    ("far apart, and a further one", [(0, 0), (1, 2), (2, 1, "conditional")], 0),
    ("far apart by a further one only", [(0, 2), (1, 2), (2, 0, "conditional")], 0),
    ("not far enough apart", [(0, 0), (1, 1)], 0),
    ("far apart no more", [(0, 0), (1, 2), (0, 1)], 0),
    ("one grade and none", [(0, 0), (1, "unrateable")], 0),
    ("two grades far apart and none", [(0, 0), (1, "unrateable"), (2, 2)], 0),
    ("of three, far apart by a low further one only", [OF_THREE, (0, 2), (1, 2), (2, 0, "conditional")], 0),
    ("of three, far apart by a high further one only", [OF_THREE, (0, 1), (1, 1), (2, 3, "conditional")], 0),
    ("of three, far apart early", [OF_THREE, (0, 1), (1, 3)], 2),
    ("of three, far apart with no room under the cap", [OF_THREE_AT_MOST, (0, 0), (1, 3), (2, 1)], 0),
    ("kept from an earlier ground truth", ["keep"], 0),
    ("kept and put off", ["keep", (0, "later")], 0),
    ("kept and answered as a check only", ["keep", (0, 2, "gold")], 0),
    ("kept and judged again", ["keep", (0, 3)], 1),
    ("judged and kept", [(0, 3), "keep"], 1),
    ("kept no more", ["keep", "reopen"], 2),
    ("decided", [(0, 3), "decide"], 0),
    ("marked", [(0, 3), "mark"], 0),
    ("marked no more", [(0, 3), "mark", "unmark"], 1),
    ("gone", [(0, 3), "retire"], 0),
)


def test_what_a_pair_lacks_case_by_case(database: Database) -> None:
    """Two are to judge it, and one more where their grades lie at least 2 apart, if not said otherwise."""
    bench = Bench(database)
    stored = {}
    for name, steps, _lacking in CASES:
        bench.do(("settings", 2, {"conditional": 2}))
        bench.pair()
        pair_index = len(bench.pairs) - 1
        for step in steps:
            if isinstance(step, str):
                bench.do((step, pair_index))
            elif step[0] == "settings":
                bench.do(step)
            else:
                person, answer, *purpose = step
                bench.do(("judge", pair_index, person, answer, *(purpose or ["independent"])))
        with database.read() as session:
            stored[name] = session.get_one(PairRow, bench.pairs[pair_index]).lacking
    assert stored == {name: lacking for name, _steps, lacking in CASES}
