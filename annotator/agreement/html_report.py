"""Write the agreement report as one self-contained HTML page.

This file selects the content of the page; `templates/report.html.jinja` has its words and its HTML. The same
report and time give the same bytes. Jinja escapes every value, and fails if the template needs a value that
is missing here. Every number in a picture is also in a table. Estimates are shown on request, next to leads'
decisions and never in their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from annotator.agreement.consensus_records import NO_QRELS, Consensus
from annotator.agreement.html_charts import (
    MOST_PEOPLE,
    MOST_ROWS,
    draw_grades,
    draw_intervals,
    draw_periods,
    format_decimals,
    format_value,
    make_confusion_matrix,
    make_heat_map,
)
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
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    Leaning,
    PairAgreement,
    describe_who_counts,
)
from annotator.domain.figures import show_interval, show_number, show_percent
from annotator.domain.grades import GRADES
from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.svg import clean_value

if TYPE_CHECKING:
    from jinja2 import Environment

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
