"""Agreement before and since a version: which pairs are on which side, and what is said of the difference."""

import numpy as np
import pytest

from annotator.agreement.judgment_table import GradedJudgments, GroupLabels, NamedJudgments
from annotator.agreement.measure import measure
from annotator.agreement.records import VersionComparison
from annotator.agreement.version_comparison import choose_version, compare_versions, split_rows
from annotator.domain.errors import NotFound

PAIRS_OF_A_QUERY = 6


def make(
    queries: int, agree_before: float, agree_since: float, pairs: int = PAIRS_OF_A_QUERY
) -> tuple[NamedJudgments, np.ndarray]:
    """Two annotators; the first half of the queries judged under version 1, the rest under version 2."""
    random = np.random.default_rng(5)
    query, pair, annotator, grade, versions = ([] for _ in range(5))  # type: ignore[var-annotated]
    for index in range(queries * pairs):
        since = index >= queries * pairs // 2
        first = int(random.integers(0, 4))
        same = random.random() < (agree_since if since else agree_before)
        for who, given in ((0, first), (1, first if same else (first + 1) % 4)):
            query.append(index // pairs)
            pair.append(index)
            annotator.append(who)
            grade.append(given)
            versions.append(2 if since else 1)
    judged = GradedJudgments(
        *(np.array(column, dtype=np.int64) for column in (query, pair, annotator, grade))
    )
    rows = len(query)
    empty = np.zeros(rows, dtype=np.int64)
    named = NamedJudgments(judged, ("花子", "민준"), (1, 2), (), empty, np.full(rows, np.nan), empty)
    return named, np.array(versions, dtype=np.int64)


def compare(judgments: NamedJudgments, versions: np.ndarray, **changes: object) -> VersionComparison:
    even = GroupLabels(["偶", "홀"], (judgments.judged.query % 2).astype(np.int64))
    options = {
        "version_numbers": [1, 2],
        "led": {2: {"偶": 3}},
        "version": 2,
        "resamples": 50,
        "seed": 0,
    } | changes
    return compare_versions(judgments, versions, even, dataset="d", **options)  # type: ignore[arg-type]


def test_a_sure_rise_is_said_with_both_figures_and_a_sure_fall_too() -> None:
    judgments, versions = make(60, 0.5, 0.95)
    (whole, even) = compare(judgments, versions).parts
    assert (whole.state, whole.before.pairs, whole.since.pairs) == ("higher", 180, 180)
    assert whole.sentence.startswith(
        "Agreement in the dataset has been higher since version 2: Cohen's kappa is 0.9"
    )
    assert whole.difference.ci95 is not None and whole.difference.ci95[0] > 0
    assert (even.category, even.before.pairs, even.since.pairs) == ("偶", 90, 90)
    judgments, versions = make(60, 0.95, 0.5)
    fallen = compare(judgments, versions).parts[0]
    assert fallen.state == "lower" and "Review the disagreements since then." in fallen.sentence


def test_the_figures_are_those_of_the_report() -> None:
    judgments, versions = make(30, 0.6, 0.8)
    part = compare(judgments, versions).parts[0]
    own = measure(judgments.judged.where(versions == 2), judgments.names, resamples=50, seed=0)
    assert part.since.kappa == own.cohen_kappa["unweighted"]
    assert part.since.alpha == own.krippendorff_alpha["ordinal"]
    before = measure(judgments.judged.where(versions == 1), judgments.names, resamples=0, seed=0)
    kappas = [item.cohen_kappa["unweighted"].value for item in (own, before)]
    assert part.difference.value == pytest.approx(kappas[0] - kappas[1])  # type: ignore[operator]


def test_what_may_be_chance_or_is_too_little_is_not_yet_known() -> None:
    judgments, versions = make(60, 0.8, 0.8)
    assert compare(judgments, versions).parts[0].state == "unknown"
    judgments, versions = make(8, 0.1, 1.0)  # as far apart as can be, on 24 pairs of 4 queries each
    few = compare(judgments, versions).parts[0]
    assert (few.state, few.before.warning is not None) == ("unknown", True)
    assert few.sentence.startswith("The effect of version 2 on agreement in the dataset is not clear yet")
    little, under = make(28, 0.1, 1.0, pairs=2)  # 28 pairs a side, of enough queries for an interval
    part = compare(little, under).parts[0]
    assert part.difference.ci95 is not None and part.difference.ci95[0] > 0
    assert part.state == "unknown"
    none = compare(judgments, np.ones(len(versions), dtype=np.int64)).parts[0]
    assert (
        none.sentence
        == "The comparison in the dataset is not possible yet: no pair was judged by two annotators since version 2."
    )
    assert (none.difference.value, none.since.kappa.value) == (None, None)


def test_pairs_judged_partly_before_and_partly_since_are_on_neither_side() -> None:
    columns = ([1, 1, 1, 1, 1, 1], [1, 1, 2, 2, 3, 3], [0, 1] * 3, [0, 1, 2, 3, 0, 0])
    judged = GradedJudgments(*(np.array(column, dtype=np.int64) for column in columns))
    before, since, between, unknown = split_rows(judged, np.array([1, 1, 1, 2, 3, 2]), 2)
    assert before.tolist() == [True, True, False, False, False, False]
    assert since.tolist() == [False, False, False, False, True, True]
    assert (between, unknown) == (1, 0)


def test_pairs_of_which_nobody_knows_the_guideline_are_on_neither_side() -> None:
    columns = ([1] * 7, [1, 1, 2, 2, 3, 3, 4], [0, 1] * 3 + [0], [0] * 7)
    judged = GradedJudgments(*(np.array(column, dtype=np.int64) for column in columns))
    before, since, between, unknown = split_rows(judged, np.array([0, 0, 0, 2, 2, 2, 0]), 2)
    assert not before.any()
    assert since.tolist() == [False, False, False, False, True, True, False]
    assert (between, unknown) == (0, 2)


def test_the_version_is_the_one_asked_for_or_the_latest_that_decisions_led_to() -> None:
    assert choose_version([1, 2, 3], {2: {None: 4}}, None) == 2
    assert choose_version([1, 2, 3], {}, None) == 3
    assert choose_version([1, 2, 3], {2: {None: 4}}, 3) == 3
    assert choose_version([1], {}, None) is None
    for wrong in (1, 4):
        with pytest.raises(NotFound):
            choose_version([1, 2, 3], {}, wrong)
