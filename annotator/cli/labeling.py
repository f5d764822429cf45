"""Run `annotator judgments`, `progress`, `assign`, `reassign` and `calibrate …`: assignments and progress.

`calibrate …` marks pairs as training or gold, and shows each annotator's results.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import (
    CommandGroup,
    Console,
    DatasetArgument,
    DryRunOption,
    LeadConsole,
    now,
    print_json,
    print_table,
    read_bytes,
)
from annotator.domain.figures import show_number, show_percent
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.labeling.assignment import AssignmentStatus, WaitingPerson, WaitingQuery


COLUMNS = (
    "event_id",
    "query_id",
    "doc_id",
    "annotator",
    "outcome",
    "grade",
    "note",
    "judged_at",
    "seconds",
    "guideline_version",
    "reason",
)


def judgments(
    dataset: DatasetArgument,
    history: bool = typer.Option(False, "--history", help="All judgments, not only the current ones."),
    console: Console = Console(),
) -> None:
    """List every current judgment."""
    from annotator.labeling.service import list_judgments

    records = list_judgments(console.open(), OPERATOR, dataset, history=history)
    columns = (*COLUMNS, "purpose") if history else COLUMNS
    rows = [
        {**{name: getattr(item, name) for name in columns}, "simulated": item.simulated} for item in records
    ]
    shown = COLUMNS[1:8]
    console.show_table(
        rows,
        shown,
        ([row[name] for name in shown] for row in rows),
        empty="No judgments yet. Annotators label in the browser. Next: annotator serve",
    )


def progress(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Show who has judged what, and what is left."""
    from annotator.labeling.service import compute_progress, list_work_progress

    opened, at = console.open(), now()
    progress = compute_progress(opened, OPERATOR, dataset)
    work = list_work_progress(opened, OPERATOR, dataset, now=at)
    if console.json:
        people = [
            {**asdict(person), "left": work[person.annotator].left if person.annotator in work else 0}
            for person in progress.annotators
        ]
        print_json({"dataset": dataset, "at": at, **asdict(progress), "annotators": people})
        return
    judged = "as often as needed" if progress.uneven else f"by {progress.overlap}"
    typer.echo(
        f"{progress.complete:,} of {count_of(progress.pairs, 'pair')} judged {judged}; {progress.begun} begun, "
        f"{progress.pairs - progress.complete - progress.begun} untouched.\n"
        + (
            count_of(
                progress.checks,
                "unjudged pair only checks annotators and is not counted.\n",
                "unjudged pairs only check annotators and are not counted.\n",
            )
            if progress.checks
            else ""
        )
    )
    print_table(
        ("annotator", "judged", "cannot rate", "later", "pairs left", "last"),
        [
            (
                item.annotator + (" (simulated)" if item.simulated else ""),
                item.judged,
                item.unrateable,
                item.later,
                work[item.annotator].left if item.annotator in work else 0,
                item.last_judged_at,
            )
            for item in progress.annotators
        ],
        empty="No annotators yet. Next: annotator people add USER --dataset " + dataset,
    )
    typer.echo("")
    print_table(
        ("query", "category", "pairs", "complete", "begun"),
        [(item.query_id, item.category, item.pairs, item.complete, item.begun) for item in progress.queries],
        empty="No queries yet. Next: annotator import queries " + dataset + " FILE",
    )


