"""Find what changed between two releases, pair by pair, following renamed documents; write CHANGES.md.

Used by `release diff`, CHANGES.md and the preview of a release. A pair is known by its ids, through every
`remap` between the two releases; one `remap` renames everything at once (a swap is two rows of the same
moment). The reason for a change comes from what each release says its qrel rests on. Works query by query,
never holding a million qrels.

Write CHANGES.md: what is different from the release before, for people. Pure text; deterministic. Tables are
cut after 200 rows and say how many there are in all; `release diff` lists everything.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from annotator.adjudication.records import CAUSE_NAMES
from annotator.domain.messages import say
from annotator.formats.syntax.markdown import escape_markdown, write_table
from annotator.releases.records import (
    PublishedQrel,
    QrelChange,
    Reason,
    ReleaseDiff,
    ReleaseFacts,
    Renames,
    advise,
)


def give_present_ids(
    before: Mapping[str, PublishedQrel], renamed: Mapping[str, str], parted: Collection[str]
) -> dict[str, PublishedQrel]:
    """Return the older qrels by the present id of their document.

    If two get the same id, the one that kept its id has priority, else the first by old id. Split and merged
    documents lose their id.
    """
    if not renamed:
        return dict(before)
    given = {renamed[doc_id] for doc_id in before.keys() & renamed.keys()}
    present = {
        doc_id: qrel
        for doc_id, qrel in before.items()
        if doc_id not in renamed and not (doc_id in parted and doc_id in given)
    }
    for doc_id in sorted(before.keys() & renamed.keys()):
        present.setdefault(renamed[doc_id], before[doc_id])
    return present


def follow_grounds(
    before: Mapping[str, PublishedQrel], after: Mapping[str, PublishedQrel], renamed: Mapping[str, str]
) -> dict[str, str]:
    """Return {old doc_id: present doc_id} for documents identified by the judgments or decision of a qrel.

    Ids that are the same in both releases are left out, unless `renamed` has them.
    """
    differing = [(doc_id, old) for doc_id, old in before.items() if after.get(doc_id) != old]
    owners = {
        key: doc_id for doc_id, new in after.items() if before.get(doc_id) != new for key in _list_keys(new)
    }
    followed = {doc_id: doc_id for doc_id in renamed.keys() & before.keys() if before[doc_id].judgments}
    for doc_id, old in differing:
        followed.pop(doc_id, None)
        now = next((owners[key] for key in _list_keys(old) if key in owners), None)
        if now is not None:
            followed[doc_id] = now
    return followed


def _list_keys(qrel: PublishedQrel) -> Iterator[tuple[str, str]]:
    """Return the keys that belong to one pair only: its judgments, its decision, its imported grade."""
    yield from (("judgment", key) for key in (qrel.judgments or "").split())
    if qrel.adjudication_pk is not None:
        yield "adjudication", str(qrel.adjudication_pk)
    if qrel.imported_qrel_pk is not None:
        yield "imported", str(qrel.imported_qrel_pk)


NO_NAMES: Mapping[str, str] = {}
ReadDecisions = Callable[[Collection[int]], Mapping[int, tuple[str | None, str]]]
"""Gives the cause (None: not said) and the rationale of decisions, by their adjudication_pk."""


class ChangeCollector:
    """Collects the changes of one query after the other for `summarise_changes`.

    `keep`: how many of each kind to list, None for all; then changes of whole queries are not listed either. Changes
    that are not listed are counted.
    """

    def __init__(self, *, keep: int | None = None) -> None:
        self.keep = keep
        self.listed: list[QrelChange] = []
        self._kept: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.whole: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self._decisions: dict[tuple[str, str], int] = {}

    def explain(self, read: ReadDecisions) -> tuple[QrelChange, ...]:
        """Return the listed changes, with the lead's reasons where a lead decided."""
        decisions = read(set(self._decisions.values()))
        return tuple(self._explain(change, decisions) for change in self.listed)

    def _explain(self, change: QrelChange, decisions: Mapping[int, tuple[str | None, str]]) -> QrelChange:
        decision = self._decisions.get((change.query_id, change.doc_id))
        if decision is None or decision not in decisions:
            return change
        cause, rationale = decisions[decision]
        return replace(change, cause=cause, rationale=rationale or None)

    def add(
        self,
        changes: Iterable[QrelChange],
        after: Mapping[str, PublishedQrel] | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """Add changes of a query. `after`: its later qrels by doc_id; `whole`: only one release has the query."""
        for change in changes:
            self.counts[change.kind] += 1
            if change.kind == "changed":
                self.reasons[change.reason or ""] += 1
            if whole:
                self.whole[change.query_id] += 1
            if self.keep is None or (not whole and self._kept[change.kind] < self.keep):
                self._kept[change.kind] += 1
                self.listed.append(change)
                qrel = (after or {}).get(change.doc_id)
                if change.reason == "adjudication" and qrel is not None and qrel.adjudication_pk is not None:
                    self._decisions[change.query_id, change.doc_id] = qrel.adjudication_pk


def compare_query(
    before: Mapping[str, PublishedQrel],
    after: Mapping[str, PublishedQrel],
    renamed: Mapping[str, str] = NO_NAMES,
    *,
    parted: Collection[str] = (),
    joined: Collection[str] = (),
) -> list[QrelChange]:
    """Return the changes within one query, by doc_id in code point order. `before`, `after`: its qrels by doc_id.

    `renamed`: new ids of documents by their old ones; `parted` and `joined`: see `Renames`. What a qrel rests on
    identifies its document better than ids: two qrels that share a judgment are the same pair, whatever the document
    is called.
    """
    if before == after and not renamed and not parted:
        return []  # most queries of most releases
    moved = follow_grounds(before, after, renamed)
    parted = {
        *parted,
        *(set(moved.values()) - moved.keys()),
    }  # an id that another document has now was given up
    renamed = {old: new for old, new in {**renamed, **moved}.items() if old != new}
    present = give_present_ids(before, renamed, parted)
    matched = {id(qrel) for qrel in present.values()}
    changes = []
    for doc_id, new in after.items():
        old = present.get(doc_id)
        if old is None:
            reason: Reason | None = "remap" if doc_id in joined else None
            changes.append(QrelChange("added", new.query_id, doc_id, None, new.grade, reason))
        elif (change := _compare(old, new, parted)) is not None:
            changes.append(change)
    for doc_id, old in present.items():
        if doc_id not in after:
            changes.append(_remove(old, parted))
    changes += [_remove(old, {old.doc_id}) for old in before.values() if id(old) not in matched]
    return sorted(changes, key=lambda change: (change.doc_id, change.old_doc_id or ""))


def summarise_changes(
    before: ReleaseFacts | None, after: ReleaseFacts, collected: ChangeCollector, read: ReadDecisions
) -> ReleaseDiff:
    """Return the whole comparison with the version it calls for. `collected`: every query's changes."""
    if before is None:
        why: str = say("this is the first release")
        return ReleaseDiff(
            after.dataset,
            None,
            after.version,
            (),
            (),
            (),
            (),
            False,
            "major",
            why,
            guideline=(None, after.guideline_version),
        )
    added = tuple(query_id for query_id in after.queries if query_id not in before.queries)
    removed = tuple(query_id for query_id in before.queries if query_id not in after.queries)
    texts = tuple(_list_texts(before.queries, after.queries))
    scale_changed = before.scale != after.scale
    guideline = (before.guideline_version, after.guideline_version)
    advice, why = advise(
        collected.counts,
        queries=len(added) + len(removed),
        texts=len(texts),
        scale_changed=scale_changed,
        guideline_changed=guideline[0] != guideline[1],
    )
    return ReleaseDiff(
        after.dataset,
        before.version,
        after.version,
        added,
        removed,
        texts,
        collected.explain(read),
        scale_changed,
        advice,
        why,
        dict(collected.counts),
        dict(collected.whole),
        dict(collected.reasons),
        guideline,
    )


def find_reason(old: PublishedQrel, new: PublishedQrel) -> Reason | None:
    """Return why two releases differ about a pair; None if both rest on the same, or if it was not recorded."""
    if old.judgments is None or new.judgments is None:
        return _guess_reason(old, new)
    if old.adjudication_pk != new.adjudication_pk:
        return "adjudication"
    if old.imported_qrel_pk != new.imported_qrel_pk and new.origin == "imported":
        return "re-import"
    if old.judgments != new.judgments:
        keys = set(new.judgments.split())
        return "further judgment" if keys > set(old.judgments.split()) else "revision"
    return "re-import" if old.imported_qrel_pk != new.imported_qrel_pk else None


def _guess_reason(old: PublishedQrel, new: PublishedQrel) -> Reason | None:
    """Return the reason from the origins alone: only a decision changes an adjudicated grade."""
    moved = (old.origin, old.grade) != (new.origin, new.grade)
    return "adjudication" if moved and new.origin == "adjudicated" else None


def _compare(old: PublishedQrel, new: PublishedQrel, parted: Collection[str]) -> QrelChange | None:
    """Compare two qrels. `parted`: a document in it has another text under the same id now."""
    was = old.doc_id if old.doc_id != new.doc_id else None
    reason: Reason | None = "remap" if old.doc_id in parted else find_reason(old, new)
    if old.grade != new.grade:
        return QrelChange("changed", new.query_id, new.doc_id, old.grade, new.grade, reason, was)
    if was is not None:
        return QrelChange("renamed", new.query_id, new.doc_id, old.grade, new.grade, "remap", was)
    if reason is not None or old.origin != new.origin:
        return QrelChange("grounds", new.query_id, new.doc_id, old.grade, new.grade, reason)
    return None


def _remove(old: PublishedQrel, parted: Collection[str]) -> QrelChange:
    reason: Reason | None = "remap" if old.doc_id in parted else None
    return QrelChange("removed", old.query_id, old.doc_id, old.grade, None, reason)


def _list_texts(
    before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> Iterable[tuple[str, str, str]]:
    for query_id, new in after.items():
        old = before.get(query_id)
        if old is not None and new is not None and old != new:
            yield query_id, old, new


@dataclass(frozen=True, slots=True)
class RemappedDocument:
    """A document that got another id. `kind`: "renamed", "split" or "merged"."""

    old_doc_id: str
    new_doc_id: str
    kind: str
    at: datetime


def follow(remaps: Sequence[RemappedDocument]) -> Renames:
    """Return the combined effect of these remaps. They come in the order in which they were made."""
    present: dict[str, str] = {}  # by the id at the beginning, the id now
    parted: set[str] = set()
    joined: set[str] = set()
    for _, rows in groupby(remaps, key=lambda row: row.at):
        step = list(rows)
        renamed = {row.old_doc_id: row.new_doc_id for row in step if row.kind == "renamed"}
        gone = {row.old_doc_id for row in step if row.kind != "renamed"}
        begun = {now: then for then, now in present.items()}
        present = {then: renamed.get(now, now) for then, now in present.items() if now not in gone}
        for old, new in renamed.items():
            if old not in begun and old not in present:
                present[old] = new
        parted |= {begun.get(old, old) for old in gone}
        joined = {renamed.get(doc_id, doc_id) for doc_id in joined}
        joined |= {row.new_doc_id for row in step if row.kind != "renamed"}
    renames = {then: now for then, now in present.items() if then != now}
    listed = tuple((row.old_doc_id, row.new_doc_id, row.kind) for row in remaps)
    return Renames(renames, frozenset(parted), frozenset(joined), listed)


def collect_changes(
    collector: ChangeCollector,
    before: dict[str, PublishedQrel],
    after: dict[str, PublishedQrel],
    renames: Renames,
) -> None:
    """Compare one query's qrels and collect what differs."""
    changes = compare_query(before, after, renames.renamed, parted=renames.parted, joined=renames.joined)
    collector.add(changes, after, whole=not before or not after)


SHOWN = 200
REASONS = {
    "revision": "an annotator changed their mind",
    "further judgment": "somebody else judged the pair as well",
    "adjudication": "a lead decided",
    "re-import": "an earlier ground truth was imported again",
    "remap": "its document was given other ids",
    None: "one of the releases is too old to tell",
}
NO_RENAMES = Renames()


def write_changes(diff: ReleaseDiff, remaps: Renames = NO_RENAMES) -> str:
    """Return the whole file, with lines ended by LF.

    `remaps`: the changes of document ids since the previous release."""
    name = f"{escape_markdown(diff.dataset)} {diff.after or '(not published yet)'}"
    if diff.before is None:
        lines = [f"# Changes in {name}", "", "The first release: there is nothing to compare it with."]
    else:
        lines = [f"# Changes in {name}", "", f"Compared with {diff.before}.", "", diff.describe_advice(), ""]
        lines += [*_count(diff), *_list_sections(diff, remaps)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _count(diff: ReleaseDiff) -> list[str]:
    """Return the table of counts, without rows of zero."""
    whole_added = sum(diff.whole.get(query_id, 0) for query_id in diff.queries_added)
    whole_removed = sum(diff.whole.get(query_id, 0) for query_id in diff.queries_removed)
    rows = [
        ("changed grades", diff.counts.get("changed", 0)),
        ("added queries", len(diff.queries_added)),
        ("removed queries", len(diff.queries_removed)),
        ("qrels added with their query", whole_added),
        ("qrels removed with their query", whole_removed),
        ("qrels added to queries in both releases", diff.counts.get("added", 0) - whole_added),
        ("qrels removed from queries in both releases", diff.counts.get("removed", 0) - whole_removed),
        ("qrels whose document has another id", diff.counts.get("renamed", 0)),
        ("qrels with the same grade from other judgments or decisions", diff.counts.get("grounds", 0)),
        ("changed query texts", len(diff.texts_changed)),
    ]
    counted = [(label, f"{number:,}") for label, number in rows if number]
    lines = [*write_table(("what", "how many#"), counted), ""] if counted else []
    if diff.scale_changed:
        lines += ["The scale changed: see `scale` in both manifests.", ""]
    older, newer = diff.guideline
    if older != newer:
        lines += [f"The guideline is version {newer} instead of {older}.", ""]
    return lines


def _list_sections(diff: ReleaseDiff, remaps: Renames) -> Iterator[str]:
    changed = [change for change in diff.changes if change.kind == "changed"]
    if changed:
        yield from ("## Changed grades", "", *_describe_reasons(diff), "")
        rows = (
            (
                *_name(change),
                str(change.old),
                str(change.new),
                change.reason or "not recorded",
                escape_markdown(str(CAUSE_NAMES.get(change.cause or "", change.cause or ""))),
                escape_markdown(change.rationale or ""),
            )
            for change in changed[:SHOWN]
        )
        columns = ("query", "document", "old#", "new#", "reason", "cause", "rationale")
        yield from _table(columns, rows, len(changed[:SHOWN]), diff.counts.get("changed", len(changed)))
    for title, query_ids in (("Added", diff.queries_added), ("Removed", diff.queries_removed)):
        if query_ids:
            listed = [(escape_markdown(item), f"{diff.whole.get(item, 0):,}") for item in query_ids[:SHOWN]]
            yield from (f"## {title} queries", "")
            yield from _table(("query", "qrels#"), listed, len(listed), len(query_ids))
    if diff.texts_changed:
        yield from ("## Changed query texts", "")
        texts = [_compare_texts(*text_change) for text_change in diff.texts_changed[:SHOWN]]
        yield from _table(("query", "before", "after"), texts, len(texts), len(diff.texts_changed))
    for kind, title in (("added", "Added"), ("removed", "Removed")):
        yield from _list_pairs(diff, kind, f"## {title} qrels of queries in both releases")
    if remaps.rows:
        yield from ("## Documents with other ids", "")
        moved = [(escape_markdown(old), escape_markdown(new), kind) for old, new, kind in remaps.rows[:SHOWN]]
        yield from _table(("old", "new", "how"), moved, len(moved), len(remaps.rows))


def _describe_reasons(diff: ReleaseDiff) -> Iterator[str]:
    for reason, words in REASONS.items():
        number = diff.reasons.get(reason or "", 0)
        if number:
            yield f"- {reason or 'not recorded'} ({number:,}): {words}"


def _list_pairs(diff: ReleaseDiff, kind: str, title: str) -> Iterator[str]:
    """Return the added or removed pairs of queries that are in both releases."""
    apart = {*diff.queries_added, *diff.queries_removed}
    changes = [change for change in diff.changes if change.kind == kind and change.query_id not in apart]
    if not changes:
        return
    total = diff.counts.get(kind, 0) - sum(
        diff.whole.get(query_id, 0)
        for query_id in (diff.queries_added if kind == "added" else diff.queries_removed)
    )
    has_reasons = any(change.reason for change in changes[:SHOWN])
    columns = ("query", "document", "grade#", *(["reason"] if has_reasons else []))
    rows = [
        (
            *_name(change),
            str(change.new if kind == "added" else change.old),
            *([change.reason or ""] if has_reasons else []),
        )
        for change in changes[:SHOWN]
    ]
    yield from (title, "")
    yield from _table(columns, rows, len(rows), total)


def _name(change: QrelChange) -> tuple[str, str]:
    """Return the pair's name; with both ids for a renamed document."""
    document = escape_markdown(change.doc_id)
    if change.old_doc_id is not None:
        document += f" (was {escape_markdown(change.old_doc_id)})"
    return escape_markdown(change.query_id), document


def _compare_texts(query_id: str, old: str, new: str) -> tuple[str, str, str]:
    after = escape_markdown(new)
    if _normalise(old) == _normalise(new):
        after += " (differs in white space or Unicode form only)"
    return escape_markdown(query_id), escape_markdown(old), after


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], shown: int, total: int) -> Iterator[str]:
    yield from write_table(columns, rows)
    yield ""
    if total > shown:
        yield from (f"… and {total - shown:,} more: `annotator release diff` lists all {total:,}.", "")
