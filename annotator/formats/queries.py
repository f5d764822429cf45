"""Query tables: CSV, TSV or JSONL with `query_id,text` (BEIR: `_id,text,metadata{}`) and any further columns.

Known columns (`category, language, query_type, difficulty, primary_domain, narrative`) become fields; the rest
is kept as metadata. Refused: a query_id twice, an id or a text that is empty.
"""

from typing import NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import QUERY_FIELDS, Query
from annotator.formats.tables import Row, open_table, take_id, take_text, unfold_metadata
from annotator.formats.text import describe

ID_NAMES = ("query_id", "_id")
TEXT_NAMES = ("text", "query")


class QueryLine(NamedTuple):
    """A query and the line it stands on; None where its file has no lines of its own."""

    line: int | None
    query: Query


def read_queries(data: bytes, path: str, *, kind: str | None = None) -> list[QueryLine]:
    """The queries of a table, in order. `kind` is csv, tsv or jsonl; None: by content.

    BadInput names every bad line.
    """
    table, problems = open_table(data, path, (ID_NAMES, TEXT_NAMES), kind=kind)
    found: dict[str, QueryLine] = {}
    for row in table.rows:
        query = _read_row(row, problems)
        if query is None:
            continue
        before = found.setdefault(query.query_id, QueryLine(row.line, query))
        if before.line != row.line:
            problems.add(row.line, f"each query_id once (first on line {before.line})", query.query_id)
    problems.raise_if_any()
    return list(found.values())


def _read_row(row: Row, problems: Problems) -> Query | None:
    unfold_metadata(row)
    query_id = take_id(row, ID_NAMES, problems)
    text = take_text(row, TEXT_NAMES, problems)
    fields = {name: take_text(row, (name,), problems) for name in QUERY_FIELDS}
    if text is None or not text.strip():
        problems.add(row.line, "text to be a text that is not empty", describe(text))
        return None
    return None if query_id is None else Query(query_id, text, **fields, metadata=row.cells)
