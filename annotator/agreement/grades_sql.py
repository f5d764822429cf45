"""Read the grades that count for agreement, the fields they can be grouped by, and when they last changed.

Counts current independent judgments with a grade, on pairs in the pool. Millions are read as columns of numbers,
without an object per row (PostgreSQL sends a few long rows of bytes). A group's value is text as imported, None where
there is none. The stamp that keeps a report valid is read from index ends and small tables; it does not notice a
re-import that changes categories, so do not keep a report for long. Couples for an annotator's own agreement must leave
only as sums: see `agreement/measure.py`.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS
from annotator.domain.messages import say
from annotator.storage.lookup import key_of
from annotator.storage.sql import execute_sql, fetch_plain, prepare_sql, read_json
from annotator.storage.tables import DocumentRow, PairRow, QueryRow

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
_SIZES = prepare_sql(
    "SELECT (SELECT coalesce(max(pk), 0) FROM rubric), (SELECT coalesce(max(pk), 0) FROM judgment), "
    "(SELECT coalesce(sum(answered), 0) FROM query_answers WHERE dataset_pk = :dataset_pk)"
)


class GradeRows(NamedTuple):
    """A row for each judgment that counts, in no particular order; primary keys but for the last three. `rubric`: 0 where it
    came with a file; `made_at`: when, in whole seconds since 1970, UTC, 0 where the file does not say; `seconds`: how long it took, NaN where nobody knows."""

    query: "Ints"
    pair: "Ints"
    annotator: "Ints"
    rubric: "Ints"
    grade: "Ints"
    made_at: "Ints"
    seconds: "Floats"


def read_grades(session: Session, dataset_pk: int) -> GradeRows:
    """Every judgment of the dataset that counts for agreement."""
    import numpy as np

    session.flush()
    rubrics, judgments, answered = execute_sql(session, _SIZES, {"dataset_pk": dataset_pk}).one()
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
    return GradeRows(query, pair, annotator, rubric, grade, made_at, seconds)


def _read_numbers(
    session: Session, dataset_pk: int, rubrics: int, *, walk: bool
) -> "Sequence[Ints | Floats]":
    """The columns from SQLite; `walk`: through the whole table, which for most of it is faster than by its index."""
    import numpy as np

    of_dataset = f"c.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"
    rows: Any = execute_sql(
        session,
        prepare_sql(
            _NUMBERS.format(rubrics=rubrics, of_dataset=of_dataset, rubric=_RUBRIC, made_at=_MADE_AT)
        ),
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


GROUP_FIELDS: tuple[str, ...] = tuple(name for name in QUERY_FIELDS if name != "narrative")
OF_JUDGMENTS: tuple[str, ...] = ("annotator", "guideline_version", "week")
DOCUMENT = "document:"
MOST_DOCUMENTS_LOOKED_AT = 2_000
_VERSIONS = prepare_sql("SELECT pk, version FROM rubric WHERE dataset_pk = :dataset_pk")


def list_groupings(session: Session, dataset_pk: int) -> list[str]:
    """Everything that the dataset's agreement can be grouped by: fields of its queries that any has, keys of their metadata,
    `document:` with an attribute of documents (of the first two thousand), and what the judgments themselves tell."""
    fields = [col(getattr(QueryRow, name)) for name in GROUP_FIELDS]
    of_dataset = col(QueryRow.dataset_pk) == dataset_pk
    used = [
        name
        for name, field in zip(GROUP_FIELDS, fields, strict=True)
        if session.execute(select(1).where(of_dataset, field.is_not(None)).limit(1)).first()
    ]
    keys = {key for extra in _list_extras(session, dataset_pk) for key in extra if key not in GROUP_FIELDS}
    return [*used, *sorted(keys), *_list_document_attributes(session, dataset_pk), *OF_JUDGMENTS]


def read_query_labels(session: Session, dataset_pk: int, by: str) -> dict[int, str | None]:
    """The value of this field or metadata key by query_pk. ValidationError when no query has such a one."""
    column = col(getattr(QueryRow, by)) if by in GROUP_FIELDS else col(QueryRow.extra)
    rows = session.execute(
        select(col(QueryRow.pk), column).where(col(QueryRow.dataset_pk) == dataset_pk)
    ).all()
    if by in GROUP_FIELDS:
        return {key_of(pk): value for pk, value in rows}
    if not any(by in extra for _, extra in rows):
        raise _unknown(session, dataset_pk, by)
    return {key_of(pk): _to_text(extra.get(by)) for pk, extra in rows}


def read_document_labels(
    session: Session, dataset_pk: int, by: str
) -> tuple[dict[int, int], dict[int, str | None]]:
    """The document_pk of each pair, and the value of the attribute that `by` names after `document:` by document_pk."""
    attribute = by.removeprefix(DOCUMENT)
    pairs = select(col(PairRow.pk), col(PairRow.document_pk)).where(col(PairRow.dataset_pk) == dataset_pk)
    column = col(DocumentRow.media_type) if attribute == "media_type" else col(DocumentRow.extra)
    rows = session.execute(
        select(col(DocumentRow.pk), column).where(col(DocumentRow.dataset_pk) == dataset_pk)
    ).all()
    if attribute == "media_type":
        labels: dict[int, str | None] = {key_of(pk): value for pk, value in rows}
    else:
        if not any(attribute in extra for _, extra in rows):
            raise _unknown(session, dataset_pk, by)
        labels = {key_of(pk): _to_text(extra.get(attribute)) for pk, extra in rows}
    return dict(fetch_plain(session, pairs)), labels


def read_versions(session: Session, dataset_pk: int) -> Mapping[int, int]:
    """The version of each of the dataset's guidelines by its primary key (rubric_pk)."""
    return {row.pk: row.version for row in execute_sql(session, _VERSIONS, {"dataset_pk": dataset_pk})}


