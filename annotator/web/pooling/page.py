"""Draw the page Pool, for leads: every pair with its status, and who proposed it at what rank and score.

Also shows what annotators' proposals add to the pool: in total, per query, and one by one.
"""

import streamlit as st

from annotator.overview.service import show_overview
from annotator.pooling.proposals_service import DocumentProposal, QueryGain, list_proposals
from annotator.pooling.service import Pool, PoolPair, show_pool
from annotator.web.kit.charts import chart_statuses, describe_statuses
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.figures import show_number, show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_chart, draw_note, draw_numbers, draw_steps, require_dataset
from annotator.web.kit.tables import draw_table
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext


def draw_proposals(context: PageContext, dataset: str) -> None:
    """Draw the section, when anything was proposed."""
    proposals = list_proposals(context.database, context.actor, dataset)
    if not proposals.proposals:
        return
    st.header(tr("Proposed by annotators"))
    st.text(
        tr_n("{n:,} document was proposed.", "{n:,} documents were proposed.", proposals.total.proposed)
        + " "
        + _describe_gain(proposals.total)
    )
    st.dataframe(
        [_describe_proposal(item) for item in proposals.proposals],
        hide_index=True,
        alt=tr("The documents that annotators proposed"),
    )
    draw_numbers(
        tr("What proposals add, by query"),
        [
            {
                tr("query"): gain.query_id,
                tr("proposed"): gain.proposed,
                tr("relevant"): gain.relevant,
                tr("only proposed"): gain.only_proposed,
            }
            for gain in proposals.queries
        ],
    )


def _describe_gain(total: QueryGain) -> str:
    if not total.relevant:
        return tr("No relevant document is settled yet.")
    return tr(
        "Relevant documents that are settled: {relevant:,}; found by no system: {only:,} ({share:.0%}).",
        relevant=total.relevant,
        only=total.only_proposed,
        share=total.only_proposed / total.relevant,
    )


def _describe_proposal(item: DocumentProposal) -> dict[str, object]:
    relevant = {True: tr("yes"), False: tr("no"), None: tr("not judged yet")}[item.relevant]
    return {
        tr("query"): item.query_id,
        tr("document"): item.doc_id,
        tr("title"): item.title,
        tr("proposed by"): item.proposer,
        tr("when"): show_time(item.proposed_at),
        tr("status"): name_word(item.status),
        tr("others relevant"): relevant,
    }


ALL = "all"


def draw(context: PageContext) -> None:
    st.title(tr("Pool"))
    dataset = require_dataset(context)
    pool = show_pool(context.database, context.actor, dataset)
    if not pool.pairs:
        steps = show_overview(context.database, context.actor, dataset).steps
        draw_steps(context, steps, here="pool")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("By status"))
        draw_chart(chart_statuses(pool.statuses), describe_statuses(pool.statuses))
        st.text(describe_statuses(pool.statuses))
    with right:
        st.header(tr("By system"))
        counted = [
            (
                name_word(system.system),
                *map(show_number, (system.queries, system.candidates, system.only_here)),
            )
            for system in pool.systems
        ]
        heads = (tr("system"), tr("queries"), tr("pairs"), tr("by it alone"))
        draw_table(tr("Pairs by the system that proposed them"), heads, counted)
    draw_proposals(context, dataset)
    _draw_pairs(pool)


def _draw_pairs(pool: Pool) -> None:
    st.header(tr("Pairs"))
    with st.container(horizontal=True):
        status = _choose(tr("Status"), [name for name, count in pool.statuses.items() if count], "status")
        system = _choose(tr("System"), [row.system for row in pool.systems], "system")
    shown = [
        pair
        for pair in pool.pairs
        if status in (ALL, pair.status)
        and (system == ALL or any(by.system == system for by in pair.provenance))
    ]
    draw_note(
        tr_n(
            "{shown:,} of {pairs:,} pair. Annotators see neither system nor rank nor score.",
            "{shown:,} of {pairs:,} pairs. Annotators see neither system nor rank nor score.",
            len(pool.pairs),
            shown=len(shown),
            pairs=len(pool.pairs),
        )
    )
    rows = [_describe(pair) for pair in shown]
    st.dataframe(rows, hide_index=True, height=560, placeholder="–", alt=tr("The pairs of the pool"))


def _choose(label: str, options: list[str], key: str) -> str:
    apply_url_choice(key, [ALL, *options])
    return st.selectbox(
        label, [ALL, *options], format_func=name_word, key=key, bind="query-params", width=220
    )


def _describe(pair: PoolPair) -> dict[str, object]:
    return {
        tr("query"): pair.query_id,
        tr("document"): pair.doc_id,
        tr("status"): name_word(pair.status),
        tr("best rank"): min((by.rank for by in pair.provenance if by.rank is not None), default=None),
        tr("proposed by"): "; ".join(_name_proposer(by.system, by.rank, by.score) for by in pair.provenance),
        tr("query text"): pair.query,
        tr("title"): pair.title,
        tr("pair"): pair.pair,
    }


def _name_proposer(system: str, rank: int | None, score: float | None) -> str:
    shown = name_word(system) if rank is None else tr("{system} at {rank}", system=system, rank=rank)
    return shown + ("" if score is None else f" ({score:g})")
