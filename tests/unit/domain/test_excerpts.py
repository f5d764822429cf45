"""The first words of a document, on one line and without markup."""

import pytest

from annotator.domain.texts import EXCERPT, EXCERPT_OF, cut_excerpt


@pytest.mark.parametrize(
    ("text", "media_type", "title", "excerpt"),
    [
        (None, "text/plain", "題", ""),
        ("  一行目\n\n二行目 🔎 ", "text/plain", "", "一行目 二行目 🔎"),
        ("# Queue\n\nFirst words.\n---\n## Order", "text/markdown", "Queue", "First words. Order"),
        ("Queue\n=====\n\nFirst words.", "text/x-rst", "Queue", "First words."),
        (
            "<head><title>x</title></head><style>p{}</style><p>a &lt;b&gt; <b>c</b></p><!-- d",
            "text/html",
            "",
            "a <b> c",
        ),
        ("a < b and c > d", "text/plain", "", "a < b and c > d"),
    ],
)
def test_an_excerpt_has_the_first_words_without_markup_and_title(
    text: str | None, media_type: str, title: str, excerpt: str
) -> None:
    assert cut_excerpt(text, media_type, title=title) == excerpt


def test_an_excerpt_ends_with_an_ellipsis_if_the_document_continues() -> None:
    assert cut_excerpt("長" * (EXCERPT + 1), "text/plain") == "長" * EXCERPT + "…"
    assert cut_excerpt("長" * EXCERPT, "text/plain") == "長" * EXCERPT
    assert cut_excerpt("<p>" + " " * EXCERPT_OF, "text/html") == "…"
