"""Read the settlement of each pair of a dataset as columns of numbers, without an object per pair.

Reads the pairs and the current judgments once each. The gates of a release, the overview, agreement's verdict
and quality control count these columns, for hundreds of thousands of pairs. The rule is `domain/settling.py`,
called once for each of the few hundred distinct patterns of judgments. `storage/pairs/pair_states.py` reads
all facts about a pair.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import OPEN, Decided, Settlement, settle
from annotator.storage.pairs.pair_states import list_kept_grades, list_open_errors, settle_again
from annotator.storage.sql import fetch, fetch_tuples, prepare_sql, read_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST_OF_THE_TABLE = (
    8  # as in `agreement/grades_sql.py`: of more than this part of all judgments the whole table is read
)
AT_ONCE = 50_000  # PostgreSQL's values hold what belongs to so many keys at the most
GRADED = 4  # the grades are the numbers below
UNRATEABLE, OTHERWISE, LATER = 4, 5, 6  # codes of answers, in addition to the grades
ANSWERS = 8
MOST_KINDS = 1_000_000  # numbers up to this one are counted in a table, larger ones are sorted
LACKING = 256  # more than a pair can lack
DAY, MOST_DAYS = 86_400, 65_536  # seconds; days since 1970
_ANSWER = f"""CASE WHEN c.outcome = 'later' THEN {LATER} WHEN c.purpose <> '{COUNTED_PURPOSE}' THEN {OTHERWISE}
  ELSE coalesce(c.grade, {UNRATEABLE}) END"""
_SIZES = prepare_sql("""
SELECT (SELECT coalesce(max(pk), 0) + 1 FROM person) AS people, (SELECT coalesce(max(pk), 0) + 1 FROM query) AS queries,
  (SELECT coalesce(max(pk), 0) FROM judgment) AS judgments,
  (SELECT CAST(coalesce(sum(answered), 0) AS BIGINT) FROM query_answers WHERE dataset_pk = :dataset_pk) AS answered""")
_DECISIONS = prepare_sql(f"""
SELECT pair_pk, coalesce(grade, {UNRATEABLE}) FROM current_adjudication WHERE dataset_pk = :dataset_pk""")

_DECIDED_AT = prepare_sql(
    "SELECT pair_pk, decided_at FROM current_adjudication WHERE dataset_pk = :dataset_pk"
)


class _TableSizes(NamedTuple):
    people: int  # one more than the largest key
    queries: int  # one more than the largest key
    judgments: int
    answered: int  # judgments of the dataset


class PairSettlements(NamedTuple):
    """The settlement of every pair of the pool, as columns: one entry per pair, by pair_pk.

    `judged_index`, `judged_by` and `answer` are a second table: one entry per current judgment of any
    purpose, put off or not.
    """

    pair: "Ints"
    query: "Ints"
    lacking: "Ints"  # judgments that the pair still lacks
    settlement: "Ints"  # index into `settlements`
    settlements: list[Settlement]
    judged_index: "Ints"  # index into the columns above
    judged_by: "Ints"  # person_pk
    answer: "Ints"  # a grade, UNRATEABLE, LATER, or OTHERWISE if it does not count for the settlement
    last_day: "Ints | None" = None
    """The day of each pair's decision, or else of its last judgment, as days since 1970; -1: neither."""

    def list_statuses(self) -> "list[str]":
        """Return the status of each entry of `settlements`."""
        return [settlement.status for settlement in self.settlements]

    def map_settled(self) -> "Ints":
        """Return the settled grade of each pair, -1 for pairs without one."""
        import numpy as np

        grades = [-1 if settlement.grade is None else settlement.grade for settlement in self.settlements]
        return np.array(grades, dtype=np.int64)[self.settlement]

    def are_open(self) -> "NDArray[np.bool_]":
        """Return which pairs wait for a lead without a settled grade."""
        import numpy as np

        return np.array([status in OPEN for status in self.list_statuses()], dtype=np.bool_)[self.settlement]


