"""The data that every tab of the page Evaluation draws, and tables with a link to their file."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from annotator.evaluation.evaluate import Evaluation
from annotator.evaluation.service import EvaluationChoices, EvaluationResult
from annotator.web.evaluation.choice import EvaluationChoice
from annotator.web.evaluation.downloads import make_figures_url
from annotator.web.evaluation.tables import Row, list_rows, show_figure
from annotator.web.kit.links import draw_file_link
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table
from annotator.web.page_context import PageContext

MOST_LISTED = 100


@dataclass(frozen=True, slots=True, eq=False)
class ShownEvaluation:
    """The evaluation on the screen with the chosen measure."""

    context: PageContext
    dataset: str
    choice: EvaluationChoice
    choices: EvaluationChoices
    result: EvaluationResult
    measure: str

    @property
    def evaluation(self) -> Evaluation:
        return self.result.evaluation

    def make_file_url(self, table: str) -> str:
        """Return the URL of a table's file."""
        return make_figures_url(self.dataset, self.choice, table, self.measure)

    def show_table(self, table: str, label: str, *, folded: bool = False) -> None:
        """Draw a table of TABLES. `folded`: behind a click, without the link to its file."""
        if folded:
            expander = st.expander(label, key=f"table-{table}", on_change="rerun")
            if expander.open:
                with expander:
                    draw_figure_rows(label, list_rows(self.result, table, self.measure))
            return
        rows = list_rows(self.result, table, self.measure)
        draw_figure_rows(label, rows)
        if rows:
            draw_file_link(tr("Numbers as CSV"), self.make_file_url(table))


def draw_figure_rows(label: str, rows: Sequence[Row]) -> None:
    """Draw the first MOST_LISTED rows."""
    if not rows:
        return
    columns = list(rows[0])
    shown = [[show_figure(row[column]) for column in columns] for row in rows[:MOST_LISTED]]
    draw_link_table(label, columns, shown, roomy=True)
    if len(rows) > MOST_LISTED:
        draw_note(tr("The first {n} of {all:,}. The file has all.", n=MOST_LISTED, all=len(rows)))
