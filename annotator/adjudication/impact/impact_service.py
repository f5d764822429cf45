"""Keep the impact of each disagreement up to date with judgments, decisions and runs.

A change of a grade marks the query as due. A decision recomputes its query in its transaction. Queries
changed by judgments are recomputed when a lead opens the queue. The systems' totals are computed first: they
decide which systems can change places. The caller has checked the role.

Read the ranks of documents in the imported runs, and the state of pairs, for their impact. Reads columns of
numbers for some queries at a time, because there can be ten million results. Settled grades come from
`domain/settling.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.adjudication.queue.queue_sql import count_due
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import KnownPair
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import (
    find_totals,
    list_due,
    store_scores,
    store_weights,
    sum_scores,
    take_due,
)
from annotator.storage.sql import fetch, fetch_tuples, prepare_sql, split_into_chunks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from annotator.adjudication.impact.impact import ComputedImpact

    Ints = NDArray[np.int64]

DEEPEST = 100
"""Results below this rank are not read: a first relevant document there has a reciprocal rank below 0.01."""
KEYS, RANKS, COUNTS = 2**31, 2**7, 2**8  # above any key, any rank and any number of judgments of a pair
_SYSTEMS = prepare_sql("SELECT pk, system FROM run WHERE dataset_pk = :dataset_pk ORDER BY pk")
_STAMP = prepare_sql(
    "SELECT (SELECT max(pk) FROM run) AS run_pk, (SELECT max(import_record_pk) FROM run) AS import_record_pk, "
    "(SELECT max(pk) FROM remap) AS remap_pk"
)
_ORDER_KEY = f"CAST(e.query_pk AS BIGINT) * {KEYS} + e.document_pk"
_RANK = f"CAST(e.run_pk AS BIGINT) * {RANKS} + e.rank"
_WANTED = f"e.run_pk = r.pk AND e.query_pk IN :queries AND e.rank BETWEEN 0 AND {DEEPEST}"
_ENTRIES = f"FROM run r CROSS JOIN run_entry e WHERE r.dataset_pk = :dataset_pk AND {_WANTED}"
# Run by run, each by its index: for many queries PostgreSQL would read the whole table instead, which takes three times as long.
_BY_RUN = f"""
FROM run r CROSS JOIN LATERAL (SELECT run_pk, query_pk, document_pk, rank FROM run_entry e WHERE {_WANTED} OFFSET 0) e WHERE r.dataset_pk = :dataset_pk"""
_RANKED = {
    "sqlite": prepare_sql(f"SELECT {_ORDER_KEY}, {_RANK} {_ENTRIES}", lists=["queries"]),
    "postgresql": prepare_sql(
        f"SELECT string_agg(int8send({_ORDER_KEY}) || int8send({_RANK}), CAST('' AS BYTEA)) {_BY_RUN}",
        lists=["queries"],
    ),
}
_PAIRS = "FROM pair p CROSS JOIN {} WHERE p.query_pk IN :queries AND p.retired_at IS NULL"
_ANSWERED = prepare_sql(
    f"""
SELECT p.query_pk, p.document_pk, p.pk, CAST(sum(CASE c.grade WHEN 0 THEN 1 WHEN 1 THEN {COUNTS} WHEN 2 THEN {COUNTS**2}
  WHEN 3 THEN {COUNTS**3} ELSE {COUNTS**4} END) AS BIGINT)
{_PAIRS.format("current_judgment c")} AND c.pair_pk = p.pk AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'
GROUP BY p.query_pk, p.document_pk, p.pk""",
    lists=["queries"],
)
_OTHER = prepare_sql(
    f"""
SELECT p.query_pk, p.document_pk, p.pk AS pair_pk, 'dispute' AS kind, CAST(NULL AS INTEGER) AS grade, 0 AS flag {_PAIRS.format("dispute s")} AND s.pair_pk = p.pk
UNION ALL SELECT p.query_pk, p.document_pk, p.pk, a.outcome, a.grade, 0
{_PAIRS.format("current_adjudication a")} AND a.pair_pk = p.pk
UNION ALL SELECT p.query_pk, p.document_pk, p.pk, 'imported', i.grade, 0
{_PAIRS.format("imported_qrel i")} AND i.pair_pk = p.pk AND p.kept AND i.keep
  AND NOT EXISTS (SELECT 1 FROM imported_qrel n WHERE n.pair_pk = i.pair_pk AND n.keep AND n.pk > i.pk)""",
    lists=["queries"],
)
_ERRORS = prepare_sql(
    """
