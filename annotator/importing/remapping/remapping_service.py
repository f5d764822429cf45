"""Give documents and queries new ids, together with everything stored under the old ones. For leads.

A renamed document keeps its pairs, texts, run results, provenance and judgments. A split or merged document
leaves with its pairs; its new ids get pairs to judge, with the old grades as suggestions for leads. A query
keeps its pairs, judgments, decisions and run results; in a release it also keeps its id, because readers of
the release find the grades by this id. A pair always keeps its key, so a judgment that a browser is sending
reaches the right pair. Everything or nothing; importing the same file twice changes nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import Problems
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import show_id
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.tables import open_table, take_id
from annotator.formats.syntax.text import describe, to_utf8
from annotator.importing.remapping import remapping_sql
from annotator.importing.remapping.remapping import (
    LivePair,
    RemapFile,
    RemapMoves,
    RemapPlan,
    RemapReport,
    carry_pairs,
    find_applied,
    make_report,
    name_retired,
    plan_remap,
    read_remap,
)
from annotator.importing.texts.texts_sql import add_documents_by_id, list_document_keys, list_query_texts
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.outdated import mark_outdated
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import add_seen, carry_seen, list_blind_pairs
from annotator.storage.pairs.pair_states import add_suggestions, list_pair_states, list_suggestions
from annotator.storage.pairs.pool import PoolCandidate, add_candidates, add_pairs, list_pair_pks, list_queries

SYSTEM = "remap"


def remap_documents(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    encoding: str | None = None,
    dry_run: bool = False,
) -> RemapReport:
    """Give documents the new ids of a file `old_doc_id,new_doc_id`. For leads.

    BadInput names every bad line. Old ids outside the dataset are reported, not refused. The report's numbers
    depend on grades: a dry run counts pairs that the lead may still judge as not judged; without it, the lead
    may no longer judge them.
    """
    file = read_remap(to_utf8(read_regular(path), str(path), encoding), str(path))
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, row, dataset_pk):
        lock_dataset(session, dataset_pk)
        documents = _list_documents(session, dataset_pk, file)
        paired = remapping_sql.list_paired_documents(session, dataset_pk, retired=False)
        applied = find_applied(remapping_sql.list_batches(session, dataset_pk), file.links)
        with_pairs = [doc_id for doc_id, pk in documents.items() if pk in paired]
        plan = plan_remap(file.links, documents, with_pairs, applied=applied)
        moved = plan.list_moved(documents)
        pairs = _list_affected(session, dataset_pk, documents, plan, moved)
        blind = list_blind_pairs(session, dataset_pk, actor.person_id).intersection(pair.pk for pair in pairs)
        if dry_run:
            pairs = [
                replace(pair, status="unjudged", grade=None) if pair.pk in blind else pair for pair in pairs
            ]
        elif actor.person_id is not None:
            add_seen(session, blind, actor.person_id, now=now)
        moves = carry_pairs(pairs, moved, plan.leaving)
        work = _RemapWork(session, dataset_pk, row.name, documents, plan, moved, moves, now)
        stored = _store(work)
        carry_seen(session, [*moves.retired, *moves.displaced], now=now)
        if plan.list_links():
            note_act(
                session,
                AuditAction.documents_remapped,
                actor,
                at=now,
                dataset=dataset_pk,
                target=path.name,
                details={"links": len(file.links), "applied_before": len(applied)},
            )
        if dry_run:
            session.rollback()
    return make_report(file, plan, moves, stored, applied=len(applied), dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _RemapWork:
    """The state of a remap. `documents`: {old id: key}; `moved`: renamed documents whose new id another document has."""

    session: Session
    dataset_pk: int
    dataset: str
    documents: Mapping[str, int]
    plan: RemapPlan
    moved: Mapping[str, str]
    moves: RemapMoves
    now: datetime

    @property
    def leaving(self) -> dict[str, int]:
        """Return {old id: key} of the documents that will have no id of their own."""
        return {old: self.documents[old] for old in (*self.moved, *self.plan.leaving)}


def _list_documents(session: Session, dataset_pk: int, file: RemapFile) -> dict[str, int]:
    """Return {doc_id: key} of the documents in use. BadInput for a new id that a retired document has."""
    every = remapping_sql.list_document_ids(session, dataset_pk)
    retired = remapping_sql.list_paired_documents(session, dataset_pk, retired=True)
    problems = Problems(file.path)
    for _, new in file.links:
        if every.get(new) in retired:
            problems.add(None, say("new_doc_id to be an id that no retired document has"), describe(new))
    problems.raise_if_any()
    return {doc_id: pk for doc_id, pk in every.items() if pk not in retired}


def _list_affected(
    session: Session,
    dataset_pk: int,
    documents: Mapping[str, int],
    plan: RemapPlan,
    moved: Mapping[str, str],
) -> list[LivePair]:
    concerned = {documents[doc_id] for doc_id in (*plan.leaving, *moved, *moved.values())}
    pks = remapping_sql.list_pairs_of(session, concerned)
    if not pks:
        return []
    suggested = list_suggestions(session, dataset_pk)
    pairs = []
    for state in list_pair_states(session, dataset_pk, pks):
        status, grade = state.settlement.status, state.settlement.grade
        if status == "unjudged" and state.pair_pk in suggested:
            grade = suggested[state.pair_pk].grade
        pair = LivePair(state.pair_pk, state.key, state.query_pk, state.query_id, state.doc_id, status, grade)
        pairs.append(pair)
    return pairs


def _store(work: _RemapWork) -> dict[str, int]:
    """Store the remap; return the numbers of rows, by the fields of its report."""
    session, plan, moves = work.session, work.plan, work.moves
    new_ids = {old: new for old, new in plan.renamed.items() if old not in work.moved}
    renamed_pks = [work.documents[old] for old in new_ids]
    carried = len(moves.moved) + len(remapping_sql.list_pairs_of(session, renamed_pks))
    remapping_sql.add_remaps(session, work.dataset_pk, plan.list_links(), now=work.now)
    leaving = [*moves.retired, *moves.displaced]
    remapping_sql.retire_pairs(session, work.dataset_pk, leaving, now=work.now)
    taken = {*work.documents, *plan.renamed.values(), *plan.list_targets()}
    taken |= remapping_sql.list_document_ids(session, work.dataset_pk).keys()
    doc_ids = {work.documents[old]: new for old, new in new_ids.items()}
    doc_ids |= {pk: _take_name(work, old, taken) for old, pk in work.leaving.items()}
    remapping_sql.change_ids(session, doc_ids, taken)
    _make_room(work, taken)
    _move(work)
    new, dropped = _replace_leaving(work)
    suggested = _suggest(work)
    return {
        "pairs_carried": carried,
        "pairs_new": suggested,
        "documents_new": new,
        "documents_dropped": dropped,
    }


def _take_name(work: _RemapWork, doc_id: str, taken: set[str]) -> str:
    name = name_retired(doc_id, taken, day=work.now.date().isoformat())
    taken.add(name)
    return name


def _make_room(work: _RemapWork, taken: set[str]) -> None:
    """Put displaced pairs on a new document with the same text."""
    there = {
        doc_id: _take_name(work, doc_id, taken) for doc_id in dict.fromkeys(work.moves.displaced.values())
    }
    copies = {name: work.documents[doc_id] for doc_id, name in there.items()}
    made = remapping_sql.copy_documents(work.session, work.dataset_pk, copies)
    displaced = {pk: made[there[doc_id]] for pk, doc_id in work.moves.displaced.items()}
    remapping_sql.move_pairs(work.session, displaced)


def _move(work: _RemapWork) -> None:
    """Move what belongs to renamed documents to the documents that already have the new ids."""
    pks = {work.documents[old]: work.documents[new] for old, new in work.moved.items()}
    remapping_sql.carry_texts(work.session, list(pks.items()))
    onto = {pk: work.documents[doc_id] for pk, doc_id in work.moves.moved.items()}
    remapping_sql.move_pairs(work.session, onto)
    mark_outdated(work.session, work.dataset_pk, pks.values())  # the new id may stand for another text
    remapping_sql.copy_provenance(work.session, work.moves.merged_pairs)


def _replace_leaving(work: _RemapWork) -> tuple[int, int]:
    """Replace leaving documents; return (documents with an id only, deleted documents)."""
    session, dataset_pk, leaving = work.session, work.dataset_pk, work.leaving
    if not leaving:
        return 0, 0
    existing = remapping_sql.list_document_ids(session, dataset_pk)
    free = work.plan.list_targets() - existing.keys()
    remapping_sql.copy_documents(
        session, dataset_pk, {new: leaving[new] for new in sorted(free & leaving.keys())}
    )
    wanted = dict.fromkeys(doc_id for _, _, doc_id in work.moves.joining)
    by_id_only = len(add_documents_by_id(session, dataset_pk, wanted)[1].ids)
    entries = remapping_sql.list_run_entries(session, dataset_pk)
    onto = {work.documents[old]: work.documents[new] for old, new in work.moved.items()}
    remapping_sql.carry_left_out(session, onto)
    gone = set(leaving.values())
    stay = [
        entry
        for entry in set(entries) - remapping_sql.move_run_entries(session, entries, onto)
        if entry[2] in gone
    ]
    pairs = remapping_sql.list_pair_keys(session, gone)
    doc_ids = {pk: old for old, pk in leaving.items()}
    queries = list_queries(session, dataset_pk) if stay else {}
    names = {
        (query_pk, document_pk): (queries[query_pk].query_id, doc_ids[document_pk])
        for _, query_pk, document_pk in sorted(stay)
        if (query_pk, document_pk) not in pairs
    }
    # what a run says of a document that has left must not join the pool later
    add_pairs(session, dataset_pk, work.dataset, names, now=work.now, retired_at=work.now)
    in_use = {document_pk for _, document_pk in (*pairs, *names)}
    kept = remapping_sql.drop_unused(session, gone, in_use)
    return by_id_only, len(gone) - len(kept)


def _suggest(work: _RemapWork) -> int:
    """Add the pairs of split and merged documents, note the old grades, and return the number of new pairs."""
    session, dataset_pk, moves = work.session, work.dataset_pk, work.moves
    documents = list_document_keys(session, dataset_pk)
    candidates = [
        PoolCandidate(query_pk, query_id, documents[new].pk, new, SYSTEM, signals={"old_doc_ids": olds})
        for (query_pk, query_id, new), olds in moves.joining.items()
    ]
    growth = add_candidates(session, dataset_pk, work.dataset, candidates, now=work.now)
    pairs = list_pair_pks(session, dataset_pk, {item.query_pk for item in moves.suggested})
    rows: list[dict[str, Any]] = [
        {
            "pair_pk": pairs[item.query_pk, documents[item.doc_id].pk],
            "grade": item.grade,
            "keep": False,
            "source": {
                "kind": SYSTEM,
                "old_doc_id": item.old.doc_id,
                "pair": item.old.key,
                "status": item.old.status,
            },
            "description": None,
            "note": None,
            "annotator_grades": [],
            "extra": {},
            "imported_at": work.now,
        }
        for item in moves.suggested
    ]
    add_suggestions(session, rows)
    return growth.pairs


OLD, NEW = ("old_query_id",), ("new_query_id",)


@dataclass(frozen=True, slots=True)
class QueryRenaming:
    """The effect of a file of new query ids; with `dry_run`, the possible effect.

    `read`: its lines; `applied`: lines whose query already has the new id. `renamed`: {old id: new id}.
    `unknown`: old ids outside the dataset.
    """

    path: str
    read: int
    applied: int
    renamed: Mapping[str, str]
    unknown: tuple[str, ...]
    dry_run: bool


def rename_queries(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    encoding: str | None = None,
    dry_run: bool = False,
) -> QueryRenaming:
    """Give queries the new ids of a file `old_query_id,new_query_id`.

    BadInput names every bad line: a repeated id, a query in a release, or a new id that another query or a
    release has. Old ids outside the dataset are reported, not refused.
    """
    data = to_utf8(read_regular(path), str(path), encoding)
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        lock_dataset(session, dataset_pk)
        queries = list_query_texts(session, dataset_pk)
        released = remapping_sql.list_released_queries(session, dataset_pk)
        links = _read_links(data, str(path), queries, released)
        renamed = {old: new for old, new in links.items() if old in queries and old != new}
        if renamed:
            new_ids = {queries[old].pk: new for old, new in renamed.items()}
            remapping_sql.rename_queries(session, dataset_pk, new_ids, renamed)
            note_act(
                session,
                AuditAction.queries_renamed,
                actor,
                at=now,
                dataset=dataset_pk,
                target=path.name,
                details={"renamed": len(renamed)},
            )
        if dry_run:
            session.rollback()
    absent = [old for old in links if old not in queries]
    unknown = tuple(old for old in absent if links[old] not in queries)
    return QueryRenaming(str(path), len(links), len(absent) - len(unknown), renamed, unknown, dry_run)


def _read_links(
    data: bytes, path: str, queries: Collection[str], released: Collection[str]
) -> dict[str, str]:
    """Return {old id: new id}. Each id occurs once, so a second import cannot continue or reverse the first."""
    table, problems = open_table(data, path, (OLD, NEW))
    links: dict[str, str] = {}
    lines: dict[str, int] = {}
    for row in table.rows:
        old, new = take_id(row, OLD, problems), take_id(row, NEW, problems)
        if old is None or new is None or links.get(old) == new:
            continue
        for item_id in {old, new}:
            if item_id in lines:
                problems.add(row.line, f"each id once (first on line {lines[item_id]})", show_id(item_id))
            lines.setdefault(item_id, row.line)
        if old != new and old in queries:
            if new in queries:
                problems.add(row.line, "new_query_id to be an id that no query has", show_id(new))
            for item_id in {old, new} & set(released):
                problems.add(row.line, "an id that no release names: releases never change", show_id(item_id))
        links.setdefault(old, new)
    if not links and not problems:
        problems.add(None, "lines of old_query_id and new_query_id", say("none"))
    problems.raise_if_any()
    return links
