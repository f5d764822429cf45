"""Datasets: their creation, settings and rubric, on both databases."""

from datetime import UTC, datetime

import pytest

from annotator.datasets.service import (
    change_settings,
    create_dataset,
    list_datasets,
    read_current_rubric,
    show_dataset,
)
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database

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
        change_settings(database, OPERATOR, "d", {"overlap": "3", "kappa_target": "7"})
    assert show_dataset(database, OPERATOR, "d")[0].overlap == 2
    assert change_settings(database, OPERATOR, "d", {"overlap": "3"}).overlap == 3


def test_somebody_without_a_role_may_neither_see_nor_change_nor_make(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    stranger = Actor(person_id=999, username="stranger")
    assert list_datasets(database, stranger) == []
    with pytest.raises(NotAllowed):
        show_dataset(database, stranger, "d")
    with pytest.raises(NotAllowed):
        change_settings(database, stranger, "d", {"overlap": "1"})
    with pytest.raises(NotAllowed):
        create_dataset(database, stranger, "e", now=NOW)


def test_an_unknown_dataset_is_answered_with_the_known_ones(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with pytest.raises(NotFound, match="there are: d"):
        show_dataset(database, OPERATOR, "x")
