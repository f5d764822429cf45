"""Choose the pairs that an annotator gets next.

In this order: training, alone until it is passed; own outdated answers; pairs drawn by quality control, which look like
any other; ordinary pairs, with gold pairs and repeats among them; pairs put off; pairs held by another tab.
Ordinary pairs come query by query: the current one, those given to the annotator, those that others have begun, and fresh
ones, each from a start drawn with the dataset's seed for this annotator. Within a query, pairs that others have begun come
first, in an order drawn likewise. The order says nothing about rank or score.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import TrainingState
from annotator.domain.shuffling import place
from annotator.labeling.checks_sql import NextPair, list_training, mix_in
from annotator.labeling.pair_view_sql import AnnotatorPairState
from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.labeling_tables import DisclosureRow
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import (
    Eligibility,
    OpenPair,
    OpenPairsRequest,
    find_bounds,
    find_last_query,
    list_given_queries,
    list_leased_elsewhere,
    list_open_among,
    list_open_pairs,
    list_open_queries,
    list_put_off_queries,
)
from annotator.storage.outdated import list_outdated
from annotator.storage.quality_pairs import list_changeable
from annotator.storage.tables import CurrentJudgmentRow, DatasetRow, PairRow

MOST_OF_A_QUERY = 200


@dataclass(frozen=True, slots=True)
class NextPairs:
    """Pairs to hand out, and those of them that are leased to the annotator."""

    handouts: tuple[NextPair, ...]
    leased: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NextPairsRequest:
    """What an annotator asks for: `username` draws the order; `have` is what the browser shows already, its latest
    last; `training`: how far theirs is, None without one; `answered`: the query of what was just handed in; `drawn`: what
    waits for them in quality control."""

    dataset: DatasetRow
    username: str
    eligibility: Eligibility
    have: Mapping[str, AnnotatorPairState]
    training: TrainingState | None
    answered: int | None = None
    drawn: Sequence[OpenPair] = ()

    @property
    def held(self) -> set[int]:
        return {one.pair_pk for one in self.have.values()}

    @property
    def at_hand(self) -> int | None:
        """The query of the latest pair that the browser shows."""
        return next((one.query_pk for one in reversed([*self.have.values()])), None)

    def sort(self, pairs: Iterable[OpenPair]) -> list[OpenPair]:
        """In the annotator's own order; what others have begun first."""
        seed, name = self.dataset.seed, self.username
        return sorted(pairs, key=lambda pair: (not pair.begun, place(seed, name, pair.key)))


def choose_pairs(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, *, want: int
) -> NextPairs:
    """Up to `want` pairs beside those in the browser."""
    if want <= 0:
        return NextPairs((), ())
    held = ask.held
    if ask.training is not None and not ask.training.passed:
        pks = [pk for pk in list_training(session, worklist, limit=want + len(held)) if pk not in held][:want]
        return NextPairs(tuple(NextPair(pk, training=True) for pk in pks), tuple(pks))
    outdated = list_outdated(session, worklist, limit=want + len(held))
    asked_again = [NextPair(pk) for pk in outdated if pk not in held][:want]
    drawn, drawn_last = _choose_drawn(session, worklist, ask, held)
    left = want - len(asked_again) - len(drawn)
    ordinary, rest = _choose_ordinary(session, worklist, ask, held, left)
    at_hand = None
    if ask.dataset.gold_rate or ask.dataset.repeat_rate:
        at_hand = _find_at_hand(session, worklist, ask, drawn[-1] if drawn else None)
    mixed = mix_in(
        session,
        worklist,
        ask.dataset,
        annotator=ask.username,
        ordinary=ordinary,
        held=held,
        at_hand=at_hand,
    )
    drawn_first, last = ([NextPair(pk) for pk in pks] for pks in (drawn, [*rest, *drawn_last]))
    handouts = (asked_again + drawn_first + mixed + last)[:want]
    return NextPairs(
        tuple(handouts), tuple(one.pair_pk for one in handouts[len(asked_again) :] if not one.key)
    )


def _find_at_hand(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, before: int | None
) -> int | None:
    """The query of what comes right before the ordinary pairs (`before`: a pair that is handed out with them)."""
    if before is not None:
        return next((pair.query_pk for pair in ask.drawn if pair.pair_pk == before), None)
    return ask.at_hand if ask.have else ask.answered or find_last_query(session, worklist)


def choose_whole_query(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, *, want: int
) -> NextPairs:
    """The pairs of one query, the one at hand or else the next, but those in the browser: what is open to the
    annotator, and what they have answered and may change. Queries of which all that is left was put off come last."""
    if want <= 0:
        return NextPairs((), ())
    if ask.training is not None and not ask.training.passed:
        return choose_pairs(session, worklist, ask, want=want)
    put_off: list[int] = []
    for queries in chain(_list_queries(session, worklist, ask, with_drawn=True), [put_off]):
        for query_pk in queries:
            found = list_open_pairs(session, worklist, ask.eligibility, [query_pk])
            found += [pair for pair in ask.drawn if pair.query_pk == query_pk]
            if queries is not put_off and found and all(pair.put_off for pair in found):
                put_off.append(query_pk)
                continue
            if not found:
                continue
            answered = _list_answered(session, worklist, query_pk) | list_changeable(
                session, worklist, query_pk
            )
            keys = {**answered, **{pair.pair_pk: pair.key for pair in found}}
            order = sorted(keys, key=lambda pk: place(ask.dataset.seed, ask.username, keys[pk]))
            pks = [pk for pk in order if pk not in ask.held][: min(want, MOST_OF_A_QUERY)]
            return NextPairs(tuple(map(NextPair, pks)), tuple(pk for pk in pks if pk not in answered))
    return NextPairs((), ())


