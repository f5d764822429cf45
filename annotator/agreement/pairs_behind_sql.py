"""Find and read the pairs behind a figure of agreement.

Counts what `agreement/service.py` counts. Queries start from what is selective: the named annotators' judgments, else
the group's pairs, else all; only one page of pairs is read in full. Annotators appear under the pair's letters unless
the reader asked for them by name. The caller notes what was shown (`storage/disclosures.py`). Pairs of failed checks
come from `labeling/calibration_sql.py`. Raises ValidationError for an unknown person, group or kind.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.grades_sql import DOCUMENT, read_document_labels, read_query_labels
from annotator.agreement.records import PairBehind, PairSelection
from annotator.domain.errors import ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.messages import Message, say
from annotator.domain.shuffling import give_letters, name_checker
from annotator.labeling.calibration_sql import list_check_answers, list_repeats
from annotator.storage.disclosures import LISTED
from annotator.storage.lookup import find_person, key_of
from annotator.storage.pair_states import PairState, list_pair_states
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables import DocumentRow, PersonRow, QueryRow

_COUNTS = "{c}.dataset_pk = :dataset_pk AND {c}.purpose = 'independent' AND {c}.outcome = 'graded'"
_ALL = """
SELECT c.pair_pk, max(c.grade) - min(c.grade) AS distance FROM {places}current_judgment c
WHERE {counts_c}{within} GROUP BY c.pair_pk HAVING count(*) >= {least}"""
_OF_ONE = """
SELECT a.pair_pk, max(c.grade) - min(c.grade) AS distance FROM current_judgment a CROSS JOIN current_judgment c
WHERE {counts_a} AND a.annotator_pk = :first AND c.pair_pk = a.pair_pk AND {counts_c}{within}
GROUP BY a.pair_pk, a.grade HAVING count(*) >= {least}"""
_OF_TWO = """
SELECT a.pair_pk, abs(a.grade - c.grade) AS distance FROM current_judgment a CROSS JOIN current_judgment c
WHERE {counts_a} AND a.annotator_pk = :first
  AND c.pair_pk = a.pair_pk AND c.annotator_pk = :second AND {counts_c}{within}"""
_QUICK = """
SELECT a.pair_pk, coalesce((SELECT max(c.grade) - min(c.grade) FROM current_judgment c WHERE c.pair_pk = a.pair_pk
  AND {counts_c}), 0) AS distance FROM current_judgment a
