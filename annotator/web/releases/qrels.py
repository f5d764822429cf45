"""Browse the qrels of a release, query by query, page by page with filters, and show what the chosen one rests on.

The address holds filters, page and the chosen qrel, so it can be sent to a colleague. For the chosen qrel, every judgment,
the decision, or the file that the grade came from is shown. People appear under their release pseudonyms; all text is
escaped.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from html import escape

import streamlit as st

from annotator.domain.errors import NotFound
from annotator.domain.judgments import COUNTED_PURPOSE, describe_blind_pairs
from annotator.domain.messages import say
from annotator.releases.published_service import browse_qrels, list_guidelines, trace_qrel
from annotator.releases.records import Guideline, QrelPage, QrelRow, QrelTrace
from annotator.web.kit.components import draw_rows
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.figures import show_time
from annotator.web.kit.lists import find_page_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import show_as
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext

WHY_SETTLED = {
    "unanimous": say("all annotators agree"),
    "single": say("one annotator only"),
    "adjudicated": say("decided by a lead"),
    "imported": say("imported from earlier ground truth"),
}


def draw_trace(trace: QrelTrace, key: str, guidelines: Sequence[Guideline]) -> None:
    """Draw everything that a qrel rests on. `key`: the key of the chosen row, which scrolls this into view."""
    query = show_as("query", trace.query) if trace.query is not None else ""
    st.html(
        f'<div class="annotator-trail" data-key="{escape(key)}"><h3>{escape(tr("Why grade {grade}", grade=trace.grade))}</h3>'
        + show_as("note", tr("Query {query_id}", query_id=trace.query_id))
        + query
        + show_as("note", tr("Document {doc_id}", doc_id=trace.doc_id))
        + show_as(
            "said",
            tr("Grade {grade}: {why}.", grade=trace.grade, why=WHY_SETTLED.get(trace.origin, trace.origin)),
        )
        + "</div>"
    )
    if not trace.complete:
        sentence = tr(
            "This release does not record the basis of each grade. Below are the judgments up to that time."
        )
        st.info(sentence, icon=":material/history:")
    st.html("".join(_list_parts(trace)))
    used = {judgment.guideline_version for judgment in trace.judgments} - {None}
    if trace.adjudication:
        used.add(trace.adjudication.guideline_version)
    for guideline in guidelines:
        if guideline.version in used:
            _draw_guideline(guideline)


def _list_parts(trace: QrelTrace) -> list[str]:
    parts = [_head(tr("Judgments"))] if trace.judgments else []
    for judgment in trace.judgments:
        answer = tr("cannot rate") if judgment.grade is None else f"{judgment.grade}"
        marks = [tr("simulated")] if judgment.simulated else []
        marks += [name_word(judgment.purpose)] if judgment.purpose != COUNTED_PURPOSE else []
        parts.append(
            _line(judgment.annotator, answer, marks, judgment.judged_at, judgment.guideline_version)
            + (show_as("note", judgment.note) if judgment.note else "")
        )
    if decision := trace.adjudication:
        marks = [decision.reason] if decision.reason else []
        parts.append(
            _head(tr("Decision"))
            + _line(
                decision.lead, str(decision.grade), marks, decision.decided_at, decision.guideline_version
            )
            + show_as("note", decision.rationale)
        )
    if taken := trace.imported:
        source = "; ".join(f"{name}: {value}" for name, value in taken.source.items() if value)
        parts.append(
            _head(tr("Imported from"))
            + show_as(
                "said", tr("Grade {grade}, {time}", grade=taken.grade, time=show_time(taken.imported_at))
            )
            + show_as("note", source)
            + (show_as("note", taken.note) if taken.note else "")
        )
    return parts or [show_as("said", tr("The basis of this grade is not recorded."))]


def _line(who: str, answer: str, marks: list[str], at: datetime | None, guideline: int | None) -> str:
    badges = "".join(f'<span class="annotator-badge" dir="auto">{escape(mark)}</span>' for mark in marks)
    if at is None:
        when = tr("imported; date and guideline unknown")
    elif guideline is None:
        when = tr("{time}; imported, guideline unknown", time=show_time(at))
    else:
        when = tr("{time}, guideline {version}", time=show_time(at), version=guideline)
    return (
        f'<p class="annotator-said">{escape(who)}: <strong>{escape(answer)}</strong>{badges}<br>'
        f'<span class="annotator-soft">{escape(when)}</span></p>'
    )


def _head(words: str) -> str:
    return f'<h4 class="annotator-part">{escape(words)}</h4>'


def _draw_guideline(guideline: Guideline) -> None:
    with st.expander(
        tr("Guideline {version}, of {time}", version=guideline.version, time=show_time(guideline.created_at))
    ):
        grades = "".join(
            show_as("note", f"{grade.get('grade')} · {grade.get('name')}: {grade.get('definition')}")
            for grade in guideline.grades
        )
        st.html(show_as("narrative", guideline.guideline) + grades)


ALL = "all"
GRADES = (ALL, "0", "1", "2", "3")
ORIGINS = (ALL, "unanimous", "adjudicated", "single", "imported")
PAGE = 50
MAX_TEXT = 120


def draw_qrels(context: PageContext, dataset: str, version: str, earlier: list[str]) -> None:
    """Draw the filters, the table and what the chosen qrel rests on.

    `earlier`: the versions before this one, the latest first.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input(
            tr("Search"),
            key="search",
            bind="query-params",
            type="search",
            on_change=_begin_anew,
            width=300,
            placeholder=tr("id or words from a query"),
        )
        grade = _choose(tr("Grade"), GRADES, "grade")
        origin = _choose(tr("Origin"), ORIGINS, "origin")
        since = _choose(tr("Changed since"), (ALL, *earlier), "since") if earlier else ALL
    page = find_page_number("page")
    qrel_page = _browse(context, dataset, version, (search or "", grade, origin, since), page)
    if page > 1 and not qrel_page.rows:
        page, qrel_page = 1, _browse(context, dataset, version, (search or "", grade, origin, since), 1)
    if qrel_page.withheld:
        draw_note(tr(describe_blind_pairs(qrel_page.withheld)))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _draw_table(qrel_page, f"qrels {dataset} {version}", page, compared=since != ALL)
    with right:
        _draw_chosen_trace(context, dataset, version)


