"""Records of estimated grades: for leads to compare with decisions, never qrels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

NO_QRELS = "Estimates for comparison only: they are not qrels, settle nothing and enter no release."


class EstimatedPair(NamedTuple):
    """A shared pair (two judgments or more) with its estimates beside its settled grade, None where there is none.

    `majority`: the grade given most often, None when two were given equally often. `median`: halves are possible.
    `dawid_skene`: the most probable grade, with its `probability`. `settled_by`: "unanimous" or "adjudicated".
    """

    query_id: str
    doc_id: str
    judgments: int
    majority: int | None
    median: float
    dawid_skene: int
    probability: float
    settled: int | None
    settled_by: str | None


@dataclass(frozen=True, slots=True)
class EstimatedAnnotator:
    """How an annotator would grade, if the estimated grades were the right ones. `right`: the expected share of their
    judgments that equal the estimated grade. `confusion`: for each estimated grade (rows) the probability of each grade
    they give; None where no pair of theirs is estimated to have that grade."""

    annotator: str
    judgments: int
    right: float
    confusion: tuple[tuple[float, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class DecisionMatch:
    """How often one method's estimate equals the lead's decision: `equal` of `compared` adjudicated pairs; `open`: those
    for which the method gives no whole grade."""

    method: str
    compared: int
    equal: int
    open: int


@dataclass(frozen=True, slots=True)
class Consensus:
    """The estimates of a dataset. `shares`: of each grade, as Dawid and Skene's method estimates them. `converged` False:
    they still changed after `iterations` rounds, and so there are none: everything else is empty."""

    dataset: str
    pairs: Sequence[EstimatedPair]
    annotators: tuple[EstimatedAnnotator, ...]
    matches: tuple[DecisionMatch, ...]
    shares: tuple[float, ...]
    iterations: int
    converged: bool

    def explain_none(self) -> str:
        """Say why there are no estimates, where there are none because they still changed."""
        return (
            f"No estimates: those of Dawid and Skene's method still changed after {self.iterations:,} rounds, so none can be "
            "relied on. Too little is judged by the same annotators to tell how each of them errs."
        )
