"""The gates of a release as a checklist, each with the way to the work that it needs; or as they were when it went out."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.guidance import draw_link
from annotator.web.html_table import draw_table
from annotator.web.page_context import PageContext
from annotator.web.plain_text import say

if TYPE_CHECKING:
    from annotator.releases.gates import Gate

NAMES = {
    "kappa": "Cohen's κ reaches its target",
    "disagreements": "No disagreement is open",
    "overlap": "Every pair has the judgments it needs",
    "quality_control": "Quality control is passed",
    "coverage": "The declared requirements are met",
    "relevant": "Every judged query has a relevant document",
    "stale": "Nothing rests on an older meaning of the grades",
}
MEASURED = {
    "kappa": "{:g}", "disagreements": "{:,.0f} open", "overlap": "{:,.0f} short", "quality_control": "{:.1%} errors",
    "coverage": "{:,.0f} met", "relevant": "{:,.0f} without", "stale": "{:,.0f} stale",
}  # fmt: skip
REQUIRED = {"kappa": "at least {:g}", "quality_control": "at most {:.0%} errors"}
UNDEFINED = {"quality_control": "not done"}
WORK = {
    "kappa": ("agreement",),
    "disagreements": ("disagreements",),
    "overlap": ("label", "people"),
    "coverage": ("overview", "pool"),
    "relevant": ("pool",),
    "stale": ("label",),
}
EXAMPLES = {
    "relevant": ("query",), "coverage": ("requirement", "required", "measured"),
}  # fmt: skip
PAIRS = ("query", "document")


def draw_gates(context: PageContext, gates: "Sequence[Gate]") -> None:
    """Each gate with what it requires and what was measured; where it is not met, what is missing and the links to
    the work."""
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


def draw_kept_gates(gates: "Sequence[Gate]") -> None:
    """The gates of a release that is out: nothing is to be done about them any more."""
    if not gates:
        st.text("This release keeps no gates.")
    for gate in gates:
        with st.container(border=True):
            st.html(_describe(gate))


def name_gate(gate: "Gate") -> str:
    """The gate in words."""
    return NAMES.get(gate.name, gate.name)


def name_state(gate: "Gate") -> str:
    """Whether it is met, or went out all the same."""
    return "met" if gate.met else "not met, overridden" if gate.override else "not met"


def say_measured(gate: "Gate") -> str:
    """What was measured; in words where there is no figure, never as a bare 0."""
    if gate.measured is None:
        return UNDEFINED.get(gate.name, "undefined")
    if gate.name == "coverage" and not gate.required:
        return "none declared"
    return MEASURED.get(gate.name, "{:g}").format(gate.measured)


def _summarise(gates: "Sequence[Gate]") -> str:
    met = sum(gate.met for gate in gates)
    missing = "" if met == len(gates) else " Each of the others needs work, or a reason."
    return f'<p class="annotator-step">{met} of {len(gates)} gates are met.{missing}</p>'


def _describe(gate: "Gate") -> str:
    state = name_state(gate)
    kind = "met" if gate.met else "unmet"
    required = REQUIRED.get(gate.name, "{:g}").format(gate.required)
    why = say("note", gate.why[0].upper() + gate.why[1:] + ".") if gate.why else ""
    override = gate.override
    kept = say("note", f"Published all the same, says {override.by}: {override.reason}") if override else ""
    return (
        f'<p class="annotator-step"><span class="annotator-state annotator-{kind}">{escape(state)}</span> '
        f"<strong>{escape(name_gate(gate))}</strong><br>"
        f"Required: {escape(required)} · measured: {escape(say_measured(gate))}</p>{why}{kept}"
    )


def _draw_examples(gate: "Gate") -> None:
    with st.expander("Which ones" if gate.name == "coverage" else f"The first {len(gate.examples)} of them"):
        draw_table(f"What {name_gate(gate)} misses", EXAMPLES.get(gate.name, PAIRS), gate.examples)
