"""The sentences of what signals found, and the pairs each points to."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from annotator.agreement.diagnosis.against_others import ClaimedLeaning
from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.diagnosis.careless_work import FailingAnnotator, QuickAnnotator
from annotator.agreement.diagnosis.drift import GradingDrift
from annotator.agreement.diagnosis.grade_findings import describe_categories
from annotator.agreement.diagnosis.people_findings import (
    describe_changes,
    describe_failing,
    describe_leanings,
    describe_quick,
)
from annotator.agreement.measure import measure
from annotator.agreement.records import (
    CoefficientValue,
    GroupAgreement,
    Interval,
    Leaning,
    MeasuredAgreement,
    PairSelection,
)
from annotator.labeling.records import AnnotatorResult, GoldResult, RepeatConsistency
from tests.unit.agreement.simulated import Faults, simulate

NONE = CoefficientValue(None, why="none")


def _measured(kappa: CoefficientValue, *, pairs: int = 100, queries: int = 20) -> MeasuredAgreement:
    return MeasuredAgreement(
        pairs=pairs, single_pairs=0, queries=queries, observed_agreement=0.8,
        cohen_kappa={"unweighted": kappa, "linear": NONE, "quadratic": NONE},
        fleiss_kappa=NONE, krippendorff_alpha={"nominal": NONE, "ordinal": NONE, "interval": NONE},
        gwet_ac1=NONE, gwet_ac2=NONE, cut_points=(), annotator_pairs=(), leanings=(), grade_counts=(1, 1, 1, 1),
    )  # fmt: skip


def _groups(kappas: Sequence[tuple[float, Interval | None]], **size: int) -> list[GroupAgreement]:
    return [
        GroupAgreement("category", f"c{number}", _measured(CoefficientValue(value, ci95), **size))
        for number, (value, ci95) in enumerate(kappas)
    ]


GOOD = (0.9, (0.8, 1.0))


def test_a_category_surely_below_the_target_is_told_with_its_pairs() -> None:
    (finding,) = describe_categories(_groups([GOOD, (0.4, (0.3, 0.5))]), 0.7)
    assert finding.sentence == (
        "In c1, agreement is below the target of 0.7: Cohen's kappa is 0.40 [0.30, 0.50] (100 pairs). Review its "
        "disagreements first."
    )
    assert (finding.kind, finding.pairs) == ("category", PairSelection(by="category", value="c1"))


@pytest.mark.parametrize("near", [(0.6, (0.4, 0.75)), (0.6, (0.51, 0.69)), (0.6, None)])
def test_a_category_that_may_reach_the_target_is_not(near: tuple[float, Interval | None]) -> None:
    """0.69 is below 0.7, but not as surely as two questions call for."""
    assert describe_categories(_groups([GOOD, near]), 0.7) == []


def test_a_category_with_few_pairs_or_queries_and_one_alone_are_not_told() -> None:
    low = (0.2, (0.1, 0.3))
    assert describe_categories(_groups([GOOD, low], pairs=29), 0.7) == []
    assert describe_categories(_groups([GOOD, low], queries=9), 0.7) == []
    assert describe_categories(_groups([low]), 0.7) == []
    nameless = [
        *_groups([GOOD]),
        GroupAgreement("category", None, _measured(CoefficientValue(0.2, (0.1, 0.3)))),
    ]
    assert describe_categories(nameless, 0.7) == []


def test_one_category_is_where_to_begin_that_which_lowers_kappa_most() -> None:
    """Three that each ask to be read first help nobody."""
    low = _groups([(0.3, (0.2, 0.4)), (0.5, (0.4, 0.55))])
    large = GroupAgreement("category", "large", _measured(CoefficientValue(0.5, (0.4, 0.55)), pairs=900))
    findings = describe_categories([*_groups([GOOD]), *low, large], 0.7)
    assert [finding.pairs.value for finding in findings if finding.pairs] == ["large", "c0", "c1"]
    assert ["first" in finding.sentence for finding in findings] == [True, False, False]


def test_many_categories_below_are_told_lowest_first_and_the_rest_by_name() -> None:
    lows = [(0.5 - number / 50, (0.4 - number / 50, 0.55 - number / 50)) for number in range(8)]
    findings = describe_categories(_groups([GOOD, *lows]), 0.7)
    assert [finding.pairs.value for finding in findings if finding.pairs] == ["c8", "c7", "c6", "c5", "c4"]
    assert findings[-1].sentence == "Agreement is also below the target in: c3, c2, c1."


def _of_alpha(alpha: float) -> MeasuredAgreement:
    measured = _measured(CoefficientValue(0.5))
    return replace(
        measured, krippendorff_alpha={**measured.krippendorff_alpha, "ordinal": CoefficientValue(alpha)}
    )


def test_who_leans_is_told_with_what_alpha_would_be_without_them() -> None:
    leaning = Leaning("a", 100, -0.5, (-0.7, -0.3), alpha_without=0.65, pairs_without=40)
    (finding,) = describe_leanings([ClaimedLeaning(leaning)], _of_alpha(0.6))
    assert (finding.kind, finding.pairs) == ("severe", PairSelection("differing", annotators=("a",)))
    assert finding.sentence == (
        "a grades the same pairs 0.50 [0.30, 0.70] grades lower than the others on average. Ordinal alpha is 0.65 among the "
        "others (40 pairs) and 0.60 with a (100 pairs). Compare how they read the "
        "rubric."
    )
    for without, pairs in ((None, 40), (0.61, 40), (0.5, 40), (0.65, 29)):
        changed = replace(leaning, mean=0.5, alpha_without=without, pairs_without=pairs)
        (bare,) = describe_leanings([ClaimedLeaning(changed)], _of_alpha(0.6))
        assert bare.kind == "lenient" and "alpha" not in bare.sentence


@pytest.mark.parametrize(
    ("who", "first", "last", "beginning_of_sentence"),
    [
        (None, 0.8, 0.6, "Agreement has fallen: Cohen's kappa is 0.80 for the first third of the pairs (until 2026-01-09)"),
        (None, 0.6, 0.8, "Agreement has risen"),
        ("a", -0.1, 0.3, "a has become more lenient compared with the others: -0.10 grades for the first third"),
        ("a", 0.3, -0.1, "a has become stricter compared with the others"),
    ],
)  # fmt: skip
def test_what_changed_is_said_with_its_direction(
    who: str | None, first: float, last: float, beginning_of_sentence: str
) -> None:
    ci95 = (last - first - 0.1, last - first + 0.1)
    beginning, end = (1_767_225_600, 1_768_003_199), (1_769_904_000, 1_770_000_000)
    (finding,) = describe_changes([GradingDrift(who, first, last, ci95, beginning, end)])
    assert finding.kind == "drift" and finding.sentence.startswith(beginning_of_sentence)
    assert f"a change of {last - first:+.2f} [{ci95[0]:+.2f}, {ci95[1]:+.2f}]" in finding.sentence
    assert "(until 2026-01-09)" in finding.sentence and "(since 2026-02-01)" in finding.sentence
    looked_at = end if who or last < first else beginning
    assert finding.pairs == PairSelection(annotators=(who,) if who else (), span=looked_at)


def test_failed_checks_point_to_the_pairs_that_were_answered_wrong() -> None:
    repeat, gold, bare = describe_failing([
        FailingAnnotator("repeat", "a", 4, 10, (0.12, 0.74), 0.8),
        FailingAnnotator("gold", "b", 3, 10, (0.07, 0.65), -0.5),
        FailingAnnotator("gold", "c", 0, 10, (0.0, 0.31), None),
    ])  # fmt: skip
    assert repeat.sentence.startswith(
        "a repeated the same judgment on only 4 of 10 repeats (40 %, 95 % confidence interval 12 % to 74 %)"
    )
    assert repeat.pairs == PairSelection("repeat", annotators=("a",))
    assert (
        "b judged 3 of 10 gold pairs correctly (30 %" in gold.sentence
        and "differ from the correct ones by -0.50 on average" in gold.sentence
    )
    assert gold.pairs == PairSelection("gold", annotators=("b",))
    assert "the correct ones" not in bare.sentence


def test_quick_judgments_point_to_themselves() -> None:
    (finding,) = describe_quick([QuickAnnotator("a", 21, 4.5, 18.2, 0.41, 0.83, (-0.6, -0.2))])
    assert finding.sentence == (
        "a judged 21 pairs in less than 4.5 seconds each (their median is 18.2), and agrees less with the others there: "
        "41 % of the comparisons, against 83 % elsewhere. Review these pairs."
    )
    assert (finding.kind, finding.pairs) == ("quick", PairSelection("quick", annotators=("a",)))


def test_all_signals_come_together_in_one_assessment_in_the_order_of_their_weight() -> None:
    faults = Faults(leans={0: 0.7}, turns={1: 0.9}, hurries=frozenset({3}))
    work = simulate(0, queries=90, annotators=5, overlap=3, faults=faults)
    names = ("a", "b", "c", "d", "e")
    checks = [
        AnnotatorResult("c", "C", False, None, GoldResult(20, 0.2, 0.5), RepeatConsistency(20, 0.3, 0.9))
    ]
    assessment = assess(
        work.judged, names=names, measured=measure(work.judged, names, resamples=300, seed=0), target=0.7,
        grade_names=("none", "some", "high", "full"), made_at=work.made_at, seconds=work.seconds, checks=checks,
        simulated=("e",),
    )  # fmt: skip
    kinds = list(dict.fromkeys(finding.kind for finding in assessment.findings))
    ordered = ["verdict", "simulated", "confused", "lenient", "drift", "repeat", "gold", "quick", "least"]
    assert [kind for kind in kinds if kind in ordered] == ordered
    assert assessment.findings[0].sentence == assessment.verdict.sentence
    assert len(assessment.periods) == 4
    assert all(leaning.alpha_without is not None for leaning in assessment.leanings)


def test_what_no_time_is_known_of_is_left_out() -> None:
    work = simulate(0, faults=Faults(late_errors=0.9, hurries=frozenset({1})))
    names = ("a", "b", "c")
    measured = measure(work.judged, names, resamples=0, seed=0)
    assessment = assess(work.judged, names=names, measured=measured, target=0.7, grade_names="abcd")
    assert assessment.periods == ()
    two = simulate(0, annotators=2)
    measured = measure(two.judged, ("a", "b"), resamples=0, seed=0)
    alone = assess(two.judged, names=("a", "b"), measured=measured, target=0.7, grade_names="abcd").leanings
    assert [leaning.alpha_without for leaning in alone] == [None, None]
    assert {finding.kind for finding in assessment.findings} & {"drift", "quick"} == set()
