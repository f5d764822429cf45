"""Choose the pairs that an annotator gets next.

Pairs come in this order: training, alone until it is passed; own outdated judgments; pairs query by query,
with gold pairs and repeats among them; pairs put off; pairs that another tab holds. Queries come in this
order: the current one, queries with pairs that the annotator was handed and has not answered, queries
assigned to the annotator, queries that others have begun, new queries.

Otherwise the order of queries, and of pairs within a query, is drawn for each annotator from the dataset's
seed and secret. Within a query, pairs that were handed out before come first, then pairs that others have
begun. The order depends on no rank, score or order of import. It does not reveal checks: a check that was
handed out once, and a pair drawn by quality control, is treated like any other pair of its query. Pairs that
come again have a different order, so comparing both orders reveals nothing.

Called by `labeling/service.py`; `labeling/next_pairs_sql.py` reads only as much as these rules need.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from annotator.domain.judgments import OpenPair, TrainingState
from annotator.domain.shuffling import Seed, order_key
from annotator.labeling.checks import CheckMixer, CheckRates, CheckSource
from annotator.labeling.records import AnnotatorPairState, NextPair

MOST_WANTED = 50
MOST_OF_A_QUERY = 200
MOST_HELD = 500
"""At most so many pairs of a dataset does one annotator hold, in all tabs: two whole queries and five tabs or
more. Who holds as many gets these again, and no others until some are answered or their leases run out."""


class WorkSource(Protocol):
    """The pairs that are open to one annotator, each read when a rule asks for it."""

    def list_training(self, limit: int) -> list[int]:
        """Return the training pairs (pair_pk) to be answered next, in their order."""

    def list_outdated(self, limit: int) -> list[int]:
        """Return up to `limit` pairs (pair_pk) with own judgments to confirm or change, in order."""

    def list_held(self, *, elsewhere: bool) -> list[OpenPair]:
        """Return the pairs that this annotator holds, checks included.

        `elsewhere`: only pairs in another tab.
        """

    def find_last_query(self) -> int | None:
        """Return the query of the annotator's latest judgment."""

    def list_assigned_queries(self) -> list[int]:
        """Return the queries that are assigned to the annotator and have open pairs."""

    def list_put_off_queries(self) -> list[int]:
        """Return the queries (query_pk) with pairs that the annotator put off."""

    def count_answered_queries(self) -> int:
        """Return in how many queries the annotator has answered something."""

    def list_handed_queries(self) -> list[int]:
        """Return the queries with open pairs that the annotator was handed before."""

    def list_open_queries(
        self, *, begun: bool, start: float, others: Collection[int] = ()
    ) -> Iterator[list[int]]:
        """Yield queries with open pairs, a few at a time: queries that others have begun, or the rest.

        The order starts at the fraction `start` (0-1) of all queries and wraps around. Includes each of
        `others` in one of the two calls.
        """

    def list_open_pairs(self, query_pks: Sequence[int]) -> list[OpenPair]:
        """Return the open pairs of these queries, in no particular order."""

    def list_answered_pairs(self, query_pk: int) -> dict[int, str]:
        """Return the keys of the query's pairs that the annotator has answered and may change, by pair_pk."""


