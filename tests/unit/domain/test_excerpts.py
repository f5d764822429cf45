"""The first words of a document, on one line and without markup."""

import pytest

from annotator.domain.excerpts import EXCERPT, EXCERPT_OF, cut_excerpt, read_words


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
        (
            "##### 제1조 (목적)\n\n**①** 이 영은\n  1\\. 하나\n  1의2\\. 둘",
            "text/markdown",
            "제1조 (목적)",
            "① 이 영은\n1. 하나\n1의2. 둘",
        ),
        (
            "#제목\n########\n`a_b` [words](x.md) ![図](y.png)<br>끝",
            "text/markdown",
            "",
            "#제목 a_b words 図 끝",
        ),
        (
            ".. _top:\n\n題\n##\n:ref:`リトライ <retry>` |br| ``x|y`` |JavaMail|_ **強** \\ `a <b>`_\n\n.. |br| raw:: html\n\n  <br />\n\n後",
            "text/x-rst",
            "題",
            "リトライ x|y JavaMail 強 a 後",
        ),
        ("| a | b |\n+---+---+", "text/x-rst", "", "| a | b |"),
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


@pytest.mark.parametrize(
    "text", ["`" * 6000, ":" * 6000, "**" * 3000 + "a", "|a" * 3000, "[" * 6000, "\n \n" * 2000 + "x"]
)
@pytest.mark.parametrize("media_type", ["text/markdown", "text/x-rst", "text/html"])
def test_a_text_of_nothing_but_signs_is_read(text: str, media_type: str) -> None:
    assert isinstance(read_words(text, media_type), str)
