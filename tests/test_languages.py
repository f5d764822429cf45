"""Every sentence that a person sees is there in every language, with the same values in it, and none is left over."""

import ast
import re
from collections import Counter

import pytest

from tests.message_survey import (
    CODE,
    LANGUAGES,
    list_catalogs,
    list_fields,
    list_literals,
    list_missing,
    list_sentences,
)

DRAWING = frozenset({
    "title", "header", "subheader", "caption", "markdown", "info", "warning", "error", "success", "toast", "button",
    "form_submit_button", "text_input", "text_area", "number_input", "selectbox", "multiselect", "radio", "checkbox",
    "toggle", "segmented_control", "expander", "popover", "tabs", "spinner", "metric", "download_button", "link_button",
    "dataframe", "text", "draw_note", "draw_numbers", "draw_table", "file_uploader", "draw_file_field", "slider", "date_input",
})  # fmt: skip
# Text that is the same in every language: names of things, formats, and what only a program reads.
SAME_EVERYWHERE: dict[str, frozenset[str]] = {
    "annotator/web/people/account_page.py": frozenset({" (): "}),  # name (username): roles
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_translated(language: str) -> None:
    missing = list_missing(language)
    untranslated = [f"{file}: {sentence!r}" for file, sentences in missing.items() for sentence in sentences]
    assert untranslated == [], f"{len(untranslated)} sentences without {language}: make messages lists them"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_values_of_its_sentence(language: str) -> None:
    for catalog in list_catalogs(language):
        for key, text in catalog.said.items():
            assert list_fields(text) in [list_fields(form) for form in key], (catalog.path.name, key[0])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalog_holds_nothing_unsure_empty_or_unused(language: str) -> None:
    used = set(list_sentences())
    for catalog in list_catalogs(language):
        assert catalog.fuzzy == [], catalog.path.name
        assert [key for key, text in catalog.said.items() if not text.strip()] == [], catalog.path.name
        assert [key for key in catalog.said if key not in used] == [], (
            f"{catalog.path.name}: nothing says this"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_has_one_translation(language: str) -> None:
    texts_by_sentence: dict[str, set[str]] = {}
    for catalog in list_catalogs(language):
        for key, text in catalog.said.items():
            texts_by_sentence.setdefault(key[0], set()).add(text)
    assert {sentence: texts for sentence, texts in texts_by_sentence.items() if len(texts) > 1} == {}


def test_both_languages_are_kept_in_the_same_files() -> None:
    names = Counter(catalog.path.name for language in LANGUAGES for catalog in list_catalogs(language))
    assert {name for name, times in names.items() if times != len(LANGUAGES)} == set()


def test_a_catalog_is_named_after_the_slice_that_says_its_sentences() -> None:
    slices = {path.name for path in CODE.iterdir() if path.is_dir()}
    names = {catalog.path.stem for language in LANGUAGES for catalog in list_catalogs(language)}
    assert names - slices == {"shared"}  # what several slices say


@pytest.mark.parametrize(
    "path", sorted((CODE / "web").rglob("*.py")), ids=lambda path: path.relative_to(CODE).as_posix()
)
def test_a_page_draws_no_english_of_its_own(path: object) -> None:
    """What is drawn goes through tr(), or is text of others."""
    from pathlib import Path

    assert isinstance(path, Path)
    name = f"annotator/{path.relative_to(CODE).as_posix()}"
    allowed = SAME_EVERYWHERE.get(name, frozenset())
    differing = [
        f"{name}:{line}: {text!r}"
        for line, text in list_literals(ast.parse(path.read_text(encoding="utf-8")), DRAWING)
        if any(letter.isalpha() for letter in text) and text not in allowed
    ]
    assert differing == []


# Words that docs/languages.md replaces ("Terms of the interface"), by the test that finds them.
WORN = re.compile(
    r"\b(?:stands?|stood|told|meanwhile|in force|of which|disputes?|nobody is waited|open to you|handed|by how many)\b"
    r"|\b(?:at hand|present password|made ordinary|throw \w+ away|as it was published)\b",
    re.IGNORECASE,
)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
FORMULA = re.compile(r"log2|2\^|p\^|2PR|1 - p|annotator import|\(a\+\)")


def list_translations(language: str) -> list[tuple[str, str]]:
    """Every sentence with its translation."""
    return [(key[0], text) for catalog in list_catalogs(language) for key, text in catalog.said.items()]


def test_an_english_sentence_has_none_of_the_words_that_the_glossary_replaces() -> None:
    worn = [form for key in list_sentences() for form in key if WORN.search(form)]
    assert worn == [], "docs/languages.md, Terms of the interface"


def test_a_percentage_has_a_space_in_english_and_none_in_japanese_and_korean() -> None:
    assert [form for key in list_sentences() for form in key if re.search(r"\d%(?!\})|\}%", form)] == []
    for language in LANGUAGES:
        assert [text for _, text in list_translations(language) if re.search(r"[\d}] %", text)] == [], (
            language
        )


def test_a_page_breaks_no_line_within_95_percent_confidence() -> None:
    """Sentences of rules also go to files and terminals, which have ordinary spaces."""
    spaced = [
        key[0]
        for key, files in list_sentences().items()
        if "95 % confidence" in key[0] and all(name.startswith("web/") for name in files)
    ]
    assert spaced == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_space_is_between_a_number_and_its_counter(language: str) -> None:
    counter = {"ja": "件|人|回|組|個|分|秒|日|行|時間|文字", "ko": "건|개|명|회|분|초|일|줄|쌍|자"}[language]
    spaced = re.compile(rf"(?:\d|\{{[a-z_]+(?::,)?\}}) (?:{counter})(?![가-힣])")
    assert [text for _, text in list_translations(language) if spaced.search(text)] == []


def test_japanese_sentences_have_full_width_brackets_and_one_word_for_each_thing() -> None:
    texts = [
        text for _, text in list_translations("ja") if JAPANESE.search(text) and not FORMULA.search(text)
    ]
    narrow = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff}\d%]\(|：|〜")
    assert [text for text in texts if narrow.search(text)] == []
    others = re.compile(
        "(?<!再)標本|カテゴリー|公開条件|取り込|関連文書|フィルタ(?!ー)|ブラウザ(?!ー)|一時パスワード|模擬"
    )
    assert [text for text in texts if others.search(text)] == []


def test_korean_sentences_have_no_placeholder_of_a_particle_and_one_level_of_politeness() -> None:
    """The catalogs put a noun after a value; nobody reads both forms of a particle."""
    placeholder = re.compile(
        r"이\(가\)|은\(는\)|을\(를\)|와\(과\)|과\(와\)|\(으\)로|\(이\)|\(가\)|\(를\)|\(는\)"
    )
    texts = [text for _, text in list_translations("ko")]
    assert [text for text in texts if placeholder.search(text)] == []
    # A particle may follow a value only where its sound is known: a percentage, or a count that ends in 개 or 건.
    bare = re.compile(
        r"\{(?!qrels|documents|share|grade\}\()[a-z_]+(?::,)?\}(?:을|를|이|가|은|는|과|와|로|으로)(?![가-힣])"
    )
    assert [text for text in texts if bare.search(text)] == []
    assert [text for text in texts if re.search(r"세요(?![가-힣])|공개 조건|미리 보기|모의 ", text)] == []


def test_a_page_never_shows_a_command() -> None:
    """A person in the browser has no terminal; sentences of the command line are not translated."""
    commands = [
        text
        for key in list_sentences()
        for text in key
        if re.search(r"\bannotator (?:agreement|dataset|import|people|pool|qc|release|serve)\b", text)
    ]
    assert commands == []
