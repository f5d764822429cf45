"""A guideline in several languages: what each reader sees, how versions compare and merge, and what is refused."""

from dataclasses import replace

import pytest

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric, list_local_names, read_in_language
from annotator.domain.messages import say
from annotator.guideline.compare import (
    compare_readings,
    compare_rubrics,
    list_outdated_translations,
    propose_change,
)
from annotator.guideline.merge import merge_rubrics
from annotator.guideline.validation import check_rubric, clean_rubric
from annotator.web.kit.messages import tr, use_language
from tests.unit.guideline.test_compare import change


def translate(rubric: Rubric, language: str, word: str) -> Rubric:
    """The rubric in another language: its names and guideline are this word and the grade."""
    grades = tuple(
        replace(definition, name=f"{word} {definition.grade}", definition=f"{word}의 뜻 {definition.grade}")
        for definition in rubric.grades
    )
    return Rubric(grades, guideline=f"{word}\n둘째 줄", title=word, language=language)


ENGLISH = replace(DEFAULT_RUBRIC, language="en")
KOREAN = translate(ENGLISH, "ko", "등급")
JAPANESE = translate(ENGLISH, "ja", "評価")
BOTH = replace(ENGLISH, translations=(KOREAN,))


def test_a_reader_sees_their_language_and_otherwise_the_authoritative_one() -> None:
    assert (read_in_language(BOTH, "ko").rubric, read_in_language(BOTH, "ko").missing) == (KOREAN, "")
    assert (read_in_language(BOTH, "ja").rubric, read_in_language(BOTH, "ja").missing) == (ENGLISH, "all")
    assert (read_in_language(BOTH, "en").rubric, read_in_language(BOTH, "en").missing) == (ENGLISH, "")


def test_a_guideline_whose_language_nobody_said_is_missing_nothing() -> None:
    reading = read_in_language(DEFAULT_RUBRIC, "ko")
    assert (reading.rubric, reading.missing) == (DEFAULT_RUBRIC, "")


def test_a_translation_of_the_grades_alone_is_read_with_the_authoritative_text() -> None:
    reading = read_in_language(
        replace(ENGLISH, translations=(replace(KOREAN, guideline="", title=""),)), "ko"
    )
    assert (reading.rubric.grades, reading.missing) == (KOREAN.grades, "guideline")
    assert (reading.rubric.guideline, reading.rubric.title) == (ENGLISH.guideline, ENGLISH.title)


def test_a_grade_is_named_in_the_readers_language_also_within_a_sentence() -> None:
    name = list_local_names(BOTH)[3]
    shown = {}
    for language in ("en", "ko", "ja"):
        use_language(language)
        shown[language] = (tr(name), tr(say("{sentence}", sentence=name)))
    use_language("en")
    assert name == "Perfect"
    assert shown == {"en": ("Perfect",) * 2, "ko": ("등급 3",) * 2, "ja": ("Perfect",) * 2}


def test_versions_are_compared_language_by_language() -> None:
    after = replace(change(BOTH, 2, definition="x"), translations=(JAPANESE, change(KOREAN, 0, name="무관")))
    comparison = compare_rubrics(BOTH, after)
    assert [grade.grade for grade in comparison.grades] == [2]
    assert {item.language: item.kind for item in comparison.translations} == {"ko": "changed", "ja": "added"}
    (korean,) = (item.comparison for item in comparison.translations if item.language == "ko")
    assert korean is not None
    assert [grade.grade for grade in korean.grades] == [0]
    (removed,) = compare_rubrics(after, replace(after, translations=(JAPANESE,))).translations
    assert (removed.language, removed.kind) == ("ko", "removed")


def test_stating_the_language_is_a_difference_and_no_change_of_meaning() -> None:
    comparison = compare_rubrics(DEFAULT_RUBRIC, BOTH)
    assert (comparison.language, comparison.grades, comparison.is_empty) == (("", "en"), (), False)
    assert propose_change(DEFAULT_RUBRIC, BOTH) == "minor"
    assert compare_rubrics(BOTH, BOTH).is_empty


def test_adding_or_mending_a_translation_is_proposed_as_minor_and_an_authoritative_definition_as_semantic() -> (
    None
):
    mended = replace(BOTH, translations=(change(KOREAN, 2, definition="다른 뜻"),))
    assert propose_change(ENGLISH, BOTH) == "minor"
    assert propose_change(BOTH, mended) == "minor"
    assert propose_change(BOTH, replace(change(BOTH, 2, definition="x"))) == "semantic"
    swapped = replace(KOREAN, translations=(ENGLISH,))
    assert propose_change(BOTH, swapped) == "minor"
    assert compare_rubrics(BOTH, swapped).grades == ()
    assert compare_rubrics(BOTH, swapped).language == ("en", "ko")


