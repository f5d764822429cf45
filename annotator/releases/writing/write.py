"""Write a release into its hidden folder in one pass over its queries: files, comparison, rows to be recorded.

The second of a release's two passes over its pairs. Pure apart from the folder: pairs and documents come in one after
the other, so a million qrels are never held. Ends with the manifest and SHA256SUMS, which speak of all the rest. The rules
of the comparison with the release before are in `diff.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from annotator.domain.ground_truth import Document, Query, write_canonical
from annotator.releases.diff import (
    ChangeCollector,
    ReadDecisions,
    collect_changes,
    summarise_changes,
    write_changes,
)
from annotator.releases.gates import (
    DatasetSnapshot,
    describe_files,
    describe_release,
    list_scale,
)
from annotator.releases.records import (
    JudgmentCounts,
    PublishedQrel,
    ReleaseDiff,
    ReleaseFacts,
    ReleasePair,
    Renames,
)
from annotator.releases.writing.files import (
    CHANGES,
    CONFUSION_PICTURE,
    DATASHEET,
    GRADES_PICTURE,
    JUDGMENT_COLUMNS,
    JUDGMENTS,
    MANIFEST,
    PROBABILITIES,
    SIGNATURE,
    SUMS,
    ContentDigest,
    RankTies,
    Spool,
    TruthWriter,
    list_files,
    list_keys,
    list_settled,
    to_qrel,
    write_json,
    write_judgments,
    write_probabilities,
    write_sums,
)
from annotator.releases.writing.folder import PartialFolder
from annotator.releases.writing.pictures import draw_confusion, draw_grades

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
    """Return the qrel of a settled pair: the columns `releases_sql.QREL_COLUMNS` after its position."""
    return PublishedQrel(
        pair.query_id,
        pair.doc_id,
        pair.grade or 0,
        pair.status,
        list_keys(pair),
        pair.decision,
        pair.kept.key if pair.kept else None,
    )


WriteSheet = Callable[[Mapping[str, Any], JudgmentCounts], str]


@dataclass(frozen=True, slots=True)
class ReleaseOrder:
    """The release that a lead wants published. `at`: to the second, in UTC."""

    version: str
    at: datetime
    note: str


@dataclass(frozen=True, slots=True)
class WrittenRelease:
    """The manifest, the texts of SHA256SUMS and of its signature, and the rows to be recorded."""

    manifest: Mapping[str, Any]
    sums: str
    signature: str | None
    queries: Spool
    qrels: Spool

    def close(self) -> None:
        """Remove the rows kept for recording."""
        self.queries.close()
        self.qrels.close()


def write_release(
    folder: PartialFolder,
    snapshot: DatasetSnapshot,
    order: ReleaseOrder,
    judged: Iterable[tuple[Query, list[ReleasePair]]],
    documents: Iterable[Document],
    comparison: ReleaseComparison,
    renames: Renames,
    write_sheet: WriteSheet,
    sign: Callable[[str], str] | None = None,
    *,
    chances: Mapping[tuple[str, str], float] | None = None,
) -> WrittenRelease:
    """Write every file of the release. Leaves out the formats in `snapshot.left_out`.

    `judged`: the queries in their order, each with its pairs; `documents`: in the order of doc_id. `write_sheet`
    makes the datasheet from the manifest and the counts. `sign` makes the signature of SHA256SUMS from its text.
    `chances`: of pairs that were drawn at random, by query_id and doc_id, for a file with the probabilities; None or empty: no such file.
    """
    counts = snapshot.counts
    truth = TruthWriter(
        folder,
        describe_files(snapshot, version=order.version, at=order.at),
        counts["queries"] - counts["queries_without_qrels"],
        list_grade_0=snapshot.list_grade_0,
        without=snapshot.left_out,
    )
    rows = _ReleaseRows(folder, snapshot)
    # a TREC file with one more column
    probabilities = folder.open(PROBABILITIES) if chances and "trec" not in snapshot.left_out else None
    for query, pairs in judged:
        settled = rows.add(query, pairs)
        comparison.add(query.query_id, settled)
        if settled:
            truth.add(query, [to_qrel(pair, snapshot.numbers) for pair in settled])
            if probabilities is not None:
                probabilities.write(write_probabilities(settled, chances or {}))
    truth.end(documents)
    manifest = describe_release(
        snapshot,
        version=order.version,
        at=order.at,
        note=order.note,
        content_sha256=rows.digest.end(),
        order=rows.describe_order(),
    )
    diff = comparison.end(
        ReleaseFacts(
            snapshot.dataset,
            order.version,
            list_scale(snapshot.rubric),
            snapshot.guideline_version,
            rows.texts,
            order.at,
        )
    )
    _write_beside(
        folder,
        snapshot,
        manifest,
        diff,
        renames,
        write_sheet(manifest, JudgmentCounts(rows.given, rows.sources)),
    )
    return _seal(folder, manifest, rows, sign)


class _ReleaseRows:
    """Collects the judgments' file, the canonical qrels and the rows to be recorded, query by query."""

    def __init__(self, folder: PartialFolder, snapshot: DatasetSnapshot) -> None:
        self._snapshot = snapshot
        self._judgments = folder.open(JUDGMENTS)
        self._judgments.write(",".join(JUDGMENT_COLUMNS) + "\n")
        self.digest = ContentDigest(folder.path)
        self.queries, self.qrels = Spool(folder.path), Spool(folder.path)
        self.texts: dict[str, str | None] = {}
        self.given: Counter[tuple[int, str, int | None, int | None]] = Counter()
        self.sources: Counter[tuple[str, str, int | None]] = Counter()
        self.ties, self.without_relevant = RankTies(), 0

    def add(self, query: Query, pairs: list[ReleasePair]) -> list[ReleasePair]:
        """Add a query with its pairs. Return the settled pairs in the order of publishing."""
        pairs.sort(key=lambda pair: pair.doc_id)
        numbers, simulated = self._snapshot.numbers, self._snapshot.simulated
        self._judgments.write(write_judgments(pairs, numbers=numbers, simulated=simulated))
        self.given.update(
            [
                (item.annotator, item.outcome, item.guideline_version, item.imported)
                for pair in pairs
                for item in pair.judgments
            ]
        )
        settled = list_settled(pairs, seed=self._snapshot.seed)
        if not settled:
            return settled
        self.ties.add(settled)
        self.without_relevant += not settled[0].grade
        self.digest.add(
            query.query_id, write_canonical(query.query_id, [(p.doc_id, p.grade or 0) for p in settled])
        )
        self.queries.add([(self.queries.rows, query.query_id, query.text)])
        self.texts[query.query_id] = query.text
        start = self.qrels.rows
        self.qrels.add([(position, *to_published(pair)) for position, pair in enumerate(settled, start)])
        for pair in settled:
            if pair.kept is not None:
                kept = pair.kept
                self.sources[PurePath(kept.source_path).name, kept.source_format, kept.imported] += 1
        return settled

    def describe_order(self) -> dict[str, int]:
        """Return the manifest's `order`: see `content.RankTies`.

        Also has the queries without a relevant document, which `ranked.json` leaves out."""
        return {
            "tied": self.ties.tied,
            "by_lead": self.ties.by_lead,
            "by_earlier": self.ties.by_earlier,
            "undecided": self.ties.undecided,
            "queries_undecided": self.ties.queries_undecided,
            "queries_without_relevant": self.without_relevant,
        }


