"""Sign in and out: `/login` and `/logout`, plain HTML forms that work without a script.

With an OpenID Connect provider the page also links there, or only there (`single_sign_on.py`). `POST /login`
opens a new session, ends an earlier session of the same browser, and sets the cookie. A wrong name and a
wrong password get the same answer (401), too many attempts 429 with Retry-After.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import structlog
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.people import LocalAccounts, LocalAccountsOff, TooManyAttempts, WrongSignIn
from annotator.people.second_factor.records import SecondFactorNeeded
from annotator.people.setup_service import is_set_up
from annotator.people.sign_in_service import find_session, know_device, sign_in, sign_out
from annotator.people.single_sign_on.provider import Provider
from annotator.people.single_sign_on.records import REFUSALS
from annotator.people.single_sign_on.service import make_provider_sign_out
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.kit.messages import tr
from annotator.web.navigation import find_home
from annotator.web.plain_page import answer_page, answer_page_with_script, draw_show_password, fill_markup
from annotator.web.server.admission import choose_next
from annotator.web.server.figures import note_sign_in
from annotator.web.server.outage import RETRY_SECONDS, note_outage
from annotator.web.server.start_page import prepare_pages
from annotator.web.session import (
    choose_local_path,
    clear_cookie,
    find_client_address,
    find_device,
    find_half,
    find_own_address,
    find_signed_in,
    find_token,
    list_tokens,
    set_cookie,
    set_device_cookie,
    set_half_cookie,
)

HERE = Path(__file__).parent
LARGEST_FORM = 20_000  # bytes
Done = TypeVar("Done")
AT_ONCE = 2  # password checks at the same time: each takes 32 MiB and a core

log = structlog.stdlib.get_logger("annotator.web")


def routes(database: Database, settings: Settings, provider: Provider | None = None) -> list[Route]:
    """Return the routes `/login` and `/logout`, and the style and icon of their pages."""
    door = SignInRoutes(database, settings, provider)
    return [
        Route("/login", door.show_form, methods=["GET"]),
        Route("/login", door.sign_in, methods=["POST"]),
        Route("/logout", door.ask, methods=["GET"]),
        Route("/logout", door.sign_out, methods=["POST"]),
        Route("/login.css", send_file(HERE / "login.css", "text/css"), methods=["GET"]),
        Route("/open-again.js", send_file(HERE / "open_again.js", "text/javascript"), methods=["GET"]),
        Route(
            "/favicon.png", send_file(HERE / "icon.svg", "image/svg+xml"), methods=["GET"]
        ),  # the name Streamlit's page uses
    ]


class PasswordPages:
    """What the handlers share that check passwords or codes."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database, self.settings = database, settings
        self.limiter = CapacityLimiter(AT_ONCE)

    async def run(self, act: Callable[[], Done]) -> Done:
        """Call `act` in a thread, AT_ONCE at a time."""
        return await to_thread.run_sync(act, limiter=self.limiter)


