"""Draw the filters and the sort order of the queue, and describe them in the reader's language.

A change of a control changes the page's address. The controls always show the values of the address, also
after the browser's Back button.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from annotator.adjudication.queue.queue_records import (
    SHOWN,
    SORTS,
    QueueFilter,
    QueueSummary,
    list_words,
    read_reasons,
)
from annotator.domain.figures import show_number
from annotator.domain.messages import join, say
from annotator.domain.settling import REASONS, QueueReason
from annotator.web.adjudication.queue_url import NAMES, QueueAddress, go, read_address, write_address
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.words import name_word

SORT_NAMES = {
    "distance": say("largest difference first"),
    "impact": say("largest impact first"),
    "age": say("oldest first"),
    "query": say("by query"),
    "category": say("by category"),
    "grades": say("by grades"),
    "annotators": say("by annotator"),
}
MEANINGS = {
    QueueReason.DIFFER: say("independent grades differ"),
    QueueReason.UNRATEABLE: say("one annotator graded the pair, another chose “cannot rate”"),
    QueueReason.QUALITY: say("quality control disagrees with the settled grade"),
    QueueReason.OBJECTION: say("an annotator objects to the decision"),
    QueueReason.QUESTION: say("an annotator's question has no answer yet"),
    QueueReason.STALE: say("judged or decided under an earlier meaning of the guideline"),
}


def name_reasons(reasons: QueueReason) -> str:
    return tr(join(REASONS[reason] for reason in QueueReason if reason in reasons))


def explain_reasons() -> str:
    return "\n".join(f"- **{tr(name)}**: {tr(MEANINGS[reason])}" for reason, name in REASONS.items())


def explain_impact() -> str:
    return tr(
        "The largest change of nDCG@10 that the choice of grade can cause for any system on the "
        "pair's query: 0 is no change, 1 the maximum. Without runs, fewer relevant documents of the "
        "query mean a larger impact."
    )


def explain_sorts() -> str:
    """Return what each order puts first, as Markdown for a help text."""
    return "\n".join(
        (
            "- "
            + tr("**Largest difference**: 0 and 3 before 2 and 3; equal differences by age, oldest first."),
            "- " + tr("**Largest impact**:") + " " + explain_impact(),
            "- " + tr("**Oldest**: by the time the pair entered the queue."),
            "- " + tr("**By query, category, grades or annotator**: similar pairs next to each other."),
            "- " + tr("Pairs that you set to later come last."),
        )
    )


def describe_filter(wanted: QueueFilter) -> list[str]:
    """Return the conditions of the filter, in words; nothing if it shows everything that is open."""
    conditions = []
    if wanted.shown != "open":
        conditions.append(tr("decided") if wanted.shown == "decided" else tr("open and decided"))
    if wanted.reasons:
        conditions.append(name_reasons(wanted.reasons))
    if wanted.query_id is not None:
        conditions.append(tr("query {query_id}", query_id=wanted.query_id))
    if wanted.category is not None:
        conditions.append(tr("category {category}", category=wanted.category or tr("(none)")))
    if wanted.annotators:
        conditions.append(tr("judged by {people}", people=" + ".join(wanted.annotators)))
    if wanted.grades is not None:
        conditions.append(tr("{low} against {high}", low=wanted.grades[0], high=wanted.grades[1]))
    if wanted.distance is not None:
        conditions.append(name_distance(wanted.distance))
    if wanted.taste is not None:
        conditions.append(tr("one grade apart, same relevance") if wanted.taste else tr("other differences"))
    if wanted.flips:
        conditions.append(tr("could change the ranking of systems"))
    if wanted.assigned is not None:
        conditions.append(
            tr("assigned to {name}", name=wanted.assigned) if wanted.assigned else tr("not assigned")
        )
    return conditions


def name_distance(distance: int) -> str:
    return tr_n("{n} grade apart", "{n} grades apart", distance)


def name_decided(decided: int | str | None) -> str:
    return "" if decided is None else name_word(str(decided))


ANY = "any"
NOBODY = ""
GRADES = ("0-1", "0-2", "0-3", "1-2", "1-3", "2-3")
TASTES = {ANY: None, "yes": True, "no": False}
KEYS = ("reasons", *(name for name in NAMES if name != "reason"))
MOST_ANNOTATORS = 2


@dataclass(frozen=True, slots=True)
class QueueFilterChoices:
    summary: QueueSummary
    categories: Sequence[str]
    annotators: Sequence[str]
    leads: Sequence[str]
    reader: str  # the lead's own username


def draw_filters(here: QueueAddress, choices: QueueFilterChoices) -> None:
    _show(here)
    _draw_reasons(here, choices.summary)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _choose(
            tr("Sort by"),
            SORTS,
            "sort",
            lambda name: tr(SORT_NAMES[name]),
            width=260,
            help=explain_sorts(),
        )
        st.segmented_control(
            tr("Show"), SHOWN, format_func=name_word, required=True, key=_key("show"), on_change=_apply
        )
    with st.expander(tr("More filters"), expanded=_has_more(here.wanted), key="queue more filters"):
        _draw_more(here.wanted, choices)


def clear() -> None:
    """Show everything that is open, in the chosen order."""
    sort = st.session_state.get(_key("sort"), "distance")
    go(QueueAddress(sort=sort), elsewhere=True)


def _draw_reasons(here: QueueAddress, summary: QueueSummary) -> None:
    counted = {
        word: summary.by_reason.get(reason, 0) for reason in QueueReason for word in list_words(reason)
    }
    wanted = list_words(here.wanted.reasons)
    there = [word for word, n in counted.items() if n or word in wanted]
    if not there:
        return
    st.segmented_control(
        tr("Reason"),
        there,
        selection_mode="multi",
        format_func=lambda word: f"{name_reasons(read_reasons([word]))} · {show_number(counted[word])}",
        key=_key("reasons"),
        on_change=_apply,
        wrap=True,
        help=explain_reasons(),
    )


def _draw_more(wanted: QueueFilter, choices: QueueFilterChoices) -> None:
    without = None in choices.summary.by_category or wanted.category == ""
    with st.container(horizontal=True):
        _choose(
            tr("Category"),
            (ANY, *choices.categories, *([""] if without else [])),
            "category",
            lambda name: {ANY: tr("all"), "": tr("(none)")}.get(name, name),
        )
        st.text_input(tr("Query ID"), key=_key("query"), on_change=_apply, width=180, autocomplete="off")
        st.multiselect(
            tr("Judged by"),
            choices.annotators,
            max_selections=MOST_ANNOTATORS,
            key=_key("annotators"),
            on_change=_apply,
            placeholder=tr("anybody"),
            help=tr("Choose one annotator, or two whose judgments of the same pair differ."),
            width=260,
        )
        _choose(tr("Grades"), (ANY, *GRADES), "grades", _name_grades, width=140)
        _choose(
            tr("Difference"),
            (ANY, "0", "1", "2", "3"),
            "distance",
            lambda distance: tr("all") if distance == ANY else name_distance(int(distance)),
            width=160,
        )
        _choose(
            tr("Kind of difference"),
            tuple(TASTES),
            "taste",
            _name_taste,
            width=220,
            help=tr(
                "Same relevance: both grades are on the same side of the relevance threshold, so metrics with "
                "a threshold do not change."
            ),
        )
        _choose(
            tr("Assigned to"),
            (ANY, NOBODY, *choices.leads),
            "assigned",
            lambda name: _name_lead(name, choices.reader),
        )
        st.checkbox(tr("Could change the ranking of systems"), key=_key("flips"), on_change=_apply)


def _choose(
    label: str, options: Sequence[str], name: str, say: Any, *, width: int = 200, **more: Any
) -> None:
    st.selectbox(label, options, format_func=say, key=_key(name), on_change=_apply, width=width, **more)


def _show(here: QueueAddress) -> None:
    words = write_address(here)
    values: dict[str, Any] = {
        name: words.get(name, ANY) for name in ("category", "grades", "distance", "taste", "assigned")
    }
    values |= {
        "reasons": list_words(here.wanted.reasons),
        "show": here.wanted.shown,
        "sort": here.sort,
        "query": here.wanted.query_id or "",
        "annotators": list(here.wanted.annotators[:MOST_ANNOTATORS]),
        "flips": here.wanted.flips,
    }
    for name, value in values.items():
        st.session_state[_key(name)] = value


def _apply() -> None:
    values = {name: st.session_state.get(_key(name)) for name in KEYS}
    words = {name: value for name, value in values.items() if isinstance(value, str) and value != ANY}
    words["reason"] = ",".join(values["reasons"] or ())
    words["annotators"] = ",".join(values["annotators"] or ())
    words["flips"] = "yes" if values["flips"] else ""
    go(read_address(words))


def _has_more(wanted: QueueFilter) -> bool:
    first = QueueFilter(shown=wanted.shown, reasons=wanted.reasons)
    return wanted != first


def _key(name: str) -> str:
    return f"queue {name}"


def _name_grades(grades: str) -> str:
    if grades == ANY:
        return tr("all")
    return tr("{low} against {high}", low=grades[0], high=grades[2])


def _name_taste(taste: str) -> str:
    return {ANY: tr("all"), "yes": tr("one grade apart, same relevance"), "no": tr("other differences")}[
        taste
    ]


def _name_lead(name: str, reader: str) -> str:
    if name == reader:
        return tr("me")
    return {ANY: tr("anybody"), NOBODY: tr("nobody")}.get(name, name)
