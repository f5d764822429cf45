"""Draw the charts of the HTML report as SVG without scripts, links or fonts. Their style comes from the page.

A chart's description (`<desc>`) holds its numbers. Lines differ in colour and dashes, which a legend shows. The
chart of a parameter sweep draws distances from the family's mean, because the levels of the measures differ by
more than a parameter changes them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from unicodedata import east_asian_width

from annotator.domain.figures import show_decimals, show_figure, show_number, write_minus
from annotator.domain.svg import clean, cut, draw_line, draw_text, frame_picture
from annotator.evaluation.differences.sweep import ParameterSensitivity, Sweep

NAME_WIDTH, PLOT_WIDTH, ROW_HEIGHT, TOP = 250, 420, 24, 30
NAME_LENGTH = 32
CURVE_LEFT, CURVE_SIDE, CURVE_LEGEND = 56, 320, 300
MOST_LINES = 8
MOST_BARS = 200
MOST_NAMED_BARS = 60
MOST_POINTS = 500


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """A row of a forest plot."""

    label: str
    value: float
    interval: tuple[float, float] | None
    figure: str  # shown at the right


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line of a chart. `cloud`: dots in the colour of the line, larger where several points coincide."""

    label: str
    points: Sequence[tuple[float, float]]
    cloud: Sequence[tuple[float, float]] = ()


def draw_differences(title: str, rows: Sequence[DrawnInterval], *, name: str) -> str:
    """Draw a forest plot: each difference as a dot on its interval, and a line at 0."""
    bounds = [bound for row in rows for bound in (row.interval or (row.value, row.value))]
    reach = max([0.01, *(abs(bound) for bound in bounds)]) * 1.05
    step = choose_step(2 * reach, 6)
    bottom = TOP + ROW_HEIGHT * len(rows)

    def scale(value: float) -> float:
        return NAME_WIDTH + (value + reach) / (2 * reach) * PLOT_WIDTH

    parts = []
    count = int(reach / step)
    for number in range(-count, count + 1):
        x = scale(number * step)
        parts.append(draw_line("goal" if number == 0 else "axis", x, TOP - 8, x, bottom))
        parts.append(
            draw_text(
                x,
                bottom + 20,
                write_minus(show_decimals(number * step, 6, signed=True)) if number else "0",
                "quiet",
                anchor="middle",
            )
        )
    for index, row in enumerate(rows):
        y = TOP + ROW_HEIGHT * (index + 0.5)
        parts.append(draw_text(NAME_WIDTH - 12, y + 5, cut(row.label, NAME_LENGTH), "", anchor="end"))
        parts.append(draw_text(NAME_WIDTH + PLOT_WIDTH + 14, y + 5, row.figure, "quiet"))
        if row.interval:
            parts.append(draw_line("reach", scale(row.interval[0]), y, scale(row.interval[1]), y))
        parts.append(f'<circle class="dot" cx="{scale(row.value):.1f}" cy="{y:g}" r="4.5"/>')
    described = "; ".join(f"{clean(row.label)} {row.figure}" for row in rows)
    return frame_picture(
        NAME_WIDTH + PLOT_WIDTH + 230, int(bottom + 34), clean(title), described, parts, name=name
    )


