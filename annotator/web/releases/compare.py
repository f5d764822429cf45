"""Show what differs between two releases, or between the latest and the next one.

The address says which two.
"""

from collections.abc import Iterable, Iterator

import streamlit as st

from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.messages import say
from annotator.releases.published_service import compare_releases, count_withheld
from annotator.releases.records import QrelChange, Release, ReleaseDiff
from annotator.web.kit.controls import choose_two
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext

SHOWN, FEW = 200, 10
KINDS = {
    "changed": say("Changed grades"),
    "added": say("Added pairs"),
    "removed": say("Removed pairs"),
    "renamed": say("Documents with a new id"),
    "grounds": say("Same grade, different basis"),
}
PLAIN = (say("query"), say("document"), say("grade"), say("reason"))
COLUMNS = {
    "changed": (say("query"), say("document"), say("old grade"), say("new grade"), say("reason")),
    "added": PLAIN,
    "removed": PLAIN,
    "renamed": (say("query"), say("old document"), say("new document"), say("grade")),
    "grounds": PLAIN,
}


def draw_diff(diff: ReleaseDiff, *, advice: bool = True) -> None:
    """Draw what differs: figures, the version they call for (unless `advice` is False), then the differences by kind."""
    st.text(describe_figures(diff))
    if diff.before is None:
        return
    if advice:
        draw_note(describe_advice(diff))
    for kind, name in KINDS.items():
        _draw_kind(tr(name), kind, diff)
    _draw_queries(tr("Added queries"), diff, diff.queries_added)
    _draw_queries(tr("Removed queries"), diff, diff.queries_removed)
    if diff.texts_changed:
        texts = tr("Changed query texts")
        with st.expander(f"{texts}: {len(diff.texts_changed):,}"):
            draw_table(texts, (tr("query"), tr("old text"), tr("new text")), diff.texts_changed[:SHOWN])
            _draw_rest(len(diff.texts_changed))


def describe_figures(diff: ReleaseDiff) -> str:
    if diff.before is None:
        return tr("There is no earlier release to compare with. Everything is new.")
    figures = list(_list_figures(diff))
    if diff.scale_changed:
        figures.append(tr("different grade scale"))
    if diff.guideline[0] != diff.guideline[1]:
        figures.append(tr("guideline {old} → {new}", new=diff.guideline[1], old=diff.guideline[0]))
    return tr(
        "Compared with {before}: {changes}.",
        before=diff.before,
        changes=join_names(figures) or tr("no changes"),
    )


def _list_figures(diff: ReleaseDiff) -> Iterator[str]:
    counts = diff.counts
    if n := counts.get("changed", 0):
        yield tr_n("{n:,} changed grade", "{n:,} changed grades", n)
    if n := counts.get("added", 0):
        yield tr_n("{n:,} added pair", "{n:,} added pairs", n)
    if n := counts.get("removed", 0):
        yield tr_n("{n:,} removed pair", "{n:,} removed pairs", n)
    if n := counts.get("renamed", 0):
        yield tr_n("{n:,} new document id", "{n:,} new document ids", n)
    if n := counts.get("grounds", 0):
        yield tr_n("{n:,} same grade with a different basis", "{n:,} same grades with a different basis", n)
    if n := len(diff.queries_added):
        yield tr_n("{n:,} added query", "{n:,} added queries", n)
    if n := len(diff.queries_removed):
        yield tr_n("{n:,} removed query", "{n:,} removed queries", n)
    if n := len(diff.texts_changed):
        yield tr_n("{n:,} changed query text", "{n:,} changed query texts", n)


def describe_advice(diff: ReleaseDiff) -> str:
    """Describe which step of the version number the differences call for, and why."""
    if diff.advice == "none":
        return tr("Nothing has changed since {version}. No new version is needed.", version=diff.before)
    return tr("Recommended step: {step} ({why}).", step=name_word(diff.advice), why=diff.advice_why)


def _draw_kind(name: str, kind: str, diff: ReleaseDiff) -> None:
    total = diff.counts.get(kind, 0)
    if not total:
        return
    with st.expander(f"{name}: {total:,}", expanded=kind == "changed" or total <= FEW):
        rows = [_row(change) for change in diff.changes if change.kind == kind][:SHOWN]
        if rows:
            draw_table(name, [tr(column) for column in COLUMNS[kind]], rows)
        if len(rows) < total:
            _draw_rest(total, len(rows))


def _row(change: QrelChange) -> tuple[object, ...]:
    reason = name_word(change.reason or "")
    if change.kind == "changed":
        return change.query_id, change.doc_id, change.old, change.new, reason
    if change.kind == "renamed":
        return change.query_id, change.old_doc_id, change.doc_id, change.new
    return change.query_id, change.doc_id, change.old if change.new is None else change.new, reason


def _draw_queries(name: str, diff: ReleaseDiff, queries: Iterable[str]) -> None:
    query_ids = list(queries)
    if query_ids:
        with st.expander(f"{name}: {len(query_ids):,}"):
            rows = [(query_id, f"{diff.whole.get(query_id, 0):,}") for query_id in query_ids[:SHOWN]]
            draw_table(name, (tr("query"), tr("pairs")), rows)
            _draw_rest(len(query_ids))


def _draw_rest(total: int, shown: int = SHOWN) -> None:
    if total > shown:
        draw_note(tr("Showing the first {shown:,} of {total:,}.", shown=shown, total=total))


def draw_comparison(context: PageContext, dataset: str, listed: list[Release]) -> None:
    """Draw two versions to choose, and what the second changed against the first."""
    versions = [release.version for release in listed]
    if len(versions) < 2:
        there = tr("There is only one release: {version}.", version=versions[0]) if versions else ""
        why = tr(
            "A comparison needs two releases. To see what a new release would change, open the tab Next "
            "release."
        )
        st.text(f"{there or tr('No releases yet.')} {why}")
        return
    chosen = choose_two(versions)
    if chosen is None:
        return
    before, after = chosen
    with st.spinner(tr("Comparing …")):
        diff = context.call(compare_releases, dataset, before, after, keep=SHOWN, now=context.now)
    withheld = max(context.call(count_withheld, dataset, version) for version in (before, after))
    if withheld:
        draw_note(tr(describe_blind_pairs(withheld)))
    draw_diff(diff)
