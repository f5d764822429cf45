"""Draw the page People: leads invite annotators; admins add people and change roles and passwords.

A long list has a search and pages. A dialog runs without the rest of the page, so each dialog checks the
session again. `people/service.py` decides which changes are allowed. A refusal is shown at the pressed
button.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeVar

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.people import ROLES, Person, PersonChange, includes
from annotator.labeling.assignment_service import list_left, show_assignment
from annotator.people.second_factor.service import reset_second_factor
from annotator.people.service import add_person, change_person, disable_person, list_people, remove_role
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_refusal
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import describe_role, name_role
from annotator.web.page_context import PageContext, require_context
from annotator.web.people.invitations import (
    count_open_invitations,
    draw_invitations,
    draw_password_link,
    invite_dialog,
    list_places,
    name_place,
)
from annotator.web.people.words import (
    NO_ROLE,
    ask_expertise,
    describe_activity,
    describe_expertise,
    list_consequences,
)

SIZE = 50
Named = TypeVar("Named")


def choose_people(people: Sequence[Named], names: Callable[[Named], Sequence[str]]) -> Sequence[Named]:
    """Return the people to draw: all, or for more than SIZE people one page of the search result.

    Draws the search and the page numbers. `names`: the searched names of each person.
    """
    if len(people) <= SIZE:
        return people
    searched = st.text_input(tr("Find a person"), key="person", bind="query-params").strip().casefold()
    matching = [person for person in people if any(searched in name.casefold() for name in names(person))]
    if not matching:
        st.text(tr("No matching person."))
        return []
    pages = -(-len(matching) // SIZE)
    page = min(pages, max(1, _read_page()))
    first = (page - 1) * SIZE
    shown = matching[first : first + SIZE]
    draw_note(
        tr(
            "{first} to {last} of {all} people.",
            first=show_number(first + 1),
            last=show_number(first + len(shown)),
            all=show_number(len(matching)),
        )
    )
    if pages > 1:
        st.session_state["people"] = page
        st.pagination(pages, key="people", bind="query-params")
    return shown


def _read_page() -> int:
    """Return the chosen page, before its control is drawn."""
    number = str(st.session_state.get("people", st.query_params.get("people", "1")))
    return int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1


def find_role(person: Person, dataset: str | None) -> str | None:
    """Return the person's role on exactly this dataset (None: on every dataset)."""
    return next((item.role for item in person.memberships if item.dataset == dataset), None)


def add_dialog() -> None:
    st.dialog(tr("Add a person"), on_dismiss="rerun")(_add)()


def _add() -> None:
    context = require_context()
    with st.form("add"):
        username = st.text_input(tr("Username, to sign in with"), autocomplete="off")
        name = st.text_input(tr("Name, as others see it"), autocomplete="off")
        role = st.selectbox(tr("Role"), ROLES, format_func=name_role)
        where = st.selectbox(tr("Dataset"), list_places(context), format_func=name_place)
        pressed = st.form_submit_button(tr("Add"), type="primary")
    if pressed:
        _apply_change(
            lambda: add_person(
                context.database,
                context.actor,
                username,
                name=name,
                role=role,
                dataset=where,
                now=context.now,
            )
        )


def change_dialog(username: str) -> None:
    st.dialog(tr("Change a person"), on_dismiss="rerun")(_draw_change)(username)


def _draw_change(username: str) -> None:
    context = require_context()
    people = list_people(context.database, context.actor, dataset=context.dataset)
    person = next((item for item in people if item.username == username), None)
    if person is None:
        st.info(tr("This person no longer has a role here."))
        return
    st.text(f"{person.name or person.username} ({person.username})")
    _change_role(context, person)
    _change_name(context, person)
    _change_expertise(context, person)
    _draw_unfinished(context, person)
    with st.container(horizontal=True):
        wants_link = not person.disabled and st.button(
            tr("Make a link for a new password"), icon=":material/link:"
        )
        if st.button(tr("Make a one-time password"), icon=":material/key:"):
            _apply_change(
                lambda: change_person(
                    context.database, context.actor, username, new_password=True, now=context.now
                )
            )
        if person.disabled and st.button(tr("Enable")):
            _apply_change(
                lambda: change_person(context.database, context.actor, username, enable=True, now=context.now)
            )
        if not person.disabled and st.button(tr("Disable"), icon=":material/block:"):
            _apply_change(
                lambda: PersonChange(
                    disable_person(context.database, context.actor, username, now=context.now)
                )
            )

        if person.second_factor and st.button(
            tr("Remove the second factor"), icon=":material/phonelink_erase:"
        ):
            with draw_refusal():
                reset_second_factor(context.database, context.actor, username, now=context.now)
                st.rerun()

    if wants_link:
        draw_password_link(context, username)


