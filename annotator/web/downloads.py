"""Send files and JSON over HTTP: the parts that the routes of several slices share."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from urllib.parse import quote

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from annotator.adjudication.history.history import read_day_or_time
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.web.session import require_same_origin, require_signed_in


def list_late_routes(database: Database, folder: str, names: Sequence[str]) -> list[Route]:
    """Return the routes `/api/<folder>/<name>`, which `get_<name>` of the folder's downloads.py answers.

    It is imported at the first request, because an idle server does not load numpy and pandas.
    """

    def answer(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            module = await run_in_threadpool(import_module, f"annotator.web.{folder}.downloads")
            response: Response = await getattr(module, f"get_{name.replace('-', '_')}")(database, request)
            return response

        return get

    return [Route(f"/api/{folder}/{name}", answer(name), methods=["GET"]) for name in names]


def make_json_route(
    path: str, find: Callable[[Actor, QueryParams], object], *, limiter: CapacityLimiter | None = None
) -> Route:
    """Return a GET route: it answers with what `find(actor, parameters)` returns, in a thread, as JSON."""

    async def get(request: Request) -> Response:
        actor = require_signed_in(request).actor
        return JSONResponse(await to_thread.run_sync(find, actor, request.query_params, limiter=limiter))

    return Route(path, get, methods=["GET"])


class PiecesResponse(StreamingResponse):
    """Send pieces, and close their generator at the end, with its transaction, also if the reader has left."""

    def __init__(self, pieces: Iterable[str] | Iterable[bytes], **options: Any) -> None:
        super().__init__(pieces, **options)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._pieces, Generator):
                with CancelScope(shield=True):
                    await run_in_threadpool(self._pieces.close)


async def send_pieces(
    request: Request,
    name: str,
    media_type: str,
    write: Callable[[], str | Iterable[str] | Iterable[bytes]],
    *,
    is_kept: bool = True,
) -> Response:
    """Send the text or the pieces that `write` returns as a file. `is_kept`: a browser may keep it in its cache.

    Sending the file is recorded, so only requests from the app's own pages are answered, and HEAD does not
    call `write`.
    """
    headers = name_as(name) | ({} if is_kept else {"Cache-Control": "no-store"})
    if request.method == "HEAD":
        return Response(media_type=media_type, headers=headers)
    require_same_origin(request)
    content = await run_in_threadpool(write)
    answer = Response if isinstance(content, str) else PiecesResponse
    return answer(content, media_type=media_type, headers=headers)


def name_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def read_span(query: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """Return the times of the parameters `since` and `until`. A time without a zone is UTC.

    Raises ValidationError with the parameter's name for an invalid time.
    """
    return _read_time(query, "since"), _read_time(query, "until", last=True)


def _read_time(query: Mapping[str, str], name: str, *, last: bool = False) -> datetime | None:
    try:
        return read_day_or_time(query[name], UTC, last=last) if query.get(name) else None
    except ValidationError as error:
        raise ValidationError(say("{field}: {fault}", field=name, fault=error.args[0])) from None


def write_span(since: datetime | None, until: datetime | None) -> dict[str, str]:
    times = {"since": since, "until": until}
    return {name: time.astimezone(UTC).isoformat() for name, time in times.items() if time is not None}
