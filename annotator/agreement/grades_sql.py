"""Reads the grades that count for agreement, by the million: columns of numbers, without an object for each row.

Stands between the current judgments and `agreement/`. What counts are current independent judgments that carry a grade, of
pairs that are in the pool. PostgreSQL sends them as a few long rows of bytes, SQLite as numbers one after the other.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.storage.sql import prepare, run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_OF_THE_TABLE = (
    8  # a dataset with more than this part of all judgments is read by walking through the table
)
PAIRS_AT_ONCE = 50_000  # PostgreSQL's values hold the judgments of so many pairs (by their keys) at the most
_RUBRIC = "CASE WHEN c.imported = 0 THEN coalesce(c.rubric_pk, 0) ELSE 0 END"
_MADE_AT = "CASE WHEN c.imported < 2 THEN coalesce(c.made_at, 0) ELSE 0 END"
_FROM = """FROM current_judgment c CROSS JOIN pair p
WHERE p.pk = c.pair_pk AND {of_dataset} AND c.purpose = 'independent' AND c.outcome = 'graded' AND p.retired_at IS NULL"""
_NUMBERS = (
    "SELECT p.query_pk, c.pair_pk, (c.annotator_pk * {rubrics} + {rubric}) * 4 + c.grade, "
    "{made_at}, coalesce(c.seconds, -1.0) " + _FROM
)
_BYTES = (
    "SELECT string_agg(int8send(p.query_pk) || int8send(c.pair_pk) "
    "|| int8send((CAST(c.annotator_pk AS BIGINT) * {rubrics} + {rubric}) * 4 + c.grade) "
    "|| int8send({made_at}) || float8send(coalesce(c.seconds, -1.0)), CAST('' AS BYTEA)) "
    + _FROM
    + " GROUP BY c.pair_pk / {at_once}"
)
_SIZES = prepare(
    "SELECT (SELECT coalesce(max(pk), 0) FROM rubric), (SELECT coalesce(max(pk), 0) FROM judgment), "
    "(SELECT coalesce(sum(answered), 0) FROM query_answers WHERE dataset_pk = :dataset_pk)"
)


class Grades(NamedTuple):
    """A row for each judgment that counts, in no particular order; primary keys but for the last three. `rubric`: 0 where it
    came with a file; `made_at`: when, in whole seconds since 1970, UTC, 0 where the file does not say; `seconds`: how long it took, NaN where nobody knows."""

    query: "Ints"
    pair: "Ints"
    annotator: "Ints"
    rubric: "Ints"
    grade: "Ints"
    made_at: "Ints"
    seconds: "Floats"


def read_grades(session: Session, dataset_pk: int) -> Grades:
    """Every judgment of the dataset that counts for agreement."""
    import numpy as np

    session.flush()
    rubrics, judgments, answered = run(session, _SIZES, {"dataset_pk": dataset_pk}).one()
    if session.connection().dialect.name == "postgresql":
        columns = _read_bytes(session, dataset_pk, rubrics + 1)
    else:
        columns = _read_numbers(
            session, dataset_pk, rubrics + 1, walk=answered * MOST_OF_THE_TABLE > judgments
        )
    query, pair, who, made_at = (column.astype(np.int64) for column in columns[:4])
    seconds = columns[4].astype(np.float64)
    seconds[seconds < 0] = np.nan
    under, grade = np.divmod(who, 4)
    annotator, rubric = np.divmod(under, rubrics + 1)
    return Grades(query, pair, annotator, rubric, grade, made_at, seconds)


def _read_numbers(
    session: Session, dataset_pk: int, rubrics: int, *, walk: bool
) -> "Sequence[Ints | Floats]":
    """The columns from SQLite; `walk`: through the whole table, which for most of it is faster than by its index."""
    import numpy as np

    of_dataset = f"c.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"
    rows: Any = run(
        session,
        prepare(_NUMBERS.format(rubrics=rubrics, of_dataset=of_dataset, rubric=_RUBRIC, made_at=_MADE_AT)),
        {},
    ).cursor
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, 5)
    return list(numbers.T)


def _read_bytes(session: Session, dataset_pk: int, rubrics: int) -> "Sequence[Ints | Floats]":
    """The columns from PostgreSQL, which writes its rows one behind the other: four whole numbers and a floating one of
    eight bytes each, big-endian."""
    import numpy as np

    statement = _BYTES.format(
        rubrics=rubrics,
        of_dataset=f"c.dataset_pk = {dataset_pk:d}",
        at_once=PAIRS_AT_ONCE,
        rubric=_RUBRIC,
        made_at=_MADE_AT,
    )
    driver: Any = session.connection().connection.driver_connection
    with driver.cursor(binary=True) as cursor:
        sent = b"".join(value for (value,) in cursor.execute(statement))
    rows = np.frombuffer(sent, dtype=np.dtype([(name, ">i8") for name in "qpwm"] + [("s", ">f8")]))
    return [rows[name] for name in "qpwms"]
