"""Draw the page Overview: whether a release is possible, the next steps, agreement, progress and coverage."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

import streamlit as st

from annotator.dataset.records import Coverage
from annotator.domain.figures import show_number
from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.domain.messages import Message, say
from annotator.evaluation.run_findings import LeadingSystem
from annotator.labeling.records import OwnProgress
from annotator.labeling.service import list_work_progress
from annotator.overview.records import (
    PACE_DAYS,
    ReleaseForecast,
    WorkForecast,
    WorkKind,
)
from annotator.overview.service import Overview, read_forecast, show_overview
from annotator.overview.waiting_service import describe_idle, list_idle
from annotator.quality.records import DEFAULT_RATE
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.charts import describe_statuses
from annotator.web.kit.figures import find_zone, show_share, show_time
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import (
    draw_chart,
    draw_note,
    draw_numbers_when_opened,
    draw_steps,
    require_dataset,
)
from annotator.web.kit.tables import draw_table, write_link
from annotator.web.kit.words import name_word
from annotator.web.navigation import make_url
from annotator.web.overview import charts
from annotator.web.overview.charts import name_person, split_query
from annotator.web.overview.verdict import draw_verdict, list_other_steps
from annotator.web.page_context import PageContext

NAMED = 5


def draw_coverage(coverage: Coverage) -> None:
    """Draw the requirements as a table, unmet ones first. Figures without a requirement are one click away."""
    required = [row for row in coverage.rows if row.met is not None]
    figures = [row for row in coverage.rows if row.met is None]
    summary = tr_n(
        "{met:,} of {n:,} requirement is met.",
        "{met:,} of {n:,} requirements are met.",
        coverage.required,
        met=coverage.met,
    )
    st.text(summary)
    columns = (tr("what"), tr("state"), tr("required"), tr("measured"))
    draw_table(
        tr("Requirements"),
        columns,
        [
            (tr(row.name), tr("met") if row.met else tr("not met"), tr(row.required), tr(row.measured))
            for row in sorted(required, key=lambda row: bool(row.met))
        ],
    )
    if figures:
        with st.expander(tr("Further figures")):
            rows = [(tr(row.name), tr(row.measured)) for row in figures]
            draw_table(tr("Further figures"), (tr("what"), tr("measured")), rows)
    draw_note(tr("Measured over the queries that a release would hold now."))


Row = dict[str, object]


def list_annotator_rows(people: Sequence[AnnotatorProgress], work: Mapping[str, OwnProgress]) -> list[Row]:
    """Return a row for each annotator. `work`: {username: progress} of people who can label."""
    return [
        {
            tr("annotator"): name_person(annotator),
            tr("name"): annotator.name,
            tr("judged"): annotator.judged,
            tr("cannot rate"): annotator.unrateable,
            tr("later"): annotator.later,
            tr("pairs left, checks included"): work[annotator.annotator].left
            if annotator.annotator in work
            else 0,
            tr("last"): show_time(annotator.last_judged_at) if annotator.last_judged_at else tr("never"),
        }
        for annotator in people
    ]


def list_query_rows(queries: Sequence[QueryProgress]) -> list[Row]:
    """Return a row for each query, with its pairs by progress."""
    return [
        {
            tr("query"): query.query_id,
            tr("text"): query.text,
            tr("category"): query.category,
            **{name_word(state): pairs for state, pairs in split_query(query).items()},
        }
        for query in queries
    ]


def draw(context: PageContext) -> None:
    st.title(tr("Overview"))
    dataset = require_dataset(context)
    now = context.now.astimezone(find_zone())
    overview = context.call(show_overview, dataset, history_until=now)
    if overview.counts.pairs:
        forecast = context.call(read_forecast, dataset, overview, now=now)
        draw_verdict(overview, forecast, now=now)
        left, right = st.columns(2, gap="medium")
        with left:
            _draw_statuses(overview, now=now)
        with right:
            _draw_agreement(overview)
        _draw_work(forecast)
    steps = list_other_steps(overview) if overview.counts.pairs else overview.steps
    if steps:
        st.header(tr("What to do next"))
        draw_steps(context, steps)
    if not overview.counts.pairs:
        draw_note(
            tr(
                "The way to a release: queries and documents, the pool, the guideline, people, labeling, decisions, release. This page "
                "always shows the next step."
            )
        )
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_annotators(overview, now=now)
    with right:
        _draw_queries(overview)
    if overview.coverage.required:
        st.header(tr("Coverage"))
        draw_coverage(overview.coverage)
    _draw_leader(context, dataset)


WORK: Mapping[WorkKind, Message] = {
    "judgments": say("judgments of annotators"),
    "decisions": say("decisions of leads"),
    "checks": say("checks of quality control"),
}


def list_work_rows(forecast: ReleaseForecast) -> list[tuple[str, str, str, str]]:
    """Return a row for each kind of work: what is left, the pace, and the days needed."""
    return [
        (
            tr(WORK[work.kind]),
            _describe_left(work),
            show_number(work.per_day or 0, 1 if work.per_day else 0),
            _describe_days(work),
        )
        for work in forecast.work
    ]


def _describe_left(work: WorkForecast) -> str:
    if work.left is None:
        return tr("unknown")
    if not work.expected:
        return show_number(work.left)
    return tr("{n:,} ({expected:,} of them expected)", n=work.left, expected=work.expected)


def _describe_days(work: WorkForecast) -> str:
    if work.days is None:
        return tr("unknown")
    return show_number(work.days, 1 if work.days else 0)


def _draw_work(forecast: ReleaseForecast) -> None:
    with st.expander(tr("How the date is computed")):
        columns = (tr("kind of work"), tr("still to do"), tr("per day"), tr("days needed"))
        draw_table(tr("How the date is computed"), columns, list_work_rows(forecast))
        draw_note(
            tr(
                "The pace is that of the last {days} days. Annotators and leads work in parallel; quality control follows. Expected decisions are the disagreements that the missing judgments will cause at the current rate. One person checks, as fast as one annotator judges. Until a sample is drawn, {share} of all pairs count as still to be checked.",
                days=PACE_DAYS,
                share=show_share(DEFAULT_RATE),
            )
        )


def describe_leader(leader: LeadingSystem) -> str:
    """Say which system leads, with its interval, and which others could be as good."""
    if leader.system is None or leader.score is None:
        return "–" if leader.why is None else tr(leader.why)
    score = f"{leader.measure} {show_number(leader.score, 3)}"
    if leader.ci95 is not None:
        low, high = (show_number(limit, 3) for limit in leader.ci95)
        score = tr("{score} (95 % interval {low} to {high})", score=score, low=low, high=high)
    figures = {"system": leader.system, "score": score}
    if leader.systems == 1:
        return tr_n(
            "{system} is the only system with a run: {score}, over {n:,} query.",
            "{system} is the only system with a run: {score}, over {n:,} queries.",
            leader.queries,
            **figures,
        )
    first = tr_n(
        "{system} leads: {score}, over {n:,} query.",
        "{system} leads: {score}, over {n:,} queries.",
        leader.queries,
        **figures,
    )
    if not leader.close:
        return join_sentences(
            [first, tr("The difference from every other system is larger than chance explains.")]
        )
    names = join_names(leader.close[:NAMED])
    if len(leader.close) > NAMED:
        names = tr("{names} and {n:,} more", names=names, n=len(leader.close) - NAMED)
    return join_sentences([first, tr("Not distinguishable from {systems}.", systems=names)])


def _find_leader(context: PageContext, dataset: str) -> str:
    from annotator.web.evaluation.choice import find_kept_leader

    kept = context.call(find_kept_leader, dataset, now=context.now)
    words = describe_leader(kept.value)
    if not kept.changed:
        return words
    time = tr("Calculated on {time}. The data has changed since.", time=show_time(kept.made_at))
    return join_sentences([words, time])


def _draw_leader(context: PageContext, dataset: str) -> None:
    """Draw the leading system, last: scoring systems can take seconds."""
    st.header(tr("Leading system"))
    with st.spinner(tr("Calculating …")):
        words = _find_leader(context, dataset)
    st.html(f'<p class="annotator-step">{write_link(words, make_url("/evaluation", dataset=dataset))}</p>')


def _draw_agreement(overview: Overview) -> None:
    st.header(tr("Agreement"))
    summary, target = overview.agreement, overview.dataset.kappa_target
    kappas = [("κ", summary.measured.cohen_kappa["unweighted"])]
    if kappas[0][1].value is not None:
        draw_chart(charts.chart_kappas(kappas, target), charts.describe_kappas(kappas, target))
    for sentence in summary.sentences:
        st.text(tr(sentence))


def _draw_statuses(overview: Overview, *, now: datetime) -> None:
    st.header(tr("Pairs by status"))
    words = describe_statuses(overview.pairs.by_status)
    history = overview.history
    if history:
        draw_chart(charts.chart_history(history, overview.pairs.pairs, now=now), words)
    st.text(words)
    if history:
        draw_note(
            tr(
                "Each pair has its present status from the day of its last judgment or decision on. Imported grades count from the first day."
            )
        )
        draw_numbers_when_opened(tr("Numbers by day"), lambda _context: charts.list_history(history, now=now))
    if checks := overview.pairs.checks:
        draw_note(
            tr_n(
                "{n:,} unjudged pair is only a check of annotators and needs no more judgments.",
                "{n:,} unjudged pairs are only checks of annotators and need no more judgments.",
                checks,
            )
        )
    draw_blind_pairs(overview.dataset.name, overview.blind_pairs)


def _draw_annotators(overview: Overview, *, now: datetime) -> None:
    st.header(tr("Progress by annotator"))
    people = overview.progress.annotators
    if not people:
        st.text(tr("No annotators yet."))
        return
    idle = list_idle(people, now=now)
    if idle and overview.pairs.to_judge:
        words = describe_idle(idle, annotators=len(people), pairs_left=overview.pairs.to_judge)
        st.text(tr("Idle: {names}.", names=tr(words)))
    draw_chart(
        charts.chart_annotators(people, overview.progress.pairs),
        charts.describe_annotators(overview.progress),
    )
    rows = partial(_list_present_rows, overview.dataset.name, people)
    draw_numbers_when_opened(tr("Numbers by annotator"), rows)


def _list_present_rows(dataset: str, people: Sequence[AnnotatorProgress], context: PageContext) -> list[Row]:
    work = context.call(list_work_progress, dataset, now=context.now)
    return list_annotator_rows(people, work)


def _draw_queries(overview: Overview) -> None:
    st.header(tr("Progress by query"))
    words = charts.describe_queries(overview.progress)
    draw_chart(charts.chart_queries(overview.progress.queries), words)
    st.text(words)
    draw_numbers_when_opened(
        tr("Numbers by query"), lambda _context: list_query_rows(overview.progress.queries)
    )
