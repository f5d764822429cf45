"""Records of a run file (results with their line numbers, data about a whole answer), and checks of rank and score.

`runs.py` makes them; `importing/run_plan.py` uses them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import RunEntry

MAX_RANK = 2**31 - 1
_WHOLE = re.compile(r"[0-9]{1,10}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class RunLine(NamedTuple):
    """One result, the line it stands on, and the system that the file names for it.

    `query`: the query's text where the file gives that instead of a query_id; the entry's query_id is then empty.
    """

    line: int
    entry: RunEntry
    tag: str | None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class QueryResponse:
    """What a search answered to one query, without its results: a query that found nothing has an answer too.

    `signals`: `latency_ms` and every further field. `query`: as in `RunLine`.
    """

    line: int
    query_id: str
    query: str | None
    tag: str | None
    signals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run file as it was read. `answers` are there where the file groups results by query. `notes`: for people, how
    the reader understood the file."""

    lines: tuple[RunLine, ...]
    answers: tuple[QueryResponse, ...] = ()
    notes: tuple[str, ...] = field(default=())


def read_rank(found: str, line: int, problems: Problems) -> int | None:
    """A rank, which is a whole number from 0; None after noting that it is something else."""
    if _WHOLE.fullmatch(found) and int(found) <= MAX_RANK:
        return int(found)
    problems.add(line, "rank to be a whole number from 0", found)
    return None


def read_score(found: str, line: int, problems: Problems) -> float | None:
    """A score, which is a finite number; None after noting that it is something else."""
    if _NUMBER.fullmatch(found) and math.isfinite(float(found)):
        return float(found)
    problems.add(line, "score to be a finite number", found)
    return None
