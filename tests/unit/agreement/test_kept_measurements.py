"""A measurement is found again for exactly the same judgments, and for no others."""

from dataclasses import replace

import numpy as np
import pytest

from annotator.agreement import report
from annotator.agreement.judgment_table import NamedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.report import MeasuredDatasets


def make_judgments(grades: tuple[int, ...] = (0, 1, 2, 2, 3, 3)) -> NamedJudgments:
    query, pair, annotator = ([1, 1, 1, 1, 2, 2], [1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1])
    judged = sort_judged(np.array(query), np.array(pair), np.array(annotator), np.array(grades))
    none = np.zeros(6, dtype=np.int64)
    return NamedJudgments(judged, ("花子", "민준"), (1, 2), (), none, none.astype(float), none)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many judgments were measured, one entry for each time."""
    calls: list[int] = []
    compute = measure
    monkeypatch.setattr(
        report,
        "measure",
        lambda judged, names, **more: calls.append(len(judged.pair)) or compute(judged, names, **more),
    )
    return calls


def test_the_same_judgments_are_measured_once(measured: list[int]) -> None:
    kept = MeasuredDatasets()
    first = kept.measure(make_judgments(), resamples=10, seed=1)
    assert kept.measure(make_judgments(), resamples=10, seed=1) is first
    assert len(measured) == 1


def test_whatever_differs_is_measured_anew(measured: list[int]) -> None:
    kept, judgments = MeasuredDatasets(most=20), make_judgments()
    others = [
        (make_judgments((0, 1, 2, 2, 3, 2)), 10, 1),
        (replace(judgments, names=("花子", "third")), 10, 1),
        (replace(judgments, judged=replace(judgments.judged, pair=judgments.judged.pair + 1)), 10, 1),
        (
            replace(judgments, judged=replace(judgments.judged, query=judgments.judged.query[::-1].copy())),
            10,
            1,
        ),
        (replace(judgments, judged=judgments.judged.where(judgments.judged.pair < 3)), 10, 1),
        (judgments, 11, 1),
        (judgments, 10, 2),
    ]
    kept.measure(judgments, resamples=10, seed=1)
    for number, (given, resamples, seed) in enumerate(others, 2):
        kept.measure(given, resamples=resamples, seed=seed)
        assert len(measured) == number


def test_only_the_latest_few_are_kept(measured: list[int]) -> None:
    kept = MeasuredDatasets(most=2)
    for seed in (1, 2, 1, 3, 1, 2):  # 2 was asked for longest ago when 3 came
        kept.measure(make_judgments(), resamples=10, seed=seed)
    assert len(measured) == 4
