"""From the numbers of a table of the agreement page to the pairs behind them: the keyboard's way to what a click on the chart
beside it opens."""

from collections.abc import Callable, Mapping, Sequence

from annotator.agreement.records import AgreementReport, Selection
from annotator.web.agreement.agreement_rows import Row, name_leaning
from annotator.web.agreement.links import describe_selection, list_page_address
from annotator.web.agreement.tables import Asked
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.link_table import Cell, Link
from annotator.web.kit.messages import tr

Ways = Mapping[str, Selection]
"""The pairs behind the cells of one row, by their column."""


def list_ways(report: AgreementReport, asked: Asked, grade_names: Sequence[str] = ()) -> list[Ways]:
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


def _link(dataset: str, column: str, text: str, selection: Selection) -> Link:
    says = f"{column} {text}: {describe_selection(selection)}"
    return Link(text, list_page_address(dataset, selection), says)


def _list_annotators(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [{tr("pairs"): Selection(annotators=pair.annotators)} for pair in report.measured.annotator_pairs]


def _list_groups(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    groups = [Selection(by=group.by, value=group.value) for group in report.groups]
    return [{tr("pairs"): one} for one in (Selection(), *groups)] if groups else []


def _list_periods(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [
        {}
        if period.span is None
        else {
            tr("pairs"): Selection(span=period.span),
            **{
                name_leaning(one.annotator): Selection(annotators=(one.annotator,), span=period.span)
                for one in period.leanings
            },
        }
        for period in report.periods
    ]


def _list_leanings(report: AgreementReport, _names: Sequence[str]) -> list[Ways]:
    return [{tr("comparisons"): Selection(annotators=(one.annotator,))} for one in report.measured.leanings]


def _list_grades(report: AgreementReport, names: Sequence[str]) -> list[Ways]:
    return [
        {column: Selection("given", who, grade=grade) for grade, column in enumerate(name_grades(names))}
        for who in ((), *((annotator,) for annotator in report.measured.grades_by_annotator))
    ]


_WAYS: Mapping[str, Callable[[AgreementReport, Sequence[str]], list[Ways]]] = {
    "annotators": _list_annotators,
    "groups": _list_groups,
    "periods": _list_periods,
    "leanings": _list_leanings,
    "grades": _list_grades,
}
