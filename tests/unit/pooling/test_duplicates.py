"""Which grades are offered to near duplicates, and which of the accepted ones are out of date."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import NotFound, StateError
from annotator.pooling.duplicates.duplicates import (
    DuplicateGroup,
    DuplicatePair,
    LeftOutDuplicate,
    choose_groups,
    group_duplicates,
    report_duplicates,
)

AT = datetime(2026, 3, 4, tzinfo=UTC)


def _left_out(document: int, kept: int, *, query: int = 1, number: int = 1) -> LeftOutDuplicate:
    return LeftOutDuplicate(
        query, f"질의{query}", document, f"文書{document}", kept, f"文書{kept}", number, "near-duplicate:0.9"
    )


def _group(kept: DuplicatePair | None, document: DuplicatePair | None) -> DuplicateGroup:
    pairs = {(1, number): pair for number, pair in ((1, kept), (2, document)) if pair is not None}
    (group,) = group_duplicates([_left_out(2, 1)], pairs)
    return group


SETTLED_AT_2 = DuplicatePair("kept", "unanimous", 2)


@pytest.mark.parametrize(
    ("kept", "document", "state"),
    [
        (SETTLED_AT_2, None, "offered"),
        (SETTLED_AT_2, DuplicatePair("d", "unjudged", None), "offered"),
        (DuplicatePair("kept", "adjudicated", 0), None, "offered"),
        (DuplicatePair("kept", "unjudged", None), None, "waiting"),
        (DuplicatePair("kept", "disagreement", None), None, "waiting"),
        (DuplicatePair("kept", "unrateable", None), None, "waiting"),
        (DuplicatePair("kept", "imported", 2, AT), None, "waiting"),
        (None, None, "waiting"),
        (SETTLED_AT_2, DuplicatePair("d", "imported", 2, AT), "accepted"),
        (SETTLED_AT_2, DuplicatePair("d", "imported", 1, AT), "out of date"),
        (DuplicatePair("kept", "reopened", None), DuplicatePair("d", "imported", 2, AT), "out of date"),
        (SETTLED_AT_2, DuplicatePair("d", "imported", 2), "judged"),
        (SETTLED_AT_2, DuplicatePair("d", "single", 2), "judged"),
        (SETTLED_AT_2, DuplicatePair("d", "unrateable", None), "judged"),
        (SETTLED_AT_2, DuplicatePair("d", "disagreement", None), "judged"),
    ],
)
def test_the_state_of_a_left_out_document_follows_from_its_pair_and_the_offered_grade(
    kept: DuplicatePair | None, document: DuplicatePair | None, state: str
) -> None:
    assert [item.state for item in _group(kept, document).documents] == [state]


def test_a_grade_that_was_taken_over_is_not_passed_on() -> None:
    group = _group(DuplicatePair("kept", "imported", 2, AT), None)
    assert (group.grade, group.is_taken_over) == (None, True)
    with pytest.raises(StateError, match="comes from another document and cannot be passed on"):
        choose_groups("law", [group], ["kept"])


def test_the_latest_round_says_which_document_is_judged_instead() -> None:
    groups = group_duplicates(
        [_left_out(3, 2, number=2), _left_out(3, 1, number=1)], {(1, 2): DuplicatePair("two", "single", 1)}
    )
    assert [(group.doc_id, group.grade, group.documents[0].round) for group in groups] == [("文書2", 1, 2)]


@given(st.permutations([_left_out(d, k, query=q) for q in (1, 2) for d, k in ((2, 1), (3, 1), (5, 4))]))
def test_the_order_of_groups_does_not_depend_on_the_order_of_reading(
    left_out: list[LeftOutDuplicate],
) -> None:
    groups = group_duplicates(left_out, {(1, 1): SETTLED_AT_2, (1, 2): DuplicatePair("d", "single", 1)})
    assert [(group.query_id, group.doc_id) for group in groups] == [
        ("질의1", "文書1"),
        ("질의1", "文書4"),
        ("질의2", "文書1"),
        ("질의2", "文書4"),
    ]
    assert [document.doc_id for document in groups[0].documents] == ["文書2", "文書3"]
    report = report_duplicates("law", groups)
    assert (report.documents, report.waiting, report.offered, report.judged) == (6, 4, 1, 1)
    assert (report.accepted, report.out_of_date) == (0, 0)


@pytest.mark.parametrize(
    ("kept", "document", "message"),
    [
        (DuplicatePair("kept", "unjudged", None), None, "has no settled grade to pass on yet"),
        (SETTLED_AT_2, DuplicatePair("d", "single", 2), "all its near duplicates have been judged"),
        (SETTLED_AT_2, DuplicatePair("d", "imported", 2, AT), "its near duplicates have its grade already"),
    ],
)
def test_a_named_group_without_an_offer_is_refused(
    kept: DuplicatePair, document: DuplicatePair | None, message: str
) -> None:
    group = _group(kept, document)
    with pytest.raises(StateError, match=f"질의1 文書1: {message}|질의1 文書1: it {message}"):
        choose_groups("law", [group], ["kept"])
    with pytest.raises(StateError, match="law has no near duplicate to which a settled grade is offered"):
        choose_groups("law", [group], [])


def test_without_names_all_groups_with_an_offer_are_chosen() -> None:
    pairs = {
        (1, 1): SETTLED_AT_2,
        (2, 1): DuplicatePair("other", "single", 0),
        (3, 1): DuplicatePair("x", "unjudged", None),
    }
    groups = group_duplicates([_left_out(2, 1, query=query) for query in (1, 2, 3)], pairs)
    assert [group.pair for group in choose_groups("law", groups, [])] == ["kept", "other"]
    assert [group.pair for group in choose_groups("law", groups, ["other", "other"])] == ["other"]
    with pytest.raises(NotFound, match="no group of near duplicates has the judged pair nothing"):
        choose_groups("law", groups, ["kept", "nothing"])
