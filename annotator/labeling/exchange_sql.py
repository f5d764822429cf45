"""Lock what an exchange with an annotator's browser changes, and read its context: one statement each.

SQLite runs one write transaction at a time and needs no locks. docs/architecture.md ("Who waits for whom")
lists the order of all locks, and what each excludes. The context has the dataset's settings, the annotator's role, the guideline's versions, the kinds of special
work that exist, and the events that are stored already. Most datasets have no training, no draws and nothing
outdated most of the time. Kinds that are absent are not searched for.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.errors import DatasetArchived, DatasetNotOpen, NotAllowed
from annotator.domain.people import Actor, HeldRoles, describe_unknown_dataset, require_held_role
from annotator.labeling.open_pairs_sql import Eligibility, QueryBounds, make_eligibility
from annotator.labeling.records import StoredEvent
from annotator.storage.database import describe_archived
from annotator.storage.lookup import LabelingSettings, OpenPairsRequest, find_latest_end
from annotator.storage.pairs.disagreements import MeaningChange
from annotator.storage.sql import fetch_tuples, prepare_sql, read_json, read_time

_AGGREGATES = {
    "sqlite": {"list_all": "json_group_array", "list": "json_array"},
    "postgresql": {"list_all": "json_agg", "list": "json_build_array"},
}
_CONTEXT = """
SELECT {settings}, d.archived_at IS NOT NULL, p.disabled_at IS NOT NULL, m.dataset_pk, m.role, m.categories, m.languages,
  t.answered, t.done, t.total, t.reserve_until,
  (SELECT {list_all}({list}(r.version, r.pk, r.change, r.created_at)) FROM rubric r WHERE r.dataset_pk = d.pk),
  (SELECT {list_all}({list}(j.event_id, j.pair_pk, j.annotator_pk, j.outcome, j.grade)) FROM judgment j WHERE j.event_id IN :events),
  EXISTS (SELECT 1 FROM assignment),
  EXISTS (SELECT 1 FROM check_pair k CROSS JOIN pair x WHERE x.pk = k.pair_pk AND k.kind = 'training' AND x.dataset_pk = d.pk),
  EXISTS (SELECT 1 FROM check_pair k CROSS JOIN pair x WHERE x.pk = k.pair_pk AND k.kind = 'gold' AND x.dataset_pk = d.pk),
  EXISTS (SELECT 1 FROM repeated_pair e CROSS JOIN pair x WHERE e.annotator_pk = p.pk AND x.pk = e.pair_pk AND x.dataset_pk = d.pk),
  EXISTS (SELECT 1 FROM quality_draw w WHERE w.dataset_pk = d.pk AND w.annotator_pk = p.pk),
  EXISTS (SELECT 1 FROM current_judgment c WHERE c.dataset_pk = d.pk AND c.annotator_pk = p.pk AND c.stale > 0),
  EXISTS (SELECT 1 FROM current_judgment c WHERE c.dataset_pk = d.pk AND c.annotator_pk = p.pk AND c.outcome = 'later'),
  (SELECT {list}(count(*), max(CASE WHEN l.tab IN ('', :tab) THEN 0 ELSE 1 END), max(l.expires_at)) FROM lease l CROSS JOIN pair x
    WHERE l.annotator_pk = p.pk AND l.expires_at > :now AND x.pk = l.pair_pk AND x.dataset_pk = d.pk),
  (SELECT min(query_pk) FROM query_work WHERE dataset_pk = d.pk), (SELECT max(query_pk) FROM query_work WHERE dataset_pk = d.pk),
  (SELECT count(*) FROM query_answers a WHERE a.annotator_pk = p.pk AND a.dataset_pk = d.pk AND a.answered > 0)
