"""List near duplicates with the grade that is offered to them, and accept such grades. For leads.

Nothing is copied silently: each accepted grade says of which document it is, is settled as "imported", and gives way to any
judgment. If the judged document gets another grade later, what was accepted stays and is reported as out of date.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.people import Actor
from annotator.people.service import require_person, require_role
from annotator.pooling.duplicates.duplicate_records import AcceptedDuplicates, DuplicateGroup, DuplicateReport
from annotator.pooling.duplicates.duplicates import (
    OPEN_TO_GRADES,
    LeftOutDuplicate,
    choose_groups,
    group_duplicates,
    keep_latest,
    report_duplicates,
)
from annotator.pooling.duplicates.duplicates_sql import (
    TakenGrade,
    list_duplicate_pairs,
    list_left_out_duplicates,
    take_over,
)
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pool import PoolCandidate, add_candidates, list_pair_pks
from annotator.storage.tables import DatasetRow

PROVENANCE = "near duplicate"
"""The system name of a pair with an accepted grade; its signal `of` is the judged document's id."""
STRATEGY = "near duplicates"


def list_duplicates(database: Database, actor: Actor, dataset: str) -> DuplicateReport:
    """Return every group of near duplicates with its settled grade, and what became of it for each document. For leads."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        _, groups = _read_groups(session, key_of(row.pk))
    return report_duplicates(dataset, groups)


def accept_duplicates(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    now: datetime,
    pairs: Collection[str] = (),
    dry_run: bool = False,
) -> AcceptedDuplicates:
    """Give the settled grade of judged documents to their near duplicates: of all groups, or of those whose pair is named.

    Only for leads who are persons. All or nothing: StateError if a named group has nothing to accept, or no group has; NotFound
    for a pair that is no group's. Documents that are judged themselves keep their own grades.
    """
    lead_pk = require_person(actor)
    with database.read() if dry_run else database.write() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        if not dry_run:
            lock_dataset(session, dataset_pk)
        left_out, groups = _read_groups(session, dataset_pk)
        chosen = choose_groups(dataset, groups, pairs)
        members = {(item.query_id, item.doc_id): item for item in left_out}
        open_members = [
            (group, members[group.query_id, document.doc_id])
            for group in chosen
            for document in group.documents
            if document.state in OPEN_TO_GRADES
        ]
        there = list_pair_pks(session, dataset_pk, {item.query_pk for _, item in open_members})
        new = [names for _, item in open_members if (names := (item.query_pk, item.document_pk)) not in there]
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


def _read_groups(session: Session, dataset_pk: int) -> tuple[list[LeftOutDuplicate], list[DuplicateGroup]]:
    left_out = keep_latest(list_left_out_duplicates(session, dataset_pk))
    return left_out, group_duplicates(left_out, list_duplicate_pairs(session, dataset_pk, left_out))


def _store(
    session: Session,
    row: DatasetRow,
    actor: Actor,
    members: list[tuple[DuplicateGroup, LeftOutDuplicate]],
    new: list[tuple[int, int]],
    *,
    now: datetime,
) -> None:
    """Make pairs of the documents, a round of those that are new, and give them the grades."""
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
    grades = [
        TakenGrade(
            pair_pks[item.query_pk, item.document_pk],
            group.grade,
            group.doc_id,
            group.pair,
            item.round,
            item.rule,
            actor.username,
        )
        for group, item in members
        if group.grade is not None and group.pair is not None
    ]
    take_over(session, dataset_pk, grades, now=now)