def _list_extras(session: Session, dataset_pk: int) -> list[Mapping[str, Any]]:
    statement = select(col(QueryRow.extra)).where(col(QueryRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement))


def _list_document_attributes(session: Session, dataset_pk: int) -> list[str]:
    statement = (
        select(col(DocumentRow.media_type), col(DocumentRow.extra))
        .where(col(DocumentRow.dataset_pk) == dataset_pk)
        .order_by(col(DocumentRow.pk))
        .limit(MOST_DOCUMENTS_LOOKED_AT)
    )
    rows = session.execute(statement).all()
    names = {key for _, extra in rows for key in read_json(extra)}
    if len({media_type for media_type, _ in rows}) > 1:
        names.add("media_type")
    return [f"{DOCUMENT}{name}" for name in sorted(names)]


def _unknown(session: Session, dataset_pk: int, by: str) -> ValidationError:
    known = ", ".join(list_groupings(session, dataset_pk))
    return ValidationError(say("cannot group by {by!r}; there are: {known}", by=by, known=known))


def _to_text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_STAMP = prepare_sql("""
SELECT (SELECT coalesce(max(pk), 0) FROM judgment), (SELECT coalesce(max(pk), 0) FROM remap),
  (SELECT coalesce(max(pk), 0) FROM rubric), (SELECT coalesce(max(pk), 0) FROM query), d.kappa_target, d.seed, d.name,
  (SELECT count(*) FROM check_pair), (SELECT max(marked_at) FROM check_pair)
FROM dataset d WHERE d.pk = :dataset_pk
""")
_PEOPLE = prepare_sql("SELECT pk, username, simulated FROM person ORDER BY pk")


def read_agreement_stamp(session: Session, dataset_pk: int) -> Hashable:
    """See the module."""
    session.flush()
    stamp = execute_sql(session, _STAMP, {"dataset_pk": dataset_pk}).one()
    return (*stamp, tuple(tuple(row) for row in execute_sql(session, _PEOPLE, {})))


_COUPLED = text("""
SELECT p.query_pk, c.pair_pk, c.annotator_pk, c.grade
FROM current_judgment a CROSS JOIN pair p CROSS JOIN current_judgment c
WHERE a.dataset_pk = :dataset_pk AND a.annotator_pk = :person_pk AND a.purpose = 'independent' AND a.outcome = 'graded'
  AND p.pk = a.pair_pk AND p.lacking = 0 AND p.retired_at IS NULL
  AND c.pair_pk = a.pair_pk AND c.dataset_pk = :dataset_pk AND c.purpose = 'independent' AND c.outcome = 'graded'
""")  # CROSS JOIN: from one's own judgments, not from the pool


def list_own_couples(session: Session, dataset_pk: int, person_pk: int) -> list[tuple[int, int, int, int]]:
    """query_pk, pair_pk, annotator_pk and grade: one's own judgments and those of others on the same pairs."""
    rows = session.execute(_COUPLED, {"dataset_pk": dataset_pk, "person_pk": person_pk})
    return [(query, pair, annotator, grade) for query, pair, annotator, grade in rows]
