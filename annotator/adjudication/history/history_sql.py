"""Read the history of one pair, from every table that mentions it, and the audit log.

Returns usernames of annotators, for experts of quality control with "quality " in front;
`adjudication/history/history_service.py` replaces them by letters. The history has every judgment, because
judgments never change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, false, func, or_, select, true
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_hidden_proposals
from annotator.adjudication.history.history import AuditLogEntry, AuditLogFilter
from annotator.adjudication.queue.lead_holds_sql import list_names
from annotator.domain.ground_truth import TAKEN_OVER
from annotator.storage.logs.disclosures import is_listed, list_blind_pairs, list_to_judge
from annotator.storage.pairs.pair_states import RELATION
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    AuditEventRow,
    DiscussionTurnRow,
    ObjectionRow,
    QualityPairRow,
)
from annotator.storage.tables.central import (
    DocumentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    QueryRow,
    RubricRow,
)
from annotator.storage.tables.labeling import QuestionRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow

OPERATOR = "operator"
_NAME = func.coalesce(func.nullif(col(PersonRow.name), ""), col(PersonRow.username))


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """An event of a pair. `annotator` or `lead` is set, or neither if nobody caused it."""

    at: datetime
    action: str
    annotator: str | None = None  # the username; shown as a letter
    lead: str | None = None  # the name; shown
    values: Mapping[str, Any] = field(default_factory=dict)


def list_history_events(session: Session, pair: PairRow, reader_pk: int | None) -> list[HistoryEvent]:
    """Return the events of the pair, the oldest first, without proposals that the reader may not see."""
    decisions, answers = list(_list_decisions(session, pair)), list(_list_answers(session, pair))
    decided = {(event.at, event.lead) for event in (*decisions, *answers)}
    recorded = list(_list_recorded(session, pair, reader_pk))
    actions = {(event.at, event.lead): event.action for event in recorded}
    events = [
        *_list_pool(session, pair),
        *_list_judgments(session, pair),
        *_list_contributions(session, pair),
        *(
            HistoryEvent(
                event.at, actions.get((event.at, event.lead), event.action), None, event.lead, event.values
            )
            for event in decisions
        ),
        *answers,
        *(event for event in recorded if (event.at, event.lead) not in decided),
        *_list_versions(session, pair),
        *_list_releases(session, pair),
    ]
    return sorted(events, key=lambda event: event.at)


def _list_pool(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    yield HistoryEvent(pair.created_at, "pooled")
    statement = select(ImportedQrelRow).where(col(ImportedQrelRow.pair_pk) == pair.pk)
    for row in session.scalars(statement.order_by(col(ImportedQrelRow.pk))):
        if row.source.get("kind") == RELATION:
            values = {"grade": row.grade, "rule": row.source["rule"]}
            yield HistoryEvent(row.imported_at, "suggested", values=values)
        elif row.source.get("kind") == TAKEN_OVER:
            values = {"grade": row.grade, "of": row.source["of"]}
            yield HistoryEvent(row.imported_at, "taken over", lead=row.source["accepted_by"], values=values)
        else:
            yield HistoryEvent(row.imported_at, "imported", values={"grade": row.grade})
    if pair.retired_at is not None:
        yield HistoryEvent(pair.retired_at, "retired")


def _list_judgments(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield the judgments in order, each with the previous answer of the same person."""
    statement = (
        select(JudgmentRow, col(PersonRow.username), col(QualityPairRow.settled_grade))
        .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
        .outerjoin(QualityPairRow, col(QualityPairRow.judgment_pk) == col(JudgmentRow.pk))
        .where(col(JudgmentRow.pair_pk) == pair.pk)
        .order_by(col(JudgmentRow.judged_at), col(JudgmentRow.pk))
    )
    before: dict[str, tuple[str, int | None]] = {}
    for row, username, settled in session.execute(statement):
        checked = row.purpose == "quality"
        name = f"quality {username}" if checked else username
        values = {
            "outcome": row.outcome,
            "grade": row.grade,
            "words": row.note,
            "purpose": row.purpose,
            "settled": settled,
            "before": before.get(name),
        }
        before[name] = row.outcome, row.grade
        yield HistoryEvent(row.judged_at, "checked" if checked else "judged", name, values=values)


