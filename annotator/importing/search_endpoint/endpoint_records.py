"""Records of a search endpoint: its spec, requests, answers, and the report of a fetched run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from annotator.importing.report import ImportReport

Method = Literal["GET", "POST"]


@dataclass(frozen=True, slots=True)
class AnswerPaths:
    """JMESPath expressions for the parts of an answer. Paths of a result's parts are relative to the result."""

    results: str
    doc_id: str
    score: str | None = None
    rank: str | None = None
    total: str | None = None  # how many documents match, by the engine's own count
    engine_ms: str | None = None
    engine_seconds: str | None = None
    failed_if: str | None = None  # true for an answer that is no whole answer, although its status is 200
    next_cursor: str | None = None  # from where the next page goes on; nothing on the last page
    signals: Mapping[str, str] = field(default_factory=dict)  # of a result, by name
    query_signals: Mapping[str, str] = field(default_factory=dict)  # of the whole answer, by name


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of requests; they do not affect the content of answers. Times in seconds."""

    concurrency: int = 1
    requests_per_second: float | None = None
    timeout_seconds: float = 30.0
    attempts: int = 4
    max_wait_seconds: float = 60.0
    max_megabytes: int = 16


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """A search endpoint as in its YAML file. Headers and `basic_auth` name secrets but contain none."""

    path: str  # of the spec file, as the user named it
    url: str
    method: Method
    paths: AnswerPaths
    body: Any = None  # the JSON to send; None: no body
    headers: Mapping[str, str] = field(default_factory=dict)
    basic_auth: tuple[str, str] | None = None  # user and password
    page_size: int | None = None
    first_page: int = 1
    first_cursor: str | None = None  # what {cursor} is on the first page; None: it is left out there
    ca_file: str | None = None
    limits: RequestLimits = field(default_factory=RequestLimits)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The endpoint's answer to one query. `results` and `signals`: as in a line of the run file."""

    query_id: str
    results: tuple[Mapping[str, Any], ...]
    latency_ms: float  # wall time of the requests that were answered, without waiting between them
    signals: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self) -> dict[str, Any]:
        """Return the line of a run file."""
        return {
            "query_id": self.query_id,
            "latency_ms": self.latency_ms,
            **self.signals,
            "results": [dict(result) for result in self.results],
        }


@dataclass(frozen=True, slots=True)
class UnansweredQuery:
    """A query without an answer, and why."""

    query_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class FetchReport:
    """The fetched and imported data. `run` is None for a dry run, which sends only the first query."""

    system: str
    host: str
    file: str | None
    depth: int
    queries: int
    fetched: int  # by this command
    kept: int  # answered by an earlier run of the same command
    failed: tuple[UnansweredQuery, ...]
    without_results: int  # answered with an empty list
    shorter: int  # answered with fewer results than `depth`, but some
    median_latency_ms: float | None
    missing_signals: tuple[str, ...]  # of the spec, that no result and no answer has
    run: ImportReport | None = None
    sample: Mapping[str, Any] | None = None  # of a dry run: what was read from the first answer
    sample_results: int = 0  # of a dry run: all results of the first answer
    sample_documents: int = 0  # of a dry run: how many of those results are documents of the dataset
