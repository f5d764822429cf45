"""The figures of the agreement page and the pairs behind them as CSV files, streamed; for leads.

`GET /api/agreement/figures?dataset=…&table=…` is a table of the page, `GET /api/agreement/pairs?dataset=…&pairs=…` the list
behind a figure, whole, and `GET /api/agreement/since?dataset=…&version=…` agreement before and since a version. For spreadsheets (`formats/spreadsheet.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from annotator.agreement.records import ExcludedJudgment, PairBehind, PairSelection
from annotator.agreement.service import (
    compare_version,
    iterate_left_out_judgments,
    iterate_pairs_behind,
)
from annotator.dataset.service import read_current_rubric
from annotator.domain.errors import AnnotatorError, NotFound
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.formats.spreadsheet import write_sheet
from annotator.storage.database import Database
from annotator.web.agreement.links import Parameters, list_parameters, read_selection
from annotator.web.agreement.report_cache import REPORTS
from annotator.web.agreement.routes import FIGURES, LEFT_OUT, PAIRS
from annotator.web.agreement.tables import TABLES, TableRequest, list_rows
from annotator.web.agreement.time_charts import list_since_rows
from annotator.web.kit.messages import current_language, tr, use_language
from annotator.web.labeling.api import refuse
from annotator.web.session import require_same_origin, require_signed_in

COLUMNS = ("query_id", "query", "doc_id", "title", "status", "apart", "grades", "remark")


async def get_figures(database: Database, request: Request) -> Response:
    """A table of the page."""
    asked, actor = request.query_params, require_signed_in(request).actor
    try:
        told = TableRequest(**{key: asked[key] for key in ("table", "by", "first", "second") if key in asked})
        text = await run_in_threadpool(write_figures, database, actor, asked.get("dataset", ""), told)
    except AnnotatorError as error:
        return refuse(error)
    return Response(text, media_type="text/csv", headers=_name_as(f"{asked['dataset']}-{told.table}.csv"))


async def get_pairs(database: Database, request: Request) -> Response:
    """The pairs behind a figure."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, selection = asked.get("dataset", ""), read_selection(list(asked.multi_items()))

    def write() -> Iterator[str]:
        if selection is None:
            raise NotFound(say("the address names no pairs"))
        return write_pairs(database, actor, dataset, selection, language=current_language(), now=_now())

    return await _send(request, write, f"{dataset}-pairs.csv")


async def get_left_out(database: Database, request: Request) -> Response:
    """The judgments that are left out for one reason."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, kind = asked.get("dataset", ""), asked.get("kind", "")

    def write() -> Iterator[str]:
        return write_left_out(database, actor, dataset, kind, now=_now())

    return await _send(request, write, f"{dataset}-left-out-{kind}.csv")


async def _send(request: Request, write: Callable[[], Iterator[str]], name: str) -> Response:
    """A file of pairs. What is in it is noted as seen before it is sent, so another site cannot have it fetched."""
    if request.method == "HEAD":
        return Response(media_type="text/csv", headers=_name_as(name))
    try:
        require_same_origin(request)
        pieces = await run_in_threadpool(write)
    except AnnotatorError as error:
        return refuse(error)
    return StreamingResponse(pieces, media_type="text/csv", headers=_name_as(name))


async def get_since(database: Database, request: Request) -> Response:
    """Agreement before and since a version."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, version = asked.get("dataset", ""), asked.get("version", "")
    try:
        text = await run_in_threadpool(write_since, database, actor, dataset, version)
    except AnnotatorError as error:
        return refuse(error)
    return Response(text, media_type="text/csv", headers=_name_as(f"{dataset}-since-{version}.csv"))


def list_figures_address(dataset: str, asked: TableRequest) -> str:
    """The address of a table's file."""
    return f"{FIGURES}?" + urlencode([("dataset", dataset), *asked.list_parameters()])


def list_pairs_file_address(dataset: str, selection: PairSelection) -> str:
    """The address of the file of these pairs."""
    told: Parameters = [("dataset", dataset), *list_parameters(selection)]
    return f"{PAIRS}?" + urlencode(told)


def list_left_out_address(dataset: str, kind: str) -> str:
    """The address of the file of the judgments that are left out for this reason."""
    return f"{LEFT_OUT}?" + urlencode([("dataset", dataset), ("kind", kind)])


def write_figures(database: Database, actor: Actor, dataset: str, asked: TableRequest) -> str:
    """A table as CSV. NotFound: there is no such table."""
    if asked.table not in TABLES:
        raise NotFound(
            say("no table {table!r}; there are: {tables}", table=asked.table, tables=", ".join(TABLES))
        )
    report = REPORTS.find(database, actor, dataset, by=asked.by, now=datetime.now(UTC)).report
    _version, rubric = read_current_rubric(database, actor, dataset)
    rows = list_rows(report, asked, [definition.name for definition in rubric.grades])
    return _write_table(rows)


def write_since(database: Database, actor: Actor, dataset: str, version: str) -> str:
    """Agreement before and since a version as CSV. NotFound: there is no such version, or none before it."""
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    found = compare_version(database, actor, dataset, number)
    rows = [] if found is None else list_since_rows(found)
    return _write_table(rows)


def write_pairs(
    database: Database, actor: Actor, dataset: str, selection: PairSelection, *, language: str, now: datetime
) -> Iterator[str]:
    """The list as CSV, piece by piece. What is in it is noted as seen before the first."""
    pairs = iterate_pairs_behind(database, actor, dataset, selection, now=now)

    def describe() -> Iterator[Sequence[object]]:
        for one in pairs:
            use_language(language)
            yield _describe(one)

    return write_sheet(COLUMNS, describe())


def write_left_out(
    database: Database, actor: Actor, dataset: str, kind: str, *, now: datetime
) -> Iterator[str]:
    """The judgments left out for this reason as CSV, piece by piece."""
    columns = [one.name for one in fields(ExcludedJudgment)]
    found = iterate_left_out_judgments(database, actor, dataset, kind, now=now)
    return write_sheet(columns, ([getattr(one, name) for name in columns] for one in found))


def _describe(one: PairBehind) -> Sequence[object]:
    if one.hidden:
        return ["", "", "", "", "", "", "", tr("yours to judge first")]
    grades = "; ".join(f"{name} {grade}" for name, grade in one.grades)
    remark = "" if one.note is None else tr(one.note)
    return [one.query_id, one.query, one.doc_id, one.title, one.status, one.distance, grades, remark]


def _write_table(rows: Sequence[Mapping[str, object]]) -> str:
    """A table whose rows name their columns."""
    return "".join(write_sheet(list(rows[0]) if rows else [], (list(row.values()) for row in rows)))


def _now() -> datetime:
    return datetime.now(UTC)


def _name_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