@dataclass(frozen=True, slots=True)
class NextPairsRequest:
    """A request of one annotator for pairs."""

    order_seed: Seed  # of the dataset, like `check_seed`
    check_seed: Seed
    annotator: str  # the username
    want: int  # the most pairs to return, in addition to the shown ones
    rates: CheckRates
    shown: Mapping[str, AnnotatorPairState]  # by key: what the browser shows already, its latest last
    held: int = 0  # pairs of the dataset that the annotator holds, in all tabs
    training: TrainingState | None = None  # None: no training
    answered_query: int | None = None  # the query of the answer that came with the request
    waiting: Sequence[OpenPair] = ()  # drawn by quality control, and checks that were handed out before

    @property
    def shown_pks(self) -> set[int]:
        """Return the pairs (pair_pk) that the browser shows already."""
        return {pair.pair_pk for pair in self.shown.values()}

    @property
    def shown_repeats(self) -> list[int]:
        """Return the repeats (repeat_pk) that the browser shows."""
        return [pair.repeat_pk for pair in self.shown.values() if pair.repeat_pk is not None]

    @property
    def expired(self) -> list[int]:
        """Return the shown pairs (pair_pk) with expired leases, without pairs that a lead freed."""
        return [pair.pair_pk for pair in self.shown.values() if pair.leased and not (pair.held or pair.freed)]

    @property
    def prolonged(self) -> list[int]:
        """Return the shown pairs (pair_pk) to prolong; expired leases begin again, up to MOST_HELD."""
        running = [pair.pair_pk for pair in self.shown.values() if pair.held]
        return running + self.expired[: max(0, MOST_HELD - self.held)]

    @property
    def room(self) -> int:
        """Return how many further pairs the annotator may hold."""
        return max(0, MOST_HELD - self.held - len(self.expired))

    @property
    def shown_query(self) -> int | None:
        """Return the query of the latest pair that the browser shows."""
        return next((pair.query_pk for pair in reversed([*self.shown.values()])), None)

    @property
    def in_training(self) -> bool:
        """Return whether nothing but training pairs comes."""
        return self.training is not None and not self.training.passed

    def order_key(self, name: str) -> bytes:
        """Return the annotator's own order key of a name: sort by it."""
        return order_key(self.order_seed, self.annotator, name)

    def sort_pairs(self, pairs: Iterable[OpenPair]) -> list[OpenPair]:
        """Return a query's pairs in the annotator's order: handed out before, begun by others, the rest.

        Pairs drawn by quality control are all begun: they count as begun as often as the other pairs of the
        query.
        """
        pairs = list(pairs)
        again = [pair for pair in pairs if pair.handed or pair.put_off]
        new = [pair for pair in pairs if not (pair.handed or pair.put_off)]
        drawn = {pair.pair_pk for pair in self.waiting}
        others = [pair.begun for pair in new if pair.pair_pk not in drawn]
        share = sum(others) / len(others) if others else 1.0

        def counts_as_begun(pair: OpenPair) -> bool:
            return pair.begun if pair.pair_pk not in drawn else self.draw_share(f"begun {pair.key}") < share

        again.sort(key=lambda pair: self.order_key(f"again {pair.key}"))
        new.sort(key=lambda pair: (not counts_as_begun(pair), self.order_key(pair.key)))
        return again + new

    def draw_share(self, name: str) -> float:
        """Return a number in [0, 1) that is drawn for this name."""
        return int.from_bytes(self.order_key(name), "big") / 2**64

    def sort_queries(self, query_pks: Iterable[int]) -> list[int]:
        """Return the queries in the annotator's own order; the one on the screen first."""
        shown = self.shown_query
        return sorted(query_pks, key=lambda pk: (pk != shown, self.order_key(f"query {pk}")))

    def sort_by_query(self, pairs: Iterable[OpenPair]) -> list[OpenPair]:
        """Return the pairs in the annotator's own order, grouped by query."""
        by_query: dict[int, list[OpenPair]] = {}
        for pair in pairs:
            by_query.setdefault(pair.query_pk, []).append(pair)
        return [pair for pk in self.sort_queries(by_query) for pair in self.sort_pairs(by_query[pk])]


@dataclass(frozen=True, slots=True)
class NextPairs:
    """The pairs to hand out."""

    pairs: tuple[NextPair, ...] = ()
    leased: tuple[int, ...] = ()  # pair_pks to reserve for the annotator
    new_checks: int = 0  # how many of them are checks that were not handed out before

    def leave_out(self, pair_pks: Collection[int]) -> "NextPairs":
        """Return the others."""
        if not pair_pks:
            return self
        return NextPairs(
            tuple(pair for pair in self.pairs if pair.key is not None or pair.pair_pk not in pair_pks),
            tuple(pair_pk for pair_pk in self.leased if pair_pk not in pair_pks),
            self.new_checks,
        )


def choose_next_pairs(request: NextPairsRequest, work: WorkSource, checks: CheckSource) -> NextPairs:
    """Return up to `want` pairs in addition to the shown ones."""
    want, shown = request.want, request.shown_pks
    if want <= 0:
        return NextPairs()
    if request.in_training:
        pks = [pk for pk in work.list_training(want + len(shown)) if pk not in shown][:want]
        return NextPairs(tuple(NextPair(pk, training=True) for pk in pks), tuple(pks))
    if not request.room:
        return _choose_held(request, work)
    want = min(want, request.room)
    outdated = [pk for pk in work.list_outdated(want + len(shown)) if pk not in shown][:want]
    held_elsewhere = work.list_held(elsewhere=True)
    elsewhere = {pair.pair_pk for pair in held_elsewhere}
    at_hand = find_query_at_hand(request, work)
    ordinary, last = _choose_ordinary(request, work, at_hand, held_elsewhere, count=want - len(outdated))
    mixed = _mix(request, checks, ordinary, taken=elsewhere, query_before=at_hand)
    new = [*mixed, *last][: want - len(outdated)]
    return NextPairs(
        (*map(NextPair, outdated), *map(_name, new)),
        tuple(pair.pair_pk for pair in new if not pair.repeat),
        _count_new_checks(new, ordinary, last),
    )


