"""Store and read the rounds of a dataset's pool, their pairs, and the candidates that they left out."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, null, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.texts import check_options
from annotator.pooling.rounds.round_records import (
    JudgedProbability,
    LeftOut,
    NewRound,
    PairDraw,
    PoolHistory,
    PoolRound,
)
from annotator.storage.lookup import key_of
from annotator.storage.sql import add_rows, execute_sql, prepare_sql
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import DocumentRow, PairRow, PersonRow, ProvenanceRow, QueryRow, RunRow
from annotator.storage.tables.pooling import LeftOutRow, PoolRoundRow, RoundPairRow

_NEW_PAIRS = prepare_sql(
    "INSERT INTO round_pair (pair_pk, round_pk) "
    "SELECT pk, :round_pk FROM pair WHERE dataset_pk = :dataset_pk AND pk > :after ORDER BY pk"
)
_RAISE = prepare_sql("UPDATE round_pair SET inclusion = :inclusion WHERE pair_pk = :pair_pk")


def add_round(
    session: Session,
    dataset_pk: int,
    new: NewRound,
    pairs: Mapping[int, PairDraw],
    *,
    made_by: int | None,
    now: datetime,
) -> int:
    """Store a round with its new pairs (by pair_pk) and left-out candidates; return its number, from 1.

    Call it in the transaction that adds the pairs and holds the dataset's lock.
    """
    check_options(new.options)
    latest = select(func.max(col(PoolRoundRow.number))).where(col(PoolRoundRow.dataset_pk) == dataset_pk)
    values: dict[str, Any] = {
        "dataset_pk": dataset_pk,
        "number": (session.scalar(latest) or 0) + 1,
        "made_at": now,
        "made_by": made_by,
        "strategy": new.strategy,
        "options": dict(new.options),
        "figures": dict(new.figures),
    }
    row = PoolRoundRow.model_validate(values)
    session.add(row)
    session.flush()
    round_pk = key_of(row.pk)
    drawn = [
        {"pair_pk": pair_pk, "round_pk": round_pk, "stratum": draw.stratum, "inclusion": draw.inclusion}
        for pair_pk, draw in pairs.items()
    ]
    add_rows(session, RoundPairRow, drawn)
    left_out = [
        {
            "round_pk": round_pk,
            "query_pk": item.query_pk,
            "document_pk": item.document_pk,
            "rule": item.rule,
            "kept_document_pk": item.kept_document_pk,
        }
        for item in new.left_out
    ]
    add_rows(session, LeftOutRow, left_out)
    return row.number


def find_latest_pair(session: Session, dataset_pk: int) -> int:
    """Return the highest pair_pk of the dataset; 0 without pairs. Later pairs have higher ones."""
    statement = select(func.max(col(PairRow.pk))).where(col(PairRow.dataset_pk) == dataset_pk)
    return session.scalar(statement) or 0


def add_new_pairs_to_round(
    session: Session,
    dataset_pk: int,
    number: int,
    after: int,
    draws: Mapping[tuple[int, int], PairDraw],
) -> None:
    """Assign every pair of the dataset with a pair_pk above `after` to this round.

    `draws`: by (query_pk, document_pk); empty if all pairs were certain. The dataset must be locked since
    `after` was read.
    """
    round_pk = session.scalar(
        select(col(PoolRoundRow.pk)).where(
            col(PoolRoundRow.dataset_pk) == dataset_pk, col(PoolRoundRow.number) == number
        )
    )
    if not draws:
        values = {"round_pk": round_pk, "dataset_pk": dataset_pk, "after": after}
        execute_sql(session, _NEW_PAIRS, values)
        return
    statement = select(col(PairRow.pk), col(PairRow.query_pk), col(PairRow.document_pk))
    statement = statement.where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.pk) > after)
    rows = []
    for pair_pk, query_pk, document_pk in session.execute(statement):
        draw = draws[query_pk, document_pk]
        row = {"pair_pk": pair_pk, "round_pk": round_pk}
        rows.append({**row, "stratum": draw.stratum, "inclusion": draw.inclusion})
    add_rows(session, RoundPairRow, rows)


def list_drawn(session: Session, dataset_pk: int, number: int) -> dict[tuple[int, int], str | None]:
    """Return {(query_pk, document_pk): stratum} of this round's pairs that are still in the pool."""
    statement = (
        select(col(PairRow.query_pk), col(PairRow.document_pk), col(RoundPairRow.stratum))
        .join(RoundPairRow, col(RoundPairRow.pair_pk) == col(PairRow.pk))
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(RoundPairRow.round_pk))
        .where(
            col(PoolRoundRow.dataset_pk) == dataset_pk,
            col(PoolRoundRow.number) == number,
            col(PairRow.retired_at).is_(None),
        )
    )
    return {(query, document): stratum for query, document, stratum in session.execute(statement)}


