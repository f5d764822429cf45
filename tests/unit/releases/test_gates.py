"""The gates: met, not met, undefined, overridden."""

from collections import Counter
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.judgment_table import GradedJudgments
from annotator.agreement.measure import measure
from annotator.agreement.records import AgreementVerdict, CoefficientValue
from annotator.dataset.records import Coverage, CoverageRow
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.quality.records import QualityStatus
from annotator.releases.gates import (
    CountWithExamples,
    PairSurvey,
    ReleaseSurvey,
    check_disagreements,
    check_kappa,
    compare_gates,
    explain,
    find_meaning_since,
    is_stale,
    override_gates,
    to_gate,
)
from annotator.releases.records import GateOverride, ReleaseGate

SAID = say("Only that much is known.")


def tell(state: str, value: float | None, target: float = 0.7) -> AgreementVerdict:
    return AgreementVerdict(state, CoefficientValue(value), target, None, SAID)  # type: ignore[arg-type]


LOW = check_kappa(tell("not met", 0.25))
OPEN = check_disagreements(3)


@pytest.mark.parametrize("value", [0.9, 0.7, None])
@pytest.mark.parametrize("state", ["met", "not met", "unknown"])
def test_kappa_is_met_where_the_verdict_says_so_and_unknown_is_not(state: str, value: float | None) -> None:
    gate = check_kappa(tell(state, value))
    assert (gate.name, gate.required, gate.measured, gate.met) == ("kappa", 0.7, value, state == "met")
    why = "Only that much is known. See where the annotators differ on the page Agreement."
    assert gate.why == (None if state == "met" else why)


