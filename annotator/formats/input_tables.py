"""Query tables: CSV, TSV or JSONL with `query_id,text` (BEIR: `_id,text,metadata{}`) and any further columns.

A TSV file may lack the header where nothing can be one: two columns, the id and the text. Known columns (`category, language, query_type, difficulty, primary_domain, narrative`) become fields; the rest
is kept as metadata. A TSV file of two columns may do without a header where its first line cannot be one. Refused: a query_id twice, an id or a text that is empty.
"""

import codecs
import re
from typing import NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import QUERY_FIELDS, Query
from annotator.formats.tables import Row, detect_kind, open_table, take_id, take_text, unfold_metadata
from annotator.formats.text import describe

ID_NAMES = ("query_id", "_id")
TEXT_NAMES = ("text", "query")
_NAMES = frozenset(  # of columns, as people name them; a line with one of these is a header
    [
        "id",
        "ids",
        "qid",
        "queryid",
        "topicid",
        "topic",
        "number",
        "no",
        "num",
        "key",
        "name",
        "query",
        "queries",
        "querytext",
        "text",
        "texts",
        "title",
        "question",
        "questions",
        "search",
        "searchquery",
        "content",
        "description",
        "keyword",
        "keywords",
        "category",
        "language",
        "lang",
        "type",
        "querytype",
        "difficulty",
        "domain",
        "primarydomain",
        "narrative",
        "metadata",
        "docid",
        "documentid",
        "url",
        "relevance",
        "grade",
        "score",
    ]
)


class QueryLine(NamedTuple):
    """A query and the line it stands on; None where its file has no lines of its own."""

    line: int | None
    query: Query


def read_queries(data: bytes, path: str, *, kind: str | None = None, header: bool = True) -> list[QueryLine]:
    """The queries of a table, in order. `kind` is csv, tsv or jsonl; None: by content. `header`: False where a CSV or TSV file
    of two columns, the id and the text, has none; of a TSV file the first line tells otherwise.

    BadInput names every bad line.
    """
    kind = kind or detect_kind(data, path)
    bare = (kind in ("csv", "tsv") and not header) or (kind == "tsv" and _has_no_header(data))
    columns = (ID_NAMES[0], TEXT_NAMES[0]) if bare else ()
    table, problems = open_table(data, path, (ID_NAMES, TEXT_NAMES), kind=kind, columns=columns)
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


def _has_no_header(data: bytes) -> bool:
    """Whether the first line of a TSV file cannot be a header: two cells, and neither is a name that columns have."""
    first = data[:65_536].removeprefix(codecs.BOM_UTF8).split(b"\n", 1)[0].decode("utf-8", "replace")
    cells = [cell.strip().strip('"').lower() for cell in first.split("\t")]
    return len(cells) == 2 and all(cells) and not any(re.sub(r"[\W_]", "", cell) in _NAMES for cell in cells)


def _read_row(row: Row, problems: Problems) -> Query | None:
    unfold_metadata(row)
    query_id = take_id(row, ID_NAMES, problems)
    text = take_text(row, TEXT_NAMES, problems)
    fields = {name: take_text(row, (name,), problems) for name in QUERY_FIELDS}
    if text is None or not text.strip():
        problems.add(row.line, "text to be a text that is not empty", describe(text))
        return None
    return None if query_id is None else Query(query_id, text, **fields, metadata=row.cells)
