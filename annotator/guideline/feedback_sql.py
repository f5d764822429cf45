"""Read current decisions as examples for the guideline, and store which decisions led to which version.

Writes run in the transaction that publishes a version. `guideline/records.py` decides which decisions ask for
guidance and which version answers them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotFound
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import say
from annotator.domain.settling import Decided, QueueReason, read_decision
from annotator.guideline.records import TEACHING, Apart, DecisionExample, find_answer, teaches
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.lookup import key_of
from annotator.storage.sql import add_rows, fetch, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, GuidelineDecisionRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import QuestionRow

DecisionKey = tuple[str, int]
"""A decision: its pair's key, and its revision."""
CHUNK = 500
_COLUMNS = """
SELECT a.pair_pk, p.key AS pair, a.revision, q.query_id, q.text AS query, q.category, d.doc_id, d.title, a.outcome, a.grade,
  a.rationale, a.cause, a.in_guideline, a.decided_at, s.low, s.high, coalesce(s.reasons, 0) AS reasons,
  coalesce(s.impact, 0.0) AS impact"""
_JOINS = """
JOIN pair p ON p.pk = a.pair_pk JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute s ON s.pair_pk = p.pk"""
_CURRENT_DECISIONS = prepare_sql(f"""{_COLUMNS}, NULL AS version
FROM current_adjudication h JOIN adjudication a ON a.pk = h.adjudication_pk{_JOINS}
WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL ORDER BY a.pk""")
_DECISIONS_BEHIND = prepare_sql(f"""{_COLUMNS}, r.version
FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk JOIN adjudication a ON a.pk = g.adjudication_pk{_JOINS}
WHERE r.dataset_pk = :dataset_pk ORDER BY r.version, a.pk""")
_VERSIONS_OF_DECISIONS = prepare_sql("""
SELECT a.pair_pk, a.revision, r.version FROM guideline_decision g
JOIN rubric r ON r.pk = g.rubric_pk JOIN adjudication a ON a.pk = g.adjudication_pk WHERE r.dataset_pk = :dataset_pk""")
_GRADES = f"""
SELECT c.pair_pk, c.grade FROM ({{which}}) x JOIN current_judgment c ON c.pair_pk = x.pair_pk
WHERE c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'"""
_GRADES_OF_CURRENT = prepare_sql(
    _GRADES.format(which="SELECT pair_pk FROM current_adjudication WHERE dataset_pk = :dataset_pk")
)
_GRADES_BEHIND = prepare_sql(
    _GRADES.format(
        which="SELECT DISTINCT a.pair_pk FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk "
        "JOIN adjudication a ON a.pk = g.adjudication_pk WHERE r.dataset_pk = :dataset_pk"
    )
)
_DECISIONS_ASKING = prepare_sql(
    """
SELECT a.pair_pk, a.revision, a.cause, a.in_guideline FROM current_adjudication h
JOIN adjudication a ON a.pk = h.adjudication_pk JOIN pair p ON p.pk = h.pair_pk
WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL AND (a.in_guideline OR a.cause IN :causes)""",
    lists=["causes"],
)
_QUESTION_COUNT = prepare_sql("""
SELECT count(*) AS number FROM question u JOIN pair p ON p.pk = u.pair_pk
WHERE p.dataset_pk = :dataset_pk AND u.in_guideline AND u.answer IS NOT NULL""")
_LENGTHS = prepare_sql(
    """
SELECT p.key, length(t.text) AS characters FROM pair p JOIN document d ON d.pk = p.document_pk
JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
WHERE +p.dataset_pk = :dataset_pk AND p.key IN :pairs""",
    lists=["pairs"],
)
_CAUSES = prepare_sql("""
SELECT a.cause, count(*) AS number FROM current_adjudication h JOIN adjudication a ON a.pk = h.adjudication_pk
JOIN pair p ON p.pk = h.pair_pk WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL GROUP BY a.cause""")

