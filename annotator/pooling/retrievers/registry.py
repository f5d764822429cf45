"""Search the documents with the named retrievers. Other code uses only this module.

Documents may come in any order: equal scores are ordered by doc_id. Notes name every query without an answer.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from annotator.pooling.retrievers.fusion import FUSED_RESULTS, ListedDocument, TitleIndex, fuse_lists
from annotator.pooling.retrievers.gram_rankers import rank_bm25, rank_lsa, rank_tfidf
from annotator.pooling.retrievers.records import (
    RUN,
    NoteKind,
    Ranking,
    Retrieval,
    RetrievalOptions,
    RetrievedDocument,
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
    check_options,
    choose_fused,
)
from annotator.pooling.retrievers.vector_files import VectorSpool, embed_texts, load_model, open_vectors
from annotator.pooling.retrievers.vectors import rank_vectors

SYSTEM_PREFIX = "annotator:"
SEARCHED = ("vectors", "bm25", "tfidf", "lsa")  # in this order: what can be refused comes first
Documents = Callable[[], Iterable[SearchedDocument]]
ReportProgress = Callable[[str, float], None]
QueryLists = Mapping[str, Sequence[ListedDocument]]  # by query_id


@dataclass(frozen=True, slots=True)
class _Search:
    queries: Sequence[SearchedQuery]
    documents: Documents
    options: RetrievalOptions
    expected: int
    report: ReportProgress


def retrieve_candidates(
    names: Sequence[str],
    queries: Sequence[SearchedQuery],
    documents: Documents,
    options: RetrievalOptions,
    *,
    depth: int,
    runs: Mapping[str, QueryLists],
    expected: int = 0,
    progress: ReportProgress | None = None,
) -> Retrieval:
    """Return the `depth` best documents of each query by each of these retrievers.

    `documents` is called once or twice for each retriever. `runs`: the first results of the imported runs
    that `hybrid` fuses, by system and query_id. `expected`: the number of documents, for the progress. Calls
    `progress(work, share_done)`.
    """
    check_options(names, options)
    search = _Search(queries, documents, options, expected, progress or (lambda _work, _share: None))
    weights = choose_fused(names, options)
    candidates: list[RetrievedDocument] = []
    notes: list[RetrieverNote] = []
    lists: dict[str, QueryLists] = {}
    for name in SEARCHED:
        if name not in names and name not in weights:
            continue
        deep = max(depth, FUSED_RESULTS) if name in weights else depth
        if name == "vectors":
            ranking, doc_ids, without_vector = _rank_vectors(search, deep)
            if without_vector:
                notes.append(RetrieverNote(f"{SYSTEM_PREFIX}{name}", "no_vector", without_vector))
        else:
            ranking, doc_ids = _rank_texts(name, search, deep)
        lists[name] = _list_by_query(ranking, queries, doc_ids)
        notes += _list_notes(ranking, queries, f"{SYSTEM_PREFIX}{name}")
        if name in names:
            candidates += _propose(lists[name], f"{SYSTEM_PREFIX}{name}", depth)
    if "hybrid" in names:
        for system, by_query in runs.items():
            lists[f"{RUN}{system}"] = by_query
            missing = tuple(query.query_id for query in queries if not by_query.get(query.query_id))
            notes += [RetrieverNote(f"{RUN}{system}", "no_candidate", missing)] if missing else []
        fused, unanswered = _fuse(search, lists, weights, depth)
        candidates += fused
        notes += unanswered
    return Retrieval(tuple(candidates), tuple(notes))


def _rank_texts(name: str, search: _Search, depth: int) -> tuple[Ranking, Sequence[str]]:
    """Return the ranking of a retriever that reads texts, and the doc_ids of its document numbers."""
    doc_ids: list[str] = []
    texts = [query.text for query in search.queries]
    documents, report_share = _note_ids(search, name, doc_ids), partial(search.report, f"{name}: ranking")
    rankers: dict[str, Callable[..., Ranking]] = {
        "bm25": rank_bm25,
        "tfidf": rank_tfidf,
        "lsa": partial(rank_lsa, seed=search.options.seed),
    }
    return rankers[name](texts, documents, depth=depth, report_share=report_share), doc_ids


def _rank_vectors(search: _Search, depth: int) -> tuple[Ranking, Sequence[str], tuple[str, ...]]:
    """Return the ranking by vectors, the doc_ids of its document numbers, and the doc_ids without a vector."""
    options = search.options
    doc_ids: list[str] = []
    texts = _note_ids(search, "vectors", doc_ids)
    with ExitStack() as stack:
        if options.embed is not None:
            encode, path = load_model(options.embed), str(options.embed)
            spools = stack.enter_context(VectorSpool()), stack.enter_context(VectorSpool())
            documents = embed_texts(encode, texts, spools[0], path=path)
            queries = embed_texts(encode, search.queries, spools[1], path=path)
            query_ids = list(queries.ids)
        else:
            documents = stack.enter_context(open_vectors(options.vectors or Path()))
            queries = stack.enter_context(open_vectors(options.query_vectors or Path()))
            query_ids = [query.query_id for query in search.queries]
            deque(texts, maxlen=0)
        report_share = partial(search.report, "vectors: ranking")
        ranking = rank_vectors(query_ids, doc_ids, documents, queries, depth=depth, report_share=report_share)
    hits = dict(zip(query_ids, ranking.hits, strict=True))
    every = tuple(hits.get(query.query_id, ()) for query in search.queries)
    return Ranking(every), documents.ids, ranking.without_vector


def _note_ids(search: _Search, name: str, doc_ids: list[str]) -> Iterator[tuple[str, str]]:
    for document in search.documents():
        doc_ids.append(document.doc_id)
        yield document.doc_id, document.text
        if len(doc_ids) % 1_000 == 0:
            search.report(f"{name}: reading documents", len(doc_ids) / max(search.expected, len(doc_ids)))
    search.report(f"{name}: reading documents", 1.0)


def _list_by_query(ranking: Ranking, queries: Sequence[SearchedQuery], doc_ids: Sequence[str]) -> QueryLists:
    return {
        query.query_id: [
            ListedDocument(doc_ids[hit.document], rank, hit.score) for rank, hit in enumerate(hits, start=1)
        ]
        for query, hits in zip(queries, ranking.hits, strict=True)
    }


def _propose(by_query: QueryLists, system: str, depth: int) -> Iterator[RetrievedDocument]:
    for query_id, documents in by_query.items():
        for document in documents[:depth]:
            score = float(document.score or 0)
            yield RetrievedDocument(query_id, document.doc_id, system, document.rank, score, {})


def _list_notes(ranking: Ranking, queries: Sequence[SearchedQuery], system: str) -> Iterator[RetrieverNote]:
    too_short = set(ranking.without_grams)
    empty = [number for number, hits in enumerate(ranking.hits) if not hits and number not in too_short]
    kinds: tuple[tuple[NoteKind, list[int]], ...] = (
        ("too_short", sorted(too_short)),
        ("no_candidate", empty),
    )
    for kind, numbers in kinds:
        if numbers:
            yield RetrieverNote(system, kind, tuple(queries[number].query_id for number in numbers))


def _fuse(
    search: _Search, lists: Mapping[str, QueryLists], weights: Mapping[str, float], depth: int
) -> tuple[list[RetrievedDocument], list[RetrieverNote]]:
    """Return the fused candidates with each list's contribution, and a note on queries without any result."""
    boosts = {f"title:{kind}": weight for kind, weight in search.options.title_boost.items()}
    titles = TitleIndex((item.doc_id, item.title) for item in search.documents()) if boosts else None
    system = f"{SYSTEM_PREFIX}hybrid"
    candidates: list[RetrievedDocument] = []
    empty: list[str] = []
    for query in search.queries:
        by_list = {name: lists[name].get(query.query_id, ()) for name in weights}
        if titles:
            exact, partial = titles.match(query.text, depth=max(depth, FUSED_RESULTS))
            matches = {"title:exact": exact, "title:partial": partial}
            by_list |= {name: matches[name] for name in boosts}
        fused = fuse_lists(by_list, {**weights, **boosts}, depth=depth)
        if not fused:
            empty.append(query.query_id)
        candidates += [
            RetrievedDocument(query.query_id, item.doc_id, system, rank, item.score, item.signals)
            for rank, item in enumerate(fused, start=1)
        ]
    return candidates, [RetrieverNote(system, "no_candidate", tuple(empty))] if empty else []
