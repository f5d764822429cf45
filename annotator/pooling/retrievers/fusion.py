"""Fuse ranked lists by reciprocal ranks, among them the documents whose titles match the query.

A fused score is the sum over the lists of weight / (K + rank): Cormack, Clarke and Büttcher (SIGIR 2009),
Reciprocal rank fusion outperforms Condorcet and individual rank learning methods.

A title matches exactly (the same words) or partially (one inside the other). Both are compared in NFKC and
lower case, with white space and punctuation as one break. A partial match has at least two characters and
does not cut words of scripts that separate words. Exact matches have rank 1. Partial matches are ordered by
the share of the longer text that they cover; equal shares have the same rank.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import BREAK, normalize

K = 60
FUSED_RESULTS = 100  # the fewest results of each list that are fused


@overload
def weigh_ranks(ranks: int, weight: float = 1.0) -> float: ...
@overload
def weigh_ranks(ranks: NDArray[np.integer], weight: float = 1.0) -> NDArray[np.float64]: ...
def weigh_ranks(ranks: Any, weight: float = 1.0) -> Any:
    """Return the contribution of a rank in a list (or of an array of ranks) to the fused score."""
    return weight / (K + ranks)


class ListedDocument(NamedTuple):
    """A document in a list. `rank`: from 1. `score`: the list's own."""

    doc_id: str
    rank: int
    score: float | None


class FusedDocument(NamedTuple):
    """A document of the fused list. `signals`: by list its rank, its score and its contribution to this score."""

    doc_id: str
    score: float
    signals: Mapping[str, Mapping[str, Any]]


def fuse_lists(
    lists: Mapping[str, Sequence[ListedDocument]], weights: Mapping[str, float], *, depth: int
) -> list[FusedDocument]:
    """Return the `depth` best documents, best first; equal scores by doc_id. `weights`: by list."""
    signals: dict[str, dict[str, dict[str, Any]]] = {}
    for name, documents in lists.items():
        for document in documents:
            signals.setdefault(document.doc_id, {})[name] = {
                "rank": document.rank,
                "score": document.score,
                "contribution": weigh_ranks(document.rank, weights[name]),
            }
    fused = [
        FusedDocument(doc_id, fsum(signal["contribution"] for signal in by_list.values()), by_list)
        for doc_id, by_list in signals.items()
    ]
    return sorted(fused, key=lambda document: (-document.score, document.doc_id))[:depth]


LEAST_CHARACTERS = 2


class TitleMatches(NamedTuple):
    """The documents with a matching title, best first."""

    exact: list[ListedDocument]
    partial: list[ListedDocument]


class TitleIndex:
    """The titles of documents, to be matched with any number of queries."""

    def __init__(self, titles: Iterable[tuple[str, str]]) -> None:
        self._documents: dict[str, list[str]] = {}
        for doc_id, title in titles:
            self._documents.setdefault(_fold(title), []).append(doc_id)
        self._documents.pop("", None)
        self._lengths = sorted({len(title) for title in self._documents if len(title) >= LEAST_CHARACTERS})
        self._joined = "\n".join(["", *self._documents, ""])

    def match(self, query: str, *, depth: int) -> TitleMatches:
        """Return the first `depth` exact matches and the first `depth` partial matches."""
        searched = _fold(query)
        exact = [
            ListedDocument(doc_id, 1, 1.0) for doc_id in sorted(self._documents.get(searched, ()))[:depth]
        ]
        titles = {*self._list_inside(searched), *self._list_around(searched)} - {searched}
        shares = [
            (min(len(title), len(searched)) / max(len(title), len(searched)), doc_id)
            for title in titles
            for doc_id in self._documents[title]
        ]
        shares.sort(key=lambda match: (-match[0], match[1]))
        partial: list[ListedDocument] = []
        for number, (share, doc_id) in enumerate(shares[:depth]):
            rank = partial[-1].rank if number and partial[-1].score == share else number + 1
            partial.append(ListedDocument(doc_id, rank, share))
        return TitleMatches(exact, partial)

    def _list_inside(self, searched: str) -> Iterator[str]:
        for length in self._lengths:
            for start in range(len(searched) - length + 1):
                part = searched[start : start + length]
                if part in self._documents and not _cuts_word(searched, start, start + length):
                    yield part

    def _list_around(self, searched: str) -> Iterator[str]:
        if len(searched) < LEAST_CHARACTERS:
            return
        start = self._joined.find(searched)
        while start >= 0:
            if not _cuts_word(self._joined, start, start + len(searched)):
                begin, end = self._joined.rfind("\n", 0, start) + 1, self._joined.find("\n", start)
                yield self._joined[begin:end]
            start = self._joined.find(searched, start + 1)


def _fold(text: str) -> str:
    return normalize(text).strip(BREAK)


def _cuts_word(text: str, start: int, stop: int) -> bool:
    """Return whether text[start:stop] begins or ends inside a word of Latin, Greek, Cyrillic or similar."""
    before, after = text[max(0, start - 1) : start + 1], text[stop - 1 : stop + 1]
    return any(len(edge) == 2 and all(_is_spaced(letter) for letter in edge) for edge in (before, after))


def _is_spaced(letter: str) -> bool:
    return letter.isalnum() and ord(letter) < 0x0900
