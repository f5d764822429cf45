"""What a draw of quality control would be, before it is done: how many pairs of each category and settled grade."""

import streamlit as st

from annotator.quality.records import QualityPreview
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table

GRADES = range(4)


def draw_preview(found: QualityPreview, *, hide_grades: bool) -> None:
    """How many pairs of each category and grade. `hide_grades`: for somebody who will judge them, without the grades."""
    st.text(
        tr_n(
            "{n:,} pair would be drawn: {drawn} of {population} settled pairs are in the sample then.",
            "{n:,} pairs would be drawn: {drawn} of {population} settled pairs are in the sample then.",
            found.pairs, drawn=show_number(found.drawn + found.pairs), population=show_number(found.population),
        )
        if found.pairs
        else tr_n(
            "Nothing would be drawn: the sample holds {drawn} pair already.",
            "Nothing would be drawn: the sample holds {drawn} pairs already.",
            found.drawn, drawn=show_number(found.drawn),
        )
    )  # fmt: skip
    if found.outside:
        draw_note(say_outside(found.outside))
    if not found.pairs:
        return
    with st.expander(tr("What would be drawn")):
        columns, rows = list_preview_rows(found, hide_grades=hide_grades)
        draw_table(tr("What would be drawn"), columns, rows)
        draw_note(tr("Pairs drawn / settled pairs that can be checked, those drawn before included."))
        if hide_grades:
            draw_note(tr("Grades are not shown, since you are the one who will judge these pairs."))


def list_preview_rows(found: QualityPreview, *, hide_grades: bool) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of the preview: a category each, with how many pairs of each settled grade."""
    cells: dict[tuple[str | None, int], tuple[int, int]] = {}
    for one in found.strata:
        pairs, population = cells.get((one.category, one.grade), (0, 0))
        cells[one.category, one.grade] = (pairs + one.pairs, population + one.population)
    categories = list(dict.fromkeys(one.category for one in found.strata))
    columns = [tr("category")]
    if not hide_grades:
        columns += [tr("grade {grade}", grade=grade) for grade in GRADES]
    rows = []
    for category in categories:
        told = [cells.get((category, grade), (0, 0)) for grade in GRADES]
        total = (sum(pairs for pairs, _ in told), sum(population for _, population in told))
        shown = [total] if hide_grades else [*told, total]
        rows.append([category or tr("none"), *(_show_cell(*cell) for cell in shown)])
    return [*columns, tr("all")], rows


def _show_cell(pairs: int, population: int) -> str:
    if not population:
        return "–"
    return f"{show_number(pairs)} / {show_number(population)}"


def say_outside(pairs: int) -> str:
    """How many settled pairs the one who checks cannot check, and why."""
    return tr_n(
        "{n:,} settled pair is outside: whoever checks has judged or seen it, or does not judge its query. The sample says nothing of it.",
        "{n:,} settled pairs are outside: whoever checks has judged or seen them, or does not judge their queries. The sample says nothing of them.",
        pairs,
    )
