"""Draw the form to draw settled pairs for a third expert, with a preview by category and grade.

The button draws exactly the values of the form. A new round, which begins with an empty sample, needs a
confirmation. The form never shows which pairs are drawn.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.quality.records import DEFAULT_RATE, QualityExpert, QualityPreview, QualityStatus
from annotator.quality.sampling import count_further
from annotator.quality.service import (
    draw_sample,
    explain_nothing_to_draw,
    list_experts,
    preview_sample,
)
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_outcome, draw_refusal, keep_refusal
from annotator.web.kit.tables import draw_table
from annotator.web.kit.text import escape_markdown
from annotator.web.kit.words import name_person
from annotator.web.page_context import PageContext, find_context, list_person_names, require_context

GRADES = range(4)
SHOWN_LEADS = 5


def draw_preview(preview: QualityPreview, *, hide_grades: bool) -> None:
    """Draw how many pairs of each category and grade would be drawn.

    `hide_grades`: for a reader who will judge the pairs.
    """
    st.text(
        tr_n(
            "{n:,} pair to draw; the sample then contains {drawn} of {population} settled pairs.",
            "{n:,} pairs to draw; the sample then contains {drawn} of {population} settled pairs.",
            preview.pairs,
            drawn=show_number(preview.drawn + preview.pairs),
            population=show_number(preview.population),
        )
        if preview.pairs
        else tr_n(
            "No pairs to draw: the sample already contains {drawn} pair.",
            "No pairs to draw: the sample already contains {drawn} pairs.",
            preview.drawn,
            drawn=show_number(preview.drawn),
        )
    )
    if preview.outside:
        draw_note(describe_outside(preview.outside))
    if not preview.pairs:
        return
    with st.expander(tr("Preview of the sample")):
        columns, rows = list_preview_rows(preview, hide_grades=hide_grades)
        draw_table(tr("Preview of the sample"), columns, rows)
        draw_note(tr("Pairs to draw / settled pairs that can be checked, including those drawn earlier."))
        if hide_grades:
            draw_note(tr("Grades are hidden because you will judge these pairs."))


def list_preview_rows(preview: QualityPreview, *, hide_grades: bool) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the preview: for each category, the pairs of each settled grade."""
    cells: dict[tuple[str | None, int], tuple[int, int]] = {}
    for stratum in preview.strata:
        pairs, population = cells.get((stratum.category, stratum.grade), (0, 0))
        cells[stratum.category, stratum.grade] = (pairs + stratum.pairs, population + stratum.population)
    categories = list(dict.fromkeys(stratum.category for stratum in preview.strata))
    columns = [tr("category")]
    if not hide_grades:
        columns += [tr("grade {grade}", grade=grade) for grade in GRADES]
    rows = []
    for category in categories:
        counts = [cells.get((category, grade), (0, 0)) for grade in GRADES]
        total = (sum(pairs for pairs, _ in counts), sum(population for _, population in counts))
        shown = [total] if hide_grades else [*counts, total]
        rows.append([category or tr("none"), *(_show_cell(*cell) for cell in shown)])
    return [*columns, tr("all")], rows


def _show_cell(pairs: int, population: int) -> str:
    if not population:
        return "–"
    return f"{show_number(pairs)} / {show_number(population)}"


def describe_outside(pairs: int) -> str:
    """Say how many settled pairs the expert cannot check, and why."""
    return tr_n(
        "{n:,} settled pair is not covered: the checker has judged or seen it, or does not judge its query.",
        "{n:,} settled pairs are not covered: the checker has judged or seen them, or does not judge "
        "their queries.",
        pairs,
    )


DONE, REFUSED = "quality drawn", "quality not drawn"
AMOUNTS = {"share": say("percentage"), "number": say("number of pairs")}


@dataclass(frozen=True, slots=True)
class DrawFormValues:
    """The values of the form. `size`: the number of pairs; None: the share `rate` counts."""

    annotator: str
    rate: float
    size: int | None
    seed: int
    new_round: bool


