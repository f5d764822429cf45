"""Markdown as HTML: what a guideline may show, and what it may not."""

import pytest

from annotator.web.kit.text import render_guideline


def test_a_guideline_is_rendered_with_its_headings_below_the_pages_own() -> None:
    html = render_guideline("# 原則\n\n- 한 번에 *하나*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert html.startswith("<h3>原則</h3>")
    assert "<em>하나</em>" in html
    assert "<td>2</td>" in html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("a <img src=x onerror=alert(1)> b", "&lt;img src=x"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("__init__ costs $5 -> :red[x]", "$5 -&gt; :red[x]"),
    ],
)
def test_nothing_in_a_guideline_is_active(text: str, shown: str) -> None:
    html = render_guideline(text)
    assert shown in html
    assert "<script" not in html
    assert "<img" not in html
    assert "href" not in html


def test_a_picture_in_a_guideline_shows_its_words_and_fetches_nothing() -> None:
    assert render_guideline("![決まり <b>](https://x.example/a.png)") == "<p>決まり &lt;b&gt;</p>\n"


def test_a_link_in_a_guideline_opens_beside_the_pair() -> None:
    html = render_guideline("[law](https://elaws.example/1)")
    assert 'href="https://elaws.example/1"' in html
    assert 'target="_blank" rel="noopener noreferrer"' in html
