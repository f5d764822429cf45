"""Check a guideline before it is published, and read and write examples as lines of text.

Refuses a guideline that is incomplete, too long, or has conflict marks. Each example is one line; following
lines with two leading spaces continue it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.grades import GradeDefinition, Rubric, check_languages
from annotator.domain.messages import LANGUAGES, Message, join, say
from annotator.domain.texts import holds_no_text
from annotator.guideline.merge import find_conflicts, name_field

MOST_TITLE, MOST_NAME, MOST_DEFINITION, MOST_EXAMPLE, MOST_GUIDELINE = 200, 100, 5_000, 5_000, 200_000
MOST_EXAMPLES, MOST_WHY = 100, 2_000


def clean_rubric(rubric: Rubric) -> Rubric:
    """Return the rubric without trailing spaces and empty examples, translations in the order of LANGUAGES."""
    return Rubric(
        grades=tuple(_clean_grade(definition) for definition in rubric.grades),
        guideline=rubric.guideline.replace("\r\n", "\n").rstrip(),
        title=" ".join(rubric.title.split()),
        language=rubric.language,
        translations=tuple(sorted(map(clean_rubric, rubric.translations), key=_order_language)),
    )


def check_rubric(rubric: Rubric) -> None:
    """Raise ValidationError for an incomplete or too long field, StateError for fields with conflict marks."""
    check_languages(rubric)
    conflicts = find_conflicts(rubric)
    if conflicts:
        names = join(conflicts)
        raise StateError(
            say(
                "Two changes conflict in: {names}. Keep one of each and remove the conflict marks.",
                names=names,
            )
        )
    for name, text, least, most in _list_fields(rubric):
        if not least <= len(text) <= most:
            raise ValidationError(_describe_length(name, least, most, len(text)))
        if holds_no_text(text):
            raise ValidationError(
                say("{field}: contains a character that cannot be stored. Remove it.", field=name)
            )
    for texts in (rubric, *rubric.translations):
        for definition in texts.grades:
            count = len(definition.positive_examples) + len(definition.negative_examples)
            if count > MOST_EXAMPLES:
                refusal = say(
                    "Grade {grade}: at most {most} examples are allowed (now {found}).",
                    grade=definition.grade,
                    most=MOST_EXAMPLES,
                    found=count,
                )
                raise ValidationError(name_field(texts, rubric, refusal))


def check_change(change: str, why: str) -> None:
    """Raise ValidationError unless the change is minor or semantic, and a semantic one has a reason."""
    if change not in ("minor", "semantic"):
        raise ValidationError(say("change: choose minor or semantic, not {found}.", found=repr(change)))
    if change == "semantic" and not why.strip():
        raise ValidationError(say("why: enter a reason, because the meaning of a grade changes."))
    if len(why) > MOST_WHY:
        raise ValidationError(_describe_length(say("why"), 0, MOST_WHY, len(why)))
    if holds_no_text(why):
        raise ValidationError(
            say("{field}: contains a character that cannot be stored. Remove it.", field=say("why"))
        )


def _describe_length(field: Message, least: int, most: int, length: int) -> Message:
    return say(
        "{field}: enter {least} to {most:,} characters (now {found:,}).",
        field=field,
        least=least,
        most=most,
        found=length,
    )


def _order_language(texts: Rubric) -> tuple[int, str]:
    known = texts.language in LANGUAGES
    return LANGUAGES.index(texts.language) if known else len(LANGUAGES), texts.language


def _list_fields(rubric: Rubric) -> Iterator[tuple[Message, str, int, int]]:
    for texts in (rubric, *rubric.translations):
        for name, text, least, most in _list_own_fields(texts):
            yield name_field(texts, rubric, name), text, least, most


def _list_own_fields(rubric: Rubric) -> Iterator[tuple[Message, str, int, int]]:
    yield say("Title"), rubric.title, 0, MOST_TITLE
    for definition in rubric.grades:
        grade = definition.grade
        yield say("Grade {grade}: name", grade=grade), definition.name, 1, MOST_NAME
        yield say("Grade {grade}: definition", grade=grade), definition.definition, 1, MOST_DEFINITION
        for example in (*definition.positive_examples, *definition.negative_examples):
            yield say("Grade {grade}: examples", grade=grade), example, 1, MOST_EXAMPLE
    yield say("Guideline"), rubric.guideline, 0, MOST_GUIDELINE


def _clean_grade(definition: GradeDefinition) -> GradeDefinition:
    return replace(
        definition,
        name=" ".join(definition.name.split()),
        definition=_clean(definition.definition).strip(),
        positive_examples=_clean_examples(definition.positive_examples),
        negative_examples=_clean_examples(definition.negative_examples),
    )


def _clean_examples(examples: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cleaned for example in examples if (cleaned := _clean(example).strip()))


def _clean(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))


CONTINUATION = "  "


def write_examples(examples: Sequence[str]) -> str:
    """Return the examples as the text of a form field."""
    return "\n".join(example.replace("\n", f"\n{CONTINUATION}") for example in examples)


def read_examples(text: str) -> tuple[str, ...]:
    """Return the examples in the text of a form field. Skips empty lines."""
    examples: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith(CONTINUATION) and examples:
            examples[-1] += "\n" + line.removeprefix(CONTINUATION)
        elif line.strip():
            examples.append(line.strip())
    return tuple(example.rstrip() for example in examples)
