"""The pages `/login/code` and `/login/set-up`: the second factor, between the password and the session.

`/login/code` asks for a code of the authenticator app, or a recovery code. `/login/set-up` shows the key of a
new second factor as a QR code and as text, checks a first code from the app, and then shows the recovery
codes, once. A signed-in person must first enter the password (and a code of the current second factor). Plain
HTML forms that work without a script.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotator.domain.errors import DatabaseUnavailable, NotAllowed, StateError
from annotator.domain.people import SignedIn, TooManyAttempts, WrongSignIn
from annotator.people.second_factor.codes import derive_secret, make_provisioning_uri, read_sealing_key
from annotator.people.second_factor.records import (
    HalfSignIn,
    SecondFactorNeeded,
    SignInExpired,
    WrongCode,
)
from annotator.people.second_factor.service import (
    begin_set_up,
    decline_second_factor,
    finish_sign_in,
    look_at_half_sign_in,
    set_up_second_factor,
    show_second_factor,
)
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.auth import (
    Done,
    PasswordPages,
    find_first_page,
    keep_signed_in,
    make_session_answer,
    read_form,
)
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.plain_page import answer_page, fill_markup
from annotator.web.server.admission import choose_next
from annotator.web.server.figures import note_sign_in
from annotator.web.server.outage import RETRY_SECONDS, note_outage
from annotator.web.session import (
    choose_local_path,
    find_client_address,
    find_device,
    find_half,
    find_signed_in,
    set_half_cookie,
)

CODE, SET_UP = "/login/code", "/login/set-up"

log = structlog.stdlib.get_logger("annotator.web")


class FormProblem(NamedTuple):
    """What a form says about the last try. `seconds`: value of Retry-After, 0 for none."""

    words: str = ""
    status: int = 200
    seconds: int = 0


NO_PROBLEM = FormProblem()


def routes(database: Database, settings: Settings) -> list[Route]:
    page = SecondFactorPages(database, settings)
    return [
        Route(CODE, page.show_code, methods=["GET"]),
        Route(CODE, page.check_code, methods=["POST"]),
        Route(SET_UP, page.show_set_up, methods=["GET"]),
        Route(SET_UP, page.set_up, methods=["POST"]),
    ]


class SecondFactorPages(PasswordPages):
    def __init__(self, database: Database, settings: Settings) -> None:
        super().__init__(database, settings)
        self.key = read_sealing_key(settings.second_factor_key_file)

    async def show_code(self, request: Request) -> Response:
        """Return the form for the code; redirect if no sign-in waits for a code."""
        next_path, half = choose_next(request), await self._find_half(request)
        if half is None or half.need != "code":
            return RedirectResponse(next_path if find_signed_in(request) is not None else "/login", 303)
        return draw_code_form(next_path, recovery="recovery" in request.query_params)

    async def check_code(self, request: Request) -> Response:
        """Check the code; 303 with the session's cookie, or the form again with the reason."""
        typed = await read_form(request)
        next_path, recovery = choose_local_path(typed.get("next")), bool(typed.get("recovery"))

        def finish(now: datetime, address: str) -> tuple[str, str, str]:
            token = finish_sign_in(
                self.database,
                find_half(request),
                typed.get("code", ""),
                address=address,
                device=find_device(request),
                now=now,
                lifetime=self.settings.sign_in_terms.lifetime,
                key=self.key,
            )
            return self._keep(request, token, next_path, now)

        try:
            token, device, first = await self._run(request, finish)
        except SignInExpired:
            return RedirectResponse("/login", 303)
        except (NotAllowed, StateError, DatabaseUnavailable) as error:
            return draw_code_form(next_path, recovery=recovery, problem=_explain(error, request))
        note_sign_in("signed in")
        return make_session_answer(first, token, device, request, self.settings)

    async def show_set_up(self, request: Request) -> Response:
        """Return the key and the form for its first code. A signed-in person must enter the password first."""
        next_path = choose_next(request)
        half, token = await self._find_half(request), find_half(request)
        if half is not None and half.need == "set-up" and token:
            return draw_set_up_form(half, token, next_path)
        person = find_signed_in(request)
        if person is None:
            return RedirectResponse("/login", 303)
        return await self._draw_proof(person)

    async def set_up(self, request: Request) -> Response:
        typed = await read_form(request)
        next_path, step = choose_local_path(typed.get("next")), typed.get("step", "")
        if step == "prove":
            return await self._prove(request, typed.get("password", ""), typed.get("code", ""))
        half, token = await self._find_half(request), find_half(request)
        if half is None or half.need != "set-up" or not token:
            return RedirectResponse("/login", 303)
        if step == "decline":
            return await self._decline(request, half, token, next_path)
        return await self._confirm(request, half, token, typed.get("code", ""), next_path)

    async def _confirm(
        self, request: Request, half: HalfSignIn, token: str, code: str, next_path: str
    ) -> Response:
        def confirm(now: datetime, address: str) -> tuple[tuple[str, ...], tuple[str, str, str]]:
            made = set_up_second_factor(
                self.database,
                token,
                code,
                address=address,
                device=find_device(request),
                now=now,
                lifetime=self.settings.sign_in_terms.lifetime,
                key=self.key,
            )
            return made.recovery_codes, self._keep(request, made.token, next_path, now)

        try:
            recovery_codes, (session_token, device, first) = await self._run(request, confirm)
        except SignInExpired:
            return RedirectResponse("/login", 303)
        except (NotAllowed, StateError, DatabaseUnavailable) as error:
            return draw_set_up_form(half, token, next_path, _explain(error, request))
        note_sign_in("signed in")
        answer = make_session_answer(first, session_token, device, request, self.settings)
        page = _draw_recovery_codes(recovery_codes, first)
        page.raw_headers.extend(item for item in answer.raw_headers if item[0] == b"set-cookie")
        return page

    async def _decline(self, request: Request, half: HalfSignIn, token: str, next_path: str) -> Response:
        def decline(now: datetime, _address: str) -> tuple[str, str, str]:
            required = self.settings.second_factor
            opened = decline_second_factor(
                self.database,
                token,
                now=now,
                required=required,
                lifetime=self.settings.sign_in_terms.lifetime,
            )
            return self._keep(request, opened, next_path, now)

        try:
            session_token, device, first = await self._run(request, decline)
        except SignInExpired:
            return RedirectResponse("/login", 303)
        except (StateError, DatabaseUnavailable) as error:
            return draw_set_up_form(half, token, next_path, _explain(error, request))
        note_sign_in("signed in")
        return make_session_answer(first, session_token, device, request, self.settings)

    async def _prove(self, request: Request, password: str, code: str) -> Response:
        person = find_signed_in(request)
        if person is None:
            return RedirectResponse("/login", 303)

        def begin(now: datetime, _address: str) -> str:
            return begin_set_up(self.database, person.actor, password, code, now=now, key=self.key)

        try:
            token = await self._run(request, begin)
        except (NotAllowed, StateError, DatabaseUnavailable) as error:
            return await self._draw_proof(person, _explain(error, request))
        response = RedirectResponse(f"{SET_UP}?next=/account", 303)
        set_half_cookie(response, token, request, self.settings)
        return response

    async def _draw_proof(self, person: SignedIn, problem: FormProblem = NO_PROBLEM) -> Response:
        if person.by_provider:
            return RedirectResponse("/account", 303)
        required = self.settings.second_factor
        state = await to_thread.run_sync(
            lambda: show_second_factor(self.database, person.actor, required=required)
        )
        return _draw_proof_form(person, problem, asks_code=state.since is not None)

    async def _find_half(self, request: Request) -> HalfSignIn | None:
        now, required = datetime.now(UTC), self.settings.second_factor
        return await to_thread.run_sync(
            lambda: look_at_half_sign_in(self.database, find_half(request), now=now, required=required)
        )

    async def _run(self, request: Request, act: Callable[[datetime, str], Done]) -> Done:
        address = find_client_address(request)
        return await self.run(lambda: act(datetime.now(UTC), address))

    def _keep(self, request: Request, token: str, next_path: str, now: datetime) -> tuple[str, str, str]:
        """Return (session token, browser token, next path)."""
        device = keep_signed_in(self.database, request, token, now=now)
        first = find_first_page(self.database, token, self.settings) if next_path == "/" else next_path
        return token, device, first


