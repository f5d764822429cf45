"""Derive how many judgments each pair still lacks, and the totals per query.

`storage/judgments/answers.py` does it for the few pairs of an annotator's answers, by the same rule in Python
(`domain/overlap.count_lacking`). Every change of a pair (a judgment, a decision, a check, the overlap) calls
this file. Choosing the next pairs reads the result and never counts the pool.

A pair lacks: the judgments that its overlap requires (`domain/settling.py`), plus one if the first judgments
differ enough, minus its current judgments. It lacks nothing once it left the pool, is settled, is a check, or
has a kept grade without a new judgment.
"""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES
from annotator.domain.settling import MOST, conditional_distance, find_overlap, find_uniform_overlap
from annotator.storage.lookup import key_of
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql, quote_texts, split_into_chunks
from annotator.storage.tables.central import CurrentJudgmentRow, DatasetRow, PairRow, QueryRow

CHUNK = 1_000
_MANY = 50_000  # from so many pairs on, all of the dataset are derived at once
_LACKING = f"""
UPDATE pair SET lacking = n.lacking FROM (
  SELECT p.pk, CASE
    WHEN p.retired_at IS NOT NULL OR (p.kept AND p.judged = 0)
      OR EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)
      OR EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk) THEN 0
    WHEN p.wanted + coalesce(c.further, 0) > coalesce(c.answers, 0)
      THEN p.wanted + coalesce(c.further, 0) - coalesce(c.answers, 0)
    ELSE 0 END AS lacking
  FROM pair p LEFT JOIN (
    SELECT m.pair_pk, count(*) AS answers, CASE
      WHEN sum(CASE WHEN m.purpose = '{COUNTED_PURPOSE}' AND m.grade IS NOT NULL THEN 1 ELSE 0 END) >= 2
       AND max(CASE WHEN m.purpose = '{COUNTED_PURPOSE}' THEN m.grade END)
         - min(CASE WHEN m.purpose = '{COUNTED_PURPOSE}' THEN m.grade END) >= CAST(:distance AS INTEGER)
       AND max(o.wanted) < :most THEN 1 ELSE 0 END AS further
    FROM current_judgment m JOIN pair o ON o.pk = m.pair_pk
    WHERE m.pair_pk IN {{pairs}} AND m.outcome <> 'later' AND m.purpose IN {quote_texts(CURRENT_PURPOSES)}
    GROUP BY m.pair_pk) c ON c.pair_pk = p.pk
  WHERE p.pk IN {{pairs}}) n
WHERE n.pk = pair.pk AND pair.lacking <> n.lacking
"""
_COUNTERS = (
    "DELETE FROM query_work WHERE query_pk IN {queries}",
    (
        "INSERT INTO query_work (query_pk, dataset_pk, open_pairs, begun_pairs) "
        "SELECT query_pk, dataset_pk, count(*), sum(CASE WHEN judged > 0 AND judged > "
        "(SELECT count(*) FROM proposal b WHERE b.pair_pk = pair.pk) THEN 1 ELSE 0 END) "
        "FROM pair WHERE query_pk IN {queries} AND lacking > 0 GROUP BY query_pk, dataset_pk"
    ),
    "DELETE FROM query_answers WHERE query_pk IN {queries}",
    (
        "INSERT INTO query_answers (query_pk, annotator_pk, dataset_pk, answered, answered_open) "
        "SELECT p.query_pk, c.annotator_pk, p.dataset_pk, count(*), sum(CASE WHEN p.lacking > 0 THEN 1 ELSE 0 END) "
        "FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk "
        "WHERE p.query_pk IN {queries} AND c.outcome <> 'later' "
        "GROUP BY p.query_pk, c.annotator_pk, p.dataset_pk"
    ),
)
_ALL_PAIRS = "(SELECT pk FROM pair WHERE dataset_pk = :dataset_pk)"
_ALL_QUERIES = "(SELECT pk FROM query WHERE dataset_pk = :dataset_pk)"
_LACKING_OF_SOME = prepare_sql(_LACKING.format(pairs=":pairs"), lists=["pairs"])
_LACKING_OF_ALL = prepare_sql(_LACKING.format(pairs=_ALL_PAIRS))
_COUNT_SOME = [prepare_sql(item.format(queries=":queries"), lists=["queries"]) for item in _COUNTERS]
_COUNT_ALL = [prepare_sql(item.format(queries=_ALL_QUERIES)) for item in _COUNTERS]
_LOCK_COUNTERS = prepare_sql(
    "SELECT pk FROM query WHERE pk IN :queries ORDER BY pk FOR NO KEY UPDATE", lists=["queries"]
)
_FORGET_UNANSWERED = prepare_sql(
    "DELETE FROM query_answers WHERE annotator_pk = :annotator_pk AND query_pk IN :queries AND answered = 0",
    lists=["queries"],
)
_QUERIES_OF = prepare_sql("SELECT DISTINCT query_pk FROM pair WHERE pk IN :pairs", lists=["pairs"])


def count_current(session: Session, dataset_pk: int) -> int:
    """Count the current judgments of a dataset: without "later", checks, and pairs that left the pool."""
    is_judged = col(CurrentJudgmentRow.outcome) != "later"
    statement = select(func.count()).select_from(CurrentJudgmentRow)
    return session.scalar(statement.where(col(CurrentJudgmentRow.dataset_pk) == dataset_pk, is_judged)) or 0


