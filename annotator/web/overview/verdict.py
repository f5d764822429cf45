"""Say whether a dataset can be released: each unmet gate with the work it needs, and when that can be done."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

import streamlit as st

from annotator.overview.next_steps import NextStep
from annotator.overview.records import PACE_DAYS, WORK_GATES, ReleaseForecast
from annotator.overview.service import Overview
from annotator.releases.records import GATE_NAMES, ReleaseGate
from annotator.web.kit.figures import show_day, show_duration
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import write_link
from annotator.web.kit.text import show_as
from annotator.web.navigation import make_url
from annotator.web.releases.gates import WORK, describe_gate

FAR_DAYS = 365  # a later date is not shown


def draw_verdict(overview: Overview, forecast: ReleaseForecast, *, now: datetime) -> None:
    """Draw the verdict, the effort for each unmet gate with a link to its page, the date, and the last days."""
    missing = list_missing_gates(overview)
    sentences = [describe_days(forecast)]
    if missing:
        state = f'<span class="annotator-state annotator-unmet">{escape(tr("Not ready for release"))}</span>'
        items = "".join(f"<li>{_write_item(gate, overview, forecast)}</li>" for gate in missing)
        sentences.insert(0, describe_date(overview, forecast, now=now))
    else:
        state = f'<span class="annotator-state annotator-met">{escape(tr("Ready for release"))}</span>'
        items = f"<li>{_write_link(tr('Every gate is met.'), 'releases', overview)}</li>"
    st.html(f'<div class="annotator-gates">{state}<ul>{items}</ul></div>')
    draw_note(join_sentences(sentence for sentence in sentences if sentence))


def _write_item(gate: ReleaseGate, overview: Overview, forecast: ReleaseForecast) -> str:
    """Return the gate with its effort, and how to meet it. The agreement chart has its own sentences for that."""
    link = _write_link(describe_gate(gate), find_page(gate, overview), overview)
    effort = escape(describe_effort(gate, overview, forecast))
    step = next((step for step in overview.steps if step.gate == gate.name != "kappa"), None)
    how = "" if step is None else show_as("note", tr(step.why))
    return f"{link}: {effort}{how}"


def list_other_steps(overview: Overview) -> list[NextStep]:
    """Return the steps that do not serve an unmet gate; the verdict has those."""
    missing = {gate.name for gate in list_missing_gates(overview)}
    return [step for step in overview.steps if step.gate not in missing]


def _write_link(words: str, page: str, overview: Overview) -> str:
    return write_link(words, make_url(f"/{page}", dataset=overview.dataset.name))


def list_missing_gates(overview: Overview) -> list[ReleaseGate]:
    return [gate for gate in overview.gates if not gate.met]


def find_page(gate: ReleaseGate, overview: Overview) -> str:
    """Return the address of the page where the work for the gate is done."""
    if gate.name == "kappa" and overview.dataset.overlap == 1:
        return "settings"
    pages = {"coverage": "pool", "ids": "import"}
    return pages[gate.name] if gate.name in pages else WORK[gate.name][0]


def describe_effort(gate: ReleaseGate, overview: Overview, forecast: ReleaseForecast) -> str:
    """Return a sentence with the work that the unmet gate needs, such as "12 more judgments"."""
    measured = round(gate.measured or 0)
    match gate.name:
        case "kappa":
            return _describe_agreement(overview)
        case "disagreements":
            seconds = forecast.remains.seconds
            if seconds is None:
                return tr(
                    "time not known, because few decisions were timed in the last {days} days", days=PACE_DAYS
                )
            return tr("{work} of deciding", work=show_duration(seconds * measured))
        case "overlap":
            return tr_n("{n:,} more judgment", "{n:,} more judgments", overview.lacking)
        case "quality_control":
            if overview.checks is None:
                return tr("failed: improve the grades, then begin a new round")
            return tr_n("about {n:,} pair to check", "about {n:,} pairs to check", overview.checks)
        case "coverage":
            return _describe_requirements(overview, round(gate.required) - measured)
        case "unjudged_queries":
            if follows_from_work(gate, overview):
                return tr("included in the judgments and decisions above")
            return tr_n("more documents for {n:,} query", "more documents for {n:,} queries", measured)
        case "relevant":
            return tr_n(
                "a deeper pool for {n:,} query, or list it as having none",
                "a deeper pool for {n:,} queries, or list them as having none",
                measured,
            )
        case "stale":
            return tr_n(
                "{n:,} pair to judge or decide again", "{n:,} pairs to judge or decide again", measured
            )
        case _:
            return tr_n("{n:,} id to rename", "{n:,} ids to rename", measured)


def _describe_agreement(overview: Overview) -> str:
    verdict = overview.agreement.verdict
    if overview.dataset.overlap == 1:
        return tr("each pair needs two judgments")
    if verdict.state == "not met":
        return tr("clarify the guideline first; more judgments alone do not raise it")
    if verdict.further is not None and overview.agreement.measured.pairs:
        return tr_n(
            "about {n:,} more judgment until it is known",
            "about {n:,} more judgments until it is known",
            2 * verdict.further,
        )
    if overview.pairs.to_judge:
        return tr("measured from the missing judgments")
    return tr("not known; the page says why")


def _describe_requirements(overview: Overview, unmet: int) -> str:
    """Say which requirements judging can meet: only those that the pool decides."""
    needs = len(overview.missing)
    if not needs:
        return tr("the missing judgments may meet them")
    words = tr_n("{n:,} needs other queries or documents", "{n:,} need other queries or documents", needs)
    return words if needs >= unmet else tr("{words}; judging may meet the others", words=words)


def follows_from_work(gate: ReleaseGate, overview: Overview) -> bool:
    """Return whether the gate will probably be met when everything is judged, decided and checked."""
    pairs = overview.pairs
    if gate.name == "kappa":
        verdict = overview.agreement.verdict
        measured = bool(overview.agreement.measured.pairs) and (verdict.kappa.value or -1) >= verdict.target
        return measured and verdict.further is not None and verdict.further <= pairs.to_judge
    if gate.name == "unjudged_queries":
        is_pooled = all(query.pairs for query in overview.progress.queries)
        return is_pooled and bool(pairs.to_judge or pairs.disagreements)
    return gate.name in WORK_GATES


def describe_date(overview: Overview, forecast: ReleaseForecast, *, now: datetime) -> str:
    """Say when a release is possible; if the work that is left does not meet every gate, say which stand in the way."""
    missing = list_missing_gates(overview)
    others = [gate for gate in missing if not follows_from_work(gate, overview)]
    if others:
        return tr("No date yet. In the way: {gates}.", gates=join_gate_names([gate.name for gate in others]))
    if forecast.day is None:
        return "" if forecast.why is None else tr(forecast.why)
    if (forecast.day - now).days > FAR_DAYS:
        return tr(
            "Not within a year, at the pace of the last {days} days. More annotators or fewer judgments per pair bring it forward.",
            days=PACE_DAYS,
        )
    day = show_day(forecast.day, now=now)
    if any(gate.name == "quality_control" for gate in missing):
        return tr(
            "Possible about {day}, at the pace of the last {days} days, if quality control passes.",
            day=day,
            days=PACE_DAYS,
        )
    return tr("Possible about {day}, at the pace of the last {days} days.", day=day, days=PACE_DAYS)


def describe_days(forecast: ReleaseForecast) -> str:
    """Say what was done in the last PACE_DAYS days."""
    work = forecast.remains
    if not (work.recent or work.decided or work.arrived):
        return tr("Nothing was judged or decided in the last {days} days.", days=PACE_DAYS)
    return tr(
        "Last {days} days: {judgments}, {decisions}, {disagreements}.",
        days=PACE_DAYS,
        judgments=tr_n("{n:,} judgment", "{n:,} judgments", work.recent),
        decisions=tr_n("{n:,} decision", "{n:,} decisions", work.decided),
        disagreements=tr_n("{n:,} new disagreement", "{n:,} new disagreements", work.arrived),
    )


def join_gate_names(gates: Sequence[str]) -> str:
    """Return the gates' names in the reader's language, joined."""
    return join_names(tr(GATE_NAMES.get(gate, gate)) for gate in gates)
