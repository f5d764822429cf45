"""Stream a whole dataset as one zip over HTTP; for leads. `dataset/export_service.py` describes its content.

`GET /api/dataset?dataset=…`. The person then counts as having seen all grades; this is stored with the audit
log entry.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.storage.database import Database
from annotator.web.downloads import send_pieces
from annotator.web.session import require_signed_in

ADDRESS = "/api/dataset"


def routes(database: Database) -> list[Route]:
    async def get_dataset(request: Request) -> Response:
        actor, dataset = require_signed_in(request).actor, request.query_params.get("dataset", "")

        def export() -> Iterator[bytes]:
            from annotator.dataset.export_service import export_dataset

            return export_dataset(database, actor, dataset, now=datetime.now(UTC))

        return await send_pieces(request, f"{dataset}.zip", "application/zip", export, is_kept=False)

    return [Route(ADDRESS, get_dataset, methods=["GET"])]
