"""Describe a format as the registry lists it, write its files, and find the JSON Schemas that ship with the program.

Each format's module ends with its `FORMAT`. Its contents are given as words for people (`holds`,
`cannot_hold`) and as `features`; losses are derived from features, and tests draw data from them. A schema
covers a file's shape; the reader checks the rest, such as unique ids. For a format of lines it covers one
line. YAML is checked after unquoted numbers and null are resolved.

A `FileWriter` returns the beginning of a file, each query with its qrels, and the end as text. So a file of a
million qrels is never complete in memory, and a release writes all formats in one pass over the database.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, Document, GroundTruth, Metadata, Qrel, Query
from annotator.formats.syntax.source import InputSource

ONE_FILE = ""


def _nothing(*_: object) -> str:
    return ""


def _take_every(_: Query, __: Sequence[Qrel]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes one file of a format, with LF as line end. The functions raise ValidationError for an id that it cannot hold."""

    path: str
    """Within the format's folder; ONE_FILE if the format is a single file."""
    begin: Callable[[Metadata, int], str] = _nothing
    """Returns the text before the first query. The number is how many queries will follow, which some files state."""
    add: Callable[[Query, Sequence[Qrel], int], str] = _nothing
    """Returns the text of a query with its qrels. The number counts the queries from 0."""
    end: Callable[[int], str] = _nothing
    """Returns the text after the last query. The number is how many were added."""
    add_document: Callable[[Document], str] = _nothing
    """Returns the text of a document (BEIR's corpus)."""
    by_qrel: bool = False
    """Each qrel is a line of its own, so the qrels of a query need not stand together. Then `add` is called once for each
    stretch of qrels of one query (see `list_runs`), which keeps the order of the truth."""
    takes: Callable[[Query, Sequence[Qrel]], bool] = _take_every
    """Whether the file can hold this query. If not, `add` is not called for it."""


def write_file(
    writer: FileWriter,
    truth: GroundTruth,
    groups: Sequence[tuple[Query, Sequence[Qrel]]],
) -> Iterator[str]:
    """Yield the pieces of one file. `groups`: every query with its qrels to list (see `group_qrels`)."""
    yield writer.begin(truth.metadata, len(truth.queries))
    index = 0
    for query, qrels in groups:
        if writer.takes(query, qrels):
            yield writer.add(query, qrels, index)
            index += 1
    for document in truth.documents:
        yield writer.add_document(document)
    yield writer.end(index)


Group = tuple[Query, Sequence[Qrel]]


def group_qrels(truth: GroundTruth, *, list_grade_0: bool) -> list[Group]:
    """Return every query with its qrels, both in the truth's order; grade 0 only with `list_grade_0`.

    ValidationError if a query is repeated or a qrel has no query.
    """
    groups: dict[str, list[Qrel]] = {query.query_id: [] for query in truth.queries}
    if len(groups) != len(truth.queries):
        raise ValidationError("expected every query_id once, found one of them again")
    for qrel in truth.qrels:
        group = groups.get(qrel.query_id)
        if group is None:
            raise ValidationError(f"expected the query of every qrel, found none for {qrel.query_id!r}")
        if qrel.grade > 0 or list_grade_0:
            group.append(qrel)
    return [(query, groups[query.query_id]) for query in truth.queries]


def list_runs(truth: GroundTruth, groups: Sequence[Group], *, list_grade_0: bool) -> Sequence[Group]:
    """Return the qrels in the truth's own order, in groups of one query each, for files with a line per qrel.

    A query without qrels comes before the next query of the truth. `groups`: from `group_qrels`; returned
    unchanged if the qrels of each query are together, in the order of the queries.
    """
    if _stand_together(truth):
        return groups
    numbered: dict[str, tuple[int, Query]] = {
        query.query_id: (index, query) for index, query in enumerate(truth.queries)
    }
    runs: list[tuple[Query, list[Qrel]]] = []
    empty = [index for index, (_, qrels) in enumerate(groups) if not qrels][::-1]
    for qrel in truth.qrels:
        if qrel.grade == 0 and not list_grade_0:
            continue
        index, query = numbered[qrel.query_id]
        while empty and empty[-1] < index:
            runs.append((truth.queries[empty.pop()], []))
        if not runs or runs[-1][0] is not query:
            runs.append((query, []))
        runs[-1][1].append(qrel)
    return [*runs, *((truth.queries[index], []) for index in reversed(empty))]


