"""The roles that a person has, as the sign-in reads them."""

from annotator.domain.people import Actor, Membership
from annotator.people.roles_service import list_held_roles
from annotator.storage.database import Database


def list_memberships(database: Database, actor: Actor) -> tuple[Membership, ...]:
    with database.read() as session:
        return list_held_roles(session, actor.person_id).get(actor.person_id or 0, ())
