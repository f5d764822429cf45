"""Cut texts into character 2-grams and 3-grams, which match in any language without a tokenizer.

Texts are in NFKC and lower case for matching only. A gram never crosses white space or punctuation. It is one
64-bit number: three code points of 21 bits. Equal scores are ordered by doc_id, by code points.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.records import Ranking, SearchHit

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
    """Return the text in NFKC and lower case, with every run of white space and punctuation as one BREAK."""
    return BREAKS.sub(BREAK, unicodedata.normalize("NFKC", text).lower())


def list_grams(texts: Iterable[str]) -> Iterator[TextGrams]:
    """Yield the grams of the texts, numbered from 0, in batches of about a million. A long text spans several."""
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
    """Yield the grams that begin in each window of BATCH characters. A window includes two characters of the next."""
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


def cut_query(query: str) -> Codes:
    """Return all grams of one text with repetitions, in no particular order."""
    return np.concatenate([np.zeros(0, dtype=np.uint64), *(grams.codes for grams in list_grams([query]))])


def note_ids(documents: Iterable[tuple[str, str]], doc_ids: list[str]) -> Iterator[str]:
    """Yield the texts of the documents (doc_id, text), and append each id to `doc_ids`."""
    for doc_id, text in documents:
        doc_ids.append(doc_id)
        yield text


def rank_doc_ids(doc_ids: Sequence[str]) -> NDArray[np.int64]:
    """Return each document's position in the sorted order of doc_ids, from 0."""
    id_order = np.empty(len(doc_ids), dtype=np.int64)
    id_order[sorted(range(len(doc_ids)), key=lambda number: doc_ids[number])] = np.arange(len(doc_ids))
    return id_order


def choose_best(
    scores: NDArray[np.floating], id_order: NDArray[np.int64], depth: int
) -> tuple[SearchHit, ...]:
    """Return the `depth` documents with the highest scores above 0, best first. `scores`: one for each document."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > depth:
        least = np.partition(scores[candidates], len(candidates) - depth)[len(candidates) - depth]
        candidates = candidates[scores[candidates] >= least]
    order = np.lexsort((id_order[candidates], -scores[candidates]))[:depth]
    return tuple(SearchHit(int(number), float(scores[number])) for number in candidates[order])


def answer_nothing(queries: Sequence[Codes]) -> Ranking:
    """Return a ranking without hits for the grams of these queries."""
    hits: tuple[tuple[SearchHit, ...], ...] = tuple(() for _ in queries)
    return Ranking(hits, list_without_grams(queries))


def list_without_grams(queries: Sequence[Codes]) -> tuple[int, ...]:
    """Return the numbers of the queries that are too short to match."""
    return tuple(number for number, codes in enumerate(queries) if not len(codes))