_COUNTS_BEHIND = prepare_sql("""
SELECT r.version, q.category, count(*) AS number FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk
JOIN adjudication a ON a.pk = g.adjudication_pk JOIN pair p ON p.pk = a.pair_pk JOIN query q ON q.pk = p.query_pk
WHERE r.dataset_pk = :dataset_pk GROUP BY r.version, q.category""")


class _DecisionRow(NamedTuple):
    """A row of _CURRENT_DECISIONS (without a version) or _DECISIONS_BEHIND."""

    pair_pk: int
    pair: str
    revision: int
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    outcome: str
    grade: int | None
    rationale: str
    cause: str | None
    in_guideline: bool
    decided_at: datetime
    low: int | None
    high: int | None
    reasons: int
    impact: float
    version: int | None


def list_current_decisions(session: Session, dataset_pk: int) -> list[DecisionExample]:
    """Return all current decisions, oldest first."""
    values = {"dataset_pk": dataset_pk}
    grades = _group_grades(fetch_tuples(session, _GRADES_OF_CURRENT, values))
    versions = _read_versions(session, dataset_pk)
    return [
        _to_example(row, grades, find_answer(row.revision, row.in_guideline, versions.get(row.pair_pk, ())))
        for row in fetch(session, _CURRENT_DECISIONS, _DecisionRow, values)
    ]


def list_decisions_behind_versions(session: Session, dataset_pk: int) -> dict[int, list[DecisionExample]]:
    """Return {version: decisions that led to it}."""
    values = {"dataset_pk": dataset_pk}
    grades = _group_grades(fetch_tuples(session, _GRADES_BEHIND, values))
    by_version = defaultdict[int, list[DecisionExample]](list)
    for row in fetch(session, _DECISIONS_BEHIND, _DecisionRow, values):
        if row.version is not None:
            by_version[row.version].append(_to_example(row, grades, row.version))
    return dict(by_version)


def count_waiting(session: Session, dataset_pk: int) -> int:
    """Count the decisions and marked questions that wait for the guideline."""
    values = {"dataset_pk": dataset_pk, "causes": sorted(TEACHING)}
    versions = _read_versions(session, dataset_pk)
    decisions = sum(
        teaches(cause, bool(in_guideline))
        and find_answer(revision, bool(in_guideline), versions.get(pair_pk, ())) is None
        for pair_pk, revision, cause, in_guideline in fetch_tuples(session, _DECISIONS_ASKING, values)
    )
    ((questions,),) = fetch_tuples(session, _QUESTION_COUNT, values)
    return decisions + int(questions)


def count_decisions_behind(session: Session, dataset_pk: int) -> dict[int, dict[str | None, int]]:
    """Return {version: {category: number of decisions that led to it}}."""
    counts = defaultdict[int, dict[str | None, int]](dict)
    for version, category, number in fetch_tuples(session, _COUNTS_BEHIND, {"dataset_pk": dataset_pk}):
        counts[version][category] = number
    return dict(counts)


def count_causes(session: Session, dataset_pk: int) -> dict[str | None, int]:
    """Count current decisions by cause; None: without a cause."""
    return dict(fetch_tuples(session, _CAUSES, {"dataset_pk": dataset_pk}))


def read_lengths(session: Session, dataset_pk: int, pairs: Sequence[str]) -> dict[str, int]:
    """Return {pair key: characters of the document}, for pairs with a text."""
    lengths: dict[str, int] = {}
    for chunk in split_into_chunks(pairs, CHUNK):
        values = {"dataset_pk": dataset_pk, "pairs": list(chunk)}
        lengths.update(fetch_tuples(session, _LENGTHS, values))
    return lengths


def add_decisions_behind(
    session: Session,
    dataset_pk: int,
    rubric_pk: int,
    version: int,
    decisions: Collection[DecisionKey],
    *,
    person_pk: int | None,
    now: datetime,
) -> None:
    """Store that these decisions led to a version, also in each pair's audit log. Raises NotFound."""
    keys = _find_decisions(session, dataset_pk, decisions)
    add_rows(
        session,
        GuidelineDecisionRow,
        [{"rubric_pk": rubric_pk, "adjudication_pk": pk} for pk, _pair_pk in keys],
    )
    events = [
        AuditEvent(
            "published guideline",
            dataset_pk,
            person_pk,
            now,
            pair_pk,
            after={"version": version, "led": True},
        )
        for pair_pk in sorted({pair_pk for _pk, pair_pk in keys})
    ]
    add_events(session, events)


