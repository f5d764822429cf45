"""Reads the grades that count for agreement, by the million: columns of numbers, without an object for each row.

Stands between the current judgments and `agreement/`. What counts are current independent judgments that carry a grade, of
pairs that are in the pool. PostgreSQL sends them as the rows of a binary COPY, SQLite as numbers one after the other.
"""

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.storage.statements import prepare, run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_OF_THE_TABLE = (
    8  # a dataset with more than this part of all judgments is read by walking through the table
)
_COLUMNS = ("query", "pair", "who", "made_at", "seconds")
_SELECT = """
SELECT p.query_pk, c.pair_pk, ({wide} * {rubrics} + coalesce(c.rubric_pk, 0)) * 4 + c.grade, coalesce(c.made_at, 0),
  coalesce(c.seconds, -1.0)
FROM current_judgment c CROSS JOIN pair p
WHERE p.pk = c.pair_pk AND {of_dataset} AND c.purpose = 'independent' AND c.outcome = 'graded' AND p.retired_at IS NULL"""
_SIZES = prepare(
    "SELECT (SELECT coalesce(max(pk), 0) FROM rubric), (SELECT coalesce(max(pk), 0) FROM judgment), "
    "(SELECT coalesce(sum(answered), 0) FROM query_answers WHERE dataset_pk = :dataset_pk)"
)


class Grades(NamedTuple):
    """A row for each judgment that counts, in no particular order; primary keys but for the last three. `made_at`: when, in
    whole seconds since 1970, UTC; `seconds`: how long it took, NaN where nobody knows."""

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
        found = _copy(session, _SELECT.format(
            wide="CAST(c.annotator_pk AS BIGINT)", rubrics=rubrics + 1, of_dataset=f"c.dataset_pk = {dataset_pk:d}"
        ))  # fmt: skip
        query, pair, who, made_at = (found[name].astype(np.int64) for name in _COLUMNS[:4])
        seconds = found["seconds"].astype(np.float64)
    else:
        walk = answered * MOST_OF_THE_TABLE > judgments
        rows: Any = run(session, prepare(_SELECT.format(
            wide="c.annotator_pk", rubrics=rubrics + 1, of_dataset=f"c.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"
        )), {}).cursor  # fmt: skip
        numbers = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, len(_COLUMNS))
        query, pair, who, made_at = (numbers[:, place].astype(np.int64) for place in range(4))
        seconds = numbers[:, 4].copy()
    seconds[seconds < 0] = np.nan
    under, grade = np.divmod(who, 4)
    annotator, rubric = np.divmod(under, rubrics + 1)
    return Grades(query, pair, annotator, rubric, grade, made_at, seconds)


def _copy(session: Session, statement: str) -> Any:
    """What a query finds, as an array with a field for each column (PostgreSQL's binary COPY: each row a count of columns,
    each column its length and its bytes, all big-endian)."""
    import numpy as np

    fields = [("columns", ">i2")]
    for name, kind in zip(_COLUMNS, (">i4", ">i4", ">i8", ">i8", ">f8"), strict=True):
        fields += [(f"{name} length", ">i4"), (name, kind)]
    driver: Any = session.connection().connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT binary)") as rows:
        sent = b"".join(rows)
    head, tail = 19, 2  # the signature, flags and the length of an extension that is empty; -1
    return np.frombuffer(sent[head : len(sent) - tail], dtype=np.dtype(fields))
