"""What a lead does next follows from where the dataset stands."""

from dataclasses import replace

import pytest

from annotator.agreement.records import CoefficientValue
from annotator.domain.figures import show_beside
from annotator.domain.settling import QueueReason
from annotator.overview.next_steps import DatasetFigures, WaitingDisagreements, suggest_steps

DONE = DatasetFigures(
    queries=12,
    documents=60,
    pairs=85,
    overlap=2,
    annotators=2,
    short=0,
    begun=0,
    shared=80,
    kappa=CoefficientValue(0.8),
    kappa_target=0.7,
    kappa_met=True,
    disagreements=0,
    ready=True,
    settled=83,
    version="1.0.0",
    changed=False,
)


def say(**changes: object) -> list[tuple[str, str | None]]:
    return [(step.what, step.page) for step in suggest_steps(replace(DONE, **changes))]


def test_with_everything_settled_and_published_nothing_is_left() -> None:
    (step,) = suggest_steps(DONE)
    assert (step.what, step.page) == ("Nothing is left to do", "releases")
    assert "1.0.0" in step.why


def test_an_empty_dataset_begins_with_its_queries() -> None:
    (step,) = suggest_steps(replace(DONE, queries=0, pairs=0))
    assert (step.what, step.page) == ("Import the queries", "import")


def test_without_a_pair_the_pool_comes_next_and_nothing_else_is_said() -> None:
    (step,) = suggest_steps(replace(DONE, pairs=0, short=0, kappa_met=False, shared=0, settled=0))
    assert (step.what, step.page) == ("Make the pool", "pool")
    assert "12 queries and 60 documents" in step.why


def test_without_documents_they_are_imported_first() -> None:
    (step,) = suggest_steps(replace(DONE, pairs=0, documents=0, queries=1))
    assert (step.what, step.page) == ("Import documents and make the pool", "import")
    assert "There is 1 query" in step.why


def test_the_step_to_judge_names_short_and_begun_pairs() -> None:
    (step,) = suggest_steps(replace(DONE, short=3, begun=1))
    assert (step.what, step.page) == ("Have 3 pairs judged", "label")
    assert "2 judgments" in step.why
    assert "judging has begun on 1 of them" in step.why


def test_the_step_to_add_annotators_comes_before_their_work() -> None:
    assert say(short=1, annotators=1) == [("Add annotators", "people"), ("Have 1 pair judged", "label")]
    assert say(short=0, annotators=1) == say()


def test_a_kappa_below_its_target_is_shown_beside_it() -> None:
    (step,) = suggest_steps(replace(DONE, kappa=CoefficientValue(0.55), kappa_met=False, ready=False))
    assert (step.what, step.page) == ("Improve agreement: κ is 0.55, the target is 0.70", "agreement")
    assert "80 pairs" in step.why


def test_a_kappa_with_the_target_in_its_interval_must_first_be_measured_better() -> None:
    (step,) = suggest_steps(
        replace(DONE, kappa=CoefficientValue(0.66), kappa_met=False, kappa_open=True, ready=False)
    )
    assert step.what == "Check whether agreement is high enough: κ is 0.66, the target is 0.70"
    assert "80 pairs, which is not enough to tell" in step.why


def test_an_undefined_kappa_says_why() -> None:
    kappa = CoefficientValue(None, why="every judgment has grade 3")
    (step,) = suggest_steps(replace(DONE, kappa=kappa, kappa_met=False, ready=False))
    assert step.page == "agreement"
    assert "every judgment has grade 3" in step.why


def test_agreement_is_no_step_while_no_pair_is_shared() -> None:
    undefined = CoefficientValue(None, why="no pair is shared")
    assert say(short=85, shared=0, kappa=undefined, kappa_met=False, ready=False) == [
        ("Have 85 pairs judged", "label")
    ]


