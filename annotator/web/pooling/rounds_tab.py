"""Draw the tab "Rounds": the rounds, their pairs, and the candidates that they left out by rule."""

from collections.abc import Sequence

import streamlit as st

from annotator.domain.figures import show_number
from annotator.pooling.analysis.pool_analysis import (
    LeftOutCandidate,
    LeftOutGroup,
    PairCount,
    PairFilter,
)
from annotator.pooling.analysis.pool_analysis_service import PAGE, list_left_out_page, show_rounds
from annotator.pooling.rounds.round_records import PoolRound
from annotator.pooling.suggestions.suggestion_rules import MeasuredShare
from annotator.pooling.suggestions.suggestions_service import report_suggestions
from annotator.web.kit.figures import show_share, show_time
from annotator.web.kit.lists import draw_link_pager
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table, write_link
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext
from annotator.web.pooling.api import LEFT_OUT
from annotator.web.pooling.contents_tabs import describe_relevant
from annotator.web.pooling.page import (
    NEW_ROUND,
    ROUNDS,
    ShownPool,
    find_number,
    make_pairs_url,
    make_pool_url,
)
from annotator.web.pooling.round_preview import draw_system_order, read_order
from annotator.web.pooling.words import describe_options, name_rule, name_strategy

RELATION = "relation: "


def draw(shown: ShownPool) -> None:
    context, dataset, contents = shown.context, shown.dataset, shown.contents
    rounds, counts, groups = context.call(show_rounds, dataset)
    st.header(tr("Rounds"))
    if not rounds:
        st.text(tr("No round is recorded yet."))
        address = make_pool_url(dataset, tab=tr(NEW_ROUND))
        st.html(f'<p class="annotator-step">{write_link(tr("Make a round"), address)}</p>')
        return
    draw_link_table(
        tr("Rounds"),
        [
            tr("round"),
            tr("when"),
            tr("strategy"),
            tr("options"),
            tr("pairs"),
            tr("with a settled grade"),
            tr("relevant"),
        ],
        [_describe_round(dataset, item, counts.get(item.number)) for item in rounds],
        tall=True,
        stacked=True,
    )
    in_rounds = sum(counted.pairs for counted in counts.values())
    if contents.pairs > in_rounds:
        draw_note(
            tr_n(
                "{n:,} pair came without a round: imported, proposed, or pooled before rounds were recorded.",
                "{n:,} pairs came without a round: imported, proposed, or pooled before rounds were recorded.",
                contents.pairs - in_rounds,
            )
        )
    _draw_order(dataset, rounds)
    _draw_rules(context, dataset, groups)
    if any(share.system.startswith(RELATION) for share in contents.systems):
        _draw_suggestions(context, dataset)


def _draw_order(dataset: str, rounds: Sequence[PoolRound]) -> None:
    latest = next((item for item in reversed(rounds) if item.strategy == "adaptive"), None)
    order = None if latest is None else read_order(latest.figures)
    if latest is None or order is None:
        return
    draw_system_order(order)
    draw_note(
        tr(
            "The state when round {number} was made. Preview the same strategy to see it with the current grades.",
            number=show_number(latest.number),
        )
    )
    address = make_pool_url(dataset, tab=tr(NEW_ROUND))
    st.html(f'<p class="annotator-step">{write_link(tr("Preview the next round"), address)}</p>')


