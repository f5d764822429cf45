"""Import ahead what somebody will ask for next, in the background, so that their page need not wait for it.

The label page's modules: soon after the server listens. The Overview's, with pandas and Altair (about a second of a core and
60 MB): when a lead signs in, while the browser loads the app. `main_page.py` imports the rest once a lead's page is drawn.
"""

import asyncio
from functools import cache
from importlib import import_module
from threading import Thread

from annotator.domain.people import SignedIn, includes

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
