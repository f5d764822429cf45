"""Write CHANGES.md: what is different from the release before, for people. Pure text; deterministic.

Tables are cut after 200 rows and say how many there are in all; `release diff` lists everything.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from annotator.adjudication.records import CAUSE_NAMES
from annotator.formats.syntax.markdown import escape_markdown, write_table
from annotator.releases.records import QrelChange, ReleaseDiff, Renames

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
