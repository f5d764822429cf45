"""Run `annotator release …`: check the gates, publish, list, compare, trace a qrel, verify a folder."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotator.cli.terminal import (
    CommandGroup,
    Console,
    DatasetArgument,
    JsonOption,
    now,
    open_database,
    print_json,
    print_table,
    resolve_actor,
)
from annotator.domain.figures import show_beside
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotator.releases.records import QrelTrace, ReleaseDiff, ReleaseGate
    from annotator.storage.database import Database

app = CommandGroup(help="Releases: gates, publishing, comparison, verification.", no_args_is_help=True)

COMMANDS = {
    "kappa": "annotator agreement {dataset}",
    "disagreements": "annotator disagreements {dataset}; annotator adjudicate {dataset} FILE --as LEAD",
    "overlap": "annotator assign {dataset} --list",
    "quality_control": "annotator qc draw {dataset} --annotator USER",
    "coverage": "annotator dataset set {dataset} requirements=nablarch|law|FILE",
    "unjudged_queries": "annotator progress {dataset}; annotator pool {dataset} --depth K",
    "relevant": "annotator pool {dataset} --depth K",
    "stale": "annotator adjudicate {dataset} FILE --as LEAD",
    "ids": "annotator remap {dataset} FILE [--queries]",
}
"""The commands for the work that an unmet gate needs."""


@app.command()
def check(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Check which gates a release would meet now. Exit code 3 if one is not met."""
    from annotator.domain.errors import GateNotMet
    from annotator.domain.people import OPERATOR
    from annotator.releases.gates import explain
    from annotator.releases.gates_service import check_release

    opened, _ = _open(console.database)
    release_check = check_release(opened, OPERATOR, dataset)
    if not console.show_json({"version": release_check.version, "gates": release_check.gates}):
        _print_gates(release_check.gates, dataset)
    missing = explain(release_check.gates)
    if missing:
        raise GateNotMet(missing)


@app.command()
def publish(
    dataset: DatasetArgument,
    version: str = typer.Argument(..., help="MAJOR.MINOR.PATCH.", metavar="VERSION"),
    lead: str = typer.Option(..., "--as", metavar="LEAD", help="The lead who publishes."),
    note: str = typer.Option("", help="Purpose of this release; kept in its manifest."),
    override: list[str] | None = typer.Option(
        None, metavar="GATE=REASON", help="Override a gate that is not met, with a reason. Repeatable."
    ),
    sign: Path | None = typer.Option(
        None, metavar="KEYFILE", help="Sign SHA256SUMS with this OpenSSH key, by ssh-keygen."
    ),
    console: Console = Console(),
) -> None:
    """Publish all settled pairs as a new folder in the exports folder (ANNOTATOR_EXPORTS_DIR).

    With SOURCE_DATE_EPOCH set, the release has that time.
    """
    from annotator.releases.service import publish_release

    overrides = _read_overrides(override or [])
    opened, exports_dir = _open(console.database)
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
        typer.echo(f"{name} is met: its override is not needed and was not kept.", err=True)
    console.show(
        made, f"Published {made.dataset} {made.version}: {count_of(made.qrels, 'qrel')} in {made.path}"
    )


@app.command("list")
def list_(dataset: DatasetArgument, console: Console = Console()) -> None:
    """List the releases of a dataset, and whether their files are unchanged."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.files_service import list_releases

    opened, exports_dir = _open(console.database)
    releases = list_releases(opened, OPERATOR, dataset, exports_dir=exports_dir)
    columns = ("version", "created_at", "published_by", "qrels", "folder", "path", "note")
    empty = "No releases yet. Next: annotator release check DATASET"
    console.show_records(releases, dict(zip(columns, columns, strict=True)), empty=empty)


@app.command()
def diff(
    dataset: DatasetArgument,
    before: str = typer.Argument(..., help="The older version.", metavar="V1"),
    after: str = typer.Argument(..., help="The newer version.", metavar="V2"),
    console: Console = Console(),
) -> None:
    """Show what a release changed (grades with reasons, queries, texts) and the recommended version step."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.published_service import compare_releases

    opened, _ = _open(console.database)
    release_diff = compare_releases(opened, OPERATOR, dataset, before, after, now=now())
    if not console.show_json(release_diff):
        _print_diff(release_diff)


@app.command()
def trace(
    dataset: DatasetArgument,
    version: str = typer.Argument(..., help="A published version.", metavar="VERSION"),
    query_id: str = typer.Argument(..., help="The query's id.", metavar="QUERY_ID"),
    doc_id: str = typer.Argument(..., help="The document's id, as published.", metavar="DOC_ID"),
    console: Console = Console(),
) -> None:
    """Show the basis of a published grade: judgments, notes, guideline versions, the decision and its rationale."""
    from annotator.domain.people import OPERATOR
    from annotator.releases.published_service import trace_qrel

    opened, _ = _open(console.database)
    qrel_trace = trace_qrel(opened, OPERATOR, dataset, version, query_id, doc_id, now=now())
    if not console.show_json(qrel_trace):
        _print_trace(qrel_trace)


