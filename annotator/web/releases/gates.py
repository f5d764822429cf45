"""Draw the gates of a release as a checklist with links to the work they need, or as they were when it was published."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.domain.figures import show_beside, show_figure, show_number
from annotator.domain.messages import Message, say, say_n
from annotator.releases.records import ReleaseGate
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_sentences, tr
from annotator.web.kit.page_parts import draw_link
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import show_as
from annotator.web.page_context import PageContext

NAMES = {
    "kappa": say("Agreement"),
    "disagreements": say("Disagreements"),
    "overlap": say("Judgments per pair"),
    "quality_control": say("Quality control"),
    "coverage": say("Requirements"),
    "unjudged_queries": say("Queries with a settled grade"),
    "relevant": say("Queries with a relevant document"),
    "stale": say("Current guideline and texts"),
    "ids": say("Ids in every format"),
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


def describe_gate(gate: ReleaseGate) -> str:
    """Return what was measured, with what the gate requires, as a noun phrase: "2 open disagreements"."""
    if gate.name == "kappa":
        kappa = tr("undefined") if gate.measured is None else show_beside(gate.measured, gate.required)[0]
        return tr("κ {kappa} (target {target})", kappa=kappa, target=show_number(gate.required, 2))
    if gate.measured is None:
        return tr("quality control not done") if gate.name == "quality_control" else tr("undefined")
    if gate.name == "quality_control":
        return tr(
            "quality control at {share} (must be below {limit})",
            share=show_share(gate.measured, 1, limit=gate.required),
            limit=show_share(gate.required),
        )
    states = _list_met(round(gate.required)) if gate.met else _list_unmet(gate)
    return tr(states.get(gate.name, show_figure(gate.measured, 6)))


def _list_met(required: int) -> dict[str, Message]:
    """Return {gate: phrase of the met gate}. `required`: the number of requirements."""
    met = say_n("{n:,} requirement met", "all {n:,} requirements met", required)
    return {
        "disagreements": say("no open disagreements"),
        "overlap": say("every pair has enough judgments"),
        "coverage": met if required else say("none declared"),
        "unjudged_queries": say("every query has a settled grade"),
        "relevant": say("every judged query has a relevant document"),
        "stale": say("all grades follow the current guideline and texts"),
        "ids": say("every format can hold every id"),
    }


def _list_unmet(gate: ReleaseGate) -> dict[str, Message]:
    """Return {gate: phrase of the unmet gate}, made with the figures of this gate: choose its own phrase."""
    n = round(gate.measured or 0)
    missing = round(gate.required) - n
    return {
        "disagreements": say_n("{n:,} open disagreement", "{n:,} open disagreements", n),
        "overlap": say_n("{n:,} pair without enough judgments", "{n:,} pairs without enough judgments", n),
        "coverage": say_n("{n:,} requirement not met", "{n:,} requirements not met", missing),
        "unjudged_queries": say_n(
            "{n:,} query without a settled grade", "{n:,} queries without a settled grade", n
        ),
        "relevant": say_n(
            "{n:,} query without a relevant document", "{n:,} queries without a relevant document", n
        ),
        "stale": say_n("{n:,} outdated grade", "{n:,} outdated grades", n),
        "ids": say_n("{n:,} id that some format cannot hold", "{n:,} ids that some format cannot hold", n),
    }


def ask_why(gate: ReleaseGate) -> str:
    """Return the question for the reason to publish although the gate is not met."""
    return tr("Why publish with {state}?", state=describe_gate(gate))


def _summarise(gates: Sequence[ReleaseGate]) -> str:
    met = sum(gate.met for gate in gates)
    sentences = [tr("{met} of {gates} gates are met.", met=met, gates=len(gates))]
    if met < len(gates):
        sentences.append(tr("To publish, finish the work for the others, or say why you publish without it."))
    return f'<p class="annotator-step">{escape(join_sentences(sentences))}</p>'


def _describe(gate: ReleaseGate) -> str:
    state = name_state(gate)
    kind = "met" if gate.met else "unmet"
    note = tr(gate.why) if gate.why else ""
    if note and not note.endswith((".", "。")):
        note = tr("{sentence}.", sentence=note[0].upper() + note[1:])
    why = show_as("note", note) if note else ""
    override, kept = gate.override, ""
    if override:
        note = tr("Published without it by {lead}: {reason}", lead=override.by, reason=override.reason)
        kept = show_as("note", note)
    return (
        f'<p class="annotator-step"><span class="annotator-state annotator-{kind}">{escape(state)}</span> '
        f"<strong>{escape(name_gate(gate))}</strong>: {escape(describe_gate(gate))}</p>{why}{kept}"
    )


def _draw_examples(gate: ReleaseGate) -> None:
    first = tr("First {n}", n=len(gate.examples))
    columns = [tr(name) for name in COLUMNS.get(gate.name, PAIR)]
    rows = [[tr(cell) for cell in row] for row in gate.examples]
    with st.expander(tr("Requirements not met") if gate.name == "coverage" else first):
        draw_table(tr("Missing: {gate}", gate=name_gate(gate)), columns, rows)
