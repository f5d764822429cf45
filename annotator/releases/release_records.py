"""What the stage says about releases: how far one is from being publishable, and what one is once it is published."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from annotator.releases.gates import ReleaseGate
from annotator.releases.verified_files import VerifiedFile


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """The gates as they stand. `version` is None: nothing is published yet. `open_pairs`: the first 20.

    `statuses` counts the pairs by status, so what a release would hold; `suggested`: a version it could have.
    """

    version: None
    gates: tuple[ReleaseGate, ...]
    open_pairs: tuple[tuple[str, str], ...]
    statuses: Mapping[str, int]
    suggested: str


@dataclass(frozen=True, slots=True)
class Release:
    """A published release. `published_by`: the lead's pseudonym. `folder`: "whole" when every file is there in its
    size, and SHA256SUMS and manifest.json hold what was published (the other files are hashed when they are sent);
    "missing" also where it was published from another machine. `files`: their names. `simulated`: whether some
    of its judgments are nobody's. `gates`: as they stood when it was published, with their overrides. `signed`: whether it
    bears a signature (SHA256SUMS.sig)."""

    dataset: str
    version: str
    created_at: datetime
    published_by: str
    note: str
    previous: str | None
    qrels: int
    content_sha256: str
    path: Path
    folder: Literal["whole", "missing", "changed"]
    overridden: tuple[str, ...]
    files: tuple[str, ...]
    simulated: bool
    gates: tuple[ReleaseGate, ...] = ()
    signed: bool = False


@dataclass(frozen=True, slots=True)
class OpenedRelease:
    """A release with the files that were asked for, open and verified, by name. Close it."""

    release: Release
    files: Mapping[str, VerifiedFile]

    def close(self) -> None:
        """Let go of the files."""
        for file in self.files.values():
            file.close()
