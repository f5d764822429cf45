"""Count the pool by status, system, set of systems and rank, and list its pairs by page.

The settlement of every pair is derived in SQL by the rules of `domain/settling.py`, so that the database
counts a pool of a million proposals itself (benchmarks/pool_page.py). A test compares both after every kind
of change.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.pooling.analysis.pool_analysis import (
    MOST_DRAWN,
    ClusterSums,
    LeftOutCandidate,
    LeftOutGroup,
    PairCount,
    PairFilter,
    SystemProposal,
)
from annotator.storage.judgments.current_judgments import LATEST
from annotator.storage.logs.disclosures import BLIND_PAIRS, PAIRS_TO_JUDGE
from annotator.storage.sql import PreparedSql, fetch, fetch_tuples, prepare_sql, read_json


def _settle(condition: str) -> str:
    """Return the common table `settled` of the pairs with this condition.

    Its columns: pair_pk, query_pk, document_pk, status, grade. All joins are by key, from pairs to their
    facts: 300,000 pairs take half a second. Two common tables are never joined: without statistics, SQLite
    would compare all their rows. Reopened comes last, because an expert's grade contests every other
    settlement. Pairs that the reader may still judge (`storage/logs/disclosures.py`) count as not judged.
    """
    return f"""
blind AS ({BLIND_PAIRS}),
judged AS (
  SELECT p.pk, p.query_pk, p.document_pk, p.kept, count(c.pair_pk) AS answers, count(c.grade) AS graded,
    min(c.grade) AS low, max(c.grade) AS high
  FROM pair p LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'
  WHERE {condition} AND p.retired_at IS NULL GROUP BY p.pk, p.query_pk, p.document_pk, p.kept),
stated AS (
  SELECT j.pk AS pair_pk, j.query_pk, j.document_pk, j.answers, j.graded, j.low, j.high, a.pair_pk AS decided, a.grade AS decision,
    CASE WHEN j.kept AND j.answers = 0 AND a.pair_pk IS NULL THEN (
      SELECT i.grade FROM imported_qrel i WHERE i.pair_pk = j.pk AND i.keep ORDER BY i.pk DESC LIMIT 1) END AS imported
  FROM judged j LEFT JOIN current_adjudication a ON a.pair_pk = j.pk),
graded AS (
  SELECT s.pair_pk, s.query_pk, s.document_pk, CASE
      WHEN s.decided IS NOT NULL THEN CASE WHEN s.decision IS NULL THEN 'unrateable' ELSE 'adjudicated' END
      WHEN s.answers = 0 THEN CASE WHEN s.imported IS NULL THEN 'unjudged' ELSE 'imported' END
      WHEN s.graded = 0 THEN 'unrateable'
      WHEN s.graded < s.answers OR s.low <> s.high THEN 'disagreement'
      WHEN s.graded = 1 THEN 'single' ELSE 'unanimous' END AS status,
    CASE WHEN s.decided IS NOT NULL THEN s.decision WHEN s.answers = 0 THEN s.imported
      WHEN s.graded = s.answers AND s.low = s.high THEN s.low END AS grade
  FROM stated s),
contested AS (
  SELECT x.pair_pk, x.grade FROM quality_pair x WHERE x.grade <> x.settled_grade AND NOT EXISTS (
    SELECT 1 FROM current_adjudication a WHERE a.pair_pk = x.pair_pk AND a.decided_at >= x.answered_at)),
checked AS (
  SELECT g.pair_pk, g.query_pk, g.document_pk, g.status, g.grade,
    CASE WHEN g.pair_pk IN (SELECT pair_pk FROM contested) THEN (
      SELECT count(*) FROM contested x WHERE x.pair_pk = g.pair_pk AND (g.grade IS NULL OR g.grade <> x.grade)) ELSE 0
    END AS errors FROM graded g),
settled AS (
  SELECT k.pair_pk, k.query_pk, k.document_pk, CASE WHEN k.pair_pk IN (SELECT pk FROM blind) THEN 'unjudged'
      WHEN k.errors > 0 THEN 'reopened' ELSE k.status END AS status,
    CASE WHEN k.errors = 0 AND k.pair_pk NOT IN (SELECT pk FROM blind) THEN k.grade END AS grade FROM checked k)"""


_OF_DATASET = "p.dataset_pk = :dataset_pk"
_OF_QUERIES = "p.query_pk IN :queries AND p.dataset_pk + 0 = :dataset_pk"
_SETTLED = _settle(_OF_DATASET)
_RELEVANT = f"CASE WHEN {{grade}} >= {RELEVANT_FROM} THEN 1 ELSE 0 END"
_COUNTS = (
    f"count(*) AS pairs, count(s.grade) AS settled, sum({_RELEVANT.format(grade='s.grade')}) AS relevant"
)

_SYSTEM_RANKS = prepare_sql(f"""
WITH {_SETTLED}
SELECT v.system, v.rank, {_COUNTS} FROM settled s JOIN provenance v ON v.pair_pk = s.pair_pk GROUP BY v.system, v.rank""")
_ALONE_COUNTS = prepare_sql(f"""
WITH {_SETTLED}, only_one AS (
  SELECT t.pair_pk, t.grade, min(v.system) AS system FROM settled t JOIN provenance v ON v.pair_pk = t.pair_pk
  GROUP BY t.pair_pk, t.grade HAVING count(*) = 1)
