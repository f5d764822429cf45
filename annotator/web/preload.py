"""Imports in the background what the agreement page needs, as soon as a lead has opened any page.

The libraries take about two seconds of a core to import. A server that nobody has signed in to, or only annotators, does without
them (about 100 MB).
"""

from functools import cache
from importlib import import_module
from threading import Thread

NEEDED = ("annotator.web.agreement.page", "scipy.sparse", "annotator.web.agreement.report_view", "altair")


@cache
def preload() -> Thread:
    """Begin, once in a process; the thread that does it."""
    thread = Thread(target=_import_all, name="preload", daemon=True)
    thread.start()
    return thread


def _import_all() -> None:
    for name in NEEDED:
        import_module(name)