SELECT p.query_pk, p.document_pk, p.pk AS pair_pk, 'error' AS kind, x.grade,
  CASE WHEN a.decided_at >= x.answered_at THEN 1 ELSE 0 END AS flag
FROM quality_pair x JOIN pair p ON p.pk = x.pair_pk LEFT JOIN current_adjudication a ON a.pair_pk = x.pair_pk
WHERE p.query_pk IN :queries AND p.retired_at IS NULL AND x.grade <> x.settled_grade""",
    lists=["queries"],
)


_PATTERNS: dict[int, tuple[tuple[int, ...], int]] = {}
_DOCUMENT = itemgetter(1)


class RankingsStamp(NamedTuple):
    """The newest run, import and change of document ids; it changes with them."""

    run_pk: int | None
    import_record_pk: int | None
    remap_pk: int | None


class Rankings(NamedTuple):
    """The results of all runs for some queries."""

    systems: list[str]
    # By query_pk: documents (document_pk), indexes into `systems`, and ranks from 1.
    results: "Mapping[int, tuple[Ints, Ints, Ints]]"
    stamp: RankingsStamp


def list_systems(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return the systems that have a run, by run_pk."""
    return dict(fetch_tuples(session, _SYSTEMS, {"dataset_pk": dataset_pk}))


def find_stamp(session: Session) -> RankingsStamp:
    """Return a value that changes when runs arrive or are reordered, or when document ids change."""
    return fetch(session, _STAMP, RankingsStamp)[0]


