"""Plan an import of queries or documents: what is new, what differs, what is refused.

What a file does not mention stays: a missing column, empty title, url or text, or missing metadata key changes nothing.
Refuses, with the line, another text for a query that has been judged. A document's new text is kept beside the old one,
each under the SHA-256 of its UTF-8 bytes, and judgments say which they were made on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import QUERY_FIELDS, Document, Query
from annotator.formats.input_tables import DocumentLine, QueryLine
from annotator.formats.text import describe


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query as it is stored; `judged`: it has judgments."""

    pk: int
    query: Query
    judged: bool


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """`changed` is by primary key. Nothing is stored yet."""

    added: tuple[Query, ...]
    changed: tuple[tuple[int, Query], ...]
    unchanged: int


def plan_queries(known: Mapping[str, KnownQuery], lines: Sequence[QueryLine], path: str) -> QueryPlan:
    """Compare a file's queries with the stored ones. BadInput names every change that is refused."""
    problems = Problems(path)
    added: list[Query] = []
    changed: list[tuple[int, Query]] = []
    for line, query in lines:
        before = known.get(query.query_id)
        if before is None:
            added.append(query)
            continue
        after = _merge(before.query, query)
        if before.judged and after.text != before.query.text:
            expected = (
                f"the text that {describe(query.query_id)} was judged under: {describe(before.query.text)}"
            )
            problems.add(line, expected, describe(query.text))
        elif after != before.query:
            changed.append((before.pk, after))
    problems.raise_if_any()
    return QueryPlan(tuple(added), tuple(changed), len(lines) - len(added) - len(changed))


def _merge(before: Query, found: Query) -> Query:
    mentioned = {name: getattr(found, name) for name in QUERY_FIELDS if getattr(found, name) is not None}
    return replace(before, text=found.text, metadata={**before.metadata, **found.metadata}, **mentioned)


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document as it is stored, without its text; `sha256` names the text, None: known by its id only."""

    pk: int
    document: Document
    sha256: str | None


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """Documents with the SHA-256 of the text they are to have; the changed ones by primary key. `retexted` are
    the keys of those whose text is another now. Nothing is stored yet."""

    added: tuple[tuple[Document, str | None], ...]
    changed: tuple[tuple[int, Document, str | None], ...]
    retexted: tuple[int, ...]
    unchanged: int


def name_text(text: str) -> str | None:
    """The SHA-256 of a text's UTF-8 bytes, in hexadecimal; None for the empty text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest() if text else None


def plan_documents(known: Mapping[str, KnownDocument], lines: Sequence[DocumentLine]) -> DocumentPlan:
    """Compare the documents read with the stored ones."""
    added: list[tuple[Document, str | None]] = []
    changed: list[tuple[int, Document, str | None]] = []
    retexted: list[int] = []
    for _, _, document in lines:
        sha256 = name_text(document.text)
        before = known.get(document.doc_id)
        if before is None:
            added.append((document, sha256))
            continue
        after = _merge_document(before.document, document)
        new_text = sha256 is not None and sha256 != before.sha256
        if new_text and before.sha256 is not None:
            retexted.append(before.pk)
        if new_text or after != before.document:
            changed.append((before.pk, replace(after, text=document.text), sha256 or before.sha256))
    unchanged = len(lines) - len(added) - len(changed)
    return DocumentPlan(tuple(added), tuple(changed), tuple(retexted), unchanged)


def _merge_document(before: Document, found: Document) -> Document:
    """All but the text."""
    return replace(
        before,
        title=found.title or before.title,
        url=found.url or before.url,
        media_type=found.media_type if found.text else before.media_type,
        metadata={**before.metadata, **found.metadata},
    )
