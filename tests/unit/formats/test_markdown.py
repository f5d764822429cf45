"""Other people's ids and texts in Markdown: shown as they are, whatever they hold."""

import pytest
from markdown_it import MarkdownIt

from annotator.formats.syntax.markdown import escape_markdown, write_table

NASTY = [
    "a|b", "`code`", "*bold* _it_ __x__", "<script>alert(1)</script>", "# head", "[a](javascript:b)", "![x](y)", "&amp;",
    "a\\|b", "~~gone~~", "検索 🙂", "法令 第17条", "1. one", "12) two", "- item", "+ item", "===", "https://例え.jp/?a=b#c",
    "www.example.com", "annotator_1", "$x$", "@someone", "a\\", "e\u0301", "\u200bzero",
]  # fmt: skip


def render_cell(text: str) -> str:
    """The text of the only cell of a table, as a reader sees it."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    (row,) = [
        token
        for token in parser.parse("\n".join(write_table(("id",), [(escape_markdown(text),)])))
        if token.type == "inline" and token.content != "id"
    ]
    children = row.children or []
    assert {token.type for token in children} <= {"text", "text_special"}, children
    return "".join(token.content for token in children)


@pytest.mark.parametrize("text", NASTY)
def test_what_is_shown_is_what_was_given(text: str) -> None:
    assert render_cell(text) == text


@pytest.mark.parametrize("text", NASTY)
def test_a_line_of_its_own_is_one_paragraph_without_markup(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(escape_markdown(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\r\nthree", "two⏎lines⏎three"),
        ("tab\there", "tab⟨U+0009⟩here"),
        (" led", "⟨U+0020⟩led"),
        ("two  spaces", "two ⟨U+0020⟩spaces"),
        ("evil\u202etxt", "evil⟨U+202E⟩txt"),
        ("مستند|1", "\u2068مستند|1\u2069"),
        ("עברית\u2069", "\u2068עברית⟨U+2069⟩\u2069"),
    ],
)
def test_what_cannot_be_seen_or_turns_the_text_around_is_made_visible(text: str, shown: str) -> None:
    assert render_cell(text) == shown


def test_numbers_stand_to_the_right() -> None:
    assert write_table(("query", "old#"), [("Q", "1")]) == ["| query | old |", "|---|---:|", "| Q | 1 |"]
