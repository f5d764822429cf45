"""Decide when a pair is settled and at which grade, and which pairs wait for a lead and why.

The queue, its figures, the gates and releases share these rules and the short words for each reason. An
unrateable pair has no grade, and an unjudged pair has no judgment; neither ever counts as grade 0. A pair
that a lead has decided stays in the queue as a closed disagreement, so that the decision can be viewed and
changed.

Also decides how many annotators judge a pair: the dataset's overlap and its exceptions.
`storage/judgments/missing_judgments.py` repeats `count_lacking` in SQL, for many pairs at once. Rules are
stored as JSON:

    {"category": {"howto": 2, "reference": 1},     exceptions by the query's category
     "share": {"share": 0.3, "overlap": 2},        30 % of the other pairs by 2, the rest by the dataset's overlap
     "cap": 3,                                     the maximum per pair, whatever the other rules say
     "conditional": 2}                             one more annotator when the first two differ by at least 2

A category's exception goes before the share. Only the seed and the pair's key decide whether a pair belongs
to the share. So adding pairs changes nothing, and a greater share contains every pair of a smaller one.

Also has the records of systems' scores on a query, and of a pair's impact on them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from typing import Any, Literal, NamedTuple, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import Message, join_sentences, say, say_n
from annotator.domain.shuffling import Seed

PairStatus = Literal[
    "unjudged", "unrateable", "imported", "single", "unanimous", "disagreement", "reopened", "adjudicated"
]
PAIR_STATUSES: tuple[str, ...] = get_args(PairStatus)
SETTLED = ("imported", "single", "unanimous", "adjudicated")
"""The statuses with a settled grade: such a pair is a qrel."""
OPEN = ("disagreement", "reopened")
"""The statuses that wait for a lead. They have no settled grade until a lead decides."""
Decided = int | Literal["unrateable"]
"""A lead's decision: a grade, or that the pair cannot be rated."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The status of a pair, and its settled grade (0-3). The grade is None if the status settles none."""

    status: PairStatus
    grade: int | None


def settle(
    grades: Sequence[int],
    unrateable: int,
    adjudicated: Decided | None,
    imported: int | None = None,
    errors: tuple[int, ...] = (),
) -> Settlement:
    """Derive a pair's status from its independent judgments, the decision, and quality control.

    `grades`: the judged grades, in any order. `unrateable`: the number of judgments without a grade.
    `adjudicated`: the lead's current decision, or None. `imported`: the kept grade of an earlier ground
    truth; any judgment made here replaces it. `errors`: grades of third experts that contradicted the settled
    grade, and on which no lead has decided since (`storage/pairs/pair_states.py`). They reopen the pair
    unless they equal its present grade.

    A pair is a disagreement if its grades differ, or if only some annotators could rate it. It then has no
    settled grade until a lead decides. A pair with one judgment is "single": it has a grade, but no second
    opinion.
    """
    settlement = _settle(grades, unrateable, adjudicated, imported)
    is_contradicted = any(grade != settlement.grade for grade in errors)
    return Settlement("reopened", None) if is_contradicted else settlement


def read_decision(outcome: str, grade: int | None) -> Decided | None:
    """Return the stored decision as a grade or "unrateable"; None for a withdrawal."""
    return "unrateable" if outcome == "unrateable" else grade


def _settle(
    grades: Sequence[int], unrateable: int, adjudicated: Decided | None, imported: int | None
) -> Settlement:
    if adjudicated == "unrateable":
        return Settlement("unrateable", None)
    if adjudicated is not None:
        return Settlement("adjudicated", adjudicated)
    if not grades and not unrateable and imported is not None:
        return Settlement("imported", imported)
    if not grades:
        return Settlement("unrateable" if unrateable else "unjudged", None)
    if unrateable or len(set(grades)) > 1:
        return Settlement("disagreement", None)
    return Settlement("single" if len(grades) == 1 else "unanimous", grades[0])


class QueueReason(IntFlag):
    """Why a pair is in the queue. Several reasons can hold. The numbers are stored: never change one."""

    DIFFER = 1
    """Its independent grades differ."""
    UNRATEABLE = 2
    """One annotator graded it, another could not rate it."""
    QUALITY = 4
    """Quality control contradicts the settled grade, and no lead has decided since."""
    OBJECTION = 8
    """An annotator objects to the decision."""
    QUESTION = 16
    """An annotator's question about it was not answered, and no lead has decided since."""
    STALE = 32
    """A judgment, or the decision, was made before the guideline changed its meaning."""