def _list_contributions(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield questions, objections and turns of a discussion."""

    def read(kind: Any) -> Any:
        rows = select(kind, col(PersonRow.username)).join(
            PersonRow, col(PersonRow.pk) == col(kind.annotator_pk)
        )
        return session.execute(rows.where(col(kind.pair_pk) == pair.pk))

    for question, name in read(QuestionRow):
        yield HistoryEvent(question.asked_at, "asked", name, values={"words": question.text})
    for objection, name in read(ObjectionRow):
        yield HistoryEvent(objection.objected_at, "objected", name, values={"words": objection.text})
    for turn, name in read(DiscussionTurnRow):
        values = {"outcome": turn.outcome, "grade": turn.grade, "words": turn.note}
        yield HistoryEvent(turn.said_at, "revised" if turn.revised else "stood by", name, values=values)


def _list_decisions(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield all decisions; some are older than the audit log."""
    statement = (
        select(AdjudicationRow, _NAME)
        .join(PersonRow, col(PersonRow.pk) == col(AdjudicationRow.lead_pk))
        .where(col(AdjudicationRow.pair_pk) == pair.pk)
        .order_by(col(AdjudicationRow.revision))
    )
    before: tuple[str, int | None] | None = None
    for row, name in session.execute(statement):
        values = {
            "outcome": row.outcome,
            "grade": row.grade,
            "words": row.rationale,
            "cause": row.cause,
            "reason": row.reason,
            "in_guideline": row.in_guideline,
            "before": before,
        }
        withdrew = row.outcome == "withdrawn"
        before = None if withdrew else (row.outcome, row.grade)
        by_policy = "undid policy" if withdrew else "settled by policy"
        plainly = "withdrew" if withdrew else "decided"
        yield HistoryEvent(row.decided_at, plainly if row.batch_pk is None else by_policy, None, name, values)


def _list_answers(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield the present answers to questions; earlier ones are only in the audit log."""
    statement = select(QuestionRow, _NAME).join(
        PersonRow, col(PersonRow.pk) == col(QuestionRow.answered_by_pk)
    )
    for row, name in session.execute(statement.where(col(QuestionRow.pair_pk) == pair.pk)):
        if row.answered_at is not None:
            yield HistoryEvent(
                row.answered_at, "answered question", None, name, {"after": {"answer": row.answer}}
            )


def _list_recorded(session: Session, pair: PairRow, reader_pk: int | None) -> Iterator[HistoryEvent]:
    statement = (
        select(AuditEventRow, _NAME)
        .outerjoin(PersonRow, col(PersonRow.pk) == col(AuditEventRow.person_pk))
        .where(col(AuditEventRow.pair_pk) == pair.pk)
        .order_by(col(AuditEventRow.pk))
    )
    recorded = list(session.execute(statement))
    assignees = {row.after["to"] for row, _ in recorded if row.after and row.after.get("to")}
    names = list_names(session, assignees) if assignees else {}
    hidden = _list_hidden_proposals(session, reader_pk, [row for row, _ in recorded])
    for row, name in recorded:
        before, after = (None, None) if row.pk in hidden else (row.before, row.after)
        if after and after.get("to"):
            after = {**after, "to": names.get(after["to"], after["to"])}
        yield HistoryEvent(row.at, row.action, None, name or OPERATOR, {"before": before, "after": after})


def _list_versions(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield the guideline versions that were published while the pair was in the pool."""
    statement = (
        select(RubricRow, _NAME)
        .outerjoin(PersonRow, col(PersonRow.pk) == col(RubricRow.author_pk))
        .where(col(RubricRow.dataset_pk) == pair.dataset_pk, col(RubricRow.created_at) > pair.created_at)
        .order_by(col(RubricRow.version))
    )
    for row, name in session.execute(statement):
        after = {"version": row.version, "change": row.change, "why": row.why}
        yield HistoryEvent(row.created_at, "published guideline", None, name or OPERATOR, {"after": after})


def _list_releases(session: Session, pair: PairRow) -> Iterator[HistoryEvent]:
    """Yield the releases that have the pair under its present ids."""
    statement = (
        select(ReleaseRow, col(ReleaseQrelRow.grade), _NAME)
        .join(ReleaseQrelRow, col(ReleaseQrelRow.release_pk) == col(ReleaseRow.pk))
        .join(QueryRow, col(QueryRow.query_id) == col(ReleaseQrelRow.query_id))
        .join(DocumentRow, col(DocumentRow.doc_id) == col(ReleaseQrelRow.doc_id))
        .outerjoin(PersonRow, col(PersonRow.pk) == col(ReleaseRow.published_by))
        .where(
            col(ReleaseRow.dataset_pk) == pair.dataset_pk,
            col(QueryRow.pk) == pair.query_pk,
            col(DocumentRow.pk) == pair.document_pk,
        )
        .order_by(col(ReleaseRow.pk))
    )
    for row, grade, name in session.execute(statement):
        yield HistoryEvent(
            row.created_at, "released", None, name or OPERATOR, {"version": row.version, "grade": grade}
        )


AT_ONCE = 5_000


def count_events(session: Session, dataset_pk: int, reader_pk: int | None, wanted: AuditLogFilter) -> int:
    """Count the entries that the filter lets through and the reader may see."""
    return session.scalar(_filter_events(session, select(func.count()), dataset_pk, reader_pk, wanted)) or 0


def list_events(
    session: Session,
    dataset_pk: int,
    reader_pk: int | None,
    wanted: AuditLogFilter,
    *,
    offset: int,
    limit: int,
) -> tuple[AuditLogEntry, ...]:
    """Return a page of the audit log, the latest entry first.

    Without the entries about judged pairs that the reader may still judge: that somebody decided or asked to
    discuss a pair tells that its grades differ. Entries about unjudged pairs are without values.
    """
    order = (col(AuditEventRow.at).desc(), col(AuditEventRow.pk).desc())
    statement = _filter_events(session, _select(), dataset_pk, reader_pk, wanted).order_by(*order)
    return _read(session, reader_pk, session.execute(statement.offset(offset).limit(limit)).all())


def list_events_after(
    session: Session, dataset_pk: int, reader_pk: int | None, wanted: AuditLogFilter, *, after: int
) -> tuple[AuditLogEntry, ...]:
    """Return up to AT_ONCE entries with a higher number than `after`, in their order."""
    statement = _filter_events(session, _select(), dataset_pk, reader_pk, wanted).where(
        col(AuditEventRow.pk) > after
    )
    rows = session.execute(statement.order_by(col(AuditEventRow.pk)).limit(AT_ONCE)).all()
    return _read(session, reader_pk, rows)


def list_people(session: Session, dataset_pk: int) -> list[tuple[str, str]]:
    """Return (username, name) of everybody in the audit log, by username; without the operator."""
    did = select(col(AuditEventRow.person_pk)).where(col(AuditEventRow.dataset_pk) == dataset_pk).distinct()
    people = select(col(PersonRow.username), col(PersonRow.name)).where(col(PersonRow.pk).in_(did))
    return [(username, name) for username, name in session.execute(people.order_by(col(PersonRow.username)))]


def _select() -> Select[*tuple[Any, ...]]:
    return select(
        AuditEventRow,
        col(PersonRow.username),
        col(PersonRow.name),
        col(PairRow.key),
        col(QueryRow.query_id),
        col(DocumentRow.doc_id),
    )


def _filter_events(
    session: Session,
    columns: Select[*tuple[Any, ...]],
    dataset_pk: int,
    reader_pk: int | None,
    wanted: AuditLogFilter,
) -> Select[*tuple[Any, ...]]:
    statement = (
        columns.select_from(AuditEventRow)
        .outerjoin(PersonRow, col(PersonRow.pk) == col(AuditEventRow.person_pk))
        .outerjoin(PairRow, col(PairRow.pk) == col(AuditEventRow.pair_pk))
        .outerjoin(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .outerjoin(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(AuditEventRow.dataset_pk) == dataset_pk)
    )
    blind = list_blind_pairs(session, dataset_pk, reader_pk)
    if blind:
        about = col(AuditEventRow.pair_pk)
        statement = statement.where(or_(about.is_(None), ~is_listed(session, about, blind)))
    if wanted.pair is not None:
        statement = statement.where(col(PairRow.key) == wanted.pair)
    if wanted.action is not None:
        statement = statement.where(col(AuditEventRow.action) == wanted.action)
    if wanted.person is not None:
        somebody = col(PersonRow.username) == wanted.person
        nobody = and_(
            col(AuditEventRow.person_pk).is_(None), true() if wanted.person == OPERATOR else false()
        )
        statement = statement.where(or_(somebody, nobody))
    if wanted.since is not None:
        statement = statement.where(col(AuditEventRow.at) >= wanted.since)
    if wanted.until is not None:
        statement = statement.where(col(AuditEventRow.at) <= wanted.until)
    return statement


def _read(session: Session, reader_pk: int | None, rows: Sequence[Any]) -> tuple[AuditLogEntry, ...]:
    pairs = {row.AuditEventRow.pair_pk for row in rows if row.AuditEventRow.pair_pk is not None}
    hidden = list_to_judge(session, reader_pk, sorted(pairs))
    proposals = _list_hidden_proposals(session, reader_pk, [row.AuditEventRow for row in rows])
    entries = []
    for row in rows:
        event, is_hidden = row.AuditEventRow, row.AuditEventRow.pair_pk in hidden
        has_values = not is_hidden and event.pk not in proposals
        before, after = (event.before, event.after) if has_values else (None, None)
        about = (row.username, row.name, event.action, row.key, row.query_id, row.doc_id)
        entries.append(AuditLogEntry(event.pk, event.at, *about, before, after, is_hidden))
    return tuple(entries)


def _list_hidden_proposals(
    session: Session, reader_pk: int | None, events: Sequence[AuditEventRow]
) -> set[int | None]:
    """Return the entries (pk) about other leads' proposals that the reader may not see yet."""
    if reader_pk is None:
        return set()
    proposals = [event for event in events if _is_proposal(event) and event.person_pk != reader_pk]
    pair_pks = {event.pair_pk for event in proposals if event.pair_pk is not None}
    hidden = list_hidden_proposals(session, reader_pk, pair_pks) if pair_pks else set()
    return {event.pk for event in proposals if event.pair_pk in hidden}


def _is_proposal(event: AuditEventRow) -> bool:
    """Return whether the entry is about a proposal: a withdrawn decision has a revision."""
    withdrawn = event.action == "withdrew" and event.before is not None and "revision" not in event.before
    return event.action == "proposed" or withdrawn
