"""What a lead does with releases: check the gates, publish, list; and what anybody does: verify a folder.

Stands at the end of the walk: what is settled is frozen, with its whole trail, into files that evaluators read.
Refuses to publish while a gate is neither met nor overridden with a reason, a version twice, over a folder
that exists, and what a format cannot carry. How a publish stays whole: `folder.py`.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.datasets.service import to_rubric
from annotator.domain.errors import AnnotatorError, ConflictError, GateNotMet
from annotator.domain.people import Actor
from annotator.releases.files import MANIFEST, SUMS
from annotator.releases.folder import (
    check_free,
    discard,
    find_whole_partial,
    put_in_place,
    read_sums,
    sweep,
    write_partial,
)
from annotator.releases.gates import Gate, check_disagreements, check_kappa, explain, override_gates
from annotator.releases.pseudonyms import assign_numbers, list_secrets, name_annotator, name_lead
from annotator.releases.records import Release as Release
from annotator.releases.records import ReleaseCheck as ReleaseCheck
from annotator.releases.snapshot import Snapshot, make_release
from annotator.releases.verification import Verification, verify_folder
from annotator.releases.versions import check_version, suggest_version
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.pairs import PairState, list_pair_states
from annotator.storage.releases import (
    add_pseudonyms,
    add_release,
    list_judged_pairs,
    list_participants,
    list_pseudonyms,
    list_queries,
    list_releases_of_dataset,
)
from annotator.storage.tables import DatasetRow, ReleaseRow

SHOWN = 20


def check_release(database: Database, actor: Actor, dataset: str) -> ReleaseCheck:
    """Every gate: what it requires, what was measured. Needs the role lead."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        states = list_pair_states(session, key_of(row.pk))
        gates = check_gates(session, row, states)
        found: Counter[str] = Counter(state.settlement.status for state in states)
        versions = [release.version for release in list_releases_of_dataset(session, key_of(row.pk))]
        return ReleaseCheck(None, gates, _list_open(states)[:SHOWN], found, suggest_version(versions))


def check_gates(session: Session, row: DatasetRow, states: Sequence[PairState]) -> tuple[Gate, ...]:
    """The gates within a transaction that is open already; whoever calls it has checked the role."""
    from annotator.agreement.service import compute_kappa

    kappa = compute_kappa(session, key_of(row.pk))
    return (
        check_kappa(row.kappa_target, kappa.value, kappa.why),
        check_disagreements(len(_list_open(states))),
    )


def explain_check(found: ReleaseCheck) -> str:
    """What is missing for a release, for people; "" when nothing is."""
    return explain(found.gates, found.open_pairs)


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
) -> Release:
    """Freeze what is settled now into `exports_dir/<dataset>/<version>/`, and record it.

    `overrides`: the reason by the name of a gate; one for a gate that is met is not kept. `now`, to the
    second, is the release's time. GateNotMet lists what is missing; ConflictError: the version or its folder
    exists, or another lead published meanwhile; StateError: nothing is settled, or the disk refuses;
    ValidationError: the version, a gate's name, or an id that a format cannot carry.
    """
    lead_pk = require_person(actor)
    check_version(version)
    at = now.astimezone(UTC).replace(microsecond=0)
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        target = exports_dir / row.name / version
        _check_new(session, dataset_pk, version)
        check_free(target)
        snapshot = _read_snapshot(session, row, lead_pk, overrides or {})
    made = make_release(snapshot, version=version, at=at, note=note)
    partial = write_partial(target, made.files)
    release = ReleaseRow.model_validate(
        {
            "dataset_pk": dataset_pk,
            "version": version,
            "published_by": lead_pk,
            "created_at": at,
            "note": note,
            "content_sha256": made.manifest["content_sha256"],
            "sums": made.files[SUMS].decode(),
            "manifest": made.manifest,
        }
    )
    try:
        with database.write() as session:
            _lock_unchanged(session, actor, dataset_pk, snapshot)
            check_free(target)
            add_pseudonyms(session, dataset_pk, snapshot.new_numbers)
            add_release(session, release, made.qrels)
    except AnnotatorError:
        discard(partial)
        raise
    except BaseException:  # the commit itself is in doubt
        if not _is_recorded(database, dataset_pk, release):
            discard(partial)
        raise
    put_in_place(partial, target)
    return _to_release(release, row.name, exports_dir)


