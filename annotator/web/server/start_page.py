"""Serve the page that starts Streamlit's app, with data that its scripts would otherwise fetch later.

Streamlit looks for its server below the page's own path first (`/people/_stcore/health`), and tries the next path only
when that fails: an error in the browser's console and a round trip more on every page. The address is known, so the
page says it. Our style sheet and the width of the sidebar stand in it too, so that nothing moves when the rest
comes. It also names the scripts that every page needs, but that Streamlit loads only when the first element
comes; and on the labeling page it asks for the first pairs at once (`labeling/panel/first_pairs.js`). Who labels what
stands in a `<meta>`, for those who may label the dataset only, so that the inline script is the same for everybody.

Also imports ahead, in the background, what somebody will ask for next. The label page's modules: soon after the server
listens. The Overview's, with pandas and Altair (about a second of a core and 60 MB): when a lead signs in, while the browser
loads the app. `main_page.py` imports the rest once a lead's page is drawn.
"""

import asyncio
import json
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from threading import Thread

import streamlit
from anyio import to_thread
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator.dataset.service import list_datasets
from annotator.domain.people import SignedIn, includes
from annotator.storage.database import Database
from annotator.web.navigation import PAGES, is_for_reading

START = """<script>
window.__streamlit = { BACKEND_BASE_URL: location.origin };
if (localStorage.getItem("annotator-sidebar-closed")) document.documentElement.classList.remove("annotator-sidebar-open");
</script>"""
ADDRESSES = frozenset({"/home", *(f"/{page.address}" for page in PAGES)})
LABEL = "/label"
STATIC = Path(streamlit.__file__).parent / "static"
STYLE = Path(__file__).parent.parent / "app.css"
FIRST_PAIRS = Path(__file__).parent.parent / "labeling" / "panel" / "first_pairs.js"
SOON_NEEDED = (
    "Html",
    "purify.es",
    "PageLink",
    "BidiComponent",
    "_arrayReduce",
    "serialization",
    "recordbatch",
)


@cache
def read_start_page() -> str:
    """Return Streamlit's page with our scripts before its first, and with the scripts that every page needs."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    first_pairs = f"<script>{FIRST_PAIRS.read_text(encoding='utf-8')}</script>"
    links = "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{path.name}">\n    '
        for name in SOON_NEEDED
        for path in sorted((STATIC / "static" / "js").glob(f"{name}.*.js"))
    )
    style = (
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>"  # after Streamlit's own, which are in the head
    )
    page = page.replace("</body>", f"{style}</body>", 1)
    return page.replace("<script", f"{START}\n    {first_pairs}\n    {links}<script", 1)


def describe_labeling(scope: Scope, database: Database) -> str:
    """Return the `<meta>` by which the page asks for the first pairs; "" unless the person may label the dataset in the address.

    "" also if the address opens an answered pair (`pair`), which comes first. The dataset is looked up, because people with a
    role on all datasets have one on a name that does not exist.
    """
    person: SignedIn | None = scope.get("state", {}).get("signed_in")
    parameters = QueryParams(scope["query_string"])
    dataset = parameters.get("dataset")
    if scope["path"] != LABEL or person is None or dataset is None or "pair" in parameters:
        return ""
    role = person.role_on(dataset)
    if person.must_change_password or role is None or not includes(role, "annotator"):
        return ""
    has_own_role = any(held.dataset == dataset for held in person.memberships)
    if not has_own_role and all(item.name != dataset for item in list_datasets(database, person.actor)):
        return ""
    told = json.dumps({"dataset": dataset, "annotator": person.actor.username})
    return f'<meta name="annotator-label" content="{escape(told)}">'


class StartPage:
    """ASGI middleware: answers the pages' addresses, and leaves everything else alone."""

    def __init__(self, app: ASGIApp, *, database: Database) -> None:
        self.app, self.database = app, database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in ADDRESSES:
            meta = ""
            if scope["path"] == LABEL:
                meta = await to_thread.run_sync(describe_labeling, scope, self.database)
            address = scope["path"].strip("/")
            reading = is_for_reading(address, QueryParams(scope["query_string"]))
            width = "annotator-reading" if reading else "annotator-sidebar-open"
            page = read_start_page().replace("<html", f'<html class="{width}" data-page="{address}"', 1)
            page = page.replace("<head>", f"<head>{meta}", 1)
            await HTMLResponse(page)(scope, receive, send)
            return
        await self.app(scope, receive, send)


AFTER_LISTENING = 0.5  # seconds: the first answers go before
FIRST_RUN = ("annotator.web.main_page", "annotator.web.labeling.label_page")
OF_LEADS = (*FIRST_RUN, "annotator.web.overview.page", "pandas", "altair")


@cache
def import_ahead(names: tuple[str, ...]) -> Thread:
    """Begin to import these modules, once in a process; the thread that does it."""
    thread = Thread(target=_import_all, args=(names,), name="import ahead", daemon=True)
    thread.start()
    return thread


def _import_all(names: tuple[str, ...]) -> None:
    for name in names:
        import_module(name)


def prepare_first_run() -> None:
    """Import the modules of the first page soon. Called in the event loop when the server starts."""
    asyncio.get_running_loop().call_later(AFTER_LISTENING, import_ahead, FIRST_RUN)


def prepare_pages(person: SignedIn) -> None:
    """Import the modules of a lead's first page."""
    if any(includes(item.role, "lead") for item in person.memberships):
        import_ahead(OF_LEADS)
