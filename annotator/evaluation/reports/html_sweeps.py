"""Prepare parameter sweeps for the HTML report: for each family and parameter a chart over its values, with the numbers.

The lines of different measures are drawn as distances from the family's mean, since their levels differ by more than a
parameter moves them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from annotator.evaluation.differences.sweep import ParameterSensitivity, Sweep
from annotator.evaluation.reports.html_charts import MOST_LINES, DrawnLine, choose_step, draw_lines

MOST_VALUES = 12
"""Values that a chart has room for; of more the numbers alone are shown."""


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value of a parameter with the means of its systems by measure; None where a measure is undefined."""

    value: str
    systems: int
    means: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class DrawnParameter:
    """One parameter of a family. `chart` is empty where it has too many values to draw."""

    name: str
    chart: Markup
    rows: tuple[ValueRow, ...]


@dataclass(frozen=True, slots=True)
class DrawnSweep:
    """One family: its parameters, the one that moves the first measure most first, and the best systems by measure."""

    family: str
    systems: int
    complete: bool
    measures: tuple[str, ...]
    parameters: tuple[DrawnParameter, ...]
    best: tuple[Sweep, ...]


def draw_sweeps(sweeps: Sequence[Sweep], tr: Callable[..., str]) -> list[DrawnSweep]:
    """Return each family with its charts."""
    families: dict[str, list[Sweep]] = {}
    for sweep in sweeps:
        families.setdefault(sweep.family, []).append(sweep)
    drawn = []
    for number, (family, of_family) in enumerate(families.items()):
        parameters = tuple(
            _draw_parameter(parameter.name, of_family, tr, f"sweep-{number}-{index}-")
            for index, parameter in enumerate(of_family[0].parameters)
        )
        drawn.append(
            DrawnSweep(
                family,
                of_family[0].systems,
                of_family[0].complete,
                tuple(sweep.measure for sweep in of_family),
                parameters,
                tuple(of_family),
            )
        )
    return drawn


def _draw_parameter(
    parameter: str, sweeps: Sequence[Sweep], tr: Callable[..., str], name: str
) -> DrawnParameter:
    by_measure = {
        sweep.measure: sensitivity
        for sweep in sweeps
        for sensitivity in sweep.parameters
        if sensitivity.name == parameter
    }
    first = next(iter(by_measure.values()))
    means = {
        measure: {value.value: value.mean for value in sensitivity.values}
        for measure, sensitivity in by_measure.items()
    }
    rows = tuple(
        ValueRow(
            value.value,
            value.systems,
            tuple(means.get(sweep.measure, {}).get(value.value) for sweep in sweeps),
        )
        for value in first.values
    )
    if len(rows) > MOST_VALUES:
        return DrawnParameter(parameter, Markup(), rows)
    return DrawnParameter(parameter, _draw_chart(parameter, rows, by_measure, tr, name), rows)


def _draw_chart(
    parameter: str,
    rows: Sequence[ValueRow],
    by_measure: Mapping[str, ParameterSensitivity],
    tr: Callable[..., str],
    name: str,
) -> Markup:
    values = [row.value for row in rows]
    lines = [
        DrawnLine(measure, points)
        for measure, sensitivity in by_measure.items()
        if (points := _list_distances(sensitivity, values))
    ]
    reach = max([0.01, *(abs(y) for line in lines[:MOST_LINES] for _, y in line.points)]) * 1.05
    step = choose_step(2 * reach, 6)
    count = int(reach / step)
    return Markup(
        draw_lines(
            tr("The measures by {parameter}", parameter=parameter),
            lines,
            x_label=parameter,
            y_label=tr("Distance from the mean"),
            x_range=(0.0, float(len(values) - 1)),
            x_ticks=[float(index) for index in range(len(values))],
            x_names=values,
            y_range=(-reach, reach),
            y_ticks=[number * step for number in range(-count, count + 1)],
            name=name,
        )
    )


def _list_distances(sensitivity: ParameterSensitivity, values: Sequence[str]) -> list[tuple[float, float]]:
    """Return, by the place of its value, how far each mean is from the mean of all these systems."""
    systems = sum(value.systems for value in sensitivity.values)
    mean = sum(value.mean * value.systems for value in sensitivity.values) / systems
    return [
        (float(values.index(value.value)), value.mean - mean)
        for value in sensitivity.values
        if value.value in values
    ]