def answer_second_factor(
    database: Database,
    needed: SecondFactorNeeded,
    next_path: str,
    request: Request,
    settings: Settings,
    *,
    now: datetime,
) -> Response:
    """Return the page for the second factor without a redirect, because the next path must not be in a URL."""
    if needed.need == "code":
        response = draw_code_form(next_path)
    else:
        half = look_at_half_sign_in(database, needed.token, now=now, required=settings.second_factor)
        if half is None:
            return RedirectResponse("/login", 303)
        response = draw_set_up_form(half, needed.token, next_path)
    set_half_cookie(response, needed.token, request, settings)
    return response


def _explain(error: Exception, request: Request) -> FormProblem:
    """Log the error, and return what the form says about it."""
    address = find_client_address(request)
    if isinstance(error, DatabaseUnavailable):
        note_sign_in("unavailable")
        note_outage(error)
        words = tr("The database is unavailable. Try again in a moment.")
        return FormProblem(words, 503, RETRY_SECONDS)
    if isinstance(error, TooManyAttempts):
        note_sign_in("limited")
        log.warning("second factor limited", address=address, retry_seconds=error.seconds)
        minutes = -(-error.seconds // 60)
        words = tr("Too many failed attempts. Try again in {minutes} min.", minutes=minutes)
        return FormProblem(words, 429, error.seconds)
    if isinstance(error, WrongCode | WrongSignIn):
        note_sign_in("wrong")
        log.info("second factor refused", address=address)
        if isinstance(error, WrongSignIn):
            return FormProblem(tr("The current password is wrong."), 401)
        words = tr("The code is wrong, or it was used already. Wait for the next one and type that.")
        return FormProblem(words, 401)
    return FormProblem(show_refusal(error), 400)


def draw_code_form(next_path: str, *, recovery: bool = False, problem: FormProblem = NO_PROBLEM) -> Response:
    title = tr("Enter a recovery code") if recovery else tr("Enter the code")
    further = "" if recovery else "&recovery=1"
    other = CODE + "?" + urlencode({"next": next_path.partition("#")[0]}, safe="/") + further
    values = {
        "title": title,
        "lead": tr("Each of your recovery codes works once.")
        if recovery
        else tr("Open your authenticator app. It shows a code of 6 digits for Annotator."),
        "label": tr("Recovery code") if recovery else tr("Code"),
        "button": tr("Sign in"),
        "other": tr("Use the authenticator app") if recovery else tr("Use a recovery code"),
        "other_address": other,
        "again": tr("Sign in as somebody else"),
        "lost": tr("Lost your phone and your recovery codes? Ask an admin."),
        "next_path": next_path,
        "recovery": "1" if recovery else "",
        "problem": problem.words,
    }
    body = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><div role="alert" id="problem">$problem</div>'
        f'<form method="post" action="{CODE}"><input type="hidden" name="next" value="$next_path">'
        '<input type="hidden" name="recovery" value="$recovery"><label for="code">$label</label>$field'
        '<button type="submit">$button</button></form><a href="$other_address">$other</a><br><a href="/login">$again</a>'
        '<p class="lost">$lost</p>',
        values,
        field=_draw_code_field(recovery=recovery, invalid=bool(problem.words)),
    )
    return answer_page(title, body, status=problem.status, seconds=problem.seconds)


