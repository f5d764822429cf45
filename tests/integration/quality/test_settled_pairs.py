"""What is read by the column says of every pair what the rule says of it, on a dataset with every status; and who knows it."""

from datetime import datetime

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.domain.settling import PAIR_STATUSES, settle
from annotator.quality.quality_sql import list_known, list_settled
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pairs.pair_settlements import LATER, OTHERWISE, read_settlements
from annotator.storage.pairs.pair_states import bring_in, list_pair_states
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import DocumentRow, JudgmentRow, PairRow, QueryRow
from annotator.storage.tables.labeling import CheckRow, DisclosureRow, ProposalRow
from tests.databases import CopyWorld
from tests.integration.quality_world import QualityWorld


class SettledWorld(QualityWorld):
    """A pair of every status and of every way to be left out, `named`; and another dataset, which is in none of it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, queries=4, documents=5, settled=False, overlap=3)
        names = (
            "unjudged", "single", "unanimous", "disagreement", "unrateable", "partly", "adjudicated", "decided twice",
            "imported", "judged though imported", "not kept", "reopened", "the expert's after all", "retired",
            "training", "gold", "put off", "taken back", "asked for", "repeated",
        )  # fmt: skip
        self.named = dict(zip(names, self.keys, strict=True))
        self._add_another()
        self._judge()
        self._import()
        self._control()
        self._mark()

    def _add_another(self) -> None:
        """A dataset with a pair that ann judged."""
        create_dataset(self.database, OPERATOR, "other", now=self.now)
        with self.database.write() as session:
            pk = key_of(find_dataset(session, "other").pk)
            query = QueryRow.model_validate({"dataset_pk": pk, "position": 1, "query_id": "q", "text": "q"})
            document = DocumentRow.model_validate({"dataset_pk": pk, "doc_id": "d"})
            session.add_all([query, document])
            session.flush()
            pool = [PoolCandidate(key_of(query.pk), "q", key_of(document.pk), "d", "s")]
            add_candidates(session, pk, "other", pool, now=self.now)
            other = session.scalars(select(PairRow).where(col(PairRow.dataset_pk) == pk)).one()
            self.keys[key_of(other.pk)] = other.key
            self._add(session, self.ann, key_of(other.pk), 2, "graded", "independent")
            derive_current(session, pk)

    def _judge(self) -> None:
        pks = self.named
        everybody = (
            "unanimous",
            "partly",
            "reopened",
            "the expert's after all",
            "retired",
            "training",
            "gold",
        )
        self.settle([pks[name] for name in everybody])
        self.settle([pks["single"], pks["judged though imported"], pks["repeated"]], by=(self.ann,))
        self.judge_as(self.cho, pks["partly"], None, outcome="unrateable")
        for name, grades in (
            ("disagreement", (0, 3, 3)),
            ("unrateable", (None, None, None)),
            ("adjudicated", (1, 2, 2)),
            ("decided twice", (0, 0, 1)),
        ):
            for actor, grade in zip((self.ann, self.bea, self.cho), grades, strict=True):
                self.judge_as(
                    actor, pks[name], grade, outcome="graded" if grade is not None else "unrateable"
                )
        self.judge_as(self.ann, pks["put off"], None, outcome="later")
        self.settle([pks["put off"]], by=(self.bea,))
        self.judge_as(self.ann, pks["taken back"], 2)
        self.judge_as(self.ann, pks["taken back"], None, outcome="later")
        self.settle([pks["taken back"]], by=(self.bea,))
        self.settle([pks["asked for"]], by=(self.ann,))
        self.judge_as(self.cho, pks["asked for"], 3 - self.grades[pks["asked for"]], purpose="conditional")
        self.judge_as(self.ann, pks["repeated"], 0, purpose="repeat")
        for name, grades in (("adjudicated", [3]), ("decided twice", [0, 2])):
            self.decide(pks[name], grades)

    def decide(self, pk: int, grades: list[int]) -> None:
        """Decisions of the lead, one after the other."""
        with self.database.write() as session:
            rubric_pk = find_rubric(session, self.dataset_pk).pk
            for revision, grade in enumerate(grades, 1):
                row = {
                    "pair_pk": pk, "revision": revision, "lead_pk": self.lea.person_id, "rubric_pk": rubric_pk,
                    "grade": grade, "rationale": "根拠", "decided_at": self.now,
                }  # fmt: skip
                session.add(AdjudicationRow.model_validate(row))
                derive_decided(session, [pk])

    def _import(self) -> None:
        rows = [
            {"pair_pk": self.named[name], "grade": grade, "keep": keep, "source": {"kind": "qrels"}, "description": None,
             "note": None, "annotator_grades": [], "extra": {}, "imported_at": self.now}
            for name, grade, keep in (("imported", 1, True), ("imported", 3, True), ("judged though imported", 3, True), ("not kept", 2, False))
        ]  # fmt: skip
        with self.database.write() as session:
            bring_in(session, self.dataset_pk, rows)

    def _control(self) -> None:
        self.expert = self.person("expert")
        self.draw("expert", rate=1.0)
        for name in ("reopened", "the expert's after all"):
            pk = self.named[name]
            self.check(pk, (self.grades[pk] + 1) % 4, self.expert)
        after_all = self.named["the expert's after all"]
        for actor in (self.ann, self.bea):
            self.judge_as(actor, after_all, (self.grades[after_all] + 1) % 4)

    def _mark(self) -> None:
        with self.database.write() as session:
            for name in ("training", "gold"):
                session.add(_mark(self.named[name], name, self.now))
            retired = update(PairRow).where(col(PairRow.pk) == self.named["retired"])
            session.execute(retired.values(retired_at=self.now))
            seen = {
                "pair_pk": self.named["single"],
                "person_pk": self.bea.person_id,
                "disclosed_at": self.now,
            }
            session.add(DisclosureRow.model_validate(seen))
            proposed = {
                "pair_pk": self.named["single"],
                "annotator_pk": self.cho.person_id,
                "proposed_at": self.now,
            }
            session.add(ProposalRow.model_validate(proposed))


def _mark(pk: int, kind: str, now: datetime) -> CheckRow:
    return CheckRow(pair_pk=pk, kind=kind, grade=1, explanation="", marked_by_pk=None, marked_at=now)


@pytest.fixture
def world(copy_world: CopyWorld) -> SettledWorld:
    """All of them."""
    return copy_world(SettledWorld)


def test_every_pair_is_settled_as_the_rule_settles_it(world: SettledWorld) -> None:
    with world.database.read() as session:
        state_by_pair = {state.pair_pk: state for state in list_pair_states(session, world.dataset_pk)}
        settled = read_settlements(session, world.dataset_pk)
    read = {
        pk: settled.settlements[index]
        for pk, index in zip(settled.pair.tolist(), settled.settlement.tolist(), strict=True)
    }
    assert read == {pk: state.settlement for pk, state in state_by_pair.items()}
    for pk, state in state_by_pair.items():
        errors = tuple(error.grade for error in state.errors)
        assert read[pk] == settle(
            list(state.grades.values()), state.unrateable, state.adjudicated, state.imported, errors
        )
    names = {pk: name for name, pk in world.named.items()}
    statuses = {names[pk]: settlement.status for pk, settlement in read.items()}
    assert {*statuses.values()} == {*PAIR_STATUSES}
    assert {name for name, status in statuses.items() if status == name} == {*PAIR_STATUSES}
    assert "retired" not in statuses
    assert (read[world.named["decided twice"]].grade, read[world.named["imported"]].grade) == (2, 3)
    assert statuses["the expert's after all"] == "unanimous"
    assert dict(zip(settled.pair.tolist(), settled.query.tolist(), strict=True)) == {
        pk: state.query_pk for pk, state in state_by_pair.items()
    }  # fmt: skip


def test_only_settled_pairs_that_are_no_checks_can_be_drawn(world: SettledWorld) -> None:
    with world.database.read() as session:
        state_by_pair = {
            state.pair_pk: (state.query_pk, state.settlement.grade, state.settlement.status)
            for state in list_pair_states(session, world.dataset_pk)
            if state.settlement.grade is not None
        }
        settled = list_settled(session, world.dataset_pk)
    for name in ("training", "gold"):
        assert state_by_pair.pop(world.named[name])
    statuses = [PAIR_STATUSES[index] for index in settled.status.tolist()]
    columns = (settled.pair.tolist(), settled.query.tolist(), settled.grade.tolist(), statuses)
    assert {pk: state_by_pair for pk, *state_by_pair in zip(*columns, strict=True)} == {
        pk: [*row] for pk, row in state_by_pair.items()
    }


def test_what_somebody_judged_for_whatever_purpose_is_known_to_them(world: SettledWorld) -> None:
    """By all that was ever said, as the rule has it; what is put off afterwards was judged all the same."""
    with world.database.read() as session:
        settled = list_settled(session, world.dataset_pk)
        know = list_known(session, world.dataset_pk, settled)
        answers = session.execute(
            select(col(JudgmentRow.annotator_pk), col(JudgmentRow.pair_pk)).where(
                col(JudgmentRow.outcome) != "later"
            )
        ).all()
        drawable = {*settled.pair.tolist()}
        for actor in (world.ann, world.bea, world.cho, world.lea, world.expert):
            judged, _seen = know(key_of(actor.person_id))
            assert settled.pair[judged].tolist() == sorted(
                {pk for person, pk in answers if person == actor.person_id and pk in drawable}
            )
        seen_by = {
            name: set(settled.pair[know(key_of(actor.person_id)).seen].tolist())
            for name, actor in (
                ("ann", world.ann),
                ("bea", world.bea),
                ("cho", world.cho),
                ("lea", world.lea),
            )
        }
    single = {world.named["single"]}
    decided = {world.named["adjudicated"], world.named["decided twice"]}
    assert seen_by == {"ann": set(), "bea": single, "cho": single, "lea": decided}


def test_what_settles_nothing_is_told_apart(world: SettledWorld) -> None:
    with world.database.read() as session:
        settled = read_settlements(session, world.dataset_pk)
    answers = {
        (settled.pair[index], person): answer
        for index, person, answer in zip(
            settled.judged_index.tolist(), settled.judged_by.tolist(), settled.answer.tolist(), strict=True
        )
    }
    assert answers[world.named["asked for"], world.cho.person_id] == OTHERWISE
    assert answers[world.named["put off"], world.ann.person_id] == LATER


def test_an_empty_dataset_has_no_settled_pair(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=0, settled=False)
    with database.read() as session:
        settled = list_settled(session, world.dataset_pk)
        assert not len(settled.pair)
        assert not len(list_known(session, world.dataset_pk, settled)(key_of(world.cho.person_id)).judged)


def test_patterns_of_very_many_answers_are_told_apart() -> None:
    """Numbers too large to be put side by side in one whole number."""
    import numpy as np

    from annotator.storage.pairs.pair_settlements import _number_patterns

    most = 2**32 - 1  # two such columns beside each other take 64 bits: a third one before them would be lost
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, most, most]])
    first, second, third, fourth = _number_patterns(list(rows.T)).tolist()
    assert first == third
    assert len({first, second, fourth}) == 3


def test_kinds_are_found_alike_by_a_table_and_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from annotator.storage.pairs import pair_settlements

    numbers = np.array([7, 3, 7, 0, 3, 9, 7])
    for most in (0, 1_000):
        monkeypatch.setattr(pair_settlements, "MOST_KINDS", most)
        for given in (numbers, numbers + (0 if most else 10_000)):
            first, kind = pair_settlements._find_kinds(given)
            assert given[first].tolist() == sorted(set(given.tolist()))
            assert given[first][kind].tolist() == given.tolist()
    first, kind = pair_settlements._find_kinds(np.zeros(0, dtype=np.int64))
    assert not len(first) and not len(kind)
