"""Read the ground truth to score against: a release folder, or a file of any ground-truth format.

From a release these files are read: the BEIR files (grades with grade 0, texts, fields of queries),
`ranked.json` (order within a grade) and `law.json` (types of documents). The other files hold the same
content (`annotator release verify`). A `ranked` file alone holds an order without grades, which is enough for
the profile `survey`. Refused: everything that the formats' readers refuse, a folder that is neither a release
nor BEIR's, a release without its BEIR files, and a release with a file that differs from SHA256SUMS.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotator.domain.errors import BadInput, FormatError, Problems, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Query, hash_content
from annotator.evaluation.records import Truth
from annotator.formats.format import Format
from annotator.formats.registry import detect_format, find_format, read_truth
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource, named_errors, open_regular, read_regular
from annotator.formats.syntax.text import describe, read_text

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
GRADED_FOLDER, RANKED_FILE = "beir", "ranked.json"
LAW_FILE = "law.json"  # holds the type of each document
BY_POSITION = "position"
_READ_FILES = (MANIFEST, RANKED_FILE, LAW_FILE)
_PIECE = 1_048_576
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")


def read_truth_file(
    path: Path,
    *,
    format_name: str | None = None,
    grades_by: str | None = None,
    grades: Mapping[str, int | str] | None = None,
) -> Truth:
    """Return the truth at the path. `grades`: maps the values of another scale, as `--map-grades` does.

    Raises BadInput naming every bad place, and ValidationError if an option is missing.
    """
    if path.is_dir() and (path / MANIFEST).is_file() and format_name is None:
        return _read_release(path)
    source = InputSource(str(path), scale=GradeScale(grades or {}))
    file_format = detect_format(source) if format_name is None else find_format(format_name)
    without_grades = grades_by is None and file_format.needs_grades_by
    _, truth = read_truth(
        source, format_name=file_format.name, grades_by=BY_POSITION if without_grades else grades_by
    )
    return build_truth(truth, str(path), file_format, has_grades=not without_grades)


def build_truth(
    truth: GroundTruth,
    name: str,
    file_format: Format | None = None,
    *,
    version: str | None = None,
    has_grades: bool = True,
) -> Truth:
    """Return queries and qrels as a truth. `file_format`: the format of their file; None for a database."""
    grades: dict[str, dict[str, int]] = {query.query_id: {} for query in truth.queries}
    for qrel in truth.qrels:
        grades.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.grade
    return Truth(
        name,
        grades,
        texts={query.query_id: query.text for query in truth.queries if query.text},
        fields={query.query_id: fields for query in truth.queries if (fields := _list_fields(query))},
        document_fields=_list_document_fields(truth),
        version=version,
        sha256=hash_content(truth.qrels),
        format=None if file_format is None else file_format.name,
        tells_grade_0=file_format is None or file_format.tells_grade_0,
        has_grades=has_grades,
    )


def _list_fields(query: Query) -> dict[str, Any]:
    """Return the fields by which the query can be grouped: its known fields, then its metadata."""
    fields = {name: value for name in QUERY_FIELDS if (value := getattr(query, name)) is not None}
    return {**fields, **{name: value for name, value in query.metadata.items() if name not in fields}}


def _list_document_fields(truth: GroundTruth) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of the documents, and what a file says of a document beside its grade (`law_type`)."""
    by_document = {document.doc_id: document.metadata for document in truth.documents if document.metadata}
    for qrel in truth.qrels:
        if qrel.metadata:
            by_document[qrel.doc_id] = {**by_document.get(qrel.doc_id, {}), **qrel.metadata}
    return by_document


