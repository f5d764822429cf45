"""Every coefficient, over random judgments with gaps, against a library written by others, or against the published
formula applied judgment by judgment where no library has it. Where the library has no figure, there is none here."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from annotator.agreement.coefficients import (
    DISAGREEMENT,
    METRICS,
    coincidences,
    fleiss_terms,
    gwet_ac,
    gwet_terms,
    identity_weights,
    krippendorff_alpha,
    quadratic_weights,
)
from annotator.agreement.coefficients import fleiss_kappa as our_fleiss_kappa
from annotator.agreement.judgment_table import CATEGORIES, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import MeasuredAgreement

Row = list[int | None]
Rows = list[Row]
"""One row for each annotator, one column for each pair; None where the annotator did not judge it."""

NAMES = "abcde"
GRADES = list(range(CATEGORIES))


def _rows(annotators: int, missing: bool = True) -> st.SearchStrategy[Rows]:
    grade = st.integers(0, 3) | st.none() if missing else st.integers(0, 3)
    return st.integers(1, 20).flatmap(
        lambda pairs: st.lists(
            st.lists(grade, min_size=pairs, max_size=pairs), min_size=annotators, max_size=annotators
        )
    )


def _measure(rows: Rows) -> MeasuredAgreement:
    judged = [
        (0, pair, annotator, grade)
        for annotator, row in enumerate(rows)
        for pair, grade in enumerate(row)
        if grade is not None
    ]
    return measure(
        sort_judged(*np.array(judged, dtype=np.int64).reshape(-1, 4).T), NAMES, resamples=0, seed=0
    )


def _couples(rows: Rows) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The names of every two annotators who share a pair, and their grades of those."""
    for first, other in combinations(range(len(rows)), 2):
        both = [
            (a, b) for a, b in zip(rows[first], rows[other], strict=True) if a is not None and b is not None
        ]
        if both:
            yield NAMES[first] + NAMES[other], both


def _columns(rows: Rows) -> list[list[int]]:
    """The grades of each pair."""
    return [[grade for grade in column if grade is not None] for column in zip(*rows, strict=True)]


def _counts(columns: Sequence[Sequence[int]]) -> np.ndarray:
    return np.array([[column.count(grade) for grade in GRADES] for column in columns], float).reshape(-1, 4)