def draw_lines(
    title: str,
    lines: Sequence[DrawnLine],
    *,
    x_label: str,
    y_label: str,
    x_range: tuple[float, float],
    x_ticks: Sequence[float],
    name: str,
    x_names: Sequence[str] = (),
    y_range: tuple[float, float] = (0.0, 1.0),
    y_ticks: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
) -> str:
    """Draw at most MOST_LINES lines with a legend. `x_names`: labels of `x_ticks`; empty: the numbers."""
    top, bottom = 34, 34 + CURVE_SIDE

    def to_pixels(x: float, y: float) -> tuple[float, float]:
        share = (x - x_range[0]) / max(1e-9, x_range[1] - x_range[0])
        height = (y - y_range[0]) / (y_range[1] - y_range[0])
        return CURVE_LEFT + share * CURVE_SIDE * 1.25, bottom - height * CURVE_SIDE

    right = to_pixels(x_range[1], 0)[0]
    parts = []
    for tick in y_ticks:
        y = to_pixels(x_range[0], tick)[1]
        parts.append(draw_line("axis", CURVE_LEFT, y, right, y))
        parts.append(draw_text(CURVE_LEFT - 8, y + 5, show_figure(tick), "quiet", anchor="end"))
    for tick, tick_name in zip(x_ticks, x_names or [show_figure(tick, 6) for tick in x_ticks], strict=True):
        x = to_pixels(tick, 0)[0]
        parts.append(draw_line("axis", x, bottom, x, bottom + 5))
        parts.append(draw_text(x, bottom + 22, cut(tick_name, 10), "quiet", anchor="middle"))
    parts.append(draw_text((CURVE_LEFT + right) / 2, bottom + 44, cut(x_label), "quiet", anchor="middle"))
    parts.append(draw_text(10, 20, cut(y_label), "quiet"))
    shown = lines[:MOST_LINES]
    for index, line in enumerate(shown):
        for (x, y), count in Counter(line.cloud).most_common(MOST_POINTS):
            cx, cy = to_pixels(x, y)
            radius = min(14.0, 2 + 1.2 * sqrt(count))
            parts.append(f'<circle class="cloud f{index}" cx="{cx:.1f}" cy="{cy:.1f}" r="{radius:.1f}"/>')
    for index, line in enumerate(shown):
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (to_pixels(x, y) for x, y in line.points))
        parts.append(f'<polyline class="line s{index}" points="{path}"/>')
        if len(line.points) == 1:
            px, py = to_pixels(*line.points[0])
            parts.append(f'<circle class="f{index}" cx="{px:.1f}" cy="{py:.1f}" r="4"/>')
        y = top + 8 + index * 24
        parts.append(draw_line(f"line s{index}", right + 24, y, right + 60, y))
        parts.append(draw_text(right + 68, y + 5, cut(line.label, 26), ""))
    described = "; ".join(
        f"{clean(line.label)}: {', '.join(show_number(y, 3) for _, y in line.points)}" for line in shown
    )
    return frame_picture(round(right + CURVE_LEGEND), bottom + 58, clean(title), described, parts, name=name)


def draw_query_bars(
    title: str, scores: Mapping[str, Sequence[float]], *, query_ids: Sequence[str], name: str
) -> str:
    """Draw a row of bars for each of at most MOST_LINES systems: its score on each query.

    Scores are in the order of `query_ids`. A query with an undefined score has no bar. Up to MOST_NAMED_BARS
    queries have their ids below the bars.
    """
    shown = dict(list(scores.items())[:MOST_LINES])
    count = min(MOST_BARS, len(query_ids))
    width = max(2.0, min(44.0, 760 / max(1, count)))
    height, gap, left = 56, 14, NAME_WIDTH - 60
    highest = max([1.0, *(value for values in shown.values() for value in values if value == value)])
    parts = []
    base = float(TOP)
    for index, (system, values) in enumerate(shown.items()):
        base = TOP + (index + 1) * (height + gap)
        parts.append(draw_text(left - 34, base - height / 2 + 5, cut(system, 20), "", anchor="end"))
        for level in (0.0, highest):
            y = base - level / highest * height
            parts.append(draw_line("axis", left, y, left + width * count, y))
            parts.append(draw_text(left - 6, y + 5, show_figure(level), "quiet", anchor="end"))
        for query, value in enumerate(values[:count]):
            if value == value and value > 0:
                tall = value / highest * height
                parts.append(
                    f'<rect class="bar" x="{left + query * width:.1f}" y="{base - tall:.1f}" '
                    f'width="{max(1.0, width - 2):.1f}" height="{tall:.1f}"/>'
                )
    named = count <= MOST_NAMED_BARS
    if named:
        for query, query_id in enumerate(query_ids[:count]):
            x, y = left + (query + 0.5) * width + 4, base + 14
            turned = f'transform="translate({x:.1f} {y:.1f}) rotate(-50)"'
            parts.append(draw_text(0, 0, cut(query_id, 14), "quiet", anchor="end", transform=turned))
    described = "; ".join(
        f"{clean(system)}: {', '.join(show_number(value, 2) for value in values[:count])}"
        for system, values in shown.items()
    )
    return frame_picture(
        max(620, round(left + width * count + 20)),
        round(base + (90 if named else 16)),
        clean(title),
        described,
        parts,
        name=name,
    )


