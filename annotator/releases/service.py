"""Check gates, preview, publish and list releases, for leads; verify a release folder, for anybody.

Refuses to publish while a gate is neither met nor overridden with a reason, a version twice, over an existing folder, and
what a format cannot carry. `folder.py` keeps a publish whole. Pairs are read twice, a few hundred queries at a time, in one
read transaction: to count (`counts.py`) and to write (`write.py`).
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.records import AgreementReport, AgreementVerdict
from annotator.dataset.coverage_service import measure_coverage
from annotator.dataset.records import Coverage
from annotator.dataset.service import ABOUT
from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    DatabaseUnavailable,
    GateNotMet,
    NotFound,
    StateError,
)
from annotator.domain.ground_truth import Query
from annotator.domain.messages import say
from annotator.domain.overlap import say_overlap
from annotator.domain.people import Actor, name_annotator, name_lead
from annotator.guideline.feedback_sql import count_causes, count_led
from annotator.people.service import require_person, require_role
from annotator.quality.records import QualityStatus
from annotator.releases.comparison import ReleaseComparison
from annotator.releases.content import assign_numbers, count_content, list_settled
from annotator.releases.counts import DatasetSnapshot, PairSurvey, list_figures, list_scale
from annotator.releases.datasheet_facts import fill_sheet
from annotator.releases.datasheet_figures import hide_people
from annotator.releases.files import MANIFEST, SIGNATURE, SUMS, WITHOUT_GRADES, without_cycle_search
from annotator.releases.folder import (
    check_free,
    discard,
    find_whole_partial,
    hold_folder,
    open_partial,
    put_in_place,
    read_sums,
    sweep,
)
from annotator.releases.gates import ReleaseGate, explain, find_meaning_since, override_gates, to_gate
from annotator.releases.gates import check_gates as compare_gates
from annotator.releases.judged_sql import iterate_documents, iterate_judged_queries
from annotator.releases.published_service import ReleaseDiff as ReleaseDiff
from annotator.releases.published_service import (
    ReleaseFacts,
    Renames,
    list_named,
    note_published,
    read_facts,
    read_qrels,
    read_renames,
)
from annotator.releases.published_sql import list_decision_words
from annotator.releases.release_records import OpenedRelease as OpenedRelease
from annotator.releases.release_records import Release as Release
from annotator.releases.release_records import ReleaseCheck as ReleaseCheck
from annotator.releases.releases_sql import (
    add_pseudonyms,
    add_release,
    count_decisions,
    list_checkers,
    list_decided_on_older_text,
    list_decision_versions,
    list_judged_on_older_text,
    list_old_judgments,
    list_participants,
    list_pseudonyms,
    list_releases_of_dataset,
    list_rubric_versions,
    list_secrets,
    list_systems,
)
from annotator.releases.signing import check_key, sign
from annotator.releases.verified_files import VerifiedFile as VerifiedFile
from annotator.releases.verified_files import find_misplaced, list_checksums, open_verified, refuse_file
from annotator.releases.verify import Verification, verify_folder
from annotator.releases.versions import check_version, suggest_version
from annotator.releases.write import ReleaseOrder, WrittenRelease, write_release
from annotator.storage.database import Database, lock_releases
from annotator.storage.import_records import list_import_records
from annotator.storage.lookup import find_dataset, find_rubric, key_of, to_rubric
from annotator.storage.pair_states import PairState, iterate_pair_states, list_queries
from annotator.storage.pool import count_documents
from annotator.storage.tables import DatasetRow, ReleaseRow

KEPT_CHANGES = 200  # how many changes of each kind CHANGES.md lists; every one is counted
NO_RENAMES = Renames()


def check_release(database: Database, actor: Actor, dataset: str) -> ReleaseCheck:
    """Every gate: what it requires, what was measured. Needs the role lead."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        found = _survey(session, row, iterate_pair_states(session, key_of(row.pk)))
        gates = _check(found, row, _judge_kappa(session, row))
        versions = [release.version for release in list_releases_of_dataset(session, key_of(row.pk))]
        open_pairs = tuple(found.survey.opened.first)
        return ReleaseCheck(None, gates, open_pairs, found.survey.statuses, suggest_version(versions))


