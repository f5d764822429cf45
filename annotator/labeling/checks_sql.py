"""Mix training pairs, gold pairs and repeats into the pairs that an annotator gets next.

The dataset's seed, the annotator and the number of pairs answered before decide which check comes when, so the order is
reproducible. A rate is a share of all pairs handed out. A gold pair comes once per annotator, and never if the annotator
judged it, proposed it, marked it as a lead, or saw others' answers of it. A repeat asks again, under its own key, for one's
own current answer after at least `repeat_after` others. Reads only the marked pairs and a few queries of the annotator.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, text, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import TrainingState
from annotator.storage.labeling_tables import CheckRow, RepeatRow
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import (
    Eligibility,
    OpenPairsRequest,
    count_done,
    find_eligibility,
    list_leased_elsewhere,
)
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables import DatasetRow, PairRow

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
_MET = prepare_sql(
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
class CheckToHandOut:
    """A check to hand out; `key`: of its own, for a repeat."""

    pair_pk: int
    query_pk: int
    key: str | None


@dataclass(frozen=True, slots=True)
class _CheckCandidate:
    pair_pk: int
    key: str
    query_pk: int
    judgment_pk: int = 0
    repeat_key: str | None = None


def count_gold(session: Session, worklist: OpenPairsRequest, held: Collection[str]) -> int:
    """How many gold pairs the annotator can still be given beside those in the browser (their keys)."""
    eligible = find_eligibility(session, worklist.dataset_pk, worklist.annotator_pk)
    statement = eligible.prepare(_GOLD, query="p.query_pk")
    rows = execute_sql(session, statement, {**worklist.values, **eligible.values})
    return sum(key not in held for _pk, key, _query_pk in rows)


def draw_number(seed: int, annotator: str, kind: str, name: str) -> float:
    """A number in [0, 1) that looks drawn at random and is the same every time."""
    told = f"{seed}\x1f{annotator}\x1f{kind}\x1f{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest(), "big") / 2**48


def choose_due_check(seed: int, annotator: str, rates: Mapping[str, float], place: int) -> str | None:
    """Which kind of check is due at this place of all that the annotator is handed; None: an ordinary pair. Each rate
    is a share of all places."""
    drawn, below = draw_number(seed, annotator, "check", str(place)), 0.0
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


class CheckSupply:
    """The checks that an annotator can be given, looked up as they are asked for. What is given is `taken`."""

    def __init__(
        self,
        session: Session,
        worklist: OpenPairsRequest,
        dataset: DatasetRow,
        annotator: str,
        taken: Collection[int],
    ) -> None:
        self.session, self.worklist, self.dataset = session, worklist, dataset
        self.annotator, self.taken = annotator, set(taken)
        self.gold: list[_CheckCandidate] | None = None

    def take(self, kind: str, query_pk: int, *, between: bool) -> CheckToHandOut | None:
        """A check of that kind and of this query; None when there is none left. `between`: a query ends here, so that a gold
        pair of a query of its own may come."""
        return self._take_gold(query_pk, between=between) if kind == "gold" else self._take_repeat(query_pk)

    def _take_gold(self, query_pk: int, *, between: bool) -> CheckToHandOut | None:
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
        return CheckToHandOut(one.pair_pk, one.query_pk, None)

    def _is_apart(self, query_pk: int) -> bool:
        """Whether nothing but checks is to come of this query, and the annotator has met nothing of it."""
        named = {**self.worklist.values, "query_pk": query_pk, "taken": sorted(self.taken)}
        return execute_sql(self.session, _MET, named).first() is None

    def _list_gold(self) -> list[_CheckCandidate]:
        eligible = find_eligibility(self.session, self.worklist.dataset_pk, self.worklist.annotator_pk)
        statement = eligible.prepare(_GOLD, query="p.query_pk")
        rows = execute_sql(self.session, statement, {**self.worklist.values, **eligible.values})
        left = [_CheckCandidate(*row) for row in rows if row[0] not in self.taken]
        return sorted(left, key=lambda one: draw_number(self.dataset.seed, self.annotator, "gold", one.key))

    def _take_repeat(self, query_pk: int) -> CheckToHandOut | None:
        if count_done(self.session, self.worklist) <= self.dataset.repeat_after:
            return None
        one = _find_repeatable(self.session, self.worklist, self.dataset, query_pk, self.taken)
        if one is None:
            return None
        self.taken.add(one.pair_pk)
        key = one.repeat_key or _note_repeat(
            self.session, self.worklist, self.dataset.seed, self.annotator, one
        )
        return CheckToHandOut(one.pair_pk, one.query_pk, key)


def _find_repeatable(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    at_hand: int,
    taken: set[int],
) -> _CheckCandidate | None:
    """Of the query at hand: a repeat of another one would show by its query."""
    named = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    rows = session.execute(_REPEATABLE, {**named, "query_pk": at_hand})
    found = [_CheckCandidate(*row) for row in rows if row[0] not in taken]
    found.sort(key=lambda one: (one.repeat_key is None, one.judgment_pk))  # handed before; the oldest
    for one in found[:CANDIDATES_TRIED]:
        if _is_long_ago(session, worklist, one, dataset.repeat_after):
            return one
    return None


def _is_long_ago(session: Session, worklist: OpenPairsRequest, one: _CheckCandidate, needed: int) -> bool:
    """Whether the annotator has answered at least that many other pairs since, as far as is looked."""
    named = {
        "judgment_pk": one.judgment_pk,
        "last": one.judgment_pk + max(ROWS_LOOKED_AT, 100 * needed),
        "annotator_pk": worklist.annotator_pk,
        "pair_pk": one.pair_pk,
        "most": 2 * needed + 100,
    }
    return len({pair_pk for (pair_pk,) in session.execute(_FOLLOWERS, named)}) >= needed


def _note_repeat(
    session: Session, worklist: OpenPairsRequest, seed: int, annotator: str, one: _CheckCandidate
) -> str:
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


MOST_CHECKS = 4
"""So many gold pairs and repeats at the most for each ordinary pair, whatever the rates."""

_TRAINING = """
SELECT p.pk, p.key, c.grade,
  (SELECT CASE WHEN j.outcome = 'graded' THEN j.grade ELSE -1 END FROM judgment j
   WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.purpose = 'training' AND j.outcome <> 'later'
   AND NOT j.late ORDER BY j.pk DESC LIMIT 1) AS latest
