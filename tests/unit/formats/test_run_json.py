"""Runs as JSON: what search APIs answer, one a line, as an array or alone; nothing of it is lost, every bad place is named."""

import json
from typing import Any

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import RunEntry
from annotator.formats.runs import find_system, read_run_file

ANSWERS: list[dict[str, Any]] = [
    {
        "query_id": 7,
        "system": "hybrid",
        "results": [
            {"hang_id": "제17조", "id": "x1", "score": 0.9, "stage": ["rne"]},
            {"hang_id": "b", "id": "x2", "score": 0.5},
        ],
        "response_time": 120,
        "total": 40,
    },
    {"query": " 検索 ", "system": "hybrid", "results": [], "latency_ms": 12.5},
]
FORMS = {
    "lines": "\n".join(json.dumps(answer) for answer in ANSWERS),
    "array": json.dumps(ANSWERS, indent=2),
    "array in one line": json.dumps(ANSWERS),
}


def read(text: str, **options: Any) -> Any:
    return read_run_file(text.encode(), "f", **options)


def messages(text: str, **options: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(text, **options)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("form", FORMS)
def test_answers_of_a_search_api_are_read_with_everything_they_say(form: str) -> None:
    file = read(FORMS[form])
    assert find_system(file, "f") == "hybrid"
    assert [line.entry for line in file.lines] == [
        RunEntry("7", "제17조", 1, 0.9, {"id": "x1", "stage": ["rne"]}),
        RunEntry("7", "b", 2, 0.5, {"id": "x2"}),
    ]
    assert [(answer.query_id, answer.query, dict(answer.signals)) for answer in file.answers] == [
        ("7", None, {"latency_ms": 120.0, "response_time": 120, "total": 40}),
        ("", " 検索 ", {"latency_ms": 12.5}),
    ]
    assert file.notes == (
        "documents named by the field 'hang_id' (--id-field names another)",
        "response_time read as milliseconds (median 120); --response-time-unit s reads seconds",
    )


def test_one_answer_alone_is_a_file_however_it_is_laid_out() -> None:
    for text in (json.dumps(ANSWERS[0]), json.dumps(ANSWERS[0], indent=4)):
        assert [line.entry.doc_id for line in read(text).lines] == ["제17조", "b"]


def test_the_unit_of_response_time_can_be_named() -> None:
    file = read(FORMS["lines"], response_time_unit="s")
    assert file.answers[0].signals["latency_ms"] == 120_000
    assert file.answers[1].signals["latency_ms"] == 12.5
    assert file.notes[1] == "response_time read as seconds (median 120)"
    with pytest.raises(ValidationError, match="--response-time-unit: expected one of ms, s"):
        read(FORMS["lines"], response_time_unit="min")
    with pytest.raises(BadInput, match="f:1: expected response_time to be a number from 0, found inf"):
        read(
            '{"query_id": "q", "results": [{"doc_id": "a"}], "response_time": 1e308}', response_time_unit="s"
        )


def test_the_id_field_is_the_first_known_one_that_every_result_has_or_the_one_named() -> None:
    text = '{"query_id": "q", "results": [{"id": 1, "hang_id": "h1"}, {"id": 2}]}'
    assert [line.entry for line in read(text).lines] == [
        RunEntry("q", "1", 1, None, {"hang_id": "h1"}),
        RunEntry("q", "2", 2),
    ]
    named = '{"query_id": "q", "results": [{"doc_id": "no", "chunk": "c"}]}'
    assert read(named, id_field="chunk").lines[0].entry == RunEntry("q", "c", 1, None, {"doc_id": "no"})
    assert messages(text, id_field="hang_id") == [
        "f:1: expected results[1].hang_id to be a text that is not empty, found nothing"
    ]
    with pytest.raises(ValidationError, match="--id-field: f is no JSON"):
        read("q Q0 a 1 1.0 s\n", id_field="id")


def test_the_order_of_results_gives_ranks_only_where_the_file_gives_none() -> None:
    ranked = '{"query_id": "q", "results": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]}'
    assert [line.entry.rank for line in read(ranked).lines] == [2, 1]
    flat = '{"query_id": "q", "doc_id": "a", "score": 1}\n{"query_id": "q", "doc_id": "b", "score": 2}'
    assert [line.entry.rank for line in read(flat).lines] == [None, None]


def test_every_bad_place_of_an_answer_is_named_with_its_line() -> None:
    text = """[
  {"query_id": "q", "results": [{"id": "a"}, 5, {"id": "b", "score": "high"}]},
  {"results": [], "query": 3},

  {"query_id": "r", "results": {"id": "a"}, "latency_ms": -1},
  "s"
]"""
    assert messages(text) == [
        "f:2: expected results[1] to be an object, found 5",
        "f:2: expected results[2].score to be a finite number, found 'high'",
        "f:3: expected query_id to be a text that is not empty, found nothing",
        "f:5: expected latency_ms to be a number from 0, found -1",
        "f:5: expected results to be a list, found a mapping",
        "f:6: expected a JSON object, found 's'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "f:1: expected a JSON object, found Expecting value"),
        ('[{"query_id": "q", "results": []},\n]', "f:2: expected a JSON object, found Expecting value"),
        ('[{"query_id": "q", "results": []}\n{}]', "f:2: expected JSON, found '{' after an item"),
        ('[{"query_id": "q", "results": []}', "f:1: expected JSON, found the end of the file"),
        ('[{"query_id": "q", "results": []}] x', "f:1: expected the end of the file, found 'x'"),
        ('[{"a": ' * 5_000, "nesting of at most 50 levels"),
        ("[" * 5_000, "nesting of at most 50 levels"),
        ('[{"query_id": "q", "query_id": "r"}]', "expected each key once"),
        ('[{"query_id": "q", "results": [{"id": "a", "score": NaN}]}]', "expected JSON without NaN"),
        ('{"query_id": "q", "results": []}', "expected a result of at least one query, found none"),
        ("[]", "expected a result of at least one query, found none"),
        (
            "[\n // ours\n {}]",
            "f:2: expected a JSON object (which has no comments), found a comment at character",
        ),
        ("[{}, /* ours */ {}]", "f:1: expected a JSON object (which has no comments), found a comment"),
        (
            "[{} // ours\n]",
            "f:1: expected JSON (which has no comments), found a comment after an item of the array",
        ),
        ("[{}]\n# ours", "f:2: expected JSON (which has no comments), found a comment"),
        (
            '{"query_id": "q", "results": []} // ours',
            "f:1: expected a JSON object (which has no comments), found a comment",
        ),
    ],
)
def test_what_is_no_json_or_holds_no_result_is_refused(text: str, message: str) -> None:
    assert message in "\n".join(messages(text))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('// ours\n[{"query_id": "q", "results": [{"id": "a"}]}]', [1]),
        ('\n/* of\nours */ # more\n{"query_id": "q", "doc_id": "a"}', [2, 3]),
        ("# ours", [1]),
    ],
)
@pytest.mark.parametrize("name", ["run.json", "RUN.JSONL"])
def test_comments_before_a_run_are_named_where_its_name_says_that_it_is_json(
    name: str, text: str, lines: list[int]
) -> None:
    with pytest.raises(BadInput) as refused:
        read_run_file(text.encode(), name)
    assert [str(problem) for problem in refused.value.problems] == [
        f"{name}:{line}: expected JSON (which has no comments), found a comment" for line in lines
    ]


