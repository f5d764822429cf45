"""Runs as JSON: results one by one, or what a search API answered to each query; as JSON Lines, an array or one object.

A result by itself is `query_id, doc_id, rank, score, signals{…}`. An answer is `query_id` (or `query`, its text),
`results: [{doc_id, score, …}]` and `latency_ms` (or `response_time`); where its results have no ranks, their order
gives them. Every further field is kept: a result's among its signals, an answer's among those of the query.
Refused, each with its line: a result without an id, a rank or score that is no number, signals that are no mapping.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import RunEntry
from annotator.formats.json_text import parse_json_items
from annotator.formats.run_lines import Answer, RunFile, RunLine, read_rank, read_score
from annotator.formats.tables import Row, take, take_id
from annotator.formats.text import describe

ID_FIELDS = ("doc_id", "hang_id", "id", "path", "_id")
"""The names of a result's document, the first one that every result has."""
LATENCY = "latency_ms"
RESPONSE_TIME = "response_time"
TimeUnit = Literal["ms", "s"]
TIME_UNITS: tuple[TimeUnit, ...] = ("ms", "s")


def read_json_run(
    text: str, problems: Problems, *, id_field: str | None = None, response_time_unit: TimeUnit | None = None
) -> RunFile:
    """The results and answers of a run in JSON.

    `id_field` names the field of the document's id. `response_time` is read as milliseconds unless its unit is named;
    `latency_ms` always is.
    """
    rows = [Row(line, dict(value)) for line, value in parse_json_items(text, problems)]
    field_name = id_field or _choose_id_field(rows)
    reader = _Reader(problems, field_name, response_time_unit or "ms")
    lines = tuple(line for row in rows for line in reader.read(row))
    problems.found.sort(key=lambda problem: problem.line or 0)
    notes = []
    if field_name != "doc_id" and lines:
        notes.append(f"documents named by the field {describe(field_name)} (--id-field names another)")
    if reader.response_times:
        notes.append(_note_response_times(reader.response_times, response_time_unit))
    return RunFile(lines, tuple(reader.answers), tuple(notes))


@dataclass(slots=True)
class _Reader:
    problems: Problems
    id_field: str
    response_time_unit: TimeUnit
    answers: list[Answer] = field(default_factory=list)
    response_times: list[float] = field(default_factory=list)

    def read(self, row: Row) -> Iterator[RunLine]:
        if "results" in row.cells:
            yield from self._read_answer(row)
            return
        query_id, query = self._take_query(row)
        line = self._read_result(row, query_id, query, self._take_tag(row), self.problems)
        if line is not None:
            yield line

    def _read_answer(self, row: Row) -> Iterator[RunLine]:
        results = row.cells.pop("results")
        query_id, query = self._take_query(row)
        tag = self._take_tag(row)
        signals = _take_signals(row, self.problems)
        latency = self._take_latency(row)
        if latency is not None:
            signals = {LATENCY: latency, **signals}
        self.answers.append(Answer(row.line, query_id or "", query, tag, {**row.cells, **signals}))
        if not isinstance(results, list):
            self.problems.add(row.line, "results to be a list", describe(results))
            return
        ranked = any(isinstance(result, dict) and result.get("rank") is not None for result in results)
        for place, result in enumerate(results):
            if not isinstance(result, dict):
                self.problems.add(row.line, f"results[{place}] to be an object", describe(result))
                continue
            given = result if ranked else {**result, "rank": place + 1}
            within = _Within(self.problems, f"results[{place}].")
            line = self._read_result(Row(row.line, dict(given)), query_id, query, tag, within)
            if line is not None:
                yield line

    def _read_result(
        self,
        row: Row,
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

    def _take_query(self, row: Row) -> tuple[str | None, str | None]:
        """The query_id, or else the query's text. A text beside an id is one of the further fields."""
        if row.cells.get("query_id") is None and isinstance(row.cells.get("query"), str):
            row.cells.pop("query_id", None)
            return None, row.cells.pop("query")
        return take_id(row, ("query_id",), self.problems), None

    def _take_tag(self, row: Row) -> str | None:
        tag = take(row.cells, ("system", "tag"))
        if tag is None or isinstance(tag, str):
            return tag
        self.problems.add(row.line, "system to be a text", describe(tag))
        return None

    def _take_latency(self, row: Row) -> float | None:
        """Milliseconds, from `latency_ms` or else from `response_time`, which itself stays as it is."""
        latency = row.cells.pop(LATENCY, None)
        if latency is not None:
            return self._check_time(latency, LATENCY, row.line)
        found = row.cells.get(RESPONSE_TIME)
        if found is None:
            return None
        time = self._check_time(found, RESPONSE_TIME, row.line)
        if time is None:
            return None
        self.response_times.append(time)
        return time * 1000 if self.response_time_unit == "s" else time

    def _check_time(self, found: Any, name: str, line: int) -> float | None:
        if type(found) in (int, float) and found >= 0:
            return float(found)
        self.problems.add(line, f"{name} to be a number from 0", describe(found))
        return None


class _Within(Problems):
    """Notes problems with the collector of the whole file, each with the place within its line."""

    def __init__(self, problems: Problems, prefix: str) -> None:
        super().__init__(problems.path)
        self.found, self.prefix = problems.found, prefix

    def add(self, line: int | None, expected: str, found: str, *, path: str | None = None) -> None:
        super().add(line, self.prefix + expected, found, path=path)


def _take_signals(row: Row, problems: Problems) -> Mapping[str, Any]:
    nested = row.cells.pop("signals", None)
    if nested is None or isinstance(nested, Mapping):
        return nested or {}
    problems.add(row.line, "signals to be a mapping", describe(nested))
    return {}


def _choose_id_field(rows: Sequence[Row]) -> str:
    """The first of the known names that every result has, so that one file is read by one name."""
    results = list(_list_results(rows))
    for name in ID_FIELDS:
        if results and all(name in result for result in results):
            return name
    return ID_FIELDS[0]


def _list_results(rows: Iterable[Row]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        results = row.cells.get("results", [row.cells])
        if isinstance(results, list):
            yield from (result for result in results if isinstance(result, dict))


def _note_response_times(found: Sequence[float], unit: TimeUnit | None) -> str:
    named = "milliseconds" if unit != "s" else "seconds"
    other = "; --response-time-unit s reads seconds" if unit is None else ""
    return f"response_time read as {named} (median {median(found):g}){other}"


def _as_text(found: Any) -> str:
    """A JSON number as text; anything else as something that is no number."""
    return repr(found) if type(found) in (int, float) else describe(found)
