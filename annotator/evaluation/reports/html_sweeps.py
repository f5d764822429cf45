"""Prepare parameter sweeps for the page: for each family and parameter a table of the means, and a chart of them.

The chart draws distances from the family's mean, because the levels of the measures differ by more than a
parameter changes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotator.evaluation.differences.sweep import ParameterSensitivity, Sweep
from annotator.evaluation.reports.html_charts import MOST_LINES, DrawnLine, choose_step, draw_lines

MOST_VALUES = 12
"""Values that a chart has room for; with more values only the table is shown."""


@dataclass(frozen=True, slots=True)
class DrawnParameter:
    """One parameter of a family. `chart` is empty if the parameter has too many values to draw.

    `rows`: each value with its number of systems and their mean by measure, None where a measure is
    undefined.
    """

    name: str
    chart: str
    rows: list[tuple[str, int, list[float | None]]]


@dataclass(frozen=True, slots=True)
class DrawnFamily:
    """One family: a sweep for each measure, and the parameters, most influential first."""

    sweeps: list[Sweep]
    parameters: list[DrawnParameter]


def draw_sweeps(sweeps: Sequence[Sweep], tr: Callable[..., str]) -> list[DrawnFamily]:
    """Return each family with its charts."""
    families: dict[str, list[Sweep]] = {}
    for sweep in sweeps:
        families.setdefault(sweep.family, []).append(sweep)
    return [
        DrawnFamily(
            family,
            [
                _draw_parameter(parameter.name, family, tr, f"sweep-{number}-{index}-")
                for index, parameter in enumerate(family[0].parameters)
            ],
        )
        for number, family in enumerate(families.values())
    ]


def _draw_parameter(
    parameter: str, sweeps: Sequence[Sweep], tr: Callable[..., str], name: str
) -> DrawnParameter:
    by_measure = {
        sweep.measure: sensitivity
        for sweep in sweeps
        for sensitivity in sweep.parameters
        if sensitivity.name == parameter
    }
    means = {
        (measure, value.value): value.mean
        for measure, sensitivity in by_measure.items()
        for value in sensitivity.values
    }
    rows = [
        (value.value, value.systems, [means.get((sweep.measure, value.value)) for sweep in sweeps])
        for value in next(iter(by_measure.values())).values
    ]
    chart = ""
    if len(rows) <= MOST_VALUES:
        chart = _draw_chart(parameter, [value for value, _, _ in rows], by_measure, tr, name)
    return DrawnParameter(parameter, chart, rows)


def _draw_chart(
    parameter: str,
    values: Sequence[str],
    by_measure: Mapping[str, ParameterSensitivity],
    tr: Callable[..., str],
    name: str,
) -> str:
    lines = [
        DrawnLine(measure, points)
        for measure, sensitivity in by_measure.items()
        if (points := _list_distances(sensitivity, values))
    ]
    reach = max([0.01, *(abs(y) for line in lines[:MOST_LINES] for _, y in line.points)]) * 1.05
    step = choose_step(2 * reach, 6)
    count = int(reach / step)
    return draw_lines(
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


def _list_distances(sensitivity: ParameterSensitivity, values: Sequence[str]) -> list[tuple[float, float]]:
    """Return the points (index of a value in `values`, its mean minus the mean of all systems)."""
    systems = sum(value.systems for value in sensitivity.values)
    mean = sum(value.mean * value.systems for value in sensitivity.values) / systems
    return [
        (float(values.index(value.value)), value.mean - mean)
        for value in sensitivity.values
        if value.value in values
    ]
