"""Document tables: JSONL, CSV or TSV with `doc_id,title,text,url,media_type` (BEIR: `_id,title,text,metadata{}`).

Further columns are kept as metadata. A document without a text is known by its title only. Refused: a doc_id
twice, an empty one, neither title nor text, a media type that is not one of ours.
"""

from typing import NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import MEDIA_TYPES, Document
from annotator.formats.tables import Row, open_table, take_id, take_text, unfold_metadata

ID_NAMES = ("doc_id", "_id")


class DocumentLine(NamedTuple):
    """A document, the file it came from and the line it stands on (None: the whole file)."""

    path: str
    line: int | None
    document: Document


def read_documents(data: bytes, path: str, *, kind: str | None = None) -> list[DocumentLine]:
    """The documents of a table, in order. `kind` is csv, tsv or jsonl; None: by content.

    BadInput names every bad line.
    """
    table, problems = open_table(data, path, (ID_NAMES, ("text", "title")), kind=kind)
    found: dict[str, DocumentLine] = {}
    for row in table.rows:
        document = _read_row(row, problems)
        if document is None:
            continue
        before = found.setdefault(document.doc_id, DocumentLine(path, row.line, document))
        if before.line != row.line:
            problems.add(row.line, f"each doc_id once (first on line {before.line})", document.doc_id)
    problems.raise_if_any()
    return list(found.values())


def _read_row(row: Row, problems: Problems) -> Document | None:
    unfold_metadata(row)
    doc_id = take_id(row, ID_NAMES, problems)
    title = take_text(row, ("title",), problems) or ""
    text = take_text(row, ("text",), problems) or ""
    url = take_text(row, ("url",), problems)
    media_type = take_text(row, ("media_type",), problems) or "text/plain"
    if media_type not in MEDIA_TYPES:
        problems.add(row.line, f"media_type to be one of {', '.join(MEDIA_TYPES)}", media_type)
    if not title.strip() and not text.strip():
        problems.add(row.line, "a title or a text", "neither")
        return None
    return None if doc_id is None else Document(doc_id, title, text, url, media_type, row.cells)
