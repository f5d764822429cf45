"""What importing documents would change: which are new, which differ, and in what.

A rule between the reader and the database. What a file does not mention stays: an empty title, url or text
and a missing metadata key change nothing. A new text never replaces an old one: both are kept under the
SHA-256 of their UTF-8 bytes, and judgments say which they were made on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.domain.ground_truth import Document
from annotator.formats.documents import DocumentLine


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
        after = _merge(before.document, document)
        new_text = sha256 is not None and sha256 != before.sha256
        if new_text and before.sha256 is not None:
            retexted.append(before.pk)
        if new_text or after != before.document:
            changed.append((before.pk, replace(after, text=document.text), sha256 or before.sha256))
    unchanged = len(lines) - len(added) - len(changed)
    return DocumentPlan(tuple(added), tuple(changed), tuple(retexted), unchanged)


def _merge(before: Document, found: Document) -> Document:
    """All but the text."""
    return replace(
        before,
        title=found.title or before.title,
        url=found.url or before.url,
        media_type=found.media_type if found.text else before.media_type,
        metadata={**before.metadata, **found.metadata},
    )
