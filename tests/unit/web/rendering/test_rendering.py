"""Documents as HTML: what of each kind is shown, and how what is too long or too strange ends."""

from pathlib import Path

import pytest

from annotator.web.rendering import documents, sandbox
from annotator.web.rendering.documents import LONGEST, find_kind, render_document, write_safe


def write(text: str, kind: str, doc_id: str = "") -> str:
    return write_safe(text, kind, doc_id)[0]


@pytest.mark.parametrize(
    ("media_type", "doc_id", "kind"),
    [
        ("text/markdown", "a.java", "markdown"), ("text/x-rst", "a", "rst"), ("text/html", "a", "html"),
        ("text/plain", "src/Foo.java#run", "code"), ("text/plain", "conf/app.YAML", "code"),
        ("text/plain", "guide/a.md", "text"), ("text/plain", "法令 第1条", "text"), ("text/plain", "", "text"),
    ],
)  # fmt: skip
def test_what_is_declared_counts_and_of_plain_text_the_suffix_of_a_language(
    media_type: str, doc_id: str, kind: str
) -> None:
    assert find_kind(media_type, doc_id) == kind


def test_markdown_shows_tables_struck_out_text_and_coloured_code_with_headings_below_the_pages() -> None:
    html = write(
        "# 題\n\n~~古い~~ *새* `a<b`\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n```java\nclass A {}\n```\n", "markdown"
    )
    assert "<h3>題</h3>" in html
    assert "<s>古い</s> <em>새</em> <code>a&lt;b</code>" in html
    assert "<td>2</td>" in html
    assert '<span class="dx-keyword">class</span>' in html


def test_links_are_shown_and_lead_to_http_and_mail_only_in_a_tab_of_their_own() -> None:
    html = write(
        "[a](https://x.example/?a=1&b) [b](mailto:a@b.example) [c](../c.md) [d](//e.example) [e](ftp://e)",
        "markdown",
    )
    assert (
        'href="https://x.example/?a=1&amp;b" target="_blank" rel="noopener noreferrer nofollow">a</a>' in html
    )
    assert html.count("href=") == 2
    for text in ("c", "d", "e"):
        assert f">{text}</a>" in html


def test_images_leave_their_words_and_are_counted() -> None:
    html, blocked = write_safe(
        "![構成 <b>](https://x.example/a.png) and <img src=x> <iframe src=y></iframe>", "markdown", ""
    )
    assert '<span class="dx-image">構成 &lt;b&gt;</span>' in html
    assert blocked == 3
    assert "x.example" not in html


SPHINX = """
題
==

:ref:`リトライ <retry>` と :java:extdoc:`Published <nablarch.core.Published>`、 :py:class:`~a.b.Name`、 :whatever:`x`

.. |br| raw:: html

  <br />

一 |br| 二 と |unknown|

.. toctree::
   :maxdepth: 1

   handlers/index

.. code-block:: java
   :linenos:

   class A {}

.. image:: ../a.png
   :alt: 図 <1>

.. tip:: ひとこと

.. java:method:: void run()

   走る

.. include:: /etc/hostname
.. csv-table::
   :file: /etc/hostname
.. raw:: html

   <b>raw</b>
"""


def test_sphinx_directives_and_roles_are_shown_as_what_they_say() -> None:
    html, blocked = write_safe(SPHINX, "rst", "")
    assert "<h3>題</h3>" in html
    assert "<span>リトライ</span> と <code>Published</code>、 <code>Name</code>、 <span>x</span>" in html
    assert "一 <br> 二" in html
    assert "二 と unknown\n" in html or "二 と unknown</p>" in html
    assert "handlers/index" in html
    assert '<span class="dx-keyword">class</span>' in html
    assert '<span class="dx-image">図 &lt;1&gt;</span>' in html
    assert blocked == 1
    assert '<p class="dx-boxname">Tip</p>\n<p>ひとこと</p>' in html
    assert '<p class="dx-boxname">Method void run()</p>\n<p>走る</p>' in html
    assert ":linenos:" not in html