SELECT s.system, {_COUNTS} FROM only_one s GROUP BY s.system""")
_BITS = " ".join(f"WHEN :system_{bit} THEN {1 << bit}" for bit in range(MOST_DRAWN))
_DRAWN = " ".join(f"WHEN :system_{bit} THEN 0" for bit in range(MOST_DRAWN))
_SETS = prepare_sql(f"""
WITH {_SETTLED}, proposed AS (
  SELECT t.pair_pk, t.status, t.grade, sum(CASE v.system {_BITS} ELSE 0 END) AS mask,
    max(CASE WHEN v.system IS NULL THEN 0 ELSE CASE v.system {_DRAWN} ELSE 1 END END) AS others
  FROM settled t LEFT JOIN provenance v ON v.pair_pk = t.pair_pk GROUP BY t.pair_pk, t.status, t.grade)
SELECT s.mask, s.others, s.status, {_COUNTS} FROM proposed s GROUP BY s.mask, s.others, s.status""")
LAST_RANKS = 0
"""The group of the pairs at the pool's last ranks. All other groups are named by their last rank."""
_NO_SYSTEM = "\n"  # no system has this name; for unused bits


def _name_reader(dataset_pk: int, reader_pk: int | None) -> dict[str, Any]:
    """Return the values of `_settle`. `reader_pk`: the person who reads, None for the operator."""
    return {"dataset_pk": dataset_pk, "person_pk": reader_pk}


def count_system_ranks(
    session: Session, dataset_pk: int, reader_pk: int | None
) -> dict[str, dict[int | None, PairCount]]:
    """Return the pairs by system and by the rank in its file, from 0 or 1; None: without a rank."""
    systems: dict[str, dict[int | None, PairCount]] = {}
    for system, rank, *counts in fetch_tuples(session, _SYSTEM_RANKS, _name_reader(dataset_pk, reader_pk)):
        systems.setdefault(system, {})[rank] = PairCount(*map(int, counts))
    return systems


_PAIRS_IN_POOL = prepare_sql(
    "SELECT count(*) FROM pair p WHERE p.dataset_pk = :dataset_pk AND p.retired_at IS NULL"
)


def count_pairs(session: Session, dataset_pk: int) -> int:
    """Count the pairs in the pool."""
    ((pairs,),) = fetch_tuples(session, _PAIRS_IN_POOL, {"dataset_pk": dataset_pk})
    return int(pairs)


def count_alone(session: Session, dataset_pk: int, reader_pk: int | None) -> dict[str, PairCount]:
    """Count the pairs that only one system proposed, by system."""
    rows = fetch_tuples(session, _ALONE_COUNTS, _name_reader(dataset_pk, reader_pk))
    return {system: PairCount(*map(int, counts)) for system, *counts in rows}


def count_sets(
    session: Session, dataset_pk: int, reader_pk: int | None, drawn: Sequence[str]
) -> list[tuple[int, int, str, PairCount]]:
    """Count the pairs by status and set of systems: (the systems of `drawn` as bits, 1 if it has other systems)."""
    names = [*drawn, *[_NO_SYSTEM] * (MOST_DRAWN - len(drawn))]
    systems = {f"system_{bit}": name for bit, name in enumerate(names)}
    values = {**_name_reader(dataset_pk, reader_pk), **systems}
    return [
        (int(mask), int(others), status, PairCount(*map(int, counts)))
        for mask, others, status, *counts in fetch_tuples(session, _SETS, values)
    ]


