"""Draw the page Account: password, second factor and open sessions of the signed-in person."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st

from annotator.domain.errors import AnnotatorError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import WrongSignIn
from annotator.people.second_factor.codes import read_sealing_key
from annotator.people.second_factor.service import remove_second_factor, show_second_factor
from annotator.people.sign_in_service import (
    change_password,
    count_known_browsers,
    list_sessions,
    replace_one_time_password,
    revoke_sessions,
)
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_problem, draw_refusal, find_page
from annotator.web.kit.words import describe_role
from annotator.web.navigation import list_pages
from annotator.web.page_context import PageContext, require_context
from annotator.web.sidebar import draw_language_choice, forget_choice, list_parameters


def draw(context: PageContext) -> None:
    if context.person.must_change_password:
        _draw_first_password(context)
        return
    st.title(tr("Account"))
    held = [describe_role(item.role, item.dataset) for item in context.person.memberships]
    st.text(f"{context.person.name} ({context.actor.username}): {', '.join(held) or tr('no role yet')}")
    with st.container(width=480):
        if not context.person.by_provider:
            _draw_password(context)
            _draw_second_factor(context)
        _draw_sessions(context)
        st.header(tr("Language"))
        draw_language_choice("account_language", label_visibility="collapsed")
        if context.person.language is not None:
            st.button(tr("Follow the browser's language"), on_click=forget_choice)


def _draw_first_password(context: PageContext) -> None:
    """Ask a person with a one-time password for a new password, then open their first page."""
    st.title(tr("Choose a password"))
    st.text(tr("You signed in with a one-time password. From now on you sign in with your own."))
    with st.container(width=480), st.form("first_password"):
        new = st.text_input(
            tr("New password (10 characters or more)"), type="password", autocomplete="new-password"
        )
        pressed = st.form_submit_button(tr("Save and continue"), type="primary")
    if not pressed:
        return
    try:
        context.call(replace_one_time_password, new, keep_token=context.token, now=context.now)
    except AnnotatorError as error:
        draw_problem(show_refusal(error))
        return
    changed = require_context()
    first = list_pages(changed.person, changed.dataset)[0]
    st.switch_page(find_page(first.address), query_params=list_parameters(changed))


def _draw_password(context: PageContext) -> None:
    st.header(tr("Password"))
    with st.form("password", clear_on_submit=True):
        old = st.text_input(tr("Current password"), type="password", autocomplete="current-password")
        new = st.text_input(
            tr("New password (10 characters or more)"), type="password", autocomplete="new-password"
        )
        again = st.text_input(tr("New password again"), type="password", autocomplete="new-password")
        pressed = st.form_submit_button(tr("Change password"), type="primary")
    if pressed:
        with _draw_refusal():
            if new != again:
                raise ValidationError(say("the two new passwords differ"))
            context.call(change_password, old, new, keep_token=context.token, now=context.now)
            st.session_state["password_changed"] = True
            st.rerun()
    if st.session_state.pop("password_changed", False):
        st.success(tr("Password changed. You are signed out everywhere else."), icon=":material/check:")


@contextmanager
def _draw_refusal() -> Iterator[None]:
    with draw_refusal():
        try:
            yield
        except WrongSignIn:
            st.error(tr("The current password is wrong."))


def _draw_second_factor(context: PageContext) -> None:
    st.header(tr("Second factor"))
    state = context.call(show_second_factor, required=context.settings.second_factor)
    if st.session_state.pop("second_factor_removed", False):
        st.success(
            tr("The second factor is off. You are signed out everywhere else."), icon=":material/check:"
        )
    if state.since is None:
        st.text(tr("Off. A second factor protects your account if somebody learns your password."))
        _draw_way_to_set_up(tr("Set up the second factor"))
        return
    since = show_time(state.since)
    st.text(tr("On since {since}. Signing in takes a code from your authenticator app.", since=since))
    st.text(tr_n("{n} recovery code is left.", "{n} recovery codes are left.", state.recovery_codes))
    _draw_way_to_set_up(tr("Set it up again, with new recovery codes"))
    if state.is_required:
        st.text(tr("A second factor is required for your account."))
        return
    with st.expander(tr("Remove the second factor")), st.form("second_factor", border=False):
        password = st.text_input(
            tr("Current password"), type="password", autocomplete="current-password", key="factor_password"
        )
        code = st.text_input(tr("Code, or a recovery code"), autocomplete="one-time-code")
        pressed = st.form_submit_button(tr("Remove"))
    if pressed:
        with _draw_refusal():
            context.call(
                remove_second_factor,
                password,
                code,
                token=context.token,
                required=context.settings.second_factor,
                now=context.now,
                key=read_sealing_key(context.settings.second_factor_key_file),
            )
            st.session_state["second_factor_removed"] = True
            st.rerun()


def _draw_way_to_set_up(label: str) -> None:
    st.html(f'<a href="/login/set-up" target="_self" style="color: inherit">{escape(label)}</a>')


def _draw_sessions(context: PageContext) -> None:
    st.header(tr("Signed in"))
    sessions = context.call(list_sessions, token=context.token, now=context.now)
    for session in sessions:
        if session.current:
            since, until = show_time(session.created_at), show_time(session.expires_at)
            st.text(tr("This browser: since {since}, until {until}.", since=since, until=until))
    others = [session for session in sessions if not session.current]
    if others:
        since = show_time(others[0].created_at)
        st.text(tr("Other browsers: {n}, the latest since {since}.", n=len(others), since=since))
    known_browsers = context.call(count_known_browsers, token=context.token, now=context.now)
    if known_browsers:
        st.text(
            tr_n(
                "You recently signed in with {n} other browser. If somebody mistypes your password elsewhere, you can still sign in there.",
                "You recently signed in with {n} other browsers. If somebody mistypes your password elsewhere, you can still sign in there.",
                known_browsers,
            )
        )
    if (others or known_browsers) and st.button(tr("Sign out everywhere else")):
        context.call(revoke_sessions, keep_token=context.token, now=context.now)
        st.rerun()
