"""What is counted over the pairs for the gates."""

import numpy as np

from annotator.agreement.records import AgreementVerdict, CoefficientValue
from annotator.dataset.records import Coverage, CoverageRow
from annotator.domain.ground_truth import Query
from annotator.domain.settling import settle
from annotator.quality.records import QualityStatus
from annotator.releases.gates import SHOWN, PairSurvey, ReleaseSurvey, compare_gates
from annotator.releases.gates_service import OlderSources, count_settlements
from annotator.storage.pairs.pair_settlements import PairSettlements
from annotator.storage.pairs.pair_states import PairState

QUERIES = {1: Query("Q1", "検索"), 2: Query("Q2", "검색"), 3: Query("Q3", "بحث"), 4: Query("Q4", "x")}
NOT_DONE = QualityStatus(dataset="x", rule="bound", rates={}, verdicts={}, sentences=())
UNKNOWN = AgreementVerdict("unknown", CoefficientValue(None, None, "why"), 0.7, None, "Not known.")


def state(
    pk: int,
    query: int,
    *grades: int,
    unrateable: int = 0,
    decided: int | None = None,
    imported: int | None = None,
    lacking: int = 0,
    errors: tuple[int, ...] = (),
) -> PairState:
    settlement = settle(grades, unrateable, decided, imported, errors)
    given = dict(enumerate(grades))
    return PairState(
        pk,
        f"k{pk}",
        query,
        f"Q{query}",
        pk,
        f"d{pk}",
        None,
        given,
        unrateable,
        decided,
        settlement,
        imported,
        lacking,
    )


def count(states: list[PairState], **older) -> PairSurvey:
    """What is counted over these pairs, read as columns."""
    settlements = list(dict.fromkeys(item.settlement for item in states))
    none = np.zeros(0, dtype=np.int64)
    settled = PairSettlements(
        np.array([item.pair_pk for item in states]),
        np.array([item.query_pk for item in states]),
        np.array([item.lacking for item in states]),
        np.array([settlements.index(item.settlement) for item in states]),
        settlements,
        none,
        none,
        none,
    )
    doc_ids = {item.pair_pk: item.doc_id for item in states}
    query_ids = {query_pk: query.query_id for query_pk, query in QUERIES.items()}
    return count_settlements(settled, query_ids, lambda _: doc_ids, OlderSources(**older), overlap=2)


def test_a_pair_is_short_as_long_as_it_lacks_judgments() -> None:
    survey = count(
        [
            state(1, 1, 2, 2), state(2, 1, 2, lacking=1), state(3, 1, unrateable=1, lacking=1),
            state(4, 1, 2, unrateable=1), state(5, 1, lacking=2), state(6, 1, 2, decided=3), state(7, 1, imported=1), state(8, 1, 0, 3),
        ]
    )  # fmt: skip
    assert (survey.short.count, survey.short.first) == (3, [("Q1", "d2"), ("Q1", "d3"), ("Q1", "d5")])
    assert (survey.opened.count, survey.opened.first) == (2, [("Q1", "d4"), ("Q1", "d8")])
    assert dict(survey.statuses) == {
        "unanimous": 1, "single": 1, "unrateable": 1, "unjudged": 1, "adjudicated": 1, "imported": 1,
        "disagreement": 2,
    }  # fmt: skip
    assert dict(survey.by_grade) == {2: 2, 3: 1, 1: 1}


def test_a_reopened_pair_is_open_and_no_qrel() -> None:
    survey = count([state(1, 1, 2, 2, errors=(0,)), state(2, 1, 0, 3), state(3, 1, 1, 1)])
    assert survey.opened.first == [("Q1", "d1"), ("Q1", "d2")]
    assert dict(survey.by_grade) == {1: 1}
    whole = ReleaseSurvey(survey, QUERIES, Coverage((), 0, 0), [], [], NOT_DONE, {})
    gates = {gate.name: gate for gate in compare_gates(whole, None, UNKNOWN)}
    assert gates["disagreements"].measured == 2
    assert "1 reopened by quality control" in str(gates["disagreements"].why)


def test_only_the_first_twenty_are_named_and_all_are_counted() -> None:
    survey = count([state(pk, 1, 0, 3) for pk in range(50)])
    assert (survey.opened.count, len(survey.opened.first)) == (50, SHOWN)


