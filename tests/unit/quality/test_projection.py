"""The curve of how many more pairs without an error would decide: where it begins, where it crosses, where it ends."""

import pytest

from annotator.quality.records import LIMIT
from annotator.quality.sampling import compute_bound, count_further, project


@pytest.mark.parametrize(
    ("errors", "checked", "population"), [(0, 10, 200), (2, 100, 1_000), (3, 150, 300_000)]
)
def test_the_curve_begins_at_the_present_bound_and_crosses_the_limit_at_the_number_that_decides(
    errors: int, checked: int, population: int
) -> None:
    further = count_further(errors, checked, population)
    assert further is not None
    curve = dict(project(errors, checked, population, further))
    assert curve[0] == compute_bound(errors, checked, population)
    assert curve[further] < LIMIT
    assert all(bound >= LIMIT for number, bound in curve.items() if number < further)
    assert list(curve) == sorted(curve)
    assert max(curve) > further


def test_the_curve_never_goes_beyond_the_pairs_there_are() -> None:
    further = count_further(2, 30, 60)
    assert further is not None
    assert max(number for number, _ in project(2, 30, 60, further)) <= 30
