"""What is known of a release before its first file is written, and what its manifest and its title say: pure.

Everything of a release comes from one read transaction, so that the gates, the qrels and the judgments behind
them speak of the same moment even while annotators go on judging.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.domain.grades import Rubric
from annotator.releases.files import round_numbers
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
    "groups",
    "resamples",
    "seed",
)  # fmt: skip  (the figures; the diagnosis is advice to the lead, in words that may get better)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A dataset at one moment, apart from its pairs.

    `seed`: the dataset's; it decides the order of documents that nothing else tells apart.
    `counts`: see `content.count_content`. `numbers`: everybody's pseudonym number, by person; `new_numbers`: those
    that this release gives. `simulated`: who of them is not a person. `publisher`: the publishing lead's pseudonym.
    `versions`: the ones published so far, oldest first. `about`: authors, contact, licence and source, None where not said.
    """

    dataset: str
    seed: int
    list_grade_0: bool
    guideline_version: int
    rubric: Rubric
    counts: Mapping[str, Any]
    gates: tuple[Gate, ...]
    agreement: Mapping[str, Any]
    numbers: Mapping[int, int]
    new_numbers: Mapping[int, int]
    simulated: frozenset[int]
    publisher: str
    versions: tuple[str, ...]
    about: Mapping[str, str | None] = field(default_factory=dict)


def describe_files(snapshot: Snapshot, *, version: str, at: datetime) -> dict[str, Any]:
    """What every file of the release says about itself where there is a place for it."""
    said = {name: text for name, text in snapshot.about.items() if text}
    return {"version": version, "created_at": at.date().isoformat(), **said, **_say_simulated(snapshot)}


def list_scale(rubric: Rubric) -> list[dict[str, Any]]:
    """What each grade means, as the manifest has it."""
    return [{"grade": item.grade, "name": item.name, "definition": item.definition} for item in rubric.grades]


def describe_release(
    snapshot: Snapshot,
    *,
    version: str,
    at: datetime,
    note: str,
    content_sha256: str,
    order: Mapping[str, int],
) -> dict[str, Any]:
    """The manifest without its list of files, in the order in which people read it. `order`: what decided the order of
    documents (see `write.py`)."""
    return {
        "dataset": snapshot.dataset,
        "version": version,
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "published_by": snapshot.publisher,
        "note": note,
        **snapshot.about,
        **_say_simulated(snapshot),
        "scale": list_scale(snapshot.rubric),
        "guideline_version": snapshot.guideline_version,
        "previous": snapshot.versions[-1] if snapshot.versions else None,
        "content_sha256": content_sha256,
        "list_grade_0": snapshot.list_grade_0,
        "counts": dict(snapshot.counts),
        "order": dict(order),
        "agreement": round_numbers({key: snapshot.agreement[key] for key in AGREEMENT_KEYS}),
        "gates": [gate.as_json() for gate in snapshot.gates],
    }


def list_grade_names(rubric: Rubric) -> Sequence[str]:
    """The names of the grades 0 to 3."""
    return [item.name for item in rubric.grades]


def _say_simulated(snapshot: Snapshot) -> dict[str, Any]:
    return {"simulated": True, "notice": NOTICE} if snapshot.simulated else {}