WHERE {counts_a} AND a.annotator_pk = :first AND a.seconds > 0 AND a.seconds < :below{within}"""
_PAGE = """
SELECT f.pair_pk, f.distance, count(*) OVER () FROM ({found}) f JOIN pair p ON p.pk = f.pair_pk JOIN query q ON q.pk = p.query_pk
WHERE p.retired_at IS NULL ORDER BY f.distance DESC, q.position, f.pair_pk LIMIT :limit OFFSET :offset"""
_COUNT = "SELECT count(*) FROM ({found}) f JOIN pair p ON p.pk = f.pair_pk WHERE p.retired_at IS NULL"
_SECONDS = f"""
SELECT a.seconds FROM current_judgment a
WHERE {_COUNTS.format(c="a")} AND a.annotator_pk = :first AND a.seconds IS NOT NULL"""
_OF_VERSIONS = """
SELECT w.pair_pk FROM current_judgment w JOIN rubric r ON r.pk = w.rubric_pk WHERE {counts}
GROUP BY w.pair_pk HAVING min(CASE WHEN w.imported = 0 THEN r.version ELSE 0 END) = :version_low
  AND (max(r.version) = :version_high OR :version_low = 0)"""
_UNTIMED = """
SELECT w.pair_pk FROM current_judgment w WHERE {counts}
GROUP BY w.pair_pk HAVING sum(CASE WHEN w.imported < 2 THEN 1 ELSE 0 END) < 2"""
_IN_SPAN = (
    "sum(CASE WHEN {c}.imported < 2 AND {c}.made_at < :begin_{at} THEN 1 ELSE 0 END) < 2 "
    "AND sum(CASE WHEN {c}.imported < 2 AND {c}.made_at <= :end_{at} THEN 1 ELSE 0 END) >= 2"
)
_OF_SPAN = f"""
SELECT w.pair_pk FROM current_judgment w WHERE {{counts}} GROUP BY w.pair_pk HAVING {_IN_SPAN.format(c="w", at="{at}")}"""


class PairDistance(NamedTuple):
    """A pair that was selected, and how far apart its grades are."""

    pair_pk: int
    distance: int


@dataclass(frozen=True, slots=True)
class PairGroup:
    """What keeps to a group; nothing: all pairs. `queries`, `documents`: its keys. `versions`: the first and the last
    guideline that a pair was judged under, 0 where that is not known of all its judgments. `untimed`: it is not known when
    it was judged a second time. `spans`: in each of them it was judged a second time; the first and the last
    second, since 1970."""

    queries: Collection[int] | None = None
    documents: Collection[int] | None = None
    versions: tuple[int, int] | None = None
    untimed: bool = False
    spans: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class SelectionKeys:
    """A selection in keys. `annotators`: none, one or two. `below`: only the first annotator's judgments that took fewer
    seconds, whether anybody else judged the pair or not. `given`: likewise only those with this grade, of the first
    annotator or of anybody. `without`: whose judgments do not count."""

    dataset_pk: int
    annotators: tuple[int, ...] = ()
    grades: tuple[int, int] | None = None
    differing: bool = False
    below: float | None = None
    given: int | None = None
    group: PairGroup = PairGroup()
    without: tuple[int, ...] = ()


def find_behind(
    session: Session, wanted: SelectionKeys, *, limit: int | None, offset: int = 0
) -> tuple[int, list[PairDistance]]:
    """How many pairs there are, and some of them in order: furthest apart first, then in the queries' order."""
    found, values = _write_found(session, wanted)
    many = -1 if limit is None and _is_sqlite(session) else limit
    rows = session.execute(text(_PAGE.format(found=found)), {**values, "limit": many, "offset": offset}).all()
    if rows:
        return rows[0][2], [PairDistance(pair_pk, distance) for pair_pk, distance, _ in rows]
    return session.execute(text(_COUNT.format(found=found)), values).scalar_one() if offset else 0, []


def list_seconds(session: Session, dataset_pk: int, annotator_pk: int) -> list[float]:
    """What each of the annotator's judgments that count took, where that is known."""
    rows = session.execute(text(_SECONDS), {"dataset_pk": dataset_pk, "first": annotator_pk})
    return [round(seconds, 2) for (seconds,) in rows]


def _write_found(session: Session, wanted: SelectionKeys) -> tuple[str, dict[str, Any]]:
    """The statement of pair_pk and distance, and its values."""
    counts = {f"counts_{name}": _COUNTS.format(c=name) for name in ("a", "c")}
    values: dict[str, Any] = {"dataset_pk": wanted.dataset_pk}
    values.update(zip(("first", "second"), wanted.annotators, strict=False))
    if wanted.without:
        values["without"] = json.dumps(sorted(wanted.without))
        listed = LISTED[session.get_bind().dialect.name].format(name="without")
        counts["counts_c"] += f" AND c.annotator_pk NOT IN {listed}"
    subject = "c" if not wanted.annotators else "a"
    within, places = _write_within(session, wanted, subject, values)
    if wanted.below is not None:
        values["below"] = wanted.below
        return _QUICK.format(**counts, within=within), values
    if wanted.grades is not None:
        values.update(zip(("low", "high"), wanted.grades, strict=True))
    kind = min(len(wanted.annotators), 2)
    least = 2 if wanted.given is None else 1
    statement = (_ALL, _OF_ONE, _OF_TWO)[kind].format(**counts, within=within, places=places, least=least)
    conditions = [_GRADES_MET[kind]] if wanted.grades is not None and not _is_twice(wanted) else []
    conditions += [_GRADE_TWICE[kind]] if _is_twice(wanted) else []
    conditions += [_DIFFER[kind]] if wanted.differing else []
    if wanted.given is not None:
        values["given"] = wanted.given
        conditions.append(_GIVEN[kind])
    if kind < 2:  # each pair's judgments are at hand: no need to look for them again
        conditions += [_IN_SPAN.format(c="c", at=at) for at in range(len(wanted.group.spans))]
    return statement + "".join(f" AND ({condition})" for condition in conditions), values


