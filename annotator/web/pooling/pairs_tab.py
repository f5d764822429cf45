"""Draw the tab "Pairs": the pairs of the pool by page, filtered by status, system, round and words.

Also one pair: its query and document, its systems and round, and links to its grades.
"""

from html import escape

import streamlit as st

from annotator.domain.errors import NotFound
from annotator.domain.figures import show_figure, show_number
from annotator.domain.settling import PAIR_STATUSES
from annotator.evaluation.rankings_service import read_ranked_document
from annotator.pooling.analysis.pool_analysis import (
    PairFilter,
    PoolContents,
    PooledPair,
    PooledPairOrigin,
    SystemProposal,
)
from annotator.pooling.analysis.pool_analysis_service import PAGE, list_pair_page, show_pair, show_rounds
from annotator.web.evaluation.query_view import draw_document_text
from annotator.web.kit.controls import apply_url_choice, note_press
from annotator.web.kit.figures import show_share
from annotator.web.kit.lists import draw_link_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_link_table, write_link
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext
from annotator.web.pooling.page import ALL, PAIRS, ShownPool, find_number, make_pairs_url, make_pool_url

MOST_NAMED = 6


def draw(shown: ShownPool) -> None:
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


IN_QUEUE = ("disagreement", "reopened", "adjudicated")
MOST_SIGNALS = 12
REVEAL = "reveal_pair"


def draw_pair(context: PageContext, dataset: str, key: str) -> None:
    back = write_link(tr("Back to the pairs"), make_pool_url(dataset, tab=tr(PAIRS)))
    st.html(f'<p class="annotator-step">{back}</p>')
    try:
        origin = context.call(
            show_pair, dataset, key, reveal=st.session_state.pop(REVEAL, None) == key, now=context.now
        )
    except NotFound:
        st.info(tr("The pool has no such pair."), icon=":material/search_off:")
        return
    pair = origin.pair
    st.header(tr("Query {query_id}", query_id=pair.query_id))
    st.html(show_as("query", pair.query))
    draw_note(_describe_state(origin))
    links = _list_links(dataset, origin)
    if links:
        st.html(f'<p class="annotator-step">{" &nbsp; ".join(links)}</p>')
    if pair.hidden:
        draw_note(
            tr("You may still judge this pair, so its status and the systems that proposed it are hidden.")
        )
        st.button(tr("Show them and judge this pair no more"), on_click=_reveal, args=(key,))
    else:
        _draw_provenance(pair)
    _draw_duplicates(origin)
    _draw_document(context, dataset, pair.doc_id)


def _reveal(key: str) -> None:
    st.session_state[REVEAL] = key
    note_press()


def _draw_provenance(pair: PooledPair) -> None:
    title = tr("Who proposed it")
    st.header(title)
    draw_link_table(
        title,
        [tr("system"), tr("rank"), tr("score"), tr("signals")],
        [
            [
                name_word(by.system),
                "–" if by.rank is None else show_number(by.rank),
                "–" if by.score is None else show_figure(by.score, 6),
                [f"{name}: {value}" for name, value in list(by.signals.items())[:MOST_SIGNALS]] or "–",
            ]
            for by in pair.provenance
        ],
    )


def _describe_state(origin: PooledPairOrigin) -> str:
    pair = origin.pair
    status = tr("judge it first") if pair.hidden else name_word(pair.status)
    parts = [f"{tr('Status')}: {status}"]
    if pair.category:
        parts.append(f"{tr('category')}: {pair.category}")
    if pair.number is not None:
        parts.append(tr("came in round {number}", number=pair.number))
    if origin.stratum is not None:
        parts.append(tr("ranks it was drawn from: {stratum}", stratum=origin.stratum))
    if origin.inclusion is not None:
        parts.append(tr("drawn with a probability of {share}", share=show_share(origin.inclusion, 1)))
    return " · ".join(parts)


def _list_links(dataset: str, origin: PooledPairOrigin) -> list[str]:
    pair, links = origin.pair, []
    if pair.status in IN_QUEUE:
        address = make_url("/disagreements", dataset=dataset, pair=pair.pair, show="all")
        links.append(write_link(tr("Open disagreement"), address))
    if origin.ranked:
        address = make_url("/evaluation", dataset=dataset, query=pair.query_id, document=pair.doc_id)
        links.append(write_link(tr("See the ranked lists of the query with their grades"), address))
    return links


def _draw_duplicates(origin: PooledPairOrigin) -> None:
    if not origin.duplicates:
        return
    title = tr("Left out in favor of this document")
    st.header(title)
    draw_note(
        tr_n(
            "{n:,} document. The grade is not copied automatically: a lead decides whether it applies there too.",
            "{n:,} documents. The grade is not copied automatically: a lead decides whether it applies there too.",
            len(origin.duplicates),
        )
    )
    draw_link_table(
        title,
        [tr("document"), tr("title"), tr("rule"), tr("round")],
        [[item.doc_id, item.title, item.rule, show_number(item.number)] for item in origin.duplicates],
    )


def _draw_document(context: PageContext, dataset: str, doc_id: str) -> None:
    document = context.call(read_ranked_document, dataset, doc_id)
    st.header(tr("Document"))
    named = escape(document.title or document.doc_id)
    st.html(
        f'<h3 class="annotator-part" dir="auto">{named}</h3><p class="annotator-note" dir="auto">{escape(document.doc_id)}</p>'
    )
    draw_document_text(document.text, document.media_type, document.doc_id)
