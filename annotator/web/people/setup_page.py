"""The page `/setup`: make the first admin, with the one-time URL that the server prints at its start.

`GET /setup` explains where to find the URL, or that the server is set up already. Its script posts the token
from the URL's fragment. The answer is a form that posts the token again with name, username and password.
Then the admin is signed in, and the page New dataset opens. The token never reaches the server in a URL or
header, and is in no log.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.people import LinkRefused, LocalAccountsOff, TooManyAttempts
from annotator.people.credentials import AccountRefused, NewAccount
from annotator.people.second_factor.records import SecondFactorNeeded
from annotator.people.setup_service import (
    AlreadySetUp,
    check_setup_link,
    is_set_up,
    make_first_admin,
)
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
from annotator.web.plain_page import (
    answer_page_with_script,
    draw_form,
    draw_link_opener,
    fill_markup,
    list_account_fields,
)
from annotator.web.server.outage import RETRY_SECONDS, note_outage
from annotator.web.session import find_client_address

FIRST_PAGE = "/new-dataset"

log = structlog.stdlib.get_logger("annotator.web")


def routes(database: Database, settings: Settings) -> list[Route]:
    page = SetupPage(database, settings)
    script = Path(__file__).parent / "one_time_link.js"
    return [
        Route("/setup", page.show, methods=["GET"]),
        Route("/setup", page.answer, methods=["POST"]),
        Route("/one-time-link.js", send_file(script, "text/javascript"), methods=["GET"]),
    ]


class SetupPage(PasswordPages):
    async def show(self, _request: Request) -> Response:
        """Return the page that posts the token from the URL, and explains where to find the URL."""
        if await to_thread.run_sync(lambda: is_set_up(self.database)):
            return _draw_done()
        return _draw_without_link()

    async def answer(self, request: Request) -> Response:
        """Check the posted token and show the form, or make the admin from the posted form."""
        typed = await read_form(request)
        address, now = find_client_address(request), datetime.now(UTC)
        token = typed.get("token", "")
        try:
            if "username" not in typed:
                await self.run(lambda: check_setup_link(self.database, token, address=address, now=now))
                return _draw_form({"token": token})
            session_token, device = await self.run(lambda: self._make_admin(typed, address, request, now))
        except SecondFactorNeeded as needed:
            log.info("first admin created", address=address)
            return lead_to_second_factor(needed, FIRST_PAGE, request, self.settings)
        except AlreadySetUp:
            log.info("setup refused", address=address, why="set up already")
            return _draw_done(status=409)
        except LocalAccountsOff as error:
            log.info("setup refused", address=address, why="local accounts are off")
            return _draw_without_link(show_refusal(error), status=403)
        except LinkRefused as error:
            log.warning("setup refused", address=address, why=str(error))
            return _draw_without_link(show_refusal(error), status=403)
        except TooManyAttempts as error:
            log.warning("setup limited", address=address, retry_seconds=error.seconds)
            return _draw_without_link(show_refusal(error), status=429, seconds=error.seconds)
        except AccountRefused as error:
            problems = {name: tr(problem) for name, problem in error.problems.items()}
            return _draw_form(typed, problems=problems, status=400)
        except DatabaseUnavailable as error:
            note_outage(error)
            message = tr("The database is unavailable. Try again in a moment.")
            return _draw_form(typed, message=message, status=503, seconds=RETRY_SECONDS)
        log.info("first admin created", address=address)
        return make_session_answer(FIRST_PAGE, session_token, device, request, self.settings)

    def _make_admin(
        self, typed: dict[str, str], address: str, request: Request, now: datetime
    ) -> tuple[str, str]:
        """Return the tokens of the new session and of the browser, for their cookies."""
        account = NewAccount(
            name=typed.get("name", ""), username=typed["username"], password=typed.get("password", "")
        )
        token = make_first_admin(
            self.database,
            typed.get("token", ""),
            account,
            address=address,
            now=now,
            terms=self.settings.sign_in_terms,
        )
        return token, keep_signed_in(self.database, request, token, now=now)


def _draw_done(*, status: int = 200) -> Response:
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


def _draw_without_link(message: str = "", *, status: int = 200, seconds: int = 0) -> Response:
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


def _draw_form(
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
