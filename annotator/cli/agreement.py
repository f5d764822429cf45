"""Run `annotator agreement`: how well annotators agree, and what to do about it; as tables, JSON, or a page."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotator.agreement.records import KAPPA_KINDS, describe_who_counts
from annotator.cli.terminal import DatasetArgument, LeadConsole, note_written, now, print_json, print_table
from annotator.domain.figures import show_interval, show_number, show_percent
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.agreement.consensus_records import Consensus
    from annotator.agreement.records import AgreementReport, CoefficientValue, Leaning, PairAgreement

MOST_PAIRS = 50  # listed on the screen


def agreement(
    dataset: DatasetArgument,
    by: str | None = typer.Option(
        None,
        metavar="FIELD",
        help="Also by annotator, week, guideline_version, category, language, query_type, difficulty, primary_domain, "
        "a metadata key of the queries, or document:KEY.",
    ),
    resamples: int = typer.Option(1000, help="Bootstrap resamples of the queries; 0: no intervals."),
    seed: int | None = typer.Option(
        None, help="Seed of the resamples; default: the dataset's (0 unless set)."
    ),
    html: Path | None = typer.Option(
        None, metavar="FILE", help="Also write the report to one self-contained HTML page."
    ),
    consensus: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="Also write an estimated grade for each shared pair to a CSV file, for comparison only.",
    ),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Measure agreement: Cohen's kappa and other coefficients, with 95 % confidence intervals."""
    from annotator.agreement.service import compute_agreement, compute_consensus
    from annotator.domain.errors import InsufficientData

    _check_targets(html, consensus)
    opened, actor = console.open_as(figures_of=dataset)
    report = compute_agreement(
        opened,
        actor,
        dataset,
        by=by,
        resamples=resamples,
        seed=seed,
        report_progress=_choose_progress(resamples),
    )
    estimates = compute_consensus(opened, actor, dataset, now=now()) if consensus else None
    if estimates and estimates.converged:
        note_written(opened, actor, dataset, "consensus.csv")
    written = _write(report, estimates, html=html, consensus=consensus)
    if console.json:
        print_json(_as_json(report, estimates))
    else:
        print_report(report)
        if estimates:
            print_estimates(estimates)
    for sentence in written:
        typer.echo(f"\n{sentence}", err=console.json)
    if estimates and not estimates.converged:
        raise InsufficientData(f"{consensus}: not written. {estimates.explain_none()}")


def _check_targets(html: Path | None, consensus: Path | None) -> None:
    from annotator.agreement.report_files import check_target
    from annotator.domain.errors import ValidationError

    for target in (html, consensus):
        if target is not None:
            check_target(target)
    if html is not None and consensus is not None and html.absolute() == consensus.absolute():
        raise ValidationError(f"--html and --consensus need two different files, not {html} twice.")


def _choose_progress(resamples: int) -> "Callable[[int, CoefficientValue], None] | None":
    """Return a function that prints the first figures on stderr; None unless stderr is a terminal."""
    if not sys.stderr.isatty():
        return None
    return lambda pairs, kappa: typer.echo(
        f"{count_of(pairs, 'shared pair')}, kappa {format_value(kappa)}; {resamples:,} resamples …", err=True
    )


def _write(
    report: "AgreementReport", estimates: "Consensus | None", *, html: Path | None, consensus: Path | None
) -> list[str]:
    """Write the requested files and return a sentence about each.

    Call this before printing: the reader of the output may stop early.
    """
    from annotator import __version__
    from annotator.agreement.html_report import render_report
    from annotator.agreement.report_files import write_file
    from annotator.agreement.service import write_estimates

    sentences = []
    if html is not None:
        program = f"annotator {__version__}"
        write_file(html, [render_report(report, made_at=now(), program=program, estimates=estimates)])
        sentences.append(f"Wrote {html}: the report as HTML page.")
    if consensus is not None and estimates is not None and estimates.converged:
        write_estimates(consensus, estimates)
        sentences.append(
            f"Wrote {consensus}: estimates of {count_of(len(estimates.pairs), 'pair')}, not qrels."
        )
    return sentences


def _as_json(report: "AgreementReport", estimates: "Consensus | None") -> dict[str, Any]:
    """Return the documented JSON of the report, with this command's own figures."""
    measured = report.measured
    shown = report.as_json()
    more: dict[str, Any] = {
        "queries": measured.queries,
        "judgments": sum(measured.grade_counts),
        "annotator_pairs": [
            {**row, "paradox": pair.paradox}
            for row, pair in zip(shown["annotator_pairs"], measured.annotator_pairs, strict=True)
        ],
        "groups": [
            {**row, "queries": group.measured.queries}
            for row, group in zip(shown["groups"], report.groups, strict=True)
        ],
        "paradox": measured.paradox,
        "single_pairs": measured.single_pairs,
        "grades_by_annotator": measured.grades_by_annotator,
        "leanings": [_show_leaning(leaning) for leaning in measured.leanings],
        "periods": [
            {
                "first": period.first,
                "last": period.last,
                "pairs": period.pairs,
                "observed_agreement": period.observed_agreement,
                "cohen_kappa": period.kappa.as_json(),
                "leanings": [_show_leaning(leaning) for leaning in period.leanings],
            }
            for period in report.periods
        ],
    }
    if estimates is not None:
        more["estimates"] = {
            "are_qrels": False,
            "pairs": len(estimates.pairs),
            "converged": estimates.converged,
            "iterations": estimates.iterations,
            "grade_shares": estimates.shares,
            "compared_with_adjudicated": estimates.matches,
            "annotators": estimates.annotators,
            **({} if estimates.converged else {"why": estimates.explain_none()}),
        }
    return {**shown, **more}


def _show_leaning(leaning: "Leaning") -> dict[str, Any]:
    return {
        "annotator": leaning.annotator,
        "comparisons": leaning.comparisons,
        "mean": leaning.mean,
        "ci95": leaning.ci95,
        **({"why": str(leaning.why)} if leaning.why else {}),
        **(
            {}  # not measured by period
            if leaning.pairs_without is None
            else {
                "krippendorff_alpha_ordinal_without": leaning.alpha_without,
                "pairs_without": leaning.pairs_without,
            }
        ),
        **({} if leaning.kappa is None else {"cohen_kappa_with_others": leaning.kappa.as_json()}),
    }


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
