"""Estimates beside the lead's decisions: what each method gives, what is compared with what, and when nothing is."""

from collections.abc import Sequence

import numpy as np
import pytest

from annotator.agreement.consensus import ConsensusPair, compare_estimates, estimate, find_majority
from annotator.agreement.consensus_records import EstimatedPair

NAMES = {10: "高橋", 20: "고양이", 30: "<zoë>"}


def make(
    number: int, grades: Sequence[int | None], settled: int | None = None, by: str = "disagreement"
) -> ConsensusPair:
    given = {key: grade for key, grade in zip(NAMES, grades, strict=True) if grade is not None}
    return ConsensusPair(f"q{number}", f"d{number}", given, settled, by)


@pytest.mark.parametrize(
    ("grades", "expected"), [((1, 1, 2), 1), ((0, 3), None), ((2, 2), 2), ((0, 0, 1, 1, 3), None), ((3,), 3)]
)
def test_the_majority_is_the_grade_given_most_often_if_there_is_one(
    grades: Sequence[int], expected: int | None
) -> None:
    assert find_majority(grades) == expected


def test_only_shared_pairs_are_estimated_and_in_their_order() -> None:
    pairs = [
        make(1, (2, 2, 1), 2, "adjudicated"),
        make(2, (3, None, None), 3, "single"),
        make(3, (0, 0, None), 0, "unanimous"),
    ]
    consensus = compare_estimates("d", pairs, NAMES)
    assert [pair.query_id for pair in consensus.pairs] == ["q1", "q3"]
    first, second = consensus.pairs
    assert (first.majority, first.median, first.settled, first.settled_by) == (2, 2.0, 2, "adjudicated")
    assert (second.judgments, second.majority, second.median) == (2, 0, 0.0)
    assert second.settled_by == "unanimous"


def test_only_adjudicated_pairs_are_compared_and_pairs_without_an_estimate_are_told_apart() -> None:
    pairs = [
        make(1, (1, 2, None), 2, "adjudicated"),
        make(2, (1, 1, 3), 1, "adjudicated"),
        make(3, (3, 3, 0), 0, "adjudicated"),
        make(4, (0, 0, 0), 0, "unanimous"),
        make(5, (0, 2, None)),
    ]
    majority, middle, modelled = compare_estimates("d", pairs, NAMES).matches
    assert (majority.compared, majority.equal, majority.open) == (2, 1, 1)
    assert (middle.compared, middle.equal, middle.open) == (2, 1, 1)
    assert (modelled.compared, modelled.open) == (3, 0)
    assert majority.share == 0.5


def test_a_settled_grade_that_quality_control_reopened_is_none() -> None:
    (pair,) = compare_estimates("d", [make(1, (2, 2, None), None, "reopened")], NAMES).pairs
    assert (pair.settled, pair.settled_by) == (None, None)


def test_an_annotator_who_errs_at_random_is_found_out_and_outvoted_in_the_estimate() -> None:
    random = np.random.default_rng(5)
    true = random.integers(0, 4, size=400)
    careful = [np.where(random.random(400) < 0.95, true, random.integers(0, 4, size=400)) for _ in range(2)]
    grades = np.array([*careful, random.integers(0, 4, size=400)])
    pairs = [make(number, [int(grade) for grade in column]) for number, column in enumerate(grades.T)]
    consensus = compare_estimates("d", pairs, NAMES)
    assert consensus.converged
    right = {annotator.annotator: annotator.right for annotator in consensus.annotators}
    assert list(right) == ["<zoë>", "高橋", "고양이"]
    assert right["<zoë>"] < 0.4 < 0.9 < min(right["高橋"], right["고양이"])
    assert (
        np.mean([pair.dawid_skene == grade for pair, grade in zip(consensus.pairs, true, strict=True)]) > 0.9
    )


def test_the_order_of_the_judgments_does_not_change_the_estimates() -> None:
    random = np.random.default_rng(1)
    rows = np.array([(pair, who, int(random.integers(0, 4))) for pair in range(60) for who in range(4)])
    ordered, shuffled = estimate(*rows.T), estimate(*random.permutation(rows).T)
    assert ordered.probabilities == pytest.approx(shuffled.probabilities)
    assert ordered.rounds == shuffled.rounds


def test_the_formulas_are_the_published_ones_step_by_step() -> None:
    """The same as loops over the paper's equations 2.3 to 2.5, on judgments with gaps."""
    random = np.random.default_rng(3)
    rows = [
        (pair, who, int(random.integers(0, 4)))
        for pair in range(25)
        for who in range(4)
        if random.random() < 0.8
    ]
    rows += [(pair, 0, 1) for pair in range(25)]
    estimates = estimate(*np.array(rows).T, most_rounds=4, accelerate=False)
    probabilities = np.zeros((25, 4))
    for pair, _, grade in rows:
        probabilities[pair, grade] += 1
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for _ in range(4):
        errors = np.zeros((4, 4, 4))
        for pair, who, grade in rows:
            errors[who, :, grade] += probabilities[pair]
        errors /= errors.sum(axis=2, keepdims=True)
        shares = probabilities.mean(axis=0)
        probabilities = np.tile(shares, (25, 1))
        for pair, who, grade in rows:
            probabilities[pair] *= errors[who, :, grade]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    assert estimates.rounds == 4
    assert estimates.probabilities == pytest.approx(probabilities)


@pytest.mark.parametrize(
    "pairs",
    [[], [make(1, (2, None, None))], [make(1, (2, 2, 2))], [make(n, (n % 4, n % 4, None)) for n in range(9)]],
    ids=["nothing", "one judgment", "one pair", "all agree"],
)
def test_small_and_uniform_data_give_estimates_or_say_that_there_is_nothing(
    pairs: list[ConsensusPair],
) -> None:
    consensus = compare_estimates("d", pairs, NAMES)
    assert consensus.converged
    assert all(
        pair.dawid_skene == pair.majority and pair.probability == pytest.approx(1) for pair in consensus.pairs
    )
    assert bool(consensus.pairs) != ("nothing to estimate" in consensus.describe()[0])


def test_a_pair_judged_by_two_thousand_does_not_underflow() -> None:
    random = np.random.default_rng(2)
    pairs = [
        ConsensusPair(
            f"q{n}", "d", dict(enumerate(random.integers(0, 4, size=2000).tolist())), None, "disagreement"
        )
        for n in range(12)
    ]
    consensus = compare_estimates("d", pairs, {who: f"p{who:04}" for who in range(2000)})
    assert all(isinstance(pair, EstimatedPair) and 0 < pair.probability <= 1 for pair in consensus.pairs)


def test_estimates_that_rest_on_two_judgments_are_said_to() -> None:
    sentences = compare_estimates("d", [make(1, (2, 1, None)), make(2, (1, 1, None))], NAMES).describe()
    assert any("2 of these pairs have two judgments only" in sentence for sentence in sentences)
