"""Draw the invitations on the page People: the dialog that makes a one-time link, and the list of invitations.

Leads invite annotators to their dataset, admins invite for every role; `people/invitations_service.py`
decides.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

import streamlit as st

from annotator.domain.messages import say
from annotator.domain.people import ROLES, Invitation
from annotator.people.invitations_service import (
    DAYS,
    MOST_DAYS,
    invite,
    list_invitations,
    make_password_link,
    revoke_invitation,
)
from annotator.people.service import list_people
from annotator.web.kit.components import draw_copy_field
from annotator.web.kit.figures import show_day, show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note, draw_problem, draw_refusal
from annotator.web.kit.tables import draw_table
from annotator.web.kit.words import describe_role, name_role
from annotator.web.page_context import PageContext, require_context
from annotator.web.people.words import ROLE_EFFECTS

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
        made = invite(
            context.database,
            context.actor,
            role=role,
            dataset=where,
            note=note,
            days=int(days),
            now=context.now,
        )
        draw_copy_field("invitation", tr("Link to send to {whom}", whom=note), name_link(made.token))
        draw_note(
            tr(
                "Copy the link now: it is shown only once. It works one time, until {until}. The person who opens it chooses a name and a password.",
                until=show_time(made.invitation.expires_at),
            )
        )


def draw_password_link(context: PageContext, username: str) -> None:
    """Make a link for choosing a new password, and show it."""
    with draw_refusal():
        made = make_password_link(context.database, context.actor, username, now=context.now)
        draw_copy_field("password link", tr("Link to send"), name_link(made.token))
        draw_note(
            tr(
                "Copy the link now: it is shown only once. It works one time, until {until}. Until it is used, the current password still works.",
                until=show_time(made.expires_at),
            )
        )


def name_link(token: str) -> str:
    """Return the URL of the link, with the host that this browser uses."""
    parts = urlsplit(st.context.url or "")
    host = parts.netloc or st.context.headers.get("Host") or ""
    return f"{parts.scheme or 'http'}://{host}/join#{token}"


def list_places(context: PageContext) -> list[str | None]:
    """Return the datasets to which the person may invite: the chosen one, and None (all) for admins of all datasets."""
    here: list[str | None] = [context.dataset] if context.dataset else []
    return [*here, None] if context.person.role_on(None) == "admin" else here


def count_open_invitations(context: PageContext, username: str, dataset: str | None) -> int:
    """Count the open invitations to the dataset (None: to every dataset) that this person made."""
    listed = list_invitations(context.database, context.actor, dataset=dataset, now=context.now)
    return sum(
        item.state == "open" and item.author == username and item.dataset == dataset for item in listed
    )


def draw_invitations(context: PageContext) -> None:
    """Draw the open invitations with their buttons, and the earlier invitations in an expander."""
    listed = list_invitations(context.database, context.actor, dataset=context.dataset, now=context.now)
    if not listed:
        return
    people = list_people(context.database, context.actor, dataset=context.dataset)
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
                revoke_invitation(context.database, context.actor, item.number, now=context.now)
                st.rerun()


def _name_author(item: Invitation, names: Mapping[str, str]) -> str:
    return tr("the operator") if item.author is None else names.get(item.author, item.author)


def _describe_state(item: Invitation, names: Mapping[str, str]) -> str:
    if item.user is not None:
        return tr("accepted by {username}", username=names.get(item.user, item.user))
    return tr(STATES[item.state])


def name_place(dataset: str | None) -> str:
    return dataset or tr("every dataset")
