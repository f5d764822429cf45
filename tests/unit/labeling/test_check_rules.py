"""When training, gold pairs and repeats come: the rules on records in memory."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import pytest

from annotator.domain.judgments import OpenPair
from annotator.labeling.checks import (
    MOST_CHECKS,
    REPEATS_TRIED,
    CheckMixer,
    CheckRates,
    GoldCandidate,
    RepeatCandidate,
    TrainingPair,
    choose_training,
    count_due_checks,
    measure_training,
)

ONLY_GOLD = CheckRates(gold=1, repeat=0, repeat_after=5)
ONLY_REPEATS = CheckRates(gold=0, repeat=1, repeat_after=5)


@dataclass
class Checks:
    """Checks in memory."""

    gold: Sequence[GoldCandidate] = ()
    repeats: Sequence[RepeatCandidate] = ()
    judged: int = 100
    room_for_repeats: int = 1000
    recent: Collection[int] = ()  # pairs answered too lately to be repeated
    met: Collection[int] = ()  # queries
    used_keys: Collection[str] = ()
    stored: list[str] = field(default_factory=list)

    def count_judged(self) -> int:
        return self.judged

    def count_answered_checks(self) -> int:
        return 0

    def list_gold(self) -> Iterable[GoldCandidate]:
        return self.gold

    def is_query_familiar(self, query_pk: int, taken: Collection[int]) -> bool:
        return query_pk in self.met

    def count_repeatable(self, needed: int, most: int) -> int:
        return min(self.room_for_repeats, most)

    def list_repeatable(self, query_pk: int) -> Iterable[RepeatCandidate]:
        return self.repeats

    def is_long_ago(self, candidate: RepeatCandidate, needed: int) -> bool:
        return candidate.pair_pk not in self.recent

    def store_repeat(self, candidate: RepeatCandidate, keys: Iterable[str]) -> str:
        self.stored.append(next(key for key in keys if key not in self.used_keys))
        return self.stored[-1]


def mix(
    checks: Checks,
    rates: CheckRates,
    ordinary: Sequence[tuple[int, int]] = ((1, 10),),
    *,
    taken: Collection[int] = (),
    before: int | None = 10,
    shown: int = 0,
) -> list[int]:
    """Mix checks into pairs of (pair_pk, query_pk)."""
    mixer = CheckMixer(checks, rates, seed=7, annotator="ann", taken=taken)
    pairs = [OpenPair(pk, f"k{pk}", query_pk, False, False) for pk, query_pk in ordinary]
    return [next_pair.pair_pk for next_pair in mixer.mix(pairs, shown=shown, query_before=before)]


def test_without_ordinary_pairs_or_rates_no_check_comes() -> None:
    gold = Checks([GoldCandidate(50, "g", 10)])
    assert mix(gold, ONLY_GOLD, []) == []
    assert mix(gold, CheckRates(0, 0, 5)) == [1]
    assert mix(gold, ONLY_GOLD) == [50, 1]


def test_a_gold_pair_comes_at_the_turn_of_its_query() -> None:
    gold = Checks([GoldCandidate(50, "g", 20)])
    assert mix(gold, ONLY_GOLD, [(1, 10), (2, 20), (3, 20)], before=10) == [1, 50, 2, 3]
    met = Checks([GoldCandidate(50, "g", 20)], met=[20])
    assert mix(met, ONLY_GOLD, [(1, 10), (2, 20), (3, 20)], before=None) == [1, 50, 2, 3]


def test_a_gold_pair_of_a_query_of_its_own_comes_where_the_query_changes() -> None:
    alone = Checks([GoldCandidate(50, "g", 99)])
    assert mix(alone, ONLY_GOLD, [(1, 10), (2, 10), (3, 20)], before=10) == [1, 2, 50, 3]
    assert mix(alone, ONLY_GOLD, [(1, 10)], before=10) == [1]
    assert mix(Checks([GoldCandidate(50, "g", 99)], met=[99]), ONLY_GOLD, before=None) == [1]


def test_one_gold_pair_of_a_strange_query_keeps_its_others_back() -> None:
    strange = Checks([GoldCandidate(50, "a", 99), GoldCandidate(51, "b", 99), GoldCandidate(52, "c", 98)])
    mixed = mix(strange, ONLY_GOLD, [(1, 10)], before=None)
    assert len(mixed) == 3
    assert {50, 51} & set(mixed) and 52 in mixed


def test_what_is_taken_is_no_check() -> None:
    assert mix(Checks([GoldCandidate(50, "g", 10)]), ONLY_GOLD, taken=[50]) == [1]
    assert mix(Checks([GoldCandidate(1, "g", 10)]), ONLY_GOLD) == [1]
    assert mix(Checks(repeats=[RepeatCandidate(50, "k", 1)]), ONLY_REPEATS, taken=[50]) == [1]


def test_there_are_at_most_so_many_checks_for_each_ordinary_pair() -> None:
    many = Checks([GoldCandidate(pk, f"g{pk}", 10) for pk in range(50, 70)])
    assert len(mix(many, ONLY_GOLD)) == MOST_CHECKS + 1


def test_no_check_comes_before_a_pair_that_was_handed_out_before() -> None:
    mixer = CheckMixer(Checks([GoldCandidate(50, "g", 10)]), ONLY_GOLD, seed=7, annotator="ann", taken=())
    again, new = (OpenPair(pk, f"k{pk}", 10, False, False, handed=pk == 1) for pk in (1, 2))
    assert mixer.mix([again], shown=0, query_before=10) == [again]
    assert [pair.pair_pk for pair in mixer.mix([again, new], shown=0, query_before=10)] == [1, 50, 2]


def test_gold_pairs_come_in_an_order_of_the_annotators_own() -> None:
    gold = [GoldCandidate(pk, f"g{pk}", 10) for pk in range(50, 70)]
    assert mix(Checks(gold), ONLY_GOLD) == mix(Checks(gold[::-1]), ONLY_GOLD) != [50, 51, 52, 53, 1]


def test_a_repeat_comes_after_enough_other_pairs() -> None:
    again = [RepeatCandidate(50, "k50", 1)]
    assert mix(Checks(repeats=again), ONLY_REPEATS)[0] == 50
    assert mix(Checks(repeats=again, judged=5), ONLY_REPEATS) == [1]
    assert mix(Checks(repeats=again, judged=6), ONLY_REPEATS)[0] == 50
    assert mix(Checks(repeats=again, recent=[50]), ONLY_REPEATS) == [1]


def test_the_oldest_pair_is_repeated_first_under_a_key_of_its_own() -> None:
    checks = Checks(
        repeats=[
            RepeatCandidate(50, "k50", 3),
            RepeatCandidate(51, "k51", 2),
            RepeatCandidate(52, "k52", 9),
        ]
    )
    mixer = CheckMixer(checks, ONLY_REPEATS, seed=7, annotator="ann", taken=())
    mixed = mixer.mix([OpenPair(1, "k1", 10, False, False)], shown=0, query_before=None)
    assert [next_pair.pair_pk for next_pair in mixed] == [51, 50, 52, 1]
    assert [next_pair.key for next_pair in mixed[:3]] == checks.stored
    assert [next_pair.repeat for next_pair in mixed] == [True, True, True, False]


def test_a_key_in_use_is_not_given_to_a_repeat() -> None:
    again = [RepeatCandidate(50, "k50", 1)]
    first = Checks(repeats=again)
    mix(first, ONLY_REPEATS)
    second = Checks(repeats=again, used_keys=first.stored)
    mix(second, ONLY_REPEATS)
    assert first.stored != second.stored
    assert all(len(key) == 24 for key in (*first.stored, *second.stored))


def test_only_a_few_candidates_are_looked_at_for_a_repeat() -> None:
    many = [RepeatCandidate(50 + number, f"k{number}", number) for number in range(REPEATS_TRIED + 1)]
    recent = [candidate.pair_pk for candidate in many[:REPEATS_TRIED]]
    assert mix(Checks(repeats=many, recent=recent), ONLY_REPEATS) == [1]
    assert mix(Checks(repeats=many, recent=recent[1:]), ONLY_REPEATS)[0] == 50


def test_the_kind_that_is_due_depends_on_the_position_and_the_rates() -> None:
    rates = CheckRates(gold=0.2, repeat=0.3, repeat_after=5)
    due = [rates.choose_due(7, "ann", position) for position in range(4000)]
    assert due == [rates.choose_due(7, "ann", position) for position in range(4000)]
    assert due != [rates.choose_due(8, "ann", position) for position in range(4000)]
    assert due.count("gold") / 4000 == pytest.approx(0.2, abs=0.03)
    assert due.count("repeat") / 4000 == pytest.approx(0.3, abs=0.03)
    assert rates.any and ONLY_REPEATS.any and not CheckRates(0, 0, 5).any


def count_due(rates: CheckRates, *, ordinary: int = 20, gold: int = 1000, repeats: int = 1000) -> int:
    source = Checks([GoldCandidate(pk, f"g{pk}", 10) for pk in range(gold)], room_for_repeats=repeats)
    return count_due_checks(rates, seed=7, annotator="ann", position=100, ordinary=ordinary, source=source)


def test_the_checks_that_can_come_are_those_due_before_the_work_ends() -> None:
    assert count_due(CheckRates(0, 0, 5)) == 0
    assert count_due(ONLY_GOLD, ordinary=0) == 0
    assert count_due(ONLY_GOLD, ordinary=2) == 2 * (MOST_CHECKS + 1)
    assert count_due(ONLY_GOLD, gold=3) == 3
    assert count_due(ONLY_REPEATS, ordinary=2) == 2 * (MOST_CHECKS + 1)
    assert count_due(ONLY_REPEATS, ordinary=2, repeats=0) == 0
    assert 0 < count_due(CheckRates(0.1, 0.1, 5)) < 20
    average = CheckRates(0.1, 0.1, 5)
    assert count_due(average, ordinary=4_000) == 1_000
    assert count_due(average, ordinary=4_000, gold=7, repeats=5) == 12


def test_training_is_passed_when_all_are_answered_and_enough_are_right() -> None:
    pairs = [TrainingPair(1, "a", 2, 2), TrainingPair(2, "b", 1, -1), TrainingPair(3, "c", 0, None)]
    state = measure_training(pairs, required=0.5)
    assert (state.done, state.total, state.right, state.passed) == (2, 3, 1, False)
    right = [*pairs[:2], TrainingPair(3, "c", 0, 0)]
    assert measure_training(right, required=2 / 3).passed
    assert not measure_training(right, required=0.7).passed


def test_training_asks_first_what_was_never_answered_then_what_was_wrong() -> None:
    pairs = [TrainingPair(1, "a", 2, 2), TrainingPair(2, "b", 1, -1), TrainingPair(3, "c", 0, None)]
    assert choose_training(pairs, seed=7, annotator_pk=1, limit=5) == [3]
    assert choose_training(pairs[:2], seed=7, annotator_pk=1, limit=5) == [2]
    assert choose_training(pairs[:1], seed=7, annotator_pk=1, limit=5) == []
    fresh = [TrainingPair(pk, f"k{pk}", 1, None) for pk in range(20)]
    order = choose_training(fresh, seed=7, annotator_pk=1, limit=20)
    assert choose_training(fresh[::-1], seed=7, annotator_pk=1, limit=5) == order[:5]
    assert choose_training(fresh, seed=7, annotator_pk=2, limit=20) != order != list(range(20))
