"""The people of the assignment page, and its dialogs: give queries, change what somebody judges, hand their queries on.

A dialog runs without the rest of the page, so each asks again who is signed in. What may be changed is decided in
`labeling/assignment_service.py` and `people/service.py`; a refusal is shown where the button was pressed.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from annotator.domain.errors import AnnotatorError
from annotator.labeling.assignment_service import (
    Selection,
    Standing,
    WaitingPerson,
    assign,
    reassign,
    show_assignment,
    take_back,
)
from annotator.people.service import change_person
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import require_dataset
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context
from annotator.web.people.expertise import ask_expertise, say_expertise
from annotator.web.people.people_page import choose_people


def draw_people(found: Standing) -> None:
    """Everybody, with what they judge, what is left for them and what they hold."""
    for person in choose_people(found.people, lambda one: (one.username, one.name)):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            with st.container(width="stretch"):
                st.html(_describe(person))
            label = tr("Change {username}", username=person.username)
            if st.button(tr("Change"), key=f"change {person.username}", help=escape_markdown(label)):
                change_dialog(person.username)


def give_dialog() -> None:
    """Open the dialog that gives queries to people, or takes them back."""
    st.dialog(tr("Give queries to people"), on_dismiss="rerun")(_give)()


def change_dialog(username: str) -> None:
    """Open the dialog that changes what this person judges."""
    st.dialog(tr("What somebody judges"), on_dismiss="rerun")(_change)(username)


def _give() -> None:
    context = require_context()
    dataset, found = _read(context)
    with st.form("give"):
        people = st.multiselect(tr("People"), [one.username for one in found.people if not one.disabled])
        category = st.selectbox(
            tr("Category"), (None, *found.categories), format_func=lambda name: name or tr("any")
        )
        language = st.selectbox(
            tr("Language"), (None, *found.languages), format_func=lambda name: name or tr("any")
        )
        ids = st.text_area(tr("Only these queries (one id on each line)"))
        with st.container(horizontal=True):
            give = st.form_submit_button(tr("Give"), type="primary")
            back = st.form_submit_button(tr("Take back"))
    listed = tuple(line.strip() for line in ids.splitlines() if line.strip())
    chosen = Selection(listed or None, category, language)
    if give or back:
        act = assign if give else take_back
        _do(lambda: act(context.database, context.actor, dataset, people, chosen, now=context.now))


def _change(username: str) -> None:
    """Categories and languages; and, where queries were given to this person, who goes on with them."""
    context = require_context()
    dataset, found = _read(context)
    person = next((one for one in found.people if one.username == username), None)
    if person is None:
        st.info(tr("This person has no role here any more."))
        return
    st.text(f"{person.name or person.username} ({person.username})")
    expertise = ask_expertise((found.categories, found.languages), (person.categories, person.languages))
    if expertise:
        _do(lambda: change_person(
            context.database, context.actor, username, dataset=dataset, expertise=expertise, now=context.now
        ))  # fmt: skip
    if person.queries or person.holds:
        _hand_on(context, dataset, found, person)


def _hand_on(context: PageContext, dataset: str, found: Standing, person: WaitingPerson) -> None:
    with st.form("hand on"):
        st.text(_say_given(person))
        others = [
            one.username for one in found.people if one.username != person.username and not one.disabled
        ]
        to = st.selectbox(tr("Who goes on with them"), others, index=None)
        pressed = st.form_submit_button(tr("Hand on"))
    if pressed and to:
        _do(lambda: reassign(
            context.database, context.actor, dataset, leaver=person.username, to=to, now=context.now
        ))  # fmt: skip


def _read(context: PageContext) -> tuple[str, Standing]:
    dataset = require_dataset(context)
    return dataset, show_assignment(context.database, context.actor, dataset, now=context.now)


def _do(act: Callable[[], object]) -> None:
    try:
        act()
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))
        return
    st.rerun()


def _describe(person: WaitingPerson) -> str:
    name = f"<strong>{escape(person.name or person.username)}</strong> <code>{escape(person.username)}</code>"
    mark = tr("disabled") if person.disabled else None if person.works else tr("does not label")
    badge = f'<span class="annotator-badge">{escape(mark)}</span>' if mark else ""
    lines = [
        say_expertise(person.categories, person.languages) or tr("judges everything"),
    ]
    if person.works:
        lines.append(
            tr_n("{pairs} pair left", "{pairs} pairs left", person.pairs, pairs=show_number(person.pairs))
        )
    if person.queries:
        lines.append(_say_given(person))
    if person.held_seconds is not None:
        lines.append(
            tr(
                "holds {pairs}, for {minutes} min",
                pairs=show_number(person.holds),
                minutes=person.held_seconds // 60,
            )
        )
    said = " · ".join(escape(line) for line in lines)
    return f'<div class="annotator-person" dir="auto">{name}{badge}<br><span class="annotator-soft">{said}</span></div>'


def _say_given(person: WaitingPerson) -> str:
    return tr_n("{n:,} query given to them", "{n:,} queries given to them", person.queries)
