"""Reads by what a dataset's pairs can be grouped, and the value of each: fields and metadata of queries, attributes of documents.

Used by `agreement/`. A value is text as it was imported; None where a query or document has none.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS
from annotator.domain.messages import say
from annotator.storage.lookup import key_of
from annotator.storage.plain import fetch_plain
from annotator.storage.sql import prepare, read_json, run
from annotator.storage.tables import DocumentRow, PairRow, QueryRow

GROUP_FIELDS: tuple[str, ...] = tuple(name for name in QUERY_FIELDS if name != "narrative")
OF_JUDGMENTS: tuple[str, ...] = ("annotator", "guideline_version", "week")
DOCUMENT = "document:"
MOST_DOCUMENTS_LOOKED_AT = 2_000
_VERSIONS = prepare("SELECT pk, version FROM rubric WHERE dataset_pk = :dataset_pk")


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
    return {row.pk: row.version for row in run(session, _VERSIONS, {"dataset_pk": dataset_pk})}


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