class SignInRoutes(PasswordPages):
    def __init__(self, database: Database, settings: Settings, provider: Provider | None) -> None:
        super().__init__(database, settings)
        self.provider = provider
        self.set_up = False

    async def show_form(self, request: Request) -> Response:
        """Return the form. Redirects signed-in people, and everyone to `/setup` before the first account exists."""
        next_path = choose_next(request)
        if find_signed_in(request) is not None:
            return RedirectResponse(next_path, 303)
        if self.provider is None and not await self._is_set_up():
            return RedirectResponse("/setup", 303)
        is_database_away = request.query_params.get("problem") == "unavailable"
        problem = "database" if is_database_away else request.query_params.get("sso", "")
        return self._draw(next_path=next_path, problem=problem)

    async def _is_set_up(self) -> bool:
        """Return whether anyone can sign in. Stays true once true; also true while the database is unavailable."""
        if not self.set_up:
            try:
                self.set_up = await to_thread.run_sync(lambda: is_set_up(self.database))
            except DatabaseUnavailable as error:
                note_outage(error)
                return True
        return self.set_up

    async def sign_in(self, request: Request) -> Response:
        if self.settings.local_accounts == "false":
            return self._draw(problem="local", status=403)
        if int(request.headers.get("content-length", LARGEST_FORM + 1)) > LARGEST_FORM:
            return self._draw(problem="wrong", status=413)
        typed = await read_form(request)
        username, password = typed.get("username", ""), typed.get("password", "")
        next_path = choose_local_path(typed.get("next", ""))
        address = find_client_address(request)
        try:
            token, device = await self.run(lambda: self._check(username, password, address, request))
        except SecondFactorNeeded as needed:
            return lead_to_second_factor(needed, next_path, request, self.settings)
        except WrongSignIn:
            note_sign_in("wrong")
            log.info("sign-in refused", address=address)
            return self._draw(problem="wrong", next_path=next_path, username=username, status=401)
        except LocalAccountsOff:
            log.info("sign-in refused", address=address, why="local accounts are off")
            return self._draw(problem="local", next_path=next_path, status=403)
        except TooManyAttempts as error:
            note_sign_in("limited")
            log.warning("sign-in limited", address=address, retry_seconds=error.seconds)
            return self._draw(
                problem="limited",
                next_path=next_path,
                username=username,
                status=429,
                seconds=error.seconds,
            )
        except DatabaseUnavailable as error:
            note_sign_in("unavailable")
            note_outage(error)
            return self._draw(
                problem="database", next_path=next_path, username=username, status=503, seconds=RETRY_SECONDS
            )
        note_sign_in("signed in")
        if next_path == "/":
            next_path = await to_thread.run_sync(lambda: find_first_page(self.database, token, self.settings))
        return make_session_answer(next_path, token, device, request, self.settings)

    async def ask(self, request: Request) -> Response:
        """Return a page with the sign-out button, which sends a POST."""
        if find_signed_in(request) is None:
            return RedirectResponse("/login", 303)
        text = {
            "sign_out": tr("Sign out"),
            "question": tr("Sign out of this browser?"),
            "stay": tr("Back"),
        }
        body = fill_markup(
            '<h1>$sign_out</h1><p class="lead">$question</p>'
            '<form method="post" action="/logout"><button type="submit">$sign_out</button></form><a href="/">$stay</a>',
            text,
        )
        return answer_page(text["sign_out"], body)

    async def sign_out(self, request: Request) -> Response:
        """End this browser's session, and also the provider's session if the sign-in used the provider."""
        at_provider = await to_thread.run_sync(lambda: self._find_provider_sign_out(request))
        await to_thread.run_sync(lambda: end_sessions(self.database, request, now=datetime.now(UTC)))
        response = RedirectResponse("/login", 303) if at_provider is None else _draw_signed_out(at_provider)
        clear_cookie(response, request, self.settings)
        return response

    def _check(self, username: str, password: str, address: str, request: Request) -> tuple[str, str]:
        """Return the tokens of the new session and of the browser, for their cookies."""
        device, terms, now = find_device(request), self.settings.sign_in_terms, datetime.now(UTC)
        token = sign_in(
            self.database, username, password, address=address, device=device, now=now, terms=terms
        )
        return token, keep_signed_in(self.database, request, token, now=now)

    def _find_provider_sign_out(self, request: Request) -> str | None:
        if self.provider is None:
            return None
        back = find_own_address(request, self.settings) + "/login"
        token = find_token(request)
        return make_provider_sign_out(self.database, self.provider, token, back=back)

    def _draw(self, **values: Any) -> Response:
        name = None if self.provider is None else self.provider.settings.name
        return _draw_form(provider=name, local_accounts=self.settings.local_accounts, **values)


def end_sessions(database: Database, request: Request, *, now: datetime) -> None:
    """End all sessions whose tokens the browser sends."""
    for token in list_tokens(request):
        sign_out(database, token, now=now)


def keep_signed_in(database: Database, request: Request, token: str, *, now: datetime) -> str:
    """End the browser's earlier sessions, and return the new token by which the form recognizes the browser."""
    end_sessions(database, request, now=now)
    return know_device(database, token, device=find_device(request), now=now)


def find_first_page(database: Database, token: str, settings: Settings) -> str:
    """Return the URL to which `/` would redirect, which saves a request; "/" if the database is unavailable.

    The sign-in itself stays valid then.
    """
    try:
        person = find_session(database, token, now=datetime.now(UTC), required=settings.second_factor)
        if person is None:
            return "/"
        prepare_pages(person)
        return find_home(database, person)
    except DatabaseUnavailable as error:
        note_outage(error)
        return "/"


