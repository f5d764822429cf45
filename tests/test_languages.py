"""Every sentence that a person sees is there in every language, with the same values in it, and none is left over."""

import ast
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