def assign(
    dataset: DatasetArgument,
    to: list[str] | None = typer.Option(
        None, metavar="USER", help="Assign the queries to this person; repeatable."
    ),
    from_: list[str] | None = typer.Option(
        None, "--from", metavar="USER", help="Unassign the queries from this person; repeatable."
    ),
    queries: str | None = typer.Option(
        None, metavar="FILE|IDS", help="A file with one id per line, or ids separated by commas."
    ),
    category: str | None = typer.Option(None, help="The queries of this category."),
    language: str | None = typer.Option(None, help="The queries in this language."),
    list_: bool = typer.Option(
        False, "--list", help="Show the work left and whom it waits for; changes nothing."
    ),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Assign queries to people (--to), unassign them (--from), or show the work left (--list)."""
    from annotator.labeling import assignment_service
    from annotator.labeling.assignment import QuerySelection

    if bool(to) + bool(from_) + list_ != 1:
        raise typer.BadParameter("expected one of --to, --from and --list; see --help")
    opened, actor = console.open_as()
    if list_:
        _show(assignment_service.show_assignment(opened, actor, dataset, now=now()), dataset, console)
        return
    chosen = QuerySelection(
        query_ids=None if queries is None else _read_ids(queries), category=category, language=language
    )
    act = assignment_service.assign if to else assignment_service.take_back
    done = act(opened, actor, dataset, to or from_ or [], chosen, now=now())
    if console.show_json(done):
        return
    verb = "Assigned" if to else "Unassigned"
    typer.echo(f"{verb} {count_of(done.queries, 'query', 'queries')}: {', '.join(done.people)}.")
    if done.leases:
        typer.echo(f"{count_of(done.leases, 'pair', 'pairs')} others had in progress went back to the pool.")


def reassign(
    dataset: DatasetArgument,
    from_: str = typer.Option(..., "--from", metavar="USER", help="The person who leaves."),
    to: str = typer.Option(..., metavar="USER", help="The person who takes over."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Reassign all queries of one person to another, and free the pairs in progress. Judgments stay."""
    from annotator.labeling.assignment_service import reassign as hand_on

    opened, actor = console.open_as()
    done = hand_on(opened, actor, dataset, leaver=from_, to=to, now=now())
    console.show(
        done,
        f"{count_of(done.queries, 'query goes', 'queries go')} from {done.leaver} to {done.to} "
        f"({done.shared:,} of them shared before); {count_of(done.leases, 'pair', 'pairs')} in progress freed.",
    )


def _read_ids(listed: str) -> tuple[str, ...]:
    """Return the ids of a file with one id per line, or of a list such as `Q1,Q2`."""
    from annotator.domain.errors import FormatError

    if not Path(listed).is_file():
        return tuple(name.strip() for name in listed.split(",") if name.strip())
    try:
        lines = read_bytes(Path(listed)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(listed, None, "UTF-8", "other bytes") from None
    return tuple(line.strip() for line in lines if line.strip())


def _show(status: "AssignmentStatus", dataset: str, console: LeadConsole) -> None:
    if console.json:
        print_json({"dataset": dataset, "at": now(), **asdict(status), "rules": str(status.rules)})
        return
    typer.echo(status.rules)
    typer.echo(f"{status.judgments.done:,} of {count_of(status.judgments.total, 'judgment')} done.")
    if status.stuck:
        stuck = count_of(status.stuck, "pair cannot be finished", "pairs cannot be finished")
        typer.echo(f"{stuck}: too few people can judge {'it' if status.stuck == 1 else 'them'}.")
    typer.echo("")
    print_table(
        ("person", "judges", "assigned", "queries left", "pairs left", "in progress", "for"),
        [_describe(person) for person in status.people],
        empty=f"Nobody yet. Next: annotator people add USER --dataset {dataset}",
    )
    typer.echo("")
    print_table(
        ("query", "category", "language", "open", "begun", "stuck", "assigned to", "waiting for"),
        [_describe_query(query) for query in status.queries],
        empty="No pairs left to judge.",
    )


def _describe(person: "WaitingPerson") -> tuple[object, ...]:
    expertise = "; ".join(", ".join(names) for names in (person.categories, person.languages) if names)
    state = "" if person.works else " (disabled)" if person.disabled else " (does not label)"
    since = f"{person.held_seconds // 60:,} min" if person.held_seconds is not None else ""
    shown = (person.queries, person.open_queries, person.pairs, person.holds)
    return (person.username + state, expertise or "all", *shown, since)


def _describe_query(query: "WaitingQuery") -> tuple[object, ...]:
    waits = ", ".join(f"{name} ({pairs:,})" for name, pairs in query.waits_for.items())
    numbers = (query.open_pairs, query.begun_pairs, query.stuck)
    assignees = ", ".join(query.given_to)
    return (query.query_id, query.category, query.language, *numbers, assignees, waits or "nobody")


app = CommandGroup(help="Training and gold pairs, and their results.", no_args_is_help=True)


@app.command()
def mark(
    dataset: DatasetArgument,
    file: Path = typer.Argument(..., metavar="FILE", help="CSV: query_id,doc_id,kind,grade,explanation."),
    dry_run: DryRunOption = False,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Mark pairs as training or gold: all lines of the file, or none."""
    from annotator.labeling.calibration_service import import_checks

    opened, actor = console.open_as()
    done = import_checks(opened, actor, dataset, read_bytes(file), str(file), now=now(), dry_run=dry_run)
    verb = "Would mark" if dry_run else "Marked"
    console.show(
        done,
        f"{verb} {count_of(done.added, 'new pair')} and changed {done.changed}; {done.unchanged} unchanged.",
    )


@app.command()
def unmark(
    dataset: DatasetArgument,
    query_id: str = typer.Argument(..., help="The pair's query.", metavar="QUERY_ID"),
    doc_id: str = typer.Argument(..., help="The pair's document.", metavar="DOC_ID"),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Remove the mark of a pair. It goes back to normal labeling, except for those who judged it."""
    from annotator.domain.errors import NotFound
    from annotator.labeling.calibration_service import list_checks, remove_check

    opened, actor = console.open_as()
    checks = {
        (check.query_id, check.doc_id): check for check in list_checks(opened, OPERATOR, dataset, now=now())
    }
    check = checks.get((query_id, doc_id))
    if check is None:
        raise NotFound(
            f"{query_id} {doc_id} is not marked. To list marked pairs: annotator calibrate list {dataset}"
        )
    remove_check(opened, actor, dataset, check.pair, now=now())
    console.show(
        {"query_id": query_id, "doc_id": doc_id, "kind": check.kind},
        f"Mark removed: {query_id} {doc_id} is back in normal labeling.",
    )


@app.command("list")
def list_(dataset: DatasetArgument, console: Console = Console()) -> None:
    """List the marked pairs."""
    from annotator.labeling.calibration_service import list_checks

    checks = list_checks(console.open(), OPERATOR, dataset, now=now())
    columns = ("query_id", "doc_id", "kind", "grade", "answered", "explanation", "marked_by")
    empty = f"No pairs are marked. Next: annotator calibrate mark {dataset} FILE"
    console.show_records(checks, dict(zip(columns, columns, strict=True)), empty=empty)


@app.command()
def results(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Show the results of training, gold pairs and repeats for each annotator, sorted by name."""
    from annotator.labeling.calibration_service import compute_results

    results = compute_results(console.open(), OPERATOR, dataset, now=now())
    rows = [
        (
            result.annotator,
            f"{result.training.done}/{result.training.total}" if result.training else "",
            _share(result.training.first) if result.training else "",
            _share(result.training.latest) if result.training else "",
            result.gold.answered,
            _share(result.gold.exact),
            "" if result.gold.difference is None else show_number(result.gold.difference, 2, signed=True),
            result.repeats.n,
            _share(result.repeats.equal),
            "" if result.repeats.difference is None else show_number(result.repeats.difference, 2),
        )
        for result in results
    ]
    columns = (
        "annotator",
        "training",
        "first",
        "latest",
        "gold",
        "exact",
        "signed",
        "repeats",
        "equal",
        "distance",
    )
    console.show_table(results, columns, rows, empty="No check results yet.")


def _share(value: float | None) -> str:
    return "" if value is None else show_percent(value, 0)
