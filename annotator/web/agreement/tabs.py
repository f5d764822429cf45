"""Draw the tabs of the agreement page: dataset, annotators, groups, time, grades, since a version, left out.

Only the open tab is drawn. Every chart has a description, its numbers and pairs by keyboard, and its files. Agreement
before and since a guideline version is measured when its tab is opened, and kept while nothing changes.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotator.agreement.records import AgreementReport, PairAgreement, PairSelection, SincePart, SinceVersion
from annotator.agreement.service import compare_version, read_stamp
from annotator.domain.errors import NotFound
from annotator.web.agreement import tables as rows
from annotator.web.agreement.charts import (
    MOST_BARS,
    MOST_GROUPS,
    MOST_PEOPLE,
    MOST_WRITTEN,
    chart_forest,
    chart_grades,
    chart_matrix,
    choose_pairs,
    describe_forest,
    describe_grades,
    describe_matrix,
    list_drawn,
    list_people,
    list_shown,
)
from annotator.web.agreement.downloads import list_figures_address, list_left_out_address
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.links import draw_file_link, go_to, list_page_address, name_field
from annotator.web.agreement.routes import SINCE
from annotator.web.agreement.tables import KINDS, TableRequest, find_pair
from annotator.web.agreement.time_charts import (
    MOST_LINES,
    chart_drift,
    chart_leanings,
    chart_since,
    describe_drift,
    describe_leanings,
    describe_since,
    list_leaning_people,
    list_points,
    list_since_rows,
)
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.controls import heed_address
from annotator.web.kit.figures import show_number
from annotator.web.kit.heat_map import chart_confusion, describe_confusion, name_grades
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import Link, draw_link_table
from annotator.web.kit.words import name_word
from annotator.web.page_context import PageContext


def draw_dataset(report: AgreementReport) -> None:
    """Every coefficient of the dataset, and what makes kappa hard to read."""
    st.header(tr("Every coefficient"))
    draw_note(rows.say_basis(report))
    draw_figures(report, TableRequest("coefficients"), tr("Every coefficient"), at_once=True)
    found = report.measured.paradox
    if found is not None:
        st.text(
            tr(
                "Prevalence {prevalence:.2f}, bias {bias:.2f}, both from 0 to 1. A high prevalence (one grade given most of the "
                "time) lowers κ, and so does a low bias (annotators who give each grade equally often); AC1 hardly moves.",
                prevalence=found.prevalence,
                bias=found.bias,
            )
        )


def draw_annotators(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """Every two annotators, then two of them grade by grade."""
    pairs = report.measured.annotator_pairs
    if len(list_shown(pairs)) > 2:
        st.header(tr("Every two annotators"))
        kind = _choose_kind()
        drawn = choose_pairs(pairs, _choose_person(pairs))
        draw_report_chart(
            "kappa-matrix",
            chart_matrix(drawn, kind),
            describe_matrix(drawn, kind),
            caption=tr("Every two annotators"),
            csv=list_figures_address(report.dataset, TableRequest("annotators")),
            name=f"{report.dataset}-kappa",
            pick=_pick_two,
        )
        _say_of_matrix(pairs)
        draw_figures(report, TableRequest("annotators"), tr("Every two annotators as a table"))
    st.header(tr("Two annotators, grade by grade"))
    pair = _choose_two(report)
    if pair is None:
        st.text(tr("These two share no pair."))
        return
    asked = TableRequest("confusion", first=pair.annotators[0], second=pair.annotators[1])
    draw_report_chart(
        "confusion",
        chart_confusion(pair, grade_names),
        describe_confusion(pair),
        caption=rows.name_pair(pair),
        csv=list_figures_address(report.dataset, asked),
        name=f"{report.dataset}-confusion",
        pick=lambda cell: _pick_cell(pair, cell),
    )
    st.text(describe_confusion(pair))
    _draw_cells(report.dataset, pair, grade_names)
    if len(pairs) == 1:
        draw_figures(report, TableRequest("annotators"), tr("These two in figures"))


def draw_groups(report: AgreementReport, groupings: Sequence[str]) -> None:
    """The dataset and its groups against the target."""
    st.header(tr("By group"))
    heed_address("by", groupings)
    st.selectbox(tr("Group by"), groupings, format_func=name_field, key="by", bind="query-params")
    if not report.groups:
        st.text(tr("Choose a field to see where agreement is high and where it is low."))
        return
    by = report.groups[0].by
    if all(group.value is None for group in report.groups):
        st.text(tr("No query has a {field}.", field=name_field(by)))
        return
    asked = TableRequest("groups", by=by)
    draw_report_chart(
        "groups",
        chart_forest(report),
        describe_forest(report),
        caption=name_field(by),
        csv=list_figures_address(report.dataset, asked),
        name=f"{report.dataset}-groups",
        pick=lambda cell: _pick_group(report, cell),
    )
    said = tr("In brackets: pairs. Lines: 95 % intervals. Hollow: too few pairs to say much.")
    draw_note(f"{said} {tr('A click on a point shows its pairs.')}")
    if len(report.groups) > MOST_GROUPS:
        draw_note(
            tr(
                "Drawn are the {n} largest groups of {all:,}; the file has all.",
                n=MOST_GROUPS,
                all=len(report.groups),
            )
        )
    for group in list_drawn(report.groups):
        kappa = group.measured.cohen_kappa["unweighted"]
        if kappa.value is None:
            st.text(tr("{name}: undefined, {why}", name=rows.name_group(group), why=kappa.why))
    draw_figures(report, asked, tr("The groups as a table"))


def _choose_kind() -> str:
    heeded = heed_address("kappa", KINDS)
    chosen = st.segmented_control(
        tr("Kind of κ"),
        KINDS,
        default=None if heeded else KINDS[0],
        format_func=name_word,
        required=True,
        key="kappa",
        bind="query-params",
        wrap=True,
    )
    return str(chosen or KINDS[0])


def _choose_person(pairs: Sequence[PairAgreement]) -> str | None:
    """Whom the heat map is about, where there are more people than it holds."""
    people = list_people(pairs)
    if len(people) <= MOST_PEOPLE:
        return None
    heed_address("about", people)
    chosen: str | None = st.selectbox(
        tr("Find a person"),
        people,
        index=None,
        key="about",
        bind="query-params",
        placeholder=tr("those who share the most pairs"),
        width=360,
    )
    return chosen


def _say_of_matrix(pairs: Sequence[PairAgreement]) -> None:
    people = len({name for pair in pairs for name in pair.annotators})
    said = [tr("Above the diagonal κ, below it the pairs it rests on. A click on a cell shows its pairs.")]
    if people > MOST_PEOPLE:
        said.append(
            tr(
                "Drawn are {n} annotators of {all:,}: those who share the most pairs, or the one you choose with those who share the most "
                "with them. The file has all.",
                n=MOST_PEOPLE,
                all=people,
            )
        )
    if min(people, MOST_PEOPLE) > MOST_WRITTEN:
        said.append(tr("Point at a cell to read its figures."))
    draw_note(join_sentences(said))


def _choose_two(report: AgreementReport) -> PairAgreement | None:
    """The two annotators that are chosen; at first those who share the most pairs."""
    largest = max(report.measured.annotator_pairs, key=lambda pair: pair.pairs)
    names = sorted({name for pair in report.measured.annotator_pairs for name in pair.annotators})
    with st.container(horizontal=True):
        first, second = (
            st.selectbox(label, names, index=names.index(at_first), key=key, bind="query-params", width=260)
            for label, key, at_first in (
                (tr("Rows"), "rows", largest.annotators[0]),
                (tr("Columns"), "columns", largest.annotators[1]),
            )
        )
    return find_pair(report, first, second)


def _draw_cells(dataset: str, pair: PairAgreement, grade_names: Sequence[str]) -> None:
    """The matrix as a table: each count leads to its pairs."""
    names = name_grades(grade_names)
    first, second = pair.annotators
    with st.expander(tr("The matrix as a table, with its pairs")):
        draw_link_table(
            rows.name_pair(pair),
            [f"{first} ↓ {second} →", *names],
            [
                [name, *(_link_cell(dataset, pair, at, to) for to in range(len(names)))]
                for at, name in enumerate(names)
            ],
        )


def _link_cell(dataset: str, pair: PairAgreement, row: int, column: int) -> str | Link:
    count = pair.confusion[row][column]
    if not count:
        return "0"
    says = tr_n(
        "{n:,} pair that {first} graded {row} and {second} {column}",
        "{n:,} pairs that {first} graded {row} and {second} {column}",
        count,
        first=pair.annotators[0],
        second=pair.annotators[1],
        row=row,
        column=column,
    )
    selection = PairSelection(annotators=pair.annotators, grades=(row, column))
    return Link(f"{count:,}", list_page_address(dataset, selection), says)


def _pick_two(cell: Mapping[str, Any]) -> None:
    go_to(PairSelection(annotators=tuple(sorted((str(cell["row"]), str(cell["column"]))))))


def _pick_cell(pair: PairAgreement, cell: Mapping[str, Any]) -> None:
    row, column = int(cell["row"]), int(cell["column"])
    if pair.confusion[row][column]:
        go_to(PairSelection(annotators=pair.annotators, grades=(row, column)))


def _pick_group(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    place = cell.get("group")
    if place is None:
        return
    if int(place) < 0:
        go_to(PairSelection())
        return
    group = list_drawn(report.groups)[int(place)]
    go_to(PairSelection(by=group.by, value=group.value))


def draw_time(report: AgreementReport) -> None:
    """Agreement and leanings over time."""
    st.header(tr("Agreement over time"))
    if len(report.periods) < 2:
        st.text(
            tr("The judgments do not span enough time, or are too few, to compare one period with another.")
        )
        return
    csv = list_figures_address(report.dataset, TableRequest("periods"))
    if any(one.kappa.value is not None for one in report.periods):
        draw_report_chart(
            "drift",
            chart_drift(report.periods, report.kappa_target),
            describe_drift(report.periods, report.kappa_target),
            caption=tr("Agreement over time"),
            csv=csv,
            name=f"{report.dataset}-drift",
            pick=lambda cell: _pick_period(report, cell),
        )
    people = list_leaning_people(report.periods)
    if people:
        st.header(tr("Leanings over time"))
        draw_report_chart(
            "leanings",
            chart_leanings(report.periods),
            describe_leanings(report.periods),
            caption=tr("Leanings over time"),
            csv=csv,
            name=f"{report.dataset}-leanings",
            pick=lambda cell: _pick_period(report, cell),
        )
        known = {one.annotator for period in report.periods for one in period.leanings}
        if len(known) > len(people):
            draw_note(
                tr(
                    "Drawn are the {n} annotators of {all:,} who leaned the furthest; the file has all.",
                    n=MOST_LINES,
                    all=len(known),
                )
            )
    draw_note(tr("A click on a point shows its pairs."))
    draw_figures(report, TableRequest("periods"), tr("The periods as a table"))


def draw_grades(report: AgreementReport, grade_names: Sequence[str]) -> None:
    """How each annotator spreads the grades, and how each leans."""
    st.header(tr("Grades by annotator"))
    counts = report.measured.grades_by_annotator
    if counts:
        draw_note(
            tr(
                "Over all that each of them judged (in brackets): who judged other queries may rightly differ."
            )
            + " "
            + tr("A click on a part of a bar shows its pairs.")
        )
        draw_report_chart(
            "grades",
            chart_grades(counts, grade_names),
            describe_grades(counts, grade_names),
            caption=tr("Grades by annotator"),
            csv=list_figures_address(report.dataset, TableRequest("grades")),
            name=f"{report.dataset}-grades",
            pick=_pick_grade,
        )
        if len(counts) > MOST_BARS:
            draw_note(
                tr(
                    "Drawn are the {n} annotators of {all:,} who judged the most; the file has all.",
                    n=MOST_BARS,
                    all=len(counts),
                )
            )
        draw_figures(report, TableRequest("grades"), tr("The grades as a table"), grade_names)
    if report.measured.leanings:
        st.header(tr("How annotators lean"))
        draw_note(
            tr("How much higher somebody grades than the others on the same pairs, with 95 % intervals.")
        )
        draw_figures(report, TableRequest("leanings"), tr("The leanings as a table"), at_once=True)


def draw_left_out(report: AgreementReport) -> None:
    """What does not count, and why."""
    st.header(tr("What does not count"))
    if not report.left_out:
        st.text(tr("Every judgment counts."))
        return
    draw_note(tr("Only current independent grades of pairs that two or more judged enter agreement."))
    draw_link_table(
        tr("What does not count"),
        [tr("judgments"), tr("reason"), tr("list")],
        [
            [
                show_number(one.judgments),
                tr(one.why),
                Link(
                    tr("as a CSV file"),
                    list_left_out_address(report.dataset, one.kind),
                    f"{tr('as a CSV file')}: {tr(one.why)}",
                ),
            ]
            for one in report.left_out
        ],
    )


def _pick_period(report: AgreementReport, cell: Mapping[str, Any]) -> None:
    """A period of the dataset, or of the one annotator whose point it is."""
    place = cell.get("at")
    span = None if place is None else report.periods[int(place)].span
    if span is not None:
        go_to(PairSelection(annotators=(str(cell["name"]),) if "name" in cell else (), span=span))


def _pick_grade(cell: Mapping[str, Any]) -> None:
    if cell.get("place") is not None:
        who = (str(cell["whose"]),) if cell["whose"] else ()
        go_to(PairSelection("given", who, grade=int(cell["place"])))


KEY, KEPT = "since", "since version"


def draw_since(context: PageContext, report: AgreementReport) -> None:
    """What became of agreement since a version, in a sentence, a chart and a table."""
    st.header(tr("Before and since a version of the guideline"))
    place = st.empty()
    place.html(f'<p class="annotator-note" role="status">{escape(tr("Measuring agreement …"))}</p>')
    found = _find(context, report.dataset)
    place.empty()
    if found is None:
        st.text(tr("There is one version of the guideline so far, so there is nothing to compare."))
        draw_link(context, "guideline")
        return
    _draw_choice(found)
    for part in found.parts:
        _draw_part(part)
    _draw_notes(found)
    if list_points(found):
        draw_report_chart(
            "since-version",
            chart_since(found, report.kappa_target),
            describe_since(found),
            caption=tr("Before and since version {version}", version=found.version),
            csv=list_since_address(found.dataset, found.version),
            name=f"{found.dataset}-since-{found.version}",
        )
    _draw_table(found)


def _draw_part(part: SincePart) -> None:
    """What is so, and why so few pairs say little."""
    few = [
        tr("{side}: {warning}", side=name, warning=tr(side.warning))
        for name, side in ((tr("before it"), part.before), (tr("since it"), part.since))
        if side.warning and side.pairs
    ]
    note = f'<p class="annotator-note">{escape("; ".join(few))}</p>' if few else ""
    st.html(f'<p class="annotator-step">{escape(tr(part.sentence))}</p>{note}')


def list_since_address(dataset: str, version: int) -> str:
    """The address of the table's file."""
    return f"{SINCE}?" + urlencode({"dataset": dataset, "version": version})