def raise_probabilities(
    session: Session, dataset_pk: int, list_chances: Callable[[], Mapping[tuple[int, int], float]]
) -> None:
    """Combine the probability of every randomly drawn pair with that of a further, independent draw.

    `list_chances`: returns the further probabilities by (query_pk, document_pk). It is called only if there
    are drawn pairs.
    """
    statement = (
        select(col(PairRow.pk), col(PairRow.query_pk), col(PairRow.document_pk), col(RoundPairRow.inclusion))
        .join(RoundPairRow, col(RoundPairRow.pair_pk) == col(PairRow.pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(RoundPairRow.inclusion).is_not(None))
    )
    drawn = session.execute(statement).all()
    chances = list_chances() if drawn else {}
    raised = []
    for pair_pk, query_pk, document_pk, inclusion in drawn:
        further = chances.get((query_pk, document_pk), 0.0)
        if further > 0 and inclusion is not None:
            combined = 1 - (1 - inclusion) * (1 - further)
            raised.append({"pair_pk": pair_pk, "inclusion": combined if combined < 1 else None})
    execute_sql(session, _RAISE, raised)


def leaves_out_nothing_new(session: Session, dataset_pk: int, left_out: Collection[LeftOut]) -> bool:
    """Return whether earlier rounds left out all these candidates by the same rules, for the same documents."""
    if not left_out:
        return True
    statement = (
        select(
            col(LeftOutRow.query_pk),
            col(LeftOutRow.document_pk),
            col(LeftOutRow.rule),
            col(LeftOutRow.kept_document_pk),
        )
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(LeftOutRow.round_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk)
    )
    return {LeftOut(*values) for values in session.execute(statement)}.issuperset(left_out)


def list_rounds(session: Session, dataset_pk: int) -> list[PoolRound]:
    """Return the rounds of a dataset by number."""
    counted = (
        select(col(RoundPairRow.round_pk), func.count().label("pairs"))
        .group_by(col(RoundPairRow.round_pk))
        .subquery()
    )
    statement = (
        select(
            col(PoolRoundRow.number),
            col(PoolRoundRow.made_at),
            col(PersonRow.username),
            col(PoolRoundRow.strategy),
            func.coalesce(counted.c.pairs, 0),
            col(PoolRoundRow.options),
            col(PoolRoundRow.figures),
        )
        .outerjoin(counted, counted.c.round_pk == col(PoolRoundRow.pk))
        .outerjoin(PersonRow, col(PersonRow.pk) == col(PoolRoundRow.made_by))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk)
        .order_by(col(PoolRoundRow.number))
    )
    return [PoolRound(*values) for values in session.execute(statement)]


