"""The gates of a release as a checklist, each with the way to the work that it needs."""

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.guidance import draw_link
from annotator.web.page_context import PageContext

if TYPE_CHECKING:
    from annotator.releases.gates import Gate

NAMES = {"kappa": "Cohen's κ reaches its target", "disagreements": "No disagreement is open"}
WORK = {"kappa": "agreement", "disagreements": "disagreements"}


def draw_gates(context: PageContext, gates: "tuple[Gate, ...]") -> None:
    """Each gate with what it requires and what was measured; where it is not met, the link to the work."""
    for gate in gates:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            with st.container(width="stretch"):
                st.html(_describe(gate))
            if not gate.met and gate.name in WORK:
                draw_link(context, WORK[gate.name])


def name_gate(gate: "Gate") -> str:
    """The gate in words."""
    return NAMES.get(gate.name, gate.name)


def _describe(gate: "Gate") -> str:
    measured = f"undefined: {gate.why}" if gate.measured is None else f"{gate.measured:g}"
    badge = "met" if gate.met else "not met"
    return (
        f'<p class="annotator-step"><strong>{escape(name_gate(gate))}</strong>'
        f'<span class="annotator-badge annotator-{badge.replace(" ", "-")}">{badge}</span><br>'
        f"required {gate.required:g}, measured {escape(measured)}</p>"
    )
