"""Load what an annotator sees of a pair.

Never loads ranks, scores, system names or other people's grades.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import OutdatedReason, OwnAnswer, PairView
from annotator.labeling.pair_records import NextPair
from annotator.storage.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.open_pairs import OpenPairsRequest
from annotator.storage.outdated import describe_outdated
from annotator.storage.sql import execute_sql, prepare_sql, read_json
from annotator.storage.tables import DatasetRow, DocumentRow, DocumentTextRow, PairRow

_VIEWS = prepare_sql(
    """
SELECT p.pk, p.key, q.query_id, q.text, q.narrative, q.language, d.doc_id, d.title, d.url, d.media_type, d.text_sha256, d.extra,
  substr(t.text, 1, :most), length(t.text), j.outcome, j.grade, j.note, j.reason, c.stale,
  (SELECT max(r.version) FROM rubric r WHERE r.dataset_pk = p.dataset_pk)
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN judgment j ON j.pk = coalesce((
  SELECT max(x.judgment_pk) FROM quality_pair x CROSS JOIN quality_draw w
  WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk), c.judgment_pk)
WHERE p.pk IN :pairs""",
    lists=["pairs"],
)


class _ViewRow(NamedTuple):
    """A row of _VIEWS."""

    pair_pk: int
    key: str
    query_id: str
    query: str
    narrative: str | None
    language: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text_sha256: str | None
    extra: Any  # JSON as the driver gives it
    text: str | None  # at most SHOWN_CHARACTERS of it
    length: int | None  # of the whole text
    outcome: str | None  # of the annotator's own answer, with its grade, note and reason
    grade: int | None
    note: str | None
    reason: str | None
    stale: int | None
    guideline_version: int


def read_pair_views(session: Session, request: OpenPairsRequest, pairs: Sequence[NextPair]) -> list[PairView]:
    """Return what the annotator is shown of each pair, in this order.

    A repeat and a pair in training are shown without the annotator's own earlier answer.
    """
    if not pairs:
        return []
    values = {
        "annotator_pk": request.annotator_pk,
        "most": SHOWN_CHARACTERS,
        "pairs": [pair.pair_pk for pair in pairs],
    }
    rows = {row.pair_pk: row for row in map(_ViewRow._make, execute_sql(session, _VIEWS, values))}
    with_answer = {pair.pair_pk for pair in pairs if pair.key is None and not pair.training}
    outdated = describe_outdated(session, request, [pk for pk in with_answer if rows[pk].stale])
    columns = session.get_one(DatasetRow, request.dataset_pk).shown_metadata or ()
    return [
        _to_view(rows[pair.pair_pk], pair, columns, outdated, with_answer=pair.pair_pk in with_answer)
        for pair in pairs
    ]


def _to_view(
    row: _ViewRow,
    pair: NextPair,
    columns: Sequence[str],
    outdated: Mapping[int, OutdatedReason],
    *,
    with_answer: bool,
) -> PairView:
    answer = OwnAnswer(row.outcome, row.grade, row.note, row.reason) if row.outcome else None
    return PairView(
        pair=pair.key or row.key,
        query_id=row.query_id,
        query=row.query,
        narrative=row.narrative,
        language=row.language,
        doc_id=row.doc_id,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        text=row.text,
        length=row.length or 0,
        document_sha256=row.text_sha256,
        guideline_version=row.guideline_version,
        metadata=choose_metadata(read_json(row.extra), columns),
        training=pair.training,
        answer=answer if with_answer else None,
        outdated=outdated.get(pair.pair_pk) if with_answer else None,
    )


def find_whole_text(session: Session, pair_pk: int) -> str | None:
    """Return the whole present text of a pair's document, None if there is none."""
    statement = (
        select(col(DocumentTextRow.text))
        .join(
            DocumentRow,
            (col(DocumentRow.pk) == col(DocumentTextRow.document_pk))
            & (col(DocumentRow.text_sha256) == col(DocumentTextRow.sha256)),
        )
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .where(col(PairRow.pk) == pair_pk)
    )
    return session.scalar(statement)
