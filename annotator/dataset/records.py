"""Records of what a ground truth covers and of what it is required to cover, shared by files, gates and pages.

`annotator/dataset/` counts; the requirements are a small YAML file of the dataset's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.domain.ground_truth import Query

ByGrade = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """A query, and how many of its documents are settled at each grade 0, 1, 2, 3.

    `disputed`: a lead's decision on another of its documents is open, so what it lacks is not yet known.
    """

    query: Query
    by_grade: ByGrade = (0, 0, 0, 0)
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One line of the coverage table: what is required, what was found.

    `met` is None where nothing is required: then `required` is empty and the row is only a figure.
    """

    name: str
    required: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The table of requirements. `required` counts the rows that require something, `met` those of them that are met.

    `figures` holds the same numbers for programs: counts by category, language, length and so on.
    """

    rows: tuple[CoverageRow, ...] = ()
    required: int = 0
    met: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
