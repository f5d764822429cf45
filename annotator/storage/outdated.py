"""Find, describe, count and mark judgments that rest on an older guideline or document text.

`current_judgment.stale` marks each: `storage/current_judgments.py` sets it for a new judgment, this file when a
guideline or text changes. Annotators are asked again only where they may still change their judgment: not if a lead has
settled the pair, they have seen others' grades, it is a check now, or it has left the pool.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import OutdatedReason
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import OpenPairsRequest
from annotator.storage.sql import execute_sql, prepare_sql, split_into_chunks
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    RubricRow,
)

OLDER_STANDARD, OLDER_TEXT = 1, 2
CHUNK_OF_DOCUMENTS = 500
_FRESH = """(
  SELECT CASE WHEN r.version < :meaning_since THEN 1 ELSE 0 END
    + CASE WHEN d.text_sha256 <> j.document_sha256 THEN 2 ELSE 0 END
  FROM judgment j JOIN rubric r ON r.pk = j.rubric_pk JOIN pair p ON p.pk = j.pair_pk
  JOIN document d ON d.pk = p.document_pk
  WHERE j.pk = current_judgment.judgment_pk)"""
_MARK = f"UPDATE current_judgment SET stale = {_FRESH} WHERE {{which}} AND stale <> {_FRESH}"
_MARK_ALL = text(_MARK.format(which="dataset_pk = :dataset_pk"))
_MARK_DOCUMENTS = text(
    _MARK.format(which="pair_pk IN (SELECT pk FROM pair WHERE document_pk IN :documents)")
).bindparams(bindparam("documents", expanding=True))
_MARK_OLDER_STANDARD = text(
    "UPDATE current_judgment SET stale = stale + 1 WHERE dataset_pk = :dataset_pk AND stale IN (0, 2)"
)
STILL_THEIRS = """c.stale > 0 AND c.outcome <> 'later' AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = c.pair_pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = c.pair_pk)
  AND NOT EXISTS (SELECT 1 FROM disclosure s WHERE s.pair_pk = c.pair_pk AND s.person_pk = c.annotator_pk)"""
_OUTDATED = prepare_sql(f"""
SELECT p.query_pk, p.pk FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk
WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND {STILL_THEIRS} LIMIT :most""")
_WHY = prepare_sql(
    f"""
