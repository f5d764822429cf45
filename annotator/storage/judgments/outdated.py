"""Find, describe, count and mark judgments that rest on an older guideline or document text.

`current_judgment.stale` marks each: `storage/judgments/current_judgments.py` sets it for a new judgment, this
file when the guideline or a text changes. Annotators are asked again only where they may still change their
judgment: not if a lead settled the pair, they saw others' grades, or it left the pool. The same rules hold
for answers on gold pairs and for quality control: otherwise the missing request would reveal a check. The
leads' counts exclude these.

Mark the judgments and disagreements that a new meaning of the grades makes outdated, part by part. A million
pairs take about ten seconds. One transaction would block labeling, so each part is a separate transaction,
and `guideline_marking` stores the last marked pair; `finish_marking` continues after a crash. Judgments made
during the marking are treated correctly: only judgments under an older meaning are marked. Until all are
marked, counts of outdated judgments compare each judgment's version with the guideline's (`write_stale`), so
the counts are right at once.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, OutdatedReason
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.current_judgments import STALE
from annotator.storage.long_writes import LongWrite
from annotator.storage.lookup import OpenPairsRequest, key_of
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.central import (
    DocumentTextRow,
    GuidelineMarkingRow,
    PersonRow,
    RubricRow,
)

PART = 1_000
"""Pairs that are marked in one transaction: some 0.02 s."""
_NEXT = prepare_sql(
    "SELECT max(pk) FROM (SELECT pk FROM pair WHERE dataset_pk + 0 = :dataset_pk AND pk > :after ORDER BY pk LIMIT :part) AS part"
)
_OLDER = f"""EXISTS (SELECT 1 FROM current_judgment c WHERE c.pair_pk = {{pair}} AND c.purpose = '{COUNTED_PURPOSE}'
  AND c.outcome <> 'later' AND coalesce(c.rubric_pk, 0) < :rubric_pk)"""
_IS_STALE = f"""CASE WHEN EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = {{pair}})
  THEN EXISTS (SELECT 1 FROM current_adjudication a JOIN adjudication d ON d.pk = a.adjudication_pk
    WHERE a.pair_pk = {{pair}} AND d.rubric_pk < :rubric_pk)
  ELSE {_OLDER} END"""
_PART = (
    prepare_sql("""
UPDATE current_judgment SET stale = stale + 1
WHERE pair_pk > :after AND pair_pk <= :last AND dataset_pk + 0 = :dataset_pk AND stale IN (0, 2)
  AND coalesce(rubric_pk, 0) < :rubric_pk"""),
    prepare_sql(f"""
UPDATE dispute SET reasons = reasons | :stale, waiting = waiting | :stale, open = true, taste = false,
  since = CASE WHEN open THEN since ELSE :since END
WHERE pair_pk > :after AND pair_pk <= :last AND dataset_pk + 0 = :dataset_pk AND {_IS_STALE.format(pair="dispute.pair_pk")}"""),
    prepare_sql(f"""