def test_restructuredtext_reads_no_file_and_passes_nothing_through_raw(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the,secret\n", encoding="utf-8")
    html = write(SPHINX.replace("/etc/hostname", str(secret)), "rst")
    assert f"include: {secret}" in html
    assert "the,secret" not in html
    assert "<td><p>secret" not in html
    assert "raw</b>" not in html


@pytest.mark.parametrize(
    "text", ["`open *half", "a_ |b| [c]_ `d`_ :e:`f`", "== ==\na b\n", "==\n題\n", ".. x::\n.. y:"]
)
def test_what_docutils_complains_of_is_shown_without_its_complaints(text: str) -> None:
    html = write(text + "\n\n本文\n", "rst")
    assert "本文" in html
    for word in ("System Message", "WARNING", "ERROR", "system-message", "&lt;string&gt;"):
        assert word not in html


def test_html_keeps_its_text_without_what_is_around_it() -> None:
    html = write(
        "<title>t</title><style>p{}</style><h1>題</h1><section><p>a<table><tr><td colspan=2>b</table><form>c",
        "html",
    )
    assert html == '<h3>題</h3><p>a</p><table><tbody><tr><td colspan="2">b</td></tr></tbody></table>c'


def test_code_stands_in_blocks_whose_spans_never_cross_a_line() -> None:
    html = write("/* a\n   b */\nclass A { }\n" + "x();\n" * 300, "code", "A.java")
    assert html.count("<pre>") == 2
    for line in html.split("\n"):
        assert line.count("<span") == line.count("</span")
    assert '<span class="dx-comment">/* a</span>\n<span class="dx-comment">   b */</span>' in html


def test_only_the_beginning_of_a_long_document_is_rendered_and_said_so() -> None:
    rendered = render_document("# 題\n\n" + ("あ" * 999 + "\n\n") * 300, "text/markdown", doc_id="a")
    assert rendered.cut
    assert LONGEST * 0.9 < rendered.html.count("あ") < LONGEST
    assert not render_document("# 題\n", "text/markdown", doc_id="a").cut


def test_plain_text_is_not_rendered_at_all() -> None:
    assert render_document("<b>", "text/plain", doc_id="a") == documents.PLAIN


def test_the_same_text_is_rendered_once_and_old_ones_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []

    def render(text: str, _kind: str, _doc_id: str) -> tuple[str, int]:
        rendered.append(text)
        return "x" * 60, 0

    monkeypatch.setattr(documents, "render_apart", render)
    monkeypatch.setattr(documents, "KEPT_CHARACTERS", 100)
    documents._kept.clear()
    for text in ("a", "a", "b", "a"):
        render_document(text, "text/markdown", doc_id="d")
    assert rendered == ["a", "b", "a"]


def test_a_rendering_that_computes_too_long_is_given_up_by_its_own_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "COMPUTING", 0.5)
    worker = sandbox.RenderingProcess()
    assert worker.render("*a*", "markdown", "a") == ("<p><em>a</em></p>\n", 0)
    process = worker._process
    assert worker.render("[" * LONGEST, "markdown", "a") == ("", 0)
    assert worker.render("*b*", "markdown", "a") == ("<p><em>b</em></p>\n", 0)
    assert worker._process is process
    worker._end()


def test_a_rendering_that_takes_too_long_is_ended_and_the_next_one_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "LIMIT", 0.05)
    slow = render_document("[" * LONGEST, "text/markdown", doc_id="a")
    assert slow == documents.PLAIN
    monkeypatch.setattr(sandbox, "LIMIT", 60)
    assert render_document("*b*", "text/markdown", doc_id="a").html == "<p><em>b</em></p>\n"


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("1. 하나\n1의2. 하나의 둘\n가. 가목", 2),
        ("**①** 첫째 항\n**②** 둘째 항", 1),
        ("1\\. 하나\n2\\. 둘", 1),
        ("次に掲げる者\n一　一号\n（一） 二号", 2),
        ("第一項 甲\n第二項 乙", 1),
        ("wrapped prose\nof two lines\n2. an item", 1),
        ("wrapped\nprose of 2. lines", 0),
    ],
)
def test_the_items_of_a_law_keep_their_lines(text: str, breaks: int) -> None:
    assert write(text, "markdown").count("<br") == breaks


def test_a_section_shows_no_substitution_of_the_page_that_it_was_cut_from() -> None:
    html = write("一 |br| 二、 |JavaMail|_ と |nablarch_version| は ``a | b``\n", "rst")
    assert "一 <br> 二、 JavaMail と nablarch_version は <code>a | b</code>" in html


@pytest.mark.parametrize(
    "text", ["題\n\n=====\n\n本文", "#####題\n本文", "####### 題\n本文", "<b>題</b>\n\n========\n本文"]
)
def test_signs_that_made_no_heading_are_not_shown(text: str) -> None:
    html = write(text, "markdown")
    assert "題" in html
    assert "本文" in html
    assert "#" not in html
    assert "=" not in html
