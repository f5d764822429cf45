"""Roles and the person (or the operator of the command line) on whose behalf a service acts.

A role belongs to a person on a dataset, or on every dataset. Each role may do what the ones before it
may: an annotator labels; a lead imports, pools, watches agreement, adjudicates and publishes; an admin
also manages people and settings. (TREC calls the annotator an assessor.)
"""

from dataclasses import dataclass
from typing import Literal, get_args

from annotator.domain.messages import say

Role = Literal["annotator", "lead", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
ROLE_NAMES = {"annotator": say("annotator"), "lead": say("lead"), "admin": say("admin")}


def includes(role: str, needed: str) -> bool:
    """Whether `role` may do what `needed` may. Both are one of ROLES."""
    return ROLES.index(role) >= ROLES.index(needed)


def name_annotator(number: int) -> str:
    """The pseudonym of somebody as an annotator: what releases call them."""
    return f"annotator_{number}"


def name_lead(number: int) -> str:
    """The pseudonym of somebody as a lead."""
    return f"lead_{number}"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `person_id` is None only for the operator, who owns the database file."""

    person_id: int | None
    username: str

    @property
    def is_operator(self) -> bool:
        return self.person_id is None


OPERATOR = Actor(person_id=None, username="operator")
