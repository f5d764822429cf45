"""Run `annotator agreement`: how well annotators agree, and what to do about it; as tables, JSON, or a page."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.agreement_tables import format_value, print_estimates, print_report
from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    note_written,
    now,
    open_as,
    print_json,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.agreement.consensus_records import Consensus
    from annotator.agreement.records import AgreementReport, CoefficientValue, Leaning


def agreement(
    dataset: DatasetArgument,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Also by annotator, week, guideline_version, category, language, query_type, difficulty, primary_domain, "
            "a metadata key of the queries, or document:KEY.",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of the queries; 0: no intervals.")
    ] = 1000,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the resamples; default: the dataset's (0 unless set).")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the report to one self-contained HTML page."),
    ] = None,
    consensus: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write an estimated grade for each shared pair to a CSV file, for comparison only.",
        ),
    ] = None,
    acting: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Measure agreement: Cohen's kappa and other coefficients, with 95 % confidence intervals."""
    from annotator.agreement.service import compute_agreement, compute_consensus
    from annotator.domain.errors import InsufficientData

    _check_targets(html, consensus)
    opened, actor = open_as(database, acting, figures_of=dataset)
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
    if json:
        print_json(_as_json(report, estimates))
    else:
        print_report(report)
        if estimates:
            print_estimates(estimates)
    for sentence in written:
        typer.echo(f"\n{sentence}", err=json)
    if estimates and not estimates.converged:
        raise InsufficientData(f"{consensus}: not written. {estimates.explain_none()}")


def _check_targets(html: Path | None, consensus: Path | None) -> None:
    """Refuse unwritable files before anything is computed."""
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
    from annotator.agreement.service import write_estimates, write_report

    sentences = []
    if html is not None:
        write_report(html, report, made_at=now(), program=f"annotator {__version__}", estimates=estimates)
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