def _stand_together(truth: GroundTruth) -> bool:
    order = {query.query_id: index for index, query in enumerate(truth.queries)}
    last = -1
    for qrel in truth.qrels:
        index = order[qrel.query_id]
        if index < last:
            return False
        last = index
    return True


def list_fields(query: Query, *, without: Sequence[str] = ()) -> dict[str, str]:
    """Return {name: value} of the known fields that the query has, in their usual order."""
    values = {name: getattr(query, name) for name in QUERY_FIELDS if name not in without}
    return {name: value for name, value in values.items() if value is not None}


Feature = Literal[
    "query_ids",
    "query_texts",
    "query_fields",  # category, language, query_type, difficulty, primary_domain, narrative
    "query_metadata",
    "queries_without_qrels",
    "grades",  # without it only the order of grades comes back
    "large_grades",  # above 3: from a ranked file read by position
    "descriptions",
    "notes",
    "two_annotators",  # the first two annotators' grades, under the names annotator_1 and annotator_2
    "annotator_grades",  # those of any number of annotators
    "origins",
    "qrel_metadata",
    "iterations",  # of a qrel's metadata only TREC's iteration
    "file_metadata",
    "documents",
    "typed_metadata",  # numbers, lists, mappings, null; without it metadata values come back as texts
    "empty_texts",  # tells "" from absent where a text may be absent
]

QUERY_FEATURES: frozenset[Feature] = frozenset(
    ("query_ids", "query_texts", "query_fields", "query_metadata", "queries_without_qrels", "grades")
)
OTHER_KEYS = "(beside)"
"""The metadata key that holds a mapping of further keys: keys of the file that metadata itself cannot hold."""


class ReservedKeys(NamedTuple):
    """Keys that a format uses itself, so metadata cannot: of the file, a query, and so on."""

    file: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    qrel: frozenset[str] = frozenset()
    document: frozenset[str] = frozenset()


NONE_RESERVED = ReservedKeys()


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: how to detect it, read it and write it, and what it can hold."""

    name: str
    about: str
    suffixes: tuple[str, ...]
    holds: tuple[str, ...]
    cannot_hold: tuple[str, ...]
    features: frozenset[Feature]
    read: Callable[[InputSource], GroundTruth]
    """Raises BadInput with every bad place."""
    files: tuple[FileWriter, ...]
    """A format of a single file has one writer, with the path ONE_FILE."""
    certain: Callable[[bytes], bool]
    """Whether a file that begins with these bytes (up to 64 kB, in UTF-8) can only have this format."""
    tells_grade_0: bool
    """Grade 0 is always listed, since readers tell it from unjudged."""
    find_query_lines: Callable[[InputSource], list[int]] | None = None
    """Returns the line on which each query begins, for messages."""
    schema: str | None = None
    """A file in `formats/schemas/`."""
    read_graded: Callable[[InputSource, str], GroundTruth] | None = None
    """Reads a file without grades; the second argument is the rule of `--grades-by`."""
    carries_id: Callable[[str], bool] | None = None
    """Whether the format can hold this id; None if it can hold every id."""
    reserved: ReservedKeys = NONE_RESERVED
    lay_out: Callable[[GroundTruth], tuple[FileWriter, ...]] | None = None
    """Returns the writers for a truth, if they depend on all of it (the columns of a table)."""
    ordered: bool = False
    """Each query has a list of documents whose order somebody chose. In a table of lines the order means nothing."""

    @property
    def needs_grades_by(self) -> bool:
        """Return whether reading needs `--grades-by`, since the file holds no grades."""
        return self.read_graded is not None


SUFFIX = ".schema.json"


def list_schemas() -> list[str]:
    """Return the file names of all schemas, sorted."""
    folder = files("annotator.formats") / "schemas"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(SUFFIX))


def read_schema(name: str) -> dict[str, Any]:
    """Return a schema by its file name, such as `law.schema.json`. NotFound lists the existing ones."""
    names = list_schemas()
    if name not in names:
        raise NotFound(f"no schema named {name!r}; there are: {', '.join(names)}")
    schema: dict[str, Any] = json.loads((files("annotator.formats") / "schemas" / name).read_text("utf-8"))
    return schema
