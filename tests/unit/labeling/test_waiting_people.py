"""Whom each query can go to, what each person has left, and who is waited for."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.domain.people import DatasetPerson, RoleScope
from annotator.labeling.assignment import (
    AssignmentFacts,
    LeasedPairs,
    OpenQuery,
    list_waiting_people,
    list_waiting_queries,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
EVERYTHING = (RoleScope(),)


def query(
    pk: int, category: str | None = None, language: str | None = None, *, open_pairs: int = 4
) -> OpenQuery:
    return OpenQuery(pk, f"Q{pk}", "検索", category, language, open_pairs, 1)


def member(pk: int, *limits: RoleScope, works: bool = True) -> DatasetPerson:
    return DatasetPerson(pk, f"p{pk}", "", limits or EVERYTHING, can_sign_in=works)


@pytest.mark.parametrize(
    ("limits", "category", "language", "covers"),
    [
        (RoleScope(), None, None, True),
        (RoleScope(("howto",)), "howto", "ja", True),
        (RoleScope(("howto",)), "判例", "ja", False),
        (RoleScope(("howto",)), None, "ja", False),
        (RoleScope(()), "howto", "ja", False),
        (RoleScope(None, ("ja", "ko")), None, "ko", True),
        (RoleScope(None, ("ja",)), "howto", None, False),
        (RoleScope(("howto",), ("ja",)), "howto", "ja", True),
        (RoleScope(("howto",), ("ja",)), "howto", "ko", False),
        (RoleScope(("howto",), ("ja",)), "判例", "ja", False),
    ],
)  # fmt: skip
def test_a_role_covers_what_both_its_categories_and_its_languages_name(
    limits: RoleScope, category: str | None, language: str | None, covers: bool
) -> None:
    assert limits.cover(category, language) is covers


def test_one_role_that_covers_a_query_is_enough_and_two_halves_are_not() -> None:
    person = member(1, RoleScope(("howto",), ("ja",)), RoleScope(("判例",), ("ko",)))
    assert person.knows("判例", "ko")
    assert not person.knows("howto", "ko")
    assert not DatasetPerson(2, "gone", "", (), can_sign_in=True).knows("howto", "ja")


def test_a_query_goes_to_those_who_work_and_know_it_and_once_given_to_those_of_them() -> None:
    people = [member(1), member(2, RoleScope(("howto",))), member(3, works=False), member(4)]
    facts = AssignmentFacts([query(1, "判例"), query(2, "howto")], people, assigned={2: frozenset({2, 3})})
    assert [[person.pk for person in facts.find_eligible(open_query)] for open_query in facts.queries] == [
        [1, 4],
        [2],
    ]


def test_what_is_left_is_what_is_neither_answered_nor_disclosed_and_never_below_0() -> None:
    facts = AssignmentFacts(
        [query(1)], [member(1)], answered={(1, 1): 1, (1, 2): 9}, disclosed={(1, 1): 2, (2, 1): 7}
    )
    assert facts.count_left(facts.queries[0], facts.people[0]) == 1
    assert facts.count_left(query(1, open_pairs=2), facts.people[0]) == 0


def test_people_come_by_what_they_have_left_then_by_name() -> None:
    people = [member(2), member(1), member(3), member(4, RoleScope(("判例",)))]
    facts = AssignmentFacts(
        [query(1, "howto"), query(2, "howto", open_pairs=3), query(3, "判例", open_pairs=0)],
        people,
        assigned={2: frozenset({3})},
        answered={(1, 2): 4},
        held={
            3: LeasedPairs(5, NOW - timedelta(seconds=90.9), NOW + timedelta(minutes=59)),
            1: LeasedPairs(1, NOW + timedelta(minutes=1), NOW + timedelta(minutes=61)),
        },
    )
    left = {"p3": 7, "p1": 4, "p9": 1}
    waiting = list_waiting_people(facts, left, now=NOW)
    assert [(person.username, person.pairs, person.open_queries, person.queries) for person in waiting] == [
        ("p3", 7, 2, 1), ("p1", 4, 1, 0), ("p2", 0, 0, 0), ("p4", 0, 0, 0),
    ]  # fmt: skip
    assert [(person.holds, person.held_seconds) for person in waiting] == [
        (5, 90),
        (1, 0),
        (0, None),
        (0, None),
    ]


@pytest.mark.parametrize(
    ("limits", "categories", "languages"),
    [
        ((RoleScope(),), None, None),
        ((RoleScope(("b", "a")), RoleScope(("a", "c"), ("ja",))), ("b", "a", "c"), None),
        ((RoleScope(("b",)), RoleScope()), None, None),
        ((RoleScope(("b",), ("ja",)), RoleScope(("b",), ("ko", "ja"))), ("b",), ("ja", "ko")),
    ],
)
def test_somebodys_expertise_is_shown_as_all_that_their_roles_cover(
    limits: tuple[RoleScope, ...], categories: tuple[str, ...] | None, languages: tuple[str, ...] | None
) -> None:
    (person,) = list_waiting_people(AssignmentFacts([], [member(1, *limits)]), {}, now=NOW)
    assert (person.categories, person.languages) == (categories, languages)


def test_a_query_without_work_is_not_listed_and_who_has_nothing_left_is_not_waited_for() -> None:
    facts = AssignmentFacts(
        [query(1), query(2, open_pairs=0), query(3)],
        [member(2), member(1)],
        assigned={1: frozenset({1, 2, 99})},
        answered={(1, 1): 4},
    )
    first, last = list_waiting_queries(facts, {1: 2})
    assert (first.query_id, first.given_to, dict(first.waits_for), first.stuck) == (
        "Q1",
        ("p1", "p2"),
        {"p2": 4},
        2,
    )
    assert (last.query_id, last.given_to, dict(last.waits_for), last.stuck) == (
        "Q3",
        (),
        {"p1": 4, "p2": 4},
        0,
    )
