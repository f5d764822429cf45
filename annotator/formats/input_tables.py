"""Read tables of queries, documents, pairs and relations: CSV, TSV or JSON Lines.

Queries: `query_id,text` (BEIR: `_id,text,metadata{}`); `category, language, query_type, difficulty,
primary_domain, narrative` become fields, other columns metadata. A TSV of two columns may omit the header if
its first line cannot be one. Documents: `doc_id,title,text,url,media_type` (BEIR:
`_id,title,text,metadata{}`); other columns become metadata. A document without text has only its title.
Pairs: `query_id,doc_id`; other columns go to the pair's provenance; a repeated pair counts once. Refused: an
empty id; a repeated query or document; an empty query text; a document without title and text; an unknown
media type.

Relations: `from,to,relation`; a relation leads from one document to another. Evaluation and suggestions read
the same file. Without a column `relation` it is ""; other columns are ignored. In a CSV table of a lead
(decisions, checks), with one line for each pair, other columns and repeated pairs are refused.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from annotator.domain.errors import Problems
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import MEDIA_TYPES, QUERY_FIELDS, Document, Query
from annotator.domain.messages import say
from annotator.formats.judgments import quote_cell
from annotator.formats.syntax.grade_scale import read_decimal
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import (
    ColumnNames,
    TableLine,
    check_columns,
    detect_kind,
    open_table,
    read_rows,
    read_table,
    take_id,
    take_text,
    take_texts,
    unfold_metadata,
)
from annotator.formats.syntax.text import describe

QUERY_ID_NAMES = ("query_id", "_id")
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
    """A query and its line; None if its file has no lines of its own."""

    line: int | None
    query: Query


def read_queries(
    data: bytes,
    path: str,
    *,
    kind: str | None = None,
    header: bool = True,
    names: ColumnNames | None = None,
) -> list[QueryLine]:
    """Return the queries of a table, in order. BadInput names every bad line.

    `kind`: csv, tsv or jsonl; None: by content. `header`: False if a CSV or TSV file with two columns, id and
    text, has no header; for TSV the first line can also show this. `names`: see `rename_columns`.
    """
    kind = kind or detect_kind(data, path)
    bare = (kind in ("csv", "tsv") and not header) or (kind == "tsv" and not names and _has_no_header(data))
    columns = (QUERY_ID_NAMES[0], TEXT_NAMES[0]) if bare else ()
    required = (QUERY_ID_NAMES, TEXT_NAMES)
    table, problems = open_table(data, path, required, kind=kind, columns=columns, names=names)
    by_id: dict[str, QueryLine] = {}
    for row in table.rows:
        query = _read_query_row(row, problems)
        if query is None:
            continue
        before = by_id.setdefault(query.query_id, QueryLine(row.line, query))
        if before.line != row.line:
            problems.add(
                row.line, say("each query_id once (first on line {line})", line=before.line), query.query_id
            )
    problems.raise_if_any()
    return list(by_id.values())


def _has_no_header(data: bytes) -> bool:
    """Check whether a TSV's first line is no header: two cells, and neither is a known column name."""
    first = data[:65_536].removeprefix(codecs.BOM_UTF8).split(b"\n", 1)[0].decode("utf-8", "replace")
    cells = [cell.strip().strip('"').lower() for cell in first.split("\t")]
    return len(cells) == 2 and all(cells) and not any(re.sub(r"[\W_]", "", cell) in _NAMES for cell in cells)


def _read_query_row(row: TableLine, problems: Problems) -> Query | None:
    unfold_metadata(row)
    query_id = take_id(row, QUERY_ID_NAMES, problems)
    text = take_text(row, TEXT_NAMES, problems)
    fields = {name: take_text(row, (name,), problems) for name in QUERY_FIELDS}
    if text is None or not text.strip():
        problems.add(row.line, say("text to be a text that is not empty"), describe(text))
        return None
    return None if query_id is None else Query(query_id, text, **fields, metadata=row.cells)


DOCUMENT_ID_NAMES = ("doc_id", "_id")


class DocumentLine(NamedTuple):
    """A document, its file and its line (None: the whole file)."""

    path: str
    line: int | None
    document: Document


def read_documents(
    data: bytes, path: str, *, kind: str | None = None, names: ColumnNames | None = None
) -> list[DocumentLine]:
    """Return the documents of a table, in order. `kind`: csv, tsv or jsonl; None: by content. `names`: see `rename_columns`."""
    table, problems = open_table(data, path, (DOCUMENT_ID_NAMES, ("text", "title")), kind=kind, names=names)
    by_id: dict[str, DocumentLine] = {}
    for row in table.rows:
        document = _read_document_row(row, problems)
        if document is None:
            continue
        before = by_id.setdefault(document.doc_id, DocumentLine(path, row.line, document))
        if before.line != row.line:
            problems.add(
                row.line, say("each doc_id once (first on line {line})", line=before.line), document.doc_id
            )
    problems.raise_if_any()
    return list(by_id.values())


