"""Search texts while a person types, with a BM25 index in memory that is built in the background.

A segment has up to 65,536 texts or some million characters; a hundred thousand texts take some hundred
megabytes. Scores are BM25's (Lucene's variant, k1 1.5, b 0.75). Grams of very many texts are skipped, so that
each key press is fast. An `IndexSource` gives the texts and a stamp of their state. Callers never wait: the
older index answers while a newer one is built; without one, the answer is the progress. Only the most
recently used indexes are kept. Thread-safe.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock, Thread
from typing import NamedTuple, Protocol

import numpy as np
import structlog
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import cut_query, list_grams

TEXTS_PER_SEGMENT = 1 << 16
CHARACTERS_PER_SEGMENT = 3_000_000
MOST_GRAMS = 200
MOST_POSTINGS = 1_000_000
K1, B = 1.5, 0.75
_MIX, _SHIFT, _PLACE = np.uint64(0x9E3779B97F4A7C15), np.uint64(17), np.uint64(16)
Codes = NDArray[np.uint64]


class TextMatch(NamedTuple):
    """A found text: its number in the order of the index, and its score."""

    text: int
    score: float


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive texts from number `first`. The texts of gram `grams[i]` are `texts[starts[i]:starts[i + 1]]`."""

    first: int
    lengths: NDArray[np.float32]
    grams: Codes
    starts: NDArray[np.uint32]
    texts: NDArray[np.uint16]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """An index. It never changes, so any number of threads may search it."""

    size: int
    segments: tuple[Segment, ...]
    average: float

    def search(self, query: str, *, limit: int) -> list[TextMatch]:
        """Return the texts that share a gram, best first; equal scores in the order of the index."""
        codes = hash_grams(query)[:MOST_GRAMS]
        if not len(codes) or not self.segments:
            return []
        postings = [_find(segment, codes) for segment in self.segments]
        frequency = sum((stop - start for start, stop in postings), np.zeros(len(codes), dtype=np.int64))
        scored = _choose(frequency)
        weights = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        ranked: list[tuple[float, int]] = []
        for segment, (start, stop) in zip(self.segments, postings, strict=True):
            scores = _score(segment, start[scored], stop[scored], weights[scored], self.average)
            ranked += _best(segment, scores, limit)
        ranked.sort(key=lambda match: (-match[0], match[1]))
        return [TextMatch(text, score) for score, text in ranked[:limit]]


def hash_grams(text: str) -> Codes:
    """Return the different grams of a text as 47-bit numbers. Two collide once in some hundred indexes."""
    return np.unique(_hash(cut_query(text)))


def choose_most_characters(lengths: Sequence[int], *, room: int) -> int | None:
    """Return how many characters of each text fit if `room` fit into memory; None: all of every text.

    At most LONGEST_TEXT: building the index needs some 150 bytes for each character of its longest text.
    """
    most = LONGEST_TEXT if any(length > LONGEST_TEXT for length in lengths) else None
    lengths = [min(length, LONGEST_TEXT) for length in lengths]
    if sum(lengths) <= room:
        return most
    cut = 0
    ordered = sorted(lengths)
    for number, length in enumerate(ordered):
        cut = room // (len(ordered) - number)
        if length > cut:
            break
        room -= length
    return max(cut, 1)


def build_index(texts: Iterable[str], *, report_progress: Callable[[int], None] | None = None) -> SearchIndex:
    """Return the index of these texts, numbered from 0. Calls `report_progress(texts_read)`."""
    segments: list[Segment] = []
    batch: list[str] = []
    size = characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= CHARACTERS_PER_SEGMENT or len(batch) == TEXTS_PER_SEGMENT:
            segments.append(_build_segment(batch, size))
            size, characters, batch = size + len(batch), 0, []
            if report_progress:
                report_progress(size)
    if batch:
        segments.append(_build_segment(batch, size))
        size += len(batch)
    total = sum(float(segment.lengths.sum()) for segment in segments)
    return SearchIndex(size, tuple(segments), max(total / max(size, 1), 1.0))


def _hash(codes: Codes) -> Codes:
    return (codes * _MIX) >> _SHIFT


def _build_segment(texts: Sequence[str], first: int) -> Segment:
    keys: list[Codes] = []
    lengths = np.zeros(len(texts), dtype=np.float32)
    for grams in list_grams(texts):
        if len(grams.codes):
            keys.append((_hash(grams.codes) << _PLACE) | grams.texts.astype(np.uint64))
            lengths += np.bincount(grams.texts, minlength=len(texts)).astype(np.float32)
    every = np.concatenate(keys) if keys else np.zeros(0, dtype=np.uint64)
    keys.clear()
    every.sort()
    begins = (
        np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]])) if len(every) else np.zeros(0, int)
    )
    counts = np.diff(np.append(begins, len(every)))
    every = every[begins]
    codes = every >> _PLACE
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else begins
    return Segment(
        first,
        lengths,
        codes[starts],
        np.append(starts, len(codes)).astype(np.uint32),
        (every & np.uint64(TEXTS_PER_SEGMENT - 1)).astype(np.uint16),
        np.minimum(counts, 255).astype(np.uint8),
    )


