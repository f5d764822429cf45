"""Read a run file (TREC or JSON) to score it, in the order of a profile.

`latency_ms` is the latency of a query's answer, or the largest latency of its results; `time_ms` is when a
result arrived. Refused with the line: everything that formats/runs.py refuses, a repeated document of a
query, two answers to one query, a query text that several queries have, a time that is not a number from 0,
and in the order by rank a missing or repeated rank. A note says if ranks contradict scores. A well-formed
TREC run is read as columns, with pyarrow's CSV reader: 1 s for a million lines instead of 11 s.
"""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import Problems
from annotator.domain.messages import say_n
from annotator.evaluation.records import Order, RankedRun, Truth
from annotator.evaluation.scores.ranking import (
    NO_RANK,
    ResultColumns,
    ResultOrder,
    drop_repeats,
    find_duplicate_row,
    note_ties,
    order_columns,
)
from annotator.formats.runs import (
    LATENCY,
    MAX_RANK,
    QueryNames,
    RunFile,
    find_system,
    name_by_file,
    read_run_file,
)
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.text import describe, is_too_long

TIME = "time_ms"


@dataclass(frozen=True, slots=True)
class RunReading:
    """How a run file is read. The fields are those of `import run`."""

    order: Order = "score"
    system: str | None = None  # None: the name in the file, or else the file's name
    kind: str | None = None  # "trec", "jsonl", "json"; None: by content
    id_field: str | None = None
    response_time_unit: str | None = None
    keep_first: bool = False  # keep the first result of a repeated document instead of refusing the file


def read_run(path: Path, truth: Truth, reading: RunReading | None = None) -> RankedRun:
    """Return the run of a file, which may name queries by the truth's texts. BadInput names every bad line."""
    return parse_run(read_regular(path), str(path), truth, reading)


def parse_run(data: bytes, path: str, truth: Truth, reading: RunReading | None = None) -> RankedRun:
    """Return the run in these bytes. `path`: for messages."""
    reading = reading or RunReading()
    plain = reading.kind in (None, "trec") and reading.id_field is None and reading.response_time_unit is None
    quick = read_trec_columns(data) if plain else None
    if (
        quick is not None
        and find_duplicate_row(quick[1]) is None
        and not _find_rank_problems(quick[1], reading.order)
    ):
        tag, columns = quick
        return _build_run(
            reading.system or tag, columns, order_columns(columns, reading.order), reading.order
        )
    file = read_run_file(
        data,
        path,
        kind=reading.kind,
        id_field=reading.id_field,
        response_time_unit=reading.response_time_unit,
    )
    return rank_run_file(file, path, truth, reading)


def rank_run_file(file: RunFile, path: str, truth: Truth, reading: RunReading) -> RankedRun:
    """Return the run of a file whose lines were read by formats/runs.py."""
    problems = Problems(path)
    system = reading.system or find_system(file, path) or name_by_file(Path(path))
    names = QueryNames.of((query_id, truth.texts.get(query_id, "")) for query_id in truth.grades)
    query_ids = [
        line.entry.query_id
        if line.query is None
        else names.find("", line.query, line.line, problems) or line.query
        for line in file.lines
    ]
    columns = _build_columns(file, query_ids)
    lines = [line.line for line in file.lines]
    if not reading.keep_first:
        _note_duplicates(columns, lines, problems)
    for row, expected, found in _find_rank_problems(columns, reading.order):
        problems.add(lines[row], expected, found)
    times = _read_times(file, problems)
    latencies, signals = _read_answers(file, names, query_ids, problems)
    problems.raise_if_any()
    order = order_columns(columns, reading.order)
    if reading.keep_first:
        order = drop_repeats(columns, order)
    return _build_run(
        system,
        columns,
        order,
        reading.order,
        times_ms=None if times is None else times[order.rows],
        latency_ms=latencies,
        signals=[file.lines[row].entry.signals for row in order.rows.tolist()]
        if any(line.entry.signals for line in file.lines)
        else (),
        query_signals=signals,
        notes=file.notes,
        id_field=reading.id_field,
    )


