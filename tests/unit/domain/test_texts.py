"""A text that somebody typed: words that a database can hold, and what is said of one that is none, in each language."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.texts import MAX_TEXT, NO_WORDS, check_text, holds_no_text
from annotator.web.kit.messages import show_refusal, use_language


@pytest.mark.parametrize("text", ["", " \t\u3000", "x" * (MAX_TEXT + 1)])
def test_a_text_must_be_words_that_a_database_can_hold(text: str) -> None:
    with pytest.raises(ValidationError, match=r"^rationale: expected "):
        check_text(say("rationale"), text, empty=NO_WORDS)


def test_a_character_that_nothing_can_store_is_replaced_and_the_rest_is_kept() -> None:
    assert check_text(say("rationale"), " a\0b\ud800 🎯 ", empty=NO_WORDS) == "a\ufffdb\ufffd 🎯"


def test_a_text_loses_only_the_white_space_around_it() -> None:
    assert check_text(say("rationale"), " 第17条 を\n参照 ", empty=NO_WORDS) == "第17条 を\n参照"


def test_a_text_may_be_empty_if_that_is_allowed() -> None:
    assert check_text(say("reason"), " \n", empty=None) == ""


def test_a_refused_text_is_explained_in_the_readers_language() -> None:
    with pytest.raises(ValidationError) as caught:
        check_text(say("rationale"), "x" * 10_001, empty=NO_WORDS)
    assert str(caught.value) == "rationale: expected at most 10,000 characters, found 10,001"
    for language, message in (("ja", "10,000文字以内"), ("ko", "10,000자 이하")):
        use_language(language)
        try:
            assert message in show_refusal(caught.value)
        finally:
            use_language("en")


@pytest.mark.parametrize(
    ("text", "none"), [("", False), ("e\u0301 🎯 \u202e עברית", False), ("\0", True), ("x\udfff", True)]
)
def test_only_nul_and_lone_surrogates_are_no_text(text: str, none: bool) -> None:
    assert holds_no_text(text) is none
