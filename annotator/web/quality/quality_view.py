"""How the quality control of a dataset stands: both readings of the sample, the counts, and the draws so far.

Of a sample only counts are shown until its pairs are answered: whoever checks them may be a lead who reads this page.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.domain.messages import Message, say
from annotator.quality.records import ErrorRate, QualityDraw, QualityStatus
from annotator.web.agreement.agreement_links import draw_file_link
from annotator.web.kit.figures import show_number, show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import show_as
from annotator.web.quality.charts import show_percent
from annotator.web.quality.downloads import list_address

RULE_NAMES = {"bound": say("What the sample proves"), "rate": say("As teams state it")}
VERDICTS = {"passed": say("passed"), "failed": say("failed"), "undecided": say("not yet decided")}


def draw_verdict(status: QualityStatus, me: str) -> None:
    """The verdict by the dataset's own rule in one plain sentence, and what is to be done now, once something is drawn. `me`:
    who looks."""
    for verdict in status.sentences[:1]:
        st.html(show_as("verdict", tr(verdict)))
    if status.round:
        st.text(_say_next(status, me))


def _say_next(status: QualityStatus, me: str) -> str:
    if not status.waiting:
        return tr("Everything that was drawn has been looked at.")
    others = sorted({one.annotator for one in status.draws if one.round == status.round} - {me})
    if me not in {one.annotator for one in status.draws if one.round == status.round}:
        return tr_n(
            "{n:,} pair waits for {people} on the page Label. They are not told which of their pairs these are.",
            "{n:,} pairs wait for {people} on the page Label. They are not told which of their pairs these are.",
            status.waiting, people=", ".join(others),
        )  # fmt: skip
    return tr_n(
        "{n:,} pair waits, also for you: judge what comes to you on the page Label. Nobody is told which of their pairs these are.",
        "{n:,} pairs wait, also for you: judge what comes to you on the page Label. Nobody is told which of their pairs these are.",
        status.waiting,
    )


def draw_readings(status: QualityStatus) -> None:
    """Both readings of the sample beside each other, with which of them the gate goes by."""
    found = status.rates["any"]
    if found.rate is None or found.bound is None:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_reading(status, "rate", show_percent(found.rate), _say_rate(found))
    with right:
        _draw_reading(
            status,
            "bound",
            tr("at most {share}", share=show_percent(found.bound, at_most=True)),
            _say_bound(status),
        )


def _draw_reading(status: QualityStatus, rule: str, figure: str, said: Sequence[str]) -> None:
    verdict = status.verdicts[rule]
    kind = "met" if verdict == "passed" else "unmet"
    gate = f'<span class="annotator-badge">{escape(tr("the gate goes by this"))}</span>'
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.html(
            f'<h3 class="annotator-part">{escape(tr(RULE_NAMES[rule]))}</h3>'
            f'<p class="annotator-verdict">{escape(figure)}</p>'
            f'<p class="annotator-state-line"><span class="annotator-state annotator-{kind}">{escape(tr(VERDICTS[verdict]))}</span>'
            f"{gate if status.rule == rule else ''}</p>"
            f'<p class="annotator-step">{escape(said[0])}</p><p class="annotator-note">{escape(said[1])}</p>'
        )


def _say_rate(found: ErrorRate) -> tuple[str, str]:
    return (
        tr_n(
            "{n:,} error was found among the {checked} pairs checked. Less than 5 % passes, once 10 % of the settled pairs are checked.",
            "{n:,} errors were found among the {checked} pairs checked. Less than 5 % passes, once 10 % of the settled pairs are checked.",
            found.errors, checked=show_number(found.checked),
        ),
        tr("This is what the sample happens to show. Another sample would show more, or fewer."),
    )  # fmt: skip


def _say_bound(status: QualityStatus) -> tuple[str, str]:
    return (
        tr(
            "No more of the settled pairs that it speaks for ({population}) are errors, with 95 % confidence. Less than 5 % passes.",
            population=show_number(status.population),
        ),
        tr("Exact, for as many pairs as there are. A small sample proves little, even one without an error."),
    )


def say_waiting(status: QualityStatus) -> str:
    """How many of the further pairs are drawn already, after the sentence that says how many it takes."""
    if not status.waiting:
        return ""
    return " " + tr_n("{n:,} pair is drawn and waits.", "{n:,} pairs are drawn and wait.", status.waiting)


def draw_counts(status: QualityStatus) -> None:
    """How far the sample of the present round is, and what it does not speak for."""
    told = (
        (tr("drawn"), status.drawn), (tr("checked"), status.checked), (tr("waiting"), status.waiting),
        (tr("cannot be rated"), status.unrateable), (tr("can no longer be judged"), status.barred),
        (tr("settled since"), status.settled_since),
    )  # fmt: skip
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{show_number(n)}</dd></div>" for name, n in told)
    st.html(f'<dl class="annotator-counts">{items}</dl>')
    for sentence in list_limits(status):
        draw_note(tr(sentence))


def list_limits(status: QualityStatus) -> list[Message]:
    """What is said beside the verdict and the two readings, which stand above: what the sample says nothing of, and what
    drawing it in steps costs. Without the commands, since the form does that here."""
    shown_above = 1 + (2 if status.checked else 1)
    return [one for one in status.sentences[shown_above:] if "command" not in one.values]


def draw_draws(dataset: str, draws: Sequence[QualityDraw]) -> None:
    """The trail: every draw there was and what came of it, the latest first. None is ever undone."""
    columns = (
        tr("draw"), tr("round"), tr("time"), tr("for"), tr("drawn by"), tr("pairs"), tr("checked"), tr("errors"),
        tr("of settled"), tr("outside"), tr("share"), tr("seed"),
    )  # fmt: skip
    draw_table(tr("Draws so far"), columns, [_describe(one) for one in reversed(draws)])
    draw_file_link(tr("Draws as CSV"), list_address(dataset, "draws"))


def _describe(one: QualityDraw) -> tuple[str, ...]:
    return (
        str(one.number), str(one.round), show_time(one.drawn_at), one.annotator, one.drawn_by or tr("the operator"),
        show_number(one.pairs), show_number(one.checked), show_number(one.errors), show_number(one.population),
        show_number(one.outside), show_percent(one.rate), str(one.seed),
    )  # fmt: skip
