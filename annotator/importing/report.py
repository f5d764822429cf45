"""Report how much an import read and changed, with notes for people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.domain.import_records import ImportKind
from annotator.domain.messages import say, say_n

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`read`: the file's items; it equals `added + changed + unchanged` plus the items that a run left out.

    `notes`: sentences for people, about omitted and added items. `figures`: their counts, for the record of
    the import. With `dry_run` nothing was stored.
    """

    kind: ImportKind
    path: str
    read: int
    added: int
    changed: int
    unchanged: int
    notes: tuple[str, ...]
    dry_run: bool
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes_something(self) -> bool:
        """Whether the file has new or different content."""
        return self.added + self.changed > 0


@dataclass(frozen=True, slots=True)
class FolderReport:
    """The report of a folder of runs: sums, and a report for each file, sorted by name."""

    kind: ImportKind
    path: str
    read: int
    added: int
    changed: int
    unchanged: int
    notes: tuple[str, ...]
    dry_run: bool
    files: tuple[ImportReport, ...]

    @classmethod
    def of(
        cls, path: str, files: Sequence[ImportReport], notes: tuple[str, ...], *, dry_run: bool
    ) -> "FolderReport":
        """Return the report of a folder from the reports of its files."""
        read, added = sum(file.read for file in files), sum(file.added for file in files)
        changed, unchanged = sum(file.changed for file in files), sum(file.unchanged for file in files)
        return cls("run", path, read, added, changed, unchanged, notes, dry_run, tuple(files))


def be_silent(_: str) -> None:
    """Report no progress."""


def note_joined(count: int) -> tuple[str, ...]:
    """Return a note on pairs that joined the pool."""
    return (say_n("{n:,} pair joined the pool", "{n:,} pairs joined the pool", count),) if count else ()


def note_contradicting(count: int) -> tuple[str, ...]:
    """Return a note on lines of a judgments file that contradict an earlier line of the file."""
    if not count:
        return ()
    return (
        say_n(
            "{n:,} line contradicts an earlier line of the same annotator on the same pair: each is a revision; the latest by its time (judged_at) counts, or else the last line",
            "{n:,} lines contradict an earlier line of the same annotator on the same pair: each is a revision; the latest by its time (judged_at) counts, or else the last line",
            count,
        ),
    )


def count_contradicting(count: int) -> dict[str, Any]:
    """Return the figure of contradicting lines; empty if there are none."""
    return {"contradicting_lines": count} if count else {}


def count_mapped(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the figure of values read by `--map-grades`; empty without a mapping."""
    return {"mapped_grades": dict(counts)} if counts else {}


def note_moved(count: int | None) -> tuple[str, ...]:
    """Return a note on results of a stored run that changed position; None: this could not be determined."""
    if count is None:
        return (say("documents of this run have new ids since it was stored: it keeps its order"),)
    if not count:
        return ()
    return (
        say_n(
            "{n:,} result has another rank now; pooled pairs keep theirs",
            "{n:,} results have another rank now; pooled pairs keep theirs",
            count,
        ),
    )


def note_more_queries(count: int) -> tuple[str, ...]:
    """Return a note on results of queries that were added after the file's first import."""
    if not count:
        return ()
    return (
        say_n(
            "the same file as before: {n:,} result of queries that are new in the dataset added",
            "the same file as before: {n:,} results of queries that are new in the dataset added",
            count,
        ),
    )


def note_changed_texts(documents: int, judgments: int) -> tuple[str, ...]:
    """Return notes on documents with a new text, and on judgments of an older text."""
    if not documents:
        return ()
    changed = say_n("{n:,} document has another text now", "{n:,} documents have another text now", documents)
    if not judgments:
        return (changed,)
    made = say_n(
        "{n:,} judgment was made on an older text, which is kept; their annotators are asked to confirm or change them",
        "{n:,} judgments were made on an older text, which is kept; their annotators are asked to confirm or change them",
        judgments,
    )
    return changed, made
