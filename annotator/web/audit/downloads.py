"""Stream the installation's audit log as JSON lines, oldest entry first; for admins of every dataset.

`GET /api/audit[?action=…][&person=USER][&about=DATASET][&since=TIME][&until=TIME]`. Each line has the JSON of
`annotator audit --json`, which is enough to recompute the hashes (docs/security.md). Names are English in
every language. The slice is imported at the first request.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.storage.database import Database
from annotator.web.downloads import read_span, send_pieces, write_span
from annotator.web.navigation import make_url
from annotator.web.session import require_signed_in

if TYPE_CHECKING:
    from annotator.audit.records import AuditEntry, AuditFilter

ADDRESS = "/api/audit"


def routes(database: Database) -> list[Route]:
    async def get_log(request: Request) -> Response:
        from annotator.audit.service import AUDIT_LOG_FILE, download_audit_log

        actor, wanted = require_signed_in(request).actor, read_filter(request.query_params)
        return await send_pieces(
            request,
            AUDIT_LOG_FILE,
            "application/jsonl",
            lambda: write_lines(download_audit_log(database, actor, wanted, now=datetime.now(UTC))),
            is_kept=False,
        )

    return [Route(ADDRESS, get_log, methods=["GET"])]


def write_lines(entries: Iterable["AuditEntry"]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry.describe(), ensure_ascii=False) + "\n"


def read_filter(query: Mapping[str, str]) -> "AuditFilter":
    """Return the filter that the parameters select. A time without a zone is UTC.

    Raises ValidationError with the parameter's name for an invalid time.
    """
    from annotator.audit.records import AuditFilter

    since, until = read_span(query)
    return AuditFilter(
        dataset=query.get("about") or None,
        action=query.get("action") or None,
        person=query.get("person") or None,
        since=since,
        until=until,
    )


def list_address(wanted: "AuditFilter") -> str:
    span = write_span(wanted.since, wanted.until)
    return make_url(ADDRESS, about=wanted.dataset, action=wanted.action, person=wanted.person, **span)
