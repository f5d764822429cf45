"""Stream a whole dataset as one zip over HTTP; for leads. `dataset/export_service.py` describes its content.

`GET /api/dataset?dataset=…`. The person then counts as having seen all grades; this is stored with the audit
log entry.
"""

from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from annotator.storage.database import Database
from annotator.web.session import require_same_origin, require_signed_in

ADDRESS = "/api/dataset"


def routes(database: Database) -> list[Route]:
    """Return the route, for `web/app.py`."""

    async def get_dataset(request: Request) -> Response:
        actor, dataset = require_signed_in(request).actor, request.query_params.get("dataset", "")
        name = quote(f"{dataset}.zip", safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "no-store"}
        if request.method == "HEAD":
            return Response(media_type="application/zip", headers=headers)
        from annotator.dataset.export_service import export_dataset

        require_same_origin(request)  # this person no longer judges its pairs
        pieces = await run_in_threadpool(export_dataset, database, actor, dataset, now=datetime.now(UTC))
        return StreamingResponse(pieces, media_type="application/zip", headers=headers)

    return [Route(ADDRESS, get_dataset, methods=["GET"])]


def list_address(dataset: str) -> str:
    """Return the address of a dataset's export."""
    return f"{ADDRESS}?{urlencode({'dataset': dataset})}"
