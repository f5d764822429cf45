"""Preview and publish releases, for leads.

Refuses to publish while a gate is neither met nor overridden with a reason, a version twice, over an existing folder, and
what a format cannot carry. `folder.py` keeps a publish whole. Pairs are read twice, a few hundred queries at a time, in one
read transaction: to count (`gates.py`) and to write (`write.py`).
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from annotator.dataset.settings import ABOUT
from annotator.domain.audit import AuditAction
from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    DatabaseUnavailable,
    GateNotMet,
    StateError,
)
from annotator.domain.ground_truth import Query
from annotator.domain.messages import say
from annotator.domain.people import Actor, name_annotator, name_lead
from annotator.domain.settling import describe_overlap
from annotator.domain.texts import check_text, check_version
from annotator.guideline.feedback_sql import count_causes, count_decisions_behind
from annotator.people.roles_service import enter_dataset, open_dataset, require_person, require_role
from annotator.pooling.rounds.rounds_sql import read_chances, read_history
from annotator.quality.records import QualityStatus
from annotator.releases.files_service import to_release
from annotator.releases.gates import DatasetSnapshot, ReleaseSurvey, explain, list_scale, override_gates
from annotator.releases.gates_service import compute_gates, survey_pairs
from annotator.releases.published_service import (
    list_pairs_of_changes,
    read_facts,
    read_qrels,
    read_renames,
)
from annotator.releases.published_sql import list_decision_words
from annotator.releases.records import Release, ReleaseDiff, ReleaseFacts, Renames
from annotator.releases.releases_sql import (
    add_pseudonyms,
    add_release,
    count_decisions,
    find_latest_release,
    find_sums,
    list_checkers,
    list_dataset_names,
    list_participants,
    list_pseudonyms,
    list_recorded_folders,
    list_secrets,
    list_systems,
    list_versions,
)
from annotator.releases.verify.signing import check_key, sign
from annotator.releases.writing.datasheet import collect_datasheet, hide_people, write_datasheet
from annotator.releases.writing.files import assign_numbers, count_content, without_cycle_search
from annotator.releases.writing.folder import (
    check_free,
    discard,
    find_whole_partial,
    hold_folder,
    is_abandoned,
    open_partial,
    put_in_place,
    sweep,
)
from annotator.releases.writing.judged_sql import (
    begin_recording,
    end_recording,
    is_recorded_in_parts,
    iterate_documents,
    iterate_judged_queries,
    list_recordings,
    record_parts,
    remove_recording,
)
from annotator.releases.writing.write import ReleaseComparison, ReleaseOrder, WrittenRelease, write_release
from annotator.storage.database import Database, lock_releases, require_not_archived
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import (
    list_blind_pairs,
    list_pair_names,
    list_released_names,
    note_published,
    note_seen,
)
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, find_rubric, key_of, to_rubric
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pool import count_documents
from annotator.storage.tables.central import DatasetRow
from annotator.storage.tables.releases import ReleaseRow

KEPT_CHANGES = 200  # changes of each kind that CHANGES.md lists; it counts all
NO_RENAMES = Renames()


def preview_release(
    database: Database, actor: Actor, dataset: str, *, keep: int | None = KEPT_CHANGES, now: datetime
) -> ReleaseDiff:
    """Compare a release published now with the latest one. For leads.

    Pairs that the lead may still judge are left out, and the lead may not judge the listed pairs any more. `keep`: changes of each kind to list, None for all; the counts are
    always complete.
    """
    with without_cycle_search(), database.read() as session:
        row = enter_dataset(session, actor, dataset, "lead")
        blind = list_blind_pairs(session, key_of(row.pk), actor.person_id)
        without = list_pair_names(session, blind)
        comparison, _ = _begin_comparison(session, row, keep=keep, blind=blind)
        texts: dict[str, str | None] = {}
        for query, pairs in iterate_judged_queries(session, key_of(row.pk), for_comparison=True):
            settled = [  # their order changes no qrel
                pair
                for pair in pairs
                if pair.grade is not None and (query.query_id, pair.doc_id) not in without
            ]
            comparison.add(query.query_id, settled)
            if settled:
                texts[query.query_id] = query.text
        rubric = find_rubric(session, key_of(row.pk))
        scale = list_scale(to_rubric(rubric))
        diff = comparison.end(ReleaseFacts(row.name, None, scale, rubric.version, texts))
    note_published(database, actor, dataset, list_pairs_of_changes(diff.changes), now=now)
    return diff


def publish_release(
    database: Database,
    actor: Actor,
    dataset: str,
    version: str,
    *,
    exports_dir: Path,
    now: datetime,
    note: str = "",
    overrides: Mapping[str, str] | None = None,
    sign_with: Path | None = None,
) -> Release:
    """Write what is settled now to `exports_dir/<dataset>/<version>/`, record it as a release and return it.

    The gates are checked on all pairs. So all pairs that the lead may still judge are recorded as seen, also if a gate
    refuses. `overrides`: reasons by the name of a gate; a reason for a gate that is met is not kept. `now`, to the second, is the
    time of the release. `sign_with`: an OpenSSH key (see `signing.py`).

    Raises GateNotMet with what is missing; ConflictError if the version or its folder exists, or another lead published
    meanwhile; StateError if nothing is settled, the key cannot sign or the disk refuses; ValidationError for a bad version,
    an unknown gate, or an id that a format cannot carry.
    """
    lead_pk = require_person(actor)
    check_version(version)
    if sign_with is not None:
        check_key(sign_with)
    note = check_text(say("note"), note, empty=None)
    order = ReleaseOrder(version, now.astimezone(UTC).replace(microsecond=0), note)
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        require_not_archived(session, dataset_pk)
        target = exports_dir / row.name / version
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
    note_seen(database, blind, lead_pk, now=now)  # whether a gate of all pairs is met shows their grades
    finish_publishing(database, exports_dir=exports_dir, now=now)
    with ExitStack() as locks:  # nobody removes the folder from its first file on
        with without_cycle_search(), database.read() as session:
            row = find_dataset(session, dataset)
            _check_new(session, dataset_pk, version)
            check_free(target)
            plan = _read_plan(session, row, lead_pk, overrides or {})
            locks.enter_context(hold_folder(target.parent))
            signer = None if sign_with is None else partial(sign, key=sign_with)
            folder, written = _write(session, row, plan, order, target, signer)
        release = ReleaseRow.model_validate(
            {
                "dataset_pk": dataset_pk,
                "version": version,
                "published_by": lead_pk,
                "created_at": order.at,
                "note": note,
                "content_sha256": written.manifest["content_sha256"],
                "sums": written.sums,
                "manifest": written.manifest,
                "signature": written.signature,
            }
        )
        _record(database, actor, release, plan.snapshot, written, folder=folder, target=target)
        put_in_place(folder, target)
    return to_release(release, row.name, exports_dir)


def finish_publishing(database: Database, *, exports_dir: Path, now: datetime) -> list[Path]:
    """Rename the folders of releases that a killed publish recorded but did not rename; return these folders.

    Called when the program starts, before every release command and before every publish. Also removes what killed
    publishes left without a record, files and rows, unless somebody is publishing into the same folder. Never removes what is recorded,
    also while something else stands at its path.
    """
    with database.read() as session:
        recorded = list_recorded_folders(session)
        datasets = list_dataset_names(session)
        recordings = list_recordings(session)
    finished = []
    for release in recorded:
        target = exports_dir / release.dataset / release.version
        hidden_folder = None if os.path.lexists(target) else find_whole_partial(target, release.sums)
        if hidden_folder is not None:
            put_in_place(hidden_folder, target)
            finished.append(target)
    for dataset in datasets:
        sweep(exports_dir / dataset, now=now, recorded={release.sums for release in recorded})
    for recording in recordings:
        if is_abandoned(exports_dir / recording.dataset, recording.started_at, now=now):
            remove_recording(database, recording.release_pk)
    return finished


@dataclass(frozen=True, slots=True)
class _ReleasePlan:
    """The values that are ready before the first file is written."""

    snapshot: DatasetSnapshot
    survey: ReleaseSurvey
    quality: QualityStatus  # under pseudonyms
    decisions: Mapping[int, int]  # by person_pk


def _read_plan(session: Session, row: DatasetRow, lead_pk: int, overrides: Mapping[str, str]) -> _ReleasePlan:
    """Count the pairs and check the gates. Raises GateNotMet if one is neither met nor overridden."""
    from annotator.agreement.service import measure_for_release

    dataset_pk = key_of(row.pk)
    settled = read_settlements(session, dataset_pk)
    survey = survey_pairs(session, row, settled)
    secrets = list_secrets(session, dataset_pk)
    decisions = count_decisions(session, dataset_pk)
    checkers = list_checkers(session, dataset_pk)
    people = list_participants(session, {lead_pk, *secrets, *decisions, *checkers})
    published_numbers = list_pseudonyms(session, dataset_pk)
    new_numbers = assign_numbers(published_numbers, people, secrets, seed=row.seed)
    numbers = published_numbers | new_numbers
    publisher = name_lead(numbers[lead_pk])
    pseudonyms = {pk: name_annotator(number) for pk, number in numbers.items()}
    group_by = _choose_groups(survey.queries.values())
    agreement, verdict = measure_for_release(session, row, settled, by=group_by, pseudonyms=pseudonyms)
    gates = override_gates(compute_gates(survey, row, verdict), overrides, by=publisher)
    reasons = explain(gates)
    if reasons:
        raise GateNotMet(reasons)
    if not survey.pairs.by_grade:
        raise StateError(say("There is nothing to publish: no pair is settled yet."))
    rubric = find_rubric(session, dataset_pk)
    snapshot = DatasetSnapshot(
        dataset=row.name,
        seed=row.seed,
        list_grade_0=row.list_grade_0,
        guideline_version=rubric.version,
        rubric=to_rubric(rubric),
        counts=count_content(
            queries=len(survey.queries),
            judged_queries=len(survey.pairs.of_query),
            statuses=survey.pairs.statuses,
            by_grade=survey.pairs.by_grade,
        ),
        gates=gates,
        agreement=agreement,
        numbers=numbers,
        new_numbers=new_numbers,
        simulated=frozenset(person.key for person in people if person.simulated),
        publisher=publisher,
        versions=tuple(list_versions(session, dataset_pk)),
        about={name: getattr(row, name) for name in ABOUT},
        left_out={name: len(ids) for name, ids in survey.unwritable.items()},
    )
    quality = hide_people(survey.quality, {person.username: numbers[person.key] for person in people})
    return _ReleasePlan(snapshot, survey, quality, decisions)


def _choose_groups(queries: Iterable[Query]) -> str | None:
    """Group agreement by category if there are some, and not too many to compare."""
    from annotator.agreement.records import MOST_COMPARED_GROUPS

    categories = {query.category for query in queries}
    return "category" if categories - {None} and len(categories) <= MOST_COMPARED_GROUPS else None


def _begin_comparison(
    session: Session, row: DatasetRow, *, keep: int | None, blind: Collection[int] = ()
) -> tuple[ReleaseComparison, Renames]:
    """Return the comparison with the latest release, and the documents' new ids since then.

    `blind`: pairs (pair_pk) to leave out, under the ids of that time, because the reader may still judge them.
    """
    latest = find_latest_release(session, key_of(row.pk))
    if latest is None:
        return ReleaseComparison(None, NO_RENAMES, lambda _: {}, lambda _: {}, keep=keep), NO_RENAMES
    renames = read_renames(session, key_of(row.pk), since=latest.created_at)
    without = list_released_names(session, key_of(row.pk), key_of(latest.pk), blind)
    read = partial(read_qrels, session, key_of(latest.pk), without=without)
    read_decisions = partial(list_decision_words, session)
    before = read_facts(session, row.name, latest)
    return ReleaseComparison(before, renames, read, read_decisions, keep=keep), renames


def _write(
    session: Session,
    row: DatasetRow,
    plan: _ReleasePlan,
    order: ReleaseOrder,
    target: Path,
    signer: Callable[[str], str] | None,
) -> tuple[Path, WrittenRelease]:
    """Write every file into a hidden folder. Return the folder, and what is to be recorded."""
    from annotator.evaluation.service import find_what_runs_tell

    dataset_pk = key_of(row.pk)
    comparison, renames = _begin_comparison(session, row, keep=KEPT_CHANGES)
    history = read_history(session, dataset_pk)
    with open_partial(target) as folder:
        written = write_release(
            folder,
            plan.snapshot,
            order,
            iterate_judged_queries(session, dataset_pk),
            iterate_documents(session, dataset_pk),
            comparison,
            renames,
            lambda manifest, judgments: write_datasheet(
                collect_datasheet(
                    manifest,
                    plan.snapshot,
                    judgments,
                    title=row.title,
                    language=row.language,
                    overlap=row.overlap,
                    overlap_rules=str(describe_overlap(row.overlap, row.overlap_rules))
                    if row.overlap_rules
                    else None,
                    systems=list_systems(session, dataset_pk),
                    history=history,
                    decisions=plan.decisions,
                    causes=count_causes(session, dataset_pk),
                    lessons=count_decisions_behind(session, dataset_pk),
                    imports=list_import_records(session, dataset_pk),
                    documents=count_documents(session, dataset_pk),
                    coverage=plan.survey.coverage.rows,
                    without_relevant=plan.survey.without_relevant,
                    without_qrels=plan.survey.without_qrels,
                    remapped=len({old for old, _, _ in renames.rows}),
                    quality=plan.quality,
                    findings=find_what_runs_tell(session, dataset_pk, row.name),
                )
            ),
            signer,
            chances=read_chances(session, dataset_pk) if history.drawn else None,
        )
    return folder.path, written


def _record(
    database: Database,
    actor: Actor,
    release: ReleaseRow,
    snapshot: DatasetSnapshot,
    written: WrittenRelease,
    *,
    folder: Path,
    target: Path,
) -> None:
    """Commit the release's rows. If that fails, remove the hidden folder, unless the rows were committed after all."""
    try:
        if is_recorded_in_parts(database, written):
            _record_in_parts(database, actor, release, snapshot, written, target=target)
        else:
            with database.write() as session:
                _lock_unchanged(session, actor, release.dataset_pk, snapshot, target)
                add_pseudonyms(session, release.dataset_pk, snapshot.new_numbers)
                add_release(session, release, written.queries.chunks(), written.qrels.chunks())
                _note_published(session, actor, release)
    except BaseException as error:
        refused = isinstance(error, AnnotatorError) and not isinstance(error, DatabaseUnavailable)
        if refused or not _is_recorded(database, release):  # otherwise the commit itself is in doubt
            discard(folder)
        if isinstance(error, OSError):
            raise StateError(say("The release cannot be recorded: {why}", why=error.strerror)) from None
        raise
    finally:
        written.close()