def _write_beside(
    folder: PartialFolder,
    snapshot: DatasetSnapshot,
    manifest: Mapping[str, Any],
    diff: ReleaseDiff,
    renames: Renames,
    sheet: str,
) -> None:
    """Write the files for people: pictures, changes and the datasheet."""
    names = [item.name for item in snapshot.rubric.grades]
    folder.write(GRADES_PICTURE, draw_grades(manifest["counts"]["by_grade"], names))
    folder.write(CONFUSION_PICTURE, draw_confusion(manifest["agreement"]["annotator_pairs"], names))
    folder.write(CHANGES, write_changes(diff, renames))
    folder.write(DATASHEET, sheet)


def _seal(
    folder: PartialFolder, manifest: dict[str, Any], rows: _ReleaseRows, sign: Callable[[str], str] | None
) -> WrittenRelease:
    """Write the manifest, the checksums and their signature, after every other file is complete."""
    for file in folder.files:
        file.close()
    manifest["files"] = list_files(folder.files)
    folder.write(MANIFEST, write_json(manifest))
    sums = write_sums(folder.files)
    folder.write(SUMS, sums)
    signature = sign(sums) if sign else None
    if signature is not None:
        folder.write(SIGNATURE, signature)
    return WrittenRelease(manifest, sums, signature, rows.queries, rows.qrels)
