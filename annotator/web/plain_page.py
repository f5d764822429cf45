"""Make pages of plain HTML, without Streamlit and without a script.

For the sign-in page, and for errors outside the app.
"""

import html
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.types import Scope

from annotator import __version__
from annotator.web.kit.messages import current_language

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
