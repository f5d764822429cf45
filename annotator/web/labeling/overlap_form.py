"""The overlap and its exceptions: in words, how many judgments that makes, and the form that changes them."""

from typing import Any

import streamlit as st

from annotator.dataset.service import Dataset, change_settings, write_setting
from annotator.domain.errors import AnnotatorError
from annotator.domain.overlap import DISTANCES, MOST, say_overlap
from annotator.labeling.assignment_service import Judgments, Standing, preview_overlap
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext

MANY_CATEGORIES = 24


def draw_overlap(context: PageContext, dataset: str, found: Standing) -> None:
    """The rules as they are, and what they come to."""
    st.text(tr(found.rules))
    st.text(_say_judgments(found.judgments))
    settings = next(item for item in context.datasets if item.name == dataset)
    with st.expander(tr("Change by how many")), st.form("overlap", border=False):
        overlap, rules = _ask(settings, found.categories)
        with st.container(horizontal=True):
            previewed = st.form_submit_button(tr("See what it makes"))
            changed = st.form_submit_button(tr("Change"), type="primary")
        if previewed or changed:
            _act(context, dataset, overlap, rules, change=changed)


def _ask(settings: Dataset, categories: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    """The fields; the overlap and its rules, as `domain/overlap.py` reads them."""
    overlap = st.number_input(tr("Annotators for each pair"), 1, MOST, settings.overlap)
    shared = settings.overlap_share or {}
    left, right = st.columns(2)
    percent = left.number_input(
        tr("Share of the pairs with another number, in %"),
        min_value=0.0, max_value=99.9, value=float(shared.get("share", 0)) * 100, step=5.0, format="%g",
        help=tr("0: none. Which pairs these are follows from the seed; it does not change when pairs are added."),
    )  # fmt: skip
    share_overlap = right.number_input(tr("Annotators for those"), 1, MOST, shared.get("overlap", 2))
    named = settings.overlap_by_category or {}
    by_category = {
        category: st.number_input(
            tr("Annotators for {category}", category=escape_markdown(category)), 1, MOST,
            named.get(category), placeholder=tr("as the others"), key=f"overlap of {category}",
        )
        for category in categories[:MANY_CATEGORIES]
    }  # fmt: skip
    cap = st.number_input(
        tr("At most, whatever else is said"), 1, MOST, settings.overlap_cap, placeholder=tr("no limit")
    )
    distance = st.selectbox(
        tr("One more annotator when the first two differ by at least"),
        (None, *DISTANCES),
        index=(None, *DISTANCES).index(settings.third_judgment_from),
        format_func=lambda choice: tr("never") if choice is None else str(choice),
        help=tr("That judgment is marked as conditional: agreement leaves it out."),
    )
    chosen = {**{name: wanted for name, wanted in named.items() if name not in by_category}, **by_category}
    return overlap, {
        "category": {name: wanted for name, wanted in chosen.items() if wanted is not None},
        "share": {"share": round(percent / 100, 4), "overlap": share_overlap} if percent else None,
        "cap": cap,
        "conditional": distance,
    }


def _act(context: PageContext, dataset: str, overlap: int, rules: dict[str, Any], *, change: bool) -> None:
    try:
        made = preview_overlap(context.database, context.actor, dataset, overlap=overlap, rules=rules)
        if change:
            change_settings(context.database, context.actor, dataset, _write(overlap, rules), now=context.now)
    except AnnotatorError as error:
        st.error(escape_markdown(show_refusal(error)))
        return
    if change:
        st.rerun()
    st.info(escape_markdown(f"{tr(say_overlap(overlap, rules))} {_say_judgments(made)}"))


def _write(overlap: int, rules: dict[str, Any]) -> dict[str, str]:
    typed = {
        "overlap": overlap,
        "overlap_by_category": rules["category"] or None,
        "overlap_share": rules["share"],
        "overlap_cap": rules["cap"],
        "third_judgment_from": rules["conditional"],
    }
    return {name: write_setting(name, value) for name, value in typed.items()}


def _say_judgments(made: Judgments) -> str:
    return tr_n(
        "{total} judgment in all: {done} given, {left} to give.",
        "{total} judgments in all: {done} given, {left} to give.",
        made.total,
        total=show_number(made.total),
        done=show_number(made.done),
        left=show_number(made.left),
    )
