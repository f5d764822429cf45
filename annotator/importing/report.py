"""Report how much an import read and changed, with notes for people, such as on new ids that will cause problems.

Ids are never changed: a person decides whether two ids mean the same document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.domain.errors import refuse
from annotator.domain.ground_truth import ImportKind
from annotator.domain.messages import CommandWords, say, say_n
from annotator.domain.texts import find_near_ids, show_id
from annotator.formats.registry import find_unwritable

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


NAMED = 5
LISTED = 100


@dataclass(frozen=True, slots=True)
class NewIds:
    """Ids that are new to the dataset.

    `near`: {new id: nearly equal id, existing or earlier in the file}. `replaced`: {id of the file, new or not: the
    ids that `remap` gave its document}.
    """

    ids: tuple[str, ...]
    near: Mapping[str, str]
    replaced: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, new_ids: Iterable[str], existing_ids: Iterable[str]) -> "NewIds":
        """Return these new ids, compared with the existing ones and each other."""
        ids = tuple(new_ids)
        return cls(ids, find_near_ids(ids, existing_ids, among_new=True))

    def describe(self) -> tuple[str, ...]:
        """Return notes on ids nearly equal to existing ones, and on ids that a release format cannot hold."""
        notes: list[str] = []
        if self.near:
            pairs = [f"{show_id(new_id)} ({show_id(existing)})" for new_id, existing in self.near.items()]
            notes.append(
                say_n(
                    "warning: {n:,} new id nearly equals an id that is here, and counts as another one: {listed}",
                    "warning: {n:,} new ids nearly equal ids that are here, and count as others: {listed}",
                    len(pairs),
                    listed=list_some(pairs, LISTED),
                )
            )
        for format_name, ids in find_unwritable(self.ids).items():
            notes.append(
                say_n(
                    "warning: {n:,} new id contains white space, which the format {format} cannot hold: {listed}. Rename it "
                    "before people judge{command}, or releases leave this format out",
                    "warning: {n:,} new ids contain white space, which the format {format} cannot hold: {listed}. Rename them "
                    "before people judge{command}, or releases leave this format out",
                    len(ids),
                    format=format_name,
                    listed=list_some(list(map(show_id, ids)), LISTED),
                    command=CommandWords(" (annotator remap)"),
                )
            )
        return tuple(notes)


def note_by_id(new: NewIds) -> tuple[str, ...]:
    """Return notes on ids that `remap` replaced, and on documents without any content but their id."""
    notes: tuple[str, ...] = ()
    if new.replaced:
        replaced = [
            f"{show_id(old)} (now {', '.join(map(show_id, news))})" for old, news in new.replaced.items()
        ]
        notes = (
            say_n(
                "warning: {n:,} id of the file was replaced by remap and now counts as another document: {listed}. If the file is older, give it the new ids first",
                "warning: {n:,} ids of the file were replaced by remap and now count as other documents: {listed}. If the file is older, give it the new ids first",
                len(replaced),
                listed=list_some(replaced, LISTED),
            ),
        )
    if not new.ids:
        return notes
    listed = ", ".join(map(show_id, new.ids[:NAMED])) + (", …" if len(new.ids) > NAMED else "")
    return (
        *notes,
        say_n(
            "{n:,} document is known by its id only ({listed}): import its text as a document",
            "{n:,} documents are known by their id only ({listed}): import their texts as documents",
            len(new.ids),
            listed=listed,
        ),
        *new.describe(),
    )


def expect_query(query_ids: Iterable[str], unknown: Iterable[str]) -> dict[str, str]:
    """Return {unknown query_id: message with a query_id to use instead}, naming a similar one if it exists."""
    unknown = list(unknown)
    near = find_near_ids(unknown, query_ids)
    return {
        query_id: say("a query_id of this dataset, such as {query_id}", query_id=show_id(near[query_id]))
        if query_id in near
        else say("a query_id of this dataset")
        for query_id in unknown
    }


def require_content(count: int, path: str, expected: str) -> None:
    """Raise BadInput if a readable file has no content of the expected kind."""
    if not count:
        raise refuse(path, None, expected, say("none"))


def list_some(names: Sequence[str], most: int) -> str:
    """Return the first names, and the number of others."""
    more = len(names) - most
    shown = ", ".join(names[:most])
    return say("{listed} and {n:,} more", listed=shown, n=more) if more > 0 else shown
