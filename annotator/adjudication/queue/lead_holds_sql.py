"""Read and store holds (a lead has a pair open), put-off pairs, and assignments to leads.

A hold lasts a few minutes and belongs to a lead and a browser tab. It keeps leads from working on the same
pair, but never prevents a decision.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.adjudication.disagreement_records import PairSystem
from annotator.storage.database import lock_dataset
from annotator.storage.lookup import find_latest_end
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql

HELD_FOR = timedelta(minutes=5)
_TAKE_HOLDS = prepare_sql(
    """
INSERT INTO case_hold (pair_pk, lead_pk, tab, expires_at)
SELECT p.pk, :lead_pk, :tab, :until FROM pair p JOIN dispute x ON x.pair_pk = p.pk AND x.open
WHERE p.pk IN :pairs AND NOT EXISTS (SELECT 1 FROM judgment j
  WHERE j.pair_pk = p.pk AND j.annotator_pk = :lead_pk AND j.outcome <> 'later')
ORDER BY p.pk
ON CONFLICT (pair_pk) DO UPDATE SET lead_pk = excluded.lead_pk, tab = excluded.tab, expires_at = excluded.expires_at
WHERE case_hold.lead_pk = excluded.lead_pk OR case_hold.expires_at <= :now
  OR case_hold.expires_at > :latest""",
    lists=["pairs"],
)
_RENEW_HOLDS = prepare_sql(
    """
UPDATE case_hold SET expires_at = :until WHERE lead_pk = :lead_pk AND tab = :tab
  AND pair_pk IN (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND key IN :keys)""",
    lists=["keys"],
)
_END_HOLDS = prepare_sql(
    """
DELETE FROM case_hold WHERE lead_pk = :lead_pk AND tab = :tab
  AND pair_pk IN (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND key IN :keys)""",
    lists=["keys"],
)
_END_HOLD_OF_LEAD = prepare_sql("DELETE FROM case_hold WHERE lead_pk = :lead_pk AND pair_pk = :pair_pk")
_PUT_OFF = prepare_sql("""
INSERT INTO case_later (pair_pk, lead_pk, put_off_at) VALUES (:pair_pk, :lead_pk, :now)
ON CONFLICT (pair_pk, lead_pk) DO UPDATE SET put_off_at = excluded.put_off_at""")
_ASSIGNED = prepare_sql(
    "SELECT p.username FROM case_assignment a JOIN person p ON p.pk = a.lead_pk WHERE a.pair_pk = :pair_pk"
)
_ASSIGN = prepare_sql("""
INSERT INTO case_assignment (pair_pk, lead_pk, assigned_by_pk, assigned_at) VALUES (:pair_pk, :to_pk, :lead_pk, :now)
ON CONFLICT (pair_pk) DO UPDATE SET lead_pk = excluded.lead_pk, assigned_by_pk = excluded.assigned_by_pk,
  assigned_at = excluded.assigned_at""")
_UNASSIGN = prepare_sql("DELETE FROM case_assignment WHERE pair_pk = :pair_pk")
_LEADS = prepare_sql("""
SELECT DISTINCT p.pk, p.username, p.name FROM person p JOIN membership m ON m.person_pk = p.pk
WHERE p.disabled_at IS NULL AND m.role IN ('lead', 'admin') AND (m.dataset_pk = :dataset_pk OR m.dataset_pk IS NULL)
ORDER BY p.username""")
_NAMES = prepare_sql("SELECT username, name FROM person WHERE username IN :usernames", lists=["usernames"])
_SYSTEMS = prepare_sql(
    "SELECT system, rank, score FROM provenance WHERE pair_pk = :pair_pk ORDER BY rank IS NULL, rank, system"
)


class Adjudicator(NamedTuple):
    """Somebody who may decide disagreements of a dataset."""

    pk: int
    username: str
    name: str


def find_latest_hold(now: datetime) -> datetime:
    """Return the latest valid end of a hold; a later one comes from a wrong clock."""
    return find_latest_end(now, HELD_FOR)


def lock_holds(session: Session, dataset_pk: int) -> None:
    """Wait until no other lead is being given disagreements. Nothing else waits for this lock."""
    lock_dataset(session, -dataset_pk)


def take_holds(session: Session, lead_pk: int, tab: str, pair_pks: Collection[int], *, now: datetime) -> None:
    """Hold the pairs that no other lead holds and that this lead may decide."""
    if pair_pks:
        values = {
            "lead_pk": lead_pk,
            "tab": tab,
            "now": now,
            "until": now + HELD_FOR,
            "latest": find_latest_hold(now),
            "pairs": list(pair_pks),
        }
        execute_sql(session, _TAKE_HOLDS, values)


def renew_holds(
    session: Session, dataset_pk: int, lead_pk: int, tab: str, keys: Collection[str], *, now: datetime
) -> None:
    """Extend the holds of this tab on the pairs with these keys."""
    if keys:
        values = {"dataset_pk": dataset_pk, "lead_pk": lead_pk, "tab": tab, "until": now + HELD_FOR}
        execute_sql(session, _RENEW_HOLDS, {**values, "keys": list(keys)})


def end_holds(session: Session, dataset_pk: int, lead_pk: int, tab: str, keys: Collection[str]) -> None:
    """End the holds of this tab on the pairs with these keys."""
    if keys:
        values = {"dataset_pk": dataset_pk, "lead_pk": lead_pk, "tab": tab, "keys": list(keys)}
        execute_sql(session, _END_HOLDS, values)


def put_off(session: Session, pair_pk: int, lead_pk: int, *, now: datetime) -> None:
    """Let the pair come last for this lead, and end the lead's hold on it."""
    execute_sql(session, _PUT_OFF, {"pair_pk": pair_pk, "lead_pk": lead_pk, "now": now})
    execute_sql(session, _END_HOLD_OF_LEAD, {"pair_pk": pair_pk, "lead_pk": lead_pk})


def find_assigned_lead(session: Session, pair_pk: int) -> str | None:
    """Return the username of the lead to whom the pair is assigned."""
    rows = fetch_tuples(session, _ASSIGNED, {"pair_pk": pair_pk})
    return rows[0][0] if rows else None


def assign_pair(
    session: Session, pair_pk: int, to_pk: int | None, by_pk: int | None, *, now: datetime
) -> None:
    """Assign the pair to a lead (None: to nobody), and end the hold of the lead who assigns it to another."""
    if to_pk is None:
        execute_sql(session, _UNASSIGN, {"pair_pk": pair_pk})
        return
    execute_sql(session, _ASSIGN, {"pair_pk": pair_pk, "to_pk": to_pk, "lead_pk": by_pk, "now": now})
    if to_pk != by_pk:
        execute_sql(session, _END_HOLD_OF_LEAD, {"pair_pk": pair_pk, "lead_pk": by_pk})


def list_leads(session: Session, dataset_pk: int) -> list[Adjudicator]:
    """Return everybody who may decide disagreements of the dataset now."""
    return fetch(session, _LEADS, Adjudicator, {"dataset_pk": dataset_pk})


def list_names(session: Session, usernames: Collection[str]) -> dict[str, str]:
    """Return the names of these people, by username. For leads who ask for them."""
    people = fetch_tuples(session, _NAMES, {"usernames": list(usernames)})
    return {username: name or username for username, name in people}


def list_systems_of(session: Session, pair_pk: int) -> list[PairSystem]:
    """Return the systems that put the pair into the pool, the best rank first. For leads who ask for them."""
    return fetch(session, _SYSTEMS, PairSystem, {"pair_pk": pair_pk})
