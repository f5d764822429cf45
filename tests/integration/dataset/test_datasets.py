"""Datasets: their creation, settings and rubric, on both databases."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.dataset.service import (
    change_settings,
    create_dataset,
    list_datasets,
    read_current_rubric,
    show_dataset,
)
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.central import PairRow, QueryRow
from tests.integration.labeling_world import World

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_new_dataset_has_version_1_of_a_rubric(database: Database) -> None:
    create_dataset(database, OPERATOR, "법령-検索", now=NOW, title="검색 🔎")
    version, rubric = read_current_rubric(database, OPERATOR, "법령-検索")
    assert version == 1
    assert [definition.grade for definition in rubric.grades] == [0, 1, 2, 3]
    dataset, counts = show_dataset(database, OPERATOR, "법령-検索")
    assert (dataset.title, dataset.created_at, counts.pairs) == ("검색 🔎", NOW, 0)


def test_a_name_is_given_once_whatever_its_case(database: Database) -> None:
    create_dataset(database, OPERATOR, "Law", now=NOW)
    with pytest.raises(ConflictError):
        create_dataset(database, OPERATOR, "law", now=NOW)
    assert [dataset.name for dataset in list_datasets(database, OPERATOR)] == ["Law"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "-x", "x" * 101, "a\n", "end."])
def test_a_name_that_could_not_be_a_folder_is_refused(database: Database, name: str) -> None:
    with pytest.raises(ValidationError):
        create_dataset(database, OPERATOR, name, now=NOW)


def test_of_several_settings_with_one_wrong_none_changes(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with pytest.raises(ValidationError, match="kappa_target: expected a number between -1 and 1, found '7'"):
        change_settings(database, OPERATOR, "d", {"overlap": "3", "kappa_target": "7"}, now=NOW)
    assert show_dataset(database, OPERATOR, "d")[0].overlap == 2
    assert change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=NOW).overlap == 3


def test_somebody_without_a_role_may_neither_see_nor_change_nor_make(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    stranger = Actor(person_id=999, username="stranger")
    assert list_datasets(database, stranger) == []
    with pytest.raises(NotAllowed):
        show_dataset(database, stranger, "d")
    with pytest.raises(NotAllowed):
        change_settings(database, stranger, "d", {"overlap": "1"}, now=NOW)
    with pytest.raises(NotAllowed):
        create_dataset(database, stranger, "e", now=NOW)


def test_an_unknown_dataset_is_refused_without_the_names_of_others(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with pytest.raises(NotFound) as refused:
        show_dataset(database, OPERATOR, "x")
    assert str(refused.value) == "there is no dataset named 'x', or you have no role on it"


def _list_wanted(database: Database) -> list[int]:
    with database.read() as session:
        pairs = select(col(PairRow.wanted)).order_by(col(PairRow.pk))
        return list(session.scalars(pairs))


def test_the_rules_of_overlap_are_kept_and_shown_and_taken_back(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW, settings={"overlap": "1", "overlap_share": "0.3:2"})
    given = {"overlap_by_category": "howto=2,判例=3", "overlap_cap": "3", "third_judgment_from": "2"}
    dataset = change_settings(database, OPERATOR, "d", given, now=NOW)
    assert dataset.overlap_rules == {
        "category": {"howto": 2, "判例": 3}, "share": {"share": 0.3, "overlap": 2}, "cap": 3, "conditional": 2,
    }  # fmt: skip
    assert show_dataset(database, OPERATOR, "d")[0] == dataset
    none = dict.fromkeys((*given, "overlap_share"), "none")
    assert change_settings(database, OPERATOR, "d", none, now=NOW).overlap_rules is None


def test_rules_that_contradict_each_other_are_refused_together(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with pytest.raises(ValidationError, match=r"expected at least the overlap \(4\), found 3"):
        change_settings(database, OPERATOR, "d", {"overlap_cap": "3", "overlap": "4"}, now=NOW)
    assert show_dataset(database, OPERATOR, "d")[0].overlap_rules is None


def test_another_overlap_is_what_every_pair_wants_at_once(database: Database) -> None:
    World(database, queries=2, documents=3)
    change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=NOW)
    assert _list_wanted(database) == [3] * 6
    change_settings(database, OPERATOR, "d", {"overlap": "1", "overlap_share": "0.5:2"}, now=NOW)
    assert sorted(set(_list_wanted(database))) == [1, 2]
    change_settings(database, OPERATOR, "d", {"overlap_cap": "1", "overlap_share": "0.5:2"}, now=NOW)
    assert _list_wanted(database) == [1] * 6


def test_a_category_that_no_query_has_is_refused_with_those_there_are(database: Database) -> None:
    World(database, queries=2, documents=2)
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        session.execute(
            update(QueryRow).where(col(QueryRow.dataset_pk) == dataset_pk).values(category="howto")
        )
    with pytest.raises(ValidationError, match="no query has the category 'hwoto'; there are: howto"):
        change_settings(database, OPERATOR, "d", {"overlap_by_category": "hwoto=1"}, now=NOW)
    change_settings(database, OPERATOR, "d", {"overlap_by_category": "howto=1"}, now=NOW)
    assert _list_wanted(database) == [1] * 4


def test_the_seed_stays_once_it_has_drawn_a_share_of_judged_pairs(database: Database) -> None:
    world = World(database)
    change_settings(database, OPERATOR, "d", {"overlap_share": "0.5:1", "seed": "8"}, now=NOW)
    kim = world.person("kim")
    pair = world.send(kim, want=1).pairs[0].pair
    world.send(kim, world.event(pair))
    with pytest.raises(StateError, match="seed: it decides which pairs belong to overlap_share"):
        change_settings(database, OPERATOR, "d", {"seed": "9"}, now=NOW)
    assert change_settings(database, OPERATOR, "d", {"seed": "9", "overlap_share": "none"}, now=NOW).seed == 9


def test_how_disputes_are_decided_is_set_as_typed_and_every_change_of_it_is_in_the_trail(
    database: Database,
) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    dataset, _ = show_dataset(database, OPERATOR, "d")
    assert (dataset.second_adjudicator, dataset.discuss_from) == (False, None)
    for typed in ("off", "none", "2", "2"):
        dataset = change_settings(
            database, OPERATOR, "d", {"discuss_from": typed, "second_adjudicator": "on"}, now=NOW
        )
    assert (dataset.second_adjudicator, dataset.discuss_from) == (True, 2)
    for wrong in ("0", "4", "two"):
        with pytest.raises(ValidationError, match="discuss_from: expected a distance 1-3, or off"):
            change_settings(database, OPERATOR, "d", {"discuss_from": wrong}, now=NOW)
    change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=NOW)
    with database.read() as session:
        events = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk))).all()
    assert [(event.action, event.before, event.after) for event in events] == [
        ("changed settings", {"second_adjudicator": False}, {"second_adjudicator": True}),
        ("changed settings", {"discuss_from": None}, {"discuss_from": 2}),
        ("changed settings", {"overlap": 2}, {"overlap": 3}),
    ]