def check_gates(
    session: Session,
    row: DatasetRow,
    states: Iterable[PairState] | None = None,
    *,
    agreement: AgreementReport | None = None,
) -> tuple[ReleaseGate, ...]:
    """The gates within a transaction that is open already; whoever calls it has checked the role.

    `states`: the pairs' states where the caller has them already; they are read otherwise. `agreement`: a report at hand;
    its verdict stands where a publish would draw the same one from the same judgments. Whoever hands in a report of a moment
    ago says of when it is.
    """
    from annotator.agreement.service import find_verdict

    if states is None:
        states = iterate_pair_states(session, key_of(row.pk))
    verdict = None if agreement is None else find_verdict(agreement, row)
    return _check(_survey(session, row, states), row, verdict or _judge_kappa(session, row))


def explain_check(found: ReleaseCheck) -> str:
    """What is missing for a release, for people; "" when nothing is."""
    return explain(found.gates, found.open_pairs)


def preview_release(
    database: Database, actor: Actor, dataset: str, *, keep: int | None = KEPT_CHANGES, now: datetime
) -> ReleaseDiff:
    """What a release published now would change against the latest one. Needs the role lead; they judge no more what is
    listed.

    `keep`: how many changes of each kind to list, None for all; the counts are always complete.
    """
    with without_cycle_search(), database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        comparison, _ = _begin_comparison(session, row, keep=keep)
        texts: dict[str, str | None] = {}
        for query, pairs in iterate_judged_queries(session, key_of(row.pk)):
            settled = list_settled(pairs, seed=row.seed)
            comparison.add(query.query_id, settled)
            if settled:
                texts[query.query_id] = query.text
        rubric = find_rubric(session, key_of(row.pk))
        scale = list_scale(to_rubric(rubric))
        found = comparison.end(ReleaseFacts(row.name, None, scale, rubric.version, texts))
    note_published(database, actor, dataset, list_named(found.changes), now=now)
    return found


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
    """Freeze what is settled now into `exports_dir/<dataset>/<version>/`, and record it.

    `overrides`: the reason by the name of a gate; one for a gate that is met is not kept. `now`, to the
    second, is the release's time. `sign_with`: a key of OpenSSH (see `signing.py`). GateNotMet lists what is missing; ConflictError: the version or its folder
    exists, or another lead published meanwhile; StateError: nothing is settled, or the disk refuses;
    ValidationError: the version, a gate's name, or an id that a format cannot carry.
    """
    lead_pk = require_person(actor)
    check_version(version)
    if sign_with is not None:
        check_key(sign_with)
    order = ReleaseOrder(version, now.astimezone(UTC).replace(microsecond=0), note)
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        target = exports_dir / row.name / version
    finish_publishing(database, exports_dir=exports_dir, now=now)
    with ExitStack() as held:
        given = overrides or {}
        return _publish(
            database, actor, lead_pk, dataset, order, given, target=target, held=held, sign_with=sign_with
        )


def _publish(
    database: Database,
    actor: Actor,
    lead_pk: int,
    dataset: str,
    order: ReleaseOrder,
    overrides: Mapping[str, str],
    *,
    target: Path,
    held: ExitStack,
    sign_with: Path | None,
) -> Release:
    """Write, record and put in place. From the first file on `held` keeps others from removing what is being written."""
    version, note, exports_dir = order.version, order.note, target.parent.parent
    with without_cycle_search(), database.read() as session:
        row = find_dataset(session, dataset)
        _check_new(session, key_of(row.pk), version)
        check_free(target)
        plan = _read_plan(session, row, lead_pk, overrides)
        held.enter_context(hold_folder(target.parent))
        signer = None if sign_with is None else partial(sign, key=sign_with)
        folder, made = _write(session, row, plan, order, target, signer)
    release = ReleaseRow.model_validate(
        {
            "dataset_pk": row.pk,
            "version": version,
            "published_by": lead_pk,
            "created_at": order.at,
            "note": note,
            "content_sha256": made.manifest["content_sha256"],
            "sums": made.sums,
            "manifest": made.manifest,
            "signature": made.signature,
        }
    )
    _record(database, actor, release, plan.snapshot, made, folder=folder, target=target)
    put_in_place(folder, target)
    return _to_release(release, row.name, exports_dir)