@dataclass(frozen=True, slots=True)
class DrawnParts:
    """A bar divided into parts."""

    label: str
    parts: Sequence[int]


def draw_parts(title: str, rows: Sequence[DrawnParts], names: Sequence[str], *, name: str) -> str:
    """Draw a bar of equal length for each row, divided into the shares of its parts. `names`: of the parts."""
    drawn = []
    x = float(NAME_WIDTH)
    for index, part in enumerate(names):
        drawn.append(f'<rect class="part p{index}" x="{x:g}" y="8" width="14" height="14"/>')
        drawn.append(draw_text(x + 20, 20, part, "quiet"))
        x += 40 + 8.0 * _measure(part)
    for index, row in enumerate(rows):
        y, start = TOP + 8 + ROW_HEIGHT * index, float(NAME_WIDTH)
        drawn.append(draw_text(NAME_WIDTH - 12, y + 14, cut(row.label, NAME_LENGTH), "", anchor="end"))
        total = max(1, sum(row.parts))
        for number, count in enumerate(row.parts):
            wide = count / total * PLOT_WIDTH
            if count:
                drawn.append(
                    f'<rect class="part p{number}" x="{start:.1f}" y="{y}" width="{wide:.1f}" height="18"/>'
                )
            start += wide
        figures = " / ".join(map(show_number, row.parts))
        drawn.append(draw_text(NAME_WIDTH + PLOT_WIDTH + 14, y + 14, figures, "quiet"))
    described = "; ".join(
        f"{clean(row.label)}: {', '.join(f'{part} {show_number(count)}' for part, count in zip(names, row.parts, strict=True))}"
        for row in rows
    )
    width = max(NAME_WIDTH + PLOT_WIDTH + 150, round(x))
    return frame_picture(width, TOP + 16 + ROW_HEIGHT * len(rows), clean(title), described, drawn, name=name)


def _measure(words: str) -> int:
    """Return the width of the words in columns; a full-width character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in words)


def draw_counts(title: str, counts: Mapping[str, int], *, name: str) -> str:
    """Draw a bar for each count."""
    most = max([1, *counts.values()])
    parts = []
    for index, (label, count) in enumerate(counts.items()):
        y = TOP - 14 + ROW_HEIGHT * index
        parts.append(draw_text(NAME_WIDTH - 12, y + 14, cut(label, NAME_LENGTH), "", anchor="end"))
        parts.append(
            f'<rect class="bar" x="{NAME_WIDTH}" y="{y}" width="{count / most * PLOT_WIDTH:.1f}" height="16"/>'
        )
        parts.append(draw_text(NAME_WIDTH + count / most * PLOT_WIDTH + 8, y + 14, f"{count:,}", "quiet"))
    described = "; ".join(f"{clean(label)} {show_number(count)}" for label, count in counts.items())
    return frame_picture(
        NAME_WIDTH + PLOT_WIDTH + 90,
        TOP + ROW_HEIGHT * len(counts),
        clean(title),
        described,
        parts,
        name=name,
    )


def choose_step(reach: float, most: int) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten with at most `most` steps in `reach`."""
    step = 0.001
    factors = (2.0, 2.5, 2.0)
    index = 0
    while reach / step > most:
        step *= factors[index % 3]
        index += 1
    return step


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
