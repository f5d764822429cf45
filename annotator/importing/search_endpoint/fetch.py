"""Send queries to a search endpoint, several at a time, and pass on each answer as soon as it is complete.

A failed query does not stop the others; its reason is kept. The fetch stops if nothing else can succeed:
after a failure that every query would share (certificate, redirect, refused sign-in), or MOST_IN_A_ROW
consecutive failures.

The answers are saved meanwhile in a run file (JSON Lines, a line per answered query). FILE.fetch.json next to it
identifies the fetch (spec, depth, system, the query texts), so an interrupted fetch continues exactly where it
stopped and never mixes two configurations. A line cut off by a crash is dropped, and so are lines of failed
queries, which are sent again. Refuses a file of another fetch, a run file without its second file, and queries
with a changed text.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from annotator.domain.errors import StateError, ValidationError, refuse
from annotator.domain.ground_truth import Query
from annotator.domain.messages import say, say_n
from annotator.formats.runs import FAILED
from annotator.formats.syntax.json_text import parse_json
from annotator.formats.syntax.partial_files import replace_file
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.text import describe
from annotator.importing.search_endpoint.answer import AnswerPage, AnswerRefused, find_repeated, read_page
from annotator.importing.search_endpoint.client import EndpointClient, RequestFailed
from annotator.importing.search_endpoint.endpoint_records import (
    EndpointSpec,
    QueryAnswer,
    UnansweredQuery,
)
from annotator.importing.search_endpoint.request_template import fill_request

MOST_IN_A_ROW = 10
NOT_SENT = say("not sent: the fetch had stopped")
REPEATED = say("each document once")
TIME_IS_UP = say("the server's time limit for a fetch is over")


@dataclass(slots=True)
class FetchOutcome:
    """The outcome of the queries. `stopped`: why the others were not sent; None if all were."""

    answered: int = 0
    failed: list[UnansweredQuery] = field(default_factory=list)
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class EndpointSearcher:
    """Requests all pages of a query's results."""

    spec: EndpointSpec
    client: EndpointClient
    depth: int
    keep_first: bool = False  # keep the better place of a document that a query has twice, instead of failing

    def search(self, query: Query) -> QueryAnswer:
        """Return the results of one query. Raises RequestFailed or AnswerRefused."""
        results: list[dict[str, Any]] = []
        pages: list[AnswerPage] = []
        milliseconds, retries = 0.0, 0
        sent_cursors: list[Any] = []
        while True:
            cursor = pages[-1].cursor if pages else None
            request = fill_request(self.spec, query, depth=self.depth, page=len(pages), cursor=cursor)
            answer = self.client.ask(request)
            page = read_page(answer.value, self.spec.paths)
            milliseconds, retries = milliseconds + answer.milliseconds, retries + answer.retries
            if pages and page.results and page.results == pages[-1].results:
                raise AnswerRefused(
                    say("page {page} to continue the list", page=len(pages) + 1),
                    say("page {page} again", page=len(pages)),
                )
            pages.append(page)
            results += page.results
            if self._is_last(page, len(results)):
                break
            sent_cursors.append(self.spec.first_cursor if cursor is None else cursor)
            if self.spec.paths.next_cursor and page.cursor in sent_cursors:
                raise AnswerRefused(
                    f"a new next_cursor on page {len(pages)}",
                    f"one that was sent before: {describe(page.cursor)}",
                )
        ranked = self._rank(results)[: self.depth]
        self._check_length(min(len(results), self.depth), pages)
        return QueryAnswer(
            query.query_id, tuple(ranked), round(milliseconds, 3), _join_signals(pages, retries)
        )

    def _is_last(self, page: AnswerPage, count: int) -> bool:
        if not page.results or count >= self.depth:
            return True
        if self.spec.paths.next_cursor:  # the cursor alone says whether the list goes on
            return page.cursor is None
        if self.spec.page_size is None:
            return True
        # a full page may be followed by another; a short one only where the endpoint counts more matches
        return count >= page.total if page.total is not None else len(page.results) < self.spec.page_size

    def _rank(self, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        repeated = find_repeated(tuple(results))
        if repeated is not None and not self.keep_first:
            doc_id, first, second = repeated
            raise AnswerRefused(REPEATED, f"{doc_id!r:.80} as results {first} and {second}")
        unique: dict[str, dict[str, Any]] = {}
        for result in results:
            unique.setdefault(result["doc_id"], result)
        return [
            result if "rank" in result else {**result, "rank": rank}
            for rank, result in enumerate(unique.values(), 1)
        ]

    def _check_length(self, count: int, pages: Sequence[AnswerPage]) -> None:
        """Refuse a list that ends before the depth although the endpoint reports more matches."""
        total = pages[-1].total
        if total is None or count >= min(total, self.depth):
            return
        raise AnswerRefused(
            f"{min(total, self.depth):,} results, since {total:,} documents match (total)",
            f"{count:,}: does the endpoint limit the length of its lists? page_size asks for pages",
        )


def fetch_answers(
    queries: Sequence[Query],
    searcher: EndpointSearcher,
    *,
    keep: Callable[[QueryAnswer], None],
    report: Callable[[int, int], None],
    most_in_a_row: int | None = MOST_IN_A_ROW,
    most_seconds: float | None = None,
) -> FetchOutcome:
    """Search for every query. Calls `keep` with each answer, `report(answers, failures)` after each query.

    Both are called in the caller's thread. If the caller is interrupted, running requests end first.
    `most_in_a_row`: consecutive failures before the fetch stops; None: no limit. `most_seconds`: time limit.
    """
    clock = searcher.client.clock
    deadline = None if most_seconds is None else clock() + most_seconds
    outcome = FetchOutcome()
    left = iter(queries)
    in_a_row = 0
    running: dict[Future[QueryAnswer], Query] = {}
    workers = searcher.spec.limits.concurrency
    executor = ThreadPoolExecutor(max_workers=workers)
    try:
        while True:
            # the first request goes alone: what is wrong with the spec shows before anything else is sent
            room = (1 if not outcome.answered else workers) - len(running)
            if outcome.stopped is None:
                for query in islice(left, room):
                    running[executor.submit(searcher.search, query)] = query
            if not running:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=list(running).index):
                query = running.pop(future)
                try:
                    keep(future.result())
                    outcome.answered += 1
                    in_a_row = 0
                except (RequestFailed, AnswerRefused) as failure:
                    in_a_row += 1
                    outcome.failed.append(UnansweredQuery(query.query_id, failure.args[0]))
                    outcome.stopped = outcome.stopped or _decide_to_stop(failure, in_a_row, most_in_a_row)
                report(outcome.answered, len(outcome.failed))
            if deadline is not None and clock() > deadline:
                outcome.stopped = outcome.stopped or TIME_IS_UP
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
    outcome.failed += [UnansweredQuery(query.query_id, NOT_SENT) for query in left]
    return outcome