SELECT c.pair_pk, c.stale, r.version FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk
JOIN judgment j ON j.pk = c.judgment_pk JOIN rubric r ON r.pk = j.rubric_pk
WHERE c.pair_pk IN :pairs AND c.annotator_pk = :annotator_pk AND {STILL_THEIRS}""",
    lists=["pairs"],
)
_ANSWERS = "FROM current_judgment c WHERE c.dataset_pk = :dataset_pk AND c.outcome <> 'later'"
_FINAL = """(
  SELECT c.pair_pk, c.annotator_pk, c.stale FROM current_adjudication a JOIN current_judgment c ON c.pair_pk = a.pair_pk
    WHERE c.dataset_pk = :dataset_pk AND c.outcome <> 'later'
  UNION SELECT c.pair_pk, c.annotator_pk, c.stale FROM check_pair k JOIN current_judgment c ON c.pair_pk = k.pair_pk
    WHERE c.dataset_pk = :dataset_pk AND c.outcome <> 'later'
  UNION SELECT c.pair_pk, c.annotator_pk, c.stale FROM disclosure s
    JOIN current_judgment c ON c.pair_pk = s.pair_pk AND c.annotator_pk = s.person_pk
    WHERE c.dataset_pk = :dataset_pk AND c.outcome <> 'later') AS final"""


@dataclass(frozen=True, slots=True)
class OutdatedCount:
    """How many answers of an annotator are to be confirmed or changed: all, and those made under an older standard,
    and on an older text (some are both)."""

    annotator: str
    name: str
    answers: int
    older_standard: int
    older_text: int


@dataclass(frozen=True, slots=True)
class JudgmentBasis:
    """What an annotator's answer on a pair rests on, and what its document's text is now."""

    stale: int
    version: int
    document_pk: int
    judged_sha256: str | None
    present_sha256: str | None


def list_outdated(session: Session, worklist: OpenPairsRequest, *, limit: int) -> list[int]:
    """The annotator's pairs (pair_pk) to be confirmed or changed, those of a query together; none that a lead has
    settled or that left the pool. (Sorting is left to the few that are taken: there may be half a million.)"""
    found = execute_sql(session, _OUTDATED, {**worklist.values, "most": limit})
    return [pair_pk for _query_pk, pair_pk in sorted((query_pk, pair_pk) for query_pk, pair_pk in found)]


def describe_outdated(
    session: Session, worklist: OpenPairsRequest, pair_pks: Collection[int]
) -> Mapping[int, OutdatedReason]:
    """Why each of these is asked for again, for those that are."""
    if not pair_pks:
        return {}
    found = execute_sql(session, _WHY, {"annotator_pk": worklist.annotator_pk, "pairs": list(pair_pks)})
    return {
        pair_pk: OutdatedReason(version if stale & OLDER_STANDARD else None, bool(stale & OLDER_TEXT))
        for pair_pk, stale, version in found
    }


def mark_outdated(session: Session, dataset_pk: int, document_pks: Collection[int] | None = None) -> None:
    """Set `current_judgment.stale` anew, for the pairs of these documents (None: for the whole dataset)."""
    session.flush()
    values = {"dataset_pk": dataset_pk, "meaning_since": find_meaning_since(session, dataset_pk)}
    if document_pks is None:
        session.connection().execute(_MARK_ALL, values)
        return
    for chunk in split_into_chunks(sorted(set(document_pks)), CHUNK_OF_DOCUMENTS):
        session.connection().execute(_MARK_DOCUMENTS, {**values, "documents": list(chunk)})


def find_meaning_since(session: Session, dataset_pk: int) -> int:
    """The latest version of the standard that changed what a grade means; 1 while the first one holds."""
    latest = select(func.max(col(RubricRow.version))).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.change) == "semantic"
    )
    return session.scalar(latest) or 1


def mark_older_standard(session: Session, dataset_pk: int) -> None:
    """What a grade means has just changed: every current answer was made under an older standard. (The same as
    `mark_outdated`, in a tenth of its time.)"""
    session.flush()
    session.connection().execute(_MARK_OLDER_STANDARD, {"dataset_pk": dataset_pk})


def count_outdated_by_annotator(session: Session, dataset_pk: int) -> list[OutdatedCount]:
    """For each annotator who has answers to confirm or change, how many, by username. Counted without looking at
    each pair: all of them, less those that are final."""
    counts: Counter[tuple[int, int]] = Counter()
    for sign, source in ((1, f"{_ANSWERS} AND c.stale > 0"), (-1, f"FROM {_FINAL} WHERE stale > 0")):
        statement = text(f"SELECT annotator_pk, stale, count(*) {source} GROUP BY annotator_pk, stale")
        for annotator_pk, stale, number in session.execute(statement, {"dataset_pk": dataset_pk}):
            counts[annotator_pk, stale] += sign * number
    people = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.name))
    people = people.where(col(PersonRow.pk).in_({annotator_pk for annotator_pk, _stale in counts}))
    found = []
    for pk, username, name in session.execute(people):
        one, two, both = (counts[key_of(pk), stale] for stale in (1, 2, 3))
        if one + two + both:
            found.append(OutdatedCount(username, name, one + two + both, one + both, two + both))
    return sorted(found, key=lambda count: count.annotator)


def count_changeable(session: Session, dataset_pk: int) -> int:
    """How many answers would be asked for again, were what a grade means to change now."""
    values = {"dataset_pk": dataset_pk}
    answers = session.execute(text(f"SELECT count(*) {_ANSWERS}"), values).scalar_one()
    final = session.execute(text(f"SELECT count(*) FROM {_FINAL}"), values).scalar_one()
    return int(answers - final)


def count_on_older_text(session: Session, document_pks: Sequence[int]) -> int:
    """How many current answers on these documents were made on another text than the present one."""
    found = 0
    for chunk in split_into_chunks(document_pks, CHUNK_OF_DOCUMENTS):
        statement = (
            select(func.count())
            .select_from(CurrentJudgmentRow)
            .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
            .where(
                col(PairRow.document_pk).in_(chunk),
                col(CurrentJudgmentRow.stale).in_([OLDER_TEXT, OLDER_STANDARD | OLDER_TEXT]),
                col(CurrentJudgmentRow.outcome) != "later",
            )
        )
        found += session.scalar(statement) or 0
    return found


def find_own_standing(session: Session, pair_pk: int, annotator_pk: int) -> JudgmentBasis | None:
    """See `JudgmentBasis`; None without an answer."""
    statement = (
        select(
            col(CurrentJudgmentRow.stale),
            col(RubricRow.version),
            col(PairRow.document_pk),
            col(JudgmentRow.document_sha256),
            col(DocumentRow.text_sha256),
        )
        .select_from(CurrentJudgmentRow)
        .join(JudgmentRow, col(JudgmentRow.pk) == col(CurrentJudgmentRow.judgment_pk))
        .join(RubricRow, col(RubricRow.pk) == col(JudgmentRow.rubric_pk))
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            col(CurrentJudgmentRow.pair_pk) == pair_pk, col(CurrentJudgmentRow.annotator_pk) == annotator_pk
        )
    )
    found = session.execute(statement).first()
    return None if found is None else JudgmentBasis(*found)


def find_text(session: Session, document_pk: int, sha256: str | None) -> str:
    """A text that a document has or had; "" when there is none of that name."""
    statement = select(col(DocumentTextRow.text)).where(
        col(DocumentTextRow.document_pk) == document_pk, col(DocumentTextRow.sha256) == sha256
    )
    return session.scalar(statement) or ""
