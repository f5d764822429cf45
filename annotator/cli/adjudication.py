"""`annotator disagreements`, `adjudicate`, `order` and `settle`: the queue, and decisions in bulk.

The filter options are the same for the list, its file, policies and the page's URL. `settle` can preview and undo.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from annotator.cli.terminal import (
    Console,
    DatasetArgument,
    DryRunOption,
    EncodingOption,
    FileConsole,
    LeadConsole,
    now,
    open_as,
    print_json,
    print_table,
    read_bytes,
)
from annotator.domain.figures import show_figure
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.adjudication.bulk.policies import PolicyPreview
    from annotator.adjudication.impact.impact_service import ProgressCallback
    from annotator.adjudication.queue.queue_records import QueueFilter, Shown


@dataclass(frozen=True, slots=True)
class PairOptions:
    """The options that choose pairs by their query, annotators and grades."""

    query: str | None = typer.Option(None, metavar="QUERY_ID", help="Only this query.")
    category: str | None = typer.Option(
        None, metavar="C", help='Only this category ("": without a category).'
    )
    annotator: list[str] | None = typer.Option(
        None, metavar="USER", help="Only pairs judged by this annotator. Repeatable."
    )
    grades: str | None = typer.Option(
        None, metavar="LOW-HIGH", help="Only pairs with these lowest and highest grades."
    )


def _read_filter(
    shown: str,
    pairs: PairOptions,
    reasons: Sequence[str] = (),
    *,
    distance: int | None = None,
    taste: bool | None = None,
) -> "QueueFilter":
    from annotator.adjudication.queue.queue_records import SHOWN, QueueFilter, read_reasons
    from annotator.domain.errors import ValidationError

    if shown not in SHOWN:
        raise ValidationError(f"--show: choose one of {', '.join(SHOWN)}, not {shown!r}.")
    return QueueFilter(
        shown=cast("Shown", shown),
        reasons=read_reasons(list(reasons)),
        query_id=pairs.query,
        category=pairs.category,
        annotators=tuple(pairs.annotator or ()),
        grades=_read_grades(pairs.grades) if pairs.grades is not None else None,
        distance=distance,
        taste=taste,
    )


def _make_progress_bar() -> "ProgressCallback | None":
    if not sys.stderr.isatty():
        return None
    return lambda done, total: typer.echo(f"impact: {done:,} of {count_of(total, 'query')} …", err=True)


def _read_grades(words: str) -> tuple[int, int]:
    from annotator.domain.errors import ValidationError

    low, _, high = words.partition("-")
    if low not in ("0", "1", "2", "3") or high not in ("0", "1", "2", "3") or low > high:
        raise ValidationError(f"--grades: enter two grades such as 1-2, not {words!r}.")
    return int(low), int(high)


COLUMNS = ("query_id", "doc_id", "category", "grades", "distance", "impact", "status", "since")


def disagreements(
    dataset: DatasetArgument,
    sort: str = typer.Option(
        "distance", metavar="distance|impact|age|…", help="Sort order; distance: largest difference first."
    ),
    show: str | None = typer.Option(None, metavar="open|decided|all", help="Which pairs to list."),
    reason: list[str] | None = typer.Option(
        None,
        metavar="WORD",
        help="Reason: differ, unrateable, quality, objection, question, stale. Repeatable.",
    ),
    pairs: PairOptions = PairOptions(),
    distance: int | None = typer.Option(
        None, min=0, max=3, help="Only pairs whose grades are this far apart.", show_default=False
    ),
    taste: bool | None = typer.Option(
        None,
        "--taste/--no-taste",
        help="Only grades one apart with the same relevance, or only the others.",
        show_default=False,
    ),
    file: Path | None = typer.Option(
        None, "--csv", metavar="FILE", help="Write the list to a file for filling in decisions."
    ),
    console: LeadConsole = LeadConsole(),
) -> None:
    """List disagreements and other pairs waiting for a decision, open ones first."""
    from annotator.adjudication.queue.queue_service import find_disagreements

    opened, actor = console.open_as(figures_of=dataset)
    shown = show or ("all" if file is None else "open")
    wanted = _read_filter(shown, pairs, reason or (), distance=distance, taste=taste)
    if file is not None:
        from annotator.adjudication.bulk.bulk_service import export_queue

        _check_target(file)
        pieces = export_queue(
            opened, actor, dataset, wanted, sort, now=now(), report_progress=_make_progress_bar()
        )
        _write_file(file, b"".join(pieces), console)
        return
    items = find_disagreements(
        opened,
        actor,
        dataset,
        queue_filter=wanted,
        sort=sort,
        now=now(),
        report_progress=_make_progress_bar(),
    )
    if console.json:
        print_json([item.as_json() for item in items])
        return
    rows = [
        (
            item.query_id,
            item.doc_id,
            item.category,
            " ".join(f"{name}={grade}" for name, grade in item.grades.items()),
            item.distance,
            item.impact,
            "open (reopened)" if item.reopened else item.status,
            item.since,
        )
        for item in items
    ]
    print_table(COLUMNS, rows, empty="No disagreements.")


def adjudicate(
    dataset: DatasetArgument,
    file: Path = typer.Argument(
        ...,
        metavar="FILE",
        help="CSV: query_id,doc_id,grade,rationale[,reason]; or an exported queue, filled in.",
    ),
    lead: str = typer.Option(..., "--as", metavar="LEAD", help="The lead who decides."),
    encoding: EncodingOption = None,
    console: FileConsole = FileConsole(),
) -> None:
    """Decide disagreements from a file: all of its rows, or none."""
    from annotator.adjudication.bulk.bulk_service import adjudicate_file

    opened, actor = open_as(console.database, lead)
    data = _read_file(file, encoding)
    done = adjudicate_file(opened, actor, dataset, data, str(file), now=now(), dry_run=console.dry_run)
    if console.show_json(done):
        return
    verb = "Would save" if console.dry_run else "Saved"
    typer.echo(
        f"{verb}: {count_of(done.decided, 'new decision')}, {done.revised:,} changed, {done.unchanged:,} unchanged."
    )
    if done.proposed:
        typer.echo(
            f"{count_of(done.proposed, 'decision is a proposal', 'decisions are proposals')} until a second lead makes the same decision."
        )
    if done.skipped:
        typer.echo(
            f"{count_of(done.skipped, 'row without a decision was', 'rows without a decision were')} skipped."
        )


def order(
    dataset: DatasetArgument,
    file: Path = typer.Argument(
        ..., metavar="FILE", help="CSV: query_id,doc_id; best documents of each query first."
    ),
    lead: str = typer.Option(..., "--as", metavar="LEAD", help="The lead who orders them."),
    encoding: EncodingOption = None,
    console: FileConsole = FileConsole(),
) -> None:
    """Order documents that have the same grade. Releases list them in this order."""
    from annotator.adjudication.bulk.bulk_service import order_documents

    opened, actor = open_as(console.database, lead)
    data = _read_file(file, encoding)
    done = order_documents(opened, actor, dataset, data, str(file), now=now(), dry_run=console.dry_run)
    if console.show_json(done):
        return
    verb = "Would order" if console.dry_run else "Ordered"
    typer.echo(f"{verb} the documents of {count_of(done.queries, 'query')}; {done.unchanged:,} unchanged.")


def _read_file(file: Path, encoding: str | None) -> bytes:
    from annotator.formats.syntax.text import to_utf8

    return to_utf8(read_bytes(file), str(file), encoding)


def _check_target(file: Path) -> None:
    from annotator.domain.errors import ValidationError

    if file.is_dir() or not file.absolute().parent.is_dir():
        raise ValidationError(f"--csv: {file} is not a file name in an existing folder.")


def _write_file(file: Path, data: bytes, console: LeadConsole) -> None:
    """Write the file through a temporary file. Raises ValidationError on failure."""
    from annotator.domain.errors import ValidationError
    from annotator.formats.syntax.partial_files import replace_file

    try:
        replace_file(file, [data], mode=0o666)
    except OSError as error:
        raise ValidationError(f"Cannot write {file}: {error.strerror}.") from None
    console.show(
        {"file": file, "bytes": len(data)},
        f"Wrote {file}. Fill in grade, rationale and reason, then run: annotator adjudicate DATASET {file} --as LEAD",
    )


BATCH_COLUMNS = {
    "number": "number",
    "policy": "policy",
    "pairs": "pairs",
    "still current": "holding",
    "by": "lead",
    "at": "made_at",
    "undone by": "undone_by",
    "undone at": "undone_at",
    "rationale": "rationale",
}
"""The columns of `settle --batches` as {heading: field}."""


def settle(
    dataset: DatasetArgument,
    lead: str = typer.Option(..., "--as", metavar="LEAD", help="The lead who settles."),
    policy: str | None = typer.Option(
        None,
        metavar="median|lower|higher",
        help="Which of the grades to settle at; the median of two grades is the lower one.",
    ),
    rationale: str | None = typer.Option(None, metavar="TEXT", help="Rationale, saved with every decision."),
    pairs: PairOptions = PairOptions(),
    undo: int | None = typer.Option(
        None, metavar="N", help="Undo the decisions of batch N that are still current."
    ),
    batches: bool = typer.Option(False, "--batches", help="List earlier batches."),
    dry_run: DryRunOption = False,
    console: Console = Console(),
) -> None:
    """Settle in bulk the grades one apart with the same relevance (same side of the relevance threshold)."""
    from annotator.adjudication.bulk.bulk_service import (
        list_batches,
        preview_policy,
        settle_by_policy,
        undo_batch,
    )
    from annotator.adjudication.impact.impact_service import bring_up_to_date

    _check_use(policy=policy, undo=undo, batches=batches, dry_run=dry_run)
    opened, actor = open_as(console.database, lead, figures_of=dataset)
    if batches:
        made = list_batches(opened, actor, dataset)
        console.show_records(made, BATCH_COLUMNS, empty="No pairs have been settled in bulk.")
        return
    if undo is not None:
        undone = undo_batch(opened, actor, dataset, undo, rationale=rationale or "", now=now())
        console.show(
            undone,
            f"Undid {count_of(undone.withdrawn, 'decision')} of batch {undo}; "
            f"{count_of(undone.left, 'pair keeps its newer decision', 'pairs keep their newer decision')}.",
        )
        return
    wanted = _read_filter("open", pairs)
    bring_up_to_date(opened, dataset, report_progress=_make_progress_bar())
    preview = preview_policy(opened, actor, dataset, policy or "", wanted, now=now())
    if dry_run:
        if not console.show_json(preview):
            _show_preview(preview)
        return
    settled = settle_by_policy(
        opened,
        actor,
        dataset,
        preview.policy,
        wanted,
        rationale=rationale or "",
        seen_digest=preview.digest,
        now=now(),
    )
    if console.show_json(settled):
        return
    _show_preview(preview)
    typer.echo(
        f"Settled as batch {settled.number}. To undo it, run: annotator settle {dataset} --undo {settled.number} --as {lead}"
    )


def _check_use(*, policy: str | None, undo: int | None, batches: bool, dry_run: bool) -> None:
    from annotator.domain.errors import ValidationError

    if (policy is not None) + (undo is not None) + batches != 1:
        raise ValidationError("Give exactly one of --policy, --undo and --batches.")
    if dry_run and policy is None:
        raise ValidationError("--dry-run needs --policy.")


def _show_preview(preview: "PolicyPreview") -> None:
    typer.echo(f"{count_of(preview.pairs, 'pair', 'pairs')} to settle at {_name(preview.policy)}:")
    for count in preview.by_grades:
        typer.echo(
            f"- {count.low} against {count.high}: {count_of(count.pairs, 'pair gets', 'pairs get')} {count.grade}"
        )
    if preview.impact_sum is not None and preview.impact_mean is not None:
        typer.echo(
            f"- change of nDCG on the pair's query, for the most affected system: {show_figure(preview.impact_mean)} on average, "
            f"{show_figure(preview.impact_sum)} in total; {preview.flips:,} could change the ranking of two systems"
        )
    for left in preview.left_out:
        typer.echo(f"- {count_of(left.pairs, 'pair stays', 'pairs stay')} open: {left.why}")


def _name(policy: str) -> str:
    from annotator.adjudication.bulk.policies import POLICY_NAMES

    return POLICY_NAMES[policy]
