"""Print the agreement report for people: verdict, advice, then every figure with its interval."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from annotator.agreement.coefficient_records import KAPPA_KINDS
from annotator.agreement.records import describe_who_counts
from annotator.cli.terminal import print_table
from annotator.domain.figures import show_interval, show_number, show_percent
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.agreement.consensus_records import Consensus
    from annotator.agreement.records import AgreementReport, CoefficientValue, Leaning, PairAgreement

MOST_PAIRS = 50


def print_report(report: "AgreementReport") -> None:
    """Print every table of the report that has rows."""
    _print_verdict(report)
    _print_coefficients(report)
    _print_groups(report)
    _print_pairs(report)
    _print_people(report)
    _print_periods(report)
    _print_left_out(report)


def print_estimates(consensus: "Consensus") -> None:
    """Print how often each estimate equals the lead's grade, and how each annotator would err."""
    from annotator.agreement.consensus_records import NO_QRELS

    typer.echo("\n" + "\n".join((NO_QRELS, *consensus.describe())))
    _print(
        ("estimate", "adjudicated pairs compared", "equal", "without one whole grade"),
        [
            (match.method, match.compared, match.equal, match.open)
            for match in consensus.matches
            if match.compared + match.open
        ],
    )
    _print(
        ("annotator", "judgments", "equal to Dawid and Skene's estimate"),
        [
            (annotator.annotator, annotator.judgments, show_percent(annotator.right))
            for annotator in consensus.annotators
        ],
    )


def format_value(value: "CoefficientValue") -> str:
    """Return a value with its interval, such as "0.571 [0.412, 0.701]", or "undefined"."""
    if value.value is None:
        return "undefined"
    return show_number(value.value, 3) + (f" [{show_interval(value.ci95)}]" if value.ci95 else "")


