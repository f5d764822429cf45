"""Draw the tabs about who proposed the pairs: "Contents", "Overlap" and "Proposals".

"Overlap" is an accessible picture of the systems that proposed the same pairs. A row is a set of systems, with a dot
under each of them, as in an UpSet plot (Lex et al. 2014). The length of the bar is the number of pairs: relevant, not
relevant, and without a settled grade, in different patterns and colours. The numbers are next to it.
"""

from html import escape

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import join
from annotator.pooling.analysis.pool_analysis import (
    PairCount,
    PairFilter,
    PoolContents,
    SystemSet,
    SystemShare,
)
from annotator.pooling.proposals.proposals_service import DocumentProposal, QueryGain, list_proposals
from annotator.web.kit.charts import chart_statuses, describe_statuses
from annotator.web.kit.figures import show_share, show_time
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_chart, draw_note, draw_numbers
from annotator.web.kit.tables import Cell, Link, draw_html_table, draw_link_table
from annotator.web.kit.text import shorten
from annotator.web.kit.words import name_word
from annotator.web.pooling.page import ShownPool, make_pairs_url


def draw_contents(shown: ShownPool) -> None:
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


MOST_SETS = 25
PARTS = ("relevant", "other", "open")


def draw_overlap(shown: ShownPool) -> None:
    contents = shown.contents
    st.header(tr("Who proposed the same pairs"))
    st.text(describe_overlap(contents))
    caption = tr("Sets of systems that proposed the same pairs")
    draw_html_table(caption, _write_heads(contents), _write_rows(contents), " annotator-sets")
    key = " ".join(
        f'<span class="annotator-set-part annotator-set-{part}" aria-hidden="true"></span> {escape(words)} &nbsp;'
        for part, words in zip(
            PARTS, (tr("relevant"), tr("not relevant"), tr("without a settled grade")), strict=True
        )
    )
    st.html(f'<p class="annotator-note">{key}</p>')
    hidden = contents.sets[MOST_SETS:]
    if hidden:
        draw_note(
            tr_n(
                "{n:,} more set is not shown (pairs in total: {pairs:,}).",
                "{n:,} more sets are not shown (pairs in total: {pairs:,}).",
                len(hidden),
                pairs=sum(item.counted.pairs for item in hidden),
            )
        )
    if len(contents.systems) > len(contents.drawn):
        draw_note(
            tr("The systems with the most pairs have a column each; the others are combined as “others”.")
        )


def describe_overlap(contents: PoolContents) -> str:
    """Say how many pairs only one system proposed, and which system alone proposed the most relevant ones."""
    pairs = sum(item.counted.pairs for item in contents.sets)
    alone = sum(share.alone.pairs for share in contents.systems)
    sentences = [
        tr(
            "Proposed by one system alone: {alone:,} of {pairs:,} ({share:.0%}).",
            alone=alone,
            pairs=pairs,
            share=alone / pairs if pairs else 0,
        )
    ]
    by_gain = sorted(contents.systems, key=lambda share: -share.alone.relevant)
    if len(by_gain) > 1 and by_gain[0].alone.relevant > by_gain[1].alone.relevant:
        sentences.append(
            tr_n(
                "Most relevant documents that only one system proposed: {n:,}, by {system}.",
                "Most relevant documents that only one system proposed: {n:,}, by {system}.",
                by_gain[0].alone.relevant,
                system=name_word(by_gain[0].system),
            )
        )
    return join_sentences(sentences)


def _write_heads(contents: PoolContents) -> str:
    names = [*contents.drawn, *([tr("others")] if _has_others(contents) else [])]
    systems = "".join(
        f'<th scope="col" class="annotator-set-head" title="{escape(name_word(name))}"><span>{escape(shorten(name_word(name)))}</span></th>'
        for name in names
    )
    further = (tr("pairs"), tr("relevant"))
    return (
        f'<th scope="col"><span class="annotator-unseen">{escape(tr("systems"))}</span></th>{systems}'
        f'<th scope="col">{escape(further[0])}</th><td></td><th scope="col">{escape(further[1])}</th>'
    )


def _write_rows(contents: PoolContents) -> str:
    drawn = contents.sets[:MOST_SETS]
    most = max((item.counted.pairs for item in drawn), default=1)
    return "".join(_write_row(item, contents, most) for item in drawn)


def _write_row(item: SystemSet, contents: PoolContents, most: int) -> str:
    inside = [system in item.systems for system in contents.drawn]
    inside += [item.others] if _has_others(contents) else []
    dots = "".join(
        f'<td class="annotator-set-dot"><span aria-hidden="true">{"●" if here else "○"}</span>'
        f'<span class="annotator-unseen">{escape(tr("yes") if here else tr("no"))}</span></td>'
        for here in inside
    )
    named = [name_word(system) for system in item.systems] + ([tr("others")] if item.others else [])
    words = tr(join(named)) if named else tr("nobody")
    counted = item.counted
    bars = "".join(
        f'<span class="annotator-set-part annotator-set-{part}" style="width: {100 * pairs / most:.2f}%"></span>'
        for part, pairs in zip(
            PARTS,
            (counted.relevant, counted.settled - counted.relevant, counted.pairs - counted.settled),
            strict=True,
        )
        if pairs
    )
    without = counted.pairs - counted.settled
    spoken = escape(tr("{n:,} without a settled grade", n=without))
    return (
        f'<tr><th scope="row"><span class="annotator-unseen" dir="auto">{escape(words)}</span></th>{dots}'
        f'<td class="annotator-figure">{show_number(counted.pairs)}</td>'
        f'<td class="annotator-set-bar"><span class="annotator-set-bars" role="img" aria-label="{spoken}">{bars}</span></td>'
        f'<td class="annotator-figure">{escape(describe_relevant(counted))}</td></tr>'
    )


def _has_others(contents: PoolContents) -> bool:
    return any(item.others for item in contents.sets)


def draw_proposals(shown: ShownPool) -> None:
    context, dataset = shown.context, shown.dataset
    proposals = context.call(list_proposals, dataset, now=context.now)
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
