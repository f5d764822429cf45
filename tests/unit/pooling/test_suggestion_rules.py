"""Rules of suggestions: what a rule file and a file of relations may say, and where each rule leads."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.input_tables import RelationLine, read_relation_lines
from annotator.pooling.suggestions.suggestion_rules import (
    SuggestedPair,
    SuggestionRule,
    check_relations,
    count_unused,
    find_suggestions,
    list_templates,
    measure_accuracy,
    measure_share,
    read_rules,
    read_template,
)

DECREE = SuggestionRule("decree", "decree", "forward", 2)
FAMILY = SuggestionRule("family", "parent", "siblings", 2)


def relate(*relations: tuple[str, str, str]) -> tuple[RelationLine, ...]:
    return tuple(RelationLine(line, *relation) for line, relation in enumerate(relations, start=2))


def reach(rule: SuggestionRule, start: str, *relations: tuple[str, str, str]) -> list[str]:
    return [item.doc_id for item in find_suggestions({"Q1": [start]}, relate(*relations), [rule])]


def write(tmp_path: Path, content: str) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_a_rule_follows_a_relation_forward_backward_or_both_ways() -> None:
    relations = [("제17조", "시행령_제13조", "decree"), ("x", "제17조", "decree"), ("제17조", "y", "other")]
    assert reach(DECREE, "제17조", *relations) == ["시행령_제13조"]
    assert reach(SuggestionRule("d", "decree", "backward", 2), "제17조", *relations) == ["x"]
    assert reach(SuggestionRule("d", "decree", "both", 2), "제17조", *relations) == ["x", "시행령_제13조"]


def test_siblings_lead_to_the_same_document_and_are_never_the_document_itself() -> None:
    relations = [("①", "제17조", "parent"), ("②", "제17조", "parent"), ("③", "제18조", "parent")]
    assert reach(FAMILY, "①", *relations) == ["②"]
    assert reach(FAMILY, "제17조", *relations) == []


def test_a_document_with_two_starting_documents_is_suggested_once() -> None:
    lines = relate(("a", "c", "decree"), ("b", "c", "decree"), ("b", "c", "decree"))
    (suggestion,) = find_suggestions({"Q1": ["a", "b"], "Q2": []}, lines, [DECREE])
    assert (suggestion.query_id, suggestion.doc_id, suggestion.grade) == ("Q1", "c", 2)
    assert suggestion.from_doc_ids == ("a", "b")


def test_a_document_that_two_rules_suggest_comes_once_for_each() -> None:
    lines = relate(("a", "c", "decree"), ("a", "c", "cites"))
    rules = [DECREE, SuggestionRule("cites", "cites", "forward", 1)]
    assert [(item.rule, item.grade) for item in find_suggestions({"Q": ["a"]}, lines, rules)] == [
        ("decree", 2),
        ("cites", 1),
    ]


def test_the_template_for_law_reads_as_the_methodology_says() -> None:
    rules = read_rules("law", ["sibling", "decree", "rule", "reference"])
    assert {rule.relation: rule.grade for rule in rules} == {
        "sibling": 2,
        "decree": 2,
        "rule": 2,
        "reference": 1,
    }
    assert list_templates() == ["law"]


def test_a_template_comes_before_a_file_of_its_name_and_a_slash_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law").write_text("nonsense: 1\n")
    assert read_rules("law", ["sibling", "decree", "rule", "reference"])
    with pytest.raises(BadInput, match="nonsense"):
        read_rules("./law", ["sibling"])
    with pytest.raises(ValidationError, match="there are: law"):
        read_template("nablarch")


def test_relations_that_no_rule_follows_are_counted() -> None:
    assert count_unused(relate(("a", "b", "cites"), ("b", "c", "cites"), ("a", "c", "decree")), [DECREE]) == {
        "cites": 2
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "rules:\n- {relation: decree, grade: 2}\n- {relation: cousin, grade: 1}",
            r":3: .*a relation of the file \(decree, parent\), found .cousin",
        ),
        ("rules:\n- {relation: decree, grade: 4}", ":2: .*a grade 0-3, found .4"),
        ("rules:\n- {relation: decree, grade: two}", ":2: .*a grade 0-3, found .two"),
        ("rules:\n- {relation: decree}", ":2: .*a grade 0-3"),
        ("rules:\n- {grade: 2}", ":2: .*a relation of the file"),
        (
            "rules:\n- {relation: decree, grade: 2}\n- {relation: decree, grade: 1}",
            r":3: .*each rule once \(decree, forward\)",
        ),
        (
            "rules:\n- {relation: decree, grade: 2}\n- {relation: decree, follow: both, grade: 1, name: x}",
            ":3: .*each rule once",
        ),
        (
            "rules:\n- {relation: decree, grade: 2}\n- {relation: parent, grade: 1, name: decree}",
            ":3: .*a name of its own",
        ),
        ("rules:\n- {relation: decree, grade: 2, follow: down}", ":2: .*forward, backward, both, siblings"),
        ("rules:\n- {relation: decree, grade: 2, weight: 3}", ":2: .*one of relation, follow, grade, name"),
        ("rules: []", "at least one rule"),
        ("rule:\n- {relation: decree, grade: 2}", "rules, the only key"),
        ("- decree", "a mapping"),
        ("rules:\n- decree", ":2: .*a mapping"),
        ("rules: [", "YAML"),
    ],
)
def test_a_bad_rule_is_refused_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_rules(write(tmp_path, content), ["decree", "parent"])


def test_two_ways_of_one_relation_are_two_rules_with_names(tmp_path: Path) -> None:
    content = (
        "rules:\n- {relation: parent, follow: siblings, grade: 2}\n- {relation: parent, name: up, grade: 1}"
    )
    assert [rule.name for rule in read_rules(write(tmp_path, content), ["parent"])] == ["parent", "up"]


@pytest.mark.parametrize(
    ("relations", "said"),
    [
        ([("a", "a", "decree")], "r.csv:2: expected a relation between two documents, found 'a' twice"),
        (
            [("a", "b", "decree"), ("a", "z", "decree")],
            "r.csv:3: expected a document of this dataset, found z",
        ),
        ([("a", "b", "")], "r.csv:2: expected a relation, found an empty cell"),
        (
            [("d", "a", "parent"), ("a", "b", "parent"), ("b", "c", "parent"), ("c", "a", "parent")],
            "r.csv:3: expected parent without a circle, found a → b → c → a",
        ),
    ],
)
def test_a_bad_relation_is_refused_with_its_line(relations: list[tuple[str, str, str]], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_relations(relate(*relations), [DECREE, FAMILY], set("abcd"), "r.csv", skip_unknown=False)
    assert str(refused.value) == said


def test_a_circle_of_a_relation_without_siblings_is_allowed() -> None:
    lines = relate(("a", "b", "decree"), ("b", "a", "decree"))
    assert check_relations(lines, [DECREE], set("ab"), "r.csv", skip_unknown=False) == (lines, 0)


def test_a_document_with_two_parents_is_no_circle() -> None:
    lines = relate(("a", "b", "parent"), ("a", "c", "parent"), ("b", "d", "parent"), ("c", "d", "parent"))
    assert check_relations(lines, [FAMILY], set("abcd"), "r.csv", skip_unknown=False) == (lines, 0)


def test_a_long_chain_is_checked_at_once() -> None:
    lines = relate(*((str(number), str(number + 1), "parent") for number in range(50_000)))
    doc_ids = {str(number) for number in range(50_001)}
    assert check_relations(lines, [FAMILY], doc_ids, "r.csv", skip_unknown=False)[1] == 0


def test_unknown_documents_are_left_out_on_request_and_counted() -> None:
    lines = relate(("a", "b", "decree"), ("a", "z", "decree"), ("y", "z", "decree"))
    assert check_relations(lines, [DECREE], set("ab"), "r.csv", skip_unknown=True) == (lines[:1], 2)


def test_a_file_of_relations_may_be_csv_or_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"from": "a", "to": "b", "relation": "decree", "note": "§17"}\n{"from": "b", "to": "c"}\n'
    )
    assert read_relation_lines(path) == (RelationLine(1, "a", "b", "decree"), RelationLine(2, "b", "c", ""))


def make_pair(rule: str, grade: int, settled: int | None, status: str = "unanimous") -> SuggestedPair:
    return SuggestedPair("k", "Q", "d", rule, grade, status, settled, ("a",), False)


def test_a_rule_is_as_good_as_its_settled_pairs() -> None:
    pairs = [make_pair("decree", 2, settled) for settled in (2, 2, 3, 0)]
    pairs += [make_pair("decree", 2, None, "unjudged"), make_pair("decree", 2, None, "unrateable")]
    (accuracy,) = measure_accuracy([("decree", pair) for pair in pairs])
    assert (accuracy.suggested, accuracy.open, accuracy.unrateable) == (6, 1, 1)
    assert accuracy.settled_at == {0: 1, 1: 0, 2: 2, 3: 1}
    assert (accuracy.exact.count, accuracy.exact.of, accuracy.exact.share) == (2, 4, 0.5)
    assert (accuracy.relevant.count, accuracy.relevant.share) == (3, 0.75)


def test_the_interval_of_a_share_is_exact() -> None:
    share = measure_share(8, 10)  # Clopper and Pearson: 0.4439 to 0.9748
    assert share.ci95 == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert measure_share(0, 0).share is None and measure_share(0, 0).ci95 is None