def lead_to_second_factor(
    needed: SecondFactorNeeded, next_path: str, request: Request, settings: Settings
) -> Response:
    """Return the redirect to the page for the second factor, which then opens `next_path`."""
    query = "" if next_path == "/" else f"?next={quote(next_path, safe='/')}"
    response = RedirectResponse(f"/login/{needed.need}{query}", 303)
    set_half_cookie(response, needed.token, request, settings)
    return response


def make_session_answer(
    next_path: str, token: str, device: str, request: Request, settings: Settings
) -> Response:
    """Return the redirect to `next_path` that sets both cookies."""
    response = RedirectResponse(next_path, 303)
    set_cookie(response, token, request, settings)
    set_device_cookie(response, device, request, settings)
    if find_half(request) is not None:
        set_half_cookie(response, "", request, settings)
    return response


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a posted form without files."""
    async with request.form(max_files=0, max_fields=10) as form:
        return {name: str(value) for name, value in form.items()}


def send_file(path: Path, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler that sends one of the program's own files."""

    async def send(_request: Request) -> Response:
        return FileResponse(path, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return send


def _draw_signed_out(address: str) -> Response:
    """Return the page that opens the provider. Browsers refuse a redirect of a form to another server."""
    values = {
        "title": tr("You are signed out."),
        "lead": tr("Your organisation's sign-in is ended too."),
        "go_on": tr("Continue"),
        "address": address,
    }
    body = fill_markup(
        '<meta http-equiv="refresh" content="0; url=$address"><h1>$title</h1><p class="lead">$lead</p><a href="$address">$go_on</a>',
        values,
    )
    return answer_page(values["title"], body)


def _draw_form(
    *,
    provider: str | None,
    local_accounts: LocalAccounts,
    next_path: str = "/",
    username: str = "",
    problem: str = "",
    status: int = 200,
    seconds: int = 0,
) -> Response:
    forms = [] if provider is None else [_draw_way_to_provider(provider, next_path)]
    if local_accounts != "false":
        forms.append(_draw_password_form(next_path, username))
    lost = tr("No account, or forgot your password? Ask the admin of your dataset.")
    values = {
        "sign_in": tr("Sign in"),
        "lead": tr("From a pool of candidates to a ground truth you can defend."),
        "message": _describe_problem(problem, seconds),
        "lost": lost if local_accounts == "true" else "",
    }
    body = fill_markup(
        '<h1>$sign_in</h1><p class="lead">$lead</p><div role="alert" id="problem">$message</div>$forms<p class="lost">$lost</p>',
        values,
        forms="".join(forms),
    )
    return answer_page_with_script(values["sign_in"], body, status=status, seconds=seconds)


def _draw_way_to_provider(name: str, next_path: str) -> str:
    label = tr("Sign in with {name}", name=name) if name else tr("Sign in with your organisation")
    address = "/oidc/sign-in" if next_path == "/" else f"/oidc/sign-in?next={quote(next_path, safe='/')}"
    return fill_markup('<a class="provider" href="$address">$label</a>', {"address": address, "label": label})


def _draw_password_form(next_path: str, username: str) -> str:
    values = {
        "sign_in": tr("Sign in"),
        "username": tr("Username"),
        "password": tr("Password"),
        "next_path": next_path,
        "name": username[:200],
    }
    return fill_markup(
        '<form method="post" action="/login"><input type="hidden" name="next" value="$next_path">'
        '<label for="username">$username</label><input id="username" name="username" value="$name" required '
        'autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" '
        'aria-describedby="problem"$focus_name>'
        '<label for="password">$password</label><input id="password" name="password" type="password" required '
        'autocomplete="current-password" aria-describedby="problem"$focus_password>$shows'
        '<button type="submit">$sign_in</button></form>',
        values,
        focus_name="" if username else " autofocus",
        focus_password=" autofocus" if username else "",
        shows=draw_show_password(),
    )


def _describe_problem(problem: str, seconds: int) -> str:
    if problem == "limited":
        return tr("Too many failed attempts. Try again in {minutes} min.", minutes=-(-seconds // 60))
    if problem == "database":
        return tr("The database is unavailable. Try again in a moment.")
    if problem == "local":
        return tr("People sign in by their organisation here, not with a password.")
    refusal = next((text for name, text in REFUSALS.items() if name == problem), None)
    if refusal is not None:
        return tr(refusal)
    return tr("The username or the password is wrong.") if problem == "wrong" else ""
