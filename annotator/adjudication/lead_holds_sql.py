"""Read and store which lead has a pair open, what a lead put off, and to whom a pair was assigned.

A hold lasts a few minutes and belongs to a lead and a browser tab. It keeps leads from working on the same pair but
never refuses a decision.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.clock import find_latest_end
from annotator.storage.database import lock_dataset
from annotator.storage.sql import execute_sql, prepare_sql

HELD_FOR = timedelta(minutes=5)
_TAKE = prepare_sql(
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
_RENEW = prepare_sql(
    """
UPDATE case_hold SET expires_at = :until WHERE lead_pk = :lead_pk AND tab = :tab
  AND pair_pk IN (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND key IN :keys)""",
    lists=["keys"],
)
_LET_GO = prepare_sql(
    """
DELETE FROM case_hold WHERE lead_pk = :lead_pk AND tab = :tab
  AND pair_pk IN (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND key IN :keys)""",
    lists=["keys"],
)
_LET_GO_OF = prepare_sql("DELETE FROM case_hold WHERE lead_pk = :lead_pk AND pair_pk = :pair_pk")
_PUT_OFF = prepare_sql("""
INSERT INTO case_later (pair_pk, lead_pk, put_off_at) VALUES (:pair_pk, :lead_pk, :now)
ON CONFLICT (pair_pk, lead_pk) DO UPDATE SET put_off_at = excluded.put_off_at""")
_GIVEN = prepare_sql(
    "SELECT a.lead_pk, p.username FROM case_assignment a JOIN person p ON p.pk = a.lead_pk WHERE a.pair_pk = :pair_pk"
)
_GIVE = prepare_sql("""
INSERT INTO case_assignment (pair_pk, lead_pk, assigned_by_pk, assigned_at) VALUES (:pair_pk, :to_pk, :lead_pk, :now)
ON CONFLICT (pair_pk) DO UPDATE SET lead_pk = excluded.lead_pk, assigned_by_pk = excluded.assigned_by_pk,
  assigned_at = excluded.assigned_at""")
_TAKE_BACK = prepare_sql("DELETE FROM case_assignment WHERE pair_pk = :pair_pk")
_LEADS = prepare_sql("""
SELECT DISTINCT p.pk, p.username, p.name FROM person p JOIN membership m ON m.person_pk = p.pk
WHERE p.disabled_at IS NULL AND m.role IN ('lead', 'admin') AND (m.dataset_pk = :dataset_pk OR m.dataset_pk IS NULL)
ORDER BY p.username""")
_NAMES = prepare_sql("SELECT username, name FROM person WHERE username IN :usernames", lists=["usernames"])
_SYSTEMS = prepare_sql(
    "SELECT system, rank, score FROM provenance WHERE pair_pk = :pair_pk ORDER BY rank IS NULL, rank, system"
)


def find_latest_hold(now: datetime) -> datetime:
    """Until when a hold can last that was taken now; what lasts longer was taken by a clock ahead, and counts no more."""
    return find_latest_end(now, HELD_FOR)


class DisagreementLead(NamedTuple):
    """Somebody who may decide disputes of a dataset."""

    pk: int
    username: str
    name: str


class PairSystem(NamedTuple):
    """Who put a pair into the pool, and where it stood there."""

    system: str
    rank: int | None
    score: float | None


def lock_holds(session: Session, dataset_pk: int) -> None:
    """Let leads choose what is open before them one after the other; judgments and decisions do not wait for it."""
    lock_dataset(session, -dataset_pk)


def take_holds(session: Session, lead_pk: int, tab: str, pair_pks: Collection[int], *, now: datetime) -> None:
    """Hold these pairs, those that another lead holds and those that are not for this lead to decide left out."""
    if pair_pks:
        mine = {
            "lead_pk": lead_pk,
            "tab": tab,
            "now": now,
            "until": now + HELD_FOR,
            "latest": find_latest_hold(now),
        }
        execute_sql(session, _TAKE, {**mine, "pairs": list(pair_pks)})


def renew_holds(
    session: Session, dataset_pk: int, lead_pk: int, tab: str, keys: Collection[str], *, now: datetime
) -> None:
    """Hold on to what this tab has, named by the pairs' keys."""
    if keys:
        mine = {"dataset_pk": dataset_pk, "lead_pk": lead_pk, "tab": tab, "until": now + HELD_FOR}
        execute_sql(session, _RENEW, {**mine, "keys": list(keys)})


def end_holds(session: Session, dataset_pk: int, lead_pk: int, tab: str, keys: Collection[str]) -> None:
    """End the holds that this tab has on these pairs."""
    if keys:
        execute_sql(
            session, _LET_GO, {"dataset_pk": dataset_pk, "lead_pk": lead_pk, "tab": tab, "keys": list(keys)}
        )


def put_off(session: Session, pair_pk: int, lead_pk: int, *, now: datetime) -> None:
    """The pair comes last for this lead from now on, and is open before them no more."""
    execute_sql(session, _PUT_OFF, {"pair_pk": pair_pk, "lead_pk": lead_pk, "now": now})
    execute_sql(session, _LET_GO_OF, {"pair_pk": pair_pk, "lead_pk": lead_pk})


def find_given(session: Session, pair_pk: int) -> str | None:
    """The username of the lead whom the pair was given to."""
    found = execute_sql(session, _GIVEN, {"pair_pk": pair_pk}).first()
    return found.username if found else None


def give(session: Session, pair_pk: int, to_pk: int | None, lead_pk: int | None, *, now: datetime) -> None:
    """Give the pair to a lead (None: to nobody); it is open before who gives it no more."""
    if to_pk is None:
        execute_sql(session, _TAKE_BACK, {"pair_pk": pair_pk})
        return
    execute_sql(session, _GIVE, {"pair_pk": pair_pk, "to_pk": to_pk, "lead_pk": lead_pk, "now": now})
    if to_pk != lead_pk:
        execute_sql(session, _LET_GO_OF, {"pair_pk": pair_pk, "lead_pk": lead_pk})


def list_leads(session: Session, dataset_pk: int) -> list[DisagreementLead]:
    """Everybody who may decide disputes of the dataset now."""
    return [DisagreementLead(*row) for row in execute_sql(session, _LEADS, {"dataset_pk": dataset_pk})]


def list_names(session: Session, usernames: Collection[str]) -> dict[str, str]:
    """The names of these people, by username. For leads who ask for them."""
    rows = execute_sql(session, _NAMES, {"usernames": list(usernames)})
    return {username: name or username for username, name in rows}


def list_systems_of(session: Session, pair_pk: int) -> list[PairSystem]:
    """Who put the pair into the pool, the best rank first. For leads who ask for it."""
    return [PairSystem(*row) for row in execute_sql(session, _SYSTEMS, {"pair_pk": pair_pk})]
