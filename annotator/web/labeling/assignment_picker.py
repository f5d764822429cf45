"""Draw the dialog that assigns or unassigns queries: select queries, see a preview, then apply it.

The selection stays while filters and pages change. The change is refused if another lead has changed the same
queries since the preview. Afterwards the page offers to undo it.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.labeling.assignment import NOBODY, QueryFilter, QueryPage, QuerySelection, QueryToAssign
from annotator.labeling.assignment_service import (
    change_assignment,
    list_matching_queries,
    list_queries_to_assign,
    preview_assignment,
    undo_assignment,
)
from annotator.labeling.assignment_steps import AssignmentPreview, AssignmentStep, StepKind
from annotator.web.kit.controls import find_key, note_press, read_choice
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_problem, draw_refusal, keep_refusal, require_dataset
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context

SIZE = 10
MOST_TEXT = 90
ANY = "\0any"  # no username
MOST_NAMED = 5
PICKED, SHOWN, DONE = "assignment picked", "assignment preview", "assignment done"
UNKNOWN, UNDONE = "assignment unknown ids", "assignment not undone"
"""The session's keys: selected ids, the step with its preview, the last change, and two problems to show
once."""


def open_picker() -> None:
    st.session_state[PICKED] = []
    st.session_state.pop(SHOWN, None)
    st.dialog(tr("Assign queries"), width="large", on_dismiss="rerun")(_draw_picker)()


def _draw_picker() -> None:
    context = require_context()
    dataset = require_dataset(context)
    wanted = _read_filter()
    start = (st.session_state.get("pick page", 1) - 1) * SIZE
    page = context.call(list_queries_to_assign, dataset, wanted, limit=SIZE, offset=start)
    if start >= max(page.total, 1):
        st.session_state["pick page"] = 1
        page = context.call(list_queries_to_assign, dataset, wanted, limit=SIZE)
    kind = _draw_kind()
    people = st.multiselect(tr("People"), page.people, key="pick people", on_change=_forget_preview)
    _draw_filters(page)
    _draw_selection(dataset, wanted, page)
    _draw_queries(page)
    _draw_ids(dataset)
    picked = tuple(st.session_state.get(PICKED, []))
    step = AssignmentStep(kind, tuple(people), QuerySelection(query_ids=picked))
    if st.button(tr("Preview"), type="secondary" if _find_preview(step) else "primary", key="pick preview"):
        _preview(context, dataset, step)
    _draw_step(context, dataset, step)


def _draw_kind() -> StepKind:
    names: dict[StepKind, str] = {"assign": tr("Assign"), "unassign": tr("Unassign")}
    kind: StepKind = st.radio(
        tr("What to do with the queries"),
        list(names),
        format_func=lambda name: names[name],
        horizontal=True,
        key="pick kind",
        on_change=_forget_preview,
    )
    return kind


def _read_filter() -> QueryFilter:
    chosen = [
        None if value == ANY else value
        for key in ("pick category", "pick language", "pick assigned")
        for value in [st.session_state.get(key, ANY)]
    ]
    return QueryFilter(st.session_state.get("pick search") or "", *chosen)


def _draw_filters(page: QueryPage) -> None:
    st.text_input(
        tr("Find queries"),
        key="pick search",
        placeholder=tr("id or words from a query"),
        type="search",
        on_change=_begin_anew,
    )
    with st.container(horizontal=True):
        for label, key, values in (
            (tr("Category"), "pick category", page.categories),
            (tr("Language"), "pick language", page.languages),
        ):
            st.selectbox(
                label,
                (ANY, *values),
                format_func=lambda name: tr("any") if name == ANY else name,
                key=key,
                on_change=_begin_anew,
                width=170,
            )
        names = {ANY: tr("any"), NOBODY: tr("nobody")}
        st.selectbox(
            tr("Assigned to"),
            (ANY, NOBODY, *page.people),
            format_func=lambda name: names.get(name, name),
            key="pick assigned",
            on_change=_begin_anew,
            width=170,
        )


def _begin_anew() -> None:
    st.session_state["pick page"] = 1


def _forget_preview() -> None:
    st.session_state.pop(SHOWN, None)


def _draw_selection(dataset: str, wanted: QueryFilter, page: QueryPage) -> None:
    picked = len(st.session_state.get(PICKED, []))
    matching = tr_n(
        "{n:,} query matches, with {pairs} left to judge.",
        "{n:,} queries match, with {pairs} left to judge.",
        page.total,
        pairs=tr_n("{pairs} pair", "{pairs} pairs", page.pairs, pairs=show_number(page.pairs)),
    )
    selected = tr_n("{n:,} query selected.", "{n:,} queries selected.", picked)
    st.html(
        f'<p class="annotator-step" role="status">{escape(matching)} <strong>{escape(selected)}</strong></p>'
    )
    with st.container(horizontal=True):
        st.button(
            tr_n("Select {n:,} matching query", "Select all {n:,} matching queries", page.total),
            key="pick all",
            on_click=lambda: _select(require_context().call(list_matching_queries, dataset, wanted)),
            disabled=not page.total,
        )
        st.button(tr("Clear selection"), key="pick none", on_click=_pick, args=([],), disabled=not picked)


def _pick(query_ids: list[str]) -> None:
    st.session_state[PICKED] = query_ids
    _forget_preview()


def _select(query_ids: list[str]) -> None:
    _pick(list(dict.fromkeys([*st.session_state.get(PICKED, []), *query_ids])))


def _draw_queries(page: QueryPage) -> None:
    if not page.queries:
        st.text(tr("No query matches. Choose other filters."))
        return
    picked = set(st.session_state.get(PICKED, []))
    with st.container(border=True, gap="xxsmall", key="pick-queries"):
        for query in page.queries:
            name = f"pick {query.query_id}"
            key, value = find_key(name, query.query_id in picked)
            st.checkbox(
                _describe(query), value=value, key=key, on_change=_toggle, args=(name, key, query.query_id)
            )
    pages = -(-page.total // SIZE)
    if pages > 1:
        st.pagination(pages, key="pick page")


def _describe(query: QueryToAssign) -> str:
    """Return a query as the Markdown of its box: id, text, facts and present assignment.

    Nothing is bold, because a screen reader reads the Markdown characters.
    """
    text = query.text if len(query.text) <= MOST_TEXT else f"{query.text[: MOST_TEXT - 1]}…"
    facts = [
        query.category,
        query.language,
        tr_n(
            "{pairs} pair left", "{pairs} pairs left", query.open_pairs, pairs=show_number(query.open_pairs)
        ),
        tr("assigned to {people}", people=", ".join(query.assigned_to))
        if query.assigned_to
        else tr("assigned to nobody"),
    ]
    details = " · ".join(fact for fact in facts if fact)
    return f"{escape_markdown(query.query_id)} · {escape_markdown(' '.join(text.split()))} — {escape_markdown(details)}"


def _toggle(name: str, key: str, query_id: str) -> None:
    chosen = read_choice(name, key)
    if chosen is None:
        return
    picked: list[str] = [item for item in st.session_state.get(PICKED, []) if item != query_id]
    _pick([*picked, query_id] if chosen else picked)


def _draw_ids(dataset: str) -> None:
    """Draw the field for a list of query ids. An unknown id selects nothing and is named below."""
    with st.expander(tr("Select by a list of ids")), st.form("pick ids", border=False):
        st.text_area(tr("One id per line"), key="pick typed")
        st.form_submit_button(tr("Select these"), on_click=_select_typed, args=(dataset,))
        problem = st.session_state.pop(UNKNOWN, None)
        if problem:
            draw_problem(problem)


def _select_typed(dataset: str) -> None:
    context = require_context()
    typed = st.session_state.get("pick typed") or ""
    listed = list(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    known = set(context.call(list_matching_queries, dataset, QueryFilter()))
    unknown = [query_id for query_id in listed if query_id not in known]
    if unknown:
        st.session_state[UNKNOWN] = tr(
            "There is no query with the id {ids}.", ids=", ".join(unknown[:MOST_NAMED])
        )
    else:
        _select(listed)


def draw_preview(preview: AssignmentPreview, kind: StepKind) -> None:
    """Draw the preview of a change: its numbers, and the work of each affected person before and after it."""
    queries = tr_n("{n:,} query", "{n:,} queries", preview.queries)
    pairs = tr_n("{pairs} pair left", "{pairs} pairs left", preview.pairs, pairs=show_number(preview.pairs))
    st.html(f'<p class="annotator-step" role="status"><strong>{escape(f"{queries}, {pairs}")}</strong></p>')
    counts = (
        (tr("assignments that change"), preview.changed),
        (tr("judgments already made (they stay)"), preview.judged),
        (tr("pairs in progress that become free"), preview.held),
    )
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{show_number(n)}</dd></div>" for name, n in counts)
    st.html(f'<dl class="annotator-counts">{items}</dl>')
    for sentence in _list_consequences(preview, kind):
        draw_note(sentence)
    if preview.loads:
        columns = (tr("person"), tr("queries"), tr("queries after"), tr("pairs left"), tr("pairs left after"))
        rows = [
            (
                load.username,
                show_number(load.queries),
                show_number(load.queries_after),
                show_number(load.pairs),
                show_number(load.pairs_after),
            )
            for load in preview.loads
        ]
        draw_table(tr("Work before and after"), columns, rows)
    if preview.stuck_after > preview.stuck:
        more = preview.stuck_after - preview.stuck
        st.warning(
            tr_n(
                "Afterwards {n:,} more pair cannot be finished: too few people can judge it.",
                "Afterwards {n:,} more pairs cannot be finished: too few people can judge them.",
                more,
            ),
            icon=":material/warning:",
        )


def _list_consequences(preview: AssignmentPreview, kind: StepKind) -> list[str]:
    sentences = []
    if not preview.changed:
        sentences.append(
            tr("These queries are already assigned to these people.")
            if kind == "assign"
            else tr("None of these queries is assigned to these people.")
        )
    if preview.restricted:
        sentences.append(
            tr_n(
                "{n:,} query was open to everybody and goes to these people only.",
                "{n:,} queries were open to everybody and go to these people only.",
                preview.restricted,
            )
        )
    if preview.opened:
        sentences.append(
            tr_n(
                "{n:,} query is open to everybody again.",
                "{n:,} queries are open to everybody again.",
                preview.opened,
            )
        )
    return sentences


def draw_step(
    context: PageContext, dataset: str, step: AssignmentStep, preview: AssignmentPreview, label: str
) -> None:
    with st.container(border=True, key="assignment-preview"):
        draw_preview(preview, step.kind)
        pressed = st.button(
            label, type="primary", key="make step", disabled=not (preview.changed or preview.held)
        )
        if pressed:
            _make(context, dataset, step, preview.seen)


def _make(context: PageContext, dataset: str, step: AssignmentStep, seen: str) -> None:
    with draw_refusal():
        done = context.call(change_assignment, dataset, step, seen=seen, now=context.now)
        st.session_state[DONE] = (dataset, step.kind, done)
        st.session_state.pop(SHOWN, None)
        note_press("assignment-done")
        st.rerun()


def _preview(context: PageContext, dataset: str, step: AssignmentStep) -> None:
    """Store the preview of the step, or the problem if the input is incomplete."""
    _forget_preview()
    if not step.chosen.query_ids:
        draw_problem(tr("Select at least one query."))
        return
    try:
        preview = context.call(preview_assignment, dataset, step, now=context.now)
    except AnnotatorError as error:
        draw_problem(show_refusal(error))
        return
    st.session_state[SHOWN] = (step, preview)


def _find_preview(step: AssignmentStep) -> AssignmentPreview | None:
    kept: tuple[AssignmentStep, AssignmentPreview] | None = st.session_state.get(SHOWN)
    return kept[1] if kept is not None and kept[0] == step else None


def _draw_step(context: PageContext, dataset: str, step: AssignmentStep) -> None:
    preview = _find_preview(step)
    if preview is not None:
        label = tr("Assign") if step.kind == "assign" else tr("Unassign")
        draw_step(context, dataset, step, preview, label)


def draw_done(dataset: str) -> None:
    kept = st.session_state.get(DONE)
    if kept is None or kept[0] != dataset:
        return
    _, kind, done = kept
    with st.container(key="assignment-done"):
        st.success(_describe_done(kind, done.queries, done.changed, done.leases), icon=":material/check:")
        if kind != "undo":
            st.button(tr("Undo"), key="undo step", icon=":material/undo:", on_click=_undo, args=(dataset,))
        problem = st.session_state.pop(UNDONE, None)
        if problem:
            draw_problem(problem)


def _describe_done(kind: str, queries: int, changed: int, leases: int) -> str:
    names: dict[str, Callable[[], str]] = {
        "assign": lambda: tr_n("{n:,} query assigned.", "{n:,} queries assigned.", queries),
        "unassign": lambda: tr_n("{n:,} query unassigned.", "{n:,} queries unassigned.", queries),
        "reassign": lambda: tr_n("{n:,} query reassigned.", "{n:,} queries reassigned.", queries),
        "undo": lambda: tr_n("Undone for {n:,} query.", "Undone for {n:,} queries.", queries),
    }
    sentences = [names[kind](), tr_n("{n:,} assignment changed.", "{n:,} assignments changed.", changed)]
    if leases:
        sentences.append(
            tr_n("{n:,} pair in progress became free.", "{n:,} pairs in progress became free.", leases)
        )
    return join_sentences(sentences)


def _undo(dataset: str) -> None:
    context = require_context()
    _, _, done = st.session_state[DONE]
    with keep_refusal(UNDONE):
        undone = context.call(undo_assignment, dataset, done.undo, now=context.now)
        st.session_state[DONE] = (dataset, "undo", undone)
        note_press("assignment-done")
