"""Draw the page Assignment: the overlap, who judges which queries, who waits for whom, and discussion rules.

Shows the number of judgments that the overlap and its exceptions make. A dialog runs without the rest of the
page, so each dialog checks again who is signed in. `labeling/assignment_service.py` and `people/service.py`
decide what may be changed; a refusal is shown where the button was pressed.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from annotator.dataset.service import change_settings
from annotator.dataset.settings import Dataset, write_setting
from annotator.domain.errors import AnnotatorError
from annotator.domain.figures import show_number
from annotator.domain.settling import DISTANCES, MOST, describe_overlap
from annotator.labeling.assignment import AssignmentStatus, JudgmentProgress, WaitingPerson, WaitingQuery
from annotator.labeling.assignment_service import (
    free_pairs,
    preview_assignment,
    preview_overlap,
    show_assignment,
)
from annotator.labeling.assignment_steps import AssignmentPreview, AssignmentStep
from annotator.people.service import change_person
from annotator.web.kit.controls import keep_focus
from annotator.web.kit.messages import join_names, join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_problem, draw_refusal, require_dataset
from annotator.web.kit.tables import draw_link_table
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import PersonName, name_person
from annotator.web.labeling.assignment_picker import draw_done, draw_step, open_picker
from annotator.web.page_context import PageContext, list_person_names, require_context
from annotator.web.people.page import choose_people
from annotator.web.people.words import ask_expertise, describe_expertise


def draw_people(status: AssignmentStatus) -> None:
    """Draw the people with their queries, their remaining work, and their leases, which a lead can end."""
    for person in choose_people(status.people, lambda candidate: (candidate.username, candidate.name)):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            with st.container(width="stretch"):
                st.html(_describe(person))
            label = tr("Change {username}", username=person.username)
            if st.button(tr("Change"), key=f"change {person.username}", help=escape_markdown(label)):
                change_dialog(person.username)
            if person.holds:
                _draw_free(person)


def _draw_free(person: WaitingPerson) -> None:
    why = tr("Others can get the pairs in progress of {username} at once.", username=person.username)
    if not st.button(tr("Free pairs"), key=f"free {person.username}", help=escape_markdown(why)):
        return
    context = require_context()
    dataset = require_dataset(context)
    with draw_refusal():
        context.call(free_pairs, dataset, person.username, now=context.now)
        st.rerun()


def change_dialog(username: str) -> None:
    """Open the dialog that changes what this person judges, and hands their queries on."""
    st.session_state.pop(HANDED, None)
    st.dialog(tr("Categories and languages"), on_dismiss="rerun")(_change)(username)


def _change(username: str) -> None:
    context = require_context()
    dataset = require_dataset(context)
    status = context.call(show_assignment, dataset, now=context.now)
    person = next((candidate for candidate in status.people if candidate.username == username), None)
    if person is None:
        st.info(tr("This person no longer has a role here."))
        return
    st.text(f"{person.name or person.username} ({person.username})")
    expertise = ask_expertise((status.categories, status.languages), (person.categories, person.languages))
    if expertise:
        with draw_refusal():
            context.call(change_person, username, dataset=dataset, expertise=expertise, now=context.now)
            st.rerun()
    if person.queries or person.holds:
        _hand_on(context, dataset, status, person)


HANDED = "assignment handover"


def _hand_on(context: PageContext, dataset: str, status: AssignmentStatus, person: WaitingPerson) -> None:
    st.text(_describe_assigned(person))
    others = [
        other.username for other in status.people if other.username != person.username and not other.disabled
    ]
    to = st.selectbox(tr("Reassign to"), others, index=None, key=f"reassign {person.username}")
    if to is None:
        return
    step = AssignmentStep("reassign", (person.username,), to=to)
    kept: tuple[AssignmentStep, AssignmentPreview] | None = st.session_state.get(HANDED)
    if kept is None or kept[0] != step:
        try:
            preview = context.call(preview_assignment, dataset, step, now=context.now)
        except AnnotatorError as error:
            draw_problem(show_refusal(error))
            return
        st.session_state[HANDED] = kept = (step, preview)
    draw_step(context, dataset, step, kept[1], tr("Reassign"))


def _describe(person: WaitingPerson) -> str:
    name = f"<strong>{escape(person.name or person.username)}</strong> <code>{escape(person.username)}</code>"
    note = tr("disabled") if person.disabled else None if person.works else tr("does not label")
    badge = f'<span class="annotator-badge">{escape(note)}</span>' if note else ""
    lines = [
        describe_expertise(person.categories, person.languages) or tr("judges everything"),
    ]
    if person.works:
        lines.append(
            tr_n(
                "{pairs} pair left, checks included",
                "{pairs} pairs left, checks included",
                person.pairs,
                pairs=show_number(person.pairs),
            )
        )
    if person.queries:
        lines.append(_describe_assigned(person))
    if person.held_seconds is not None and person.reserved_seconds is not None:
        lines.append(
            tr(
                "{pairs} in progress for {minutes} min, reserved for another {left} min",
                pairs=show_number(person.holds),
                minutes=person.held_seconds // 60,
                left=person.reserved_seconds // 60,
            )
        )
    details = " · ".join(escape(line) for line in lines)
    return f'<div class="annotator-person" dir="auto">{name}{badge}<br><span class="annotator-soft">{details}</span></div>'


def _describe_assigned(person: WaitingPerson) -> str:
    return tr_n("{n:,} query assigned", "{n:,} queries assigned", person.queries)


SHOWN_QUERIES = 100
SHOWN_PEOPLE = 5


def draw_waiting(status: AssignmentStatus, names: Mapping[str, PersonName]) -> None:
    """Draw the queries that lack judgments, those with too few people first. `names`: by username."""
    if not status.queries:
        st.text(tr("No pairs left to judge."))
        return
    shown = sorted(status.queries, key=lambda query: not query.stuck)[:SHOWN_QUERIES]
    columns = (
        tr("query"),
        tr("category"),
        tr("language"),
        tr("pairs left"),
        tr("begun"),
        tr("assigned to"),
        tr("waiting for"),
        tr("pairs with too few people"),
    )
    rows = [_describe_waiting(query, names) for query in shown]
    draw_link_table(tr("Queries with pairs left"), columns, rows, stacked=True)
    if len(shown) < len(status.queries):
        all_queries = show_number(len(status.queries))
        draw_note(
            tr(
                "The first {shown} of {all} queries.",
                shown=show_number(len(shown)),
                all=all_queries,
            )
        )


def _describe_waiting(query: WaitingQuery, names: Mapping[str, PersonName]) -> tuple[str, ...]:
    waits = [
        f"{name_person(username, names)} ({show_number(pairs)})"
        for username, pairs in query.waits_for.items()
    ]
    assigned_to = [name_person(username, names) for username in query.given_to]
    return (
        query.query_id,
        query.category or "–",
        query.language or "–",
        show_number(query.open_pairs),
        show_number(query.begun_pairs),
        _name_first(assigned_to) or tr("anybody"),
        _name_first(waits) or tr("nobody"),
        show_number(query.stuck) if query.stuck else "–",
    )


def _name_first(names: Sequence[str]) -> str:
    """Return the first few names and the number of the others, since hundreds may be waited for."""
    named = join_names(names[:SHOWN_PEOPLE])
    if len(names) <= SHOWN_PEOPLE:
        return named
    return tr("{named} and {n} more", named=named, n=len(names) - SHOWN_PEOPLE)


MANY_CATEGORIES = 24


def draw_overlap(context: PageContext, dataset: str, status: AssignmentStatus) -> None:
    """Draw the rules of the overlap, how many judgments they make, and the form that changes them."""
    st.text(tr(status.rules))
    st.text(_describe_judgments(status.judgments))
    settings = next(item for item in context.datasets if item.name == dataset)
    with st.expander(tr("Change judgments per pair")), st.form("overlap", border=False):
        overlap, rules = _draw_fields(settings, status.categories)
        with st.container(horizontal=True):
            previewed = st.form_submit_button(tr("Preview"))
            changed = st.form_submit_button(tr("Change"), type="primary")
        if previewed or changed:
            _apply_overlap(context, dataset, overlap, rules, change=changed)


def _draw_fields(settings: Dataset, categories: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    """Draw the fields; return the overlap and its rules, as `domain/settling.py` reads them."""
    overlap = st.number_input(tr("Judgments per pair"), 1, MOST, settings.overlap)
    shared = settings.overlap_share or {}
    left, right = st.columns(2)
    percent = left.number_input(
        tr("Share of pairs with a different number, in %"),
        min_value=0.0,
        max_value=99.9,
        value=float(shared.get("share", 0)) * 100,
        step=5.0,
        format="%g",
        help=tr("0: none. The seed decides which pairs these are. Adding pairs does not change the choice."),
    )
    share_overlap = right.number_input(tr("Judgments for these pairs"), 1, MOST, shared.get("overlap", 2))
    named = settings.overlap_by_category or {}
    by_category = {
        category: st.number_input(
            tr("Judgments per pair in {category}", category=escape_markdown(category)),
            1,
            MOST,
            named.get(category),
            placeholder=tr("same as the others"),
            key=f"overlap of {category}",
        )
        for category in categories[:MANY_CATEGORIES]
    }
    cap = st.number_input(
        tr("Maximum judgments per pair"), 1, MOST, settings.overlap_cap, placeholder=tr("no limit")
    )
    distance = st.selectbox(
        tr("Add an annotator when the first two grades differ by at least"),
        (None, *DISTANCES),
        index=(None, *DISTANCES).index(settings.third_judgment_from),
        format_func=lambda choice: tr("never") if choice is None else str(choice),
        help=tr("The extra judgment is conditional and does not count for agreement."),
    )
    chosen = {**{name: wanted for name, wanted in named.items() if name not in by_category}, **by_category}
    return overlap, {
        "category": {name: wanted for name, wanted in chosen.items() if wanted is not None},
        "share": {"share": round(percent / 100, 4), "overlap": share_overlap} if percent else None,
        "cap": cap,
        "conditional": distance,
    }


def _apply_overlap(
    context: PageContext, dataset: str, overlap: int, rules: dict[str, Any], *, change: bool
) -> None:
    try:
        made, blind_pairs = context.call(preview_overlap, dataset, overlap=overlap, rules=rules)
        if change:
            context.call(change_settings, dataset, _write(overlap, rules), now=context.now)
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))
        return
    if change:
        st.rerun()
    st.info(escape_markdown(f"{tr(describe_overlap(overlap, rules))} {_describe_judgments(made)}"))
    if blind_pairs:
        draw_note(
            tr_n(
                "{n} pair that you may still judge is counted without an extra judgment.",
                "{n} pairs that you may still judge are counted without an extra judgment.",
                blind_pairs,
                n=show_number(blind_pairs),
            )
        )


def _write(overlap: int, rules: dict[str, Any]) -> dict[str, str]:
    typed = {
        "overlap": overlap,
        "overlap_by_category": rules["category"] or None,
        "overlap_share": rules["share"],
        "overlap_cap": rules["cap"],
        "third_judgment_from": rules["conditional"],
    }
    return {name: write_setting(name, value) for name, value in typed.items()}


def _describe_judgments(made: JudgmentProgress) -> str:
    return tr_n(
        "{total} judgment in total: {done} done, {left} left.",
        "{total} judgments in total: {done} done, {left} left.",
        made.total,
        total=show_number(made.total),
        done=show_number(made.done),
        left=show_number(made.left),
    )


def draw_disagreement_settings(context: PageContext, dataset: str) -> None:
    settings = next(item for item in context.datasets if item.name == dataset)
    st.text(_describe_settings(settings))
    with st.expander(tr("Change decision rules")), st.form("disputes", border=False):
        choices = (None, *DISTANCES)
        distance = st.selectbox(
            tr("Annotators discuss first when their grades differ by at least"),
            choices,
            index=choices.index(settings.discuss_from),
            format_func=lambda choice: tr("never") if choice is None else str(choice),
            help=tr(
                "They see each other's notes without names, and each can keep or change their grade once. A "
                "lead can start a discussion of any disagreement and decide at any time."
            ),
        )
        second = st.checkbox(
            tr("When grades differ by 3, two leads must make the same decision"), settings.second_adjudicator
        )
        pressed = st.form_submit_button(tr("Change"))
    chosen = {"discuss_from": distance, "second_adjudicator": second}
    changes = {
        name: write_setting(name, value) for name, value in chosen.items() if value != getattr(settings, name)
    }
    if not pressed or not changes:
        return
    with draw_refusal():
        context.call(change_settings, dataset, changes, now=context.now)
        st.rerun()


def _describe_settings(settings: Dataset) -> str:
    discussed = (
        tr("Annotators discuss a disagreement only when a lead asks them to.")
        if settings.discuss_from is None
        else tr(
            "Annotators discuss a disagreement first when their grades differ by {distance} or more.",
            distance=settings.discuss_from,
        )
    )
    decided = (
        tr("When grades differ by 3, two leads must make the same decision.")
        if settings.second_adjudicator
        else tr("One lead decides.")
    )
    return join_sentences((discussed, decided))


def draw(context: PageContext) -> None:
    st.title(tr("Assignment"))
    dataset = require_dataset(context)
    status = context.call(show_assignment, dataset, now=context.now)
    if not status.all_queries:
        st.text(tr("No queries yet. Import queries and documents first."))
        draw_link(context, "import")
        return
    _warn(status)
    st.header(tr("Judgments per pair"))
    draw_overlap(context, dataset, status)
    st.header(tr("Decision rules"))
    draw_disagreement_settings(context, dataset)
    st.header(tr("People"))
    _draw_people(context, dataset, status)
    st.header(tr("Queries in progress"))
    draw_waiting(status, list_person_names(context, dataset))
    keep_focus()


def _warn(status: AssignmentStatus) -> None:
    if not status.stuck:
        return
    st.warning(
        tr_n(
            "{n:,} pair cannot be finished: too few people can judge it.",
            "{n:,} pairs cannot be finished: too few people can judge them.",
            status.stuck,
        )
        + " "
        + tr(
            "Add people, give them more categories or languages, assign the queries to more of them, or "
            "lower the judgments per pair."
        ),
        icon=":material/warning:",
    )


def _draw_people(context: PageContext, dataset: str, status: AssignmentStatus) -> None:
    if not status.people:
        st.text(tr("No annotators yet."))
        draw_link(context, "people")
        return
    draw_note(
        tr("A query goes to everybody who judges its category and language, until you assign it to somebody.")
    )
    draw_done(dataset)
    if st.button(tr("Assign queries"), type="primary", icon=":material/assignment_ind:"):
        open_picker()
    draw_people(status)
