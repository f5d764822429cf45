"""A requirements file is read whole: each bad key and value is named with its line."""

from pathlib import Path
from typing import Any

import pytest

from annotator.dataset.coverage_requirements import KEYS, read_requirements
from annotator.dataset.coverage_service import read_requirements as read_named
from annotator.dataset.settings import TEMPLATES
from annotator.domain.errors import BadInput, ValidationError

FULL = """\
about: "데모 요구사항 🔎"
queries: 50
size_tier: 30
queries_per_category: {検索: 10, "no": 5}
languages_per_category: {ja: 7, en: 2, mixed: 1}
lengths_per_category: {short: 3, medium: 4, long: 3}
languages: {ja: 70, en: 20, mixed: 10}
difficulty: {easy: 40, medium: 40, hard: 20}
query_types: {a: 33.3, b: 33.3, c: 33.4}
lengths: {short: 50, long: 50}
tolerance: 2.5
per_category: {specificity: {concrete: 4, abstract: 3, fqcn: 3}, length: {short: 3}}
shares: {law_type: {법률: 60, 시행령: 40}, length: {short: 100}}
domains: {at_least: {도시계획: 20, 환경: 15}, across: 10, across_field: 여러_분야, from_queries: 100}
relevant_documents_mean: {30: [5, 10], 100: [8, 15]}
relevant_documents_total: [150, null]
relevant_documents: {30: [5, 10], 100: [8, null]}
most_without_relevant: 0
most_without_grade_2: 1
most_with_one_relevant: 2
most_with_one_grade: 3
queries_without_relevant: [Q1, 007, "1e3", no]
"""


def read(text: str) -> dict[str, Any]:
    return read_requirements(text.encode(), "requirements.yaml")


def complain(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(BadInput) as refused:
        read(text)
    return [(problem.line, str(problem)) for problem in refused.value.problems]


def test_every_key_is_read_as_plain_values() -> None:
    body = read(FULL)
    assert set(body) == {key.name for key in KEYS}
    assert body["queries_per_category"] == {"検索": 10, "no": 5}
    assert body["relevant_documents"] == {"30": [5, 10], "100": [8, None]}
    assert body["queries_without_relevant"] == ["Q1", "007", "1e3", "no"]
    assert body["query_types"] == {"a": 33.3, "b": 33.3, "c": 33.4}
    assert type(body["about"]) is str
    assert body["per_category"] == {
        "specificity": {"concrete": 4, "abstract": 3, "fqcn": 3},
        "length": {"short": 3},
    }
    assert body["shares"]["law_type"] == {"법률": 60.0, "시행령": 40.0}
    assert body["domains"]["at_least"] == {"도시계획": 20, "환경": 15}
    assert (body["relevant_documents_mean"], body["relevant_documents_total"]) == (
        {"30": [5, 10], "100": [8, 15]}, [150, None],
    )  # fmt: skip


def test_a_key_that_is_not_known_is_refused_with_its_line_and_the_likely_one() -> None:
    (problem,) = complain("queries: 50\ndificulty: {easy: 100}\n")
    assert problem[0] == 2
    assert "did you mean difficulty?" in problem[1]


def test_every_bad_value_is_named_at_once() -> None:
    problems = complain(
        "queries: -1\n"
        "size_tier: 50\n"
        "languages_per_category: {ja: seven}\n"
        "difficulty:\n  easy: 40\n  hard: 120\n"
        "tolerance: lots\n"
        "relevant_documents: {30: [5], 31: [1, 2]}\n"
        "domains: {across: 10, least: [1]}\n"
        "queries_without_relevant: Q1\n"
        "lengths_per_category: {tiny: 3}\n"
    )
    assert [line for line, _ in problems] == [1, 2, 3, 6, 7, 8, 8, 9, 9, 9, 10, 11]
    assert (
        "requirements.yaml:3: expected languages_per_category.ja to be a whole number, 0 or more, found 'seven'"
        in [problem for _, problem in problems]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("difficulty: {easy: 40, hard: 40}\n", "100 together, found 80.0"),
        ("relevant_documents: [10, 5]\n", "the least before the most"),
        ("relevant_documents: 5\n", "[least, most]"),
        ("- queries\n", "a mapping"),
        ("", "a YAML document, found an empty file"),
        ("{}\n", "requirements (about, queries"),
        ("queries: ~\n", "requirements (about, queries"),
        ("queries: 5\nqueries: 6\n", "each key once"),
        ("queries: true\n", "a whole number"),
        ("queries: 99999999999999\n", "a whole number"),
        ("languages_per_category: {}\n", "at least one number"),
        ("domains: {at_least: [1], across: 1}\n", "the field that marks a query as across domains"),
        ("domains: {at_least: [1], across: 1, across_field: a, across_query_type: b}\n", "left out where across_field is given"),
        ("domains: {at_least: [1], across_feild: a}\n", "did you mean across_field?"),
        ("per_category: {a: 4}\n", "per_category.a to be a mapping"),
        ("per_category: {length: {tiny: 4}}\n", "one of short, medium, long"),
        ("shares: {}\n", "at least one field"),
        ("shares: {a: {b: 40, c: 40}}\n", "100 together, found 80.0"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(text: str, message: str) -> None:
    assert message in complain(text)[0][1]


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
    assert [key.name for key in KEYS if f"`{key.name}`" not in page] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_templates_are_readable(name: str) -> None:
    assert read_named(name)["about"]


def test_a_template_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(ValidationError, match="nablarch, law"):
        read_named("nowhere")
