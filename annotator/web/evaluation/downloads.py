"""The evaluation as files, for leads: a table of the page as CSV, all scores as CSV, everything as JSON.

`GET /api/evaluation/figures?dataset=…&table=…`, `/api/evaluation/scores?dataset=…` and
`/api/evaluation/report?dataset=…`; the other parameters are those of `choice.py`. The files hold figures, but
no grade of a pair.
"""

import json
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.evaluation.dataset_analysis.robustness import describe_robustness
from annotator.evaluation.reports.json_and_csv import build_json, write_csv
from annotator.evaluation.service import EvaluationResult
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.storage.database import Database
from annotator.web.downloads import name_as
from annotator.web.evaluation.choice import EvaluationChoice, find_evaluation, read_choice
from annotator.web.evaluation.tables import QUERIES, TABLES, list_query_rows, list_rows
from annotator.web.navigation import make_url
from annotator.web.session import require_signed_in


async def get_figures(database: Database, request: Request) -> Response:
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, table = parameters.get("dataset", ""), parameters.get("table", "")
    measure = parameters.get("measure")
    text = await run_in_threadpool(
        write_figures, database, actor, dataset, read_choice(parameters), table, measure
    )
    return Response(text, media_type="text/csv", headers=name_as(f"{dataset}-{table}.csv"))


async def get_scores(database: Database, request: Request) -> Response:
    """Answer with every score as CSV, over all queries and by group."""
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, choice = parameters.get("dataset", ""), read_choice(parameters)

    def write() -> str:
        return "".join(write_csv(_find(database, actor, dataset, choice).evaluation))

    text = await run_in_threadpool(write)
    return Response(text, media_type="text/csv", headers=name_as(f"{dataset}-scores.csv"))


async def get_report(database: Database, request: Request) -> Response:
    """Answer with the whole evaluation as `annotator evaluate --json` writes it."""
    parameters, actor = request.query_params, require_signed_in(request).actor
    dataset, choice = parameters.get("dataset", ""), read_choice(parameters)

    def write() -> str:
        result = _find(database, actor, dataset, choice)
        report = build_json(
            result.evaluation,
            truth_source=result.source,
            targets=result.targets,
            extra=describe_robustness(result.robustness),
            expected_order=result.expected_order,
        )
        return json.dumps(report, ensure_ascii=False, indent=2) + "\n"

    text = await run_in_threadpool(write)
    return Response(text, media_type="application/json", headers=name_as(f"{dataset}-evaluation.json"))


def write_figures(
    database: Database,
    actor: Actor,
    dataset: str,
    choice: EvaluationChoice,
    table: str,
    measure: str | None,
) -> str:
    """Return a table as CSV. Raises NotFound for an unknown table or measure."""
    if table not in (*TABLES, QUERIES):
        tables = ", ".join((*TABLES, QUERIES))
        raise NotFound(say("no table {table!r}; there are: {tables}", table=table, tables=tables))
    result = _find(database, actor, dataset, choice)
    names = [one.name for one in result.evaluation.table.measures]
    if measure is not None and measure not in names:
        raise NotFound(
            say(
                "There is no measure {measure!r}. Choose one of: {names}",
                measure=measure,
                names=", ".join(names),
            )
        )
    chosen = measure or names[0]
    if table == QUERIES:
        rows = list_query_rows(result.evaluation, chosen)
    else:
        rows = list_rows(result, table, chosen)
    return "".join(write_sheet(list(rows[0]) if rows else [], (list(row.values()) for row in rows)))


def make_figures_url(dataset: str, choice: EvaluationChoice, table: str, measure: str) -> str:
    return make_url(
        "/api/evaluation/figures",
        choice.list_url_parameters(),
        dataset=dataset,
        table=table,
        measure=measure,
    )


def _find(database: Database, actor: Actor, dataset: str, choice: EvaluationChoice) -> EvaluationResult:
    return find_evaluation(database, actor, dataset, choice, now=datetime.now(UTC)).value
