"""Find which pairs are open to an annotator: eligibility, remaining work, and leases.

A pair is open if the annotator has no current judgment on it (or put it off), it lacks more judgments than others hold
just now (`pair.lacking`, from `storage/missing_judgments.py`), its query is theirs, and they neither proposed it, saw
others' judgments of it, nor check it for quality control (`storage/quality_pairs.py`). A query is theirs if one role on
this or all datasets allows its category and language; a query assigned to people is theirs alone. A lease keeps two
people, or two tabs of one person, from the same work. It belongs to an annotator and a browser tab and counts until it
expires (at most a lease's length: domain/clock.py). Reads one query's pairs at most; totals come from counters. CROSS
JOIN makes SQLite start from the smaller table.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy.orm import Session

from annotator.domain.clock import find_latest_end
from annotator.storage.lookup import key_of
from annotator.storage.sql import PreparedSql, execute_sql, prepare_sql, read_json
from annotator.storage.tables import DatasetRow

_GIVEN = """
  (NOT EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query})
    OR EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = {query} AND s.person_pk = :annotator_pk))"""
_HELD = prepare_sql(
    "SELECT EXISTS (SELECT 1 FROM assignment) AS given, categories, languages FROM membership "
    "WHERE person_pk = :person_pk AND (dataset_pk = :dataset_pk OR dataset_pk IS NULL)"
)
_EXPERTISE = " AND EXISTS (SELECT 1 FROM query e WHERE e.pk = {query} AND ({allowed}))"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The queries of a person as a condition in SQL, and the values that it names. `given`: queries are given to people."""

    given: bool = True
    allowed: str = ""
    values: Mapping[str, list[str]] = field(default_factory=dict)

    def prepare(self, statement: str, *, query: str) -> PreparedSql:
        """A statement whose {eligible} stands for the condition; `query`: the column that holds the query's key."""
        return _prepare(statement, query, self.given, self.allowed, tuple(self.values))

    def only_expertise(self) -> "Eligibility":
        """The same, to whomever the queries were given."""
        return replace(self, given=False)


@lru_cache(maxsize=256)
def _prepare(statement: str, query: str, given: bool, allowed: str, names: tuple[str, ...]) -> PreparedSql:
    condition = _GIVEN.format(query=query) if given else "1 = 1"
    if allowed:
        condition += _EXPERTISE.format(query=query, allowed=allowed)
    lists = (*names, "chosen") if ":chosen" in statement else names
    return prepare_sql(statement.replace("{eligible}", condition), lists=lists)


def find_eligibility(session: Session, dataset_pk: int, person_pk: int) -> Eligibility:
    """What the person's roles allow; what was given to whom is looked up by the condition itself."""
    given = True
    allowed: list[str] = []
    values: dict[str, list[str]] = {}
    held = execute_sql(session, _HELD, {"dataset_pk": dataset_pk, "person_pk": person_pk}).all()
    for number, (any_given, *limits) in enumerate(held):
        given = bool(any_given)
        parts = []
        for name, limit in zip(("category", "language"), map(read_json, limits), strict=True):
            if limit is not None:
                values[f"{name}_{number}"] = list(limit)
                parts.append(f"e.{name} IN :{name}_{number}")
        if not parts:
            return Eligibility(given)
        allowed.append(f"({' AND '.join(parts)})")
    return Eligibility(given, " OR ".join(allowed), values)


LATEST = 10_000  # judgments of everybody among which an annotator's own latest is looked for
MAY_COME = """
  p.lacking > 0 AND (c.outcome IS NULL OR c.outcome = 'later')
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM quality_pair x CROSS JOIN quality_draw w
    WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk)
  AND {eligible}"""