NOTHING = QueueReason(0)
LASTING = QueueReason.DIFFER | QueueReason.UNRATEABLE
"""The reasons that a decision closes. The others end by themselves, or keep a decided pair open."""
UNGRADED = LASTING | QueueReason.QUALITY
"""The reasons that leave a pair without a settled grade until a lead decides. The others leave it its grade."""
Stage = Literal["waiting", "imported", "single", "agreed", "disputed", "settled", "reopened"]
STAGES: tuple[str, ...] = get_args(Stage)
UNRATEABLE_APART = 1
"""The distance between a grade and "cannot be rated": that of neighbouring grades."""


@dataclass(frozen=True, slots=True)
class SettlementFacts:
    """The facts that decide whether a pair waits for a lead, each with the time when it began.

    `judgments`: the current independent ones, as (grade, None if unrateable; time).
    """

    judgments: Sequence[tuple[int | None, datetime]]
    decided: Decided | None = None  # the current decision
    decided_at: datetime | None = None
    settled: int | None = None  # the settled grade if errors are ignored
    errors: Sequence[tuple[int, datetime]] = ()  # other grades that quality control found
    answered_errors: Sequence[tuple[int, datetime]] = ()  # errors on which a lead has decided since
    objections: Sequence[datetime] = ()
    questions: Sequence[datetime] = ()
    stale: Sequence[datetime] = ()  # judgments older than a change of the guideline's meaning


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A disagreement as the queue keeps it."""

    open: bool  # waits for a lead
    reasons: QueueReason
    waiting: QueueReason  # the reasons that still hold it open
    low: int | None  # the lowest of the contradicting grades; None if fewer than two contradict
    high: int | None
    distance: int  # between low and high, 0-3
    since: datetime  # the beginning of its first reason; the time of the decision if no reason holds

    @property
    def taste(self) -> bool:
        """Return whether the grades are neighbours, and both relevant or both not relevant."""
        if self.reasons != QueueReason.DIFFER or self.distance != 1 or self.low is None or self.high is None:
            return False
        return (self.low >= RELEVANT_FROM) == (self.high >= RELEVANT_FROM)


def find_queue_entry(pair: SettlementFacts) -> QueueEntry | None:
    """Return the pair's entry in the queue; None if it never needed a decision."""
    begins = _list_reasons(pair)
    if not begins and pair.decided is None:
        return None
    holding = QueueReason(sum(begins))
    waiting = holding & ~LASTING if pair.decided is not None else holding
    reasons = holding | QueueReason.QUALITY if pair.answered_errors else holding
    grades = _list_grades(pair, reasons)
    low, high = (min(grades), max(grades)) if len(grades) > 1 else (None, None)
    distance = high - low if low is not None and high is not None else 0
    if QueueReason.UNRATEABLE in reasons:
        distance = max(distance, UNRATEABLE_APART)
    counted = [begin for reason, begin in begins.items() if reason & (waiting or holding)]
    since = min(counted) if counted else pair.decided_at
    if since is None:
        raise ValueError("a decision without a time")
    return QueueEntry(bool(waiting), reasons, waiting, low, high, distance, since)


def find_stage(settlement: Settlement, waiting: QueueReason, *, decided: bool, lacking: int) -> Stage:
    """Return the stage of one pair. Counts of many pairs use the status instead (`overview/records.py`).

    `waiting`: why it waits for a lead. `decided`: whether a lead's decision holds. `lacking`: its missing
    judgments.
    """
    if settlement.status == "unjudged":
        return "waiting"
    if waiting:
        differs = waiting & LASTING and not decided and settlement.status != "reopened"
        return "disputed" if differs else "reopened"
    if decided:
        return "settled"
    if lacking:
        return "waiting"
    # A grade that was imported, or that one annotator gave alone, is not an agreement.
    return settlement.status if settlement.status in ("imported", "single") else "agreed"


