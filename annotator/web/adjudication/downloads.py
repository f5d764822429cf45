"""The queue as a CSV file for a meeting, over HTTP; for leads.

`GET /api/queue?dataset=…` and the words of `web/adjudication/queue_url.py`: the part of the queue that the page shows, in its order.
What was decided in the meeting comes back with `annotator adjudicate`.
"""

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.adjudication.bulk_service import export_queue
from annotator.domain.errors import AnnotatorError
from annotator.storage.database import Database
from annotator.web.adjudication.queue_url import QueueAddress, read_address, write_address
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in

ADDRESS = "/api/queue"


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

    return [Route(ADDRESS, get_queue, methods=["GET"])]


def list_address(dataset: str, address: QueueAddress) -> str:
    """The address of the file of this part of the queue."""
    return f"{ADDRESS}?{urlencode({'dataset': dataset, **write_address(address)})}"
