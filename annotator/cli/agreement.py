"""`annotator agreement`: how well the annotators of a dataset agree, and what to make of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    open_as,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from annotator.domain.agreement import AgreementReport, PairAgreement, Value

KINDS = ("unweighted", "linear", "quadratic")


def agreement(
    dataset: DatasetArgument,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Also by annotator, category, language, query_type, difficulty, primary_domain or a metadata key.",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of the queries; 0: no intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    acting: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how well the annotators agree: Cohen's kappa and others, with 95 % intervals."""
    from annotator.agreement.service import compute_agreement

    opened, actor = open_as(database, acting)
    report = compute_agreement(opened, actor, dataset, by=by, resamples=resamples, seed=seed)
    if json:
        print_json(report.as_json())
        return
    _print_report(report)


def _print_report(report: "AgreementReport") -> None:
    found = report.measured
    typer.echo("\n".join(f"- {sentence}" for sentence in report.diagnosis) + "\n")
    whole: list[tuple[str, str]] = [
        ("observed agreement", _share(found.observed_agreement)),
        *((f"Cohen's kappa, {kind}", _figure(found.cohen_kappa[kind])) for kind in KINDS),
        ("Fleiss' kappa", _figure(found.fleiss_kappa)),
        *(
            (f"Krippendorff's alpha, {metric}", _figure(value))
            for metric, value in found.krippendorff_alpha.items()
        ),
        ("Gwet's AC1", _figure(found.gwet_ac1)),
        ("Gwet's AC2, quadratic", _figure(found.gwet_ac2)),
        *((f"kappa of relevant from {start}", _figure(value)) for start, value in found.cut_points),
    ]
    print_table((f"{found.pairs} pairs of {found.queries} queries", "value [95 %]"), whole, empty="")
    groups = [("(none)" if group.value is None else group.value, group.measured) for group in report.groups]
    if groups:
        rows = [
            (name, part.pairs, *_kappas(part.observed_agreement, part.cohen_kappa)) for name, part in groups
        ]
        typer.echo("")
        print_table((report.groups[0].by, "pairs", "observed", *KINDS), rows, empty="")
    if found.annotator_pairs:
        rows = [
            (" / ".join(pair.annotators), pair.pairs, *_kappas(pair.observed_agreement, pair.cohen_kappa))
            for pair in found.annotator_pairs
        ]
        typer.echo("")
        print_table(("annotators", "pairs", "observed", *KINDS), rows, empty="")
    for pair in found.annotator_pairs:
        _print_confusion(pair)


def _print_confusion(pair: "PairAgreement") -> None:
    first, second = pair.annotators
    typer.echo(f"\nrows {first}, columns {second}")
    rows = [(grade, *counts) for grade, counts in enumerate(pair.confusion)]
    print_table(("", *(str(grade) for grade in range(len(rows)))), rows, empty="")


def _kappas(observed: float | None, kappas: "Mapping[str, Value]") -> tuple[str, ...]:
    return (_share(observed), *(_figure(kappas[kind]) for kind in KINDS))


def _share(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.3f}"


def _figure(value: "Value") -> str:
    if value.value is None:
        return "undefined"
    return f"{value.value:.3f}" + (f" [{value.ci95[0]:.3f}, {value.ci95[1]:.3f}]" if value.ci95 else "")