def _read_release(folder: Path) -> Truth:
    manifest = _read_manifest(folder / MANIFEST)
    file_format = find_format(GRADED_FOLDER)
    if not (folder / GRADED_FOLDER).is_dir():
        raise ValidationError(f"{folder}: expected the files of a release, found no folder {GRADED_FOLDER}")
    _check_sums(folder)
    _, content = read_truth(InputSource(str(folder / GRADED_FOLDER)), format_name=file_format.name)
    truth = build_truth(
        content, str(manifest.get("dataset", folder.name)), file_format, version=manifest.get("version")
    )
    if manifest.get("content_sha256") not in (None, truth.sha256):
        raise BadInput(
            [
                FormatError(
                    str(folder / GRADED_FOLDER),
                    None,
                    "the grades that were published (annotator release verify says what differs)",
                    "other ones",
                )
            ]
        )
    laws = folder / LAW_FILE
    if laws.is_file() and b'"law_type"' in read_regular(laws):
        _, typed = read_truth(InputSource(str(laws)), format_name="law")
        truth = replace(truth, document_fields={**truth.document_fields, **_list_document_fields(typed)})
    ranked = folder / RANKED_FILE
    if not ranked.is_file():
        return truth
    _, order = read_truth(InputSource(str(ranked)), format_name="ranked", grades_by=BY_POSITION)
    return _apply_order(truth, order)


def _check_sums(folder: Path) -> None:
    """Compare the files to read with the release's SHA256SUMS. Raises BadInput naming every file that differs."""
    path = folder / SUMS
    problems = Problems(str(path))
    published: dict[str, str] = {}
    for number, line in enumerate(_read_sums(path), 1):
        if match := _SUM.fullmatch(line):
            published[match[2]] = match[1]
        else:
            problems.add(number, "a SHA-256, two spaces and a path", describe(line))
    problems.raise_if_any()
    names = {name for name in published if name in _READ_FILES or name.startswith(f"{GRADED_FOLDER}/")}
    names |= {name for name in _READ_FILES if (folder / name).is_file()}
    names |= {
        file.relative_to(folder).as_posix()
        for file in (folder / GRADED_FOLDER).rglob("*")
        if not file.is_dir()
    }
    for name in sorted(names):
        expected = published.get(name)
        if expected is None:
            problems.add(None, f"a file that {SUMS} lists", "one that it does not", path=str(folder / name))
            continue
        found = _hash_file(folder / name) if (folder / name).is_file() else None
        if found != expected:
            problems.add(
                None,
                f"the published file, SHA-256 {expected}",
                "no file" if found is None else f"SHA-256 {found}",
                path=str(folder / name),
            )
    problems.raise_if_any()


def _read_sums(path: Path) -> list[str]:
    if not path.is_file():
        raise BadInput([FormatError(str(path), None, "the checksums of a release", "no file")])
    return read_text(read_regular(path), str(path)).splitlines()


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file, named_errors(path):
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise BadInput([FormatError(str(path), None, "a release's manifest", str(error))]) from None
    if not isinstance(manifest, dict):
        raise BadInput([FormatError(str(path), None, "a release's manifest", "no mapping")])
    return manifest


def _apply_order(truth: Truth, order: GroundTruth) -> Truth:
    """Return the truth with each query's documents in the order of a ranked list for the same query text."""
    lists: dict[str, list[list[str]]] = {}
    by_query: dict[str, list[str]] = {}
    for qrel in order.qrels:
        by_query.setdefault(qrel.query_id, []).append(qrel.doc_id)
    for query in order.queries:
        lists.setdefault(query.text, []).append(by_query.get(query.query_id, []))
    grades = {
        query_id: _put_first(lists.get(truth.texts.get(query_id, ""), ()), documents)
        for query_id, documents in truth.grades.items()
    }
    return replace(truth, grades=grades)


def _put_first(lists: Iterable[list[str]], documents: Mapping[str, int]) -> dict[str, int]:
    """Return the documents in the order of the first list that contains only documents of this query."""
    for doc_ids in lists:
        if doc_ids and all(doc_id in documents for doc_id in doc_ids):
            return {doc_id: documents[doc_id] for doc_id in doc_ids} | dict(documents)
    return dict(documents)
