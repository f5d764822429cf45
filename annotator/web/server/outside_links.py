"""Ask before a link from outside opens a page that shows grades.

Opening such a page records which grades the person has seen, and they no longer judge these pairs. A link on another site,
or in a text that others wrote, must not cause that, so the gate answers it with a plain page with a button. The button is
a link of this server, so the next request comes from here. A reload goes on by itself (`web/open_again.js`). The same
holds for the page that a sign-in leads to.
"""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, Response

from annotator import __version__
from annotator.domain.people import SignedIn, includes
from annotator.web.kit.messages import tr
from annotator.web.navigation import PAGES
from annotator.web.plain_page import draw_plain_page, fill_markup
from annotator.web.session import choose_local_path, comes_from_here

SHOW_GRADES = {f"/{page.address}": page for page in PAGES if page.shows_grades_to is not None}


def ask_before_opening(request: HTTPConnection, person: SignedIn | None) -> Response | None:
    """Return the page that asks, or None if the request may go on.

    `person`: None for a person who will sign in first.
    """
    page = SHOW_GRADES.get(request.scope["path"])
    if page is None or request.scope["method"] != "GET" or comes_from_here(request):
        return None
    least = page.shows_grades_to or "annotator"
    if person is not None and not any(includes(held.role, least) for held in person.memberships):
        return None
    query = request.scope["query_string"].decode("latin-1")
    values = {
        "title": tr(page.title),
        "why": tr("This page can show grades, and you did not open it from a page of this server."),
        "effect": tr("After seeing others' grades of a pair, you can no longer judge it."),
        "open": tr("Open the page"),
        "address": request.scope["path"] + (f"?{query}" if query else ""),
        "back": tr("Go to the first page"),
    }
    body = fill_markup(
        '$script<h1>$title</h1><p class="lead">$why</p><p class="lead">$effect</p>'
        '<a class="provider" href="$address">$open</a><a href="/">$back</a>',
        values,
        script=f'<script src="/open-again.js?{__version__}"></script>',
    )
    return HTMLResponse(draw_plain_page(values["title"], body))


def choose_next(request: Request) -> str:
    """Return the path to open after a sign-in: `next` of the address, or "/".

    Returns "/" if a link from outside names a page that shows grades.
    """
    wanted = choose_local_path(request.query_params.get("next"))
    return wanted if urlsplit(wanted).path not in SHOW_GRADES or comes_from_here(request) else "/"