"""What is open to an annotator now, or will be once the leases of others have run out."""
_OPEN = (
    MAY_COME
    + """
  AND p.lacking > (SELECT count(*) FROM lease l
    WHERE l.pair_pk = p.pk AND l.annotator_pk <> :annotator_pk AND l.expires_at > :now
      AND l.expires_at <= :latest)"""
)
_OPEN_PAIRS = (
    "SELECT p.pk, p.key, p.query_pk, p.judged > 0, c.outcome IS NOT NULL FROM pair p LEFT JOIN current_judgment c "
    "ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk WHERE p.{column} IN :chosen AND " + _OPEN
)
_OPEN_QUERIES = """
SELECT w.query_pk FROM query_work w
LEFT JOIN query_answers a ON a.query_pk = w.query_pk AND a.annotator_pk = :annotator_pk
WHERE w.dataset_pk = :dataset_pk AND w.query_pk BETWEEN :first AND :last
  AND w.open_pairs > coalesce(a.answered_open, 0) AND (w.begun_pairs > coalesce(a.answered_open, 0)) = :begun
  AND {eligible}
ORDER BY w.query_pk LIMIT :most"""
_GIVEN_QUERIES = """
SELECT w.query_pk FROM assignment g CROSS JOIN query_work w
LEFT JOIN query_answers a ON a.query_pk = w.query_pk AND a.annotator_pk = :annotator_pk
WHERE w.query_pk = g.query_pk AND g.person_pk = :annotator_pk AND w.dataset_pk = :dataset_pk AND w.open_pairs > coalesce(a.answered_open, 0)
  AND {eligible}"""
