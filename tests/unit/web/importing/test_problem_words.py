"""What a reader of a format expected and found, in the language of the page."""

import re
from collections.abc import Iterator

import pytest

from annotator.formats.syntax.grade_scale import GradeScale
from annotator.web.importing.problem_words import PATTERNS, show_hint, show_problem_text
from annotator.web.kit.messages import use_language


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
    assert show_problem_text(text) == text


def test_a_hint_names_the_field_and_no_option_of_the_command_line() -> None:
    scale = GradeScale({})
    for value in ("7", "high"):
        scale.accepts(value)
    assert show_hint(scale.describe_unknown()) == (
        "Values that are not grades 0–3, with their counts: '7' (1), 'high' (1). To read them as grades, fill in the field for "
        "grades of another scale."
    )
    assert show_hint("another hint") == "another hint"
