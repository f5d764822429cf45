"""People and what they may do. Every service call that acts asks `require_role` inside its transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotAllowed
from annotator.domain.people import Actor, includes
from annotator.storage.find import find_person, key_of
from annotator.storage.tables import MembershipRow, PersonRow


@dataclass(frozen=True, slots=True)
class Roles:
    """A person's roles: the one held everywhere, if any, and the ones by dataset_pk."""

    everywhere: str | None = None
    by_dataset: Mapping[int, str] = field(default_factory=dict)

    def role_on(self, dataset_pk: int) -> str | None:
        """The stronger of the role on this dataset and the role everywhere."""
        here = self.by_dataset.get(dataset_pk)
        if here is None or self.everywhere is None:
            return here or self.everywhere
        return here if includes(here, self.everywhere) else self.everywhere


def list_roles(session: Session, actor: Actor) -> Roles:
    """The roles the actor holds now; none for somebody disabled. The operator holds none and needs none."""
    if actor.person_id is None:
        return Roles()
    statement = (
        select(col(MembershipRow.dataset_pk), col(MembershipRow.role))
        .join(PersonRow, col(PersonRow.pk) == col(MembershipRow.person_pk))
        .where(col(MembershipRow.person_pk) == actor.person_id, col(PersonRow.disabled_at).is_(None))
    )
    found = {dataset_pk: role for dataset_pk, role in session.execute(statement)}
    return Roles(found.pop(None, None), {pk: role for pk, role in found.items() if pk is not None})


def require_role(session: Session, actor: Actor, dataset_pk: int, needed: str) -> None:
    """NotAllowed unless the actor's present role on the dataset includes `needed`. The operator may everything."""
    if actor.is_operator:
        return
    role = list_roles(session, actor).role_on(dataset_pk)
    if role is None or not includes(role, needed):
        raise NotAllowed(f"this needs the role {needed} on this dataset")


def require_admin(session: Session, actor: Actor) -> None:
    """NotAllowed unless the actor is an admin of every dataset, or the operator."""
    if not actor.is_operator and list_roles(session, actor).everywhere != "admin":
        raise NotAllowed("this needs the role admin on every dataset")


def require_person(actor: Actor) -> int:
    """The person's key; NotAllowed for the operator: judging and deciding are done by somebody."""
    if actor.person_id is None:
        raise NotAllowed("this must be done by a person: sign in, or name one with --as")
    return actor.person_id


def find_actor(database_session: Session, username: str) -> Actor:
    """The person of that name as an actor. NotAllowed when disabled."""
    row = find_person(database_session, username)
    if row.disabled_at is not None:
        raise NotAllowed(f"{username} is disabled")
    return Actor(person_id=key_of(row.pk), username=row.username)
