"""Decide when training, gold pairs and repeats come, and whether training is passed.

Everything is drawn from the dataset's seed and secret, the annotator and the number of pairs answered before:
always the same, but no annotator can compute it. A rate is a share of all pairs handed out.
`labeling/next_pairs_sql.py` reads the pairs these rules choose from.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from annotator.domain.judgments import OpenPair, TrainingState
from annotator.domain.shuffling import Seed

REPEATS_TRIED = 8
MOST_CHECKS = 4
"""At most so many gold pairs and repeats for each ordinary pair, whatever the rates."""
MOST_DRAWN = 1_000
"""Of so many pairs ahead, the checks are counted one by one: some 2 milliseconds."""


@dataclass(frozen=True, slots=True)
class CheckRates:
    """The rates at which checks come in a dataset."""

    gold: float  # a share (0-1) of all pairs handed out, like `repeat`
    repeat: float
    repeat_after: int  # so many other pairs at least are answered before one comes again

    @property
    def any(self) -> bool:
        """Return whether any check can come."""
        return bool(self.gold or self.repeat)

    def choose_due(self, seed: Seed, annotator: str, position: int) -> str | None:
        """Return the kind of check that is due at this position of the annotator's pairs, or None."""
        number = draw_number(seed, annotator, "check", str(position))
        if number < self.gold:
            return "gold"
        return "repeat" if number < self.gold + self.repeat else None


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A training pair of one annotator."""

    pair_pk: int
    key: str
    grade: int  # the right one
    latest: int | None  # the annotator's latest answer; None: none, -1: cannot be rated


@dataclass(frozen=True, slots=True)
class GoldCandidate:
    """A gold pair that was not handed to the annotator yet."""

    pair_pk: int
    key: str
    query_pk: int


@dataclass(frozen=True, slots=True)
class RepeatCandidate:
    """A pair that the annotator has judged and can be asked again."""

    pair_pk: int
    key: str
    judgment_pk: int


class CheckSource(Protocol):
    """The checks of one annotator, each read when a rule asks for it."""

    def count_judged(self) -> int:
        """Return how many pairs the annotator has a current judgment of."""

    def count_answered_checks(self) -> int:
        """Return how many checks the annotator has answered."""

    def list_gold(self) -> Iterable[GoldCandidate]:
        """Return the gold pairs that can be handed to the annotator for the first time."""

    def is_query_familiar(self, query_pk: int, taken: Collection[int]) -> bool:
        """Return whether the annotator knows the query.

        They have judged a pair of it, it has open ordinary pairs, or it has one of the pairs `taken`
        (pair_pk).
        """

    def count_repeatable(self, needed: int, most: int) -> int:
        """Return the maximum of repeats that can still come, counted up to `most`.

        A pair comes again only among pairs of its query, after at least `needed` other answers.
        """

    def list_repeatable(self, query_pk: int) -> Iterable[RepeatCandidate]:
        """Return the pairs of the query that the annotator can be asked again, and was not."""

    def is_long_ago(self, candidate: RepeatCandidate, needed: int) -> bool:
        """Return whether the annotator has answered at least `needed` other pairs since."""

    def store_repeat(self, candidate: RepeatCandidate, keys: Iterable[str]) -> str:
        """Note that the pair comes again, under the first of the keys that is free; return it."""


def draw_number(seed: Seed, annotator: str, kind: str, name: str) -> float:
    """Return a number in [0, 1) that looks drawn at random and is the same every time."""
    drawn_for = f"{seed}\x1f{annotator}\x1f{kind}\x1f{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(drawn_for, digest_size=6).digest(), "big") / 2**48


def make_repeat_key(seed: Seed, annotator: str, pair: str, attempt: int = 0) -> str:
    """Return a key under which a pair comes again: it looks like a pair's key and tells nothing.

    A pair's key is the hash of three names, this one of more: no name leads to the key of a repeat.
    """
    names = json.dumps(["repeat", str(seed), annotator, pair, str(attempt)])
    return hashlib.sha256(names.encode()).hexdigest()[:24]


def measure_training(pairs: Collection[TrainingPair], *, required: float) -> TrainingState:
    """Return the training's state: passed once all pairs are answered and `required` (0-1) are right."""
    done = sum(pair.latest is not None for pair in pairs)
    right = sum(pair.latest == pair.grade for pair in pairs)
    passed = done == len(pairs) and right >= required * len(pairs) - 1e-9
    return TrainingState(done, len(pairs), right, required, passed)


def choose_training(
    pairs: Collection[TrainingPair], *, seed: Seed, annotator_pk: int, limit: int
) -> list[int]:
    """Return the training pairs (pair_pk) to be answered next, in the annotator's own order.

    First unanswered pairs; once all are answered, pairs with a wrong latest answer.
    """
    unanswered = [pair for pair in pairs if pair.latest is None]
    left = unanswered or [pair for pair in pairs if pair.latest != pair.grade]
    left.sort(key=lambda pair: draw_number(seed, str(annotator_pk), "training", pair.key))
    return [pair.pair_pk for pair in left[:limit]]


