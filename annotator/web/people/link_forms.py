"""Parts of the pages that one-time links open: plain HTML, with a script that reads the token from the URL."""

from collections.abc import Mapping

from starlette.responses import HTMLResponse, Response

from annotator import __version__
from annotator.web.kit.messages import tr
from annotator.web.plain_page import PlainField, draw_field, draw_plain_page, fill_markup

SCRIPT = f'<script src="/one-time-link.js?{__version__}" defer></script>'


def answer_page(title: str, body: str, *, status: int = 200, seconds: int = 0) -> Response:
    """Return the page with the script. `body`: HTML; `seconds`: value of Retry-After, 0 for none."""
    headers = {"Retry-After": str(seconds)} if seconds else None
    return HTMLResponse(draw_plain_page(title, body + SCRIPT), status, headers=headers)


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
    shows = '<label class="check" hidden><input type="checkbox" id="show-password">$show</label>'
    return fill_markup(
        '<form method="post" action="$address"><input type="hidden" name="token" value="$token">'
        f'<input type="hidden" name="how" value="$how">$inputs{shows}<button type="submit">$button</button></form>',
        {
            "address": address,
            "token": typed.get("token", ""),
            "how": how,
            "button": button,
            "show": tr("Show password"),
        },
        inputs=inputs,
    )


def draw_other_way(address: str, button: str, token: str, *, how: str, quiet: bool = True) -> str:
    """Return a form of one button: another way to use the same link. `quiet`: not the main way."""
    return fill_markup(
        '<form method="post" action="$address"$kind><input type="hidden" name="token" value="$token">'
        '<input type="hidden" name="how" value="$how"><button type="submit">$button</button></form>',
        {"address": address, "button": button, "token": token, "how": how},
        kind=' class="other"' if quiet else "",
    )
