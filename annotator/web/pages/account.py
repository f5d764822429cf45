"""One's own account: the password, and where one is signed in."""

import streamlit as st

from annotator.accounts.service import change_password, list_sessions, revoke_sessions
from annotator.domain.accounts import WrongSignIn
from annotator.domain.errors import AnnotatorError, ValidationError
from annotator.web.page_context import PageContext
from annotator.web.times import show_time


def draw(context: PageContext) -> None:
    st.title("Account")
    held = [f"{item.role} on {item.dataset or 'every dataset'}" for item in context.person.memberships]
    st.text(f"{context.person.name} ({context.actor.username}): {', '.join(held) or 'no role yet'}")
    if context.person.must_change_password:
        st.info(
            "You signed in with a one-time password. Choose one of your own to go on.", icon=":material/key:"
        )
    with st.container(width=480):
        _draw_password(context)
        if not context.person.must_change_password:
            _draw_sessions(context)


def _draw_password(context: PageContext) -> None:
    st.header("Password")
    with st.form("password", clear_on_submit=True):
        old = st.text_input("Present password", type="password", autocomplete="current-password")
        new = st.text_input(
            "New password (10 characters or more)", type="password", autocomplete="new-password"
        )
        again = st.text_input("New password again", type="password", autocomplete="new-password")
        pressed = st.form_submit_button("Change password", type="primary")
    if pressed:
        try:
            _change(context, old, new, again)
        except WrongSignIn:
            st.error("The present password is wrong.")
        except AnnotatorError as error:
            st.error(str(error))
        else:
            st.session_state["password_changed"] = True
            st.rerun()
    if st.session_state.pop("password_changed", False):
        st.success("Your password is changed. Everywhere else you are signed out.", icon=":material/check:")


def _change(context: PageContext, old: str, new: str, again: str) -> None:
    if new != again:
        raise ValidationError("the new password and its repetition differ")
    change_password(context.database, context.actor, old, new, keep_token=context.token, now=context.now)


def _draw_sessions(context: PageContext) -> None:
    st.header("Signed in")
    sessions = list_sessions(context.database, context.actor, token=context.token, now=context.now)
    for session in sessions:
        if session.current:
            st.text(
                f"This browser: since {show_time(session.created_at)}, until {show_time(session.expires_at)}."
            )
    others = [session for session in sessions if not session.current]
    if others:
        st.text(f"Other browsers: {len(others)}, the latest since {show_time(others[0].created_at)}.")
    if others and st.button("Sign out everywhere else"):
        revoke_sessions(context.database, context.actor, keep_token=context.token, now=context.now)
        st.rerun()
