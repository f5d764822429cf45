"""Compare a release with the one before it while it is written, a few hundred queries at a time.

The rules are in `diff.py`.
"""

from collections.abc import Callable, Mapping, Sequence

from annotator.releases.diff import ChangeCollector, ReadDecisions, collect_changes, summarise_changes
from annotator.releases.records import PublishedQrel, ReleaseDiff, ReleaseFacts, ReleasePair, Renames
from annotator.releases.writing.content import list_keys

QUERIES_AT_ONCE = 200
ReadQrels = Callable[[Sequence[str]], Mapping[str, dict[str, PublishedQrel]]]


class ReleaseComparison:
    """Collects the changes against the release before, query by query.

    `before`: None for the first release; then nothing is compared. `read` returns its qrels of some queries,
    `read_decisions` the words of leads' decisions. `keep`: changes of each kind to list.
    """

    def __init__(
        self,
        before: ReleaseFacts | None,
        renames: Renames,
        read: ReadQrels,
        read_decisions: ReadDecisions,
        *,
        keep: int | None,
    ) -> None:
        self._read_decisions = read_decisions
        self._before, self._renames, self._read = before, renames, read
        self._collected = ChangeCollector(keep=keep)
        self._waiting: dict[str, dict[str, PublishedQrel]] = {}
        self._seen: set[str] = set()

    def add(self, query_id: str, settled: Sequence[ReleasePair]) -> None:
        """Add a query's settled pairs; call it once per query."""
        if self._before is None:
            return
        self._seen.add(query_id)
        self._waiting[query_id] = {pair.doc_id: to_published(pair) for pair in settled}
        if len(self._waiting) >= QUERIES_AT_ONCE:
            self._compare()

    def end(self, after: ReleaseFacts) -> ReleaseDiff:
        """Return the whole comparison."""
        for query_id in self._before.queries if self._before else ():
            if query_id not in self._seen:
                self.add(query_id, ())
        self._compare()
        return summarise_changes(self._before, after, self._collected, self._read_decisions)

    def _compare(self) -> None:
        if not self._waiting:
            return
        before = self._read(list(self._waiting))
        for query_id, after in self._waiting.items():
            collect_changes(self._collected, before.get(query_id, {}), after, self._renames)
        self._waiting = {}


def to_published(pair: ReleasePair) -> PublishedQrel:
    """Return the qrel of a settled pair with the keys of what it rests on."""
    return PublishedQrel(
        pair.query_id,
        pair.doc_id,
        pair.grade or 0,
        pair.status,
        list_keys(pair),
        pair.decision,
        pair.kept.key if pair.kept else None,
    )
