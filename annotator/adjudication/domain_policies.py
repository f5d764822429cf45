"""Rules by which a lead settles at once what differs only by taste: neighbouring grades on one side of relevance.

Shared by the page, the command line and the decisions themselves, so that a preview and what follows it mean the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from annotator.domain.disputes import Reason
from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say

Policy = Literal["median", "lower", "higher"]
POLICIES: tuple[str, ...] = get_args(Policy)
POLICY_NAMES: Mapping[str, Message] = {
    "median": say("the median (of an even number of grades, the lower of the middle two)"),
    "lower": say("the lower grade"),
    "higher": say("the higher grade"),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An open dispute. `grades`: of its independent judgments; `seen`: its digest; `impact`: None without runs; the rest: what
    keeps this lead, or a policy, from deciding it."""

    pair_pk: int
    key: str
    waiting: Reason
    taste: bool
    grades: Sequence[int]
    seen: str
    impact: float | None
    flips: int
    second: bool = False
    judged: bool = False
    held: bool = False
    assigned: bool = False
    discussed: bool = False


def check_policy(policy: str) -> str:
    """The policy itself; ValidationError for one that is not among POLICIES."""
    if policy not in POLICIES:
        raise ValidationError(
            say(
                "policy: expected one of {policies}, found {found!r}",
                policies=", ".join(POLICIES),
                found=policy,
            )
        )
    return policy


def choose_grade(policy: str, grades: Sequence[int]) -> int:
    """The grade at which the policy settles a pair that was given these grades, in any order, at least one. The median of
    an even number is the lower of the middle two: a grade that somebody gave, and in doubt the more careful one."""
    ordered = sorted(grades)
    return ordered[{"lower": 0, "higher": -1}.get(policy, (len(ordered) - 1) // 2)]
