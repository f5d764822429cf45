"""Draw a table of the agreement page, with its file and links to the pairs behind each number.

The links are the keyboard's way to what a click on the chart beside it opens.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from annotator.agreement.records import (
    AgreementReport,
    PairSelection,
    choose_people_by_period,
    rank_groups,
    rank_leanings,
    rank_pairs,
    say_left_out_pairs,
)
from annotator.web.agreement.downloads import list_figures_address
from annotator.web.agreement.links import describe_selection, draw_file_link, list_page_address
from annotator.web.agreement.tables import Row, TableRequest, list_rows, name_leaning
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table

Ways = Mapping[str, PairSelection]
"""The pairs behind the cells of one row, by their column."""


def list_ways(report: AgreementReport, asked: TableRequest, grade_names: Sequence[str] = ()) -> list[Ways]:
    """For each row of the table (`list_rows`) which of its cells lead to pairs; nothing for a table that leads nowhere."""
    write = _WAYS.get(asked.table)
    return write(report, grade_names) if write else []


def link_cells(
    dataset: str, row: Row, ways: Ways, columns: Sequence[str], shown: Sequence[str]
) -> list[Cell]:
    """The cells as they are shown, those with pairs behind them as links."""
    return [
        _link(dataset, column, text, ways[column]) if column in ways and _counts(row[column]) else text
        for column, text in zip(columns, shown, strict=True)
    ]


def _counts(cell: object) -> bool:
    """Whether there is anything behind it: a difference of 0.0 has pairs, a count of 0 has none."""
    return isinstance(cell, float) or bool(cell)


def _link(dataset: str, column: str, text: str, selection: PairSelection) -> Link:
    says = f"{column} {text}: {describe_selection(selection)}"
    return Link(text, list_page_address(dataset, selection), says)


def _list_annotators(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [
        {tr("pairs"): PairSelection(annotators=pair.annotators)} for pair in report.measured.annotator_pairs
    ]


def _list_groups(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    groups = [PairSelection(by=group.by, value=group.value) for group in report.groups]
    return [{tr("pairs"): one} for one in (PairSelection(), *groups)] if groups else []


def _list_periods(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [
        {}
        if period.span is None
        else {
            tr("pairs"): PairSelection(span=period.span),
            **{
                name_leaning(one.annotator): PairSelection(annotators=(one.annotator,), span=period.span)
                for one in period.leanings
            },
        }
        for period in report.periods
    ]


def _list_leanings(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [
        {tr("comparisons"): PairSelection(annotators=(one.annotator,))} for one in report.measured.leanings
    ]


def _list_grades(report: AgreementReport, names: Sequence[str]) -> list[Ways]:
    return [
        {column: PairSelection("given", who, grade=grade) for grade, column in enumerate(name_grades(names))}
        for who in ((), *((annotator,) for annotator in report.measured.grades_by_annotator))
    ]


_WAYS: Mapping[str, Callable[[AgreementReport, Sequence[str]], list[Ways]]] = {
    "annotators": _list_annotators,
    "groups": _list_groups,
    "periods": _list_periods,
    "leanings": _list_leanings,
    "grades": _list_grades,
}


MOST_LISTED = 100


def draw_figures(
    report: AgreementReport,
    asked: TableRequest,
    label: str,
    grade_names: Sequence[str] = (),
    *,
    at_once: bool = False,
) -> None:
    """The table; it is sent only once it is opened. `at_once`: it stands there to be read. Of more than MOST_LISTED rows those
    stand there that weigh most; the file has all."""
    if not at_once:
        shown = st.expander(label, key=f"table-{asked.table}", on_change="rerun")
        if shown.open:
            with shown:
                found = list_rows(report, asked, grade_names)
                _draw_rows(report, asked, label, grade_names, found)
                if len(found) > MOST_LISTED or say_columns(report, asked)[1]:
                    draw_file_link(tr("Numbers as CSV"), list_figures_address(report.dataset, asked))
        return
    _draw_rows(report, asked, label, grade_names, list_rows(report, asked, grade_names))
    draw_file_link(tr("Numbers as CSV"), list_figures_address(report.dataset, asked))


def _draw_rows(
    report: AgreementReport, asked: TableRequest, label: str, grade_names: Sequence[str], found: Sequence[Row]
) -> None:
    """The rows, without the columns in which nothing stands."""
    hidden, which = say_columns(report, asked)
    columns = [
        name
        for name in (found[0] if found else ())
        if name not in hidden and any(row[name] not in (None, "") for row in found)
    ]
    if which:
        draw_note(which)
    ways = list_ways(report, asked, grade_names) or [{}] * len(found)
    if len(found) > MOST_LISTED:
        places, said = choose_rows(report, asked, len(found))
        draw_note(said)
        found, ways = [found[place] for place in places], [ways[place] for place in places]
        if not found:
            return
    cells = [
        link_cells(report.dataset, row, way, columns, [_show(row[name]) for name in columns])
        for row, way in zip(found, ways, strict=True)
    ]
    draw_link_table(label, columns, cells, roomy=True)


def say_columns(report: AgreementReport, asked: TableRequest) -> tuple[set[str], str]:
    """Return which columns of a table do not stand on the page, since there are too many, and a sentence that says so."""
    if asked.table != "periods":
        return set(), ""
    told, people = choose_people_by_period(report)
    if len(told) == people:
        return set(), ""
    known = {one.annotator for period in report.periods for one in period.leanings}
    said = [
        tr(
            "Listed are {n:,} of {all:,}, those first who lean most over the whole time.",
            n=len(told),
            all=people,
        ),
        tr("The file has all."),
    ]
    return {name_leaning(name) for name in known - told}, join_sentences(said)


def choose_rows(report: AgreementReport, asked: TableRequest, rows: int) -> tuple[list[int], str]:
    """Return which rows of a long table stand on the page, in their order, and a sentence that says so."""
    if asked.table == "annotators":
        pairs = report.measured.annotator_pairs
        ranked = rank_pairs(pairs, report.measured.cohen_kappa["unweighted"])
        at = {pair.annotators: place for place, pair in enumerate(pairs)}
        places = [at[pair.annotators] for pair in ranked.pairs[:MOST_LISTED]]
        said = [
            tr(
                "Listed are {n:,} of {all:,}, those first who lower κ most (the distance times the pairs they share).",
                n=len(places),
                all=rows,
            )
        ]
        said = said if places else []
        left_out = say_left_out_pairs(ranked)
        return places, join_sentences([*said, *([tr(left_out)] if left_out else []), tr("The file has all.")])
    if asked.table == "leanings":
        at_name = {one.annotator: place for place, one in enumerate(report.measured.leanings)}
        places = [at_name[one.annotator] for one in rank_leanings(report.measured.leanings)[:MOST_LISTED]]
        said = [
            tr(
                "Listed are {n:,} of {all:,}, those first who lean most (the distance times the comparisons).",
                n=len(places),
                all=rows,
            )
        ]
        return places, join_sentences([*said, tr("The file has all.")])
    if asked.table == "groups":
        groups = report.groups
        at_group = {group.value: place for place, group in enumerate(groups, 1)}
        ranked_groups = rank_groups(groups, report.measured.cohen_kappa["unweighted"])
        places = [0, *(at_group[group.value] for group in ranked_groups[: MOST_LISTED - 1])]
        said = [
            tr(
                "Listed are {n:,} of {all:,} groups, those first that lower κ most (the distance times their pairs); left out: {left:,}.",
                n=len(places) - 1,
                all=len(groups),
                left=len(groups) - len(places) + 1,
            )
        ]
        return places, join_sentences([*said, tr("The file has all.")])
    places = list(range(MOST_LISTED))
    if asked.table == "grades":
        given = [sum(counts) for counts in report.measured.grades_by_annotator.values()]
        most = sorted(range(len(given)), key=lambda place: -given[place])[: MOST_LISTED - 1]
        places = [0, *(place + 1 for place in most)]
    return places, join_sentences(
        [tr("Listed are {n:,} of {all:,}.", n=len(places), all=rows), tr("The file has all.")]
    )


def _show(cell: object) -> str:
    """A figure with the decimals of its column; nothing where there is none."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
