"""Define the 0-3 scale of graded relevance, its default definitions, and the possible answers.

The numbers are the same in every dataset; their names and definitions are in the dataset's rubric. Source of
the scale: the law-search methodology and the Nablarch design (docs/evaluators.md).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.messages import LANGUAGES, LocalName, say

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
    """The definition of one grade: a short name, one or two sentences, and examples for and against."""

    grade: int
    name: str
    definition: str
    positive_examples: tuple[str, ...] = ()
    negative_examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rubric:
    """The definitions that annotators judge by: four grade definitions and a guideline in Markdown.

    `language`: of these texts; "" if unknown. These texts are authoritative: files and releases show them.
    `translations`: the texts in other languages, each with its `language` and without translations.
    """

    grades: tuple[GradeDefinition, ...]
    guideline: str = ""
    title: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    language: str = ""
    translations: "tuple[Rubric, ...]" = ()

    def __post_init__(self) -> None:
        if tuple(definition.grade for definition in self.grades) != GRADES:
            numbers = [definition.grade for definition in self.grades]
            raise ValidationError(f"expected definitions of the grades 0, 1, 2, 3 in order, found {numbers}")

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the rubric, the authoritative one first; none if unknown."""
        return (self.language, *(texts.language for texts in self.translations)) if self.language else ()

    @property
    def texts_by_language(self) -> "dict[str, Rubric]":
        """Return {language: the rubric in it, without translations}, the authoritative one first."""
        return {texts.language: texts for texts in (replace(self, translations=()), *self.translations)}


@dataclass(frozen=True, slots=True)
class RubricReading:
    """A rubric as its reader sees it.

    `missing`: the part that is not translated into the reader's language and shown in the authoritative one.
    """

    rubric: Rubric  # in one language
    language: str  # the reader's
    missing: Literal["", "guideline", "all"] = ""


def choose_languages(rubric: Rubric, own: str, others: Collection[str]) -> Rubric:
    """Return the rubric with the authoritative language `own` and only the translations `others`."""
    by_language = rubric.texts_by_language
    translations = tuple(texts for tag, texts in by_language.items() if tag in others and tag != own)
    return replace(by_language[own], translations=translations)


def read_in_language(rubric: Rubric, language: str) -> RubricReading:
    """Return the rubric in this language. Untranslated parts are in the authoritative language.

    If the language of the rubric is unknown, nothing counts as missing.
    """
    by_language = rubric.texts_by_language
    own = by_language[rubric.language]
    texts = by_language.get(language)
    if texts is None:
        return RubricReading(own, language, "all" if rubric.language else "")
    if texts.guideline or not own.guideline:
        return RubricReading(replace(texts, title=texts.title or own.title), language)
    shown = replace(texts, title=texts.title or own.title, guideline=own.guideline)
    return RubricReading(shown, language, "guideline")


def list_local_names(rubric: Rubric) -> list[str]:
    """Return the names of the grades 0 to 3; a page shows each in its reader's language."""
    by_language = rubric.texts_by_language
    return [
        LocalName(
            definition.name, {tag: texts.grades[definition.grade].name for tag, texts in by_language.items()}
        )
        if rubric.translations
        else definition.name
        for definition in rubric.grades
    ]


def check_languages(rubric: Rubric) -> None:
    """Raise ValidationError for an unknown or repeated language, or translations without an own language."""
    tags = [texts.language for texts in rubric.translations]
    for tag in [*([rubric.language] if rubric.language else []), *tags]:
        if tag not in LANGUAGES:
            raise ValidationError(
                say(
                    "language: expected one of {known}, found {found!r}",
                    known=", ".join(LANGUAGES),
                    found=tag,
                )
            )
    if tags and not rubric.language:
        raise ValidationError(
            say("language: a guideline with translations names its own language, found none")
        )
    if len({rubric.language, *tags}) <= len(tags) or any(texts.translations for texts in rubric.translations):
        raise ValidationError(
            say(
                "translations: expected each language once, found {found}",
                found=", ".join([rubric.language, *tags]),
            )
        )


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