FROM check_pair c CROSS JOIN pair p  -- in this order: from the few marks, not from the pool
WHERE p.pk = c.pair_pk AND c.kind = 'training' AND (c.marked_by_pk IS NULL OR c.marked_by_pk <> :annotator_pk) AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND {eligible}
"""
_JUDGED = prepare_sql("""
SELECT 1 FROM current_judgment c
WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome IN ('graded', 'unrateable')
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = c.pair_pk AND o.annotator_pk = :annotator_pk)
LIMIT 1
""")


@dataclass(frozen=True, slots=True)
class NextPair:
    """A pair to hand out, under the key that the browser shall use for it; `training`: it will be explained."""

    pair_pk: int
    key: str | None = None
    training: bool = False


@dataclass(frozen=True, slots=True)
class RepeatTarget:
    """What the key of a repeat stands for."""

    repeat_pk: int
    pair_pk: int
    document_pk: int


@dataclass(frozen=True, slots=True)
class _TrainingPair:
    """A training pair: its right grade, and the annotator's latest answer (None: none; -1: cannot be rated)."""

    pair_pk: int
    key: str
    grade: int
    latest: int | None


def find_training(
    session: Session, worklist: OpenPairsRequest, dataset: DatasetRow, eligibility: Eligibility | None = None
) -> TrainingState | None:
    """How far the annotator's training is; None when there is none: no pair is marked, or real pairs were judged
    before. (A document proposed by oneself is no real pair: it would be a way around the training.)"""
    marked = _list_trained(session, worklist, eligibility)
    if not marked or execute_sql(session, _JUDGED, _named(worklist)).first() is not None:
        return None
    done = sum(one.latest is not None for one in marked)
    right = sum(one.latest == one.grade for one in marked)
    passed = done == len(marked) and right >= dataset.training_score * len(marked) - 1e-9
    return TrainingState(done, len(marked), right, dataset.training_score, passed)


def list_training(session: Session, worklist: OpenPairsRequest, *, limit: int) -> list[int]:
    """The training pairs to be answered next, in the annotator's own order: those never answered; once all are
    answered, those answered wrong at the latest try."""
    marked = _list_trained(session, worklist)
    seed = session.scalars(
        select(col(DatasetRow.seed)).where(col(DatasetRow.pk) == worklist.dataset_pk)
    ).one()
    left = [one for one in marked if one.latest is None] or [one for one in marked if one.latest != one.grade]
    left.sort(key=lambda one: draw_number(seed, str(worklist.annotator_pk), "training", one.key))
    return [one.pair_pk for one in left[:limit]]


