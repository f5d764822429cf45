"""Stream the installation's audit log as JSON lines, oldest entry first; for admins of every dataset.

`GET /api/audit[?action=…][&person=USER][&about=DATASET][&since=TIME][&until=TIME]`. Each line has the JSON of
`annotator audit --json`, which is enough to recompute the hashes (docs/security.md). Names are English in
every language. The slice is imported at the first request.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.adjudication.history.history import read_day_or_time
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.session import require_same_origin, require_signed_in

if TYPE_CHECKING:
    from annotator.audit.records import AuditEntry, AuditFilter

ADDRESS = "/api/audit"
MEDIA_TYPE = "application/jsonl"


def routes(database: Database) -> list[Route]:
    """Return the route, for `web/app.py`."""

    async def get_log(request: Request) -> Response:
        from annotator.audit.service import AUDIT_LOG_FILE, download_audit_log

        actor, wanted = require_signed_in(request).actor, read_filter(request.query_params)
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{AUDIT_LOG_FILE}",
            "Cache-Control": "no-store",
        }
        if request.method == "HEAD":
            return Response(media_type=MEDIA_TYPE, headers=headers)
        require_same_origin(request)  # notes in the log who received it
        entries = await run_in_threadpool(download_audit_log, database, actor, wanted, now=datetime.now(UTC))
        return StreamingResponse(write_lines(entries), media_type=MEDIA_TYPE, headers=headers)

    return [Route(ADDRESS, get_log, methods=["GET"])]


def write_lines(entries: Iterable["AuditEntry"]) -> Iterator[str]:
    """Yield one line for each entry."""
    for entry in entries:
        yield json.dumps(entry.describe(), ensure_ascii=False) + "\n"


def read_filter(query: Mapping[str, str]) -> "AuditFilter":
    """Return the filter that the parameters select. A time without a zone is UTC.

    Raises ValidationError with the parameter's name for an invalid time.
    """
    from annotator.audit.records import AuditFilter

    return AuditFilter(
        dataset=query.get("about") or None,
        action=query.get("action") or None,
        person=query.get("person") or None,
        since=_read_time(query, "since"),
        until=_read_time(query, "until", last=True),
    )


def _read_time(query: Mapping[str, str], name: str, *, last: bool = False) -> datetime | None:
    try:
        return read_day_or_time(query[name], UTC, last=last) if query.get(name) else None
    except ValidationError as error:
        raise ValidationError(say("{field}: {fault}", field=name, fault=error.args[0])) from None


def list_address(wanted: "AuditFilter") -> str:
    """Return the address of the file of these entries."""
    parameters = {
        "about": wanted.dataset,
        "action": wanted.action,
        "person": wanted.person,
        "since": wanted.since.astimezone(UTC).isoformat() if wanted.since else None,
        "until": wanted.until.astimezone(UTC).isoformat() if wanted.until else None,
    }
    chosen = {key: value for key, value in parameters.items() if value is not None}
    return f"{ADDRESS}?{urlencode(chosen)}" if chosen else ADDRESS
