"""Records of required and measured coverage, shared by files, gates and pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.domain.ground_truth import Query

ByGrade = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """A query with its number of settled documents per grade 0, 1, 2, 3.

    `disputed`: another of its documents waits for a lead's decision, so the counts can still change.
    """

    query: Query
    by_grade: ByGrade = (0, 0, 0, 0)
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """A row of the coverage table: required and measured value.

    Without a requirement `required` is empty and `met` is None.
    """

    name: str
    required: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage table. `required`: number of rows with a requirement; `met`: number of these that are met.

    `figures`: the same numbers for programs, as counts by category, language, length and so on.
    """

    rows: tuple[CoverageRow, ...] = ()
    required: int = 0
    met: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
