"""Finds which pairs are behind a figure of agreement, and how far apart their grades are: statements for both databases.

What counts is what `agreement/service.py` counts: current independent grades on pairs of the pool. Reads begin at what is
selective: the judgments of the annotators that are named, else the pairs of the group, else all.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage.disclosures import LISTED

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


class Found(NamedTuple):
    """A pair that was selected, and how far apart its grades are."""

    pair_pk: int
    distance: int


@dataclass(frozen=True, slots=True)
class Group:
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
class Wanted:
    """A selection in keys. `annotators`: none, one or two. `below`: only the first annotator's judgments that took fewer
    seconds, whether anybody else judged the pair or not. `given`: likewise only those with this grade, of the first
    annotator or of anybody. `without`: whose judgments do not count."""

    dataset_pk: int
    annotators: tuple[int, ...] = ()
    grades: tuple[int, int] | None = None
    differing: bool = False
    below: float | None = None
    given: int | None = None
    group: Group = Group()
    without: tuple[int, ...] = ()


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


def _write_found(session: Session, wanted: Wanted) -> tuple[str, dict[str, Any]]:
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
