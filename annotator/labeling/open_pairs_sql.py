"""Find which pairs are open to an annotator: eligibility, remaining work, and taking leases.

A pair is open if the annotator has no current judgment on it (or put it off), it lacks more judgments than
others hold leases for (`pair.lacking`, from `storage/judgments/missing_judgments.py`), its query is theirs,
and they neither proposed it, saw others' judgments of it, nor check it for quality control
(`storage/judgments/quality_pairs.py`). A query is theirs if one role on this or all datasets allows its
category and language. An assigned query belongs only to the people it is assigned to.

Reads one query's pairs at most; totals come from counters. CROSS JOIN makes SQLite start from the smaller
table.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.judgments import OpenPair
from annotator.labeling.records import IdleReason
from annotator.storage.lookup import LEASED_BEFORE, OpenPairsRequest
from annotator.storage.sql import PreparedSql, fetch_tuples, prepare_sql, read_json, read_time

_ASSIGNED_TO_THEM = """
  (NOT EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query})
    OR EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query} AND s.person_pk = :annotator_pk))"""
_HELD = prepare_sql(
    "SELECT EXISTS (SELECT 1 FROM assignment) AS any_assigned, categories, languages FROM membership "
    "WHERE person_pk = :person_pk AND (dataset_pk = :dataset_pk OR dataset_pk IS NULL)"
)
_EXPERTISE = " AND EXISTS (SELECT 1 FROM query e WHERE e.pk = {query} AND ({allowed}))"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The queries a person may judge, as a condition in SQL."""

    any_assigned: bool = True  # queries are assigned to people in some dataset
    allowed: str = ""  # the condition on the query `e`; empty: all
    values: Mapping[str, list[str]] = field(default_factory=dict)  # the lists that the condition names

    def prepare(self, statement: str, *, query: str) -> PreparedSql:
        """Prepare a statement, with the condition in place of {eligible}.

        `query`: the column with the query's key.
        """
        return _prepare(statement, query, self.any_assigned, self.allowed, tuple(self.values))

    def only_expertise(self) -> "Eligibility":
        """Return the condition without assignments: what the roles allow."""
        return replace(self, any_assigned=False)


@lru_cache(maxsize=256)
def _prepare(
    statement: str, query: str, any_assigned: bool, allowed: str, names: tuple[str, ...]
) -> PreparedSql:
    condition = _ASSIGNED_TO_THEM.format(query=query) if any_assigned else "1 = 1"
    if allowed:
        condition += _EXPERTISE.format(query=query, allowed=allowed)
    lists = (*names, *(name for name in ("answered", "chosen", "named", "pks") if f":{name}" in statement))
    return prepare_sql(statement.replace("{eligible}", condition), lists=lists)


def find_eligibility(session: Session, dataset_pk: int, person_pk: int) -> Eligibility:
    """Return the condition on queries that the person's roles and the assignments allow."""
    held = fetch_tuples(session, _HELD, {"dataset_pk": dataset_pk, "person_pk": person_pk})
    return make_eligibility([limits for _, *limits in held], any_assigned=not held or bool(held[0][0]))


def make_eligibility(held: Sequence[Sequence[Any]], *, any_assigned: bool) -> Eligibility:
    """Return the eligibility for stored roles, given as (categories, languages).

    `any_assigned`: some dataset has assigned queries.
    """
    allowed: list[str] = []
    values: dict[str, list[str]] = {}
    for number, limits in enumerate(held):
        parts = []
        for name, limit in zip(("category", "language"), map(read_json, limits), strict=True):
            if limit is not None:
                values[f"{name}_{number}"] = list(limit)
                parts.append(f"e.{name} IN :{name}_{number}")
        if not parts:
            return Eligibility(any_assigned)
        allowed.append(f"({' AND '.join(parts)})")
    return Eligibility(any_assigned, " OR ".join(allowed), values)


LATEST = 10_000  # judgments of everybody among which an annotator's own latest is looked for
MAY_COME = """
  p.lacking > 0 AND (c.outcome IS NULL OR c.outcome = 'later')
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM quality_pair x CROSS JOIN quality_draw w
    WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk)
  AND {eligible}"""
