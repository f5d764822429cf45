"""Read the grades that count for agreement, the fields that group them, and a stamp of their last change.

Current independent judgments with a grade count, on pairs in the pool. Millions are read as columns of
numbers, without an object per row (PostgreSQL sends a few long rows of bytes). A group's value is text as
imported, or None. The stamp that keeps a report valid is read from index ends and small tables. It does not
notice a re-import that changes categories, so do not keep a report for long. An annotator's own agreement
shows only sums over these grades: see `agreement/measure.py`.
"""

import json
from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.judgment_table import Floats, GradeRows, Ints
from annotator.agreement.records import ComparedGrade
from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import say
from annotator.storage.judgments.current_judgments import LATEST
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import GRADED, PairSettlements
from annotator.storage.sql import fetch_tuples, prepare_sql, read_json
from annotator.storage.tables.central import DocumentRow, PairRow, QueryRow
from annotator.storage.tables.columns import UtcDateTime

MOST_OF_THE_TABLE = 8
"""A dataset with more than this part (an eighth) of all judgments is read by scanning the table."""
PAIRS_AT_ONCE = 50_000
"""The most pairs, by their keys, whose judgments PostgreSQL sends in one value."""
_RUBRIC = "CASE WHEN c.imported = 0 THEN coalesce(c.rubric_pk, 0) ELSE 0 END"
_MADE_AT = "CASE WHEN c.imported < 2 THEN coalesce(c.made_at, 0) ELSE 0 END"
_FROM = f"""FROM current_judgment c CROSS JOIN pair p
WHERE p.pk = c.pair_pk AND {{of_dataset}} AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome = 'graded' AND p.retired_at IS NULL"""
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
    "SELECT (SELECT coalesce(max(pk), 0) FROM rubric) AS last_rubric_pk, "
    "(SELECT coalesce(max(pk), 0) FROM judgment) AS last_judgment_pk, "
    "(SELECT coalesce(sum(answered), 0) FROM query_answers WHERE dataset_pk = :dataset_pk) AS answered"
)


def read_grades(session: Session, dataset_pk: int, blind: Collection[int] = frozenset()) -> GradeRows:
    """Return every judgment of the dataset that counts for agreement.

    `blind`: pairs that the reader may still judge (`list_blind_pairs`); their judgments are absent.
    """
    session.flush()
    ((last_rubric_pk, last_judgment_pk, answered),) = fetch_tuples(
        session, _SIZES, {"dataset_pk": dataset_pk}
    )
    rubrics = last_rubric_pk + 1
    if session.connection().dialect.name == "postgresql":
        columns = _read_bytes(session, dataset_pk, rubrics)
    else:
        # about as many judgments are stored as the last key says, in all datasets
        walk = answered * MOST_OF_THE_TABLE > last_judgment_pk
        columns = _read_numbers(session, dataset_pk, rubrics, walk=walk)
    query, pair, who, made_at = (column.astype(np.int64) for column in columns[:4])
    seconds = columns[4].astype(np.float64)
    seconds[seconds < 0] = np.nan
    under, grade = np.divmod(who, 4)
    annotator, rubric = np.divmod(under, rubrics)
    rows = GradeRows(query, pair, annotator, rubric, grade, made_at, seconds)
    if not blind:
        return rows
    kept = np.isin(pair, np.fromiter(blind, dtype=np.int64, count=len(blind)), invert=True)
    return GradeRows._make(column[kept] for column in rows)


def select_grades(settled: PairSettlements) -> GradeRows:
    """Return the judgments that count, from columns read before; times and guidelines are unknown.

    They are enough for every coefficient. The diagnosis needs `read_grades`.
    """
    graded = settled.answer < GRADED
    index = settled.judged_index[graded]
    unknown = np.zeros(len(index), dtype=np.int64)
    return GradeRows(
        settled.query[index],
        settled.pair[index],
        settled.judged_by[graded],
        unknown,
        settled.answer[graded],
        unknown,
        np.full(len(index), np.nan),
    )


def _read_numbers(session: Session, dataset_pk: int, rubrics: int, *, walk: bool) -> Sequence[Ints | Floats]:
    """Return the columns from SQLite. `walk`: scan the table, faster than its index for a large part."""
    of_dataset = f"c.dataset_pk{' + 0' if walk else ''} = {dataset_pk:d}"
    statement = _NUMBERS.format(rubrics=rubrics, of_dataset=of_dataset, rubric=_RUBRIC, made_at=_MADE_AT)
    rows: Any = session.connection().exec_driver_sql(statement).cursor
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, 5)
    return list(numbers.T)