def _print(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print an empty line and a table; nothing if there are no rows."""
    if rows:
        typer.echo("")
        print_table(columns, rows, empty="")


def _print_verdict(report: "AgreementReport") -> None:
    sentences = list(report.diagnosis)
    if report.verdict is not None:
        typer.echo(f"{report.verdict.state.upper()}: {report.verdict.sentence}\n")
        sentences = [sentence for sentence in sentences if sentence != report.verdict.sentence]
    if sentences:
        typer.echo("\n".join(f"- {sentence}" for sentence in sentences) + "\n")


def _print_coefficients(report: "AgreementReport") -> None:
    measured = report.measured
    rows: list[tuple[str, str]] = [
        ("observed agreement", _share(measured.observed_agreement)),
        *(
            (coefficient.plain_name, format_value(value))
            for coefficient, value in measured.list_coefficients()
        ),
    ]
    if measured.paradox is not None:
        rows += [
            ("prevalence index", _share(measured.paradox.prevalence)),
            ("bias index", _share(measured.paradox.bias)),
        ]
    print_table(
        (f"{count_of(measured.pairs, 'pair')} of {count_of(measured.queries, 'query')}", "value [95 %]"),
        rows,
        empty="",
    )
    if measured.pairs:
        typer.echo(f"\n{describe_who_counts(report)}")
    undefined = sorted(
        {str(value.why) for value in measured.cohen_kappa.values() if value.value is None and value.why}
    )
    typer.echo("".join(f"undefined: {why}\n" for why in undefined), nl=False)


def _print_groups(report: "AgreementReport") -> None:
    rows = [
        (
            "(none)" if group.value is None else group.value,
            group.measured.pairs,
            *_kappas(group.measured.observed_agreement, group.measured.cohen_kappa),
            format_value(group.measured.krippendorff_alpha["ordinal"]),
            group.warning or "",
        )
        for group in report.groups
    ]
    by = report.groups[0].by if report.groups else ""
    _print((by, "pairs", "observed", *KAPPA_KINDS, "alpha ordinal", "warning"), rows)


def _print_pairs(report: "AgreementReport") -> None:
    from annotator.agreement.ranking import choose_differing_pairs

    pairs = report.measured.annotator_pairs
    shown = _choose_listed(report)
    warned = any(pair.warning for pair in shown)
    rows = [
        (
            " / ".join(pair.annotators),
            pair.pairs,
            *_kappas(pair.observed_agreement, pair.cohen_kappa),
            *((_share(pair.paradox.prevalence), _share(pair.paradox.bias)) if pair.paradox else ("", "")),
            *((pair.warning or "",) if warned else ()),
        )
        for pair in shown
    ]
    remark = ("warning",) if warned else ()
    _print(("annotators", "pairs", "observed", *KAPPA_KINDS, "prevalence", "bias", *remark), rows)
    drawn = choose_differing_pairs(pairs)
    if len(drawn) < len(pairs):
        typer.echo(
            f"\nThe {len(drawn)} of {len(pairs):,} annotator pairs who differ on most pairs, grade by grade:"
        )
    for pair in drawn:
        typer.echo(f"\nrows {pair.annotators[0]}, columns {pair.annotators[1]}")
        counts = [(grade, *row) for grade, row in enumerate(pair.confusion)]
        print_table(("", *(str(grade) for grade in range(len(counts)))), counts, empty="")


def _choose_listed(report: "AgreementReport") -> "Sequence[PairAgreement]":
    """Return the annotator pairs to list: at most MOST_PAIRS, those that lower the dataset's kappa most.

    Prints how many are left out, and why.
    """
    from annotator.agreement.ranking import describe_unranked_pairs, rank_pairs

    pairs = report.measured.annotator_pairs
    if len(pairs) <= MOST_PAIRS:
        return pairs
    ranked = rank_pairs(pairs, report.measured.cohen_kappa["unweighted"])
    shown = ranked.pairs[:MOST_PAIRS]
    typer.echo(
        f"\nShowing {len(shown):,} of {len(pairs):,} annotator pairs, sorted by how much they lower the dataset's kappa "
        "(difference times shared pairs). --json has all of them."
        if shown
        else f"\nNone of the {len(pairs):,} annotator pairs is shown. --json has all of them."
    )
    if sentence := describe_unranked_pairs(ranked):
        typer.echo(sentence)
    return shown


def _print_people(report: "AgreementReport") -> None:
    measured = report.measured
    rows = [
        (
            leaning.annotator,
            leaning.comparisons,
            "" if leaning.kappa is None else format_value(leaning.kappa),
            *_lean(leaning),
            _share(leaning.alpha_without, ""),
            "" if leaning.pairs_without is None else leaning.pairs_without,
        )
        for leaning in measured.leanings
    ]
    columns = (
        "annotator",
        "comparisons",
        "kappa with the others",
        "grades higher by",
        "alpha ordinal without",
        "pairs without",
    )
    _print(columns, rows)
    grades = [(name, *counts, sum(counts)) for name, counts in measured.grades_by_annotator.items()]
    _print(("grades given by", *(str(grade) for grade in range(len(measured.grade_counts))), "all"), grades)


def _lean(leaning: "Leaning") -> tuple[str]:
    reach = (
        f" [{show_number(leaning.ci95[0], 3, signed=True)}, {show_number(leaning.ci95[1], 3, signed=True)}]"
        if leaning.ci95
        else ""
    )
    return (f"{show_number(leaning.mean, 3, signed=True)}{reach}",)


def _print_periods(report: "AgreementReport") -> None:
    rows = [
        (
            f"{period.first} to {period.last}",
            period.pairs,
            _share(period.observed_agreement),
            format_value(period.kappa),
        )
        for period in report.periods
    ]
    _print(("completed", "pairs", "observed", "kappa [95 %]"), rows)


def _print_left_out(report: "AgreementReport") -> None:
    counted = sum(report.measured.grade_counts)
    _print(
        ("judgments", "reason for exclusion"),
        [(show_number(excluded.judgments), excluded.why) for excluded in report.left_out],
    )
    typer.echo(f"\n{count_of(counted, 'judgment counts', 'judgments count')}.")
    if report.blind_pairs:
        from annotator.domain.judgments import describe_blind_pairs

        typer.echo(describe_blind_pairs(report.blind_pairs))
    if report.outdated:
        typer.echo(
            f"{report.outdated:,} current grades were made under an older guideline or on an older text: they count until "
            "they are confirmed or changed."
        )


def _kappas(observed: float | None, kappas: "Mapping[str, CoefficientValue]") -> tuple[str, ...]:
    return (_share(observed), *(format_value(kappas[kind]) for kind in KAPPA_KINDS))


def _share(share: float | None, undefined: str = "undefined") -> str:
    return undefined if share is None else show_number(share, 3)
