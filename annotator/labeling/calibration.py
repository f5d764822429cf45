"""Read the file of training and gold pairs, and score the answers on checks.

The CSV has the columns query_id, doc_id, kind, grade, explanation. Collects every bad line: an unknown kind
or column, a grade that is not 0-3, a training pair without an explanation, a pair twice. Scores are:
training, closeness to gold, and consistency with one's own earlier grades. Of several answers on a pair the
latest counts; training also uses the first. "Cannot be rated" is an answer: it is never right and has no
distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.messages import say
from annotator.domain.texts import TextFault, check_text, find_fault
from annotator.formats.input_tables import read_grade, read_pair_table, take_pair
from annotator.formats.syntax.tables import TableLine
from annotator.labeling.records import KINDS, GoldMiss, GoldResult, RepeatConsistency, TrainingResult

COLUMNS = ("query_id", "doc_id", "kind", "grade", "explanation")
UNEXPLAINED = TextFault(
    "some words for a training pair", "nothing", say("a training pair needs an explanation")
)


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line of the file."""

    line: int  # where it begins, from 1
    query_id: str
    doc_id: str
    kind: str
    grade: int
    explanation: str


def check_explanation(kind: str, explanation: str) -> str:
    """Return the explanation without the white space around it.

    Raises ValidationError for it, or for the kind.
    """
    if kind not in KINDS:
        raise ValidationError(f"kind: expected one of {', '.join(KINDS)}, found {kind!r}")
    return check_text(say("explanation"), explanation, empty=_choose_empty_fault(kind))


def read_check_lines(data: bytes, path: str, problems: Problems) -> list[CheckLine]:
    """Return the good lines of a CSV file; bad lines are noted in `problems`.

    Raises BadInput for wrong columns.
    """
    return read_pair_table(data, path, problems, _read_row, columns=COLUMNS)


def _read_row(row: TableLine, problems: Problems) -> CheckLine | None:
    noted = problems.noted
    pair, kind = take_pair(row, problems), row.cells.get("kind", "").strip()
    if kind not in KINDS:
        problems.add(row.line, f"a kind {' or '.join(KINDS)}", repr(row.cells.get("kind", "")))
    grade, explanation = read_grade(row, problems), row.cells.get("explanation", "")
    fault = find_fault(explanation, empty=_choose_empty_fault(kind))
    if fault is not None:
        problems.add(row.line, f"an explanation of {fault.expected}", fault.found)
    if pair is None or grade is None or problems.noted > noted:
        return None
    return CheckLine(row.line, *pair, kind, grade, explanation.strip())


def _choose_empty_fault(kind: str) -> TextFault | None:
    """Return the fault of an empty explanation; None unless the check is a training pair, which needs one."""
    return UNEXPLAINED if kind == "training" else None


@dataclass(frozen=True, slots=True)
class CheckTries:
    """An annotator's first and latest answer on a check, each a grade or None (cannot be rated)."""

    query_id: str
    doc_id: str
    right: int
    first: int | None
    latest: int | None


def score_training(tries: Sequence[CheckTries], total: int, required: float) -> TrainingResult | None:
    """Score the training of `total` training pairs, or return None if `total` is 0."""
    if not total:
        return None
    done = len(tries)
    first, latest = (
        sum(check.first == check.right for check in tries),
        sum(check.latest == check.right for check in tries),
    )
    passed = done == total and latest >= required * total - 1e-9
    shares = (first / done, latest / done) if done else (None, None)
    return TrainingResult(done, total, shares[0], shares[1], required, passed)


def score_gold(tries: Sequence[CheckTries]) -> GoldResult:
    """Measure how close the answers on gold pairs are to the right grades."""
    if not tries:
        return GoldResult(0, None, None, why=say("no gold pair has been judged"))
    graded = [check.latest - check.right for check in tries if check.latest is not None]
    misses = tuple(
        GoldMiss(check.query_id, check.doc_id, check.right, check.latest)
        for check in tries
        if check.latest != check.right
    )
    exact = 1 - len(misses) / len(tries)
    if not graded:
        why = say("no gold pair has a grade yet")
        return GoldResult(len(tries), exact, None, misses, why)
    return GoldResult(len(tries), exact, sum(graded) / len(graded), misses)


def score_repeats(answers: Sequence[tuple[int | None, int | None]]) -> RepeatConsistency:
    """Measure self-consistency from (first answer, answer on the repeat), each a grade or None."""
    if not answers:
        return RepeatConsistency(0, None, None, say("no pair has been judged a second time"))
    equal = sum(first == again for first, again in answers) / len(answers)
    graded = [abs(first - again) for first, again in answers if first is not None and again is not None]
    if not graded:
        why = say("no pair has a grade from both times")
        return RepeatConsistency(len(answers), equal, None, why)
    return RepeatConsistency(len(answers), equal, sum(graded) / len(graded))
