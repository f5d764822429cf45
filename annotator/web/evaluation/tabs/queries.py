"""Draw the tab "Query by query": the systems' scores on every query, largest difference first."""

from urllib.parse import urlencode

import streamlit as st

from annotator.web.evaluation.choice import EvaluationChoice
from annotator.web.evaluation.tables import QUERIES, Row, list_query_rows, show_figure
from annotator.web.evaluation.tabs.shown import MOST_LISTED, ShownEvaluation
from annotator.web.kit.links import draw_file_link
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table


def draw(shown: ShownEvaluation) -> None:
    """Draw the queries as links to their ranked lists."""
    title = tr("{measure} by query", measure=shown.measure)
    st.header(title)
    rows = list_query_rows(shown.evaluation, shown.measure)
    if not rows:
        return
    columns = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
    draw_note(
        tr("Largest difference between systems first. Open a query to see the ranked lists side by side.")
    )
    listed = [_list_cells(shown, row, columns) for row in rows[:MOST_LISTED]]
    draw_link_table(title, columns, listed, tall=True, roomy=True)
    if len(rows) > MOST_LISTED:
        draw_note(tr("The first {n} of {all:,}. The file has all.", n=MOST_LISTED, all=len(rows)))
    draw_file_link(tr("Numbers as CSV"), shown.make_file_url(QUERIES))


def _list_cells(shown: ShownEvaluation, row: Row, columns: list[str]) -> list[Cell]:
    query_id = str(row[columns[0]])
    says = tr("Open the ranked lists of {query_id}", query_id=query_id)
    address = make_query_url(shown.dataset, shown.choice, query_id, measure=shown.measure)
    return [Link(query_id, address, says), *(show_figure(row[column]) for column in columns[1:])]


def make_query_url(dataset: str, choice: EvaluationChoice, query_id: str | None = None, **others: str) -> str:
    """Return the URL of a query's ranked lists, or of the evaluation (None). `others`: parameters."""
    parameters = [("dataset", dataset), *choice.list_url_parameters()]
    if query_id is not None:
        parameters.append(("query", query_id))
    return "/evaluation?" + urlencode([*parameters, *others.items()])
