"""The gates: met, not met, undefined, overridden."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.releases.gates import (
    Override,
    check_disagreements,
    check_kappa,
    explain,
    override_gates,
)

LOW = check_kappa(0.7, 0.25, None)
OPEN = check_disagreements(3)


@pytest.mark.parametrize(
    ("value", "measured", "met"),
    [
        (0.7, 0.7, True),
        (0.69999999999, 0.7, True),
        (0.699, 0.699, False),
        (1.0, 1.0, True),
        (-0.5, -0.5, False),
    ],
)
def test_kappa_is_met_from_its_target_on(value: float, measured: float, met: bool) -> None:
    gate = check_kappa(0.7, value, None)
    assert (gate.name, gate.required, gate.measured, gate.met) == ("kappa", 0.7, measured, met)
    assert (gate.why is None) is met


def test_an_undefined_kappa_is_not_met_and_says_why() -> None:
    gate = check_kappa(-1, None, "nobody judged")
    assert (gate.measured, gate.met, gate.why) == (None, False, "nobody judged")


def test_one_open_disagreement_is_one_too_many() -> None:
    assert check_disagreements(0).met
    assert check_disagreements(0).why is None
    assert (OPEN.required, OPEN.measured, OPEN.met) == (0, 3, False)


def test_an_override_keeps_its_reason_and_its_author_but_meets_nothing() -> None:
    (low, opened) = override_gates([LOW, OPEN], {"kappa": " まだ半分 🙂 "}, by="lead_3")
    assert low.override == Override("まだ半分 🙂", "lead_3")
    assert not low.met
    assert opened.override is None


def test_an_override_of_a_met_gate_is_not_kept() -> None:
    (gate,) = override_gates([check_disagreements(0)], {"disagreements": "because"}, by="lead_3")
    assert gate.override is None


@pytest.mark.parametrize(
    ("overrides", "fault"),
    [
        ({"Kappa": "x"}, "no gate named 'Kappa'; there are: kappa, disagreements"),
        ({"kappa": "  \n"}, "override of kappa: expected a reason in words"),
        ({"kappa": "a\0"}, "override of kappa: expected a reason in words"),
    ],
)
def test_an_override_needs_a_gate_and_words(overrides: dict[str, str], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        override_gates([LOW, OPEN], overrides, by="lead_3")


def test_what_is_missing_is_listed_with_the_first_pairs_and_the_way_out() -> None:
    assert explain([LOW, OPEN], [("Ｑ1", "문서"), ("Q2", "d")]).splitlines() == [
        "not ready to be published:",
        "- kappa: 0.25 is below 0.7",
        "- disagreements: 3 open: decide them (annotator disagreements, annotator adjudicate)",
        "    Ｑ1  문서",
        "    Q2  d",
        "    and 1 more",
        "or publish nevertheless, with a reason: --override kappa=REASON --override disagreements=REASON",
    ]
    overridden = override_gates([LOW, OPEN], {"kappa": "x", "disagreements": "y"}, by="lead_1")
    assert explain(overridden, [("Q", "d")]) == ""
