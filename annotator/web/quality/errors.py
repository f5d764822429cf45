"""Draw the errors that quality control found, each with a link to its disagreement and its present state.

Pairs without the expert's answer are never listed.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.messages import say
from annotator.quality.records import QualityError, QualityStatus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note, draw_numbers
from annotator.web.kit.tables import draw_file_link, escape_breakable
from annotator.web.kit.words import name_word
from annotator.web.quality.downloads import make_table_url

SHOWN = 100
STATES = {
    "reopened": say("waiting for a decision"),
    "decided": say("decided"),
    "retired": say("left the pool"),
}


def draw_errors(status: QualityStatus) -> None:
    """Draw the first SHOWN errors of all rounds, undecided ones first, and a table of all."""
    dataset, errors = status.dataset, status.errors
    if status.hidden:
        draw_note(tr(describe_blind_pairs(status.hidden)))
    if not errors:
        if not status.hidden:
            st.text(tr("No errors so far."))
        return
    waiting = sum(error.state == "reopened" for error in errors)
    retired = sum(error.state == "retired" for error in errors)
    if waiting:
        sentence = tr_n(
            "{n:,} pair is open again and waiting for a decision on Disagreements.",
            "{n:,} pairs are open again and waiting for a decision on Disagreements.",
            waiting,
        )
    elif status.hidden:
        sentence = tr("None of the errors shown is waiting for a decision.")
    elif retired:
        sentence = tr("None of them is waiting for a decision.")
    else:
        sentence = tr("All of them have been decided again.")
    draw_note(sentence)
    if retired:
        draw_note(
            tr_n(
                "{n:,} pair has left the pool and needs no decision.",
                "{n:,} pairs have left the pool and need no decision.",
                retired,
            )
        )
    if status.round > 1:
        draw_note(
            tr("Errors of all rounds; the figures above are for round {round} only.", round=status.round)
        )
    _draw_table(dataset, errors[:SHOWN], rounds=status.round > 1)
    if len(errors) > SHOWN:
        draw_note(tr("Showing the first {shown} of {all} errors.", shown=SHOWN, all=len(errors)))
    draw_numbers(tr("Table of all errors"), [_describe(error) for error in errors])
    draw_file_link(tr("Errors as CSV"), make_table_url(dataset, "errors"))


def make_disagreement_url(dataset: str, pair: str) -> str:
    """Return the URL of the pair on the page Disagreements."""
    return f"/disagreements?{urlencode({'dataset': dataset, 'pair': pair})}"


def name_state(error: QualityError) -> str:
    if error.decided_grade is None:
        return tr(STATES[error.state])
    if error.decided_grade == error.expert_grade:
        return tr("decided {grade}, same as the checker", grade=error.decided_grade)
    if error.decided_grade == error.settled_grade:
        return tr("decided {grade}, unchanged", grade=error.decided_grade)
    return tr("decided {grade}", grade=error.decided_grade)


def _draw_table(dataset: str, errors: Sequence[QualityError], *, rounds: bool) -> None:
    caption = escape(tr("Errors"))
    columns = [tr("query"), tr("document"), tr("settled"), tr("checker"), tr("note"), tr("state")]
    if rounds:
        columns.append(tr("round"))
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_draw_row(dataset, error, columns[1:]) for error in errors)
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{caption}">'
        f'<table class="annotator-table annotator-stacked"><caption class="annotator-unseen">{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _draw_row(dataset: str, error: QualityError, columns: Sequence[str]) -> str:
    label = tr("Show {query_id}, {doc_id}", query_id=error.query_id, doc_id=error.doc_id)
    category = f'<br><span class="annotator-soft">{escape(error.category)}</span>' if error.category else ""
    document = escape_breakable(error.doc_id)
    if error.state != "retired":  # a retired pair has no disagreement
        document = (
            f'<a class="annotator-link" href="{escape(make_disagreement_url(dataset, error.pair))}" target="_self" '
            f'title="{escape(label)}">{document}</a>'
        )
    settled = (
        f'{error.settled_grade} <span class="annotator-soft">{escape(name_word(error.settled_by))}</span>'
    )
    note = escape(error.note) if error.note else ""
    cells = [document, settled, str(error.expert_grade), note, escape(name_state(error))]
    marks = [' class="annotator-long"', "", "", ' class="annotator-long"' if note else "", ""]
    if len(columns) > len(cells):
        cells.append(str(error.round))
        marks.append("")
    return (
        f'<tr><th scope="row" dir="auto">{escape_breakable(error.query_id)}{category}</th>'
        + "".join(
            f'<td dir="auto"{mark} data-column="{escape(name, quote=True)}">{cell}</td>'
            for cell, mark, name in zip(cells, marks, columns, strict=True)
        )
        + "</tr>"
    )


def _describe(error: QualityError) -> dict[str, object]:
    return {
        tr("query"): error.query_id,
        tr("document"): error.doc_id,
        tr("category"): error.category or "",
        tr("settled"): error.settled_grade,
        tr("basis of the settled grade"): name_word(error.settled_by),
        tr("checker"): error.expert_grade,
        tr("apart"): error.distance,
        tr("note"): error.note or "",
        tr("draw"): error.draw,
        tr("round"): error.round,
        tr("answered"): show_time(error.answered_at),
        tr("state"): name_state(error),
    }
