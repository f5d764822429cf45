"""Check roles. Every service calls `require_role` in its transaction.

A file of its own, because every command checks a role, and few import accounts, sessions and second factors (`service.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from annotator.domain.errors import NotAllowed
from annotator.domain.messages import say
from annotator.domain.people import Actor, HeldRoles, require_held_role
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.roles import list_active_roles
from annotator.storage.tables.central import DatasetRow


def list_roles(session: Session, actor: Actor) -> HeldRoles:
    """Return the roles that the actor holds now: none if disabled. The operator holds none and needs none."""
    if actor.person_id is None:
        return HeldRoles()
    roles = list_active_roles(session, actor.person_id)
    everywhere = next((role for dataset_pk, role in roles if dataset_pk is None), None)
    return HeldRoles(everywhere, {dataset_pk: role for dataset_pk, role in roles if dataset_pk is not None})


@contextmanager
def open_dataset(
    database: Database,
    actor: Actor,
    name: str,
    role: str,
    *,
    writing: bool = False,
    archived_too: bool = False,
) -> Iterator[tuple[Session, DatasetRow, int]]:
    """Open a transaction on a dataset for somebody with this role. Yields (session, dataset's row, dataset_pk).

    Raises what `enter_dataset` raises.
    """
    with database.write() if writing else database.read() as session:
        row = enter_dataset(session, actor, name, role, archived_too=archived_too)
        yield session, row, key_of(row.pk)


def enter_dataset(
    session: Session, actor: Actor, name: str, role: str, *, archived_too: bool = False
) -> DatasetRow:
    """Return the dataset's row. Raises what `find_dataset` and `require_role` raise."""
    row = find_dataset(session, name, archived_too=archived_too)
    require_role(session, actor, key_of(row.pk), role)
    return row


def require_role(session: Session, actor: Actor, dataset_pk: int, needed: str) -> None:
    """Raise NotAllowed unless the actor's present role on the dataset includes `needed`.

    Raises DatasetNotOpen if the actor has no role on it, as for a dataset that does not exist: guessing reveals no dataset names.
    The operator may do everything.
    """
    if not actor.is_operator:
        name = session.get_one(DatasetRow, dataset_pk).name
        require_held_role(list_roles(session, actor), dataset_pk, needed, dataset=name)


def require_admin(session: Session, actor: Actor) -> None:
    """Raise NotAllowed unless the actor is an admin of every dataset, or the operator."""
    if not actor.is_operator and list_roles(session, actor).everywhere != "admin":
        raise NotAllowed(say("this needs the role admin on every dataset"))


def require_person(actor: Actor) -> int:
    """Return the actor's person_id. Raises NotAllowed for the operator: only a person judges and decides."""
    if actor.person_id is None:
        raise NotAllowed("this must be done by a person: sign in, or name one with --as")
    return actor.person_id


def find_actor(database_session: Session, username: str) -> Actor:
    """Return the person of that username as an actor. Raises NotAllowed if the person is disabled."""
    row = find_person(database_session, username)
    if row.disabled_at is not None:
        raise NotAllowed(f"{username} is disabled")
    return Actor(person_id=key_of(row.pk), username=row.username)
