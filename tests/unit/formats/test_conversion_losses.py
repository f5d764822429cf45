"""What is said of a conversion before it writes: every loss with its count, and the ones that would be wrong."""

from annotator.domain.ground_truth import Document, GroundTruth, Qrel, Query
from annotator.formats.conversion_losses import find_losses, list_wrong
from annotator.formats.registry import find_format

RICH = GroundTruth(
    (
        Query("Q1", "検索", category="c", language="ja", metadata={"needs_a2a": True, "weight": 2}),
        Query("Q2", "검색", category="d"),
        Query("Q3", ""),
    ),
    (
        Qrel("Q1", "a", 3, "unanimous", "見出し", "메모", (("annotator_1", 3), ("annotator_2", 3), ("annotator_4", 2)), {"law_type": "법률"}),
        Qrel("Q1", "b", 0),
        Qrel("Q2", "a", 1, "single", annotator_grades=(("annotator_1", 1),)),
    ),
    {"version": "1"},
    (Document("a", "title"),),
)  # fmt: skip


def says(name: str, truth: GroundTruth = RICH, *, list_grade_0: bool = False) -> list[str]:
    losses = find_losses(truth, find_format(name), list_grade_0=list_grade_0)
    return [f"wrong: {loss.what}" if loss.wrong else loss.what for loss in losses]


NO_TEXT = '1 query without a text, written as "" (--queries FILE supplies texts)'


def test_everything_that_nablarch_cannot_hold_is_counted() -> None:
    assert says("nablarch") == [
        NO_TEXT,
        "1 qrel of grade 0 left out (--list-grade-0 lists them)",
        "1 note left out",
        "2 origins left out",
        "4 grades of annotators left out",
        "1 document with title and text left out",
    ]


def test_law_holds_two_annotators_and_notes() -> None:
    assert says("law") == [
        NO_TEXT,
        "1 qrel of grade 0 left out (--list-grade-0 lists them)",
        "2 origins left out",
        "1 grade of further annotators left out",
        "1 document with title and text left out",
    ]


def test_trec_holds_ids_and_grades_alone() -> None:
    assert says("trec") == [
        "2 query texts left out: trec holds query ids only",
        "1 query without qrels left out: 'Q3'",
        "category of 2 queries left out",
        "language of 1 query left out",
        "1 description left out",
        "1 note left out",
        "2 origins left out",
        "4 grades of annotators left out",
        "1 document with title and text left out",
        "the file's own keys left out: version (1)",
        "metadata of queries left out: needs_a2a (1), weight (1)",
        "metadata of qrels left out: law_type (1)",
    ]


def test_ranked_keeps_order_in_place_of_grades_and_cannot_do_without_texts() -> None:
    assert says("ranked")[:5] == [
        "2 query ids left out; a query is known by its text and place",
        "2 grades left out: only the order of documents is kept",
        "1 qrel of grade 0 left out: ranked lists relevant documents only",
        "1 query without a relevant document left out, since the evaluator divides by the number of relevant documents: 'Q3'",
        "1 description left out",
    ]
    nameless = GroundTruth((Query("Q1", ""),), (Qrel("Q1", "a", 1),))
    assert says("ranked", nameless)[0] == (
        "wrong: 1 query without a text, which is all that ranked knows them by (--queries FILE supplies texts): 'Q1'"
    )


def test_ids_that_ranked_gives_back_by_place_are_no_loss_although_queries_before_them_are_left_out() -> None:
    truth = GroundTruth(
        (Query("none", "x"), Query("q1", "y"), Query("q2", "z")),
        (Qrel("none", "a", 0), Qrel("q1", "a", 1), Qrel("q2", "b", 2)),
    )
    assert [what for what in says("ranked", truth) if "query id" in what] == []


def test_grade_0_listed_where_it_counts_as_relevant_is_said() -> None:
    assert "1 qrel of grade 0 listed as asked for" in " ".join(says("law-compact", list_grade_0=True))
    assert not [what for what in says("jsonl", list_grade_0=False) if "grade 0" in what]


def test_an_id_that_the_target_cannot_carry_would_be_wrong() -> None:
    ids = [f"d {number}" for number in range(7)]
    truth = GroundTruth((Query("検 索", "x"),), tuple(Qrel("検 索", doc_id, 1) for doc_id in ids))
    losses = find_losses(truth, find_format("trec"))
    assert [loss.what for loss in list_wrong(losses)] == [
        "1 query id that trec cannot carry: '検 索'",
        "7 document ids that trec cannot carry: 'd 0', 'd 1', 'd 2', 'd 3', 'd 4' and 2 more",
    ]


def test_grades_above_3_would_be_wrong_where_the_scale_is_fixed() -> None:
    truth = GroundTruth((Query("q1", "x"),), (Qrel("q1", "a", 10), Qrel("q1", "b", 9)))
    for name in ("nablarch", "law", "law-compact", "assay", "assay-queries"):
        (loss,) = list_wrong(find_losses(truth, find_format(name)))
        assert loss.what == f"2 grades outside of 0 to 3 (up to 10), which {name} cannot hold"
    for name in ("ranked", "trec", "beir", "csv", "jsonl"):
        assert not list_wrong(find_losses(truth, find_format(name)))
        is_said = any("2 grades above 3 (up to 10) written as they are" in loss for loss in says(name, truth))
        assert is_said == (name != "ranked"), name


def test_keys_that_the_target_uses_itself_are_lost() -> None:
    truth = GroundTruth(
        (Query("Q", "t", metadata={"total_relevant": 3}),), (Qrel("Q", "d", 1, metadata={"doc_id": "x"}),)
    )
    assert says("law", truth) == ["metadata of queries left out: total_relevant (1)"]
    assert says("nablarch", truth) == ["metadata of qrels left out: doc_id (1)"]


def test_what_a_target_holds_in_full_is_no_loss() -> None:
    truth = GroundTruth((Query("Q", "t", language="ja"),), (Qrel("Q", "d", 1, note="n"),), {"version": "1"})
    assert find_losses(truth, find_format("law")) == ()


def test_the_iteration_of_trec_is_no_loss_there() -> None:
    truth = GroundTruth((Query("Q", ""),), (Qrel("Q", "d", 1, metadata={"iteration": "Q0", "x": "1"}),))
    assert says("trec", truth) == ["metadata of qrels left out: x (1)"]


def test_values_that_a_table_turns_into_texts_are_named() -> None:
    truth = GroundTruth((Query("Q", "t", metadata={"team": "x", "weight": 2}),), (Qrel("Q", "d", 1),))
    assert says("csv", truth) == ["metadata of queries turned into texts: weight (1)"]


def test_names_that_the_two_places_of_law_do_not_hold_are_lost() -> None:
    grades = (("annotator_2", 3), ("annotator_5", 1))
    qrels = (
        Qrel("Q", "a", 2, annotator_grades=grades),
        Qrel("Q", "b", 2, annotator_grades=RICH.qrels[2].annotator_grades),
    )
    assert says("law", GroundTruth((Query("Q", "t"),), qrels)) == [
        "names of annotators left out, of 1 qrel: law has the first two grades of each as annotator_1 and annotator_2, whoever gave them"
    ]
    assert says("csv", GroundTruth((Query("Q", "t"),), qrels)) == []
    second = Qrel("Q", "a", 2, annotator_grades=(("annotator_2", 3),))
    assert says("law", GroundTruth((Query("Q", "t"),), (second,))) == []
    assert len(says("law", GroundTruth((Query("Q", "t"),), (second._replace(origin="single"),)))) == 2
