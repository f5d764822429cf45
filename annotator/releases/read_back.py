"""Read every ground-truth file of a release folder back and compare it with the canonical qrels.

The canonical qrels are the TREC file's, which always lists every qrel in the order of publishing. Compares queries
and qrels (grade 0 if a file lists it), query texts among the files, the order of `ranked.json`, and whether BEIR's
corpus has every document. Formats that the release does not have are skipped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

from annotator.domain.errors import AnnotatorError
from annotator.domain.ground_truth import GroundTruth, Qrel
from annotator.formats.format import Format
from annotator.formats.registry import find_format
from annotator.formats.syntax.source import InputSource
from annotator.releases.files import JUDGMENTS, PROBABILITIES, TRUTH_FILES, place_file

QRELS = TRUTH_FILES["trec"]
CORPUS = f"{TRUTH_FILES['beir']}/corpus.jsonl"
SHOWN = 5
Grades = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ReleaseFault:
    """One difference from what was published."""

    path: str  # relative to the release folder
    expected: str
    found: str


def read_qrels(folder: Path, faults: list[ReleaseFault]) -> tuple[Qrel, ...] | None:
    """Return the canonical qrels; None after noting that they cannot be read."""
    truth = _read(folder, find_format("trec"), faults)
    return None if truth is None else truth.qrels


def compare_probabilities(folder: Path, qrels: Sequence[Qrel]) -> list[ReleaseFault]:
    """Return where `qrels.probs` differs from the canonical qrels, line by line, or has no probability. At most SHOWN faults."""
    if not is_plain(folder / PROBABILITIES):
        return []
    try:
        lines = (folder / PROBABILITIES).read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        return [ReleaseFault(PROBABILITIES, "a readable text", type(error).__name__)]
    expected = [f"{qrel.query_id} 0 {qrel.doc_id} {qrel.grade}" for qrel in qrels]
    faults = []
    for number, (line, words) in enumerate(zip_longest(lines, [*expected, ""]), 1):
        given, _, probability = (line or "").rpartition(" ")
        is_end = words == "" and line == ""
        if not is_end and (not words or given != words or not _is_probability(probability)):
            faults.append(
                ReleaseFault(
                    PROBABILITIES,
                    f"{words!r} as in {QRELS}, and a probability" if words else "no further line",
                    f"line {number}: {line!r:.200}",
                )
            )
    return faults[:SHOWN]


def _is_probability(text: str) -> bool:
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False


def find_differences(
    folder: Path,
    qrels: Sequence[Qrel],
    present: set[str],
    *,
    list_grade_0: bool | None,
    judged: Mapping[tuple[str, str], Sequence[int]] | None = None,
) -> list[ReleaseFault]:
    """Return where the other files differ from the canonical qrels.

    `present`: the folder's files. `list_grade_0`: as the manifest says, None for releases made before it did.
    `judged`: the annotators' grades by query_id and doc_id, in the order of pseudonyms, None if unknown.
    """
    canonical = _group(qrels)
    faults: list[ReleaseFault] = []
    texts: dict[str, tuple[str, str]] = {}
    for name in sorted(TRUTH_FILES, key=lambda name: name != "beir"):
        file_format = find_format(name)
        paths = [place_file(file_format, writer) for writer in file_format.files]
        if name == "trec" or not all(path in present and is_plain(folder / path) for path in paths):
            continue
        truth = _read(folder, file_format, faults)
        if truth is None:
            continue
        path = paths[-1]
        listed = file_format.tells_grade_0 or _lists_grade_0(truth, list_grade_0)
        grade_differences = (
            _compare_order(truth, canonical, texts)
            if file_format.needs_grades_by
            else _compare_grades(truth, canonical if listed else _leave_out_0(canonical))
        )
        differences = [*grade_differences, *_compare_texts(truth, file_format, texts, paths[0])]
        if judged is not None and "two_annotators" in file_format.features:
            differences += _compare_annotators(truth, judged)
        faults += [ReleaseFault(path, *item) for item in differences[:SHOWN]]
        if len(differences) > SHOWN:
            faults.append(
                ReleaseFault(path, f"what {QRELS} says", f"{len(differences) - SHOWN:,} further differences")
            )
        if name == "beir":
            faults += _compare_corpus(truth, canonical)
    return faults


def _read(folder: Path, file_format: Format, faults: list[ReleaseFault]) -> GroundTruth | None:
    path = TRUTH_FILES[file_format.name]
    source = InputSource(str(folder / path))
    try:
        return (
            file_format.read_graded(source, "all=1") if file_format.read_graded else file_format.read(source)
        )
    except (OSError, AnnotatorError) as error:
        message = str(error).splitlines()[0].replace(f"{folder}/", "")
        faults.append(ReleaseFault(path, f"a readable {file_format.name} file", message))
        return None


def is_plain(path: Path) -> bool:
    """Return whether the path is a regular file and no link, as every file of a release is."""
    return path.is_file() and not path.is_symlink()


def _group(qrels: Sequence[Qrel]) -> dict[str, dict[str, int]]:
    by_query: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        by_query.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.grade
    return by_query


def _leave_out_0(canonical: Grades) -> Grades:
    return {
        query_id: {doc_id: grade for doc_id, grade in grades.items() if grade}
        for query_id, grades in canonical.items()
    }


def _lists_grade_0(truth: GroundTruth, declared: bool | None) -> bool:
    return any(not qrel.grade for qrel in truth.qrels) if declared is None else declared


def _compare_grades(truth: GroundTruth, canonical: Grades) -> list[tuple[str, str]]:
    """Return the expected and the actual grades of each query that differs."""
    by_query: dict[str, dict[str, int]] = {query.query_id: {} for query in truth.queries}
    by_query |= _group(truth.qrels)
    differences = [
        (
            f"the query {query_id}" if query_id in canonical else f"no query {query_id}, as in {QRELS}",
            "none" if query_id in canonical else "one",
        )
        for query_id in [*canonical, *by_query]
        if (query_id in canonical) != (query_id in by_query)
    ]
    for query_id, grades in canonical.items():
        there = by_query.get(query_id)
        if there is not None and there != grades:
            differences += _name_grades(query_id, grades, there)
    return differences


def _name_grades(
    query_id: str, grades: Mapping[str, int], there: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    for doc_id in [*grades, *(doc_id for doc_id in there if doc_id not in grades)]:
        expected, actual = grades.get(doc_id), there.get(doc_id)
        if expected != actual:
            yield f"{query_id} {doc_id}: {_describe_grade(expected)} as in {QRELS}", _describe_grade(actual)


def _describe_grade(grade: int | None) -> str:
    return "nothing" if grade is None else f"grade {grade}"


def _compare_annotators(
    truth: GroundTruth, judged: Mapping[tuple[str, str], Sequence[int]]
) -> Iterator[tuple[str, str]]:
    """Compare the first two annotators' grades. Grades of a qrel without judgments here were imported with it."""
    for qrel in truth.qrels:
        grades = judged.get((qrel.query_id, qrel.doc_id))
        listed_grades = [grade for _, grade in qrel.annotator_grades]
        if grades is not None and listed_grades != list(grades[:2]):
            yield (
                f"{qrel.query_id} {qrel.doc_id}: annotators' grades {_describe_grades(grades[:2])} as in {JUDGMENTS}",
                _describe_grades(listed_grades),
            )


