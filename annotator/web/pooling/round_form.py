"""Draw the form of a new round: the sources of candidates, how many to take, and what to leave out.

Errors appear at their fields. The fields keep their values while the lead looks at another tab of the page.
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.pooling.adaptive.measures import read_measure
from annotator.pooling.filters.filters import ExcludedValue, NearDuplicateRule, PoolFilters, check_pattern
from annotator.pooling.retrievers.records import RUN, RetrievalOptions
from annotator.pooling.rounds.pool_records import PoolRequest, Strategy
from annotator.pooling.rounds.strategies import (
    BUDGETED,
    MAX_BUDGET,
    MAX_DEPTH,
    STRATEGIES,
    read_strata,
    read_strategy,
)
from annotator.pooling.service import RoundChoices
from annotator.web.kit.controls import KeptFields
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.text import escape_markdown
from annotator.web.pooling.words import RETRIEVERS, STRATEGY_NAMES, WORDS

FIELDS = KeptFields("new round")
DUPLICATES = {
    "keep": say("keep all"),
    "exact": say("same text"),
    "similar": say("similar text"),
}
DEFAULT_STRATA = "1-10:1, 11-50:0.2, 51-100:0.05"
SCOPES = {"all": say("in all"), "category": say("for each category")}
MOST_FUSED = 8


def draw_round_form(choices: RoundChoices) -> PoolRequest | None:
    """Draw the fields, and return their request; None while a field is wrong."""
    systems, retrievers = _draw_sources(choices)
    retrieval = _draw_fusion(choices, retrievers)
    request = _draw_strategy()
    filters = _draw_filters(choices)
    if request is None or filters is None or retrieval is None:
        return None
    if not systems and not retrievers:
        refuse(tr("Choose at least one system or one search."))
        return None
    is_every_system = len(systems) == len(choices.systems) and systems
    return replace(
        request,
        systems=None if is_every_system else tuple(systems),
        retrievers=tuple(retrievers),
        retrieval=retrieval,
        filters=filters,
    )


def refuse(sentence: str) -> None:
    st.error(escape_markdown(sentence), icon=":material/block:")


def _draw_sources(choices: RoundChoices) -> tuple[list[str], list[str]]:
    systems: list[str] = []
    if choices.systems:
        systems = FIELDS.choose_several(
            tr("Take candidates from"),
            choices.systems,
            "systems",
            choices.systems,
            help=tr("The imported runs from which candidates are taken."),
        )
    retrievers: list[str] = []
    if choices.documents:
        retrievers = FIELDS.choose_several(
            tr("Also search the documents with") if choices.systems else tr("Search the documents with"),
            list(RETRIEVERS),
            "retrievers",
            () if choices.systems else ("bm25",),
            format_func=lambda name: tr(RETRIEVERS[name]),
            help=tr(
                "For teams without a system, or as a second opinion. Each counts as a system of its own."
            ),
        )
    return systems, retrievers


def _draw_fusion(choices: RoundChoices, retrievers: Sequence[str]) -> RetrievalOptions | None:
    if "hybrid" not in retrievers:
        return RetrievalOptions()
    with st.expander(tr("Hybrid: which lists, with which weights"), expanded=True):
        options = [
            *(name for name in RETRIEVERS if name != "hybrid"),
            *(RUN + name for name in choices.systems),
        ]
        lists = FIELDS.choose_several(
            tr("Lists to combine"),
            options,
            "fused",
            ("bm25", "lsa"),
            format_func=lambda name: tr(RETRIEVERS[name]) if name in RETRIEVERS else name.removeprefix(RUN),
            max_selections=MOST_FUSED,
        )
        weights = {}
        with st.container(horizontal=True):
            for name in lists:
                label = tr("Weight of {list}", list=name.removeprefix(RUN))
                weights[name] = FIELDS.ask_number(label, f"weight {name}", 1.0, 0.1, 100.0, step=0.1)
        boost = FIELDS.ask_flag(tr("Prefer documents whose title matches the query"), "boost")
        if not lists:
            refuse(tr("Choose the lists to combine."))
            return None
    return RetrievalOptions(weights=weights, title_boost={"exact": 1.0, "partial": 0.5} if boost else {})


def _draw_strategy() -> PoolRequest | None:
    strategy = read_strategy(
        FIELDS.choose(
            tr("What to take"),
            STRATEGIES,
            "strategy",
            format_func=lambda name: tr(STRATEGY_NAMES[name]),
            width=420,
        )
        or "depth"
    )
    draw_note(tr(WORDS["about strategies"][strategy]))
    if strategy == "stratified":
        return _draw_strata()
    if strategy in BUDGETED:
        return _draw_budget(strategy)
    depth = FIELDS.ask_number(
        tr("Results per query"),
        "depth",
        10,
        1,
        MAX_DEPTH,
        help=tr("The depth of the pool: how many results of each query are considered."),
    )
    return PoolRequest(strategy, depth=int(depth))


def _draw_strata() -> PoolRequest | None:
    text = FIELDS.ask_text(
        tr("Ranks and the share to draw"),
        "strata",
        DEFAULT_STRATA,
        width=420,
        max_chars=400,
        help=tr("For example 1-10:1, 11-50:0.2 takes all of the first ten and a fifth of the next forty."),
    )
    try:
        strata = read_strata(text)
    except ValidationError as error:
        refuse(show_refusal(error))
        return None
    seed = FIELDS.ask_number(
        tr("Seed"), "seed", 0, 0, 2**31 - 1, help=tr("The same seed draws the same documents again.")
    )
    return PoolRequest("stratified", strata=strata, seed=int(seed))


def _draw_budget(strategy: Strategy) -> PoolRequest | None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = FIELDS.ask_number(tr("Pairs to judge"), "budget", 300, 1, MAX_BUDGET)
        scope = FIELDS.choose_segment(tr("Counted"), SCOPES, "scope")
        depth = FIELDS.ask_number(tr("Results per query to consider"), "look", 100, 1, MAX_DEPTH, width=220)
    measure = "nDCG@10"
    if strategy == "adaptive":
        measure = FIELDS.ask_text(
            tr("Measure"),
            "measure",
            measure,
            max_chars=20,
            width=240,
            help=tr("Which measure orders the systems: nDCG@k, P@k or AP"),
        )
        try:
            read_measure(measure)
        except ValidationError as error:
            refuse(show_refusal(error))
            return None
    everywhere = scope != "category"
    return PoolRequest(
        strategy,
        depth=int(depth),
        budget=int(pairs) if everywhere else None,
        per_category=None if everywhere else int(pairs),
        measure=measure,
    )


def _draw_filters(choices: RoundChoices) -> PoolFilters | None:
    with st.expander(tr("Leave out documents")):
        draw_note(tr("What is left out is counted by rule and listed. Pairs already in the pool stay."))
        excluded: list[ExcludedValue] = []
        for field in FIELDS.choose_several(tr("By field"), list(choices.fields), "fields"):
            label = tr("Leave out if {field} is", field=field)
            values = _draw_values(label, choices.fields[field], f"values {field}")
            excluded += [ExcludedValue(field, value) for value in values]
        title = FIELDS.ask_text(
            tr("Title matches (regular expression)"), "title", max_chars=1_000, placeholder="^Appendix"
        )
        problem = _check_title(title)
        if problem:
            refuse(problem)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            shortest = FIELDS.ask_number(tr("Fewer characters than"), "length", 0, 0, 1_000_000)
            one_per = FIELDS.choose(
                tr("Only the best of each"),
                list(choices.fields),
                "one per",
                None,
                placeholder=tr("no limit"),
                width=220,
                help=tr(
                    "For each query, only the best ranked document of each value, such as one part of a page."
                ),
            )
            rule = _draw_duplicates()
    if problem:
        return None
    patterns = (title,) if title else ()
    return PoolFilters(tuple(dict.fromkeys(excluded)), patterns, int(shortest), one_per, rule)


def _draw_values(label: str, sampled: Sequence[str], name: str) -> list[str]:
    kept: list[str] = FIELDS.find_default(name, [])
    return FIELDS.choose_several(label, list(dict.fromkeys([*sampled, *kept])), name, accept_new_options=True)


def _draw_duplicates() -> NearDuplicateRule | None:
    chosen = FIELDS.choose(
        tr("Near duplicates"),
        list(DUPLICATES),
        "duplicates",
        format_func=lambda name: tr(DUPLICATES[name]),
        width=220,
        help=tr("Only the best ranked of them is judged. A lead can then accept its grade for the others."),
    )
    if chosen == "similar":
        label = tr("Similarity, from 0.5 to 1")
        return NearDuplicateRule(round(FIELDS.ask_number(label, "similarity", 0.9, 0.5, 1.0, step=0.05), 2))
    return NearDuplicateRule(None) if chosen == "exact" else None


def _check_title(pattern: str) -> str | None:
    if not pattern:
        return None
    try:
        check_pattern(pattern)
    except ValidationError as error:
        return show_refusal(error)
    return None