def _read_bytes(session: Session, dataset_pk: int, rubrics: int) -> Sequence[Ints | Floats]:
    """Return the columns from PostgreSQL: per row four integers and a float, 8 bytes, big-endian."""
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
_VERSIONS = prepare_sql("SELECT pk AS rubric_pk, version FROM rubric WHERE dataset_pk = :dataset_pk")


def list_groupings(session: Session, dataset_pk: int) -> list[str]:
    """Return every field by which the dataset's agreement can be grouped.

    These are fields that any query has, keys of query metadata, `document:` with an attribute of the first
    two thousand documents, and the fields of judgments (OF_JUDGMENTS).
    """
    fields = [col(getattr(QueryRow, name)) for name in GROUP_FIELDS]
    of_dataset = col(QueryRow.dataset_pk) == dataset_pk
    used = [
        name
        for name, field in zip(GROUP_FIELDS, fields, strict=True)
        if session.execute(select(1).where(of_dataset, field.is_not(None)).limit(1)).first()
    ]
    extras = session.scalars(select(col(QueryRow.extra)).where(of_dataset))
    keys = {key for extra in extras for key in extra if key not in GROUP_FIELDS}
    return [*used, *sorted(keys), *_list_document_attributes(session, dataset_pk), *OF_JUDGMENTS]


def read_query_labels(session: Session, dataset_pk: int, by: str) -> dict[int, str | None]:
    """Return the value of this field or metadata key by query_pk. Raises ValidationError if no query has it."""
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
    """Return the document_pk of each pair, and {document_pk: value of the attribute}.

    `by`: `document:` and the attribute's name."""
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
    return dict(fetch_tuples(session, pairs)), labels


def read_versions(session: Session, dataset_pk: int) -> Mapping[int, int]:
    """Return the version of each of the dataset's guidelines, by rubric_pk."""
    return dict(fetch_tuples(session, _VERSIONS, {"dataset_pk": dataset_pk}))


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
    groupings = ", ".join(list_groupings(session, dataset_pk))
    return ValidationError(say("Cannot group by {by!r}: choose one of {known}.", by=by, known=groupings))


def _to_text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_STAMP = prepare_sql(f"""
SELECT {LATEST},
  (SELECT coalesce(max(pk), 0) FROM remap) AS last_remap_pk, (SELECT coalesce(max(pk), 0) FROM rubric) AS last_rubric_pk,
  (SELECT coalesce(max(pk), 0) FROM query) AS last_query_pk, d.kappa_target AS kappa_target, d.seed AS seed,
  d.name AS dataset, (SELECT count(*) FROM check_pair) AS checks, (SELECT max(marked_at) FROM check_pair) AS last_check_at
FROM dataset d WHERE d.pk = :dataset_pk
""")
_PEOPLE = prepare_sql("SELECT pk AS person_pk, username, simulated FROM person ORDER BY pk")


def read_agreement_stamp(session: Session, dataset_pk: int) -> Hashable:
    """Return a value that changes when a judgment, guideline, query, person, setting or check changes."""
    stamp = fetch_tuples(session, _STAMP, {"dataset_pk": dataset_pk})
    return *map(tuple, stamp), *map(tuple, fetch_tuples(session, _PEOPLE, {}))


_FIRST_GRADES = f"""
SELECT j.pair_pk, j.annotator_pk, min(j.pk) AS judgment_pk FROM judgment j
WHERE j.pair_pk IN (SELECT c.pair_pk FROM current_judgment c
    WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :person_pk)
  AND j.purpose = '{COUNTED_PURPOSE}' AND j.outcome = 'graded' AND j.received_at <= :until
GROUP BY j.pair_pk, j.annotator_pk"""
_COMPARED = text(f"""
WITH first AS ({_FIRST_GRADES})
SELECT p.query_pk, p.pk AS pair_pk, b.annotator_pk, own.grade AS own_grade, other.grade AS grade,
  CASE WHEN own.pk > other.pk THEN own.pk ELSE other.pk END AS judgment_pk,
  EXISTS (SELECT 1 FROM current_adjudication d WHERE d.pair_pk = p.pk) AS decided
FROM first a JOIN first b ON b.pair_pk = a.pair_pk AND b.annotator_pk <> a.annotator_pk
JOIN judgment own ON own.pk = a.judgment_pk JOIN judgment other ON other.pk = b.judgment_pk
JOIN pair p ON p.pk = a.pair_pk
WHERE a.annotator_pk = :person_pk""").bindparams(bindparam("until", type_=UtcDateTime))


def list_compared_grades(
    session: Session, dataset_pk: int, person_pk: int, *, until: datetime
) -> list[ComparedGrade]:
    """Return a person's first grades with each other annotator's on the same pairs, up to `until`."""
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk, "until": until}
    return [ComparedGrade(*row) for row in session.execute(_COMPARED, values)]
