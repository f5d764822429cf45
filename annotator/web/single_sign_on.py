"""Sign in by the organisation's OpenID Connect provider: `/oidc/sign-in` opens it, `/oidc/callback` returns.

Every failure redirects to `/login`, which explains the next step: code and state do not stay in the URL, and
the provider's answer is in no page or log. The browser must send the cookie of a sign-in that it began
itself, so another site cannot sign a person in as someone else.
"""

from datetime import UTC, datetime
from math import ceil

import structlog
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator.domain.errors import DatabaseUnavailable, ValidationError
from annotator.people.sign_in_limits import group_address
from annotator.people.single_sign_on.provider import Provider
from annotator.people.single_sign_on.records import (
    ProviderSettings,
    SingleSignOnRefused,
    check_provider_settings,
    read_group_roles,
)
from annotator.people.single_sign_on.service import (
    begin_single_sign_on,
    end_sessions_of_provider,
    finish_single_sign_on,
)
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.auth import end_sessions, read_form
from annotator.web.kit.messages import tr
from annotator.web.plain_page import answer_page, fill_markup
from annotator.web.server.figures import note_sign_in
from annotator.web.server.outage import note_outage
from annotator.web.server.spending import Allowance, Spending
from annotator.web.session import (
    choose_local_path,
    comes_from_here,
    find_begun,
    find_client_address,
    find_own_address,
    find_signed_in,
    set_begun_cookie,
    set_cookie,
)

CALLBACK = "/oidc/callback"
BACK_CHANNEL_LOGOUT = "/oidc/back-channel-logout"
AT_ONCE = 8  # simultaneous sign-ins that wait for the provider
LOGOUTS_AT_ONCE = 2  # simultaneous checks of the provider's notices; strangers can send some too
BEGUN = Allowance(at_once=500, per_second=2.0)
"""Sign-ins that one address may begin, in one process: 1,700 in REQUEST_LIFETIME, far fewer than are kept for all together."""

log = structlog.stdlib.get_logger("annotator.web")


def make_provider(settings: Settings) -> Provider | None:
    """Return the provider of the settings, or None.

    Raises ValidationError for incomplete settings, or if no way to sign in would remain.
    """
    if not settings.oidc_issuer:
        if settings.local_accounts != "true":
            raise ValidationError(
                "ANNOTATOR_LOCAL_ACCOUNTS: expected true as long as ANNOTATOR_OIDC_ISSUER is empty: nobody else could sign in"
            )
        return None
    secret = settings.oidc_client_secret
    if settings.oidc_client_secret_file is not None:
        try:
            secret = settings.oidc_client_secret_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ValidationError(f"ANNOTATOR_OIDC_CLIENT_SECRET_FILE: {error}") from None
    roles_file = settings.oidc_roles_file
    return Provider(
        check_provider_settings(
            ProviderSettings(
                issuer=settings.oidc_issuer,
                client_id=settings.oidc_client_id,
                client_secret=secret,
                name=settings.oidc_name,
                scopes=tuple(settings.oidc_scopes.split()),
                groups_claim=settings.oidc_groups_claim,
                username_claim=settings.oidc_username_claim,
                roles=read_group_roles(roles_file) if roles_file is not None else {},
            )
        )
    )


def routes(database: Database, settings: Settings, provider: Provider | None) -> list[Route]:
    """Return the routes; none without a provider."""
    if provider is None:
        return []
    door = SingleSignOnRoutes(database, settings, provider)
    return [
        Route("/oidc/sign-in", door.begin, methods=["GET"]),
        Route(CALLBACK, door.finish, methods=["GET"]),
        *(
            [Route(BACK_CHANNEL_LOGOUT, door.end_sessions, methods=["POST"])]
            if settings.oidc_back_channel_logout
            else []
        ),
    ]


