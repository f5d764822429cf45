"""Draw the tab Annotators: the kappa of every two annotators, then two of them grade by grade."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.agreement.records import KAPPA_KINDS, AgreementReport, PairAgreement, PairSelection
from annotator.web.agreement import tables as rows
from annotator.web.agreement.charts import (
    MOST_PEOPLE,
    MOST_WRITTEN,
    chart_matrix,
    choose_pairs,
    describe_matrix,
    list_people,
    list_shown,
)
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import find_shown, go_to, make_page_url
from annotator.web.agreement.tables import TableRequest, find_pair, make_figures_url
from annotator.web.kit.charts import CELL_AXIS, layer_counts, tint_cell, turn_labels
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_report_chart
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.kit.words import find_username, name_grades, name_word


def draw(report: AgreementReport, grade_names: Sequence[str]) -> None:
    pairs = report.measured.annotator_pairs
    if len(list_shown(pairs)) > 2:
        st.header(tr("All annotator pairs"))
        kind = _choose_kind()
        drawn = choose_pairs(pairs, _choose_person(pairs))
        draw_report_chart(
            "kappa-matrix",
            chart_matrix(drawn, kind),
            describe_matrix(drawn, kind),
            caption=tr("All annotator pairs"),
            csv=make_figures_url(report.dataset, TableRequest("annotators")),
            name=f"{report.dataset}-kappa",
            pick=lambda cell: _pick_two(report, cell),
        )
        _draw_matrix_notes(pairs)
        draw_figures(report, TableRequest("annotators"), tr("Table of annotator pairs"))
    st.header(tr("Two annotators by grade"))
    pair = _choose_two(report)
    if pair is None:
        st.text(tr("These annotators have no pairs in common."))
        return
    request = TableRequest("confusion", first=pair.annotators[0], second=pair.annotators[1])
    draw_report_chart(
        "confusion",
        chart_confusion(pair, grade_names),
        describe_confusion(pair),
        caption=rows.name_pair(pair),
        csv=make_figures_url(report.dataset, request),
        name=f"{report.dataset}-confusion",
        pick=lambda cell: _pick_cell(pair, cell),
    )
    st.text(describe_confusion(pair))
    _draw_cells(report.dataset, pair, grade_names)
    if len(pairs) == 1:
        draw_figures(report, TableRequest("annotators"), tr("Figures of these two annotators"))


def _choose_kind() -> str:
    apply_url_choice("kappa", KAPPA_KINDS)
    chosen = st.segmented_control(
        tr("Kind of κ"),
        KAPPA_KINDS,
        default=KAPPA_KINDS[0],
        format_func=name_word,
        required=True,
        key="kappa",
        bind="query-params",
        wrap=True,
    )
    return str(chosen or KAPPA_KINDS[0])


def _choose_person(pairs: Sequence[PairAgreement]) -> str | None:
    """Ask which annotator the heat map is about, if there are more than it can show; None for nobody."""
    people = list_people(pairs)
    if len(people) <= MOST_PEOPLE:
        return None
    return _choose_from(
        tr("Find a person"), "about", people, None, placeholder=tr("most shared pairs"), width=360
    )


def _draw_matrix_notes(pairs: Sequence[PairAgreement]) -> None:
    people = len({name for pair in pairs for name in pair.annotators})
    sentences = [tr("Above the diagonal: κ. Below: number of shared pairs. Click a cell to show its pairs.")]
    if people > MOST_PEOPLE:
        sentences.append(
            tr(
                "Showing {n} of {all:,} annotators: those with the most shared pairs, or the chosen "
                "annotator and those who share the most pairs with them. The file has all of them.",
                n=MOST_PEOPLE,
                all=people,
            )
        )
    if min(people, MOST_PEOPLE) > MOST_WRITTEN:
        sentences.append(tr("Point at a cell to see its figures."))
    draw_note(join_sentences(sentences))


def _choose_two(report: AgreementReport) -> PairAgreement | None:
    """Ask for two annotators, at first those who share the most pairs; None if the two share no pair."""
    largest = max(report.measured.annotator_pairs, key=lambda pair: pair.pairs)
    names = sorted({name for pair in report.measured.annotator_pairs for name in pair.annotators})
    with st.container(horizontal=True):
        first, second = (
            _choose_from(label, key, names, at_first, width=260)
            for label, key, at_first in (
                (tr("Rows"), "rows", largest.annotators[0]),
                (tr("Columns"), "columns", largest.annotators[1]),
            )
        )
    return None if first is None or second is None else find_pair(report, first, second)


def _draw_cells(dataset: str, pair: PairAgreement, grade_names: Sequence[str]) -> None:
    names = name_grades(grade_names)
    first, second = pair.annotators
    with st.expander(tr("Matrix as a table with links to the pairs")):
        draw_link_table(
            rows.name_pair(pair),
            [f"{first} ↓ {second} →", *names],
            [
                [name, *(_link_cell(dataset, pair, at, to) for to in range(len(names)))]
                for at, name in enumerate(names)
            ],
        )


def _link_cell(dataset: str, pair: PairAgreement, row: int, column: int) -> str | Link:
    count = pair.confusion[row][column]
    if not count:
        return "0"
    says = tr_n(
        "{n:,} pair graded {row} by {first} and {column} by {second}",
        "{n:,} pairs graded {row} by {first} and {column} by {second}",
        count,
        first=pair.annotators[0],
        second=pair.annotators[1],
        row=row,
        column=column,
    )
    selection = PairSelection(annotators=pair.annotators, grades=(row, column))
    return Link(f"{count:,}", make_page_url(dataset, selection), says)


def _pick_two(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    who = (find_shown(report, cell["row"]), find_shown(report, cell["column"]))
    go_to(PairSelection(annotators=tuple(sorted(who))))


def _pick_cell(pair: PairAgreement, cell: Mapping[str, Any]) -> None:
    row, column = int(cell["row"]), int(cell["column"])
    if pair.confusion[row][column]:
        go_to(PairSelection(annotators=pair.annotators, grades=(row, column)))


def _choose_from(
    label: str, key: str, people: Sequence[str], at_first: str | None, *, placeholder: str = "", width: int
) -> str | None:
    """Ask for one of the people; the parameter `key` of the address keeps the username."""
    by_username = {find_username(name): name for name in people}
    asked = st.query_params.get(key)
    if asked in by_username and st.session_state.get(key) != asked:
        st.session_state[key] = asked
    if key not in st.session_state:
        st.session_state[key] = None if at_first is None else find_username(at_first)
    chosen = st.selectbox(
        label,
        list(by_username),
        index=None if at_first is None else 0,
        format_func=lambda username: str(by_username[username]),
        key=key,
        placeholder=placeholder or None,
        on_change=_put_into_address,
        args=(key,),
        width=width,
    )
    return by_username.get(chosen or "")


def _put_into_address(key: str) -> None:
    chosen = st.session_state[key]
    if chosen is None:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = chosen


def chart_confusion(pair: PairAgreement, grade_names: Sequence[str]) -> alt.LayerChart:
    """Chart the confusion matrix: the first annotator's grades in rows, the second's in columns.

    A click on a cell picks its grades (parameter `cell`: row, column).
    """
    (first, second), names = pair.annotators, name_grades(grade_names)
    axis = {"titleLimit": 200, **CELL_AXIS}
    base = alt.Chart(alt.InlineData(list_cells(pair, grade_names))).encode(
        y=alt.Y("first:N", sort=names, title=first, axis=alt.Axis(labelLimit=130, **axis)),
        x=alt.X("second:N", sort=names, title=second, axis=alt.Axis(**turn_labels(names, 130), **axis)),
        tooltip=[
            alt.Tooltip("first:N", title=first),
            alt.Tooltip("second:N", title=second),
            alt.Tooltip("pairs:Q", title=tr("pairs")),
        ],
    )
    return layer_counts(base, "pairs", "row", "column", size=14).properties(height=340)


def describe_confusion(pair: PairAgreement) -> str:
    first, second = pair.annotators
    same = sum(row[index] for index, row in enumerate(pair.confusion))
    return tr_n(
        "Confusion matrix over {pairs:,} pair, rows {first}, columns {second}: the same grade on {same:,}, "
        "different grades on {different:,}. The counts are in the table below.",
        "Confusion matrix over {pairs:,} pairs, rows {first}, columns {second}: the same grade on {same:,}, "
        "different grades on {different:,}. The counts are in the table below.",
        pair.pairs,
        pairs=pair.pairs,
        first=first,
        second=second,
        same=same,
        different=pair.pairs - same,
    )


def list_cells(pair: PairAgreement, grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each cell with grades, count, background (`fill`) and text colour (`ink`)."""
    names = name_grades(grade_names)
    most = max(count for row in pair.confusion for count in row) or 1
    cells = []
    for r, row in enumerate(pair.confusion):
        for c, count in enumerate(row):
            fill, ink = tint_cell(sqrt(count / most), same=r == c)
            cells.append(
                {
                    "row": r,
                    "column": c,
                    "first": names[r],
                    "second": names[c],
                    "pairs": count,
                    "fill": fill,
                    "ink": ink,
                }
            )
    return cells
