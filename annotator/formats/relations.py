"""Read and write a file of relations between documents: a table (CSV, TSV or JSONL) with from, to and
relation.

A relation leads from one document to another. Evaluation and suggestions read the same file. Without a column
`relation` it is "". Other columns are ignored. Refused with the line: a missing column, an empty id.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from annotator.formats.judgments import quote_cell
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import open_table, read_table, take_id, take_text

COLUMNS = (("from",), ("to",))


class RelationLine(NamedTuple):
    """A relation and its line."""

    line: int
    start: str
    """The doc_id that it leads from."""
    end: str
    """The doc_id that it leads to."""
    relation: str
    """What kind of relation it is; "" if the file does not say."""


def read_relation_lines(path: Path) -> tuple[RelationLine, ...]:
    """Return the relations of a file, in order. BadInput names every bad line."""
    return read_relation_table(InputSource(str(path)))


def read_relation_table(source: InputSource) -> tuple[RelationLine, ...]:
    """Return the relations of a table, in order. BadInput names every bad line."""
    table, problems = open_table(read_table(source), source.path, COLUMNS)
    lines = []
    for row in table.rows:
        start, end = (take_id(row, names, problems) for names in COLUMNS)
        relation = take_text(row, ("relation",), problems) or ""
        if start is not None and end is not None:
            lines.append(RelationLine(row.line, start, end, relation.strip()))
    problems.raise_if_any()
    return tuple(lines)


def write_relations(relations: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the lines of a CSV file: from, to, relation."""
    for row in (("from", "to", "relation"), *relations):
        yield ",".join(quote_cell(text) for text in row) + "\n"