def _mix(
    request: NextPairsRequest,
    checks: CheckSource,
    pairs: Sequence[OpenPair],
    *,
    taken: Collection[int],
    query_before: int | None,
) -> list[OpenPair]:
    """Return the pairs, with the due checks inserted before pairs that were not handed out before."""
    not_again = request.shown_pks.union(taken, (pair.pair_pk for pair in request.waiting))
    mixer = CheckMixer(
        checks, request.rates, seed=request.check_seed, annotator=request.annotator, taken=not_again
    )
    return mixer.mix(pairs, shown=len(request.shown), query_before=query_before)


def _name(pair: OpenPair) -> NextPair:
    return NextPair(pair.pair_pk, pair.key if pair.repeat else None)


def _count_new_checks(pairs: Iterable[OpenPair], *others: Iterable[OpenPair]) -> int:
    """Count the pairs that are in none of `others`."""
    known = {pair.key for pair in chain(*others)}
    return sum(pair.key not in known for pair in pairs)


def choose_whole_query(request: NextPairsRequest, work: WorkSource, checks: CheckSource) -> NextPairs:
    """Return the pairs of the current or next query that the browser does not show yet.

    Includes open pairs, checks, and answered pairs that the annotator may change. Queries with only put-off
    pairs come last.
    """
    if request.want <= 0:
        return NextPairs()
    if request.in_training or not request.room:
        return choose_next_pairs(request, work, checks)
    at_hand = find_query_at_hand(request, work)
    put_off: list[int] = []
    for query_pks in _list_queries(request, work, at_hand):
        for query_pk in query_pks:
            pairs = _list_pairs(request, work, query_pk)
            if pairs and all(pair.put_off for pair in pairs):
                put_off.append(query_pk)
            elif pairs:
                return _list_query(request, work, checks, query_pk, pairs)
    for query_pk in request.sort_queries(put_off)[:1]:
        return _list_query(request, work, checks, query_pk, _list_pairs(request, work, query_pk))
    return NextPairs()


def _list_pairs(request: NextPairsRequest, work: WorkSource, query_pk: int) -> list[OpenPair]:
    """Return the pairs of a query that can be handed out: open pairs, waiting checks and drawn pairs."""
    waiting = (pair for pair in request.waiting if pair.query_pk == query_pk)
    return [*work.list_open_pairs([query_pk]), *waiting]


def _list_query(
    request: NextPairsRequest, work: WorkSource, checks: CheckSource, query_pk: int, pairs: list[OpenPair]
) -> NextPairs:
    """Return the list of a query, in an order of its own. A repeat takes the place of the earlier answer."""
    answered, shown = work.list_answered_pairs(query_pk), request.shown_pks
    ordered = request.sort_pairs(pair for pair in pairs if pair.pair_pk not in shown)
    mixed = _mix(request, checks, ordered, taken=(), query_before=query_pk)
    keys = {**answered, **{pair.pair_pk: pair.key for pair in mixed}}
    order = sorted(keys, key=lambda pk: request.order_key(f"list {keys[pk]}"))
    pks = [pk for pk in order if pk not in shown][: request.want]
    by_pk = {pair.pair_pk: pair for pair in mixed}
    open_pks = [pk for pk in pks if pk in by_pk]
    beyond = set(open_pks[request.room :])
    new = [by_pk[pk] for pk in open_pks if pk not in beyond]
    return NextPairs(
        tuple(_name(by_pk[pk]) if pk in by_pk else NextPair(pk) for pk in pks if pk not in beyond),
        tuple(pair.pair_pk for pair in new if not pair.repeat),
        _count_new_checks(new, ordered),
    )


def _choose_held(request: NextPairsRequest, work: WorkSource) -> NextPairs:
    """Return the annotator's held pairs, checks included, that this browser does not show."""
    shown = request.shown_pks
    held = (pair for pair in work.list_held(elsewhere=False) if pair.pair_pk not in shown)
    pks = [pair.pair_pk for pair in request.sort_by_query(held)[: request.want]]
    return NextPairs(tuple(map(NextPair, pks)), tuple(pks))


def find_query_at_hand(request: NextPairsRequest, work: WorkSource) -> int | None:
    """Return the query that the annotator is working on: on the screen, or else answered last."""
    if request.shown:
        return request.shown_query
    return request.answered_query or work.find_last_query()