def _choose(label: str, options: tuple[str, ...], key: str) -> str:
    apply_url_choice(key, options)
    return st.selectbox(
        label, options, format_func=name_word, key=key, bind="query-params", on_change=_begin_anew, width=150
    )


def _begin_anew() -> None:
    st.session_state["page"] = 1


def _browse(
    context: PageContext, dataset: str, version: str, chosen: tuple[str, str, str, str], page: int
) -> QrelPage:
    search, grade, origin, since = chosen
    return context.call(
        browse_qrels,
        dataset,
        version,
        search=search.strip(),
        grade=None if grade == ALL else int(grade),
        origin=None if origin == ALL else origin,
        changed_since=None if since == ALL else since,
        limit=PAGE,
        offset=(page - 1) * PAGE,
        now=context.now,
    )


def _draw_table(qrel_page: QrelPage, key: str, page: int, *, compared: bool) -> None:
    first = (page - 1) * PAGE
    if not qrel_page.rows:
        st.text(tr("No qrels match. Change the filters."))
        return
    last = first + len(qrel_page.rows)
    draw_note(
        tr_n(
            "{first:,} to {last:,} of {total:,} qrel.",
            "{first:,} to {last:,} of {total:,} qrels.",
            qrel_page.total,
            first=first + 1,
            last=last,
            total=qrel_page.total,
        )
    )
    before = (tr("before"),) if compared else ()
    columns = (tr("document"), tr("grade"), *before, tr("origin"))
    draw_rows(
        key,
        tr("The qrels. Choose one to see the judgments behind it."),
        columns,
        [(_key(row.query_id, row.doc_id), _cells(row, compared)) for row in qrel_page.rows],
        chosen=_find_chosen(),
        on_choose=_follow,
        leads_to=".annotator-trail",
        groups=[_name_query(row) for row in qrel_page.rows],
    )
    pages = -(-qrel_page.total // PAGE)
    if pages > 1:
        st.pagination(pages, key="page", bind="query-params")


def _name_query(row: QrelRow) -> str:
    text = row.query or ""
    return f"{row.query_id}  {text[:MAX_TEXT]}{'…' if len(text) > MAX_TEXT else ''}".strip()


def _cells(row: QrelRow, compared: bool) -> list[str]:
    document = f"{row.title}\n{row.doc_id}" if row.title and row.title != row.doc_id else row.doc_id
    before = ["–" if row.previous is None else str(row.previous)] if compared else []
    return [document, str(row.grade), *before, name_word(row.origin)]


def _draw_chosen_trace(context: PageContext, dataset: str, version: str) -> None:
    chosen = _find_chosen()
    if chosen is None:
        draw_note(tr("Choose a qrel to see the judgments behind its grade."))
        return
    query_id, doc_id = json.loads(chosen)
    try:
        trace = context.call(trace_qrel, dataset, version, query_id, doc_id, now=context.now)
    except NotFound:
        st.info(tr("{version} does not contain this qrel.", version=version), icon=":material/search_off:")
        return
    draw_trace(trace, chosen, context.call(list_guidelines, dataset))


def _key(query_id: str, doc_id: str) -> str:
    return json.dumps([query_id, doc_id], ensure_ascii=False)


def _find_chosen() -> str | None:
    query_id, doc_id = st.query_params.get("query"), st.query_params.get("document")
    return None if query_id is None or doc_id is None else _key(query_id, doc_id)


def _follow(key: str) -> None:
    st.query_params["query"], st.query_params["document"] = json.loads(key)
