"""Finds the pairs behind a figure of agreement, and what a lead may read of them.

What counts is what `agreement/service.py` counts: current independent grades on pairs of the pool. Reads begin at what is
selective: the judgments of the annotators that are named, else the pairs of the group, else all. Only a page of pairs is
read in full.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.behind import PairBehind
from annotator.domain.messages import Message
from annotator.storage.bulk import split
from annotator.storage.pairs import PairState, list_pair_states
from annotator.storage.tables import DocumentRow, PersonRow, QueryRow

DETAILED_AT_ONCE = 400
CASES = ("disagreement", "adjudicated", "reopened")
_COUNTS = "{c}.dataset_pk = :dataset_pk AND {c}.purpose = 'independent' AND {c}.outcome = 'graded'"
_ALL = """
SELECT c.pair_pk, max(c.grade) - min(c.grade) AS distance FROM {places}current_judgment c
WHERE {counts_c}{within} GROUP BY c.pair_pk HAVING count(*) >= 2"""
_OF_ONE = """
SELECT a.pair_pk, max(c.grade) - min(c.grade) AS distance FROM current_judgment a CROSS JOIN current_judgment c
WHERE {counts_a} AND a.annotator_pk = :first AND c.pair_pk = a.pair_pk AND {counts_c}{within}
GROUP BY a.pair_pk, a.grade HAVING count(*) >= 2"""
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
_LIST = {
    "sqlite": "(SELECT value FROM json_each(:{name}))",
    "postgresql": "(SELECT CAST(value AS INTEGER) FROM json_array_elements_text(CAST(:{name} AS JSON)))",
}
_SECONDS = f"""
SELECT a.seconds FROM current_judgment a
WHERE {_COUNTS.format(c="a")} AND a.annotator_pk = :first AND a.seconds IS NOT NULL"""
_GRADES = """
SELECT c.pair_pk, c.annotator_pk, c.grade FROM current_judgment c
WHERE c.pair_pk IN {pairs} AND c.purpose = 'independent' AND c.outcome = 'graded'"""
_TO_JUDGE = """
SELECT p.pk FROM pair p WHERE p.pk IN {pairs}
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :person_pk)
  AND (p.lacking > 0 AND NOT EXISTS (SELECT 1 FROM current_judgment c
      WHERE c.pair_pk = p.pk AND c.annotator_pk = :person_pk AND c.outcome <> 'later')
    OR EXISTS (SELECT 1 FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk
      WHERE x.pair_pk = p.pk AND w.annotator_pk = :person_pk AND x.outcome IS NULL))"""


_OF_VERSIONS = """
SELECT w.pair_pk FROM current_judgment w JOIN rubric r ON r.pk = w.rubric_pk WHERE {counts}
GROUP BY w.pair_pk HAVING min(r.version) = :version_low AND max(r.version) = :version_high"""
_OF_WEEK = """
SELECT w.pair_pk FROM current_judgment w WHERE {counts} GROUP BY w.pair_pk
HAVING sum(CASE WHEN w.made_at < :week_begin THEN 1 ELSE 0 END) < 2
  AND sum(CASE WHEN w.made_at < :week_end THEN 1 ELSE 0 END) >= 2"""


class Found(NamedTuple):
    """A pair that was selected, and how far apart its grades are."""

    pair_pk: int
    distance: int


@dataclass(frozen=True, slots=True)
class Group:
    """What keeps to a group; nothing: all pairs. `queries`, `documents`: its keys. `versions`: the first and the last
    guideline that a pair was judged under. `week`: from when to when it was judged a second time, in seconds since 1970."""

    queries: Collection[int] | None = None
    documents: Collection[int] | None = None
    versions: tuple[int, int] | None = None
    week: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A selection in keys. `annotators`: none, one or two. `below`: only the first annotator's judgments that took fewer
    seconds, whether anybody else judged the pair or not."""

    dataset_pk: int
    annotators: tuple[int, ...] = ()
    grades: tuple[int, int] | None = None
    differing: bool = False
    below: float | None = None
    group: Group = Group()


def find_behind(
    session: Session, wanted: Wanted, *, limit: int | None, offset: int = 0
) -> tuple[int, list[Found]]:
    """How many pairs there are, and some of them in order: furthest apart first, then in the queries' order."""
    found, values = _write_found(session, wanted)
    many = -1 if limit is None and _is_sqlite(session) else limit
    rows = session.execute(text(_PAGE.format(found=found)), {**values, "limit": many, "offset": offset}).all()
    if rows:
        return rows[0][2], [Found(pair_pk, distance) for pair_pk, distance, _ in rows]
    return session.execute(text(_COUNT.format(found=found)), values).scalar_one() if offset else 0, []


def list_seconds(session: Session, dataset_pk: int, annotator_pk: int) -> list[float]:
    """What each of the annotator's judgments that count took, where that is known."""
    rows = session.execute(text(_SECONDS), {"dataset_pk": dataset_pk, "first": annotator_pk})
    return [round(seconds, 2) for (seconds,) in rows]


def sort_found(session: Session, dataset_pk: int, found: Collection[Found]) -> list[Found]:
    """The same order for pairs that were found otherwise; those that have left the pool are left out."""
    states = list_pair_states(session, dataset_pk, [one.pair_pk for one in found])
    places = {state.pair_pk: place for place, state in enumerate(states)}
    return sorted(
        (one for one in found if one.pair_pk in places), key=lambda one: (-one.distance, places[one.pair_pk])
    )


