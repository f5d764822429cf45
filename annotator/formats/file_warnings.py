"""Finds queries without a relevant document in a file whose evaluator cannot compute with them.

That of `ranked` divides by the length of the list, and stops at an empty one. Such a file is valid and can be read; what
this program writes leaves these queries out and counts them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotator.domain.ground_truth import GroundTruth
from annotator.formats.format import Format
from annotator.formats.source import Source
from annotator.formats.text import describe

NAMED = 5


@dataclass(frozen=True, slots=True)
class EmptyList:
    """A query without a relevant document, and the line on which it begins."""

    query_id: str
    line: int | None
    text: str


def list_empty_lists(source: Source, known: Format, truth: GroundTruth) -> tuple[EmptyList, ...]:
    """Return the queries without a relevant document, in the order of the file. Empty for formats that can hold such queries."""
    if "grades" in known.features:
        return ()
    listed = {qrel.query_id for qrel in truth.qrels}
    places = [place for place, query in enumerate(truth.queries) if query.query_id not in listed]
    if not places:
        return ()
    lines = (
        known.find_query_lines(source) if known.find_query_lines is not None else [None] * len(truth.queries)
    )
    queries = truth.queries
    return tuple(EmptyList(queries[place].query_id, lines[place], queries[place].text) for place in places)


def say_empty_lists(path: str, empty: tuple[EmptyList, ...]) -> Iterator[str]:
    """Yield a sentence for each of the first, and one for the others."""
    for query in empty[:NAMED]:
        where = path if query.line is None else f"{path}:{query.line}"
        yield (
            f"{where}: {query.query_id} {describe(query.text)} lists no relevant document: the evaluator of this file divides by "
            "the length of the list and stops"
        )
    more = len(empty) - NAMED
    if more > 0:
        yield f"{path}: {more:,} more {'query lists' if more == 1 else 'queries list'} no relevant document (--json lists all)"
