"""Read a run file, TREC or JSON, into one system's run.

TREC: one result per line, `query_id Q0 doc_id rank score tag`; text after the tag is kept as a signal without
effect, as in trec_eval. JSON (Lines, an array or one object): results `query_id, doc_id, rank, score,
signals{…}`, or answers of a search API: `query_id` (or `query`, its text), `results: [{doc_id, score, …}]`,
`latency_ms` (or `response_time`); results without ranks are ranked by their order. Unknown fields are kept: a
result's in its signals, an answer's in the query's. `importing/runs/run_plan.py` decides the order of
results. Refused, mostly with the line: an empty file, several systems without one given name, JSON options
for a TREC file, fewer than six fields, a missing or too long id, a rank or score that is not a finite number,
signals that are not a mapping. A line may name its query by the query's text (NFC, trimmed).
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from annotator.domain.errors import Problems, ValidationError, refuse
from annotator.domain.ground_truth import RunEntry
from annotator.domain.messages import CommandWords, join, say, say_n
from annotator.formats.syntax.json_text import is_comment, parse_json_items
from annotator.formats.syntax.tables import TableLine, take, take_id
from annotator.formats.syntax.text import BOM_WITHIN, ID_LIMIT, describe, is_too_long, read_text
from annotator.formats.trec import split_fields

MAX_RANK = 2**31 - 1
FAILED = "failed"
"""The signal of a query that a search endpoint did not answer: why. It has no results, which is not an empty answer."""
_WHOLE = re.compile(r"[0-9]{1,10}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class RunLine(NamedTuple):
    """One result, its line, and the system that the file names for it.

    `query`: the query's text if the file gives it instead of a query_id; the entry's query_id is then empty.
    """

    line: int
    entry: RunEntry
    tag: str | None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class QueryResponse:
    """The response of a search to one query, without its results. Also exists for a query without results.

    `signals`: `latency_ms` and every unknown field. `query`: as in `RunLine`.
    """

    line: int
    query_id: str
    query: str | None
    tag: str | None
    signals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFile:
    """The content of a run file."""

    lines: tuple[RunLine, ...]
    answers: tuple[QueryResponse, ...] = ()
    """Empty unless the file groups its results by query."""
    notes: tuple[str, ...] = field(default=())
    """How the reader understood the file, in words."""


def read_rank(text: str, line: int, problems: Problems) -> int | None:
    """Return a rank, a whole number from 0; None after noting anything else."""
    if _WHOLE.fullmatch(text) and int(text) <= MAX_RANK:
        return int(text)
    problems.add(line, say("rank to be a whole number from 0"), text)
    return None


def read_score(text: str, line: int, problems: Problems) -> float | None:
    """Return a score, a finite number; None after noting anything else."""
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    problems.add(line, say("score to be a finite number"), text)
    return None


ID_FIELDS = ("doc_id", "hang_id", "id", "path", "_id")
"""The names of a result's document, the first one that every result has."""
LATENCY = "latency_ms"
RESPONSE_TIME = "response_time"
AFTER_TAG = "after_tag"
TimeUnit = Literal["ms", "s"]
TIME_UNITS: tuple[TimeUnit, ...] = ("ms", "s")


def read_json_run(
    text: str, problems: Problems, *, id_field: str | None = None, response_time_unit: TimeUnit | None = None
) -> RunFile:
    """Return the results and answers of a run in JSON.

    `id_field`: the field of the document's id. `response_time_unit`: of `response_time`, milliseconds by
    default; `latency_ms` is always in milliseconds.
    """
    rows = [TableLine(line, dict(value)) for line, value in parse_json_items(text, problems)]
    field_name = id_field or _choose_id_field(rows)
    reader = _RunLineReader(problems, field_name, response_time_unit or "ms")
    lines = tuple(line for row in rows for line in reader.read(row))
    problems.errors.sort(key=lambda problem: problem.line or 0)
    notes: list[str] = []
    if field_name != "doc_id" and lines:
        notes.append(
            say(
                "documents named by the field {field} ({option} names another)",
                field=describe(field_name),
                option=CommandWords("--id-field"),
            )
        )
    if reader.response_times:
        notes.append(_note_response_times(reader.response_times, response_time_unit))
    return RunFile(lines, tuple(reader.answers), tuple(notes))