def find_check_kinds(session: Session, pair_pks: Collection[int]) -> Mapping[int, str]:
    """ "training" or "gold" by pair_pk, for those that are marked."""
    if not pair_pks:
        return {}
    statement = select(col(CheckRow.pair_pk), col(CheckRow.kind))
    found = session.execute(statement.where(col(CheckRow.pair_pk).in_(list(pair_pks))))
    return {key_of(pair_pk): kind for pair_pk, kind in found}


def find_repeats(
    session: Session, worklist: OpenPairsRequest, keys: Collection[str]
) -> Mapping[str, RepeatTarget]:
    """What those keys stand for that are repeats of this annotator."""
    if not keys:
        return {}
    statement = (
        select(col(RepeatRow.key), col(RepeatRow.pk), col(PairRow.pk), col(PairRow.document_pk))
        .join(PairRow, col(PairRow.pk) == col(RepeatRow.pair_pk))
        .where(
            col(RepeatRow.key).in_(list(keys)),
            col(RepeatRow.annotator_pk) == worklist.annotator_pk,
            col(PairRow.dataset_pk) == worklist.dataset_pk,
        )
    )
    return {
        key: RepeatTarget(key_of(pk), key_of(pair_pk), document_pk)
        for key, pk, pair_pk, document_pk in session.execute(statement)
    }


def note_repeats_answered(session: Session, worklist: OpenPairsRequest, repeat_pks: Collection[int]) -> None:
    """These repeats have been answered."""
    if repeat_pks:
        answered = update(RepeatRow).where(
            col(RepeatRow.pk).in_(list(repeat_pks)),
            col(RepeatRow.annotator_pk) == worklist.annotator_pk,
            col(RepeatRow.answered_at).is_(None),
        )
        session.execute(
            answered.values(answered_at=worklist.now).execution_options(synchronize_session=False)
        )


def read_explanations(session: Session, pair_pks: Collection[int]) -> Mapping[int, tuple[int, str]]:
    """(right grade, explanation) by pair_pk of training pairs."""
    if not pair_pks:
        return {}
    statement = select(col(CheckRow.pair_pk), col(CheckRow.grade), col(CheckRow.explanation)).where(
        col(CheckRow.pair_pk).in_(list(pair_pks)), col(CheckRow.kind) == "training"
    )
    return {pair_pk: (grade, explanation) for pair_pk, grade, explanation in session.execute(statement)}


def count_checks(session: Session, worklist: OpenPairsRequest, shown: Collection[str]) -> tuple[int, int]:
    """How many gold pairs, repeats and pairs of quality control the annotator has answered, and how many gold pairs and
    repeats are among those shown in the browser (by key): a progress that left them out would tell which they are."""
    if not shown:
        return _count_answered(session, worklist), 0
    answered, among = execute_sql(
        session, _ANSWERED_AND_SHOWN, {**_named(worklist), "keys": list(shown)}
    ).one()
    return int(answered), int(among)


def count_possible_checks(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: int,
    held: Sequence[str],
    answered: int,
) -> int:
    """How many gold pairs and repeats can come at the most among so many ordinary pairs, which are all that is left to hand
    out. `held`: the keys of what the browser has; `answered`: how many pairs the annotator has answered, checks included."""
    rates = {"gold": dataset.gold_rate, "repeat": dataset.repeat_rate}
    if not ordinary or not any(rates.values()):
        return 0
    due = {"gold": 0, "repeat": 0}
    place, left = answered + len(held), ordinary
    last = place + (1 + MOST_CHECKS) * ordinary
    while left and place < last:
        kind = choose_due_check(dataset.seed, annotator, rates, place)
        if kind is None:
            left -= 1
        else:
            due[kind] += 1
        place += 1
    repeats = due["repeat"] if place > dataset.repeat_after else 0
    return repeats + (min(due["gold"], count_gold(session, worklist, held)) if due["gold"] else 0)