def list_releases(database: Database, actor: Actor, dataset: str, *, exports_dir: Path) -> list[Release]:
    """The releases of a dataset, oldest first, and whether their folders are there. Needs the role lead."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        rows = list_releases_of_dataset(session, key_of(row.pk))
        return [_to_release(release, row.name, exports_dir) for release in rows]


def open_release(
    database: Database,
    actor: Actor,
    dataset: str,
    version: str,
    file: str | None = None,
    *,
    exports_dir: Path,
) -> OpenedRelease:
    """Open a release's files, or the one of this name, so that only what was published can be read from them.

    NotFound: no such release, or none of that name in it, or its folder is elsewhere; ConflictError: the folder is not
    as it was published; NotAllowed: needs the role lead.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        rows = list_releases_of_dataset(session, key_of(row.pk))
        chosen = next((one for one in rows if one.version == version), None)
        if chosen is None:
            raise NotFound(say("no release {version!r} of {dataset}", version=version, dataset=dataset))
        release = _to_release(chosen, row.name, exports_dir)
        checksums = list_checksums(chosen.sums, chosen.signature)
        misplaced = _find_misplaced(chosen, release.path) if release.folder == "changed" else []
    if file is not None and file not in release.files:
        raise NotFound(
            say("no file {file!r} in {dataset} {version}", file=file, dataset=dataset, version=version)
        )
    if release.folder == "missing":
        raise NotFound(
            say("the folder of {dataset} {version} is not on this machine", dataset=dataset, version=version)
        )
    if release.folder == "changed":
        if misplaced:
            raise refuse_file(misplaced[0])
        raise ConflictError(
            say(
                "the folder of {dataset} {version} is not as it was published",
                dataset=dataset,
                version=version,
            )
        )
    return OpenedRelease(
        release, _open_files(release.path, release.files if file is None else (file,), checksums)
    )


def _open_files(folder: Path, names: Iterable[str], checksums: Mapping[str, str]) -> dict[str, VerifiedFile]:
    """The verified files by name; after any failure none stays open."""
    opened: dict[str, VerifiedFile] = {}
    try:
        for name in names:
            opened[name] = open_verified(folder, name, checksums[name])
    except BaseException:
        for file in opened.values():
            file.close()
        raise
    return opened


def tells_grades(file: str) -> bool:
    """Whether this file of a release tells the grade of any pair."""
    return file not in WITHOUT_GRADES


def verify_release(folder: Path, *, signers: Path | None = None) -> Verification:
    """Verify a release folder by itself: checksums, additions, content hash, counts, every file against the canonical
    qrels, and what its judgments can prove. `signers`: whose signature it must bear. Needs no database."""
    return verify_folder(folder, signers=signers)