def test_a_query_whose_grades_are_all_0_has_no_relevant_document_unless_it_is_declared() -> None:
    survey = count([state(1, 1, 0, 0), state(2, 2, 0, 0), state(3, 2, 1, 1), state(4, 3), state(5, 4, 0, 0)])
    assert survey.list_without_relevant(QUERIES) == ["Q1", "Q4"]
    assert survey.list_without_qrels(QUERIES) == ["Q3"]
    whole = ReleaseSurvey(
        survey, QUERIES,
        Coverage((CoverageRow("size", "30", "4", False), CoverageRow("x", "", "1", None)), 1, 0),
        survey.list_without_qrels(QUERIES), survey.list_without_relevant(QUERIES), NOT_DONE, {},
    )  # fmt: skip
    declared = {"queries_without_relevant": ["Q4"]}
    gates = {gate.name: gate for gate in compare_gates(whole, declared, UNKNOWN)}
    found = {name: (gate.required, gate.measured, gate.examples) for name, gate in gates.items()}
    assert found["relevant"] == (0, 1, (("Q1",),))
    assert found["unjudged_queries"] == (0, 1, (("Q3",),))
    assert found["coverage"] == (1, 0, (("size", "30", "4"),))
    facts = {fact.query.query_id: fact.by_grade for fact in survey.list_facts(QUERIES)}
    assert facts == {"Q1": (1, 0, 0, 0), "Q2": (1, 1, 0, 0), "Q4": (1, 0, 0, 0)}, "no file holds Q3"


def test_what_rests_on_an_older_meaning_of_the_grades_is_stale() -> None:
    states = [
        state(1, 1, 2, 2), state(2, 1, 2, 2), state(3, 1, 0, 3, decided=1), state(4, 1, 0, 3, decided=1),
        state(5, 1, 0, 3), state(6, 1, imported=2),
    ]  # fmt: skip
    old = {"judged_under": {1: 1, 3: 1, 5: 1, 6: 1}, "decided_under": {3: 2, 4: 1}}
    assert count(states, meaning_since=2, **old).stale.first == [("Q1", "d1"), ("Q1", "d4")]
    assert count(states, meaning_since=None, **old).stale.count == 0


def test_what_rests_on_an_older_text_is_stale_too_and_counted_apart() -> None:
    states = [
        state(1, 1, 2, 2), state(2, 1, 2, 2), state(3, 1, 0, 3, decided=1), state(4, 1, 0, 3, decided=1),
        state(5, 1, 0, 3), state(6, 1, imported=2),
    ]  # fmt: skip
    counts = count(states, judged_on_older={1, 3, 5, 6}, decided_on_older={4})
    assert (counts.stale.first, counts.stale_text, counts.stale_both) == ([("Q1", "d1"), ("Q1", "d4")], 2, 0)
    both = count(states, judged_on_older={1}, meaning_since=2, judged_under={1: 1, 2: 1})
    assert (both.stale.count, both.stale_text, both.stale_both) == (2, 1, 1)


def test_a_query_with_an_open_disagreement_is_not_said_to_have_no_relevant_document() -> None:
    survey = count(
        [
            state(1, 1, 0, 0),
            state(2, 1, 0, 2),
            state(3, 2, 0, 0),
            state(4, 3, 0, 0),
            state(5, 3, 0, 2, decided=0),
        ]
    )
    assert survey.list_without_relevant(QUERIES) == ["Q2", "Q3"]
    assert [fact.query.query_id for fact in survey.list_facts(QUERIES) if fact.disputed] == ["Q1"]
    reopened = count([state(1, 1, 0, 0), state(2, 1, 0, 0, errors=(2,))])
    assert reopened.list_without_relevant(QUERIES) == []


def test_examples_are_the_first_by_query_then_by_document() -> None:
    """Whatever the order of their keys: query Q1 comes last here."""
    pairs = [state(pk, 1 if pk < 15 else 2, 0, 3) for pk in range(30)]
    states = [item._replace(doc_id=f"d{99 - item.pair_pk}") for item in pairs]
    survey = count(states)
    first = [
        (f"Q{query}", f"d{number}")
        for query, numbers in ((1, range(85, 100)), (2, range(70, 75)))
        for number in numbers
    ]
    assert survey.opened.first == first