def list_releases(database: Database, actor: Actor, dataset: str, *, exports_dir: Path) -> list[Release]:
    """The releases of a dataset, oldest first, and whether their folders are there. Needs the role lead."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        rows = list_releases_of_dataset(session, key_of(row.pk))
        return [_to_release(release, row.name, exports_dir) for release in rows]


def verify_release(folder: Path) -> Verification:
    """Verify a release folder by itself: checksums, additions, content hash, counts. Needs no database."""
    return verify_folder(folder)


def finish_publishing(database: Database, *, exports_dir: Path, now: datetime) -> list[Path]:
    """Put in place what a publish that was killed has recorded but not renamed; return those folders.

    Run it when the program starts and before every release command. Also removes what publishes that died
    before recording anything left behind, once it is a day old.
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
        sweep(exports_dir / name, now=now)
    return finished


def _list_open(states: Sequence[PairState]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (state.query_id, state.doc_id) for state in states if state.settlement.status == "disagreement"
    )


def _read_snapshot(session: Session, row: DatasetRow, lead_pk: int, overrides: Mapping[str, str]) -> Snapshot:
    """Everything a release is made from. GateNotMet when a gate is neither met nor overridden."""
    from annotator.agreement.service import measure_agreement

    dataset_pk = key_of(row.pk)
    states = list_pair_states(session, dataset_pk)
    pairs = list_judged_pairs(session, dataset_pk, states)
    secrets = list_secrets(pairs)
    people = list_participants(
        session, {lead_pk, *secrets, *(pair.decided_by for pair in pairs if pair.decided_by)}
    )
    known = list_pseudonyms(session, dataset_pk)
    new = assign_numbers(known, people, secrets, seed=row.seed)
    numbers = known | new
    publisher = name_lead(numbers[lead_pk])
    gates = override_gates(check_gates(session, row, states), overrides, by=publisher)
    reasons = explain(gates, _list_open(states)[:SHOWN])
    if reasons:
        raise GateNotMet(reasons)
    rubric = find_rubric(session, dataset_pk)
    agreement = measure_agreement(
        session, row, seed=row.seed, pseudonyms={pk: name_annotator(number) for pk, number in numbers.items()}
    )
    return Snapshot(
        dataset=row.name,
        list_grade_0=row.list_grade_0,
        guideline_version=rubric.version,
        rubric=to_rubric(rubric),
        queries=list_queries(session, dataset_pk),
        pairs=pairs,
        gates=gates,
        agreement=agreement.as_json(),
        numbers=numbers,
        new_numbers=new,
        simulated=frozenset(person.key for person in people if person.simulated),
        publisher=publisher,
        versions=tuple(release.version for release in list_releases_of_dataset(session, dataset_pk)),
    )


def _check_new(session: Session, dataset_pk: int, version: str) -> None:
    if version in [release.version for release in list_releases_of_dataset(session, dataset_pk)]:
        raise ConflictError(f"version {version} is published already, and a release is never changed")


def _lock_unchanged(session: Session, actor: Actor, dataset_pk: int, snapshot: Snapshot) -> None:
    """Take the dataset's lock; ConflictError when another lead published since the snapshot."""
    require_role(session, actor, dataset_pk, "lead")
    lock_dataset(session, dataset_pk)
    now = tuple(release.version for release in list_releases_of_dataset(session, dataset_pk))
    if now != snapshot.versions:
        raise ConflictError(f"another lead published version {now[-1]} at this moment; publish again")


def _is_recorded(database: Database, dataset_pk: int, release: ReleaseRow) -> bool:
    """Whether the release is in the database after all, when its commit is in doubt."""
    with database.read() as session:
        statement = select(col(ReleaseRow.sums)).where(
            col(ReleaseRow.dataset_pk) == dataset_pk, col(ReleaseRow.version) == release.version
        )
        return session.scalar(statement) == release.sums


def _to_release(row: ReleaseRow, dataset: str, exports_dir: Path) -> Release:
    path = exports_dir / dataset / row.version
    found = read_sums(path)
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
        folder="missing" if found is None else "whole" if found == row.sums else "changed",
        overridden=tuple(gate["name"] for gate in manifest["gates"] if gate["override"]),
        files=(*(file["path"] for file in manifest["files"]), MANIFEST, SUMS),
        simulated="simulated" in manifest,
    )