def _list_reasons(pair: SettlementFacts) -> dict[QueueReason, datetime]:
    """Return {reason that holds: its beginning}."""
    begins: dict[QueueReason, datetime] = {}
    ordered = sorted(pair.judgments, key=lambda judgment: judgment[1])
    graded = [judgment for judgment in ordered if judgment[0] is not None]
    differing = [at for grade, at in graded if grade != graded[0][0]]
    if differing:
        begins[QueueReason.DIFFER] = differing[0]
    if graded and len(graded) < len(ordered):
        unlike = [at for grade, at in ordered if (grade is None) != (ordered[0][0] is None)]
        begins[QueueReason.UNRATEABLE] = unlike[0]
    contrary = [at for grade, at in pair.errors if grade != pair.settled]
    for reason, times in (
        (QueueReason.QUALITY, contrary),
        (QueueReason.OBJECTION, pair.objections),
        (QueueReason.QUESTION, pair.questions),
        (QueueReason.STALE, pair.stale),
    ):
        if times:
            begins[reason] = min(times)
    return begins


def _list_grades(pair: SettlementFacts, reasons: QueueReason) -> set[int]:
    """Return the grades that contradict each other."""
    grades = {grade for grade, _ in pair.judgments if grade is not None}
    if QueueReason.QUALITY in reasons:
        grades |= {grade for grade, _ in (*pair.errors, *pair.answered_errors)}
        grades |= {pair.settled} if pair.settled is not None and pair.errors else set()
    return grades


REASONS = {
    QueueReason.DIFFER: say("grades differ"),
    QueueReason.UNRATEABLE: say("some cannot rate"),
    QueueReason.QUALITY: say("quality control"),
    QueueReason.OBJECTION: say("objection"),
    QueueReason.QUESTION: say("question"),
    QueueReason.STALE: say("older guideline"),
}


Rules = Mapping[str, Any]

MOST = 20
DISTANCES = (1, 2, 3)
_NAMES = ("category", "share", "cap", "conditional")


def find_overlap(overlap: int, rules: Rules | None, *, seed: Seed, key: str, category: str | None) -> int:
    """Return how many annotators (1-20) must judge the pair with this key, of a query of this category."""
    rules = rules or {}
    annotators: int | None = rules.get("category", {}).get(category)
    if annotators is None:
        shared = rules.get("share")
        is_shared = shared and is_in_share(shared["share"], seed=seed, key=key)
        annotators = shared["overlap"] if shared and is_shared else overlap
    return min(annotators, rules.get("cap") or MOST)


def is_in_share(share: float, *, seed: Seed, key: str) -> bool:
    """Return whether the seed draws the pair into this share (0-1) of all pairs."""
    drawn = hashlib.blake2b(f"overlap\x1f{seed}\x1f{key}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") < share * 2**64


def find_uniform_overlap(overlap: int, rules: Rules | None) -> int | None:
    """Return how many annotators must judge each pair; None if that differs between pairs."""
    rules = rules or {}
    if rules.get("category") or rules.get("share"):
        return None
    return min(overlap, rules.get("cap") or MOST)


def find_largest_overlap(overlap: int, rules: Rules | None, category: str | None) -> int:
    """Return the most annotators that a pair of this category can need, including a further one."""
    rules = rules or {}
    shared = rules.get("share")
    exception = rules.get("category", {}).get(category)
    most = exception if exception is not None else max(overlap, shared["overlap"] if shared else 0)
    most = min(most, rules.get("cap") or MOST)
    return int(most) + (conditional_distance(rules) is not None and allows_further(rules, most))


def conditional_distance(rules: Rules | None) -> int | None:
    """Return the distance (1-3) of two grades from which one more annotator judges; None: never."""
    distance: int | None = (rules or {}).get("conditional")
    return distance


def allows_further(rules: Rules | None, overlap: int) -> bool:
    """Return whether the cap allows one more annotator on a pair with this overlap."""
    return overlap < ((rules or {}).get("cap") or MOST)


def count_lacking(
    overlap: int, judgments: Sequence[tuple[str, int | None]], *, further_from: int | None
) -> int:
    """Return how many judgments a pair still lacks.

    `judgments`: purpose and grade (None: unrateable) of its current judgments. `further_from`: the distance
    of two grades from which one more judgment is needed; None if none is, or if the cap does not allow one
    more.
    """
    grades = [grade for purpose, grade in judgments if purpose == COUNTED_PURPOSE and grade is not None]
    differ = further_from is not None and len(grades) > 1 and max(grades) - min(grades) >= further_from
    return max(0, overlap + differ - len(judgments))


