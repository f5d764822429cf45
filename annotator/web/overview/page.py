"""Draw the page Overview: the expected release, the next steps, agreement, progress and coverage."""

from collections.abc import Callable, Mapping, Sequence
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
    WORK_GATES,
    PairCounts,
    ReleaseForecast,
    WorkForecast,
    WorkKind,
)
from annotator.overview.service import Overview, read_forecast, show_overview
from annotator.overview.waiting_service import count_waiting_work, describe_idle, list_blocked, list_idle
from annotator.quality.records import DEFAULT_RATE
from annotator.releases.records import GATE_NAMES
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.charts import chart_statuses, describe_statuses
from annotator.web.kit.figures import show_day, show_share, show_time
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import (
    draw_chart,
    draw_note,
    draw_numbers_when_opened,
    draw_steps,
    require_dataset,
)
from annotator.web.kit.tables import Cell, Link, draw_link_table, draw_table
from annotator.web.kit.words import name_word
from annotator.web.navigation import make_url
from annotator.web.overview import charts
from annotator.web.overview.charts import name_person, split_query
from annotator.web.page_context import PageContext

NAMED = 5
FAR_DAYS = 365  # a later date is not shown


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
    draw_note(tr("Measured over the current settled grades."))


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


def describe_counts(pairs: PairCounts) -> str:
    """Say what the pairs still need; "" if nothing."""
    parts = []
    if pairs.to_judge:
        parts.append(tr_n("{n:,} pair lacks judgments.", "{n:,} pairs lack judgments.", pairs.to_judge))
    if pairs.checks:
        parts.append(
            tr_n(
                "{n:,} unjudged pair is only a check of annotators and needs no more judgments.",
                "{n:,} unjudged pairs are only checks of annotators and need no more judgments.",
                pairs.checks,
            )
        )
    if pairs.waiting:
        counted = [
            f"{name_word(status)} {show_number(n)}" for status, n in pairs.waiting_by_status.items() if n
        ]
        parts.append(
            tr_n(
                "{n:,} pair waits for a lead ({statuses}).",
                "{n:,} pairs wait for a lead ({statuses}).",
                pairs.waiting,
                statuses=join_names(counted),
            )
        )
    return join_sentences(parts)


def draw(context: PageContext) -> None:
    st.title(tr("Overview"))
    dataset = require_dataset(context)
    overview = context.call(show_overview, dataset)
    add_leader = _draw_glance(context, dataset, overview) if overview.counts.pairs else None
    st.header(tr("What to do next"))
    draw_steps(context, overview.steps)
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
        _draw_agreement(overview)
    with right:
        _draw_statuses(overview)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_annotators(overview)
    with right:
        _draw_queries(overview)
    if overview.coverage.required:
        st.header(tr("Coverage"))
        draw_coverage(overview.coverage)
    if add_leader is not None:
        add_leader()


def describe_forecast(forecast: ReleaseForecast, open_gates: Sequence[str], *, now: datetime) -> str:
    """Say when all work is done, and which unmet gates need more than this work."""
    words = _describe_day(forecast, now=now)
    others = [gate for gate in open_gates if gate not in WORK_GATES]
    if not others:
        return words
    gates = tr("A release also needs these gates: {gates}.", gates=join_gate_names(others))
    return join_sentences([words, gates])


def _describe_day(forecast: ReleaseForecast, *, now: datetime) -> str:
    if forecast.day is None:
        return "–" if forecast.why is None else tr(forecast.why)
    if (forecast.day - now).days > FAR_DAYS:
        return tr(
            "Not within a year, at the pace of the last {days} days. More annotators or fewer judgments per pair bring it forward.",
            days=PACE_DAYS,
        )
    return tr(
        "All work is done about {day}, at the pace of the last {days} days.",
        day=show_day(forecast.day, now=now),
        days=PACE_DAYS,
    )


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


def _draw_glance(context: PageContext, dataset: str, overview: Overview) -> Callable[[], None] | None:
    """Draw the most important answers, each with a link to its page.

    Scoring systems can take seconds. If it would, this returns a function that adds the leading system; call
    it after the rest of the page is drawn.
    """
    from annotator.web.evaluation.choice import is_leader_kept

    st.header(tr("At a glance"))
    waiting = context.call(count_waiting_work, dataset, context.role or "annotator", now=context.now)
    annotators = overview.progress.annotators
    idle = describe_idle(
        list_idle(annotators, now=context.now),
        annotators=len(annotators),
        pairs_left=overview.pairs.to_judge,
    )
    forecast = context.call(read_forecast, dataset, overview, now=context.now)
    blocked = [_link(dataset, page, tr(words)) for words, page in list_blocked(waiting)]
    gates = join_gate_names(overview.open_gates)
    table = st.empty()

    def draw_answers(leader: str) -> None:
        rows: list[Sequence[Cell]] = [
            (
                tr("Release possible"),
                _link(
                    dataset, "assignment", describe_forecast(forecast, overview.open_gates, now=context.now)
                ),
            ),
            (tr("Leading system"), _link(dataset, "evaluation", leader)),
            (tr("Idle"), _link(dataset, "people", tr(idle))),
            (tr("Blocked work"), blocked or tr("No work is blocked.")),
            (tr("Gates not met"), _link(dataset, "releases", gates) if gates else tr("Every gate is met.")),
        ]
        with table.container():
            draw_link_table(tr("At a glance"), (tr("what"), tr("state")), rows, tall=True)

    is_kept = context.call(is_leader_kept, dataset, now=context.now)
    draw_answers(_find_leader(context, dataset) if is_kept else tr("Calculating …"))
    _draw_work(forecast)
    return None if is_kept else lambda: draw_answers(_find_leader(context, dataset))


def join_gate_names(gates: Sequence[str]) -> str:
    """Return the gates' names in the reader's language, joined."""
    return join_names(tr(GATE_NAMES.get(gate, gate)) for gate in gates)


def _link(dataset: str, page: str, words: str) -> Link:
    return Link(words, make_url(f"/{page}", dataset=dataset))


def _draw_agreement(overview: Overview) -> None:
    st.header(tr("Agreement"))
    summary, target = overview.agreement, overview.dataset.kappa_target
    kappas = [("κ", summary.measured.cohen_kappa["unweighted"])]
    if kappas[0][1].value is not None:
        draw_chart(charts.chart_kappas(kappas, target), charts.describe_kappas(kappas, target))
    for sentence in summary.sentences:
        st.text(tr(sentence))


def _draw_statuses(overview: Overview) -> None:
    st.header(tr("Pairs by status"))
    words = describe_statuses(overview.pairs.by_status)
    draw_chart(chart_statuses(overview.pairs.by_status), words)
    st.text(words)
    left = describe_counts(overview.pairs)
    if left:
        draw_note(left)
    draw_blind_pairs(overview.dataset.name, overview.blind_pairs)


def _draw_annotators(overview: Overview) -> None:
    st.header(tr("Progress by annotator"))
    people = overview.progress.annotators
    if not people:
        st.text(tr("No annotators yet."))
        return
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
