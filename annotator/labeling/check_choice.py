"""Which gold pair and which repeat an annotator gets, and at which turn: reproducible, and looked up in little time.

A gold pair comes once to each annotator, to nobody who judged or proposed it. A repeat is one's own earlier answer
that still holds, asked once more under a key of its own after at least `repeat_after` answers on other pairs.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage.eligibility import find_eligibility
from annotator.storage.labeling_tables import RepeatRow
from annotator.storage.open_pairs import Worklist, count_done
from annotator.storage.sql import prepare, run
from annotator.storage.tables import DatasetRow

CANDIDATES_TRIED = 8
ROWS_LOOKED_AT = 20_000
_OPEN_TO_PERSON = """
  p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)
"""
_GOLD = f"""
SELECT p.pk, p.key, p.query_pk FROM check_pair g CROSS JOIN pair p  -- in this order: from the few marks, not from the pool
WHERE p.pk = g.pair_pk AND g.kind = 'gold' AND (g.marked_by_pk IS NULL OR g.marked_by_pk <> :annotator_pk) AND {_OPEN_TO_PERSON}
  AND NOT EXISTS (SELECT 1 FROM judgment j
    WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.outcome <> 'later')
  AND {{eligible}}
"""
_REPEATABLE = text(f"""
SELECT p.pk, p.key, p.query_pk, c.judgment_pk, r.key
FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN repeated_pair r ON r.pair_pk = p.pk AND r.annotator_pk = :annotator_pk
WHERE p.query_pk = :query_pk AND {_OPEN_TO_PERSON}
  AND c.outcome = 'graded' AND c.purpose = 'independent' AND c.stale = 0 AND r.answered_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
""")
_MET = prepare(
    """
SELECT 1 FROM pair p WHERE p.query_pk = :query_pk AND (p.lacking > 0 OR p.pk IN :taken
  OR EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk)) LIMIT 1""",
    lists=["taken"],
)
_FOLLOWERS = text("""
SELECT pair_pk FROM judgment
WHERE pk > :judgment_pk AND pk <= :last AND annotator_pk = :annotator_pk AND pair_pk <> :pair_pk AND outcome <> 'later'
ORDER BY pk LIMIT :most
""")
_KNOWN_KEY = text(
    "SELECT 1 FROM pair WHERE key = :key UNION ALL SELECT 1 FROM repeated_pair WHERE key = :key"
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check to hand out; `key`: of its own, for a repeat."""

    pair_pk: int
    query_pk: int
    key: str | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    pair_pk: int
    key: str
    query_pk: int
    judgment_pk: int = 0
    repeat_key: str | None = None


def count_gold(session: Session, worklist: Worklist, held: Collection[str]) -> int:
    """How many gold pairs the annotator can still be given beside those in the browser (their keys)."""
    eligible = find_eligibility(session, worklist.dataset_pk, worklist.annotator_pk)
    statement = eligible.prepare(_GOLD, query="p.query_pk")
    rows = run(session, statement, {**worklist.values, **eligible.values})
    return sum(key not in held for _pk, key, _query_pk in rows)


def draw(seed: int, annotator: str, kind: str, name: str) -> float:
    """A number in [0, 1) that looks drawn at random and is the same every time."""
    told = f"{seed}\x1f{annotator}\x1f{kind}\x1f{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest(), "big") / 2**48


def which_is_due(seed: int, annotator: str, rates: Mapping[str, float], place: int) -> str | None:
    """Which kind of check is due at this place of all that the annotator is handed; None: an ordinary pair. Each rate
    is a share of all places."""
    drawn, below = draw(seed, annotator, "check", str(place)), 0.0
    for kind, rate in rates.items():
        below += rate
        if drawn < below:
            return kind
    return None


def repeat_key(seed: int, annotator: str, pair: str, attempt: int = 0) -> str:
    """The key under which an annotator meets a pair again: it looks like a pair's key and tells nothing.

    A pair's key is the hash of three names, this one of more: no name leads to the key of a repeat.
    """
    named = json.dumps(["repeat", str(seed), annotator, pair, str(attempt)])
    return hashlib.sha256(named.encode()).hexdigest()[:24]


