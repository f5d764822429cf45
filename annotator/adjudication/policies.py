"""Preview a policy: which pairs it settles at which grades, and which it leaves to a lead and why.

A policy settles only neighbouring grades on one side of relevance, with nothing else against the pair
(`domain/settling.py`). The order to settle must carry the preview's digest, so that exactly what was shown is settled.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotator.adjudication.records import PolicyCandidate, choose_grade
from annotator.domain.messages import Message, say
from annotator.domain.settling import QueueReason

Obstacle = Literal["reason", "not_taste", "second", "judged", "held", "assigned", "discussed"]
OBSTACLE_NAMES: Mapping[str, Message] = {
    "reason": say(
        "more than the grades is to be decided: quality control, an objection, a question, an outdated answer, or one who could not rate it"
    ),
    "not_taste": say("the grades lie further apart, or on both sides of relevance"),
    "second": say("a second lead must decide too"),
    "judged": say("you judged the pair yourself"),
    "held": say("open in front of another lead"),
    "assigned": say("given to another lead"),
    "discussed": say("its annotators are discussing it"),
}
EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class GradesSettled:
    """So many pairs whose grades are `low` and `high` would get `grade`."""

    low: int
    high: int
    grade: int
    pairs: int


@dataclass(frozen=True, slots=True)
class SkippedPairs:
    """So many open pairs are left alone; `why` in words for a page."""

    obstacle: Obstacle
    why: Message
    pairs: int


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy would do. `impact_sum`, `impact_mean`: how far the choice of these grades moves the nDCG of the system that
    each moves most, on its own query (None without runs); `flips`: pairs that can change the order of two systems;
    `examples`: keys of the first few pairs; `digest`: hand it back to `settle_by_policy`."""

    policy: str
    pairs: int
    by_grades: tuple[GradesSettled, ...]
    left_out: tuple[SkippedPairs, ...]
    impact_sum: float | None
    impact_mean: float | None
    flips: int
    examples: tuple[str, ...]
    digest: str


def find_obstacle(pair: PolicyCandidate) -> Obstacle | None:
    """Why a policy leaves the pair alone; None where it settles it."""
    checks: tuple[tuple[bool, Obstacle], ...] = (
        (bool(pair.waiting & ~QueueReason.DIFFER), "reason"),
        (not pair.taste or not pair.grades, "not_taste"),
        (pair.second, "second"),
        (pair.judged, "judged"),
        (pair.held, "held"),
        (pair.assigned, "assigned"),
        (pair.discussed, "discussed"),
    )
    return next((obstacle for holds, obstacle in checks if holds), None)


def preview(
    policy: str, candidates: Sequence[PolicyCandidate]
) -> tuple[PolicyPreview, list[tuple[PolicyCandidate, int]]]:
    """What the policy does to these pairs, and each that it settles with its grade."""
    settled, left = list[tuple[PolicyCandidate, int]](), Counter[Obstacle]()
    for pair in candidates:
        obstacle = find_obstacle(pair)
        if obstacle is None:
            settled.append((pair, choose_grade(policy, pair.grades)))
        else:
            left[obstacle] += 1
    by_grades = Counter((min(pair.grades), max(pair.grades), grade) for pair, grade in settled)
    impacts = [pair.impact for pair, _ in settled if pair.impact is not None]
    found = PolicyPreview(
        policy=policy,
        pairs=len(settled),
        by_grades=tuple(GradesSettled(*grades, pairs) for grades, pairs in sorted(by_grades.items())),
        left_out=tuple(SkippedPairs(why, OBSTACLE_NAMES[why], left[why]) for why in _ORDER if left[why]),
        impact_sum=sum(impacts) if impacts else None,
        impact_mean=sum(impacts) / len(impacts) if impacts else None,
        flips=sum(pair.flips > 0 for pair, _ in settled),
        examples=tuple(pair.key for pair, _ in settled[:EXAMPLES]),
        digest=_digest(policy, settled),
    )
    return found, settled


def say_changed(before: str, after: str) -> Message:
    """What is not as in the preview; the digests differ."""
    was, now = (digest.split("-") for digest in (before, after))
    if len(was) != len(now) or not was[0].isdecimal():
        return say("this is not what the preview showed; look at the preview again")
    if was[0] != now[0]:
        return say(
            "pairs to be settled in the preview: {before:,}, now: {after:,}; others decided, judged or hold some of them; "
            "look at the preview again",
            before=int(was[0]),
            after=int(now[0]),
        )
    if was[1] != now[1]:
        return say("some of the pairs are others than in the preview; look at the preview again")
    return say("judgments of these pairs came or were changed since the preview; look at the preview again")


def _digest(policy: str, settled: Sequence[tuple[PolicyCandidate, int]]) -> str:
    """How many pairs, which ones, and everything that is settled."""
    ordered = sorted((pair.key, pair.seen, grade) for pair, grade in settled)
    return f"{len(settled)}-{_hash([key for key, _, _ in ordered])}-{_hash([policy, ordered])}"


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


_ORDER: tuple[Obstacle, ...] = ("reason", "not_taste", "second", "judged", "held", "assigned", "discussed")
