"""Draw the page Quality control, for leads: whether a third expert's blind check supports the settled grades.

It shows the verdict, both readings of the sample, the pairs needed to pass, the draws and the errors. Leads
choose the reading for the release gate (`quality_rule`). Until its pairs are answered, only counts of a
sample are shown, because the checker may be a lead who reads this page. Errors are listed only once the
expert has answered.
"""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from annotator.dataset.service import change_settings
from annotator.domain.figures import show_number
from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.messages import Message, say
from annotator.quality.records import RULES, ErrorRate, QualityDraw, QualityError, QualityStatus
from annotator.quality.service import project_bound, show_quality
from annotator.web.kit.controls import keep_focus
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.page_parts import (
    draw_method,
    draw_note,
    draw_numbers,
    draw_refusal,
    draw_report_chart,
    require_dataset,
)
from annotator.web.kit.tables import draw_file_link, draw_html_table, draw_link_table, escape_breakable
from annotator.web.kit.text import show_as
from annotator.web.kit.words import PersonName, name_people_in, name_word
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, list_person_names
from annotator.web.quality import charts
from annotator.web.quality.charts import show_percent
from annotator.web.quality.downloads import ADDRESS
from annotator.web.quality.form import draw_done, draw_form, draw_more

RULE_NAMES = {"bound": say("Guaranteed maximum (95 %)"), "rate": say("Observed error rate")}
SHOWN = 100
STATES = {
    "reopened": say("waiting for a decision"),
    "decided": say("decided"),
    "retired": say("left the pool"),
}
VERDICTS = {"passed": say("passed"), "failed": say("failed"), "undecided": say("not decided yet")}


def draw_verdict(status: QualityStatus, me: str, names: Mapping[str, str]) -> None:
    """Draw the verdict by the dataset's rule and, once a sample is drawn, the next step.

    `me`: the reader's username. `names`: of people, by username.
    """
    for verdict in status.sentences[:1]:
        st.html(show_as("verdict", tr(verdict)))
    if status.round:
        st.text(_describe_next_step(status, me, names))


def _describe_next_step(status: QualityStatus, me: str, names: Mapping[str, str]) -> str:
    if not status.waiting:
        return tr("All drawn pairs have been checked.")
    others = sorted({draw.annotator for draw in status.draws if draw.round == status.round} - {me})
    if me not in {draw.annotator for draw in status.draws if draw.round == status.round}:
        return tr_n(
            "{n:,} pair left to check by {people}, on the page Label. It appears unmarked among other pairs.",
            "{n:,} pairs left to check by {people}, on the page Label. They appear unmarked among other pairs.",
            status.waiting,
            people=join_names(names.get(username, username) for username in others),
        )
    return tr_n(
        "{n:,} pair left to check, also by you: judge the pairs on the page Label. They appear "
        "unmarked among other pairs.",
        "{n:,} pairs left to check, also by you: judge the pairs on the page Label. They appear "
        "unmarked among other pairs.",
        status.waiting,
    )


def draw_readings(status: QualityStatus) -> None:
    """Draw both readings of the sample side by side, and mark the one that the gate uses."""
    error_rate = status.rates["any"]
    if error_rate.rate is None or error_rate.bound is None:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_reading(status, "rate", show_percent(error_rate.rate), _describe_rate(error_rate))
    with right:
        _draw_reading(
            status,
            "bound",
            tr("at most {share}", share=show_percent(error_rate.bound, at_most=True)),
            _describe_bound(status),
        )


def _draw_reading(status: QualityStatus, rule: str, figure: str, sentence: str) -> None:
    verdict, line = status.verdicts[rule], ""
    if status.rule == rule:  # two verdicts side by side would contradict each other
        kind = "met" if verdict == "passed" else "unmet"
        line = (
            f'<p class="annotator-state-line"><span class="annotator-state annotator-{kind}">{escape(tr(VERDICTS[verdict]))}</span>'
            f'<span class="annotator-badge">{escape(tr("Used for the release"))}</span></p>'
        )
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.html(
            f'<h3 class="annotator-part">{escape(tr(RULE_NAMES[rule]))}</h3>'
            f'<p class="annotator-verdict">{escape(figure)}</p>{line}<p class="annotator-step">{escape(sentence)}</p>'
        )


