"""The files of a release as bytes: the ground truth in each format, the judgments, the manifest, the checksums.

Everything is made in memory before anything is written, so an id that a format cannot carry stops the
release while there is nothing to undo. The same content gives the same bytes on every machine.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

from annotator.domain.ground_truth import GroundTruth
from annotator.domain.trail import JudgedPair
from annotator.formats.judgments import write_judgments
from annotator.formats.registry import find_format
from annotator.releases.content import sort_judgments
from annotator.releases.pseudonyms import name_annotator

TRUTH_FILES = (("nablarch.yaml", "nablarch"), ("law.json", "law"), ("qrels.trec.txt", "trec"))
JUDGMENTS, MANIFEST, SUMS = "judgments.csv", "manifest.json", "SHA256SUMS"
DIGITS = 6


def write_truth(truth: GroundTruth, *, list_grade_0: bool) -> dict[str, bytes]:
    """The ground truth in every format, by file name. ValidationError names an id that one cannot carry."""
    return {path: find_format(name).write(truth, list_grade_0=list_grade_0) for path, name in TRUTH_FILES}


def write_judgment_lines(
    pairs: Iterable[JudgedPair], *, numbers: Mapping[int, int], simulated: Container[int]
) -> bytes:
    """`judgments.csv`: every current judgment under its pseudonym, as `import judgments` reads it."""
    rows = (
        {
            "query_id": pair.query_id,
            "doc_id": pair.doc_id,
            "annotator": name_annotator(numbers[judgment.annotator]),
            "grade": judgment.grade,
            "note": judgment.note,
            "judged_at": judgment.judged_at,
            "seconds": judgment.seconds,
            "guideline_version": judgment.guideline_version,
            "purpose": judgment.purpose,
            "simulated": judgment.annotator in simulated,
        }
        for pair in pairs
        for judgment in sort_judgments(pair, numbers)
    )
    return write_judgments(rows, more_columns=("guideline_version", "purpose", "simulated"))


def list_files(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Path, SHA-256 and size of each file, by path: the manifest's list."""
    return [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for path, data in sorted(files.items())
    ]


def write_json(content: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8, indented by two, ended by LF."""
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def write_sums(files: Mapping[str, bytes]) -> bytes:
    """`SHA256SUMS`, as `sha256sum -c` reads it: every file but itself."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items())]
    return "".join(lines).encode()


def round_numbers(value: Any) -> Any:
    """Numbers to six digits, so that the last bit of a processor does not change a published byte."""
    if isinstance(value, float):
        return round(float(value), DIGITS)
    if isinstance(value, Mapping):
        return {key: round_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(item) for item in value]
    return value
