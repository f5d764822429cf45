"""`annotator release …`: check the gates, publish, list, compare, trace a qrel, verify a folder."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.terminal import (
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
    resolve_actor,
)
from annotator.domain.messages import count_of, show_beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotator.releases.gates import ReleaseGate
    from annotator.releases.published_service import QrelTrace, ReleaseDiff
    from annotator.storage.database import Database

app = typer.Typer(help="Releases: gates, publishing, comparison, verification.", no_args_is_help=True)

VersionArgument = Annotated[str, typer.Argument(help="A published version.", metavar="VERSION")]


@app.command()
def check(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Say which gates a release would meet now. Exit 3 while one is not met."""
    from annotator.domain.errors import GateNotMet
    from annotator.domain.people import OPERATOR
    from annotator.releases.service import check_release, explain_check

    opened, _ = _open(database)
    found = check_release(opened, OPERATOR, dataset)
    if json:
        print_json({"version": found.version, "gates": found.gates})
    else:
        _print_gates(found.gates)
    missing = explain_check(found)
    if missing:
        raise GateNotMet(missing)


@app.command()
def publish(
    dataset: DatasetArgument,
    version: Annotated[str, typer.Argument(help="MAJOR.MINOR.PATCH.", metavar="VERSION")],
    lead: Annotated[str, typer.Option("--as", metavar="LEAD", help="The lead who publishes.")],
    note: Annotated[str, typer.Option(help="What this release is for; kept in its manifest.")] = "",
    override: Annotated[
        list[str] | None,
        typer.Option(metavar="GATE=REASON", help="Publish although this gate is not met. Repeatable."),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            "--sign", metavar="KEYFILE", help="Sign SHA256SUMS with this OpenSSH key, by ssh-keygen."
        ),
    ] = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Freeze what is settled into a new folder below the exports folder (ANNOTATOR_EXPORTS_DIR).

    With SOURCE_DATE_EPOCH set, the release bears that time.
    """
    from annotator.releases.service import publish_release

    overrides = _read_overrides(override or [])
    opened, exports_dir = _open(database)
    made = publish_release(
        opened,
        resolve_actor(opened, lead),
        dataset,
        version,
        exports_dir=exports_dir,
        now=_release_time(),
        note=note,
        overrides=overrides,
        sign_with=sign,
    )
    for name in sorted(set(overrides) - set(made.overridden)):
        typer.echo(f"{name} is met: its override was not needed and is not kept.", err=True)
    if json:
        print_json(made)
        return
    typer.echo(f"Published {made.dataset} {made.version}: {count_of(made.qrels, 'qrel')} in {made.path}")


@app.command("list")
def list_(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """List the releases of a dataset, and whether their folders are whole."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.service import list_releases

    opened, exports_dir = _open(database)
    found = list_releases(opened, OPERATOR, dataset, exports_dir=exports_dir)
    if json:
        print_json(found)
        return
    rows = [
        (item.version, item.created_at, item.published_by, item.qrels, item.folder, item.path, item.note)
        for item in found
    ]
    columns = ("version", "created_at", "published_by", "qrels", "folder", "path", "note")
    print_table(columns, rows, empty="No release yet. See what one needs: annotator release check DATASET")


