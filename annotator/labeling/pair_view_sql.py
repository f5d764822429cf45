"""Load what an annotator sees of a pair, and what decides whether the annotator may judge it.

Finds all pairs that the browser names in one read, by the browser's own keys; the result of that is never sent anywhere.
Never loads ranks, scores, system names or other people's grades for an annotator.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import OutdatedReason, OwnAnswer, PairView
from annotator.labeling.checks_sql import NextPair, find_repeats
from annotator.storage.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.labeling_tables import RepeatRow
from annotator.storage.open_pairs import OpenPairsRequest
from annotator.storage.outdated import describe_outdated
from annotator.storage.quality_pairs import DECIDED_SINCE
from annotator.storage.sql import execute_sql, prepare_sql, read_json
from annotator.storage.tables import DatasetRow, DocumentRow, DocumentTextRow, PairRow

_COLUMNS = """
SELECT p.key, p.pk, p.query_pk, p.document_pk, p.retired_at IS NOT NULL, p.kept AND p.judged = 0, p.wanted, p.lacking,
  p.judged, k.kind, EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk),
  EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk),
  l.pair_pk IS NOT NULL, c.outcome, c.purpose, c.stale, (
    SELECT max(CASE WHEN x.outcome IS NULL THEN 'waiting' WHEN {decided_since} THEN 'decided' ELSE x.outcome END)
    FROM quality_pair x CROSS JOIN quality_draw w
    WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk
      AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk))
FROM pair p LEFT JOIN check_pair k ON k.pair_pk = p.pk
LEFT JOIN lease l ON l.pair_pk = p.pk AND l.annotator_pk = :annotator_pk
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.dataset_pk + 0 = :dataset_pk AND p.{column} IN :named"""
_BY_KEY, _BY_PK = (
    prepare_sql(_COLUMNS.format(column=column, decided_since=DECIDED_SINCE), lists=["named"])
    for column in ("key", "pk")
)
_TRIED = prepare_sql(
    "SELECT DISTINCT pair_pk FROM judgment WHERE pair_pk IN :named AND annotator_pk = :annotator_pk "
    "AND purpose = :kind AND outcome <> 'later'",
    lists=["named"],
)


@dataclass(frozen=True, slots=True)
class AnnotatorPairState:
    """A pair, and how it stands for one annotator. `kept`: its grade is kept and nobody judged it; `kind`: "training",
    "gold" or None; `outcome`, `purpose`, `stale`: of the annotator's own current answer, None without one; `repeat_pk`:
    the key is that of a repeat; `tried`: answered before as a check; `drawn`: for this annotator by quality control, so
    `settled` only once a lead has decided on their answer."""

    pair_pk: int
    query_pk: int
    document_pk: int
    retired: bool
    kept: bool
    wanted: int
    lacking: int
    judged: int
    kind: str | None
    settled: bool
    disclosed: bool
    leased: bool
    outcome: str | None
    purpose: str | None
    stale: int
    repeat_pk: int | None = None
    tried: bool = False
    drawn: bool = False

    @property
    def answered(self) -> bool:
        """Whether the annotator has an own answer that holds."""
        return self.outcome not in (None, "later")

    @property
    def gone(self) -> bool:
        """Whether nobody judges the pair any more, or not this annotator."""
        return self.retired or self.disclosed or (self.settled and self.kind is None)


def read_standings(
    session: Session, worklist: OpenPairsRequest, keys: Collection[str]
) -> dict[str, AnnotatorPairState]:
    """The pairs of this dataset behind these keys, a repeat's own key included; others are left out."""
    if not keys:
        return {}
    session.flush()
    values = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    found = {row[0]: _standing(row) for row in execute_sql(session, _BY_KEY, {**values, "named": list(keys)})}
    unknown = [key for key in keys if key not in found]
    repeats = find_repeats(session, worklist, unknown) if unknown else {}
    if repeats:
        pks = [target.pair_pk for target in repeats.values()]
        again = {row[1]: _standing(row) for row in execute_sql(session, _BY_PK, {**values, "named": pks})}
        answered = _list_answered_repeats(session, [target.repeat_pk for target in repeats.values()])
        for key, target in repeats.items():
            done = target.repeat_pk in answered
            found[key] = replace(again[target.pair_pk], repeat_pk=target.repeat_pk, tried=done)
    return _note_tried(session, values, found)


def find_needless(standings: dict[str, AnnotatorPairState], *, whole: bool = False) -> list[str]:
    """The keys of those that need nothing any more from this annotator: answered elsewhere, settled by a lead or by
    an earlier ground truth, no longer in the pool, or judged by as many as they want. `whole`: in a list of all of a
    query's pairs what is answered stays."""
    return [key for key, one in standings.items() if (one.gone if whole else not _is_needed(one))]


def is_others_repeat(session: Session, key: str) -> bool:
    """Whether the key is that of a repeat; ask only when it is none of this annotator's."""
    return bool(session.scalar(select(exists().where(col(RepeatRow.key) == key))))