def test_a_text_beside_a_query_id_is_a_further_field_and_alone_it_names_the_query() -> None:
    text = '{"query_id": "q", "query": "t", "doc_id": "a"}\n{"query": "u", "doc_id": "b"}'
    file = read(text)
    assert [(line.entry.query_id, line.query, dict(line.entry.signals)) for line in file.lines] == [
        ("q", None, {"query": "t"}),
        ("", "u", {}),
    ]
    assert file.notes == (), "nothing is said of doc_id, which is the name that everybody expects"


def test_bad_times_and_bad_results_are_named_and_nothing_else_goes_wrong() -> None:
    text = """{"query_id": "q", "results": [{"doc_id": "a"}], "response_time": "fast"}
{"query_id": "r", "results": [{"doc_id": ""}, {"doc_id": "b"}], "response_time": 3}
{"query_id": "s", "doc_id": null}"""
    assert messages(text) == [
        "f:1: expected response_time to be a number from 0, found 'fast'",
        "f:2: expected results[0].doc_id to be a text that is not empty, found ''",
        "f:3: expected doc_id to be a text that is not empty, found nothing",
    ]


def test_the_largest_rank_is_one_that_every_database_holds() -> None:
    assert read('{"query_id": "q", "doc_id": "a", "rank": 2147483647}').lines[0].entry.rank == 2**31 - 1
    assert messages('{"query_id": "q", "doc_id": "a", "rank": 2147483648}') == [
        "f:1: expected rank to be a whole number from 0, found 2147483648"
    ]


@pytest.mark.parametrize("key", ["response_time", "latency_ms", "total"])
def test_a_whole_number_that_no_float_can_hold_is_refused_with_its_line(key: str) -> None:
    text = '{"query_id": "a", "results": []}\n{"query_id": "b", "results": [], "%s": 1%s}' % (key, "0" * 400)  # noqa: UP031
    with pytest.raises(BadInput, match=r"run\.json:2: expected a number that fits"):
        read_run_file(text.encode(), "run.json")
