"""Draw the preview of a round: new pairs, expected relevant pairs, the work, and the left-out candidates.

Also the expected order of the systems, and which of them could still swap.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.pooling.rounds.pool_records import (
    ExpectedScore,
    OpenSystems,
    PoolReport,
    SystemCounts,
    SystemOrder,
)
from annotator.pooling.rounds.strategies import BUDGETED
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table
from annotator.web.kit.words import name_word
from annotator.web.pooling.words import name_rule

MOST_NAMED = 10


def draw_round_preview(report: PoolReport) -> None:
    st.subheader(tr("Preview"))
    for sentence in describe_preview(report):
        st.text(sentence)
    if report.left_out:
        title = tr("Left out by rule")
        draw_link_table(
            title,
            [tr("rule"), tr("candidates")],
            [[name_rule(rule), show_number(candidates)] for rule, candidates in report.left_out.items()],
        )
    if report.strata:
        draw_link_table(
            tr("Drawn by rank"),
            [tr("ranks"), tr("share to draw"), tr("candidates"), tr("drawn")],
            [
                [item.ranks, show_share(item.rate, 1), show_number(item.candidates), show_number(item.drawn)]
                for item in report.strata
            ],
        )
    if report.systems:
        draw_link_table(
            tr("Candidates by system"),
            [tr("system"), tr("queries"), tr("candidates"), tr("found only by this system")],
            [_list_cells(item) for item in report.systems],
            roomy=True,
        )
    for note in _list_notes(report):
        draw_note(note)
    if report.order is not None:
        draw_system_order(report.order)


def describe_preview(report: PoolReport) -> list[str]:
    per_query, expected, effort = report.per_query, report.expected_relevant, report.effort
    lines = [tr_n("{n:,} new pair.", "{n:,} new pairs.", report.new)] if report.new else [tr("No new pair.")]
    if report.already_there:
        pooled = tr_n(
            "{n:,} pair is in the pool already.", "{n:,} pairs are in the pool already.", report.already_there
        )
        lines = [join_sentences([*lines, pooled])]
    if report.waiting:
        lines.append(
            tr_n(
                "{n:,} pair of earlier budget rounds is not judged yet and counts towards the budget.",
                "{n:,} pairs of earlier budget rounds are not judged yet and count towards the budget.",
                report.waiting,
            )
        )
    if not report.new:
        return lines
    lines.append(
        tr(
            "New pairs per query: median {median}, from {least} to {most}.",
            median=show_number(per_query.median, 0 if per_query.median.is_integer() else 1),
            least=show_number(per_query.min),
            most=show_number(per_query.max),
        )
    )
    if expected.value is None or expected.ci95 is None:
        lines.append(tr("Expected relevant pairs: not known yet ({why}).", why=_show_why(expected.why)))
    else:
        low, high = expected.ci95
        sentence = tr_n(
            "Expected relevant pairs: {value} of {n:,} (95 % interval {low} to {high}).",
            "Expected relevant pairs: {value} of {n:,} (95 % interval {low} to {high}).",
            expected.pairs,
            value=show_number(expected.value),
            low=show_number(low),
            high=show_number(high),
        )
        lines.append(sentence if expected.why is None else f"{sentence} ({_show_why(expected.why)})")
    judgments = tr_n("{n:,} judgment", "{n:,} judgments", effort.judgments)
    if effort.hours is None or effort.seconds is None:
        lines.append(tr("Work: {judgments}. Hours: {why}.", judgments=judgments, why=_show_why(effort.why)))
    else:
        lines.append(
            tr(
                "Work: {judgments}, {hours} hours at {seconds} seconds each.",
                judgments=judgments,
                hours=show_number(effort.hours, 1),
                seconds=show_number(effort.seconds),
            )
        )
    return lines


def _show_why(why: str | None) -> str:
    return "" if why is None else tr(why)


def _list_cells(item: SystemCounts) -> list[str]:
    return [
        name_word(item.system),
        show_number(item.queries),
        show_number(item.candidates),
        show_number(item.only_here),
    ]


def _list_notes(report: PoolReport) -> list[str]:
    notes = []
    if report.without and report.strategy not in BUDGETED:
        notes.append(
            tr_n(
                "{n:,} query has no candidate: {names}",
                "{n:,} queries have no candidate: {names}",
                len(report.without),
                names=_name(report.without),
            )
        )
    if report.short:
        notes.append(
            tr_n(
                "{n:,} query has fewer than {depth} candidates: {names}",
                "{n:,} queries have fewer than {depth} candidates: {names}",
                len(report.short),
                depth=show_number(report.depth),
                names=_name(tuple(report.short)),
            )
        )
    if report.too_short:
        notes.append(
            tr_n(
                "{n:,} query is too short to search for: {names}",
                "{n:,} queries are too short to search for: {names}",
                len(report.too_short),
                names=_name(report.too_short),
            )
        )
    return notes


def _name(query_ids: tuple[str, ...]) -> str:
    more = len(query_ids) - MOST_NAMED
    shown = join_names(query_ids[:MOST_NAMED])
    return shown if more <= 0 else f"{shown}, {tr('and {n:,} more', n=more)}"


SHOWN = 10


def read_order(figures: Mapping[str, Any]) -> SystemOrder | None:
    """Return the order in the figures of an adaptive round; None for other rounds.

    Earlier versions also stored standard errors and an expected tau, which were wrong and are ignored.
    """
    kept = figures.get("order")
    if not isinstance(kept, Mapping):
        return None
    return SystemOrder(
        measure=kept["measure"],
        judged=kept["judged"],
        systems=tuple(ExpectedScore(item["system"], item["score"]) for item in kept["systems"]),
        open=tuple(
            OpenSystems(item["higher"], item["lower"], item["difference"], item["swap_probability"])
            for item in kept["open"]
        ),
        compared=kept["compared"],
    )


def draw_system_order(order: SystemOrder) -> None:
    """Draw the pairs of systems that could still swap, least certain first, and the expected order."""
    title = tr("Which systems could still swap")
    st.header(title)
    st.text(
        tr_n(
            "{n:,} of {compared} pairs of systems could still swap on {measure}.",
            "{n:,} of {compared} pairs of systems could still swap on {measure}.",
            len(order.open),
            compared=show_number(order.compared),
            measure=order.measure,
        )
    )
    draw_note(
        tr_n(
            "Based on {n:,} settled candidate.",
            "Based on {n:,} settled candidates.",
            order.judged,
        )
    )
    if order.open:
        draw_link_table(
            title,
            [tr("ahead now"), tr("behind"), tr("difference"), tr("probability of a swap")],
            [
                [
                    name_word(item.higher),
                    name_word(item.lower),
                    show_number(item.difference, 4),
                    show_share(item.swap_probability),
                ]
                for item in order.open[:SHOWN]
            ],
        )
        if len(order.open) > SHOWN:
            draw_note(tr("and {n:,} more", n=len(order.open) - SHOWN))
    with st.expander(tr(order.tabulate().title)):
        draw_expected_order(order)


def draw_expected_order(order: SystemOrder) -> None:
    table = order.tabulate()
    draw_link_table(
        tr(table.title),
        [tr(column) for column in table.columns],
        [[name_word(system), score] for system, score in table.rows],
    )
    draw_note(tr(table.note))