def _read_document_row(row: TableLine, problems: Problems) -> Document | None:
    unfold_metadata(row)
    doc_id = take_id(row, DOCUMENT_ID_NAMES, problems)
    title, text, url, media_type = take_texts(row, ("title", "text", "url", "media_type"), problems)
    title, text, media_type = title or "", text or "", media_type or "text/plain"
    if media_type not in MEDIA_TYPES:
        problems.add(
            row.line, say("media_type to be one of {names}", names=", ".join(MEDIA_TYPES)), media_type
        )
    if not title.strip() and not text.strip():
        problems.add(row.line, say("a title or a text"), say("neither"))
        return None
    return None if doc_id is None else Document(doc_id, title, text, url, media_type, row.cells)


QUERY_NAMES = ("query_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "corpus-id")


class PairListLine(NamedTuple):
    """One line of a pair list; `signals` holds its other columns."""

    line: int
    query_id: str
    doc_id: str
    signals: dict[str, Any]


def read_pairs(
    data: bytes, path: str, *, kind: str | None = None, names: ColumnNames | None = None
) -> list[PairListLine]:
    """Return the lines of a pair list, in order. `kind`: csv, tsv or jsonl; None: by content."""
    table, problems = open_table(data, path, (QUERY_NAMES, DOCUMENT_NAMES), kind=kind, names=names)
    lines = []
    for row in table.rows:
        query_id = take_id(row, QUERY_NAMES, problems)
        doc_id = take_id(row, DOCUMENT_NAMES, problems)
        if query_id is not None and doc_id is not None:
            lines.append(PairListLine(row.line, query_id, doc_id, row.cells))
    problems.raise_if_any()
    return lines


_GRADES = {str(grade): grade for grade in GRADES}


class PairTableLine(Protocol):
    """One line; `line` is its first line number in the file, from 1."""

    @property
    def line(self) -> int: ...
    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...


Line = TypeVar("Line", bound=PairTableLine)


def read_pair_table(
    data: bytes,
    path: str,
    problems: Problems,
    read_row: Callable[[TableLine, Problems], Line | None],
    *,
    columns: Sequence[str],
    optional: Sequence[str] = (),
) -> list[Line]:
    """Return the good lines of a CSV file (UTF-8, with or without BOM). Bad ones are noted in `problems`.

    BadInput at once if the columns are wrong. `read_row` returns None after noting a problem.
    """
    table = read_rows(data, path, kind="csv", problems=problems)
    check_columns(table, [(name,) for name in columns], problems)
    allowed, present = (*columns, *optional), table.columns or ()
    unknown = [name for name in present if name not in allowed]
    if unknown:
        problems.add(
            1,
            say("no columns but {names}", names=", ".join(allowed)),
            ", ".join(unknown).strip() or "a column without a name",
        )
    if unknown or not set(columns) <= set(present):
        problems.raise_if_any()
    by_pair: dict[tuple[str, str], Line] = {}
    for row in table.rows:
        line = read_row(row, problems)
        if line is None:
            continue
        first = by_pair.setdefault((line.query_id, line.doc_id), line)
        if first is not line:
            problems.add(
                row.line,
                say("each pair once"),
                say("{item} again", item=say("the pair of line {line}", line=first.line)),
            )
    return list(by_pair.values())


def take_pair(row: TableLine, problems: Problems) -> tuple[str, str] | None:
    """Remove and return (query_id, doc_id); None after noting a problem."""
    query_id, doc_id = (take_id(row, (name,), problems) for name in ("query_id", "doc_id"))
    return None if query_id is None or doc_id is None else (query_id, doc_id)


def read_grade(row: TableLine, problems: Problems) -> int | None:
    """Return the grade 0-3; None after noting a problem."""
    cell = row.cells.get("grade", "")
    grade = _GRADES.get(cell.strip())
    grade = read_decimal(cell) if grade is None else grade
    if grade is None:
        problems.add(row.line, say("a grade 0, 1, 2 or 3"), repr(cell))
    return grade


RELATION_COLUMNS = (("from",), ("to",))


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
    table, problems = open_table(read_table(source), source.path, RELATION_COLUMNS)
    lines = []
    for row in table.rows:
        start, end = (take_id(row, names, problems) for names in RELATION_COLUMNS)
        relation = take_text(row, ("relation",), problems) or ""
        if start is not None and end is not None:
            lines.append(RelationLine(row.line, start, end, relation.strip()))
    problems.raise_if_any()
    return tuple(lines)


def write_relations(relations: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the lines of a CSV file: from, to, relation."""
    for row in (("from", "to", "relation"), *relations):
        yield ",".join(quote_cell(text) for text in row) + "\n"