_BOUNDS = prepare_sql(
    "SELECT (SELECT min(query_pk) FROM query_work WHERE dataset_pk = :dataset_pk), "
    "(SELECT max(query_pk) FROM query_work WHERE dataset_pk = :dataset_pk), "
    "(SELECT count(*) FROM query_answers WHERE annotator_pk = :annotator_pk AND dataset_pk = :dataset_pk)"
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
_COUNT_OPEN = """
SELECT (SELECT coalesce(sum(w.open_pairs), 0) FROM query_work w WHERE w.dataset_pk = :dataset_pk AND {eligible})
  - (SELECT coalesce(sum(w.answered_open), 0) FROM query_answers w
     WHERE w.annotator_pk = :annotator_pk AND w.dataset_pk = :dataset_pk AND {eligible})
  - (SELECT count(*) FROM (
      SELECT d.pair_pk FROM disclosure d WHERE d.person_pk = :annotator_pk
      UNION SELECT o.pair_pk FROM proposal o WHERE o.annotator_pk = :annotator_pk
      UNION SELECT t.pair_pk FROM quality_draw s CROSS JOIN quality_pair t
        WHERE s.dataset_pk = :dataset_pk AND s.annotator_pk = :annotator_pk AND t.draw_pk = s.pk) x
     CROSS JOIN pair w
     LEFT JOIN current_judgment c ON c.pair_pk = w.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later'
     WHERE w.pk = x.pair_pk AND w.dataset_pk = :dataset_pk AND w.lacking > 0 AND c.pair_pk IS NULL AND {eligible})"""
_DONE = (
    "SELECT coalesce(sum(answered), 0) FROM query_answers "
    "WHERE annotator_pk = :annotator_pk AND dataset_pk = :dataset_pk"
)
_COUNT_DONE = prepare_sql(_DONE)
_COUNT_WORK = f"SELECT ({_DONE}), ({_COUNT_OPEN})"


@dataclass(frozen=True, slots=True)
class OpenPairsRequest:
    """Whose open pairs are meant, when, and in which browser tab (empty where nobody said). `lease`: for how long a pair is
    handed out in this dataset."""

    dataset_pk: int
    annotator_pk: int
    overlap: int
    now: datetime
    tab: str = ""
    lease: timedelta = timedelta(hours=1)

    @property
    def values(self) -> dict[str, object]:
        mine = {"dataset_pk": self.dataset_pk, "annotator_pk": self.annotator_pk}
        return {**mine, "now": self.now, "latest": find_latest_end(self.now, self.lease)}


def make_worklist(dataset: DatasetRow, annotator_pk: int, now: datetime, tab: str = "") -> OpenPairsRequest:
    """Return the annotator's worklist in this dataset, as of now."""
    lease = timedelta(minutes=dataset.lease_minutes)
    return OpenPairsRequest(key_of(dataset.pk), annotator_pk, dataset.overlap, now, tab, lease)


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair open to the annotator; `begun`: somebody has judged it; `put_off`: the annotator did so before."""

    pair_pk: int
    key: str
    query_pk: int
    begun: bool
    put_off: bool


@dataclass(frozen=True, slots=True)
class QueryBounds:
    """Between which keys (query_pk) the queries lie that lack answers, None when there is none, and in how many queries the
    annotator has answered something."""

    lowest: int | None
    highest: int | None
    answered: int


def list_open_pairs(
    session: Session, worklist: OpenPairsRequest, eligibility: Eligibility, query_pks: Sequence[int]
) -> list[OpenPair]:
    """The open pairs of these queries, in no particular order."""
    return _list_open(session, worklist, eligibility, "query_pk", query_pks)


def list_open_among(
    session: Session, worklist: OpenPairsRequest, eligibility: Eligibility, pair_pks: Collection[int]
) -> list[OpenPair]:
    """Those of the pairs that are open."""
    return _list_open(session, worklist, eligibility, "pk", sorted(pair_pks))


def _list_open(
    session: Session, worklist: OpenPairsRequest, eligibility: Eligibility, column: str, chosen: Sequence[int]
) -> list[OpenPair]:
    if not chosen:
        return []
    statement = eligibility.prepare(_OPEN_PAIRS.replace("{column}", column), query="p.query_pk")
    values = {**worklist.values, **eligibility.values, "chosen": list(chosen)}
    rows = execute_sql(session, statement, values)
    return [OpenPair(pk, key, query, bool(begun), bool(put_off)) for pk, key, query, begun, put_off in rows]


def list_open_queries(
    session: Session,
    worklist: OpenPairsRequest,
    eligibility: Eligibility,
    bounds: QueryBounds,
    *,
    begun: bool,
    share: float,
) -> Iterator[list[int]]:
    """The queries that lack answers of the annotator, those that others have begun or the others, a few at a time:
    first those from that share (0-1) of all on, then the ones before."""
    if bounds.lowest is None or bounds.highest is None:
        return
    lowest, highest = bounds.lowest, bounds.highest
    middle = lowest + int(share * (highest - lowest + 1))
    statement = eligibility.prepare(_OPEN_QUERIES, query="w.query_pk")
    values = {**worklist.values, **eligibility.values, "begun": begun}
    for first, last in ((middle, highest), (lowest, middle - 1)):
        most, place = 2, first
        while place <= last:
            asked = {**values, "first": place, "last": last, "most": most}
            found = list(execute_sql(session, statement, asked).scalars())
            if found:
                yield found
            if len(found) < most:
                break
            most, place = min(4 * most, 50), found[-1] + 1


def list_given_queries(session: Session, worklist: OpenPairsRequest, eligibility: Eligibility) -> list[int]:
    """The queries that were given to the annotator and lack answers of theirs."""
    if not eligibility.given:
        return []
    statement = eligibility.prepare(_GIVEN_QUERIES, query="w.query_pk")
    return list(execute_sql(session, statement, {**worklist.values, **eligibility.values}).scalars())


def list_put_off_queries(session: Session, worklist: OpenPairsRequest) -> list[int]:
    """The queries of which the annotator has put off pairs."""
    return list(execute_sql(session, _PUT_OFF_QUERIES, worklist.values).scalars())


def find_bounds(session: Session, worklist: OpenPairsRequest) -> QueryBounds:
    """See `QueryBounds`."""
    return QueryBounds(*execute_sql(session, _BOUNDS, worklist.values).one())


def find_last_query(session: Session, worklist: OpenPairsRequest) -> int | None:
    """The query of the annotator's latest judgment in this dataset, if that is not long ago."""
    found: int | None = execute_sql(session, _LAST_QUERY, worklist.values).scalar()
    return found


def count_open_pairs(session: Session, worklist: OpenPairsRequest, eligibility: Eligibility) -> int:
    """How many pairs the annotator could still be given, leases of others aside."""
    statement = eligibility.prepare(_COUNT_OPEN, query="w.query_pk")
    return int(execute_sql(session, statement, {**worklist.values, **eligibility.values}).scalar_one())


def count_work(session: Session, worklist: OpenPairsRequest, eligibility: Eligibility) -> tuple[int, int]:
    """`count_done` and `count_open_pairs` in one."""
    statement = eligibility.prepare(_COUNT_WORK, query="w.query_pk")
    done, left = execute_sql(session, statement, {**worklist.values, **eligibility.values}).one()
    return int(done), int(left)


def count_done(session: Session, worklist: OpenPairsRequest) -> int:
    """How many pairs of the dataset the annotator has a current judgment of."""
    return int(execute_sql(session, _COUNT_DONE, worklist.values).scalar_one())


_TAKE = prepare_sql(
    "INSERT INTO lease (pair_pk, annotator_pk, expires_at, tab) "
    "SELECT pk, :annotator_pk, :until, :tab FROM pair WHERE pk IN :pairs "
    "ON CONFLICT (pair_pk, annotator_pk) DO UPDATE SET expires_at = excluded.expires_at, tab = excluded.tab",
    lists=["pairs"],
)
_ELSEWHERE = prepare_sql(
    "SELECT pair_pk FROM lease WHERE annotator_pk = :annotator_pk AND tab NOT IN ('', :tab) "
    "AND expires_at > :now AND expires_at <= :latest",
)
_DROP = prepare_sql(
    "DELETE FROM lease WHERE annotator_pk = :annotator_pk AND pair_pk IN :pairs", lists=["pairs"]
)
_DROP_ALL = prepare_sql("DELETE FROM lease WHERE annotator_pk = :annotator_pk")
_DROP_EXPIRED = prepare_sql(
    "DELETE FROM lease WHERE annotator_pk = :annotator_pk AND (expires_at <= :now OR expires_at > :latest)"
)


def take_leases(
    session: Session, worklist: OpenPairsRequest, pair_pks: Collection[int], *, until: datetime
) -> None:
    """Lease these pairs to the annotator until then; leases the annotator has already are prolonged."""
    if pair_pks:
        mine = {"annotator_pk": worklist.annotator_pk, "tab": worklist.tab, "until": until}
        execute_sql(session, _TAKE, {**mine, "pairs": list(pair_pks)})


def list_leased_elsewhere(session: Session, worklist: OpenPairsRequest) -> set[int]:
    """The pairs (pair_pk) that another tab of this annotator holds, on this device or another."""
    return set(execute_sql(session, _ELSEWHERE, {**worklist.values, "tab": worklist.tab}).scalars())


def drop_leases(session: Session, worklist: OpenPairsRequest, pair_pks: Sequence[int]) -> None:
    """End the annotator's leases of these pairs."""
    execute_sql(session, _DROP, {"annotator_pk": worklist.annotator_pk, "pairs": list(pair_pks)})


def drop_every_lease(session: Session, person_pk: int) -> None:
    """End all leases of this person, on every dataset: what they hold goes to others at once."""
    execute_sql(session, _DROP_ALL, {"annotator_pk": person_pk})


def drop_expired_leases(session: Session, worklist: OpenPairsRequest) -> None:
    """Clear away the annotator's own leases that have run out, and those that a clock ahead of the present one made."""
    execute_sql(session, _DROP_EXPIRED, worklist.values)
