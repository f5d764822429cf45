"""The agreement of a dataset as one page that stands by itself: to be sent, printed and kept beside a release.

A pure function of the report and of when it was made; the same report gives the same bytes. Every number that a picture
shows is in a table too, and every name is escaped, whatever it holds.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from annotator.agreement import html_charts, html_matrices
from annotator.agreement.consensus_records import Consensus
from annotator.agreement.html_estimates import show_estimates
from annotator.agreement.html_method import show_left_out, show_method
from annotator.agreement.html_parts import (
    CSS,
    KINDS,
    Markup,
    figure,
    list_kappas,
    name,
    paragraph,
    section,
    show_interval,
    show_number,
    show_value,
    table,
    text,
)
from annotator.agreement.pair_ranking import (
    choose_people_by_period,
    rank_groups,
    rank_leanings,
    rank_pairs,
    say_left_out_pairs,
)
from annotator.agreement.records import (
    AgreementReport,
    GroupAgreement,
    Leaning,
    PairAgreement,
    Value,
    say_who_counts,
)
from annotator.domain.grades import GRADES

VERDICTS = {"met": "The target is met", "not met": "The target is not met", "unknown": "It is not yet known"}
LOOK = {"met": "verdict", "not met": "verdict unmet", "unknown": "verdict unknown"}
MOST_LISTED = 100
KAPPAS = tuple(f"#κ {kind} [95 %]" for kind in KINDS)


def render_report(
    report: AgreementReport, *, made_at: datetime, program: str, estimates: Consensus | None = None
) -> str:
    """The page, in UTF-8. `program`: name and version; `estimates`: shown for comparison where given."""
    sections = [
        _show_verdict(report),
        _show_findings(report),
        _show_dataset(report),
        _show_pairs(report),
        _show_groups(report),
        _show_people(report),
        _show_periods(report),
        show_estimates(estimates) if estimates else "",
        show_left_out(report),
        show_method(report, made_at=made_at, program=program),
    ]
    made = f"{made_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    body = "\n".join(part for part in sections if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Agreement of {text(report.dataset)}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n<main>\n"
        f"<h1>Agreement of {name(report.dataset)}</h1>\n"
        f"{paragraph(f'Measured {made} by {program}.', 'quiet')}\n{body}\n</main>\n</body>\n</html>\n"
    )


def _show_verdict(report: AgreementReport) -> str:
    if report.verdict is None:
        return ""
    said = paragraph(report.verdict.sentence, LOOK[report.verdict.state])
    return section(f"{VERDICTS[report.verdict.state]}: Cohen's κ of at least {report.kappa_target:g}", said)


def _show_findings(report: AgreementReport) -> str:
    verdict = report.verdict.sentence if report.verdict else None
    said = [f"<li>{text(sentence)}</li>" for sentence in report.diagnosis if sentence != verdict]
    return section("What to make of it", *(["<ol>", *said, "</ol>"] if said else []))


def _show_dataset(report: AgreementReport) -> str:
    found = report.measured
    basis = (
        f"{say_who_counts(report)} {found.pairs:,} pairs of {found.queries:,} queries were judged by two or more; {found.single_pairs:,} "
        "pairs by one."
    )
    parts = [paragraph(basis)]
    if found.pairs:
        rows = [
            (words, show_number(value.value), show_interval(value), value.why or "")
            for words, value in list_coefficients(report)
        ]
        parts.append(table("Every coefficient", ("coefficient", "#value", "#95 % interval", "remark"), rows))
    if found.paradox:
        parts.append(
            paragraph(
                f"Prevalence index {found.paradox.prevalence:.3f} and bias index {found.paradox.bias:.3f}, both from 0 to 1: "
                "the higher they are, the harder κ is to read on its own."
            )
        )
    return section("The dataset", *parts)


def list_coefficients(report: AgreementReport) -> Iterator[tuple[str, Value]]:
    """Every coefficient by its name, the observed agreement first."""
    found = report.measured
    yield "observed agreement", Value(found.observed_agreement)
    for kind in KINDS:
        yield f"Cohen's κ, {kind}", found.cohen_kappa[kind]
    yield "Fleiss' κ", found.fleiss_kappa
    for metric, value in found.krippendorff_alpha.items():
        yield f"Krippendorff's α, {metric}", value
    yield "Gwet's AC1", found.gwet_ac1
    yield "Gwet's AC2, quadratic", found.gwet_ac2
    for start, value in found.cut_points:
        yield f"Cohen's κ, relevant from grade {start}", value


def _show_pairs(report: AgreementReport) -> str:
    pairs = report.measured.annotator_pairs
    if not pairs:
        return ""
    listed, which_listed = choose_listed(report)
    rows = [
        (
            _name_two(pair.annotators), f"{pair.pairs:,}", show_number(pair.observed_agreement),
            *list_kappas(pair.cohen_kappa),
            show_number(pair.paradox.prevalence) if pair.paradox else "",
            show_number(pair.paradox.bias) if pair.paradox else "",
            pair.warning or pair.cohen_kappa["unweighted"].why or "",
        )
        for pair in listed
    ]  # fmt: skip
    counts = [
        (_name_two(pair.annotators), *(f"{count:,}" for row in pair.confusion for count in row))
        for pair in listed
    ]
    columns = ("annotators", "#pairs", "#observed", *KAPPAS, "#prevalence", "#bias", "remark")
    met = tuple(f"#{first}–{second}" for first in GRADES for second in GRADES)
    drawn = html_matrices.choose_pairs(pairs)
    which = (
        ""
        if len(drawn) == len(pairs)
        else f" Drawn: the {len(drawn)} of {len(pairs):,} who differ on most pairs."
    )
    return section(
        "Two annotators",
        html_matrices.draw_heat_map(pairs, report.annotators),
        paragraph(which_listed, "quiet") if which_listed else "",
        table("Every two annotators who judged the same pairs", columns, rows),
        "<h3>Which grades met</h3>",
        paragraph(
            f"How often each two grades met on a pair; on the diagonal both gave the same.{which}", "quiet"
        ),
        f'<div class="side">{"".join(html_matrices.draw_confusion(pair) for pair in drawn)}</div>',
        table("The first one's grade, then the second one's", ("annotators", *met), counts),
    )


def choose_listed(report: AgreementReport) -> tuple[Sequence[PairAgreement], str]:
    """Return the annotator pairs that the tables list, and a sentence on those they do not: all of them where they are few,
    else the first of `rank_pairs`."""
    pairs = report.measured.annotator_pairs
    if len(pairs) <= MOST_LISTED:
        return pairs, ""
    ranked = rank_pairs(pairs, report.measured.cohen_kappa["unweighted"])
    shown = ranked.pairs[:MOST_LISTED]
    said = [
        ""
        if not shown
        else (
            f"Of {len(pairs):,} annotator pairs the tables list {len(shown):,}, those first who lower the dataset's κ most "
            "(its distance times the pairs they share)."
        ),
        say_left_out_pairs(ranked) or "",
        "The Agreement page has all of them as CSV (Numbers as CSV), agreement --json as JSON.",
    ]
    return shown, " ".join(filter(None, said))


def _name_two(annotators: tuple[str, str]) -> Markup:
    return Markup(f"{name(annotators[0])} and {name(annotators[1])}")


def _show_groups(report: AgreementReport) -> str:
    if not report.groups:
        return ""
    by = report.groups[0].by
    groups: Sequence[GroupAgreement] = report.groups
    which = ""
    if len(groups) > MOST_LISTED:
        groups = rank_groups(groups, report.measured.cohen_kappa["unweighted"])[:MOST_LISTED]
        which = (
            f"Listed: of {len(report.groups):,} groups the {MOST_LISTED} that lower the dataset's κ most (its distance times their "
            f"pairs); left out: {len(report.groups) - MOST_LISTED:,}. The Agreement page has all of them as CSV, agreement --json "
            "as JSON."
        )
    named = [(_name_group(group), group.measured.cohen_kappa["unweighted"]) for group in groups]
    whole = ("the whole dataset", report.measured.cohen_kappa["unweighted"])
    rows = [
        (
            name(_name_group(group)), f"{group.measured.pairs:,}", f"{group.measured.queries:,}",
            show_number(group.measured.observed_agreement), *list_kappas(group.measured.cohen_kappa),
            show_value(group.measured.krippendorff_alpha["ordinal"]),
            group.warning or group.measured.cohen_kappa["unweighted"].why or "",
        )
        for group in groups
    ]  # fmt: skip
    caption = f"Cohen's κ (unweighted) by {by}: dots with 95 % intervals; dashed, the target."
    if len(named) >= html_charts.MOST_ROWS:
        caption += f" Drawn: the first {html_charts.MOST_ROWS - 1} of {len(named):,}; the table has {'these' if which else 'all'}."
    columns = (by, "#pairs", "#queries", "#observed", *KAPPAS, "#α ordinal [95 %]", "remark")
    return section(
        f"By {by.replace('_', ' ')}",
        figure(
            html_charts.draw_intervals(
                f"Cohen's kappa by {by}", [whole, *named], report.kappa_target, name="groups-"
            ),
            caption,
        ),
        paragraph(which, "quiet") if which else "",
        table(f"Agreement by {by}", columns, rows),
    )


def _name_group(group: GroupAgreement) -> str:
    return f"(no {group.by.replace('_', ' ')})" if group.value is None else group.value


def _show_people(report: AgreementReport) -> str:
    found = report.measured
    parts = []
    people: Sequence[Leaning] = found.leanings
    if len(people) > MOST_LISTED:
        people = rank_leanings(people)[:MOST_LISTED]
    if people:
        alpha = found.krippendorff_alpha["ordinal"].value
        rows = [
            (
                name(one.annotator), f"{one.couples:,}", "" if one.kappa is None else show_value(one.kappa),
                f"{one.mean:+.3f}", f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}" if one.ci95 else "",
                "" if one.alpha_without is None else show_number(one.alpha_without),
                "" if one.pairs_without is None else f"{one.pairs_without:,}",
            )
            for one in people
        ]  # fmt: skip
        caption = (
            "Cohen's κ of each with all the others together; how much higher each grades than they do on the same pairs, in "
            f"grades; and ordinal α without them (of all: {show_number(alpha)}), over the pairs that the others share"
        )
        columns = (
            "annotator", "#comparisons", "#κ with the others [95 %]", "#higher by", "#95 % interval", "#α without",
            "#pairs without",
        )  # fmt: skip
        parts.append(
            _say_listed(len(rows), len(found.leanings), "those who lean most (times their comparisons)")
        )
        parts.append(table(caption, columns, rows))
    counts = found.grades_by_annotator
    if counts:
        about = "How often each gave the grades, over all pairs they judged."
        if len(counts) > html_charts.MOST_PEOPLE:
            about += f" Drawn: the first {html_charts.MOST_PEOPLE} of {len(counts):,}."
        parts.append(figure(html_charts.draw_grades(counts), about))
        most = sorted(counts, key=lambda who: -sum(counts[who]))[:MOST_LISTED]
        listed = [(who, counts[who]) for who in counts if who in set(most)]
        parts.append(_say_listed(len(listed), len(counts), "those who judged most"))
        parts.append(
            table(
                "Grades given by each annotator",
                ("annotator", *(f"#{grade}" for grade in GRADES), "#all"),
                [(name(who), *(f"{n:,}" for n in given), f"{sum(given):,}") for who, given in listed],
            )
        )
    return section("Each annotator", *parts)


def _say_listed(listed: int, people: int, which: str) -> str:
    """Say who is listed, where not everybody is."""
    if listed >= people:
        return ""
    return paragraph(
        f"Listed: of {people:,} annotators the {listed:,} first, {which}. The Agreement page has all of them as CSV, "
        "agreement --json as JSON.",
        "quiet",
    )


def _show_periods(report: AgreementReport) -> str:
    if not report.periods:
        return ""
    rows = [
        (
            f"{period.first} to {period.last}", f"{period.pairs:,}", show_number(period.observed_agreement),
            show_value(period.kappa), period.kappa.why or "",
        )
        for period in report.periods
    ]  # fmt: skip
    told, people = choose_people_by_period(report)
    leanings = [
        (
            f"{period.first} to {period.last}", name(one.annotator), f"{one.couples:,}", f"{one.mean:+.3f}",
            f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}" if one.ci95 else "",
        )
        for period in report.periods
        for one in period.leanings
        if one.annotator in told
    ]  # fmt: skip
    caption = "Cohen's κ (unweighted) of the pairs completed in each period, with 95 % intervals; dashed, the target."
    return section(
        "Over time",
        figure(html_charts.draw_periods(report.periods, report.kappa_target), caption),
        table("Agreement by period", ("period", "#pairs", "#observed", "#κ [95 %]", "remark"), rows),
        _say_listed(len(told), people, "those who lean most over the whole time"),
        table(
            "How much higher each graded than the others, by period",
            ("period", "annotator", "#comparisons", "#higher by", "#95 % interval"),
            leanings,
        ),
    )
