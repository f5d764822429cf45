"""Draw the tab "Two releases": changed scores between two releases, and the changed grades behind them."""

import streamlit as st

from annotator.domain.figures import show_number, write_minus
from annotator.evaluation.rankings_service import (
    QueryMove,
    ReleaseEvaluationChange,
    ScoreMove,
    compare_on_releases,
)
from annotator.web.evaluation.choice import list_default_measures
from annotator.web.evaluation.page import ShownEvaluation, make_query_url
from annotator.web.kit.controls import choose_two
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table

SHOWN = 50
MOST_GRADES = 10


def draw(shown: ShownEvaluation) -> None:
    st.header(tr("Scores of the same runs on two releases"))
    versions = list(shown.choices.versions)
    if len(versions) < 2:
        st.text(
            tr(
                "This comparison needs two releases. Publish another one to see how its grades change the "
                "scores."
            )
        )
        draw_link(shown.context, "releases")
        return
    chosen = choose_two(versions)
    if chosen is None:
        return
    before, after = chosen
    choice = shown.choice
    with st.spinner(tr("Comparing …")):
        change = compare_on_releases(
            shown.context.database,
            shown.context.actor,
            shown.dataset,
            before,
            after,
            profile=choice.profile,
            measures=choice.measures or list_default_measures(choice.profile),
            measure=shown.measure,
            systems=choice.systems,
            most_queries=SHOWN,
            now=shown.context.now,
        )
    st.text(_describe(change))
    _draw_scores(change)
    _draw_queries(shown, change)


def _describe(change: ReleaseEvaluationChange) -> str:
    if not change.changed_grades:
        return tr(
            "All grades are the same in {before} and {after}.", before=change.before, after=change.after
        )
    grades = tr_n(
        "{n:,} grade differs between {before} and {after}.",
        "{n:,} grades differ between {before} and {after}.",
        change.changed_grades,
        before=change.before,
        after=change.after,
    )
    if not change.moved_queries:
        unmoved = tr("They do not change {measure} of any query.", measure=change.measure)
        return join_sentences([grades, unmoved])
    moved = tr_n(
        "{measure} changed on {n:,} query.",
        "{measure} changed on {n:,} queries.",
        change.moved_queries,
        measure=change.measure,
    )
    return join_sentences([grades, moved])


def _draw_scores(change: ReleaseEvaluationChange) -> None:
    draw_link_table(
        tr("Scores on both releases"),
        [tr("measure"), tr("system"), change.before, change.after, tr("change")],
        [
            [move.measure, move.system, _show(move.before), _show(move.after), _show_change(move)]
            for move in change.moves
        ],
    )
    if change.queries_before != change.queries_after:
        draw_note(
            tr(
                "Queries in the means: {before:,} on the first release, {after:,} on the second.",
                before=change.queries_before,
                after=change.queries_after,
            )
        )


def _draw_queries(shown: ShownEvaluation, change: ReleaseEvaluationChange) -> None:
    if not change.queries:
        return
    title = tr("Queries with a changed {measure}", measure=change.measure)
    st.subheader(title)
    columns = [tr("query"), tr("change"), tr("changed grades")]
    draw_link_table(
        title, columns, [_list_cells(shown, query, change) for query in change.queries], roomy=True
    )
    if change.moved_queries > len(change.queries):
        draw_note(
            tr(
                "Listed: {n} of {all:,} queries, largest change first.",
                n=len(change.queries),
                all=change.moved_queries,
            )
        )


def _list_cells(shown: ShownEvaluation, query: QueryMove, change: ReleaseEvaluationChange) -> list[Cell]:
    address = make_query_url(shown.dataset, shown.choice, query.query_id, measure=change.measure)
    says = tr("Open the ranked lists of {query_id}", query_id=query.query_id)
    grades = [
        f"{grade.doc_id} {_name_grade(grade.before)} → {_name_grade(grade.after)}"
        + (
            f" ({', '.join(f'{system} {rank}' for system, rank in grade.ranks.items())})"
            if grade.ranks
            else ""
        )
        for grade in query.grades[:MOST_GRADES]
    ]
    if len(query.grades) > MOST_GRADES:
        grades.append(tr("and {n:,} more", n=len(query.grades) - MOST_GRADES))
    changes = [f"{system} {_sign(value)}" for system, value in query.changes.items()]
    return [[Link(query.query_id, address, says), query.text], changes, grades]


def _name_grade(grade: int | None) -> str:
    return tr("unjudged") if grade is None else str(grade)


def _show(value: float | None) -> str:
    return "–" if value is None else show_number(value, 3)


def _show_change(move: ScoreMove) -> str:
    return "–" if move.change is None else _sign(move.change)


def _sign(value: float) -> str:
    return write_minus(show_number(value, 3, signed=value > 0))
