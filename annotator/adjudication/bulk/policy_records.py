"""Records of policies, which settle many pairs that differ only by taste: names, previews and batches."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from annotator.domain.messages import Message, say

Policy = Literal["median", "lower", "higher"]
POLICIES: tuple[str, ...] = get_args(Policy)
POLICY_NAMES: Mapping[str, Message] = {
    "median": say("the median (for an even number of grades, the lower of the middle two)"),
    "lower": say("the lower grade"),
    "higher": say("the higher grade"),
}

Obstacle = Literal["reason", "not_taste", "second", "judged", "held", "assigned", "discussed"]
OBSTACLES: tuple[Obstacle, ...] = get_args(Obstacle)
"""Why a policy leaves an open pair to a lead. Only the first one that applies is counted."""
OBSTACLE_NAMES: Mapping[Obstacle, Message] = {
    "reason": say(
        "more than the grades needs a decision: quality control, an objection, a question, an "
        "outdated judgment or a “cannot rate”"
    ),
    "not_taste": say("the grades are further apart or on both sides of the relevance threshold"),
    "second": say("a second lead also has to decide"),
    "judged": say("you judged the pair yourself"),
    "held": say("another lead has it open"),
    "assigned": say("assigned to another lead"),
    "discussed": say("its annotators are discussing it"),
}


@dataclass(frozen=True, slots=True)
class GradesSettled:
    """The number of pairs whose grades are `low` and `high` and that would get `grade`."""

    low: int
    high: int
    grade: int
    pairs: int


@dataclass(frozen=True, slots=True)
class SkippedPairs:
    """The number of open pairs that a policy leaves alone. `why`: the obstacle in words, for a page."""

    obstacle: Obstacle
    why: Message
    pairs: int


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """The decisions that a policy would make."""

    policy: str
    pairs: int  # that it would settle
    by_grades: tuple[GradesSettled, ...]
    left_out: tuple[SkippedPairs, ...]
    impact_sum: float | None  # of the pairs' impacts on nDCG (`Disagreement.impact`); None without runs
    impact_mean: float | None
    flips: int  # pairs that can change the order of two systems
    examples: tuple[str, ...]  # the keys of the first few pairs
    digest: str  # an argument of `settle_by_policy`


@dataclass(frozen=True, slots=True)
class PairToSettle:
    """A pair that a policy would settle."""

    pair: str  # the key
    query_id: str
    query: str
    doc_id: str
    title: str
    grades: tuple[int, ...]  # of its judgments, the lowest first
    grade: int  # at which the policy settles it


@dataclass(frozen=True, slots=True)
class PairsToSettle:
    """The preview of a policy with a part of the pairs that it would settle."""

    preview: PolicyPreview
    offset: int
    pairs: tuple[PairToSettle, ...]
    blind_pairs: int  # judged pairs of the dataset that the lead may still judge, and that are left out


@dataclass(frozen=True, slots=True)
class DecisionBatch:
    """Pairs that a lead settled together by a policy."""

    number: int
    policy: str
    rationale: str
    pairs: int
    holding: int  # decisions of the batch that still hold
    lead: str  # the username, like `undone_by`
    made_at: datetime
    undone_at: datetime | None
    undone_by: str | None


@dataclass(frozen=True, slots=True)
class BatchUndone:
    """The result of undoing a batch."""

    batch: DecisionBatch
    withdrawn: int  # decisions
    left: int  # decisions that stay, because they are newer
