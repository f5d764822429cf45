"""Draw the charts of the HTML report, and choose the colours of its matrices.

A chart is SVG without scripts, links or fonts, with the style of the page. Its description has every number,
for readers who cannot see it; so has a table of the page. SVG is written here, and not in the template,
because the coordinates are computed here. A matrix is a table with coloured cells, which can be read aloud,
copied and printed.
"""

from collections.abc import Mapping, Sequence

from annotator.agreement.records import AgreementPeriod, CoefficientValue, PairAgreement
from annotator.domain.figures import show_figure, show_interval, show_number, show_percent
from annotator.domain.grades import GRADES
from annotator.domain.messages import count_of
from annotator.domain.svg import (
    ColouredMatrix,
    MatrixCell,
    MatrixRow,
    clean,
    colour_cell,
    colour_share,
    colour_text,
    cut,
    draw_line,
    draw_text,
    frame_picture,
)

LEFT, WIDTH, ROW, TOP = 230, 420, 26, 34
NAME, MOST_ROWS, MOST_PEOPLE = 28, 40, 60
PLOT, BOTTOM, MARGIN = 220, 270, 48
TICKS = (-1.0, -0.5, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def draw_intervals(
    title: str, labeled: Sequence[tuple[str, CoefficientValue]], target: float, *, name: str
) -> str:
    """Draw a forest plot of up to MOST_ROWS values with intervals, and the target as a dashed line."""
    shown = labeled[:MOST_ROWS]
    low = _find_axis_start([value for _, value in shown], target)
    bottom = TOP + ROW * len(shown)
    parts = _draw_axis(low, bottom)
    parts.append(draw_line("goal", _scale(target, low), TOP - 8, _scale(target, low), bottom))
    for row, (label, value) in enumerate(shown):
        y = TOP + ROW * row + ROW / 2
        parts.append(draw_text(LEFT - 12, y + 5, cut(label, NAME), "", anchor="end"))
        parts.append(draw_text(LEFT + WIDTH + 14, y + 5, format_value(value), "quiet"))
        if value.value is None:
            continue
        if value.ci95:
            parts.append(draw_line("reach", _scale(value.ci95[0], low), y, _scale(value.ci95[1], low), y))
        parts.append(f'<circle class="dot" cx="{_scale(value.value, low):.1f}" cy="{y:g}" r="5"/>')
    numbers = "; ".join(f"{clean(label)} {format_value(value)}" for label, value in shown)
    return frame_picture(
        LEFT + WIDTH + 190,
        int(bottom + 34),
        title,
        f"Target {show_figure(target)}. {numbers}.",
        parts,
        name=name,
    )


def draw_periods(periods: Sequence[AgreementPeriod], target: float) -> str:
    """Draw the kappa of each period with its interval, and the target as a dashed line."""
    low = _find_axis_start([period.kappa for period in periods], target)
    step = max(28.0, min(90.0, 640 / max(1, len(periods))))
    width = round(MARGIN * 2 + step * len(periods) + 60)

    def height(kappa: float) -> float:
        return BOTTOM - (kappa - low) / (1 - low) * PLOT

    parts = []
    for tick in (tick for tick in TICKS if tick >= low):
        parts.append(draw_line("axis", MARGIN, height(tick), width - MARGIN, height(tick)))
        parts.append(draw_text(MARGIN - 8, height(tick) + 5, show_figure(tick), "quiet", anchor="end"))
    parts.append(draw_line("goal", MARGIN, height(target), width - MARGIN, height(target)))
    every = max(1, round(90 / step))
    lines: list[list[str]] = [[]]
    for number, period in enumerate(periods):
        x = MARGIN + step * (number + 0.5)
        if number % every == 0:
            parts.append(draw_text(x, BOTTOM + 24, period.first, "quiet", anchor="middle"))
        kappa = period.kappa
        if kappa.value is None:
            parts.append(draw_text(x, BOTTOM - 6, "–", "quiet", anchor="middle"))
            lines.append([])
            continue
        if kappa.ci95:
            parts.append(draw_line("reach", x, height(kappa.ci95[0]), x, height(kappa.ci95[1])))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{height(kappa.value):.1f}" r="5"/>')
        lines[-1].append(f"{x:.1f},{height(kappa.value):.1f}")
    parts += [f'<polyline class="path" points="{" ".join(line)}"/>' for line in lines if len(line) > 1]
    numbers = "; ".join(f"{period.first} to {period.last} {format_value(period.kappa)}" for period in periods)
    return frame_picture(
        width,
        BOTTOM + 40,
        "Cohen's kappa over time",
        f"Target {show_figure(target)}. {numbers}.",
        parts,
        name="time-",
    )


def draw_grades(counts: Mapping[str, Sequence[int]]) -> str:
    """Draw one bar for each annotator (at most MOST_PEOPLE): the share of each grade among all they gave."""
    shown = list(counts.items())[:MOST_PEOPLE]
    parts = []
    for grade in GRADES:
        x = LEFT + grade * 90
        parts.append(f'<rect class="g{grade} part" x="{x}" y="10" width="14" height="14"/>')
        parts.append(draw_text(x + 20, 22, f"grade {grade}", "quiet"))
    for row, (annotator, given) in enumerate(shown):
        y, left = TOP + 4 + ROW * row, float(LEFT)
        parts.append(draw_text(LEFT - 12, y + 15, cut(annotator, NAME), "", anchor="end"))
        for grade, count in enumerate(given):
            width = WIDTH * count / max(1, sum(given))
            if count:
                parts.append(
                    f'<rect class="g{grade} part" x="{left:.1f}" y="{y}" width="{width:.1f}" height="18"/>'
                )
            left += width
        parts.append(draw_text(LEFT + WIDTH + 14, y + 15, f"{sum(given):,}", "quiet"))
    numbers = "; ".join(
        f"{clean(annotator)} {', '.join(f'{count:,}' for count in given)}" for annotator, given in shown
    )
    return frame_picture(
        LEFT + WIDTH + 110,
        TOP + 12 + ROW * len(shown),
        "Grades by annotator",
        f"How often each gave the grades 0, 1, 2, 3: {numbers}.",
        parts,
        name="grades-",
    )


def _find_axis_start(values: Sequence[CoefficientValue], target: float) -> float:
    """Return the tick at which the axis starts: 0, or a lower one if a value or an interval is below 0."""
    lows = [value.ci95[0] if value.ci95 else value.value for value in values if value.value is not None]
    lowest = min([0.0, target, *lows])
    return next(tick for tick in reversed(TICKS) if tick <= max(lowest, -1.0))


def _scale(value: float, low: float) -> float:
    return LEFT + (value - low) / (1 - low) * WIDTH


def _draw_axis(low: float, bottom: float) -> list[str]:
    parts = []
    for tick in (tick for tick in TICKS if tick >= low):
        parts.append(draw_line("axis", _scale(tick, low), TOP - 8, _scale(tick, low), bottom))
        parts.append(draw_text(_scale(tick, low), bottom + 20, show_figure(tick), "quiet", anchor="middle"))
    return parts


MOST_IN_MATRIX = 20


def make_heat_map(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> ColouredMatrix:
    """Return Cohen's kappa of every two annotators above the diagonal, and the pairs they share below it.

    Of more than MOST_IN_MATRIX annotators, those who share the most pairs with others are shown.
    """
    sharing = {person for pair in pairs for person in pair.annotators}
    if len(annotators) > MOST_IN_MATRIX:
        annotators = [person for person in annotators if person in sharing]
    shown = choose_people(pairs, annotators)
    by_annotators = {pair.annotators: pair for pair in pairs}
    rows = []
    for row, person in enumerate(shown):
        cells = []
        for column, other in enumerate(shown):
            pair = by_annotators.get((person, other)) or by_annotators.get((other, person))
            cells.append(MatrixCell("") if row == column else _make_heat_cell(pair, above=column > row))
        rows.append(MatrixRow(row + 1, person, tuple(cells)))
    caption = "Above the diagonal Cohen's κ (unweighted), below it the pairs that both judged."
    if len(shown) < len(annotators):
        caption += f" Shown: the {len(shown)} of {len(annotators):,} annotators who share most; agreement --json has all."
    return ColouredMatrix(caption, range(1, len(shown) + 1), tuple(rows))


def choose_people(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> list[str]:
    """Return the MOST_IN_MATRIX annotators who share most pairs with others, in their order."""
    shared = dict.fromkeys(annotators, 0)
    for pair in pairs:
        for person in pair.annotators:
            shared[person] = shared.get(person, 0) + pair.pairs
    most = set(sorted(shared, key=lambda person: -shared[person])[:MOST_IN_MATRIX])
    return [person for person in shared if person in most]


def make_confusion_matrix(pair: PairAgreement) -> ColouredMatrix:
    """Return the grades of two annotators on the pairs that both judged; rows: the first annotator's."""
    first, second = pair.annotators
    highest = max(max(row) for row in pair.confusion) or 1
    rows = tuple(
        MatrixRow(
            grade,
            "",
            tuple(
                _make_count_cell(count, highest, same=grade == other) for other, count in enumerate(counts)
            ),
        )
        for grade, counts in enumerate(pair.confusion)
    )
    caption = f"Rows {first}, columns {second}: {count_of(pair.pairs, 'pair')}, {show_percent(pair.observed_agreement)} the same"
    return ColouredMatrix(caption, GRADES, rows)


def _make_heat_cell(pair: PairAgreement | None, *, above: bool) -> MatrixCell:
    if pair is None:
        return MatrixCell("" if above else "0")
    if not above:
        return MatrixCell(f"{pair.pairs:,}")
    kappa = pair.cohen_kappa["unweighted"].value
    if kappa is None:
        return MatrixCell("–")
    return colour_text(show_number(kappa, 2), *colour_share(min(1.0, abs(kappa)), same=kappa >= 0))


def _make_count_cell(count: int, highest: int, *, same: bool) -> MatrixCell:
    if not count:
        return MatrixCell("0")
    return colour_text(f"{count:,}", *colour_cell(count, highest, same=same))


def format_decimals(figure: float | None) -> str:
    """Return three decimals; "undefined" for None."""
    return "undefined" if figure is None else show_number(figure, 3)


def format_value(value: CoefficientValue) -> str:
    """Return "0.571 [0.412, 0.701]"; "undefined" without a value."""
    interval = f" [{show_interval(value.ci95)}]" if value.value is not None and value.ci95 else ""
    return format_decimals(value.value) + interval