def draw_more(context: PageContext, dataset: str, status: QualityStatus) -> None:
    """Draw the form below an existing sample: open if more pairs are needed, else folded.

    A folded form is computed only when it is opened.
    """
    needs_more = (status.further or 0) > status.waiting
    with st.expander(
        tr("Add pairs to the sample or begin a new round"),
        expanded=needs_more,
        on_change="rerun",
        key=f"more {dataset} {len(status.draws)}",
    ) as more:
        if more.open:
            draw_form(context, dataset, status)


def draw_form(context: PageContext, dataset: str, status: QualityStatus) -> None:
    experts = context.call(list_experts, dataset)
    if not any(expert.available for expert in experts):
        _draw_no_experts(context, dataset, experts)
        return
    if not status.round:
        st.text(tr("Draw settled pairs for somebody who has judged none of them."))
    # After a draw the fields have other keys, so that a second press does not draw again.
    key_suffix = f"{dataset} {len(status.draws)}"
    form_values = _ask(experts, status, key_suffix)
    draw_deciders(context, next(expert for expert in experts if expert.username == form_values.annotator))
    preview = _preview(context, dataset, form_values)
    if preview is None:
        return
    draw_preview(preview, hide_grades=form_values.annotator == context.actor.username)
    _draw_button(dataset, form_values, preview, key_suffix)


def draw_deciders(context: PageContext, expert: QualityExpert) -> None:
    """Draw who could decide the errors that a lead finds as the checker, or a warning."""
    name = expert.name or expert.username
    if expert.is_sole_lead:
        st.warning(
            escape_markdown(
                tr(
                    "{name} is the only lead. Leads cannot decide pairs that they judged, so nobody could decide "
                    "the errors found by {name}. Choose an annotator as the checker, or add a second lead first.",
                    name=name,
                )
            ),
            icon=":material/warning:",
        )
        draw_link(context, "people")
    elif expert.is_lead:
        draw_note(
            tr(
                "Another lead decides the errors found by {name}: {leads}.",
                name=name,
                leads=join_names(expert.other_leads[:SHOWN_LEADS]),
            )
        )


def _draw_no_experts(context: PageContext, dataset: str, experts: Sequence[QualityExpert]) -> None:
    if any(expert.judged for expert in experts):
        st.text(
            tr(
                "Nobody can check: everyone has judged or seen all settled pairs. Add a person to the "
                "dataset."
            )
        )
        draw_link(context, "people")
    else:
        st.text(tr(context.call(explain_nothing_to_draw, dataset)))
        draw_link(context, "overview")


def draw_done() -> None:
    with st.container():
        draw_outcome(DONE, REFUSED)


def sort_experts(experts: Sequence[QualityExpert]) -> list[QualityExpert]:
    """Return the experts with available pairs: first those without judgments, then by most available pairs."""
    able = [expert for expert in experts if expert.available]
    return sorted(able, key=lambda expert: (expert.judged > 0, -expert.available, expert.username))


def choose_size(status: QualityStatus, population: int, *, new_round: bool = False) -> int | None:
    """Return the sample size that passes without more errors, or None where the share of 10 % is enough.

    `population`: settled pairs that the expert can check, for the first sample of a round.
    """
    if not status.round or new_round:
        size = count_further(0, 0, population) if status.rule == "bound" else None
        return size if size and size > DEFAULT_RATE * population else None
    if not status.further:
        return None
    return min(status.population, status.drawn + max(0, status.further - status.waiting))