_DIFFER = ("min(c.grade) < max(c.grade)", "min(c.grade) < max(c.grade)", "a.grade <> c.grade")
_GIVEN = ("sum(CASE WHEN c.grade = :given THEN 1 ELSE 0 END) > 0", "a.grade = :given", "a.grade = :given")
_GIVEN_BY_OTHERS = "sum(CASE WHEN c.annotator_pk <> :first AND c.grade = :{name} THEN 1 ELSE 0 END) > 0"
_GRADES_MET = (
    (
        "sum(CASE WHEN c.grade = :low THEN 1 ELSE 0 END) > 0 AND sum(CASE WHEN c.grade = :high THEN 1 ELSE 0 END) > 0"
    ),
    (
        f"a.grade = :low AND {_GIVEN_BY_OTHERS.format(name='high')} "
        f"OR a.grade = :high AND {_GIVEN_BY_OTHERS.format(name='low')}"
    ),
    "a.grade = :low AND c.grade = :high",
)
_GRADE_TWICE = (
    "sum(CASE WHEN c.grade = :low THEN 1 ELSE 0 END) > 1 AND :low = :high",
    f"a.grade = :low AND {_GIVEN_BY_OTHERS.format(name='high')}",
    _GRADES_MET[2],
)


def _is_twice(wanted: SelectionKeys) -> bool:
    return wanted.grades is not None and wanted.grades[0] == wanted.grades[1]


def _write_within(
    session: Session, wanted: SelectionKeys, subject: str, values: dict[str, Any]
) -> tuple[str, str]:
    """The condition that keeps to a group, and what the search for all pairs then begins at."""
    within = places = ""
    for name, column, chosen in (
        ("queries", "query_pk", wanted.group.queries),
        ("documents", "document_pk", wanted.group.documents),
    ):
        if chosen is None:
            continue
        values[name] = json.dumps(sorted(chosen))
        listed = LISTED[session.get_bind().dialect.name].format(name=name)
        if subject == "c":
            places = "pair g CROSS JOIN "
            within += f" AND g.{column} IN {listed} AND c.pair_pk = g.pk"
        else:
            within += f" AND EXISTS (SELECT 1 FROM pair g WHERE g.pk = a.pair_pk AND g.{column} IN {listed})"
    counts = _COUNTS.format(c="w")
    if wanted.group.versions is not None:
        values.update(zip(("version_low", "version_high"), wanted.group.versions, strict=True))
        within += f" AND {subject}.pair_pk IN ({_OF_VERSIONS.format(counts=counts)})"
    if wanted.group.untimed:
        within += f" AND {subject}.pair_pk IN ({_UNTIMED.format(counts=counts)})"
    for at, span in enumerate(wanted.group.spans):
        values.update(zip((f"begin_{at}", f"end_{at}"), span, strict=True))
        if len(wanted.annotators) == 2 or wanted.below is not None:
            within += f" AND {subject}.pair_pk IN ({_OF_SPAN.format(counts=counts, at=at)})"
    return within, places


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"


DETAILED_AT_ONCE = 400
CASES = ("disagreement", "adjudicated", "reopened")
_GRADES = """
SELECT c.pair_pk, c.annotator_pk, c.grade FROM current_judgment c
WHERE c.pair_pk IN {pairs} AND c.purpose = 'independent' AND c.outcome <> 'later'"""
_CHECKED = """
SELECT x.pair_pk, j.annotator_pk FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk
WHERE x.pair_pk IN {pairs} AND x.outcome IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class PairReader:
    """For whom pairs are described. `person_pk` None: the operator, who sees every name. `named`: the usernames that the
    reader asked for; `hidden`: pairs of which nothing is told; `seed`: the dataset's, by which letters are given."""

    person_pk: int | None
    named: Collection[str]
    hidden: Collection[int]
    seed: int


def sort_found(session: Session, dataset_pk: int, found: Collection[PairDistance]) -> list[PairDistance]:
    """The same order for pairs that were found otherwise; those that have left the pool are left out."""
    states = list_pair_states(session, dataset_pk, [one.pair_pk for one in found])
    places = {state.pair_pk: place for place, state in enumerate(states)}
    return sorted(
        (one for one in found if one.pair_pk in places), key=lambda one: (-one.distance, places[one.pair_pk])
    )