def _choose_ordinary(
    request: NextPairsRequest,
    work: WorkSource,
    at_hand: int | None,
    elsewhere: Sequence[OpenPair],
    *,
    count: int,
) -> tuple[list[OpenPair], list[OpenPair]]:
    """Return up to `count` pairs that are not new checks, as (pairs to come now, pairs to come last).

    The last ones were put off, or are in another tab (which may have crashed).
    """
    if count <= 0:
        return [], []
    shown = request.shown_pks
    taken = shown.union(pair.pair_pk for pair in elsewhere)
    ordinary: list[OpenPair] = []
    for query_pks in _list_queries(request, work, at_hand):
        pairs = [*work.list_open_pairs(query_pks), *request.waiting]
        for query_pk in query_pks:
            of_query = [pair for pair in pairs if pair.query_pk == query_pk and pair.pair_pk not in taken]
            ordinary += request.sort_pairs(pair for pair in of_query if not pair.put_off)
        if len(ordinary) >= count:
            return ordinary[:count], []
    put_off = [
        pair
        for pair in (*work.list_open_pairs(work.list_put_off_queries()), *request.waiting)
        if pair.put_off and pair.pair_pk not in taken
    ]
    others = [pair for pair in elsewhere if pair.pair_pk not in shown]
    last = [
        *request.sort_by_query(put_off),
        *request.sort_by_query(pair for pair in others if not pair.put_off),
        *request.sort_by_query(pair for pair in others if pair.put_off),
    ]
    return ordinary, last[: count - len(ordinary)]


def _list_queries(request: NextPairsRequest, work: WorkSource, at_hand: int | None) -> Iterator[list[int]]:
    """Yield the queries to take pairs from, a few at a time and each once. Reads them lazily."""
    yielded: set[int] = set()

    def choose_new(query_pks: Iterable[int]) -> list[int]:
        new = [pk for pk in dict.fromkeys(query_pks) if pk not in yielded]
        yielded.update(new)
        return new

    if at_hand is not None:
        yield choose_new([at_hand])
    handed = [pair.query_pk for pair in request.waiting if pair.handed and not pair.put_off]
    yield from ([pk] for pk in request.sort_queries(choose_new([*handed, *work.list_handed_queries()])))
    yield from ([pk] for pk in request.sort_queries(choose_new(work.list_assigned_queries())))
    start = request.draw_share(f"turn {work.count_answered_queries()}")
    others = {pair.query_pk for pair in request.waiting} - yielded
    for begun in (True, False):
        for query_pks in work.list_open_queries(begun=begun, start=start, others=others):
            yield choose_new(query_pks)


@dataclass(frozen=True, slots=True)
class QueryCount:
    """The documents of a query, for one annotator."""

    in_pool: int
    answered: int  # by the annotator, however the answers count; repeats of a pair count as well


def number_pairs(
    pairs: Sequence[tuple[int, int]],
    shown: Iterable[AnnotatorPairState],
    counts: Mapping[int, QueryCount],
) -> dict[int, tuple[int, int]]:
    """Return {pair_pk: (number, total)} of each pair within its query ("document 3 of 8").

    `pairs`: (pair_pk, query_pk) in the order of handing out; `shown`: the pairs that the browser has already.
    The number counts the pairs of the query that the annotator has seen, checks included, so it reveals no
    rank and no check. The total is the same for all annotators: others may judge a part of it.
    """
    seen = {query_pk: count.answered for query_pk, count in counts.items()}
    for pair in shown:
        if pair.query_pk in seen and (pair.repeat_pk is not None or not pair.has_own_answer):
            seen[pair.query_pk] += 1
    numbers: dict[int, tuple[int, int]] = {}
    for pair_pk, query_pk in pairs:
        seen[query_pk] += 1
        numbers[pair_pk] = (seen[query_pk], max(seen[query_pk], counts[query_pk].in_pool))
    return numbers


def find_needless(shown: Mapping[str, AnnotatorPairState], *, whole: bool = False) -> list[str]:
    """Return the keys of the pairs that need nothing more from this annotator.

    They were answered in another tab, settled by a lead or an earlier ground truth, or have left the pool.
    Pairs that others have finished stay: otherwise this would reveal checks. `whole`: the browser lists a
    whole query, where answered pairs stay.
    """
    return [key for key, pair in shown.items() if (pair.closed if whole else not _is_needed(pair))]


def _is_needed(pair: AnnotatorPairState) -> bool:
    if pair.closed or (pair.kept and pair.kind is None and not pair.drawn):
        return False
    if pair.repeat_pk is not None:
        return not pair.tried
    if pair.has_own_answer:
        return pair.stale > 0
    return not pair.tried or (pair.kind == "training" and pair.leased)