FROM dataset d LEFT JOIN person p ON p.pk = :person_pk
LEFT JOIN membership m ON m.person_pk = p.pk AND (m.dataset_pk = d.pk OR m.dataset_pk IS NULL)
LEFT JOIN told_progress t ON t.dataset_pk = d.pk AND t.annotator_pk = p.pk
WHERE d.name = :dataset"""
_SETTINGS = ", ".join(f"d.{name}" for name in LabelingSettings._fields)
_STATEMENTS = {
    dialect: prepare_sql(_CONTEXT.format(settings=_SETTINGS, **names), lists=["events"])
    for dialect, names in _AGGREGATES.items()
}


class _ContextRow(NamedTuple):
    """A row of _CONTEXT after the settings, with flags and JSON as the driver gives them.

    There is one row per role that the person holds here or everywhere, or one row without a role.
    """

    archived: bool | int
    disabled: bool | int
    role_dataset_pk: int | None
    role: str | None
    categories: Any
    languages: Any
    answered: int | None
    done: int | None
    total: int | None
    reserve_until: int | None
    rubrics: Any
    stored: Any
    any_assigned: bool | int
    has_training: bool | int
    has_gold: bool | int
    has_repeats: bool | int
    has_draws: bool | int
    has_outdated: bool | int
    has_put_off: bool | int
    leases: Any  # running ones in the dataset: how many, whether another tab has some, and the last end
    lowest_query: int | None
    highest_query: int | None
    answered_queries: int


class RubricVersion(NamedTuple):
    """A version of the dataset's guideline."""

    version: int
    pk: int
    change: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ExchangeContext:
    """The context of an exchange, read before the pairs."""

    dataset: LabelingSettings
    annotator_pk: int
    roles: HeldRoles
    eligibility: Eligibility
    rubrics: tuple[RubricVersion, ...]
    stored: Mapping[str, StoredEvent]  # the sent events that are stored already, by id
    shown: tuple[int | None, int | None, int | None, int | None]  # the row of the progress shown last
    has_training: bool  # the dataset has training pairs
    has_checks: bool  # the annotator may have answered gold pairs, repeats or draws
    has_draws: bool  # quality control has drawn pairs for the annotator
    has_outdated: bool  # the annotator has outdated judgments
    has_put_off: bool
    has_other_tabs: bool  # another tab of the annotator holds pairs
    leases: int  # running ones of the annotator in the dataset
    last_lease_end: datetime | None
    bounds: QueryBounds

    def has_leases_ahead(self, request: OpenPairsRequest) -> bool:
        """Return whether a lease of the annotator was made by a clock ahead of the present."""
        latest = find_latest_end(request.now, request.lease)
        return self.last_lease_end is not None and self.last_lease_end > latest

    @property
    def versions(self) -> dict[int, int]:
        """Return the primary key of each version of the guideline."""
        return {rubric.version: rubric.pk for rubric in self.rubrics}

    @property
    def meanings(self) -> list[MeaningChange]:
        """Return the versions that changed what a grade means, without the first version."""
        changes = (rubric for rubric in self.rubrics if rubric.change == "semantic" and rubric.version > 1)
        return [MeaningChange(rubric.version, rubric.created_at) for rubric in changes]


def read_context(
    session: Session, actor: Actor, dataset: str, *, event_ids: Sequence[str], tab: str, now: datetime
) -> ExchangeContext:
    """Return the context of an exchange.

    Raises DatasetNotOpen if the dataset is unknown or the person has no role on it, DatasetArchived if it is
    archived, and NotAllowed unless the actor is a person who is an annotator of it.
    """
    values = {
        "dataset": dataset,
        "person_pk": actor.person_id or 0,
        "events": event_ids,
        "tab": tab,
        "now": now,
    }
    statement = _STATEMENTS[session.get_bind().dialect.name]
    fetched = fetch_tuples(session, statement, values)
    if not fetched:
        raise DatasetNotOpen(describe_unknown_dataset(dataset))
    count = len(LabelingSettings._fields)
    settings = LabelingSettings(*fetched[0][:count])
    rows = [_ContextRow._make(row[count:]) for row in fetched]
    if rows[0].archived:
        raise DatasetArchived(describe_archived(settings.name), dataset=settings.name)
    if actor.person_id is None:
        raise NotAllowed("this must be done by a person: sign in, or name one with --as")
    held = [row for row in rows if row.role is not None and not row.disabled]
    roles = HeldRoles(
        next((row.role for row in held if row.role_dataset_pk is None), None),
        {row.role_dataset_pk: row.role for row in held if row.role_dataset_pk is not None and row.role},
    )
    require_held_role(roles, settings.pk, "annotator", dataset=dataset)
    return _to_context(settings, actor.person_id, rows[0], roles, held)


