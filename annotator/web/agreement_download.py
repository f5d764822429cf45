"""The figures of the agreement page and the pairs behind them as CSV files, streamed; for leads.

`GET /api/agreement/figures?dataset=…&table=…` is a table of the page, `GET /api/agreement/pairs?dataset=…&pairs=…` the list
behind a figure, whole, and `GET /api/agreement/since?dataset=…&version=…` agreement before and since a version. UTF-8 with a BOM: spreadsheets then read every language.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from annotator.agreement.service import compare_version, list_left_out_judgments, list_pairs_behind
from annotator.datasets.service import read_current_rubric
from annotator.domain.agreement import Selection
from annotator.domain.behind import PairBehind
from annotator.domain.errors import AnnotatorError, NotFound
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.left_out import LeftOutJudgment
from annotator.web.agreement_address import Parameters, list_parameters, read_selection
from annotator.web.agreement_routes import FIGURES, LEFT_OUT, PAIRS
from annotator.web.agreement_tables import TABLES, Asked, list_rows
from annotator.web.api import refuse
from annotator.web.kept_reports import REPORTS
from annotator.web.messages import current_language, tr, use_language
from annotator.web.signed_in import require_signed_in
from annotator.web.since_chart import list_since_rows

AT_ONCE = 10_000
BOM = "\ufeff"
COLUMNS = ("query_id", "query", "doc_id", "title", "status", "apart", "grades", "remark")


async def get_figures(database: Database, request: Request) -> Response:
    """A table of the page."""
    asked, actor = request.query_params, require_signed_in(request).actor
    try:
        told = Asked(**{key: asked[key] for key in ("table", "by", "first", "second") if key in asked})
        text = await run_in_threadpool(write_figures, database, actor, asked.get("dataset", ""), told)
    except AnnotatorError as error:
        return refuse(error)
    return Response(text, media_type="text/csv", headers=_name_as(f"{asked['dataset']}-{told.table}.csv"))


async def get_pairs(database: Database, request: Request) -> Response:
    """The pairs behind a figure."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, selection = asked.get("dataset", ""), read_selection(list(asked.multi_items()))
    try:
        if selection is None:
            raise NotFound(say("the address names no pairs"))
        await run_in_threadpool(list_pairs_behind, database, actor, dataset, selection, limit=1)
    except AnnotatorError as error:
        return refuse(error)
    pieces = write_pairs(database, actor, dataset, selection, language=current_language())
    return StreamingResponse(pieces, media_type="text/csv", headers=_name_as(f"{dataset}-pairs.csv"))


async def get_left_out(database: Database, request: Request) -> Response:
    """The judgments that are left out for one reason."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, kind = asked.get("dataset", ""), asked.get("kind", "")
    try:
        await run_in_threadpool(list_left_out_judgments, database, actor, dataset, kind, limit=1)
    except AnnotatorError as error:
        return refuse(error)
    pieces = write_left_out(database, actor, dataset, kind)
    return StreamingResponse(
        pieces, media_type="text/csv", headers=_name_as(f"{dataset}-left-out-{kind}.csv")
    )


async def get_since(database: Database, request: Request) -> Response:
    """Agreement before and since a version."""
    asked, actor = request.query_params, require_signed_in(request).actor
    dataset, version = asked.get("dataset", ""), asked.get("version", "")
    try:
        text = await run_in_threadpool(write_since, database, actor, dataset, version)
    except AnnotatorError as error:
        return refuse(error)
    return Response(text, media_type="text/csv", headers=_name_as(f"{dataset}-since-{version}.csv"))


def list_figures_address(dataset: str, asked: Asked) -> str:
    """The address of a table's file."""
    return f"{FIGURES}?" + urlencode([("dataset", dataset), *asked.list_parameters()])


def list_pairs_file_address(dataset: str, selection: Selection) -> str:
    """The address of the file of these pairs."""
    told: Parameters = [("dataset", dataset), *list_parameters(selection)]
    return f"{PAIRS}?" + urlencode(told)


def list_left_out_address(dataset: str, kind: str) -> str:
    """The address of the file of the judgments that are left out for this reason."""
    return f"{LEFT_OUT}?" + urlencode([("dataset", dataset), ("kind", kind)])


def write_figures(database: Database, actor: Actor, dataset: str, asked: Asked) -> str:
    """A table as CSV. NotFound: there is no such table."""
    if asked.table not in TABLES:
        raise NotFound(
            say("no table {table!r}; there are: {tables}", table=asked.table, tables=", ".join(TABLES))
        )
    report = REPORTS.find(database, actor, dataset, by=asked.by, now=datetime.now(UTC)).report
    _version, rubric = read_current_rubric(database, actor, dataset)
    rows = list_rows(report, asked, [definition.name for definition in rubric.grades])
    return BOM + _write([list(rows[0]) if rows else [], *(list(row.values()) for row in rows)])


def write_since(database: Database, actor: Actor, dataset: str, version: str) -> str:
    """Agreement before and since a version as CSV. NotFound: there is no such version, or none before it."""
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    found = compare_version(database, actor, dataset, number)
    rows = [] if found is None else list_since_rows(found)
    return BOM + _write([list(rows[0]) if rows else [], *(list(row.values()) for row in rows)])


def write_pairs(
    database: Database, actor: Actor, dataset: str, selection: Selection, *, language: str
) -> Iterator[str]:
    """The list as CSV, piece by piece."""
    yield BOM + _write([COLUMNS])
    offset = 0
    while True:
        found = list_pairs_behind(database, actor, dataset, selection, limit=AT_ONCE, offset=offset)
        use_language(language)
        yield _write([_describe(one) for one in found.pairs])
        offset += AT_ONCE
        if offset >= found.total:
            return


def write_left_out(database: Database, actor: Actor, dataset: str, kind: str) -> Iterator[str]:
    """The judgments left out for this reason as CSV, piece by piece."""
    columns = [one.name for one in fields(LeftOutJudgment)]
    yield BOM + _write([columns])
    offset = 0
    while found := list_left_out_judgments(database, actor, dataset, kind, limit=AT_ONCE, offset=offset):
        yield _write([[getattr(one, name) for name in columns] for one in found])
        offset += AT_ONCE


def _describe(one: PairBehind) -> Sequence[object]:
    if one.hidden:
        return ["", "", "", "", "", "", "", tr("yours to judge first")]
    grades = "; ".join(f"{name} {grade}" for name, grade in one.grades)
    remark = "" if one.note is None else tr(one.note)
    return [one.query_id, one.query, one.doc_id, one.title, one.status, one.distance, grades, remark]


def _write(rows: Sequence[Sequence[object]]) -> str:
    made = io.StringIO()
    csv.writer(made).writerows([["" if cell is None else cell for cell in row] for row in rows])
    return made.getvalue()


def _name_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
