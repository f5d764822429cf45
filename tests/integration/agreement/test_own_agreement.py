"""An annotator's own agreement: only if the leads allow it, only in whole steps, and never so that a single grade shows."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.agreement.records import FEW_OWN, FEW_WITH_ONE, OWN_STEP, OwnAgreement
from annotator.agreement.service import compute_agreement, show_own_agreement
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import list_seen
from annotator.storage.tables.central import PairRow
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=30)


class Compared(JudgedWorld):
    """`me` and `other`; a second account of `me` is `twin`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, overlap="3")
        self.me, self.other, self.twin = (self.person(name) for name in ("me", "other", "twin"))
        self.query("Q1", "x")
        self.query("Q2", "y")
        self.allow("true")

    def allow(self, value: str) -> None:
        change_settings(self.database, OPERATOR, "d", {"show_own_agreement": value}, now=NOW)

    def name_pair(self, at: int) -> tuple[str, str]:
        return f"Q{at % 2 + 1}", f"d{at}"

    def add(self, at: int, **grades: int) -> None:
        """A pair with the grades of people, in this order."""
        self.pair(*self.name_pair(at))
        for username, grade in grades.items():
            self.judge(getattr(self, username), *self.name_pair(at), grade)

    def show(self, actor: Actor | None = None) -> OwnAgreement:
        return show_own_agreement(self.database, actor or self.me, "d", now=LATER, resamples=0)

    def list_seen(self, actor: Actor) -> set[int]:
        with self.database.read() as session:
            return list_seen(session, actor.person_id or 0, list(session.scalars(select(col(PairRow.pk)))))


def test_it_is_shown_only_when_the_leads_allow_it(database: Database) -> None:
    world = Compared(database)
    world.allow("false")
    with pytest.raises(NotAllowed):
        world.show()


def test_over_whole_steps_it_is_the_agreement_that_leads_see(database: Database) -> None:
    world = Compared(database)
    for at in range(2 * OWN_STEP):
        world.add(at, me=at % 2, other=at % 3)
    shown = world.show()
    (pair,) = compute_agreement(database, OPERATOR, "d", resamples=0).measured.annotator_pairs
    assert (shown.pairs, shown.observed_agreement) == (2 * OWN_STEP, pair.observed_agreement)
    assert shown.kappa is not None
    assert shown.kappa.value == pair.cohen_kappa["unweighted"].value
    assert shown.confusion == (*pair.confusion[:2], None, None)


def test_judging_one_pair_after_the_other_shows_no_single_grade(database: Database) -> None:
    """Steps of 20 comparisons with the same own grade: the figures move only by sums over 20 pairs."""
    world = Compared(database)
    before, moves = world.show(), []
    for at in range(4 * OWN_STEP):
        world.add(at, other=at % 4, me=0 if at % 4 else 3)
        after = world.show()
        if after != before:
            moves.append(after.pairs - before.pairs)
        before = after
    assert moves and all(move % OWN_STEP == 0 for move in moves)


def test_changing_own_grades_recovers_none_of_25(database: Database) -> None:
    world = Compared(database)
    for at in range(3 * OWN_STEP):
        world.add(at, other=at % 4, me=at % 2)
    before = world.show()
    assert before.pairs == 2 * OWN_STEP
    for at in range(25):
        world.judge(world.me, *world.name_pair(at), 3)
        assert world.show() == before
        world.judge(world.other, *world.name_pair(at), 0)
        assert world.show() == before


def test_a_second_account_that_fills_the_steps_isolates_no_grade(database: Database) -> None:
    world = Compared(database)
    for at in range(3 * OWN_STEP - FEW_WITH_ONE):
        world.add(at, twin=0, me=0)
    before = world.show()
    assert before.pairs == 2 * OWN_STEP
    for at in range(100, 100 + FEW_WITH_ONE):
        assert world.show() == before
        world.add(at, other=at % 4, me=0)
    assert world.show().pairs == 3 * OWN_STEP, "the sum over five of the other's grades"


def test_switching_the_figures_off_and_on_changes_nothing(database: Database) -> None:
    world = Compared(database)
    for at in range(2 * OWN_STEP + 7):
        world.add(at, other=at % 4, me=at % 2)
    before = world.show()
    world.allow("false")
    world.add(99, other=3, me=0)
    world.allow("true")
    assert world.show() == before


def test_too_few_pairs_show_nothing_and_freeze_nothing(database: Database) -> None:
    world = Compared(database)
    for at in range(OWN_STEP + 9):
        world.add(at, other=at % 4, me=0)
    assert OWN_STEP < FEW_OWN
    assert world.show() == OwnAgreement(OWN_STEP)
    assert not world.list_seen(world.me)


def test_a_pair_behind_the_figures_can_no_longer_be_changed(database: Database) -> None:
    world = Compared(database)
    for at in range(2 * OWN_STEP + 1):
        world.add(at, other=at % 4, me=0)
    assert world.show().kappa is not None
    assert len(world.list_seen(world.me)) == 2 * OWN_STEP
    assert not world.list_seen(world.other)
