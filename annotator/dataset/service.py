"""Manage datasets as a whole: create them, list and show them, change their settings, read their rubric.

A name must be a valid folder name, because releases are written to exports/<dataset>/….
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.settings import (
    RECORDED,
    RULES,
    SEARCH_HOSTS,
    SETTINGS,
    Dataset,
    read_setting,
    write_setting,
)
from annotator.domain.audit import AuditAction
from annotator.domain.errors import ConflictError, StateError, ValidationError
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import check_rules
from annotator.people.roles_service import enter_dataset, list_roles, open_dataset, require_admin
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.missing_judgments import count_current, derive_work
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events, note_act
from annotator.storage.lookup import find_rubric, key_of, make_rubric_row, to_rubric
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    PairRow,
    QueryRow,
)

OVERLAP_SETTINGS = ("overlap", "seed", *RULES)  # these decide how many judgments a pair needs
NAME = re.compile(r"[^\W_][\w.-]{0,99}")


@dataclass(frozen=True, slots=True)
class DatasetCounts:
    """The number of queries, documents and so on in a dataset. `judgments` counts current ones."""

    queries: int
    documents: int
    documents_without_text: int
    pairs: int
    judgments: int
    releases: int


def create_dataset(
    database: Database,
    actor: Actor,
    name: str,
    *,
    now: datetime,
    title: str = "",
    settings: Mapping[str, str] | None = None,
    rubric: Rubric = DEFAULT_RUBRIC,
    requirements: Mapping[str, Any] | None = None,
    secret: str | None = None,
) -> Dataset:
    """Make an empty dataset with version 1 of its rubric. Raises ConflictError if the name is taken.

    `requirements`: read from a file by the caller. `secret`: of random draws; None: a random secret.
    """
    from annotator.guideline.service import check_new_rubric  # late: listing datasets needs no guideline

    check_dataset_name(name)
    check_new_rubric(rubric)
    values = read_changes({"title": title or name, **(settings or {})}, requirements)
    with database.write() as session:
        require_admin(session, actor)
        require_free_name(session, name)
        row = DatasetRow.model_validate({"name": name, "title": name, "created_at": now})
        row.check_secret = make_secret() if secret is None else secret
        row.order_secret = make_secret() if secret is None else secret
        _set_values(row, values)
        session.add(row)
        session.flush()
        session.add(make_rubric_row(key_of(row.pk), rubric, 1, now=now))
        if SEARCH_HOSTS in values:
            allow_search_hosts(session, key_of(row.pk), actor, values[SEARCH_HOSTS], now=now)
        note_act(session, AuditAction.dataset_made, actor, at=now, dataset=name)
        return _record(row)


def make_secret() -> str:
    """Return 256 random bits as hex, for the draws of a dataset."""
    return secrets.token_hex(32)


def check_dataset_name(name: str) -> None:
    """Raise ValidationError unless this can be the name of a dataset and its folder."""
    if not NAME.fullmatch(name) or name.endswith("."):
        raise ValidationError(
            say(
                "expected a dataset name of letters, digits, '-', '_' and '.' (up to 100), found {name!r}",
                name=name,
            )
        )


def require_free_name(session: Session, name: str) -> None:
    """Raise ConflictError if a dataset has this name. Ignores case, as some file systems do."""
    if session.scalars(select(DatasetRow).where(func.lower(col(DatasetRow.name)) == name.lower())).first():
        raise ConflictError(say("there is a dataset named {name!r} already", name=name))


def check_new_name(database: Database, actor: Actor, name: str) -> None:
    """Raise the same errors for this name as `create_dataset`. For admins of every dataset."""
    check_dataset_name(name)
    with database.read() as session:
        require_admin(session, actor)
        require_free_name(session, name)


def list_datasets(database: Database, actor: Actor, *, archived_too: bool = False) -> list[Dataset]:
    """Return the datasets on which the actor has a role (all of them for the operator), by name."""
    with database.read() as session:
        rows = session.scalars(select(DatasetRow).order_by(col(DatasetRow.name))).all()
        rows = [row for row in rows if archived_too or row.archived_at is None]
        roles = list_roles(session, actor)
        return [_record(row) for row in rows if actor.is_operator or roles.role_on(key_of(row.pk))]


def show_dataset(database: Database, actor: Actor, name: str) -> tuple[Dataset, DatasetCounts]:
    """Return one dataset's settings and the sizes of its content."""
    with open_dataset(database, actor, name, "annotator") as (session, row, _):
        return read_dataset(session, row)


def read_dataset(session: Session, row: DatasetRow) -> tuple[Dataset, DatasetCounts]:
    """Return a dataset's settings and the sizes of its content, in an open transaction."""
    return _record(row), _counts(session, key_of(row.pk))


