"""Gives queries the texts and fields that their file has not: `convert --queries FILE`.

Between reading and looking for losses. Queries are known by their ids; in a format without ids (ranked) by their exact
texts, and then they get the ids of the queries file. What the source says itself stays. Refused: a text
that stands for two queries of the file, or for none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Query
from annotator.formats.input_tables import read_queries
from annotator.formats.registry import list_certain, read_truth
from annotator.formats.source import Source
from annotator.formats.tables import kind_of_name
from annotator.formats.text import describe

_NAMED = 5


def read_query_file(source: Source) -> tuple[Query, ...]:
    """The queries of any file that has some: a ground-truth file or folder, or a table `query_id,text`."""
    if source.is_folder or len(list_certain(source)) == 1:
        return read_truth(source)[1].queries
    if kind_of_name(source.path) is None:
        try:
            return read_truth(source)[1].queries
        except ValidationError as error:
            raise ValidationError(f"--queries: {error}") from None
    return tuple(line.query for line in read_queries(source.read_bytes(), source.path))


def supply_texts(
    truth: GroundTruth, queries: Sequence[Query], *, by_text: bool
) -> tuple[GroundTruth, tuple[str, ...]]:
    """The truth with what `queries` says about its queries, and notes on what did not fit."""
    if by_text:
        truth = _give_ids(truth, queries)
    known = {query.query_id: query for query in queries}
    found = tuple(_fill(query, known.get(query.query_id)) for query in truth.queries)
    return replace(truth, queries=found), tuple(_list_notes(truth.queries, known))


def _fill(query: Query, other: Query | None) -> Query:
    if other is None:
        return query
    fields: dict[str, Any] = {
        name: getattr(other, name) for name in QUERY_FIELDS if getattr(query, name) is None
    }
    return replace(
        query, text=query.text or other.text, metadata={**other.metadata, **query.metadata}, **fields
    )


def _list_notes(queries: Sequence[Query], known: dict[str, Query]) -> Iterable[str]:
    unknown = [query.query_id for query in queries if query.query_id not in known]
    if unknown:
        yield f"--queries does not know {_say(unknown)}"
    others = set(known) - {query.query_id for query in queries}
    if others:
        yield f"--queries holds {_count(len(others))} that have no qrel here; they are left out"
    differing = [
        query.query_id
        for query in queries
        if query.query_id in known and query.text and query.text != known[query.query_id].text
    ]
    if differing:
        yield f"--queries has another text for {_say(differing)}; the file's own is kept"


def _give_ids(truth: GroundTruth, queries: Sequence[Query]) -> GroundTruth:
    """The truth under the ids that the queries file has for the same texts."""
    ids: dict[str, list[str]] = {}
    for query in queries:
        ids.setdefault(query.text, []).append(query.query_id)
    wrong = [query.text for query in truth.queries if len(ids.get(query.text, ())) != 1]
    if wrong:
        named = ", ".join(describe(text) for text in wrong[:_NAMED])
        raise ValidationError(
            f"--queries: expected each query's text once, found {len(wrong):,} missing or more than once: {named}"
        )
    given = {query.query_id: ids[query.text][0] for query in truth.queries}
    if len(set(given.values())) != len(given):
        raise ValidationError(
            "--queries: expected each query's text once in the file to convert, found one again"
        )
    return replace(
        truth,
        queries=tuple(replace(query, query_id=given[query.query_id]) for query in truth.queries),
        qrels=tuple(replace(qrel, query_id=given[qrel.query_id]) for qrel in truth.qrels),
    )


def _say(ids: list[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return f"{_count(len(ids))}: {', '.join(describe(query_id) for query_id in ids[:_NAMED])}{more}"


def _count(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"
