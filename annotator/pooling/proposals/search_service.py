"""Search the dataset's documents while an annotator types, with indexes in memory.

Never reads ranks, scores, system names or other people's grades.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import col

from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.pooling.proposals.search_index import SearchKeeper
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.pairs.pool import are_in_use
from annotator.storage.tables.central import DocumentRow, DocumentTextRow

STAMP_DIGITS = (1, 5, 9, 13, 17, 21, 25, 29)
SEARCHES = SearchKeeper()  # one for the process: indexes in memory


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer of a search: documents (document_pk), best first; None while the index is built.

    `share`: how much of the index is built (0 to 1). `most_characters`: the searched part of each document;
    None: all of it.
    """

    document_pks: tuple[int, ...] | None
    share: float
    most_characters: int | None


def search_texts(
    database: Database, actor: Actor, dataset: str, text: str, *, limit: int, now: datetime
) -> SearchAnswer:
    """Search the dataset's documents. For annotators. The first search starts to build the index in the background."""
    with open_dataset(database, actor, dataset, "annotator") as (_, _, dataset_pk):
        pass
    name = database.url.render_as_string(hide_password=True), dataset_pk
    ready, share = SEARCHES.find(name, SearchedTexts(database, dataset_pk), now=now)
    if ready is None:
        return SearchAnswer(None, share, None)
    document_pks = tuple(ready.document_pks[match.text] for match in ready.index.search(text, limit=limit))
    return SearchAnswer(document_pks, 1.0, ready.most_characters)


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
            figures = session.execute(statement.where(*are_in_use(self.dataset_pk))).one()
            return tuple(int(value) for value in figures)

    def list_lengths(self) -> list[int]:
        """Return the length of each document's present text; 0 without one."""
        length = func.coalesce(func.length(col(DocumentTextRow.text)), 0)
        statement = select(length).select_from(DocumentRow).outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
        with self.database.read() as session:
            return list(session.scalars(statement.where(*are_in_use(self.dataset_pk))))

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
            .outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
            .where(*are_in_use(self.dataset_pk))
            .order_by(col(DocumentRow.pk))
            .execution_options(yield_per=500)
        )
        with self.database.read() as session:
            for pk, doc_id, title, beginning in session.execute(statement):
                yield key_of(pk), f"{doc_id}\n{title}\n{beginning or ''}"
