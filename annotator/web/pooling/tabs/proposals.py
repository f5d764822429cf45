"""Draw the tab "Proposals": the annotators' proposals, and their gains in total and by query."""

import streamlit as st

from annotator.pooling.proposals.proposals_service import DocumentProposal, QueryGain, list_proposals
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_numbers
from annotator.web.kit.words import name_word
from annotator.web.pooling.pool_cache import ShownPool


def draw(shown: ShownPool) -> None:
    context, dataset = shown.context, shown.dataset
    proposals = list_proposals(context.database, context.actor, dataset, now=context.now)
    st.header(tr("Proposed by annotators"))
    if not proposals.proposals:
        st.text(tr("Nobody has proposed a document yet. Annotators do so on the page Label, with the key p."))
        return
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