INSERT INTO dispute (pair_pk, dataset_pk, query_pk, open, reasons, waiting, distance, since, impact, taste)
SELECT p.pk, p.dataset_pk, p.query_pk, true, :stale, :stale, 0, :since, 0, false FROM pair p
WHERE p.pk > :after AND p.pk <= :last AND p.dataset_pk + 0 = :dataset_pk AND p.retired_at IS NULL AND p.judged > 0
  AND NOT EXISTS (SELECT 1 FROM dispute x WHERE x.pair_pk = p.pk) AND {_IS_STALE.format(pair="p.pk")}"""),
)
_MARKING = prepare_sql("""
SELECT m.rubric_pk, m.after_pair_pk AS after, r.created_at AS since
FROM guideline_marking m JOIN rubric r ON r.pk = m.rubric_pk WHERE m.dataset_pk = :dataset_pk""")
_GO_ON = prepare_sql("UPDATE guideline_marking SET after_pair_pk = :last WHERE dataset_pk = :dataset_pk")
_END = prepare_sql("DELETE FROM guideline_marking WHERE dataset_pk = :dataset_pk")


class _Marking(NamedTuple):
    """`rubric_pk`: the version that changed the meaning. `since`: when, as the driver gives it."""

    rubric_pk: int
    after: int
    since: object


def begin_marking(session: Session, dataset_pk: int, rubric_pk: int) -> None:
    """Note that everything made before this version of the guideline is outdated.

    `finish_marking` marks it.
    """
    session.flush()
    execute_sql(session, _END, {"dataset_pk": dataset_pk})
    values = {"dataset_pk": dataset_pk, "rubric_pk": rubric_pk, "after_pair_pk": 0}
    session.add(GuidelineMarkingRow.model_validate(values))
    session.flush()


def finish_marking(database: Database) -> None:
    """Finish the pending markings of every dataset, part by part. Others can write between two parts.

    Safe for several processes at once: each continues after the last marked pair.
    """
    with database.read() as session:
        dataset_pks = list(session.scalars(select(col(GuidelineMarkingRow.dataset_pk))))
    marking = LongWrite(database)
    for dataset_pk in dataset_pks:
        unfinished = True
        while unfinished:
            with marking.part() as session:
                lock_dataset(session, dataset_pk, archived_too=True)
                unfinished = _mark_part(session, dataset_pk)


def _mark_part(session: Session, dataset_pk: int) -> bool:
    """Mark the next pairs; return whether there may be more."""
    for marking in fetch(session, _MARKING, _Marking, {"dataset_pk": dataset_pk}):
        values = {
            **marking._asdict(),
            "dataset_pk": dataset_pk,
            "stale": int(QueueReason.STALE),
            "part": PART,
        }
        ((last,),) = fetch_tuples(session, _NEXT, values)
        if last is None:
            execute_sql(session, _END, values)
            return False
        for statement in (*_PART, _GO_ON):
            execute_sql(session, statement, {**values, "last": last})
        return True
    return False


def write_stale(session: Session, dataset_pk: int, table: str) -> str:
    """Return `stale` of the current judgments in `table` (a name in the statement) as SQL.

    It is right also while a marking is unfinished.
    """
    marking = session.get(GuidelineMarkingRow, dataset_pk)
    if marking is None:
        return f"{table}.stale"
    older = f"coalesce({table}.rubric_pk, 0) < {int(marking.rubric_pk)}"
    return f"({table}.stale + CASE WHEN {table}.stale IN (0, 2) AND {older} THEN 1 ELSE 0 END)"


OLDER_GUIDELINE, OLDER_TEXT = 1, 2
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
STILL_THEIRS = """c.stale > 0 AND c.outcome <> 'later' AND p.retired_at IS NULL
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = c.pair_pk)
    OR NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = c.pair_pk))
  AND NOT EXISTS (SELECT 1 FROM disclosure s WHERE s.pair_pk = c.pair_pk AND s.person_pk = c.annotator_pk)"""
OWN_ANSWER = """coalesce((SELECT max(x.judgment_pk) FROM quality_pair x CROSS JOIN quality_draw w
  WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk),
  CASE WHEN c.outcome <> 'later' THEN c.judgment_pk END, (SELECT max(x.pk) FROM judgment x
  WHERE x.pair_pk = p.pk AND x.annotator_pk = :annotator_pk AND x.purpose = 'gold' AND NOT x.late), c.judgment_pk)"""
"""The judgment (pk) of the annotator on the pair `p` that holds, whatever it counts for; `c` is their current
judgment."""
OWN_STALE = f"""CASE WHEN j.pk IS NULL THEN 0 WHEN j.pk = c.judgment_pk THEN c.stale
  WHEN EXISTS (SELECT 1 FROM guideline_marking m WHERE m.dataset_pk = p.dataset_pk) THEN 0 ELSE {STALE} END"""
"""How the answer `j` (OWN_ANSWER) is outdated, as `current_judgment.stale`.

Checks wait until a new guideline has marked the rest.
"""
_OWN = f"""LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
JOIN judgment j ON j.pk = {OWN_ANSWER}"""
_CHANGEABLE = """j.outcome <> 'later' AND p.retired_at IS NULL
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk) OR NOT EXISTS (SELECT 1 FROM current_adjudication a
    WHERE a.pair_pk = p.pk AND (j.purpose <> 'quality' OR a.decided_at >= j.received_at)))
  AND NOT EXISTS (SELECT 1 FROM disclosure s WHERE s.pair_pk = p.pk AND s.person_pk = :annotator_pk)"""
OUTDATED_CHECKS = f"""
SELECT p.query_pk, p.pk, j.pk AS judgment_pk FROM (SELECT k.pair_pk FROM check_pair k WHERE k.kind = 'gold'
  UNION SELECT x.pair_pk FROM quality_draw w CROSS JOIN quality_pair x
  WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND x.outcome IS NOT NULL) own