"""The condition that a pair is open to an annotator now, or will be when the leases of others expire."""
_OPEN = (
    MAY_COME
    + """
  AND p.lacking > (SELECT count(*) FROM lease l
    WHERE l.pair_pk = p.pk AND l.annotator_pk <> :annotator_pk AND l.expires_at > :now
      AND l.expires_at <= :latest)"""
)
_OPEN_PAIRS = f"""
SELECT p.pk, p.key, p.query_pk, p.judged > (SELECT count(*) FROM proposal b WHERE b.pair_pk = p.pk), c.outcome IS NOT NULL,
  {LEASED_BEFORE}
FROM pair p LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk IN :chosen AND {_OPEN}"""
_OPEN_QUERIES = """
SELECT w.query_pk FROM query_work w
LEFT JOIN query_answers a ON a.query_pk = w.query_pk AND a.annotator_pk = :annotator_pk
WHERE w.dataset_pk = :dataset_pk AND w.query_pk BETWEEN :first AND :last
  AND w.open_pairs > coalesce(a.answered_open, 0) AND (w.begun_pairs > coalesce(a.answered_open, 0)) = :begun
  AND {eligible}
ORDER BY w.query_pk LIMIT :most"""
_FIRST = 2  # queries of each kind are read at first
_FIRST_OPEN_QUERIES = " UNION ALL ".join(
    f"SELECT {begun}, {later}, f.query_pk FROM ("
    + _OPEN_QUERIES.replace(":begun", ("false", "true")[begun])
    .replace(":first", (":lowest", ":middle")[later])
    .replace(":last", (":before", ":highest")[later])
    .replace(":most", str(_FIRST))
    + ") f"
    for begun in (0, 1)
    for later in (0, 1)
)
_GIVEN_QUERIES = """
SELECT w.query_pk FROM assignment g CROSS JOIN query_work w
LEFT JOIN query_answers a ON a.query_pk = w.query_pk AND a.annotator_pk = :annotator_pk
WHERE w.query_pk = g.query_pk AND g.person_pk = :annotator_pk AND w.dataset_pk = :dataset_pk AND w.open_pairs > coalesce(a.answered_open, 0)
  AND {eligible}"""
_OPEN_AMONG = (
    _OPEN_QUERIES[: _OPEN_QUERIES.index(" AND (w.begun")].replace("BETWEEN :first AND :last", "IN :chosen")
    + " AND {eligible}"
)
_HANDED_QUERIES = prepare_sql(
    "SELECT DISTINCT p.query_pk FROM lease l CROSS JOIN pair p WHERE l.annotator_pk = :annotator_pk AND p.pk = l.pair_pk "
    "AND p.dataset_pk = :dataset_pk AND p.lacking > 0"
)
_PUT_OFF_QUERIES = prepare_sql(
    "SELECT DISTINCT p.query_pk FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk "
    "WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome = 'later' AND p.lacking > 0"
)
_LAST_QUERY = prepare_sql(
    f"SELECT p.query_pk FROM (SELECT pk, pair_pk, annotator_pk FROM judgment ORDER BY pk DESC LIMIT {LATEST}) j "
    "CROSS JOIN pair p WHERE p.pk = j.pair_pk AND j.annotator_pk = :annotator_pk AND p.dataset_pk = :dataset_pk "
    "ORDER BY j.pk DESC LIMIT 1"
)
_COUNT_EVERY = """(SELECT coalesce(sum(w.open_pairs), 0) FROM query_work w WHERE w.dataset_pk = :dataset_pk AND {eligible})
  - (SELECT coalesce(sum(w.answered_open), 0) FROM query_answers w
     WHERE w.annotator_pk = :annotator_pk AND w.dataset_pk = :dataset_pk AND {eligible})"""
