"""What annotators' proposals add to the pool, on the page Pool: in total, per query, and each of them. For leads."""

import streamlit as st

from annotator.pooling.proposals_service import Proposal, QueryGain, list_proposals
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_numbers
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext


def draw_proposals(context: PageContext, dataset: str) -> None:
    """The section, when anything was proposed."""
    found = list_proposals(context.database, context.actor, dataset)
    if not found.proposals:
        return
    st.header(tr("Proposed by annotators"))
    st.text(
        tr_n("{n:,} document was proposed.", "{n:,} documents were proposed.", found.total.proposed)
        + " "
        + _say_gain(found.total)
    )
    st.dataframe(
        [_describe(item) for item in found.proposals],
        hide_index=True,
        alt=tr("The documents that annotators proposed"),
    )
    draw_numbers(tr("What proposals add, by query"), [
        {
            tr("query"): one.query_id, tr("proposed"): one.proposed, tr("relevant"): one.relevant,
            tr("only proposed"): one.only_proposed,
        }
        for one in found.queries
    ])  # fmt: skip


def _say_gain(total: QueryGain) -> str:
    if not total.relevant:
        return tr("No relevant document is settled yet.")
    return tr(
        "Relevant documents that are settled: {relevant:,}; found by no system: {only:,} ({share:.0%}).",
        relevant=total.relevant,
        only=total.only_proposed,
        share=total.only_proposed / total.relevant,
    )


def _describe(item: Proposal) -> dict[str, object]:
    relevant = {True: tr("yes"), False: tr("no"), None: tr("not judged yet")}[item.relevant]
    return {
        tr("query"): item.query_id, tr("document"): item.doc_id, tr("title"): item.title,
        tr("proposed by"): item.proposer, tr("when"): show_time(item.proposed_at),
        tr("status"): name_word(item.status), tr("others relevant"): relevant,
    }  # fmt: skip