def _build_run(
    system: str,
    columns: ResultColumns,
    order: ResultOrder,
    chosen: Order,
    *,
    notes: Sequence[str] = (),
    **others: Any,
) -> RankedRun:
    scores = columns.scores[order.rows]
    return RankedRun(
        system,
        tuple(columns.query_ids[code] for code in order.queries.tolist()),
        order.starts,
        columns.doc_ids,
        columns.documents[order.rows].astype(np.int32),
        scores=None if np.isnan(scores).all() else scores,
        repeats=len(columns.documents) - len(order.rows),
        contradictions=order.contradictions,
        notes=(
            *notes,
            *_note_contradictions(order.contradictions, chosen),
            *note_ties(order.reordered_ties, option="--order rank"),
        ),
        **others,
    )


def _note_contradictions(count: int, order: Order) -> list[str]:
    if not count:
        return []
    if order == "score":
        return [
            say_n(
                "ranks and scores disagree in {n} query: ordered by score, as trec_eval does",
                "ranks and scores disagree in {n:,} queries: ordered by score, as trec_eval does",
                count,
            )
        ]
    return [
        say_n(
            "ranks and scores disagree in {n} query: ordered by rank (trec_eval orders by score)",
            "ranks and scores disagree in {n:,} queries: ordered by rank (trec_eval orders by score)",
            count,
        )
    ]


def _build_columns(file: RunFile, query_ids: Sequence[str]) -> ResultColumns:
    """Return the results as columns, with NaN and NO_RANK for missing scores and ranks."""
    queries, query_names = _number(query_ids)
    documents, doc_names = _number([line.entry.doc_id for line in file.lines])
    scores = [math.nan if line.entry.score is None else line.entry.score for line in file.lines]
    ranks = [NO_RANK if line.entry.rank is None else line.entry.rank for line in file.lines]
    return ResultColumns(
        query_names,
        queries,
        doc_names,
        documents,
        np.array(scores, dtype=np.float64),
        np.array(ranks, dtype=np.int64),
    )


def _number(names: Iterable[str]) -> tuple[NDArray[np.int64], list[str]]:
    codes: dict[str, int] = {}
    numbered = [codes.setdefault(name, len(codes)) for name in names]
    return np.array(numbered, dtype=np.int64), list(codes)


def _note_duplicates(columns: ResultColumns, lines: Sequence[int], problems: Problems) -> None:
    if find_duplicate_row(columns) is None:
        return
    first_lines: dict[tuple[int, int], int] = {}
    for row, pair in enumerate(zip(columns.queries.tolist(), columns.documents.tolist(), strict=True)):
        before = first_lines.setdefault(pair, row)
        if before != row:
            expected = (
                f"each document of a query once (first on line {lines[before]}; --keep-first keeps one)"
            )
            problems.add(lines[row], expected, f"{describe(columns.doc_ids[pair[1]])} again")


def _find_rank_problems(columns: ResultColumns, order: Order) -> list[tuple[int, str, str]]:
    """Return (row, expected, found) for missing and repeated ranks; [] in the order by score."""
    if order != "rank":
        return []
    missing = columns.ranks == NO_RANK
    all_missing = np.bincount(columns.queries[~missing], minlength=len(columns.query_ids)) == 0
    problems = [
        (row, "a rank (--order score uses the scores)", "nothing")
        for row in np.flatnonzero(missing & ~all_missing[columns.queries]).tolist()
    ]
    ranked = np.flatnonzero(~missing)
    rows = ranked[np.lexsort((ranked, columns.ranks[ranked], columns.queries[ranked]))]
    again = (columns.queries[rows][1:] == columns.queries[rows][:-1]) & (
        columns.ranks[rows][1:] == columns.ranks[rows][:-1]
    )
    expected = "each rank of a query once (--order score uses the scores)"
    problems += [(row, expected, f"rank {columns.ranks[row]} again") for row in rows[1:][again].tolist()]
    return sorted(problems)


def _read_times(file: RunFile, problems: Problems) -> NDArray[np.float64] | None:
    """Return the time of each result, NaN if unknown; None if all are unknown."""
    times = [
        math.nan
        if TIME not in line.entry.signals
        else _check_time(line.entry.signals[TIME], TIME, line.line, problems)
        for line in file.lines
    ]
    return None if all(map(math.isnan, times)) else np.array(times, dtype=np.float64)


