"""Pair lists: CSV, TSV or JSONL `query_id,doc_id`. Further columns are kept with the pair's provenance.

Refused: an empty query_id or doc_id. The same pair twice is one pair.
"""

from typing import Any, NamedTuple

from annotator.formats.tables import open_table, take_id

QUERY_NAMES = ("query_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "corpus-id")


class PairLine(NamedTuple):
    """One line of a pair list; `signals` are its further columns."""

    line: int
    query_id: str
    doc_id: str
    signals: dict[str, Any]


def read_pairs(data: bytes, path: str, *, kind: str | None = None) -> list[PairLine]:
    """The lines of a pair list, in order. `kind` is csv, tsv or jsonl; None: by content."""
    table, problems = open_table(data, path, (QUERY_NAMES, DOCUMENT_NAMES), kind=kind)
    lines = []
    for row in table.rows:
        query_id = take_id(row, QUERY_NAMES, problems)
        doc_id = take_id(row, DOCUMENT_NAMES, problems)
        if query_id is not None and doc_id is not None:
            lines.append(PairLine(row.line, query_id, doc_id, row.cells))
    problems.raise_if_any()
    return lines
