"""Write the agreement report as one self-contained HTML page, to send, print and keep beside a release.

A pure function of the report and its time: the same input gives the same bytes. Every number in a picture is also in a
table, and every name is escaped. Estimates appear only if asked for, beside leads' decisions and never in their place.
The end says what was left out and how each figure was computed.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from annotator.agreement import html_charts
from annotator.agreement.consensus_records import NO_QRELS, Consensus, DecisionMatch
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
from annotator.agreement.records import (
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    Leaning,
    PairAgreement,
    choose_people_by_period,
    rank_groups,
    rank_leanings,
    rank_pairs,
    say_left_out_pairs,
    say_who_counts,
)
from annotator.domain.grades import GRADES
from annotator.domain.messages import show_percent


def show_estimates(found: Consensus) -> str:
    """How often each method gives the lead's grade, and how each annotator would err if Dawid and Skene's were right."""
    errors = [
        (
            name(one.annotator),
            f"{one.judgments:,}",
            show_percent(one.right),
            f"{grade}",
            *(f"{share:.3f}" for share in one.confusion[grade] or ()),
            *("" for _ in GRADES if one.confusion[grade] is None),
        )
        for one in found.annotators
        for grade in GRADES
    ]
    return section(
        "Estimates for comparison",
        paragraph(NO_QRELS),
        *(paragraph(said) for said in say_estimates(found)),
        table(
            "How often each estimate equals the grade that a lead decided",
            ("method", "#adjudicated pairs compared", "#equal", "#share", "#without one whole grade"),
            [
                (one.method, f"{one.compared:,}", f"{one.equal:,}", show_share(one), f"{one.open:,}")
                for one in found.matches
                if one.compared + one.open
            ],
        ),
        table(
            "The probability of each grade that an annotator gives, by the estimated grade (Dawid and Skene)",
            (
                "annotator",
                "#judgments",
                "#equal to the estimate",
                "#estimated grade",
                *(f"#gives {grade}" for grade in GRADES),
            ),
            errors,
        ),
    )


def show_share(match: DecisionMatch) -> str:
    """ "81.3%"; nothing where no pair can be compared."""
    return show_percent(match.equal / match.compared) if match.compared else ""


def say_estimates(found: Consensus) -> list[str]:
    """What the estimates rest on, and what speaks against relying on them."""
    if not found.converged:
        return [found.explain_none()]
    if not found.pairs:
        return ["No pair was judged independently by two annotators, so there is nothing to estimate."]
    shares = ", ".join(
        f"{grade}: {show_percent(share)}" for grade, share in zip(GRADES, found.shares, strict=True)
    )
    said = [
        (
            f"{len(found.pairs):,} pairs with two or more judgments. Dawid and Skene (1979), expectation maximization from the "
            f"share of each grade among a pair's judgments, {found.iterations:,} rounds until nothing changed; estimated shares of the grades: {shares}."
        )
    ]
    if not any(match.compared + match.open for match in found.matches):
        said.append(
            "No lead has decided a pair that two or more judged, so there is no decision to compare them with."
        )
    twice = sum(pair.judgments == 2 for pair in found.pairs)
    if 2 * twice > len(found.pairs):
        said.append(
            f"{twice:,} of these pairs have two judgments only: where these differ, the estimate rests on how the two "
            "annotators judged all their other pairs."
        )
    return said


METHOD = (
    (
        "What counts",
        (
            "The current judgment of each annotator on each pair in the pool, if it carries a grade and was made independently, "
            "on pairs that two or more judged so. Unrateable is absence."
        ),
    ),
    (
        "Cohen's κ",
        (
            "Cohen 1960 and 1968, unweighted and with linear and quadratic weights. Of the dataset: the mean over annotator pairs, "
            "weighted by the pairs they share; at a cut-point, grades are read as relevant or not."
        ),
    ),
    ("Fleiss' κ", "Fleiss 1971; each pair counts once where the number of judgments varies (Gwet 2014)."),
    ("Krippendorff's α", "Krippendorff 2011: nominal, ordinal and interval."),
    (
        "Gwet's AC1 and AC2",
        "Gwet 2014; AC2 with quadratic weights. Pairs judged by one annotator help to estimate how common each grade is.",
    ),
    (
        "Prevalence and bias",
        (
            "Byrt, Bishop and Carlin 1993: how far the commonest grade's share lies above an even split, and how far the "
            "annotators' shares of the grades lie apart."
        ),
    ),
    (
        "Higher by",
        (
            "An annotator's grade less another's on the same pair, averaged over all comparisons. α without: ordinal α of the "
            "judgments of all the others."
        ),
    ),
    (
        "Undefined",
        "Without variation agreement beyond chance is undefined; it is then said so and never shown as 0 or 1.",
    ),
)


def show_left_out(report: AgreementReport) -> str:
    """How many judgments count, how many do not, and why."""
    counted = sum(report.measured.grade_counts)
    rows = [(one.why, f"{one.judgments:,}") for one in report.left_out]
    total = sum(one.judgments for one in report.left_out)
    said = (
        f"{counted:,} judgments count; {total:,} are left out." if rows else f"{counted:,} judgments count."
    )
    return section(
        "What counts and what is left out",
        paragraph(said),
        paragraph(say_outdated(report.outdated)) if report.outdated else "",
        table("Left out, each judgment for one reason", ("reason", "#judgments"), rows),
    )


def say_outdated(outdated: int) -> str:
    """That judgments under an older standard count."""
    return (
        f"{outdated:,} current grades were made under an older guideline or on an older text of their document. They "
        "count until their annotators confirm or change them."
    )


def show_method(report: AgreementReport, *, made_at: datetime, program: str) -> str:
    """How the figures come about, so that they can be computed again."""
    drawn = (
        f"95 %, percentile bootstrap (Efron and Tibshirani 1993) of {report.resamples:,} resamples with seed {report.seed}. "
        "Whole queries are drawn, since pairs of one query hang together; the fewer they are, the further out the "
        "percentiles lie (Hesterberg 2015)."
        if report.resamples
        else "None were asked for."
    )
    rows = [
        ("Made", f"{made_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC by {program}"),
        ("Intervals", drawn),
        *METHOD,
    ]
    listed = "\n".join(f"<li><strong>{text(words)}:</strong> {text(said)}</li>" for words, said in rows)
    return section("How it was computed", f"<ul>\n{listed}\n</ul>")


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


def list_coefficients(report: AgreementReport) -> Iterator[tuple[str, CoefficientValue]]:
    """Every coefficient by its name, the observed agreement first."""
    found = report.measured
    yield "observed agreement", CoefficientValue(found.observed_agreement)
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
            _name_two(pair.annotators),
            f"{pair.pairs:,}",
            show_number(pair.observed_agreement),
            *list_kappas(pair.cohen_kappa),
            show_number(pair.paradox.prevalence) if pair.paradox else "",
            show_number(pair.paradox.bias) if pair.paradox else "",
            pair.warning or pair.cohen_kappa["unweighted"].why or "",
        )
        for pair in listed
    ]
    counts = [
        (_name_two(pair.annotators), *(f"{count:,}" for row in pair.confusion for count in row))
        for pair in listed
    ]
    columns = ("annotators", "#pairs", "#observed", *KAPPAS, "#prevalence", "#bias", "remark")
    met = tuple(f"#{first}–{second}" for first in GRADES for second in GRADES)
    drawn = html_charts.choose_pairs(pairs)
    which = (
        ""
        if len(drawn) == len(pairs)
        else f" Drawn: the {len(drawn)} of {len(pairs):,} who differ on most pairs."
    )
    return section(
        "Two annotators",
        html_charts.draw_heat_map(pairs, report.annotators),
        paragraph(which_listed, "quiet") if which_listed else "",
        table("Every two annotators who judged the same pairs", columns, rows),
        "<h3>Which grades met</h3>",
        paragraph(
            f"How often each two grades met on a pair; on the diagonal both gave the same.{which}", "quiet"
        ),
        f'<div class="side">{"".join(html_charts.draw_confusion(pair) for pair in drawn)}</div>',
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
            name(_name_group(group)),
            f"{group.measured.pairs:,}",
            f"{group.measured.queries:,}",
            show_number(group.measured.observed_agreement),
            *list_kappas(group.measured.cohen_kappa),
            show_value(group.measured.krippendorff_alpha["ordinal"]),
            group.warning or group.measured.cohen_kappa["unweighted"].why or "",
        )
        for group in groups
    ]
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
                name(one.annotator),
                f"{one.couples:,}",
                "" if one.kappa is None else show_value(one.kappa),
                f"{one.mean:+.3f}",
                f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}" if one.ci95 else "",
                "" if one.alpha_without is None else show_number(one.alpha_without),
                "" if one.pairs_without is None else f"{one.pairs_without:,}",
            )
            for one in people
        ]
        caption = (
            "Cohen's κ of each with all the others together; how much higher each grades than they do on the same pairs, in "
            f"grades; and ordinal α without them (of all: {show_number(alpha)}), over the pairs that the others share"
        )
        columns = (
            "annotator",
            "#comparisons",
            "#κ with the others [95 %]",
            "#higher by",
            "#95 % interval",
            "#α without",
            "#pairs without",
        )
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
            f"{period.first} to {period.last}",
            f"{period.pairs:,}",
            show_number(period.observed_agreement),
            show_value(period.kappa),
            period.kappa.why or "",
        )
        for period in report.periods
    ]
    told, people = choose_people_by_period(report)
    leanings = [
        (
            f"{period.first} to {period.last}",
            name(one.annotator),
            f"{one.couples:,}",
            f"{one.mean:+.3f}",
            f"{one.ci95[0]:+.3f} to {one.ci95[1]:+.3f}" if one.ci95 else "",
        )
        for period in report.periods
        for one in period.leanings
        if one.annotator in told
    ]
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