class Supply:
    """The checks that an annotator can be given, looked up as they are asked for. What is given is `taken`."""

    def __init__(
        self,
        session: Session,
        worklist: Worklist,
        dataset: DatasetRow,
        annotator: str,
        taken: Collection[int],
    ) -> None:
        self.session, self.worklist, self.dataset = session, worklist, dataset
        self.annotator, self.taken = annotator, set(taken)
        self.gold: list[_Candidate] | None = None

    def take(self, kind: str, query_pk: int, *, between: bool) -> Check | None:
        """A check of that kind and of this query; None when there is none left. `between`: a query ends here, so that a gold
        pair of a query of its own may come."""
        return self._take_gold(query_pk, between=between) if kind == "gold" else self._take_repeat(query_pk)

    def _take_gold(self, query_pk: int, *, between: bool) -> Check | None:
        if self.gold is None:
            self.gold = self._list_gold()
        fits = [some for some in self.gold if some.query_pk == query_pk]
        if not fits and between:
            fits = [some for some in self.gold if self._is_apart(some.query_pk)]
        if not fits:
            return None
        one = fits[0]
        self.gold.remove(one)
        if one.query_pk != query_pk:  # what else it has would bring it back
            self.gold = [some for some in self.gold if some.query_pk != one.query_pk]
        self.taken.add(one.pair_pk)
        return Check(one.pair_pk, one.query_pk, None)

    def _is_apart(self, query_pk: int) -> bool:
        """Whether nothing but checks is to come of this query, and the annotator has met nothing of it."""
        named = {**self.worklist.values, "query_pk": query_pk, "taken": sorted(self.taken)}
        return run(self.session, _MET, named).first() is None

    def _list_gold(self) -> list[_Candidate]:
        eligible = find_eligibility(self.session, self.worklist.dataset_pk, self.worklist.annotator_pk)
        statement = eligible.prepare(_GOLD, query="p.query_pk")
        rows = run(self.session, statement, {**self.worklist.values, **eligible.values})
        left = [_Candidate(*row) for row in rows if row[0] not in self.taken]
        return sorted(left, key=lambda one: draw(self.dataset.seed, self.annotator, "gold", one.key))

    def _take_repeat(self, query_pk: int) -> Check | None:
        if count_done(self.session, self.worklist) <= self.dataset.repeat_after:
            return None
        one = _find_repeatable(self.session, self.worklist, self.dataset, query_pk, self.taken)
        if one is None:
            return None
        self.taken.add(one.pair_pk)
        key = one.repeat_key or _note_repeat(
            self.session, self.worklist, self.dataset.seed, self.annotator, one
        )
        return Check(one.pair_pk, one.query_pk, key)


def _find_repeatable(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    at_hand: int,
    taken: set[int],
) -> _Candidate | None:
    """Of the query at hand: a repeat of another one would show by its query."""
    named = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    rows = session.execute(_REPEATABLE, {**named, "query_pk": at_hand})
    found = [_Candidate(*row) for row in rows if row[0] not in taken]
    found.sort(key=lambda one: (one.repeat_key is None, one.judgment_pk))  # handed before; the oldest
    for one in found[:CANDIDATES_TRIED]:
        if _is_long_ago(session, worklist, one, dataset.repeat_after):
            return one
    return None


def _is_long_ago(session: Session, worklist: Worklist, one: _Candidate, needed: int) -> bool:
    """Whether the annotator has answered at least that many other pairs since, as far as is looked."""
    named = {
        "judgment_pk": one.judgment_pk,
        "last": one.judgment_pk + max(ROWS_LOOKED_AT, 100 * needed),
        "annotator_pk": worklist.annotator_pk,
        "pair_pk": one.pair_pk,
        "most": 2 * needed + 100,
    }
    return len({pair_pk for (pair_pk,) in session.execute(_FOLLOWERS, named)}) >= needed


def _note_repeat(session: Session, worklist: Worklist, seed: int, annotator: str, one: _Candidate) -> str:
    attempt = 0
    while True:
        key = repeat_key(seed, annotator, one.key, attempt)
        if session.execute(_KNOWN_KEY, {"key": key}).first() is None:
            break
        attempt += 1
    row = {
        "key": key,
        "pair_pk": one.pair_pk,
        "annotator_pk": worklist.annotator_pk,
        "handed_at": worklist.now,
    }
    session.add(RepeatRow.model_validate(row))
    session.flush()
    return key
