"""Pages become documents, and sections with stable ids; nothing of a text is lost or moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.importing.texts.sections import read_page, split_sections

MARKDOWN = """\
---
제목: 국토의 계획
시행일자: 2026-07-01
법령ID: '009294'
---

머리말

# 국토의 계획

## 제1장 총칙 <개정 2009.2.6>

##### 제1조 (목적)

이 법은 …

```sh
# not a heading
## neither
```

##### 제1조 (목적)

다시

Setext *제목*
-----

사이

본문
---

끝
"""

RST = """\
.. _top:

===============
ハンドラキュー
===============

.. contents:: 目次
   :depth: 3

.. _queue-order:
.. _queue-order2:

``handler`` の並び順
----------------------------
.. code-block:: text

  見出しではない
  --------------

段落の途中
は見出しではない
----------------

表

======== ========
名前     説明
======== ========
見出し風

もう一つ
--------
A        B
======== ========

短い下線のタイトル
~~~~~~~~~~~~~
:ref:`参照 <top>` を読む

----

.. _next:

次
--
終わり
"""

HTML = """\
<html><head><title>설정
 안내</title><script>"<h1>no</h1>"</script></head><body>
<!-- <h2>no</h2> -->
<h1>설정 안내</h1>
<p>서문</p>
<H2 id=a>첫 <em>번째</em> &amp; 장</H2>
<p>내용 <template><h3>no</h3></template></p>
<h3></h3>x
</body></html>
"""


def sections(text: str, media_type: str, doc_id: str = "a/b") -> list[tuple[str, str]]:
    return [
        (document.doc_id, document.title) for document in split_sections(read_page(doc_id, text, media_type))
    ]


def test_markdown_is_split_at_headings_and_not_inside_code() -> None:
    assert sections(MARKDOWN, "text/markdown") == [
        ("a/b", "국토의 계획"),
        ("a/b#제1조-목적", "국토의 계획 › 제1장 총칙 <개정 2009.2.6> › 제1조 (목적)"),
        ("a/b#제1조-목적-2", "국토의 계획 › 제1장 총칙 <개정 2009.2.6> › 제1조 (목적)"),
        ("a/b#setext-제목", "국토의 계획 › Setext *제목*"),
        ("a/b#본문", "국토의 계획 › 본문"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "> # quoted\n\nx\n",
        "- # in a list\n\n  x\n",
        "<!--\n# commented\n-->\nx\n",
        "two\nlines\n---\nx\n",
        "| a |\n| - |\n| # b |\n",
        "    # indented\n",
    ],
)
def test_markdown_is_not_split_at_what_only_looks_like_a_heading(text: str) -> None:
    assert read_page("a", text, "text/markdown").headings == ()


def test_a_carriage_return_within_a_line_does_not_move_the_sections_of_a_markdown_page() -> None:
    page = read_page("a", "# one\nx\ry\r\n# two\r\nz\n", "text/markdown")
    assert [document.text for document in split_sections(page)] == ["# one\nx\ry\r\n", "# two\r\nz\n"]


def test_front_matter_becomes_metadata_and_is_cut_from_the_text() -> None:
    document = read_page("a/b.md", MARKDOWN, "text/markdown").document
    assert document.metadata == {"제목": "국토의 계획", "시행일자": "2026-07-01", "법령ID": "009294"}
    assert document.text.startswith("\n머리말")
    assert document.title == "국토의 계획"


@pytest.mark.parametrize(
    "text", ["---\na: [\n---\nx\n", "---\n- a\n---\nx\n", "---\nwords\n", "---\n\n---\nx\n"]
)
def test_a_rule_at_the_top_is_no_front_matter(text: str) -> None:
    document = read_page("a", text, "text/markdown").document
    assert (document.text, document.metadata) == (text, {})


def test_rst_is_split_at_titles_and_not_inside_code_paragraphs_or_tables() -> None:
    assert sections(RST, "text/x-rst") == [
        ("a/b#handler-の並び順", "ハンドラキュー › handler の並び順"),
        ("a/b#短い下線のタイトル", "ハンドラキュー › handler の並び順 › 短い下線のタイトル"),
        ("a/b#次", "ハンドラキュー › 次"),
    ]


def test_rst_labels_belong_to_the_section_after_them() -> None:
    sections = split_sections(read_page("a", RST, "text/x-rst"))
    assert sections[0].text.startswith(".. _queue-order:\n.. _queue-order2:\n\n``handler``")
    assert sections[-1].text.startswith(".. _next:\n\n次\n")
    assert sections[1].text.rstrip().endswith("----")


def test_html_is_split_at_headings_that_are_shown() -> None:
    assert sections(HTML, "text/html") == [
        ("a/b", "설정 안내"),
        ("a/b#설정-안내", "설정 안내"),
        ("a/b#첫-번째-장", "설정 안내 › 첫 번째 & 장"),
        ("a/b#section", "설정 안내 › 첫 번째 & 장"),
    ]
    assert split_sections(read_page("a", HTML, "text/html"))[2].text.startswith("<H2 id=a>첫 <em>번째</em>")


def test_a_page_without_a_heading_is_named_after_its_file() -> None:
    page = read_page("안내/メモ.txt", "# not Markdown\n", "text/plain")
    assert (page.document.title, page.headings) == ("メモ.txt", ())
    assert [section.doc_id for section in split_sections(page)] == ["안내/メモ.txt"]


def test_slugs_keep_letters_of_every_script_and_never_collide() -> None:
    text = "# A b!\nx\n# a-b\nx\n# A B 2\nx\n# ---\nx\n# か\u3099\nx\n# שלום 🔎\nx\n# a b\nx\n"
    assert [doc_id for doc_id, _ in sections(text, "text/markdown", "d")] == [
        "d#a-b", "d#a-b-2", "d#a-b-2-2", "d#section", "d#か\u3099", "d#שלום", "d#a-b-3",
    ]  # fmt: skip


PIECES = st.sampled_from(
    ["# A\n", "## B\r\n", "T\n===\n", "=====\nT\n=====\n", "x\n", "\n", "```\n", "<h2>a</h2>", "<h1>", "</h1>", "<script>", "<!--",
     ".. _l:\n", "----\n", "---\n", "検索", "===== ===\n", "  y\n", "\u2028", "<title>t</title>", "&amp;", ">"]
)  # fmt: skip


@given(
    text=st.lists(PIECES, max_size=25).map("".join),
    media_type=st.sampled_from(["text/markdown", "text/x-rst", "text/html"]),
)
def test_the_sections_are_pieces_of_the_text_in_order_with_ids_of_their_own(
    text: str, media_type: str
) -> None:
    page = read_page("d", text, media_type)
    sections = split_sections(page)
    assert len({section.doc_id for section in sections}) == len(sections)
    position = 0
    for section in sections:
        position = page.document.text.index(section.text, position) + len(section.text)
    starts = [heading.start for heading in page.headings]
    assert starts == sorted(starts)
    assert all(heading.start < heading.body <= len(page.document.text) for heading in page.headings)


@pytest.mark.parametrize("media_type", ["text/markdown", "text/x-rst"])
@pytest.mark.parametrize("junk", ["[", "![", ":a", "` <", " ", "# ", "\\\\["])
def test_a_title_of_any_length_is_read_to_its_limit(junk: str, media_type: str) -> None:
    """The pattern for links took 20 s on a title of 200,000 brackets; a title has at most 2,000 characters."""
    title = "T" + junk * 100_000 + "x"
    page = read_page("d", f"# {title}\n\ntext\n\n{title}\n{'=' * len(title)}\n\nmore\n", media_type)
    assert all(len(heading.title) <= 2_000 for heading in page.headings)
    assert page.headings


@pytest.mark.parametrize(
    "markup", ["<![foo[ x", "<![", "<![CDATA[ x", "<!-- x", "<a b='x", "<a x", "</a x", "<?x", "<!x"]
)
def test_markup_of_an_html_page_that_does_not_end_reaches_to_the_end_of_the_page(markup: str) -> None:
    page = read_page("d", f"<h1>A</h1>x{markup}", "text/html")
    assert [heading.title for heading in page.headings] == ["A"]
    assert [section.text for section in split_sections(page)] == [page.document.text]


def test_declarations_in_an_html_page_end_at_the_next_angle_bracket() -> None:
    text = "<!doctype html><![if IE]><h1>A</h1><![endif]><![foo[ x>y<!ELEMENT a (b)>z<h2>B</h2>w"
    assert sections(text, "text/html", "d") == [("d", "A"), ("d#a", "A"), ("d#b", "A › B")]