def show_behind(
    session: Session,
    dataset_pk: int,
    reader: PairReader,
    found: Sequence[PairDistance],
    notes: Mapping[int, Message],
) -> list[PairBehind]:
    """These pairs in full, in their order; of the hidden ones nothing."""
    shown: list[PairBehind] = []
    for some in split_into_chunks(found, DETAILED_AT_ONCE):
        pks = [one.pair_pk for one in some if one.pair_pk not in reader.hidden]
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        grades = _list_grades(session, reader, {state.pair_pk: state.key for state in states.values()})
        texts = _list_texts(session, states.values())
        shown += [
            _hide(one)
            if one.pair_pk in reader.hidden
            else _show(states[one.pair_pk], one, grades.get(one.pair_pk, ()), texts, notes.get(one.pair_pk))
            for one in some
            if one.pair_pk in states or one.pair_pk in reader.hidden
        ]
    return shown


def _show(
    state: PairState,
    found: PairDistance,
    grades: Sequence[tuple[str, int]],
    texts: Mapping[tuple[str, int], str],
    note: Message | None,
) -> PairBehind:
    status = state.settlement.status
    return PairBehind(
        state.key,
        state.query_id,
        texts["query", state.query_pk],
        state.doc_id,
        texts["document", state.document_pk],
        tuple(sorted(grades)),
        found.distance,
        status,
        status in CASES,
        note,
    )


def _hide(found: PairDistance) -> PairBehind:
    return PairBehind("", "", "", "", "", (), found.distance, "", False, hidden=True)


def _list_grades(
    session: Session, reader: PairReader, keys: Mapping[int, str]
) -> dict[int, list[tuple[str, int]]]:
    """By pair_pk who gave which grade. `keys`: of the pairs, by pair_pk."""
    rows = _run(session, _GRADES, keys)
    checked = [] if reader.person_pk is None else _run(session, _CHECKED, keys)
    people = {row[1] for row in (*rows, *checked)}
    named = select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people))
    names = {key_of(pk): username for pk, username in session.execute(named)}
    letters = {} if reader.person_pk is None else _give_letters(reader, keys, rows, checked, names)
    found: dict[int, list[tuple[str, int]]] = {}
    for pair_pk, person, grade in rows:
        name = names[person]
        if grade is not None:
            told = name if pair_pk not in letters or name in reader.named else letters[pair_pk][name]
            found.setdefault(pair_pk, []).append((told, grade))
    return found


def _give_letters(
    reader: PairReader,
    keys: Mapping[int, str],
    judged: Sequence[Any],
    checked: Sequence[Any],
    names: Mapping[int, str],
) -> dict[int, dict[str, str]]:
    """By pair_pk the letters of its case (`adjudication/case.py`)."""
    people: dict[int, set[str]] = {pair_pk: set() for pair_pk in keys}
    for pair_pk, person, _ in judged:
        people[pair_pk].add(names[person])
    for pair_pk, person in checked:
        people[pair_pk].add(name_checker(names[person]))
    return {pk: give_letters(found, seed=reader.seed, pair=keys[pk]) for pk, found in people.items()}


def _list_texts(session: Session, states: Collection[PairState]) -> dict[tuple[str, int], str]:
    """The texts of queries and the titles of documents."""
    found: dict[tuple[str, int], str] = {}
    queries = select(col(QueryRow.pk), col(QueryRow.text)).where(
        col(QueryRow.pk).in_({state.query_pk for state in states})
    )
    documents = select(col(DocumentRow.pk), col(DocumentRow.title)).where(
        col(DocumentRow.pk).in_({state.document_pk for state in states})
    )
    for kind, statement in (("query", queries), ("document", documents)):
        found.update(((kind, pk), told) for pk, told in session.execute(statement) if pk is not None)
    return found


def _run(session: Session, statement: str, pair_pks: Collection[int]) -> Sequence[Any]:
    listed = LISTED[session.get_bind().dialect.name].format(name="pairs")
    return session.execute(
        text(statement.format(pairs=listed)), {"pairs": json.dumps(sorted(pair_pks))}
    ).all()


