"""Read the answer of a search endpoint: results with ids, scores, ranks and signals, by the spec's paths.

Raises AnswerRefused, with a sentence, if the answer does not fit the spec: a path without a value, an id that
is not a text, a score that is not a finite number, a rank that is not a whole number, or an answer that
declares itself incomplete.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from annotator.domain.errors import AnnotatorError
from annotator.domain.messages import say
from annotator.formats.runs import MAX_RANK
from annotator.formats.syntax.text import ID_LIMIT, describe, is_too_long
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths

MAX_NAMES = 12
MOST_CURSOR = 20_000  # characters of JSON


class AnswerRefused(AnnotatorError):
    """An answer that cannot be read. Without `found`, `expected` is the whole reason."""

    def __init__(self, expected: str, found: str | None = None) -> None:
        both = say("expected {expected}, found {found}", expected=expected, found=found)
        super().__init__(expected if found is None else both)


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """One page of results, as in a run file; without ranks if the answer has none."""

    results: tuple[dict[str, Any], ...]
    total: int | None = None
    engine_ms: float | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)
    cursor: Any = None  # from where the next page goes on; None: this is the last one


def read_page(answer: Any, paths: AnswerPaths) -> AnswerPage:
    """Return the results of one answer."""
    if paths.failed_if and (reason := _search(paths.failed_if, answer, "failed_if")):
        raise AnswerRefused(
            say(
                "the endpoint says that the answer is not whole (failed_if: {path} is {value})",
                path=paths.failed_if,
                value=describe(reason),
            )
        )
    listed = _search(paths.results, answer, "results")
    if not isinstance(listed, list):
        raise AnswerRefused(
            say("results: {path} to be a list", path=paths.results), _describe_missing(listed, answer)
        )
    return AnswerPage(
        tuple(_read_result(item, index, paths) for index, item in enumerate(listed)),
        _read_total(paths, answer),
        _read_engine_ms(paths, answer),
        _read_signals(paths.query_signals, answer, "query_signals"),
        _read_cursor(paths.next_cursor, answer),
    )


def find_repeated(results: tuple[Mapping[str, Any], ...]) -> tuple[str, int, int] | None:
    """Return (doc_id, first position, second position) of the first repeated document, from 1, or None."""
    positions: dict[str, int] = {}
    for position, result in enumerate(results, 1):
        before = positions.setdefault(result["doc_id"], position)
        if before != position:
            return result["doc_id"], before, position
    return None


def _read_result(item: Any, index: int, paths: AnswerPaths) -> dict[str, Any]:
    doc_id = _search(paths.doc_id, item, "id")
    if type(doc_id) is int:
        doc_id = str(doc_id)
    if not isinstance(doc_id, str) or not doc_id:
        raise AnswerRefused(
            say(
                "id: {path} of result {place} to be a text that is not empty",
                path=paths.doc_id,
                place=str(index + 1),
            ),
            _describe_missing(doc_id, item),
        )
    if is_too_long(doc_id):
        raise AnswerRefused(
            say(
                "{place} to be {expected}",
                place=f"id: {paths.doc_id} of result {index + 1}",
                expected=ID_LIMIT,
            ),
            say("{n} characters", n=len(doc_id)),
        )
    result: dict[str, Any] = {"doc_id": doc_id}
    if paths.rank:
        result["rank"] = _read_rank(_search(paths.rank, item, "rank"), index, paths.rank)
    if paths.score:
        result["score"] = _read_score(_search(paths.score, item, "score"), index, paths.score)
    signals = _read_signals(paths.signals, item, "signals")
    return {**result, "signals": signals} if signals else result


def _read_rank(value: Any, index: int, path: str) -> int:
    if type(value) is int and 0 <= value <= MAX_RANK:
        return value
    raise AnswerRefused(
        say("rank: {path} of result {place} to be a whole number from 0", path=path, place=str(index + 1)),
        describe(value),
    )


def _read_score(value: Any, index: int, path: str) -> float:
    if _is_finite(value):
        return float(value)
    place = str(index + 1)
    expected = say("score: {path} of result {place} to be a finite number", path=path, place=place)
    if isinstance(value, str):
        expected = say(
            "score: {path} of result {place} to be a finite number; for a number in quotes write to_number({expression})",
            path=path,
            place=place,
            expression=path,
        )
    raise AnswerRefused(expected, describe(value))


def _is_finite(value: Any) -> bool:
    """Check for a number that a float can hold; not true or false."""
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        return False


def _read_total(paths: AnswerPaths, answer: Any) -> int | None:
    if not paths.total:
        return None
    total = _search(paths.total, answer, "total")
    if type(total) is int and total >= 0:
        return total
    raise AnswerRefused(
        say("total: {path} to be a whole number from 0", path=paths.total), _describe_missing(total, answer)
    )


def _read_engine_ms(paths: AnswerPaths, answer: Any) -> float | None:
    """Return the engine's own time in milliseconds; None if the spec or the answer has none."""
    path, factor = (paths.engine_ms, 1) if paths.engine_ms else (paths.engine_seconds, 1000)
    value = _search(path, answer, "engine time") if path else None
    if value is None:
        return None
    if _is_finite(value) and value >= 0 and math.isfinite(float(value) * factor):
        return float(value) * factor
    raise AnswerRefused(say("engine time: {path} to be a number from 0", path=path), describe(value))


def _read_cursor(path: str | None, answer: Any) -> Any:
    """Return the cursor of the next page; None if it is null, an empty text or an empty list."""
    cursor = _search(path, answer, "next_cursor") if path else None
    if cursor is None or cursor in ("", [], {}):
        return None
    if isinstance(cursor, bool):
        raise AnswerRefused(
            say("next_cursor: {path} to be what the next page begins with", path=path), describe(cursor)
        )
    try:
        length = len(json.dumps(cursor, ensure_ascii=False))
    except RecursionError:
        raise AnswerRefused(
            f"next_cursor: {path} to be a short value", "one that is nested too deeply"
        ) from None
    if length > MOST_CURSOR:
        raise AnswerRefused(f"next_cursor: {path} to be at most {MOST_CURSOR:,} characters", f"{length:,}")
    return cursor


def _read_signals(paths: Mapping[str, str], value: Any, key: str) -> dict[str, Any]:
    """Return {name: signal}, without signals whose path has no value."""
    values = {name: _search(path, value, f"{key}.{name}") for name, path in paths.items()}
    return {name: signal for name, signal in values.items() if signal is not None}


def _search(path: str, value: Any, key: str) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return _compile(path).search(value)
    except JMESPathError as error:
        reason = str(error).splitlines()[0]
        raise AnswerRefused(f"{key}: {path} to fit the answer", f"that it does not: {reason:.200}") from None
    except RecursionError:
        raise AnswerRefused(f"{key}: {path:.200} to fit the answer", "that it is nested too deeply") from None


@lru_cache(maxsize=256)
def _compile(path: str) -> Any:
    import jmespath

    return jmespath.compile(path)


def _describe_missing(value: Any, holder: Any) -> str:
    """Describe a path's value; if it is missing, also the names that exist instead."""
    if value is not None:
        return describe(value)
    if isinstance(holder, Mapping):
        names = [str(name)[:40] for name in list(holder)[:MAX_NAMES]]
        more = ", …" if len(holder) > MAX_NAMES else ""
        if not names:
            return say("nothing (an empty object)")
        return say("nothing (there are: {names})", names=f"{', '.join(names)}{more}")
    return say("nothing in {value}", value=describe(holder))
