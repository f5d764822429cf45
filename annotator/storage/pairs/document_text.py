"""Read the beginning of a pair's document. Never reads ranks, scores, systems or grades."""

from dataclasses import dataclass

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow

TEXT_IS_PRESENT = and_(
    col(DocumentTextRow.document_pk) == col(DocumentRow.pk),
    col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256),
)


@dataclass(frozen=True, slots=True)
class DocumentBeginning:
    """A document, with the beginning of its present text."""

    doc_id: str
    media_type: str
    text: str  # cut at the requested length


def find_beginning(session: Session, pair_pk: int, *, most: int) -> DocumentBeginning | None:
    """Return the document of the pair with the first `most` characters, or None if it has no text."""
    statement = (
        select(
            col(DocumentRow.doc_id),
            col(DocumentRow.media_type),
            func.substr(col(DocumentTextRow.text), 1, most),
        )
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .join(DocumentTextRow, TEXT_IS_PRESENT)
        .where(col(PairRow.pk) == pair_pk)
    )
    row = session.execute(statement).first()
    return None if row is None else DocumentBeginning(*row)


SHOWN_CHARACTERS = 200_000
RANKED_CHARACTERS = 1_000_000
"""The part of a text that is ranked and compared.

NFKC can turn a character into 18; each run of five needs 24 bytes.
"""


def read_present_text(session: Session, pair_pk: int, *, characters: int | None = None) -> str | None:
    """Return the present text of a pair's document or its first `characters`, or None without a text."""
    text = col(DocumentTextRow.text)
    statement = (
        select(text if characters is None else func.substr(text, 1, characters))
        .join(DocumentRow, TEXT_IS_PRESENT)
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .where(col(PairRow.pk) == pair_pk)
    )
    return session.scalar(statement)