def show_behind(
    session: Session,
    dataset_pk: int,
    person_pk: int | None,
    found: Sequence[Found],
    notes: Mapping[int, Message],
) -> list[PairBehind]:
    """These pairs in full, in their order. Of those that the person has still to judge nothing is told."""
    shown: list[PairBehind] = []
    for some in split(found, DETAILED_AT_ONCE):
        pks = [one.pair_pk for one in some]
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        grades, hidden = _list_grades(session, pks), _list_to_judge(session, person_pk, pks)
        texts = _list_texts(session, states.values())
        shown += [
            _hide(one)
            if one.pair_pk in hidden
            else _show(states[one.pair_pk], one, grades.get(one.pair_pk, ()), texts, notes.get(one.pair_pk))
            for one in some
            if one.pair_pk in states
        ]
    return shown


def _show(
    state: PairState,
    found: Found,
    grades: Sequence[tuple[str, int]],
    texts: Mapping[tuple[str, int], str],
    note: Message | None,
) -> PairBehind:
    status = state.settlement.status
    return PairBehind(
        state.key, state.query_id, texts["query", state.query_pk], state.doc_id, texts["document", state.document_pk],
        tuple(sorted(grades)), found.distance, status, status in CASES, note,
    )  # fmt: skip


def _hide(found: Found) -> PairBehind:
    return PairBehind("", "", "", "", "", (), found.distance, "", False, hidden=True)


def _write_found(session: Session, wanted: Wanted) -> tuple[str, dict[str, Any]]:
    """The statement of pair_pk and distance, and its values."""
    counts = {f"counts_{name}": _COUNTS.format(c=name) for name in ("a", "c")}
    values: dict[str, Any] = {"dataset_pk": wanted.dataset_pk}
    values.update(zip(("first", "second"), wanted.annotators, strict=False))
    subject = "c" if not wanted.annotators else "a"
    within, places = _write_within(session, wanted, subject, values)
    if wanted.below is not None:
        values["below"] = wanted.below
        return _QUICK.format(**counts, within=within), values
    if wanted.grades is not None:
        values.update(zip(("low", "high"), wanted.grades, strict=True))
    kind = min(len(wanted.annotators), 2)
    statement = (_ALL, _OF_ONE, _OF_TWO)[kind].format(**counts, within=within, places=places)
    conditions = [_GRADES_MET[kind]] if wanted.grades is not None and not _is_twice(wanted) else []
    conditions += [_GRADE_TWICE[kind]] if _is_twice(wanted) else []
    conditions += [_DIFFER[kind]] if wanted.differing else []
    return statement + "".join(f" AND ({condition})" for condition in conditions), values


_DIFFER = ("min(c.grade) < max(c.grade)", "min(c.grade) < max(c.grade)", "a.grade <> c.grade")
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


def _is_twice(wanted: Wanted) -> bool:
    return wanted.grades is not None and wanted.grades[0] == wanted.grades[1]


def _write_within(session: Session, wanted: Wanted, subject: str, values: dict[str, Any]) -> tuple[str, str]:
    """The condition that keeps to a group, and what the search for all pairs then begins at."""
    within = places = ""
    for name, column, chosen in (
        ("queries", "query_pk", wanted.group.queries), ("documents", "document_pk", wanted.group.documents),
    ):  # fmt: skip
        if chosen is None:
            continue
        values[name] = json.dumps(sorted(chosen))
        listed = _LIST[session.get_bind().dialect.name].format(name=name)
        if subject == "c":
            places = "pair g CROSS JOIN "
            within += f" AND g.{column} IN {listed} AND c.pair_pk = g.pk"
        else:
            within += f" AND EXISTS (SELECT 1 FROM pair g WHERE g.pk = a.pair_pk AND g.{column} IN {listed})"
    counts = _COUNTS.format(c="w")
    if wanted.group.versions is not None:
        values.update(zip(("version_low", "version_high"), wanted.group.versions, strict=True))
        within += f" AND {subject}.pair_pk IN ({_OF_VERSIONS.format(counts=counts)})"
    if wanted.group.week is not None:
        values.update(zip(("week_begin", "week_end"), wanted.group.week, strict=True))
        within += f" AND {subject}.pair_pk IN ({_OF_WEEK.format(counts=counts)})"
    return within, places


def _list_grades(session: Session, pks: Sequence[int]) -> dict[int, list[tuple[str, int]]]:
    """(username, grade) by pair_pk."""
    rows = session.execute(
        text(_GRADES.format(pairs=_listed(session))), {"pairs": json.dumps(list(pks))}
    ).all()
    people = {person for _, person, _ in rows}
    names = dict(
        session.execute(
            select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people))
        ).all()
    )
    found: dict[int, list[tuple[str, int]]] = {}
    for pair_pk, person, grade in rows:
        found.setdefault(pair_pk, []).append((names[person], grade))
    return found


def _list_to_judge(session: Session, person_pk: int | None, pks: Sequence[int]) -> set[int]:
    """Those of the pairs that the person may still be handed, or was drawn to check, and has not answered."""
    if person_pk is None:
        return set()
    statement = text(_TO_JUDGE.format(pairs=_listed(session)))
    found = session.scalars(statement, {"pairs": json.dumps(list(pks)), "person_pk": person_pk})
    return set(found)


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


def _listed(session: Session) -> str:
    return _LIST[session.get_bind().dialect.name].format(name="pairs")


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"