COUNT_WORK = f"""
WITH x AS (SELECT d.pair_pk FROM disclosure d WHERE d.person_pk = :annotator_pk
  UNION SELECT o.pair_pk FROM proposal o WHERE o.annotator_pk = :annotator_pk
  UNION SELECT t.pair_pk FROM quality_draw s CROSS JOIN quality_pair t
    WHERE s.dataset_pk = :dataset_pk AND s.annotator_pk = :annotator_pk AND t.draw_pk = s.pk)
SELECT {_COUNT_EVERY} - (SELECT count(*) FROM x CROSS JOIN pair w
    LEFT JOIN current_judgment c ON c.pair_pk = w.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later'
    WHERE w.pk = x.pair_pk AND w.dataset_pk = :dataset_pk AND w.lacking > 0 AND c.pair_pk IS NULL AND {{eligible}}), h.*
FROM (
  SELECT count(nullif(w.lacking, 0)) AS open, count(*) AS held
  FROM lease l CROSS JOIN pair w LEFT JOIN check_pair k ON k.pair_pk = w.pk
  LEFT JOIN current_judgment c ON c.pair_pk = w.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later'
  WHERE l.annotator_pk = :annotator_pk AND l.expires_at > :now AND l.expires_at <= :latest
    AND w.pk = l.pair_pk AND w.dataset_pk = :dataset_pk AND c.pair_pk IS NULL
    AND k.kind IS NULL AND (w.judged > 0 OR NOT w.kept)
    AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = w.pk)
    AND w.pk NOT IN (SELECT pair_pk FROM x) AND {{eligible}}) h"""
"""Selects the columns of `WorkCount`. Prepare it by `Eligibility.prepare` with "w.query_pk"."""
DONE = (
    "SELECT coalesce(sum(answered), 0) FROM query_answers "
    "WHERE annotator_pk = :annotator_pk AND dataset_pk = :dataset_pk"
)
"""Counts the pairs of the dataset that the annotator has a current judgment of."""
_COUNT_DONE = prepare_sql(DONE)


@dataclass(frozen=True, slots=True)
class QueryBounds:
    """Where the queries with open pairs lie, and how many queries the annotator has worked on."""

    lowest: int | None  # query_pk, None if no query has open pairs
    highest: int | None
    answered: int  # queries in which the annotator has answered something

    @property
    def span(self) -> int:
        """Return how many queries there can be between the bounds."""
        return 0 if self.lowest is None or self.highest is None else self.highest - self.lowest + 1


def list_open_pairs(
    session: Session, request: OpenPairsRequest, eligibility: Eligibility, query_pks: Sequence[int]
) -> list[OpenPair]:
    """Return the open pairs of these queries, in no particular order."""
    if not query_pks:
        return []
    statement = eligibility.prepare(_OPEN_PAIRS, query="p.query_pk")
    values = {**request.values, **eligibility.values, "chosen": list(query_pks)}
    return _to_open_pairs(fetch_tuples(session, statement, values))


def _to_open_pairs(rows: Iterable[Sequence[Any]]) -> list[OpenPair]:
    return [
        OpenPair(pk, key, query_pk, bool(begun), bool(put_off), bool(handed))
        for pk, key, query_pk, begun, put_off, handed in rows
    ]


@dataclass(frozen=True, slots=True)
class OpenQueries:
    """The first queries that lack judgments of the annotator, and where to find more.

    The list starts at a fraction (0-1) of all queries.
    """

    middle: int  # the query (query_pk) at that share
    bounds: QueryBounds
    first: Mapping[
        tuple[bool, bool], Sequence[int]
    ]  # query_pks by whether others have begun them, and `middle` or later


def find_open_queries(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    bounds: QueryBounds,
    *,
    share: float,
) -> OpenQueries:
    """Return the first queries of each kind, in one statement."""
    if bounds.lowest is None or bounds.highest is None:
        return OpenQueries(0, bounds, {})
    middle = bounds.lowest + int(share * (bounds.highest - bounds.lowest + 1))
    statement = eligibility.prepare(_FIRST_OPEN_QUERIES, query="w.query_pk")
    span = {"lowest": bounds.lowest, "before": middle - 1, "middle": middle, "highest": bounds.highest}
    first: dict[tuple[bool, bool], list[int]] = {}
    rows = fetch_tuples(session, statement, {**request.values, **eligibility.values, **span})
    for begun, later, query_pk in rows:
        first.setdefault((bool(begun), bool(later)), []).append(query_pk)
    return OpenQueries(middle, bounds, first)