def finish_publishing(database: Database, *, exports_dir: Path, now: datetime) -> list[Path]:
    """Put in place what a publish that was killed has recorded but not renamed; return those folders.

    Run it when the program starts, before every release command and before every publish. Also removes what publishes that
    were killed before recording anything left behind, unless somebody is publishing into the same folder; never what is
    recorded, also while something else stands at its place.
    """
    with database.read() as session:
        recorded = session.execute(
            select(col(DatasetRow.name), col(ReleaseRow.version), col(ReleaseRow.sums))
            .join(DatasetRow, col(DatasetRow.pk) == col(ReleaseRow.dataset_pk))
            .order_by(col(ReleaseRow.pk))
        ).all()
        names = session.scalars(select(col(DatasetRow.name)).order_by(col(DatasetRow.pk))).all()
    finished = []
    for name, version, sums in recorded:
        target = exports_dir / name / version
        partial = None if os.path.lexists(target) else find_whole_partial(target, sums)
        if partial is not None:
            put_in_place(partial, target)
            finished.append(target)
    for name in names:
        sweep(exports_dir / name, now=now, recorded={sums for _, _, sums in recorded})
    return finished


@dataclass(frozen=True, slots=True)
class _SurveyedRelease:
    """What was counted over all pairs. `queries`: by query_pk, in order. `coverage`: of what the files would hold; the
    queries `without_qrels` are in none of them."""

    survey: PairSurvey
    queries: Mapping[int, Query]
    coverage: Coverage
    without_qrels: list[str]
    without_relevant: list[str]
    quality: QualityStatus


@dataclass(frozen=True, slots=True)
class _ReleasePlan:
    """What is known before the first file is written. `quality`: under pseudonyms."""

    snapshot: DatasetSnapshot
    found: _SurveyedRelease
    quality: QualityStatus


def _survey(session: Session, row: DatasetRow, states: Iterable[PairState]) -> _SurveyedRelease:
    """Count the pairs."""
    from annotator.quality.service import compute_quality

    dataset_pk = key_of(row.pk)
    since = find_meaning_since(list_rubric_versions(session, dataset_pk))
    survey = PairSurvey(
        overlap=row.overlap,
        uneven=row.overlap_rules is not None,
        meaning_since=since,
        judged_under=list_old_judgments(session, dataset_pk) if since else None,
        decided_under=list_decision_versions(session, dataset_pk) if since else None,
        judged_on_older=list_judged_on_older_text(session, dataset_pk),
        decided_on_older=list_decided_on_older_text(session, dataset_pk),
    )
    for state in states:
        names = (state.query_id, state.doc_id)
        survey.add(names, state.query_pk, state.pair_pk, state.settlement, lacking=state.lacking)
    queries = list_queries(session, dataset_pk)
    coverage = measure_coverage(survey.list_facts(queries), row.requirements)
    return _SurveyedRelease(
        survey=survey,
        queries=queries,
        coverage=coverage,
        without_qrels=survey.list_without_qrels(queries),
        without_relevant=survey.list_without_relevant(queries),
        quality=compute_quality(session, dataset_pk),
    )


def _judge_kappa(session: Session, row: DatasetRow) -> AgreementVerdict:
    from annotator.agreement.service import compute_verdict

    return compute_verdict(session, row)


def _check(found: _SurveyedRelease, row: DatasetRow, verdict: AgreementVerdict) -> tuple[ReleaseGate, ...]:
    """The gates, from what was counted."""
    figures = list_figures(
        found.survey,
        dataset=row.name,
        verdict=verdict,
        coverage=found.coverage,
        unjudged=found.without_qrels,
        without_relevant=found.without_relevant,
        requirements=row.requirements,
        quality=found.quality,
    )
    return compare_gates(figures)


