"""Send queries to a search endpoint, several at a time, and pass on each answer as soon as it is complete.

A failed query does not stop the others; its reason is kept. The fetch stops if nothing else can succeed:
after a failure that every query would share (certificate, redirect, refused sign-in), or MOST_IN_A_ROW
consecutive failures.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from annotator.domain.ground_truth import Query
from annotator.domain.messages import say, say_n
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
