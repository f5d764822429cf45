"""Draw the tab "Pairs": the pairs of the pool by page, filtered by status, system, round and words."""

import streamlit as st

from annotator.domain.figures import show_figure, show_number
from annotator.domain.settling import PAIR_STATUSES
from annotator.pooling.analysis.pool_analysis import (
    PairFilter,
    PoolContents,
    PooledPair,
    SystemProposal,
)
from annotator.pooling.analysis.pool_analysis_service import PAGE, list_pair_page, show_rounds
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.lists import draw_link_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext
from annotator.web.pooling.shown import ALL, ShownPool, find_number, make_pairs_url, make_pool_url

MOST_NAMED = 6


def draw(shown: ShownPool) -> None:
    """Draw the controls, the pairs of the page, and the links to further pages."""
    context, dataset, contents = shown.context, shown.dataset, shown.contents
    st.header(tr("Pairs"))
    chosen = _draw_filter(context, dataset, contents)
    start = find_number("from") or 0
    page = context.call(list_pair_page, dataset, chosen, start=start)
    if start and start >= page.total:
        start = 0
        page = context.call(list_pair_page, dataset, chosen)
    draw_note(
        tr_n(
            "{shown:,} of {pairs:,} pair. Annotators do not see systems, ranks or scores.",
            "{shown:,} of {pairs:,} pairs. Annotators do not see systems, ranks or scores.",
            contents.pairs,
            shown=page.total,
            pairs=contents.pairs,
        )
    )
    if page.hides:
        draw_note(tr("Pairs that you may still judge are not listed by system."))
    if not page.pairs:
        st.text(tr("No pairs match."))
        return
    draw_link_table(
        tr("The pairs of the pool"),
        [tr("query"), tr("document"), tr("status"), tr("proposed by"), tr("round")],
        [_list_cells(dataset, pair) for pair in page.pairs],
        tall=True,
        stacked=True,
    )
    draw_link_pager(
        start,
        len(page.pairs),
        page.total,
        size=PAGE,
        make_url=lambda at: make_pairs_url(dataset, chosen, start=at),
    )


def _draw_filter(context: PageContext, dataset: str, contents: PoolContents) -> PairFilter:
    rounds = [str(item.number) for item in context.call(show_rounds, dataset)[0]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        status = _choose(tr("Status"), [name for name in PAIR_STATUSES if contents.statuses[name]], "status")
        system = _choose(tr("System"), [share.system for share in contents.systems], "system")
        alone = system is not None and st.checkbox(
            tr("only proposed by no other system"), key="alone", bind="query-params", on_change=_start_again
        )
        number = _choose(tr("Round"), rounds, "round") if rounds else None
        text = st.text_input(
            tr("Query id, document id or title"), key="text", bind="query-params", max_chars=200, width=260
        )
    return PairFilter(status, system, alone, None if number is None else int(number), text.strip())


def _choose(label: str, options: list[str], key: str) -> str | None:
    apply_url_choice(key, [ALL, *options])
    chosen = st.selectbox(
        label,
        [ALL, *options],
        format_func=name_word,
        key=key,
        bind="query-params",
        on_change=_start_again,
        width=180,
    )
    return None if chosen in (None, ALL) else chosen


def _start_again() -> None:
    """Go back to the first page, because another filter has other pairs."""
    if "from" in st.query_params:
        del st.query_params["from"]


def _list_cells(dataset: str, pair: PooledPair) -> list[Cell]:
    says = tr("Open the pair {query_id} {doc_id}", query_id=pair.query_id, doc_id=pair.doc_id)
    address = make_pool_url(dataset, pair=pair.pair)
    title = pair.title if pair.title != pair.doc_id else ""
    named = [name_proposer(by) for by in pair.provenance[:MOST_NAMED]]
    if len(pair.provenance) > MOST_NAMED:
        named.append(tr("and {n:,} more", n=len(pair.provenance) - MOST_NAMED))
    return [
        [pair.query_id, pair.query],
        [Link(title or pair.doc_id, address, says), pair.doc_id if title else ""],
        tr("judge it first") if pair.hidden else name_word(pair.status),
        "–" if pair.hidden else named,
        "–" if pair.number is None else show_number(pair.number),
    ]


def name_proposer(by: SystemProposal) -> str:
    """Return a system with its rank and score: "bm25 at 2 (1.5)"."""
    shown = (
        name_word(by.system) if by.rank is None else tr("{system} at {rank}", system=by.system, rank=by.rank)
    )
    return shown + ("" if by.score is None else f" ({show_figure(by.score, 6)})")