def _draw_suggestions(context: PageContext, dataset: str) -> None:
    """Draw how often suggestions were right, on request only: it shows settled grades, which is recorded."""
    title = tr("How often suggestions by relations were right")
    st.header(title)
    if st.query_params.get("suggestions") != "shown":
        address = make_pool_url(dataset, tab=tr(ROUNDS), suggestions="shown")
        st.html(f'<p class="annotator-step">{write_link(tr("Show the figures"), address)}</p>')
        return
    report = context.call(report_suggestions, dataset, now=context.now)
    draw_link_table(
        title,
        [
            tr("relation"),
            tr("suggested grade"),
            tr("pairs"),
            tr("not settled"),
            tr("settled at this grade"),
            tr("settled as relevant"),
        ],
        [
            [
                rule.relation,
                str(rule.grade),
                show_number(rule.suggested),
                show_number(rule.open),
                _show_measured(rule.exact),
                _show_measured(rule.relevant),
            ]
            for rule in report.rules
        ],
        roomy=True,
    )
    draw_note(
        tr(
            "In brackets: 95 % intervals. Annotators never see a suggestion. After opening these figures, you can no longer judge the pairs behind them."
        )
    )


def _show_measured(measured: MeasuredShare) -> str:
    if measured.share is None:
        return "–"
    interval = ""
    if measured.ci95 is not None:
        interval = " [" + ", ".join(show_share(end) for end in measured.ci95) + "]"
    return show_share(measured.share) + interval


def _describe_round(dataset: str, item: PoolRound, counted: PairCount | None) -> list[Cell]:
    number = show_number(item.number)
    says = tr("Show the pairs of round {number}", number=number)
    return [
        Link(number, make_pairs_url(dataset, PairFilter(number=item.number)), says),
        [show_time(item.made_at), item.made_by or tr("on the server")],
        name_strategy(item.strategy),
        describe_options(item.options) or "–",
        show_number(item.pairs),
        "–" if counted is None else show_number(counted.settled),
        "–" if counted is None else describe_relevant(counted),
    ]


def _draw_rules(context: PageContext, dataset: str, groups: tuple[LeftOutGroup, ...]) -> None:
    title = tr("Left out by rule")
    st.header(title)
    if not groups:
        st.text(tr("No round left out a candidate."))
        return
    draw_link_table(
        title,
        [tr("round"), tr("rule"), tr("candidates")],
        [_describe_group(dataset, group) for group in groups],
    )
    draw_file_link(tr("Everything that was left out, as CSV"), make_url(LEFT_OUT, dataset=dataset))
    rule = st.query_params.get("rule")
    number = find_number("left")
    if rule is None or number is None:
        return
    start = find_number("from") or 0
    page = context.call(list_left_out_page, dataset, number, rule, start=start)
    listed = tr("Left out of round {number} by {rule}", number=show_number(number), rule=name_rule(rule))
    st.subheader(listed)
    if not page.candidates:
        st.text(tr("No candidate matches."))
        return
    draw_link_table(
        listed,
        [tr("query"), tr("document"), tr("judged instead")],
        [_describe_candidate(dataset, candidate) for candidate in page.candidates],
        tall=True,
    )
    draw_link_pager(
        start,
        len(page.candidates),
        page.total,
        size=PAGE,
        make_url=lambda at: _make_rule_url(dataset, number, rule, at),
    )


def _make_rule_url(dataset: str, number: int, rule: str, start: int = 0) -> str:
    further = {"from": str(start)} if start else {}
    return make_pool_url(dataset, tab=tr(ROUNDS), left=str(number), rule=rule, **further)


def _describe_group(dataset: str, group: LeftOutGroup) -> list[Cell]:
    rule = name_rule(group.rule)
    says = tr("Show what {rule} left out of round {number}", rule=rule, number=group.number)
    address = _make_rule_url(dataset, group.number, group.rule)
    return [show_number(group.number), rule, Link(show_number(group.candidates), address, says)]


def _describe_candidate(dataset: str, candidate: LeftOutCandidate) -> list[Cell]:
    kept: Cell = candidate.kept_doc_id or "–"
    if candidate.pair is not None and candidate.kept_doc_id is not None:
        says = tr(
            "Open the pair {query_id} {doc_id}", query_id=candidate.query_id, doc_id=candidate.kept_doc_id
        )
        kept = Link(candidate.kept_doc_id, make_pool_url(dataset, pair=candidate.pair), says)
    return [candidate.query_id, [candidate.doc_id, candidate.title], kept]
