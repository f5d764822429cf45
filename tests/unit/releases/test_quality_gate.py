"""The gate of quality control: by what the sample proves, or by what it shows."""

from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.quality.records import ErrorRate, QualityDraw, QualityRule, QualityStatus, Verdict
from annotator.releases.gates import check_quality

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
DRAW = QualityDraw(1, 1, "expert", "lead", 0.1, 0, 1000, 0, 100, NOON)


def status(
    rule: QualityRule, verdict: Verdict, *, errors: int = 3, checked: int = 100, bound: float = 0.0761234567, **more: Any
) -> QualityStatus:  # fmt: skip
    rate = ErrorRate(errors, checked, errors / checked if checked else None, None, bound if checked else None)
    other: Verdict = "failed" if verdict == "passed" else "passed"
    values: dict[str, Any] = {
        "round": 1, "population": 1000, "outside": 0, "settled_since": 0, "drawn": 100, "unrateable": 0, "barred": 0,
        "waiting": 0, "further": None, "sentences": (), "draws": (DRAW,), "errors": (),
    }  # fmt: skip
    verdicts: dict[str, Verdict] = {"bound": other, "rate": other, rule: verdict}
    return QualityStatus(
        dataset="検索", rule=rule, checked=checked, rates={"any": rate}, verdicts=verdicts, **values | more
    )


@pytest.mark.parametrize("quality", [None, status("bound", "undecided", checked=0, errors=0, round=0)])
def test_without_a_draw_it_is_not_done_and_the_work_is_named(quality: QualityStatus | None) -> None:
    gate = check_quality(quality)
    assert (gate.name, gate.required, gate.measured, gate.met) == ("quality_control", 0.05, None, False)
    assert gate.why == "Not done. Draw a sample."


def test_by_the_bound_it_is_measured_by_what_the_sample_proves() -> None:
    gate = check_quality(status("bound", "passed", errors=0, bound=0.0291234567))
    assert (gate.measured, gate.met) == (0.029123, True)
    assert (
        gate.why
        == "0 errors in 100 checked pairs (0.00 %). Guaranteed maximum (95 %): 2.91 % of all 1,000 pairs."
    )


def test_by_the_rate_it_is_measured_by_what_the_sample_shows_and_still_tells_what_it_proves() -> None:
    gate = check_quality(status("rate", "passed"))
    assert (gate.measured, gate.met) == (0.03, True)
    assert (
        gate.why
        == "3 errors in 100 checked pairs (3.00 %). Guaranteed maximum (95 %): 7.61 % of all 1,000 pairs."
    )


def test_a_plain_sample_that_shows_3_percent_has_not_passed_by_the_bound() -> None:
    gate = check_quality(status("bound", "undecided", further=53))
    assert (gate.measured, gate.met) == (0.076123, False)
    assert str(gate.why).startswith(
        "3 errors in 100 checked pairs (3.00 %). Guaranteed maximum (95 %): 7.61 % of all 1,000"
    )
    assert str(gate.why).endswith(" Draw more pairs: 53 more without an error would pass.")


@pytest.mark.parametrize(
    ("quality", "text"),
    [
        (status("bound", "undecided", errors=0, checked=0, waiting=100, further=60),
         "100 pairs drawn, none checked yet. 100 pairs are waiting for the checker on the page Label."),
        (status("bound", "undecided", waiting=1, further=60), ". 1 pair is waiting for the checker"),
        (status("bound", "failed", errors=9), ". Review the errors, improve the guideline and the grades"),
        (status("rate", "failed", errors=9), "then draw a new sample."),
    ],
)  # fmt: skip
def test_what_is_not_passed_says_which_work_is_left(quality: QualityStatus, text: str) -> None:
    gate = check_quality(quality)
    assert not gate.met
    assert text in str(gate.why)
    assert (gate.measured is None) is (not quality.checked)
