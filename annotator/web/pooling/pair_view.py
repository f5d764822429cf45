"""Draw one pair of the pool: its query and document, its systems and round, and links to its grades."""

from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.errors import NotFound
from annotator.domain.figures import show_figure, show_number
from annotator.evaluation.rankings_service import read_ranked_document
from annotator.pooling.analysis.pool_analysis import PooledPair, PooledPairOrigin
from annotator.pooling.analysis.pool_analysis_service import show_pair
from annotator.web.evaluation.query_view import draw_document_text
from annotator.web.kit.controls import note_press
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table, write_link
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext
from annotator.web.pooling.shown import PAIRS, make_pool_url

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
        address = "/disagreements?" + urlencode({"dataset": dataset, "pair": pair.pair, "show": "all"})
        links.append(write_link(tr("Open disagreement"), address))
    if origin.ranked:
        address = "/evaluation?" + urlencode(
            {"dataset": dataset, "query": pair.query_id, "document": pair.doc_id}
        )
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
