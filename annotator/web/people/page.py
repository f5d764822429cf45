"""Draw the page People: leads invite annotators; admins add people and change roles and passwords.

A one-time link that invites is shown once. A long list has a search and pages. A dialog runs without the rest
of the page, so each dialog checks the session again. `people/service.py` and `people/invitations_service.py`
decide which changes are allowed. A refusal is shown at the pressed button.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TypeVar
from urllib.parse import urlsplit

import streamlit as st

from annotator.domain.addresses import is_loopback
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.domain.people import ROLES, Invitation, Person, PersonChange, includes
from annotator.labeling.assignment_service import list_left, show_assignment
from annotator.people.invitations_service import (
    DAYS,
    MOST_DAYS,
    invite,
    list_invitations,
    make_password_link,
    revoke_invitation,
)
from annotator.people.second_factor.service import reset_second_factor
from annotator.people.service import add_person, change_person, disable_person, list_people, remove_role
from annotator.web.kit.components import draw_copy_field
from annotator.web.kit.figures import show_day, show_time
from annotator.web.kit.lists import find_page_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_problem, draw_refusal
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import describe_role, name_role
from annotator.web.page_context import PageContext, require_context
from annotator.web.people.words import (
    NO_ROLE,
    ROLE_EFFECTS,
    ask_expertise,
    describe_activity,
    describe_expertise,
    list_consequences,
)

STATES = {"open": say("open"), "used": say("accepted"), "expired": say("expired"), "revoked": say("revoked")}


def invite_dialog() -> None:
    st.dialog(tr("Invite a person"), on_dismiss="rerun")(_draw_dialog)()


def _draw_dialog() -> None:
    context = require_context()
    note = st.text_input(tr("For whom"), autocomplete="off", max_chars=200).strip()
    place_of_problem = st.empty()
    places = list_places(context)
    where = st.selectbox(tr("Dataset"), places, format_func=name_place) if len(places) > 1 else places[0]
    roles = ROLES if context.person.role_on(where) == "admin" else ROLES[:1]
    role = st.selectbox(tr("Role"), roles, format_func=name_role) if len(roles) > 1 else roles[0]
    draw_note(tr(ROLE_EFFECTS[role]))
    days = st.number_input(tr("Days until the link expires"), 1, MOST_DAYS, DAYS)
    if not st.button(tr("Make the link"), type="primary", icon=":material/link:"):
        return
    if not note:
        with place_of_problem:
            draw_problem(tr("Write whom the link is for."))
        return
    with draw_refusal():
        made = context.call(invite, role=role, dataset=where, note=note, days=int(days), now=context.now)
        draw_one_time_link(context, "invitation", tr("Link to send to {whom}", whom=note), made.token)
        draw_note(
            tr(
                "Copy the link now: it is shown only once. It works one time, until {until}. The person who opens it chooses a name and a password.",
                until=show_time(made.invitation.expires_at),
            )
        )


def draw_password_link(context: PageContext, username: str) -> None:
    with draw_refusal():
        made = context.call(make_password_link, username, now=context.now)
        draw_one_time_link(context, "password link", tr("Link to send"), made.token)
        draw_note(
            tr(
                "Copy the link now: it is shown only once. It works one time, until {until}. Until it is used, the current password still works.",
                until=show_time(made.expires_at),
            )
        )


def draw_one_time_link(context: PageContext, key: str, label: str, token: str) -> None:
    """Draw the link at the server's address, else at the host that this browser uses."""
    parts = urlsplit(st.context.url or "")
    host = parts.netloc or st.context.headers.get("Host") or ""
    address = context.settings.address or f"{parts.scheme or 'http'}://{host}"
    draw_copy_field(key, label, f"{address}/join#{token}")
    if is_loopback(urlsplit(address).hostname or ""):
        draw_problem(
            tr(
                "Only this computer can open {address}. For others, open Annotator at the address that they use and "
                "make the link there, or start the server with {option}.",
                address=address,
                option="--address",
            )
        )


def list_places(context: PageContext) -> list[str | None]:
    """Return the datasets to which the person may invite: the chosen one, and None (all) for admins of all datasets."""
    here: list[str | None] = [context.dataset] if context.dataset else []
    return [*here, None] if context.person.role_on(None) == "admin" else here


def count_open_invitations(context: PageContext, username: str, dataset: str | None) -> int:
    """Count the open invitations to the dataset (None: to every dataset) that this person made."""
    listed = context.call(list_invitations, dataset=dataset, now=context.now)
    return sum(
        item.state == "open" and item.author == username and item.dataset == dataset for item in listed
    )


