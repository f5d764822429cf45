"""Names of measures: what they mean, and what is refused."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.evaluation.scores.measures import parse_measure_name, split_names


@pytest.mark.parametrize(
    ("name", "shown", "kind", "cutoff", "relevant_from"),
    [
        ("nDCG@10", "nDCG@10", "nDCG", 10, 1),
        ("NDCG@5", "nDCG@5", "nDCG", 5, 1),
        ("P(rel=2)@5", "P(rel=2)@5", "P", 5, 2),
        ("Recall@5", "R@5", "R", 5, 1),
        ("MRR", "RR", "RR", None, 1),
        ("MAP", "AP", "AP", None, 1),
        ("Hits@3", "Success@3", "Success", 3, 1),
        ("F1(rel=3)@10", "F1(rel=3)@10", "F1", 10, 3),
        ("Bpref", "Bpref", "Bpref", None, 1),
        (" Judged@10 ", "Judged@10", "Judged", 10, 1),
    ],
)
def test_a_name_of_ir_measures_is_understood(
    name: str, shown: str, kind: str, cutoff: int | None, relevant_from: int
) -> None:
    measure = parse_measure_name(name)
    assert (measure.name, measure.kind, measure.cutoff, measure.relevant_from) == (
        shown,
        kind,
        cutoff,
        relevant_from,
    )


def test_exponential_gain_has_the_name_that_ir_measures_gives_it() -> None:
    assert parse_measure_name("nDCG(dcg='exp-log2')@10").gain == "exponential"
    assert parse_measure_name("nDCG@10").gain == "grade"


def test_a_threshold_in_the_name_goes_before_the_general_one() -> None:
    assert parse_measure_name("P@5", relevant_from=2).relevant_from == 2
    assert parse_measure_name("P(rel=3)@5", relevant_from=2).relevant_from == 3


@pytest.mark.parametrize(("name", "usual"), [("MRR", "RR"), ("RR", "RR"), ("Precision@5", "P@5")])
def test_a_measure_has_one_name_whatever_it_is_called(name: str, usual: str) -> None:
    assert parse_measure_name(name).name == usual


@pytest.mark.parametrize(
    "name",
    [
        "Accuracy",
        "",
        "(",
        "P@x",
        "P(rel=7)@5",
        "RBP(p=3)",
        "RBP(p='a')",
        "nDCG(gains={})@5",
        "P@5;x",
        "nDCG@-1",
        "a" + ".a" * 3_000,
        "-" * 10_000 + "1",
        "P(" * 100,
    ],
)
def test_a_measure_that_does_not_exist_is_refused_with_a_list_of_those_that_do(name: str) -> None:
    with pytest.raises(
        ValidationError, match=r"There is no measure .*Choose one of: nDCG@k .*Bpref, Judged@k"
    ):
        parse_measure_name(name)


def test_a_measure_that_needs_a_cutoff_says_so() -> None:
    with pytest.raises(ValidationError, match="P needs a number of results, as in P@10"):
        parse_measure_name("P")
    with pytest.raises(ValidationError, match="choose a number of results from 1 to 1,000,000, not 0"):
        parse_measure_name("R@0")


def test_a_threshold_outside_the_scale_is_refused() -> None:
    with pytest.raises(ValidationError, match="relevant from grade 1, 2 or 3, found 4"):
        parse_measure_name("P@5", relevant_from=4)


def test_a_measure_says_its_formula() -> None:
    formula = parse_measure_name("P@5").formula
    assert formula == "relevant documents in the first 5 results, divided by 5"
    assert "2^grade - 1" in parse_measure_name("nDCG(dcg='exp-log2')@10").formula


def test_names_are_separated_by_commas_outside_brackets() -> None:
    assert split_names("nDCG(dcg='exp-log2', cutoff=3), P@5,,") == ["nDCG(dcg='exp-log2', cutoff=3)", "P@5"]
