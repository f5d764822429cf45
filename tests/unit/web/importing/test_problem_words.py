"""What a reader of a format expected and found, in the language of the page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import annotator
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.web.importing.problem_words import (
    FIELDS,
    PATTERNS,
    name_fields,
    show_problem_text,
    show_text,
)
from annotator.web.kit.messages import tr, use_language


@pytest.fixture(autouse=True)
def back_to_english() -> Iterator[None]:
    yield
    use_language("en")


@pytest.mark.parametrize(
    ("text", "japanese"),
    [
        ("a JSON object", "JSONオブジェクト"),
        ("Expecting ',' delimiter at character 15", "15文字目に',' delimiterが必要"),
        ("each doc_id once (first on line 12)", "各doc_idは1回（最初は12行目）"),
        ("each document of a query once (first on line 3)", "クエリごとに各文書は1回（最初は3行目）"),
        ("'D 1' again", "'D 1'が重複"),
        ("6 fields: query_id Q0 doc_id rank score tag", "6つのフィールド: query_id Q0 doc_id rank score tag"),
        ("a file of at most 1,048,576 bytes", "1,048,576バイト以下のファイル"),
        ("title to be a text that is not empty", "titleは空でない文字列"),
        ("a query_id of this dataset (annotator import queries d FILE)", "このデータセットのquery_id"),
        ("url to be an address with http:// or https://", "url: http:// または https:// で始まるアドレス"),
        ('body.q to be "{query}" in quotes', 'body.q: 引用符で囲んだ"{query}"'),
        ("no answer within 30 s (3 attempts)", "30秒以内に応答がありません（3回試行）"),
        ("expected JSON in UTF-8, found other bytes", "必要なもの: UTF-8のJSON、実際: それ以外のバイト"),
        ("ids of at most 512 characters (2,000 bytes)", "idは512文字（2,000バイト）以下"),
        ("'two bytes'", "'two bytes'"),
        (
            "expected what no list knows, found it (2 attempts)",
            "expected what no list knows, found it (2 attempts)",
        ),
        ("'Q{9}'", "'Q{9}'"),
        ("what no list knows", "what no list knows"),
    ],
)
def test_a_problem_is_shown_in_the_reader_s_language_without_a_command(text: str, japanese: str) -> None:
    use_language("ja")
    assert show_problem_text(text) == japanese


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_text_is_shown_by_its_own_sentence(pattern: str) -> None:
    text = re.sub(r"\{([mnxyz])\}", lambda name: str("mnxyz".index(name[1])), pattern)
    assert show_problem_text(text) == name_fields(text)


def test_a_hint_names_the_field_and_no_option_of_the_command_line() -> None:
    scale = GradeScale({})
    for value in ("7", "high"):
        scale.accepts(value)
    assert show_text(scale.describe_unknown()) == (
        "Values that are not grades 0–3, with their counts: '7' (1), 'high' (1). To read them as grades, fill in the field for "
        "grades of another scale."
    )
    assert show_text("another hint") == "another hint"


PACKAGE = Path(annotator.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OWN_COMMANDS = ("conversion/", "search_endpoint/")
"""Files below importing/ whose options no form of the page has."""


def list_texts(path: Path) -> list[str]:
    """Return the texts of a module that name an option, with `x` for values; without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = []
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            texts.append(
                "".join(
                    str(getattr(part, "value", "x")) if isinstance(part, ast.Constant) else "x"
                    for part in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone | parts:
            texts.append(node.value)
    return [text for text in texts if OPTION.search(text)]


def test_no_text_that_the_page_shows_of_a_file_names_an_option_of_a_command() -> None:
    modules = [*(PACKAGE / "formats").rglob("*.py"), *(PACKAGE / "importing").rglob("*.py")]
    left = {
        path.relative_to(PACKAGE).as_posix(): shown
        for path in modules
        if not any(name in path.as_posix() for name in OWN_COMMANDS)
        for text in list_texts(path)
        if OPTION.search(shown := name_fields(text)) and "response-time-unit" not in text
    }
    assert left == {}


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_no_translation_that_the_page_shows_of_a_file_names_an_option_of_a_command(language: str) -> None:
    use_language(language)
    try:
        texts = [name_fields(tr(pattern)) for pattern in PATTERNS]
    finally:
        use_language("en")
    assert [text for text in texts if OPTION.search(text)] == []


def test_the_fields_that_messages_name_are_those_of_the_form() -> None:
    form = "".join(
        (PACKAGE / "web/importing" / name).read_text(encoding="utf-8") for name in ("choices_form.py",)
    )
    assert [label for label in map(str, FIELDS.values()) if label not in form] == []


def test_a_message_names_the_field_where_the_command_names_an_option() -> None:
    assert name_fields("say --grades-by position") == "say “Grades for a file without grades” position"
    assert name_fields("2 without a text (--queries FILE supplies texts)") == "2 without a text"