def unmark_questions(session: Session, dataset_pk: int, questions: Collection[int]) -> None:
    """Remove the mark "for the guideline" from these questions. Raises NotFound."""
    for number in sorted(set(questions)):
        statement = select(QuestionRow).join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        question = session.scalars(
            statement.where(col(QuestionRow.pk) == number, col(PairRow.dataset_pk) == dataset_pk)
        ).first()
        if question is None:
            raise NotFound(say("there is no such question in this dataset"))
        question.in_guideline = False
        session.add(question)


def _find_decisions(
    session: Session, dataset_pk: int, decisions: Collection[DecisionKey]
) -> list[tuple[int, int]]:
    """Return (adjudication_pk, pair_pk) of each decision, in order."""
    requested, keys = set(decisions), dict[DecisionKey, tuple[int, int]]()
    for chunk in split_into_chunks(sorted({pair for pair, _ in requested}), CHUNK):
        statement = (
            select(
                col(PairRow.key),
                col(AdjudicationRow.revision),
                col(AdjudicationRow.pk),
                col(PairRow.pk),
            )
            .join(PairRow, col(PairRow.pk) == col(AdjudicationRow.pair_pk))
            .where(
                col(PairRow.dataset_pk) == dataset_pk,
                col(PairRow.key).in_(chunk),
                col(AdjudicationRow.outcome) != "withdrawn",
            )
        )
        for pair, revision, pk, pair_pk in session.execute(statement):
            keys[pair, revision] = key_of(pk), key_of(pair_pk)
    for pair, revision in sorted(requested - set(keys)):
        raise NotFound(say("There is no decision {revision} on pair {pair!r}.", revision=revision, pair=pair))
    return sorted(keys[decision] for decision in requested)


def _read_versions(session: Session, dataset_pk: int) -> dict[int, list[tuple[int, int]]]:
    """Return {pair_pk: [(revision, version)]} for decisions that led to a version."""
    by_pair = defaultdict[int, list[tuple[int, int]]](list)
    rows = fetch_tuples(session, _VERSIONS_OF_DECISIONS, {"dataset_pk": dataset_pk})
    for pair_pk, revision, version in rows:
        by_pair[pair_pk].append((revision, version))
    return by_pair


def _group_grades(rows: Iterable[tuple[int, int | None]]) -> Mapping[int, tuple[Decided, ...]]:
    """Return {pair_pk: judgments}: grades from the lowest, then "unrateable"."""
    by_pair = defaultdict[int, list[int | None]](list)
    for pair_pk, grade in rows:
        by_pair[pair_pk].append(grade)
    return {
        pair_pk: tuple(
            "unrateable" if grade is None else grade
            for grade in sorted(grades, key=lambda grade: (grade is None, grade or 0))
        )
        for pair_pk, grades in by_pair.items()
    }


def _to_example(
    row: _DecisionRow, grades: Mapping[int, tuple[Decided, ...]], answered_in: int | None
) -> DecisionExample:
    decided = read_decision(row.outcome, row.grade)
    return DecisionExample(
        pair=row.pair,
        revision=row.revision,
        query_id=row.query_id,
        query=row.query,
        category=row.category,
        doc_id=row.doc_id,
        title=row.title,
        grades=grades.get(row.pair_pk, ()),
        decided="unrateable" if decided is None else decided,
        rationale=row.rationale,
        cause=row.cause,
        in_guideline=row.in_guideline,
        apart=_find_difference(row.low, row.high, QueueReason(row.reasons)),
        impact=float(row.impact),
        decided_at=row.decided_at,
        answered_in=answered_in,
    )


def _find_difference(low: int | None, high: int | None, reasons: QueueReason) -> Apart | None:
    if low is not None and high is not None:
        return low, high
    return "unrateable" if QueueReason.UNRATEABLE in reasons else None