def _describe_rate(error_rate: ErrorRate) -> str:
    return tr_n(
        "{n:,} error in {checked} checked pairs.",
        "{n:,} errors in {checked} checked pairs.",
        error_rate.errors,
        checked=show_number(error_rate.checked),
    )


def _describe_bound(status: QualityStatus) -> str:
    return tr(
        "Of all {population} settled pairs covered by the sample. Below 5 % passes.",
        population=show_number(status.population),
    )


def _draw_method() -> None:
    draw_method(
        "quality",
        tr(
            "Observed error rate: the errors in this sample. It passes below 5 % when 10 % of the settled pairs "
            "have been checked. Another sample could show more or fewer errors."
        ),
        tr(
            "Guaranteed maximum: with 95\N{NO-BREAK SPACE}% confidence, no more of the settled grades are errors. "
            "It is exact for the number of pairs. A small sample guarantees little, even without errors."
        ),
        tr(
            "The line through the circle is the exact 95\N{NO-BREAK SPACE}% confidence interval of the error rate."
        ),
    )


def draw_counts(status: QualityStatus, names: Mapping[str, PersonName]) -> None:
    """Draw the progress of this round's sample, and what it does not cover. `names`: of people, by username."""
    counts = (
        (tr("drawn"), status.drawn),
        (tr("checked"), status.checked),
        (tr("waiting"), status.waiting),
        (tr("cannot rate"), status.unrateable),
        (tr("can no longer be judged"), status.barred),
        (tr("settled later"), status.settled_since),
    )
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{show_number(n)}</dd></div>" for name, n in counts)
    st.html(f'<dl class="annotator-counts">{items}</dl>')
    for sentence in list_limits(status):
        draw_note(tr(name_people_in(sentence, names)))


def list_limits(status: QualityStatus) -> list[Message]:
    """Return the sentences after the verdict and the readings, without those with a command: the form replaces them."""
    shown_above = 1 + (2 if status.checked else 1)
    return [sentence for sentence in status.sentences[shown_above:] if "command" not in sentence.values]


def draw_draws(dataset: str, draws: Sequence[QualityDraw], names: Mapping[str, str]) -> None:
    columns = (
        tr("draw"),
        tr("round"),
        tr("time"),
        tr("for"),
        tr("drawn by"),
        tr("pairs"),
        tr("checked"),
        tr("errors"),
        tr("of settled pairs"),
        tr("not covered"),
        tr("share"),
        tr("seed"),
    )
    rows = [_describe_draw(draw, names) for draw in reversed(draws)]
    draw_link_table(tr("Draws"), columns, rows, stacked=True)
    draw_file_link(tr("Draws as CSV"), make_url(ADDRESS, dataset=dataset, table="draws"))


def _describe_draw(draw: QualityDraw, names: Mapping[str, str]) -> tuple[str, ...]:
    return (
        str(draw.number),
        str(draw.round),
        show_time(draw.drawn_at),
        names.get(draw.annotator, draw.annotator),
        names.get(draw.drawn_by, draw.drawn_by) if draw.drawn_by else tr("command line"),
        show_number(draw.pairs),
        show_number(draw.checked),
        show_number(draw.errors),
        show_number(draw.population),
        show_number(draw.outside),
        show_percent(draw.rate),
        str(draw.seed),
    )


def draw_rule(context: PageContext, status: QualityStatus) -> None:
    with st.expander(tr("Change what the release requires")), st.form("rule", border=False):
        chosen = st.radio(
            tr("Rule of the gate"),
            RULES,
            index=RULES.index(status.rule),
            format_func=lambda rule: tr(RULE_NAMES[rule]),
        )
        draw_note(
            tr(
                "The guaranteed maximum is stricter and recommended. Change the rule only if your team has "
                "agreed on it; each release states its rule."
            )
        )
        pressed = st.form_submit_button(tr("Change"))
    if not pressed or chosen == status.rule:
        return
    with draw_refusal():
        context.call(change_settings, status.dataset, {"quality_rule": str(chosen)}, now=context.now)
        st.rerun()


