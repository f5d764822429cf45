"""Make pages of plain HTML, without Streamlit: for signing in, for one-time links, and for errors outside the app.

Two kinds have a script, and work without it: pages of one-time links, where it reads the token from the URL, and
pages with a password, where it can show the password.
"""

import html
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from annotator import __version__
from annotator.web.kit.messages import current_language, tr

FRAME = Path(__file__).parent / "login.html"
_NO_PAGES = ("/api/", "/_stcore/", "/media/", "/component")


def wants_page(scope: Scope) -> bool:
    """Return whether the request wants a page for a person, not JSON for a script."""
    return scope["method"] in ("GET", "HEAD") and not scope["path"].startswith(_NO_PAGES)


def fill_markup(template: str, values: Mapping[str, str], **markup: str) -> str:
    """Fill the template. Escapes `values`; inserts `markup` (our own HTML) unchanged."""
    escaped = {key: html.escape(value) for key, value in values.items()}
    return string.Template(template).substitute(escaped, **markup)


@dataclass(frozen=True, slots=True)
class PlainField:
    """A field of a form: name, label, and autocomplete value."""

    name: str
    label: str
    autocomplete: str
    is_password: bool = False


def draw_field(field: PlainField, *, value: str, problem: str, focused: bool) -> str:
    """Return a required field with its label and problem. A password is never prefilled."""
    is_name = field.autocomplete == "username"
    return fill_markup(
        '<label for="$name">$label</label><input id="$name" name="$name" type="$type" value="$value" required '
        'autocomplete="$autocomplete"$further$invalid$focus><p class="problem" id="$name-problem">$problem</p>',
        {
            "name": field.name,
            "label": field.label,
            "type": "password" if field.is_password else "text",
            "value": "" if field.is_password else value[:200],
            "autocomplete": field.autocomplete,
            "problem": problem[:1].upper() + problem[1:],
        },
        further=' autocapitalize="none" autocorrect="off" spellcheck="false"' if is_name else "",
        invalid=f' aria-invalid="true" aria-describedby="{field.name}-problem"' if problem else "",
        focus=" autofocus" if focused else "",
    )


def draw_plain_page(title: str, body: str) -> str:
    """Return the whole page in the current language. `body`: HTML."""
    return string.Template(_read_frame()).substitute(
        lang=current_language(), title=html.escape(title), body=body, version=__version__
    )


@cache
def _read_frame() -> str:
    return FRAME.read_text(encoding="utf-8")


SCRIPT = f'<script src="/one-time-link.js?{__version__}" defer></script>'


def answer_page(title: str, body: str, *, status: int = 200, seconds: int = 0) -> Response:
    """Return the page. `body`: HTML; `seconds`: value of Retry-After, 0 for none."""
    headers = {"Retry-After": str(seconds)} if seconds else None
    return HTMLResponse(draw_plain_page(title, body), status, headers=headers)


def answer_page_with_script(title: str, body: str, *, status: int = 200, seconds: int = 0) -> Response:
    """Return a page with the script that reads a one-time link's token from the URL and shows the password."""
    return answer_page(title, body + SCRIPT, status=status, seconds=seconds)


def draw_link_opener(address: str) -> str:
    """Return the hidden form with which the script posts the token to `address`."""
    message = tr("This page needs JavaScript. Switch it on in the browser and reload the page.")
    return fill_markup(
        '<noscript><div role="alert">$message</div></noscript>'
        '<form method="post" action="$address" id="open-link" hidden><input type="hidden" name="token"></form>',
        {"message": message, "address": address},
    )


def list_account_fields() -> tuple[PlainField, ...]:
    return (
        PlainField("name", tr("Name, as others see it"), "name"),
        PlainField("username", tr("Username, to sign in with"), "username"),
        list_password_field(),
    )


def list_password_field() -> PlainField:
    return PlainField("password", tr("Password (10 characters or more)"), "new-password", is_password=True)


def draw_show_password() -> str:
    """Return the box that shows the password. Without the script it stays hidden."""
    return fill_markup(
        '<label class="check" hidden><input type="checkbox" id="show-password">$show</label>',
        {"show": tr("Show password")},
    )


def draw_form(
    address: str,
    fields: tuple[PlainField, ...],
    button: str,
    typed: Mapping[str, str],
    problems: Mapping[str, str],
    *,
    how: str = "",
) -> str:
    """Return a form with the link's token, these fields, and its button.

    Each problem is below its field. The first field with a problem has the focus, else the first field. `how`
    is also posted.
    """
    focused = next((field.name for field in fields if field.name in problems), next(iter(fields)).name)
    inputs = "".join(
        draw_field(
            field,
            value=typed.get(field.name, ""),
            problem=problems.get(field.name, ""),
            focused=field.name == focused,
        )
        for field in fields
    )
    return fill_markup(
        '<form method="post" action="$address"><input type="hidden" name="token" value="$token">'
        '<input type="hidden" name="how" value="$how">$inputs$shows<button type="submit">$button</button></form>',
        {
            "address": address,
            "token": typed.get("token", ""),
            "how": how,
            "button": button,
        },
        inputs=inputs,
        shows=draw_show_password(),
    )


def draw_other_way(address: str, button: str, token: str, *, how: str, quiet: bool = True) -> str:
    """Return a form of one button: another way to use the same link. `quiet`: not the main way."""
    return fill_markup(
        '<form method="post" action="$address"$kind><input type="hidden" name="token" value="$token">'
        '<input type="hidden" name="how" value="$how"><button type="submit">$button</button></form>',
        {"address": address, "button": button, "token": token, "how": how},
        kind=' class="other"' if quiet else "",
    )