def _is_needed(one: AnnotatorPairState) -> bool:
    if one.gone:
        return False
    if one.repeat_pk is not None:
        return not one.tried
    if one.answered:
        return one.stale > 0 and one.kind is None
    if one.kind == "training":
        return not one.tried or one.leased
    if one.kind == "gold":
        return not one.tried
    return one.drawn or one.lacking > 0


def _standing(row: Any) -> AnnotatorPairState:
    _key, pk, query, document, retired, kept, wanted, lacking, judged, kind, settled, disclosed, leased = row[
        :13
    ]
    outcome, purpose, stale, drawn = row[13:]
    if kind is not None or outcome not in (None, "later"):
        drawn = None
    if drawn is not None:
        settled, outcome, purpose, stale = (
            drawn == "decided",
            None if drawn == "waiting" else drawn,
            "quality",
            0,
        )
    flags = (bool(settled), bool(disclosed), bool(leased))
    return AnnotatorPairState(
        pk,
        query,
        document,
        bool(retired),
        bool(kept),
        wanted,
        lacking,
        judged,
        kind,
        *flags,
        outcome,
        purpose,
        stale or 0,
        drawn=drawn is not None,
    )


def _list_answered_repeats(session: Session, repeat_pks: Collection[int]) -> set[int]:
    answered = select(col(RepeatRow.pk)).where(
        col(RepeatRow.pk).in_(repeat_pks), col(RepeatRow.answered_at).is_not(None)
    )
    return {pk for pk in session.scalars(answered) if pk is not None}


def _note_tried(
    session: Session, values: dict[str, int], found: dict[str, AnnotatorPairState]
) -> dict[str, AnnotatorPairState]:
    """Say of the checks among them which the annotator has answered before."""
    for kind in ("training", "gold"):
        pks = [one.pair_pk for one in found.values() if one.kind == kind and one.repeat_pk is None]
        if pks:
            tried = set(execute_sql(session, _TRIED, {**values, "kind": kind, "named": pks}).scalars())
            for key, one in found.items():
                if one.pair_pk in tried and one.repeat_pk is None:
                    found[key] = replace(one, tried=True)
    return found


_HANDED = prepare_sql(
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
_VERSIONS = prepare_sql("SELECT version, pk FROM rubric WHERE dataset_pk = :dataset_pk")
_TEXTS = prepare_sql(
    "SELECT d.pk, d.text_sha256, t.sha256 FROM document d LEFT JOIN document_text t ON t.document_pk = d.pk "
    "WHERE d.pk IN :documents",
    lists=["documents"],
)
_STORED = prepare_sql(
    "SELECT event_id, pair_pk, annotator_pk, outcome, grade FROM judgment WHERE event_id IN :events",
    lists=["events"],
)


class StoredEvent(NamedTuple):
    """What a stored event stands for."""

    pair_pk: int
    annotator_pk: int
    outcome: str
    grade: int | None


def read_handed(session: Session, worklist: OpenPairsRequest, handouts: Sequence[NextPair]) -> list[PairView]:
    """What the annotator is shown of each, in this order, with their own answer where there is one to show."""
    if not handouts:
        return []
    named = {"annotator_pk": worklist.annotator_pk, "most": SHOWN_CHARACTERS}
    rows = execute_sql(session, _HANDED, {**named, "pairs": [handout.pair_pk for handout in handouts]})
    found = {row.pk: row for row in rows}
    plain = {one.pair_pk for one in handouts if one.key is None and not one.training}
    outdated = describe_outdated(session, worklist, [pk for pk in plain if found[pk].stale])
    shown = session.get_one(DatasetRow, worklist.dataset_pk).shown_metadata or ()
    return [_show(found[one.pair_pk], one, shown, outdated, own=one.pair_pk in plain) for one in handouts]


def _show(
    row: Any, handout: NextPair, shown: Sequence[str], outdated: Mapping[int, OutdatedReason], *, own: bool
) -> PairView:
    """A row of _HANDED as it is shown; `own`: with the annotator's own answer."""
    return PairView(
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
    found = execute_sql(session, _VERSIONS, {"dataset_pk": dataset_pk})
    return {row.version: row.pk for row in found}


def list_text_hashes(
    session: Session, document_pks: Collection[int]
) -> dict[int, tuple[str | None, set[str]]]:
    """The SHA-256 of each document's present text, and of all that it has or had."""
    found: dict[int, tuple[str | None, set[str]]] = {}
    for pk, present, sha in execute_sql(session, _TEXTS, {"documents": list(document_pks)}):
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


def find_stored(session: Session, event_ids: Iterable[str]) -> dict[str, StoredEvent]:
    """What is stored under these event ids, by event id."""
    found = execute_sql(session, _STORED, {"events": list(event_ids)})
    return {event_id: StoredEvent(*stored) for event_id, *stored in found}
