"""Indexes kept in memory: nobody waits, a change is noticed, a failure is tried again, the oldest goes."""

from collections.abc import Hashable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from annotator.pooling.proposals.search_index import LOOK_AGAIN, MOST_KEPT, SearchKeeper, make_searchable

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Texts:
    """A source that can be changed, and that can fail."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.reads, self.fails = list(texts), 0, False

    def read_stamp(self) -> Hashable:
        return tuple(self.texts)

    def list_lengths(self) -> Sequence[int]:
        return [len(text) for text in self.texts]

    def read_texts(self, most_characters: int | None) -> Iterator[tuple[int, str]]:
        self.reads += 1
        if self.fails:
            raise OSError("gone")
        for number, text in enumerate(self.texts):
            yield 100 + number, text[:most_characters]


def find(keeper: SearchKeeper, source: Texts, query: str, *, now: datetime = NOW) -> list[int] | None:
    ready, _share = keeper.find("d", source, now=now)
    if ready is None:
        return None
    return [ready.document_pks[match.text] for match in ready.index.search(query, limit=9)]


def test_the_first_search_returns_the_progress_of_the_index() -> None:
    keeper, source = SearchKeeper(), Texts("handler", "queue")
    assert find(keeper, source, "queue") is None
    keeper.wait("d")
    assert find(keeper, source, "queue") == [101]
    assert source.reads == 1


def test_changed_documents_are_noticed_and_the_old_index_serves_meanwhile() -> None:
    keeper, source = SearchKeeper(), Texts("handler")
    find(keeper, source, "")
    keeper.wait("d")
    source.texts.append("queue")
    soon, later = NOW + LOOK_AGAIN / 2, NOW + LOOK_AGAIN
    assert find(keeper, source, "queue", now=soon) == []
    keeper.wait("d")
    assert find(keeper, source, "queue", now=soon) == []
    find(keeper, source, "queue", now=later)
    keeper.wait("d")
    assert find(keeper, source, "queue", now=later) == [101]
    assert source.reads == 2


def test_an_unchanged_index_is_not_built_again() -> None:
    keeper, source = SearchKeeper(), Texts("handler")
    for number in range(4):
        find(keeper, source, "handler", now=NOW + number * LOOK_AGAIN)
        keeper.wait("d")
    assert source.reads == 1


def test_a_failure_is_tried_again() -> None:
    keeper, source = SearchKeeper(), Texts("handler")
    source.fails = True
    find(keeper, source, "handler")
    keeper.wait("d")
    source.fails = False
    assert find(keeper, source, "handler", now=NOW + LOOK_AGAIN) is None
    keeper.wait("d")
    assert find(keeper, source, "handler", now=NOW + LOOK_AGAIN) == [100]


def test_the_least_recently_used_index_is_dropped_first() -> None:
    keeper = SearchKeeper()
    for number in range(MOST_KEPT + 2):
        name = f"d{number}"
        keeper.find(name, Texts("x"), now=NOW + timedelta(seconds=number))
        keeper.wait(name)
    keeper.find("last", Texts("x"), now=NOW + timedelta(minutes=1))
    keeper.wait("last")
    assert len(keeper.kept) <= MOST_KEPT + 1
    assert "d0" not in keeper.kept


def test_a_corpus_that_is_too_large_is_searched_by_its_beginnings() -> None:
    searchable = make_searchable(Texts("handler queue", "xx"), room=9, report_progress=lambda share: None)
    assert searchable.most_characters == 7
    assert [match.text for match in searchable.index.search("handler", limit=3)] == [0]
    assert searchable.index.search("queue", limit=3) == []