def read_rankings(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> Rankings:
    """Return the results of all runs for these queries, with ranks from 1, also if they begin at 0."""
    import numpy as np

    stamp, systems = find_stamp(session), list_systems(session, dataset_pk)
    if not systems or not query_pks:
        return Rankings(list(systems.values()), {}, stamp)
    read = _read_numbers(session, {"dataset_pk": dataset_pk, "queries": query_pks})
    order_key, rank = read[:, 0], read[:, 1]
    order = np.argsort(order_key, kind="stable")
    query, document = np.divmod(order_key[order], KEYS)
    run_pk, ranked = np.divmod(rank[order], RANKS)
    system = np.searchsorted(np.array(list(systems), dtype=np.int64), run_pk)
    queries, starts = np.unique(query, return_index=True)
    ends = [*starts[1:].tolist(), len(query)] if len(query) else []
    results = {
        key: (document[start:end], system[start:end], _begin_at_1(system[start:end], ranked[start:end]))
        for key, start, end in zip(queries.tolist(), starts.tolist(), ends, strict=True)
    }
    return Rankings(list(systems.values()), results, stamp)


class _PairFact(NamedTuple):
    """A disagreement, a decision, an imported grade or an error of a pair, by `kind`.

    `flag` of an error: whether a lead has decided since.
    """

    query_pk: int
    document_pk: int
    pair_pk: int
    kind: str
    grade: int | None
    flag: int


class JudgedRows(NamedTuple):
    """Judgments, decisions, imported grades and errors of the pairs of some queries, as rows."""

    other: list[_PairFact]  # disagreements, decisions and imported grades
    errors: list[_PairFact]  # found by quality control
    # query_pk, document_pk, pair_pk, and the counted judgments encoded in one number: a row for each judged pair
    answered: list[tuple[int, int, int, int]]

    def digest(self) -> int:
        """Return a number that is the same for the same rows in any order, within this process."""
        return hash(tuple(sum(map(hash, rows)) for rows in self))

    def by_query(self, query_pks: Sequence[int]) -> dict[int, list[KnownPair]]:
        """Return the pairs of each query in the order of their documents; pairs without any row are absent."""
        pairs_by_query: dict[int, list[KnownPair]] = {query_pk: [] for query_pk in query_pks}
        others: dict[int, KnownPair] = {}
        for query_pk, document_pk, pair_pk, kind, grade, flag in chain(self.other, self.errors):
            before = others.get(pair_pk)
            if before is None:
                before = KnownPair(pair_pk, document_pk)
                pairs_by_query[query_pk].append(before)
            others[pair_pk] = _note(before, kind, grade, flag)
        other_pks, nothing = others.keys(), (None, None, (), ())
        make = tuple.__new__  # faster than the class's own call with keywords
        for query_pk, document_pk, pair_pk, pattern in self.answered:
            answers = _PATTERNS.get(pattern) or _read_pattern(pattern)
            if pair_pk in other_pks:
                others[pair_pk] = others[pair_pk]._replace(grades=answers[0], unrateable=answers[1])
            else:
                pairs_by_query[query_pk].append(
                    make(KnownPair, (pair_pk, document_pk, False, *answers, *nothing))
                )
        return {
            query_pk: sorted((others.get(pair[0], pair) for pair in pairs), key=_DOCUMENT)
            for query_pk, pairs in pairs_by_query.items()
        }


def read_judged(session: Session, query_pks: Sequence[int]) -> JudgedRows:
    """Read the judgments, decisions, imported grades and errors of the pairs of these queries."""
    values = {"queries": query_pks}
    return JudgedRows(
        fetch(session, _OTHER, _PairFact, values),
        fetch(session, _ERRORS, _PairFact, values),
        fetch_tuples(session, _ANSWERED, values),
    )


def _note(pair: KnownPair, kind: str, grade: int | None, flag: int) -> KnownPair:
    if kind == "dispute":
        return pair._replace(disputed=True)
    if kind == "imported":
        return pair._replace(imported=grade)
    if kind == "error" and grade is not None:
        if flag:
            return pair._replace(answered=tuple(sorted((*pair.answered, grade))))
        return pair._replace(errors=tuple(sorted((*pair.errors, grade))))
    return pair._replace(decided="unrateable" if grade is None else grade)


def _read_pattern(pattern: int) -> tuple[tuple[int, ...], int]:
    """Return the grades and the number of unrateable judgments that the number from SQL encodes."""
    numbers = [pattern // COUNTS**position % COUNTS for position in range(5)]
    grades = tuple(grade for grade, number in enumerate(numbers[:4]) for _ in range(number))
    return _PATTERNS.setdefault(pattern, (grades, numbers[4]))


def _begin_at_1(system: "Ints", rank: "Ints") -> "Ints":
    import numpy as np

    first = np.unique(system[rank == 0])
    return rank + np.isin(system, first) if len(first) else rank


def _read_numbers(session: Session, values: Mapping[str, Any]) -> "Ints":
    """Return _ORDER_KEY and _RANK of each result. PostgreSQL sends all as one binary value."""
    import numpy as np

    connection = session.connection()
    dialect = connection.dialect.name
    dataset_pk, queries = int(values["dataset_pk"]), ", ".join(str(int(pk)) for pk in values["queries"])
    statement = (
        _RANKED[dialect].text.replace(":dataset_pk", f"{dataset_pk:d}").replace(":queries", f"({queries})")
    )
    if dialect != "postgresql":
        rows: Any = connection.exec_driver_sql(statement).cursor
        return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 2)
    driver: Any = connection.connection.driver_connection
    with driver.cursor(binary=True) as cursor:
        ((sent,),) = cursor.execute(statement).fetchall()
    return np.frombuffer(sent or b"", dtype=">i8").astype(np.int64).reshape(-1, 2)


FEW = 200
"""The most queries that a page computes without a progress bar."""
WITH_A_DECISION = 25
"""The most queries that a decision recomputes."""
AT_ONCE = 50
"""The queries of one transaction; annotators wait for it."""
READ_AT_ONCE = 500
KEPT_MOST = 10_000_000
ProgressCallback = Callable[[int, int], None]


def recompute(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> None:
    """Compute the impact of these queries in the caller's transaction, which holds the dataset's lock.

    Call it once per transaction, with all queries, after the disagreements were derived. If there are more
    than WITH_A_DECISION queries, or the totals of the systems are unknown, the queries stay due for
    `bring_up_to_date`.
    """
    from annotator.adjudication.impact.impact import compute

    queries = sorted(set(query_pks))
    if queries and len(queries) <= WITH_A_DECISION and not _lacks_totals(session, dataset_pk):
        session.flush()
        take_due(session, queries)
        judged, rankings = read_judged(session, queries), read_rankings(session, dataset_pk, queries)
        _store(session, dataset_pk, compute(judged.by_query(queries), rankings.results, rankings.systems))


def bring_up_to_date(
    database: Database, dataset: str, *, report_progress: ProgressCallback | None = None
) -> int:
    """Compute what is due, and return the number of steps that came up meanwhile.

    A step is one query; if no totals are stored, each query takes two steps. Uses many small transactions, so
    that annotators hardly wait. Two processes may do it at once. `report_progress`: called with (steps done,
    all steps).
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        left = _count_steps(session, dataset_pk)
    done, more, kept = 0, left > 0, _KeptEffects()
    while more:
        with database.read() as session:
            scoring = _lacks_totals(session, dataset_pk)
            queries = list_due(session, dataset_pk, most=READ_AT_ONCE, unscored=scoring)
            part = _read_part(session, dataset_pk, queries, scoring, kept)
        for chunk in split_into_chunks(queries, AT_ONCE):
            if not _compute(database, dataset_pk, part, chunk, kept):
                break
            done += len(chunk)
            if report_progress:
                report_progress(done, max(done, left))
        more = bool(queries) or (scoring and _sum_up(database, dataset_pk))
    return count_steps(database, dataset) if done else left


def count_steps(database: Database, dataset: str) -> int:
    """Count the steps that `bring_up_to_date` would take; 0 if everything is up to date."""
    with database.read() as session:
        return _count_steps(session, key_of(find_dataset(session, dataset).pk))


class _QueryPart(NamedTuple):
    """The rankings of some queries, read ahead of several transactions."""

    rankings: Rankings
    queries: frozenset[int]  # query_pk
    scoring: bool  # the totals of the systems are not known yet


class _KeptEffects:
    """Effects that were computed together with the scores, kept until the totals are known.

    They are kept by the queries of a transaction, with the state they were computed from. Effects that do not
    fit into memory are computed again.
    """

    def __init__(self) -> None:
        self.room = KEPT_MOST
        self.chunks: dict[tuple[int, ...], tuple[tuple[Any, ...], ComputedImpact]] = {}

    def keep(self, queries: Sequence[int], state: tuple[Any, ...], computed: "ComputedImpact") -> None:
        self.room -= computed.size
        if self.room > 0:
            self.chunks[tuple(queries)] = (state, computed)

    def take(self, queries: Sequence[int], state: tuple[Any, ...]) -> "ComputedImpact | None":
        """Return the effects of these queries; None if they were not kept or the state has changed."""
        kept_state, computed = self.chunks.pop(tuple(queries), (None, None))
        return computed if kept_state == state else None


def _lacks_totals(session: Session, dataset_pk: int) -> bool:
    return find_totals(session, dataset_pk) is None and bool(list_systems(session, dataset_pk))


def _count_steps(session: Session, dataset_pk: int) -> int:
    due = count_due(session, dataset_pk)
    if due and _lacks_totals(session, dataset_pk):
        due += len(list_due(session, dataset_pk, unscored=True))
    return due


def _read_part(
    session: Session, dataset_pk: int, queries: Sequence[int], scoring: bool, kept: _KeptEffects
) -> _QueryPart:
    """Read the rankings of these queries, except those whose effects are kept."""
    chunks = [
        chunk for chunk in split_into_chunks(queries, AT_ONCE) if scoring or tuple(chunk) not in kept.chunks
    ]
    wanted = [query_pk for chunk in chunks for query_pk in chunk]
    return _QueryPart(read_rankings(session, dataset_pk, wanted), frozenset(wanted), scoring)


def _compute(
    database: Database, dataset_pk: int, part: _QueryPart, queries: Sequence[int], kept: _KeptEffects
) -> bool:
    """Compute some queries of the part. Return False if the runs have changed since it was read."""
    from annotator.adjudication.impact.impact import compute

    with database.write() as session:
        lock_dataset(session, dataset_pk, archived_too=True)  # scores are derived
        scoring, stamp = _lacks_totals(session, dataset_pk), find_stamp(session)
        if scoring != part.scoring or stamp != part.rankings.stamp:
            return False
        if not scoring:
            take_due(session, queries)
        judged = read_judged(session, queries)
        state = (stamp, judged.digest())
        computed = None if scoring else kept.take(queries, state)
        if computed is not None:
            _store(session, dataset_pk, computed, scores=False)
            return True
        rankings = (
            part.rankings if part.queries.issuperset(queries) else read_rankings(session, dataset_pk, queries)
        )
        computed = compute(judged.by_query(queries), rankings.results, rankings.systems)
        if scoring:
            store_scores(session, dataset_pk, computed.scores)
            kept.keep(queries, state, computed)
        else:
            _store(session, dataset_pk, computed)
        return True


def _store(session: Session, dataset_pk: int, computed: "ComputedImpact", *, scores: bool = True) -> None:
    """Store the result. `scores`: False if the scores are stored already."""
    totals = (
        store_scores(session, dataset_pk, computed.scores) if scores else find_totals(session, dataset_pk)
    )
    store_weights(session, computed.list_weights(totals.scores if totals else {}))


def _sum_up(database: Database, dataset_pk: int) -> bool:
    """Store each system's totals, if every query has its scores."""
    with database.write() as session:
        lock_dataset(session, dataset_pk, archived_too=True)  # scores are derived
        if _lacks_totals(session, dataset_pk) and not list_due(session, dataset_pk, most=1, unscored=True):
            sum_scores(session, dataset_pk)
    return True