CROSS JOIN pair p {_OWN}
WHERE p.pk = own.pair_pk AND p.dataset_pk = :dataset_pk AND j.purpose IN ('gold', 'quality') AND {_CHANGEABLE} AND {OWN_STALE} > 0"""
_OUTDATED_CHECKS = prepare_sql(f"SELECT z.pk, z.judgment_pk FROM ({OUTDATED_CHECKS}) z")
STALE_ANSWERS = prepare_sql(
    f"SELECT p.pk, {OWN_STALE} FROM pair p {_OWN} WHERE p.pk IN :pairs", lists=["pairs"]
)
_OUTDATED = prepare_sql(f"""
SELECT c.pair_pk, c.judgment_pk FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk
WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND {STILL_THEIRS}
  AND NOT EXISTS (SELECT 1 FROM guideline_marking m WHERE m.dataset_pk = :dataset_pk)
ORDER BY c.judgment_pk LIMIT :most""")
_WHY = prepare_sql(
    f"""
SELECT p.pk, {OWN_STALE}, r.version FROM pair p {_OWN} JOIN rubric r ON r.pk = j.rubric_pk
WHERE p.pk IN :pairs AND {_CHANGEABLE} AND {OWN_STALE} > 0""",
    lists=["pairs"],
)
_BASIS = prepare_sql(f"""
SELECT {OWN_STALE}, r.version, p.document_pk, j.document_sha256, d.text_sha256
FROM pair p {_OWN} JOIN rubric r ON r.pk = j.rubric_pk JOIN document d ON d.pk = p.document_pk WHERE p.pk = :pair_pk""")
_ANSWERS = "FROM current_judgment c WHERE c.dataset_pk = :dataset_pk AND c.outcome <> 'later'"
_FINAL = """(
  SELECT c.pair_pk, c.annotator_pk, c.stale, c.rubric_pk FROM current_adjudication a CROSS JOIN current_judgment c
    WHERE a.dataset_pk = :dataset_pk AND c.pair_pk = a.pair_pk AND c.outcome <> 'later'
      AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = c.pair_pk)
  UNION SELECT c.pair_pk, c.annotator_pk, c.stale, c.rubric_pk FROM disclosure s CROSS JOIN current_judgment c
    WHERE c.pair_pk = s.pair_pk AND c.annotator_pk = s.person_pk AND c.dataset_pk + 0 = :dataset_pk
      AND c.outcome <> 'later') AS final"""  # CROSS JOIN: from the few, each by its key, not from every judgment


@dataclass(frozen=True, slots=True)
class OutdatedCount:
    """The number of one annotator's judgments that are to be confirmed or changed."""

    annotator: str
    name: str
    answers: int
    older_guideline: int
    older_text: int


@dataclass(frozen=True, slots=True)
class JudgmentBasis:
    """The guideline version and text under which a judgment was made, and the present text."""

    stale: int  # 1: older guideline, 2: older text, 3: both
    version: int  # of the guideline it was made under
    document_pk: int
    judged_sha256: str | None
    present_sha256: str | None


def list_outdated(
    session: Session, request: OpenPairsRequest, *, limit: int, checks: bool = True
) -> list[int]:
    """Return up to `limit` of the annotator's pairs (pair_pk) to confirm or change, in order of receipt.

    Excludes pairs that a lead has settled or that left the pool. `checks`: include answers on checks; another
    order would reveal them. While a new guideline marks outdated answers, nothing is listed: checks are marked
    when it has ended.
    """
    judgment_pks = dict(fetch_tuples(session, _OUTDATED, {**request.values, "most": limit}))
    if checks:
        judgment_pks.update(fetch_tuples(session, _OUTDATED_CHECKS, request.values))
    return sorted(judgment_pks, key=judgment_pks.__getitem__)[:limit]


def describe_outdated(
    session: Session, request: OpenPairsRequest, pair_pks: Collection[int]
) -> Mapping[int, OutdatedReason]:
    """Return {pair_pk: why its judgment is outdated}; other pairs are absent."""
    rows = fetch_tuples(session, _WHY, {"annotator_pk": request.annotator_pk, "pairs": list(pair_pks)})
    return {
        pair_pk: OutdatedReason(version if stale & OLDER_GUIDELINE else None, bool(stale & OLDER_TEXT))
        for pair_pk, stale, version in rows
    }


