"""The context of a page: database, settings, signed-in person, chosen dataset and language.

Looks up the session on each run, because an open websocket outlives it, and ends the run after a sign-out. A
fragment runs without the rest of the script, so it begins with `require_context`. The database and settings
of the process are module state (`set_served`), because Streamlit runs a page without arguments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Concatenate, ParamSpec, TypeVar

import streamlit as st

from annotator.dataset.service import list_datasets
from annotator.dataset.settings import Dataset
from annotator.domain.audit import AuditOrigin, audit_origin
from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor, SignedIn, includes
from annotator.domain.texts import holds_no_text
from annotator.people.service import list_people
from annotator.people.sign_in_service import find_session
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.kit.messages import find_language, tr, use_language
from annotator.web.kit.words import PersonName, make_unique
from annotator.web.navigation import choose_dataset
from annotator.web.server.request_id import current_request_id
from annotator.web.session import COOKIE, read_cookie


@dataclass(frozen=True, slots=True)
class ServedProgram:
    """The one database and the settings of a serving process."""

    database: Database
    settings: Settings


VISIT = "page visited"
Given = ParamSpec("Given")
Result = TypeVar("Result")
_served: dict[str, ServedProgram] = {}


def set_served(database: Database, settings: Settings) -> None:
    """Set the served database and settings. Called once, by `make_app`."""
    _served["now"] = ServedProgram(database, settings)


def find_served() -> ServedProgram:
    """Return the arguments of `make_app`. Raises StateError before its call."""
    if "now" not in _served:
        raise StateError(say("open this page on a running server"))
    return _served["now"]


@dataclass(frozen=True, slots=True)
class PageContext:
    """See the module. `dataset`: name of the chosen dataset, or None. `now`: start of this run.

    `datasets`: the person's datasets; an archived dataset only for leads, if the URL names it. `token`: of the session, for
    services that end all other sessions."""

    database: Database
    settings: Settings
    person: SignedIn
    token: str
    datasets: tuple[Dataset, ...]
    dataset: str | None
    now: datetime

    @property
    def actor(self) -> Actor:
        return self.person.actor

    @property
    def role(self) -> str | None:
        """Return the person's current role on the chosen dataset."""
        return self.person.role_on(self.dataset)

    def call(
        self,
        use_case: Callable[Concatenate[Database, Actor, Given], Result],
        *args: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        """Call a function of a service with the database and this person, before the other arguments."""
        return use_case(self.database, self.actor, *args, **named)

    @property
    def is_archived(self) -> bool:
        """Return whether the chosen dataset is archived: it can be read, but not changed."""
        return any(item.name == self.dataset and item.archived_at is not None for item in self.datasets)


def find_context() -> PageContext | None:
    """Return the context of this run; None if the browser's session has ended."""
    served, now = find_served(), datetime.now(UTC)
    address = st.context.ip_address
    known = address if isinstance(address, str) else None  # Streamlit names none for this machine
    audit_origin.set(AuditOrigin("web", current_request_id(), known))
    token = read_cookie(st.context.cookies, COOKIE, st.context.headers.get("Host") or "") or ""
    accepted = st.context.headers.get("Accept-Language") or st.context.locale or ""
    use_language(find_language(None, accepted))  # in which it is said if the database does not answer
    person = find_session(served.database, token, now=now, required=served.settings.second_factor)
    use_language(find_language(person, accepted))
    if person is None:
        st.session_state.clear()
        return None
    if st.session_state.get("person_id", person.actor.person_id) != person.actor.person_id:
        st.session_state.clear()  # another person has signed in with this browser
    st.session_state["person_id"] = person.actor.person_id
    _forget_no_texts()
    wanted = st.query_params.get("dataset")
    datasets = tuple(
        item
        for item in list_datasets(served.database, person.actor, archived_too=True)
        if item.archived_at is None or (item.name == wanted and _leads(person, item.name))
    )
    dataset = choose_dataset([item.name for item in datasets], wanted)
    return PageContext(served.database, served.settings, person, token, datasets, dataset, now)


def _leads(person: SignedIn, dataset: str) -> bool:
    role = person.role_on(dataset)
    return role is not None and includes(role, "lead")


def _forget_no_texts() -> None:
    """Remove query parameters with NUL, which is invalid in texts, before they are read."""
    for name in list(st.query_params):
        if any(map(holds_no_text, (name, *st.query_params.get_all(name)))):
            del st.query_params[name]


def require_context() -> PageContext:
    """Return the context of this run. After a sign-out, draw a notice and a sign-in link and end the run."""
    context = find_context()
    if context is None:
        draw_signed_out()
        st.stop()
    return context


def note_visit(address: str, now: datetime) -> datetime:
    """Return when the person opened this page. Everything that was new then stays marked as new."""
    shown, began = st.session_state.get(VISIT, ("", now))
    if shown != address:
        began = now
    st.session_state[VISIT] = (address, began)
    return began if isinstance(began, datetime) else now


def draw_signed_out() -> None:
    """Draw only a notice that the session has ended."""
    st.info(tr("You are signed out."), icon=":material/logout:")
    st.html(f'<a href="/login" target="_self">{escape(tr("Sign in again"))}</a>')


def list_person_names(context: PageContext, dataset: str) -> dict[str, PersonName]:
    """Return {username: name} of the dataset's people. For leads of the dataset."""
    people = context.call(list_people, dataset=dataset)
    return make_unique({person.username: person.name for person in people})