CHECKS = ("repeat", "gold")
KINDS = ("shared", "differing", "given", *CHECKS, "quick")
LimitQuick = Callable[[Sequence[float]], float | None]
"""Below how many seconds a judgment of whoever took these seconds is suspiciously quick; None: that is not known."""


@dataclass(frozen=True, slots=True)
class SelectedPairs:
    """How many pairs a selection has; some of them, or all; what is said of them besides, by pair_pk; and the annotators
    (usernames) that it names."""

    total: int
    found: Sequence[PairDistance]
    notes: Mapping[int, Message]
    named: tuple[str, ...]


def find_selected(
    session: Session,
    dataset_pk: int,
    selection: PairSelection,
    *,
    limit: int | None,
    offset: int = 0,
    limit_quick: LimitQuick,
) -> SelectedPairs:
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
        return SelectedPairs(len(found), found[offset:][:limit], notes, names)
    below = None
    if selection.kind == "quick":
        below = limit_quick(list_seconds(session, dataset_pk, annotators[0]))
        if below is None:
            return SelectedPairs(0, (), {}, names)
    group = _find_group(session, dataset_pk, selection.by, selection.value)
    if selection.span is not None:
        group = replace(group, spans=(*group.spans, selection.span))
    differing = selection.kind == "differing"
    wanted = SelectionKeys(
        dataset_pk, annotators, selection.grades, differing, below, selection.grade, group, without
    )
    return SelectedPairs(*find_behind(session, wanted, limit=limit, offset=offset), {}, names)


def check_selection(selection: PairSelection) -> None:
    """ValidationError when it says nothing that could be found."""
    if selection.kind not in KINDS:
        raise ValidationError(
            say("pairs: expected one of {kinds}, found {kind!r}", kinds=", ".join(KINDS), kind=selection.kind)
        )
    if selection.kind in (*CHECKS, "quick") and len(selection.annotators) != 1:
        raise ValidationError(
            say("these pairs are one annotator's: expected one name, found {n}", n=len(selection.annotators))
        )
    if selection.kind == "given" and (len(selection.annotators) > 1 or selection.grade is None):
        raise ValidationError(say("these pairs have one grade: expected a grade and at most one name"))
    if len(selection.annotators) > 2:
        raise ValidationError(
            say("expected two annotators at the most, found {n}", n=len(selection.annotators))
        )
    grades = (*(selection.grades or ()), *([] if selection.grade is None else [selection.grade]))
    if not set(grades) <= set(GRADES):
        raise ValidationError(
            say("expected grades from 0 to 3, found {grades}", grades=", ".join(map(str, grades)))
        )


def _list_checks(
    session: Session, dataset_pk: int, annotator_pk: int, kind: str
) -> dict[PairDistance, Message]:
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
        PairDistance(pair_pk, _measure_distance(before, given)): _say_answers(kind, before, given)
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


def _find_group(session: Session, dataset_pk: int, by: str | None, value: str | None) -> PairGroup:
    """What keeps to the group, by the rules of `agreement/judgment_table.py`."""
    if by is None or by == "annotator":
        return PairGroup()
    if by == "guideline_version" and value is None:
        return PairGroup(versions=(0, 0))
    if by == "guideline_version":
        low, _, high = (value or "").partition("–")
        return PairGroup(versions=(int(low), int(high or low))) if low.isdecimal() else PairGroup(queries=())
    if by == "week":
        return PairGroup(untimed=True) if value is None else PairGroup(spans=(_find_week(value),))
    if by.startswith(DOCUMENT):
        _pairs, attributes = read_document_labels(session, dataset_pk, by)
        return PairGroup(documents=[pk for pk, label in attributes.items() if label == value])
    labels = read_query_labels(session, dataset_pk, by)
    return PairGroup(queries=[pk for pk, label in labels.items() if label == value])


def _find_week(name: str) -> tuple[int, int]:
    """The first and the last second of an ISO week ("2026-W09"), since 1970, UTC."""
    try:
        begin = datetime.strptime(f"{name}-1 +0000", "%G-W%V-%u %z")
    except ValueError:
        raise ValidationError(say("expected a week like 2026-W09, found {name!r}", name=name)) from None
    return int(begin.timestamp()), int((begin + timedelta(weeks=1)).timestamp()) - 1