def mark_outdated(session: Session, dataset_pk: int, document_pks: Collection[int] | None = None) -> None:
    """Recompute `current_judgment.stale` for the pairs of these documents (None: for the whole dataset)."""
    session.flush()
    values = {"dataset_pk": dataset_pk, "meaning_since": find_meaning_since(session, dataset_pk)}
    if document_pks is None:
        session.connection().execute(_MARK_ALL, values)
        return
    for chunk in split_into_chunks(sorted(set(document_pks)), CHUNK_OF_DOCUMENTS):
        session.connection().execute(_MARK_DOCUMENTS, {**values, "documents": list(chunk)})


def find_meaning_since(session: Session, dataset_pk: int) -> int:
    """Return the latest version of the guideline that changed what a grade means, 1 if none did."""
    latest = select(func.max(col(RubricRow.version))).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.change) == "semantic"
    )
    return session.scalar(latest) or 1


def count_outdated_by_annotator(session: Session, dataset_pk: int) -> list[OutdatedCount]:
    """Count the judgments to confirm or change per annotator, sorted by username.

    Annotators without any are absent. Counts all outdated judgments and subtracts the final ones.
    """
    counts: Counter[tuple[int, int]] = Counter()
    own, final = write_stale(session, dataset_pk, "c"), write_stale(session, dataset_pk, "final")
    sources = ((1, own, f"{_ANSWERS} AND {own} > 0"), (-1, final, f"FROM {_FINAL} WHERE {final} > 0"))
    for sign, flags, source in sources:
        statement = text(f"SELECT annotator_pk, {flags} AS stale, count(*) {source} GROUP BY 1, 2")
        for annotator_pk, stale, number in session.execute(statement, {"dataset_pk": dataset_pk}):
            counts[annotator_pk, stale] += sign * number
        if not counts:
            return []
    people = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.name))
    people = people.where(col(PersonRow.pk).in_({annotator_pk for annotator_pk, _stale in counts}))
    outdated = []
    for pk, username, name in session.execute(people):
        older_guideline, older_text, both = (counts[key_of(pk), stale] for stale in (1, 2, 3))
        if total := older_guideline + older_text + both:
            outdated.append(OutdatedCount(username, name, total, older_guideline + both, older_text + both))
    return sorted(outdated, key=lambda count: count.annotator)


def count_changeable(session: Session, dataset_pk: int) -> int:
    """Count the judgments that would be asked for again if what a grade means changed now."""
    values = {"dataset_pk": dataset_pk}
    answers = session.execute(text(f"SELECT count(*) {_ANSWERS}"), values).scalar_one()
    final = session.execute(text(f"SELECT count(*) FROM {_FINAL}"), values).scalar_one()
    return int(answers - final)


_ON_OLDER_TEXT = prepare_sql(
    "SELECT count(*) FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk WHERE p.document_pk IN :documents "
    f"AND c.stale IN ({OLDER_TEXT}, {OLDER_GUIDELINE | OLDER_TEXT}) AND c.outcome <> 'later'",
    lists=["documents"],
)


def count_on_older_text(session: Session, document_pks: Sequence[int]) -> int:
    """Count the current judgments of these documents that were made on another text than the present one."""
    session.flush()
    chunks = split_into_chunks(document_pks, CHUNK_OF_DOCUMENTS)
    return sum(fetch_tuples(session, _ON_OLDER_TEXT, {"documents": chunk})[0][0] for chunk in chunks)


def find_judgment_basis(session: Session, pair_pk: int, annotator_pk: int) -> JudgmentBasis | None:
    """Return the basis of the annotator's judgment of the pair, or None without a judgment."""
    rows = fetch_tuples(session, _BASIS, {"pair_pk": pair_pk, "annotator_pk": annotator_pk})
    return JudgmentBasis(*rows[0]) if rows else None


def find_text(session: Session, document_pk: int, sha256: str | None) -> str:
    """Return a present or earlier text of a document by its hash, or ""."""
    statement = select(col(DocumentTextRow.text)).where(
        col(DocumentTextRow.document_pk) == document_pk, col(DocumentTextRow.sha256) == sha256
    )
    return session.scalar(statement) or ""
