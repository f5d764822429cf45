"""Each sentence of the diagnosis in worlds in which it is true, and in worlds in which it is not."""

import re

import numpy as np
import pytest

from annotator.agreement.diagnosis.assess import DiagnosisAssessment, assess
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import DiagnosisFinding, GroupAgreement, PairSelection
from tests.unit.agreement.simulated import Faults, Work, simulate

GRADES = ("none", "some", "high", "full")
SEEDS = range(3)


def _assess(
    work: Work | GradedJudgments, people: int, groups: tuple[GroupAgreement, ...] = ()
) -> DiagnosisAssessment:
    judged = work.judged if isinstance(work, Work) else work
    names = tuple(f"p{number:03}" for number in range(people))
    measured = measure(judged, names, resamples=200, seed=0)
    return assess(judged, names=names, measured=measured, target=0.7, grade_names=GRADES, groups=groups)


def _say(
    kind: str, faults: Faults | None = None, *, people: int = 4, **size: object
) -> list[DiagnosisFinding]:
    work = simulate(annotators=people, faults=faults, **{"queries": 60, "overlap": 3, **size})  # type: ignore[arg-type]
    return [finding for finding in _assess(work, people).findings if finding.kind == kind]


# who gives one grade almost throughout


@pytest.mark.parametrize("seed", SEEDS)
def test_a_constant_annotator_is_named_with_what_the_others_gave(seed: int) -> None:
    (finding,) = _say("constant", Faults(constant={1: 0}), seed=seed)
    assert finding.sentence.startswith("p001 gave 0 (none) in 9")
    assert finding.pairs == PairSelection("given", ("p001",), grade=0)
    (together,) = _say("constants", Faults(constant={1: 0}), seed=seed)
    assert re.search("1 annotator \\(2[0-9] % of the judgments of shared pairs\\)", together.sentence)
    assert re.search("Ordinal alpha is .* among the others .* with them .600 pairs", together.sentence)


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_constant_where_the_documents_are(seed: int) -> None:
    assert _say("constant", Faults(narrow=0.98), seed=seed, right=1.0) == []
    assert _say("constant", seed=seed) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_beside_a_constant_annotator_nobody_else_is_lenient_severe_or_apart(seed: int) -> None:
    faults = Faults(constant={1: 0})
    for kind in ("lenient", "severe", "less"):
        assert _say(kind, faults, seed=seed) == []


LEFT_OUT = " Annotators who almost always give the same grade are excluded here."


@pytest.mark.parametrize(("right", "seed"), [(0.7, 0), (0.7, 1), (0.85, 2)])
def test_beside_a_constant_annotator_grades_and_annotator_pairs_are_those_of_all_others(
    right: float, seed: int
) -> None:
    """Which grades are confused and how often, whose they are, and how documents are ordered: what would be said without."""
    judged = simulate(
        seed, annotators=5, overlap=5, queries=60, right=right, faults=Faults(constant={4: 0})
    ).judged
    kinds = {"confused", "direction", "concentrated", "apart", "near", "least"}

    def say(some: GradedJudgments, people: int) -> dict[str, DiagnosisFinding]:
        return {
            finding.sentence: finding for finding in _assess(some, people).findings if finding.kind in kinds
        }

    alone, beside = say(judged.where(judged.annotator < 4), 4), say(judged, 5)
    assert [sentence + LEFT_OUT for sentence in alone] == list(beside) and alone
    for finding in beside.values():
        assert finding.pairs is not None
        assert "p004" in finding.pairs.without or (
            finding.kind == "least" and "p004" not in finding.pairs.annotators
        )


# who grades higher than the others, or than one of them


@pytest.mark.parametrize("seed", SEEDS)
def test_higher_than_the_others_is_said_of_who_is_so_beside_each_of_them(seed: int) -> None:
    (finding,) = _say("lenient", Faults(leans={1: 0.6}), people=3, overlap=2, seed=seed)
    assert finding.sentence.startswith("p001 grades the same pairs 0.")


@pytest.mark.parametrize("seed", SEEDS)
def test_higher_than_one_of_the_others_names_that_one(seed: int) -> None:
    """One comparison out of three: nothing is said of the others."""
    findings = _say("lenient", Faults(between={(1, 2): 0.8}), people=3, overlap=2, seed=seed)
    findings += _say("severe", Faults(between={(1, 2): 0.8}), people=3, overlap=2, seed=seed)
    assert len(findings) == 1
    assert re.match("p001 .* grades higher than p002", findings[0].sentence) or re.match(
        "p002 .* grades lower than p001", findings[0].sentence
    )
    assert findings[0].pairs == PairSelection("differing", annotators=("p001", "p002"))


@pytest.mark.parametrize("seed", SEEDS)
def test_of_two_annotators_the_other_is_named(seed: int) -> None:
    (finding,) = _say("lenient", Faults(leans={1: 0.6}), people=2, overlap=2, seed=seed)
    assert finding.sentence.startswith("p001 grades the same pairs 0.")


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_lenient_or_severe_where_nobody_leans(seed: int) -> None:
    assert _say("lenient", seed=seed) == _say("severe", seed=seed) == []


# alpha without somebody


def test_alpha_without_somebody_says_over_how_many_pairs() -> None:
    (finding,) = _say("lenient", Faults(leans={1: 0.8}), people=3, overlap=2, seed=1)
    assert "among the others" in finding.sentence
    work = simulate(1, annotators=3, queries=60, overlap=2, faults=Faults(leans={1: 0.8}))
    other_pairs = set(work.judged.pair[work.judged.annotator == 1].tolist())
    rest = len(set(work.judged.pair.tolist()) - other_pairs)
    assert f"among the others ({rest} pairs)" in finding.sentence and "(600 pairs)" in finding.sentence


