"""The forms by which a lead marks pairs as training or gold, takes marks back, and sets the rates of checks."""

from collections.abc import Callable
from html import escape

import streamlit as st

from annotator.dataset.service import Dataset, change_settings
from annotator.domain.errors import AnnotatorError, NotFound
from annotator.domain.grades import GRADES
from annotator.labeling.calibration_service import find_candidates, mark_pair, unmark_pair
from annotator.labeling.domain_calibration import KINDS, Candidate, MarkedPair
from annotator.labeling.service import read_whole_text
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext

SHOWN_CHARACTERS = 5_000
SHARES = ("training_score", "gold_rate", "repeat_rate")
DONE = "calibration done"


def draw_done() -> None:
    """What the last press did, once."""
    said = st.session_state.pop(DONE, None)
    if said:
        st.success(said, icon=":material/check:")


def draw_mark(context: PageContext, dataset: str) -> None:
    """Find a pair and mark it."""
    words = st.text_input(
        tr("Search by query or document"), key="find", max_chars=200, autocomplete="off",
        help=tr("Ids, or words of the query's text or of the document's title."),
    )  # fmt: skip
    found = find_candidates(context.database, context.actor, dataset, words=words, now=context.now)
    if not found:
        st.text(
            tr("No pair is found.") if words.strip()
            else tr("No pair is settled by two or more yet. Search for one by query or document.")
        )  # fmt: skip
        return
    if not words.strip():
        draw_note(tr("Pairs that several judged alike make good gold. Search to see any other pair."))
    by_key = {one.pair: one for one in found}
    pair = st.selectbox(tr("Pair"), list(by_key), format_func=lambda key: _name(by_key[key]))
    chosen = by_key[pair]
    _draw_candidate(context, dataset, chosen)
    with st.form("mark", border=False):
        kind = st.radio(tr("Mark as"), KINDS, format_func=name_word, horizontal=True)
        suggested = GRADES.index(chosen.grade) if chosen.grade is not None else None
        grade = st.radio(tr("Right grade"), GRADES, index=suggested, horizontal=True, key=f"grade {pair}")
        explanation = st.text_area(
            tr("Explanation"), max_chars=10_000, key=f"why {pair}",
            help=tr("Shown after the answer in training; for gold pairs only leads see it."),
        )  # fmt: skip
        pressed = st.form_submit_button(tr("Mark this pair"), type="primary")
    if not pressed:
        return
    if grade is None:
        st.error(tr("Choose the right grade."))
        return
    _do(
        lambda: mark_pair(
            context.database, context.actor, dataset, pair,
            kind=kind, grade=grade, explanation=explanation, now=context.now,
        ),
        tr("Marked {name}.", name=_name(chosen)),
    )  # fmt: skip


def draw_marked(context: PageContext, dataset: str, marked: list[MarkedPair]) -> None:
    """The marked pairs, and the way back."""
    st.text(tr_n("{n:,} pair is marked.", "{n:,} pairs are marked.", len(marked)))
    st.dataframe(
        [
            {
                tr("query"): one.query_id, tr("document"): one.doc_id, tr("kind"): name_word(one.kind),
                tr("right grade"): one.grade, tr("answered by"): one.answered,
                tr("explanation"): one.explanation, tr("marked by"): one.marked_by or "",
            }
            for one in marked
        ],
        hide_index=True, alt=tr("The marked pairs"),
    )  # fmt: skip
    by_key = {one.pair: one for one in marked}
    with st.form("unmark", border=False):
        pair = st.selectbox(
            tr("Make ordinary again"), list(by_key), index=None,
            format_func=lambda key: f"{by_key[key].query_id} · {by_key[key].doc_id}",
            placeholder=tr("Choose a pair"),
            help=tr("It is handed out again, but not to those who answered it as a check."),
        )  # fmt: skip
        pressed = st.form_submit_button(tr("Take the mark back"))
    if pressed and pair is not None:
        _do(lambda: unmark_pair(context.database, context.actor, dataset, pair, now=context.now),
            tr("The pair is ordinary work again."))  # fmt: skip


def draw_settings(context: PageContext, dataset: Dataset) -> None:
    """The score that training needs, the rates, and when time stops counting."""
    with st.form("settings", border=False):
        left, right = st.columns(2, gap="medium")
        with left:
            score = st.number_input(
                tr("Share of training pairs to get right"), 0.0, 1.0, dataset.training_score, 0.05,
                help=tr("Real pairs come to a new annotator once all training pairs are answered and this share is right."),
            )  # fmt: skip
            gold = st.number_input(tr("Share of gold pairs"), 0.0, 0.5, dataset.gold_rate, 0.01)
            idle = st.number_input(
                tr("Seconds until time stops counting"), 10, 3600, dataset.idle_seconds, 10,
                help=tr("After so long without a sign of life the time no longer counts as work on the pair."),
            )  # fmt: skip
        with right:
            repeat = st.number_input(tr("Share of repeats"), 0.0, 0.5, dataset.repeat_rate, 0.01)
            after = st.number_input(
                tr("Answers before a pair may come again"), 1, 10_000, dataset.repeat_after, 1
            )
        pressed = st.form_submit_button(tr("Save settings"))
    if pressed:
        chosen = {
            "training_score": score, "gold_rate": gold, "repeat_rate": repeat, "repeat_after": after,
            "idle_seconds": idle,
        }  # fmt: skip
        changes = {
            name: f"{value:g}" if name in SHARES else str(int(value))
            for name, value in chosen.items()
            if value != getattr(dataset, name)
        }
        _do(
            lambda: change_settings(context.database, context.actor, dataset.name, changes, now=context.now),
            tr("The settings are saved."),
        )


def _draw_candidate(context: PageContext, dataset: str, chosen: Candidate) -> None:
    st.html(f'<p class="annotator-query" dir="auto">{escape(chosen.query)}</p>')
    known = [
        tr("yours to judge first")
        if chosen.hidden
        else tr("{status}, judged by {n}", status=name_word(chosen.status), n=chosen.judged)
    ]
    if chosen.grade is not None:
        known.append(tr("settled grade {grade}", grade=chosen.grade))
    if chosen.kind is not None:
        known.append(tr("marked as {kind}", kind=name_word(chosen.kind)))
    draw_note(" · ".join(known))
    try:
        text = read_whole_text(context.database, context.actor, dataset, chosen.pair)
    except NotFound:
        draw_note(tr("The text of this document was not imported."))
        return
    cut = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    label = escape(tr("Document {doc_id}", doc_id=chosen.doc_id), quote=True)
    st.html(
        f'<p class="annotator-said" dir="auto"><strong>{escape(chosen.title or chosen.doc_id)}</strong></p>'
        f'<pre class="annotator-document" role="region" tabindex="0" dir="auto" aria-label="{label}"'
        f' style="white-space: pre-wrap">{escape(cut)}</pre>'
    )


def _name(one: Candidate) -> str:
    status = f"{name_word(one.status)} {one.grade}" if one.grade is not None else name_word(one.status)
    return f"{one.query_id} · {one.doc_id} ({status})"


def _do(act: Callable[[], object], said: str) -> None:
    try:
        act()
    except AnnotatorError as error:
        st.error(show_refusal(error))
        return
    st.session_state[DONE] = said
    st.rerun()
