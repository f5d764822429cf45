"""Check ground-truth files, read requirements and measure coverage.

`annotator check`, the release gate `coverage` and the lead's overview all use these functions, so their
numbers agree. `coverage_counts.py` has the rules of counting, `coverage_requirements.py` the keys of a
requirements file.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.agreement.records import MeasuredAgreement
from annotator.dataset import coverage_requirements as requirements_file
from annotator.dataset.coverage_counts import measure_coverage
from annotator.dataset.records import Coverage, QueryFacts
from annotator.dataset.schema_check import join_problems, list_schema_problems
from annotator.dataset.settings import TEMPLATES
from annotator.domain.errors import BadInput, FormatError, ValidationError
from annotator.domain.ground_truth import GroundTruth, Query, WrongCount
from annotator.domain.settling import OPEN, settle
from annotator.formats.content_warnings import (
    EmptyList,
    list_empty_lists,
    list_missing_documents,
    list_repeated_texts,
)
from annotator.formats.format import Format
from annotator.formats.law import has_mixed_annotators
from annotator.formats.registry import FORMATS, detect_format, find_format, list_certain, read_truth
from annotator.formats.syntax.json_text import is_comment
from annotator.formats.syntax.source import InputSource
from annotator.storage.pairs.pair_settlements import (
    PairSettlements,
    count_grades_by_query,
    list_open_queries,
)

_COUNTED = "all=1"
_HEAD = 4_096
NO_GRADES = (0, 0, 0, 0)
_FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class DifferingDocument:
    """A document that a file's annotators grade differently. `settled`: its settled grade in the file, if any."""

    query_id: str
    doc_id: str
    grades: Mapping[str, int]
    settled: int | None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of `annotator check`. An invalid file has problems, but no counts and no coverage.

    `problems`: sorted by line. `hint`: how to solve them. `wrong_counts`: wrong counts in the file; it is
    still valid. `mapped_grades`: {value of `--map-grades`: occurrences}. `repeated_texts`: repeated query
    texts of a file without ids, with their numbers in the file. `agreement`: between annotators, if the file
    has their grades. `differing`: the documents on which they differ. `unrateable`: {annotator: documents
    they could not rate}. `mixed_annotators`: one column holds grades of several people, so agreement cannot
    be measured. `missing_documents`: graded documents without a document in the file. `empty_lists`: queries
    without relevant documents, on which the evaluator of the format stops. `by_grade`: number of qrels by
    grade. `grades_by`: the rule that gave the grades, if the file has none. Default "all=1": every listed
    document is relevant.
    """

    file: str
    format: str | None
    valid: bool
    queries: int = 0
    qrels: int = 0
    documents: int = 0
    by_grade: Mapping[str, int] | None = None
    grades_by: str | None = None
    problems: tuple[FormatError, ...] = ()
    coverage: Coverage | None = None
    mapped_grades: Mapping[str, int] | None = None
    hint: str = ""
    agreement: MeasuredAgreement | None = None
    differing: tuple[DifferingDocument, ...] = ()
    unrateable: Mapping[str, int] = field(default_factory=dict)
    wrong_counts: tuple[WrongCount, ...] = ()
    repeated_texts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    empty_lists: tuple[EmptyList, ...] = ()
    missing_documents: tuple[str, ...] = ()
    mixed_annotators: bool = False


def check_file(
    source: InputSource,
    *,
    format_name: str | None = None,
    grades_by: str | None = None,
    requirements: Mapping[str, Any] | None = None,
    report_progress: Callable[[str], None] = lambda _: None,
) -> CheckReport:
    """Check a ground-truth file with its format's reader and JSON Schema, and measure its coverage.

    `grades_by`: see `formats.registry.read_truth`. The report lists the file's problems, each once. Raises
    ValidationError for a wrong request: an unknown format, or missing grades.
    """
    file_format = find_format(format_name) if format_name is not None else _detect(source)
    if file_format is None:
        return CheckReport(source.path, None, False, problems=(_describe_unknown_format(source),))
    if file_format.needs_grades_by and grades_by is None:
        grades_by = _COUNTED
    report_progress(f"holding {source.path} to the schema of {file_format.name}")
    by_schema = list_schema_problems(
        source, file_format
    )  # first, so that two forms of the file are never in memory
    report_progress(f"reading {source.path} as {file_format.name}")
    try:
        _, truth = read_truth(source, format_name=file_format.name, grades_by=grades_by)
        reader_problems: tuple[FormatError, ...] = ()
        hint = ""
    except BadInput as error:
        truth, reader_problems, hint = GroundTruth(()), error.problems, error.hint
    problems = join_problems(reader_problems, source.scale.leave_out_mapped(by_schema))
    if problems:
        return CheckReport(source.path, file_format.name, False, problems=problems, hint=hint)
    report_progress("counting")
    mixed = file_format.name == "law" and has_mixed_annotators(source)
    counts = Counter(qrel.grade for qrel in truth.qrels)
    return CheckReport(
        file=source.path,
        format=file_format.name,
        valid=True,
        queries=len(truth.queries),
        qrels=len(truth.qrels),
        documents=len(truth.documents),
        by_grade={str(grade): counts[grade] for grade in sorted({0, 1, 2, 3, *counts})},
        grades_by=grades_by,
        coverage=measure_coverage(list_facts(truth), requirements),
        mapped_grades=source.scale.figures or None,
        agreement=None if mixed else _measure_annotators(truth),
        differing=() if mixed else tuple(_list_differing(truth)),
        mixed_annotators=mixed,
        unrateable=Counter(line.annotator for line in truth.further_judgments if line.grade is None),
        wrong_counts=truth.wrong_counts,
        repeated_texts=list_repeated_texts(file_format, truth),
        empty_lists=list_empty_lists(source, file_format, truth),
        missing_documents=list_missing_documents(truth),
    )


def _measure_annotators(truth: GroundTruth) -> MeasuredAgreement | None:
    """Return the agreement between the annotators in the file; None without their grades."""
    given = list(_list_own_grades(truth))
    if not given:
        return None
    from annotator.agreement.service import measure_file

    return measure_file(given)


def _list_own_grades(truth: GroundTruth) -> Iterator[tuple[str, str, str, int]]:
    """Yield (query_id, doc_id, annotator, grade) for every annotator's grade, also on unsettled documents."""
    for qrel in truth.qrels:
        for name, grade in qrel.annotator_grades:
            yield qrel.query_id, qrel.doc_id, name, grade
    for line in truth.further_judgments:
        if line.grade is not None:
            yield line.query_id, line.doc_id, line.annotator, line.grade


