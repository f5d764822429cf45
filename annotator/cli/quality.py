"""Run `annotator qc …`: a random sample of settled pairs for a third expert, and its result."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from annotator.cli.terminal import (
    CommandGroup,
    DatasetArgument,
    DryRunOption,
    LeadConsole,
    now,
    print_json,
    print_table,
    to_json,
)
from annotator.domain.figures import show_figure, show_percent
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.quality.records import ErrorRate, QualityDraw, QualityPreview, QualityStatus

app = CommandGroup(help="Quality control: a third expert checks settled grades blind.", no_args_is_help=True)
KINDS = {
    "any": "another grade",
    "far": "2 or 3 grades apart",
    "relevance": "relevant for one, not for the other",
}

DRAW_COLUMNS = {
    "draw": "number",
    "round": "round",
    "annotator": "annotator",
    "pairs": "pairs",
    "checked": "checked",
    "unrateable": "unrateable",
    "errors": "errors",
    "of": "population",
    "outside": "outside",
    "rate": "rate",
    "seed": "seed",
    "drawn_by": "drawn_by",
    "drawn_at": "drawn_at",
}
ERROR_COLUMNS = {
    "round": "round",
    "query_id": "query_id",
    "doc_id": "doc_id",
    "category": "category",
    "settled": "settled_grade",
    "by": "settled_by",
    "expert": "expert_grade",
    "state": "state",
    "decided": "decided_grade",
}


@app.command()
def draw(
    dataset: DatasetArgument,
    annotator: str = typer.Option(
        ..., metavar="USER", help="The checker: someone who has judged none of the pairs.", show_default=False
    ),
    rate: float | None = typer.Option(
        None,
        help="Share of the settled pairs to have in the round's sample (default: 0.10).",
        show_default=False,
    ),
    size: int | None = typer.Option(
        None,
        metavar="N",
        help="Number of pairs to have in the round's sample, instead of a share.",
        show_default=False,
    ),
    seed: int = typer.Option(0, help="The same pairs and seed give the same sample."),
    new_round: bool = typer.Option(
        False, "--new-round", help="Begin a new sample; earlier ones stay on record."
    ),
    dry_run: DryRunOption = False,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Draw a random sample of settled pairs for a checker, who judges them blind, mixed with other pairs."""
    from annotator.quality.records import DEFAULT_RATE
    from annotator.quality.service import draw_sample, preview_sample

    if rate is not None and size is not None:
        raise typer.BadParameter("expected --rate or --size, not both")
    opened, actor = console.open_as(figures_of=dataset)
    share = DEFAULT_RATE if rate is None else rate
    draw_options: dict[str, Any] = {"annotator": annotator, "rate": share, "size": size, "seed": seed}
    if dry_run:
        preview = preview_sample(opened, actor, dataset, **draw_options, new_round=new_round)
        if not console.show_json(preview):
            _print_preview(preview)
        return
    made = draw_sample(opened, actor, dataset, **draw_options, new_round=new_round, now=now())
    if not console.show_json(made):
        _print_draw(dataset, made)


@app.command()
def status(
    dataset: DatasetArgument,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Show the observed error rate and the guaranteed maximum. Exit code 3 unless the dataset's rule is passed."""
    from annotator.domain.errors import GateNotMet
    from annotator.quality.service import show_quality

    opened, actor = console.open_as(figures_of=dataset)
    quality_status = show_quality(opened, actor, dataset, now=now())
    if console.json:
        print_json(to_dict(quality_status))
    else:
        _print_status(quality_status)
    if quality_status.verdict != "passed":
        raise GateNotMet(
            f"quality control of {dataset}: {quality_status.verdict} (rule: {quality_status.rule})"
        )


def to_dict(status: "QualityStatus") -> dict[str, Any]:
    """Return all fields of the status and the verdict by the dataset's rule, for JSON."""
    from annotator.quality.records import CONFIDENCE, LIMIT

    whole: dict[str, Any] = to_json(status)
    whole["rates"] = {kind: rate.as_json() for kind, rate in status.rates.items()}
    for error, record in zip(whole["errors"], status.errors, strict=True):
        error["distance"] = record.distance
    return {"verdict": status.verdict, "limit": LIMIT, "confidence": CONFIDENCE, **whole}


def _print_preview(preview: "QualityPreview") -> None:
    typer.echo(
        f"Would draw {count_of(preview.pairs, 'pair')} for {preview.annotator} in round {preview.round}: "
        f"the sample would contain {preview.drawn + preview.pairs:,} of {count_of(preview.population, 'settled pair')}; "
        f"{count_of(preview.outside, 'pair is', 'pairs are')} not covered."
    )
    rows = [
        (stratum.category or "", stratum.grade, stratum.population, stratum.drawn, stratum.pairs)
        for stratum in preview.strata
    ]
    print_table(("category", "grade", "settled", "in the sample", "would be drawn"), rows, empty="")


def _print_draw(dataset: str, made: "QualityDraw") -> None:
    typer.echo(
        f"Drew {made.pairs:,} of {count_of(made.population, 'settled pair')} for {made.annotator} "
        f"(draw {made.number}, round {made.round}, seed {made.seed})."
    )
    if made.outside:
        typer.echo(
            f"{count_of(made.outside, 'settled pair is', 'settled pairs are')} not covered: {made.annotator} has judged, proposed or seen "
            "them, or does not judge their queries."
        )
    typer.echo(
        f"They appear for {made.annotator} on the page Label. Follow the check with: annotator qc status {dataset}"
    )


def _print_status(status: "QualityStatus") -> None:
    typer.echo("\n".join(f"- {sentence}" for sentence in status.sentences) + "\n")
    if not status.round:
        return
    counts = [
        ("settled pairs that the sample covers", status.population),
        ("drawn", status.drawn),
        ("checked", status.checked),
        ("waiting", status.waiting),
        ("cannot rate", status.unrateable),
        ("can no longer be judged", status.barred),
        ("outside", status.outside),
        ("settled since the last draw", status.settled_since),
    ]
    print_table((f"round {status.round}", "pairs"), counts, empty="")
    typer.echo("")
    rows = [_rate_row(KINDS[kind], rate) for kind, rate in status.rates.items()]
    print_table(("errors", "found", "checked", "rate [95 %]", "at most (95 %)"), rows, empty="")
    typer.echo("")
    verdicts = [
        (rule, verdict, "the dataset's rule" if rule == status.rule else "")
        for rule, verdict in status.verdicts.items()
    ]
    print_table(("by", "verdict", ""), verdicts, empty="")
    typer.echo("")
    _print_rows(status.draws, DRAW_COLUMNS)
    if status.errors:
        typer.echo("")
        _print_rows(status.errors, ERROR_COLUMNS)
    if status.hidden:
        from annotator.domain.judgments import describe_blind_pairs

        typer.echo(f"\n{describe_blind_pairs(status.hidden)}")


def _print_rows(records: Sequence[object], columns: Mapping[str, str]) -> None:
    rows = [[getattr(record, field) for field in columns.values()] for record in records]
    shown = [[show_figure(value, 6) if isinstance(value, float) else value for value in row] for row in rows]
    print_table(tuple(columns), shown, empty="")


def _rate_row(name: str, rate: "ErrorRate") -> tuple[object, ...]:
    if rate.rate is None or rate.ci95 is None or rate.bound is None:
        return name, rate.errors, rate.checked, "", ""
    low, high = rate.ci95
    return (
        name,
        rate.errors,
        rate.checked,
        f"{show_percent(rate.rate, 2)} [{show_percent(low, 2)}, {show_percent(high, 2)}]",
        show_percent(rate.bound, 2),
    )
