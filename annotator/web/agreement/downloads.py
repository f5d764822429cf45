"""Send the figures of the agreement page, and the pairs behind them, as streamed CSV files. For leads.

`GET /api/agreement/figures?dataset=…&table=…` is a table of the page, `GET
/api/agreement/pairs?dataset=…&pairs=…` the whole list behind a figure, `GET
/api/agreement/left-out?dataset=…&kind=…` the judgments left out for one reason, and `GET
/api/agreement/since?dataset=…&version=…` agreement before and since a version. For spreadsheets
(`formats/syntax/spreadsheet.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from annotator.agreement.records import ExcludedJudgment, PairSelection, SelectedPair
from annotator.agreement.service import (
    compare_version,
    iterate_left_out_judgments,
    iterate_selected_pairs,
)
from annotator.audit.service import note_download
from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import NotFound
from annotator.domain.grades import list_local_names
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.storage.database import Database
from annotator.web.agreement.links import read_selection
from annotator.web.agreement.page import find_kept_report
from annotator.web.agreement.tables import TABLES, TableRequest, list_rows, list_since_rows
from annotator.web.downloads import name_as, send_pieces
from annotator.web.kit.messages import current_language, tr, use_language
from annotator.web.session import require_signed_in

COLUMNS = ("query_id", "query", "doc_id", "title", "status", "apart", "grades", "remark")


async def get_figures(database: Database, request: Request) -> Response:
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset = parameters.get("dataset", "")
    table = TableRequest(
        **{key: parameters[key] for key in ("table", "by", "first", "second") if key in parameters}
    )
    text = await run_in_threadpool(write_figures, database, actor, dataset, table)
    return Response(text, media_type="text/csv", headers=name_as(f"{dataset}-{table.table}.csv"))


async def get_pairs(database: Database, request: Request) -> Response:
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, selection = parameters.get("dataset", ""), read_selection(list(parameters.multi_items()))

    def write() -> Iterator[str]:
        if selection is None:
            raise NotFound(say("The address does not name any pairs. Open the list again from Agreement."))
        return write_pairs(database, actor, dataset, selection, language=current_language(), now=_now())

    return await _send(database, request, dataset, "pairs", write)


async def get_left_out(database: Database, request: Request) -> Response:
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, kind = parameters.get("dataset", ""), parameters.get("kind", "")

    def write() -> Iterator[str]:
        return write_left_out(database, actor, dataset, kind, now=_now())

    return await _send(database, request, dataset, f"left-out-{kind}", write)


async def _send(
    database: Database, request: Request, dataset: str, name: str, write: Callable[[], Iterator[str]]
) -> Response:
    """Send a file of pairs, which the reader can no longer judge, and write to the audit log."""
    actor = require_signed_in(request).actor

    def begin() -> Iterator[str]:
        pieces = write()
        note_download(database, actor, dataset, f"{name}.csv", now=_now())
        return pieces

    return await send_pieces(request, f"{dataset}-{name}.csv", "text/csv", begin)


async def get_since(database: Database, request: Request) -> Response:
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, version = parameters.get("dataset", ""), parameters.get("version", "")
    text = await run_in_threadpool(write_since, database, actor, dataset, version)
    return Response(text, media_type="text/csv", headers=name_as(f"{dataset}-since-{version}.csv"))


def write_figures(database: Database, actor: Actor, dataset: str, request: TableRequest) -> str:
    """Return a table as CSV. Raises NotFound if there is no such table."""
    if request.table not in TABLES:
        raise NotFound(
            say("no table {table!r}; there are: {tables}", table=request.table, tables=", ".join(TABLES))
        )
    report = find_kept_report(database, actor, dataset, by=request.by, now=datetime.now(UTC)).value
    _version, rubric = read_current_rubric(database, actor, dataset)
    rows = list_rows(report, request, [tr(name) for name in list_local_names(rubric)])
    return _write_table(rows)


def write_since(database: Database, actor: Actor, dataset: str, version: str) -> str:
    """Return agreement before and since a version as CSV.

    Raises NotFound if the version is unknown or the first one.
    """
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    comparison = compare_version(database, actor, dataset, number)
    rows = [] if comparison is None else list_since_rows(comparison)
    return _write_table(rows)


def write_pairs(
    database: Database, actor: Actor, dataset: str, selection: PairSelection, *, language: str, now: datetime
) -> Iterator[str]:
    """Yield the list as CSV, piece by piece. Its pairs are noted as seen before the first piece."""
    pairs = iterate_selected_pairs(database, actor, dataset, selection, now=now)

    def describe() -> Iterator[Sequence[object]]:
        for pair in pairs:
            use_language(language)
            yield _describe(pair)

    return write_sheet(COLUMNS, describe())


def write_left_out(
    database: Database, actor: Actor, dataset: str, kind: str, *, now: datetime
) -> Iterator[str]:
    """Yield the judgments left out for this reason as CSV, piece by piece."""
    columns = [field.name for field in fields(ExcludedJudgment)]
    excluded = iterate_left_out_judgments(database, actor, dataset, kind, now=now)
    return write_sheet(columns, ([getattr(judgment, name) for name in columns] for judgment in excluded))


def _describe(pair: SelectedPair) -> Sequence[object]:
    grades = "; ".join(f"{name} {grade}" for name, grade in pair.grades)
    remark = "" if pair.note is None else tr(pair.note)
    return [pair.query_id, pair.query, pair.doc_id, pair.title, pair.status, pair.distance, grades, remark]


def _write_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the table as CSV, figures with three decimals."""
    cells = ([round(cell, 3) if isinstance(cell, float) else cell for cell in row.values()] for row in rows)
    return "".join(write_sheet(list(rows[0]) if rows else [], cells))


def _now() -> datetime:
    return datetime.now(UTC)
