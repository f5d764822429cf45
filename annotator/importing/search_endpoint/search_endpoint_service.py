"""Fetch a system's run from a live search endpoint, for a lead, and import it.

Sends the dataset's queries to the host of the spec, if the dataset allows that host (`search_hosts`), and to
no other. Every answer is stored in a run file at once; when all queries are answered, the file is imported as
by `import_run`. After an interruption the same call continues with the missing queries. Nothing is imported
if a query has failed, unless `allow_failures`; then the record of the import and the run list the failed
queries. Raises UnansweredQueries with every failed query and its reason. With `rules`, the server fetches for
a person in a browser; see `server_rules.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from annotator.dataset.service import read_search_hosts
from annotator.domain.errors import (
    BadInput,
    ConflictError,
    FormatError,
    NotAllowed,
    StateError,
    ValidationError,
)
from annotator.domain.figures import show_number
from annotator.domain.ground_truth import Query
from annotator.domain.messages import CommandWords, add_command, count_of, join_sentences, say, say_n
from annotator.domain.people import Actor
from annotator.importing.report import Progress, be_silent
from annotator.importing.runs.run_plan import check_options, check_system
from annotator.importing.runs.runs_service import FetchedFrom, StoredRun, find_run, import_run
from annotator.importing.search_endpoint.answer import AnswerRefused
from annotator.importing.search_endpoint.client import EndpointClient, RequestFailed
from annotator.importing.search_endpoint.endpoint_records import (
    EndpointSpec,
    FetchReport,
    UnansweredQuery,
)
from annotator.importing.search_endpoint.fetch import (
    MOST_IN_A_ROW,
    REPEATED,
    EndpointSearcher,
    FetchIdentity,
    FetchOutcome,
    SavedRun,
    fetch_answers,
    open_saved_run,
)
from annotator.importing.search_endpoint.request_template import (
    EndpointSecrets,
    list_missing_columns,
    take_secrets,
)
from annotator.importing.search_endpoint.server_rules import (
    ServerRules,
    list_usable_variables,
    name_host,
)
from annotator.importing.search_endpoint.spec import hash_spec, read_spec_file
from annotator.importing.texts.texts_sql import count_documents, list_stored_queries
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of

if TYPE_CHECKING:
    import httpx2

MOST_DEPTH = 10_000
PROGRESS_SECONDS = 2.0
SAMPLE = 10
MOST_NAME = 50  # characters of a system in the name of its run file


@dataclass(frozen=True, slots=True)
class FetchEnvironment:
    """Inputs of a fetch: monotonic seconds, a way to wait, variables. `transport`: the network of tests."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    variables: Mapping[str, str]
    transport: "httpx2.BaseTransport | None" = None


class UnansweredQueries(BadInput):
    """Queries without an answer; nothing was imported.

    `answered`: the number of stored answers, of `queries`; `stopped`: why the fetch ended before all were
    sent, None if all were.
    """

    def __init__(
        self,
        failed: Sequence[UnansweredQuery],
        *,
        path: str,
        answered: int,
        queries: int,
        stopped: str | None,
        hint: str,
    ) -> None:
        self.failed, self.answered, self.queries, self.stopped = tuple(failed), answered, queries, stopped
        super().__init__(
            [
                FormatError(
                    path,
                    None,
                    say("an answer to query {query_id}", query_id=repr(query.query_id)),
                    query.reason,
                )
                for query in failed
            ],
            hint=hint,
        )


@dataclass(frozen=True, slots=True)
class _Fetch:
    spec: EndpointSpec
    identity: FetchIdentity
    queries: Sequence[Query]
    secrets: EndpointSecrets
    stored: StoredRun | None
    keep_first: bool
    now: datetime
    environment: FetchEnvironment
    rules: ServerRules | None

    def open_client(self) -> EndpointClient:
        start = self.environment.clock()
        return EndpointClient(
            self.spec,
            self.secrets,
            clock=self.environment.clock,
            sleep=self.environment.sleep,
            today=lambda: self.now + timedelta(seconds=self.environment.clock() - start),
            transport=self.environment.transport,
        )


