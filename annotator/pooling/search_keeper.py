"""Keeps search indexes in memory: makes them in a background thread, and anew when the documents have changed.

Knows no database: a `Source` hands it the texts, and says by a stamp whether something changed. Whoever asks never waits: an index at hand is used while a newer one is made, and without one the
answer is how far it is. A few are kept; the one asked for longest ago goes first. Safe for any number of threads.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock, Thread
from typing import Protocol

import structlog

from annotator.pooling.search_index import SearchIndex, build_index, choose_most_characters

ROOM = 60_000_000
LOOK_AGAIN = timedelta(seconds=20)
MOST_KEPT = 4

log = structlog.stdlib.get_logger("annotator.pooling")


@dataclass(frozen=True, slots=True)
class Searchable:
    """An index with what its numbers stand for. `most_characters`: how much of each document is searched (None: all)."""

    index: SearchIndex
    document_pks: tuple[int, ...]
    most_characters: int | None = None


class Source(Protocol):
    """What an index is made of."""

    def read_stamp(self) -> Hashable:
        """A value that differs when the documents differ."""

    def list_lengths(self) -> Sequence[int]:
        """How many characters each text has."""

    def read_texts(self, most_characters: int | None) -> Iterator[tuple[int, str]]:
        """(document_pk, what is searched of it), with the first `most_characters` of its text."""


def make_searchable(source: Source, *, room: int, tell: Callable[[float], None]) -> Searchable:
    """The index of these texts: of all of every text, or of as much of each as `room` characters allow."""
    lengths = source.list_lengths()
    most_characters = choose_most_characters(lengths, room=room)
    document_pks: list[int] = []

    def read() -> Iterator[str]:
        for document_pk, text in source.read_texts(most_characters):
            document_pks.append(document_pk)
            yield text

    index = build_index(read(), tell=lambda done: tell(done / max(len(lengths), done)))
    return Searchable(index, tuple(document_pks), most_characters)


@dataclass(slots=True)
class _Kept:
    asked_at: datetime
    looked_at: datetime | None = None
    searchable: Searchable | None = None
    stamp: Hashable = None
    share: float = 0.0
    at_work: Thread | None = None


@dataclass(slots=True)
class SearchKeeper:
    """See the module."""

    kept: dict[Hashable, _Kept] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def find(self, name: Hashable, source: Source, *, now: datetime) -> tuple[Searchable | None, float]:
        """The index of that name if there is one, and how far the first one is (0 to 1)."""
        with self.lock:
            kept = self.kept.setdefault(name, _Kept(now))
            kept.asked_at = max(now, kept.asked_at)
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
        """Until the work on that index has ended; for tests and benchmarks."""
        with self.lock:
            thread = self.kept[name].at_work if name in self.kept else None
        if thread is not None:
            thread.join()

    def _look(self, kept: _Kept, source: Source) -> None:
        """In the background: make the index if there is none, or another than the documents ask for."""
        try:
            stamp = source.read_stamp()
            if kept.searchable is None or stamp != kept.stamp:
                made = make_searchable(source, room=ROOM, tell=lambda share: setattr(kept, "share", share))
                with self.lock:
                    kept.searchable, kept.stamp, kept.share = made, stamp, 1.0
        except Exception:  # a thread's edge: logged; the next one who asks tries again
            log.exception("the search index could not be made")
        finally:
            with self.lock:
                kept.at_work = None

    def _drop_oldest(self) -> None:
        resting = [name for name, kept in self.kept.items() if kept.at_work is None]
        resting.sort(key=lambda name: self.kept[name].asked_at)
        for name in resting[: max(0, len(self.kept) - MOST_KEPT)]:
            del self.kept[name]