@app.command()
def verify(
    path: Path = typer.Argument(..., help="A release's folder.", metavar="PATH"),
    signed_by: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="A public key, or OpenSSH's file of allowed signers: require a signature of one of them.",
    ),
    json: JsonOption = False,
) -> None:
    """Verify a release's folder by itself: checksums, files, qrels against judgments, agreement. Exit code 3 if it has changed."""
    from dataclasses import asdict

    from annotator.domain.errors import GateNotMet
    from annotator.releases.files_service import verify_release

    verification = verify_release(path, signers=signed_by)
    named = f"{verification.dataset} {verification.version}"
    if json:
        print_json({"whole": verification.whole, **asdict(verification)})
    elif verification.whole:
        typer.echo(
            f"{named}: files verified, unchanged ({count_of(verification.files, 'file')}, content {verification.content_sha256})."
        )
        if verification.signed_by is not None:
            typer.echo(f"Signed by {verification.signed_by}.")
        for sentence in verification.unproven:
            typer.echo(f"Not proven: {sentence}.")
    if not verification.whole:
        faults = [
            f"- {fault.path}: expected {fault.expected}, found {fault.found}" for fault in verification.faults
        ]
        raise GateNotMet("\n".join([f"{named} has changed since it was published:", *faults]))


def _open(url: str | None) -> "tuple[Database, Path]":
    """Return the database and the exports folder, after finishing an interrupted publish."""
    from annotator.releases.service import finish_publishing
    from annotator.settings import Settings

    database, exports_dir = open_database(url), Settings().exports_dir
    for finished in finish_publishing(database, exports_dir=exports_dir, now=now()):
        typer.echo(f"Finished an interrupted publish: {finished}", err=True)
    return database, exports_dir


def _release_time() -> datetime:
    """Return SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/), else the current time."""
    from annotator.domain.errors import ValidationError

    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        return now()
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValidationError(f"SOURCE_DATE_EPOCH: expected seconds since 1970, found {seconds!r}") from None


def _read_overrides(given: list[str]) -> dict[str, str]:
    overrides: dict[str, str] = {}
    for item in given:
        gate, equals, reason = item.partition("=")
        if not equals or gate in overrides:
            raise typer.BadParameter(
                f"expected each GATE=REASON once, found {item!r}", param_hint="--override"
            )
        overrides[gate] = reason
    return overrides


def _print_gates(gates: "Iterable[ReleaseGate]", dataset: str) -> None:
    rows: list[tuple[Any, ...]] = [
        (gate.name, *_show_sides(gate), "yes" if gate.met else "no", _describe_work(gate, dataset))
        for gate in gates
    ]
    print_table(("gate", "required", "measured", "met", "work"), rows, empty="")


def _describe_work(gate: "ReleaseGate", dataset: str) -> str | None:
    command = COMMANDS.get(gate.name)
    if command is None or (gate.met and gate.required):
        return gate.why
    return f"{gate.why or ''} ({command.format(dataset=dataset)})" if gate.why else None


def _show_sides(gate: "ReleaseGate") -> tuple[Any, Any]:
    required, measured = gate.required, gate.measured
    if isinstance(required, float) and isinstance(measured, float):
        shown = show_beside(measured, required)
        return shown[1], shown[0]
    return required, measured


def _print_diff(release_diff: "ReleaseDiff") -> None:
    typer.echo(f"{release_diff.dataset} {release_diff.before} to {release_diff.after}")
    typer.echo(release_diff.describe_advice().replace("**", ""))
    if release_diff.scale_changed:
        typer.echo("The scale changed.")
    for sign, query_ids in (("+", release_diff.queries_added), ("-", release_diff.queries_removed)):
        for query_id in query_ids:
            typer.echo(f"{sign} query {query_id} ({count_of(release_diff.whole.get(query_id, 0), 'qrel')})")
    for query_id, old, new in release_diff.texts_changed:
        typer.echo(f"~ query {query_id}: {_quote(old)} is now {_quote(new)}")
    rows = [
        (item.kind, item.query_id, item.doc_id, item.old_doc_id, item.old, item.new, item.reason)
        for item in release_diff.changes
    ]
    if rows:
        print_table(("change", "query_id", "doc_id", "was", "old", "new", "reason"), rows, empty="")


def _print_trace(qrel_trace: "QrelTrace") -> None:
    typer.echo(f"{qrel_trace.dataset} {qrel_trace.version}: grade {qrel_trace.grade}, {qrel_trace.origin}")
    typer.echo(
        f"query     {qrel_trace.query_id}  {'' if qrel_trace.query is None else _quote(qrel_trace.query)}".rstrip()
    )
    typer.echo(f"document  {qrel_trace.doc_id}")
    rows = [
        (
            item.judged_at,
            f"{item.annotator} (simulated)" if item.simulated else item.annotator,
            item.outcome if item.grade is None else item.grade,
            item.guideline_version,
            item.purpose,
            item.note,
        )
        for item in qrel_trace.judgments
    ]
    columns = ("judged_at", "annotator", "grade", "guideline", "purpose", "note")
    print_table(columns, rows, empty="No judgment made here.")
    if qrel_trace.adjudication is not None:
        decision = qrel_trace.adjudication
        typer.echo(
            f"decided   {decision.decided_at:%Y-%m-%d} by {decision.lead}, guideline {decision.guideline_version}:"
        )
        reason = f" ({decision.reason})" if decision.reason else ""
        typer.echo(f"          grade {decision.grade}, {_quote(decision.rationale)}{reason}")
    if qrel_trace.imported is not None:
        source = ", ".join(f"{key} {value}" for key, value in qrel_trace.imported.source.items())
        typer.echo(f"imported  grade {qrel_trace.imported.grade}: {source}")
    if not qrel_trace.complete:
        typer.echo(
            "This release does not record the basis of each qrel. Shown are the judgments up to that time.",
            err=True,
        )


def _quote(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