def _ask(experts: Sequence[QualityExpert], status: QualityStatus, key_suffix: str) -> DrawFormValues:
    by_name = {expert.username: expert for expert in sort_experts(experts)}
    latest = status.draws[-1].annotator if status.draws else None
    who = st.selectbox(
        tr("Checker"),
        list(by_name),
        format_func=lambda name: _describe_expert(by_name[name]),
        key=f"who {key_suffix}",
        index=list(by_name).index(latest) if latest in by_name else 0,
        help=tr(
            "Choose someone who knows the subject and has judged none of the pairs. The pairs appear "
            "among others on the page Label, without a mark."
        ),
    )
    new_round = _ask_round(status, key_suffix)
    needed = choose_size(status, by_name[str(who)].available, new_round=new_round)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        how = st.segmented_control(
            tr("Sample size"),
            list(AMOUNTS),
            default="share" if needed is None else "number",
            required=True,
            format_func=lambda amount: tr(AMOUNTS[amount]),
            key=f"how {key_suffix} {new_round}",
        )
        percent, size = 100 * DEFAULT_RATE, None
        if how == "number":
            size = st.number_input(
                tr("Number of pairs"),
                1,
                value=max(1, needed or 60),
                step=10,
                width=280,
                key=f"size {key_suffix} {new_round} {needed}",
                help=tr("Including pairs drawn earlier in this round."),
            )
        else:
            percent = st.number_input(
                tr("Percentage of settled pairs"),
                0.1,
                100.0,
                percent,
                5.0,
                format="%g",
                width=280,
                key=f"share {key_suffix} {new_round}",
                help=tr(
                    "Including pairs drawn earlier in this round. Categories and grades are represented in "
                    "proportion."
                ),
            )
    if needed and (new_round or not status.round):
        draw_note(tr_n("{n:,} pair without an error passes.", "{n:,} pairs without an error pass.", needed))
    with st.expander(tr("Advanced")):
        seed = st.number_input(
            tr("Seed"),
            0,
            2**31 - 1,
            0,
            key=f"seed {key_suffix}",
            help=tr("The same seed and the same settled pairs give the same sample."),
        )
    return DrawFormValues(str(who), percent / 100, None if size is None else int(size), int(seed), new_round)


def _ask_round(status: QualityStatus, key_suffix: str) -> bool:
    if not status.round:
        return False
    return st.toggle(
        tr("Begin a new round"),
        key=f"anew {key_suffix}",
        help=tr(
            "Starts a new sample, for example after many pairs have been settled again. The earlier "
            "round stays on record."
        ),
    )


def _describe_expert(expert: QualityExpert) -> str:
    name = f"{expert.name} ({expert.username})" if expert.name else expert.username
    judged = (
        tr_n("judged or checked {n:,} settled pair", "judged or checked {n:,} settled pairs", expert.judged)
        if expert.judged
        else tr("has judged none of them")
    )
    return tr("{name}: {judged}, can check {n}", name=name, judged=judged, n=show_number(expert.available))


def _preview(context: PageContext, dataset: str, form_values: DrawFormValues) -> QualityPreview | None:
    with draw_refusal():
        return context.call(preview_sample, dataset, **asdict(form_values))
    return None


def _draw_button(dataset: str, form_values: DrawFormValues, preview: QualityPreview, key_suffix: str) -> None:
    if not preview.pairs:
        return
    label = tr_n("Draw {n:,} pair", "Draw {n:,} pairs", preview.pairs)
    if form_values.new_round:
        if st.button(label, type="primary", key=f"ask {key_suffix}"):
            confirm_dialog(dataset, form_values, label)
        return
    st.button(label, type="primary", key=f"draw {key_suffix}", on_click=_draw, args=(dataset, form_values))


def confirm_dialog(dataset: str, form_values: DrawFormValues, label: str) -> None:
    st.dialog(tr("Begin a new round?"))(_confirm)(dataset, form_values, label)


def _confirm(dataset: str, form_values: DrawFormValues, label: str) -> None:
    require_context()
    st.text(
        tr(
            "The checks so far no longer count, and the new round begins with an empty sample. The "
            "earlier round stays on record with its errors, and the datasheet of the release describes "
            "both."
        )
    )
    with st.container(horizontal=True):
        if st.button(label, type="primary", key="draw anew"):
            _draw(dataset, form_values)
            st.rerun()
        if st.button(tr("Keep current round")):
            st.rerun()


def _draw(dataset: str, form_values: DrawFormValues) -> None:
    context = find_context()
    if context is None:
        return
    with keep_refusal(REFUSED):
        made = context.call(draw_sample, dataset, **asdict(form_values), now=context.now)
        st.session_state[DONE] = tr_n(
            "{n:,} pair drawn. It appears for {annotator} on the page Label.",
            "{n:,} pairs drawn. They appear for {annotator} on the page Label.",
            made.pairs,
            annotator=name_person(made.annotator, list_person_names(context, dataset)),
        )
        note_press()