def test_agreement_is_a_step_if_all_is_judged_but_no_pair_is_shared() -> None:
    undefined = CoefficientValue(None, why="no pair is shared")
    assert say(shared=0, kappa=undefined, kappa_met=False, ready=False) == [
        ("See why agreement is undefined", "agreement")
    ]


def test_with_one_judgment_for_each_pair_the_overlap_is_the_step() -> None:
    (step,) = suggest_steps(replace(DONE, overlap=1, shared=0, kappa_met=False, ready=False))
    assert step.page == "settings"


def test_open_disagreements_are_settled_before_anything_is_published() -> None:
    assert say(disagreements=7, waiting=WaitingDisagreements(7), ready=False, version=None, changed=True) == [
        ("Decide 7 waiting pairs", "disagreements")
    ]
    assert say(disagreements=1, waiting=WaitingDisagreements(1), ready=False)[0][0] == "Decide 1 waiting pair"


def test_the_steps_come_in_the_order_of_the_walk() -> None:
    steps = say(
        short=3,
        kappa=CoefficientValue(0.5),
        kappa_met=False,
        disagreements=2,
        waiting=WaitingDisagreements(2),
        ready=False,
        version=None,
        changed=True,
    )
    assert [page for _, page in steps] == ["label", "agreement", "disagreements"]


def test_requirements_of_coverage_that_are_not_met_are_named() -> None:
    (step,) = suggest_steps(
        replace(DONE, missing=("size", "languages in 検索", "난이도", "domains"), ready=False)
    )
    assert (step.what, step.page) == ("Meet 4 requirements of coverage", "settings")
    assert "size, languages in 検索, 난이도 and 1 more" in step.why
    assert say(pairs=0, missing=("size",)) == [
        ("Make the pool", "pool"), ("Meet 1 requirement of coverage", "settings"),
    ]  # fmt: skip


def test_with_every_gate_met_the_first_release_is_published_and_later_what_has_changed() -> None:
    assert say(version=None, changed=True) == [("Publish the first release", "releases")]
    assert say(changed=True) == [("Publish a new release", "releases")]
    assert say(short=2, changed=True)[-1] == ("Publish a new release", "releases")


def test_a_gate_that_this_list_does_not_know_stops_publishing_too() -> None:
    assert ("Publish a new release", "releases") not in say(ready=False, changed=True, short=1)
    assert say(ready=False, changed=True) == [("See what a release still needs", "releases")]


def test_gates_without_another_step_are_steps_once_all_is_settled() -> None:
    gates = (("stale", "1 settled pair rests on an older guideline"), ("relevant", "2 질의"))
    assert say(open_gates=gates, ready=False) == [
        ("Meet the gate “outdated grades”", "releases"), ("Meet the gate “queries without a relevant document”", "releases"),
    ]  # fmt: skip
    assert say(open_gates=gates, ready=False, short=1) == [("Have 1 pair judged", "label")]


def test_a_third_expert_checks_a_sample_once_all_else_is_settled() -> None:
    gates = (
        ("quality_control", "Not done. Draw a sample."),
        ("stale", "1 settled pair rests on an older guideline"),
    )
    assert say(open_gates=gates, ready=False, version=None, changed=True) == [
        ("Meet the gate “outdated grades”", "releases"), ("Have a sample checked", "quality"),
    ]  # fmt: skip
    step = suggest_steps(replace(DONE, open_gates=gates, ready=False))[-1]
    assert step.why == "Not done. Draw a sample."
    assert say(open_gates=gates, ready=False, disagreements=1, waiting=WaitingDisagreements(1)) == [
        ("Decide 1 waiting pair", "disagreements")
    ]


def test_the_step_to_disagreements_names_reopened_pairs() -> None:
    (step,) = suggest_steps(
        replace(DONE, disagreements=3, reopened=1, ready=False, waiting=WaitingDisagreements(3))
    )
    assert (step.what, step.page) == ("Decide 3 waiting pairs", "disagreements")
    assert step.why.startswith("Quality control reopened 1 of them")


