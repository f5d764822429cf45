"""Plan an import of queries or documents: new, different and refused items.

Values that a file lacks stay: a missing column, empty title, url or text, or missing metadata key changes
nothing. Refuses, with the line, another text for a judged query. A document's new text is stored in addition
to the old one, each under the SHA-256 of its UTF-8 bytes, and judgments record the text they were made on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import QUERY_FIELDS, Document, Query
from annotator.domain.messages import say
from annotator.domain.texts import MOST_FIELDS, measure_metadata
from annotator.formats.input_tables import DocumentLine, QueryLine
from annotator.formats.syntax.text import describe

MOST_WORDS = 100_000
"""Characters of a query's text or field, and of a document's title or address.

Every pair that is handed out has them whole: one query of 30 MB made an answer of a gigabyte.
"""


def _check_lengths(
    texts: Mapping[str, str | None],
    metadata: Mapping[str, Any],
    line: int | None,
    problems: Problems,
    path: str,
) -> None:
    measured = [(name, len(text or ""), MOST_WORDS) for name, text in texts.items()]
    measured.append(("metadata", measure_metadata(metadata), MOST_FIELDS))
    for name, length, most in measured:
        if length > most:
            limit = say("a text of at most {n} characters", n=most)
            expected = say("{place} to be {expected}", place=name, expected=limit)
            problems.add(line, expected, say("{n} characters", n=length), path=path)


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """A query of the dataset with its primary key."""

    pk: int
    query: Query
    judged: bool  # a pair of it has a judgment or a decision


class QueryText(NamedTuple):
    """The key and the text of a query of the dataset."""

    pk: int
    text: str


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The queries that an import will store."""

    added: tuple[Query, ...]
    changed: tuple[tuple[int, Query], ...]  # (primary key, the query as it will be)
    unchanged: int


def plan_queries(stored: Mapping[str, StoredQuery], lines: Sequence[QueryLine], path: str) -> QueryPlan:
    """Compare a file's queries with the stored ones (by query_id). BadInput for every refused change."""
    problems = Problems(path)
    added: list[Query] = []
    changed: list[tuple[int, Query]] = []
    for line, query in lines:
        texts = {"text": query.text, **{name: getattr(query, name) for name in QUERY_FIELDS}}
        _check_lengths(texts, query.metadata, line, problems, path)
        before = stored.get(query.query_id)
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


def _merge(before: Query, new: Query) -> Query:
    fields = {name: getattr(new, name) for name in QUERY_FIELDS if getattr(new, name) is not None}
    return replace(before, text=new.text, metadata={**before.metadata, **new.metadata}, **fields)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of the dataset with its primary key."""

    pk: int
    document: Document  # without its text
    sha256: str | None  # of its present text; None if only its id is known


class DocumentKey(NamedTuple):
    """The primary key of a document, and the SHA-256 of its current text (None if it has only an id)."""

    pk: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """The documents to store. Each SHA-256 is of the text after the import."""

    added: tuple[tuple[Document, str | None], ...]  # (document, SHA-256)
    changed: tuple[tuple[int, Document, str | None], ...]  # (primary key, document, SHA-256)
    retexted: tuple[int, ...]  # primary keys of the changed documents that had another text
    unchanged: int


def hash_text(text: str) -> str | None:
    """Return the SHA-256 of a text's UTF-8 bytes, in hexadecimal; None for the empty text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest() if text else None


def plan_documents(stored: Mapping[str, StoredDocument], lines: Sequence[DocumentLine]) -> DocumentPlan:
    """Compare a file's documents with the stored ones (by doc_id). BadInput for each that is too long."""
    added: list[tuple[Document, str | None]] = []
    changed: list[tuple[int, Document, str | None]] = []
    retexted: list[int] = []
    problems = Problems(lines[0].path if lines else "")
    for path, line, document in lines:
        _check_lengths(
            {"title": document.title, "url": document.url}, document.metadata, line, problems, path
        )
        sha256 = hash_text(document.text)
        before = stored.get(document.doc_id)
        if before is None:
            added.append((document, sha256))
            continue
        after = _merge_document(before.document, document)
        new_text = sha256 is not None and sha256 != before.sha256
        if new_text and before.sha256 is not None:
            retexted.append(before.pk)
        if new_text or after != before.document:
            changed.append((before.pk, replace(after, text=document.text), sha256 or before.sha256))
    problems.raise_if_any()
    unchanged = len(lines) - len(added) - len(changed)
    return DocumentPlan(tuple(added), tuple(changed), tuple(retexted), unchanged)


def _merge_document(before: Document, new: Document) -> Document:
    """Merge everything but the text."""
    return replace(
        before,
        title=new.title or before.title,
        url=new.url or before.url,
        media_type=new.media_type if new.text else before.media_type,
        metadata={**before.metadata, **new.metadata},
    )