@dataclass(slots=True)
class _RunLineReader:
    problems: Problems
    id_field: str
    response_time_unit: TimeUnit
    answers: list[QueryResponse] = field(default_factory=list)
    response_times: list[float] = field(default_factory=list)

    def read(self, row: TableLine) -> Iterator[RunLine]:
        if "results" in row.cells:
            yield from self._read_answer(row)
            return
        query_id, query = self._take_query(row)
        line = self._read_result(row, query_id, query, self._take_tag(row), self.problems)
        if line is not None:
            yield line

    def _read_answer(self, row: TableLine) -> Iterator[RunLine]:
        results = row.cells.pop("results")
        query_id, query = self._take_query(row)
        tag = self._take_tag(row)
        signals = _take_signals(row, self.problems)
        latency = self._take_latency(row)
        if latency is not None:
            signals = {LATENCY: latency, **signals}
        self.answers.append(QueryResponse(row.line, query_id or "", query, tag, {**row.cells, **signals}))
        if not isinstance(results, list):
            self.problems.add(row.line, say("results to be a list"), describe(results))
            return
        ranked = any(isinstance(result, dict) and result.get("rank") is not None for result in results)
        for index, result in enumerate(results):
            if not isinstance(result, dict):
                self.problems.add(
                    row.line, say("results[{index}] to be an object", index=index), describe(result)
                )
                continue
            given = result if ranked else {**result, "rank": index + 1}
            within = _LineProblems(self.problems, f"results[{index}].")
            line = self._read_result(TableLine(row.line, dict(given)), query_id, query, tag, within)
            if line is not None:
                yield line

    def _read_result(
        self,
        row: TableLine,
        query_id: str | None,
        query: str | None,
        tag: str | None,
        problems: Problems,
    ) -> RunLine | None:
        cells = row.cells
        doc_id = take_id(row, (self.id_field,), problems)
        rank, score = take(cells, ("rank",)), take(cells, ("score",))
        if rank is not None:
            rank = read_rank(_as_text(rank), row.line, problems)
        if score is not None:
            score = read_score(_as_text(score), row.line, problems)
        signals = _take_signals(row, problems)
        if (query_id is None and query is None) or doc_id is None:
            return None
        entry = RunEntry(query_id or "", doc_id, rank, score, {**cells, **signals})
        return RunLine(row.line, entry, tag, query if query_id is None else None)

    def _take_query(self, row: TableLine) -> tuple[str | None, str | None]:
        """Return (query_id, None) or (None, query text). A text next to an id stays among the other fields."""
        if row.cells.get("query_id") is None and isinstance(row.cells.get("query"), str):
            row.cells.pop("query_id", None)
            return None, row.cells.pop("query")
        return take_id(row, ("query_id",), self.problems), None

    def _take_tag(self, row: TableLine) -> str | None:
        tag = take(row.cells, ("system", "tag"))
        if tag is None or isinstance(tag, str):
            return tag
        self.problems.add(row.line, say("{name} to be a text", name="system"), describe(tag))
        return None

    def _take_latency(self, row: TableLine) -> float | None:
        """Return milliseconds from `latency_ms`, or else from `response_time`, which stays in the row."""
        latency = row.cells.pop(LATENCY, None)
        if latency is not None:
            return self._check_time(latency, LATENCY, row.line)
        response_time = row.cells.get(RESPONSE_TIME)
        if response_time is None:
            return None
        time = self._check_time(response_time, RESPONSE_TIME, row.line)
        if time is None:
            return None
        self.response_times.append(time)
        milliseconds = time * 1000 if self.response_time_unit == "s" else time
        return self._check_time(milliseconds, RESPONSE_TIME, row.line)

    def _check_time(self, value: Any, name: str, line: int) -> float | None:
        if type(value) in (int, float) and 0 <= value < math.inf:
            return float(value)
        self.problems.add(line, say("{name} to be a number from 0", name=name), describe(value))
        return None