def _read_plan(session: Session, row: DatasetRow, lead_pk: int, overrides: Mapping[str, str]) -> _ReleasePlan:
    """Everything but the pairs. GateNotMet when a gate is neither met nor overridden."""
    from annotator.agreement.service import measure_agreement

    dataset_pk = key_of(row.pk)
    found = _survey(session, row, iterate_pair_states(session, dataset_pk))
    secrets = list_secrets(session, dataset_pk)
    deciders = count_decisions(session, dataset_pk)
    checkers = list_checkers(session, dataset_pk)
    people = list_participants(session, {lead_pk, *secrets, *deciders, *checkers})
    known = list_pseudonyms(session, dataset_pk)
    new = assign_numbers(known, people, secrets, seed=row.seed)
    numbers = known | new
    publisher = name_lead(numbers[lead_pk])
    names = {pk: name_annotator(number) for pk, number in numbers.items()}
    by = _choose_groups(found.queries.values())
    agreement = measure_agreement(session, row, by=by, pseudonyms=names)
    verdict = agreement.verdict or _judge_kappa(session, row)
    gates = override_gates(_check(found, row, verdict), overrides, by=publisher)
    reasons = explain(gates, found.survey.opened.first)
    if reasons:
        raise GateNotMet(reasons)
    if not found.survey.by_grade:
        raise StateError(say("nothing is settled yet, so there is nothing to publish"))
    rubric = find_rubric(session, dataset_pk)
    snapshot = DatasetSnapshot(
        dataset=row.name,
        seed=row.seed,
        list_grade_0=row.list_grade_0,
        guideline_version=rubric.version,
        rubric=to_rubric(rubric),
        counts=count_content(
            queries=len(found.queries),
            judged_queries=len(found.survey.of_query),
            statuses=found.survey.statuses,
            by_grade=found.survey.by_grade,
        ),
        gates=gates,
        agreement=agreement.as_json(),
        numbers=numbers,
        new_numbers=new,
        simulated=frozenset(person.key for person in people if person.simulated),
        publisher=publisher,
        versions=tuple(release.version for release in list_releases_of_dataset(session, dataset_pk)),
        about={name: getattr(row, name) for name in ABOUT},
    )
    hidden = hide_people(found.quality, {person.username: numbers[person.key] for person in people})
    return _ReleasePlan(snapshot, found, hidden)


def _choose_groups(queries: Iterable[Query]) -> str | None:
    """By what agreement is grouped: by category, where there are some and not too many to compare."""
    from annotator.agreement.service import MOST_GROUPS

    categories = {query.category for query in queries}
    return "category" if categories - {None} and len(categories) <= MOST_GROUPS else None


def _begin_comparison(
    session: Session, row: DatasetRow, *, keep: int | None
) -> tuple[ReleaseComparison, Renames]:
    """The comparison with the latest release, and what happened to documents' ids since then."""
    releases = list_releases_of_dataset(session, key_of(row.pk))
    if not releases:
        return ReleaseComparison(None, NO_RENAMES, lambda _: {}, lambda _: {}, keep=keep), NO_RENAMES
    latest = releases[-1]
    renames = read_renames(session, key_of(row.pk), since=latest.created_at)
    read = partial(read_qrels, session, key_of(latest.pk))
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
    """Every file into a hidden folder; that folder, and what is to be recorded."""
    dataset_pk = key_of(row.pk)
    comparison, renames = _begin_comparison(session, row, keep=KEPT_CHANGES)
    with open_partial(target) as folder:
        made = write_release(
            folder,
            plan.snapshot,
            order,
            iterate_judged_queries(session, dataset_pk),
            iterate_documents(session, dataset_pk),
            comparison,
            renames,
            lambda manifest, given: fill_sheet(
                manifest,
                plan.snapshot,
                title=row.title,
                language=row.language,
                overlap=row.overlap,
                rules=str(say_overlap(row.overlap, row.overlap_rules)) if row.overlap_rules else None,
                systems=list_systems(session, dataset_pk),
                decisions=count_decisions(session, dataset_pk),
                causes=count_causes(session, dataset_pk),
                led=count_led(session, dataset_pk),
                given=given,
                records=list_import_records(session, dataset_pk),
                documents=count_documents(session, dataset_pk),
                coverage=plan.found.coverage,
                without_relevant=plan.found.without_relevant,
                without_qrels=plan.found.without_qrels,
                remapped=len({old for old, _, _ in renames.rows}),
                quality=plan.quality,
            ),
            signer,
        )
    return folder.path, made


