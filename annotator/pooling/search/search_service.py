"""Search the dataset's documents while an annotator types, with indexes in memory."""

from dataclasses import dataclass
from datetime import datetime

from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.pooling.search.search_index import SearchKeeper
from annotator.pooling.search.search_sql import SearchedTexts
from annotator.storage.database import Database

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
