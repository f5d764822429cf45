"""Read a file of relations between documents: a table (CSV, TSV or JSONL) with the columns from, to and, if wanted, relation.

A relation leads from one document to the other. Two documents are one edge, however many relations there are between them
in that direction. Refused with the line: a missing column, an empty id.
"""

from pathlib import Path

from annotator.evaluation.result_structure import Edge
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import open_table, read_table, take_id

COLUMNS = (("from",), ("to",))


def read_relations(path: Path) -> frozenset[Edge]:
    """Return the edges of a file of relations. BadInput names every bad line."""
    data = read_table(InputSource(str(path)))
    table, problems = open_table(data, str(path), COLUMNS)
    edges = set()
    for row in table.rows:
        start, end = (take_id(row, names, problems) for names in COLUMNS)
        if start is not None and end is not None:
            edges.add((start, end))
    problems.raise_if_any()
    return frozenset(edges)