def test_without_a_graded_pair_publishing_is_no_step() -> None:
    assert say(settled=0, version=None, changed=False) == [("Check the pool", "pool")]


@pytest.mark.parametrize(
    ("measured", "target", "shown"),
    [
        (0.55, 0.7, ("0.55", "0.70")),
        (0.6991, 0.7, ("0.699", "0.700")),
        (0.7, 0.7, ("0.70", "0.70")),
        (0.69999, 0.7, ("0.69999", "0.70000")),
    ],
)
def test_two_figures_that_differ_never_look_the_same(
    measured: float, target: float, shown: tuple[str, str]
) -> None:
    assert show_beside(measured, target) == shown


def test_a_number_agrees_with_its_noun() -> None:
    titles = [say(short=number)[0][0] for number in (1, 1200)]
    assert titles == ["Have 1 pair judged", "Have 1,200 pairs judged"]


def test_judgments_under_an_older_guideline_are_to_be_confirmed() -> None:
    (step,) = suggest_steps(replace(DONE, outdated=3, changed=False, version=None, settled=0))[:1]
    assert (step.what, step.page) == ("Have 3 judgments confirmed or changed", "guideline")


def test_questions_that_wait_come_first() -> None:
    assert say(questions=2, short=5)[0] == ("2 questions wait for an answer", "questions")
    assert say(questions=1)[0] == ("1 question waits for an answer", "questions")


def test_the_step_to_the_queue_names_reasons_and_first_the_pairs_that_move_systems() -> None:
    counted = {QueueReason.DIFFER: 3, QueueReason.QUESTION: 1}
    (step,) = suggest_steps(
        replace(DONE, disagreements=3, ready=False, waiting=WaitingDisagreements(4, counted, 2))
    )
    assert (step.what, step.page) == ("Decide 4 waiting pairs", "disagreements")
    assert (
        "3 of them have no settled grade yet and hold up the next release. The others have one, but"
        in step.why
    )
    assert step.why.endswith(
        "Reasons: grades differ 3, question 1. 2 of them can change the order of systems: decide these first."
    )


@pytest.mark.parametrize(
    ("open_", "message"),
    [
        (
            1,
            "It has a settled grade, but an objection, a question or a newer guideline calls it into question.",
        ),
        (
            3,
            "All of them have a settled grade, but an objection, a question or a newer guideline calls it into question.",
        ),
    ],
)
def test_a_queue_of_pairs_that_keep_their_grades_says_nothing_of_grades_that_differ(
    open_: int, message: str
) -> None:
    waiting = WaitingDisagreements(open_, {QueueReason.QUESTION: open_})
    (step,) = suggest_steps(replace(DONE, disagreements=0, ready=False, waiting=waiting))[:1]
    assert step.why == f"{message} Reasons: question {open_}."


def test_a_question_alone_keeps_the_queue_open_and_nothing_else_says_it_is_empty() -> None:
    steps = suggest_steps(
        replace(DONE, version=None, changed=True, waiting=WaitingDisagreements(1, {QueueReason.QUESTION: 1}))
    )
    assert [(step.what, step.page) for step in steps] == [
        ("Decide 1 waiting pair", "disagreements"),
        ("Publish the first release", "releases"),
    ]
    assert steps[1].why.startswith("Every gate is met")


def test_an_empty_queue_leads_to_the_release() -> None:
    (step,) = suggest_steps(replace(DONE, version=None, changed=True))
    assert (step.what, step.page) == ("Publish the first release", "releases")
    assert step.why.startswith("No disagreement is open and every gate is met")


def test_five_waiting_decisions_are_worth_a_new_version_of_the_guideline() -> None:
    assert say(waiting_feedback=4) == [("Nothing is left to do", "releases")]
    assert say(waiting_feedback=5) == [("Add the lessons from disagreements to the guideline", "guideline")]
    steps = say(waiting_feedback=7, disagreements=2, waiting=WaitingDisagreements(2), changed=True)
    assert [page for _, page in steps] == ["disagreements", "guideline", "releases"]
