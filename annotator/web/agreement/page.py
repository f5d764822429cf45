"""Draw the page Agreement: the report, or the pairs behind one figure.

The report comes from the cache, or is measured now; meanwhile the page shows the first figures. The selection of pairs is in
the address, which can be sent to somebody. `list_selected_pairs` decides what each pair shows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from html import escape

import streamlit as st

from annotator.agreement.records import (
    AgreementReport,
    CoefficientValue,
    Leaning,
    PairSelection,
    SelectedPair,
)
from annotator.agreement.service import compute_agreement, list_groupings, list_selected_pairs, read_stamp
from annotator.domain.errors import ValidationError
from annotator.domain.figures import show_number
from annotator.domain.judgments import describe_blind_pairs
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.web.agreement.links import (
    TOO_MANY,
    describe_selection,
    find_first_grouping,
    find_selection,
    list_parameters,
    make_page_url,
)
from annotator.web.blind_pairs import draw_blind_pairs
from annotator.web.kit.controls import find_chosen_option, keep_focus
from annotator.web.kit.kept_results import KeptResult, KeptResults
from annotator.web.kit.lists import draw_link_pager, find_start
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_changed, draw_note, require_dataset
from annotator.web.kit.tables import Cell, Link, draw_file_link, draw_link_table, write_link
from annotator.web.kit.text import show_as
from annotator.web.kit.words import PersonName, name_field, name_people_in, name_person, name_word
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext, list_person_names

ANEW = "measure_anew"
ProgressCallback = Callable[[int, CoefficientValue], None]
KeptReport = KeptResult[AgreementReport]

REPORTS: KeptResults[AgreementReport] = KeptResults(most=12, expires=True)
"""The reports of this process, by database, dataset, field and reader. Each reader has other pairs left out."""


def find_kept_report(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    by: str | None,
    now: datetime,
    anew: bool = False,
    report_progress: ProgressCallback | None = None,
) -> KeptReport:
    """Return a kept report, or measure it now (`anew`: always). Raises NotAllowed unless the actor is a lead.

    `report_progress`: called with the number of shared pairs and the kappa as soon as they are known.
    """
    stamp = read_stamp(database, actor, dataset)
    return REPORTS.find(
        (database, dataset, by, stamp.reader),
        stamp,
        lambda: compute_agreement(database, actor, dataset, by=by, report_progress=report_progress),
        now=now,
        anew=anew,
    )


def find_report(context: PageContext, dataset: str, by: str | None) -> AgreementReport:
    """Return the report. If its data has changed since, draw a note and a button to measure again."""
    placeholder = st.empty()

    def show_progress(pairs: int, kappa: CoefficientValue) -> None:
        placeholder.html(
            f'<p class="annotator-note annotator-measuring" role="status">{escape(describe_first(pairs, kappa))}</p>'
        )

    kept = find_kept(context, dataset, by, report_progress=show_progress)
    if kept.changed:
        with placeholder.container(horizontal=True, vertical_alignment="center"):
            draw_changed(kept.made_at, ANEW, key="measure_again")
    else:
        placeholder.empty()
    draw_blind_pairs(dataset, kept.value.blind_pairs)
    return kept.value


def find_kept(
    context: PageContext,
    dataset: str,
    by: str | None = None,
    *,
    report_progress: ProgressCallback | None = None,
) -> KeptReport:
    """Return the report from the cache, or measure it now. `report_progress`: called with the first figures."""
    return context.call(
        find_kept_report,
        dataset,
        by=by,
        now=context.now,
        anew=st.session_state.pop(ANEW, False),
        report_progress=report_progress,
    )


def describe_first(pairs: int, kappa: CoefficientValue) -> str:
    if kappa.value is None:
        return tr("Calculating agreement …")
    return tr_n(
        "Cohen's kappa: {kappa:.2f} ({pairs} pair). Calculating the confidence interval and all "
        "other figures …",
        "Cohen's kappa: {kappa:.2f} ({pairs} pairs). Calculating the confidence interval and all "
        "other figures …",
        pairs,
        kappa=kappa.value,
        pairs=show_number(pairs),
    )


NOTHING = "nothing"
KEPT = timedelta(minutes=1)


def list_fields(context: PageContext, dataset: str) -> list[str]:
    """Return the fields for grouping, "nothing" first. Kept for a minute: listing them is slow."""
    cached_dataset, since, fields = st.session_state.get("groupings", ("", context.now, []))
    if cached_dataset != dataset or context.now - since >= KEPT:
        fields = [NOTHING, *context.call(list_groupings, dataset)]
        st.session_state["groupings"] = (dataset, context.now, fields)
    return list(fields)


def find_grouping(context: PageContext, dataset: str) -> str | None:
    """Return the chosen field for grouping, at first the category; None for no groups."""
    fields = list_fields(context, dataset)
    if "by" not in st.session_state and "by" not in st.query_params:
        return find_first_grouping(dataset, fields)
    chosen = find_chosen_option("by", fields, name_field)
    return chosen if chosen in fields and chosen != NOTHING else None


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    selection = find_selection()
    if selection is not None:
        draw_pairs(context, dataset, selection)
        return
    try:
        report = find_report(context, dataset, find_grouping(context, dataset))
    except ValidationError:
        if "by" in st.session_state or "by" in st.query_params:
            raise
        st.session_state[TOO_MANY] = dataset  # nobody asked for that grouping
        report = find_report(context, dataset, None)
    from annotator.web.agreement.tabs import draw_report

    named = name_report(report, list_person_names(context, dataset))
    draw_report(context, named, list_fields(context, dataset))


Names = Mapping[str, PersonName]


def name_report(report: AgreementReport, names: Names) -> AgreementReport:
    """Return the report as the page shows it. Its selections of pairs keep the usernames, for the addresses."""
    measured = report.measured
    return replace(
        report,
        annotators=tuple(name_person(who, names) for who in report.annotators),
        measured=replace(
            measured,
            annotator_pairs=tuple(
                replace(pair, annotators=(name_person(first, names), name_person(second, names)))
                for pair in measured.annotator_pairs
                for first, second in [pair.annotators]
            ),
            leanings=_name_leanings(measured.leanings, names),
            grades_by_annotator={
                name_person(who, names): counts for who, counts in measured.grades_by_annotator.items()
            },
        ),
        groups=tuple(
            replace(group, value=name_person(group.value, names))
            if group.by == "annotator" and group.value is not None
            else group
            for group in report.groups
        ),
        periods=tuple(
            replace(period, leanings=_name_leanings(period.leanings, names)) for period in report.periods
        ),
        findings=tuple(
            finding
            if finding.kind == "category"  # it joins categories, not people
            else replace(finding, sentence=name_people_in(finding.sentence, names))
            for finding in report.findings
        ),
    )


def _name_leanings(leanings: Sequence[Leaning], names: Names) -> tuple[Leaning, ...]:
    return tuple(replace(leaning, annotator=name_person(leaning.annotator, names)) for leaning in leanings)


SIZE = 25


def draw_pairs(context: PageContext, dataset: str, selection: PairSelection) -> None:
    start = find_start(1)
    selected = context.call(
        list_selected_pairs, dataset, selection, limit=SIZE, offset=start, now=context.now
    )
    names = list_person_names(context, dataset)
    back = write_link(tr("Back to Agreement"), make_url("/agreement", dataset=dataset))
    st.html(f'<p class="annotator-step">{back}</p>')
    st.html(
        show_as("verdict", describe_selection(name_selection(selection, names)), tag="h2")
    )  # a heading of Streamlit's would link names
    if selected.blind_pairs:
        draw_note(tr(describe_blind_pairs(selected.blind_pairs)))
    if not selected.total:
        st.text(tr("No pair matches."))
        keep_focus(from_top=True)
        return
    st.text(
        tr_n(
            "{n:,} pair, largest difference first.",
            "{n:,} pairs, largest difference first.",
            selected.total,
        )
    )
    if any(name not in selection.annotators for pair in selected.pairs for name, _ in pair.grades):
        draw_note(tr("A, B …: the annotators of a pair, without their names."))
    # Only people in the selection have display names: a letter could be the username of somebody else.
    named = {who: names[who] for who in selection.annotators if who in names}
    columns = (tr("query"), tr("document"), tr("grades"), tr("gap"), tr("status"))
    draw_link_table(
        tr("List of pairs"),
        columns,
        [_describe_pair(dataset, pair, named) for pair in selected.pairs],
        tall=True,
    )
    draw_link_pager(
        start,
        len(selected.pairs),
        selected.total,
        size=SIZE,
        make_url=lambda at: f"{make_page_url(dataset, selection)}&from={at}",
    )
    file_url = make_url("/api/agreement/pairs", list_parameters(selection), dataset=dataset)
    draw_file_link(tr("All pairs as CSV"), file_url)
    keep_focus(from_top=True)


def _describe_pair(dataset: str, pair: SelectedPair, names: Mapping[str, PersonName]) -> list[Cell]:
    grades = [f"{grade}\u00a0{names.get(name, name)}" for name, grade in pair.grades]
    note = [tr(pair.note)] if pair.note is not None else []
    document: list[str | Link] = [pair.doc_id]
    if pair.title and pair.title != pair.doc_id:
        document.append(pair.title)
    if pair.case:
        address = make_url("/disagreements", dataset=dataset, pair=pair.pair, show="all")
        says = tr("Open disagreement {query_id} {doc_id}", query_id=pair.query_id, doc_id=pair.doc_id)
        document.append(Link(tr("Open disagreement"), address, says))  # where a narrow screen shows it
    return [
        [pair.query_id, pair.query],
        document,
        [*grades, *note],
        str(pair.distance),
        name_word(pair.status),
    ]


def name_selection(selection: PairSelection, names: Mapping[str, PersonName]) -> PairSelection:
    return replace(
        selection,
        annotators=tuple(name_person(who, names) for who in selection.annotators),
        without=tuple(name_person(who, names) for who in selection.without),
        value=name_person(selection.value, names)
        if selection.by == "annotator" and selection.value is not None
        else selection.value,
    )
