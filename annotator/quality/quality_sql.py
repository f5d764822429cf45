"""Read the pairs that quality control can draw, store draws, and read their results and later changes.

A draw never changes: its pairs keep the grade that they had. A sample says nothing about pairs settled or
changed after its draw; only these pairs are read for their count, never the whole pool.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES
from annotator.domain.settling import PAIR_STATUSES, Settlement, read_decision, settle
from annotator.labeling.open_pairs_sql import find_eligibility
from annotator.quality.records import QualityDraw, SampledPair
from annotator.storage.judgments.quality_pairs import CAN_JUDGE, DECIDED_SINCE
from annotator.storage.lookup import find_names, key_of
from annotator.storage.pairs.pair_settlements import LATER, find_indexes, read_settlements
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.sql import add_rows, fetch, fetch_tuples, prepare_sql, quote_texts, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    ImportedQrelRow,
    JudgmentRow,
    PairRow,
)
from annotator.storage.tables.labeling import CheckRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from annotator.storage.pairs.pair_settlements import Ints


_NOT_CURRENT = prepare_sql(f"""
SELECT j.annotator_pk, j.pair_pk FROM judgment j CROSS JOIN pair p
WHERE j.purpose NOT IN {quote_texts(CURRENT_PURPOSES)} AND j.outcome <> 'later'
  AND p.pk = j.pair_pk AND p.dataset_pk = :dataset_pk
UNION ALL SELECT j.annotator_pk, j.pair_pk FROM current_judgment c CROSS JOIN judgment j
WHERE c.dataset_pk = :dataset_pk AND c.outcome = 'later'
  AND j.pair_pk = c.pair_pk AND j.annotator_pk = c.annotator_pk AND j.outcome <> 'later'""")
_SEEN = prepare_sql("""
SELECT s.person_pk, s.pair_pk FROM (
  SELECT person_pk, pair_pk FROM disclosure UNION ALL SELECT annotator_pk, pair_pk FROM proposal
  UNION ALL SELECT lead_pk, pair_pk FROM adjudication) s JOIN pair p ON p.pk = s.pair_pk
WHERE p.dataset_pk = :dataset_pk""")
_KEYS = prepare_sql("SELECT pk, key FROM pair WHERE dataset_pk = :dataset_pk AND retired_at IS NULL")
_CATEGORIES = prepare_sql("SELECT pk, category FROM query WHERE dataset_pk = :dataset_pk")
_THEIR_QUERIES = "SELECT q.pk FROM query q WHERE q.dataset_pk = :dataset_pk AND {eligible}"
_SAMPLE = f"""
SELECT w.number AS draw, w.round, x.pair_pk, p.key, q.query_id, d.doc_id, q.category, x.settled_grade, x.settled_by, x.outcome, x.grade,
  x.answered_at, j.note, CASE WHEN {DECIDED_SINCE} THEN (
    SELECT a.grade FROM current_adjudication a WHERE a.pair_pk = x.pair_pk) END AS decided,
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


class SettledPairs(NamedTuple):
    """The pairs with a settled grade, without training and gold pairs, as columns by pair_pk.

    `judged_index` and `judged_by` are a second table: one entry per current judgment, for any purpose.
    """

    pair: "Ints"
    query: "Ints"
    grade: "Ints"
    status: "Ints"  # index into PAIR_STATUSES: how the pair was settled
    judged_index: "Ints"  # index into the columns above
    judged_by: "Ints"  # person_pk


class ExpertKnownPairs(NamedTuple):
    """The settled pairs that a person knows, as indexes into `SettledPairs`."""

    judged: "Ints"  # for any purpose
    seen: "Ints"  # the person proposed or decided them, or saw others' judgments


def list_settled(session: Session, dataset_pk: int, blind: Collection[int] = frozenset()) -> SettledPairs:
    """Return every pair that could be drawn. `blind`: pairs that the reader may still judge; they are left out."""
    import numpy as np

    states = read_settlements(session, dataset_pk, blind)
    grade = states.map_settled()
    statuses = [PAIR_STATUSES.index(status) for status in states.list_statuses()]
    status = np.array(statuses, dtype=np.int64)[states.settlement]
    checks = np.array(session.scalars(select(col(CheckRow.pair_pk))).all(), dtype=np.int64)
    index, is_present = find_indexes(states.pair, checks)
    chosen = grade >= 0
    chosen[index[is_present]] = False
    new_index = np.cumsum(chosen) - 1
    judged = chosen[states.judged_index] & (states.answer != LATER)
    return SettledPairs(
        states.pair[chosen],
        states.query[chosen],
        grade[chosen],
        status[chosen],
        new_index[states.judged_index[judged]],
        states.judged_by[judged],
    )


