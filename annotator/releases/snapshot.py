"""The state of a dataset at one moment, and the release made from it: pure, so it can be made again byte for byte.

Everything of a release comes from one read transaction, so that the gates, the qrels and the judgments behind
them speak of the same moment even while annotators go on judging.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from annotator.domain.errors import StateError
from annotator.domain.grades import Rubric
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.domain.trail import JudgedPair
from annotator.releases.content import build_truth, count_content, hash_content
from annotator.releases.files import (
    JUDGMENTS,
    MANIFEST,
    SUMS,
    list_files,
    round_numbers,
    write_json,
    write_judgment_lines,
    write_sums,
    write_truth,
)
from annotator.releases.gates import Gate

NOTICE = (
    "Some of these judgments were made by simulated annotators, not by people: draw no conclusions from them."
)

AGREEMENT_KEYS = (
    "annotators",
    "pairs",
    "observed_agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2",
    "cut_points",
    "annotator_pairs",
    "resamples",
    "seed",
)  # fmt: skip  (the figures; the diagnosis is advice to the lead, in words that may get better)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`numbers`: everybody's pseudonym number, by person; `new_numbers`: those that this release gives.

    `simulated`: who of them is not a person. `publisher`: the publishing lead's pseudonym. `versions`: the ones
    published so far, oldest first.
    """

    dataset: str
    list_grade_0: bool
    guideline_version: int
    rubric: Rubric
    queries: Sequence[Query]
    pairs: Sequence[JudgedPair]
    gates: tuple[Gate, ...]
    agreement: Mapping[str, Any]
    numbers: Mapping[int, int]
    new_numbers: Mapping[int, int]
    simulated: frozenset[int]
    publisher: str
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeRelease:
    """A release before it is anywhere: `files` by name, SHA256SUMS among them; the manifest; the qrels."""

    files: Mapping[str, bytes]
    manifest: Mapping[str, Any]
    qrels: tuple[Qrel, ...]


def make_release(snapshot: Snapshot, *, version: str, at: datetime, note: str) -> MadeRelease:
    """Every file of the release, in memory. StateError when nothing is settled; ValidationError for an id that
    a format cannot carry."""
    about = {"version": version, "created_at": at.date().isoformat(), **_say_simulated(snapshot)}
    truth = build_truth(snapshot.queries, snapshot.pairs, numbers=snapshot.numbers, metadata=about)
    if not truth.qrels:
        raise StateError("nothing is settled yet, so there is nothing to publish")
    files = write_truth(truth, list_grade_0=snapshot.list_grade_0)
    files[JUDGMENTS] = write_judgment_lines(
        snapshot.pairs, numbers=snapshot.numbers, simulated=snapshot.simulated
    )
    manifest = describe_release(snapshot, truth, version=version, at=at, note=note)
    manifest["files"] = list_files(files)
    files[MANIFEST] = write_json(manifest)
    files[SUMS] = write_sums(files)
    return MadeRelease(files, manifest, truth.qrels)


def describe_release(
    snapshot: Snapshot, truth: GroundTruth, *, version: str, at: datetime, note: str
) -> dict[str, Any]:
    """The manifest without its list of files, in the order in which people read it."""
    return {
        "dataset": snapshot.dataset,
        "version": version,
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "published_by": snapshot.publisher,
        "note": note,
        **_say_simulated(snapshot),
        "scale": [
            {"grade": item.grade, "name": item.name, "definition": item.definition}
            for item in snapshot.rubric.grades
        ],
        "guideline_version": snapshot.guideline_version,
        "previous": snapshot.versions[-1] if snapshot.versions else None,
        "content_sha256": hash_content(truth.qrels),
        "counts": count_content(snapshot.queries, snapshot.pairs),
        "agreement": round_numbers({key: snapshot.agreement[key] for key in AGREEMENT_KEYS}),
        "gates": [asdict(gate) for gate in snapshot.gates],
    }


def _say_simulated(snapshot: Snapshot) -> dict[str, Any]:
    return {"simulated": True, "notice": NOTICE} if snapshot.simulated else {}
