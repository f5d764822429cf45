"""Which gold pair and which repeat an annotator gets, and at which turn: reproducible, and looked up in little time.

A gold pair comes once to each annotator, to nobody who judged or proposed it. A repeat is one's own earlier answer
that still holds, asked once more under a key of its own after at least `repeat_after` answers on other pairs.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage.labeling_tables import RepeatRow
from annotator.storage.tables import DatasetRow
from annotator.storage.worklist import Worklist, count_done

MOST_IN_A_ROW = 3
QUERIES_TRIED = 8
CANDIDATES_TRIED = 8
ROWS_LOOKED_AT = 20_000
_OPEN_TO_PERSON = """
  p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)
"""
_GOLD = text(f"""
SELECT p.pk, p.key, p.query_pk FROM check_pair g JOIN pair p ON p.pk = g.pair_pk
WHERE g.kind = 'gold' AND (g.marked_by_pk IS NULL OR g.marked_by_pk <> :annotator_pk) AND {_OPEN_TO_PERSON}
  AND NOT EXISTS (SELECT 1 FROM judgment j
    WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.outcome <> 'later')
""")
_REPEATABLE = text(f"""
SELECT p.pk, p.key, p.query_pk, c.judgment_pk, r.key
FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN repeated_pair r ON r.pair_pk = p.pk AND r.annotator_pk = :annotator_pk
WHERE p.query_pk = :query_pk AND {_OPEN_TO_PERSON}
  AND c.outcome = 'graded' AND c.purpose = 'independent' AND c.stale = 0 AND r.answered_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM adjudication a WHERE a.pair_pk = p.pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
""")
_BEGUN_QUERIES = text(
    "SELECT query_pk FROM query_answers WHERE annotator_pk = :annotator_pk AND dataset_pk = :dataset_pk"
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
    """A check to hand out before the ordinary pair at `place` of a list; `key`: of its own, for a repeat."""

    place: int
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


def draw(seed: int, annotator: str, kind: str, name: str) -> float:
    """A number in [0, 1) that looks drawn at random and is the same every time."""
    told = f"{seed}\x1f{annotator}\x1f{kind}\x1f{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest(), "big") / 2**48


def list_due(
    seed: int, annotator: str, rates: Mapping[str, float], first: int, count: int
) -> Mapping[str, list[int]]:
    """Before which of the next `count` ordinary pairs a check is due, by its kind; `first`: how many ordinary pairs
    came before. Each rate is a share of all that is handed out."""
    due: dict[str, list[int]] = {kind: [] for kind in rates}
    for place in range(count):
        for turn in range(MOST_IN_A_ROW):
            drawn = draw(seed, annotator, "check", f"{first + place} {turn}")
            kind = _which(rates, drawn)
            if kind is None:
                break
            due[kind].append(place)
    return due


def _which(rates: Mapping[str, float], drawn: float) -> str | None:
    below = 0.0
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


def choose_gold(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    annotator: str,
    order: Sequence[int],
    due: Sequence[int],
    taken: set[int],
) -> list[Check]:
    """A gold pair for each due place of `order` (the query_pk of each ordinary pair), as far as there are any left.
    What is chosen is added to `taken`."""
    if not due:
        return []
    named = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    left = [_Candidate(*row) for row in session.execute(_GOLD, named) if row[0] not in taken]
    left.sort(key=lambda one: draw(dataset.seed, annotator, "gold", one.key))
    chosen = []
    for place in due[: len(left)]:
        one = next((some for some in left if some.query_pk == order[place]), left[0])
        left.remove(one)
        taken.add(one.pair_pk)
        chosen.append(Check(place, one.pair_pk, one.query_pk, None))
    return chosen


def choose_repeats(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    annotator: str,
    order: Sequence[int],
    due: Sequence[int],
    taken: set[int],
) -> list[Check]:
    """An own earlier answer to be asked again for each due place, as far as there are any; noted in `repeated_pair`."""
    if not due or count_done(session, worklist) <= dataset.repeat_after:
        return []
    chosen = []
    for place in due:
        one = _find_repeatable(session, worklist, dataset, annotator, order[place], taken)
        if one is None:
            continue
        taken.add(one.pair_pk)
        key = one.repeat_key or _note_repeat(session, worklist, dataset.seed, annotator, one)
        chosen.append(Check(place, one.pair_pk, one.query_pk, key))
    return chosen


def _find_repeatable(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    annotator: str,
    at_hand: int,
    taken: set[int],
) -> _Candidate | None:
    """Of the query at hand first, else of one of the annotator's own queries."""
    named = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    begun = [pk for (pk,) in session.execute(_BEGUN_QUERIES, named) if pk != at_hand]
    begun.sort(key=lambda pk: draw(dataset.seed, annotator, "query", f"{pk} {len(taken)}"))
    for query_pk in (at_hand, *begun[:QUERIES_TRIED]):
        rows = session.execute(_REPEATABLE, {**named, "query_pk": query_pk})
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
