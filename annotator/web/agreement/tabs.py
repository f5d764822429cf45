"""The parts of the agreement page below its findings, one tab each: only the one that is open is drawn.

Every chart stands with its words, a way to its numbers and to the pairs behind them that needs no mouse, and its files.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.agreement.records import AgreementReport, PairAgreement, Selection
from annotator.web.agreement import agreement_rows as rows
from annotator.web.agreement.agreement_rows import KINDS
from annotator.web.agreement.charts import MOST as MOST_GROUPS
from annotator.web.agreement.charts import chart_forest, describe_forest, list_drawn
from annotator.web.agreement.downloads import list_figures_address
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.kappa_matrix import MOST as MOST_PEOPLE
from annotator.web.agreement.kappa_matrix import (
    MOST_WRITTEN,
    chart_matrix,
    choose_pairs,
    describe_matrix,
    list_people,
    list_shown,
)
from annotator.web.agreement.links import go_to, list_page_address, name_field
from annotator.web.agreement.tables import Asked, find_pair
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.controls import heed_address
from annotator.web.kit.heat_map import chart_confusion, describe_confusion, name_grades
from annotator.web.kit.link_table import Link, draw_link_table
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.words import name_word


def draw_dataset(report: AgreementReport) -> None:
    """Every coefficient of the dataset, and what makes kappa hard to read."""
    st.header(tr("Every coefficient"))
    draw_note(rows.say_basis(report))
    draw_figures(report, Asked("coefficients"), tr("Every coefficient"), at_once=True)
    found = report.measured.paradox
    if found is not None:
        st.text(tr(
            "Prevalence {prevalence:.2f}, bias {bias:.2f}, both from 0 to 1. A high prevalence (one grade given most of the "
            "time) lowers κ, and so does a low bias (annotators who give each grade equally often); AC1 hardly moves.",
            prevalence=found.prevalence, bias=found.bias,
        ))  # fmt: skip


def draw_annotators(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """Every two annotators, then two of them grade by grade."""
    pairs = report.measured.annotator_pairs
    if len(list_shown(pairs)) > 2:
        st.header(tr("Every two annotators"))
        kind = _choose_kind()
        drawn = choose_pairs(pairs, _choose_person(pairs))
        draw_report_chart(
            "kappa-matrix", chart_matrix(drawn, kind), describe_matrix(drawn, kind), caption=tr("Every two annotators"),
            csv=list_figures_address(report.dataset, Asked("annotators")), name=f"{report.dataset}-kappa", pick=_pick_two,
        )  # fmt: skip
        _say_of_matrix(pairs)
        draw_figures(report, Asked("annotators"), tr("Every two annotators as a table"))
    st.header(tr("Two annotators, grade by grade"))
    pair = _choose_two(report)
    if pair is None:
        st.text(tr("These two share no pair."))
        return
    asked = Asked("confusion", first=pair.annotators[0], second=pair.annotators[1])
    draw_report_chart(
        "confusion", chart_confusion(pair, grade_names), describe_confusion(pair), caption=rows.name_pair(pair),
        csv=list_figures_address(report.dataset, asked), name=f"{report.dataset}-confusion",
        pick=lambda cell: _pick_cell(pair, cell),
    )  # fmt: skip
    st.text(describe_confusion(pair))
    _draw_cells(report.dataset, pair, grade_names)
    if len(pairs) == 1:
        draw_figures(report, Asked("annotators"), tr("These two in figures"))


def draw_groups(report: AgreementReport, groupings: Sequence[str]) -> None:
    """The dataset and its groups against the target."""
    st.header(tr("By group"))
    heed_address("by", groupings)
    st.selectbox(tr("Group by"), groupings, format_func=name_field, key="by", bind="query-params")
    if not report.groups:
        st.text(tr("Choose a field to see where agreement is high and where it is low."))
        return
    by = report.groups[0].by
    if all(group.value is None for group in report.groups):
        st.text(tr("No query has a {field}.", field=name_field(by)))
        return
    asked = Asked("groups", by=by)
    draw_report_chart(
        "groups", chart_forest(report), describe_forest(report), caption=name_field(by),
        csv=list_figures_address(report.dataset, asked), name=f"{report.dataset}-groups",
        pick=lambda cell: _pick_group(report, cell),
    )  # fmt: skip
    said = tr("In brackets: pairs. Lines: 95 % intervals. Hollow: too few pairs to say much.")
    draw_note(f"{said} {tr('A click on a point shows its pairs.')}")
    if len(report.groups) > MOST_GROUPS:
        draw_note(tr("Drawn are the {n} largest groups of {all:,}; the file has all.", n=MOST_GROUPS, all=len(report.groups)))  # fmt: skip
    for group in list_drawn(report.groups):
        kappa = group.measured.cohen_kappa["unweighted"]
        if kappa.value is None:
            st.text(tr("{name}: undefined, {why}", name=rows.name_group(group), why=kappa.why))
    draw_figures(report, asked, tr("The groups as a table"))


def _choose_kind() -> str:
    heeded = heed_address("kappa", KINDS)
    chosen = st.segmented_control(
        tr("Kind of κ"), KINDS, default=None if heeded else KINDS[0], format_func=name_word, required=True, key="kappa",
        bind="query-params", wrap=True,
    )  # fmt: skip
    return str(chosen or KINDS[0])


def _choose_person(pairs: Sequence[PairAgreement]) -> str | None:
    """Whom the heat map is about, where there are more people than it holds."""
    people = list_people(pairs)
    if len(people) <= MOST_PEOPLE:
        return None
    heed_address("about", people)
    chosen: str | None = st.selectbox(
        tr("Find a person"), people, index=None, key="about", bind="query-params", placeholder=tr("those who share the most pairs"),
        width=360,
    )  # fmt: skip
    return chosen


def _say_of_matrix(pairs: Sequence[PairAgreement]) -> None:
    people = len({name for pair in pairs for name in pair.annotators})
    said = [tr("Above the diagonal κ, below it the pairs it rests on. A click on a cell shows its pairs.")]
    if people > MOST_PEOPLE:
        said.append(tr(
            "Drawn are {n} annotators of {all:,}: those who share the most pairs, or the one you choose with those who share the most "
            "with them. The file has all.", n=MOST_PEOPLE, all=people,
        ))  # fmt: skip
    if min(people, MOST_PEOPLE) > MOST_WRITTEN:
        said.append(tr("Point at a cell to read its figures."))
    draw_note(join_sentences(said))


def _choose_two(report: AgreementReport) -> PairAgreement | None:
    """The two annotators that are chosen; at first those who share the most pairs."""
    largest = max(report.measured.annotator_pairs, key=lambda pair: pair.pairs)
    names = sorted({name for pair in report.measured.annotator_pairs for name in pair.annotators})
    with st.container(horizontal=True):
        first, second = (
            st.selectbox(label, names, index=names.index(at_first), key=key, bind="query-params", width=260)
            for label, key, at_first in (
                (tr("Rows"), "rows", largest.annotators[0]),
                (tr("Columns"), "columns", largest.annotators[1]),
            )
        )
    return find_pair(report, first, second)


def _draw_cells(dataset: str, pair: PairAgreement, grade_names: Sequence[str]) -> None:
    """The matrix as a table: each count leads to its pairs."""
    names = name_grades(grade_names)
    first, second = pair.annotators
    with st.expander(tr("The matrix as a table, with its pairs")):
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
        "{n:,} pair that {first} graded {row} and {second} {column}",
        "{n:,} pairs that {first} graded {row} and {second} {column}",
        count, first=pair.annotators[0], second=pair.annotators[1], row=row, column=column,
    )  # fmt: skip
    selection = Selection(annotators=pair.annotators, grades=(row, column))
    return Link(f"{count:,}", list_page_address(dataset, selection), says)


def _pick_two(cell: Mapping[str, Any]) -> None:
    go_to(Selection(annotators=tuple(sorted((str(cell["row"]), str(cell["column"]))))))


def _pick_cell(pair: PairAgreement, cell: Mapping[str, Any]) -> None:
    row, column = int(cell["row"]), int(cell["column"])
    if pair.confusion[row][column]:
        go_to(Selection(annotators=pair.annotators, grades=(row, column)))


def _pick_group(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    place = cell.get("group")
    if place is None:
        return
    if int(place) < 0:
        go_to(Selection())
        return
    group = list_drawn(report.groups)[int(place)]
    go_to(Selection(by=group.by, value=group.value))
