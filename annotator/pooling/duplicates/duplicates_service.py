"""List near duplicates with the grades offered to them, and accept such grades. For leads.

An accepted grade names the document that it comes from, is settled as "imported", and is replaced by any
judgment. If the judged document gets another grade later, the accepted grade stays and is reported as out of
date.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.pooling.duplicates.duplicates import (
    OPEN_TO_GRADES,
    AcceptedDuplicates,
    DuplicateGroup,
    DuplicatePage,
    DuplicatePair,
    DuplicateReport,
    LeftOutDuplicate,
    choose_groups,
    group_duplicates,
    hide_grades,
    keep_latest,
    report_duplicates,
)
from annotator.pooling.duplicates.duplicates_sql import (
    list_duplicate_pairs,
    list_left_out_duplicates,
    take_over,
)
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import find_pair_pks, list_to_judge, note_seen
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates, list_pair_pks
from annotator.storage.tables.central import DatasetRow

PROVENANCE = "near duplicate"
"""The system name of a pair with an accepted grade. Its signal `of` is the judged document's id."""
STRATEGY = "near duplicates"
PAGE = 50


def list_duplicates(database: Database, actor: Actor, dataset: str, *, now: datetime) -> DuplicateReport:
    """Return every group of near duplicates with its grade and the state of each document. For leads.

    Groups with a pair that the lead must still judge are hidden. The shown grades are recorded: the lead
    never judges those pairs again.
    """
    return show_duplicates(database, actor, dataset, now=now, most=None, with_grades=True).report


def show_duplicates(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    now: datetime,
    start: int = 0,
    most: int | None = PAGE,
    with_grades: bool = False,
) -> DuplicatePage:
    """Return a part of the groups of near duplicates, those with an offer first. For leads.

    With grades, they are recorded as `list_duplicates` does. Without, every grade is None.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        left_out, pairs, groups = _read_groups(session, dataset_pk)
        keys = _list_keys(left_out, pairs)
        pair_pks = find_pair_pks(session, {key for named in keys.values() for key in named})
        to_judge = list_to_judge(session, actor.person_id, pair_pks.values())
    hidden = {
        (group.query_id, group.doc_id)
        for group in groups
        if any(pair_pks[key] in to_judge for key in keys.get((group.query_id, group.doc_id), ()))
    }
    visible = [group for group in groups if (group.query_id, group.doc_id) not in hidden]
    visible.sort(key=lambda group: not any(item.state in OPEN_TO_GRADES for item in group.documents))
    shown = visible[start:] if most is None else visible[start : start + most]
    if with_grades:
        seen = {pair_pks[key] for group in shown for key in keys.get((group.query_id, group.doc_id), ())}
        note_seen(database, seen, actor.person_id, now=now)
    else:
        shown = [hide_grades(group) for group in shown]
    report = replace(report_duplicates(dataset, visible), groups=tuple(shown))
    return DuplicatePage(report, len(visible), len(hidden), with_grades)


def accept_duplicates(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    now: datetime,
    pairs: Collection[str] = (),
    expected: Mapping[str, int] | None = None,
    dry_run: bool = False,
) -> AcceptedDuplicates:
    """Give the settled grade of judged documents to their near duplicates. For leads with an account.

    `pairs`: the judged pairs of the groups; without any, all groups. `expected`: instead of `pairs`, the
    grade that the lead saw for each judged pair. Documents with own judgments keep their grades. All or
    nothing: raises ConflictError if a grade has changed, StateError if a group (or every group) has nothing
    to accept, NotFound for a pair without a group.
    """
    lead_pk = require_person(actor)
    with database.read() if dry_run else database.write() as session:
        row = enter_dataset(session, actor, dataset, "lead")
        dataset_pk = key_of(row.pk)
        if not dry_run:
            lock_dataset(session, dataset_pk)
        left_out, _, groups = _read_groups(session, dataset_pk)
        chosen = choose_groups(dataset, groups, pairs if expected is None else list(expected))
        for group in chosen:
            if expected is not None and group.grade != expected.get(group.pair or ""):
                raise ConflictError(
                    say(
                        "the grade of {query_id} {doc_id} has changed in the meantime: nothing was accepted",
                        query_id=group.query_id,
                        doc_id=group.doc_id,
                    )
                )
        members = {(item.query_id, item.doc_id): item for item in left_out}
        open_members = [
            (group, members[group.query_id, document.doc_id])
            for group in chosen
            for document in group.documents
            if document.state in OPEN_TO_GRADES
        ]
        existing = list_pair_pks(session, dataset_pk, {item.query_pk for _, item in open_members})
        new = [key for _, item in open_members if (key := (item.query_pk, item.document_pk)) not in existing]
        states = [document.state for group in chosen for document in group.documents]
        if not dry_run:
            _store(session, row, actor, open_members, new, now=now)
            after = {"groups": len(chosen), "pairs": len(open_members), "new_pairs": len(new)}
            add_events(session, [AuditEvent("accepted duplicates", dataset_pk, lead_pk, now, after=after)])
    return AcceptedDuplicates(
        groups=len(chosen),
        accepted=len(open_members),
        renewed=states.count("out of date"),
        new_pairs=len(new),
        judged=states.count("judged"),
        waiting=states.count("waiting"),
        dry_run=dry_run,
    )


Pairs = Mapping[tuple[int, int], DuplicatePair]  # by (query_pk, document_pk)


def _read_groups(
    session: Session, dataset_pk: int
) -> tuple[list[LeftOutDuplicate], Pairs, list[DuplicateGroup]]:
    left_out = keep_latest(list_left_out_duplicates(session, dataset_pk))
    pairs = list_duplicate_pairs(session, dataset_pk, left_out)
    return left_out, pairs, group_duplicates(left_out, pairs)


def _list_keys(left_out: list[LeftOutDuplicate], pairs: Pairs) -> dict[tuple[str, str], set[str]]:
    """Return the keys of all pairs of each group, by (query_id, judged doc_id)."""
    keys: dict[tuple[str, str], set[str]] = {}
    for item in left_out:
        for document_pk in (item.kept_pk, item.document_pk):
            pair = pairs.get((item.query_pk, document_pk))
            if pair is not None:
                keys.setdefault((item.query_id, item.kept_doc_id), set()).add(pair.key)
    return keys


def _store(
    session: Session,
    row: DatasetRow,
    actor: Actor,
    members: list[tuple[DuplicateGroup, LeftOutDuplicate]],
    new: list[tuple[int, int]],
    *,
    now: datetime,
) -> None:
    dataset_pk = key_of(row.pk)
    candidates = [
        PoolCandidate(
            item.query_pk,
            item.query_id,
            item.document_pk,
            item.doc_id,
            PROVENANCE,
            signals={"of": group.doc_id, "rule": item.rule, "round": item.round},
        )
        for group, item in members
    ]
    add_candidates(session, dataset_pk, row.name, candidates, now=now)
    pair_pks = list_pair_pks(session, dataset_pk, {item.query_pk for _, item in members})
    if new:
        made = NewRound(STRATEGY, {"groups": len({group.pair for group, _ in members})}, {"new": len(new)})
        drawn = {pair_pks[names]: PairDraw() for names in new}
        add_round(session, dataset_pk, made, drawn, made_by=actor.person_id, now=now)
    graded = {
        pair_pks[item.query_pk, item.document_pk]: (group, item)
        for group, item in members
        if group.grade is not None and group.pair is not None
    }
    take_over(session, dataset_pk, graded, accepted_by=actor.username, now=now)
