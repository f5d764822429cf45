"""What becomes of each submitted event: refused or stored, for which purpose, and what follows from it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.judgments import CURRENT_PURPOSES, JudgmentEvent
from annotator.labeling.records import AnnotatorPairState, StoredEvent
from annotator.labeling.submission import (
    SubmissionPlan,
    apply_answer,
    find_purpose,
    find_refusal,
    is_surplus,
    plan_submission,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ANN = 7
OPEN = AnnotatorPairState(
    1,
    10,
    100,
    False,
    False,
    wanted=2,
    lacking=2,
    judged=0,
    kind=None,
    settled=False,
    disclosed=False,
    leased=True,
    held=True,
    eligible=True,
    outcome=None,
    purpose=None,
    stale=0,
)


@dataclass
class Facts:
    """The lookups, from memory."""

    in_training: bool = False

    def is_in_training(self) -> bool:
        return self.in_training


def pair(**changes: Any) -> AnnotatorPairState:
    return replace(OPEN, **changes)


def press(
    event_id: str = "e1", key: str = "p", grade: int | None = 2, outcome: str = "graded"
) -> JudgmentEvent:
    return JudgmentEvent(event_id, key, outcome, grade if outcome == "graded" else None, None, NOW, 1.5)


def find_code(state: AnnotatorPairState | None, **facts: bool) -> str | None:
    refusal = find_refusal(press(), state, None, Facts(**facts), annotator_pk=ANN)
    return refusal and refusal.code


def plan(
    *events: JudgmentEvent,
    facts: Facts | None = None,
    stored: dict[str, StoredEvent] | None = None,
    **pairs: AnnotatorPairState,
) -> SubmissionPlan:
    return plan_submission(events, pairs, stored or {}, facts or Facts(), annotator_pk=ANN)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (pair(), None),
        (None, "not_in_pool"),
        (pair(disclosed=True), "disclosed"),
        (pair(disclosed=True, settled=True), "disclosed"),
        (pair(settled=True), "settled"),
        (pair(settled=True, kind="gold"), None),  # a decision must not tell that a pair is a check
        (pair(retired=True), None),  # kept on record
        (pair(kind="training", tried=True, leased=False), "settled"),
        (pair(kind="training", tried=True, leased=True), None),  # asked again after a wrong answer
        (pair(kind="training", tried=False, leased=False), None),
        (pair(kind="gold", tried=True, leased=False), None),
        (
            pair(kind="training", tried=True, leased=False, outcome="graded"),
            None,
        ),  # judged before it was a check
    ],
)
def test_an_event_is_refused_if_its_annotator_may_not_judge_the_pair(
    state: AnnotatorPairState | None, code: str | None
) -> None:
    assert find_code(state) == code


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (pair(), "not_yours"),
        (pair(leased=False, outcome="later"), "not_yours"),
        (pair(kind="gold"), "not_yours"),
        (pair(drawn=True), "not_yours"),
        (pair(kind="training"), None),
        (pair(leased=False, outcome="unrateable"), None),
        (pair(leased=False, kind="gold", tried=True), None),
    ],
)
def test_before_training_is_passed_only_its_pairs_and_earlier_answers_can_be_judged(
    state: AnnotatorPairState, code: str | None
) -> None:
    assert find_code(state, in_training=True) == code
    assert find_code(state, in_training=False) is None


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (pair(), "not_yours"),
        (pair(kind="gold"), "not_yours"),
        (pair(repeat_pk=3, outcome="graded"), "not_yours"),
        (pair(leased=False, outcome="later"), "not_yours"),
        (pair(drawn=True), None),  # a lead has given them this pair
        (pair(leased=False, outcome="graded"), None),
        (pair(leased=False, kind="gold", tried=True), None),
        (pair(repeat_pk=3, outcome="graded", tried=True), None),
    ],
)
def test_a_pair_whose_query_is_others_now_is_refused_unless_it_was_answered_before(
    state: AnnotatorPairState, code: str | None
) -> None:
    assert find_code(replace(state, eligible=False)) == code
    assert find_code(state) is None


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (StoredEvent(1, ANN, "graded", 2), None),
        (StoredEvent(2, ANN, "graded", 2), "known_id"),
        (StoredEvent(1, ANN + 1, "graded", 2), "known_id"),
        (StoredEvent(1, ANN, "unrateable", 2), "known_id"),
        (StoredEvent(1, ANN, "graded", 1), "known_id"),
    ],
)
def test_an_event_id_stands_for_one_judgment(before: StoredEvent, code: str | None) -> None:
    for state in (pair(), pair(settled=True), pair(disclosed=True)):
        refusal = find_refusal(press(), state, before, Facts(), annotator_pk=ANN)
        assert (refusal and refusal.code) == code
    assert find_refusal(press(), None, before, Facts(), annotator_pk=ANN) is not None


@pytest.mark.parametrize(
    ("state", "purpose"),
    [
        (pair(), "independent"),
        (pair(judged=1, lacking=1), "independent"),
        (pair(judged=2, lacking=1), "conditional"),  # a further judgment is asked for
        (pair(judged=2, lacking=0), "conditional"),  # it came too late to count as one more vote
        (pair(kind="gold"), "gold"),
        (pair(kind="training", judged=2, lacking=0), "training"),
        (pair(drawn=True, judged=2, lacking=0), "quality"),
        (pair(drawn=True, purpose="quality", outcome="later"), "quality"),
        (pair(repeat_pk=5, outcome="graded", purpose="independent"), "repeat"),
        (pair(outcome="graded", purpose="conditional"), "conditional"),
        (pair(outcome="graded", purpose="independent", judged=2, lacking=1), "independent"),
        (pair(outcome="graded", purpose="independent", kind="gold"), "independent"),
        (pair(outcome="later", purpose="conditional"), "independent"),
    ],
)
def test_an_answer_counts_for_what_the_pair_was_handed_out_for(
    state: AnnotatorPairState, purpose: str
) -> None:
    assert find_purpose(state) == purpose


@pytest.mark.parametrize(
    ("state", "purpose", "outcome", "surplus"),
    [
        (pair(lacking=0, judged=2), "independent", "graded", True),
        (pair(lacking=0, judged=2), "conditional", "unrateable", True),
        (pair(lacking=1, judged=1), "independent", "graded", False),
        (pair(lacking=0, judged=2), "independent", "later", False),
        (pair(lacking=0, judged=2, outcome="graded"), "independent", "graded", False),  # a revision
        (pair(lacking=0, kept=True), "independent", "graded", False),
        (pair(lacking=0, kind="gold"), "gold", "graded", False),
    ],
)
def test_an_answer_is_surplus_if_others_have_done_the_work(
    state: AnnotatorPairState, purpose: str, outcome: str, surplus: bool
) -> None:
    assert is_surplus(press(outcome=outcome), state, purpose) is surplus


def test_after_an_answer_the_pair_has_it_and_a_check_is_tried() -> None:
    ended = {"leased": False, "held": False, "sent": 1}
    work = pair(**ended, outcome="graded", purpose="independent")
    assert apply_answer(pair(), press(), "independent") == work
    drawn = pair(drawn=True)
    answered = replace(drawn, **ended, outcome="graded", purpose="quality")
    assert apply_answer(drawn, press(), "quality") == answered
    gold = pair(kind="gold")
    assert apply_answer(gold, press(), "gold") == replace(gold, **ended, tried=True)
    assert apply_answer(gold, press(outcome="later"), "gold") == replace(gold, **ended)
    tried = pair(kind="gold", tried=True)
    assert apply_answer(tried, press(outcome="later"), "gold").tried


def test_an_event_delivered_twice_is_acknowledged_twice_and_stored_once() -> None:
    made = plan(press("e1"), press("e1"), p=pair())
    assert [event.event_id for event in made.acknowledged] == ["e1", "e1"]
    assert [answer.event.event_id for answer in made.answers] == ["e1"]
    again = plan(press("e1"), stored={"e1": StoredEvent(1, ANN, "graded", 2)}, p=pair())
    assert (len(again.acknowledged), again.answers, again.query_pk) == (1, [], 10)


def test_an_id_used_for_two_presses_of_one_request_is_refused_the_second_time() -> None:
    made = plan(press("e1", grade=2), press("e1", grade=3), p=pair())
    assert [(event.event_id, event.code) for event in made.refused] == [("e1", "known_id")]
    assert [answer.event.grade for answer in made.answers] == [2]


def test_an_answer_counts_for_the_later_ones_of_the_request() -> None:
    made = plan(press("e1"), press("e2", grade=0), p=pair(judged=2, lacking=1))
    assert [answer.purpose for answer in made.answers] == ["conditional", "conditional"]
    assert [answer.pair.answered for answer in made.answers] == [False, True]
    late = plan(press("e1"), press("e2"), p=pair(judged=2, lacking=0))
    assert late.surplus == ["e1"]  # the second is a revision


def test_what_follows_depends_on_the_purposes() -> None:
    made = plan(
        press("e1", "work"),
        press("e2", "gold"),
        press("e3", "drawn"),
        press("e4", "repeat"),
        press("e5", "put off", outcome="later"),
        press("e6", "unknown"),
        **{
            "work": pair(pair_pk=1),
            "gold": pair(pair_pk=2, kind="gold"),
            "drawn": pair(pair_pk=3, drawn=True),
            "repeat": pair(pair_pk=4, repeat_pk=44),
            "put off": pair(pair_pk=5, repeat_pk=55, query_pk=11),
        },
    )
    assert made.quality_pairs == {3}
    assert made.answered_repeats == {44}
    assert made.has_put_off
    assert made.query_pk == 11
    assert [event.event_id for event in made.refused] == ["e6"]


def test_only_answers_in_training_are_explained() -> None:
    training = pair(kind="training")
    assert [pk for _event, pk in plan(press(), p=training).list_explained()] == [1]
    assert [*plan(press(outcome="later"), p=training).list_explained()] == []
    assert [*plan(press(), p=pair(kind="gold")).list_explained()] == []
    assert [*plan(press(), p=pair(kind="training", repeat_pk=3)).list_explained()] == []
    judged_before = pair(kind="training", outcome="graded", purpose="independent")
    assert [*plan(press(), p=judged_before).list_explained()] == []
    again = plan(
        press(), stored={"e1": StoredEvent(1, ANN, "graded", 2)}, p=pair(kind="training", tried=True)
    )
    assert [event.event_id for event, _pk in again.list_explained()] == ["e1"]


def test_nothing_submitted_changes_nothing() -> None:
    made = plan(p=pair())
    assert (made.acknowledged, made.refused, made.answers, made.query_pk) == ([], [], [], None)


STATES = st.builds(
    AnnotatorPairState,
    pair_pk=st.just(1),
    query_pk=st.just(10),
    document_pk=st.just(100),
    retired=st.booleans(),
    kept=st.booleans(),
    wanted=st.integers(1, 3),
    lacking=st.integers(0, 3),
    judged=st.integers(0, 3),
    kind=st.sampled_from([None, None, "training", "gold"]),
    settled=st.booleans(),
    disclosed=st.booleans(),
    leased=st.booleans(),
    outcome=st.sampled_from([None, "later", "graded", "unrateable"]),
    purpose=st.sampled_from(["independent", "conditional", "quality"]),
    stale=st.integers(0, 3),
    repeat_pk=st.sampled_from([None, None, 9]),
    tried=st.booleans(),
    drawn=st.booleans(),
)
EVENTS = st.lists(
    st.builds(
        press,
        st.sampled_from(["e1", "e2", "e3"]),
        st.sampled_from(["p", "unknown"]),
        st.integers(0, 3),
        st.sampled_from(["graded", "unrateable", "later"]),
    ),
    max_size=6,
)
FACTS = st.builds(Facts, st.booleans())


@given(EVENTS, STATES, FACTS)
def test_every_event_is_either_acknowledged_or_refused_and_no_id_is_stored_twice(
    events: list[JudgmentEvent], state: AnnotatorPairState, facts: Facts
) -> None:
    made = plan(*events, facts=facts, p=state)
    assert len(made.acknowledged) + len(made.refused) == len(events)
    stored = [answer.event.event_id for answer in made.answers]
    assert len(stored) == len(set(stored))
    assert set(stored) <= {event.event_id for event in made.acknowledged}
    assert set(made.surplus) <= set(stored)


@given(STATES, FACTS, EVENTS)
def test_a_revision_keeps_its_purpose(
    state: AnnotatorPairState, facts: Facts, events: list[JudgmentEvent]
) -> None:
    """However the pair changes meanwhile: what an annotator's first answer counts for holds for all of them."""
    made = plan(*events, facts=facts, p=state)
    for first, second in pairwise(made.answers):
        if first.event.outcome != "later" and first.purpose in CURRENT_PURPOSES:
            moved = replace(second.pair, judged=3, lacking=0, drawn=True)
            assert second.purpose == find_purpose(moved) == first.purpose