def _record(
    database: Database,
    actor: Actor,
    release: ReleaseRow,
    snapshot: DatasetSnapshot,
    made: WrittenRelease,
    *,
    folder: Path,
    target: Path,
) -> None:
    """Commit the release's rows. After any failure the hidden folder is gone, unless the rows are there."""
    try:
        with database.write() as session:
            _lock_unchanged(session, actor, release.dataset_pk, snapshot)
            check_free(target)
            add_pseudonyms(session, release.dataset_pk, snapshot.new_numbers)
            add_release(session, release, made.queries.chunks(), made.qrels.chunks())
    except BaseException as error:
        refused = isinstance(error, AnnotatorError) and not isinstance(error, DatabaseUnavailable)
        if refused or not _is_recorded(database, release):  # else the commit itself was in doubt
            discard(folder)
        if isinstance(error, OSError):
            raise StateError(say("cannot record the release: {why}", why=error.strerror)) from None
        raise
    finally:
        made.close()


def _check_new(session: Session, dataset_pk: int, version: str) -> None:
    if version in [release.version for release in list_releases_of_dataset(session, dataset_pk)]:
        raise ConflictError(
            say("version {version} is published already, and a release is never changed", version=version)
        )


def _lock_unchanged(session: Session, actor: Actor, dataset_pk: int, snapshot: DatasetSnapshot) -> None:
    """Let nobody else publish; ConflictError when another lead published since the snapshot."""
    require_role(session, actor, dataset_pk, "lead")
    lock_releases(session, dataset_pk)
    now = tuple(release.version for release in list_releases_of_dataset(session, dataset_pk))
    if now != snapshot.versions:
        raise ConflictError(
            say("another lead published version {version} at this moment; publish again", version=now[-1])
        )


def _is_recorded(database: Database, release: ReleaseRow) -> bool:
    """Whether the release is in the database after all, when its commit is in doubt."""
    with database.read() as session:
        statement = select(col(ReleaseRow.sums)).where(
            col(ReleaseRow.dataset_pk) == release.dataset_pk, col(ReleaseRow.version) == release.version
        )
        return session.scalar(statement) == release.sums


def _to_release(row: ReleaseRow, dataset: str, exports_dir: Path) -> Release:
    path = exports_dir / dataset / row.version
    manifest = row.manifest
    return Release(
        dataset=dataset,
        version=row.version,
        created_at=row.created_at,
        published_by=manifest["published_by"],
        note=row.note,
        previous=manifest["previous"],
        qrels=manifest["counts"]["qrels"],
        content_sha256=row.content_sha256,
        path=path,
        folder=_judge_folder(row, path),
        overridden=tuple(gate["name"] for gate in manifest["gates"] if gate["override"]),
        files=(
            *(file["path"] for file in manifest["files"]),
            MANIFEST,
            SUMS,
            *([] if row.signature is None else [SIGNATURE]),
        ),
        simulated="simulated" in manifest,
        gates=tuple(to_gate(gate) for gate in manifest["gates"]),
        signed=row.signature is not None,
    )


def _judge_folder(row: ReleaseRow, folder: Path) -> Literal["whole", "missing", "changed"]:
    """How the folder is found to be. Reads SHA256SUMS and manifest.json; the other files are hashed when they are sent."""
    found = read_sums(folder)
    if found is None:
        return "changed" if os.path.lexists(folder) else "missing"
    if found != row.sums or _find_misplaced(row, folder):
        return "changed"
    try:
        open_verified(folder, MANIFEST, list_checksums(row.sums)[MANIFEST]).close()
    except ConflictError:
        return "changed"
    return "whole"


def _find_misplaced(row: ReleaseRow, folder: Path) -> list[str]:
    """The names by which the folder differs from the release, by presence, kind and size."""
    sizes = {file["path"]: file["bytes"] for file in row.manifest["files"]}
    signed = {} if row.signature is None else {SIGNATURE: len(row.signature.encode())}
    return find_misplaced(folder, {**sizes, SUMS: None, MANIFEST: None, **signed})
