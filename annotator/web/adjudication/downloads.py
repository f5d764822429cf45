"""The queue and the audit log as files over HTTP, streamed, for leads.

`GET /api/queue?dataset=…` with the filter and order of `web/adjudication/queue_url.py`; the decided file
comes back with `annotator adjudicate`. `GET
/api/trail?dataset=…&format=csv|jsonl[&pair=KEY][&action=…][&person=USER][&since=TIME][&until=TIME]`; the CSV
is for spreadsheets (`formats/syntax/spreadsheet.py`). Columns and names are English in every language.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.adjudication.bulk.bulk_service import export_queue
from annotator.adjudication.history.history import (
    AuditLogFilter,
    write_csv,
    write_json_lines,
)
from annotator.adjudication.history.history_service import iterate_audit_log
from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import QueueAddress, read_address, write_address
from annotator.web.downloads import read_span, send_pieces, write_span
from annotator.web.navigation import make_url
from annotator.web.session import require_signed_in

QUEUE_ADDRESS, AUDIT_LOG_ADDRESS = "/api/queue", "/api/trail"
FORMATS = {"csv": (write_csv, "text/csv"), "jsonl": (write_json_lines, "application/jsonl")}


def routes(database: Database) -> list[Route]:
    async def get_queue(request: Request) -> Response:
        query, reader = request.query_params, require_signed_in(request)
        dataset, address = query.get("dataset", ""), read_address(query)
        return await send_pieces(
            request,
            f"{dataset}-disagreements.csv",
            "text/csv",
            lambda: export_queue(
                database,
                reader.actor,
                dataset,
                address.wanted,
                address.sort,
                now=datetime.now(UTC),
                base_url=str(request.base_url).rstrip("/"),
            ),
            is_kept=False,
        )

    async def get_trail(request: Request) -> Response:
        query, actor = request.query_params, require_signed_in(request).actor
        dataset, name = query.get("dataset", ""), query.get("format", "csv")
        write, media_type = FORMATS.get(name, (None, ""))

        def begin() -> Iterator[str]:
            from annotator.audit.service import note_download

            if write is None:
                raise NotFound(
                    say(
                        "Unknown format {format!r}: choose one of {formats}.",
                        format=name,
                        formats=", ".join(FORMATS),
                    )
                )
            now = datetime.now(UTC)
            events = iterate_audit_log(database, actor, dataset, read_filter(dict(query)), now=now)
            note_download(database, actor, dataset, f"activity-log.{name}", now=now)
            return write(events)

        return await send_pieces(request, f"{dataset}-trail.{name}", media_type, begin)

    return [
        Route(QUEUE_ADDRESS, get_queue, methods=["GET"]),
        Route(AUDIT_LOG_ADDRESS, get_trail, methods=["GET"]),
    ]


def make_queue_url(dataset: str, address: QueueAddress) -> str:
    return make_url(QUEUE_ADDRESS, dataset=dataset, **write_address(address))


def read_filter(query: dict[str, str]) -> AuditLogFilter:
    """Return the filter that the parameters select. A time without a zone is UTC.

    Raises ValidationError, with the name of the parameter, for a text that is no time.
    """
    since, until = read_span(query)
    return AuditLogFilter(
        pair=query.get("pair") or None,
        action=query.get("action") or None,
        person=query.get("person") or None,
        since=since,
        until=until,
    )


def make_audit_log_url(dataset: str, name: str, wanted: AuditLogFilter) -> str:
    parameters = {"pair": wanted.pair, "action": wanted.action, "person": wanted.person}
    span = write_span(wanted.since, wanted.until)
    return make_url(AUDIT_LOG_ADDRESS, dataset=dataset, format=name, **parameters, **span)