def count_due_checks(
    rates: CheckRates,
    *,
    seed: Seed,
    annotator: str,
    position: int,
    ordinary: int,
    source: CheckSource,
) -> int:
    """Return the maximum of gold pairs and repeats among the last `ordinary` pairs to be handed out.

    For more than MOST_DRAWN pairs it is the average. `position`: of the first of them among all pairs that
    the annotator is handed.
    """
    if not ordinary or not rates.any:
        return 0
    if ordinary > MOST_DRAWN:
        all_pairs = ordinary / max(1 - rates.gold - rates.repeat, 1 / (1 + MOST_CHECKS))
        gold, repeats = round(all_pairs * rates.gold), round(all_pairs * rates.repeat)
    else:
        gold = repeats = 0
        last = position + (1 + MOST_CHECKS) * ordinary
        while ordinary and position < last:
            due = rates.choose_due(seed, annotator, position)
            gold += due == "gold"
            repeats += due == "repeat"
            ordinary -= due is None
            position += 1
    gold = min(gold, len(list(source.list_gold()))) if gold else 0
    return gold + (min(repeats, source.count_repeatable(rates.repeat_after, repeats)) if repeats else 0)


class CheckMixer:
    """Puts the checks that are due among ordinary pairs, for one hand-out to one annotator.

    A check belongs to the current query, so no finished query comes back for a check. A gold pair of a query
    that is new to the annotator and has no ordinary pairs comes at a change of query. New checks come only
    before pairs that are handed out for the first time: pairs that come again bring no new checks.
    """

    def __init__(
        self, source: CheckSource, rates: CheckRates, *, seed: Seed, annotator: str, taken: Collection[int]
    ) -> None:
        self.source, self.rates, self.seed, self.annotator = source, rates, seed, annotator
        self.taken = set(taken)  # pairs (pair_pk) that must not come as checks
        self.gold: list[GoldCandidate] | None = None

    def mix(self, ordinary: Sequence[OpenPair], *, shown: int, query_before: int | None) -> list[OpenPair]:
        """Return the ordinary pairs in their order, with the checks that are due among them.

        `shown`: the number of pairs that the browser already shows; `query_before`: the query of the pair
        handed out last.
        """
        if not self.rates.any or all(pair.handed for pair in ordinary):
            return list(ordinary)
        first = self.source.count_judged() + self.source.count_answered_checks() + shown
        if not any(self._choose_due(first + offset) for offset in range(len(ordinary))):
            return list(ordinary)
        self.taken.update(pair.pair_pk for pair in ordinary)
        mixed: list[OpenPair] = []
        before = query_before
        for pair in ordinary:
            while not pair.handed and (kind := self._choose_due(first + len(mixed))):
                if len(mixed) >= MOST_CHECKS * len(ordinary):
                    break
                check = self._take(kind, pair.query_pk, between=pair.query_pk != before)
                if check is None:
                    break
                mixed.append(check)
                before = check.query_pk
            mixed.append(pair)
            before = pair.query_pk
        return mixed

    def _choose_due(self, position: int) -> str | None:
        return self.rates.choose_due(self.seed, self.annotator, position)

    def _take(self, kind: str, query_pk: int, *, between: bool) -> OpenPair | None:
        """Take a check of that kind for this query, or return None.

        `between`: a query ends here, so a gold pair of a query without ordinary pairs may come.
        """
        if kind == "repeat":
            return self._take_repeat(query_pk)
        gold = self._take_gold(query_pk, between=between)
        if gold is None:
            return None
        return OpenPair(gold.pair_pk, gold.key, gold.query_pk, begun=True, put_off=False)

    def _take_gold(self, query_pk: int, *, between: bool) -> GoldCandidate | None:
        if self.gold is None:
            free = [pair for pair in self.source.list_gold() if pair.pair_pk not in self.taken]
            self.gold = sorted(
                free, key=lambda pair: draw_number(self.seed, self.annotator, "gold", pair.key)
            )
        chosen = next((pair for pair in self.gold if pair.query_pk == query_pk), None)
        if chosen is None and between:
            chosen = next(
                (pair for pair in self.gold if not self.source.is_query_familiar(pair.query_pk, self.taken)),
                None,
            )
        if chosen is None:
            return None
        self.gold.remove(chosen)
        if chosen.query_pk != query_pk:  # what else the query has would bring it back
            self.gold = [pair for pair in self.gold if pair.query_pk != chosen.query_pk]
        self.taken.add(chosen.pair_pk)
        return chosen

    def _take_repeat(self, query_pk: int) -> OpenPair | None:
        """Take a repeat of this query, if one is due. A repeat of another query would be noticed."""
        needed = self.rates.repeat_after
        if self.source.count_judged() <= needed:
            return None
        free = [pair for pair in self.source.list_repeatable(query_pk) if pair.pair_pk not in self.taken]
        free.sort(key=lambda pair: pair.judgment_pk)  # the oldest first
        for pair in free[:REPEATS_TRIED]:
            if self.source.is_long_ago(pair, needed):
                self.taken.add(pair.pair_pk)
                key = self._store_repeat(pair)
                return OpenPair(pair.pair_pk, key, query_pk, begun=True, put_off=False, repeat=True)
        return None

    def _store_repeat(self, pair: RepeatCandidate) -> str:
        keys = (make_repeat_key(self.seed, self.annotator, pair.key, attempt) for attempt in count())
        return self.source.store_repeat(pair, keys)
