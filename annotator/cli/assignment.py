"""`annotator assign` and `annotator reassign`: who judges which queries, and who waits on whom."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_as,
    print_json,
    print_table,
    read_bytes,
)
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.labeling.assignment_service import Standing, WaitingPerson, WaitingQuery


def assign(
    dataset: DatasetArgument,
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="USER", help="Give the queries to them; repeatable.")
    ] = None,
    from_: Annotated[
        list[str] | None, typer.Option("--from", metavar="USER", help="Take them back; repeatable.")
    ] = None,
    queries: Annotated[
        str | None, typer.Option(metavar="FILE|IDS", help="A file with an id per line, or ids with commas.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="The queries of this category.")] = None,
    language: Annotated[str | None, typer.Option(help="The queries in this language.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show who waits on whom; changes nothing.")] = False,
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Give queries to people (--to), take them back (--from), or show who waits on whom (--list)."""
    from annotator.labeling import assignment_service

    if bool(to) + bool(from_) + list_ != 1:
        raise typer.BadParameter("expected one of --to, --from and --list; see --help")
    opened, actor = open_as(database, as_)
    if list_:
        _show(assignment_service.show_assignment(opened, actor, dataset, now=now()), dataset, json=json)
        return
    chosen = assignment_service.Selection(
        query_ids=None if queries is None else _read_ids(queries), category=category, language=language
    )
    act = assignment_service.assign if to else assignment_service.take_back
    done = act(opened, actor, dataset, to or from_ or [], chosen, now=now())
    if json:
        print_json(done)
        return
    verb = "Gave" if to else "Took back"
    typer.echo(f"{verb} {count_of(done.queries, 'query', 'queries')}: {', '.join(done.people)}.")
    if done.leases:
        typer.echo(f"{count_of(done.leases, 'pair', 'pairs')} in others' hands went back to the pool.")


def reassign(
    dataset: DatasetArgument,
    from_: Annotated[str, typer.Option("--from", metavar="USER", help="Who leaves.")],
    to: Annotated[str, typer.Option("--to", metavar="USER", help="Who goes on.")],
    as_: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Hand every query given to one person on to another, and free the pairs they hold. What was judged stays."""
    from annotator.labeling.assignment_service import reassign as hand_on

    opened, actor = open_as(database, as_)
    done = hand_on(opened, actor, dataset, leaver=from_, to=to, now=now())
    if json:
        print_json(done)
        return
    typer.echo(
        f"{count_of(done.queries, 'query goes', 'queries go')} from {done.leaver} to {done.to} "
        f"({done.shared:,} of them shared before); {count_of(done.leases, 'pair', 'pairs')} in hand freed."
    )


def _read_ids(found: str) -> tuple[str, ...]:
    """Of a file with an id per line, or of `Q1,Q2`."""
    from annotator.domain.errors import FormatError

    if not Path(found).is_file():
        return tuple(name.strip() for name in found.split(",") if name.strip())
    try:
        lines = read_bytes(Path(found)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(found, None, "UTF-8", "other bytes") from None
    return tuple(line.strip() for line in lines if line.strip())


def _show(found: "Standing", dataset: str, *, json: bool) -> None:
    if json:
        print_json({"dataset": dataset, "at": now(), **asdict(found), "rules": str(found.rules)})
        return
    typer.echo(found.rules)
    typer.echo(f"{found.judgments.done:,} of {count_of(found.judgments.total, 'judgment')} given.")
    if found.stuck:
        stuck = count_of(found.stuck, "pair", "pairs")
        typer.echo(f"{stuck} lack more judgments than there are people who may give them.")
    typer.echo("")
    print_table(
        ("person", "judges", "given", "queries left", "pairs left", "holds", "for"),
        [_describe(person) for person in found.people],
        empty=f"Nobody yet: annotator people add USER --dataset {dataset}",
    )
    typer.echo("")
    print_table(
        ("query", "category", "language", "open", "begun", "stuck", "given to", "waits for"),
        [_describe_query(query) for query in found.queries],
        empty="No pair lacks a judgment.",
    )


def _describe(person: "WaitingPerson") -> tuple[object, ...]:
    known = "; ".join(", ".join(names) for names in (person.categories, person.languages) if names)
    state = "" if person.works else " (disabled)" if person.disabled else " (does not label)"
    since = f"{person.held_seconds // 60:,} min" if person.held_seconds is not None else ""
    shown = (person.queries, person.open_queries, person.pairs, person.holds)
    return (person.username + state, known or "all", *shown, since)


def _describe_query(query: "WaitingQuery") -> tuple[object, ...]:
    waits = ", ".join(f"{name} ({pairs:,})" for name, pairs in query.waits_for.items())
    numbers = (query.open_pairs, query.begun_pairs, query.stuck)
    given = ", ".join(query.given_to)
    return (query.query_id, query.category, query.language, *numbers, given, waits or "nobody")
