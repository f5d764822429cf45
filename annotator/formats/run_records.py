"""Records of a run file (results with line numbers, data about a whole answer), and checks of rank and score.

`runs.py` makes them; `importing/runs/run_plan.py` uses them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import RunEntry
from annotator.domain.messages import say

MAX_RANK = 2**31 - 1
FAILED = "failed"
"""The signal of a query that a search endpoint did not answer: why. It has no results, which is not an empty answer."""
_WHOLE = re.compile(r"[0-9]{1,10}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class RunLine(NamedTuple):
    """One result, its line, and the system that the file names for it.

    `query`: the query's text if the file gives it instead of a query_id; the entry's query_id is then empty.
    """

    line: int
    entry: RunEntry
    tag: str | None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class QueryResponse:
    """The response of a search to one query, without its results. Also exists for a query without results.

    `signals`: `latency_ms` and every unknown field. `query`: as in `RunLine`.
    """

    line: int
    query_id: str
    query: str | None
    tag: str | None
    signals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFile:
    """The content of a run file."""

    lines: tuple[RunLine, ...]
    answers: tuple[QueryResponse, ...] = ()
    """Empty unless the file groups its results by query."""
    notes: tuple[str, ...] = field(default=())
    """How the reader understood the file, in words."""


def read_rank(text: str, line: int, problems: Problems) -> int | None:
    """Return a rank, a whole number from 0; None after noting anything else."""
    if _WHOLE.fullmatch(text) and int(text) <= MAX_RANK:
        return int(text)
    problems.add(line, say("rank to be a whole number from 0"), text)
    return None


def read_score(text: str, line: int, problems: Problems) -> float | None:
    """Return a score, a finite number; None after noting anything else."""
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    problems.add(line, say("score to be a finite number"), text)
    return None