def _note_published(session: Session, actor: Actor, release: ReleaseRow) -> None:
    gates = release.manifest.get("gates", [])
    details = {
        "content_sha256": release.content_sha256,
        "overridden": [gate["name"] for gate in gates if gate.get("override")],
        "signed": release.signature is not None,
    }
    note_act(
        session,
        AuditAction.release_published,
        actor,
        at=release.created_at,
        dataset=release.dataset_pk,
        target=release.version,
        details=details,
    )


def _record_in_parts(
    database: Database,
    actor: Actor,
    release: ReleaseRow,
    snapshot: DatasetSnapshot,
    written: WrittenRelease,
    *,
    target: Path,
) -> None:
    """Record queries and qrels part by part, so that others write in between; the last transaction publishes them.

    If another lead publishes meanwhile, the last transaction refuses. What was recorded in vain is removed.
    """
    with database.write() as session:
        _lock_unchanged(session, actor, release.dataset_pk, snapshot, target)
        release_pk = begin_recording(session, release.dataset_pk, now=release.created_at)
    try:
        for _ in record_parts(database, release_pk, written):
            pass
        with database.write() as session:
            _lock_unchanged(session, actor, release.dataset_pk, snapshot, target)
            add_pseudonyms(session, release.dataset_pk, snapshot.new_numbers)
            end_recording(session, release, release_pk)
            _note_published(session, actor, release)
    except BaseException:
        with contextlib.suppress(DatabaseUnavailable):  # then `finish_publishing` removes it later
            remove_recording(database, release_pk)
        raise


def _check_new(session: Session, dataset_pk: int, version: str) -> None:
    if version in list_versions(session, dataset_pk):
        raise ConflictError(
            say(
                "Version {version} is already published and cannot be changed. Choose another version.",
                version=version,
            )
        )


def _lock_unchanged(
    session: Session, actor: Actor, dataset_pk: int, snapshot: DatasetSnapshot, target: Path
) -> None:
    """Keep others from publishing. Raises ConflictError if another lead published since the snapshot."""
    require_role(session, actor, dataset_pk, "lead")
    lock_releases(session, dataset_pk)
    require_not_archived(session, dataset_pk)
    versions = tuple(list_versions(session, dataset_pk))
    if versions != snapshot.versions:
        raise ConflictError(
            say("Another lead has just published version {version}. Publish again.", version=versions[-1])
        )
    check_free(target)


def _is_recorded(database: Database, release: ReleaseRow) -> bool:
    """Return whether the release is in the database after all, when its commit is in doubt."""
    with database.read() as session:
        return find_sums(session, release.dataset_pk, release.version) == release.sums
