"""Merge the changes of two leads to the guideline field by field, with conflict marks.

Three-way merge: both leads started from `base`; `published` is the current version, `draft` the new text.
Each language is merged separately. A change by one side is taken. Different changes of the same lines are put
between conflict marks, the published lines first. A guideline with marks cannot be published, so a person
decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.domain.messages import LANGUAGE_NAMES, Message, say
from annotator.guideline.compare import MatchingBlock, match

OPENS, PARTS, CLOSES = "<<<<<<<", "=======", ">>>>>>>"
MOST_EDITS = 2_000


@dataclass(frozen=True, slots=True)
class GuidelineMerge:
    """A merged rubric."""

    rubric: Rubric
    conflicts: tuple[Message, ...]  # names of the fields with conflict marks


def merge_rubrics(base: Rubric, published: Rubric, draft: Rubric) -> GuidelineMerge:
    """Merge title, grades (name, definition, examples) and guideline separately, for each language.

    A translation that one side removed disappears unless the other side changed it. If the published version
    changed the authoritative language, the change is kept.
    """
    language = draft.language if published.language == base.language else published.language
    sides = [_read_languages(side, language) for side in (base, published, draft)]
    own = _merge_language(sides, language, published)
    others = {tag: None for side in sides for tag in side if tag != language}  # each once, in order
    translations = [merged for tag in others if (merged := _merge_translation(sides, tag)) is not None]
    merged = replace(own, translations=tuple(translations))
    return GuidelineMerge(merged, find_conflicts(merged))


def _read_languages(rubric: Rubric, language: str) -> dict[str, Rubric]:
    """Return {language: texts}. Authoritative texts without a stated language count as this language."""
    return {tag or language: texts for tag, texts in rubric.texts_by_language.items()}


def _merge_translation(sides: Sequence[dict[str, Rubric]], tag: str) -> Rubric | None:
    base, published, draft = (side.get(tag) for side in sides)
    if published is None:
        return None if draft == base else draft
    if draft is None:
        return None if published == base else published
    return _merge_language(sides, tag, published)


def _merge_language(sides: Sequence[dict[str, Rubric]], tag: str, published: Rubric) -> Rubric:
    """Merge the texts of one language. Takes the published texts if another side has none."""
    base, theirs, mine = sides
    after = theirs.get(tag, published)
    draft = mine.get(tag, after)
    before = base.get(tag) or Rubric(tuple(GradeDefinition(grade, "", "") for grade in GRADES))
    return Rubric(
        grades=tuple(map(_merge_grade, before.grades, after.grades, draft.grades)),
        guideline=merge_texts(before.guideline, after.guideline, draft.guideline),
        title=_merge_short(before.title, after.title, draft.title),
        language=tag,
    )


def find_conflicts(rubric: Rubric) -> tuple[Message, ...]:
    """Return the names of the fields with conflict marks."""
    return tuple(
        name_field(texts, rubric, name)
        for texts in (rubric, *rubric.translations)
        for name in _find_own_conflicts(texts)
    )


def name_field(texts: Rubric, rubric: Rubric, name: Message) -> Message:
    """Return the name of a field; in a translation with its language."""
    if texts is rubric:
        return name
    language = LANGUAGE_NAMES.get(texts.language, texts.language)
    return say("{language}, {field}", language=language, field=name)


def _find_own_conflicts(rubric: Rubric) -> tuple[Message, ...]:
    names = [say("Title")] if _is_marked(rubric.title) else []
    for definition in rubric.grades:
        fields = (
            (say("Grade {grade}: name", grade=definition.grade), definition.name),
            (say("Grade {grade}: definition", grade=definition.grade), definition.definition),
            (
                say("Grade {grade}: examples", grade=definition.grade),
                "\n".join([*definition.positive_examples, *definition.negative_examples]),
            ),
        )
        names += [name for name, text in fields if _is_marked(text)]
    return (*names, *([say("Guideline")] if _is_marked(rubric.guideline) else []))


def merge_texts(base: str, published: str, draft: str) -> str:
    """Merge line by line."""
    return "\n".join(_merge_lists(base.split("\n"), published.split("\n"), draft.split("\n")))


def _merge_grade(
    base: GradeDefinition, published: GradeDefinition, draft: GradeDefinition
) -> GradeDefinition:
    return GradeDefinition(
        grade=base.grade,
        name=_merge_short(base.name, published.name, draft.name),
        definition=merge_texts(base.definition, published.definition, draft.definition),
        positive_examples=_merge_lists(
            base.positive_examples, published.positive_examples, draft.positive_examples
        ),
        negative_examples=_merge_lists(
            base.negative_examples, published.negative_examples, draft.negative_examples
        ),
    )


def _merge_short(base: str, published: str, draft: str) -> str:
    """Merge a field of one line, with conflict marks on the same line."""
    if published == draft or draft == base:
        return published
    return draft if published == base else f"{OPENS} {published} {PARTS} {draft} {CLOSES}"


def _merge_lists(base: Sequence[str], published: Sequence[str], draft: Sequence[str]) -> tuple[str, ...]:
    """Merge lines or examples (Khanna, Kunal, Pierce: "A Formal Investigation of Diff3", FSTTCS 2007)."""
    if published == draft or draft == base:
        return tuple(published)
    if published == base:
        return tuple(draft)
    published_blocks = match(base, published, most=MOST_EDITS)
    draft_blocks = match(base, draft, most=MOST_EDITS)
    merged: list[str] = []
    at, at_published, at_draft = 0, 0, 0
    end = (len(base), len(published), len(draft), 0)
    for stable in (*_list_stable(published_blocks or [], draft_blocks or []), end):
        start, start_published, start_draft, size = stable
        merged += _merge_chunk(
            base[at:start], published[at_published:start_published], draft[at_draft:start_draft]
        )
        merged += base[start : start + size]
        at, at_published, at_draft = start + size, start_published + size, start_draft + size
    return tuple(merged)


def _list_stable(
    published_blocks: Sequence[MatchingBlock], draft_blocks: Sequence[MatchingBlock]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield common parts of all three: (start in base, start in published, start in draft, size)."""
    index_published, index_draft = 0, 0
    while index_published < len(published_blocks) and index_draft < len(draft_blocks):
        published_block, draft_block = published_blocks[index_published], draft_blocks[index_draft]
        start = max(published_block.before, draft_block.before)
        end = min(published_block.before + published_block.size, draft_block.before + draft_block.size)
        if end > start:
            yield (
                start,
                published_block.after + start - published_block.before,
                draft_block.after + start - draft_block.before,
                end - start,
            )
        if published_block.before + published_block.size <= draft_block.before + draft_block.size:
            index_published += 1
        else:
            index_draft += 1


def _merge_chunk(base: Sequence[str], published: Sequence[str], draft: Sequence[str]) -> Sequence[str]:
    if published == draft or draft == base:
        return published
    return draft if published == base else [OPENS, *published, PARTS, *draft, CLOSES]


def _is_marked(text: str) -> bool:
    return any(line.startswith(OPENS) or line.endswith(CLOSES) for line in text.split("\n"))