def test_four_pairs_on_which_all_agree_do_not_meet_the_target() -> None:
    """The interval of so few is [1, 1]; the verdict says how many pairs are missing."""
    grades = [0, 3, 0, 3]
    rows = [(annotator, pair, grade) for pair, grade in enumerate(grades) for annotator in (0, 1)]
    annotators, pairs, given = (np.array(column) for column in zip(*rows, strict=True))
    judged = GradedJudgments(query=pairs // 2, pair=pairs, annotator=annotators, grade=given)
    verdict = judge(measure(judged, ["a", "b"], resamples=100, seed=0), target=0.7)
    gate = check_kappa(verdict)
    assert (gate.measured, gate.met) == (1.0, False)
    assert "too few to rely on" in str(gate.why)
    assert "Have two annotators judge at least 26 pairs more" in str(gate.why)


def test_one_open_disagreement_is_one_too_many() -> None:
    assert check_disagreements(0).met
    assert check_disagreements(0).why is None
    assert (OPEN.required, OPEN.measured, OPEN.met) == (0, 3, False)


def test_the_gate_tells_the_reopened_among_the_open() -> None:
    assert str(check_disagreements(3, reopened=1).why).startswith(
        "Open: 3 (1 reopened by quality control). Decide them."
    )


def test_an_override_keeps_its_reason_and_its_author_but_meets_nothing() -> None:
    (low, opened) = override_gates([LOW, OPEN], {"kappa": " まだ半分 🙂 "}, by="lead_3")
    assert low.override == GateOverride("まだ半分 🙂", "lead_3")
    assert not low.met
    assert opened.override is None


def test_an_override_of_a_met_gate_is_not_kept() -> None:
    (gate,) = override_gates([check_disagreements(0)], {"disagreements": "because"}, by="lead_3")
    assert gate.override is None


@pytest.mark.parametrize(
    ("overrides", "fault"),
    [
        ({"Kappa": "x"}, "no gate named 'Kappa'; there are: kappa, disagreements"),
        ({"kappa": "  \n"}, "Override reason for kappa: expected some words"),
        ({"kappa": "a" * 10_001}, "Override reason for kappa: expected at most 10,000 characters"),
    ],
)
def test_an_override_needs_a_gate_and_words(overrides: dict[str, str], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        override_gates([LOW, OPEN], overrides, by="lead_3")


def test_an_override_keeps_what_can_be_stored_of_its_reason() -> None:
    gate, _ = override_gates([LOW, OPEN], {"kappa": " a\0 "}, by="lead_3")
    assert gate.override is not None
    assert gate.override.reason == "a\ufffd"


def test_what_is_missing_is_listed_with_the_first_pairs_and_the_way_out() -> None:
    assert explain([LOW, check_disagreements(3, [("Ｑ1", "문서"), ("Q2", "d")])]).splitlines() == [
        "The release is not ready to be published:",
        "- kappa: Only that much is known. See where the annotators differ on the page Agreement.",
        "- disagreements: Open: 3. Decide them.",
        "    Ｑ1  문서",
        "    Q2  d",
        "    and 1 more",
        "To publish anyway, give a reason for each gate: --override kappa=REASON --override disagreements=REASON",
    ]
    overridden = override_gates([LOW, OPEN], {"kappa": "x", "disagreements": "y"}, by="lead_1")
    assert explain(overridden) == ""


NONE = CountWithExamples(0, ())
PAIRS = PairSurvey(
    overlap=2, uneven=False, meaning_since=None, statuses=Counter(), by_grade=Counter(), of_query={},
    with_open_pairs=(), opened=NONE, short=NONE, stale=NONE, stale_text=0, stale_both=0,
)  # fmt: skip
NOT_DONE = QualityStatus(dataset="x", rule="bound", rates={}, verdicts={}, sentences=())
GOOD = ReleaseSurvey(PAIRS, {}, Coverage((), 0, 0), [], [], NOT_DONE, {})
QUALITY_CONTROL = 3
OF_PAIRS = {field.name for field in fields(PairSurvey)}


def compare(*, verdict: AgreementVerdict = tell("met", 0.8), **change: Any) -> tuple[ReleaseGate, ...]:
    """The gates of a dataset in which all is well but for this change."""
    pairs = replace(PAIRS, **{name: change.pop(name) for name in OF_PAIRS & change.keys()})
    return compare_gates(replace(GOOD, pairs=pairs, **change), None, verdict)


def cover(met: int, *rows: tuple[str, str, str]) -> Coverage:
    """Three requirements, these of which are not met."""
    return Coverage(tuple(CoverageRow(*row, False) for row in rows), 3, met)


def test_the_gates_stand_in_one_order_and_quality_control_is_not_done_by_itself() -> None:
    gates = compare()
    assert [gate.name for gate in gates] == [
        "kappa", "disagreements", "overlap", "quality_control", "coverage", "unjudged_queries", "relevant", "stale", "ids",
    ]  # fmt: skip
    assert [gate.name for gate in gates if not gate.met] == ["quality_control"]
    control = gates[QUALITY_CONTROL]
    assert (control.required, control.measured) == (0.05, None)
    assert "Not done" in str(control.why)


@pytest.mark.parametrize(
    ("name", "change", "required", "measured", "examples", "work"),
    [
        ("kappa", {"verdict": tell("not met", 0.1)}, 0.7, 0.1, (), "on the page Agreement"),
        ("kappa", {"verdict": tell("unknown", None)}, 0.7, None, (), "Only that much is known."),
        ("disagreements", {"opened": CountWithExamples(2, [("Q1", "文書"), ("Q2", "d")])}, 0, 2,
         (("Q1", "文書"), ("Q2", "d")), "Open: 2. Decide them."),
        ("overlap", {"short": CountWithExamples(1, [("Q1", "مستند")]), "overlap": 3}, 0, 1, (("Q1", "مستند"),),
         "1 pair has fewer than 3 judgments. It is waiting for annotators on the page Label."),
        ("coverage", {"coverage": cover(1, ("queries", "30", "3"), ("ja", "7", "1"))}, 3, 1,
         (("queries", "30", "3"), ("ja", "7", "1")), "1 of 3 requirements met by the queries that the release would contain. Judge"),
        ("unjudged_queries", {"without_qrels": ["질의", "検索"]}, 0, 2, (("질의",), ("検索",)),
         "2 queries have no settled grade and would be missing in the release."),
        ("relevant", {"without_relevant": ["질의"]}, 0, 1, (("질의",),),
         "queries_without_relevant"),
        ("stale", {"stale": CountWithExamples(2, [("Q", "d")]), "meaning_since": 4}, 0, 2, (("Q", "d"),),
         "2 settled pairs were judged before guideline version 4 changed the meaning of a grade. Have these pairs"),
        ("stale", {"stale": CountWithExamples(3, ()), "meaning_since": 4, "stale_text": 2, "stale_both": 1}, 0, 3, (),
         ("2 settled pairs were judged before guideline version 4 changed the meaning of a grade. "
          "2 settled pairs were judged with an older text of their documents. Have these pairs")),
        ("ids", {"unwritable": {"trec": ["a b", "法 1"]}}, 0, 2, (("a b",), ("法 1",)),
         "2 ids contain white space, which the format trec cannot hold. Rename them, or override this gate to publish"),
        ("stale", {"stale": CountWithExamples(1, ()), "stale_text": 1}, 0, 1, (), "1 settled pair was judged with an older text of its document. Have"),
    ],
)  # fmt: skip
def test_a_gate_that_is_not_met_says_what_work_it_needs_and_names_examples(
    name: str, change: dict[str, Any], required: float, measured: float | None, examples: Any, work: str
) -> None:
    (gate,) = (gate for gate in compare(**change) if gate.name == name)
    assert (gate.required, gate.measured, gate.met, gate.examples) == (required, measured, False, examples)
    assert work in str(gate.why)
    assert "annotator " not in str(gate.why), "a page shows it, so it names no command"
    (waived,) = override_gates([gate], {name: "판단"}, by="lead_1")
    assert waived.override == GateOverride("판단", "lead_1")


def test_without_requirements_coverage_is_met_and_says_that_none_are_declared() -> None:
    gate = compare()[4]
    assert (gate.required, gate.measured, gate.met) == (0, 0, True)
    assert "No requirements are declared" in str(gate.why)
    full = compare(coverage=cover(3))[4]
    assert (full.required, full.measured, full.met, full.why) == (3, 3, True, None)


def test_of_many_the_first_twenty_are_named_and_the_others_counted() -> None:
    pairs = [(f"Q{number}", "改行\nあり") for number in range(30)]
    gates = compare(opened=CountWithExamples(25, pairs))
    lines = explain(gates).splitlines()
    assert "    Q19  改行 あり" in lines
    assert "    Q20  改行 あり" not in lines
    assert "    and 5 more" in lines
    assert "    and 1 more" in explain(compare(coverage=cover(1, ("queries", "30", "3"))))


def test_where_not_every_pair_needs_as_many_the_gate_names_no_number() -> None:
    gates = compare(overlap=1, uneven=True, short=CountWithExamples(2, ()))
    (why,) = [gate.why for gate in gates if gate.name == "overlap"]
    assert why is not None
    assert why.startswith("2 pairs need more judgments.")


def test_the_meaning_holds_since_the_latest_semantic_version_after_the_first() -> None:
    assert find_meaning_since([]) is None
    assert find_meaning_since([(1, "semantic"), (2, "minor")]) is None
    assert find_meaning_since([(1, "semantic"), (2, "minor"), (3, "semantic"), (4, "minor")]) == 3


@pytest.mark.parametrize(
    ("status", "judged_under", "decided_under", "stale"),
    [
        ("unanimous", [3, 3], None, False),
        ("unanimous", [3, 2], None, True),
        ("single", [1], None, True),
        ("adjudicated", [1, 1], 3, False),
        ("adjudicated", [3, 3], 2, True),
        ("imported", [], None, False),
        ("disagreement", [1, 2], None, False),
    ],
)
def test_a_settled_pair_is_stale_when_it_rests_on_an_older_meaning(
    status: str, judged_under: list[int], decided_under: int | None, stale: bool
) -> None:
    computed = is_stale(3, status=status, judged_under=judged_under, decided_under=decided_under)
    assert computed is stale
    assert not is_stale(None, status=status, judged_under=judged_under, decided_under=decided_under)


def test_a_manifest_keeps_a_gate_without_its_examples_and_gives_it_back() -> None:
    (gate,) = override_gates([replace(OPEN, examples=(("Q", "d"),))], {"disagreements": "왜"}, by="lead_1")
    kept = gate.as_json()
    assert "examples" not in kept
    assert kept["override"] == {"reason": "왜", "by": "lead_1"}
    assert to_gate(kept) == replace(gate, examples=())
