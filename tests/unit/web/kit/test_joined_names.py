"""Names in a row are separated as the language in use separates them."""

import pytest

from annotator.web.kit.messages import join_names, use_language


@pytest.mark.parametrize(
    ("language", "expected"), [("en", "花子, kim"), ("ko", "花子, kim"), ("ja", "花子、kim")]
)
def test_a_japanese_list_has_japanese_commas(language: str, expected: str) -> None:
    use_language(language)
    try:
        assert join_names(["花子", "kim"]) == expected
    finally:
        use_language("en")
