"""Profiles as data: their names, the measures they have, and what is printed of their conventions."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.evaluation.profiles import PROFILES, describe_conventions, find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.scores.summary import list_group_fields
from tests.unit.evaluation.small_runs import make_run


def test_there_is_a_profile_for_each_team_and_for_trec_eval() -> None:
    assert [profile.name for profile in PROFILES] == ["trec", "nablarch", "law", "survey", "code", "document"]
    assert [profile.order for profile in PROFILES] == ["score", *["rank"] * 5]
    with pytest.raises(
        ValidationError, match=r"There is no profile 'java'\. Choose one of: trec, nablarch, law"
    ):
        find_profile("java")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_every_measure_of_a_profile_has_the_name_it_is_asked_by_and_says_its_formula(profile: object) -> None:
    for name in profile.measures:  # type: ignore[attr-defined]
        measure = profile.parse(name, None, "truth")  # type: ignore[attr-defined]
        assert measure.name == name
        assert measure.formula


def test_a_team_measure_is_found_by_its_usual_other_names() -> None:
    law, code = find_profile("law"), find_profile("code")
    names = [law.parse(name, None, "truth").name for name in ("nDCG@10", "R@5", "precision@5", "AP", "RR")]
    assert names == ["NDCG@10", "Recall@5", "P@5", "MAP", "MRR"]
    assert code.parse("Success@3", None, "truth").name == "Hits@3"


@pytest.mark.parametrize("name", ["Bpref", "MRR@5", "P", "P@0", "P@9999999", "", "P@5x"])
def test_a_measure_that_the_team_does_not_have_is_refused_with_those_it_has(name: str) -> None:
    with pytest.raises(
        ValidationError, match=r"The profile law has no measure .*Choose one of: P@k, Recall@k, F1@k, MAP"
    ):
        find_profile("law").parse(name, None, "truth")


def test_a_team_says_itself_what_is_relevant() -> None:
    with pytest.raises(ValidationError, match="the profile law says itself from which grade"):
        find_profile("law").parse("P@5", 2, "truth")


def test_conventions_are_said_in_words() -> None:
    nablarch = find_profile("nablarch")
    said = {
        found.measure: found
        for found in describe_conventions(
            nablarch, tuple(nablarch.parse(name, None, "truth") for name in ("MRR", "Recall@5", "NDCG@5"))
        )
    }
    assert said["MRR"].relevant == "every document that the truth lists"
    assert said["Recall@5"].relevant == "grade 2 or more"
    assert (said["NDCG@5"].relevant, said["NDCG@5"].ideal) == ("by grade", "from the truth")
    assert "2^grade - 1" in said["NDCG@5"].formula
    assert said["MRR"].mean_over.startswith("all queries of the truth")
    retrieved = describe_conventions(nablarch, (nablarch.parse("NDCG@5", None, "retrieved"),))[0]
    assert retrieved.ideal is not None
    assert "not comparable" in retrieved.ideal


def test_the_ideal_of_retrieved_documents_needs_a_cutoff_in_trec() -> None:
    trec = find_profile("trec")
    assert trec.parse("nDCG@5", None, "retrieved").ideal == "retrieved"
    assert trec.parse("AP", None, "retrieved").ideal == "truth"
    with pytest.raises(ValidationError, match="needs a cutoff"):
        trec.parse("nDCG", None, "retrieved")


def test_a_list_too_long_for_the_gain_of_survey_is_refused() -> None:
    truth = Truth("t", {"q": {f"d{number}": 1 for number in range(1_001)}})
    with pytest.raises(
        ValidationError, match=r"up to 1,000 relevant documents for a query, found 1,001 for 'q'"
    ):
        score_runs(truth, [make_run("s", {"q": ["d1"]})], find_profile("survey"))


def test_the_longest_list_of_survey_still_has_a_score() -> None:
    truth = Truth("t", {"q": {f"d{number}": 1 for number in range(1_000)}})
    table = score_runs(
        truth,
        [make_run("s", {"q": ["d0", "d1"]})],
        find_profile("survey"),
        ScoringOptions(measures=("NDCG@2",)),
    )
    assert table.systems[0].values["NDCG@2"].tolist() == [1.0]
    assert (
        dict(table.systems[0].lowest) == {}
    )  # an unjudged document has no place in the list, so there are no bounds


def test_survey_leaves_out_a_query_of_which_only_grade_0_is_listed() -> None:
    truth = Truth("law.json", {"q1": {"a": 2}, "q2": {"b": 0}}, tells_grade_0=False)
    table = score_runs(truth, [make_run("s", {"q1": ["a"]})], find_profile("survey"))
    assert (table.query_ids, list(table.left_out)) == (("q1",), ["q2"])


def test_queries_can_be_grouped_by_any_field_of_theirs() -> None:
    truth = Truth("t", {}, fields={"q1": {"category": "a"}, "q2": {"language": "ja", "category": "b"}})
    assert list_group_fields(truth) == ["category", "language"]