def draw_set_up_form(
    half: HalfSignIn, token: str, next_path: str, problem: FormProblem = NO_PROBLEM
) -> Response:
    secret, title = derive_secret(token), tr("Set up the second factor")
    values = {
        "title": title,
        "lead": _describe_reason(half),
        "why": tr("From then on, signing in takes your password and a code from an app on your phone."),
        "scan": tr("Scan this picture with an authenticator app."),
        "picture": tr("QR code with the key"),
        "type": tr("Without a camera, type this key into the app:"),
        "key": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        "label": tr("Code that the app shows"),
        "button": tr("Confirm"),
        "next_path": next_path,
        "problem": problem.words,
    }
    body = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><p>$why</p><div role="alert" id="problem">$problem</div>'
        '<h2>1. $scan</h2><div class="qr" role="img" aria-label="$picture">$qr</div><p>$type</p>'
        '<p><code class="key" translate="no">$key</code></p>'
        f'<form method="post" action="{SET_UP}"><input type="hidden" name="next" value="$next_path">'
        '<label for="code">2. $label</label>$field<button type="submit">$button</button></form>$decline',
        values,
        qr=_draw_qr_code(make_provisioning_uri(secret, half.username)),
        field=_draw_code_field(recovery=False, invalid=bool(problem.words)),
        decline="" if half.is_required or half.removed_by is None else _draw_decline_form(next_path),
    )
    return answer_page(title, body, status=problem.status, seconds=problem.seconds)


