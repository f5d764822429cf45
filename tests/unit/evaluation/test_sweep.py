"""Systems that differ in parameters are read as one family."""

import pytest

from annotator.evaluation.differences.sweep import SweepCell, measure_sweeps, parse_system_name

GRID = {
    "rrf;k=100;alpha=0.3": 0.50,
    "rrf;k=100;alpha=0.7": 0.70,
    "rrf;k=60;alpha=0.3": 0.52,
    "rrf;k=60;alpha=0.7": 0.60,
}


def make_cells(scores: dict[str, float | None]) -> dict[str, SweepCell]:
    return {
        system: SweepCell(score, None if score is None else (score - 0.1, score + 0.1))
        for system, score in scores.items()
    }


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("rrf;k=60;alpha=0.3", ("rrf", {"k": "60", "alpha": "0.3"})),
        ("융합; 가중치 = 높음", ("융합", {"가중치": "높음"})),
        ("bm25", None),
        ("bm25;fast", None),
        ("bm25;k=1;k=2", None),
        (";k=1", None),
        ("bm25;=1", None),
    ],
)
def test_a_name_with_parameters_is_a_cell_of_a_family(name: str, parsed: object) -> None:
    assert parse_system_name(name) == parsed


def test_the_sensitivity_to_a_parameter_is_the_mean_over_the_others() -> None:
    (sweep,) = measure_sweeps("nDCG@10", make_cells({**GRID, "bm25": 0.9}))
    alpha, k = sweep.parameters
    assert [(value.value, value.mean, value.systems) for value in alpha.values] == [
        ("0.3", pytest.approx(0.51), 2),
        ("0.7", pytest.approx(0.65), 2),
    ]
    assert [(value.value, value.mean) for value in k.values] == [
        ("60", pytest.approx(0.56)),
        ("100", pytest.approx(0.60)),
    ]
    assert (alpha.name, alpha.range) == ("alpha", pytest.approx(0.14))
    assert sweep.complete


def test_the_best_cell_has_its_interval() -> None:
    (sweep,) = measure_sweeps("nDCG@10", make_cells(GRID))
    assert (sweep.best, sweep.best_score) == ("rrf;k=100;alpha=0.7", 0.70)
    assert sweep.best_ci95 == pytest.approx((0.6, 0.8))


def test_a_missing_combination_is_told() -> None:
    (sweep,) = measure_sweeps("nDCG@10", make_cells(dict(list(GRID.items())[:3])))
    assert not sweep.complete


def test_a_system_without_a_score_is_no_cell() -> None:
    (sweep,) = measure_sweeps("RR", make_cells({**GRID, "rrf;k=60;alpha=0.9": None}))
    assert sweep.systems == 4


def test_one_system_or_equal_parameters_are_no_sweep() -> None:
    assert measure_sweeps("RR", make_cells({"rrf;k=60": 0.5, "bm25": 0.4})) == []


def test_values_that_are_no_numbers_keep_their_order() -> None:
    (sweep,) = measure_sweeps("RR", make_cells({"a;mode=slow": 0.5, "a;mode=fast": 0.4}))
    assert [value.value for value in sweep.parameters[0].values] == ["slow", "fast"]