def read_settlements(
    session: Session,
    dataset_pk: int,
    blind: Collection[int] = frozenset(),
    *,
    zone_seconds: int | None = None,
) -> PairSettlements:
    """Return how every pair of the dataset is settled now, and who judged it.

    `blind`: pairs that the reader may still judge (`list_blind_pairs`); they count as not judged. `zone_seconds`:
    how far the zone of `last_day` is ahead of UTC; None: the days are not read.
    """
    import numpy as np

    session.flush()
    days = 1 if zone_seconds is None else MOST_DAYS
    day_number = "0" if zone_seconds is None else f"(coalesce(c.made_at, 0) + {zone_seconds:d}) / {DAY}"
    (sizes,) = fetch(session, _SIZES, _TableSizes, {"dataset_pk": dataset_pk})
    walk = sizes.answered * MOST_OF_THE_TABLE > sizes.judgments
    pairs = _read_numbers(
        session,
        f"(CAST(p.pk AS BIGINT) * {sizes.queries} + p.query_pk) * {LACKING} + p.lacking",
        "pair p",
        "p.pk",
        f"{_is_of('p', dataset_pk, walk=walk)} AND p.retired_at IS NULL",
    )
    pairs_and_queries, lacking = np.divmod(np.sort(pairs), LACKING)
    pair, query = np.divmod(pairs_and_queries, sizes.queries)
    judgments_of_pairs = _read_numbers(
        session,
        f"((CAST(c.pair_pk AS BIGINT) * {sizes.people} + c.annotator_pk) * {ANSWERS} + {_ANSWER}) * {days} + {day_number}",
        "current_judgment c",
        "c.pair_pk",
        _is_of("c", dataset_pk, walk=walk),
    )
    judgments_of_pairs, day = np.divmod(judgments_of_pairs, days)
    pairs_and_people, answer = np.divmod(judgments_of_pairs, ANSWERS)
    judged_pair, judged_by = np.divmod(pairs_and_people, sizes.people)
    index, is_present = find_indexes(pair, judged_pair)
    index, judged_by, answer = index[is_present], judged_by[is_present], answer[is_present]
    settlement, settlements = _settle_all(session, dataset_pk, pair, index, answer)
    settled = PairSettlements(pair, query, lacking, settlement, settlements, index, judged_by, answer)
    if zone_seconds is not None:
        made = answer != LATER
        last = _find_last_days(session, dataset_pk, pair, index[made], day[is_present][made], zone_seconds)
        settled = settled._replace(last_day=last)
    return _forget(settled, blind) if blind else settled


def _find_last_days(
    session: Session, dataset_pk: int, pair: "Ints", index: "Ints", day: "Ints", zone_seconds: int
) -> "Ints":
    """Return `PairSettlements.last_day`. `index`, `day`: of each judgment that was not put off."""
    import numpy as np

    last = np.full(len(pair), -1, dtype=np.int64)
    np.maximum.at(last, index, day)
    decided = {
        pair_pk: (int(read_time(at).timestamp()) + zone_seconds) // DAY
        for pair_pk, at in fetch_tuples(session, _DECIDED_AT, {"dataset_pk": dataset_pk})
    }
    decided_on = _spread(pair, decided)
    return np.where(decided_on >= 0, decided_on, last)


def _forget(settled: PairSettlements, blind: Collection[int]) -> PairSettlements:
    """Return the settlements with the pairs in `blind` as not judged, decided or imported."""
    marked = mark_pairs(settled, blind)
    settlement = settled.settlement.copy()
    settlement[marked] = len(settled.settlements)
    kept = ~marked[settled.judged_index]
    return settled._replace(
        settlement=settlement,
        settlements=[*settled.settlements, settle((), 0, None)],
        judged_index=settled.judged_index[kept],
        judged_by=settled.judged_by[kept],
        answer=settled.answer[kept],
    )


def count_grades_by_query(settled: PairSettlements) -> dict[int, tuple[int, int, int, int]]:
    """Return {query_pk: (settled pairs at grade 0, 1, 2, 3)}; queries without a settled pair are absent."""
    import numpy as np

    grade = settled.map_settled()
    query, grade = settled.query[grade >= 0], grade[grade >= 0]
    if not len(query):
        return {}
    first = int(query.min())
    reach = int(query.max()) - first + 1
    counts = np.bincount((query - first) * GRADED + grade, minlength=GRADED * reach).reshape(-1, GRADED)
    present = np.flatnonzero(counts.any(axis=1))
    return {
        query_pk: (none, one, two, three)
        for query_pk, (none, one, two, three) in zip(
            (present + first).tolist(), counts[present].tolist(), strict=True
        )
    }


def list_open_queries(settled: PairSettlements) -> set[int]:
    """Return the queries (query_pk) with an unsettled pair that waits for a lead."""
    return set(settled.query[settled.are_open()].tolist())


def mark_pairs(settled: PairSettlements, pair_pks: Collection[int]) -> "NDArray[np.bool_]":
    """Return which pairs are among these."""
    import numpy as np

    marked = np.zeros(len(settled.pair), dtype=np.bool_)
    index, is_present = find_indexes(settled.pair, np.fromiter(pair_pks, dtype=np.int64, count=len(pair_pks)))
    marked[index[is_present]] = True
    return marked


def find_indexes(pair: "Ints", wanted: "Ints") -> tuple["Ints", "NDArray[np.bool_]"]:
    """Return the index of each wanted key in the ascending `pair`, and whether it is there at all."""
    import numpy as np

    if not len(pair):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.bool_)
    index = np.minimum(np.searchsorted(pair, wanted), len(pair) - 1)
    return index, pair[index] == wanted


