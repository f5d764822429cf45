"""Search the documents of a dataset with our own retrievers, and return their results as candidates of the pool."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from annotator.domain.errors import ValidationError
from annotator.domain.messages import join_first
from annotator.pooling.retrievers.fusion import FUSED_RESULTS, ListedDocument
from annotator.pooling.retrievers.options import list_fused_runs
from annotator.pooling.retrievers.records import (
    RetrievalOptions,
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
)
from annotator.pooling.retrievers.registry import ReportProgress, retrieve_candidates
from annotator.storage.pairs.pool import (
    PoolCandidate,
    RetrievalQuery,
    count_documents,
    list_first_results,
    list_runs,
    read_documents,
)


def retrieve_from_documents(
    session: Session,
    dataset_pk: int,
    queries: Mapping[int, RetrievalQuery],
    names: Sequence[str],
    options: RetrievalOptions,
    *,
    depth: int,
    progress: ReportProgress | None = None,
) -> tuple[list[PoolCandidate], tuple[RetrieverNote, ...]]:
    """Return the candidates of these retrievers, with notes. `queries`: by query_pk.

    Raises ValidationError if a run to fuse is not imported.
    """
    document_pks: dict[str, int] = {}

    def read() -> Iterator[SearchedDocument]:
        for document in read_documents(session, dataset_pk):
            document_pks[document.doc_id] = document.document_pk
            yield SearchedDocument(document.doc_id, document.title, document.searched)

    retrieval = retrieve_candidates(
        names,
        [SearchedQuery(query.query_id, query.text) for query in queries.values()],
        read,
        options,
        depth=depth,
        runs=_list_fused_results(session, dataset_pk, list_fused_runs(names, options), depth),
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


def _list_fused_results(
    session: Session, dataset_pk: int, systems: Sequence[str], depth: int
) -> dict[str, dict[str, list[ListedDocument]]]:
    """Return the first results of these runs by system and query_id, with ranks from 1."""
    runs = list_runs(session, dataset_pk)
    for system in systems:
        if system not in runs.values():
            existing = join_first(sorted(runs.values())) or "none"
            raise ValidationError(
                f"weights: no run of the system {system!r} is imported; there is: {existing}"
            )
    fused = {pk: system for pk, system in runs.items() if system in systems}
    results: dict[str, dict[str, list[ListedDocument]]] = {system: {} for system in systems}
    for item in list_first_results(session, fused, max(depth, FUSED_RESULTS)) if fused else []:
        listed = results[item.system].setdefault(item.query_id, [])
        listed.append(ListedDocument(item.doc_id, len(listed) + 1, item.score))
    return results
