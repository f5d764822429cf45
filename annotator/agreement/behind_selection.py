"""From a `Selection`, as an address says it, to its pairs: who and which group is meant, and what checks say.

Reads by `agreement/behind_search.py`; a check's pairs come from `labeling/calibration_sql.py`. Refuses a person, a group or a kind that
there is not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.agreement.behind_search import Found, Group, Wanted, find_behind, list_seconds
from annotator.agreement.groupings import DOCUMENT, read_document_labels, read_query_labels
from annotator.agreement.pairs_behind_sql import sort_found
from annotator.agreement.records import Selection
from annotator.domain.errors import ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.messages import Message, say
from annotator.labeling.calibration_sql import list_check_answers, list_repeats
from annotator.storage.lookup import find_person, key_of

CHECKS = ("repeat", "gold")
KINDS = ("shared", "differing", "given", *CHECKS, "quick")
LimitQuick = Callable[[Sequence[float]], float | None]
"""Below how many seconds a judgment of whoever took these seconds is suspiciously quick; None: that is not known."""


@dataclass(frozen=True, slots=True)
class Selected:
    """How many pairs a selection has; some of them, or all; what is said of them besides, by pair_pk; and the annotators
    (usernames) that it names."""

    total: int
    found: Sequence[Found]
    notes: Mapping[int, Message]
    named: tuple[str, ...]


def find_selected(
    session: Session,
    dataset_pk: int,
    selection: Selection,
    *,
    limit: int | None,
    offset: int = 0,
    limit_quick: LimitQuick,
) -> Selected:
    """The selection's pairs from `offset` on; `limit` None: all of them."""
    check_selection(selection)
    names = selection.annotators
    if selection.by == "annotator" and selection.value is not None:
        names = (*names, selection.value)
    names = tuple(dict.fromkeys(names))
    annotators = tuple(key_of(find_person(session, name).pk) for name in names)
    without = tuple(key_of(find_person(session, name).pk) for name in selection.without)
    names = tuple(dict.fromkeys((*names, *selection.without)))
    if selection.kind in CHECKS:
        checks = _list_checks(session, dataset_pk, annotators[0], selection.kind)
        found = sort_found(session, dataset_pk, list(checks))
        notes = {one.pair_pk: note for one, note in checks.items()}
        return Selected(len(found), found[offset:][:limit], notes, names)
    below = None
    if selection.kind == "quick":
        below = limit_quick(list_seconds(session, dataset_pk, annotators[0]))
        if below is None:
            return Selected(0, (), {}, names)
    group = _find_group(session, dataset_pk, selection.by, selection.value)
    if selection.span is not None:
        group = replace(group, spans=(*group.spans, selection.span))
    differing = selection.kind == "differing"
    wanted = Wanted(
        dataset_pk, annotators, selection.grades, differing, below, selection.grade, group, without
    )
    return Selected(*find_behind(session, wanted, limit=limit, offset=offset), {}, names)


def check_selection(selection: Selection) -> None:
    """ValidationError when it says nothing that could be found."""
    if selection.kind not in KINDS:
        raise ValidationError(say("pairs: expected one of {kinds}, found {kind!r}", kinds=", ".join(KINDS), kind=selection.kind))  # fmt: skip
    if selection.kind in (*CHECKS, "quick") and len(selection.annotators) != 1:
        raise ValidationError(say("these pairs are one annotator's: expected one name, found {n}", n=len(selection.annotators)))  # fmt: skip
    if selection.kind == "given" and (len(selection.annotators) > 1 or selection.grade is None):
        raise ValidationError(say("these pairs have one grade: expected a grade and at most one name"))  # fmt: skip
    if len(selection.annotators) > 2:
        raise ValidationError(say("expected two annotators at the most, found {n}", n=len(selection.annotators)))  # fmt: skip
    grades = (*(selection.grades or ()), *([] if selection.grade is None else [selection.grade]))
    if not set(grades) <= set(GRADES):
        raise ValidationError(say("expected grades from 0 to 3, found {grades}", grades=", ".join(map(str, grades))))  # fmt: skip


def _list_checks(session: Session, dataset_pk: int, annotator_pk: int, kind: str) -> dict[Found, Message]:
    """The pairs that this annotator answered otherwise than before, or otherwise than is right, with both answers."""
    answers: dict[int, tuple[int | None, int | None]] = {}
    if kind == "repeat":
        repeats = list_repeats(session, dataset_pk, annotator_pk)
        answers = {pair_pk: both for (_annotator, pair_pk), both in repeats.items()}
    else:
        for one in list_check_answers(session, dataset_pk, annotator_pk):
            if one.kind == "gold":
                answers[one.pair_pk] = (one.right, one.given)
    return {
        Found(pair_pk, _measure_distance(before, given)): _say_answers(kind, before, given)
        for pair_pk, (before, given) in answers.items()
        if before != given
    }


def _measure_distance(before: int | None, given: int | None) -> int:
    return 0 if before is None or given is None else abs(before - given)


def _say_answers(kind: str, before: int | None, given: int | None) -> Message:
    named = {"before": _name(before), "given": _name(given)}
    if kind == "gold":
        return say("right: {before}, given: {given}", **named)
    return say("first {before}, then {given}", **named)


def _name(grade: int | None) -> str:
    return say("unrateable") if grade is None else str(grade)


def _find_group(session: Session, dataset_pk: int, by: str | None, value: str | None) -> Group:
    """What keeps to the group, by the rules of `agreement/groups.py`."""
    if by is None or by == "annotator":
        return Group()
    if by == "guideline_version" and value is None:
        return Group(versions=(0, 0))
    if by == "guideline_version":
        low, _, high = (value or "").partition("–")
        return Group(versions=(int(low), int(high or low))) if low.isdecimal() else Group(queries=())
    if by == "week":
        return Group(untimed=True) if value is None else Group(spans=(_find_week(value),))
    if by.startswith(DOCUMENT):
        _pairs, attributes = read_document_labels(session, dataset_pk, by)
        return Group(documents=[pk for pk, label in attributes.items() if label == value])
    labels = read_query_labels(session, dataset_pk, by)
    return Group(queries=[pk for pk, label in labels.items() if label == value])


def _find_week(name: str) -> tuple[int, int]:
    """The first and the last second of an ISO week ("2026-W09"), since 1970, UTC."""
    try:
        begin = datetime.strptime(f"{name}-1 +0000", "%G-W%V-%u %z")
    except ValueError:
        raise ValidationError(say("expected a week like 2026-W09, found {name!r}", name=name)) from None
    return int(begin.timestamp()), int((begin + timedelta(weeks=1)).timestamp()) - 1