@lru_cache(maxsize=64)
def _prepare_ranks(bounds: tuple[int, ...], last: int) -> PreparedSql:
    """Return the statement that counts pairs by category and best rank.

    `bounds`: the last rank of each group. `last`: the first of the last ranks; their pairs are also in the
    group LAST_RANKS.
    """
    groups = " ".join(f"WHEN rank <= {bound} THEN {bound}" for bound in bounds)
    return prepare_sql(
        f"""
WITH {_SETTLED}, best AS (
  SELECT t.pair_pk, t.query_pk, t.grade, min(v.rank + CASE WHEN v.system IN :from_zero THEN 1 ELSE 0 END) AS rank
  FROM settled t JOIN provenance v ON v.pair_pk = t.pair_pk WHERE v.rank IS NOT NULL
  GROUP BY t.pair_pk, t.query_pk, t.grade),
ranked AS (SELECT s.query_pk, s.rank, {_COUNTS} FROM best s GROUP BY s.query_pk, s.rank),
grouped AS (
  SELECT query_pk, CASE {groups} END AS last, pairs, settled, relevant FROM ranked
  UNION ALL SELECT query_pk, {LAST_RANKS}, pairs, settled, relevant FROM ranked WHERE rank >= {last}),
of_query AS (
  SELECT query_pk, last, sum(pairs) AS pairs, sum(settled) AS settled, sum(relevant) AS relevant
  FROM grouped GROUP BY query_pk, last)
SELECT q.category, o.last, sum(o.pairs), sum(o.settled), sum(o.relevant),
  sum(CASE WHEN o.settled > 0 THEN 1 ELSE 0 END), sum(o.settled * o.settled), sum(o.settled * o.relevant),
  sum(o.relevant * o.relevant)
FROM of_query o JOIN query q ON q.pk = o.query_pk GROUP BY q.category, o.last""",
        lists=["from_zero"],
    )


def count_ranks(
    session: Session,
    dataset_pk: int,
    reader_pk: int | None,
    *,
    bounds: tuple[int, ...],
    last: int,
    from_zero: Collection[str],
) -> dict[str | None, dict[int, tuple[PairCount, ClusterSums]]]:
    """Count the pairs by category and group of best ranks.

    Groups are named by their last rank. LAST_RANKS has the pairs from rank `last` on. `from_zero`: systems
    with ranks from 0.
    """
    values = {**_name_reader(dataset_pk, reader_pk), "from_zero": sorted(from_zero) or [_NO_SYSTEM]}
    categories: dict[str | None, dict[int, tuple[PairCount, ClusterSums]]] = {}
    for category, group, *counts in fetch_tuples(session, _prepare_ranks(bounds, last), values):
        numbers = [int(count) for count in counts]
        categories.setdefault(category, {})[group] = PairCount(*numbers[:3]), ClusterSums(*numbers[3:])
    return categories


_ROUNDS = prepare_sql(f"""
WITH {_SETTLED}
SELECT o.number, {_COUNTS} FROM settled s JOIN round_pair r ON r.pair_pk = s.pair_pk JOIN pool_round o ON o.pk = r.round_pk
GROUP BY o.number ORDER BY o.number""")
_LEFT_OUT_GROUPS = prepare_sql("""
SELECT o.number, x.rule, count(*) AS candidates FROM left_out x JOIN pool_round o ON o.pk = x.round_pk
WHERE o.dataset_pk = :dataset_pk GROUP BY o.number, x.rule ORDER BY o.number, x.rule""")
_LEFT_OUT_OF = """
FROM left_out x JOIN pool_round o ON o.pk = x.round_pk JOIN query q ON q.pk = x.query_pk
JOIN document d ON d.pk = x.document_pk LEFT JOIN document k ON k.pk = x.kept_document_pk
LEFT JOIN pair p ON p.query_pk = x.query_pk AND p.document_pk = x.kept_document_pk AND p.retired_at IS NULL
WHERE o.dataset_pk = :dataset_pk"""
_LEFT_OUT_COLUMNS = (
    """SELECT o.number, x.rule, q.query_id, d.doc_id, d.title, k.doc_id AS kept_doc_id, p.key AS pair"""
)
_IN_ORDER = "ORDER BY o.number, x.rule, q.position, x.document_pk"
_LEFT_OUT = prepare_sql(f"""{_LEFT_OUT_COLUMNS} {_LEFT_OUT_OF} AND o.number = :number AND x.rule = :rule
{_IN_ORDER} LIMIT :most OFFSET :start""")
_EVERY_LEFT_OUT = prepare_sql(f"{_LEFT_OUT_COLUMNS} {_LEFT_OUT_OF} {_IN_ORDER}")
_IN_STEAD = prepare_sql(f"""{_LEFT_OUT_COLUMNS} {_LEFT_OUT_OF} AND x.query_pk = :query_pk AND x.kept_document_pk = :document_pk
{_IN_ORDER} LIMIT :most""")


