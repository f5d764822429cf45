"""The form that publishes a release. What would be refused is said before; what is typed stays when it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from annotator.domain.errors import AnnotatorError, GateNotMet
from annotator.domain.settling import SETTLED
from annotator.releases.service import publish_release
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext
from annotator.web.releases.gates import name_gate

if TYPE_CHECKING:
    from annotator.releases.gates import Gate
    from annotator.releases.service import ReleaseCheck


def draw_form(
    context: PageContext, dataset: str, check: "ReleaseCheck", *, advised: str, advice: str = ""
) -> None:
    """Version, note and the reasons for unmet gates; publishes, and begins the page anew.

    `advised`: the version that is offered; `advice`: why. The fields and the button belong to the suggested
    version: after publishing they are new ones, so that a second press of the old button publishes nothing.
    """
    draw_note(say_content(check))
    if not holds_anything(check):
        return
    place = f"{dataset} {check.suggested}"
    version = st.text_input(
        tr("Version"),
        advised,
        key=f"version {place}",
        on_change="ignore",
        width=200,
        help=tr("MAJOR.MINOR.PATCH. A version is published once and never changed."),
    )
    if advice:
        draw_note(advice)
    note = st.text_area(
        tr("Note"),
        key=f"note {place}",
        on_change="ignore",
        height=80,
        help=tr("What this release is for; it is published with it."),
    )
    reasons = {gate.name: _ask_reason(gate, place) for gate in check.gates if not gate.met}
    if st.button(tr("Publish"), type="primary", key=f"publish {place}"):
        given = {name: reason for name, reason in reasons.items() if reason.strip()}
        _publish(context, dataset, version or "", note or "", given)


def holds_anything(check: "ReleaseCheck") -> bool:
    """Whether a release of this moment would hold a qrel."""
    return any(check.statuses.get(status) for status in SETTLED)


def say_content(check: "ReleaseCheck") -> str:
    """What a release of this moment would hold, and what it would leave out."""
    held = [_say_count(status, check.statuses[status]) for status in SETTLED if check.statuses.get(status)]
    absent = {status: pairs for status, pairs in check.statuses.items() if status not in SETTLED}
    left = [_say_count(status, pairs) for status, pairs in absent.items()]
    if not held:
        return tr("Nothing is settled yet, so there is nothing to publish.")
    said = tr("It would hold {content}.", content=", ".join(held))
    return f"{said} {tr('Left out: {content}.', content=', '.join(left))}" if left else said


def _say_count(status: str, pairs: int) -> str:
    return tr("{pairs:,} {status}", pairs=pairs, status=name_word(status))


def choose_version(suggested: str, called_for: str | None, published: Sequence[str]) -> str:
    """The version to offer: the one called for, unless it is taken."""
    return suggested if called_for is None or called_for in published else called_for


def _ask_reason(gate: "Gate", place: str) -> str:
    reason = st.text_input(
        tr("Reason to publish although this is not met: {gate}", gate=name_gate(gate)),
        key=f"reason {place} {gate.name}",
        on_change="ignore",
        help=tr("Without one the release is refused. The manifest keeps it."),
    )
    return reason or ""


def _publish(context: PageContext, dataset: str, version: str, note: str, overrides: dict[str, str]) -> None:
    try:
        with st.spinner(tr("Publishing: every file is made, written and checked …"), show_time=True):
            made = publish_release(
                context.database,
                context.actor,
                dataset,
                version.strip(),
                exports_dir=context.settings.exports_dir,
                now=context.now,
                note=note,
                overrides=overrides,
            )
            st.session_state["published"] = made.version
    except GateNotMet:
        said = tr(
            "Not published: a gate is not met. Do the work it names, or say above why you publish all the same."
        )
        st.error(said, icon=":material/block:")
    except AnnotatorError as error:
        why = escape_markdown(show_refusal(error))
        st.error(tr("Not published: {why}.", why=why), icon=":material/block:")
    else:
        st.rerun()
