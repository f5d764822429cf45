"""The pages `/join` and `/setup`, which a one-time link opens. Opening a link does not use it up.

A script of both posts the token from the URL's fragment, so the token never reaches the server in a URL or header, and is in
no log. `/join`: people accept an invitation with a new account, by signing in on this page, or with their open session. A
password link lets its person choose a new password. Then the person's first page opens. `/setup`: makes the first admin, with
the URL that the server prints at its start, in a form that posts the token again with name, username and password. Then the
admin is signed in, and the page New dataset opens. Without a link, `/setup` explains where to find it, or that the server is
set up already.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotator.domain.errors import DatabaseUnavailable, StateError
from annotator.domain.people import (
    ROLE_NAMES,
    LinkOffer,
    LinkRefused,
    LocalAccountsOff,
    SignedIn,
    TooManyAttempts,
    WrongSignIn,
)
from annotator.people.credentials import AccountRefused, NewAccount
from annotator.people.invitations_service import (
    accept_invitation,
    choose_password,
    create_invited_account,
    look_at_link,
)
from annotator.people.second_factor.records import SecondFactorNeeded
from annotator.people.setup_service import (
    AlreadySetUp,
    check_setup_link,
    is_set_up,
    make_first_admin,
)
from annotator.people.sign_in_service import find_session, sign_in
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.auth import (
    PasswordPages,
    keep_signed_in,
    lead_to_second_factor,
    make_session_answer,
    read_form,
    send_file,
)
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.navigation import make_url
from annotator.web.people.second_factor_page import answer_second_factor
from annotator.web.plain_page import (
    PlainField,
    answer_page_with_script,
    draw_form,
    draw_link_opener,
    draw_other_way,
    fill_markup,
    list_account_fields,
    list_password_field,
)
from annotator.web.server.outage import RETRY_SECONDS, note_outage
from annotator.web.session import find_client_address, find_device, find_signed_in

JOIN = "/join"
ACCOUNT, ENTER, NEW, CREATE, ACCEPT, PASSWORD = "account", "enter", "new", "create", "accept", "password"

log = structlog.stdlib.get_logger("annotator.web")


def routes(database: Database, settings: Settings) -> list[Route]:
    join, setup = JoinPage(database, settings), SetupPage(database, settings)
    script = Path(__file__).parent / "one_time_link.js"
    return [
        Route("/setup", setup.show, methods=["GET"]),
        Route("/setup", setup.answer, methods=["POST"]),
        Route("/one-time-link.js", send_file(script, "text/javascript"), methods=["GET"]),
        Route(JOIN, join.show, methods=["GET"]),
        Route(JOIN, join.answer, methods=["POST"]),
    ]


class JoinPage(PasswordPages):
    async def show(self, _request: Request) -> Response:
        """Return the page that posts the token from the URL."""
        return _draw_without_link()

    async def answer(self, request: Request) -> Response:
        """Show the offer of the link, or handle its posted form."""
        typed = await read_form(request)
        address = find_client_address(request)
        try:
            return await self._answer(request, typed, address)
        except LinkRefused as error:
            log.warning("one-time link refused", address=address, why=str(error))
            return _draw_without_link(show_refusal(error), status=403)
        except TooManyAttempts as error:
            log.warning("one-time link limited", address=address, retry_seconds=error.seconds)
            return _draw_without_link(show_refusal(error), status=429, seconds=error.seconds)
        except StateError as error:
            return _draw_refusal(show_refusal(error))
        except DatabaseUnavailable as error:
            note_outage(error)
            message = tr("The database is unavailable. Try again in a moment.")
            return _draw_without_link(message, status=503, seconds=RETRY_SECONDS)

    async def _answer(self, request: Request, typed: Mapping[str, str], address: str) -> Response:
        now, person = datetime.now(UTC), find_signed_in(request)
        token, how = typed.get("token", ""), typed.get("how", "")
        if person is None and self.settings.local_accounts == "false":
            return _draw_sign_in_first()
        offer = await self.run(lambda: look_at_link(self.database, token, address=address, now=now))
        try:
            if how == PASSWORD and offer.role is None:
                return await self._enter(request, lambda: self._choose(typed, address, now), now=now)
            if how == CREATE and offer.role is not None:
                return await self._enter(request, lambda: self._create(typed, address, now), now=now)
            if how == ENTER and offer.role is not None:
                return await self._enter(request, lambda: self._sign_in(typed, request, now), now=now)
        except SecondFactorNeeded as needed:
            if how == ENTER:  # the token stays in the form and out of the URL
                return answer_second_factor(
                    self.database, needed, f"{JOIN}#{token}", request, self.settings, now=now
                )
            log.info("one-time link used", address=address)
            return lead_to_second_factor(needed, "/", request, self.settings)
        except AccountRefused as error:
            problems = {name: tr(problem) for name, problem in error.problems.items()}
            return _draw_offer(offer, typed, problems=problems, status=400)
        except WrongSignIn as error:
            return _draw_offer(
                offer, {**typed, "how": ACCOUNT}, problems={"password": show_refusal(error)}, status=401
            )
        if how == ACCEPT and person is not None and offer.role is not None:
            dataset = await self.run(
                lambda: accept_invitation(self.database, person.actor, token, address=address, now=now)
            )
            log.info("invitation accepted", address=address)
            return RedirectResponse(make_url("/", dataset=dataset), 303)
        return _draw_offer(offer, typed, person=None if how in (NEW, ACCOUNT) else person)

    async def _enter(
        self, request: Request, act: Callable[[], tuple[str, str | None]], *, now: datetime
    ) -> Response:
        """Call `act() -> (session token, dataset)`, sign the browser in, and redirect to the dataset."""

        def run() -> tuple[str, str | None, str]:
            token, dataset = act()
            return token, dataset, keep_signed_in(self.database, request, token, now=now)

        token, dataset, device = await self.run(run)
        log.info("one-time link used", address=find_client_address(request))
        return make_session_answer(make_url("/", dataset=dataset), token, device, request, self.settings)

    def _choose(self, typed: Mapping[str, str], address: str, now: datetime) -> tuple[str, None]:
        token, password, terms = (
            typed.get("token", ""),
            typed.get("password", ""),
            self.settings.sign_in_terms,
        )
        return choose_password(self.database, token, password, address=address, now=now, terms=terms), None

    def _create(self, typed: Mapping[str, str], address: str, now: datetime) -> tuple[str, str | None]:
        token, account, terms = typed.get("token", ""), _read_account(typed), self.settings.sign_in_terms
        return create_invited_account(self.database, token, account, address=address, now=now, terms=terms)

    def _sign_in(self, typed: Mapping[str, str], request: Request, now: datetime) -> tuple[str, str | None]:
        """Sign a person in and accept the invitation for them, unless they have such a role already."""
        address = find_client_address(request)
        session_token = sign_in(
            self.database,
            typed.get("username", ""),
            typed.get("password", ""),
            address=address,
            device=find_device(request),
            now=now,
            terms=self.settings.sign_in_terms,
        )
        person = find_session(self.database, session_token, now=now, required=self.settings.second_factor)
        if person is None:
            raise WrongSignIn
        try:
            token = typed.get("token", "")
            dataset = accept_invitation(self.database, person.actor, token, address=address, now=now)
        except StateError:
            dataset = None
        return session_token, dataset


def _read_account(typed: Mapping[str, str]) -> NewAccount:
    return NewAccount(typed.get("name", ""), typed.get("username", ""), typed.get("password", ""))


def _draw_without_link(message: str = "", *, status: int = 200, seconds: int = 0) -> Response:
    title = tr("Join by a one-time link")
    values = {
        "title": title,
        "message": message,
        "where": tr("Open the complete link that you received, including everything after the #."),
        "lost": tr("Ask the person who sent it for a new one if it was used or is too old."),
        "sign_in": tr("Sign in"),
    }
    body = fill_markup(
        '<h1>$title</h1><div role="alert">$message</div><p>$where</p><p class="lost">$lost</p><a href="/login">$sign_in</a>',
        values,
    )
    return answer_page_with_script(title, body + draw_link_opener(JOIN), status=status, seconds=seconds)


def _draw_refusal(message: str) -> Response:
    values = {"title": tr("You are invited"), "message": message, "go_on": tr("Continue")}
    body = fill_markup('<h1>$title</h1><div role="alert">$message</div><a href="/">$go_on</a>', values)
    return answer_page_with_script(values["title"], body, status=400)


def _draw_sign_in_first() -> Response:
    values = {
        "title": tr("You are invited"),
        "message": tr("Sign in first. Then open the link again."),
        "sign_in": tr("Sign in"),
    }
    body = fill_markup('<h1>$title</h1><p>$message</p><a href="/login">$sign_in</a>', values)
    return answer_page_with_script(values["title"], body, status=403)


def _draw_offer(
    offer: LinkOffer,
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    person: SignedIn | None = None,
    status: int = 200,
) -> Response:
    """Return the form of the link: a new password, or the offered role for this person, a new or an existing account."""
    token, problems = typed.get("token", ""), problems or {}
    if offer.username is not None:
        title, lead = tr("Choose a password"), tr("For the account {username}.", username=offer.username)
        forms = draw_form(
            JOIN, (list_password_field(),), tr("Save and sign in"), typed, problems, how=PASSWORD
        )
    elif person is not None:
        title, lead = tr("You are invited"), describe_offer(offer)
        forms = draw_other_way(
            JOIN, tr("Accept as {name}", name=person.name), token, how=ACCEPT, quiet=False
        ) + draw_other_way(JOIN, tr("Use another account"), token, how=ACCOUNT)
    elif typed.get("how") == ACCOUNT:
        title, lead = tr("You are invited"), describe_offer(offer)
        fields = (
            PlainField("username", tr("Username"), "username"),
            PlainField("password", tr("Password"), "current-password", is_password=True),
        )
        forms = draw_form(JOIN, fields, tr("Sign in and accept"), typed, problems, how=ENTER)
        forms += draw_other_way(JOIN, tr("Create a new account"), token, how=NEW)
    else:
        title, lead = tr("You are invited"), describe_offer(offer)
        forms = draw_form(JOIN, list_account_fields(), tr("Create account"), typed, problems, how=CREATE)
        forms += draw_other_way(JOIN, tr("I have an account already"), token, how=ACCOUNT)
    head = fill_markup('<h1>$title</h1><p class="lead">$lead</p>', {"title": title, "lead": lead})
    return answer_page_with_script(title, head + forms, status=status)


def describe_offer(offer: LinkOffer) -> str:
    """Return a sentence with inviter, dataset and role."""
    values = {"author": offer.author, "title": offer.title, "role": ROLE_NAMES.get(offer.role or "", "")}
    if offer.dataset is None:
        if offer.author is None:
            return tr("You can join all datasets as {role}.", role=values["role"])
        return tr("{author} invites you to all datasets as {role}.", **values)
    if offer.author is None:
        return tr("You can join the dataset {title} as {role}.", **values)
    return tr("{author} invites you to the dataset {title} as {role}.", **values)


FIRST_PAGE = "/new-dataset"


class SetupPage(PasswordPages):
    async def show(self, _request: Request) -> Response:
        """Return the page that posts the token from the URL, and explains where to find the URL."""
        if await to_thread.run_sync(lambda: is_set_up(self.database)):
            return _draw_set_up_already()
        return _draw_setup_start()

    async def answer(self, request: Request) -> Response:
        """Check the posted token and show the form, or make the admin from the posted form."""
        typed = await read_form(request)
        address, now = find_client_address(request), datetime.now(UTC)
        token = typed.get("token", "")
        try:
            if "username" not in typed:
                await self.run(lambda: check_setup_link(self.database, token, address=address, now=now))
                return _draw_setup_form({"token": token})
            session_token, device = await self.run(lambda: self._make_admin(typed, address, request, now))
        except SecondFactorNeeded as needed:
            log.info("first admin created", address=address)
            return lead_to_second_factor(needed, FIRST_PAGE, request, self.settings)
        except AlreadySetUp:
            log.info("setup refused", address=address, why="set up already")
            return _draw_set_up_already(status=409)
        except LocalAccountsOff as error:
            log.info("setup refused", address=address, why="local accounts are off")
            return _draw_setup_start(show_refusal(error), status=403)
        except LinkRefused as error:
            log.warning("setup refused", address=address, why=str(error))
            return _draw_setup_start(show_refusal(error), status=403)
        except TooManyAttempts as error:
            log.warning("setup limited", address=address, retry_seconds=error.seconds)
            return _draw_setup_start(show_refusal(error), status=429, seconds=error.seconds)
        except AccountRefused as error:
            problems = {name: tr(problem) for name, problem in error.problems.items()}
            return _draw_setup_form(typed, problems=problems, status=400)
        except DatabaseUnavailable as error:
            note_outage(error)
            message = tr("The database is unavailable. Try again in a moment.")
            return _draw_setup_form(typed, message=message, status=503, seconds=RETRY_SECONDS)
        log.info("first admin created", address=address)
        return make_session_answer(FIRST_PAGE, session_token, device, request, self.settings)

    def _make_admin(
        self, typed: dict[str, str], address: str, request: Request, now: datetime
    ) -> tuple[str, str]:
        """Return the tokens of the new session and of the browser, for their cookies."""
        token = make_first_admin(
            self.database,
            typed.get("token", ""),
            _read_account(typed),
            address=address,
            now=now,
            terms=self.settings.sign_in_terms,
        )
        return token, keep_signed_in(self.database, request, token, now=now)


def _draw_set_up_already(*, status: int = 200) -> Response:
    title = tr("Annotator is set up")
    body = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><a href="/login">$sign_in</a>',
        {
            "title": title,
            "lead": tr(
                "The first admin exists already. Sign in, or ask an admin of your team for an invitation."
            ),
            "sign_in": tr("Sign in"),
        },
    )
    return answer_page_with_script(title, body, status=status)


def _draw_setup_start(message: str = "", *, status: int = 200, seconds: int = 0) -> Response:
    title = tr("Set up Annotator")
    values = {
        "title": title,
        "message": message,
        "lead": tr("Nobody has an account yet. The first one is made with a one-time address."),
        "where": tr(
            "The server printed the address when it started. Copy all of it, including everything after the #."
        ),
        "lost": tr("Lost, or older than a day? Restart the server: it prints a new one."),
    }
    body = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><div role="alert">$message</div><p>$where</p><p class="lost">$lost</p>',
        values,
    )
    return answer_page_with_script(title, body + draw_link_opener("/setup"), status=status, seconds=seconds)


def _draw_setup_form(
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    message: str = "",
    status: int = 200,
    seconds: int = 0,
) -> Response:
    title = tr("Set up Annotator")
    lead = tr("Create the first account. It is an admin of everything: it makes datasets and invites others.")
    head = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><div role="alert">$message</div>',
        {"title": title, "lead": lead, "message": message},
    )
    form = draw_form("/setup", list_account_fields(), tr("Create account"), typed, problems or {})
    return answer_page_with_script(title, head + form, status=status, seconds=seconds)
