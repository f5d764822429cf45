"""Define the 0-3 scale of graded relevance, its default definitions, and what an annotator may answer.

The numbers are fixed everywhere; their names and definitions belong to a dataset's rubric.
Source of the scale: the law-search methodology and the Nablarch design (docs/evaluators.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError

GRADES: tuple[int, ...] = (0, 1, 2, 3)
RELEVANT_FROM = 1
Outcome = Literal["graded", "unrateable", "later"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


def check_grade(grade: object) -> int:
    """Return the grade if it is one of 0, 1, 2, 3 (an int, not a bool). Raises ValidationError otherwise."""
    if type(grade) is int and grade in GRADES:
        return grade
    raise ValidationError(f"expected a grade 0, 1, 2 or 3, found {grade!r}")


@dataclass(frozen=True, slots=True)
class GradeDefinition:
    """The definition of one grade: a short name, one or two sentences, and examples either way."""

    grade: int
    name: str
    definition: str
    positive_examples: tuple[str, ...] = ()
    negative_examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """The definitions that annotators judge by: four grade definitions and a guideline in Markdown."""

    grades: tuple[GradeDefinition, ...]
    guideline: str = ""
    title: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if tuple(definition.grade for definition in self.grades) != GRADES:
            numbers = [definition.grade for definition in self.grades]
            raise ValidationError(f"expected definitions of the grades 0, 1, 2, 3 in order, found {numbers}")


DEFAULT_RUBRIC = Rubric(
    title="Graded relevance, 0 to 3",
    grades=(
        GradeDefinition(0, "Not relevant", "Does not help with this query, even if it shares words with it."),
        GradeDefinition(1, "Marginally relevant", "Touches the topic; useful context, but answers no part."),
        GradeDefinition(2, "Highly relevant", "Answers an important part, or all of it with effort."),
        GradeDefinition(3, "Perfect", "Answers the query directly and completely; you could stop here."),
    ),
    guideline=(
        "Judge each document on its own, for the person who typed this query.\n\n"
        "- Ask what the searcher needs, not which words match.\n"
        "- In doubt between two grades, take the lower one and say why in the note.\n"
        "- Judge alone; differences are settled afterwards.\n"
    ),
)