class SingleSignOnRoutes:
    def __init__(self, database: Database, settings: Settings, provider: Provider) -> None:
        self.database, self.settings, self.provider = database, settings, provider
        self.limiter, self.logout_limiter = CapacityLimiter(AT_ONCE), CapacityLimiter(LOGOUTS_AT_ONCE)
        self.begun = Spending()  # by address

    async def begin(self, request: Request) -> Response:
        """Redirect to the provider. Only a page of this server, or a bookmark, may begin a sign-in."""
        wanted = choose_local_path(request.query_params.get("next"))
        if find_signed_in(request) is not None:
            return RedirectResponse(wanted, 303)
        if not comes_from_here(request):
            return RedirectResponse("/login", 303)
        address_group = group_address(request.client.host) if request.client else ""
        seconds = self.begun.find_wait(address_group, BEGUN)
        if seconds > 0:
            return _draw_limited(request, seconds)
        self.begun.spend(address_group, 1, BEGUN)
        redirect_uri = find_own_address(request, self.settings) + CALLBACK
        now = datetime.now(UTC)
        try:
            address, token = await to_thread.run_sync(
                lambda: begin_single_sign_on(
                    self.database, self.provider, redirect_uri=redirect_uri, wanted=wanted, now=now
                ),
                limiter=self.limiter,
            )
        except SingleSignOnRefused as error:
            return self._refuse(request, error)
        except DatabaseUnavailable as error:
            note_outage(error)
            return RedirectResponse("/login?problem=unavailable", 303)
        response = RedirectResponse(address, 303)
        set_begun_cookie(response, token, request, self.settings)
        return response

    async def finish(self, request: Request) -> Response:
        """Sign in the person from the provider's answer, and redirect to the page they asked for."""
        answer, token, now = dict(request.query_params), find_begun(request), datetime.now(UTC)
        lifetime = self.settings.sign_in_terms.lifetime
        try:
            session_token, wanted = await to_thread.run_sync(
                lambda: finish_single_sign_on(
                    self.database, self.provider, answer, token=token, now=now, lifetime=lifetime
                ),
                limiter=self.limiter,
            )
            await to_thread.run_sync(lambda: end_sessions(self.database, request, now=now))
        except SingleSignOnRefused as error:
            return self._refuse(request, error)
        except DatabaseUnavailable as error:
            note_sign_in("unavailable", by="provider")
            note_outage(error)
            return RedirectResponse("/login?problem=unavailable", 303)
        note_sign_in("signed in", by="provider")
        response = RedirectResponse(wanted, 303)
        set_cookie(response, session_token, request, self.settings)
        set_begun_cookie(response, "", request, self.settings)
        return response

    async def end_sessions(self, request: Request) -> Response:
        """End the sessions of the provider's logout token: 200, or 400 if it is invalid.

        The provider's server sends it without a cookie; the token's signature authenticates it.
        """
        token = (await read_form(request)).get("logout_token", "")
        try:
            ended = await to_thread.run_sync(
                lambda: end_sessions_of_provider(self.database, self.provider, token, now=datetime.now(UTC)),
                limiter=self.logout_limiter,
            )
        except SingleSignOnRefused as error:
            address = find_client_address(request)
            log.warning("back-channel logout refused", address=address, refusal=error.refusal, why=error.why)
            if error.refusal == "unavailable":
                return JSONResponse({"error": "temporarily_unavailable"}, 503)
            return JSONResponse({"error": "invalid_request"}, 400)
        log.info("sessions ended by the provider", sessions=ended)
        return Response(status_code=200)

    def _refuse(self, request: Request, error: SingleSignOnRefused) -> Response:
        address = find_client_address(request)
        note_sign_in("refused", by="provider")
        log.warning("single sign-on refused", address=address, refusal=error.refusal, why=error.why)
        response = RedirectResponse(f"/login?sso={error.refusal}", 303)
        set_begun_cookie(response, "", request, self.settings)
        return response


def _draw_limited(request: Request, seconds: float) -> Response:
    note_sign_in("limited", by="provider")
    log.warning("single sign-on limited", address=find_client_address(request))
    title = tr("Sign in")
    said = tr("Too many sign-ins were begun from your network. Wait a minute, then try again.")
    body = fill_markup(
        '<h1>$title</h1><p class="lead" role="alert">$said</p><p class="lead"><a href="/login">$back</a></p>',
        {"title": title, "said": said, "back": tr("Back")},
    )
    return answer_page(title, body, status=429, seconds=ceil(seconds))