def _decide_to_stop(failure: Exception, in_a_row: int, most_in_a_row: int | None) -> str | None:
    if isinstance(failure, RequestFailed) and failure.for_all:
        return say("every other query would fail in the same way")
    if most_in_a_row is not None and in_a_row >= most_in_a_row:
        return say_n("{n:,} query failed", "{n:,} queries failed one after another", in_a_row)
    return None


def _join_signals(pages: Sequence[AnswerPage], retries: int) -> dict[str, Any]:
    """Return the signals of the whole answer: the first page's, and the engine's time over all pages."""
    signals = dict(pages[0].signals)
    times = [page.engine_ms for page in pages if page.engine_ms is not None]
    if len(times) == len(pages):
        signals["engine_ms"] = round(sum(times), 3)
    if pages[-1].total is not None:
        signals["total"] = pages[-1].total
    if len(pages) > 1:
        signals["pages"] = len(pages)
    if retries:
        signals["retries"] = retries
    return signals


SUFFIX = ".fetch.json"


@dataclass(frozen=True, slots=True)
class FetchIdentity:
    """The configuration to which the answers in a file belong."""

    dataset: str
    system: str
    host: str
    depth: int
    spec_sha256: str


@dataclass(slots=True)
class SavedRun:
    """The files of a fetch. `lines`: {query_id: answered line}.

    `opened_sha256`: of the file when opened; None if it had no answer. `imported_sha256`: of the file at its
    last import. `most_bytes`: size limit of the run file; None: no limit.
    """

    path: Path
    identity: FetchIdentity
    texts: dict[str, str]  # by query_id, the hash of the text that is or will be sent
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    imported_sha256: str | None = None
    opened_sha256: str | None = None
    file: BinaryIO | None = None
    most_bytes: int | None = None

    def begin(self) -> None:
        """Open the files for writing. Drops an incomplete last line and the lines of failed queries."""
        self.write_state()
        _write_whole(self.path, self.lines.values())
        self.file = self.path.open("ab")

    def add(self, answer: QueryAnswer) -> None:
        """Append the answer to a query. It is on disk when this returns."""
        if self.file is None:
            raise StateError("the file of the run is not open")
        line = answer.to_line()
        encoded = _encode(line)
        if self.most_bytes is not None and self.file.tell() + len(encoded) > self.most_bytes:
            raise StateError(
                say(
                    "The answers need more than {mb:,} MB, the server's limit for a run. Keep fewer signals or fewer results. Nothing was imported.",
                    mb=self.most_bytes // 1_000_000,
                )
            )
        self.file.write(encoded)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.lines[answer.query_id] = line

    def end(self) -> None:
        """Close the run file."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def add_failed(self, failed: Iterable[UnansweredQuery]) -> None:
        """Write the run file with a line for each failed query, so the file shows which have no answer."""
        lines = [{"query_id": query.query_id, FAILED: query.reason, "results": []} for query in failed]
        _write_whole(self.path, [*self.lines.values(), *lines])

    def write_state(self) -> None:
        """Write FILE.fetch.json."""
        state = {**asdict(self.identity), "imported_sha256": self.imported_sha256, "texts": self.texts}
        shown = json.dumps(state, ensure_ascii=False, indent=1) + "\n"
        replace_file(_state_path(self.path), [shown.encode()], mode=0o666)


def open_saved_run(path: Path, identity: FetchIdentity, queries: Iterable[Query]) -> SavedRun:
    """Return the run saved at `path` by an earlier call of the same command, or an empty run. Writes nothing."""
    texts = {query.query_id: _hash_text(query.text) for query in queries}
    state_path = _state_path(path)
    if not state_path.exists():
        if path.exists():
            raise StateError(
                f"{path}: this file is not an unfinished run of this command; name another one with --save"
            )
        if not path.parent.is_dir():
            raise ValidationError(f"{path}: there is no folder {path.parent} (--save)")
        return SavedRun(path, identity, texts)
    state = _read_state(state_path)
    _check_identity(path, identity, state)
    data = read_regular(path) if path.exists() else b""
    lines = _read_lines(path, data)
    changed = [query_id for query_id in lines if texts.get(query_id) != state["texts"].get(query_id)]
    if changed:
        shown = ", ".join(changed[:5]) + (", …" if len(changed) > 5 else "")
        raise StateError(
            f"{path}: the dataset has another text now for queries that are answered in it, or no longer has them: {shown}; "
            "name another file with --save and another --system"
        )
    opened_sha256 = hashlib.sha256(data).hexdigest() if lines else None
    return SavedRun(path, identity, texts, lines, state.get("imported_sha256"), opened_sha256)


def _check_identity(path: Path, identity: FetchIdentity, state: Mapping[str, Any]) -> None:
    for name, value in asdict(identity).items():
        if state[name] == value:
            continue
        if name == "spec_sha256":
            raise StateError(
                f"{path}: it was begun with another spec (url, body, headers, paths or pages differ); "
                "go on with that one, or name another file with --save"
            )
        raise StateError(
            f"{path}: it was begun with the {name} {state[name]}, found {value}; name another file with --save"
        )


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = parse_json(read_regular(path).decode("utf-8"))
        complete = isinstance(state["texts"], dict) and all(
            item.name in state for item in fields(FetchIdentity)
        )
    except (ValueError, KeyError, TypeError):
        complete = False
    if not complete:
        raise refuse(
            str(path), None, "the file FILE.fetch.json as this command writes it", say("something else")
        )
    return dict(state)


def _read_lines(path: Path, data: bytes) -> dict[str, dict[str, Any]]:
    """Return {query_id: answered line}. An incomplete last line is dropped; any other bad line is refused."""
    whole = data[: data.rfind(b"\n") + 1]
    lines: dict[str, dict[str, Any]] = {}
    for number, content in enumerate(whole.splitlines(), 1):
        try:
            line = parse_json(content.decode("utf-8"))
            query_id, results = line["query_id"], line["results"]
        except (ValueError, KeyError, TypeError):
            raise refuse(str(path), number, "a line that this command wrote", say("something else")) from None
        if FAILED not in line and isinstance(query_id, str) and isinstance(results, list):
            lines[query_id] = line
    return lines


def _write_whole(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    replace_file(path, map(_encode, lines), mode=0o666)


def _encode(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _state_path(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)
