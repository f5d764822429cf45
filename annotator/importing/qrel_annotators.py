"""The annotators' own grades that a ground truth holds beside its settled ones, as lines of judgments.

A rule between the reader and the database, for `import qrels --as-judgments`. A grade is taken as an independent judgment
of the annotator under whose name it stands (`annotator_1` …).
"""

from collections.abc import Iterable, Sequence

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import JudgmentLine, Qrel
from annotator.importing.qrel_source import QrelFile


def check_annotators(file: QrelFile) -> None:
    """ValidationError unless some document of the file has a grade of an annotator beside the settled one."""
    if not any(qrel.annotator_grades for qrel in file.truth.qrels):
        raise ValidationError(
            f"--as-judgments: expected annotators' own grades (annotator_1 …) in {file.path}, found none; "
            "without the option its grades are brought in as settled ones"
        )


def list_annotator_lines(qrels: Iterable[Qrel]) -> list[JudgmentLine]:
    """Return a line for each annotator's grade of these qrels, which carry the dataset's own query ids."""
    return [
        JudgmentLine(None, qrel.query_id, qrel.doc_id, name, "graded", grade)
        for qrel in qrels
        for name, grade in qrel.annotator_grades
    ]


def note_annotators(lines: Sequence[JudgmentLine], *, new: int) -> tuple[str, ...]:
    """Notes on the judgments that came with the file, and on the pairs whose annotators differ."""
    names = list(dict.fromkeys(line.annotator for line in lines))
    grades: dict[tuple[str, str], set[int | None]] = {}
    for line in lines:
        grades.setdefault((line.query_id, line.doc_id), set()).add(line.grade)
    differ = sum(len(given) > 1 for given in grades.values())
    judgments = "1 judgment" if len(lines) == 1 else f"{len(lines):,} judgments"
    pairs = "1 pair" if differ == 1 else f"{differ:,} pairs"
    return (
        f"{judgments} of {', '.join(names)} taken as independent, {new:,} of them new",
        f"{pairs} on which they differ: they wait for a lead; what the file settled is a suggestion, in the pair's history",
    )
