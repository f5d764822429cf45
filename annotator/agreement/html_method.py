"""The end of the agreement report: what was left out and why, and how every figure was computed."""

from datetime import UTC, datetime

from annotator.agreement.html_parts import paragraph, section, table, text
from annotator.agreement.records import AgreementReport

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
