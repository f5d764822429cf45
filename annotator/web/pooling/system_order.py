"""Draw the expected order of the systems, and which of them could still swap."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.pooling.rounds.pool_records import ExpectedScore, OpenSystems, SystemOrder
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table
from annotator.web.kit.words import name_word

SHOWN = 10


def read_order(figures: Mapping[str, Any]) -> SystemOrder | None:
    """Return the order in the figures of an adaptive round; None for other rounds.

    Earlier versions also stored standard errors and an expected tau, which were wrong and are ignored.
    """
    kept = figures.get("order")
    if not isinstance(kept, Mapping):
        return None
    return SystemOrder(
        measure=kept["measure"],
        judged=kept["judged"],
        systems=tuple(ExpectedScore(item["system"], item["score"]) for item in kept["systems"]),
        open=tuple(
            OpenSystems(item["higher"], item["lower"], item["difference"], item["swap_probability"])
            for item in kept["open"]
        ),
        compared=kept["compared"],
    )


def draw_system_order(order: SystemOrder) -> None:
    """Draw the pairs of systems that could still swap, least certain first, and the expected order."""
    title = tr("Which systems could still swap")
    st.header(title)
    st.text(
        tr_n(
            "{n:,} of {compared} pairs of systems could still swap on {measure}.",
            "{n:,} of {compared} pairs of systems could still swap on {measure}.",
            len(order.open),
            compared=show_number(order.compared),
            measure=order.measure,
        )
    )
    draw_note(
        tr_n(
            "Based on {n:,} settled candidate.",
            "Based on {n:,} settled candidates.",
            order.judged,
        )
    )
    if order.open:
        draw_link_table(
            title,
            [tr("ahead now"), tr("behind"), tr("difference"), tr("probability of a swap")],
            [
                [
                    name_word(item.higher),
                    name_word(item.lower),
                    show_number(item.difference, 4),
                    show_share(item.swap_probability),
                ]
                for item in order.open[:SHOWN]
            ],
        )
        if len(order.open) > SHOWN:
            draw_note(tr("and {n:,} more", n=len(order.open) - SHOWN))
    with st.expander(tr(order.tabulate().title)):
        draw_expected_order(order)


def draw_expected_order(order: SystemOrder) -> None:
    """Draw the systems with their expected scores, best first."""
    table = order.tabulate()
    draw_link_table(
        tr(table.title),
        [tr(column) for column in table.columns],
        [[name_word(system), score] for system, score in table.rows],
    )
    draw_note(tr(table.note))
