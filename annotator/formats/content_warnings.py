"""Warn about queries without a relevant document, repeated query texts, and wrong counts in a ground-truth
file.

These do not refuse the file. The evaluator of `ranked` divides by the list's length and fails on an empty
list; this program leaves such queries out when it writes, and counts them. In a file without query ids, two
queries with the same text cannot be distinguished. A wrong `total_queries` or `total_relevant` is reported
with both numbers: the file was edited by hand or truncated.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotator.domain.ground_truth import GroundTruth, WrongCount
from annotator.domain.messages import CommandWords, say_n
from annotator.formats.format import Format
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import describe
from annotator.formats.syntax.tree import Location, Tree, is_nothing, line_of, show_location
from annotator.formats.syntax.yaml_text import resolve

NAMED = 5


@dataclass(frozen=True, slots=True)
class EmptyList:
    """A query without a relevant document, and the line on which it begins."""

    query_id: str
    line: int | None
    text: str


def list_empty_lists(source: InputSource, file_format: Format, truth: GroundTruth) -> tuple[EmptyList, ...]:
    """Return the queries without a relevant document, unless the format can hold them, in file order."""
    if "grades" in file_format.features:
        return ()
    listed = {qrel.query_id for qrel in truth.qrels}
    indexes = [index for index, query in enumerate(truth.queries) if query.query_id not in listed]
    if not indexes:
        return ()
    lines = (
        file_format.find_query_lines(source)
        if file_format.find_query_lines is not None
        else [None] * len(truth.queries)
    )
    queries = truth.queries
    return tuple(EmptyList(queries[index].query_id, lines[index], queries[index].text) for index in indexes)


def describe_empty_lists(path: str, empty: tuple[EmptyList, ...]) -> Iterator[str]:
    """Yield a sentence for each of the first empty lists, and one sentence for the others."""
    for query in empty[:NAMED]:
        where = path if query.line is None else f"{path}:{query.line}"
        yield (
            f"{where}: {query.query_id} {describe(query.text)} lists no relevant document: the evaluator of this file divides by "
            "the length of the list and stops"
        )
    more = len(empty) - NAMED
    if more > 0:
        yield f"{path}: {more:,} more {'query lists' if more == 1 else 'queries list'} no relevant document (--json lists all)"


def list_missing_documents(truth: GroundTruth) -> tuple[str, ...]:
    """Return the graded doc_ids that the file's own documents lack. Empty for a file without documents."""
    if not truth.documents:
        return ()
    doc_ids = {document.doc_id for document in truth.documents}
    return tuple(dict.fromkeys(qrel.doc_id for qrel in truth.qrels if qrel.doc_id not in doc_ids))


def list_repeated_texts(file_format: Format, truth: GroundTruth) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return each repeated query text with its positions in the file, from 1. Empty for formats with ids."""
    if "query_ids" in file_format.features:
        return ()
    numbers: dict[str, list[int]] = {}
    for number, query in enumerate(truth.queries, 1):
        numbers.setdefault(query.text, []).append(number)
    return tuple((text, tuple(numbers)) for text, numbers in numbers.items() if len(numbers) > 1)


def describe_repeated_texts(path: str, repeated: tuple[tuple[str, tuple[int, ...]], ...]) -> Iterator[str]:
    """Yield a sentence for each of the first repeated texts, and one sentence for the others."""
    for text, numbers in repeated[:NAMED]:
        listed = ", ".join(map(str, numbers))
        yield f"{path}: the query {describe(text)} stands {len(numbers):,} times, as number {listed}; the file has no ids to tell them apart"
    more = len(repeated) - NAMED
    if more > 0:
        yield f"{path}: {more:,} more query {'text stands' if more == 1 else 'texts stand'} more than once"


QUERIES = ("query", "queries")
RELEVANT = ("document of grade 1-3", "documents of grade 1-3")


class StatedCount(NamedTuple):
    """A count that the file states at `location`, the real count, and the noun (singular, plural)."""

    location: Location
    value: Any
    counted: int
    nouns: tuple[str, str]


def find_wrong_counts(tree: Tree, stated: Iterable[StatedCount]) -> tuple[WrongCount, ...]:
    """Return the wrong counts with their lines, in file order."""
    wrong = [count for count in stated if not is_nothing(count.value) and not _is_right(count)]
    if not wrong:
        return ()
    lines = tree.locate([count.location for count in wrong])
    return tuple(
        WrongCount(
            tree.path,
            line_of(lines, count.location),
            show_location(count.location),
            describe(resolve(count.value)),
            count.counted,
            count.nouns[count.counted != 1],
        )
        for count in wrong
    )


def describe_wrong_counts(wrong: tuple[WrongCount, ...]) -> Iterator[str]:
    """Yield a sentence for each of the first wrong counts, and one sentence for the others."""
    yield from map(str, wrong[:NAMED])
    more = len(wrong) - NAMED
    if more > 0:
        yield say_n(
            "{path}: {n:,} more count is wrong{command}",
            "{path}: {n:,} more counts are wrong{command}",
            more,
            path=wrong[0].path,
            command=CommandWords(": annotator check lists all"),
        )


def _is_right(count: StatedCount) -> bool:
    value = resolve(count.value)
    return type(value) is int and value == count.counted
