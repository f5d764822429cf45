"""What stands behind a figure of agreement: its pairs, as a lead reads them; and an annotator's own agreement.

Read by the stage `agreement`. The pairs of a `Selection` (agreement/records.py) are as many as the figure it stands behind.
"""

from dataclasses import dataclass

from annotator.agreement.records import Leaning, Value
from annotator.domain.messages import Message

FEW_OWN = 30
FEW_IN_ROW = 5


@dataclass(frozen=True, slots=True)
class PairBehind:
    """A pair with its grades by username. `distance`: how far apart the grades are that it was selected by. `note`: what
    is said of it besides (the answer on a repeat, the right grade, the seconds). `case`: it has one in Disagreements.

    `hidden`: who asks has still to judge it, so that nothing of it is told, not even which pair it is.
    """

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    grades: tuple[tuple[str, int], ...]
    distance: int
    status: str
    case: bool
    note: Message | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class PairsBehind:
    """How many pairs a selection has, and some of them: the furthest apart first, then in the queries' order."""

    total: int
    pairs: tuple[PairBehind, ...]


@dataclass(frozen=True, slots=True)
class OwnAgreement:
    """How well an annotator agrees with all others together, over `pairs` that need no more judgments; nobody is named.

    With fewer than FEW_OWN pairs nothing but their number is told. `confusion`: rows the own grades, columns the others';
    None for a row of fewer than FEW_IN_ROW comparisons, which could tell somebody's grade on a single pair.
    """

    pairs: int
    kappa: Value | None = None
    observed_agreement: float | None = None
    leaning: Leaning | None = None
    confusion: tuple[tuple[int, ...] | None, ...] = ()
