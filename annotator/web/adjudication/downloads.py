"""The queue and the audit log as files over HTTP, streamed, for leads.

`GET /api/queue?dataset=…` with the filter and order of `web/adjudication/queue_url.py`; the decided file comes
back with `annotator adjudicate`.
`GET /api/trail?dataset=…&format=csv|jsonl[&pair=KEY][&action=…][&person=USER][&since=TIME][&until=TIME]`; the CSV
is for spreadsheets (`formats/spreadsheet.py`). Columns and names are English in every language.
"""

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.adjudication.bulk_service import export_queue
from annotator.adjudication.history_service import (
    AuditLogFilter,
    iterate_trail,
    read_moment,
    write_csv,
    write_json_lines,
)
from annotator.domain.errors import AnnotatorError, NotFound, ValidationError
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import QueueAddress, read_address, write_address
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in

QUEUE_ADDRESS = "/api/queue"


def routes(database: Database) -> list[Route]:
    """The route, for `web/app.py`."""

    async def get_queue(request: Request) -> Response:
        asked, reader = request.query_params, require_signed_in(request)
        dataset, address = asked.get("dataset", ""), read_address(asked)
        name = quote(f"{dataset}-disagreements.csv", safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "no-store"}
        if request.method == "HEAD":
            return Response(media_type="text/csv", headers=headers)
        try:
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
        except AnnotatorError as error:
            return refuse(error)
        return StreamingResponse(pieces, media_type="text/csv", headers=headers)

    return [Route(QUEUE_ADDRESS, get_queue, methods=["GET"])]


def list_queue_address(dataset: str, address: QueueAddress) -> str:
    """The address of the file of this part of the queue."""
    return f"{QUEUE_ADDRESS}?{urlencode({'dataset': dataset, **write_address(address)})}"


AUDIT_LOG_ADDRESS = "/api/trail"
FORMATS = {"csv": (write_csv, "text/csv"), "jsonl": (write_json_lines, "application/jsonl")}


def audit_log_routes(database: Database) -> list[Route]:
    """The route, for `web/app.py`."""

    async def get_trail(request: Request) -> Response:
        asked, actor = request.query_params, require_signed_in(request).actor
        dataset, name = asked.get("dataset", ""), asked.get("format", "csv")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'{dataset}-trail.{name}', safe='')}"
        }
        if request.method == "HEAD":
            return Response(headers=headers)
        try:
            require_same_origin(request)  # what is in it is noted as seen
            if name not in FORMATS:
                raise NotFound(
                    say("no format {format!r}; there are: {formats}", format=name, formats=", ".join(FORMATS))
                )
            wanted = read_filter(dict(asked))
            events = await run_in_threadpool(
                iterate_trail, database, actor, dataset, wanted, now=datetime.now(UTC)
            )
        except AnnotatorError as error:
            return refuse(error)
        write, media_type = FORMATS[name]
        return StreamingResponse(write(events), media_type=media_type, headers=headers)

    return [Route(AUDIT_LOG_ADDRESS, get_trail, methods=["GET"])]


def read_filter(asked: dict[str, str]) -> AuditLogFilter:
    """What the address asks for. A time without a zone is UTC. ValidationError, with the parameter's name, for a time that is none."""
    return AuditLogFilter(
        pair=asked.get("pair") or None,
        action=asked.get("action") or None,
        person=asked.get("person") or None,
        since=_read_time(asked, "since"),
        until=_read_time(asked, "until", last=True),
    )


def _read_time(asked: dict[str, str], name: str, *, last: bool = False) -> datetime | None:
    try:
        return read_moment(asked[name], UTC, last=last) if asked.get(name) else None
    except ValidationError as error:
        raise ValidationError(say("{field}: {fault}", field=name, fault=error.args[0])) from None


def list_audit_log_address(dataset: str, name: str, wanted: AuditLogFilter) -> str:
    """The address of the file of these records in the format of this name."""
    told = {
        "pair": wanted.pair,
        "action": wanted.action,
        "person": wanted.person,
        "since": wanted.since.astimezone(UTC).isoformat() if wanted.since else None,
        "until": wanted.until.astimezone(UTC).isoformat() if wanted.until else None,
    }
    given = {key: value for key, value in told.items() if value is not None}
    return f"{AUDIT_LOG_ADDRESS}?{urlencode({'dataset': dataset, 'format': name, **given})}"