def list_known(session: Session, dataset_pk: int, settled: SettledPairs) -> Callable[[int], ExpertKnownPairs]:
    """Return a function that returns the settled pairs that a person knows, by person_pk.

    Putting a pair off is no judgment, and does not withdraw an earlier one.
    """
    import numpy as np

    (judged_index, judged_by), (seen_index, seen_by) = (
        _find_settled(settled, fetch_tuples(session, statement, {"dataset_pk": dataset_pk}))
        for statement in (_NOT_CURRENT, _SEEN)
    )

    def find(person_pk: int) -> ExpertKnownPairs:
        current = settled.judged_index[settled.judged_by == person_pk]
        others = judged_index[judged_by == person_pk]
        return ExpertKnownPairs(
            np.unique(np.concatenate((current, others))), seen_index[seen_by == person_pk]
        )

    return find


def find_free(
    settled: SettledPairs, known_pairs: ExpertKnownPairs, queries: set[int] | None
) -> "NDArray[np.bool_]":
    """Return for each settled pair whether a person with these known pairs and queries can check it.

    `queries`: query_pks; None: all.
    """
    import numpy as np

    free = np.ones(len(settled.pair), dtype=np.bool_)
    if queries is not None:
        free = np.isin(settled.query, np.fromiter(queries, dtype=np.int64, count=len(queries)))
    free[known_pairs.judged] = False
    free[known_pairs.seen] = False
    return free


def list_categories(session: Session, dataset_pk: int) -> dict[int, str | None]:
    """Return {query_pk: category}."""
    return dict(fetch_tuples(session, _CATEGORIES, {"dataset_pk": dataset_pk}))