def _theirs(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _kappa_of_scikit_learn(
    both: list[tuple[int, int]], weights: str, labels: list[int] | None = None
) -> float | None:
    first, second = zip(*both, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where it gives NaN, as asked for here
        return _theirs(
            cohen_kappa_score(
                first,
                second,
                labels=labels or GRADES,
                weights=None if weights == "unweighted" else weights,
            )
        )


def _alpha_of_krippendorff(rows: Rows, metric: str) -> float | None:
    data = np.array([[np.nan if grade is None else grade for grade in row] for row in rows], dtype=float)
    try:
        with np.errstate(invalid="ignore"):
            return _theirs(krippendorff.alpha(data, value_domain=GRADES, level_of_measurement=metric))
    except ValueError as error:  # it refuses where no pair is shared
        assert "at least two coders" in str(error)
        return None


def _mean(kappas: Sequence[tuple[float | None, int]]) -> float | None:
    """Weighted by pairs, without the undefined ones."""
    defined = [(kappa, pairs) for kappa, pairs in kappas if kappa is not None]
    return (
        sum(kappa * pairs for kappa, pairs in defined) / sum(pairs for _, pairs in defined)
        if defined
        else None
    )


def _same(ours: float | None, reference: float | None) -> bool:
    """Both undefined, or the same number."""
    return (ours is None) == (reference is None) and ours == (
        None if reference is None else pytest.approx(reference, abs=1e-9)
    )


@given(rows=_rows(4))
def test_kappa_of_two_and_of_all_is_that_of_scikit_learn(rows: Rows) -> None:
    """Of all: the mean over annotator pairs, weighted by the pairs they share, without the undefined ones."""
    measured = _measure(rows)
    ours = {"".join(pair.annotators): pair for pair in measured.annotator_pairs}
    judged_by_both = dict(_couples(rows))
    assert {names: pair.pairs for names, pair in ours.items()} == {
        names: len(both) for names, both in judged_by_both.items()
    }
    for weights in DISAGREEMENT:
        kappas = {names: _kappa_of_scikit_learn(both, weights) for names, both in judged_by_both.items()}
        for names, kappa in kappas.items():
            assert _same(ours[names].cohen_kappa[weights].value, kappa), (weights, names)
        mean = _mean([(kappas[names], len(both)) for names, both in judged_by_both.items()])
        assert _same(measured.cohen_kappa[weights].value, mean), weights


@given(rows=_rows(3))
def test_kappa_of_two_is_that_of_statsmodels(rows: Rows) -> None:
    for pair in _measure(rows).annotator_pairs:
        for weights, disagreement in DISAGREEMENT.items():
            with np.errstate(invalid="ignore", divide="ignore"):
                reference = cohens_kappa(
                    np.array(pair.confusion),
                    weights=None if weights == "unweighted" else disagreement,
                    return_results=False,
                )
            assert _same(pair.cohen_kappa[weights].value, _theirs(reference)), weights


@given(rows=_rows(3))
def test_the_kappas_at_the_cuts_are_those_of_scikit_learn_on_relevant_or_not(rows: Rows) -> None:
    for relevant_from, ours in _measure(rows).cut_points:
        cut = [
            [(int(a >= relevant_from), int(b >= relevant_from)) for a, b in both]
            for _, both in _couples(rows)
        ]
        reference = _mean([(_kappa_of_scikit_learn(both, "unweighted", [0, 1]), len(both)) for both in cut])
        assert _same(ours.value, reference)


@given(rows=_rows(4, missing=False))
def test_fleiss_kappa_is_that_of_statsmodels_where_all_judged_all(rows: Rows) -> None:
    with np.errstate(invalid="ignore", divide="ignore"):
        reference = fleiss_kappa(_counts(_columns(rows)), method="fleiss")
    assert _same(_measure(rows).fleiss_kappa.value, _theirs(reference))


@given(rows=_rows(4))
def test_fleiss_kappa_with_gaps_is_gwets_formula_over_the_shared_pairs(rows: Rows) -> None:
    """Gwet (2014), ch. 2: each pair of two judgments or more counts once in both terms. statsmodels takes no gaps."""
    shared = [column for column in _columns(rows) if len(column) >= 2]
    value = _measure(rows).fleiss_kappa.value
    if len({grade for column in shared for grade in column}) < 2:
        assert value is None
        return
    observed = _mean_of(_matching(column, identity_weights(4)) for column in shared)
    chance = sum(_mean_of(column.count(grade) / len(column) for column in shared) ** 2 for grade in GRADES)
    assert value == pytest.approx((observed - chance) / (1 - chance))


@given(rows=_rows(4))
def test_alpha_is_that_of_the_package_krippendorff(rows: Rows) -> None:
    measured = _measure(rows)
    for metric in METRICS:
        assert _same(measured.krippendorff_alpha[metric].value, _alpha_of_krippendorff(rows, metric)), metric


@given(rows=_rows(4))
def test_ac1_and_ac2_are_gwets_formula_applied_judgment_by_judgment(rows: Rows) -> None:
    """Gwet (2014), ch. 3 with missing judgments; no library that has it runs beside NumPy 2 (irrCAC asks for less)."""
    columns = [column for column in _columns(rows) if column]
    shared = [column for column in columns if len(column) >= 2]
    share = [_mean_of(column.count(grade) / len(column) for column in columns) for grade in GRADES]
    measured = _measure(rows)
    for ours, weights in (
        (measured.gwet_ac1, identity_weights(4)),
        (measured.gwet_ac2, quadratic_weights(4)),
    ):
        if len({grade for column in shared for grade in column}) < 2:
            assert ours.value is None  # the formula says 1 here, for what has no variation
            continue
        observed = _mean_of(_matching(column, weights) for column in shared)
        chance = weights.sum() / (4 * 3) * sum(part * (1 - part) for part in share)
        assert ours.value == pytest.approx((observed - chance) / (1 - chance))


@given(rows=_rows(5), kept=st.integers(2, 5))
def test_a_coefficient_of_summed_terms_is_that_of_all_pairs_at_once(rows: Rows, kept: int) -> None:
    """What the bootstrap rests on: query by query, or in one go."""
    shared = _counts([column for column in _columns(rows) if len(column) >= 2])
    weights = quadratic_weights(4)
    for ours, terms in (
        (our_fleiss_kappa, fleiss_terms(shared)),
        (lambda sums: gwet_ac(sums, weights), gwet_terms(shared, weights)),
        (
            lambda sums: krippendorff_alpha(sums.reshape(4, 4), "ordinal"),
            coincidences(shared).reshape(-1, 16),
        ),
    ):
        pieces = sum(terms[start::kept].sum(axis=0) for start in range(kept))
        assert _same(_theirs(float(ours(pieces))), _theirs(float(ours(terms.sum(axis=0)))))


def _matching(column: Sequence[int], weights: np.ndarray) -> float:
    """The mean weight of every two judgments of a pair."""
    return _mean_of(float(weights[first, other]) for first, other in combinations(column, 2))


def _mean_of(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else np.nan
