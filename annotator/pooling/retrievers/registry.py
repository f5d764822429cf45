"""List the retrievers by name, and let the ones that are named search the documents. The only way in for other code.

Each retriever reads the documents once, in any order: it orders equal scores by doc_id. A query that a retriever cannot
answer is in its notes, never silently empty.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from annotator.domain.errors import ValidationError
from annotator.pooling.retrievers.bm25 import rank_bm25
from annotator.pooling.retrievers.records import (
    Ranking,
    Retrieval,
    RetrievedDocument,
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
)

RETRIEVERS = ("bm25",)
SYSTEM_PREFIX = "annotator:"
Documents = Callable[[], Iterable[SearchedDocument]]
ReportProgress = Callable[[str, float], None]


def check_retrievers(names: Sequence[str]) -> None:
    """Raise ValidationError for a retriever that there is not."""
    for name in names:
        if name not in RETRIEVERS:
            raise ValidationError(f"there is no retriever {name!r}; there is: {', '.join(RETRIEVERS)}")


def retrieve_candidates(
    names: Sequence[str],
    queries: Sequence[SearchedQuery],
    documents: Documents,
    *,
    depth: int,
    expected: int = 0,
    progress: ReportProgress | None = None,
) -> Retrieval:
    """Return the `depth` best documents of each query by each of these retrievers.

    `documents` is called once for each retriever. `expected`: how many documents will come, for `progress`, which is told
    the work and the share of it that is done.
    """
    check_retrievers(names)
    candidates: list[RetrievedDocument] = []
    notes: list[RetrieverNote] = []
    for name in dict.fromkeys(names):
        doc_ids: list[str] = []
        ranking = rank_bm25(
            [query.text for query in queries],
            _note_ids(documents(), doc_ids),
            depth=depth,
            progress=progress,
            expected=expected,
        )
        system = f"{SYSTEM_PREFIX}{name}"
        candidates += _name_hits(ranking, queries, doc_ids, system)
        notes += _list_notes(ranking, queries, system)
    return Retrieval(tuple(candidates), tuple(notes))


def _note_ids(documents: Iterable[SearchedDocument], doc_ids: list[str]) -> Iterator[tuple[str, str]]:
    for document in documents:
        doc_ids.append(document.doc_id)
        yield document.doc_id, document.text


def _name_hits(
    ranking: Ranking, queries: Sequence[SearchedQuery], doc_ids: Sequence[str], system: str
) -> Iterator[RetrievedDocument]:
    for query, hits in zip(queries, ranking.hits, strict=True):
        for rank, hit in enumerate(hits, start=1):
            yield RetrievedDocument(query.query_id, doc_ids[hit.document], system, rank, hit.score, {})


def _list_notes(ranking: Ranking, queries: Sequence[SearchedQuery], system: str) -> Iterator[RetrieverNote]:
    too_short = set(ranking.without_grams)
    empty = [number for number, hits in enumerate(ranking.hits) if not hits and number not in too_short]
    if too_short:
        yield RetrieverNote(
            system, "too_short", tuple(queries[number].query_id for number in sorted(too_short))
        )
    if empty:
        yield RetrieverNote(system, "no_candidate", tuple(queries[number].query_id for number in empty))
