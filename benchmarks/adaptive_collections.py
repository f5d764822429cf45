"""Fully judged collections for `adaptive_pooling`: simulated ones, and one from the sections of a folder of reStructuredText.

A simulated collection has families of systems: the members of a family share most of what misleads them, as runs of one team
in a TREC track, and some are nearly copies. Some documents that are not relevant mislead every system. Queries differ in the
number of relevant documents and in difficulty; grades are 1, 2, 3 with falling frequency.

In the collection of texts a document is a section without its own heading. A query is such a heading. Grade 3 is its section;
2 the sections below and the one above; 1 the other sections below the same heading, and sections with a link to it. So no
system decides what is relevant. The 60 systems are BM25 with many settings, TF-IDF, latent semantic analysis, feedback from
the first results, with and without the headings above, with whole and shortened queries, and fusions of two.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.importing.texts.sections import find_rst_headings
from annotator.pooling.adaptive.records import CandidateTable, build_candidates

Floats = NDArray[np.float64]
GAINS = np.array([0.0, 0.8, 1.2, 1.6])
LINK = re.compile(r":ref:`(?:[^`<]*<)?([^`<>]+)>?`")
LABEL = re.compile(r"^\.\. _`?([^`:\n]+)`?:", re.MULTILINE)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCollection:
    """A table of candidates without grades, and the true grade of each candidate."""

    name: str
    table: CandidateTable
    truth: NDArray[np.int8]


def cut_pool(collection: JudgedCollection, depth: int) -> JudgedCollection:
    """Return the collection whose lists end at `depth`."""
    table = collection.table
    kept = ((table.ranks > 0) & (table.ranks <= depth)).any(axis=1)
    ranks = np.where(table.ranks <= depth, table.ranks, 0).astype(np.int32)[kept]
    cut = CandidateTable(
        table.queries[kept],
        table.documents[kept],
        ranks,
        table.grades[kept],
        table.in_pool[kept],
        table.query_count,
    )
    return JudgedCollection(collection.name, cut, collection.truth[kept])


def _collect(name: str, lists: NDArray[np.int64], truth: NDArray[np.int8]) -> JudgedCollection:
    """`lists` is [system, query, rank]: document numbers, best first; `truth` is [query, document]."""
    systems, queries, _ = lists.shape
    system, query, rank = np.indices(lists.shape)
    table = build_candidates(
        system.ravel(),
        query.ravel(),
        lists.ravel(),
        rank.ravel() + 1,
        system_count=systems,
        query_count=queries,
    )
    return JudgedCollection(name, table, truth[table.queries, table.documents])


def simulate_collection(
    seed: int, *, queries: int, systems: int, documents: int = 1000, depth: int = 100
) -> JudgedCollection:
    """Return a simulated collection."""
    random = np.random.default_rng(seed)
    families = max(2, systems // 4)
    family = np.sort(random.integers(0, families, systems))
    quality = random.normal(2.6, 0.4, families)[family] + random.normal(0, 0.08, systems)
    noise = random.choice([0.05, 0.15, 0.3, 0.5], systems)  # a small one makes nearly a copy
    truth = np.zeros((queries, documents), dtype=np.int8)
    lists = np.empty((systems, queries, depth), dtype=np.int64)
    for query in range(queries):
        relevant = int(np.clip(random.lognormal(2.8, 0.9), 2, documents / 6))
        truth[query, :relevant] = random.choice([1, 2, 3], relevant, p=[0.5, 0.32, 0.18])
        difficulty = random.normal(0, 0.5)
        misleading = random.gumbel(0, 0.6, documents)
        own = random.gumbel(0, 0.5, (families, documents))
        luck = random.normal(0, 0.4, families)
        skill = np.maximum(0.1, quality + luck[family] + difficulty)
        scores = (
            skill[:, None] * GAINS[truth[query]]
            + misleading
            + own[family]
            + noise[:, None] * random.gumbel(0, 1, (systems, documents))
        )
        lists[:, query] = np.argsort(-scores, axis=1)[:, :depth]
    return _collect("simulated", lists, truth)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section: its heading, the number of the section above, its text without the heading, the names links use."""

    heading: str
    level: int
    above: int | None
    text: str
    labels: frozenset[str]


