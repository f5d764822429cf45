"""Which pair comes next, and in which order: the rules on records in memory."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.judgments import OpenPair, TrainingState
from annotator.labeling.checks import CheckRates, GoldCandidate, RepeatCandidate
from annotator.labeling.next_pairs import (
    MOST_HELD,
    NextPairs,
    NextPairsRequest,
    QueryCount,
    choose_next_pairs,
    choose_whole_query,
    find_needless,
    number_pairs,
)
from annotator.labeling.records import AnnotatorPairState, NextPair

NO_CHECKS = CheckRates(gold=0, repeat=0, repeat_after=5)
SHOWN = AnnotatorPairState(
    1,
    10,
    100,
    False,
    False,
    wanted=2,
    lacking=2,
    judged=0,
    kind=None,
    settled=False,
    disclosed=False,
    leased=True,
    held=True,
    eligible=True,
    outcome=None,
    purpose=None,
    stale=0,
)


@dataclass
class Work:
    """Open pairs in memory. What was asked for is noted in `asked`."""

    pairs: Sequence[OpenPair] = ()
    training: Sequence[int] = ()
    outdated: Sequence[int] = ()
    elsewhere: Collection[int] = ()
    held: Collection[int] = ()  # in this tab
    last_query: int | None = None
    assigned: Sequence[int] = ()
    answered: dict[int, str] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def list_training(self, limit: int) -> list[int]:
        return list(self.training[:limit])

    def list_outdated(self, limit: int) -> list[int]:
        return list(self.outdated[:limit])

    def list_held(self, *, elsewhere: bool) -> list[OpenPair]:
        open_pairs = {pair.pair_pk: pair for pair in self.pairs}
        held = self.elsewhere if elsewhere else {*self.elsewhere, *self.held}
        return [open_pairs.get(pk, pair(pk)) for pk in sorted(held)]  # what is not open is a check

    def find_last_query(self) -> int | None:
        return self.last_query

    def list_assigned_queries(self) -> list[int]:
        return list(self.assigned)

    def list_put_off_queries(self) -> list[int]:
        return sorted({pair.query_pk for pair in self.pairs if pair.put_off})

    def count_answered_queries(self) -> int:
        return 3

    def list_handed_queries(self) -> list[int]:
        return sorted({pair.query_pk for pair in self.pairs if pair.handed})

    def list_open_queries(
        self, *, begun: bool, start: float, others: Collection[int] = ()
    ) -> Iterator[list[int]]:
        assert 0 <= start < 1
        own = {pair.query_pk for pair in self.pairs}
        queries = sorted(own.union(others))
        begun_queries = {pair.query_pk for pair in self.pairs if pair.begun}.union(set(others) - own)
        first = int(start * len(queries))
        for query_pk in [*queries[first:], *queries[:first]]:
            if (query_pk in begun_queries) is begun:
                yield [query_pk]

    def list_open_pairs(self, query_pks: Sequence[int]) -> list[OpenPair]:
        self.asked += query_pks
        return [pair for pair in self.pairs if pair.query_pk in query_pks]

    def list_answered_pairs(self, query_pk: int) -> dict[int, str]:
        return self.answered


@dataclass
class Checks:
    """Checks in memory: every gold pair is of a query of its own."""

    gold: Sequence[GoldCandidate] = ()
    repeats: Sequence[RepeatCandidate] = ()

    def count_judged(self) -> int:
        return 100

    def count_answered_checks(self) -> int:
        return 0

    def list_gold(self) -> Iterable[GoldCandidate]:
        return self.gold

    def is_query_familiar(self, query_pk: int, taken: Collection[int]) -> bool:
        return False

    def list_repeatable(self, query_pk: int) -> Iterable[RepeatCandidate]:
        return self.repeats

    def is_long_ago(self, candidate: RepeatCandidate, needed: int) -> bool:
        return True

    def store_repeat(self, candidate: RepeatCandidate, keys: Iterable[str]) -> str:
        return next(iter(keys))


def pair(
    pk: int, query_pk: int = 10, *, begun: bool = False, put_off: bool = False, handed: bool = False
) -> OpenPair:
    return OpenPair(pk, f"k{pk}", query_pk, begun, put_off, handed)


def ask(want: int = 50, *shown: AnnotatorPairState, **changes: Any) -> NextPairsRequest:
    request = NextPairsRequest(7, 7, "ann", want, NO_CHECKS, {f"k{state.pair_pk}": state for state in shown})
    return replace(request, **changes)


def choose(request: NextPairsRequest, work: Work) -> list[int]:
    return [chosen.pair_pk for chosen in choose_next_pairs(request, work, Checks()).pairs]


def choose_whole(request: NextPairsRequest, work: Work) -> list[int]:
    return [chosen.pair_pk for chosen in choose_whole_query(request, work, Checks()).pairs]


TRAINING = TrainingState(1, 3, 1, 0.8, False)


def test_nothing_comes_where_nothing_is_wanted() -> None:
    for want in (0, -1):
        assert choose_next_pairs(ask(want), Work([pair(1)], outdated=[2]), Checks()) == NextPairs()
        assert choose_whole_query(ask(want), Work([pair(1)]), Checks()) == NextPairs()


def test_training_comes_alone_until_it_is_passed() -> None:
    work = Work([pair(1)], training=[5, 6, 7], outdated=[8])
    chosen = choose_next_pairs(ask(2, replace(SHOWN, pair_pk=5), training=TRAINING), work, Checks())
    assert chosen == NextPairs((NextPair(6, training=True), NextPair(7, training=True)), (6, 7))
    assert choose_whole(ask(2, training=TRAINING), work) == [5, 6]
    assert choose(ask(training=replace(TRAINING, passed=True)), work) == [8, 1]


def test_the_order_is_outdated_open_or_drawn_put_off_another_tab() -> None:
    work = Work(
        [pair(1), pair(2, put_off=True), pair(3), pair(4, put_off=True)], outdated=[9], elsewhere=[3, 4, 6]
    )
    drawn = [pair(5, 20), pair(6, 20), pair(7, 20, put_off=True)]
    chosen = choose_next_pairs(ask(waiting=drawn), work, Checks())
    order = [next_pair.pair_pk for next_pair in chosen.pairs]
    assert order[0] == 9
    assert set(order[1:3]) == {1, 5}
    assert set(order[3:5]) == {2, 7}
    assert set(order[5:7]) == {3, 6}, "a check in another tab comes like any pair there"
    assert order[7:] == [4]
    assert set(chosen.leased) == set(order) - {9}, "who revises takes nobody's work"


def test_who_holds_as_many_pairs_as_allowed_gets_these_again_checks_included() -> None:
    work = Work([pair(1), pair(2), pair(3)], elsewhere=[2, 77], held=[3], outdated=[9])
    full = replace(ask(50), held=MOST_HELD)
    assert set(choose(full, work)) == {2, 3, 77}
    assert set(choose_whole(full, work)) == {2, 3, 77}
    almost = replace(ask(50), held=MOST_HELD - 1)
    assert choose(almost, work) == [9], "room for one"
    assert len(choose_next_pairs(replace(almost, want=1), Work([pair(1), pair(2)]), Checks()).pairs) == 1


def test_leases_that_ran_out_begin_again_only_within_what_may_be_held() -> None:
    shown = [replace(SHOWN, pair_pk=1), *(replace(SHOWN, pair_pk=pk, held=False) for pk in (2, 3))]
    put_off = replace(SHOWN, pair_pk=4, leased=False, held=False, outcome="later")
    request = replace(ask(50, *shown, put_off), held=MOST_HELD - 1)
    assert (request.prolonged, request.room) == ([1, 2], 0), "what was put off is not leased by showing it"
    assert replace(request, held=0).prolonged == [1, 2, 3]


def test_every_kind_gives_way_to_the_ones_before_it() -> None:
    work = Work([pair(1), pair(2, put_off=True)], outdated=[9, 8])
    drawn = [pair(5, 20)]
    everything = choose(ask(waiting=drawn), work)
    for want in range(1, len(everything)):
        assert choose(ask(want, waiting=drawn), work) == everything[:want]


def test_what_the_browser_shows_does_not_come_again() -> None:
    shown = [replace(SHOWN, pair_pk=pk) for pk in (1, 2, 3, 4)]
    work = Work([pair(1), pair(2, put_off=True), pair(7)], outdated=[3], elsewhere=[1])
    assert choose(ask(50, *shown, waiting=[pair(4, 20)]), work) == [7]


def test_within_a_query_pairs_that_others_have_begun_come_first() -> None:
    work = Work([pair(pk, begun=pk % 3 == 0) for pk in range(1, 10)])
    assert set(choose(ask(3), work)) == {3, 6, 9}


def test_the_query_on_the_screen_comes_first_then_the_one_answered_last_then_the_latest() -> None:
    work = Work([pair(1, 10), pair(2, 20), pair(3, 30)], last_query=30)
    on_screen = replace(SHOWN, pair_pk=99, query_pk=10)
    assert choose(ask(1, on_screen, answered_query=20), work) == [1]
    assert choose(ask(1, answered_query=20), work) == [2]
    assert choose(ask(1), work) == [3]


def test_of_the_pairs_on_the_screen_the_latest_names_the_query() -> None:
    work = Work([pair(1, 10), pair(2, 20)])
    first, latest = replace(SHOWN, pair_pk=98, query_pk=10), replace(SHOWN, pair_pk=99, query_pk=20)
    assert choose(ask(1, first, latest), work) == [2]


def test_assigned_queries_come_before_begun_ones_and_those_before_fresh_ones() -> None:
    queries = [pair(query_pk, query_pk, begun=query_pk % 2 == 0) for query_pk in range(10, 20)]
    work = Work(queries, assigned=[15, 17], last_query=13)
    order = choose(ask(), work)
    assert order[0] == 13
    assert set(order[1:3]) == {15, 17}
    assert set(order[3:8]) == {10, 12, 14, 16, 18}
    assert sorted(order) == list(range(10, 20))


def test_a_query_is_read_only_when_the_ones_before_it_are_not_enough() -> None:
    work = Work([pair(1, 10), pair(2, 10), pair(3, 20), pair(4, 30)], last_query=10)
    choose(ask(2), work)
    assert work.asked == [10]


def test_a_whole_query_is_handed_out_with_what_can_be_changed_in_it() -> None:
    work = Work([pair(1, 10), pair(2, 10), pair(3, 20)], last_query=10, answered={8: "k8"})
    chosen = choose_whole_query(ask(), work, Checks())
    assert {next_pair.pair_pk for next_pair in chosen.pairs} == {1, 2, 8}
    assert set(chosen.leased) == {1, 2}
    shown = replace(SHOWN, pair_pk=1, query_pk=10)
    assert set(choose_whole(ask(50, shown), work)) == {2, 8}
    assert len(choose_whole(ask(2), work)) == 2


def test_a_query_whose_pairs_are_all_put_off_comes_after_the_others() -> None:
    put_off = [pair(1, 10, put_off=True), pair(2, 10, put_off=True)]
    assert choose_whole(ask(), Work([*put_off, pair(3, 20)], last_query=10)) == [3]
    assert set(choose_whole(ask(), Work(put_off, last_query=10))) == {1, 2}
    assert set(choose_whole(ask(), Work([put_off[0], pair(2, 10), pair(3, 20)], last_query=10))) == {1, 2}


def test_a_whole_query_holds_its_pairs_for_quality_control() -> None:
    work = Work([pair(1, 10), pair(3, 30)])
    assert set(choose_whole(ask(answered_query=10, waiting=[pair(5, 10), pair(6, 40)]), work)) == {1, 5}
    assert choose_whole(ask(answered_query=10, waiting=[pair(6, 40)]), Work()) == [6]
    assert choose_whole(ask(), Work()) == []


def test_drawn_pairs_lie_anywhere_among_the_pairs_of_their_query() -> None:
    places = set()
    for number in range(40):
        begun = number % 3
        work = Work([pair(pk, begun=pk <= 4 * begun) for pk in range(1, 9)], last_query=10)
        order = choose(ask(annotator=f"ann{number}", waiting=[pair(50, begun=True)]), work)
        places.add(order.index(50))
    assert len(places) >= 7


def test_drawn_queries_come_among_those_that_others_have_begun() -> None:
    work = Work([pair(pk, pk, begun=pk % 2 == 0) for pk in range(10, 30)])
    orders = [
        choose(
            ask(annotator=f"ann{number}", waiting=[pair(50, 20, begun=True), pair(51, 17, begun=True)]), work
        )
        for number in range(5)
    ]
    for order in orders:
        assert sorted(order) == [*range(10, 30), 50, 51]
        assert abs(order.index(50) - order.index(20)) == abs(order.index(51) - order.index(17)) == 1
    assert any(order.index(50) > 3 for order in orders)


def test_a_check_that_was_handed_out_comes_again_like_an_open_pair() -> None:
    """Gold pair 50 is put off, or left in a browser that is gone: it takes the place that any other pair would take."""
    for ordinary, number in product(range(1, 9), range(8)):
        for put_off in (False, True):
            pairs = [pair(pk, handed=not put_off, put_off=put_off) for pk in range(1, 9)]
            others = [item for item in pairs if item.pair_pk != ordinary]
            check = replace(pairs[ordinary - 1], begun=True)
            name = f"ann{number}"
            alike = choose(ask(annotator=name), Work(pairs, last_query=10))
            assert choose(ask(annotator=name, waiting=[check]), Work(others, last_query=10)) == alike
            rest = Work([pair(9, 10), pair(20, 20, begun=True)], last_query=30)
            moved = choose(ask(annotator=name, waiting=[check]), rest)
            assert moved.index(ordinary) == (2 if put_off else 0)


def test_pairs_that_come_again_do_so_in_another_order_checks_or_not() -> None:
    first = choose(ask(), Work([pair(pk) for pk in range(1, 20)]))
    again = choose(ask(), Work([pair(pk, handed=True) for pk in range(1, 20)]))
    assert first != again and sorted(first) == sorted(again)


def test_a_list_of_a_query_has_what_is_held_and_the_checks_that_are_due() -> None:
    rates = CheckRates(gold=1, repeat=0, repeat_after=5)
    gold = Checks([GoldCandidate(60, "g60", 10), GoldCandidate(61, "g61", 20)])
    work = Work([pair(1), pair(2, handed=True)], last_query=10, answered={8: "k8"})
    held = OpenPair(50, "k50", 10, True, False, True)
    again = OpenPair(8, "again", 10, True, False, True, repeat=True)
    request = ask(waiting=[held, again], rates=rates)
    chosen = choose_whole_query(request, work, gold)
    assert {item.pair_pk for item in chosen.pairs} == {1, 2, 8, 50, 60}
    assert NextPair(8, "again") in chosen.pairs, "instead of the earlier answer"
    assert (set(chosen.leased), chosen.new_checks) == ({1, 2, 50, 60}, 1)
    reloaded = replace(request, waiting=[held, again, OpenPair(60, "g60", 10, True, False, True)])
    work = replace(work, pairs=[pair(1, handed=True), pair(2, handed=True)])
    assert choose_whole_query(reloaded, work, Checks([GoldCandidate(62, "g62", 10)])).pairs == chosen.pairs


@pytest.mark.parametrize(
    ("changes", "needless", "needless_in_a_list"),
    [
        ({}, False, False),
        ({"lacking": 0}, False, False),  # a gold pair in its place would stay as well
        ({"lacking": 0, "held": False}, False, False),
        ({"lacking": 0, "kept": True}, True, False),
        ({"retired": True}, True, True),
        ({"disclosed": True}, True, True),
        ({"settled": True}, True, True),
        ({"outcome": "graded"}, True, False),
        ({"outcome": "graded", "stale": 1}, False, False),
        ({"outcome": "graded", "stale": 1, "kind": "gold"}, False, False),
        ({"kind": "gold", "tried": True, "stale": 2}, False, False),
        ({"outcome": "later"}, False, False),
        ({"kind": "gold", "lacking": 0}, False, False),
        ({"kind": "gold", "settled": True}, False, False),
        ({"kind": "gold", "tried": True}, True, False),
        ({"kind": "training", "lacking": 0, "leased": False}, False, False),
        ({"kind": "training", "tried": True, "leased": True}, False, False),
        ({"kind": "training", "tried": True, "leased": False}, True, False),
        ({"repeat_pk": 3, "outcome": "graded", "lacking": 0}, False, False),
        ({"repeat_pk": 3, "tried": True}, True, False),
        ({"drawn": True, "lacking": 0}, False, False),
    ],
)
def test_a_pair_is_needless_once_its_annotator_has_nothing_more_to_do_on_it(
    changes: dict[str, Any], needless: bool, needless_in_a_list: bool
) -> None:
    shown = {"k": replace(SHOWN, **changes)}
    assert find_needless(shown) == (["k"] if needless else [])
    assert find_needless(shown, whole=True) == (["k"] if needless_in_a_list else [])


PAIRS = st.lists(
    st.builds(pair, st.integers(1, 40), st.integers(10, 14), begun=st.booleans(), put_off=st.booleans()),
    max_size=20,
    unique_by=lambda open_pair: open_pair.pair_pk,
)


@st.composite
def draw_work(draw: st.DrawFn) -> tuple[NextPairsRequest, Work, Checks]:
    pairs = draw(PAIRS)
    pks = [open_pair.pair_pk for open_pair in pairs]
    some = st.sets(st.sampled_from(pks)) if pks else st.just(set())
    shown = [replace(SHOWN, pair_pk=pk) for pk in sorted(draw(some))]
    drawn = [pair(pk, 50, begun=True) for pk in draw(st.sets(st.integers(41, 45)))]
    work = Work(
        pairs,
        outdated=sorted(draw(st.sets(st.integers(46, 50)))),
        elsewhere=draw(some),
        last_query=draw(st.sampled_from([None, 10, 14, 99])),
        assigned=sorted(draw(st.sets(st.integers(10, 14)))),
    )
    gold = [GoldCandidate(pk, f"g{pk}", 60 + pk) for pk in draw(st.sets(st.integers(51, 55)))]
    repeats = [RepeatCandidate(pk, f"r{pk}", pk) for pk in draw(st.sets(st.integers(56, 60)))]
    rates = CheckRates(draw(st.sampled_from([0, 0.4])), draw(st.sampled_from([0, 0.4])), 5)
    request = ask(draw(st.integers(1, 30)), *shown, waiting=drawn, rates=rates)
    return request, work, Checks(gold, repeats)


@given(draw_work())
def test_no_pair_comes_twice_and_none_that_the_browser_shows(
    given_work: tuple[NextPairsRequest, Work, Checks],
) -> None:
    request, work, checks = given_work
    chosen = [next_pair.pair_pk for next_pair in choose_next_pairs(request, work, checks).pairs]
    assert len(chosen) == len(set(chosen)) <= request.want
    assert not request.shown_pks & set(chosen)


@given(draw_work())
def test_what_another_tab_holds_comes_after_everything_else(
    given_work: tuple[NextPairsRequest, Work, Checks],
) -> None:
    request, work, checks = given_work
    chosen = [next_pair.pair_pk for next_pair in choose_next_pairs(request, work, checks).pairs]
    elsewhere = [pk in work.elsewhere for pk in chosen]
    assert elsewhere == sorted(elsewhere)


@given(draw_work())
def test_every_open_pair_comes_if_enough_are_wanted(
    given_work: tuple[NextPairsRequest, Work, Checks],
) -> None:
    request, work, _checks = given_work
    request = replace(request, want=200, rates=NO_CHECKS)
    chosen = {next_pair.pair_pk for next_pair in choose_next_pairs(request, work, Checks()).pairs}
    open_pairs = {open_pair.pair_pk for open_pair in (*work.pairs, *request.waiting)}
    assert chosen == (open_pairs | set(work.outdated)) - request.shown_pks


@given(draw_work(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_storage(
    given_work: tuple[NextPairsRequest, Work, Checks], drawn: Any
) -> None:
    request, work, checks = given_work
    shuffled = drawn.sample(list(work.pairs), len(work.pairs))
    shuffled_request = replace(request, waiting=drawn.sample(list(request.waiting), len(request.waiting)))
    assert choose_next_pairs(request, work, checks) == choose_next_pairs(
        shuffled_request, replace(work, pairs=shuffled), checks
    )


def test_two_annotators_get_the_same_pairs_in_different_orders() -> None:
    work = Work([pair(pk, 10 + pk % 3) for pk in range(1, 30)])
    ann, bob = choose(ask(), work), choose(ask(annotator="bob"), work)
    assert ann != bob
    assert sorted(ann) == sorted(bob) == list(range(1, 30))


def test_pairs_are_numbered_behind_what_the_annotator_has_seen_of_their_query() -> None:
    counts = {10: QueryCount(in_pool=8, answered=2), 20: QueryCount(in_pool=1, answered=0)}
    in_hand = [replace(SHOWN, pair_pk=5), replace(SHOWN, pair_pk=6, query_pk=20)]
    answered = replace(SHOWN, pair_pk=7, outcome="graded")
    repeat = replace(answered, pair_pk=8, repeat_pk=1)
    assert number_pairs([(1, 10), (2, 10)], [], counts) == {1: (3, 8), 2: (4, 8)}
    assert number_pairs([(1, 10), (2, 20)], [*in_hand, answered], counts) == {1: (4, 8), 2: (2, 2)}
    assert number_pairs([(1, 10)], [repeat], counts) == {1: (4, 8)}, "a repeat counts as any other pair"
