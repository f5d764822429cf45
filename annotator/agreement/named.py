"""The judgments that count, with their annotators numbered in the order of their names: what a report is made from.

Stands between what storage reads, which knows primary keys only, and everything that measures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annotator.agreement.judgment_table import Floats, Ints, Judged, number, order_judged


class Read(Protocol):
    """The judgments as they were read, in no particular order; query, pair, annotator and rubric are primary keys."""

    @property
    def query(self) -> Ints: ...
    @property
    def pair(self) -> Ints: ...
    @property
    def annotator(self) -> Ints: ...
    @property
    def rubric(self) -> Ints: ...
    @property
    def grade(self) -> Ints: ...
    @property
    def made_at(self) -> Ints: ...
    @property
    def seconds(self) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Named:
    """`judged`: the judgments (query and pair: primary keys; annotator: place in `names`). `people`: the annotators' primary
    keys; `simulated`: the names of those who are nobody. One row for every row of `judged`: `made_at`, seconds since 1970;
    `seconds`, how long it took, NaN where nobody knows; `rubric`, the guideline's primary key."""

    judged: Judged
    names: tuple[str, ...]
    people: tuple[int, ...]
    simulated: tuple[str, ...]
    made_at: Ints
    seconds: Floats
    rubric: Ints


def name_judged(
    read: Read, people: Mapping[int, tuple[str, bool]], pseudonyms: Mapping[int, str] | None = None
) -> Named:
    """The judgments sorted by pair and name. `people`: username and whether simulated, by primary key; `pseudonyms` stand
    for the usernames."""
    pks, annotator = number(read.annotator)
    named = [people[pk][0] if pseudonyms is None else pseudonyms[pk] for pk in pks.tolist()]
    places = sorted(range(len(named)), key=lambda place: named[place])
    by_name = np.empty(len(named), dtype=np.int64)
    by_name[places] = np.arange(len(named))
    who = by_name[annotator]
    order = order_judged(read.pair, who)
    return Named(
        Judged(read.query[order], read.pair[order], who[order], read.grade[order]),
        tuple(named[place] for place in places),
        tuple(int(pks[place]) for place in places),
        tuple(named[place] for place in places if people[int(pks[place])][1]),
        read.made_at[order],
        read.seconds[order],
        read.rubric[order],
    )
