"""Reads what could be drawn for quality control and for whom, writes draws, and reads what came of them.

For `quality/service.py`, whose transaction this is. What is settled is said by `storage/pairs.py`, what waits for an
expert by `storage/quality_work.py`. A draw is never changed: its pairs keep the grade they had.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.quality import QualityDraw, SampledPair
from annotator.storage.bulk import add_rows
from annotator.storage.columns import UtcDateTime
from annotator.storage.eligibility import find_eligibility
from annotator.storage.find import key_of
from annotator.storage.labeling_tables import CheckRow
from annotator.storage.pairs import PairState, iterate_pair_states
from annotator.storage.quality_tables import QualityDrawRow, QualityPairRow
from annotator.storage.quality_work import CAN_JUDGE, DECIDED_SINCE
from annotator.storage.statements import run
from annotator.storage.tables import PersonRow

_JUDGED = """
SELECT j.annotator_pk, j.pair_pk FROM judgment j JOIN pair p ON p.pk = j.pair_pk
WHERE p.dataset_pk = :dataset_pk AND j.outcome <> 'later'"""
_SEEN = """
SELECT s.person_pk, s.pair_pk FROM (
  SELECT person_pk, pair_pk FROM disclosure UNION SELECT annotator_pk, pair_pk FROM proposal
  UNION SELECT lead_pk, pair_pk FROM adjudication) s JOIN pair p ON p.pk = s.pair_pk
WHERE p.dataset_pk = :dataset_pk"""
_THEIR_QUERIES = "SELECT q.pk FROM query q WHERE q.dataset_pk = :dataset_pk AND {eligible}"
_SAMPLE = f"""
SELECT w.number, w.round, x.pair_pk, p.key, q.query_id, d.doc_id, q.category, x.settled_grade, x.settled_by, x.outcome, x.grade,
  x.answered_at, j.note, CASE WHEN {DECIDED_SINCE} THEN (
    SELECT a.grade FROM adjudication a WHERE a.pair_pk = x.pair_pk ORDER BY a.revision DESC LIMIT 1) END AS decided,
  CASE WHEN {CAN_JUDGE}
    AND EXISTS (SELECT 1 FROM person n WHERE n.pk = w.annotator_pk AND n.disabled_at IS NULL)
    AND EXISTS (SELECT 1 FROM membership m WHERE m.person_pk = w.annotator_pk
      AND (m.dataset_pk = :dataset_pk OR m.dataset_pk IS NULL)) THEN 0 ELSE 1 END AS barred,
  CASE WHEN p.retired_at IS NULL THEN 0 ELSE 1 END AS retired
FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p CROSS JOIN query q CROSS JOIN document d
LEFT JOIN judgment j ON j.pk = x.judgment_pk
WHERE w.dataset_pk = :dataset_pk{{of_round}} AND x.draw_pk = w.pk
  AND p.pk = x.pair_pk AND q.pk = p.query_pk AND d.pk = p.document_pk
ORDER BY w.number, q.position, p.key
"""


@dataclass(slots=True)
class Known:
    """The pairs of a dataset that a person judged, for whatever purpose; and those they proposed, decided, or saw others'
    judgments of."""

    judged: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)


def list_settled(session: Session, dataset_pk: int) -> list[PairState]:
    """Every pair with a settled grade, by query and document, but those marked for training or as gold."""
    marked = set(session.scalars(select(col(CheckRow.pair_pk))))
    return [
        state
        for state in iterate_pair_states(session, dataset_pk)
        if state.settlement.grade is not None and state.pair_pk not in marked
    ]


def list_known(session: Session, dataset_pk: int, person_pk: int | None = None) -> dict[int, Known]:
    """What each person knows of the pairs, or this one, by person_pk. Putting off is not judging."""
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    found: dict[int, Known] = {}
    for statement, column in ((_JUDGED, "j.annotator_pk"), (_SEEN, "s.person_pk")):
        one = "" if person_pk is None else f" AND {column} = :person_pk"
        for person, pair_pk in session.execute(text(statement + one), values):
            known = found.setdefault(person, Known())
            (known.judged if statement is _JUDGED else known.seen).add(pair_pk)
    return found


def list_their_queries(session: Session, dataset_pk: int, person_pk: int) -> set[int] | None:
    """The queries (query_pk) of the person's categories and languages; None: all. To whom queries were given does not
    matter: they judged them, and somebody else is to check."""
    eligible = find_eligibility(session, dataset_pk, person_pk)
    if not eligible.allowed:
        return None
    statement = eligible.only_expertise().prepare(_THEIR_QUERIES, query="q.pk")
    return set(run(session, statement, {"dataset_pk": dataset_pk, **eligible.values}).scalars())


def list_draws(session: Session, dataset_pk: int) -> list[QualityDraw]:
    """Every draw of the dataset, the first one first."""
    pairs = (
        select(func.count())
        .select_from(QualityPairRow)
        .where(col(QualityPairRow.draw_pk) == col(QualityDrawRow.pk))
        .scalar_subquery()
    )
    statement = select(QualityDrawRow, pairs).where(col(QualityDrawRow.dataset_pk) == dataset_pk)
    rows = session.execute(statement.order_by(col(QualityDrawRow.number))).all()
    people = {row.annotator_pk for row, _ in rows} | {row.drawn_by_pk for row, _ in rows}
    named = select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people - {None}))
    names = {row.pk: row.username for row in session.execute(named)}
    return [
        QualityDraw(
            row.number, row.round, names[row.annotator_pk], names.get(row.drawn_by_pk), row.rate, row.seed,
            row.population, row.outside, number, row.drawn_at,
        )
        for row, number in rows
    ]  # fmt: skip


def list_sample(session: Session, dataset_pk: int, sample_round: int | None = None) -> list[SampledPair]:
    """The pairs of a round, or of every round, draw by draw."""
    of_round = "" if sample_round is None else " AND w.round = :round"
    statement = text(_SAMPLE.format(of_round=of_round)).columns(answered_at=UtcDateTime)
    rows: Iterable[Any] = session.execute(statement, {"dataset_pk": dataset_pk, "round": sample_round})
    return [
        SampledPair(*row)._replace(barred=bool(row.barred) and row.outcome is None, retired=bool(row.retired))
        for row in rows
    ]


def add_draw(session: Session, dataset_pk: int, values: dict[str, Any], pairs: Sequence[PairState]) -> None:
    """Note a draw (the columns of `quality_draw` but its key and dataset) with its pairs, as they are settled now."""
    row = QualityDrawRow.model_validate({"dataset_pk": dataset_pk, **values})
    session.add(row)
    session.flush()
    add_rows(
        session,
        QualityPairRow,
        [
            {
                "draw_pk": key_of(row.pk),
                "pair_pk": state.pair_pk,
                "settled_grade": state.settlement.grade,
                "settled_by": state.settlement.status,
            }
            for state in pairs
        ],
    )
