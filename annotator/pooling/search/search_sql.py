"""Read the documents' present texts for the search while an annotator types.

Never reads ranks, scores, system names or other people's grades.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pool import select_documents_left
from annotator.storage.tables.central import DocumentRow, DocumentTextRow

STAMP_DIGITS = (1, 5, 9, 13, 17, 21, 25, 29)


@dataclass(frozen=True, slots=True)
class DocumentExcerpt:
    """A document in a list of results. `text`: its beginning; None without a text. `length`: of the whole text."""

    document_pk: int
    doc_id: str
    title: str
    text: str | None
    length: int


_PRESENT_TEXT = and_(
    col(DocumentTextRow.document_pk) == col(DocumentRow.pk),
    col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256),
)


@dataclass(frozen=True, slots=True)
class SearchedTexts:
    """The texts of one dataset: an `IndexSource`. Each call is one transaction."""

    database: Database
    dataset_pk: int

    def read_stamp(self) -> tuple[int, ...]:
        """Return numbers that change when a document is added, changed or replaced."""
        with self.database.read() as session:
            code = func.unicode if self.database.is_sqlite else func.ascii
            sha256, weight = col(DocumentRow.text_sha256), col(DocumentRow.pk) % 9973
            digits = [code(func.substr(sha256, position, 1)) * position for position in STAMP_DIGITS]
            statement = select(
                func.count(),
                func.coalesce(func.max(col(DocumentRow.pk)), 0),
                func.count(sha256),
                func.coalesce(func.sum(weight * sum(digits[1:], digits[0])), 0),
                func.coalesce(func.sum(weight * func.length(col(DocumentRow.title))), 0),
            )
            figures = session.execute(statement.where(*_searched(self.dataset_pk))).one()
            return tuple(int(value) for value in figures)

    def list_lengths(self) -> list[int]:
        """Return the length of each document's present text; 0 without one."""
        length = func.coalesce(func.length(col(DocumentTextRow.text)), 0)
        statement = select(length).select_from(DocumentRow).outerjoin(DocumentTextRow, _PRESENT_TEXT)
        with self.database.read() as session:
            return list(session.scalars(statement.where(*_searched(self.dataset_pk))))

    def read_texts(self, most_characters: int | None) -> Iterator[tuple[int, str]]:
        """Yield (document_pk, searched text: its id, title and the beginning of its text) of every document."""
        text = col(DocumentTextRow.text)
        statement = (
            select(
                col(DocumentRow.pk),
                col(DocumentRow.doc_id),
                col(DocumentRow.title),
                text if most_characters is None else func.substr(text, 1, most_characters),
            )
            .outerjoin(DocumentTextRow, _PRESENT_TEXT)
            .where(*_searched(self.dataset_pk))
            .order_by(col(DocumentRow.pk))
            .execution_options(yield_per=500)
        )
        with self.database.read() as session:
            for pk, doc_id, title, beginning in session.execute(statement):
                yield key_of(pk), f"{doc_id}\n{title}\n{beginning or ''}"


def read_excerpts(
    session: Session, document_pks: Collection[int], *, characters: int
) -> list[DocumentExcerpt]:
    """Return these documents, in no particular order, with the first `characters` of their texts."""
    statement = (
        select(
            col(DocumentRow.pk),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            func.substr(col(DocumentTextRow.text), 1, characters),
            func.length(col(DocumentTextRow.text)),
        )
        .outerjoin(DocumentTextRow, _PRESENT_TEXT)
        .where(col(DocumentRow.pk).in_(document_pks))
    )
    return [
        DocumentExcerpt(key_of(pk), doc_id, title, text, length or 0)
        for pk, doc_id, title, text, length in session.execute(statement)
    ]


def _searched(dataset_pk: int) -> tuple[ColumnElement[bool], ...]:
    return (col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(select_documents_left()))