def _find(segment: Segment, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begin and end of each gram's texts; both are equal for a gram without texts."""
    if not len(segment.grams):
        none = np.zeros(len(codes), dtype=np.int64)
        return none, none
    indexes = np.minimum(np.searchsorted(segment.grams, codes), len(segment.grams) - 1)
    in_segment = segment.grams[indexes] == codes
    start = segment.starts[indexes].astype(np.int64)
    return start, np.where(in_segment, segment.starts[indexes + 1].astype(np.int64), start)


def _choose(frequency: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the grams to score: those of any text, the rarest first, up to MOST_POSTINGS postings."""
    order = np.argsort(frequency, kind="stable")
    order = order[frequency[order] > 0]
    affordable = int((np.cumsum(frequency[order]) <= MOST_POSTINGS).sum())
    return order[: max(affordable, 1)]


def _score(
    segment: Segment,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    weights: NDArray[np.float32],
    average: float,
) -> NDArray[np.float32]:
    scores = np.zeros(len(segment.lengths), dtype=np.float32)
    norm = (K1 * (1 - B + B * segment.lengths / average)).astype(np.float32)
    for begin, end, weight in zip(start.tolist(), stop.tolist(), weights.tolist(), strict=True):
        if begin < end:
            texts = segment.texts[begin:end]
            count = segment.counts[begin:end].astype(np.float32)
            scores[texts] += weight * (count / (count + norm[texts]))
    return scores


def _best(segment: Segment, scores: NDArray[np.float32], limit: int) -> list[tuple[float, int]]:
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > limit:
        least = np.partition(scores[candidates], len(candidates) - limit)[len(candidates) - limit]
        candidates = candidates[scores[candidates] >= least]
        candidates = candidates[np.lexsort((candidates, -scores[candidates]))[:limit]]
    return [(float(scores[text]), segment.first + text) for text in candidates.tolist()]


ROOM = 60_000_000
LONGEST_TEXT = 1_000_000
LOOK_AGAIN = timedelta(seconds=20)
MOST_KEPT = 4

log = structlog.stdlib.get_logger("annotator.pooling")


@dataclass(frozen=True, slots=True)
class SearchableIndex:
    """An index with its documents. `most_characters`: the searched part of each document; None: all of it."""

    index: SearchIndex
    document_pks: tuple[int, ...]
    most_characters: int | None = None


class IndexSource(Protocol):
    """The texts that an index is made of."""

    def read_stamp(self) -> Hashable:
        """Return a value that differs when the documents differ."""

    def list_lengths(self) -> Sequence[int]:
        """Return the length of each text."""

    def read_texts(self, most_characters: int | None) -> Iterator[tuple[int, str]]:
        """Yield (document_pk, searched text), with the first `most_characters` of its text."""


def make_searchable(
    source: IndexSource, *, room: int, report_progress: Callable[[float], None]
) -> SearchableIndex:
    """Return the index of these texts, each cut so that all fit into `room` characters."""
    lengths = source.list_lengths()
    most_characters = choose_most_characters(lengths, room=room)
    document_pks: list[int] = []

    def read() -> Iterator[str]:
        for document_pk, text in source.read_texts(most_characters):
            document_pks.append(document_pk)
            yield text

    index = build_index(read(), report_progress=lambda done: report_progress(done / max(len(lengths), done)))
    return SearchableIndex(index, tuple(document_pks), most_characters)


@dataclass(slots=True)
class _CachedIndex:
    last_used_at: datetime
    looked_at: datetime | None = None
    searchable: SearchableIndex | None = None
    stamp: Hashable = None
    share: float = 0.0
    at_work: Thread | None = None


@dataclass(slots=True)
class SearchKeeper:
    """The indexes by name."""

    kept: dict[Hashable, _CachedIndex] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(
        self, name: Hashable, source: IndexSource, *, now: datetime
    ) -> tuple[SearchableIndex | None, float]:
        """Return the index of that name (None while the first one is built), and its progress (0 to 1)."""
        with self.lock:
            kept = self.kept.setdefault(name, _CachedIndex(now))
            kept.last_used_at = max(now, kept.last_used_at)
            idle = kept.at_work is None
            due = kept.looked_at is None or abs(now - kept.looked_at) >= LOOK_AGAIN
            if idle and due:
                kept.looked_at = now
                kept.at_work = Thread(
                    target=self._look, args=(kept, source), name="search index", daemon=True
                )
                kept.at_work.start()
            self._drop_oldest()
            return kept.searchable, kept.share

    def wait(self, name: Hashable) -> None:
        """Wait until the work on that index has ended. For tests and benchmarks."""
        with self.lock:
            thread = self.kept[name].at_work if name in self.kept else None
        if thread is not None:
            thread.join()

    def _look(self, kept: _CachedIndex, source: IndexSource) -> None:
        """Build the index if there is none or the documents have changed. Runs in the background."""
        try:
            stamp = source.read_stamp()
            if kept.searchable is None or stamp != kept.stamp:
                made = make_searchable(
                    source, room=ROOM, report_progress=lambda share: setattr(kept, "share", share)
                )
                with self.lock:
                    kept.searchable, kept.stamp, kept.share = made, stamp, 1.0
        except Exception:  # the edge of a thread: the next search tries again
            log.exception("the search index could not be made")
        finally:
            with self.lock:
                kept.at_work = None

    def _drop_oldest(self) -> None:
        resting = [name for name, kept in self.kept.items() if kept.at_work is None]
        resting.sort(key=lambda name: self.kept[name].last_used_at)
        for name in resting[: max(0, len(self.kept) - MOST_KEPT)]:
            del self.kept[name]
