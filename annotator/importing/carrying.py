"""What becomes of the pairs of documents that got new ids: which move, which leave the pool, what is suggested.

A rule between the plan and the database. The pairs of a renamed document go with it. Where it meets a pair that the
query has with the document of that id already, the one that more is known of stays: judged here, before a grade that
was brought in, before nothing; of two alike the one that was there. Pairs of a split or merged document leave the
pool; for each new id there is a pair instead, and the old grade is a suggestion. No pair is ever taken away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

WEIGHTS = {"unjudged": 0, "imported": 1}
JUDGED = 2


@dataclass(frozen=True, slots=True)
class LivePair:
    """A pair of the pool with its settlement; `grade` is None where there is none."""

    pk: int
    key: str
    query_pk: int
    query_id: str
    doc_id: str
    status: str
    grade: int | None

    @property
    def weight(self) -> int:
        return WEIGHTS.get(self.status, JUDGED)


@dataclass(frozen=True, slots=True)
class Suggested:
    """The grade of a pair that leaves the pool, for the pair of its query with the document of this id."""

    query_pk: int
    doc_id: str
    old: LivePair
    grade: int


@dataclass(slots=True)
class Carrying:
    """`moved`: pairs that go to the document that has the new id, by pair_pk. `displaced`: pairs that give way there,
    with that document's id. `retired`: pairs that leave the pool where they stand. `met`: (pair that left, pair that
    stays) where two met. `joining`: by (query_pk, query_id, new doc_id) the old ids it comes from.
    """

    moved: dict[int, str] = field(default_factory=dict)
    displaced: dict[int, str] = field(default_factory=dict)
    retired: list[int] = field(default_factory=list)
    met: list[tuple[int, int]] = field(default_factory=list)
    joining: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    suggested: list[Suggested] = field(default_factory=list)


def carry_pairs(
    pairs: Sequence[LivePair], moved: Mapping[str, str], leaving: Mapping[str, tuple[str, ...]]
) -> Carrying:
    """`pairs`: those of the documents in `moved` (new id by old id) and `leaving`, and those of the documents whose
    ids the moved ones get."""
    carrying = Carrying()
    there = {(pair.query_pk, pair.doc_id): pair for pair in pairs}
    for pair in pairs:
        if pair.doc_id in leaving:
            _leave(carrying, pair, leaving[pair.doc_id])
        elif pair.doc_id in moved:
            _move(carrying, pair, moved[pair.doc_id], there.get((pair.query_pk, moved[pair.doc_id])))
    # of several suggestions for a pair the latest is shown first: let that be the highest grade
    carrying.suggested.sort(key=lambda item: item.grade)
    return carrying


def _leave(carrying: Carrying, pair: LivePair, new_ids: Iterable[str]) -> None:
    carrying.retired.append(pair.pk)
    for new in new_ids:
        carrying.joining.setdefault((pair.query_pk, pair.query_id, new), []).append(pair.doc_id)
        _suggest(carrying, pair, new)


def _move(carrying: Carrying, pair: LivePair, new: str, other: LivePair | None) -> None:
    if other is not None and other.weight >= pair.weight:
        carrying.retired.append(pair.pk)
        carrying.met.append((pair.pk, other.pk))
        _suggest(carrying, pair, new)
        return
    carrying.moved[pair.pk] = new
    if other is not None:
        carrying.displaced[other.pk] = new
        carrying.met.append((other.pk, pair.pk))
        _suggest(carrying, other, new)


def _suggest(carrying: Carrying, pair: LivePair, new: str) -> None:
    if pair.grade is not None:
        carrying.suggested.append(Suggested(pair.query_pk, new, pair, pair.grade))