def list_open_queries(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    queries: OpenQueries,
    *,
    begun: bool,
    others: Collection[int] = (),
) -> Iterator[list[int]]:
    """Yield queries (query_pk) that lack judgments of the annotator, a few at a time.

    `begun`: True for queries that other people have begun, False for the rest. The order starts at the query
    `queries.start` and wraps around. `others`: further queries to include in the same order, whatever they
    lack, in the call that matches whether others have begun them.
    """
    statement = eligibility.prepare(_OPEN_QUERIES, query="w.query_pk")
    values = {**request.values, **eligibility.values, "begun": begun}
    are_begun = any(queries.first.get((True, later)) for later in (True, False))
    if begun is not are_begun:
        others = ()
    if others:
        among = eligibility.prepare(_OPEN_AMONG, query="w.query_pk")
        chosen = {**request.values, **eligibility.values, "chosen": list(others)}
        others = set(others).difference(query_pk for (query_pk,) in fetch_tuples(session, among, chosen))
    for later, last in ((True, queries.bounds.highest or 0), (False, queries.middle - 1)):
        between = [query_pk for query_pk in others if (query_pk >= queries.middle) is later]
        query_pks, most = sorted(queries.first.get((begun, later), ())), _FIRST
        while query_pks or between:
            is_last = len(query_pks) < most or query_pks[-1] >= last
            merged = [query_pk for query_pk in between if is_last or query_pk <= query_pks[-1]]
            yield sorted({*query_pks, *merged})
            if is_last:
                break
            between = [query_pk for query_pk in between if query_pk not in merged]
            most = min(4 * most, 50)
            span = {**values, "first": query_pks[-1] + 1, "last": last, "most": most}
            query_pks = [query_pk for (query_pk,) in fetch_tuples(session, statement, span)]


def list_assigned_queries(session: Session, request: OpenPairsRequest, eligibility: Eligibility) -> list[int]:
    """Return the queries that are assigned to the annotator and lack judgments of theirs."""
    if not eligibility.any_assigned:
        return []
    statement = eligibility.prepare(_GIVEN_QUERIES, query="w.query_pk")
    rows = fetch_tuples(session, statement, {**request.values, **eligibility.values})
    return [query_pk for (query_pk,) in rows]


def list_put_off_queries(session: Session, request: OpenPairsRequest) -> list[int]:
    """Return the queries (query_pk) with pairs that the annotator put off."""
    return [query_pk for (query_pk,) in fetch_tuples(session, _PUT_OFF_QUERIES, request.values)]


def list_handed_queries(session: Session, request: OpenPairsRequest) -> list[int]:
    """Return the queries (query_pk) with open pairs that the annotator was handed and has not answered."""
    return [query_pk for (query_pk,) in fetch_tuples(session, _HANDED_QUERIES, request.values)]


def find_last_query(session: Session, request: OpenPairsRequest) -> int | None:
    """Return the query of the annotator's last judgment here, or None if it is not among the LATEST."""
    rows = fetch_tuples(session, _LAST_QUERY, request.values)
    query_pk: int | None = rows[0][0] if rows else None
    return query_pk


class WorkCount(NamedTuple):
    """The numbers of pairs that one annotator can still get and currently holds.

    Pairs held by others are counted: the annotator gets them if the leases expire.
    """

    open: int  # that lack a judgment of the annotator
    open_held: int  # the part that the annotator holds
    held: int  # all held pairs, also pairs that others have finished since

    @property
    def finished_held(self) -> int:
        """Return the number of held pairs that others have finished."""
        return self.held - self.open_held


def count_work(session: Session, request: OpenPairsRequest, eligibility: Eligibility) -> WorkCount:
    """Count the annotator's work. Reads a row for each query with open pairs."""
    statement = eligibility.prepare(COUNT_WORK, query="w.query_pk")
    rows = fetch_tuples(session, statement, {**request.values, **eligibility.values})
    return WorkCount._make(map(int, rows[0]))


_IDLE = f"""
SELECT EXISTS (SELECT 1 FROM pair n WHERE n.dataset_pk = :dataset_pk AND n.retired_at IS NULL),
  (SELECT max(l.expires_at) FROM lease l CROSS JOIN pair p
    LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
    WHERE l.annotator_pk <> :annotator_pk AND l.expires_at > :now AND l.expires_at <= :latest
      AND p.pk = l.pair_pk AND p.dataset_pk = :dataset_pk AND {MAY_COME})"""


