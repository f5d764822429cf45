"""Write the agreement report as one self-contained HTML page.

This file selects the content of the page; `templates/report.html.jinja` has its words and its HTML. The same
report and time give the same bytes. Jinja escapes every value, and fails if the template needs a value that
is missing here. Every number in a picture is also in a table. Estimates are shown on request, next to leads'
decisions and never in their place.

Draw the charts of the HTML report, and choose the colours of its matrices. A chart is SVG without scripts,
links or fonts, with the style of the page. Its description has every number, for readers who cannot see it;
so has a table of the page. SVG is written here, and not in the template, because the coordinates are computed
here. A matrix is a table with coloured cells, which can be read aloud, copied and printed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from annotator.agreement.consensus_records import NO_QRELS, Consensus
from annotator.agreement.ranking import (
    choose_differing_pairs,
    choose_people_by_period,
    describe_unranked_pairs,
    rank_groups,
    rank_leanings,
    rank_pairs,
)
from annotator.agreement.records import (
    KAPPA_KINDS,
    AgreementPeriod,
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    Leaning,
    PairAgreement,
    describe_who_counts,
)
from annotator.domain.figures import show_figure, show_interval, show_number, show_percent
from annotator.domain.grades import GRADES
from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.messages import count_of
from annotator.domain.svg import (
    ColouredMatrix,
    MatrixCell,
    MatrixRow,
    clean,
    clean_value,
    colour_cell,
    colour_share,
    colour_text,
    cut,
    draw_line,
    draw_text,
    frame_picture,
)

if TYPE_CHECKING:
    from jinja2 import Environment

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


MOST_LISTED = 100  # rows of a table


def render_report(
    report: AgreementReport, *, made_at: datetime, program: str, estimates: Consensus | None = None
) -> str:
    """Return the page. `program`: name and version; `estimates`: shown for comparison where given."""
    template = _make_environment().get_template("report.html.jinja")
    return template.render(
        report=report,
        made_at=made_at.astimezone(UTC),
        program=program,
        kinds=KAPPA_KINDS,
        grades=GRADES,
        who_counts=describe_who_counts(report),
        blind_pairs=describe_blind_pairs(report.blind_pairs),
        findings=_list_findings(report),
        coefficients=[
            ("observed agreement", CoefficientValue(report.measured.observed_agreement)),
            *((coefficient.name, value) for coefficient, value in report.measured.list_coefficients()),
        ],
        groups=_choose_groups(report),
        **_choose_pairs(report),
        **_choose_people(report),
        **_choose_periods(report),
        **_choose_estimates(estimates),
    )


@lru_cache(1)
def _make_environment() -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("annotator.agreement"), PackageLoader("annotator.domain")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean_value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "decimals": format_decimals,
        "interval": _format_interval,
        "percent": show_percent,
        "signed": lambda figure: show_number(figure, 3, signed=True),
        "signed_interval": _format_signed_interval,
        "thousands": "{:,}".format,
        "value": format_value,
    }
    return environment


def _format_interval(value: CoefficientValue) -> str:
    """Return "0.412 to 0.701", or "" without an interval."""
    return show_interval(value.ci95, between=" to ") if value.ci95 else ""


def _format_signed_interval(leaning: Leaning) -> str:
    """Return "+0.200 to +0.400", or "" without an interval."""
    return (
        f"{show_number(leaning.ci95[0], 3, signed=True)} to {show_number(leaning.ci95[1], 3, signed=True)}"
        if leaning.ci95
        else ""
    )


def _list_findings(report: AgreementReport) -> list[str]:
    """Return the sentences of the diagnosis without the verdict, which has its own section."""
    verdict = report.verdict.sentence if report.verdict else None
    return [sentence for sentence in report.diagnosis if sentence != verdict]


def _choose_pairs(report: AgreementReport) -> dict[str, Any]:
    pairs = report.measured.annotator_pairs
    listed, unlisted = choose_listed_pairs(report)
    return {
        "heat_map": make_heat_map(pairs, report.annotators),
        "listed_pairs": listed,
        "unlisted_pairs": unlisted,
        "confusions": [make_confusion_matrix(pair) for pair in choose_differing_pairs(pairs)],
        "grade_pairs": [f"#{first}–{second}" for first in GRADES for second in GRADES],
    }


def choose_listed_pairs(report: AgreementReport) -> tuple[Sequence[PairAgreement], str]:
    """Return the listed annotator pairs, and a sentence about the others ("" if all are listed).

    Lists at most MOST_LISTED: the pairs that lower the dataset's kappa most (`rank_pairs`).
    """
    pairs = report.measured.annotator_pairs
    if len(pairs) <= MOST_LISTED:
        return pairs, ""
    ranked = rank_pairs(pairs, report.measured.cohen_kappa["unweighted"])
    listed = ranked.pairs[:MOST_LISTED]
    sentences = [
        ""
        if not listed
        else (
            f"Of {len(pairs):,} annotator pairs the tables list {len(listed):,}, those first who lower the dataset's κ most "
            "(its distance times the pairs they share)."
        ),
        describe_unranked_pairs(ranked) or "",
        "The Agreement page has all of them as CSV (Numbers as CSV), agreement --json as JSON.",
    ]
    return listed, " ".join(filter(None, sentences))


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """The groups that the page shows."""

    by: str
    chart: str  # SVG
    drawn: int  # groups in the chart
    listed: Sequence[tuple[str, GroupAgreement]]  # with their labels
    unlisted: int  # groups that are not listed


def _choose_groups(report: AgreementReport) -> ListedGroups | None:
    if not report.groups:
        return None
    by, kappa = report.groups[0].by, report.measured.cohen_kappa["unweighted"]
    groups: Sequence[GroupAgreement] = report.groups
    if len(groups) > MOST_LISTED:
        groups = rank_groups(groups, kappa)[:MOST_LISTED]
    listed = [(_label_group(group), group) for group in groups]
    values = [(label, group.measured.cohen_kappa["unweighted"]) for label, group in listed]
    chart = draw_intervals(
        f"Cohen's kappa by {by}",
        [("the whole dataset", kappa), *values],
        report.kappa_target,
        name="groups-",
    )
    drawn = min(len(listed), MOST_ROWS - 1)  # the whole dataset has a row too
    return ListedGroups(by, Markup(chart), drawn, listed, len(report.groups) - len(groups))


def _label_group(group: GroupAgreement) -> str:
    return f"(no {group.by.replace('_', ' ')})" if group.value is None else group.value


def _choose_people(report: AgreementReport) -> dict[str, Any]:
    measured = report.measured
    leanings: Sequence[Leaning] = measured.leanings
    if len(leanings) > MOST_LISTED:
        leanings = rank_leanings(leanings)[:MOST_LISTED]
    counts: Mapping[str, Sequence[int]] = measured.grades_by_annotator
    most = set(sorted(counts, key=lambda annotator: -sum(counts[annotator]))[:MOST_LISTED])
    return {
        "leanings": leanings,
        "grades_by_annotator": [(annotator, counts[annotator]) for annotator in counts if annotator in most],
        "grades_chart": Markup(draw_grades(counts)),
        "grade_columns": [f"#{grade}" for grade in GRADES],
        "most_drawn": MOST_PEOPLE,
    }


def _choose_periods(report: AgreementReport) -> dict[str, Any]:
    people, people_in_periods = choose_people_by_period(report)
    return {
        "periods_chart": Markup(draw_periods(report.periods, report.kappa_target)),
        "people_by_period": people,
        "people_in_periods": people_in_periods,
        "leanings_by_period": [
            (period, leaning)
            for period in report.periods
            for leaning in period.leanings
            if leaning.annotator in people
        ],
    }


def _choose_estimates(estimates: Consensus | None) -> dict[str, Any]:
    if estimates is None:
        return {"estimates": None}
    return {
        "estimates": estimates,
        "about_estimates": [NO_QRELS, *estimates.describe()],
        "matches": [match for match in estimates.matches if match.compared + match.open],
    }