def test_alpha_without_somebody_is_not_told_of_a_handful_of_pairs() -> None:
    """All but 20 pairs were judged by the one who leans."""
    work = simulate(1, annotators=3, queries=60, overlap=2, faults=Faults(leans={1: 0.8}))
    by_others = ~np.isin(work.judged.pair, work.judged.pair[work.judged.annotator == 1])
    few = by_others & (work.judged.pair > np.sort(np.unique(work.judged.pair[by_others]))[19])
    findings = [
        finding for finding in _assess(work.judged.where(~few), 3).findings if finding.kind == "lenient"
    ]
    assert findings and "alpha" not in findings[0].sentence


# who agrees less than the others do


@pytest.mark.parametrize("seed", SEEDS)
def test_who_guesses_agrees_less_and_is_the_only_one_named(seed: int) -> None:
    (finding,) = _say("less", Faults(guesses=frozenset({2})), seed=seed)
    assert finding.sentence.startswith("p002 agrees less than the others: Cohen's kappa with the others is")
    assert finding.pairs == PairSelection("differing", annotators=("p002",))


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_agrees_less_where_all_are_alike(seed: int) -> None:
    assert _say("less", seed=seed) == []
    assert _say("less", people=2, overlap=2, seed=seed) == []


def test_beside_a_constant_annotator_who_agrees_less_is_told_with_whom_and_over_which_pairs() -> None:
    faults = Faults(constant={4: 0}, guesses=frozenset({2}))
    judged = simulate(0, annotators=5, overlap=5, queries=60, faults=faults).judged
    (alone,), (beside,) = (
        [finding for finding in _assess(some, people).findings if finding.kind == "less"]
        for some, people in ((judged.where(judged.annotator < 4), 4), (judged, 5))
    )
    assert beside.sentence == alone.sentence.replace(
        "among all.", "among all, both without annotators who almost always give the same grade."
    )
    assert beside.pairs == PairSelection("differing", annotators=("p002",), without=("p004",))


# who agrees least and most


@pytest.mark.parametrize("seed", SEEDS)
def test_who_agrees_least_is_told_only_where_annotator_pairs_surely_differ(seed: int) -> None:
    (finding,) = _say("least", Faults(guesses=frozenset({2})), seed=seed)
    assert "p002" in finding.sentence.split("most")[0]
    assert _say("least", seed=seed) == []


# whether documents are ordered alike


@pytest.mark.parametrize("seed", SEEDS)
def test_ordered_alike_is_said_where_they_differ_in_where_a_grade_begins(seed: int) -> None:
    (finding,) = _say("near", Faults(begins={1: 1}), people=2, overlap=2, right=0.95, seed=seed)
    assert "order documents alike (Kendall's tau-b" in finding.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_ordered_alike_is_not_said_where_near_misses_are_noise(seed: int) -> None:
    (finding,) = _say("near", people=2, overlap=2, right=0.45, seed=seed)
    assert "order documents alike" not in finding.sentence
    assert finding.sentence.endswith("Define in the rubric where each grade begins.")


def test_near_misses_are_not_told_where_differences_are_wide() -> None:
    assert _say("near", Faults(guesses=frozenset({0, 1})), people=2, overlap=2, seed=0) == []


# hundreds of annotators


def _crowd(seed: int, people: int = 300, *, constant: int = 0, guesses: int = 0) -> GradedJudgments:
    """4,000 pairs of 400 queries with five judgments each. The first `constant` annotators give 0 almost throughout, the
    next `guesses` random grades; all others are right in four of five cases."""
    random = np.random.default_rng(seed)
    pairs = 4_000
    pair = np.repeat(np.arange(pairs), 5)
    annotator = (random.integers(0, people, pairs)[:, None] + np.array([0, 7, 61, 133, 211])) % people
    who = annotator.ravel()
    truth = random.choice(4, pairs, p=[0.4, 0.25, 0.2, 0.15])[pair]
    off = np.clip(truth + random.choice([-1, 1], len(pair)), 0, 3)
    grade = np.where(random.random(len(pair)) < 0.8, truth, off)
    grade = np.where(who < constant, np.where(random.random(len(pair)) < 0.98, 0, grade), grade)
    lost = (who >= constant) & (who < constant + guesses)
    grade = np.where(lost, random.integers(0, 4, len(pair)), grade)
    return sort_judged(pair // 10, pair, who, grade)


def test_in_a_crowd_those_who_give_one_grade_are_told_together_and_the_first_by_name() -> None:
    assessment = _assess(_crowd(0, constant=60), 300)
    kinds = [finding.kind for finding in assessment.findings]
    assert kinds.count("constants") == 1 and kinds.count("constant") == 3
    (together,) = (finding for finding in assessment.findings if finding.kind == "constants")
    number = int(together.sentence.split(": ")[1].split(" ")[0])
    assert 50 <= number <= 60
    assert {finding.sentence[:4] for finding in assessment.findings if finding.kind == "constant"} <= {
        f"p{n:03}" for n in range(60)
    }


def test_in_a_crowd_that_is_well_nobody_is_named() -> None:
    for seed in SEEDS:
        kinds = {finding.kind for finding in _assess(_crowd(seed), 300).findings}
        assert not kinds & {"constant", "constants", "lenient", "severe", "less", "least", "direction"}


def test_in_a_crowd_who_guesses_is_told_most_weight_first_and_many_by_name() -> None:
    findings = [finding for finding in _assess(_crowd(1, guesses=30), 300).findings if finding.kind == "less"]
    assert len(findings) == 6
    assert findings[-1].sentence.startswith("Also below the others: p0")
    named = {sentence[:4] for sentence in (finding.sentence for finding in findings[:5])}
    assert named <= {f"p{number:03}" for number in range(30)}
