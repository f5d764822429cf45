"""Compare two texts line by line and word by word, and two versions of a rubric.

Time and size are bounded. For large texts only the first changes are returned, with `cut` set to True. Common
lines and words: Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986), the fewest
insertions and deletions; the search stops after `most` edits.
"""

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from annotator.domain.grades import GradeDefinition, Rubric, read_in_language


class MatchingBlock(NamedTuple):
    """`size` common items, at index `before` of the first sequence and `after` of the second."""

    before: int
    after: int
    size: int


def match(before: Sequence[Hashable], after: Sequence[Hashable], *, most: int) -> list[MatchingBlock] | None:
    """Return the common blocks in order; None if more than `most` edits are needed."""
    start, end = _count_ends(before, after)
    middle = _match_middle(before[start : len(before) - end], after[start : len(after) - end], most=most)
    if middle is None:
        return None
    blocks = [MatchingBlock(0, 0, start)]
    blocks += [MatchingBlock(block.before + start, block.after + start, block.size) for block in middle]
    blocks.append(MatchingBlock(len(before) - end, len(after) - end, end))
    return _join_blocks(blocks)


def match_ends(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[MatchingBlock]:
    """Return only the common start and end, for texts that are too different to compare."""
    start, end = _count_ends(before, after)
    return _join_blocks([MatchingBlock(0, 0, start), MatchingBlock(len(before) - end, len(after) - end, end)])


def _count_ends(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[int, int]:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _match_middle(
    before: Sequence[Hashable], after: Sequence[Hashable], *, most: int
) -> list[MatchingBlock] | None:
    """Search greedily (Myers): `reach[k]` is the furthest x on diagonal k = x - y with the current number of edits."""
    long, wide = len(before), len(after)
    reach, snapshots = {1: 0}, []
    for edits in range(min(most, long + wide) + 1):
        snapshots.append(reach.copy())
        for diagonal in range(-edits, edits + 1, 2):
            if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
                x = reach[diagonal + 1]
            else:
                x = reach[diagonal - 1] + 1
            y = x - diagonal
            while x < long and y < wide and before[x] == after[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= long and y >= wide:
                return _walk_back(snapshots, long, wide)
    return None


def _walk_back(snapshots: Sequence[dict[int, int]], x: int, y: int) -> list[MatchingBlock]:
    """Return the blocks of the found path, walking it from its end."""
    blocks = []
    for edits in range(len(snapshots) - 1, -1, -1):
        reach, diagonal = snapshots[edits], x - y
        if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
            came_from = diagonal + 1
        else:
            came_from = diagonal - 1
        from_x = reach[came_from] if edits else 0
        from_y = from_x - came_from if edits else 0
        size = min(x - from_x, y - from_y)
        blocks.append(MatchingBlock(x - size, y - size, size))
        x, y = from_x, from_y
    return blocks[::-1]


def _join_blocks(blocks: Sequence[MatchingBlock]) -> list[MatchingBlock]:
    """Join neighbouring blocks and drop empty ones."""
    joined: list[MatchingBlock] = []
    for block in blocks:
        if not block.size:
            continue
        last = joined[-1] if joined else None
        if last and (last.before + last.size, last.after + last.size) == (block.before, block.after):
            joined[-1] = MatchingBlock(last.before, last.after, last.size + block.size)
        else:
            joined.append(block)
    return joined


CONTEXT = 3
MOST_CHARACTERS = 60_000
MOST_LINES, MOST_LINE_EDITS, MOST_WORD_EDITS = 200, 500, 300
LONG_WORDS, LONG_SAME, LONG_CHANGED = 100_000, 400, 2_000
ALIKE = 0.4
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|\s+|.",
    re.DOTALL,
)
Kind = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class LinePart:
    """A piece of a line."""

    text: str
    changed: bool  # missing in the corresponding line of the other text


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of either text."""

    kind: Kind
    text: str  # "…" for a line that replaces skipped ones
    parts: tuple[LinePart, ...] = ()  # of `text`; empty if the changed words are unknown
    skipped: int = 0  # how many lines of this kind it replaces


@dataclass(frozen=True, slots=True)
class LineDiff:
    """The changed lines with three unchanged lines around them; no lines if the texts are equal."""

    lines: tuple[DiffLine, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class GradeChange:
    """The differences in a grade: both definitions, and their lines compared."""

    grade: int
    before: GradeDefinition
    after: GradeDefinition
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class TranslationChange:
    """The changes of a translation. `comparison` is None for an added or removed translation."""

    language: str
    kind: Literal["added", "removed", "changed"]
    comparison: "GuidelineComparison | None" = None


@dataclass(frozen=True, slots=True)
class GuidelineComparison:
    """The differences between two versions of a rubric, in the authoritative texts and in each translation."""

    grades: tuple[GradeChange, ...]  # only those that differ
    guideline: LineDiff
    title: tuple[str, str] | None  # before and after, if it differs
    language: tuple[str, str] | None = None  # the authoritative one before and after, if it differs
    translations: tuple[TranslationChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.grades or self.guideline.lines or self.title or self.language or self.translations)


def compare_rubrics(before: Rubric, after: Rubric) -> GuidelineComparison:
    """Compare two rubrics language by language: each grade, and the guideline line by line.

    Compares the new authoritative texts with the old texts in the same language, if there were any.
    """
    olds, news = before.texts_by_language, after.texts_by_language
    own = after.language if after.language in olds else before.language
    compared = _compare_texts(olds[own], news[after.language])
    language = (before.language, after.language) if before.language != after.language else None
    tags = [tag for tag in {**olds, **news} if tag not in (own, after.language)]
    changes = (_compare_translation(tag, olds.get(tag), news.get(tag)) for tag in tags)
    return replace(compared, language=language, translations=tuple(change for change in changes if change))


def _compare_translation(tag: str, before: Rubric | None, after: Rubric | None) -> TranslationChange | None:
    if before is None or after is None:
        return TranslationChange(tag, "added" if before is None else "removed")
    comparison = _compare_texts(before, after)
    return None if comparison.is_empty else TranslationChange(tag, "changed", comparison)


def _compare_texts(before: Rubric, after: Rubric) -> GuidelineComparison:
    grades = tuple(
        GradeChange(old.grade, old, new, compare_lines(write_grade(old), write_grade(new)).lines)
        for old, new in zip(before.grades, after.grades, strict=True)
        if old != new
    )
    title = (before.title, after.title) if before.title != after.title else None
    return GuidelineComparison(grades, compare_lines(before.guideline, after.guideline), title)


def compare_readings(before: Rubric, after: Rubric, language: str) -> tuple[GuidelineComparison, str | None]:
    """Compare the two versions as a reader of this language sees them. Returns (comparison, new language or None).

    If the reader now sees another language than before, compares the authoritative texts and returns the new
    language. An old version without a stated language counts as being in the new authoritative language.
    """
    old, new = read_in_language(before, language).rubric, read_in_language(after, language).rubric
    if new.language == (old.language or after.language):
        return _compare_texts(old, new), None
    return replace(compare_rubrics(before, after), language=None, translations=()), new.language


def propose_change(before: Rubric, after: Rubric) -> Literal["minor", "semantic"]:
    """Return "semantic" if an authoritative definition changed or a name moved to another grade; else "minor".

    A translation repeats the authoritative text, so adding or correcting a translation is minor.
    """
    olds = before.texts_by_language
    own = olds.get(after.language, olds[before.language])
    for old, new in zip(own.grades, after.grades, strict=True):
        if old.definition.split() != new.definition.split():
            return "semantic"
    names = {definition.name.casefold(): definition.grade for definition in own.grades}
    moved = any(names.get(new.name.casefold(), new.grade) != new.grade for new in after.grades)
    return "semantic" if moved else "minor"


def list_outdated_translations(before: Rubric, after: Rubric) -> dict[str, list[str]]:
    """Return {language: fields} that changed in the authoritative texts but not in the translation.

    A field is `title`, `guideline` or `grade 0` … `grade 3`. Only for translations that both versions have.
    """
    olds, news = before.texts_by_language, after.texts_by_language
    changed = _list_changed(olds.get(after.language, olds[before.language]), news[after.language])
    left = {
        tag: [field for field in changed if field not in _list_changed(olds[tag], texts)]
        for tag, texts in news.items()
        if tag != after.language and tag in olds
    }
    return {tag: fields for tag, fields in left.items() if fields}


def _list_changed(before: Rubric, after: Rubric) -> list[str]:
    grades = [
        f"grade {old.grade}" for old, new in zip(before.grades, after.grades, strict=True) if old != new
    ]
    title = ["title"] if before.title != after.title else []
    return [*title, *grades, *(["guideline"] if before.guideline != after.guideline else [])]


def write_grade(definition: GradeDefinition) -> str:
    """Return a grade as lines of text: its name, definition and examples."""
    examples = [f"+ {example}" for example in definition.positive_examples]
    examples += [f"− {example}" for example in definition.negative_examples]
    return "\n".join([definition.name, definition.definition, *examples])


def compare_lines(before: str, after: str) -> LineDiff:
    old, new = before.split("\n"), after.split("\n")
    blocks = match(old, new, most=MOST_LINE_EDITS)
    if blocks is None:
        blocks = match_ends(old, new)
    lines: list[DiffLine] = []
    room, cut = MOST_CHARACTERS, False
    for line in _list_lines(old, new, blocks):
        shown, shortened = _shorten(line)
        room -= len(shown.text)
        if room < 0:
            return LineDiff(tuple(lines), cut=True)
        cut = cut or shortened or (line.skipped > 0 and line.kind != "same")
        lines.append(shown)
    return LineDiff(tuple(lines), cut)


def _list_lines(
    old: Sequence[str], new: Sequence[str], blocks: Sequence[MatchingBlock]
) -> Iterator[DiffLine]:
    """Yield the changes in order with their context. Skips lines far from any change."""
    ends = [MatchingBlock(0, 0, 0), *blocks, MatchingBlock(len(old), len(new), 0)]
    last = len(ends) - 1
    for index, (block, following) in enumerate(pairwise(ends)):
        lead = block.before + block.size, block.after + block.size
        if index and block.size:
            is_first = block.before == 0 and block.after == 0
            is_last = index == last - 1 and lead == (len(old), len(new))
            yield from _list_context(
                old[block.before : lead[0]], after_change=not is_first, before_change=not is_last
            )
        yield from _list_change(old[lead[0] : following.before], new[lead[1] : following.after])


def _list_context(lines: Sequence[str], *, after_change: bool, before_change: bool) -> Iterator[DiffLine]:
    head = CONTEXT if after_change else 0
    tail = CONTEXT if before_change else 0
    if not head and not tail:
        return
    if len(lines) <= head + tail + 1:
        yield from (DiffLine("same", line) for line in lines)
        return
    yield from (DiffLine("same", line) for line in lines[:head])
    yield DiffLine("same", "…", skipped=len(lines) - head - tail)
    yield from (DiffLine("same", line) for line in lines[len(lines) - tail :])


def _list_change(removed: Sequence[str], added: Sequence[str]) -> Iterator[DiffLine]:
    """Yield the removed lines, then the added lines. Corresponding lines mark their changed words."""
    both = [
        _compare_words(old, new) for old, new in zip(removed[:MOST_LINES], added[:MOST_LINES], strict=False)
    ]
    kinds: tuple[tuple[Kind, Sequence[str]], ...] = (("removed", removed), ("added", added))
    for side, (kind, lines) in enumerate(kinds):
        for index, line in enumerate(lines[:MOST_LINES]):
            yield DiffLine(kind, line, both[index][side] if index < len(both) else ())
        if len(lines) > MOST_LINES:
            yield DiffLine(kind, "…", skipped=len(lines) - MOST_LINES)


def _compare_words(old: str, new: str) -> tuple[tuple[LinePart, ...], tuple[LinePart, ...]]:
    """Return the parts of both lines; empty if they are too long or too different to be the same line."""
    start, end = _trim(old, new) if max(len(old), len(new)) > LONG_SAME else (0, 0)
    inner = old[start : len(old) - end], new[start : len(new) - end]
    if max(map(len, inner)) > LONG_WORDS:
        return (), ()
    words = [_TOKEN.findall(text) for text in inner]
    blocks = match(words[0], words[1], most=MOST_WORD_EDITS)
    if blocks is None:
        return (), ()
    same = start + end + sum(len("".join(words[0][b.before : b.before + b.size])) for b in blocks)
    if same < ALIKE * max(len(old), len(new)):
        return (), ()
    sides = []
    for text, side, tokens in ((old, 0, words[0]), (new, 1, words[1])):
        pieces = [(text[:start], False)]
        at = 0
        for block in blocks:
            pieces.append(("".join(tokens[at : block[side]]), True))
            pieces.append(("".join(tokens[block[side] : block[side] + block.size]), False))
            at = block[side] + block.size
        pieces += [("".join(tokens[at:]), True), (text[len(text) - end :], False)]
        sides.append(_join(pieces))
    return sides[0], sides[1]


def _trim(old: str, new: str) -> tuple[int, int]:
    """Return the numbers of common characters at start and end, without cutting a word."""
    shorter = min(len(old), len(new))
    start = bisect_left(range(1, shorter + 1), True, key=lambda size: old[:size] != new[:size])
    while 0 < start < shorter and old[start - 1].isalnum() and old[start : start + 1].isalnum():
        start -= 1
    ends = range(1, shorter - start + 1)
    end = bisect_left(ends, True, key=lambda size: old[len(old) - size :] != new[len(new) - size :])
    while end and old[len(old) - end].isalnum() and end < len(old) and old[len(old) - end - 1].isalnum():
        end -= 1
    return start, end


def _join(pieces: Sequence[tuple[str, bool]]) -> tuple[LinePart, ...]:
    parts: list[LinePart] = []
    for text, changed in pieces:
        if not text:
            continue
        if parts and parts[-1].changed == changed:
            parts[-1] = LinePart(parts[-1].text + text, changed)
        else:
            parts.append(LinePart(text, changed))
    return tuple(parts)


def _shorten(line: DiffLine) -> tuple[DiffLine, bool]:
    """Return (line with long unchanged parts shortened, whether a change was cut)."""
    if not line.parts:
        long = LONG_SAME if line.kind == "same" else LONG_CHANGED
        if len(line.text) <= long:
            return line, False
        return DiffLine(line.kind, line.text[:long] + "…"), line.kind != "same"
    shown, cut = [], False
    for index, part in enumerate(line.parts):
        text = part.text
        if part.changed and len(text) > LONG_CHANGED:
            text, cut = text[:LONG_CHANGED] + "…", True
        elif not part.changed and len(text) > LONG_SAME:
            keep = LONG_SAME // 2
            head = text[:keep] if index else ""
            text = head + " … " + (text[-keep:] if index < len(line.parts) - 1 else "")
        shown.append(LinePart(text, part.changed))
    return DiffLine(line.kind, "".join(part.text for part in shown), tuple(shown)), cut
