"""What differs between two releases, or between the latest and the one that would be published now."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.guidance import draw_note
from annotator.web.html_table import draw_table

if TYPE_CHECKING:
    from annotator.published.service import Change, ReleaseDiff

SHOWN, FEW = 200, 10
KINDS = {
    "changed": "Changed grades",
    "added": "Added pairs",
    "removed": "Removed pairs",
    "renamed": "Renamed documents",
    "grounds": "The same grade on other grounds",
}
FIGURES = {
    "changed": ("changed grade", "changed grades"),
    "added": ("added pair", "added pairs"),
    "removed": ("removed pair", "removed pairs"),
    "renamed": ("renamed document", "renamed documents"),
    "grounds": ("grade on other grounds", "grades on other grounds"),
}
COLUMNS = {
    "changed": ("query", "document", "old grade", "new grade", "reason"),
    "added": ("query", "document", "grade", "reason"),
    "removed": ("query", "document", "grade", "reason"),
    "renamed": ("query", "old document", "new document", "grade"),
    "grounds": ("query", "document", "grade", "reason"),
}


def draw_diff(diff: "ReleaseDiff", *, advice: bool = True) -> None:
    """The figures, the version they call for (unless it is said elsewhere), and what differs, changed grades first."""
    st.text(say_figures(diff))
    if diff.before is None:
        return
    if advice:
        draw_note(say_advice(diff))
    for kind, name in KINDS.items():
        _draw_kind(name, kind, diff)
    _draw_queries("Added queries", diff, diff.queries_added)
    _draw_queries("Removed queries", diff, diff.queries_removed)
    if diff.texts_changed:
        with st.expander(f"Changed query texts: {len(diff.texts_changed):,}"):
            draw_table("Changed query texts", ("query", "old text", "new text"), diff.texts_changed[:SHOWN])
            _say_rest(len(diff.texts_changed), diff)


def say_figures(diff: "ReleaseDiff") -> str:
    """How much differs, in a sentence."""
    if diff.before is None:
        return "There is no release before, so there is nothing to compare with: everything is new."
    said = [say_count(diff.counts[kind], *FIGURES[kind]) for kind in KINDS if diff.counts.get(kind)]
    for one, many, found in (
        ("added query", "added queries", diff.queries_added),
        ("removed query", "removed queries", diff.queries_removed),
        ("changed query text", "changed query texts", diff.texts_changed),
    ):
        said += [say_count(len(found), one, many)] if found else []
    said += ["another scale"] if diff.scale_changed else []
    said += [f"guideline {diff.guideline[1]} instead of {diff.guideline[0]}"] if _is_reworded(diff) else []
    return f"Against {diff.before}: {', '.join(said) or 'no difference'}."


def say_count(number: int, one: str, many: str) -> str:
    """The number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def say_advice(diff: "ReleaseDiff") -> str:
    """Which step of the version this calls for."""
    if diff.advice == "none":
        return f"Nothing has changed since {diff.before}: no new version is called for."
    return f"This calls for a {diff.advice} version: {diff.advice_why}."


def _is_reworded(diff: "ReleaseDiff") -> bool:
    return diff.guideline[0] != diff.guideline[1]


def _draw_kind(name: str, kind: str, diff: "ReleaseDiff") -> None:
    total = diff.counts.get(kind, 0)
    if not total:
        return
    with st.expander(f"{name}: {total:,}", expanded=kind == "changed" or total <= FEW):
        rows = [_row(change) for change in diff.changes if change.kind == kind][:SHOWN]
        if rows:
            draw_table(name, COLUMNS[kind], rows)
        if len(rows) < total:
            _say_rest(total, diff, len(rows))


def _row(change: "Change") -> tuple[object, ...]:
    reason = change.reason or ""
    if change.kind == "changed":
        return change.query_id, change.doc_id, change.old, change.new, reason
    if change.kind == "renamed":
        return change.query_id, change.old_doc_id, change.doc_id, change.new
    return change.query_id, change.doc_id, change.old if change.new is None else change.new, reason


def _draw_queries(name: str, diff: "ReleaseDiff", queries: Iterable[str]) -> None:
    found = list(queries)
    if found:
        with st.expander(f"{name}: {len(found):,}"):
            rows = [(query_id, f"{diff.whole.get(query_id, 0):,}") for query_id in found[:SHOWN]]
            draw_table(name, ("query", "pairs"), rows)
            _say_rest(len(found), diff)


def _say_rest(total: int, diff: "ReleaseDiff", shown: int = SHOWN) -> None:
    """Where the rest is, when not everything is shown."""
    if total > shown:
        after = diff.after or "VERSION"
        draw_note(
            f"{shown:,} of {total:,} are shown. All of them: annotator release diff {diff.dataset} {diff.before} {after}"
        )
