"""Draw a table of the agreement page, with its file and links to the pairs behind each number.

The links are the keyboard's way to what a click on the chart beside it opens.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from annotator.agreement.ranking import (
    choose_people_by_period,
    describe_unranked_pairs,
    rank_groups,
    rank_leanings,
    rank_pairs,
)
from annotator.agreement.records import AgreementReport, PairSelection
from annotator.web.agreement.links import describe_selection, make_page_url
from annotator.web.agreement.tables import (
    Row,
    TableRequest,
    list_rows,
    make_figures_url,
    name_leaning,
    show_cell,
)
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table
from annotator.web.kit.words import name_grades

CellSelections = Mapping[str, PairSelection]
"""By column, the pairs behind the cells of one row."""


def list_cell_selections(
    report: AgreementReport, request: TableRequest, grade_names: Sequence[str] = ()
) -> list[CellSelections]:
    """Return the links of each row of the table; an empty list for a table without links."""
    write = _SELECTIONS_BY_TABLE.get(request.table)
    return write(report, grade_names) if write else []


def link_cells(
    dataset: str, row: Row, selections: CellSelections, columns: Sequence[str], shown: Sequence[str]
) -> list[Cell]:
    """Return the cells of a row, those with pairs behind them as links."""
    return [
        _link(dataset, column, text, selections[column])
        if column in selections and _counts(row[column])
        else text
        for column, text in zip(columns, shown, strict=True)
    ]


def _counts(cell: object) -> bool:
    """Return whether there are pairs behind a cell: a difference of 0.0 has some, a count of 0 has none."""
    return isinstance(cell, float) or bool(cell)


def _link(dataset: str, column: str, text: str, selection: PairSelection) -> Link:
    says = f"{column} {text}: {describe_selection(selection)}"
    return Link(text, make_page_url(dataset, selection), says)


def _list_periods(report: AgreementReport) -> list[CellSelections]:
    return [
        {}
        if period.span is None
        else {
            tr("pairs"): PairSelection(span=period.span),
            **{
                name_leaning(leaning.annotator): PairSelection(
                    annotators=(leaning.annotator,), span=period.span
                )
                for leaning in period.leanings
            },
        }
        for period in report.periods
    ]


def _list_groups(report: AgreementReport) -> list[CellSelections]:
    groups = [PairSelection(by=group.by, value=group.value) for group in report.groups]
    return [{tr("pairs"): group} for group in (PairSelection(), *groups)] if groups else []


_SELECTIONS_BY_TABLE: Mapping[str, Callable[[AgreementReport, Sequence[str]], list[CellSelections]]] = {
    "annotators": lambda report, _names: [
        {tr("pairs"): PairSelection(annotators=pair.annotators)} for pair in report.measured.annotator_pairs
    ],
    "groups": lambda report, _names: _list_groups(report),
    "periods": lambda report, _names: _list_periods(report),
    "leanings": lambda report, _names: [
        {tr("comparisons"): PairSelection(annotators=(leaning.annotator,))}
        for leaning in report.measured.leanings
    ],
    "grades": lambda report, names: [
        {column: PairSelection("given", who, grade=grade) for grade, column in enumerate(name_grades(names))}
        for who in ((), *((annotator,) for annotator in report.measured.grades_by_annotator))
    ],
}


MOST_LISTED = 100


def draw_figures(
    report: AgreementReport,
    request: TableRequest,
    label: str,
    grade_names: Sequence[str] = (),
    *,
    at_once: bool = False,
) -> None:
    """Draw a table in an expander, or open from the start with `at_once`, and a link to its file.

    Of more than MOST_LISTED rows, the most important ones are shown (`choose_rows`); the file has all.
    """
    if at_once:
        _draw_rows(report, request, label, grade_names, list_rows(report, request, grade_names))
        draw_file_link(tr("Numbers as CSV"), make_figures_url(report.dataset, request))
        return
    shown = st.expander(label, key=f"table-{request.table}", on_change="rerun")
    if shown.open:
        with shown:
            rows = list_rows(report, request, grade_names)
            _draw_rows(report, request, label, grade_names, rows)
            if len(rows) > MOST_LISTED or choose_hidden_columns(report, request)[1]:
                draw_file_link(tr("Numbers as CSV"), make_figures_url(report.dataset, request))


def _draw_rows(
    report: AgreementReport,
    request: TableRequest,
    label: str,
    grade_names: Sequence[str],
    rows: Sequence[Row],
) -> None:
    hidden, sentence = choose_hidden_columns(report, request)
    columns = [
        name
        for name in (rows[0] if rows else ())
        if name not in hidden and any(row[name] not in (None, "") for row in rows)
    ]
    if sentence:
        draw_note(sentence)
    selections_by_row = list_cell_selections(report, request, grade_names) or [{}] * len(rows)
    if len(rows) > MOST_LISTED:
        positions, sentences = choose_rows(report, request, len(rows))
        draw_note(sentences)
        rows, selections_by_row = (
            [rows[index] for index in positions],
            [selections_by_row[index] for index in positions],
        )
        if not rows:
            return
    cells = [
        link_cells(report.dataset, row, selections, columns, [show_cell(name, row[name]) for name in columns])
        for row, selections in zip(rows, selections_by_row, strict=True)
    ]
    draw_link_table(label, columns, cells, roomy=True)


def choose_hidden_columns(report: AgreementReport, request: TableRequest) -> tuple[set[str], str]:
    """Return the columns that the page leaves out because there are too many, and a sentence that says so."""
    if request.table != "periods":
        return set(), ""
    listed, people = choose_people_by_period(report)
    if len(listed) == people:
        return set(), ""
    annotators = {leaning.annotator for period in report.periods for leaning in period.leanings}
    sentences = [
        tr(
            "Showing {n:,} of {all:,}, sorted by leniency over the whole time.",
            n=len(listed),
            all=people,
        ),
        tr("The file has all of them."),
    ]
    return {name_leaning(name) for name in annotators - listed}, join_sentences(sentences)


def choose_rows(report: AgreementReport, request: TableRequest, rows: int) -> tuple[list[int], str]:
    """Return the rows of a long table that the page shows, in their order, and a sentence that says so."""
    measured, sentences = report.measured, list[str]()
    if request.table == "annotators":
        ranked = rank_pairs(measured.annotator_pairs, measured.cohen_kappa["unweighted"])
        at = {pair.annotators: index for index, pair in enumerate(measured.annotator_pairs)}
        positions = [at[pair.annotators] for pair in ranked.pairs[:MOST_LISTED]]
        if positions:
            sentences = [
                tr(
                    "Showing {n:,} of {all:,}, sorted by how much they lower κ (difference times shared pairs).",
                    n=len(positions),
                    all=rows,
                )
            ]
        left_out = describe_unranked_pairs(ranked)
        sentences += [tr(left_out)] if left_out else []
    elif request.table == "leanings":
        at_name = {leaning.annotator: index for index, leaning in enumerate(measured.leanings)}
        ranked_leanings = rank_leanings(measured.leanings)[:MOST_LISTED]
        positions = [at_name[leaning.annotator] for leaning in ranked_leanings]
        sentences = [
            tr(
                "Showing {n:,} of {all:,}, sorted by leniency (difference times comparisons).",
                n=len(positions),
                all=rows,
            )
        ]
    elif request.table == "groups":
        groups = report.groups
        at_group = {group.value: index for index, group in enumerate(groups, 1)}
        ranked_groups = rank_groups(groups, measured.cohen_kappa["unweighted"])
        positions = [0, *(at_group[group.value] for group in ranked_groups[: MOST_LISTED - 1])]
        sentences = [
            tr(
                "Showing {n:,} of {all:,} groups, sorted by how much they lower κ (difference times pairs); "
                "{left:,} not shown.",
                n=len(positions) - 1,
                all=len(groups),
                left=len(groups) - len(positions) + 1,
            )
        ]
    else:
        positions = list(range(MOST_LISTED))
        if request.table == "grades":
            given = [sum(counts) for counts in measured.grades_by_annotator.values()]
            most = sorted(range(len(given)), key=lambda index: -given[index])[: MOST_LISTED - 1]
            positions = [0, *(index + 1 for index in most)]
        sentences = [tr("Showing {n:,} of {all:,}.", n=len(positions), all=rows)]
    return positions, join_sentences([*sentences, tr("The file has all of them.")])
