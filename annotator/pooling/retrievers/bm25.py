"""BM25 over character 2-grams and 3-grams, for teams that have no run yet; works in any language without a tokenizer.

bm25s scores (Lucene's variant, k1 1.5, b 0.75); Lù (2024), BM25S: Orders of magnitude faster lexical search via eager
sparse scoring. Only grams of the queries are indexed, with each document's full length: the scores are those of a full
index, in far less memory. Texts are put in NFKC and lower case for matching only. A gram never crosses white space or
punctuation; it is one 64-bit number, three code points of 21 bits.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]
BETWEEN_TEXTS, BREAK = "\x00", "\x01"
BREAKS = re.compile(
    r"[\x00-/:-@\[-^`{-\x7f\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7"
    r"\u2000-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\s]+"
)
BITS = np.uint64(21)
BATCH = 1_000_000


class TextGrams(NamedTuple):
    """Grams in no particular order: `codes[i]` belongs to the text numbered `texts[i]`."""

    texts: NDArray[np.int64]
    codes: Codes


def normalize(text: str) -> str:
    """NFKC, lower case, and every run of white space and punctuation as one BREAK."""
    return BREAKS.sub(BREAK, unicodedata.normalize("NFKC", text).lower())


def list_grams(texts: Iterable[str]) -> Iterator[TextGrams]:
    """Yield the grams of the texts, numbered from 0, in batches of about a million: a long text spans several."""
    batch: list[str] = []
    size = first = 0
    for text in texts:
        batch.append(normalize(text))
        size += len(batch[-1])
        if size >= BATCH:
            yield from _cut(batch, first)
            first, size, batch = first + len(batch), 0, []
    yield from _cut(batch, first)


def _cut(texts: list[str], first: int) -> Iterator[TextGrams]:
    """Grams that begin in each window of BATCH characters; a window sees the two characters after it."""
    joined = BETWEEN_TEXTS.join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(joined, dtype=np.uint32)
    for start in range(0, len(points), BATCH):
        window = points[start : start + BATCH + 2]
        number = np.cumsum(window == ord(BETWEEN_TEXTS)) + first
        yield _cut_window(window.astype(np.uint64), number)
        first = int(number[:BATCH][-1])


def _cut_window(points: Codes, number: NDArray[np.int64]) -> TextGrams:
    inside = points > ord(BREAK)
    two = inside[:-1] & inside[1:]
    three = two[:-1] & inside[2:]
    two = two[:BATCH]
    couples = (points[:-1] << BITS) | points[1:]
    triples = (couples[:-1] << BITS) | points[2:]
    return TextGrams(
        np.concatenate([number[: len(two)][two], number[: len(three)][three]]),
        np.concatenate([couples[: len(two)][two], triples[three]]),
    )


SYSTEM = "annotator:bm25"
Scores = NDArray[np.float64]


class SearchHit(NamedTuple):
    """The number of a document in the order given, and its score (above 0)."""

    document: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """For each query its best documents, best first; `without_grams` numbers the queries too short to match."""

    hits: tuple[tuple[SearchHit, ...], ...]
    without_grams: tuple[int, ...]


class _DocumentGrams:
    """A document as bm25s counts it: it is as long as all its grams, and holds those that queries ask for."""

    __slots__ = ("gram_numbers", "length")

    def __init__(self) -> None:
        self.gram_numbers: list[int] = []
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return iter(self.gram_numbers)


def rank_bm25(
    queries: Sequence[str],
    documents: Iterable[tuple[str, str]],
    *,
    depth: int,
    progress: Callable[[str, float], None] | None = None,
    expected: int = 0,
) -> Ranking:
    """Return the `depth` best of the documents (doc_id, text) for each query; of equal scores the lower doc_id first.

    A document that shares no gram with the query is never a hit. `expected`: how many documents will come,
    for `progress`, which is told the work and the share of it that is done.
    """
    report_progress = progress or (lambda _work, _share: None)
    query_grams = [_cut_query(query) for query in queries]
    vocabulary = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *query_grams]))
    doc_ids: list[str] = []
    tokens: list[_DocumentGrams] = []
    for grams in list_grams(_note_ids(documents, doc_ids)):
        tokens += [_DocumentGrams() for _ in range(len(doc_ids) - len(tokens))]
        _collect(grams, tokens, vocabulary)
        report_progress("reading documents", len(doc_ids) / max(expected, len(doc_ids)))
    tokens += [_DocumentGrams() for _ in range(len(doc_ids) - len(tokens))]
    without = tuple(number for number, codes in enumerate(query_grams) if not len(codes))
    if not any(document.gram_numbers for document in tokens):
        return Ranking(tuple(() for _ in queries), without)
    index = _index(tokens, len(vocabulary))
    id_order = _rank_doc_ids(doc_ids)
    hits: list[tuple[SearchHit, ...]] = []
    for number, codes in enumerate(query_grams):
        ids = np.searchsorted(vocabulary, codes)
        hits.append(_best(index.get_scores_from_ids(ids), id_order, depth) if len(ids) else ())
        report_progress("ranking", (number + 1) / len(query_grams))
    return Ranking(tuple(hits), without)


def _cut_query(query: str) -> Codes:
    return np.concatenate([np.zeros(0, dtype=np.uint64), *(grams.codes for grams in list_grams([query]))])


def _note_ids(documents: Iterable[tuple[str, str]], doc_ids: list[str]) -> Iterator[str]:
    for doc_id, text in documents:
        doc_ids.append(doc_id)
        yield text


def _collect(grams: TextGrams, tokens: Sequence[_DocumentGrams], vocabulary: Codes) -> None:
    """Count these grams for their documents, and keep the ones that are in the (sorted) vocabulary."""
    if not len(grams.codes) or not len(vocabulary):
        return
    first = int(grams.texts.min())
    for number, length in enumerate(np.bincount(grams.texts - first).tolist(), start=first):
        tokens[number].length += length
    indexes = np.minimum(np.searchsorted(vocabulary, grams.codes), len(vocabulary) - 1)
    in_vocabulary = vocabulary[indexes] == grams.codes
    owners, counts = np.unique(grams.texts[in_vocabulary], return_counts=True)
    gram_numbers = indexes[in_vocabulary][np.argsort(grams.texts[in_vocabulary], kind="stable")].tolist()
    start = 0
    for owner, count in zip(owners.tolist(), counts.tolist(), strict=True):
        tokens[owner].gram_numbers += gram_numbers[start : start + count]
        start += count


def _index(tokens: list[_DocumentGrams], vocabulary: int) -> Any:
    import bm25s

    index = bm25s.BM25(backend="numpy", csc_backend="numpy", dtype="float64")
    names = {str(number): number for number in range(vocabulary)}
    index.index((tokens, names), show_progress=False)
    return index


def _rank_doc_ids(doc_ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each document in the order of doc_ids (code points), from 0."""
    id_order = np.empty(len(doc_ids), dtype=np.int64)
    id_order[sorted(range(len(doc_ids)), key=lambda number: doc_ids[number])] = np.arange(len(doc_ids))
    return id_order


def _best(scores: Scores, id_order: NDArray[np.int64], depth: int) -> tuple[SearchHit, ...]:
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > depth:
        least = np.partition(scores[candidates], len(candidates) - depth)[len(candidates) - depth]
        candidates = candidates[scores[candidates] >= least]
    order = np.lexsort((id_order[candidates], -scores[candidates]))[:depth]
    return tuple(SearchHit(int(number), float(scores[number])) for number in candidates[order])
