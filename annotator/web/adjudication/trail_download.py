"""The records of the trail as a file, streamed; for leads.

`GET /api/trail?dataset=…&format=csv|jsonl[&pair=KEY][&action=…][&person=USER][&since=TIME][&until=TIME]`. The CSV is for
spreadsheets (`formats/spreadsheet.py`). Columns and names are English in every language, as those of all files.
"""

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.adjudication.history_service import (
    TrailFilter,
    iterate_trail,
    read_moment,
    write_csv,
    write_json_lines,
)
from annotator.domain.errors import AnnotatorError, NotFound, ValidationError
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in

ADDRESS = "/api/trail"
FORMATS = {"csv": (write_csv, "text/csv"), "jsonl": (write_json_lines, "application/jsonl")}


def routes(database: Database) -> list[Route]:
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

    return [Route(ADDRESS, get_trail, methods=["GET"])]


def read_filter(asked: dict[str, str]) -> TrailFilter:
    """What the address asks for. A time without a zone is UTC. ValidationError, with the parameter's name, for a time that is none."""
    return TrailFilter(
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


def list_address(dataset: str, name: str, wanted: TrailFilter) -> str:
    """The address of the file of these records in the format of this name."""
    told = {
        "pair": wanted.pair, "action": wanted.action, "person": wanted.person,
        "since": wanted.since.astimezone(UTC).isoformat() if wanted.since else None,
        "until": wanted.until.astimezone(UTC).isoformat() if wanted.until else None,
    }  # fmt: skip
    given = {key: value for key, value in told.items() if value is not None}
    return f"{ADDRESS}?{urlencode({'dataset': dataset, 'format': name, **given})}"
