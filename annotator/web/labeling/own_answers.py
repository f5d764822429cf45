"""An annotator's own answers as a list to read: what was said of which pair, when, and the way to change it."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.labeling.records import OwnJudgment
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.tables import escape_breakable

REASONS = ("unreadable", "wrong_language", "document_missing", "query_unclear", "other")


def draw_answers(dataset: str, answers: Sequence[OwnJudgment]) -> None:
    """The answers, each with a link to its pair or the reason why it stays as it is."""
    caption = escape(tr("What I did"), quote=True)
    heads = (tr("answer"), tr("query"), tr("document"), tr("change"))
    row = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(_row(dataset, one) for one in answers)
    st.html(
        f'<div class="annotator-scroll" role="region" tabindex="0" aria-label="{caption}" style="max-height: none">'
        f'<table class="annotator-table"><caption class="annotator-unseen">{caption}</caption>'
        f"<thead><tr>{row}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def name_answer(one: OwnJudgment) -> str:
    """The grade, or what was said in its place."""
    if one.outcome == "later":
        return tr("put off")
    if one.outcome == "graded":
        return str(one.grade)
    return tr("unrateable: {reason}", reason=name_reason(one.reason)) if one.reason else tr("unrateable")


def name_reason(reason: str) -> str:
    """Why something cannot be rated, in the reader's language."""
    return {
        "unreadable": tr("unreadable"), "wrong_language": tr("wrong language"),
        "document_missing": tr("document missing"), "query_unclear": tr("query unclear"),
    }.get(reason, tr("other"))  # fmt: skip


def _row(dataset: str, one: OwnJudgment) -> str:
    note = f'<br><span class="annotator-soft">{escape(one.note)}</span>' if one.note else ""
    title = f"<br>{escape(one.title)}" if one.title and one.title != one.doc_id else ""
    when = f'<br><span class="annotator-soft">{escape(show_time(one.judged_at))}</span>'
    return (
        f'<tr><th scope="row" dir="auto">{escape(name_answer(one))}</th>'
        f'<td class="annotator-long" dir="auto">{escape(one.query)}</td>'
        f'<td class="annotator-long" dir="auto">{escape_breakable(one.doc_id)}{title}{note}{when}</td>'
        f"<td>{_change(dataset, one)}</td></tr>"
    )


def _change(dataset: str, one: OwnJudgment) -> str:
    if one.locked == "settled":
        return escape(tr("settled by a lead"))
    if one.locked is not None:
        return escape(tr("you have seen others' judgments"))
    address = "/label?" + urlencode({"dataset": dataset, "pair": one.pair})
    named = escape(tr("Change {query_id} {doc_id}", query_id=one.query_id, doc_id=one.doc_id), quote=True)
    return (
        f'<a class="annotator-link" href="{escape(address, quote=True)}" target="_self" style="white-space: nowrap" aria-label="{named}">'
        f"{escape(tr('Change'))}</a>"
    )