class _LineProblems(Problems):
    """Passes problems on to the whole file's collector, each with its place within the line."""

    def __init__(self, problems: Problems, prefix: str) -> None:
        super().__init__(problems.path)
        self.errors, self.prefix = problems.errors, prefix

    def add(self, line: int | None, expected: str, found: str, *, path: str | None = None) -> None:
        super().add(line, join((self.prefix, expected), ""), found, path=path)


def _take_signals(row: TableLine, problems: Problems) -> Mapping[str, Any]:
    nested = row.cells.pop("signals", None)
    if nested is None or isinstance(nested, Mapping):
        return nested or {}
    problems.add(row.line, say("signals to be a mapping"), describe(nested))
    return {}


def _choose_id_field(rows: Sequence[TableLine]) -> str:
    """Return the first known field name that every result has: a file is read by one name."""
    results = list(_list_results(rows))
    for name in ID_FIELDS:
        if results and all(name in result for result in results):
            return name
    return ID_FIELDS[0]


def _list_results(rows: Iterable[TableLine]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        results = row.cells.get("results", [row.cells])
        if isinstance(results, list):
            yield from (result for result in results if isinstance(result, dict))


def _note_response_times(times: Sequence[float], unit: TimeUnit | None) -> str:
    return say(
        "response_time read as {unit} (median {median}){hint}",
        unit=say("milliseconds") if unit != "s" else say("seconds"),
        median=f"{median(times):g}",
        hint=CommandWords("; --response-time-unit s reads seconds" if unit is None else ""),
    )


def _as_text(value: Any) -> str:
    """Return a JSON number as text, and any other value as a text that is not a number."""
    return repr(value) if type(value) in (int, float) else describe(value)


def read_trec_run(text: str, problems: Problems) -> Iterator[RunLine]:
    """Yield the results in file order. Text after the tag, which trec_eval ignores, is the signal AFTER_TAG."""
    for line, content in enumerate(text.split("\n"), 1):
        fields = split_fields(content)
        if not fields:
            continue
        if fields[0].startswith("\ufeff"):
            problems.add(line, *BOM_WITHIN)
            continue
        if len(fields) < 6:
            problems.add(
                line, say("6 fields: query_id Q0 doc_id rank score tag"), say("{n} fields", n=len(fields))
            )
            continue
        query_id, _, doc_id, rank, score, tag, *further = fields
        if is_too_long(query_id) or is_too_long(doc_id):
            problems.add(
                line,
                say("ids of {limit}", limit=ID_LIMIT),
                say("{n} characters", n=max(len(query_id), len(doc_id))),
            )
            continue
        rank_value = read_rank(rank, line, problems)
        score_value = read_score(score, line, problems)
        if rank_value is not None and score_value is not None:
            signals = {AFTER_TAG: " ".join(further)} if further else {}
            yield RunLine(line, RunEntry(query_id, doc_id, rank_value, score_value, signals), tag)


def _note_after_tag(lines: Sequence[RunLine]) -> Iterator[str]:
    count = sum(AFTER_TAG in line.entry.signals for line in lines)
    if count:
        yield say_n(
            "{n} line continues after the tag; the rest is kept as a remark and changes nothing",
            "{n:,} lines continue after the tag; the rest is kept as remarks and changes nothing",
            count,
        )


KINDS = ("trec", "jsonl", "json")


def read_run_file(
    data: bytes,
    path: str,
    *,
    kind: str | None = None,
    id_field: str | None = None,
    response_time_unit: str | None = None,
) -> RunFile:
    """Return the results of a run file with their lines. BadInput names every bad line.

    `kind`: one of KINDS, None: by content. Other options: see `read_json_run`.
    """
    if kind not in (None, *KINDS):
        raise ValidationError(f"no run format named {kind!r}; there are: {', '.join(KINDS)}")
    unit = _check_unit(response_time_unit)
    text, problems = read_text(data, path), Problems(path)
    is_json = kind in ("jsonl", "json") or (kind is None and _is_json(text[:1_000], path))
    if is_json:
        file = read_json_run(text, problems, id_field=id_field, response_time_unit=unit)
    elif id_field or unit:
        option = "--id-field" if id_field else "--response-time-unit"
        raise ValidationError(say("{option}: {path} is no JSON", option=CommandWords(option), path=path))
    else:
        lines = tuple(read_trec_run(text, problems))
        file = RunFile(lines, notes=tuple(_note_after_tag(lines)))
    if not file.lines and not problems:
        expected = (
            "a result of at least one query" if is_json else "lines of query_id Q0 doc_id rank score tag"
        )
        problems.add(None, expected, say("none") if text.strip() else say("an empty file"))
    problems.raise_if_any()
    return file


def _is_json(head: str, path: str) -> bool:
    """Check whether a file begins as JSON does; with its suffix also empty or with a comment, refused later."""
    named = path.lower().endswith((".json", ".jsonl"))
    return head.lstrip()[:1] in ("{", "[") or (named and (not head.strip() or is_comment(head)))


def find_system(file: RunFile, path: str) -> str | None:
    """Return the one system that a file names, or None. BadInput if it names several."""
    tags: dict[str | None, int] = {}
    for tag, line in chain(
        ((line.tag, line.line) for line in file.lines), ((answer.tag, answer.line) for answer in file.answers)
    ):
        tags.setdefault(tag, line)
    if len(tags) > 1:
        names = ", ".join(describe(tag) for tag in list(tags)[:5])
        expected = "one system in a file (split it, or give all of it one name)"
        raise refuse(path, list(tags.values())[1], expected, names)
    return next(iter(tags))


def require_system(file: RunFile, path: str) -> str:
    """Return the one system that a file names. BadInput if it names none or several."""
    system = find_system(file, path)
    if system is None:
        raise refuse(path, None, say("the system's name"), say("none in the file"))
    return system


def keep_tags(lines: Iterable[RunLine], system: str) -> list[RunLine]:
    """Return the lines of the named run. A different tag is kept as the signal `tag`."""
    return [
        line if line.tag in (None, system) else line._replace(entry=_keep_tag(line.entry, line.tag))
        for line in lines
    ]


def _keep_tag(entry: RunEntry, tag: str | None) -> RunEntry:
    return replace(entry, signals={**entry.signals, "tag": tag})


def _check_unit(unit: str | None) -> TimeUnit | None:
    for time_unit in TIME_UNITS:
        if unit == time_unit:
            return time_unit
    if unit is None:
        return None
    raise ValidationError(f"--response-time-unit: expected one of {', '.join(TIME_UNITS)}, found {unit!r}")


SUFFIXES = (".txt", ".trec", ".run", ".res", ".out", ".json", ".jsonl", ".ndjson")


def name_by_file(path: Path) -> str:
    """Return the file's name without the suffixes that say what kind of file it is."""
    name = path.name
    while (suffix := Path(name).suffix).lower() in SUFFIXES and suffix:
        name = name.removesuffix(suffix)
    return name


@dataclass(frozen=True, slots=True)
class QueryNames:
    """Queries by id and by text. `ambiguous`: texts already noted as shared by several queries."""

    query_ids: frozenset[str]
    by_text: Mapping[str, list[str]]
    ambiguous: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, queries: Iterable[tuple[str, str]]) -> "QueryNames":
        """Return the lookup for these queries, given as (query_id, text)."""
        by_text: dict[str, list[str]] = {}
        query_ids = []
        for query_id, text in queries:
            query_ids.append(query_id)
            by_text.setdefault(_normalise(text), []).append(query_id)
        return cls(frozenset(query_ids), by_text)

    def find(self, query_id: str, query: str | None, line: int, problems: Problems) -> str | None:
        """Return the known query_id, or None. Notes a text that several queries have."""
        if query is None:
            return query_id if query_id in self.query_ids else None
        query_ids = self.by_text.get(_normalise(query), [])
        if len(query_ids) > 1 and query not in self.ambiguous:
            self.ambiguous.add(query)
            several = ", ".join(query_ids[:3])
            problems.add(
                line,
                say("a query_id, or a text that one query has"),
                say("{query}, which {queries} have", query=describe(query), queries=several),
            )
        return query_ids[0] if query_ids else None


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