def _to_context(
    settings: LabelingSettings,
    annotator_pk: int,
    row: _ContextRow,
    roles: HeldRoles,
    held: Sequence[_ContextRow],
) -> ExchangeContext:
    rubrics = (
        RubricVersion(version, pk, change, read_time(created_at))
        for version, pk, change, created_at in sorted(read_json(row.rubrics) or ())
    )
    leases, in_other_tabs, last_lease_end = read_json(row.leases)
    return ExchangeContext(
        dataset=settings._replace(
            overlap_rules=read_json(settings.overlap_rules), shown_metadata=read_json(settings.shown_metadata)
        ),
        annotator_pk=annotator_pk,
        roles=roles,
        eligibility=make_eligibility(
            [(membership.categories, membership.languages) for membership in held],
            any_assigned=bool(row.any_assigned),
        ),
        rubrics=tuple(rubrics),
        stored={event_id: StoredEvent(*judgment) for event_id, *judgment in read_json(row.stored) or ()},
        shown=(row.answered, row.done, row.total, row.reserve_until),
        has_training=bool(row.has_training),
        has_checks=bool(row.has_gold or row.has_repeats or row.has_draws),
        has_draws=bool(row.has_draws),
        has_outdated=bool(row.has_outdated),
        has_put_off=bool(row.has_put_off),
        has_other_tabs=bool(in_other_tabs),
        leases=leases,
        last_lease_end=None if last_lease_end is None else read_time(last_lease_end),
        bounds=QueryBounds(row.lowest_query, row.highest_query, row.answered_queries),
    )


# The locks of the dataset and of the person are kept in memory: a lock of the dataset's row would write to it, and submissions of
# everybody would write to the one row. The dataset comes first: whoever has it alone waits for no pair.
_SHARE = prepare_sql(
    """
WITH shared AS MATERIALIZED (
  SELECT d.pk, set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true), pg_advisory_xact_lock_shared(d.pk),
    pg_advisory_xact_lock(CAST(-d.pk AS INTEGER), CAST(:person_pk AS INTEGER))
  FROM dataset d WHERE d.name = :dataset AND EXISTS (
    SELECT 1 FROM membership m WHERE m.person_pk = :person_pk AND (m.dataset_pk = d.pk OR m.dataset_pk IS NULL))
), locked AS MATERIALIZED (
  SELECT p.pk FROM shared s JOIN pair p ON p.dataset_pk + 0 = s.pk WHERE p.key IN :named ORDER BY p.pk FOR NO KEY UPDATE OF p
)
SELECT (SELECT s.pk FROM shared s), (SELECT array_agg(pk) FROM locked)""",
    lists=["named"],
)


@dataclass(frozen=True, slots=True)
class SharedLocks:
    """What a submission has locked."""

    dataset: bool  # False: this person has no such dataset, and nothing is locked
    pair_pks: frozenset[int]

    def cover(self, pair_pks: Collection[int]) -> bool:
        """Return whether the dataset and all these pairs are locked."""
        return self.dataset and self.pair_pks.issuperset(pair_pks)


def share_dataset(
    session: Session, dataset: str, person_pk: int, pair_keys: Collection[str] = ()
) -> SharedLocks | None:
    """Lock the dataset (shared), the person and these pairs until this transaction ends. None on SQLite.

    Transactions of different people share a dataset; transactions of one person run one after the other. The
    pairs are locked in the order of their keys in the database, so two transactions never wait for each
    other. Read the pairs after this statement: it sees the database as it was before it waited.

    The statements that follow look up rows by their keys: PostgreSQL plans each of them once, for any values,
    and by index. With plans for particular values, its old statistics would show no judgments for an
    annotator who has just begun, and it would read all their judgments for each pair.
    """
    if session.get_bind().dialect.name != "postgresql":
        return None
    values = {"dataset": dataset, "person_pk": person_pk, "named": list(pair_keys)}
    ((dataset_pk, pair_pks),) = fetch_tuples(session, _SHARE, values)
    return SharedLocks(dataset_pk is not None, frozenset(pair_pks or ()))