def fetch_run(
    database: Database,
    actor: Actor,
    dataset: str,
    spec: Path | EndpointSpec,
    *,
    system: str,
    depth: int,
    now: datetime,
    environment: FetchEnvironment,
    save: Path | None = None,
    allow_failures: bool = False,
    order: str = "score",
    duplicates: str = "refuse",
    dry_run: bool = False,
    rules: ServerRules | None = None,
    report_progress: Progress = be_silent,
) -> FetchReport:
    """Fetch the first `depth` results of every query and import them as the run of `system`.

    `spec`: a file, or the spec read from a text. `save`: the run file; by default `<system>.run.jsonl` in the
    working directory. `rules`: of a server that fetches for a person. `order`, `duplicates`: see
    `RunOptions`. With `dry_run` only the first query is sent, and nothing is written or stored. Raises
    ValidationError for a bad option, BadInput for a bad spec and for failed queries, NotAllowed for a host
    that the dataset does not allow.
    """
    check_options(order=order, duplicates=duplicates, skip_unknown_queries=False)
    if not 1 <= depth <= MOST_DEPTH:
        raise ValidationError(f"--depth: expected a whole number 1-{MOST_DEPTH}, found {depth}")
    spec, usable = read_spec_file(spec) if isinstance(spec, Path) else spec, environment.variables
    check_system(system)
    if rules is not None:
        rules.check_spec(spec, depth)
        usable = list_usable_variables(usable)
    host, queries, stored_run = _read_dataset(database, actor, dataset, spec, system, rules)
    identity = FetchIdentity(dataset, system, host, depth, hash_spec(spec))
    secrets, keep_first = take_secrets(spec, usable), duplicates == "first"
    fetch = _Fetch(spec, identity, queries, secrets, stored_run, keep_first, now, environment, rules)
    if dry_run:
        return _try_first_query(database, fetch)
    saved = open_saved_run(name_run_file(save, system), fetch.identity, fetch.queries)
    if rules is not None:
        saved.most_bytes = rules.most_file_bytes
    if fetch.stored is not None and not _is_same_run(fetch.stored, saved):
        raise ConflictError(
            f"the system {system!r} has another run in this dataset already; use another --system"
        )
    kept = len(saved.lines)
    outcome = _fetch_missing(fetch, saved, most_in_a_row=not allow_failures, report_progress=report_progress)
    _require_answers(fetch, saved, outcome, allow_failures=allow_failures)
    if outcome.failed:
        saved.add_failed(outcome.failed)
    report = _report(fetch, list(saved.lines.values()), str(saved.path), outcome, kept)
    run = import_run(
        database,
        actor,
        dataset,
        saved.path,
        now=now,
        system=system,
        order=order,
        duplicates=duplicates,
        format_name="jsonl",
        report_progress=report_progress,
        fetched=_describe_origin(fetch, saved, report),
    )
    with database.read() as session:
        stored = find_run(session, key_of(find_dataset(session, dataset).pk), system)
    saved.imported_sha256 = stored.file_sha256 if stored else None
    saved.write_state()
    return replace(report, run=replace(run, notes=(*run.notes, *_note(report))))


def _is_same_run(stored: StoredRun, saved: SavedRun) -> bool:
    """Check whether the system's stored run came from this file, even if the fetch ended right after it."""
    return stored.file_sha256 in (saved.imported_sha256, saved.opened_sha256)


def check_host(url: str, allowed: Sequence[str], dataset: str) -> str:
    """Return the host of an address as HOST:PORT. NotAllowed, with a command, unless the dataset allows it."""
    host, names = name_host(url)
    if not names & set(allowed):
        listed = ",".join((*allowed, host))
        raise NotAllowed(
            f"the dataset {dataset} does not allow requests to {host}; its lead allows them with: "
            f"annotator dataset set {dataset} search_hosts={listed}"
        )
    return host