def check_rules(overlap: int, rules: Rules | None) -> dict[str, Any] | None:
    """Return the rules without empty ones; None without any. Raises ValidationError for impossible rules."""
    given = {name: value for name, value in (rules or {}).items() if value not in (None, {})}
    unknown = sorted(given.keys() - set(_NAMES))
    if unknown:
        raise ValidationError(f"overlap rules: expected {', '.join(_NAMES)}, found {unknown[0]!r}")
    for category, number in given.get("category", {}).items():
        _check_number(say("overlap of the category {category}", category=category), number)
    if "share" in given:
        _check_share(given["share"])
    if "conditional" in given and given["conditional"] not in DISTANCES:
        raise ValidationError(
            say("third judgment: expected a distance 1-3, found {found!r}", found=given["conditional"])
        )
    if "cap" in given:
        _check_cap(overlap, given["cap"], conditional="conditional" in given)
    return given or None


def describe_overlap(overlap: int, rules: Rules | None) -> Message:
    """Return the rules in words."""
    rules = rules or {}
    sentences = [_describe_share(overlap, rules.get("share"))]
    if by_category := rules.get("category"):
        listed = ", ".join(f"{category}: {number}" for category, number in by_category.items())
        sentences.append(say("Exceptions by category: {listed}.", listed=listed))
    if cap := rules.get("cap"):
        sentences.append(say("No pair is judged by more than {cap}.", cap=cap))
    if distance := conditional_distance(rules):
        sentences.append(
            say("One more is asked when the first two differ by at least {distance}.", distance=distance)
        )
    return join_sentences(sentences)


def _describe_share(overlap: int, shared: Mapping[str, Any] | None) -> Message:
    if not shared:
        return say_n(
            "Each pair is judged by {n} annotator.", "Each pair is judged by {n} annotators.", overlap
        )
    return say_n(
        "{share} % of the pairs are judged by {n} annotator, the others by {rest}.",
        "{share} % of the pairs are judged by {n} annotators, the others by {rest}.",
        shared["overlap"],
        share=f"{shared['share'] * 100:.4g}",
        rest=overlap,
    )


def _check_number(what: Message, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST:
        raise ValidationError(
            say(
                "{what}: expected a whole number 1-{most}, found {found!r}",
                what=what,
                most=MOST,
                found=number,
            )
        )
    return number


def _check_share(rule: object) -> None:
    if not isinstance(rule, Mapping) or rule.keys() != {"share", "overlap"}:
        raise _refuse_share(rule)
    share = rule["share"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise _refuse_share(share)
    _check_number(say("overlap of the share"), rule["overlap"])


def _refuse_share(value: object) -> ValidationError:
    return ValidationError(
        say(
            "share of the pairs: expected a number between 0 and 1 with the overlap it gets, found {found!r}",
            found=value,
        )
    )


def _check_cap(overlap: int, value: object, *, conditional: bool) -> None:
    cap = _check_number(say("cap of the overlap"), value)
    if cap < overlap:
        raise ValidationError(
            say(
                "cap of the overlap: expected at least the overlap ({overlap}), found {cap}",
                overlap=overlap,
                cap=cap,
            )
        )
    if conditional and cap < 3:
        raise ValidationError(
            say("cap of the overlap: expected at least 3, so that a third can be asked, found {cap}", cap=cap)
        )


Scores = dict[str, list[float | None]]
"""The scores on one query by system: nDCG, recall and reciprocal rank; None without a relevant document."""


class KnownPair(NamedTuple):
    """A judged or decided pair, or a disagreement.

    `grades` (ascending) and `unrateable`: its independent judgments. `errors`: grades from quality control on
    which no lead has decided. `answered`: those on which a lead has decided.
    """

    pair_pk: int
    document_pk: int
    disputed: bool = False
    grades: tuple[int, ...] = ()
    unrateable: int = 0
    decided: Decided | None = None
    imported: int | None = None
    errors: tuple[int, ...] = ()
    answered: tuple[int, ...] = ()


class GradeImpact(NamedTuple):
    """The impact of choosing a pair's grade: the largest change of one system's scores on the pair's query.

    `impact`: the change of nDCG; `recall`: of recall; `mrr`: of reciprocal rank. `flips`: the pairs of
    systems that can change places. All but `impact` are None if no run has the query.
    """

    pair_pk: int
    impact: float
    recall: float | None = None
    mrr: float | None = None
    flips: int | None = None


class ScoreTotals(NamedTuple):
    """The sums of the scores over `queries` queries, by system: nDCG, recall and reciprocal rank."""

    queries: int
    scores: dict[str, list[float]]
