"""Which pairs are open to an annotator, and how many.

A pair is open to somebody who has no current answer on it (or put it off), while it lacks more judgments than
others hold it just now (`pair.lacking`, derived by `storage/missing_judgments.py`), if its query is theirs
(`storage/eligibility.py`), and they neither proposed it nor saw others' answers, nor check it for quality control
(`storage/quality_pairs.py`). Nothing here reads more than a query's
pairs; what is left over all queries is read from counters. CROSS JOIN: SQLite then starts from the smaller table.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.domain.clock import find_latest_end
from annotator.storage.eligibility import Eligibility
from annotator.storage.lookup import key_of
from annotator.storage.sql import prepare, run
from annotator.storage.tables import DatasetRow

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
_BOUNDS = prepare(
    "SELECT (SELECT min(query_pk) FROM query_work WHERE dataset_pk = :dataset_pk), "
    "(SELECT max(query_pk) FROM query_work WHERE dataset_pk = :dataset_pk), "
    "(SELECT count(*) FROM query_answers WHERE annotator_pk = :annotator_pk AND dataset_pk = :dataset_pk)"
)
_PUT_OFF_QUERIES = prepare(
    "SELECT DISTINCT p.query_pk FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk "
    "WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome = 'later' AND p.lacking > 0"
)
_LAST_QUERY = prepare(
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
_COUNT_DONE = prepare(_DONE)
_COUNT_WORK = f"SELECT ({_DONE}), ({_COUNT_OPEN})"


@dataclass(frozen=True, slots=True)
class Worklist:
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


def make_worklist(dataset: DatasetRow, annotator_pk: int, now: datetime, tab: str = "") -> Worklist:
    """Return the annotator's worklist in this dataset, as of now."""
    lease = timedelta(minutes=dataset.lease_minutes)
    return Worklist(key_of(dataset.pk), annotator_pk, dataset.overlap, now, tab, lease)


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair open to the annotator; `begun`: somebody has judged it; `put_off`: the annotator did so before."""

    pair_pk: int
    key: str
    query_pk: int
    begun: bool
    put_off: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which keys (query_pk) the queries lie that lack answers, None when there is none, and in how many queries the
    annotator has answered something."""

    lowest: int | None
    highest: int | None
    answered: int


def list_open_pairs(
    session: Session, worklist: Worklist, eligibility: Eligibility, query_pks: Sequence[int]
) -> list[OpenPair]:
    """The open pairs of these queries, in no particular order."""
    return _list_open(session, worklist, eligibility, "query_pk", query_pks)


def list_open_among(
    session: Session, worklist: Worklist, eligibility: Eligibility, pair_pks: Collection[int]
) -> list[OpenPair]:
    """Those of the pairs that are open."""
    return _list_open(session, worklist, eligibility, "pk", sorted(pair_pks))


def _list_open(
    session: Session, worklist: Worklist, eligibility: Eligibility, column: str, chosen: Sequence[int]
) -> list[OpenPair]:
    if not chosen:
        return []
    statement = eligibility.prepare(_OPEN_PAIRS.replace("{column}", column), query="p.query_pk")
    values = {**worklist.values, **eligibility.values, "chosen": list(chosen)}
    rows = run(session, statement, values)
    return [OpenPair(pk, key, query, bool(begun), bool(put_off)) for pk, key, query, begun, put_off in rows]


def list_open_queries(
    session: Session,
    worklist: Worklist,
    eligibility: Eligibility,
    bounds: Bounds,
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
            found = list(run(session, statement, asked).scalars())
            if found:
                yield found
            if len(found) < most:
                break
            most, place = min(4 * most, 50), found[-1] + 1


def list_given_queries(session: Session, worklist: Worklist, eligibility: Eligibility) -> list[int]:
    """The queries that were given to the annotator and lack answers of theirs."""
    if not eligibility.given:
        return []
    statement = eligibility.prepare(_GIVEN_QUERIES, query="w.query_pk")
    return list(run(session, statement, {**worklist.values, **eligibility.values}).scalars())


def list_put_off_queries(session: Session, worklist: Worklist) -> list[int]:
    """The queries of which the annotator has put off pairs."""
    return list(run(session, _PUT_OFF_QUERIES, worklist.values).scalars())


def find_bounds(session: Session, worklist: Worklist) -> Bounds:
    """See `Bounds`."""
    return Bounds(*run(session, _BOUNDS, worklist.values).one())


def find_last_query(session: Session, worklist: Worklist) -> int | None:
    """The query of the annotator's latest judgment in this dataset, if that is not long ago."""
    found: int | None = run(session, _LAST_QUERY, worklist.values).scalar()
    return found


def count_open_pairs(session: Session, worklist: Worklist, eligibility: Eligibility) -> int:
    """How many pairs the annotator could still be given, leases of others aside."""
    statement = eligibility.prepare(_COUNT_OPEN, query="w.query_pk")
    return int(run(session, statement, {**worklist.values, **eligibility.values}).scalar_one())


def count_work(session: Session, worklist: Worklist, eligibility: Eligibility) -> tuple[int, int]:
    """`count_done` and `count_open_pairs` in one."""
    statement = eligibility.prepare(_COUNT_WORK, query="w.query_pk")
    done, left = run(session, statement, {**worklist.values, **eligibility.values}).one()
    return int(done), int(left)


def count_done(session: Session, worklist: Worklist) -> int:
    """How many pairs of the dataset the annotator has a current judgment of."""
    return int(run(session, _COUNT_DONE, worklist.values).scalar_one())