def _describe_grades(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) or "none"


def _compare_order(
    truth: GroundTruth, canonical: Grades, texts: Mapping[str, tuple[str, str]]
) -> list[tuple[str, str]]:
    """Compare a file without ids and grades: each query's relevant documents in the order of publishing.

    Queries without relevant documents are left out of both sides: earlier programs wrote them with an empty list.
    """
    ranked: dict[str, list[str]] = {query.query_id: [] for query in truth.queries}
    for qrel in truth.qrels:
        ranked[qrel.query_id].append(qrel.doc_id)
    listed = [query for query in truth.queries if ranked[query.query_id]]
    expected = [query_id for query_id, grades in canonical.items() if any(grades.values())]
    differences = []
    for query_id, query in zip_longest(expected, listed):
        if query_id is None or query is None:
            differences.append((f"{len(expected)} queries", str(len(listed))))
            break
        relevant = [doc_id for doc_id, grade in canonical[query_id].items() if grade]
        if query_id in texts and texts[query_id][0] != query.text:
            differences.append((f"{query_id}: its text as in {texts[query_id][1]}", query.text[:80]))
        if ranked[query.query_id] != relevant:
            differences.append(
                (f"{query_id}: {_show(relevant)} as in {QRELS}", _show(ranked[query.query_id]))
            )
    return differences


def _show(doc_ids: Sequence[str]) -> str:
    return ", ".join([*islice(doc_ids, 3), *(["…"] if len(doc_ids) > 3 else [])]) or "nothing"


def _compare_texts(
    truth: GroundTruth, file_format: Format, texts: dict[str, tuple[str, str]], path: str
) -> list[tuple[str, str]]:
    """Compare the queries' texts with those of the first file that has them. `texts`: (text, path) by query_id."""
    if "query_texts" not in file_format.features or file_format.needs_grades_by:
        return []
    differences = []
    for query in truth.queries:
        text, where = texts.setdefault(query.query_id, (query.text, path))
        if text != query.text:
            differences.append((f"{query.query_id}: its text as in {where}", query.text[:80]))
    return differences


def _compare_corpus(truth: GroundTruth, canonical: Grades) -> Iterator[ReleaseFault]:
    corpus_ids = {document.doc_id for document in truth.documents}
    missing = {doc_id for grades in canonical.values() for doc_id in grades if doc_id not in corpus_ids}
    for doc_id in sorted(missing)[:SHOWN]:
        yield ReleaseFault(CORPUS, f"the document {doc_id}", "none")
