"""Draw the charts and matrices of the HTML report: intervals, agreement over time, grades given, confusions.

SVG without scripts, links or fonts, coloured by the page's style, each with a title that says every number for readers
who cannot see it; a table beside it holds them too. Matrices are tables with coloured cells, so that they can be read
aloud, copied and printed. A figure without a value is shown as undefined.
"""

from collections.abc import Mapping, Sequence

from annotator.agreement.html_parts import name, scrollable, show_value, text
from annotator.agreement.records import AgreementPeriod, CoefficientValue, PairAgreement
from annotator.domain.grades import GRADES
from annotator.domain.messages import show_percent
from annotator.domain.svg import clean, colour_cell, colour_share, cut, draw_text, frame_picture

LEFT, WIDTH, ROW, TOP = 230, 420, 26, 34
NAME, MOST_ROWS, MOST_PEOPLE = 28, 40, 60
PLOT, BOTTOM, MARGIN = 220, 270, 48
TICKS = (-1.0, -0.5, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def draw_intervals(
    title: str, named: Sequence[tuple[str, CoefficientValue]], target: float, *, name: str
) -> str:
    """Each value (the first 40) as a dot on its interval, a dashed line at the target: a forest plot."""
    shown = named[:MOST_ROWS]
    low = _find_low([value for _, value in shown], target)
    bottom = TOP + ROW * len(shown)
    parts = _draw_axis(low, bottom)
    parts.append(_line("goal", _place(target, low), TOP - 8, _place(target, low), bottom))
    for number, (words, value) in enumerate(shown):
        y = TOP + ROW * number + ROW / 2
        parts.append(draw_text(LEFT - 12, y + 5, cut(words, NAME), "", anchor="end"))
        parts.append(draw_text(LEFT + WIDTH + 14, y + 5, show_value(value), "quiet"))
        if value.value is None:
            continue
        if value.ci95:
            parts.append(_line("reach", _place(value.ci95[0], low), y, _place(value.ci95[1], low), y))
        parts.append(f'<circle class="dot" cx="{_place(value.value, low):.1f}" cy="{y:g}" r="5"/>')
    said = "; ".join(f"{clean(words)} {show_value(value)}" for words, value in shown)
    return frame_picture(
        LEFT + WIDTH + 190, int(bottom + 34), title, f"Target {target:g}. {said}.", parts, name=name
    )


def draw_periods(periods: Sequence[AgreementPeriod], target: float) -> str:
    """Kappa of each stretch of time with its interval, the target dashed."""
    low = _find_low([period.kappa for period in periods], target)
    step = max(28.0, min(90.0, 640 / max(1, len(periods))))
    width = round(MARGIN * 2 + step * len(periods) + 60)

    def height(kappa: float) -> float:
        return BOTTOM - (kappa - low) / (1 - low) * PLOT

    parts = []
    for tick in (tick for tick in TICKS if tick >= low):
        parts.append(_line("axis", MARGIN, height(tick), width - MARGIN, height(tick)))
        parts.append(draw_text(MARGIN - 8, height(tick) + 5, f"{tick:g}", "quiet", anchor="end"))
    parts.append(_line("goal", MARGIN, height(target), width - MARGIN, height(target)))
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
            parts.append(_line("reach", x, height(kappa.ci95[0]), x, height(kappa.ci95[1])))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{height(kappa.value):.1f}" r="5"/>')
        lines[-1].append(f"{x:.1f},{height(kappa.value):.1f}")
    parts += [f'<polyline class="path" points="{" ".join(line)}"/>' for line in lines if len(line) > 1]
    said = "; ".join(f"{one.first} to {one.last} {show_value(one.kappa)}" for one in periods)
    return frame_picture(
        width, BOTTOM + 40, "Cohen's kappa over time", f"Target {target:g}. {said}.", parts, name="time-"
    )


def draw_grades(counts: Mapping[str, Sequence[int]]) -> str:
    """The share of each grade among all that an annotator gave (the first 60 of them), in one bar each."""
    shown = list(counts.items())[:MOST_PEOPLE]
    parts = []
    for grade in range(4):
        x = LEFT + grade * 90
        parts.append(f'<rect class="g{grade} part" x="{x}" y="10" width="14" height="14"/>')
        parts.append(draw_text(x + 20, 22, f"grade {grade}", "quiet"))
    for number, (person, given) in enumerate(shown):
        y, left = TOP + 4 + ROW * number, float(LEFT)
        parts.append(draw_text(LEFT - 12, y + 15, cut(person, NAME), "", anchor="end"))
        for grade, count in enumerate(given):
            width = WIDTH * count / max(1, sum(given))
            if count:
                parts.append(
                    f'<rect class="g{grade} part" x="{left:.1f}" y="{y}" width="{width:.1f}" height="18"/>'
                )
            left += width
        parts.append(draw_text(LEFT + WIDTH + 14, y + 15, f"{sum(given):,}", "quiet"))
    said = "; ".join(f"{clean(person)} {', '.join(f'{n:,}' for n in given)}" for person, given in shown)
    described = f"How often each gave the grades 0, 1, 2, 3: {said}."
    return frame_picture(
        LEFT + WIDTH + 110,
        TOP + 12 + ROW * len(shown),
        "Grades by annotator",
        described,
        parts,
        name="grades-",
    )


def _find_low(values: Sequence[CoefficientValue], target: float) -> float:
    """Where the axis begins: 0, or what lies below it."""
    found = [
        low for value in values if value.value is not None for low in ((value.ci95 or (value.value,))[0],)
    ]
    lowest = min([0.0, target, *found])
    return next(tick for tick in reversed(TICKS) if tick <= max(lowest, -1.0))


def _place(value: float, low: float) -> float:
    return LEFT + (value - low) / (1 - low) * WIDTH


def _draw_axis(low: float, bottom: float) -> list[str]:
    parts = []
    for tick in (tick for tick in TICKS if tick >= low):
        parts.append(_line("axis", _place(tick, low), TOP - 8, _place(tick, low), bottom))
        parts.append(draw_text(_place(tick, low), bottom + 20, f"{tick:g}", "quiet", anchor="middle"))
    return parts


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


MOST_IN_MATRIX = 20
MOST_DRAWN = 4


def draw_heat_map(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> str:
    """Cohen's kappa of every two annotators above the diagonal, the pairs both judged below it. With more than 20,
    those who share most pairs with others."""
    sharing = {person for pair in pairs for person in pair.annotators}
    if len(annotators) > MOST_IN_MATRIX:
        annotators = [person for person in annotators if person in sharing]
    shown = choose_people(pairs, annotators)
    known = {pair.annotators: pair for pair in pairs}
    heads = "".join(f'<th scope="col">{number}</th>' for number in range(1, len(shown) + 1))
    rows = []
    for number, person in enumerate(shown):
        cells = [
            _heat_cell(
                known.get((person, other)) or known.get((other, person)),
                above=place > number,
                own=place == number,
            )
            for place, other in enumerate(shown)
        ]
        rows.append(f'<tr><th scope="row">{number + 1} {name(person)}</th>{"".join(cells)}</tr>')
    caption = "Above the diagonal Cohen's κ (unweighted), below it the pairs that both judged."
    if len(shown) < len(annotators):
        caption += f" Shown: the {len(shown)} of {len(annotators):,} annotators who share most; agreement --json has all."
    return _cells(caption, f"<tr><td></td>{heads}</tr>", rows)


def choose_people(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> list[str]:
    """At most 20 annotators, those who share most pairs with others, in their order."""
    shared = dict.fromkeys(annotators, 0)
    for pair in pairs:
        for person in pair.annotators:
            shared[person] = shared.get(person, 0) + pair.pairs
    most = sorted(shared, key=lambda person: -shared[person])[:MOST_IN_MATRIX]
    return [person for person in shared if person in most]


def draw_confusion(pair: PairAgreement) -> str:
    """What two annotators gave on the pairs both judged, rows the first one's grades."""
    first, second = pair.annotators
    most = max(max(row) for row in pair.confusion) or 1
    heads = "".join(f'<th scope="col">{grade}</th>' for grade in GRADES)
    rows = [
        f'<tr><th scope="row">{grade}</th>'
        + "".join(_count_cell(count, most, same=grade == other) for other, count in enumerate(counts))
        + "</tr>"
        for grade, counts in enumerate(pair.confusion)
    ]
    caption = f"Rows {first}, columns {second}: {pair.pairs:,} pairs, {show_percent(pair.observed_agreement)} the same"
    return _cells(caption, f"<tr><td></td>{heads}</tr>", rows)


def choose_pairs(pairs: Sequence[PairAgreement]) -> list[PairAgreement]:
    """The annotator pairs worth drawing: those with most pairs on which they differ, at most four."""
    return sorted(pairs, key=lambda pair: (-_count_differing(pair), pair.annotators))[:MOST_DRAWN]


def _count_differing(pair: PairAgreement) -> int:
    return pair.pairs - sum(pair.confusion[grade][grade] for grade in GRADES)


def _heat_cell(pair: PairAgreement | None, *, above: bool, own: bool) -> str:
    if own:
        return '<td class="rest"></td>'
    if pair is None:
        return '<td class="rest">0</td>' if not above else '<td class="rest"></td>'
    if not above:
        return f'<td class="rest">{pair.pairs:,}</td>'
    kappa = pair.cohen_kappa["unweighted"].value
    if kappa is None:
        return '<td class="rest">–</td>'
    return _coloured(f"{kappa:.2f}", *colour_share(min(1.0, abs(kappa)), same=kappa >= 0))


def _count_cell(count: int, most: int, *, same: bool) -> str:
    if not count:
        return '<td class="rest">0</td>'
    return _coloured(f"{count:,}", *colour_cell(count, most, same=same))


def _coloured(shown: str, ground: str, black: bool) -> str:
    return f'<td style="background:{ground};color:{"#000" if black else "#fff"}">{shown}</td>'


def _cells(caption: str, head: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    return (
        f'<div class="wide keep"{scrollable(caption)}><table class="cells">\n<caption>{text(caption)}</caption>\n'
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
