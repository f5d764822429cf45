"""Draw the gates of a release as a checklist with links to the work they need, or as they were when it was published."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.domain.figures import show_beside, show_figure
from annotator.domain.messages import say
from annotator.releases.records import ReleaseGate
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_link
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext

NAMES = {
    "kappa": say("Cohen's κ is at the target or above"),
    "disagreements": say("No open disagreements"),
    "overlap": say("All pairs have enough judgments"),
    "quality_control": say("Quality control passed"),
    "coverage": say("Requirements are met"),
    "unjudged_queries": say("Every query has a settled grade"),
    "relevant": say("Every judged query has a relevant document"),
    "stale": say("All grades follow the current guideline and texts"),
    "ids": say("Every format can hold every id"),
}
WORK = {
    "kappa": ("agreement",),
    "disagreements": ("disagreements",),
    "overlap": ("label", "people"),
    "quality_control": ("quality",),
    "coverage": ("overview", "pool"),
    "unjudged_queries": ("label", "pool"),
    "relevant": ("pool",),
    "stale": ("label",),
}
COLUMNS = {
    "unjudged_queries": (say("query"),),
    "relevant": (say("query"),),
    "ids": (say("id"),),
    "coverage": (say("requirement"), say("required"), say("measured")),
}
PAIR = (say("query"), say("document"))


def draw_gates(context: PageContext, gates: Sequence[ReleaseGate]) -> None:
    """Draw each gate with what it requires and what was measured.

    An unmet gate also has what is missing and links to the work.
    """
    st.html(_summarise(gates))
    for gate in gates:
        with st.container(border=True, gap="xsmall"):
            st.html(_describe(gate))
            if gate.met:
                continue
            if gate.name in WORK:
                with st.container(horizontal=True, gap="small"):
                    for address in WORK[gate.name]:
                        draw_link(context, address)
            if gate.examples:
                _draw_examples(gate)


def draw_kept_gates(gates: Sequence[ReleaseGate]) -> None:
    """Draw the gates of a published release, without links: nothing can be done about them any more."""
    if not gates:
        st.text(tr("This release has no record of gates."))
    for gate in gates:
        with st.container(border=True):
            st.html(_describe(gate))


def name_gate(gate: ReleaseGate) -> str:
    return tr(NAMES.get(gate.name, gate.name))


def name_state(gate: ReleaseGate) -> str:
    """Return whether the gate is met, or was overridden when the release was published."""
    return tr("met") if gate.met else tr("not met, overridden") if gate.override else tr("not met")


def describe_measured(gate: ReleaseGate) -> str:
    """Describe what was measured; where there is no figure, in words and not as 0."""
    if gate.measured is None:
        return tr("not done") if gate.name == "quality_control" else tr("undefined")
    if gate.name == "coverage" and not gate.required:
        return tr("none declared")
    figure = gate.measured
    if gate.name == "disagreements":
        return tr("{n:,.0f} open", n=figure)
    if gate.name == "overlap":
        return tr("{n:,.0f} without enough judgments", n=figure)
    if gate.name == "quality_control":
        return tr("{share:.2%} errors", share=figure)
    if gate.name == "coverage":
        return tr("{n:,.0f} met", n=figure)
    if gate.name in ("relevant", "unjudged_queries"):
        return tr("{n:,.0f} without", n=figure)
    if gate.name == "kappa":
        return show_beside(figure, gate.required)[0]
    return tr("{n:,.0f} outdated", n=figure) if gate.name == "stale" else show_figure(figure, 6)


def describe_required(gate: ReleaseGate) -> str:
    if gate.name == "kappa":
        return tr("at least {figure:g}", figure=gate.required)
    if gate.name == "quality_control":
        return tr("less than {share:.0%} errors", share=gate.required)
    return show_figure(gate.required, 6)


def _summarise(gates: Sequence[ReleaseGate]) -> str:
    met = sum(gate.met for gate in gates)
    sentences = [tr("{met} of {gates} gates are met.", met=met, gates=len(gates))]
    if met < len(gates):
        sentences.append(tr("To publish, finish the work for the others or give an override reason."))
    return f'<p class="annotator-step">{escape(join_sentences(sentences))}</p>'


def _describe(gate: ReleaseGate) -> str:
    state = name_state(gate)
    kind = "met" if gate.met else "unmet"
    summary = tr(
        "Required: {required} · measured: {measured}",
        required=describe_required(gate),
        measured=describe_measured(gate),
    )
    note = tr(gate.why) if gate.why else ""
    if note and not note.endswith((".", "。")):
        note = tr("{sentence}.", sentence=note[0].upper() + note[1:])
    why = show_as("note", note) if note else ""
    override, kept = gate.override, ""
    if override:
        note = tr("Override reason by {lead}: {reason}", lead=override.by, reason=override.reason)
        kept = show_as("note", note)
    return (
        f'<p class="annotator-step"><span class="annotator-state annotator-{kind}">{escape(state)}</span> '
        f"<strong>{escape(name_gate(gate))}</strong><br>"
        f"{escape(summary)}</p>{why}{kept}"
    )


def _draw_examples(gate: ReleaseGate) -> None:
    first = tr("First {n}", n=len(gate.examples))
    columns = [tr(name) for name in COLUMNS.get(gate.name, PAIR)]
    rows = [[tr(cell) for cell in row] for row in gate.examples]
    with st.expander(tr("Requirements not met") if gate.name == "coverage" else first):
        draw_table(tr("Missing: {gate}", gate=name_gate(gate)), columns, rows)