def _choose_drawn(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, held: Collection[int]
) -> tuple[list[int], list[int]]:
    """The pairs drawn for quality control, and those of them that come after all others."""
    if not ask.drawn:
        return [], []
    elsewhere = list_leased_elsewhere(session, worklist)
    pairs = [pair for pair in ask.drawn if pair.pair_pk not in held]
    last = {pair.pair_pk for pair in pairs if pair.put_off or pair.pair_pk in elsewhere}
    order = _by_query(ask, pairs)
    return [pk for pk in order if pk not in last], [pk for pk in order if pk in last]


def _choose_ordinary(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, held: Collection[int], want: int
) -> tuple[list[int], list[int]]:
    """The ordinary pairs, and those that come after all others: put off, or in another tab (which may have crashed)."""
    elsewhere = list_leased_elsewhere(session, worklist)
    taken = {*held, *elsewhere}
    ordinary: list[int] = []
    for queries in _list_queries(session, worklist, ask):
        if len(ordinary) >= want:
            break
        found = list_open_pairs(session, worklist, ask.eligibility, queries)
        for query_pk in queries:
            mine = [
                pair
                for pair in found
                if pair.query_pk == query_pk and not pair.put_off and pair.pair_pk not in taken
            ]
            ordinary += [pair.pair_pk for pair in ask.sort(mine)]
            taken.update(ordinary)
    ordinary = ordinary[: max(want, 0)]
    rest: list[int] = []
    if len(ordinary) < want:
        put_off = list_open_pairs(session, worklist, ask.eligibility, list_put_off_queries(session, worklist))
        rest += _by_query(ask, [pair for pair in put_off if pair.put_off and pair.pair_pk not in taken])
        others = list_open_among(session, worklist, ask.eligibility, elsewhere - set(held))
        for last in (False, True):
            rest += _by_query(ask, [pair for pair in others if pair.put_off is last])
    return ordinary, rest[: max(want - len(ordinary), 0)]


def _by_query(ask: NextPairsRequest, pairs: Sequence[OpenPair]) -> list[int]:
    """Those of a query together, the query at hand first."""
    by_query: dict[int, list[OpenPair]] = {}
    for pair in pairs:
        by_query.setdefault(pair.query_pk, []).append(pair)
    return [pair.pair_pk for pk in _sort_queries(ask, by_query) for pair in ask.sort(by_query[pk])]


def _sort_queries(ask: NextPairsRequest, query_pks: Iterable[int]) -> list[int]:
    """In the annotator's own order, the query at hand first."""
    seed, name, at_hand = ask.dataset.seed, ask.username, ask.at_hand
    return sorted(query_pks, key=lambda pk: (pk != at_hand, place(seed, name, f"query {pk}")))


def _list_queries(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, *, with_drawn: bool = False
) -> Iterator[list[int]]:
    """The queries to take pairs from, a few at a time; looked up only as far as they are asked for. `with_drawn`: with those
    that quality control has drawn from, right after the one at hand."""
    at_hand = _find_at_hand(session, worklist, ask, None)
    met: set[int] = set()
    if at_hand is not None:
        met.add(at_hand)
        yield [at_hand]
    checked = {pair.query_pk for pair in ask.drawn} - met if with_drawn else set()
    met.update(checked)
    yield from ([pk] for pk in _sort_queries(ask, checked))
    given = [pk for pk in list_given_queries(session, worklist, ask.eligibility) if pk not in met]
    met.update(given)
    yield from ([pk] for pk in _sort_queries(ask, given))
    bounds = find_bounds(session, worklist)
    drawn = place(ask.dataset.seed, ask.username, f"turn {bounds.answered}")
    share = int.from_bytes(drawn, "big") / 2**64
    for begun in (True, False):
        for found in list_open_queries(session, worklist, ask.eligibility, bounds, begun=begun, share=share):
            new = [pk for pk in found if pk not in met]
            met.update(new)
            yield new


def _list_answered(session: Session, worklist: OpenPairsRequest, query_pk: int) -> dict[int, str]:
    """The keys of the query's pairs that the annotator has answered and may change, by pair_pk."""
    statement = (
        select(col(PairRow.pk), col(PairRow.key))
        .join(CurrentJudgmentRow, col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk))
        .where(
            col(PairRow.query_pk) == query_pk,
            col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            ~exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
            ~exists().where(
                col(DisclosureRow.pair_pk) == col(PairRow.pk),
                col(DisclosureRow.person_pk) == worklist.annotator_pk,
            ),
        )
    )
    return {key_of(pk): key for pk, key in session.execute(statement)}
