"""Send the figures, the draws and the errors of quality control as CSV files for spreadsheets. For leads.

`GET /api/quality?dataset=…&table=kinds|curve|draws|errors`. Columns have English names in every language, as
in all files. Drawn pairs without an answer are in no file.
"""

from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.quality.records import QualityDraw, QualityError, QualityStatus
from annotator.quality.service import project_bound, show_quality
from annotator.storage.database import Database
from annotator.web.downloads import send_pieces
from annotator.web.session import require_signed_in

ADDRESS = "/api/quality"
TABLES = ("kinds", "curve", "draws", "errors")
KINDS = ("kind", "errors", "checked", "rate", "interval_from", "interval_to", "upper_bound")
CURVE = ("further_pairs_without_error", "upper_bound")


def routes(database: Database) -> list[Route]:
    async def get_table(request: Request) -> Response:
        parameters, actor = request.query_params, require_signed_in(request).actor
        dataset, table = parameters.get("dataset", ""), parameters.get("table", "")
        return await send_pieces(
            request,
            f"{dataset}-quality-{table}.csv",
            "text/csv",
            lambda: write_table(database, actor, dataset, table, now=datetime.now(UTC)),
        )

    return [Route(ADDRESS, get_table, methods=["GET"])]


def write_table(database: Database, actor: Actor, dataset: str, table: str, *, now: datetime) -> str:
    """Return a table as CSV. Raises NotFound for an unknown table, NotAllowed unless the actor is a lead."""
    if table not in TABLES:
        raise NotFound(say("no table {table!r}; there are: {tables}", table=table, tables=", ".join(TABLES)))
    columns, *rows = _list_rows(show_quality(database, actor, dataset, now=now), table)
    if table == "errors":  # with both grades of each pair
        from annotator.audit.service import note_download

        note_download(database, actor, dataset, "quality-errors.csv", now=now)
    return "".join(write_sheet([str(name) for name in columns], rows))


def _list_rows(status: QualityStatus, table: str) -> list[Sequence[object]]:
    if table == "kinds":
        return [
            KINDS,
            *(
                (kind, rate.errors, rate.checked, rate.rate, *(rate.ci95 or (None, None)), rate.bound)
                for kind, rate in status.rates.items()
            ),
        ]
    if table == "curve":
        return [CURVE, *project_bound(status)]
    records, kind = (status.draws, QualityDraw) if table == "draws" else (status.errors, QualityError)
    names = [field.name for field in fields(kind)]
    return [names, *(list(asdict(record).values()) for record in records)]