@app.command()
def diff(
    dataset: DatasetArgument,
    before: Annotated[str, typer.Argument(help="The older version.", metavar="V1")],
    after: Annotated[str, typer.Argument(help="The newer version.", metavar="V2")],
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Say what a release changed: every grade with its reason, queries, texts; and which version that calls for."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.published_service import compare_releases

    opened, _ = _open(database)
    found = compare_releases(opened, OPERATOR, dataset, before, after, now=now())
    if json:
        print_json(found)
    else:
        _print_diff(found)


@app.command()
def trace(
    dataset: DatasetArgument,
    version: VersionArgument,
    query_id: Annotated[str, typer.Argument(help="The query's id.", metavar="QUERY_ID")],
    doc_id: Annotated[str, typer.Argument(help="The document's id, as published.", metavar="DOC_ID")],
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a published grade rests on: judgments, notes, guideline versions, the decision and its rationale."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.published_service import trace_qrel

    opened, _ = _open(database)
    found = trace_qrel(opened, OPERATOR, dataset, version, query_id, doc_id, now=now())
    if json:
        print_json(found)
    else:
        _print_trace(found)


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="A release's folder.", metavar="PATH")],
    signed_by: Annotated[
        Path | None,
        typer.Option(
            "--signed-by",
            metavar="FILE",
            help="A public key, or OpenSSH's file of allowed signers: require a signature of one of them.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Verify a release's folder by itself: checksums, files, qrels against judgments, agreement. Exit 3 if changed."""
    from dataclasses import asdict

    from annotator.domain.errors import GateNotMet
    from annotator.releases.service import verify_release

    found = verify_release(path, signers=signed_by)
    named = f"{found.dataset} {found.version}"
    if json:
        print_json({"whole": found.whole, **asdict(found)})
    elif found.whole:
        typer.echo(f"{named} is whole: {count_of(found.files, 'file')}, content {found.content_sha256}")
        if found.signed_by is not None:
            typer.echo(f"Signed by {found.signed_by}.")
        for sentence in found.unproven:
            typer.echo(f"Not proven: {sentence}.")
    if not found.whole:
        faults = [f"- {fault.path}: expected {fault.expected}, found {fault.found}" for fault in found.faults]
        raise GateNotMet("\n".join([f"{named} is not as it was published:", *faults]))


def _open(url: str | None) -> "tuple[Database, Path]":
    """The database and the exports folder, after finishing what a killed publish left half done."""
    from annotator.releases.service import finish_publishing
    from annotator.settings import Settings

    database, exports_dir = open_database(url), Settings().exports_dir
    for finished in finish_publishing(database, exports_dir=exports_dir, now=now()):
        typer.echo(f"Put in place what an interrupted publish had recorded: {finished}", err=True)
    return database, exports_dir


def _release_time() -> datetime:
    """The present, or SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/)."""
    from annotator.domain.errors import ValidationError

    found = os.environ.get("SOURCE_DATE_EPOCH")
    if not found:
        return now()
    try:
        return datetime.fromtimestamp(int(found), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValidationError(f"SOURCE_DATE_EPOCH: expected seconds since 1970, found {found!r}") from None


def _read_overrides(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in given:
        gate, equals, reason = item.partition("=")
        if not equals or gate in found:
            raise typer.BadParameter(
                f"expected each GATE=REASON once, found {item!r}", param_hint="--override"
            )
        found[gate] = reason
    return found


def _print_gates(gates: "Iterable[ReleaseGate]") -> None:
    rows: list[tuple[Any, ...]] = [
        (gate.name, *_show_sides(gate), "yes" if gate.met else "no", gate.why) for gate in gates
    ]
    print_table(("gate", "required", "measured", "met", "work"), rows, empty="")


def _show_sides(gate: "ReleaseGate") -> tuple[Any, Any]:
    """What is required and what was measured, with as many digits as it takes to tell them apart."""
    required, measured = gate.required, gate.measured
    if isinstance(required, float) and isinstance(measured, float):
        shown = show_beside(measured, required)
        return shown[1], shown[0]
    return required, measured


def _print_diff(found: "ReleaseDiff") -> None:
    """Everything that differs, one line each, after the version it calls for."""
    from annotator.releases.published_service import say_advice

    typer.echo(f"{found.dataset} {found.before} to {found.after}")
    typer.echo(say_advice(found).replace("**", ""))
    if found.scale_changed:
        typer.echo("The scale changed.")
    for sign, query_ids in (("+", found.queries_added), ("-", found.queries_removed)):
        for query_id in query_ids:
            typer.echo(f"{sign} query {query_id} ({count_of(found.whole.get(query_id, 0), 'qrel')})")
    for query_id, old, new in found.texts_changed:
        typer.echo(f"~ query {query_id}: {_quote(old)} is now {_quote(new)}")
    rows = [
        (item.kind, item.query_id, item.doc_id, item.old_doc_id, item.old, item.new, item.reason)
        for item in found.changes
    ]
    if rows:
        print_table(("change", "query_id", "doc_id", "was", "old", "new", "reason"), rows, empty="")


def _print_trace(found: "QrelTrace") -> None:
    typer.echo(f"{found.dataset} {found.version}: grade {found.grade}, {found.origin}")
    typer.echo(f"query     {found.query_id}  {'' if found.query is None else _quote(found.query)}".rstrip())
    typer.echo(f"document  {found.doc_id}")
    rows = [
        (
            item.judged_at,
            f"{item.annotator} (simulated)" if item.simulated else item.annotator,
            item.outcome if item.grade is None else item.grade,
            item.guideline_version,
            item.purpose,
            item.note,
        )
        for item in found.judgments
    ]
    columns = ("judged_at", "annotator", "grade", "guideline", "purpose", "note")
    print_table(columns, rows, empty="No judgment made here.")
    if found.adjudication is not None:
        decision = found.adjudication
        typer.echo(
            f"decided   {decision.decided_at:%Y-%m-%d} by {decision.lead}, guideline {decision.guideline_version}:"
        )
        reason = f" ({decision.reason})" if decision.reason else ""
        typer.echo(f"          grade {decision.grade}, {_quote(decision.rationale)}{reason}")
    if found.imported is not None:
        source = ", ".join(f"{key} {value}" for key, value in found.imported.source.items())
        typer.echo(f"imported  grade {found.imported.grade}: {source}")
    if not found.complete:
        typer.echo(
            "This release was made before it was recorded what each qrel rests on: "
            "shown is what had been received until then.",
            err=True,
        )


def _quote(text: str) -> str:
    """A text in quotes on one line."""
    import json

    return json.dumps(text, ensure_ascii=False)