def find_idle_reason(session: Session, request: OpenPairsRequest, eligibility: Eligibility) -> IdleReason:
    """Return why no pair is open to the annotator."""
    statement = eligibility.prepare(_IDLE, query="p.query_pk")
    ((has_pool, until),) = fetch_tuples(session, statement, {**request.values, **eligibility.values})
    return IdleReason(bool(has_pool), None if until is None else read_time(until))


def count_done(session: Session, request: OpenPairsRequest) -> int:
    """Count the pairs of the dataset that the annotator has a current judgment of."""
    ((done,),) = fetch_tuples(session, _COUNT_DONE, request.values)
    return int(done)


_TAKE = prepare_sql(
    "INSERT INTO lease (pair_pk, annotator_pk, expires_at, tab) "
    "SELECT p.pk, :annotator_pk, :until, :tab FROM pair p WHERE p.pk IN :held OR (p.pk IN :chosen "
    "AND p.lacking > (SELECT count(*) FROM lease l WHERE l.pair_pk = p.pk AND l.annotator_pk <> :annotator_pk "
    "AND l.expires_at > :now AND l.expires_at <= :latest)) "
    "ON CONFLICT (pair_pk, annotator_pk) DO UPDATE SET expires_at = excluded.expires_at, tab = excluded.tab RETURNING pair_pk",
    lists=["held", "chosen"],
)
_LOCK_PAIRS, _LOCK_FREE_PAIRS = (
    prepare_sql(
        f"SELECT pk FROM pair WHERE pk IN :pairs ORDER BY pk FOR NO KEY UPDATE{rest}", lists=["pairs"]
    )
    for rest in ("", " SKIP LOCKED")
)
_HELD_PAIRS = """
SELECT p.pk, p.key, p.query_pk, p.judged > 0, EXISTS (SELECT 1 FROM judgment n
  WHERE n.pair_pk = p.pk AND n.annotator_pk = :annotator_pk AND n.purpose <> 'repeat'), true
FROM lease l CROSS JOIN pair p
WHERE l.annotator_pk = :annotator_pk{of_tabs} AND l.expires_at > :now AND l.expires_at <= :latest
  AND p.pk = l.pair_pk AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
    OR NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk))
  AND ({eligible} OR EXISTS (SELECT 1 FROM quality_pair x CROSS JOIN quality_draw w
    WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk))"""
_HELD_ANYWHERE = _HELD_PAIRS.replace("{of_tabs}", "")
_HELD_ELSEWHERE = _HELD_PAIRS.replace("{of_tabs}", " AND l.tab NOT IN ('', :tab)")


def take_leases(
    session: Session,
    request: OpenPairsRequest,
    *,
    held: Collection[int],
    chosen: Collection[int],
    until: datetime,
    wait: bool,
) -> set[int]:
    """Lease pairs (pair_pk) to the annotator, and return the `chosen` pairs that another person has taken.

    `held`: pairs that already belong to the annotator: their leases are prolonged, or begin for checks.
    `chosen`: pairs that were open to them a moment ago. On PostgreSQL others lease pairs at the same time, so
    the statement locks each pair and counts the leases of others before it writes: a pair is never
    overbooked. `wait`: wait for pairs that another transaction has locked; otherwise they count as taken.
    Only a transaction without other locks of pairs may wait.
    """
    locked = sorted(chosen)
    if locked and session.get_bind().dialect.name == "postgresql":
        statement = _LOCK_PAIRS if wait else _LOCK_FREE_PAIRS
        locked = [pair_pk for (pair_pk,) in fetch_tuples(session, statement, {"pairs": locked})]
    if not held and not locked:
        return set(chosen)
    lease = {"tab": request.tab, "until": until, "held": sorted(held), "chosen": locked}
    taken = fetch_tuples(session, _TAKE, {**request.values, **lease})
    return set(chosen).difference(pair_pk for (pair_pk,) in taken)


def list_held(
    session: Session, request: OpenPairsRequest, eligibility: Eligibility, *, elsewhere: bool
) -> list[OpenPair]:
    """Return the held pairs that the annotator may judge, checks included, in no particular order.

    `elsewhere`: only pairs that another tab holds, on this device or another.
    """
    statement = eligibility.prepare(_HELD_ELSEWHERE if elsewhere else _HELD_ANYWHERE, query="p.query_pk")
    values = {**request.values, **eligibility.values, "tab": request.tab}
    return _to_open_pairs(fetch_tuples(session, statement, values))