def _settle_all(
    session: Session, dataset_pk: int, pair: "Ints", judged_index: "Ints", answer: "Ints"
) -> tuple["Ints", list[Settlement]]:
    """Return the distinct settlements, and for each pair the index of its settlement."""
    import numpy as np

    counts = answer <= UNRATEABLE
    counted = np.bincount(judged_index[counts] * 5 + answer[counts], minlength=5 * len(pair)).reshape(-1, 5)
    decided = _spread(pair, dict(fetch_tuples(session, _DECISIONS, {"dataset_pk": dataset_pk})))
    imported = _spread(pair, list_kept_grades(session, dataset_pk))
    columns = [*counted.T, decided + 1, imported + 1]
    first, settlement = _find_kinds(_number_patterns(columns))

    def settle_at(index: int, contrary: tuple[int, ...] = ()) -> Settlement:
        *grade_counts, unrateable = counted[index].tolist()
        grades = tuple(grade for grade, count in enumerate(grade_counts) for _ in range(count))
        decision, import_grade = _read_decision(int(decided[index])), _read_grade(int(imported[index]))
        return settle_again(grades, unrateable, decision, import_grade, contrary)

    settlements = [settle_at(index) for index in first.tolist()]
    errors_by_pair = list_open_errors(session, dataset_pk)
    indexes, is_present = find_indexes(pair, np.array(list(errors_by_pair), dtype=np.int64))
    for errors, index, present in zip(
        errors_by_pair.values(), indexes.tolist(), is_present.tolist(), strict=True
    ):
        if present:
            settlement[index] = len(settlements)
            settlements.append(settle_at(index, tuple(error.grade for error in errors)))
    return settlement, settlements


def _spread(pair: "Ints", grades: Mapping[int, int]) -> "Ints":
    """Return the grade of each pair, -1 where it has none. `grades`: by pair_pk."""
    import numpy as np

    column = np.full(len(pair), -1, dtype=np.int64)
    indexes, is_present = find_indexes(pair, np.fromiter(grades, dtype=np.int64, count=len(grades)))
    values = np.fromiter(grades.values(), dtype=np.int64, count=len(grades))
    column[indexes[is_present]] = values[is_present]
    return column


def _read_grade(grade: int) -> int | None:
    return None if grade < 0 else grade


def _read_decision(grade: int) -> Decided | None:
    return "unrateable" if grade == UNRATEABLE else _read_grade(grade)


def _number_patterns(columns: "list[Ints]") -> "Ints":
    """Return a number for each row; equal rows have the same number. The columns hold numbers from 0 on."""
    import numpy as np

    numbers, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if span * size > 2**62:
            numbers = np.unique(numbers, return_inverse=True)[1]
            span = int(numbers.max(initial=0)) + 1
        numbers, span = numbers * size + column, span * size
    return numbers


def _find_kinds(numbers: "Ints") -> tuple["Ints", "Ints"]:
    """Return (an index of each distinct number, ascending by number; the position of each entry's number)."""
    import numpy as np

    if not len(numbers) or int(numbers.max()) > len(numbers) + MOST_KINDS:
        _, first, kind = np.unique(numbers, return_index=True, return_inverse=True)
        return first, kind
    somewhere = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    somewhere[numbers] = np.arange(len(numbers))
    kind_of_number = np.cumsum(somewhere >= 0) - 1
    return somewhere[somewhere >= 0], kind_of_number[numbers]


def _is_of(table: str, dataset_pk: int, *, walk: bool) -> str:
    """Return the condition. `walk`: read the whole table, which is faster than its index for most of it."""
    return f"{table}.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"


def _read_numbers(session: Session, number: str, source: str, key: str, condition: str) -> "Ints":
    """Return the whole number of the SQL expression `number` for each row.

    SQLite returns one long text, which takes half the time of one row per number (20 bytes each; a text may
    have 1,000 million). PostgreSQL returns a few long values.
    """
    import numpy as np

    if session.connection().dialect.name != "postgresql":
        concatenated = prepare_sql(f"SELECT group_concat({number}) FROM {source} WHERE {condition}")
        ((text,),) = fetch_tuples(session, concatenated, {})
        return np.fromstring(text or "", dtype=np.int64, sep=",")
    driver: Any = session.connection().connection.driver_connection
    statement = (
        f"SELECT string_agg(int8send({number}), CAST('' AS BYTEA)) FROM {source} WHERE {condition} "
        f"GROUP BY {key} / {AT_ONCE}"
    )
    with driver.cursor(binary=True) as cursor:
        sent = b"".join(value for (value,) in cursor.execute(statement))
    return np.frombuffer(sent, dtype=">i8").astype(np.int64)