def count_rounds(session: Session, dataset_pk: int, reader_pk: int | None) -> dict[int, PairCount]:
    """Return {number of the round: its pairs that are still in the pool}."""
    rows = fetch_tuples(session, _ROUNDS, _name_reader(dataset_pk, reader_pk))
    return {number: PairCount(*map(int, counts)) for number, *counts in rows}


def list_left_out_groups(session: Session, dataset_pk: int) -> list[LeftOutGroup]:
    """Count the candidates that each round left out, by rule."""
    rows = fetch_tuples(session, _LEFT_OUT_GROUPS, {"dataset_pk": dataset_pk})
    return [LeftOutGroup(*row) for row in rows]


def list_left_out(
    session: Session, dataset_pk: int, number: int, rule: str, *, start: int, most: int
) -> list[LeftOutCandidate]:
    """Return a part of the candidates that a round left out by a rule, by query."""
    values = {"dataset_pk": dataset_pk, "number": number, "rule": rule, "start": start, "most": most}
    return [LeftOutCandidate(*row) for row in fetch_tuples(session, _LEFT_OUT, values)]


def list_every_left_out(session: Session, dataset_pk: int) -> list[LeftOutCandidate]:
    """Return all candidates that the rounds left out."""
    rows = fetch_tuples(session, _EVERY_LEFT_OUT, {"dataset_pk": dataset_pk})
    return [LeftOutCandidate(*row) for row in rows]


def list_in_stead(
    session: Session, dataset_pk: int, query_pk: int, document_pk: int, *, most: int
) -> list[LeftOutCandidate]:
    """Return the candidates of a query that were left out because this document is judged instead."""
    values = {"dataset_pk": dataset_pk, "query_pk": query_pk, "document_pk": document_pk, "most": most}
    return [LeftOutCandidate(*row) for row in fetch_tuples(session, _IN_STEAD, values)]


_SYSTEM = f"""AND EXISTS (SELECT 1 FROM provenance v WHERE v.pair_pk = s.pair_pk AND v.system = :system)
  AND s.pair_pk NOT IN ({PAIRS_TO_JUDGE})"""
_ALONE = "AND NOT EXISTS (SELECT 1 FROM provenance v WHERE v.pair_pk = s.pair_pk AND v.system <> :system)"
_ROUND = """AND EXISTS (SELECT 1 FROM round_pair r JOIN pool_round o ON o.pk = r.round_pk
  WHERE r.pair_pk = s.pair_pk AND o.number = :number)"""
_TEXT = """AND (lower(q.query_id) LIKE :pattern ESCAPE '~' OR lower(d.doc_id) LIKE :pattern ESCAPE '~'
  OR lower(d.title) LIKE :pattern ESCAPE '~')"""
_STATED = "AND s.status = :status"


@lru_cache(maxsize=64)
def _prepare_pairs(
    *, by_query: bool, status: bool, system: bool, alone: bool, number: bool, text: bool
) -> PreparedSql:
    """Return the statement that counts the filtered pairs by query, or lists those of some queries.

    Only a filter by status needs the settlement of pairs. Without it, the statement reads the pairs alone.
    """
    pairs = _OF_DATASET if by_query else _OF_QUERIES
    source = (
        _settle(pairs)
        if status
        else f"""settled AS (
  SELECT p.pk AS pair_pk, p.query_pk, p.document_pk FROM pair p WHERE {pairs} AND p.retired_at IS NULL)"""
    )
    filters = (
        (_STATED, status),
        (_SYSTEM, system),
        (_ALONE, alone),
        (_ROUND, number),
        (_TEXT, text),
    )
    conditions = " ".join(condition for condition, is_set in filters if is_set)
    documents = "JOIN document d ON d.pk = s.document_pk" if text or not by_query else ""
    filtered = f"FROM settled s JOIN query q ON q.pk = s.query_pk {documents} WHERE true {conditions}"
    if by_query:
        return prepare_sql(
            f"WITH {source} SELECT q.pk, count(*) {filtered} GROUP BY q.pk, q.position ORDER BY q.position, q.pk"
        )
    return prepare_sql(f"WITH {source} SELECT s.query_pk, d.doc_id, s.pair_pk {filtered}", lists=["queries"])


