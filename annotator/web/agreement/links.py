"""Write and read the addresses of the agreement page: selections of pairs as parameters and links.

`?pairs=shared&who=ann&who=花子&grades=1-2&of=category&is=設定`: without `pairs`, nothing is selected; without
`is`, the pairs without a value. `?pairs=given&who=ann&grade=2`: one grade of one annotator. `without=bob`:
bob's judgments do not count. `when=2026-03-02T08:00:00Z/2026-03-08T17:30:00Z`: a span of time. Links are
plain HTML, for mouse and keyboard.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

import streamlit as st

from annotator.agreement.records import AgreementReport, PairSelection, Span
from annotator.domain.grades import GRADES
from annotator.domain.messages import join
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr
from annotator.web.kit.tables import write_link
from annotator.web.kit.words import find_username, name_field
from annotator.web.navigation import make_url

KINDS = ("shared", "differing", "given", "repeat", "gold", "quick")
NAMES = ("pairs", "who", "without", "grades", "grade", "when", "of", "is", "from")
MOST_NAMED = 3
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
GRADE_WORDS = tuple(map(str, GRADES))
Parameters = list[tuple[str, str]]


def list_parameters(selection: PairSelection) -> Parameters:
    parameters = [("pairs", selection.kind), *(("who", find_username(name)) for name in selection.annotators)]
    parameters += [("without", find_username(name)) for name in selection.without]
    if selection.grades is not None:
        parameters.append(("grades", "-".join(map(str, selection.grades))))
    if selection.grade is not None:
        parameters.append(("grade", str(selection.grade)))
    if selection.span is not None:
        parameters.append(("when", "/".join(f"{_moment(second):{MOMENT}}" for second in selection.span)))
    if selection.by is not None:
        parameters.append(("of", selection.by))
        parameters += [("is", find_username(selection.value))] if selection.value is not None else []
    return parameters


def read_selection(parameters: Parameters) -> PairSelection | None:
    """Return the selection in an address; None without one, or with an unknown kind of pairs."""
    by_name = dict(parameters)
    kind = by_name.get("pairs")
    if kind not in KINDS:
        return None
    return PairSelection(
        kind,  # type: ignore[arg-type]
        tuple(value for name, value in parameters if name == "who"),
        _read_grades(by_name.get("grades")),
        by_name.get("of"),
        by_name.get("is"),
        int(by_name["grade"]) if by_name.get("grade") in GRADE_WORDS else None,
        _read_span(by_name.get("when")),
        tuple(value for name, value in parameters if name == "without"),
    )


def find_selection() -> PairSelection | None:
    """Return the selection in the address of this run; None if there is none."""
    return read_selection([(name, value) for name in NAMES for value in st.query_params.get_all(name)])


def make_page_url(dataset: str, selection: PairSelection) -> str:
    return make_url("/agreement", list_parameters(selection), dataset=dataset)


def go_to(selection: PairSelection) -> None:
    """Show the list of these pairs from the next run on.

    Sets the whole address at once, because each change of it is a step of the browser's Back button.
    """
    for name in NAMES:
        st.query_params.pop(name, None)
    note_press()
    parameters = list_parameters(selection)
    st.query_params.update(
        {name: [value for key, value in parameters if key == name] for name, _ in parameters}
    )


def describe_selection(selection: PairSelection) -> str:
    sentence = _describe_kind(selection, selection.annotators)
    if selection.without:
        sentence = tr("{pairs}; without {people}", pairs=sentence, people=_name_some(selection.without))
    if selection.span is not None:
        first, last = _show_span(selection.span)
        sentence = tr(
            "{pairs}; second judgment from {first} to {last} (UTC)",
            pairs=sentence,
            first=first,
            last=last,
        )
    if selection.by is None:
        return sentence
    value = selection.value if selection.value is not None else tr("(none)")
    return tr("{pairs}; {field}: {value}", pairs=sentence, field=name_field(selection.by), value=value)


FIRST_GROUPING, TOO_MANY = "category", "dataset with too many categories"


def find_first_grouping(dataset: str, fields: Sequence[str]) -> str | None:
    """Return the field by which the page groups at first; None if it is missing or has too many values."""
    if st.session_state.get(TOO_MANY) == dataset:
        return None
    return FIRST_GROUPING if FIRST_GROUPING in fields else None


def _name_some(people: Sequence[str]) -> str:
    named = tr(join(people[:MOST_NAMED]))
    if len(people) <= MOST_NAMED:
        return named
    return tr("{named} and {n} more", named=named, n=len(people) - MOST_NAMED)


def _describe_kind(selection: PairSelection, people: Sequence[str]) -> str:
    first = people[0] if people else ""
    if selection.kind == "repeat":
        return tr("Pairs on which the second judgment of {name} differs from the first", name=first)
    if selection.kind == "gold":
        return tr("Gold pairs that {name} judged incorrectly", name=first)
    if selection.kind == "quick":
        return tr("Pairs that {name} judged unusually fast", name=first)
    if selection.kind == "given" and people:
        return tr("Pairs graded {grade} by {name}", name=first, grade=_show_grade(selection.grade))
    if selection.kind == "given":
        return tr("Pairs graded {grade} by at least one annotator", grade=_show_grade(selection.grade))
    if selection.grades is not None:
        return _describe_grades(people, *selection.grades)
    differing = selection.kind == "differing"
    if not people:
        if differing:
            return tr("Pairs graded differently")
        return tr("Pairs judged by two or more annotators")
    if len(people) == 1:
        if differing:
            return tr("Pairs graded differently by {name} and others", name=first)
        return tr("Pairs judged by {name} and others", name=first)
    if differing:
        return tr("Pairs graded differently by {first} and {second}", first=first, second=people[1])
    return tr("Pairs judged by both {first} and {second}", first=first, second=people[1])


def _describe_grades(people: Sequence[str], low: int, high: int) -> str:
    if not people:
        return tr("Pairs graded both {low} and {high}", low=low, high=high)
    if len(people) == 1:
        return tr(
            "Pairs graded {low} by {name} and {high} by others, or the reverse",
            low=low,
            high=high,
            name=people[0],
        )
    return tr(
        "Pairs graded {low} by {first} and {high} by {second}",
        first=people[0],
        low=low,
        second=people[1],
        high=high,
    )


def _read_grades(parameter: str | None) -> tuple[int, int] | None:
    low, _, high = (parameter or "").partition("-")
    return (int(low), int(high)) if low in GRADE_WORDS and high in GRADE_WORDS else None


def _read_span(parameter: str | None) -> Span | None:
    first, _, last = (parameter or "").partition("/")
    try:
        begin, end = (
            int(datetime.strptime(f"{part}+0000", f"{MOMENT}%z").timestamp()) for part in (first, last)
        )
    except ValueError:
        return None
    return begin, end


def _show_span(span: Span) -> tuple[str, str]:
    """Return the first and the last day (UTC); within one day with the times of day."""
    first, last = map(_moment, span)
    shown = "%Y-%m-%d" if first.date() != last.date() else "%Y-%m-%d %H:%M"
    return f"{first:{shown}}", f"{last:{shown}}"


def _show_grade(grade: int | None) -> str:
    return "?" if grade is None else str(grade)


def _moment(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def draw_sentence(dataset: str, sentence: str, pairs: PairSelection | None) -> None:
    link = ""
    if pairs is not None:
        label = tr("Show pairs")
        link = " " + write_link(label, make_page_url(dataset, pairs), says=f"{label}: {sentence}")
    st.html(f'<p class="annotator-step">{escape(sentence)}{link}</p>')


def find_shown(report: AgreementReport, shown: object) -> str:
    """Return the username of the annotator with this display name."""
    return next((find_username(name) for name in report.annotators if name == shown), str(shown))