def list_pair_rounds(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return {pair_pk: number of its round}, without pairs of no round."""
    statement = (
        select(col(RoundPairRow.pair_pk), col(PoolRoundRow.number))
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(RoundPairRow.round_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk)
    )
    return {key_of(pair_pk): number for pair_pk, number in session.execute(statement)}


def list_judged_pairs(session: Session, dataset_pk: int, strategy: str) -> set[int]:
    """Return the judged and kept pairs (pair_pk) that came in a round of this strategy."""
    statement = (
        select(col(PairRow.pk))
        .join(RoundPairRow, col(RoundPairRow.pair_pk) == col(PairRow.pk))
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(RoundPairRow.round_pk))
        .where(
            col(PoolRoundRow.dataset_pk) == dataset_pk,
            col(PoolRoundRow.strategy) == strategy,
            (col(PairRow.judged) > 0) | col(PairRow.kept),
            col(PairRow.retired_at).is_(None),
        )
    )
    return {key_of(pk) for pk in session.scalars(statement)}


def count_waiting(session: Session, dataset_pk: int, strategies: Collection[str]) -> dict[str | None, int]:
    """Return {category of the query: unjudged pairs from rounds of these strategies}."""
    statement = (
        select(col(QueryRow.category), func.count())
        .select_from(RoundPairRow)
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(RoundPairRow.round_pk))
        .join(PairRow, col(PairRow.pk) == col(RoundPairRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .where(
            col(PoolRoundRow.dataset_pk) == dataset_pk,
            col(PoolRoundRow.strategy).in_(strategies),
            col(PairRow.judged) == 0,
            col(PairRow.kept).is_(False),
            col(PairRow.retired_at).is_(None),
            ~exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
        )
        .group_by(col(QueryRow.category))
    )
    return {category: number for category, number in session.execute(statement)}  # noqa: C416  (a Row is no tuple for mypy)


def list_categories(session: Session, dataset_pk: int) -> dict[int, str | None]:
    """Return {query_pk: category} of every query."""
    statement = select(col(QueryRow.pk), col(QueryRow.category)).where(col(QueryRow.dataset_pk) == dataset_pk)
    return {key_of(pk): category for pk, category in session.execute(statement)}


def list_left_out_in(session: Session, dataset_pk: int, number: int) -> list[tuple[int, int]]:
    """Return the candidates that one round left out, as (query_pk, document_pk)."""
    statement = (
        select(col(LeftOutRow.query_pk), col(LeftOutRow.document_pk))
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(LeftOutRow.round_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk, col(PoolRoundRow.number) == number)
    )
    return [(query_pk, document_pk) for query_pk, document_pk in session.execute(statement)]


def read_history(session: Session, dataset_pk: int) -> PoolHistory:
    """Return the history of a dataset's pool."""
    in_pool = (col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    came = exists().where(col(RoundPairRow.pair_pk) == col(PairRow.pk))
    without = select(func.count()).select_from(PairRow).where(*in_pool, ~came)
    drawn = (
        select(func.count())
        .select_from(RoundPairRow)
        .join(PairRow, col(PairRow.pk) == col(RoundPairRow.pair_pk))
        .where(*in_pool, col(RoundPairRow.inclusion) < 1)
    )
    return PoolHistory(
        tuple(list_rounds(session, dataset_pk)),
        session.scalar(without) or 0,
        session.scalar(drawn) or 0,
        _list_not_pooled(session, dataset_pk),
        _count_left_out(session, dataset_pk),
    )


def _list_not_pooled(session: Session, dataset_pk: int) -> tuple[str, ...]:
    """Return the systems of imported runs that proposed no pair, in code point order."""
    systems = session.scalars(select(col(RunRow.system)).where(col(RunRow.dataset_pk) == dataset_pk))
    named = (
        select(col(ProvenanceRow.system))
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
        .distinct()
    )
    return tuple(sorted(set(systems) - set(session.scalars(named))))


def _count_left_out(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return {rule: left-out candidates that are no pair}, each with the rule of its latest round."""
    is_pair = exists().where(
        col(PairRow.query_pk) == col(LeftOutRow.query_pk),
        col(PairRow.document_pk) == col(LeftOutRow.document_pk),
        col(PairRow.retired_at).is_(None),
    )
    statement = (
        select(col(LeftOutRow.query_pk), col(LeftOutRow.document_pk), col(LeftOutRow.rule))
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(LeftOutRow.round_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk, ~is_pair)
        .order_by(col(PoolRoundRow.number))
    )
    rules = {(query_pk, document_pk): rule for query_pk, document_pk, rule in session.execute(statement)}
    return dict(sorted(Counter(rules.values()).items()))


def read_chances(session: Session, dataset_pk: int) -> dict[tuple[str, str], float]:
    """Return {(query_id, doc_id): probability} of the pairs in the pool that were drawn at random."""
    statement = (
        select(col(QueryRow.query_id), col(DocumentRow.doc_id), col(RoundPairRow.inclusion))
        .select_from(RoundPairRow)
        .join(PairRow, col(PairRow.pk) == col(RoundPairRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(PairRow.retired_at).is_(None),
            col(RoundPairRow.inclusion) < 1,
        )
    )
    rows = session.execute(statement)
    return {(query_id, doc_id): chance for query_id, doc_id, chance in rows if chance is not None}


def list_probabilities(session: Session, dataset_pk: int) -> list[JudgedProbability]:
    """Return every pair of the pool with its probability and without its grade."""
    statement = (
        select(
            col(QueryRow.query_id),
            col(DocumentRow.doc_id),
            null(),
            col(PoolRoundRow.number),
            col(RoundPairRow.stratum),
            func.coalesce(col(RoundPairRow.inclusion), 1.0),
        )
        .select_from(PairRow)
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(RoundPairRow, col(RoundPairRow.pair_pk) == col(PairRow.pk))
        .outerjoin(PoolRoundRow, col(PoolRoundRow.pk) == col(RoundPairRow.round_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    )
    return [JudgedProbability(*values) for values in session.execute(statement)]
