"""What a reader of a format expected and found, in the language of the page."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import annotator
from annotator.domain.errors import AnnotatorError, BadInput
from annotator.domain.messages import CommandWords, say
from annotator.formats.input_tables import read_queries
from annotator.formats.runs import read_run_file
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.text import ID_LIMIT
from annotator.importing.report import NewIds
from annotator.importing.search_endpoint.spec import read_spec
from annotator.web.importing.words import OPTION_FIELDS, show_text, to_json
from annotator.web.kit.messages import tr, use_language

PACKAGE = Path(annotator.__file__).parent


@pytest.fixture(autouse=True)
def back_to_english() -> Iterator[None]:
    yield
    use_language("en")


def show(text: str | None) -> str:
    """Return a text as a page shows it that has it from another process."""
    return show_text(json.loads(json.dumps(to_json(text))))


def list_problems(error: AnnotatorError) -> list[tuple[str, str]]:
    assert isinstance(error, BadInput)
    return [(show(problem.expected), show(problem.found)) for problem in error.problems]


def test_a_problem_is_shown_in_the_reader_s_language() -> None:
    use_language("ja")
    with pytest.raises(BadInput) as caught:
        read_queries(b"query_id,text\nq1,a\nq1,b\nq2,\n", "q.csv", kind="csv")
    assert list_problems(caught.value) == [
        ("各query_idは1回（最初は2行目）", "q1"),
        ("textは空でない文字列", "なし"),
    ]
    with pytest.raises(BadInput) as caught:
        read_spec(b"url: ftp://host\nresults: hits\nid: _id\nbody: {q: {query}}\n", "spec.yaml")
    assert list_problems(caught.value)[0] == (
        "url: http:// または https:// で始まるアドレス",
        "'ftp://host'",
    )
    assert list_problems(caught.value)[1][0] == 'body.q: 引用符で囲んだ"{query}"'


def test_a_place_in_json_is_shown_in_the_reader_s_language() -> None:
    use_language("ja")
    with pytest.raises(BadInput) as caught:
        read_run_file(b'{"query_id": "q" "results": []}\n', "r.jsonl")
    assert list_problems(caught.value) == [("JSONオブジェクト", "18文字目に',' delimiterが必要")]
    with pytest.raises(BadInput) as caught:
        read_run_file(b'{"query_id": "q", "query_id": "q"}\n', "r.jsonl")
    assert list_problems(caught.value)[0][0] == "各キーは1回"


def test_a_message_keeps_the_messages_in_it() -> None:
    use_language("ja")
    assert show(say("ids of {limit}", limit=ID_LIMIT)) == "idは1,000文字（2,600バイト）以下"
    reason = say("no answer within {seconds} s", seconds="30")
    assert (
        show(say("{reason} ({attempts} attempts)", reason=reason, attempts=3))
        == "30秒以内に応答がありません（3回試行）"
    )
    assert show("a text that is no message") == "a text that is no message"


def test_a_message_names_the_field_where_the_command_names_an_option() -> None:
    with pytest.raises(AnnotatorError) as caught:
        read_run_file(b"q Q0 d 1 2 s\n", "r.txt", id_field="id")
    assert str(caught.value) == "--id-field: r.txt is no JSON"
    assert show(caught.value.args[0]) == "“JSON field with the id of the document”: r.txt is no JSON"


def test_a_page_leaves_out_what_only_a_command_can_do() -> None:
    hint = CommandWords(" (--queries FILE supplies texts)")
    message = say('{n:,} queries without a text, written as ""{hint}', n=2, hint=hint)
    assert message == '2 queries without a text, written as "" (--queries FILE supplies texts)'
    assert show(message) == tr(message) == '2 queries without a text, written as ""'


def test_a_hint_names_the_field_for_grades_of_another_scale() -> None:
    scale = GradeScale({})
    for value in ("7", "high"):
        scale.accepts(value)
    assert show(scale.describe_unknown()) == (
        "Values that are not grades 0–3, with their counts: '7' (1), 'high' (1). To read them as grades, fill in the field for "
        "grades of another scale."
    )


OPTION = re.compile(
    r"(?<![\w-])--[a-z][a-z-]*|\bannotator (?:import|pool|check|remap|qc|dataset|evaluate|release|serve)\b"
)
"""An option or a command."""


def test_no_message_that_a_page_may_show_names_an_option_but_as_words_of_a_command() -> None:
    named = [
        text.value
        for folder in ("formats", "importing", "pooling", "evaluation", "quality", "releases")
        for path in (PACKAGE / folder).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("say", "say_n")
        for text in call.args
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and OPTION.search(text.value)
    ]
    assert named == []


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_a_warning_leaves_out_the_command_that_helps(language: str) -> None:
    use_language(language)
    (warning,) = [note for note in NewIds.of(["a b"], []).describe() if "white space" in note]
    assert "(annotator remap)" in warning
    assert "annotator" not in show(warning)


def test_the_fields_that_messages_name_are_those_of_the_form() -> None:
    form = (PACKAGE / "web/importing/import_tab.py").read_text(encoding="utf-8")
    assert [label for label in OPTION_FIELDS.values() if str(label) not in form] == []
