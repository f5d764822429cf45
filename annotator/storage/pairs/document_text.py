"""Read the document of a pair as far as it is shown. Never reads ranks, scores, systems or grades."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow


@dataclass(frozen=True, slots=True)
class DocumentBeginning:
    """A document, with the beginning of its present text."""

    doc_id: str
    media_type: str
    text: str  # at most as long as was asked for


def find_beginning(session: Session, pair_pk: int, *, most: int) -> DocumentBeginning | None:
    """Return the document of the pair, with at most so many characters; None if it has no text."""
    statement = (
        select(
            col(DocumentRow.doc_id),
            col(DocumentRow.media_type),
            func.substr(col(DocumentTextRow.text), 1, most),
        )
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .join(
            DocumentTextRow,
            (col(DocumentTextRow.document_pk) == col(DocumentRow.pk))
            & (col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)),
        )
        .where(col(PairRow.pk) == pair_pk)
    )
    row = session.execute(statement).first()
    return None if row is None else DocumentBeginning(*row)


SHOWN_CHARACTERS = 200_000
RANKED_CHARACTERS = 1_000_000
"""So much of a text is ranked and compared: as NFKC, a character can become eighteen, and each run of five needs 24 bytes."""


def choose_metadata(extra: Mapping[str, Any], shown: Sequence[str]) -> dict[str, str]:
    """Return the columns that the lead chose, as text; a list or object as JSON."""
    return {
        column: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for column in shown
        if (value := extra.get(column)) not in (None, "")
    }


def read_present_text(session: Session, pair_pk: int, *, characters: int) -> str | None:
    """Return the beginning of the present text of a pair's document, None if there is none."""
    statement = (
        select(func.substr(col(DocumentTextRow.text), 1, characters))
        .join(DocumentRow, TEXT_IS_PRESENT)
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .where(col(PairRow.pk) == pair_pk)
    )
    return session.scalar(statement)


TEXT_IS_PRESENT = and_(
    col(DocumentTextRow.document_pk) == col(DocumentRow.pk),
    col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256),
)