def _read_sections(folder: Path) -> list[_Section]:
    sections: list[_Section] = []
    for path in sorted(folder.rglob("*.rst")):
        text = path.read_text(encoding="utf-8")
        headings = find_rst_headings(text)
        ends = [heading.start for heading in headings[1:]] + [len(text)]
        open_sections: list[int] = []
        for heading, end in zip(headings, ends, strict=True):
            while open_sections and sections[open_sections[-1]].level >= heading.level:
                open_sections.pop()
            above = open_sections[-1] if open_sections else None
            labels = frozenset(LABEL.findall(text[heading.start : heading.body]))
            open_sections.append(len(sections))
            sections.append(_Section(heading.title, heading.level, above, text[heading.body : end], labels))
    return sections


def _grade_sections(sections: list[_Section], query: int) -> dict[int, int]:
    section = sections[query]
    grades = {
        number: 1 for number, other in enumerate(sections) if section.labels & set(LINK.findall(other.text))
    }
    if section.above is not None:
        grades |= {number: 1 for number, other in enumerate(sections) if other.above == section.above}
        grades[section.above] = 2
    grades |= {number: 2 for number, other in enumerate(sections) if other.above == query}
    grades[query] = 3
    return grades


def read_text_collection(
    folder: Path, *, seed: int, queries: int, systems: int, depth: int = 100
) -> JudgedCollection:
    """Return the collection of the folder's sections, with a sample of its headings as queries."""
    sections = _read_sections(folder)
    headings = [section.heading for section in sections]
    usable = [
        number
        for number, section in enumerate(sections)
        if headings.count(section.heading) == 1 and len(section.heading) >= 8 and len(section.text) >= 80
    ]
    random = np.random.default_rng(seed)
    sample = sorted(random.choice(usable, min(queries, len(usable)), replace=False).tolist())
    kept = [number for number, section in enumerate(sections) if len(section.text) >= 20]
    columns = {number: column for column, number in enumerate(kept)}
    truth = np.zeros((len(sample), len(kept)), dtype=np.int8)
    for row, number in enumerate(sample):
        for other, grade in _grade_sections(sections, number).items():
            if other in columns:
                truth[row, columns[other]] = grade
    texts = [sections[number].text for number in kept]
    titles = [_join_headings(sections, number) for number in kept]
    lists = np.stack(
        list(_rank_by_all(texts, titles, [headings[number] for number in sample], systems, depth))
    )
    return _collect("texts", lists, truth)


def _join_headings(sections: list[_Section], number: int) -> str:
    above, joined = sections[number].above, []
    while above is not None:
        joined.append(sections[above].heading)
        above = sections[above].above
    return " ".join(joined)


def _rank_by_all(
    texts: list[str], titles: list[str], queries: list[str], systems: int, depth: int
) -> Iterator[NDArray[np.int64]]:
    scores: list[Floats] = []
    for number, score in enumerate(_score_by_all(texts, titles, queries)):
        if number == systems:
            return
        scores.append(score)
        ties = np.arange(score.shape[1])[None, :].repeat(len(score), axis=0)
        yield np.lexsort((ties, -score), axis=1)[:, :depth]


