"""`annotator settle`: settle by a rule what differs only by taste, look at it first, and take it back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.queue_options import (
    CategoryOption,
    GradesOption,
    JudgedByOption,
    QueryOption,
    read_filter,
    tell_progress,
)
from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    DryRunOption,
    JsonOption,
    now,
    open_as,
    print_json,
    print_table,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.adjudication.bulk_sql import Batch
    from annotator.adjudication.policies import PolicyPreview

COLUMNS = ("number", "policy", "pairs", "still hold", "by", "at", "undone by", "undone at", "rationale")


def settle(
    dataset: DatasetArgument,
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who settles.")],
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="median|lower|higher",
            help="The grade that neighbouring grades are settled at; the median of two is the lower.",
        ),
    ] = None,
    rationale: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why; stored with every decision.")
    ] = None,
    query: QueryOption = None,
    category: CategoryOption = None,
    annotator: JudgedByOption = None,
    grades: GradesOption = None,
    undo: Annotated[
        int | None,
        typer.Option("--undo", metavar="N", help="Take back what batch N decided and still holds."),
    ] = None,
    batches: Annotated[bool, typer.Option("--batches", help="List what was settled so.")] = False,
    dry_run: DryRunOption = False,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Settle at once what differs only by taste: neighbouring grades on one side of relevance."""
    from annotator.adjudication.bulk_service import list_batches, preview_policy, settle_by_policy, undo_batch
    from annotator.adjudication.impact_service import bring_up_to_date

    _check_use(policy=policy, undo=undo, batches=batches, dry_run=dry_run)
    opened, actor = open_as(database, lead)
    if batches:
        _show_batches(list_batches(opened, actor, dataset), json=json)
        return
    if undo is not None:
        undone = undo_batch(opened, actor, dataset, undo, rationale=rationale or "", now=now())
        said = (
            f"Took back {count_of(undone.withdrawn, 'decision')} of batch {undo}; "
            f"{count_of(undone.left, 'was decided anew since and stays', 'were decided anew since and stay')}."
        )
        print_json(undone) if json else typer.echo(said)
        return
    wanted = read_filter(show="open", query=query, category=category, annotator=annotator, grades=grades)
    bring_up_to_date(opened, dataset, tell=tell_progress())
    found = preview_policy(opened, actor, dataset, policy or "", wanted, now=now())
    if dry_run:
        print_json(found) if json else _show_preview(found)
        return
    made = settle_by_policy(
        opened, actor, dataset, found.policy, wanted, rationale=rationale or "", seen_digest=found.digest, now=now()
    )  # fmt: skip
    if json:
        print_json(made)
        return
    _show_preview(found)
    typer.echo(
        f"Settled as batch {made.number}. To take it back: annotator settle {dataset} --undo {made.number} --as {lead}"
    )


def _check_use(*, policy: str | None, undo: int | None, batches: bool, dry_run: bool) -> None:
    from annotator.domain.errors import ValidationError

    if (policy is not None) + (undo is not None) + batches != 1:
        raise ValidationError("expected one of --policy, --undo and --batches")
    if dry_run and policy is None:
        raise ValidationError("--dry-run: expected with --policy")


def _show_preview(found: "PolicyPreview") -> None:
    typer.echo(
        f"{count_of(found.pairs, 'pair differs only by taste and is', 'pairs differ only by taste and are')} "
        f"settled at {_name(found.policy)}:"
    )
    for one in found.by_grades:
        typer.echo(
            f"- {one.low} against {one.high}: {count_of(one.pairs, 'pair gets', 'pairs get')} {one.grade}"
        )
    if found.impact_sum is not None and found.impact_mean is not None:
        typer.echo(
            f"- the choice moves nDCG by {found.impact_mean:.3g} on average ({found.impact_sum:.3g} in sum), each on its query and "
            f"for the system that it moves most; {found.flips:,} can change the order of two systems"
        )
    for left in found.left_out:
        typer.echo(f"- {count_of(left.pairs, 'pair is', 'pairs are')} left: {left.why}")


def _name(policy: str) -> str:
    from annotator.adjudication.domain_policies import POLICY_NAMES

    return POLICY_NAMES[policy]


def _show_batches(found: "Sequence[Batch]", *, json: bool) -> None:
    if json:
        print_json(found)
        return
    rows = [
        (
            one.number, one.policy, one.pairs, one.holding, one.lead, one.made_at, one.undone_by, one.undone_at, one.rationale,
        )
        for one in found
    ]  # fmt: skip
    print_table(COLUMNS, rows, empty="Nothing was settled by a policy.")
