"""While the database is unavailable, answer 503 with Retry-After at once, and log one line a minute.

All requests of all panels fail then, many times a minute: a traceback for each would fill the disk.
"""

import threading
import time
from collections.abc import Callable

import structlog
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, Response

from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.messages import Message, say
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.plain_page import draw_plain_page, fill_markup, wants_page
from annotator.web.server.request_id import current_request_id
from annotator.web.session import use_language_of

RETRY_SECONDS = 5
PATIENCE_SECONDS = 5.0
"""Seconds that a request waits for a lock before it is answered with 503."""
LINE_SECONDS = 60.0

log = structlog.stdlib.get_logger("annotator.web")


class OutageLog:
    """Logs a line when an outage begins, then one a minute with the number of failures since the last line."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._next, self._failures = 0.0, 0

    def note(self, error: DatabaseUnavailable) -> None:
        """Count a failure of the database; log it unless a line was written lately."""
        with self._lock:
            self._failures += 1
            if self._clock() < self._next:
                return
            failures, self._failures = self._failures, 0
            self._next = self._clock() + LINE_SECONDS
        log.warning("database unavailable", why=error.describe(), failed=failures)


_outages = OutageLog()


def note_outage(error: DatabaseUnavailable) -> None:
    """Count a failure of the database, in this process's log."""
    _outages.note(error)


def describe_outage(error: DatabaseUnavailable) -> Message:
    """Return the message for a person: the cause, that nothing is lost, and what to do."""
    return say(
        "The database is unavailable: {why}. Your judgments stay in your browser and are saved "
        "automatically later. Try again in a moment.",
        why=error.args[0],
    )


def respond_to_outage(request: HTTPConnection, error: DatabaseUnavailable) -> Response:
    """Return 503 with Retry-After: a page that reloads itself if a page was asked for, else JSON."""
    note_outage(error)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if not wants_page(request.scope) and request.scope["path"] not in ("/login", "/logout"):
        return JSONResponse({"error": show_refusal(error)}, 503, headers=headers)
    use_language_of(request)
    body = fill_markup(
        '<h1>$title</h1><p class="lead" role="alert">$said</p><p>$number</p>',
        {
            "title": tr("Just a moment"),
            "said": tr(describe_outage(error)),
            "number": tr("Error number: {number}", number=current_request_id()),
        },
    )
    if wants_page(request.scope):
        headers["Refresh"] = str(RETRY_SECONDS)
    return HTMLResponse(draw_plain_page(tr("Just a moment"), body), 503, headers=headers)