def _read_answers(
    file: RunFile, names: QueryNames, query_ids: Sequence[str], problems: Problems
) -> tuple[dict[str, float], dict[str, Mapping[str, Any]]]:
    """Return latency and further fields of the answers by query_id. A second answer to a query is a problem."""
    latencies: dict[str, float] = {}
    for line, query_id in zip(file.lines, query_ids, strict=True):
        if LATENCY in line.entry.signals:
            latency = _check_time(line.entry.signals[LATENCY], LATENCY, line.line, problems)
            if not math.isnan(latency):
                latencies[query_id] = max(latency, latencies.get(query_id, 0.0))
    signals: dict[str, Mapping[str, Any]] = {}
    first_lines: dict[str, int] = {}
    for answer in file.answers:
        query_id = answer.query_id
        if answer.query is not None:
            query_id = names.find("", answer.query, answer.line, problems) or answer.query
        before = first_lines.setdefault(query_id, answer.line)
        if query_id in signals:
            expected = f"one answer to each query (first on line {before})"
            problems.add(answer.line, expected, f"{describe(query_id)} again")
            continue
        signals[query_id] = answer.signals
        if LATENCY in answer.signals:
            latencies[query_id] = float(answer.signals[LATENCY])
    return latencies, signals


def _check_time(value: object, name: str, line: int, problems: Problems) -> float:
    """Return milliseconds, or NaN for null. Anything else is noted as a problem and gives NaN."""
    if value is None:
        return math.nan
    if type(value) in (int, float) and 0 <= value < math.inf:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    problems.add(line, f"{name} to be a number from 0", describe(value))
    return math.nan


_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
_UNUSUAL = (b"\0", b"\x0b", b"\x0c", b" +", b"\t+")
_SPACE = re.compile(r"[ \t\r\f\v]")


def read_trec_columns(data: bytes) -> tuple[str, ResultColumns] | None:
    """Return the tag and the results of a TREC run; None if the file needs the reader of formats/runs.py."""
    separator = _find_separator(data)
    if (
        separator is None
        or any(mark in data for mark in _UNUSUAL)
        or data.count(b"\r") != data.count(b"\r\n")
    ):
        return None
    import pyarrow as pa
    from pyarrow import csv

    names = pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(_FIELDS, names) | {"rank": pa.int64(), "score": pa.float64()}
    try:
        table = csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(column_names=list(_FIELDS), use_threads=False),
            parse_options=csv.ParseOptions(delimiter=separator, quote_char=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        ).unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError):
        return None
    if any(column.null_count for column in table.columns) or not table.num_rows:
        return None
    queries, query_ids = _take_codes(table["query_id"])
    documents, doc_ids = _take_codes(table["doc_id"])
    _, tags = _take_codes(table["tag"])
    _, iterations = _take_codes(table["iteration"])
    ranks, scores = table["rank"].to_numpy(), table["score"].to_numpy()
    if len(tags) != 1 or not np.isfinite(scores).all() or ranks.min() < 0 or ranks.max() > MAX_RANK:
        return None
    texts = (*query_ids, *doc_ids, *tags, *iterations)
    if any(not text or _SPACE.search(text) for text in texts) or any(map(is_too_long, texts)):
        return None
    return tags[0], ResultColumns(query_ids, queries, doc_ids, documents, scores, ranks)


def _find_separator(data: bytes) -> str | None:
    """Return the separator of the six fields of the first line, a space or a tab; None for any other line."""
    first = data[:10_000].split(b"\n", 1)[0].rstrip(b"\r")
    for separator in (b" ", b"\t"):
        if first.count(separator) == 5 and len(first.split()) == 6:
            return separator.decode()
    return None


def _take_codes(column: "object") -> "tuple[np.ndarray[tuple[int], np.dtype[np.int64]], list[str]]":
    """Return the codes and the texts of a dictionary column of pyarrow."""
    combined = column.combine_chunks()  # type: ignore[attr-defined]
    if hasattr(combined, "chunks"):
        combined = combined.chunk(0)
    return combined.indices.to_numpy().astype(np.int64), combined.dictionary.to_pylist()
