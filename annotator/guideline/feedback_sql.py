"""What decided disputes teach, as it is stored: the decisions that hold, and the versions of the guideline that some led to.

Read for `guideline/`, written for `guideline/` in the transaction that publishes a version. What teaches, and what answers it,
is said in `guideline/records.py`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.domain.settling import Decided, QueueReason, read_decision
from annotator.guideline.records import TEACHING, Apart, DecisionExample, find_answer, teaches
from annotator.storage.adjudication_tables import AdjudicationRow, GuidelineDecisionRow
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.labeling_tables import QuestionRow
from annotator.storage.lookup import key_of
from annotator.storage.sql import add_rows, execute_sql, prepare_sql, read_time, split_into_chunks
from annotator.storage.tables import PairRow

Named = tuple[str, int]
"""A decision: its pair's key, and its revision."""
CHUNK = 500
_COLUMNS = """
SELECT a.pk, a.pair_pk, p.key AS pair, a.revision, q.query_id, q.text AS query, q.category, d.doc_id, d.title, a.outcome, a.grade,
  a.rationale, a.cause, a.in_guideline, a.decided_at, s.low, s.high, coalesce(s.reasons, 0) AS reasons,
  coalesce(s.impact, 0.0) AS impact"""
_JOINS = """
JOIN pair p ON p.pk = a.pair_pk JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute s ON s.pair_pk = p.pk"""
_HELD = prepare_sql(f"""{_COLUMNS}
FROM current_adjudication h JOIN adjudication a ON a.pk = h.adjudication_pk{_JOINS}
WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL ORDER BY a.pk""")
_LED = prepare_sql(f"""{_COLUMNS}, r.version
FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk JOIN adjudication a ON a.pk = g.adjudication_pk{_JOINS}
WHERE r.dataset_pk = :dataset_pk ORDER BY r.version, a.pk""")
_VERSIONS = prepare_sql("""
SELECT a.pair_pk, a.revision, r.version FROM guideline_decision g
JOIN rubric r ON r.pk = g.rubric_pk JOIN adjudication a ON a.pk = g.adjudication_pk WHERE r.dataset_pk = :dataset_pk""")
_GRADES = """
SELECT c.pair_pk, c.grade FROM ({which}) x JOIN current_judgment c ON c.pair_pk = x.pair_pk
WHERE c.purpose = 'independent' AND c.outcome <> 'later'"""
_GRADES_HELD = prepare_sql(
    _GRADES.format(which="SELECT pair_pk FROM current_adjudication WHERE dataset_pk = :dataset_pk")
)
_GRADES_LED = prepare_sql(
    _GRADES.format(
        which="SELECT DISTINCT a.pair_pk FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk "
        "JOIN adjudication a ON a.pk = g.adjudication_pk WHERE r.dataset_pk = :dataset_pk"
    )
)
_ASKING = prepare_sql(
    """
SELECT a.pair_pk, a.revision, a.cause, a.in_guideline FROM current_adjudication h
JOIN adjudication a ON a.pk = h.adjudication_pk JOIN pair p ON p.pk = h.pair_pk
WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL AND (a.in_guideline OR a.cause IN :causes)""",
    lists=["causes"],
)
_QUESTIONS = prepare_sql("""
SELECT count(*) FROM question u JOIN pair p ON p.pk = u.pair_pk
WHERE p.dataset_pk = :dataset_pk AND u.in_guideline AND u.answer IS NOT NULL""")
_LENGTHS = prepare_sql(
    """
SELECT p.key, length(t.text) FROM pair p JOIN document d ON d.pk = p.document_pk
JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
WHERE +p.dataset_pk = :dataset_pk AND p.key IN :pairs""",
    lists=["pairs"],
)
_CAUSES = prepare_sql("""
SELECT a.cause, count(*) FROM current_adjudication h JOIN adjudication a ON a.pk = h.adjudication_pk
JOIN pair p ON p.pk = h.pair_pk WHERE h.dataset_pk = :dataset_pk AND p.retired_at IS NULL GROUP BY a.cause""")

_COUNTED = prepare_sql("""
SELECT r.version, q.category, count(*) FROM guideline_decision g JOIN rubric r ON r.pk = g.rubric_pk
JOIN adjudication a ON a.pk = g.adjudication_pk JOIN pair p ON p.pk = a.pair_pk JOIN query q ON q.pk = p.query_pk
WHERE r.dataset_pk = :dataset_pk GROUP BY r.version, q.category""")


def list_taught(session: Session, dataset_pk: int) -> list[DecisionExample]:
    """Every decision that holds, in the order of deciding."""
    values = {"dataset_pk": dataset_pk}
    grades = _read_grades(execute_sql(session, _GRADES_HELD, values))
    led = _read_versions(session, dataset_pk)
    rows = execute_sql(session, _HELD, values).mappings()
    return [
        _describe(
            row, grades, find_answer(row["revision"], bool(row["in_guideline"]), led.get(row["pair_pk"], ()))
        )
        for row in rows
    ]


def list_led(session: Session, dataset_pk: int) -> dict[int, list[DecisionExample]]:
    """The decisions that led to each version of the guideline, by version."""
    values = {"dataset_pk": dataset_pk}
    grades, found = (
        _read_grades(execute_sql(session, _GRADES_LED, values)),
        defaultdict[int, list[DecisionExample]](list),
    )
    for row in execute_sql(session, _LED, values).mappings():
        found[row["version"]].append(_describe(row, grades, row["version"]))
    return dict(found)