def list_pair_pks_of_page(
    session: Session,
    dataset_pk: int,
    reader_pk: int | None,
    chosen: PairFilter,
    *,
    start: int,
    most: int,
) -> tuple[list[int], int]:
    """Return the pair_pks of a part of the filtered pairs, and the number of all.

    The order is by query position and doc_id (code points). Counts by query first, then reads the pairs of
    the few queries of this part.
    """
    pattern = chosen.text.lower().replace("~", "~~").replace("%", "~%").replace("_", "~_")
    values: dict[str, Any] = {
        **_name_reader(dataset_pk, reader_pk),
        "status": chosen.status,
        "system": chosen.system,
        "number": chosen.number,
        "pattern": f"%{pattern}%",
    }
    filters = {
        "status": chosen.status is not None,
        "system": chosen.system is not None,
        "alone": chosen.alone and chosen.system is not None,
        "number": chosen.number is not None,
        "text": bool(chosen.text),
    }
    counted = fetch_tuples(session, _prepare_pairs(by_query=True, **filters), values)
    total, skipped, query_pks = 0, 0, []
    for query_pk, pairs in counted:
        if total + pairs > start and total < start + most:
            query_pks.append(query_pk)
        elif not query_pks:
            skipped += pairs
        total += pairs
    if not query_pks:
        return [], total
    rows = fetch_tuples(session, _prepare_pairs(by_query=False, **filters), {**values, "queries": query_pks})
    order = {query_pk: index for index, query_pk in enumerate(query_pks)}
    rows.sort(key=lambda row: (order[row[0]], row[1]))
    return [pair_pk for _, _, pair_pk in rows[start - skipped : start - skipped + most]], total


class _PooledPairRow(NamedTuple):
    pair_pk: int
    query: str
    category: str | None
    title: str
    number: int | None
    stratum: str | None
    inclusion: float | None


_PAIRS = prepare_sql(
    """
SELECT p.pk AS pair_pk, q.text AS query, q.category, d.title, o.number, r.stratum, r.inclusion
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN round_pair r ON r.pair_pk = p.pk LEFT JOIN pool_round o ON o.pk = r.round_pk WHERE p.pk IN :pairs""",
    lists=["pairs"],
)
_PROVENANCE = prepare_sql(
    """
SELECT v.pair_pk, v.system, v.rank, v.score, v.signals FROM provenance v WHERE v.pair_pk IN :pairs
ORDER BY v.pair_pk, v.system""",
    lists=["pairs"],
)
_FIND_PAIR = prepare_sql(
    "SELECT pk FROM pair WHERE key = :key AND dataset_pk = :dataset_pk AND retired_at IS NULL"
)
_IS_RANKED = prepare_sql("SELECT 1 FROM run_entry e WHERE e.query_pk = :query_pk LIMIT 1")


def read_pair_rows(session: Session, pair_pks: Sequence[int]) -> dict[int, _PooledPairRow]:
    """Return the texts, the category and the round of these pairs, by pair_pk."""
    rows = fetch(session, _PAIRS, _PooledPairRow, {"pairs": pair_pks}) if pair_pks else []
    return {row.pair_pk: row for row in rows}


def read_provenance(session: Session, pair_pks: Sequence[int]) -> dict[int, list[SystemProposal]]:
    """Return the systems that proposed these pairs, by pair_pk, in the order of their names."""
    by_pair: dict[int, list[SystemProposal]] = {}
    rows = fetch_tuples(session, _PROVENANCE, {"pairs": pair_pks}) if pair_pks else []
    for pair_pk, system, rank, score, signals in rows:
        by_pair.setdefault(pair_pk, []).append(SystemProposal(system, rank, score, read_json(signals)))
    return by_pair


def find_pair(session: Session, dataset_pk: int, key: str) -> int | None:
    """Return the pair_pk of this key in the pool, or None."""
    rows = fetch_tuples(session, _FIND_PAIR, {"dataset_pk": dataset_pk, "key": key})
    return rows[0][0] if rows else None


def is_ranked(session: Session, query_pk: int) -> bool:
    """Return whether an imported run has a result for the query."""
    return bool(fetch_tuples(session, _IS_RANKED, {"query_pk": query_pk}))


_STAMP = prepare_sql(f"""
SELECT {LATEST}, (SELECT coalesce(max(pk), 0) FROM adjudication),
  (SELECT coalesce(max(pk), 0) FROM imported_qrel), (SELECT coalesce(max(pk), 0) FROM remap),
  (SELECT coalesce(max(pk), 0) FROM pair), (SELECT coalesce(max(pk), 0) FROM pool_round),
  (SELECT coalesce(max(pk), 0) FROM import_record), (SELECT coalesce(max(pk), 0) FROM quality_draw)""")


def read_pool_stamp(session: Session) -> tuple[int, ...]:
    """Return numbers that change with every new pair, judgment, decision or round."""
    session.flush()
    (stamp,) = fetch_tuples(session, _STAMP)
    return tuple(stamp)