def _change_role(context: PageContext, person: Person) -> None:
    where = st.selectbox(tr("Role on"), list_places(context), format_func=name_place)
    choices, held = [*ROLES, NO_ROLE], find_role(person, where) or NO_ROLE
    role = st.selectbox(
        tr("Role"),
        choices,
        index=choices.index(held),
        format_func=lambda name: tr("no role") if name == NO_ROLE else name_role(name),
    )
    invitations = count_open_invitations(context, person.username, where) if role != held else 0
    for consequence in list_consequences(held, role, invitations=invitations):
        draw_note(tr(consequence))
    pressed = st.button(tr("Set role"), disabled=role == held)
    if pressed and role == NO_ROLE:
        _apply_change(
            lambda: PersonChange(
                remove_role(context.database, context.actor, person.username, dataset=where, now=context.now)
            )
        )
    elif pressed:
        _apply_change(
            lambda: change_person(
                context.database, context.actor, person.username, role=role, dataset=where, now=context.now
            )
        )


def _change_name(context: PageContext, person: Person) -> None:
    with st.form("name"):
        name = st.text_input(tr("Name"), person.name, autocomplete="off")
        pressed = st.form_submit_button(tr("Set name"))
    if pressed:
        _apply_change(
            lambda: change_person(
                context.database, context.actor, person.username, name=name, now=context.now
            )
        )


def _change_expertise(context: PageContext, person: Person) -> None:
    held = next((item for item in person.memberships if item.dataset == context.dataset), None)
    if held is None or held.dataset is None:
        return
    assignment = show_assignment(context.database, context.actor, held.dataset, now=context.now)
    expertise = ask_expertise(
        (assignment.categories, assignment.languages), (held.categories, held.languages)
    )
    if expertise:
        _apply_change(
            lambda: change_person(
                context.database,
                context.actor,
                person.username,
                dataset=held.dataset,
                expertise=expertise,
                now=context.now,
            )
        )


def _draw_unfinished(context: PageContext, person: Person) -> None:
    """Draw the unfinished work of a person in each dataset, before they are disabled."""
    for left in list_left(context.database, context.actor, person.username):
        message = tr_n(
            "{n:,} query assigned to them on {dataset} still needs judgments. Reassign it on the page Assignment.",
            "{n:,} queries assigned to them on {dataset} still need judgments. Reassign them on the page Assignment.",
            left.queries,
            dataset=left.dataset,
        )
        st.caption(escape_markdown(message))


def _apply_change(act: Callable[[], PersonChange]) -> None:
    with draw_refusal():
        change = act()
        if change.one_time_password is None:
            st.rerun()
        st.success(
            tr("One-time password of {username}:", username=change.person.username), icon=":material/key:"
        )
        st.code(change.one_time_password, language=None)
        st.caption(tr("It is shown only once. At the first sign-in, the person chooses a new password."))


def draw(context: PageContext) -> None:
    """Draw the people with a role here, their progress, and the invitations."""
    st.title(tr("People"))
    everywhere = context.person.role_on(None)
    if context.dataset is None and (everywhere is None or not includes(everywhere, "lead")):
        st.info(tr("There is no dataset yet."))
        return
    people = list_people(context.database, context.actor, dataset=context.dataset)
    manages = context.role == "admin"
    st.caption(tr("Each role has the rights of the ones before it: annotator, lead, admin."))
    with st.container(horizontal=True):
        if st.button(tr("Invite a person"), type="primary", icon=":material/link:"):
            invite_dialog()
        if manages and st.button(tr("Add a person"), icon=":material/person_add:"):
            add_dialog()
    activity = describe_activity(context)
    for person in choose_people(people, lambda person: (person.username, person.name)):
        _draw_person(person, context.dataset, manages=manages, activity=activity.get(person.username, ""))
    if context.dataset is not None or everywhere == "admin":
        draw_invitations(context)


def _draw_person(person: Person, dataset: str | None, *, manages: bool, activity: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        with st.container(width="stretch"):
            st.html(_describe(person, dataset, activity))
        label = tr("Change {username}", username=person.username)
        if manages and st.button(tr("Change"), key=f"change {person.username}", help=label):
            change_dialog(person.username)


def _describe(person: Person, dataset: str | None, activity: str) -> str:
    roles = [describe_role(item.role, item.dataset) for item in person.memberships if item.dataset is None]
    roles = [name_role(find_role(person, dataset) or ""), *roles] if dataset else roles
    badges = [
        word
        for word, applies in (
            (tr("disabled"), person.disabled),
            (tr("no sign-in"), not person.can_sign_in and not person.disabled),
            (tr("one-time password"), person.must_change_password and not person.disabled),
            (tr("second factor"), person.second_factor and not person.disabled),
            (tr("simulated"), person.simulated),
        )
        if applies
    ]
    marks = "".join(f'<span class="annotator-badge">{badge}</span>' for badge in badges)
    name = f"<strong>{escape(person.name or person.username)}</strong> <code>{escape(person.username)}</code>"
    knows = [
        describe_expertise(held.categories, held.languages) for held in person.memberships if held.dataset
    ]
    description = escape(", ".join(part for part in (*roles, *knows) if part) or tr("no role"))
    pace = (
        f'<br><span class="annotator-soft">{escape(activity)}</span>'
        if activity and not person.disabled
        else ""
    )
    return f'<div class="annotator-person" dir="auto">{name}{marks}<br><span class="annotator-soft">{description}</span>{pace}</div>'
