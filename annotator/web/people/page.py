"""The people of a dataset: leads see them, admins add them and change their roles and passwords."""

from html import escape

import streamlit as st

from annotator.domain.accounts import Person
from annotator.domain.people import includes
from annotator.people.service import list_people
from annotator.web.kit.messages import tr
from annotator.web.kit.roles import name_role, say_membership
from annotator.web.page_context import PageContext
from annotator.web.people.expertise import say_expertise
from annotator.web.people.people_page import choose_people
from annotator.web.people.person_forms import add_dialog, change_dialog, say_role


def draw(context: PageContext) -> None:
    st.title(tr("People"))
    everywhere = context.person.role_on(None)
    if context.dataset is None and (everywhere is None or not includes(everywhere, "lead")):
        st.info(tr("There is no dataset yet."))
        return
    people = list_people(context.database, context.actor, dataset=context.dataset)
    manages = context.role == "admin"
    st.caption(tr("Each role may do what the ones before it may: annotator, lead, admin."))
    if manages and st.button(tr("Add a person"), type="primary", icon=":material/person_add:"):
        add_dialog()
    for person in choose_people(people, lambda one: (one.username, one.name)):
        _draw_person(person, context.dataset, manages=manages)


def _draw_person(person: Person, dataset: str | None, *, manages: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        with st.container(width="stretch"):
            st.html(_describe(person, dataset))
        label = tr("Change {username}", username=person.username)
        if manages and st.button(tr("Change"), key=f"change {person.username}", help=label):
            change_dialog(person.username)


def _describe(person: Person, dataset: str | None) -> str:
    roles = [say_membership(item) for item in person.memberships if item.dataset is None]
    roles = [name_role(say_role(person, dataset) or ""), *roles] if dataset else roles
    badges = [
        word
        for word, applies in (
            (tr("disabled"), person.disabled),
            (tr("no sign-in"), not person.can_sign_in and not person.disabled),
            (tr("one-time password"), person.must_change_password and not person.disabled),
            (tr("simulated"), person.simulated),
        )
        if applies
    ]
    marks = "".join(f'<span class="annotator-badge">{badge}</span>' for badge in badges)
    name = f"<strong>{escape(person.name or person.username)}</strong> <code>{escape(person.username)}</code>"
    knows = [say_expertise(held.categories, held.languages) for held in person.memberships if held.dataset]
    said = escape(", ".join(part for part in (*roles, *knows) if part) or tr("no role"))
    return f'<div class="annotator-person" dir="auto">{name}{marks}<br><span class="annotator-soft">{said}</span></div>'