def _find(context: PageContext, dataset: str) -> SinceVersion | None:
    """Measured, or kept from the run before where nothing has changed."""
    asked = str(st.session_state.get(KEY) or st.query_params.get(KEY, ""))
    version = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    stamp = (read_stamp(context.database, context.actor, dataset), version)
    known = st.session_state.get(KEPT)
    if known is not None and known[0] == stamp:
        kept: SinceVersion | None = known[1]
        return kept
    try:
        found = compare_version(context.database, context.actor, dataset, version)
    except NotFound:
        found = compare_version(context.database, context.actor, dataset)
    st.session_state[KEPT] = (stamp, found)
    return found


def _draw_choice(found: SinceVersion) -> None:
    versions = [str(version) for version, _ in reversed(found.versions)]
    st.selectbox(
        tr("Version of the guideline"),
        versions,
        index=versions.index(str(found.version)),
        key=KEY,
        bind="query-params",
        width=260,
    )


def _draw_notes(found: SinceVersion) -> None:
    """What the comparison rests on."""
    led = dict(found.versions)[found.version]
    said = [
        tr_n(
            "{n:,} decision on disputes led to this version.",
            "{n:,} decisions on disputes led to this version.",
            led,
        )
        if led
        else tr("No decision on disputes is named as having led to this version."),
        tr(
            "Before: pairs judged wholly under earlier versions. Since: pairs judged wholly under this one or later ones."
        ),
    ]
    if found.between:
        said.append(
            tr_n(
                "{n:,} pair judged partly before and partly since is on neither side.",
                "{n:,} pairs judged partly before and partly since are on neither side.",
                found.between,
            )
        )
    if found.unknown:
        said.append(
            tr_n(
                "{n:,} pair with a judgment from a file is on neither side: nobody knows the guideline that it was made under.",
                "{n:,} pairs with judgments from files are on neither side: nobody knows the guideline that these were made under.",
                found.unknown,
            )
        )
    said.append(
        tr(
            "They are different pairs: a difference may also come from easier or harder ones. Lines: 95 % intervals. Hollow: too few to say much."
        )
    )
    if found.simulated:
        said.append(tr("Simulated judgments are included."))
    draw_note(join_sentences(said))


def _draw_table(found: SinceVersion) -> None:
    label = tr("Before and since as a table")
    shown = st.expander(label, key="table-since", on_change="rerun")
    if shown.open:
        with shown:
            rows = list_since_rows(found)
            columns = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
            draw_link_table(
                label, columns, [[_show(row[name]) for name in columns] for row in rows], roomy=True
            )
    if not list_points(found):  # otherwise it stands below the chart
        draw_file_link(tr("Numbers as CSV"), list_since_address(found.dataset, found.version))


def _show(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