def _read_dataset(
    database: Database, actor: Actor, dataset: str, spec: EndpointSpec, system: str, rules: ServerRules | None
) -> tuple[str, list[Query], StoredRun | None]:
    """Return the allowed host, the queries, and the stored run of the system."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        allowed = read_search_hosts(session, dataset_pk)
        if rules is None:
            host = check_host(spec.url, allowed, dataset)
        else:
            host = rules.require_host(spec.url, allowed)
        queries = [stored.query for stored in list_stored_queries(session, dataset_pk).values()]
        stored_run = find_run(session, dataset_pk, system)
    if not queries:
        lacking = say("This dataset has no queries yet. Import them first.")
        raise StateError(add_command(lacking, f"annotator import queries {dataset} FILE"))
    _require_columns(spec, queries)
    return host, queries, stored_run


def _require_columns(spec: EndpointSpec, queries: Sequence[Query]) -> None:
    problems = [
        FormatError(
            spec.path,
            None,
            say(
                "query {query_id} to have the column {column}",
                query_id=repr(query.query_id),
                column=repr(column),
            ),
            say("nothing"),
        )
        for query in queries
        for column in list_missing_columns(spec, query)
    ]
    if problems:
        raise BadInput(problems)


def name_run_file(save: Path | None, system: str) -> Path:
    """Return the run file: `save`, or a file in the working directory named after the system."""
    if save is not None:
        return save
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in system).lstrip(".") or "run"
    return Path(f"{name[:MOST_NAME]}.run.jsonl")


def _try_first_query(database: Database, fetch: _Fetch) -> FetchReport:
    query = fetch.queries[0]
    with fetch.open_client() as client:
        searcher = EndpointSearcher(fetch.spec, client, fetch.identity.depth, fetch.keep_first)
        try:
            answer = searcher.search(query)
        except (RequestFailed, AnswerRefused) as failure:
            raise _refuse(fetch, [UnansweredQuery(query.query_id, failure.args[0])]) from None
    line = answer.to_line()
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, fetch.identity.dataset).pk)
        documents = count_documents(session, dataset_pk, [result["doc_id"] for result in answer.results])
    return replace(
        _report(fetch, [line], None, FetchOutcome(answered=1), 0),
        median_latency_ms=answer.latency_ms,
        sample={**line, "results": line["results"][:SAMPLE]},
        sample_results=len(answer.results),
        sample_documents=documents,
    )


def _fetch_missing(
    fetch: _Fetch, saved: SavedRun, *, most_in_a_row: bool, report_progress: Progress
) -> FetchOutcome:
    """Send the unanswered queries. Every answer is in the file when this returns."""
    missing = [query for query in fetch.queries if query.query_id not in saved.lines]
    if not missing:
        return FetchOutcome()
    progress = _FetchProgress(len(saved.lines), len(fetch.queries), fetch.environment.clock, report_progress)
    saved.begin()
    try:
        with fetch.open_client() as client:
            searcher = EndpointSearcher(fetch.spec, client, fetch.identity.depth, fetch.keep_first)
            return fetch_answers(
                missing,
                searcher,
                keep=saved.add,
                report=progress.report,
                most_in_a_row=MOST_IN_A_ROW if most_in_a_row else None,
                most_seconds=fetch.rules.most_seconds if fetch.rules is not None else None,
            )
    finally:
        saved.end()


class _FetchProgress:
    """Reports a fetch's progress every few seconds: queries done, speed, and remaining time."""

    def __init__(self, kept: int, queries: int, clock: Callable[[], float], tell: Progress) -> None:
        self.kept, self.queries, self.clock, self.tell = kept, queries, clock, tell
        self.start = self.last = clock()
        if kept:
            tell(
                say_n(
                    "{answered:,} of {n:,} query is answered already",
                    "{answered:,} of {n:,} queries are answered already",
                    queries,
                    answered=kept,
                )
            )

    def report(self, answered: int, failed: int) -> None:
        now = self.clock()
        done = answered + failed
        if now - self.last < PROGRESS_SECONDS and self.kept + done < self.queries:
            return
        self.last = now
        pace = done / (now - self.start) if now > self.start else 0.0
        left = (self.queries - self.kept - done) / pace if pace else 0.0
        self.tell(
            say_n(
                "{answered:,} of {n:,} query answered, {failed:,} failed, {pace} per second, {left} s left",
                "{answered:,} of {n:,} queries answered, {failed:,} failed, {pace} per second, {left} s left",
                self.queries,
                answered=self.kept + answered,
                failed=failed,
                pace=show_number(pace, 1),
                left=show_number(left, 0),
            )
        )


