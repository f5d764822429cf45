"""The demo dataset: complete, built once however often, and honest about what is simulated."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.accounts.service import add_person, list_people, sign_in
from annotator.datasets.service import create_dataset, read_current_rubric, show_dataset
from annotator.demo import DATASET, build_demo
from annotator.domain.accounts import WrongSignIn
from annotator.domain.errors import ConflictError
from annotator.domain.people import OPERATOR
from annotator.labeling.service import compute_progress, list_judgments
from annotator.storage.database import Database

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


def test_the_demo_has_queries_documents_pairs_and_a_rubric_with_examples(database: Database) -> None:
    built = build_demo(database, now=NOW)
    _, counts = show_dataset(database, OPERATOR, DATASET)
    assert built.made
    assert (counts.queries, counts.documents, counts.documents_without_text) == (12, 65, 0)
    assert built.pairs == counts.pairs == 85
    _, rubric = read_current_rubric(database, OPERATOR, DATASET)
    assert all(grade.positive_examples and grade.negative_examples for grade in rubric.grades)


def test_no_judgment_is_made_up_unless_asked_for(database: Database) -> None:
    build_demo(database, now=NOW)
    assert list_judgments(database, OPERATOR, DATASET) == []


def test_building_it_again_changes_nothing_but_the_passwords(database: Database) -> None:
    first = build_demo(database, now=NOW, with_judgments=True)
    before = (
        show_dataset(database, OPERATOR, DATASET),
        list_judgments(database, OPERATOR, DATASET, history=True),
    )
    people = list_people(database, OPERATOR)
    second = build_demo(database, now=LATER, with_judgments=True)
    after = (
        show_dataset(database, OPERATOR, DATASET),
        list_judgments(database, OPERATOR, DATASET, history=True),
    )
    assert (before, people) == (after, list_people(database, OPERATOR))
    assert (second.made, second.simulated) == (False, 0)
    assert {one.password for one in first.sign_ins}.isdisjoint({one.password for one in second.sign_ins})


def test_a_demo_that_was_left_half_built_is_completed(database: Database) -> None:
    create_dataset(database, OPERATOR, DATASET, now=NOW)
    assert build_demo(database, now=NOW).pairs == 85


def test_the_printed_passwords_sign_in_and_the_former_ones_do_not(database: Database) -> None:
    (old, *_) = build_demo(database, now=NOW).sign_ins
    (new, *_) = build_demo(database, now=LATER).sign_ins
    assert sign_in(database, new.username, new.password, address="127.0.0.1", now=LATER)
    with pytest.raises(WrongSignIn):
        sign_in(database, old.username, old.password, address="127.0.0.1", now=LATER)


def test_there_are_two_annotators_and_a_lead_of_the_demo_alone(database: Database) -> None:
    built = build_demo(database, now=NOW)
    assert sorted(one.role for one in built.sign_ins) == ["annotator", "annotator", "lead"]
    held = [item for person in list_people(database, OPERATOR) for item in person.memberships]
    assert {item.dataset for item in held} == {DATASET}


def test_simulated_judgments_are_marked_so_and_their_people_cannot_sign_in(database: Database) -> None:
    built = build_demo(database, now=NOW, with_judgments=True)
    judgments = list_judgments(database, OPERATOR, DATASET)
    assert len(judgments) == built.simulated == 170
    assert all(judgment.simulated for judgment in judgments)
    by_name = {person.username: person for person in list_people(database, OPERATOR)}
    for name in {judgment.annotator for judgment in judgments}:
        assert by_name[name].simulated
        assert not by_name[name].can_sign_in


def test_with_simulated_judgments_there_is_something_left_to_label(database: Database) -> None:
    assert build_demo(database, now=NOW, with_judgments=True).pairs == 161
    progress = compute_progress(database, OPERATOR, DATASET)
    assert (progress.complete, progress.begun) == (85, 0)


def test_somebody_with_a_role_elsewhere_keeps_their_password(database: Database) -> None:
    add_person(
        database,
        OPERATOR,
        "demo-hana",
        role="admin",
        password="花の password 1",
        must_change_password=False,
        now=NOW,
    )
    with pytest.raises(ConflictError, match="demo-hana has a role elsewhere"):
        build_demo(database, now=NOW)
    assert sign_in(database, "demo-hana", "花の password 1", address="127.0.0.1", now=NOW)
