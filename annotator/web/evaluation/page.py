"""Draw the page Evaluation: the choices, then the evaluation or the ranked lists of one query.

The evaluation has the scores of all systems first, then its key results and a tab for each kind of figure. `ShownEvaluation` is what every tab draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from importlib import import_module

import streamlit as st

from annotator.domain.errors import InsufficientData
from annotator.domain.judgments import describe_blind_queries
from annotator.domain.messages import Message, say
from annotator.evaluation.evaluate import Evaluation
from annotator.evaluation.service import EvaluationChoices, EvaluationResult, list_choices
from annotator.web.blind_pairs import draw_give_up
from annotator.web.evaluation.choice import EvaluationChoice, draw_choice, find_evaluation
from annotator.web.evaluation.downloads import make_figures_url
from annotator.web.evaluation.tables import (
    QUERIES,
    Row,
    find_digits,
    list_query_rows,
    list_rows,
    list_system_cells,
    show_cell,
    show_figure,
)
from annotator.web.kit.controls import draw_url_tabs, keep_focus
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_changed, draw_link, draw_note, require_dataset
from annotator.web.kit.tables import Cell, Link, TintedCell, draw_file_link, draw_link_table
from annotator.web.kit.words import name_person
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, list_person_names

ANEW = "evaluate anew"


def draw(context: PageContext) -> None:
    st.title(tr("Evaluation"))
    dataset = require_dataset(context)
    choices = context.call(list_choices, dataset)
    if not choices.systems:
        st.text(tr("No runs yet. Import the ranked results of your systems, one file per system."))
        draw_link(context, "import")
        return
    if not choices.has_grades and not choices.versions:
        st.text(tr("The systems cannot be scored yet: no pair has a settled grade."))
        draw_link(context, "overview")
        return
    profile = next(item.profile for item in context.datasets if item.name == dataset)
    choice = draw_choice(choices, profile)
    placeholder = st.empty()

    def announce() -> None:
        systems = len(choice.systems or choices.systems)
        words = tr_n("Scoring {n:,} system …", "Scoring {n:,} systems …", systems)
        placeholder.html(f'<p class="annotator-note" role="status">{escape(words)}</p>')

    from annotator.web.evaluation.query_view import draw_query

    query_id = st.query_params.get("query")
    try:
        kept = context.call(
            find_evaluation,
            dataset,
            choice,
            now=context.now,
            anew=st.session_state.pop(ANEW, False),
            announce=announce,
        )
    except InsufficientData as error:  # the lead may still judge a pair of every query
        placeholder.empty()
        st.text(show_refusal(error))
        draw_give_up(dataset)
        if query_id is not None:
            draw_query(context, dataset, choice, None, query_id)
        return
    placeholder.empty()
    if kept.changed:
        with placeholder.container(horizontal=True, vertical_alignment="center"):
            draw_changed(kept.made_at, ANEW, key="evaluate-again")
    from annotator.web.evaluation.page import draw_report

    if query_id is not None:
        draw_query(context, dataset, choice, kept.value, query_id)
    else:
        draw_report(context, dataset, choice, choices, _name_people(context, dataset, kept.value))
    keep_focus()


def _name_people(context: PageContext, dataset: str, result: EvaluationResult) -> EvaluationResult:
    """Return the result with the displayed names of annotators instead of usernames."""
    robustness = result.robustness
    if robustness is None or not robustness.by_annotator:
        return result
    names = list_person_names(context, dataset)
    by_annotator = tuple(
        replace(variant, variant=name_person(variant.variant, names)) for variant in robustness.by_annotator
    )
    return replace(result, robustness=replace(robustness, by_annotator=by_annotator))


FIRST = 6
TABS = {
    say("Scores"): ("score_tabs", "draw_scores"),
    say("Differences"): ("score_tabs", "draw_differences"),
    say("Groups"): ("score_tabs", "draw_groups"),
    say("Reliability"): ("abilities_tab", "draw"),
    say("Query by query"): ("page", "draw_queries"),
    say("Two releases"): ("releases_tab", "draw"),
}
"""The tabs with their modules and functions. A module is imported when its tab opens: charts take half a second."""


def draw_report(
    context: PageContext,
    dataset: str,
    choice: EvaluationChoice,
    choices: EvaluationChoices,
    result: EvaluationResult,
) -> None:
    """Draw all scores, the key results, the choice of a measure, the tabs and the links to files."""
    _draw_systems(result.evaluation)
    sentences = [*result.evaluation.sentences]
    if result.robustness is not None:
        sentences += result.robustness.sentences
    _draw_sentences(dataset, sentences, len(result.evaluation.table.truth.blind_queries))
    names = [measure.name for measure in result.evaluation.table.measures]
    measure = st.selectbox(tr("Measure"), names, key="measure", bind="query-params", width=260)
    shown = ShownEvaluation(context, dataset, choice, choices, result, measure or names[0])
    draw_url_tabs({title: partial(_draw_tab, shown, *home) for title, home in TABS.items()})
    chosen = choice.list_url_parameters()
    draw_file_link(tr("All scores as CSV"), make_url("/api/evaluation/scores", chosen, dataset=dataset))
    draw_file_link(tr("Full report as JSON"), make_url("/api/evaluation/report", chosen, dataset=dataset))


def _draw_systems(evaluation: Evaluation) -> None:
    st.header(tr("Scores"))
    names = [measure.name for measure in evaluation.table.measures]
    rows = list_system_cells(evaluation)
    draw_link_table(tr("Scores"), [tr("system"), *names], rows)
    notes = [tr("In brackets: 95\N{NO-BREAK SPACE}% intervals.")]
    baseline = evaluation.options.baseline
    if any(mark in str(rows) for mark in "▼▲"):
        notes.append(
            tr("▼ significantly lower than the best system of the measure (p < .05 after Holm).")
            if baseline is None
            else tr(
                "▼ significantly lower, ▲ higher than {baseline} (p < .05 after Holm).", baseline=baseline
            )
        )
    draw_note(join_sentences(notes))


def _draw_tab(shown: "ShownEvaluation", module: str, name: str) -> None:
    getattr(import_module(f"annotator.web.evaluation.{module}"), name)(shown)


def _draw_sentences(dataset: str, sentences: list[Message], blind_queries: int) -> None:
    """Draw the sentences; below the one about queries that are left out, the button that includes them."""
    st.header(tr("Key results"))
    for sentence in sentences[:FIRST]:
        st.html(f'<p class="annotator-step">{escape(tr(sentence))}</p>')
        if blind_queries and sentence == describe_blind_queries(blind_queries):
            draw_give_up(dataset)
    if len(sentences) > FIRST:
        more = len(sentences) - FIRST
        with st.expander(tr_n("{n:,} further finding", "{n:,} further findings", more), key="sentences"):
            for sentence in sentences[FIRST:]:
                st.html(f'<p class="annotator-step">{escape(tr(sentence))}</p>')


MOST_LISTED = 100
OF_SCORES = ("scores", "differences", "groups")
"""Tables with as many decimals as the intervals support."""


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
        return make_figures_url(self.dataset, self.choice, table, self.measure)

    def show_table(self, table: str, label: str, *, folded: bool = False) -> None:
        """Draw a table of TABLES. `folded`: behind a click, without the link to its file."""
        if folded:
            expander = st.expander(label, key=f"table-{table}", on_change="rerun")
            if expander.open:
                with expander:
                    self._draw_rows(table, label, list_rows(self.result, table, self.measure))
            return
        rows = list_rows(self.result, table, self.measure)
        self._draw_rows(table, label, rows)
        if rows:
            draw_file_link(tr("Numbers as CSV"), self.make_file_url(table))

    def _draw_rows(self, table: str, label: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        columns = list(rows[0])
        digits = find_digits(self.evaluation, self.measure) if table in OF_SCORES else 3
        shown = [[show_cell(column, row[column], digits) for column in columns] for row in rows[:MOST_LISTED]]
        draw_link_table(label, columns, shown, roomy=True)
        draw_rest(len(rows))


def draw_rest(rows: int) -> None:
    if rows > MOST_LISTED:
        draw_note(tr("The first {n} of {all:,}. The file has all.", n=MOST_LISTED, all=rows))


def draw_queries(shown: ShownEvaluation) -> None:
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
    draw_rest(len(rows))
    draw_file_link(tr("Numbers as CSV"), shown.make_file_url(QUERIES))


def _list_cells(shown: ShownEvaluation, row: Row, columns: list[str]) -> list[Cell]:
    query_id = str(row[columns[0]])
    says = tr("Open the ranked lists of {query_id}", query_id=query_id)
    address = make_query_url(shown.dataset, shown.choice, query_id, measure=shown.measure)
    return [Link(query_id, address, says), *(_tint(row[column]) for column in columns[1:])]


def _tint(cell: object) -> Cell:
    """Return a cell of the heat map: a score from 0 (pale) to 1 (deep). Other cells have no colour."""
    from annotator.web.kit.charts import tint_cell

    if isinstance(cell, float) and 0 <= cell <= 1:
        return TintedCell(show_figure(cell, 2), *tint_cell(cell, same=True))
    return show_figure(cell)


def make_query_url(dataset: str, choice: EvaluationChoice, query_id: str | None = None, **others: str) -> str:
    """Return the URL of a query's ranked lists, or of the evaluation (None). `others`: parameters."""
    further = [*choice.list_url_parameters(), ("query", query_id), *others.items()]
    return make_url("/evaluation", further, dataset=dataset)
