"""Draw the page Calibration: training pairs, gold pairs and repeats, their rates, and the results. For leads.

Results show where people do not share the guideline yet. People are listed by name, never by their results.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.dataset.service import change_settings
from annotator.dataset.settings import Dataset
from annotator.domain.errors import NotFound
from annotator.domain.figures import show_number
from annotator.domain.grades import GRADES
from annotator.domain.messages import say
from annotator.labeling.calibration_service import (
    compute_results,
    find_candidates,
    list_checks,
    remove_check,
    set_check,
)
from annotator.labeling.my_work_service import compute_times
from annotator.labeling.records import KINDS, AnnotatorResult, CheckCandidate, CheckPair, MedianTimes
from annotator.labeling.service import read_whole_text
from annotator.web.dataset.words import name_setting
from annotator.web.kit.charts import AMBER, TEAL, VIOLET, sort_naturally, space_percent
from annotator.web.kit.controls import ask_percentage
from annotator.web.kit.figures import show_difference, show_median, show_share
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import (
    draw_chart,
    draw_note,
    draw_numbers,
    draw_outcome,
    draw_refusal,
    require_dataset,
)
from annotator.web.kit.tables import draw_link_table, draw_table
from annotator.web.kit.words import PersonName, name_person, name_word
from annotator.web.page_context import PageContext, list_person_names

if TYPE_CHECKING:
    import altair as alt


SHOWN_CHARACTERS = 5_000
SHARES = ("training_score", "gold_rate", "repeat_rate")
DONE = "calibration done"
COLUMNS = (
    say("query"),
    say("document"),
    say("kind"),
    say("right grade"),
    say("judged by"),
    say("explanation"),
    say("marked by"),
)


def draw_new_check(context: PageContext, dataset: str) -> None:
    words = st.text_input(
        tr("Search by query or document"),
        key="find",
        max_chars=200,
        autocomplete="off",
        help=tr("An id, or words from the query or the document's title."),
    )
    candidates = context.call(find_candidates, dataset, words=words, now=context.now)
    if not candidates:
        st.text(
            tr("No pairs match.")
            if words.strip()
            else tr(
                "No pair has been settled by two or more people yet. Search for a pair by query or document."
            )
        )
        return
    if not words.strip():
        draw_note(
            tr(
                "Pairs with the same grade from several people make good gold pairs. Search to find other "
                "pairs."
            )
        )
    by_key = {candidate.pair: candidate for candidate in candidates}
    pair = st.selectbox(tr("Pair"), list(by_key), format_func=lambda key: _name(by_key[key]))
    chosen = by_key[pair]
    _draw_candidate(context, dataset, chosen)
    with st.form("mark", border=False):
        kind = st.radio(tr("Mark as"), KINDS, format_func=name_word, horizontal=True)
        suggested = GRADES.index(chosen.grade) if chosen.grade is not None else None
        grade = st.radio(tr("Right grade"), GRADES, index=suggested, horizontal=True, key=f"grade {pair}")
        explanation = st.text_area(
            tr("Explanation"),
            max_chars=10_000,
            key=f"why {pair}",
            help=tr("Training: shown after the judgment. Gold: only leads see it."),
        )
        pressed = st.form_submit_button(tr("Mark pair"), type="primary")
    if not pressed:
        return
    if grade is None:
        st.error(tr("Choose the right grade."))
        return
    _do(
        lambda: context.call(
            set_check, dataset, pair, kind=kind, grade=grade, explanation=explanation, now=context.now
        ),
        tr("Marked {name}.", name=_name(chosen)),
    )


def draw_existing_checks(context: PageContext, dataset: str, checks: list[CheckPair]) -> None:
    st.text(tr_n("{n:,} pair is marked.", "{n:,} pairs are marked.", len(checks)))
    draw_link_table(
        tr("Marked pairs"),
        [tr(name) for name in COLUMNS],
        [
            (
                check.query_id,
                check.doc_id,
                name_word(check.kind),
                str(check.grade),
                show_number(check.answered),
                check.explanation or "–",
                check.marked_by or "–",
            )
            for check in checks
        ],
        stacked=True,
    )
    by_key = {check.pair: check for check in checks}
    with st.form("unmark", border=False):
        pair = st.selectbox(
            tr("Pair"),
            list(by_key),
            index=None,
            key="marked pair",
            format_func=lambda key: f"{by_key[key].query_id} · {by_key[key].doc_id}",
            placeholder=tr("Choose a pair"),
            help=tr("The pair goes back to normal labeling, except for people who judged it as a check."),
        )
        pressed = st.form_submit_button(tr("Remove mark"))
    if pressed and pair is not None:
        _do(
            lambda: context.call(remove_check, dataset, pair, now=context.now),
            tr("Mark removed. The pair is back in normal labeling."),
        )


def draw_settings(context: PageContext, dataset: Dataset) -> None:
    """Draw the form for the required score, the rates, and the seconds after which time stops counting."""
    with st.form("settings", border=False):
        left, right = st.columns(2, gap="medium")
        with left:
            score = ask_percentage(
                name_setting("training_score"),
                0.0,
                1.0,
                dataset.training_score,
                0.05,
                help=tr(
                    "New annotators get real pairs after they have judged all training pairs and reached this "
                    "share."
                ),
            )
            gold = ask_percentage(name_setting("gold_rate"), 0.0, 0.5, dataset.gold_rate, 0.01)
            idle = st.number_input(
                name_setting("idle_seconds"),
                10,
                3600,
                dataset.idle_seconds,
                10,
                help=tr("After this long without activity, time no longer counts as work on the pair."),
            )
        with right:
            repeat = ask_percentage(name_setting("repeat_rate"), 0.0, 0.5, dataset.repeat_rate, 0.01)
            after = st.number_input(name_setting("repeat_after"), 1, 10_000, dataset.repeat_after, 1)
        pressed = st.form_submit_button(tr("Save settings"))
    if pressed:
        chosen = {
            "training_score": score,
            "gold_rate": gold,
            "repeat_rate": repeat,
            "repeat_after": after,
            "idle_seconds": idle,
        }
        changes = {
            name: f"{value:g}" if name in SHARES else str(int(value))
            for name, value in chosen.items()
            if value != getattr(dataset, name)
        }
        _do(
            lambda: context.call(change_settings, dataset.name, changes, now=context.now),
            tr("Settings saved."),
        )


def _draw_candidate(context: PageContext, dataset: str, chosen: CheckCandidate) -> None:
    st.html(f'<p class="annotator-query" dir="auto">{escape(chosen.query)}</p>')
    details = [
        tr("judge it first")
        if chosen.hidden
        else tr("{status}, judged by {n}", status=name_word(chosen.status), n=chosen.judged)
    ]
    if chosen.grade is not None:
        details.append(tr("settled grade {grade}", grade=chosen.grade))
    if chosen.kind is not None:
        details.append(tr("marked as {kind}", kind=name_word(chosen.kind)))
    draw_note(" · ".join(details))
    try:
        text = context.call(read_whole_text, dataset, chosen.pair)
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


def _name(candidate: CheckCandidate) -> str:
    status = (
        f"{name_word(candidate.status)} {candidate.grade}"
        if candidate.grade is not None
        else name_word(candidate.status)
    )
    return f"{candidate.query_id} · {candidate.doc_id} ({status})"


def _do(act: Callable[[], object], message: str) -> None:
    with draw_refusal():
        act()
        st.session_state[DONE] = message
        st.rerun()


LEGEND, ROOM = 96, 18


def name_result(result: AnnotatorResult) -> str:
    """Return the name, marked if the annotator is simulated."""
    return tr("{name} (simulated)", name=result.annotator) if result.simulated else result.annotator


def list_shares(results: Sequence[AnnotatorResult]) -> list[tuple[str, str, float, int]]:
    """Return (person, kind of check, share, number of answers) for every defined share, by name."""
    shares = []
    for result in results:
        for check, share, n in (
            (
                tr("training"),
                result.training.latest if result.training else None,
                result.training.done if result.training else 0,
            ),
            (tr("gold"), result.gold.exact, result.gold.answered),
            (tr("repeat"), result.repeats.equal, result.repeats.n),
        ):
            if share is not None:
                shares.append((name_result(result), check, share, n))
    return shares


def chart_shares(results: Sequence[AnnotatorResult]) -> "alt.Chart":
    """Return a chart of each person's shares (0-1): right in training, right on gold, equal on repeats.

    The axis has no title: on a narrow screen a long one would leave no room for the points. The page explains
    it below.
    """
    import altair as alt

    rows = [
        {"name": name, "check": check, "share": share, "shown": show_share(share), "n": n}
        for name, check, share, n in list_shares(results)
    ]
    checks = [tr("training"), tr("gold"), tr("repeat")]
    people = list(dict.fromkeys(row["name"] for row in rows))
    kinds = [check for check in checks if any(row["check"] == check for row in rows)]
    scale = alt.Scale(domain=checks, range=[TEAL, AMBER, VIOLET])
    shape = alt.Scale(domain=checks, range=["circle", "diamond", "square"])
    legend = alt.Legend(
        orient="top", title=None, columns=2, symbolFillColor="transparent", symbolStrokeWidth=2.5
    )
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_point(size=120, strokeWidth=2.5, opacity=1)
        .encode(
            x=alt.X(
                "share:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(**space_percent("%"), values=[0, 0.25, 0.5, 0.75, 1], labelFlush=False),
            ),
            y=alt.Y(
                "name:N",
                sort=people,
                title=None,
                scale=alt.Scale(type="band", padding=0.2),
                axis=alt.Axis(labelLimit=180, ticks=False),
            ),
            yOffset=alt.YOffset("check:N", sort=kinds, scale=alt.Scale(domain=kinds)),
            color=alt.Color("check:N", scale=scale, legend=legend),
            shape=alt.Shape("check:N", scale=shape, legend=legend),
            tooltip=[
                alt.Tooltip("name:N", title=" "),
                alt.Tooltip("check:N", title=tr("check")),
                alt.Tooltip("shown:N", title=tr("share")),
                alt.Tooltip("n:Q", title=tr("judgments")),
            ],
        )
        .properties(height=max(len(people), 1) * ROOM * len(kinds) + LEGEND)
    )


def describe_shares(results: Sequence[AnnotatorResult]) -> str:
    sentences = [
        tr("{name}: {check} {share} of {n:,}", name=name, check=check, share=show_share(share), n=n)
        for name, check, share, n in list_shares(results)
    ]
    return tr(
        "Share of judgments that are right (for repeats: the same as before): {list}.",
        list="; ".join(sentences),
    )


def list_result_rows(results: Sequence[AnnotatorResult]) -> list[dict[str, object]]:
    """Return the figures behind the chart; an undefined one is a dash, with its reason."""
    return [
        {
            tr("annotator"): name_result(result),
            tr("training pairs judged"): "–"
            if result.training is None
            else f"{result.training.done}/{result.training.total}",
            tr("right on the first try"): show_share(result.training.first if result.training else None),
            tr("right on the latest try"): show_share(result.training.latest if result.training else None),
            tr("gold pairs judged"): result.gold.answered,
            tr("exactly right"): show_share(result.gold.exact),
            tr("mean difference (+: more generous)"): show_difference(result.gold.difference, signed=True),
            tr("repeats judged"): result.repeats.n,
            tr("same as before"): show_share(result.repeats.equal),
            tr("mean distance"): show_difference(result.repeats.difference),
            tr("undefined because"): "; ".join(
                tr(why) for why in (result.gold.why, result.repeats.why) if why
            ),
        }
        for result in results
    ]


def list_miss_rows(results: Sequence[AnnotatorResult]) -> list[dict[str, object]]:
    """Return every answer on a gold pair that is not the right grade."""
    return [
        {
            tr("annotator"): name_result(result),
            tr("query"): miss.query_id,
            tr("document"): miss.doc_id,
            tr("right grade"): miss.right,
            tr("given"): tr("cannot rate") if miss.given is None else str(miss.given),
        }
        for result in results
        for miss in result.gold.misses
    ]


def list_time_rows(times: MedianTimes) -> list[tuple[str, str, str]]:
    """Return (group, median, answers): all, each category, each annotator; by name."""
    rows = [(tr("all"), times.overall)]
    rows += [
        (tr("category: {name}", name=name or tr("none")), time) for name, time in times.categories.items()
    ]
    rows += [
        (tr("{name} (simulated)", name=name) if name in times.simulated else name, time)
        for name, time in times.annotators.items()
    ]
    return [(name, show_median(time), show_number(time.n)) for name, time in rows]


def draw(context: PageContext) -> None:
    st.title(tr("Calibration"))
    dataset = require_dataset(context)
    draw_note(
        tr(
            "Annotators judge training pairs first and see an explanation after each. Gold pairs and "
            "repeats are mixed with real pairs. Annotators know that there are checks, but not which "
            "pairs they are. Judgments on checks do not count for agreement or qrels."
        )
    )
    draw_outcome(DONE)
    checks = context.call(list_checks, dataset, now=context.now)
    names = list_person_names(context, dataset)
    results = sorted(
        (
            replace(result, annotator=name_person(result.annotator, names))
            for result in context.call(compute_results, dataset, now=context.now)
        ),
        key=lambda result: sort_naturally(result.annotator),
    )
    if not checks:
        st.text(tr("No pairs are marked yet. Mark about ten pairs for training and more for gold."))
    if any(result.training or result.gold.answered or result.repeats.n for result in results):
        st.header(tr("Check results"))
        _draw_results(results)
    st.header(tr("Marked pairs") if checks else tr("Mark a pair"))
    if checks:
        draw_existing_checks(context, dataset, checks)
        st.header(tr("Mark a pair"))
    draw_new_check(context, dataset)
    st.header(tr("Check settings"))
    draw_settings(context, next(item for item in context.datasets if item.name == dataset))
    st.header(tr("Time per pair"))
    _draw_times(context, dataset, names)


def _draw_results(results: list[AnnotatorResult]) -> None:
    if list_shares(results):
        draw_chart(chart_shares(results), describe_shares(results))
        draw_note(
            tr(
                "Share of judgments that are right. For repeats: share that equals the person's own first "
                "judgment."
            )
        )
    else:
        st.text(tr("Nobody has judged a check yet."))
    draw_note(tr("Sorted by name. A difference is a reason to discuss the guideline, not a score."))
    draw_numbers(tr("All figures"), list_result_rows(results))
    misses = list_miss_rows(results)
    if misses:
        draw_numbers(tr("Wrong judgments on gold pairs"), misses)


def _draw_times(context: PageContext, dataset: str, names: Mapping[str, PersonName]) -> None:
    times = _name_times(context.call(compute_times, dataset), names)
    if not times.n:
        st.text(tr("No judgment has a recorded time yet."))
        return
    draw_note(
        tr_n(
            "Median active time of the latest {n:,} judgment, sorted by name. Long documents and hard "
            "queries take longer.",
            "Median active time of the latest {n:,} judgments, sorted by name. Long documents and hard "
            "queries take longer.",
            times.n,
        )
    )
    draw_table(
        tr("Median active time per pair"), (tr("what"), tr("median"), tr("judgments")), list_time_rows(times)
    )


def _name_times(times: MedianTimes, names: Mapping[str, PersonName]) -> MedianTimes:
    named = {name_person(username, names): time for username, time in times.annotators.items()}
    return replace(
        times,
        annotators={name: named[name] for name in sorted(named, key=sort_naturally)},
        simulated=frozenset(name_person(username, names) for username in times.simulated),
    )
