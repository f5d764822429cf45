"""Draw one query: the systems' ranked lists with grades side by side, an open document, and what to judge.

The URL names the query and the open document. Every text from users and files is escaped. Documents are
rendered as on the page Label.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from annotator.domain.errors import NotFound
from annotator.domain.figures import show_number
from annotator.domain.svg import colour_cell
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.rankings_service import (
    QueryRankings,
    RankedResult,
    read_ranked_document,
    show_query_rankings,
)
from annotator.evaluation.service import EvaluationResult
from annotator.web.evaluation.abilities_tab import draw_pooled, have_judged
from annotator.web.evaluation.choice import EvaluationChoice
from annotator.web.evaluation.page import make_query_url
from annotator.web.evaluation.tables import list_query_rows
from annotator.web.kit.controls import apply_url_choice, note_press
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_html_table, write_link
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext
from annotator.web.rendering.documents import LONGEST, render_document

DEPTHS = ("5", "10", "20", "50")
DEFAULT_DEPTH = "10"
REVEAL = "reveal_lists"


def draw_query(
    context: PageContext,
    dataset: str,
    choice: EvaluationChoice,
    result: EvaluationResult | None,
    query_id: str,
) -> None:
    """Draw the query, the open document, the lists, and the relevant documents missing from all lists.

    `result`: None if no query can be scored for this reader.
    """
    measure = st.query_params.get("measure")
    further = {"measure": measure} if measure else {}
    ways = [
        (tr("Back to the evaluation"), make_query_url(dataset, choice, tab=tr("Query by query"), **further))
    ]
    query_ids = [] if result is None else _list_query_ids(result, measure)
    if query_id in query_ids:
        at = query_ids.index(query_id)
        ways += [
            (f"{label} ({one})", make_query_url(dataset, choice, one, **further))
            for label, found in (
                (tr("Previous query"), query_ids[max(0, at - 1) : at]),
                (tr("Next query"), query_ids[at + 1 : at + 2]),
            )
            for one in found
        ]
    links = " · ".join(write_link(label, address) for label, address in ways)
    st.html(f'<p class="annotator-step">{links}</p>')
    depth = _choose_depth()
    try:
        rankings = context.call(
            show_query_rankings,
            dataset,
            query_id,
            version=choice.version,
            systems=choice.systems,
            order=find_profile(choice.profile).order,
            depth=depth,
            reveal=st.session_state.pop(REVEAL, None) == query_id,
            now=context.now,
        )
    except NotFound:
        st.info(tr("There is no query {query_id}.", query_id=query_id), icon=":material/search_off:")
        return
    st.header(tr("Query {query_id}", query_id=query_id))
    narrative = show_as("narrative", rankings.narrative) if rankings.narrative else ""
    st.html(show_as("query", rankings.text) + narrative)
    draw_pooled()
    _draw_scores(result, rankings, measure)
    doc_id = st.query_params.get("document")
    if doc_id is not None:
        _draw_document(context, dataset, doc_id, make_query_url(dataset, choice, query_id, **further))
    if rankings.to_judge:
        _draw_hidden(rankings)
        return

    def make_document_url(doc_id: str) -> str:
        return make_query_url(dataset, choice, query_id, document=doc_id, **further)

    _draw_lists(rankings, make_document_url)
    _draw_to_judge(dataset, rankings)
    _draw_missed(rankings, make_document_url)


def _list_query_ids(result: EvaluationResult, measure: str | None) -> list[str]:
    """Return the ids of the queries in the order of the tab "Query by query"."""
    names = [one.name for one in result.evaluation.table.measures]
    rows = list_query_rows(result.evaluation, measure if measure in names else names[0])
    return [str(row[tr("query")]) for row in rows]


def _draw_hidden(rankings: QueryRankings) -> None:
    draw_note(
        tr_n(
            "You may still judge {n:,} pair of this query, so the lists with the systems' ranks are hidden.",
            "You may still judge {n:,} pairs of this query, so the lists with the systems' ranks are hidden.",
            rankings.to_judge,
        )
    )
    st.button(
        tr("Show them and judge these pairs no more"),
        on_click=_reveal,
        args=(rankings.query_id,),
        key="reveal-lists",
    )


def _reveal(query_id: str) -> None:
    st.session_state[REVEAL] = query_id
    note_press()


def _choose_depth() -> int:
    with st.container(horizontal=True):
        apply_url_choice("depth", DEPTHS)
        depth = st.selectbox(
            tr("Results shown"),
            DEPTHS,
            index=DEPTHS.index(DEFAULT_DEPTH),
            key="depth",
            bind="query-params",
            width=150,
        )
    return int(depth or DEFAULT_DEPTH)


def _draw_scores(result: EvaluationResult | None, rankings: QueryRankings, measure: str | None) -> None:
    """Draw the scores of this query, unless they would reveal a grade of a pair that the lead may still judge."""
    if rankings.hidden:
        draw_note(
            tr_n(
                "You still have to judge {n:,} pair of this query. Its grade and the query's scores are "
                "hidden.",
                "You still have to judge {n:,} pairs of this query. Their grades and the query's scores are "
                "hidden.",
                rankings.hidden,
            )
        )
        return
    if result is None:
        return
    table = result.evaluation.table
    if rankings.query_id not in table.query_ids:
        draw_note(
            tr(
                "This query is not included in the means: {why}",
                why=tr(table.left_out.get(rankings.query_id, "–")),
            )
        )
        return
    row = table.query_ids.index(rankings.query_id)
    names = [one.name for one in table.measures]
    chosen = measure if measure in names else names[0]
    scores = join_names(
        f"{system.system} {show_number(float(system.values[chosen][row]), 2)}"
        for system in table.systems
        if system.values[chosen][row] == system.values[chosen][row]
    )
    draw_note(f"{chosen}: {scores or '–'}")


def _draw_lists(rankings: QueryRankings, make_document_url: Callable[[str], str]) -> None:
    if not rankings.systems:
        st.text(tr("No system has a result for this query."))
        return
    heads = "".join(f'<th scope="col" dir="auto">{escape(system)}</th>' for system in rankings.systems)
    longest = max(len(results) for results in rankings.systems.values())
    rows = []
    for index in range(longest):
        cells = "".join(
            f'<td class="annotator-long">{_write_result(results[index], make_document_url)}</td>'
            if index < len(results)
            else "<td>–</td>"
            for results in rankings.systems.values()
        )
        rows.append(f'<tr><th scope="row" class="annotator-figure">{index + 1}</th>{cells}</tr>')
    heads = f'<th scope="col">{escape(tr("rank"))}</th>{heads}'
    draw_html_table(tr("Ranked lists side by side"), heads, "".join(rows), " annotator-lists")


def _write_result(result: RankedResult, make_document_url: Callable[[str], str]) -> str:
    name = result.title or result.doc_id
    identity = f'<br><span class="annotator-soft">{escape(result.doc_id)}</span>' if result.title else ""
    return f"{_write_grade(result)} {write_link(name, make_document_url(result.doc_id))}{identity}"


def _write_grade(result: RankedResult) -> str:
    if result.grade is not None:
        ground, dark = colour_cell(result.grade, 3, same=True)
        ink = "#000000" if dark else "#ffffff"
        spoken = escape(tr("grade {grade}", grade=result.grade))
        return (
            f'<span class="annotator-grade" style="background: {ground}; color: {ink}" aria-label="{spoken}" role="img">'
            f"{result.grade}</span>"
        )
    words = {
        "waiting": tr("waiting for judgment"),
        "unsettled": tr("no settled grade"),
    }.get(result.state, tr("unjudged"))
    return f'<span class="annotator-grade annotator-nograde">{escape(words)}</span>'


def _draw_to_judge(dataset: str, rankings: QueryRankings) -> None:
    if not rankings.not_pooled:
        return
    n = len(rankings.not_pooled)
    with st.container(horizontal=True, vertical_alignment="center"):
        words = tr_n(
            "{n:,} document in these lists is unjudged and not yet in the pool.",
            "{n:,} documents in these lists are unjudged and not yet in the pool.",
            n,
        )
        st.html(f'<p class="annotator-step">{escape(words)}</p>', width="content")
        st.button(
            tr("Request judgments"),
            key="judge-query",
            on_click=have_judged,
            args=(dataset, [(rankings.query_id, doc_id) for doc_id in rankings.not_pooled]),
            icon=":material/playlist_add:",
        )


def _draw_missed(rankings: QueryRankings, make_document_url: Callable[[str], str]) -> None:
    if not rankings.missed:
        return
    st.header(tr("Relevant documents missing from all lists"))
    items = "".join(f"<li>{_write_result(result, make_document_url)}</li>" for result in rankings.missed)
    st.html(f'<ul class="annotator-missed">{items}</ul>')


def _draw_document(context: PageContext, dataset: str, doc_id: str, close: str) -> None:
    """Draw the document as Label shows it, in a box that scrolls. `close`: the URL without the document."""
    try:
        document = context.call(read_ranked_document, dataset, doc_id)
    except NotFound:
        st.info(tr("There is no document {doc_id}.", doc_id=doc_id), icon=":material/search_off:")
        return
    title = document.title or document.doc_id
    head = f'<h3 class="annotator-part" dir="auto">{escape(title)}</h3>'
    closing = write_link(tr("Close document"), close)
    identity = f'<p class="annotator-note" dir="auto">{escape(document.doc_id)} {closing}</p>'
    st.html(head + identity)
    draw_document_text(document.text, document.media_type, document.doc_id)


def draw_document_text(text: str | None, media_type: str, doc_id: str) -> None:
    """Draw the text as Label shows it, in a box that scrolls."""
    if text is None:
        draw_note(tr("Only the id of this document is known."))
        return
    rendered = render_document(text, media_type, doc_id=doc_id)
    label = escape(tr("Document"))
    formatted = " annotator-formatted" if rendered.html else ""
    body = rendered.html or escape(text[:LONGEST])
    tag = "div" if rendered.html else "pre"
    st.html(
        f'<{tag} class="annotator-document{formatted}" tabindex="0" role="region" dir="auto" aria-label="{label}">'
        f"{body}</{tag}>"
    )
    if rendered.cut or len(text) > LONGEST:
        draw_note(tr("Only the beginning is shown."))
