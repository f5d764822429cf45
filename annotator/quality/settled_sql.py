"""Read how each pair of a dataset is settled, as columns of numbers, without an object per pair.

Quality control needs only the settled grade and who judged, for hundreds of thousands of pairs. The rule is
`domain/settling.py`, asked once for every distinct pattern of judgments, of which there are a few hundred.
`storage/pair_states.py` reads everything about a pair.
"""

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.settling import Decided, Settlement
from annotator.storage.imported_grades import list_kept_grades
from annotator.storage.pair_states import list_open_errors, settle_again
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST_OF_THE_TABLE = (
    8  # as in `agreement/grades_sql.py`: of more than this part of all judgments the whole table is read
)
AT_ONCE = 50_000  # PostgreSQL's values hold what belongs to so many keys at the most
UNRATEABLE, OTHERWISE, LATER = 4, 5, 6  # beside the grades: what an answer is for the rule
ANSWERS = 8
_ANSWER = f"""CASE WHEN c.outcome = 'later' THEN {LATER} WHEN c.purpose <> 'independent' THEN {OTHERWISE}
  ELSE coalesce(c.grade, {UNRATEABLE}) END"""
_SIZES = prepare_sql(
    "SELECT (SELECT coalesce(max(pk), 0) + 1 FROM person), (SELECT coalesce(max(pk), 0) + 1 FROM query), "
    "(SELECT coalesce(max(pk), 0) FROM judgment), "
    "(SELECT coalesce(sum(answered), 0) FROM query_answers WHERE dataset_pk = :dataset_pk)"
)
_DECISIONS = prepare_sql(f"""
SELECT pair_pk, coalesce(grade, {UNRATEABLE}) FROM current_adjudication WHERE dataset_pk = :dataset_pk""")


class PairSettlements(NamedTuple):
    """Every pair of the pool by ascending `pair` (its key), with its query's key and the place of its settlement among
    `settlements`; and for every current judgment for whatever purpose, put off or not: the pair's place, whose it is, and
    what it says (a grade, `UNRATEABLE`, `OTHERWISE` when it does not settle anything, `LATER`)."""

    pair: "Ints"
    query: "Ints"
    settlement: "Ints"
    settlements: list[Settlement]
    place: "Ints"
    person: "Ints"
    answer: "Ints"


def read_states(session: Session, dataset_pk: int) -> PairSettlements:
    """How every pair of the dataset is settled now, and who judged it."""
    import numpy as np

    session.flush()
    people, queries, judgments, answered = execute_sql(session, _SIZES, {"dataset_pk": dataset_pk}).one()
    walk = answered * MOST_OF_THE_TABLE > judgments
    pairs = _read_numbers(
        session,
        f"CAST(p.pk AS BIGINT) * {queries} + p.query_pk",
        "pair p",
        "p.pk",
        f"{_is_of('p', dataset_pk, walk=walk)} AND p.retired_at IS NULL",
    )
    pair, query = np.divmod(np.sort(pairs), queries)
    given = _read_numbers(
        session,
        f"(CAST(c.pair_pk AS BIGINT) * {people} + c.annotator_pk) * {ANSWERS} + {_ANSWER}",
        "current_judgment c",
        "c.pair_pk",
        _is_of("c", dataset_pk, walk=walk),
    )
    who, answer = np.divmod(given, ANSWERS)
    judged, person = np.divmod(who, people)
    place, there = find_places(pair, judged)
    place, person, answer = place[there], person[there], answer[there]
    settlement, settlements = _settle_all(session, dataset_pk, pair, place, answer)
    return PairSettlements(pair, query, settlement, settlements, place, person, answer)


def find_places(pair: "Ints", wanted: "Ints") -> tuple["Ints", "NDArray[np.bool_]"]:
    """Where each of these stands in the ascending `pair`, and whether it is there at all."""
    import numpy as np

    if not len(pair):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.bool_)
    place = np.minimum(np.searchsorted(pair, wanted), len(pair) - 1)
    return place, pair[place] == wanted


def _settle_all(
    session: Session, dataset_pk: int, pair: "Ints", place: "Ints", answer: "Ints"
) -> tuple["Ints", list[Settlement]]:
    """The place of each pair's settlement among those that there are."""
    import numpy as np

    counting = answer <= UNRATEABLE
    counted = np.bincount(place[counting] * 5 + answer[counting], minlength=5 * len(pair)).reshape(-1, 5)
    decided = _spread(pair, dict(fetch_tuples(session, _DECISIONS, {"dataset_pk": dataset_pk})))
    imported = _spread(pair, list_kept_grades(session, dataset_pk))
    columns = [*counted.T, decided + 1, imported + 1]
    _, first, settlement = np.unique(_number_patterns(columns), return_index=True, return_inverse=True)

    def settle_at(at: int, contrary: tuple[int, ...] = ()) -> Settlement:
        *grades, unrateable = counted[at].tolist()
        told = tuple(grade for grade, number in enumerate(grades) for _ in range(number))
        return settle_again(told, unrateable, _read_decision(decided[at]), _read(imported[at]), contrary)

    settlements = [settle_at(at) for at in first.tolist()]
    errors = list_open_errors(session, dataset_pk)
    places, there = find_places(pair, np.array(list(errors), dtype=np.int64))
    for found, at, known in zip(errors.values(), places.tolist(), there.tolist(), strict=True):
        if known:
            settlement[at] = len(settlements)
            settlements.append(settle_at(at, tuple(error.grade for error in found)))
    return settlement, settlements


def _spread(pair: "Ints", grades: Mapping[int, int]) -> "Ints":
    """The grade of each pair, -1 where it has none of these."""
    import numpy as np

    found = np.full(len(pair), -1, dtype=np.int64)
    places, there = find_places(pair, np.fromiter(grades, dtype=np.int64, count=len(grades)))
    found[places[there]] = np.fromiter(grades.values(), dtype=np.int64, count=len(grades))[there]
    return found


def _read(grade: Any) -> int | None:
    return None if grade < 0 else int(grade)


def _read_decision(grade: Any) -> Decided | None:
    return "unrateable" if grade == UNRATEABLE else _read(grade)


def _number_patterns(columns: "list[Ints]") -> "Ints":
    """A number for each row that two rows share only if they are the same; the columns hold numbers from 0 on."""
    import numpy as np

    found, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if span * size > 2**62:
            found = np.unique(found, return_inverse=True)[1]
            span = int(found.max(initial=0)) + 1
        found, span = found * size + column, span * size
    return found


def _is_of(table: str, dataset_pk: int, *, walk: bool) -> str:
    """The condition; `walk`: through the whole table, which for most of it is faster than by its index."""
    return f"{table}.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"


def _read_numbers(session: Session, number: str, source: str, key: str, condition: str) -> "Ints":
    """The whole number that `number` gives for each row: one after the other from SQLite, in a few long values from
    PostgreSQL."""
    import numpy as np

    if session.connection().dialect.name != "postgresql":
        rows: Any = execute_sql(
            session, prepare_sql(f"SELECT {number} FROM {source} WHERE {condition}"), {}
        ).cursor
        return np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    driver: Any = session.connection().connection.driver_connection
    statement = (
        f"SELECT string_agg(int8send({number}), CAST('' AS BYTEA)) FROM {source} WHERE {condition} "
        f"GROUP BY {key} / {AT_ONCE}"
    )
    with driver.cursor(binary=True) as cursor:
        sent = b"".join(value for (value,) in cursor.execute(statement))
    return np.frombuffer(sent, dtype=">i8").astype(np.int64)