def _score_by_all(texts: list[str], titles: list[str], queries: list[str]) -> Iterator[Floats]:
    """Yield the scores [query, document] of one system after the other; good and bad ones are mixed."""
    halves = [query[: max(4, len(query) // 2)] for query in queries]
    with_titles = [f"{title}\n{text}" for title, text in zip(titles, texts, strict=True)]
    doubled = [f"{title}\n{title}\n{title}\n{text}" for title, text in zip(titles, texts, strict=True)]
    grams = ((2, 3), (2, 2), (3, 3), (1, 2), (4, 4))
    bm25: dict[tuple[int, int], Floats] = {}
    for size in grams:
        counts, asked = _count(texts, queries, size)
        bm25[size] = _score_bm25(counts, asked, 1.2, 0.75)
        tfidf = _score_tfidf(counts, asked, sublinear=True)
        yield bm25[size]
        yield _score_bm25(counts, asked, 0.9, 0.4)
        yield _score_bm25(counts, asked, 1.5, 0.75)
        yield _score_bm25(counts, asked, 2.0, 0.9)
        yield _score_bm25(counts, asked, 3.0, 0.2)
        yield tfidf
        yield _score_tfidf(counts, asked, sublinear=False)
        yield _fuse(bm25[size], tfidf)
        yield _score_with_feedback(counts, asked, bm25[size])
        if size in ((2, 3), (3, 3)):
            for dimensions in (40, 120, 300):
                latent = _score_latent(counts, asked, dimensions)
                yield latent
                yield _fuse(bm25[size], latent)
        if size in ((2, 3), (2, 2)):
            for other in (with_titles, doubled):
                counts, asked = _count(other, queries, size)
                yield _score_bm25(counts, asked, 1.2, 0.75)
                yield _score_tfidf(counts, asked, sublinear=True)
            counts, asked = _count(texts, halves, size)
            yield _score_bm25(counts, asked, 1.2, 0.75)


def _count(texts: list[str], queries: list[str], size: tuple[int, int]) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer="char_wb", ngram_range=size, dtype=np.float64)
    asked = counter.fit(queries).transform(queries)
    return counter.transform(texts), asked


def _weigh_rarity(counts: Any) -> Floats:
    present = np.asarray((counts > 0).sum(axis=0)).ravel()
    return np.asarray(np.log(1 + (counts.shape[0] - present + 0.5) / (present + 0.5)))


def _score_bm25(counts: Any, asked: Any, k1: float, b: float) -> Floats:
    lengths = np.asarray(counts.sum(axis=1)).ravel() + 1
    weights = counts.tocoo(copy=True)
    spread = k1 * (1 - b + b * lengths / lengths.mean())
    weights.data = weights.data * (k1 + 1) / (weights.data + spread[weights.row])
    weights.data *= _weigh_rarity(counts)[weights.col]
    return np.asarray((asked @ weights.tocsr().T).todense())


def _weigh_tfidf(counts: Any, rarity: Floats, *, sublinear: bool) -> Any:
    from sklearn.preprocessing import normalize

    weights = counts.tocoo(copy=True)
    weights.data = (1 + np.log(weights.data) if sublinear else weights.data) * rarity[weights.col]
    return normalize(weights.tocsr())


def _score_tfidf(counts: Any, asked: Any, *, sublinear: bool) -> Floats:
    rarity = _weigh_rarity(counts)
    documents, wanted = (_weigh_tfidf(part, rarity, sublinear=sublinear) for part in (counts, asked))
    return np.asarray((wanted @ documents.T).todense())


def _score_latent(counts: Any, asked: Any, dimensions: int) -> Floats:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    rarity = _weigh_rarity(counts)
    documents, wanted = (_weigh_tfidf(part, rarity, sublinear=True) for part in (counts, asked))
    reducer = TruncatedSVD(min(dimensions, documents.shape[1] - 1, documents.shape[0] - 1), random_state=0)
    reduced = normalize(reducer.fit_transform(documents))
    return np.asarray(normalize(reducer.transform(wanted)) @ reduced.T)


def _score_with_feedback(counts: Any, asked: Any, scores: Floats) -> Floats:
    """Add the mean of the first five documents to the query (Rocchio)."""
    rarity = _weigh_rarity(counts)
    documents, wanted = (_weigh_tfidf(part, rarity, sublinear=True) for part in (counts, asked))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    wider = np.stack([np.asarray(documents[rows].mean(axis=0)).ravel() for rows in best])
    return np.asarray((documents @ (np.asarray(wanted.todense()) + 0.7 * wider).T).T)


def _fuse(*scores: Floats) -> Floats:
    """Reciprocal rank fusion with k = 60."""
    total = np.zeros_like(scores[0])
    for score in scores:
        ranks = np.argsort(np.argsort(-score, axis=1, kind="stable"), axis=1, kind="stable") + 1
        total += 1 / (60 + ranks)
    return total
