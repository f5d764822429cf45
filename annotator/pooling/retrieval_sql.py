"""Let our own retrievers search the documents of a dataset, and return what they propose as candidates of the pool."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from annotator.pooling.retrievers.records import RetrieverNote, SearchedDocument, SearchedQuery
from annotator.pooling.retrievers.registry import ReportProgress, retrieve_candidates
from annotator.storage.pool import PoolCandidate, RetrievalQuery, count_documents, read_documents


def retrieve_from_documents(
    session: Session,
    dataset_pk: int,
    queries: Mapping[int, RetrievalQuery],
    names: Sequence[str],
    *,
    depth: int,
    progress: ReportProgress | None = None,
) -> tuple[list[PoolCandidate], tuple[RetrieverNote, ...]]:
    """Return the candidates of these retrievers, and what they could not do. `queries`: by query_pk."""
    document_pks: dict[str, int] = {}

    def read() -> Iterator[SearchedDocument]:
        for document in read_documents(session, dataset_pk):
            document_pks[document.doc_id] = document.document_pk
            yield SearchedDocument(document.doc_id, document.title, document.searched)

    retrieval = retrieve_candidates(
        names,
        [SearchedQuery(query.query_id, query.text) for query in queries.values()],
        read,
        depth=depth,
        expected=count_documents(session, dataset_pk),
        progress=progress,
    )
    query_pks = {query.query_id: query_pk for query_pk, query in queries.items()}
    candidates = [
        PoolCandidate(
            query_pks[item.query_id],
            item.query_id,
            document_pks[item.doc_id],
            item.doc_id,
            item.system,
            item.rank,
            item.score,
            item.signals,
        )
        for item in retrieval.candidates
    ]
    return candidates, retrieval.notes
