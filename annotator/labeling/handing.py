"""Reads what an annotator is shown, and what a hand-in names: pairs, texts, rubric versions.

What is read here for an annotator holds no rank, no score, no system and nobody's grade.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import HandedPair, Outdated, OwnAnswer
from annotator.labeling.checks_sql import Handout
from annotator.storage.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.open_pairs import Worklist
from annotator.storage.outdated import describe_outdated
from annotator.storage.sql import prepare, read_json, run
from annotator.storage.tables import DatasetRow, DocumentRow, DocumentTextRow, PairRow

_HANDED = prepare(
    """
SELECT p.pk, p.key, q.query_id, q.text AS query, q.narrative, q.language, d.doc_id, d.title, d.url, d.media_type, d.text_sha256, d.extra,
  substr(t.text, 1, :most) AS text, length(t.text) AS length, j.outcome, j.grade, j.note, j.reason, c.stale,
  (SELECT max(r.version) FROM rubric r WHERE r.dataset_pk = p.dataset_pk) AS version
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN judgment j ON j.pk = coalesce((
  SELECT max(x.judgment_pk) FROM quality_pair x CROSS JOIN quality_draw w
  WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk), c.judgment_pk)
WHERE p.pk IN :pairs""",
    lists=["pairs"],
)
_VERSIONS = prepare("SELECT version, pk FROM rubric WHERE dataset_pk = :dataset_pk")
_TEXTS = prepare(
    "SELECT d.pk, d.text_sha256, t.sha256 FROM document d LEFT JOIN document_text t ON t.document_pk = d.pk "
    "WHERE d.pk IN :documents",
    lists=["documents"],
)
_STORED = prepare(
    "SELECT event_id, pair_pk, annotator_pk, outcome, grade FROM judgment WHERE event_id IN :events",
    lists=["events"],
)


class Stored(NamedTuple):
    """What a stored event stands for."""

    pair_pk: int
    annotator_pk: int
    outcome: str
    grade: int | None


def read_handed(session: Session, worklist: Worklist, handouts: Sequence[Handout]) -> list[HandedPair]:
    """What the annotator is shown of each, in this order, with their own answer where there is one to show."""
    if not handouts:
        return []
    named = {"annotator_pk": worklist.annotator_pk, "most": SHOWN_CHARACTERS}
    rows = run(session, _HANDED, {**named, "pairs": [handout.pair_pk for handout in handouts]})
    found = {row.pk: row for row in rows}
    plain = {one.pair_pk for one in handouts if one.key is None and not one.training}
    outdated = describe_outdated(session, worklist, [pk for pk in plain if found[pk].stale])
    shown = session.get_one(DatasetRow, worklist.dataset_pk).shown_metadata or ()
    return [_show(found[one.pair_pk], one, shown, outdated, own=one.pair_pk in plain) for one in handouts]


def _show(
    row: Any, handout: Handout, shown: Sequence[str], outdated: Mapping[int, Outdated], *, own: bool
) -> HandedPair:
    """A row of _HANDED as it is shown; `own`: with the annotator's own answer."""
    return HandedPair(
        pair=handout.key or row.key,
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
        guideline_version=row.version,
        metadata=choose_metadata(read_json(row.extra), shown),
        training=handout.training,
        answer=OwnAnswer(row.outcome, row.grade, row.note, row.reason) if own and row.outcome else None,
        outdated=outdated.get(handout.pair_pk) if own else None,
    )


def list_rubric_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    """The primary key of each version of the standard."""
    found = run(session, _VERSIONS, {"dataset_pk": dataset_pk})
    return {row.version: row.pk for row in found}


def list_text_hashes(
    session: Session, document_pks: Collection[int]
) -> dict[int, tuple[str | None, set[str]]]:
    """The SHA-256 of each document's present text, and of all that it has or had."""
    found: dict[int, tuple[str | None, set[str]]] = {}
    for pk, present, sha in run(session, _TEXTS, {"documents": list(document_pks)}):
        texts = found.setdefault(pk, (present, set()))[1]
        if sha is not None:
            texts.add(sha)
    return found


def find_whole_text(session: Session, pair_pk: int) -> str | None:
    """The whole present text of the document of a pair; None when there is none."""
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


def find_stored(session: Session, event_ids: Iterable[str]) -> dict[str, Stored]:
    """What is stored under these event ids, by event id."""
    found = run(session, _STORED, {"events": list(event_ids)})
    return {event_id: Stored(*stored) for event_id, *stored in found}