def count_waiting(session: Session, dataset_pk: int) -> int:
    """How many decisions and marked questions wait for the guideline."""
    values = {"dataset_pk": dataset_pk, "causes": sorted(TEACHING)}
    led = _read_versions(session, dataset_pk)
    asking = sum(
        teaches(cause, bool(flag)) and find_answer(revision, bool(flag), led.get(pair_pk, ())) is None
        for pair_pk, revision, cause, flag in execute_sql(session, _ASKING, values)
    )
    return asking + int(execute_sql(session, _QUESTIONS, values).scalar_one())


def count_led(session: Session, dataset_pk: int) -> dict[int, dict[str | None, int]]:
    """How many decisions led to a version of the guideline, by version and by their queries' category."""
    found = defaultdict[int, dict[str | None, int]](dict)
    for version, category, number in execute_sql(session, _COUNTED, {"dataset_pk": dataset_pk}):
        found[version][category] = number
    return dict(found)


def count_causes(session: Session, dataset_pk: int) -> dict[str | None, int]:
    """How many decisions that hold have which cause; None: none was given."""
    counted = execute_sql(session, _CAUSES, {"dataset_pk": dataset_pk})
    return {cause: number for cause, number in counted if number}


def read_lengths(session: Session, dataset_pk: int, pairs: Sequence[str]) -> dict[str, int]:
    """How many characters the documents of these pairs (by their keys) have; those without a text are left out."""
    found: dict[str, int] = {}
    for chunk in split_into_chunks(pairs, CHUNK):
        found.update(execute_sql(session, _LENGTHS, {"dataset_pk": dataset_pk, "pairs": list(chunk)}).all())
    return found


def add_led(
    session: Session,
    dataset_pk: int,
    rubric_pk: int,
    version: int,
    decisions: Collection[Named],
    *,
    person_pk: int | None,
    now: datetime,
) -> None:
    """Note that these decisions led to a version that is being published, and tell the trail of each pair. NotFound for one
    that there is not."""
    known = _find_decisions(session, dataset_pk, decisions)
    add_rows(
        session,
        GuidelineDecisionRow,
        [{"rubric_pk": rubric_pk, "adjudication_pk": pk} for pk, _pair_pk in known],
    )
    told = [
        AuditEvent(
            "published guideline",
            dataset_pk,
            person_pk,
            now,
            pair_pk,
            after={"version": version, "led": True},
        )
        for pair_pk in sorted({pair_pk for _pk, pair_pk in known})
    ]
    add_events(session, told)


def take_marks_off(session: Session, dataset_pk: int, questions: Collection[int]) -> None:
    """The guideline says now what these questions were marked for. NotFound for one that there is not."""
    for number in sorted(set(questions)):
        statement = select(QuestionRow).join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        asked = session.scalars(
            statement.where(col(QuestionRow.pk) == number, col(PairRow.dataset_pk) == dataset_pk)
        ).first()
        if asked is None:
            raise NotFound(say("there is no such question in this dataset"))
        asked.in_guideline = False
        session.add(asked)


def _find_decisions(session: Session, dataset_pk: int, decisions: Collection[Named]) -> list[tuple[int, int]]:
    """The key of each decision, and of its pair, in order."""
    wanted, found = set(decisions), dict[Named, tuple[int, int]]()
    for chunk in split_into_chunks(sorted({pair for pair, _ in wanted}), CHUNK):
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
            found[pair, revision] = key_of(pk), key_of(pair_pk)
    for pair, revision in sorted(wanted - set(found)):
        raise NotFound(say("no decision {revision} on pair {pair!r}", revision=revision, pair=pair))
    return sorted(found[one] for one in wanted)


def _read_versions(session: Session, dataset_pk: int) -> dict[int, list[tuple[int, int]]]:
    led = defaultdict[int, list[tuple[int, int]]](list)
    for pair_pk, revision, version in execute_sql(session, _VERSIONS, {"dataset_pk": dataset_pk}):
        led[pair_pk].append((revision, version))
    return led


def _read_grades(rows: Iterable[Any]) -> Mapping[int, tuple[Decided, ...]]:
    """What was said of each pair: grades from the lowest on, then who could not rate it."""
    found = defaultdict[int, list[int | None]](list)
    for pair_pk, grade in rows:
        found[pair_pk].append(grade)
    return {
        pair_pk: tuple(
            "unrateable" if grade is None else grade
            for grade in sorted(grades, key=lambda one: (one is None, one or 0))
        )
        for pair_pk, grades in found.items()
    }


def _describe(row: Any, grades: Mapping[int, tuple[Decided, ...]], answered: int | None) -> DecisionExample:
    return DecisionExample(
        pair=row["pair"],
        revision=row["revision"],
        query_id=row["query_id"],
        query=row["query"],
        category=row["category"],
        doc_id=row["doc_id"],
        title=row["title"],
        grades=grades.get(row["pair_pk"], ()),
        decided=_decided(row["outcome"], row["grade"]),
        rationale=row["rationale"],
        cause=row["cause"],
        in_guideline=bool(row["in_guideline"]),
        apart=_apart(row["low"], row["high"], QueueReason(row["reasons"])),
        impact=float(row["impact"]),
        decided_at=read_time(row["decided_at"]),
        answered_in=answered,
    )


def _decided(outcome: str, grade: int | None) -> Decided:
    found = read_decision(outcome, grade)
    return "unrateable" if found is None else found


def _apart(low: int | None, high: int | None, reasons: QueueReason) -> Apart | None:
    if low is not None and high is not None:
        return low, high
    return "unrateable" if QueueReason.UNRATEABLE in reasons else None
