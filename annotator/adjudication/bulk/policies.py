"""Policies, which settle many pairs that differ only by taste: names, records and previews.

A policy settles only pairs with neighbouring grades on one side of relevance, and without any obstacle
(`domain/settling.py`). To settle, a lead must send back the preview's digest: exactly the shown pairs are
settled.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say
from annotator.domain.settling import QueueReason

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
        "also a question, an objection, a “cannot rate”, an outdated judgment or an error of quality control"
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
    """How many pairs with the grades `low` and `high` would be settled with `grade`."""

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


MOST_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class PolicyCandidate:
    """An open disagreement, with everything that can keep a policy, or this lead, from deciding it."""

    pair_pk: int
    pair: str  # the key
    waiting: QueueReason
    taste: bool
    grades: Sequence[int]  # of its independent judgments
    seen: str  # the digest of its judgments and decisions
    impact: float | None  # on nDCG; None without runs
    flips: int
    needs_second: bool = False
    judged: bool = False  # by this lead
    held: bool = False  # by another lead
    assigned: bool = False  # to another lead
    discussed: bool = False


@dataclass(frozen=True, slots=True)
class SettledCandidate:
    """A pair that a policy settles, and at which grade."""

    candidate: PolicyCandidate
    grade: int


def check_policy(policy: str) -> str:
    """Return the policy; ValidationError if it is unknown."""
    if policy not in POLICIES:
        raise ValidationError(
            say(
                "Unknown policy {found!r}: choose one of {policies}.",
                policies=", ".join(POLICIES),
                found=policy,
            )
        )
    return policy


def choose_grade(policy: str, grades: Sequence[int]) -> int:
    """Return the grade at which the policy settles these grades (at least one, in any order).

    The median of an even number of grades is the lower of the middle two: a grade that somebody gave, and the
    more careful one.
    """
    ordered = sorted(grades)
    return ordered[{"lower": 0, "higher": -1}.get(policy, (len(ordered) - 1) // 2)]


def find_obstacle(candidate: PolicyCandidate) -> Obstacle | None:
    """Return why a policy leaves the pair alone; None if it settles the pair."""
    obstacles: tuple[tuple[bool, Obstacle], ...] = (
        (bool(candidate.waiting & ~QueueReason.DIFFER), "reason"),
        (not candidate.taste or not candidate.grades, "not_taste"),
        (candidate.needs_second, "second"),
        (candidate.judged, "judged"),
        (candidate.held, "held"),
        (candidate.assigned, "assigned"),
        (candidate.discussed, "discussed"),
    )
    return next((obstacle for holds, obstacle in obstacles if holds), None)


def choose_settled(policy: str, candidates: Sequence[PolicyCandidate]) -> list[SettledCandidate]:
    """Return the pairs that the policy settles, with their grades."""
    return [
        SettledCandidate(candidate, choose_grade(policy, candidate.grades))
        for candidate in candidates
        if find_obstacle(candidate) is None
    ]


def preview(
    policy: str, candidates: Sequence[PolicyCandidate], settled: Sequence[SettledCandidate]
) -> PolicyPreview:
    """Return the preview of a policy. `settled`: the candidates that it settles."""
    obstacles = Counter(find_obstacle(candidate) for candidate in candidates)
    by_grades = Counter(
        (min(pair.candidate.grades), max(pair.candidate.grades), pair.grade) for pair in settled
    )
    impacts = [pair.candidate.impact for pair in settled if pair.candidate.impact is not None]
    return PolicyPreview(
        policy=policy,
        pairs=len(settled),
        by_grades=tuple(
            GradesSettled(low, high, grade, pairs) for (low, high, grade), pairs in sorted(by_grades.items())
        ),
        left_out=tuple(
            SkippedPairs(obstacle, OBSTACLE_NAMES[obstacle], obstacles[obstacle])
            for obstacle in OBSTACLES
            if obstacles[obstacle]
        ),
        impact_sum=sum(impacts) if impacts else None,
        impact_mean=sum(impacts) / len(impacts) if impacts else None,
        flips=sum(pair.candidate.flips > 0 for pair in settled),
        examples=tuple(pair.candidate.pair for pair in settled[:MOST_EXAMPLES]),
        digest=_digest(policy, settled),
    )


def explain_changed_preview(before: str, after: str) -> Message:
    """Say what has changed since the preview, from its digest and the new one, which differ."""
    old, new = before.split("-"), after.split("-")
    if len(old) != len(new) or not old[0].isdecimal():
        return say("The preview is out of date. Check the new preview.")
    if old[0] != new[0]:
        return say(
            "The number of pairs to settle has changed from {before:,} to {after:,} since the preview, "
            "because others have decided, judged or opened some. Check the new preview.",
            before=int(old[0]),
            after=int(new[0]),
        )
    if old[1] != new[1]:
        return say("The pairs to settle have changed since the preview. Check the new preview.")
    return say(
        "Judgments of these pairs have been added or changed since the preview. Check the new preview."
    )


def _digest(policy: str, settled: Sequence[SettledCandidate]) -> str:
    """Return the number of pairs, a hash of the pairs, and a hash of pairs, states and grades."""
    ordered = sorted((pair.candidate.pair, pair.candidate.seen, pair.grade) for pair in settled)
    return f"{len(settled)}-{_hash([key for key, _, _ in ordered])}-{_hash([policy, ordered])}"


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