def test_what_changed_is_told_in_the_readers_language() -> None:
    after = replace(change(BOTH, 2, definition="x"), translations=(change(KOREAN, 0, name="무관"),))
    korean, english, japanese = (compare_readings(BOTH, after, tag) for tag in ("ko", "en", "ja"))
    assert [grade.grade for grade in korean[0].grades] == [0]
    assert (
        [grade.grade for grade in english[0].grades] == [grade.grade for grade in japanese[0].grades] == [2]
    )
    assert korean[1] is english[1] is japanese[1] is None


def test_a_reader_who_gets_a_translation_is_told_so_and_not_shown_every_line_as_changed() -> None:
    comparison, since_in = compare_readings(ENGLISH, BOTH, "ko")
    assert (comparison.is_empty, since_in) == (True, "ko")
    assert compare_readings(ENGLISH, BOTH, "en") == (comparison, None)


def test_a_translation_that_did_not_follow_is_named_field_by_field() -> None:
    after = replace(change(BOTH, 2, definition="x"), guideline="x", translations=(KOREAN, JAPANESE))
    assert list_outdated_translations(BOTH, after) == {"ko": ["grade 2", "guideline"]}
    followed = replace(after, translations=(change(KOREAN, 2, definition="따름"), JAPANESE))
    assert list_outdated_translations(BOTH, followed) == {"ko": ["guideline"]}
    assert list_outdated_translations(BOTH, BOTH) == {}


def test_each_language_is_merged_by_itself_and_conflicts_name_it() -> None:
    published = replace(BOTH, translations=(change(KOREAN, 0, name="무관"),))
    draft = change(replace(BOTH, translations=(JAPANESE, change(KOREAN, 1, name="조금"))), 3, name="Exact")
    merged = merge_rubrics(BOTH, published, draft)
    assert merged.conflicts == ()
    texts = merged.rubric.texts_by_language
    assert [definition.name for definition in texts["ko"].grades] == ["무관", "조금", "등급 2", "등급 3"]
    assert texts["en"].grades[3].name == "Exact"
    assert texts["ja"] == JAPANESE
    other = replace(BOTH, translations=(change(KOREAN, 0, name="관계없음"),))
    clash = merge_rubrics(BOTH, published, other)
    assert clash.conflicts == ("Korean, Grade 0: name",)
    with pytest.raises(StateError, match="conflict in: Korean, Grade 0: name"):
        check_rubric(clash.rubric)


def test_a_translation_that_one_side_removed_stays_only_if_the_other_changed_it() -> None:
    changed = replace(BOTH, translations=(change(KOREAN, 0, name="무관"),))
    assert merge_rubrics(BOTH, ENGLISH, BOTH).rubric.translations == ()
    assert merge_rubrics(BOTH, BOTH, ENGLISH).rubric.translations == ()
    assert merge_rubrics(BOTH, ENGLISH, changed).rubric.translations == changed.translations


def test_a_language_stated_by_one_side_is_kept_with_the_changes_of_the_other() -> None:
    merged = merge_rubrics(DEFAULT_RUBRIC, change(DEFAULT_RUBRIC, 1, name="Slightly"), BOTH)
    assert (merged.conflicts, merged.rubric.languages) == ((), ("en", "ko"))
    assert merged.rubric.grades[1].name == "Slightly"


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        (replace(ENGLISH, language="kr"), "language: expected one of en, ja, ko, found 'kr'"),
        (replace(ENGLISH, language="", translations=(KOREAN,)), "names its own language, found none"),
        (replace(ENGLISH, translations=(KOREAN, KOREAN)), "expected each language once, found en, ko, ko"),
        (replace(ENGLISH, translations=(replace(KOREAN, language="en"),)), "expected each language once"),
        (
            replace(ENGLISH, translations=(change(KOREAN, 1, definition=""),)),
            "Korean, Grade 1: definition: enter 1 to 5,000 characters \\(now 0\\)",
        ),
        (
            replace(ENGLISH, translations=(change(KOREAN, 1, positive_examples=("x",) * 101),)),
            "Korean, Grade 1: at most 100 examples are allowed \\(now 101\\)",
        ),
    ],
)
def test_wrong_languages_and_translations_are_refused(rubric: Rubric, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        check_rubric(rubric)


def test_translations_are_cleaned_and_in_one_order() -> None:
    rubric = replace(ENGLISH, translations=(change(KOREAN, 0, name=" 무  관 "), JAPANESE))
    cleaned = clean_rubric(rubric)
    assert cleaned.languages == ("en", "ja", "ko")
    assert cleaned.translations[1].grades[0].name == "무 관"
