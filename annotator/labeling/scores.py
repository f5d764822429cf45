"""What answers on checks come to: training scores, closeness to gold, consistency with oneself.

Pure rules. Of several answers on a pair the latest counts, in training also the first. An answer "cannot be rated"
is an answer: never right, and without a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.messages import say
from annotator.labeling.domain_calibration import Consistency, GoldResult, Miss, Trained


@dataclass(frozen=True, slots=True)
class Tries:
    """An annotator's first and latest answer on a marked pair, each a grade or None (cannot be rated)."""

    query_id: str
    doc_id: str
    right: int
    first: int | None
    latest: int | None


def score_training(tries: Sequence[Tries], total: int, required: float) -> Trained | None:
    """How the training went, of `total` marked pairs; None when none is marked."""
    if not total:
        return None
    done = len(tries)
    first, latest = (
        sum(one.first == one.right for one in tries),
        sum(one.latest == one.right for one in tries),
    )
    passed = done == total and latest >= required * total - 1e-9
    shares = (first / done, latest / done) if done else (None, None)
    return Trained(done, total, shares[0], shares[1], required, passed)


def score_gold(tries: Sequence[Tries]) -> GoldResult:
    """How close the answers on gold pairs are to the right grades."""
    if not tries:
        return GoldResult(0, None, None, why=say("no gold pair has been answered"))
    graded = [one.latest - one.right for one in tries if one.latest is not None]
    misses = tuple(
        Miss(one.query_id, one.doc_id, one.right, one.latest) for one in tries if one.latest != one.right
    )
    exact = 1 - len(misses) / len(tries)
    if not graded:
        why = say("no gold pair has been given a grade")
        return GoldResult(len(tries), exact, None, misses, why)
    return GoldResult(len(tries), exact, sum(graded) / len(graded), misses)


def score_repeats(answers: Sequence[tuple[int | None, int | None]]) -> Consistency:
    """How consistent an annotator is: (first answer, answer on the repeat), each a grade or None."""
    if not answers:
        return Consistency(0, None, None, say("no pair has been judged a second time"))
    equal = sum(first == again for first, again in answers) / len(answers)
    graded = [abs(first - again) for first, again in answers if first is not None and again is not None]
    if not graded:
        why = say("no pair has been given a grade both times")
        return Consistency(len(answers), equal, None, why)
    return Consistency(len(answers), equal, sum(graded) / len(graded))