def mix_in(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: Sequence[int],
    held: Collection[int],
    at_hand: int | None = None,
) -> list[NextPair]:
    """The ordinary pairs (pair_pk) to hand out, with gold pairs and repeats among them at the dataset's rates.

    `held`: what the browser has already, checks included; `at_hand`: the query of what was handed out last. A check is of the
    query at whose turn it is due, so that no finished query comes back for one. Gold pairs of a query of which the
    annotator knows nothing, and which has no ordinary pairs, come where the query changes. The end may be cut off: what is left
    out comes again.
    """
    rates = {"gold": dataset.gold_rate, "repeat": dataset.repeat_rate}
    plain = [NextPair(pair_pk) for pair_pk in ordinary]
    if not ordinary or not any(rates.values()):
        return plain
    first = count_done(session, worklist) + _count_answered(session, worklist) + len(held)

    def due(place: int) -> str | None:
        return choose_due_check(dataset.seed, annotator, rates, place)

    if not any(due(first + at) for at in range(len(ordinary))):
        return plain
    taken = {*held, *ordinary, *list_leased_elsewhere(session, worklist)}
    supply = CheckSupply(session, worklist, dataset, annotator, taken)
    queries = _find_queries(session, ordinary)
    return _interleave(ordinary, [queries[pk] for pk in ordinary], supply, due, first, at_hand)


def _interleave(
    ordinary: Sequence[int],
    order: Sequence[int],
    supply: CheckSupply,
    due: Callable[[int], str | None],
    first: int,
    at_hand: int | None,
) -> list[NextPair]:
    """The pairs with the checks that are due; `order`: the query of each, `first`: the place of the first of all."""
    handed: list[NextPair] = []
    for pair_pk, query_pk in zip(ordinary, order, strict=True):
        while (kind := due(first + len(handed))) and len(handed) < MOST_CHECKS * len(ordinary):
            check = supply.take(kind, query_pk, between=query_pk != at_hand)
            if check is None:
                break
            handed.append(NextPair(check.pair_pk, check.key))
            at_hand = check.query_pk
        handed.append(NextPair(pair_pk))
        at_hand = query_pk
    return handed


def _list_trained(
    session: Session, worklist: OpenPairsRequest, eligibility: Eligibility | None = None
) -> list[_TrainingPair]:
    eligible = eligibility or find_eligibility(session, worklist.dataset_pk, worklist.annotator_pk)
    statement = eligible.prepare(_TRAINING, query="p.query_pk")
    return [
        _TrainingPair(*row)
        for row in execute_sql(session, statement, {**_named(worklist), **eligible.values})
    ]


def _named(worklist: OpenPairsRequest) -> dict[str, int]:
    return {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}


_ANSWERED = """
SELECT (SELECT count(DISTINCT j.pair_pk) FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j
    WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND j.pair_pk = c.pair_pk AND j.annotator_pk = :annotator_pk
      AND c.kind = 'gold' AND j.purpose = 'gold' AND j.outcome <> 'later')
  + (SELECT count(*) FROM repeated_pair r CROSS JOIN pair p
    WHERE p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk
      AND r.annotator_pk = :annotator_pk AND r.answered_at IS NOT NULL)
  + (SELECT count(DISTINCT x.pair_pk) FROM quality_draw w CROSS JOIN quality_pair x
    WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND x.outcome IS NOT NULL)
"""
_SHOWN = """
SELECT (SELECT count(*) FROM pair p JOIN check_pair c ON c.pair_pk = p.pk AND c.kind = 'gold' WHERE p.key IN :keys)
  + (SELECT count(*) FROM repeated_pair r WHERE r.key IN :keys AND r.annotator_pk = :annotator_pk)
"""
_COUNT_ANSWERED = prepare_sql(_ANSWERED)
_ANSWERED_AND_SHOWN = prepare_sql(f"SELECT ({_ANSWERED}), ({_SHOWN})", lists=["keys"])


def _count_answered(session: Session, worklist: OpenPairsRequest) -> int:
    """How many gold pairs, repeats and pairs of quality control the annotator has answered."""
    return int(execute_sql(session, _COUNT_ANSWERED, _named(worklist)).scalar_one())


def _find_queries(session: Session, pair_pks: Sequence[int]) -> dict[int, int]:
    statement = select(col(PairRow.pk), col(PairRow.query_pk)).where(col(PairRow.pk).in_(list(pair_pks)))
    return {key_of(pk): query_pk for pk, query_pk in session.execute(statement)}
