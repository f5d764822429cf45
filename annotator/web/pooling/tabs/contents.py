"""Draw the tab "Contents": pairs by status, and the pairs that each system proposed, in all and alone."""

import streamlit as st

from annotator.domain.figures import show_number
from annotator.pooling.analysis.pool_analysis_records import PairCount, PairFilter, SystemShare
from annotator.web.kit.charts import chart_statuses, describe_statuses
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_chart, draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table
from annotator.web.kit.words import name_word
from annotator.web.pooling.addresses import make_pairs_url
from annotator.web.pooling.pool_cache import ShownPool


def draw(shown: ShownPool) -> None:
    dataset, contents = shown.dataset, shown.contents
    st.header(tr("By status"))
    words = describe_statuses(contents.statuses)
    draw_chart(chart_statuses(contents.statuses), words)
    st.text(words)
    st.header(tr("By system"))
    draw_link_table(
        tr("Pairs by the system that proposed them"),
        [
            tr("system"),
            tr("pairs"),
            tr("relevant"),
            tr("by this system alone"),
            tr("of these relevant"),
            tr("of these without a settled grade"),
            tr("last rank"),
        ],
        [_describe(dataset, share) for share in contents.systems],
        roomy=True,
    )
    draw_note(
        tr(
            "Relevant: the share of pairs graded 1 or higher among those with a settled grade. Pairs without a settled grade do not count."
        )
    )


def _describe(dataset: str, share: SystemShare) -> list[Cell]:
    alone: Cell = "0"
    if share.alone.pairs:
        address = make_pairs_url(dataset, PairFilter(system=share.system, alone=True))
        says = tr("Show the pairs that only {system} proposed", system=name_word(share.system))
        alone = Link(show_number(share.alone.pairs), address, says)
    address = make_pairs_url(dataset, PairFilter(system=share.system))
    says = tr("Show the pairs that {system} proposed", system=name_word(share.system))
    return [
        name_word(share.system),
        Link(show_number(share.proposed.pairs), address, says),
        describe_relevant(share.proposed),
        alone,
        describe_relevant(share.alone),
        show_number(share.alone.pairs - share.alone.settled),
        "–" if share.deepest is None else show_number(share.deepest),
    ]


def describe_relevant(counted: PairCount) -> str:
    """Return the share of relevant pairs with its numbers: "40 % (4 / 10)"; a dash without a settled pair."""
    if counted.share is None:
        return "–"
    return f"{show_share(counted.share)} ({show_number(counted.relevant)} / {show_number(counted.settled)})"
