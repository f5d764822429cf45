"""How a ground truth becomes files, piece by piece: what every format says about its own file, and who puts them together.

A `FileWriter` gives the beginning, each query with its qrels, and the end of one file as text. So a file of a million
qrels is never whole in memory, and a release writes every format in one pass over the database.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotator.domain.ground_truth import Document, GroundTruth, Metadata, Qrel, Query

ONE_FILE = ""


def _no_document(_: Document) -> str:
    return ""


def _nothing(*_: object) -> str:
    return ""


def _take_every(_: Query, __: Sequence[Qrel]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileWriter:
    """One file of a format. `path` is its place within the format's folder, ONE_FILE where the format is one file.

    `begin(metadata, queries)`: the text before the first query; `queries` is how many will follow, which some
    files state. `add(query, qrels, place)`: one query with its qrels; `place` counts from 0. `add_document`: one document
    (BEIR's corpus). `end(queries)`: the text after the last one; `queries` is how many were added. `takes(query, qrels)`:
    whether the file has a place for this query; `add` is not asked for one that it has none for. Each raises ValidationError for an id that the
    format cannot carry. Line ends are LF, and the same truth gives the same text.

    `by_qrel`: each qrel is a line of its own, so that the qrels of a query need not stand together. `add` then comes
    once for each stretch of qrels of one query (see `grouping.list_runs`), and keeps the order of such a file.
    """

    path: str
    begin: Callable[[Metadata, int], str] = _nothing
    add: Callable[[Query, Sequence[Qrel], int], str] = _nothing
    end: Callable[[int], str] = _nothing
    add_document: Callable[[Document], str] = _no_document
    by_qrel: bool = False
    takes: Callable[[Query, Sequence[Qrel]], bool] = _take_every


def write_file(
    writer: FileWriter,
    truth: GroundTruth,
    groups: Sequence[tuple[Query, Sequence[Qrel]]],
) -> Iterator[str]:
    """The pieces of one file. `groups`: every query with the qrels to be listed (see `grouping`)."""
    yield writer.begin(truth.metadata, len(truth.queries))
    place = 0
    for query, qrels in groups:
        if writer.takes(query, qrels):
            yield writer.add(query, qrels, place)
            place += 1
    for document in truth.documents:
        yield writer.add_document(document)
    yield writer.end(place)


def join_pieces(pieces: Iterable[str]) -> bytes:
    """The whole file's bytes, for files that are small."""
    return "".join(pieces).encode("utf-8")