def count_lacking(session: Session, dataset_pk: int) -> int:
    """Count the judgments that the pairs of a dataset still lack."""
    lacking = col(PairRow.lacking)
    statement = select(func.sum(lacking)).where(col(PairRow.dataset_pk) == dataset_pk, lacking > 0)
    return int(session.scalar(statement) or 0)


def derive_work(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Update `pair.wanted`, `pair.lacking`, `query_work` and `query_answers` of these pairs (None: all)."""
    session.flush()
    dataset = session.get_one(DatasetRow, dataset_pk)
    pks = _choose(pair_pks)
    _derive_wanted(session, dataset, pks)
    _derive_lacking(session, dataset, pks)


def derive_lacking(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Do what `derive_work` does after a change of judgments only, which leaves `pair.wanted` as it is."""
    session.flush()
    _derive_lacking(session, session.get_one(DatasetRow, dataset_pk), _choose(pair_pks))


def count_queries(session: Session, query_pks: Iterable[int]) -> None:
    """Recount the open pairs of these queries, and the answered pairs per annotator."""
    for chunk in split_into_chunks(sorted(set(query_pks)), CHUNK):
        for statement in _COUNT_SOME:
            execute_sql(session, statement, {"queries": chunk})


def lock_counters(session: Session, query_pks: Collection[int]) -> None:
    """Lock the counts of these queries until this transaction ends (PostgreSQL).

    A recount reads pairs that others change: each recount must see the changes of the one before.
    """
    if query_pks and session.get_bind().dialect.name == "postgresql":
        execute_sql(session, _LOCK_COUNTERS, {"queries": list(query_pks)})


def forget_unanswered_queries(session: Session, annotator_pk: int, query_pks: Collection[int]) -> None:
    """Delete the annotator's counts of queries in which they have no answers any more."""
    values = {"annotator_pk": annotator_pk, "queries": sorted(query_pks)}
    execute_sql(session, _FORGET_UNANSWERED, values)


def want(session: Session, dataset_pk: int, pairs: Sequence[tuple[int, str]]) -> list[int]:
    """Return how many annotators shall judge each of these new pairs (query_pk, key)."""
    dataset = session.get_one(DatasetRow, dataset_pk)
    everywhere = find_uniform_overlap(dataset.overlap, dataset.overlap_rules)
    if everywhere is not None:
        return [everywhere] * len(pairs)
    statement = select(col(QueryRow.pk), col(QueryRow.category)).where(col(QueryRow.dataset_pk) == dataset_pk)
    categories = {key_of(pk): category for pk, category in session.execute(statement)}
    return [_want(dataset, key, categories[query_pk]) for query_pk, key in pairs]


def _want(dataset: DatasetRow, key: str, category: str | None) -> int:
    return find_overlap(
        dataset.overlap, dataset.overlap_rules, seed=dataset.order_seed, key=key, category=category
    )


def _choose(pair_pks: Iterable[int] | None) -> list[int] | None:
    pks = None if pair_pks is None else sorted(set(pair_pks))
    return None if pks is not None and len(pks) > _MANY else pks


def _derive_wanted(session: Session, dataset: DatasetRow, pks: list[int] | None) -> None:
    everywhere = find_uniform_overlap(dataset.overlap, dataset.overlap_rules)
    if everywhere is not None:
        change = update(PairRow).where(col(PairRow.wanted) != everywhere).values(wanted=everywhere)
        for chunk in [None] if pks is None else split_into_chunks(pks, CHUNK):
            of = col(PairRow.dataset_pk) == dataset.pk if chunk is None else col(PairRow.pk).in_(chunk)
            session.execute(change.where(of).execution_options(synchronize_session=False))
        return
    statement = (
        select(col(PairRow.pk), col(PairRow.key), col(PairRow.wanted), col(QueryRow.category))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .where(col(PairRow.dataset_pk) == dataset.pk)
    )
    changed: dict[int, list[int]] = {}
    for chunk in [None] if pks is None else split_into_chunks(pks, CHUNK):
        of_chunk = statement if chunk is None else statement.where(col(PairRow.pk).in_(chunk))
        for pk, key, wanted, category in session.execute(of_chunk):
            new = _want(dataset, key, category)
            if new != wanted:
                changed.setdefault(new, []).append(key_of(pk))
    for wanted, pairs in changed.items():
        for chunk in split_into_chunks(pairs, CHUNK):
            change = update(PairRow).where(col(PairRow.pk).in_(chunk)).values(wanted=wanted)
            session.execute(change.execution_options(synchronize_session=False))


def _derive_lacking(session: Session, dataset: DatasetRow, pks: list[int] | None) -> None:
    rules = {
        "distance": conditional_distance(dataset.overlap_rules),
        "most": (dataset.overlap_rules or {}).get("cap") or MOST,
    }
    if pks is None:
        for statement in (_LACKING_OF_ALL, *_COUNT_ALL):
            execute_sql(session, statement, {"dataset_pk": dataset.pk, **rules})
        return
    queries: set[int] = set()
    for chunk in split_into_chunks(pks, CHUNK):
        execute_sql(session, _LACKING_OF_SOME, {"pairs": chunk, **rules})
        queries.update(query_pk for (query_pk,) in fetch_tuples(session, _QUERIES_OF, {"pairs": chunk}))
    count_queries(session, queries)
