"""List releases, open their files and verify their folders.

Leads list and open; anybody verifies a folder, without a database. Opened files give only bytes that were published.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from annotator.domain.errors import (
    ConflictError,
    NotFound,
)
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.releases.gates import to_gate
from annotator.releases.records import Release
from annotator.releases.releases_sql import (
    list_releases_of_dataset,
)
from annotator.releases.verify.verify import Verification, verify_folder
from annotator.releases.writing.files import (
    MANIFEST,
    SIGNATURE,
    SUMS,
    WITHOUT_GRADES,
    without_cycle_search,
)
from annotator.releases.writing.folder import (
    VerifiedFile,
    find_misplaced,
    list_checksums,
    open_verified,
    read_sums,
    refuse_file,
)
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import list_withheld
from annotator.storage.lookup import key_of
from annotator.storage.tables.releases import ReleaseRow


@dataclass(frozen=True, slots=True)
class OpenedRelease:
    """A release with some of its files, open and verified, by name. Close it."""

    release: Release
    files: Mapping[str, VerifiedFile]

    def close(self) -> None:
        """Close the files."""
        for file in self.files.values():
            file.close()


def list_releases(database: Database, actor: Actor, dataset: str, *, exports_dir: Path) -> list[Release]:
    """Return the releases of a dataset, oldest first, and whether their folders are there. For leads.

    Without the overridden gates of a release with pairs that the lead may still judge: they tell of its grades.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        rows = list_releases_of_dataset(session, dataset_pk)
        releases = [to_release(release, row.name, exports_dir) for release in rows]
        return [
            replace(release, overridden=())
            if release.overridden
            and list_withheld(session, dataset_pk, actor.person_id, key_of(published.pk))
            else release
            for release, published in zip(releases, rows, strict=True)
        ]


def open_release(
    database: Database,
    actor: Actor,
    dataset: str,
    version: str,
    file: str | None = None,
    *,
    exports_dir: Path,
) -> OpenedRelease:
    """Open a release's files, or only `file`, so that only what was published can be read from them. For leads.

    Raises NotFound if there is no such release or file, or its folder is not on this machine; ConflictError if the folder
    is not as it was published.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        rows = list_releases_of_dataset(session, dataset_pk)
        published = next((release for release in rows if release.version == version), None)
        if published is None:
            raise NotFound(say("{dataset} has no release {version!r}.", version=version, dataset=dataset))
        release = to_release(published, row.name, exports_dir)
        checksums = list_checksums(published.sums, published.signature)
        misplaced = _find_misplaced(published, release.path) if release.folder == "changed" else []
    if file is not None and file not in release.files:
        raise NotFound(
            say("{dataset} {version} has no file {file!r}.", file=file, dataset=dataset, version=version)
        )
    if release.folder == "missing":
        raise NotFound(
            say(
                "The folder of {dataset} {version} is missing on this server.",
                dataset=dataset,
                version=version,
            )
        )
    if release.folder == "changed":
        if misplaced:
            raise refuse_file(misplaced[0])
        raise ConflictError(
            say(
                "The files of {dataset} {version} have changed since they were published.",
                dataset=dataset,
                version=version,
            )
        )
    return OpenedRelease(
        release, _open_files(release.path, release.files if file is None else (file,), checksums)
    )


def _open_files(folder: Path, names: Iterable[str], checksums: Mapping[str, str]) -> dict[str, VerifiedFile]:
    """Open and verify files. If one fails, none stays open."""
    opened: dict[str, VerifiedFile] = {}
    try:
        for name in names:
            opened[name] = open_verified(folder, name, checksums[name])
    except BaseException:
        for file in opened.values():
            file.close()
        raise
    return opened


def shows_grades(file: str) -> bool:
    """Return whether a file of a release shows the grade of any pair."""
    return file not in WITHOUT_GRADES


def verify_release(folder: Path, *, signers: Path | None = None) -> Verification:
    """Verify a release folder by itself, without a database.

    Checks checksums, additions, the content hash, counts, every file against the canonical qrels, and what its judgments
    can prove. `signers`: whose signature it must bear.
    """
    with without_cycle_search():
        return verify_folder(folder, signers=signers)


def to_release(row: ReleaseRow, dataset: str, exports_dir: Path) -> Release:
    """Return the record of a release, with the state of its folder below `exports_dir`."""
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
        folder=_find_folder_state(row, path),
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


def _find_folder_state(row: ReleaseRow, folder: Path) -> Literal["whole", "missing", "changed"]:
    """Compare a folder with its release.

    Hashes only SHA256SUMS and manifest.json; the others are hashed when they are sent.
    """
    sums = read_sums(folder)
    if sums is None:
        return "changed" if os.path.lexists(folder) else "missing"
    if sums != row.sums or _find_misplaced(row, folder):
        return "changed"
    try:
        open_verified(folder, MANIFEST, list_checksums(row.sums)[MANIFEST]).close()
    except ConflictError:
        return "changed"
    return "whole"


def _find_misplaced(row: ReleaseRow, folder: Path) -> list[str]:
    """Return the names of files that are missing, added, or of another kind or size."""
    sizes = {file["path"]: file["bytes"] for file in row.manifest["files"]}
    signed = {} if row.signature is None else {SIGNATURE: len(row.signature.encode())}
    return find_misplaced(folder, {**sizes, SUMS: None, MANIFEST: None, **signed})
