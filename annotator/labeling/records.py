"""What annotators see of their own work, and what leads see of the time that pairs take."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class WorkFilter:
    """Which of the own answers are meant. `words`: in the query or in the document's id, title or text; `answer`: "0"
    to "3", "unrateable" or "later"; the days are in the reader's time, both included. None: any."""

    words: str = ""
    answer: str | None = None
    category: str | None = None
    first_day: date | None = None
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class OwnJudgment:
    """An own answer. `locked` says why it cannot be changed: "settled", "disclosed" or None."""

    pair: str
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    outcome: str
    grade: int | None
    reason: str | None
    note: str | None
    judged_at: datetime
    locked: str | None


@dataclass(frozen=True, slots=True)
class OwnPage:
    """Some of the own answers, the latest first, and how many there are in all."""

    total: int
    judgments: tuple[OwnJudgment, ...]


@dataclass(frozen=True, slots=True)
class Pace:
    """How far one is: `done` pairs answered, `left` still open to one; `seconds` is the median active time of the last
    `timed` answers, `needed` about how many seconds the rest takes. Both are None below 10 timed answers."""

    done: int
    left: int
    timed: int
    seconds: float | None
    needed: float | None


@dataclass(frozen=True, slots=True)
class Median:
    """The median active time of `n` answers, in seconds; None where there is none."""

    n: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Times:
    """Median active seconds over the latest answers: by the query's category ("" where it has none) and by annotator,
    each in the order of names, never of speed. `simulated` names the annotators who are nobody."""

    n: int
    overall: Median
    categories: Mapping[str, Median]
    annotators: Mapping[str, Median]
    simulated: frozenset[str]