def change_settings(
    database: Database,
    actor: Actor,
    name: str,
    changes: Mapping[str, str],
    *,
    now: datetime,
    requirements: Mapping[str, Any] | None = None,
    seen: Mapping[str, str] | None = None,
) -> Dataset:
    """Set each KEY to the typed VALUE, and note it in the audit log. All or nothing.

    A change of the overlap, its rules or the seed also updates the missing judgments of every pair. Pairs that
    a lead could still judge and that are complete after the change are recorded as seen by this lead.
    `requirements`: read from a file by the caller; typed values cannot name a file. `seen`: {key: value} that the person saw
    before the change. Raises ValidationError for an unknown key or value, ConflictError if a seen value has changed.
    """
    values = read_changes(changes, requirements)
    with database.write() as session:
        return apply_settings(session, actor, name, values, now=now, seen=seen or {})


def read_changes(changes: Mapping[str, str], requirements: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return {setting: new value}. `requirements`: read from a file by the caller."""
    values = {key: read_setting(key, text) for key, text in changes.items()}
    if requirements is not None:
        values["requirements"] = dict(requirements)
    return values


def apply_settings(
    session: Session,
    actor: Actor,
    name: str,
    values: Mapping[str, Any],
    *,
    now: datetime,
    seen: Mapping[str, str],
) -> Dataset:
    """Do the work of `change_settings` in an open write transaction. `values`: from `read_setting`."""
    # most commands change no settings
    from annotator.storage.logs.disclosures import add_seen, list_blind_pairs

    row = enter_dataset(session, actor, name, "lead")
    dataset_pk = key_of(row.pk)
    lock_dataset(session, dataset_pk)
    session.refresh(row)
    before = _record(row)
    _require_unchanged(write_settings(before, read_search_hosts(session, dataset_pk)), seen)
    could_judge = list_blind_pairs(session, dataset_pk, actor.person_id)
    _set_values(row, values)
    session.add(row)
    session.flush()
    after = _record(row)
    _check_overlap(session, dataset_pk, before, after)
    _check_rates(before, after)
    if _read_overlap_settings(before) != _read_overlap_settings(after):
        derive_work(session, dataset_pk)
        if actor.person_id is not None:  # figures include the pairs that lack nothing from now on
            complete = could_judge - list_blind_pairs(session, dataset_pk, actor.person_id)
            add_seen(session, complete, actor.person_id, now=now)
    _note_changed(session, dataset_pk, actor, before, after, now)
    if SEARCH_HOSTS in values:
        allow_search_hosts(session, dataset_pk, actor, values[SEARCH_HOSTS], now=now)
    return after


def write_settings(dataset: Dataset, search_hosts: Sequence[str] = ()) -> dict[str, str]:
    """Return {setting: text that a user could type}; `requirements` as JSON."""
    return {
        name: write_setting(name, search_hosts if name == SEARCH_HOSTS else getattr(dataset, name))
        for name in SETTINGS
    }


def make_default_dataset(name: str, *, now: datetime) -> Dataset:
    """Return a dataset with the default of every setting, without storing it."""
    return _record(DatasetRow.model_validate({"name": name, "title": name, "created_at": now}))


def _require_unchanged(present: Mapping[str, str], seen: Mapping[str, str]) -> None:
    changed = [name for name, text in seen.items() if present[name] != text]
    if changed:
        raise ConflictError(
            say(
                "Another person changed {names} in the meantime. Nothing was saved. Compare with the current values, then save again.",
                names=", ".join(changed),
            )
        )


def read_current_rubric(database: Database, actor: Actor, name: str) -> tuple[int, Rubric]:
    """Return (number, rubric) of the current version, in every language."""
    with open_dataset(database, actor, name, "annotator") as (session, _, dataset_pk):
        rubric = find_rubric(session, dataset_pk)
        return rubric.version, to_rubric(rubric)


def _record(row: DatasetRow) -> Dataset:
    rules = row.overlap_rules or {}
    values: dict[str, Any] = {
        name: rules.get(RULES[name]) if name in RULES else getattr(row, name) for name in RECORDED
    }
    values["shown_metadata"] = tuple(row.shown_metadata) if row.shown_metadata else None
    return Dataset(name=row.name, created_at=row.created_at, archived_at=row.archived_at, **values)


def _set_values(row: DatasetRow, values: Mapping[str, Any]) -> None:
    """Set the columns of a dataset. The overlap rules share one column and are checked together."""
    rules = dict(row.overlap_rules or {})
    for name, value in values.items():
        if name in RULES:
            rules[RULES[name]] = value
        elif name != SEARCH_HOSTS:
            setattr(row, name, value)
    row.overlap_rules = check_rules(row.overlap, rules)


def _read_overlap_settings(dataset: Dataset) -> tuple[Any, ...]:
    return dataset.overlap, dataset.overlap_rules, dataset.seed


def _note_changed(
    session: Session, dataset_pk: int, actor: Actor, before: Dataset, after: Dataset, now: datetime
) -> None:
    changed = [name for name in RECORDED if getattr(before, name) != getattr(after, name)]
    if changed:
        was, since = ({name: _to_json(getattr(state, name)) for name in changed} for state in (before, after))
        event = AuditEvent("changed settings", dataset_pk, actor.person_id, now, before=was, after=since)
        add_events(session, [event])


def _to_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def _check_overlap(session: Session, dataset_pk: int, before: Dataset, after: Dataset) -> None:
    """Raise ValidationError for an overlap of an unknown category, StateError for a seed that cannot change any more.

    A new seed would draw other pairs for `overlap_share`, although pairs are judged already.
    """
    there = set(
        session.scalars(
            select(col(QueryRow.category)).where(col(QueryRow.dataset_pk) == dataset_pk).distinct()
        )
    )
    new = set(after.overlap_by_category or ()) - set(before.overlap_by_category or ())
    if there and (missing := sorted(new - there)):
        categories = ", ".join(sorted(category for category in there if category)) or say("none")
        raise ValidationError(
            say(
                "overlap_by_category: no query has the category {missing!r}; there are: {known}",
                missing=missing[0],
                known=categories,
            )
        )
    judged = select(col(CurrentJudgmentRow.pair_pk)).where(col(CurrentJudgmentRow.dataset_pk) == dataset_pk)
    drawn = before.overlap_share and after.overlap_share
    if before.seed != after.seed and drawn and session.scalar(judged.limit(1)) is not None:
        raise StateError(
            say(
                "seed: it decides which pairs belong to overlap_share, and pairs have been judged already; to change it, set overlap_share to none first"
            )
        )


def _check_rates(before: Dataset, after: Dataset) -> None:
    changed = (before.gold_rate, before.repeat_rate) != (after.gold_rate, after.repeat_rate)
    if changed and after.gold_rate + after.repeat_rate >= 1:
        raise ValidationError(
            say(
                "gold_rate and repeat_rate: expected less than 1 together, found {gold:g} + {repeat:g}",
                gold=after.gold_rate,
                repeat=after.repeat_rate,
            )
        )


def _counts(session: Session, dataset_pk: int) -> DatasetCounts:
    from annotator.storage.pairs.pool import are_in_use
    from annotator.storage.tables.releases import ReleaseRow

    def count(table: Any, *conditions: Any) -> int:
        statement = (
            select(func.count()).select_from(table).where(col(table.dataset_pk) == dataset_pk, *conditions)
        )
        return session.scalar(statement) or 0

    there = are_in_use(dataset_pk)
    return DatasetCounts(
        queries=count(QueryRow),
        documents=count(DocumentRow, *there),
        documents_without_text=count(DocumentRow, *there, col(DocumentRow.text_sha256).is_(None)),
        pairs=count(PairRow, col(PairRow.retired_at).is_(None)),
        judgments=count_current(session, dataset_pk),
        releases=count(ReleaseRow),
    )


def show_search_hosts(database: Database, actor: Actor, dataset: str) -> tuple[str, ...]:
    """Return the hosts that may receive the dataset's queries, as HOST or HOST:PORT. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return read_search_hosts(session, dataset_pk)


def read_operator_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in ANNOTATOR_SEARCH_HOSTS, in the syntax of the dataset setting. Raises ValidationError."""
    return tuple(read_setting(SEARCH_HOSTS, text) or ())


def read_search_hosts(session: Session, dataset_pk: int) -> tuple[str, ...]:
    """Return the hosts that may receive the dataset's queries. The caller has checked the role."""
    return tuple(
        session.scalar(select(col(DatasetRow.search_hosts)).where(col(DatasetRow.pk) == dataset_pk)) or ()
    )


def allow_search_hosts(
    session: Session, dataset_pk: int, actor: Actor, hosts: list[str] | None, *, now: datetime
) -> None:
    """Replace the list of allowed hosts and note it in the audit log. The caller has checked the role."""
    before = list(read_search_hosts(session, dataset_pk)) or None
    if before != hosts:
        event = AuditEvent(
            "changed settings",
            dataset_pk,
            actor.person_id,
            now,
            before={SEARCH_HOSTS: before},
            after={SEARCH_HOSTS: hosts},
        )
        session.get_one(DatasetRow, dataset_pk).search_hosts = hosts
        session.flush()
        add_events(session, [event])


def archive_dataset(database: Database, actor: Actor, name: str, *, now: datetime) -> Dataset:
    """Archive a dataset. Does nothing if it is archived already. For leads."""
    return _set_archived(database, actor, name, archived=True, now=now)


def unarchive_dataset(database: Database, actor: Actor, name: str, *, now: datetime) -> Dataset:
    """Allow judgments and changes again. For leads."""
    return _set_archived(database, actor, name, archived=False, now=now)


def _set_archived(database: Database, actor: Actor, name: str, *, archived: bool, now: datetime) -> Dataset:
    with open_dataset(database, actor, name, "lead", writing=True, archived_too=True) as (
        session,
        row,
        dataset_pk,
    ):
        lock_dataset(session, dataset_pk, archived_too=True)
        session.refresh(row)
        if (row.archived_at is not None) != archived:
            row.archived_at = now if archived else None
            session.add(row)
            action: Action = "archived dataset" if archived else "unarchived dataset"
            add_events(session, [AuditEvent(action, dataset_pk, actor.person_id, now)])
    return show_dataset(database, actor, name)[0]
