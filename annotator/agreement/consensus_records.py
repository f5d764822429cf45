"""Records of estimated grades. Leads compare them with decisions; they are never qrels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotator.domain.figures import show_percent
from annotator.domain.grades import GRADES

NO_QRELS = "Estimates for comparison only: they are not qrels, settle nothing and enter no release."


class EstimatedPair(NamedTuple):
    """A pair with two or more judgments, its estimates and its settled grade."""

    query_id: str
    doc_id: str
    judgments: int
    majority: int | None  # the grade given most often; None if two were given equally often
    median: float  # halves are possible
    dawid_skene: int  # the most probable grade
    probability: float  # of the grade `dawid_skene`
    settled: int | None
    settled_by: str | None  # "unanimous" or "adjudicated"; None if the pair is not settled


@dataclass(frozen=True, slots=True)
class EstimatedAnnotator:
    """The errors of an annotator, if the estimated grades were right."""

    annotator: str
    judgments: int
    right: float  # expected share of the annotator's judgments that equal the estimated grade
    confusion: tuple[tuple[float, ...] | None, ...]
    """For each estimated grade (rows) the probability of each grade given; None for a row without pairs."""


@dataclass(frozen=True, slots=True)
class DecisionMatch:
    """The comparison of one method's estimates with the leads' decisions."""

    method: str
    compared: int  # adjudicated pairs
    equal: int  # adjudicated pairs with the same grade
    open: int  # adjudicated pairs for which the method gives no whole grade

    @property
    def share(self) -> float | None:
        """Return the share of compared pairs with the same grade; None if no pair can be compared."""
        return self.equal / self.compared if self.compared else None


@dataclass(frozen=True, slots=True)
class Consensus:
    """The estimates of a dataset. If they did not converge there are none, and everything else is empty."""

    dataset: str
    pairs: Sequence[EstimatedPair]
    annotators: tuple[EstimatedAnnotator, ...]
    matches: tuple[DecisionMatch, ...]
    shares: tuple[float, ...]  # share of each grade, estimated by Dawid and Skene's method
    iterations: int
    converged: bool  # False if the estimates still changed after `iterations` rounds

    def explain_none(self) -> str:
        """Return why there are no estimates, if they did not converge."""
        return (
            f"No estimates: those of Dawid and Skene's method still changed after {self.iterations:,} rounds, so none can be "
            "relied on. Too little is judged by the same annotators to tell how each of them errs."
        )

    def describe(self) -> list[str]:
        """Return sentences that say what the estimates rest on, and why they may be unreliable."""
        if not self.converged:
            return [self.explain_none()]
        if not self.pairs:
            return ["No pair was judged independently by two annotators, so there is nothing to estimate."]
        shares = ", ".join(
            f"{grade}: {show_percent(share)}" for grade, share in zip(GRADES, self.shares, strict=True)
        )
        sentences = [
            (
                f"{len(self.pairs):,} pairs with two or more judgments. Dawid and Skene (1979), expectation maximization from the "
                f"share of each grade among a pair's judgments, {self.iterations:,} rounds until nothing changed; estimated shares of the grades: {shares}."
            )
        ]
        if not any(match.compared + match.open for match in self.matches):
            sentences.append(
                "No lead has decided a pair that two or more judged, so there is no decision to compare them with."
            )
        judged_twice = sum(pair.judgments == 2 for pair in self.pairs)
        if 2 * judged_twice > len(self.pairs):
            sentences.append(
                f"{judged_twice:,} of these pairs have two judgments only: where these differ, the estimate rests on how the two "
                "annotators judged all their other pairs."
            )
        return sentences
