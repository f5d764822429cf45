"""The pool: every pair with its status and who proposed it, at what rank and score. For leads only."""

import streamlit as st

from annotator.overview.service import show_overview
from annotator.pooling.service import Pool, PoolPair, show_pool
from annotator.web.charts import chart_statuses, describe_statuses
from annotator.web.guidance import draw_chart, draw_note, draw_steps, require_dataset
from annotator.web.page_context import PageContext

ALL = "all"


def draw(context: PageContext) -> None:
    st.title("Pool")
    dataset = require_dataset(context)
    pool = show_pool(context.database, context.actor, dataset)
    if not pool.pairs:
        steps = show_overview(context.database, context.actor, dataset).steps
        draw_steps(context, steps, here="pool")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("By status")
        draw_chart(chart_statuses(pool.statuses), describe_statuses(pool.statuses))
        st.text(describe_statuses(pool.statuses))
    with right:
        st.header("By system")
        st.dataframe([
            {"system": one.system, "queries": one.queries, "pairs": one.candidates, "by it alone": one.only_here}
            for one in pool.systems
        ], hide_index=True, alt="Pairs by the system that proposed them")  # fmt: skip
    _draw_pairs(pool)


def _draw_pairs(pool: Pool) -> None:
    st.header("Pairs")
    with st.container(horizontal=True):
        status = _choose("Status", [name for name, count in pool.statuses.items() if count], "status")
        system = _choose("System", [one.system for one in pool.systems], "system")
    shown = [
        pair for pair in pool.pairs
        if status in (ALL, pair.status) and (system == ALL or any(by.system == system for by in pair.provenance))
    ]  # fmt: skip
    draw_note(
        f"{len(shown):,} of {len(pool.pairs):,} pairs. Annotators see neither system nor rank nor score."
    )
    st.dataframe(
        [_describe(pair) for pair in shown], hide_index=True, height=560, alt="The pairs of the pool"
    )


def _choose(label: str, options: list[str], key: str) -> str:
    return st.selectbox(label, [ALL, *options], key=key, bind="query-params", width=220)


def _describe(pair: PoolPair) -> dict[str, object]:
    return {
        "query": pair.query_id, "document": pair.doc_id, "status": pair.status,
        "best rank": min((by.rank for by in pair.provenance if by.rank is not None), default=None),
        "proposed by": "; ".join(_say_proposal(by.system, by.rank, by.score) for by in pair.provenance),
        "query text": pair.query, "title": pair.title, "pair": pair.pair,
    }  # fmt: skip


def _say_proposal(system: str, rank: int | None, score: float | None) -> str:
    place = "" if rank is None else f" at {rank}"
    return f"{system}{place}" + ("" if score is None else f" ({score:g})")
