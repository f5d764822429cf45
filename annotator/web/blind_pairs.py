"""Show the pairs that a page's figures leave out because the lead may still judge them; offer to give them up."""

from collections.abc import Callable

import streamlit as st

from annotator.domain.judgments import describe_blind_pairs
from annotator.overview.service import give_up_blind_pairs
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.page_context import PageContext, require_context


def draw_blind_pairs(dataset: str, pairs: int) -> None:
    """Draw the note and the button; nothing for 0 pairs."""
    if pairs:
        draw_note(tr(describe_blind_pairs(pairs)))
        draw_give_up(dataset)


def draw_give_up(dataset: str) -> None:
    """Draw the button that gives complete figures to a lead who does not judge."""

    draw_give_up_button(lambda context: context.call(give_up_blind_pairs, dataset, now=context.now))


def draw_give_up_button(give_up: Callable[[PageContext], object]) -> None:
    """Draw the button; pressing it calls `give_up` with the context of the press."""

    def press() -> None:
        give_up(require_context())
        note_press()

    st.button(
        tr("Include them; I will not judge them"),
        on_click=press,
        type="tertiary",
        icon=":material/visibility:",
        help=tr("This is recorded. You are never asked to judge these pairs, and it cannot be undone."),
    )
