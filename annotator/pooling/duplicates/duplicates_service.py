"""List near duplicates with the grades offered to them, and accept such grades. For leads.

An accepted grade names the document that it comes from, is settled as "imported", and is replaced by any
judgment. If the judged document gets another grade later, the accepted grade stays and is reported as out of
date.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.domain.errors import ConflictError
from annotator.domain.ground_truth import TAKEN_OVER
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
from annotator.pooling.filters.filters import NEAR_DUPLICATE
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import find_pair_pks, list_to_judge, note_seen
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import bring_in, list_kept_imports, list_pair_states
from annotator.storage.pairs.pool import PoolCandidate, add_candidates, list_pair_pks
from annotator.storage.sql import fetch_tuples
from annotator.storage.tables.central import DatasetRow, DocumentRow, QueryRow
from annotator.storage.tables.pooling import LeftOutRow, PoolRoundRow

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
    """Add the new pairs with their round, and give each pair the grade of its group until it is judged."""
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
    rows: list[Mapping[str, object]] = [
        {
            "pair_pk": pair_pks[item.query_pk, item.document_pk],
            "grade": group.grade,
            "keep": True,
            "source": {
                "kind": TAKEN_OVER,
                "of": group.doc_id,
                "of_pair": group.pair,
                "rule": item.rule,
                "round": item.round,
                "accepted_by": actor.username,
            },
            "description": None,
            "note": f"near duplicate of {group.doc_id}, whose grade a lead accepted for it",
            "annotator_grades": [],
            "extra": {},
            "imported_at": now,
            "import_record_pk": None,
        }
        for group, item in members
        if group.grade is not None and group.pair is not None
    ]
    bring_in(session, dataset_pk, rows)


def list_left_out_duplicates(session: Session, dataset_pk: int) -> list[LeftOutDuplicate]:
    """Return every near duplicate that a round left out for another document."""
    kept = aliased(DocumentRow)
    statement = (
        select(
            col(LeftOutRow.query_pk),
            col(QueryRow.query_id),
            col(LeftOutRow.document_pk),
            col(DocumentRow.doc_id),
            col(LeftOutRow.kept_document_pk),
            col(kept.doc_id),
            col(PoolRoundRow.number),
            col(LeftOutRow.rule),
        )
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(LeftOutRow.round_pk))
        .join(QueryRow, col(QueryRow.pk) == col(LeftOutRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(LeftOutRow.document_pk))
        .join(kept, col(kept.pk) == col(LeftOutRow.kept_document_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk, col(LeftOutRow.rule).startswith(NEAR_DUPLICATE))
    )
    return [LeftOutDuplicate(*row) for row in fetch_tuples(session, statement)]


def list_duplicate_pairs(
    session: Session, dataset_pk: int, left_out: Sequence[LeftOutDuplicate]
) -> dict[tuple[int, int], DuplicatePair]:
    """Return the pairs of these documents and of those judged instead, by (query_pk, document_pk)."""
    keys = {(item.query_pk, pk) for item in left_out for pk in (item.document_pk, item.kept_pk)}
    pair_pks = list_pair_pks(session, dataset_pk, {query_pk for query_pk, _ in keys})
    chosen = sorted(pair_pks[key] for key in keys & pair_pks.keys())
    taken = {
        pair_pk: grade.imported_at
        for pair_pk, grade in list_kept_imports(session, dataset_pk).items()
        if grade.source.get("kind") == TAKEN_OVER
    }
    return {
        (state.query_pk, state.document_pk): DuplicatePair(
            state.key,
            state.settlement.status,
            state.settlement.grade,
            taken.get(state.pair_pk) if state.settlement.status == "imported" else None,
        )
        for state in list_pair_states(session, dataset_pk, chosen)
    }
