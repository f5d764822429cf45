"""The queue and the audit log as files over HTTP, streamed, for leads.

`GET /api/queue?dataset=…` with the filter and order of `web/adjudication/queue_url.py`; the decided file
comes back with `annotator adjudicate`. `GET
/api/trail?dataset=…&format=csv|jsonl[&pair=KEY][&action=…][&person=USER][&since=TIME][&until=TIME]`; the CSV
is for spreadsheets (`formats/syntax/spreadsheet.py`). Columns and names are English in every language.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.adjudication.bulk.bulk_service import export_queue
from annotator.adjudication.history.history import (
    AuditLogEntry,
    AuditLogFilter,
    read_day_or_time,
    write_csv,
    write_json_lines,
)
from annotator.adjudication.history.history_service import iterate_audit_log
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import QueueAddress, read_address, write_address
from annotator.web.session import require_same_origin, require_signed_in

QUEUE_ADDRESS = "/api/queue"


def routes(database: Database) -> list[Route]:
    """Return the route of the queue, for `web/app.py`."""

    async def get_queue(request: Request) -> Response:
        query, reader = request.query_params, require_signed_in(request)
        dataset, address = query.get("dataset", ""), read_address(query)
        name = quote(f"{dataset}-disagreements.csv", safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "no-store"}
        if request.method == "HEAD":
            return Response(media_type="text/csv", headers=headers)
        require_same_origin(request)  # whoever takes the file no longer judges its pairs
        pieces = await run_in_threadpool(
            export_queue,
            database,
            reader.actor,
            dataset,
            address.wanted,
            address.sort,
            now=datetime.now(UTC),
            base_url=str(request.base_url).rstrip("/"),
        )
        return StreamingResponse(pieces, media_type="text/csv", headers=headers)

    return [Route(QUEUE_ADDRESS, get_queue, methods=["GET"])]


def make_queue_url(dataset: str, address: QueueAddress) -> str:
    """Return the address of the file of this part of the queue."""
    return f"{QUEUE_ADDRESS}?{urlencode({'dataset': dataset, **write_address(address)})}"


AUDIT_LOG_ADDRESS = "/api/trail"
FORMATS = {"csv": (write_csv, "text/csv"), "jsonl": (write_json_lines, "application/jsonl")}


def audit_log_routes(database: Database) -> list[Route]:
    """Return the route of the audit log, for `web/app.py`."""

    async def get_trail(request: Request) -> Response:
        query, actor = request.query_params, require_signed_in(request).actor
        dataset, name = query.get("dataset", ""), query.get("format", "csv")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'{dataset}-trail.{name}', safe='')}"
        }
        if request.method == "HEAD":
            return Response(headers=headers)
        require_same_origin(request)  # what is in it is noted as seen
        if name not in FORMATS:
            raise NotFound(
                say(
                    "Unknown format {format!r}: choose one of {formats}.",
                    format=name,
                    formats=", ".join(FORMATS),
                )
            )
        wanted = read_filter(dict(query))

        def begin() -> Iterator[AuditLogEntry]:
            from annotator.audit.service import note_download

            now = datetime.now(UTC)
            events = iterate_audit_log(database, actor, dataset, wanted, now=now)
            note_download(database, actor, dataset, f"activity-log.{name}", now=now)
            return events

        events = await run_in_threadpool(begin)
        write, media_type = FORMATS[name]
        return StreamingResponse(write(events), media_type=media_type, headers=headers)

    return [Route(AUDIT_LOG_ADDRESS, get_trail, methods=["GET"])]


def read_filter(query: dict[str, str]) -> AuditLogFilter:
    """Return the filter that the parameters select. A time without a zone is UTC.

    Raises ValidationError, with the name of the parameter, for a text that is no time.
    """
    return AuditLogFilter(
        pair=query.get("pair") or None,
        action=query.get("action") or None,
        person=query.get("person") or None,
        since=_read_time(query, "since"),
        until=_read_time(query, "until", last=True),
    )


def _read_time(query: dict[str, str], name: str, *, last: bool = False) -> datetime | None:
    try:
        return read_day_or_time(query[name], UTC, last=last) if query.get(name) else None
    except ValidationError as error:
        raise ValidationError(say("{field}: {fault}", field=name, fault=error.args[0])) from None


def make_audit_log_url(dataset: str, name: str, wanted: AuditLogFilter) -> str:
    """Return the address of the file of these entries. `name`: of the format."""
    parameters = {
        "pair": wanted.pair,
        "action": wanted.action,
        "person": wanted.person,
        "since": wanted.since.astimezone(UTC).isoformat() if wanted.since else None,
        "until": wanted.until.astimezone(UTC).isoformat() if wanted.until else None,
    }
    parameters = {key: value for key, value in parameters.items() if value is not None}
    return f"{AUDIT_LOG_ADDRESS}?{urlencode({'dataset': dataset, 'format': name, **parameters})}"