def draw_evidence(context: PageContext, status: QualityStatus) -> None:
    """Draw both readings with the rule, the errors by kind, and the pairs needed to pass."""
    st.header(tr("Error rate and guaranteed maximum"))
    draw_readings(status)
    _draw_method()
    draw_rule(context, status)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(tr("Errors by kind"))
        draw_report_chart(
            "quality-kinds",
            charts.chart_rates(status.rates),
            charts.describe_rates(status.rates),
            caption=tr("Errors by kind"),
            csv=make_url(ADDRESS, dataset=status.dataset, table="kinds"),
            name=f"{status.dataset}-quality",
        )
        draw_numbers(tr("Table of error kinds"), charts.list_rate_rows(status.rates))
    with right:
        _draw_further(status)


def _draw_further(status: QualityStatus) -> None:
    st.header(tr("Pairs needed to pass"))
    if status.further is None:
        st.text(
            tr(
                "More pairs of this round cannot bring the guaranteed maximum below 5 %. Decide the errors, "
                "then begin a new round."
            )
        )
    elif not status.further:
        st.text(tr("Nothing else is needed: the guaranteed maximum is below 5 %."))
    else:
        points = project_bound(status)
        draw_report_chart(
            "quality-curve",
            charts.chart_further(points, status.further),
            charts.describe_further(points, status.further),
            caption=tr("Pairs needed to pass"),
            csv=make_url(ADDRESS, dataset=status.dataset, table="curve"),
            name=f"{status.dataset}-quality-curve",
        )
        draw_numbers(tr("Table of this curve"), charts.list_further_rows(points))


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
    draw_numbers(tr("Table of all errors"), [_describe_error(error) for error in errors])
    draw_file_link(tr("Errors as CSV"), make_url(ADDRESS, dataset=dataset, table="errors"))


def name_state(error: QualityError) -> str:
    if error.decided_grade is None:
        return tr(STATES[error.state])
    if error.decided_grade == error.expert_grade:
        return tr("decided {grade}, same as the checker", grade=error.decided_grade)
    if error.decided_grade == error.settled_grade:
        return tr("decided {grade}, unchanged", grade=error.decided_grade)
    return tr("decided {grade}", grade=error.decided_grade)


def _draw_table(dataset: str, errors: Sequence[QualityError], *, rounds: bool) -> None:
    columns = [tr("query"), tr("document"), tr("settled"), tr("checker"), tr("note"), tr("state")]
    if rounds:
        columns.append(tr("round"))
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_draw_row(dataset, error, columns[1:]) for error in errors)
    draw_html_table(tr("Errors"), heads, body, " annotator-stacked", tall=False)


def _draw_row(dataset: str, error: QualityError, columns: Sequence[str]) -> str:
    label = tr("Show {query_id}, {doc_id}", query_id=error.query_id, doc_id=error.doc_id)
    category = f'<br><span class="annotator-soft">{escape(error.category)}</span>' if error.category else ""
    document = escape_breakable(error.doc_id)
    if error.state != "retired":  # a retired pair has no disagreement
        address = make_url("/disagreements", dataset=dataset, pair=error.pair)
        document = (
            f'<a class="annotator-link" href="{escape(address)}" target="_self" '
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


def _describe_error(error: QualityError) -> dict[str, object]:
    return {
        tr("query"): error.query_id,
        tr("document"): error.doc_id,
        tr("category"): error.category or "",
        tr("settled"): error.settled_grade,
        tr("basis of the settled grade"): name_word(error.settled_by),
        tr("checker"): error.expert_grade,
        tr("gap"): error.distance,
        tr("note"): error.note or "",
        tr("draw"): error.draw,
        tr("round"): error.round,
        tr("answered"): show_time(error.answered_at),
        tr("state"): name_state(error),
    }


def draw(context: PageContext) -> None:
    st.title(tr("Quality control"))
    dataset = require_dataset(context)
    draw_done()
    status = context.call(show_quality, dataset, now=context.now)
    names = list_person_names(context, dataset)
    draw_verdict(status, context.actor.username, names)
    if status.checked:
        draw_evidence(context, status)
    if status.round:
        st.header(tr("Sample"))
        draw_counts(status, names)
        st.header(tr("Draw more"))
        draw_more(context, dataset, status)
        st.header(tr("Draws"))
        draw_draws(dataset, status.draws, names)
        st.header(tr("Errors"))
        draw_errors(status)
    else:
        st.header(tr("Draw a sample"))
        draw_form(context, dataset, status)
    keep_focus()
