"""The errors that quality control found, each with the way to its case, and what became of it.

Only pairs that the expert has answered are here; those that wait are never listed anywhere.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.messages import say
from annotator.quality.records import QualityError, QualityStatus
from annotator.web.agreement.links import draw_file_link
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_numbers
from annotator.web.kit.tables import escape_breakable
from annotator.web.kit.words import name_word
from annotator.web.quality.downloads import list_address

SHOWN = 100
STATES = {"reopened": say("to be decided"), "decided": say("decided"), "retired": say("left the pool")}


def draw_errors(status: QualityStatus) -> None:
    """Those of every round, in their order: those to be decided first. A long list is cut here, and whole in the table
    behind it."""
    dataset, errors = status.dataset, status.errors
    if status.hidden:
        draw_note(tr("Of a pair that you have still to judge yourself nothing is shown."))
    if not errors:
        if not status.hidden:
            st.text(tr("No error so far."))
        return
    waiting = sum(one.state == "reopened" for one in errors)
    retired = sum(one.state == "retired" for one in errors)
    if waiting:
        said = tr_n(
            "{n:,} pair is open again and waits among the disagreements for a lead who did not judge it.",
            "{n:,} pairs are open again and wait among the disagreements for a lead who did not judge them.",
            waiting,
        )
    elif status.hidden:
        said = tr("None of those listed here waits for a lead any more.")
    elif retired:
        said = tr("None of them waits for a lead any more.")
    else:
        said = tr("Every one of them has been decided anew.")
    draw_note(said)
    if retired:
        draw_note(
            tr_n(
                "{n:,} pair has left the pool since, and is decided by nobody.",
                "{n:,} pairs have left the pool since, and are decided by nobody.",
                retired,
            )
        )
    if status.round > 1:
        draw_note(
            tr("These are of every round; the figures above are of round {round} alone.", round=status.round)
        )
    _draw_table(dataset, errors[:SHOWN], rounds=status.round > 1)
    if len(errors) > SHOWN:
        draw_note(tr("The first {shown} of {all} errors.", shown=SHOWN, all=len(errors)))
    draw_numbers(tr("All errors as a table"), [_describe(one) for one in errors])
    draw_file_link(tr("Errors as CSV"), list_address(dataset, "errors"))


def link_case(dataset: str, pair: str) -> str:
    """The address of a pair's case among the disagreements."""
    return f"/disagreements?{urlencode({'dataset': dataset, 'pair': pair})}"


def name_state(one: QualityError) -> str:
    """What became of it, in words."""
    if one.decided_grade is None:
        return tr(STATES[one.state])
    if one.decided_grade == one.expert_grade:
        return tr("decided {grade}, as the expert", grade=one.decided_grade)
    if one.decided_grade == one.settled_grade:
        return tr("decided {grade}, as before", grade=one.decided_grade)
    return tr("decided {grade}", grade=one.decided_grade)


def _draw_table(dataset: str, errors: Sequence[QualityError], *, rounds: bool) -> None:
    caption = escape(tr("Errors found"))
    columns = [tr("query"), tr("document"), tr("settled"), tr("expert"), tr("note"), tr("state")]
    if rounds:
        columns.append(tr("round"))
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_draw_row(dataset, one, rounds=rounds) for one in errors)
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{caption}">'
        f'<table class="annotator-table"><caption class="annotator-unseen">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _draw_row(dataset: str, one: QualityError, *, rounds: bool) -> str:
    told = tr("Look at {query_id}, {doc_id}", query_id=one.query_id, doc_id=one.doc_id)
    category = f'<br><span class="annotator-soft">{escape(one.category)}</span>' if one.category else ""
    document = escape_breakable(one.doc_id)
    if one.state != "retired":  # a pair that has left the pool is no case any more
        document = (
            f'<a class="annotator-link" href="{escape(link_case(dataset, one.pair))}" target="_self" '
            f'title="{escape(told)}">{document}</a>'
        )
    settled = f'{one.settled_grade} <span class="annotator-soft">{escape(name_word(one.settled_by))}</span>'
    note = escape(one.note) if one.note else ""
    cells = [document, settled, str(one.expert_grade), note, escape(name_state(one))]
    marks = [' class="annotator-long"', "", "", ' class="annotator-long"' if note else "", ""]
    if rounds:
        cells.append(str(one.round))
        marks.append("")
    return (
        f'<tr><th scope="row" dir="auto">{escape_breakable(one.query_id)}{category}</th>'
        + "".join(f'<td dir="auto"{mark}>{cell}</td>' for cell, mark in zip(cells, marks, strict=True))
        + "</tr>"
    )


def _describe(one: QualityError) -> dict[str, object]:
    return {
        tr("query"): one.query_id,
        tr("document"): one.doc_id,
        tr("category"): one.category or "",
        tr("settled"): one.settled_grade,
        tr("settled by"): name_word(one.settled_by),
        tr("expert"): one.expert_grade,
        tr("apart"): one.distance,
        tr("note"): one.note or "",
        tr("draw"): one.draw,
        tr("round"): one.round,
        tr("answered"): show_time(one.answered_at),
        tr("state"): name_state(one),
    }