def _require_answers(fetch: _Fetch, saved: SavedRun, outcome: FetchOutcome, *, allow_failures: bool) -> None:
    """Raise BadInput with every failed query, unless failures are allowed and every query was sent."""
    if not outcome.failed or (allow_failures and outcome.stopped is None and saved.lines):
        return
    answered = (
        f"{len(saved.lines):,} of {count_of(len(fetch.queries), 'query')} answered, kept in {saved.path}"
    )
    stopped = f"Stopped: {outcome.stopped}. " if outcome.stopped else ""
    other = "" if outcome.stopped else "; --allow-failures imports the others"
    hint = f"{stopped}{answered}. Nothing was imported. The same command sends the rest again{other}."
    raise _refuse(fetch, outcome.failed, len(saved.lines), outcome.stopped, hint)


def _refuse(
    fetch: _Fetch,
    failed: Sequence[UnansweredQuery],
    answered: int = 0,
    stopped: str | None = None,
    hint: str = "",
) -> UnansweredQueries:
    repeated = any(REPEATED in query.reason for query in failed)
    keep_first = say("{option} keeps one of a document's places.", option=CommandWords("--duplicates first"))
    hints = [hint, keep_first if repeated else ""]
    return UnansweredQueries(
        failed,
        path=f"{fetch.spec.path} ({fetch.identity.host})",
        answered=answered,
        queries=len(fetch.queries),
        stopped=stopped,
        hint=join_sentences(filter(None, hints)),
    )


def _report(
    fetch: _Fetch, lines: Sequence[Mapping[str, Any]], file: str | None, outcome: FetchOutcome, kept: int
) -> FetchReport:
    lengths = [len(line["results"]) for line in lines]
    times = [line["latency_ms"] for line in lines]
    return FetchReport(
        system=fetch.identity.system,
        host=fetch.identity.host,
        file=file,
        depth=fetch.identity.depth,
        queries=len(fetch.queries),
        fetched=outcome.answered,
        kept=kept,
        failed=tuple(outcome.failed),
        without_results=lengths.count(0),
        shorter=sum(0 < length < fetch.identity.depth for length in lengths),
        median_latency_ms=round(median(times), 1) if times else None,
        missing_signals=_list_missing_signals(fetch.spec, lines),
    )


def _list_missing_signals(spec: EndpointSpec, lines: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the spec's signals that no result has; empty if no query has a result."""
    results = [result for line in lines for result in line["results"]]
    if not results:
        return ()
    of_results = set().union(*(result.get("signals", {}) for result in results))
    of_answers = set().union(*lines)
    missing = [name for name in spec.paths.signals if name not in of_results]
    return (*missing, *(name for name in spec.paths.query_signals if name not in of_answers))


def _describe_origin(fetch: _Fetch, saved: SavedRun, report: FetchReport) -> FetchedFrom:
    """Return data for the record of the import: the address without secrets, and the failed queries."""
    options = {
        "endpoint": fetch.spec.url,
        "spec": fetch.spec.path,
        "spec_sha256": fetch.identity.spec_sha256,
        "depth": fetch.identity.depth,
        "concurrency": fetch.spec.limits.concurrency,
    }
    figures: dict[str, Any] = {"fetched_queries": len(saved.lines), "without_results": report.without_results}
    if report.failed:
        figures["failed_queries"] = {query.query_id: query.reason for query in report.failed}
    return FetchedFrom(options, figures, saved.imported_sha256)


def _note(report: FetchReport) -> list[str]:
    notes = [f"fetched from {report.host}, kept in {report.file}"]
    if report.failed:
        failed = count_of(len(report.failed), "query failed", "queries failed")
        notes.append(f"warning: {failed}: they are recorded as failed, not as queries without results")
    if report.without_results:
        queries = count_of(report.without_results, "query", "queries")
        notes.append(f"{queries} answered with an empty list")
    if report.shorter:
        queries = count_of(report.shorter, "query has", "queries have")
        notes.append(f"{queries} fewer than {report.depth:,} results")
    if report.missing_signals:
        names = ", ".join(report.missing_signals)
        notes.append(f"warning: no result has a value for {names}: check the path in the spec")
    if report.median_latency_ms is not None:
        notes.append(f"median time of a query {report.median_latency_ms:,.1f} ms")
    return notes