def _list_differing(truth: GroundTruth) -> Iterator[DifferingDocument]:
    for qrel in truth.qrels:
        if len({grade for _, grade in qrel.annotator_grades}) > 1:
            yield DifferingDocument(qrel.query_id, qrel.doc_id, dict(qrel.annotator_grades), qrel.grade)
    settled = {(qrel.query_id, qrel.doc_id) for qrel in truth.qrels} if truth.further_judgments else set()
    unsettled: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for line in truth.further_judgments:
        if line.grade is not None and (line.query_id, line.doc_id) not in settled:
            unsettled[line.query_id, line.doc_id][line.annotator] = line.grade
    for (query_id, doc_id), grades in unsettled.items():
        if len(set(grades.values())) > 1:
            yield DifferingDocument(query_id, doc_id, grades, None)


def _detect(source: InputSource) -> Format | None:
    if not source.is_folder:
        source.open().close()  # an unreadable file is an error, not a problem in the report
    try:
        return detect_format(source)
    except ValidationError:
        return None


def _describe_unknown_format(source: InputSource) -> FormatError:
    with source.open() as file:
        if not file.read(1):
            return FormatError(source.path, None, "a ground-truth file", "an empty file")
        file.seek(0)
        head = file.read(_HEAD).decode("utf-8", "replace").removeprefix("\ufeff")
    if source.path.lower().endswith((".json", ".jsonl")) and is_comment(head):
        line = 1 + head[: len(head) - len(head.lstrip())].count("\n")
        return FormatError(source.path, line, "JSON (which has no comments)", "a comment")
    certain = list_certain(source)
    likely = certain or [
        candidate for candidate in FORMATS if source.path.lower().endswith(candidate.suffixes)
    ]
    could = (
        f"it could be {', '.join(candidate.name for candidate in likely)}" if likely else "it could be any"
    )
    return FormatError(
        source.path,
        None,
        "content that shows which format it is (else name the format)",
        f"none for certain; {could}",
    )


def read_requirements(name: str) -> dict[str, Any]:
    """Return the requirements of a template (nablarch, law) or a YAML file, as plain JSON values.

    Raises ValidationError if the file does not exist, BadInput with every bad line.
    """
    path = _FOLDER / f"{name}.yaml" if name in TEMPLATES else Path(name)
    if not path.exists():
        raise ValidationError(
            f"no requirements {name!r}: expected a YAML file, or one of the templates {', '.join(TEMPLATES)}"
        )
    return requirements_file.read_requirements(InputSource(str(path)).read_bytes(), str(path))


def list_facts(truth: GroundTruth) -> Iterator[QueryFacts]:
    """Yield the queries of a file with their number of documents per grade. Grades above 3 count as 3.

    A query is disputed if annotators grade one of its documents differently and the file has no settled grade
    for it.
    """
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for qrel in truth.qrels:
        counts[qrel.query_id][min(qrel.grade, 3)] += 1
    disputed = _list_queries_with_disagreements(truth)
    for query in truth.queries:
        none, one, two, three = counts.get(query.query_id, (0, 0, 0, 0))
        yield QueryFacts(query, (none, one, two, three), query.query_id in disputed)


def _list_queries_with_disagreements(truth: GroundTruth) -> set[str]:
    settled = {(qrel.query_id, qrel.doc_id) for qrel in truth.qrels} if truth.further_judgments else set()
    given: defaultdict[tuple[str, str], list[int | None]] = defaultdict(list)
    for line in truth.further_judgments:
        if (line.query_id, line.doc_id) not in settled:
            given[line.query_id, line.doc_id].append(line.grade)
    return {
        query_id
        for (query_id, _), answers in given.items()
        if settle([grade for grade in answers if grade is not None], answers.count(None), None).status in OPEN
    }


def measure_dataset_coverage(
    settled: PairSettlements, queries: Mapping[int, Query], requirements: Mapping[str, Any] | None
) -> Coverage:
    """Compare the settled pairs of all queries with the dataset's requirements. `queries`: by query_pk."""
    counts, disputed = count_grades_by_query(settled), list_open_queries(settled)
    facts = (
        QueryFacts(query, counts.get(query_pk, NO_GRADES), query_pk in disputed)
        for query_pk, query in queries.items()
    )
    return measure_coverage(facts, requirements)
