"""Merge the changes of two leads to the guideline field by field, with conflict marks. Pure.

Three-way: `base` is where both began, `theirs` is published, `mine` is not. A change by one side is taken. Different changes
of both stand between marks, theirs first; a guideline with marks cannot be published, so that a person decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotator.domain.grades import GradeDefinition, Rubric
from annotator.domain.messages import Message, say
from annotator.guideline.text_diff import MatchingBlock, match

OPENS, PARTS, CLOSES = "<<<<<<<", "=======", ">>>>>>>"
MOST_EDITS = 2_000


@dataclass(frozen=True, slots=True)
class GuidelineMerge:
    """The merged standard; `conflicts` names the fields that hold marks."""

    rubric: Rubric
    conflicts: tuple[Message, ...]


def merge_standards(base: Rubric, theirs: Rubric, mine: Rubric) -> GuidelineMerge:
    """The title, each grade's name, definition and examples, and the guideline, each merged by itself."""
    grades = tuple(map(_merge_grade, base.grades, theirs.grades, mine.grades))
    merged = Rubric(
        grades=grades,
        guideline=merge_texts(base.guideline, theirs.guideline, mine.guideline),
        title=_merge_short(base.title, theirs.title, mine.title),
    )
    return GuidelineMerge(merged, find_conflicts(merged))


def find_conflicts(rubric: Rubric) -> tuple[Message, ...]:
    """The fields that hold marks of a merge."""
    found = [say("Title")] if _is_marked(rubric.title) else []
    for definition in rubric.grades:
        fields = (
            (say("Grade {grade}: name", grade=definition.grade), definition.name),
            (say("Grade {grade}: definition", grade=definition.grade), definition.definition),
            (
                say("Grade {grade}: examples", grade=definition.grade),
                "\n".join([*definition.positive_examples, *definition.negative_examples]),
            ),
        )
        found += [name for name, text in fields if _is_marked(text)]
    return (*found, *([say("Guideline")] if _is_marked(rubric.guideline) else []))


def merge_texts(base: str, theirs: str, mine: str) -> str:
    """Line by line."""
    return "\n".join(_merge_lists(base.split("\n"), theirs.split("\n"), mine.split("\n")))


def _merge_grade(base: GradeDefinition, theirs: GradeDefinition, mine: GradeDefinition) -> GradeDefinition:
    return GradeDefinition(
        grade=base.grade,
        name=_merge_short(base.name, theirs.name, mine.name),
        definition=merge_texts(base.definition, theirs.definition, mine.definition),
        positive_examples=_merge_lists(
            base.positive_examples, theirs.positive_examples, mine.positive_examples
        ),
        negative_examples=_merge_lists(
            base.negative_examples, theirs.negative_examples, mine.negative_examples
        ),
    )


def _merge_short(base: str, theirs: str, mine: str) -> str:
    """A field of one line: both values between marks, on one line, when they contradict."""
    if theirs == mine or mine == base:
        return theirs
    return mine if theirs == base else f"{OPENS} {theirs} {PARTS} {mine} {CLOSES}"


def _merge_lists(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> tuple[str, ...]:
    """Lines or examples. (Khanna, Kunal, Pierce: "A Formal Investigation of Diff3", FSTTCS 2007.)"""
    if theirs == mine or mine == base:
        return tuple(theirs)
    if theirs == base:
        return tuple(mine)
    ours, yours = match(base, theirs, most=MOST_EDITS), match(base, mine, most=MOST_EDITS)
    merged: list[str] = []
    at, at_theirs, at_mine = 0, 0, 0
    end = (len(base), len(theirs), len(mine), 0)
    for stable in (*_list_stable(ours or [], yours or []), end):
        start, start_theirs, start_mine, size = stable
        merged += _decide(base[at:start], theirs[at_theirs:start_theirs], mine[at_mine:start_mine])
        merged += base[start : start + size]
        at, at_theirs, at_mine = start + size, start_theirs + size, start_mine + size
    return tuple(merged)


def _list_stable(
    ours: Sequence[MatchingBlock], yours: Sequence[MatchingBlock]
) -> Iterator[tuple[int, int, int, int]]:
    """Where all three are the same: (place in base, in theirs, in mine, size)."""
    first, second = 0, 0
    while first < len(ours) and second < len(yours):
        one, two = ours[first], yours[second]
        start = max(one.before, two.before)
        end = min(one.before + one.size, two.before + two.size)
        if end > start:
            yield start, one.after + start - one.before, two.after + start - two.before, end - start
        if one.before + one.size <= two.before + two.size:
            first += 1
        else:
            second += 1


def _decide(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> Sequence[str]:
    if theirs == mine or mine == base:
        return theirs
    return mine if theirs == base else [OPENS, *theirs, PARTS, *mine, CLOSES]


def _is_marked(text: str) -> bool:
    return any(line.startswith(OPENS) or line.endswith(CLOSES) for line in text.split("\n"))