def list_keys(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return {pair_pk: key} of the pool."""
    return dict(fetch_tuples(session, _KEYS, {"dataset_pk": dataset_pk}))


def _find_settled(settled: SettledPairs, rows: Sequence[tuple[int, int]]) -> "tuple[Ints, Ints]":
    """Return (indexes of the pairs, person_pks) of the rows (person_pk, pair_pk) with a settled pair."""
    import numpy as np

    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    index, is_present = find_indexes(settled.pair, table[:, 1])
    return index[is_present], table[is_present, 0]


def list_their_queries(session: Session, dataset_pk: int, person_pk: int) -> set[int] | None:
    """Return the query_pks of the person's categories and languages; None: all.

    Queries assigned to other people count too, because another person than the assigned one must check them.
    """
    eligible = find_eligibility(session, dataset_pk, person_pk)
    if not eligible.allowed:
        return None
    statement = eligible.only_expertise().prepare(_THEIR_QUERIES, query="q.pk")
    rows = fetch_tuples(session, statement, {"dataset_pk": dataset_pk, **eligible.values})
    return {pair_pk for (pair_pk,) in rows}


def list_draws(session: Session, dataset_pk: int) -> list[QualityDraw]:
    """Return every draw of the dataset by number."""
    pairs = (
        select(func.count())
        .select_from(QualityPairRow)
        .where(col(QualityPairRow.draw_pk) == col(QualityDrawRow.pk))
        .scalar_subquery()
    )
    statement = select(QualityDrawRow, pairs).where(col(QualityDrawRow.dataset_pk) == dataset_pk)
    rows = session.execute(statement.order_by(col(QualityDrawRow.number))).all()
    people = {row.annotator_pk for row, _ in rows} | {row.drawn_by_pk for row, _ in rows}
    names = find_names(session, people)
    return [
        QualityDraw(
            row.number,
            row.round,
            names[row.annotator_pk],
            names.get(row.drawn_by_pk),
            row.rate,
            row.seed,
            row.population,
            row.outside,
            number,
            row.drawn_at,
        )
        for row, number in rows
    ]


def list_sample(session: Session, dataset_pk: int, sample_round: int | None = None) -> list[SampledPair]:
    """Return the drawn pairs of a round, or of every round, draw by draw."""
    of_round = "" if sample_round is None else " AND w.round = :round"
    statement = prepare_sql(_SAMPLE.format(of_round=of_round))
    pairs = fetch(session, statement, SampledPair, {"dataset_pk": dataset_pk, "round": sample_round})
    return [pair._replace(barred=pair.barred and pair.outcome is None) for pair in pairs]


def count_unanswered(session: Session, dataset_pk: int) -> int:
    """Count the drawn pairs of the latest round without an answer."""
    of_dataset = col(QualityDrawRow.dataset_pk) == dataset_pk
    latest = select(func.max(col(QualityDrawRow.round))).where(of_dataset).scalar_subquery()
    statement = (
        select(func.count())
        .select_from(QualityPairRow)
        .join(QualityDrawRow, col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk))
        .where(of_dataset, col(QualityDrawRow.round) == latest, col(QualityPairRow.outcome).is_(None))
    )
    return session.scalar(statement) or 0


def add_draw(
    session: Session, dataset_pk: int, values: dict[str, Any], pairs: Iterable[tuple[int, int, str]]
) -> None:
    """Store a draw with its pairs: (pair_pk, settled grade, status).

    `values`: the columns of `quality_draw` except its key and its dataset.
    """
    row = QualityDrawRow.model_validate({"dataset_pk": dataset_pk, **values})
    session.add(row)
    session.flush()
    add_rows(
        session,
        QualityPairRow,
        [
            {"draw_pk": key_of(row.pk), "pair_pk": pair_pk, "settled_grade": grade, "settled_by": status}
            for pair_pk, grade, status in pairs
        ],
    )


CHUNK = 500


def count_settled_since(session: Session, dataset_pk: int, since: datetime, sampled: Collection[int]) -> int:
    """Count the pairs outside the sample (pair_pks) with another settled grade now than then."""
    touched = sorted(_list_touched(session, dataset_pk, since) - set(sampled))
    earlier = {}
    for chunk in split_into_chunks(touched, CHUNK):
        earlier.update(_settle_then(session, chunk, since))
    return sum(
        state.settlement.grade is not None and state.settlement.grade != earlier[state.pair_pk].grade
        for state in list_pair_states(session, dataset_pk, touched)
    )


def _list_touched(session: Session, dataset_pk: int, since: datetime) -> set[int]:
    """Return the pairs that were judged, decided or imported with a grade since then, without checks."""
    latest = session.scalar(
        select(col(JudgmentRow.pk))
        .where(col(JudgmentRow.received_at) <= since)
        .order_by(col(JudgmentRow.pk).desc())
        .limit(1)
    )
    judged = select(col(CurrentJudgmentRow.pair_pk)).where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk, col(CurrentJudgmentRow.judgment_pk) > (latest or 0)
    )
    pair_pks = set(session.scalars(judged))
    for row, at in (
        (AdjudicationRow, AdjudicationRow.decided_at),
        (ImportedQrelRow, ImportedQrelRow.imported_at),
    ):
        statement = select(col(row.pair_pk)).join(PairRow, col(PairRow.pk) == col(row.pair_pk))
        pair_pks.update(
            session.scalars(statement.where(col(PairRow.dataset_pk) == dataset_pk, col(at) > since))
        )
    return pair_pks - set(session.scalars(select(col(CheckRow.pair_pk))))


def _settle_then(session: Session, pair_pks: Sequence[int], then: datetime) -> dict[int, Settlement]:
    """Return {pair_pk: its settlement at that time}, from the judgments, decisions and imports until then."""
    answers: dict[int, dict[int, JudgmentRow]] = {}
    judged = select(JudgmentRow).where(
        col(JudgmentRow.pair_pk).in_(pair_pks),
        col(JudgmentRow.purpose).in_(CURRENT_PURPOSES),
        col(JudgmentRow.received_at) <= then,
        col(JudgmentRow.late).is_(False),
    )
    for row in session.scalars(judged.order_by(col(JudgmentRow.pk))):
        answers.setdefault(row.pair_pk, {})[row.annotator_pk] = row
    decided = select(
        col(AdjudicationRow.pair_pk), col(AdjudicationRow.outcome), col(AdjudicationRow.grade)
    ).where(col(AdjudicationRow.pair_pk).in_(pair_pks), col(AdjudicationRow.decided_at) <= then)
    decisions = {
        row.pair_pk: read_decision(row.outcome, row.grade)
        for row in session.execute(decided.order_by(col(AdjudicationRow.revision)))
    }
    imported = select(col(ImportedQrelRow.pair_pk), col(ImportedQrelRow.grade)).where(
        col(ImportedQrelRow.pair_pk).in_(pair_pks),
        col(ImportedQrelRow.imported_at) <= then,
        col(ImportedQrelRow.keep),
    )
    imports = {row.pair_pk: row.grade for row in session.execute(imported.order_by(col(ImportedQrelRow.pk)))}
    settlements = {}
    for pk in pair_pks:
        counted = [
            row
            for row in answers.get(pk, {}).values()
            if row.purpose == COUNTED_PURPOSE and row.outcome != "later"
        ]
        grades = [row.grade for row in counted if row.grade is not None]
        settlements[pk] = settle(grades, len(counted) - len(grades), decisions.get(pk), imports.get(pk))
    return settlements