def _describe_reason(half: HalfSignIn) -> str:
    if half.removed_by is not None:
        if half.removed_by:
            return tr("{name} removed your second factor. Set it up again.", name=half.removed_by)
        return tr("The operator removed your second factor. Set it up again.")
    if half.is_required:
        return tr("A second factor is required for your account.")
    return tr("A second factor protects your account if somebody learns your password.")


def _draw_decline_form(next_path: str) -> str:
    return fill_markup(
        f'<form method="post" action="{SET_UP}" class="other"><input type="hidden" name="next" value="$next_path">'
        '<input type="hidden" name="step" value="decline"><button type="submit">$button</button></form>',
        {"next_path": next_path, "button": tr("Continue without it")},
    )


def _draw_proof_form(person: SignedIn, problem: FormProblem, *, asks_code: bool) -> Response:
    title = tr("Set up the second factor")
    code = fill_markup(
        '<label for="code">$label</label>$field',
        {"label": tr("Present code, or a recovery code")},
        field=_draw_code_field(recovery=True, invalid=False, focused=False),
    )
    values = {
        "title": title,
        "lead": tr("Type your password first."),
        "problem": problem.words,
        "username": person.actor.username,
        "label": tr("Current password"),
        "button": tr("Continue"),
        "back": tr("Back"),
    }
    body = fill_markup(
        '<h1>$title</h1><p class="lead">$lead</p><div role="alert" id="problem">$problem</div>'
        f'<form method="post" action="{SET_UP}"><input type="hidden" name="step" value="prove">'
        '<input type="text" name="username" value="$username" autocomplete="username" readonly hidden>'
        '<label for="password">$label</label><input id="password" name="password" type="password" required '
        'autocomplete="current-password" aria-describedby="problem" autofocus>$code'
        '<button type="submit">$button</button></form><a href="/account">$back</a>',
        values,
        code=code if asks_code else "",
    )
    return answer_page(title, body, status=problem.status, seconds=problem.seconds)


def _draw_recovery_codes(codes: tuple[str, ...], first: str) -> Response:
    title = tr("Your recovery codes")
    text = "Annotator\n\n" + "\n".join(codes) + "\n"
    values = {
        "title": title,
        "done": tr("The second factor is on. All other browsers are signed out."),
        "lead": tr(
            "Each of these codes signs you in once when you do not have your phone. Keep them in a safe place."
        ),
        "once": tr("They are shown only now."),
        "download": tr("Download"),
        "file": "data:text/plain;charset=utf-8," + quote(text),
        "go_on": tr("Continue"),
        "first": first,
    }
    items = "".join(fill_markup("<li><code>$code</code></li>", {"code": code}) for code in codes)
    body = fill_markup(
        '<h1>$title</h1><p role="status">$done</p><p class="lead">$lead <strong>$once</strong></p>'
        '<ul class="codes" translate="no">$items</ul>'
        '<a href="$file" download="annotator-recovery-codes.txt">$download</a><br>'
        '<a class="provider" href="$first">$go_on</a>',
        values,
        items=items,
    )
    return answer_page(title, body)


def _draw_code_field(*, recovery: bool, invalid: bool, focused: bool = True) -> str:
    kind = (
        'autocomplete="off" autocapitalize="none" autocorrect="off" maxlength="40"'
        if recovery
        else 'inputmode="numeric" autocomplete="one-time-code" maxlength="20"'
    )
    focus = " autofocus" if focused else ""
    wrong = ' aria-invalid="true"' if invalid else ""
    return f'<input id="code" name="code" required spellcheck="false" aria-describedby="problem" {kind}{wrong}{focus}>'


def _draw_qr_code(text: str) -> str:
    """Return the QR code as inline SVG, always dark on white, because many apps cannot read other colours."""
    import segno

    made: Any = segno.make(text, error="m")
    return str(made.svg_inline(omitsize=True, border=4, dark="#000", light="#fff"))