def draw_invitations(context: PageContext) -> None:
    """Draw the open invitations with their buttons, and the earlier invitations in an expander."""
    listed = context.call(list_invitations, dataset=context.dataset, now=context.now)
    if not listed:
        return
    people = context.call(list_people, dataset=context.dataset)
    names = {person.username: person.name or person.username for person in people}
    st.header(tr("Invitations"))
    opened = [item for item in listed if item.state == "open"]
    if not opened:
        st.text(tr("No invitation is open."))
    for item in opened:
        _draw_open(context, item, names)
    earlier = [item for item in listed if item.state != "open"]
    if earlier:
        with st.expander(tr("Earlier invitations")):
            columns = (tr("for whom"), tr("role"), tr("state"), tr("made by"), tr("made on"))
            rows = [
                (item.note or "–", describe_role(item.role, item.dataset), _describe_state(item, names), _name_author(item, names), show_day(item.created_at, now=context.now))
                for item in earlier
            ]  # fmt: skip
            draw_table(tr("Earlier invitations"), columns, rows)


def _draw_open(context: PageContext, item: Invitation, names: Mapping[str, str]) -> None:
    whom = item.note or tr("Invitation {number}", number=item.number)
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        with st.container(width="stretch"):
            st.text(f"{whom}: {describe_role(item.role, item.dataset)}")
            draw_note(
                tr(
                    "Made by {author}. Works until {until}.",
                    author=_name_author(item, names),
                    until=show_time(item.expires_at),
                )
            )
        may_revoke = item.role == "annotator" or context.person.role_on(item.dataset) == "admin"
        label = tr("Revoke the invitation: {whom}", whom=whom)
        if may_revoke and st.button(tr("Revoke"), key=f"revoke {item.number}", help=label):
            with draw_refusal():
                context.call(revoke_invitation, item.number, now=context.now)
                st.rerun()


def _name_author(item: Invitation, names: Mapping[str, str]) -> str:
    return tr("the operator") if item.author is None else names.get(item.author, item.author)


def _describe_state(item: Invitation, names: Mapping[str, str]) -> str:
    if item.user is not None:
        return tr("accepted by {username}", username=names.get(item.user, item.user))
    return tr(STATES[item.state])


def name_place(dataset: str | None) -> str:
    return dataset or tr("every dataset")


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
    page = min(pages, find_page_number("people"))
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
            lambda: context.call(add_person, username, name=name, role=role, dataset=where, now=context.now)
        )


def change_dialog(username: str) -> None:
    st.dialog(tr("Change a person"), on_dismiss="rerun")(_draw_change)(username)


def _draw_change(username: str) -> None:
    context = require_context()
    people = context.call(list_people, dataset=context.dataset)
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
            _apply_change(lambda: context.call(change_person, username, new_password=True, now=context.now))
        if person.disabled and st.button(tr("Enable")):
            _apply_change(lambda: context.call(change_person, username, enable=True, now=context.now))
        if not person.disabled and st.button(tr("Disable"), icon=":material/block:"):
            _apply_change(lambda: PersonChange(context.call(disable_person, username, now=context.now)))

        if person.second_factor and st.button(
            tr("Remove the second factor"), icon=":material/phonelink_erase:"
        ):
            with draw_refusal():
                context.call(reset_second_factor, username, now=context.now)
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
            lambda: PersonChange(context.call(remove_role, person.username, dataset=where, now=context.now))
        )
    elif pressed:
        _apply_change(
            lambda: context.call(change_person, person.username, role=role, dataset=where, now=context.now)
        )


def _change_name(context: PageContext, person: Person) -> None:
    with st.form("name"):
        name = st.text_input(tr("Name"), person.name, autocomplete="off")
        pressed = st.form_submit_button(tr("Set name"))
    if pressed:
        _apply_change(lambda: context.call(change_person, person.username, name=name, now=context.now))


def _change_expertise(context: PageContext, person: Person) -> None:
    held = next((item for item in person.memberships if item.dataset == context.dataset), None)
    if held is None or held.dataset is None:
        return
    assignment = context.call(show_assignment, held.dataset, now=context.now)
    expertise = ask_expertise(
        (assignment.categories, assignment.languages), (held.categories, held.languages)
    )
    if expertise:
        _apply_change(
            lambda: context.call(
                change_person, person.username, dataset=held.dataset, expertise=expertise, now=context.now
            )
        )


def _draw_unfinished(context: PageContext, person: Person) -> None:
    """Draw the unfinished work of a person in each dataset, before they are disabled."""
    for left in context.call(list_left, person.username):
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
    st.title(tr("People"))
    everywhere = context.person.role_on(None)
    if context.dataset is None and (everywhere is None or not includes(everywhere, "lead")):
        st.info(tr("There is no dataset yet."))
        return
    people = context.call(list_people, dataset=context.dataset)
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
