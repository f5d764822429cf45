"""An archived dataset: no write gets through, its releases stay, and it comes back as it was. On both databases."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from annotator.adjudication.bulk.bulk_service import (
    adjudicate_file,
    order_documents,
    settle_by_policy,
    undo_batch,
)
from annotator.adjudication.discussion.discussion_service import (
    ask_to_discuss,
    close_discussion,
    object_to_decision,
    take_discussion_turn,
)
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.service import (
    adjudicate,
    assign_disagreement,
    hand_out_disagreements,
    put_off_disagreement,
)
from annotator.cli.main import app
from annotator.dataset.service import (
    archive_dataset,
    change_settings,
    list_datasets,
    read_current_rubric,
    show_dataset,
    unarchive_dataset,
)
from annotator.domain.errors import ConflictError, DatasetArchived, NotAllowed, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import publish_version
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign, reassign, take_back
from annotator.labeling.calibration_service import import_checks, remove_check, set_check
from annotator.labeling.questions_service import answer_question, ask_question, flag_for_guideline
from annotator.people.service import add_person, list_people, remove_role
from annotator.pooling.proposals.proposals_service import propose
from annotator.quality.service import draw_sample
from annotator.releases.service import publish_release
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from tests.integration.labeling_world import World

NOW = datetime(2026, 3, 5, tzinfo=UTC)
Act = Callable[[Database, Actor, str, Path], object]

WRITES: Mapping[str, Act] = {
    "settings": lambda db, lead, pair, folder: change_settings(db, lead, "d", {"overlap": "3"}, now=NOW),
    "guideline": lambda db, lead, pair, folder: publish_version(
        db, lead, "d", read_current_rubric(db, lead, "d")[1], base_version=1, change="minor", now=NOW
    ),
    "queries": lambda db, lead, pair, folder: import_queries(db, lead, "d", folder / "queries.csv", now=NOW),
    "documents": lambda db, lead, pair, folder: import_documents(
        db, lead, "d", folder / "documents.csv", now=NOW
    ),
    "pairs": lambda db, lead, pair, folder: import_pairs(db, lead, "d", folder / "pairs.csv", now=NOW),
    "judgments": lambda db, lead, pair, folder: import_judgments(
        db, lead, "d", folder / "judgments.csv", now=NOW
    ),
    "assign": lambda db, lead, pair, folder: assign(db, lead, "d", ["kim"], QuerySelection(), now=NOW),
    "take back": lambda db, lead, pair, folder: take_back(db, lead, "d", ["kim"], QuerySelection(), now=NOW),
    "reassign": lambda db, lead, pair, folder: reassign(db, lead, "d", leaver="kim", to="lea", now=NOW),
    "set check": lambda db, lead, pair, folder: set_check(
        db, lead, "d", pair, kind="gold", grade=1, explanation="", now=NOW
    ),
    "checks": lambda db, lead, pair, folder: import_checks(
        db, lead, "d", b"query_id,doc_id,kind,grade,explanation\nQ0,x,gold,1,\n", "c.csv", now=NOW
    ),
    "remove check": lambda db, lead, pair, folder: remove_check(db, lead, "d", pair, now=NOW),
    "question": lambda db, lead, pair, folder: ask_question(
        db, lead, "d", pair=pair, text="why?", event_id="00000000-0000-4000-8000-0000000000aa", now=NOW
    ),
    "answer": lambda db, lead, pair, folder: answer_question(
        db, lead, "d", 1, "so", seen=None, in_guideline=False, now=NOW
    ),
    "flag": lambda db, lead, pair, folder: flag_for_guideline(db, lead, "d", 1, in_guideline=True),
    "hand out": lambda db, lead, pair, folder: hand_out_disagreements(db, lead, "d", now=NOW),
    "decide": lambda db, lead, pair, folder: adjudicate(
        db, lead, "d", pair, grade=2, rationale="so", seen="", now=NOW
    ),
    "put off": lambda db, lead, pair, folder: put_off_disagreement(db, lead, "d", pair, now=NOW),
    "assign disagreement": lambda db, lead, pair, folder: assign_disagreement(
        db, lead, "d", pair, to="lea", now=NOW
    ),
    "discuss": lambda db, lead, pair, folder: ask_to_discuss(db, lead, "d", pair, now=NOW),
    "close discussion": lambda db, lead, pair, folder: close_discussion(db, lead, "d", pair, now=NOW),
    "turn": lambda db, lead, pair, folder: take_discussion_turn(
        db, lead, "d", pair, decided=1, note="so", seen="", now=NOW
    ),
    "object": lambda db, lead, pair, folder: object_to_decision(
        db, lead, "d", pair, text="no", seen=1, now=NOW
    ),
    "decide from file": lambda db, lead, pair, folder: adjudicate_file(
        db, lead, "d", b"query_id,doc_id,grade,rationale\nQ0,x,1,so\n", "a.csv", now=NOW
    ),
    "order": lambda db, lead, pair, folder: order_documents(
        db, lead, "d", b"query_id,doc_id\nQ0,x\n", "o.csv", now=NOW
    ),
    "settle": lambda db, lead, pair, folder: settle_by_policy(
        db, lead, "d", "median", QueueFilter(), rationale="so", seen_digest="", now=NOW
    ),
    "undo": lambda db, lead, pair, folder: undo_batch(db, lead, "d", 1, now=NOW),
    "sample": lambda db, lead, pair, folder: draw_sample(db, lead, "d", annotator="kim", now=NOW),
    "propose": lambda db, lead, pair, folder: propose(
        db,
        lead,
        "d",
        query_id="Q0",
        doc_id="문서/0-0",
        event={
            "id": "00000000-0000-4000-8000-0000000000ab",
            "outcome": "graded",
            "grade": 2,
            "pressed_at": NOW.isoformat(),
        },
        now=NOW,
    ),
    "publish": lambda db, lead, pair, folder: publish_release(
        db, lead, "d", "1.0.0", exports_dir=folder, now=NOW
    ),
}


@pytest.fixture
def world(database: Database) -> World:
    """Two queries with two documents, which kim judges and lea leads."""
    return World(database, queries=2, documents=2)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "queries.csv").write_text("query_id,text\nQ9,new\n")
    (tmp_path / "documents.csv").write_text("doc_id,text\nnew,text\n")
    (tmp_path / "pairs.csv").write_text("query_id,doc_id\nQ0,문서/1-0\n")
    (tmp_path / "judgments.csv").write_text("query_id,doc_id,annotator,grade\nQ0,문서/0-0,eve,1\n")
    return tmp_path


def read_everything(database: Database) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    with database.read() as session:
        from sqlalchemy import inspect

        names = inspect(session.connection()).get_table_names()
        return {
            name: sorted(str(tuple(row)) for row in session.execute(text(f'SELECT * FROM "{name}"')))
            for name in names
        }


def test_nothing_is_written_while_a_dataset_is_archived(world: World, files: Path) -> None:
    database, kim, lea = world.database, world.person("kim"), world.person("lea", "lead")
    pair = world.send(kim, want=1).pairs[0].pair
    archived = archive_dataset(database, lea, "d", now=NOW)
    assert archived.archived_at == NOW
    before = read_everything(database)
    for name, act in WRITES.items():
        with pytest.raises(DatasetArchived, match="A lead can unarchive it on the page Settings"):
            act(database, lea, pair, files)
        assert read_everything(database) == before, name
    with pytest.raises(DatasetArchived):
        world.send(kim, world.event(pair), want=5)
    assert read_everything(database) == before


def test_a_write_that_waited_while_somebody_archived_is_refused(world: World) -> None:
    with world.database.write() as session:
        row = find_dataset(session, "d")
        row.archived_at = NOW
        session.flush()
        with pytest.raises(DatasetArchived):
            lock_dataset(session, key_of(row.pk))


def test_a_dataset_comes_back_as_it_was_and_a_press_that_waited_is_stored(world: World) -> None:
    database, kim = world.database, world.person("kim")
    event = world.event(world.send(kim, want=1).pairs[0].pair)
    before, settings = read_everything(database), show_dataset(database, OPERATOR, "d")
    archive_dataset(database, OPERATOR, "d", now=NOW)
    assert list_datasets(database, OPERATOR) == list_datasets(database, kim) == []
    assert [item.name for item in list_datasets(database, kim, archived_too=True)] == ["d"]
    with pytest.raises(DatasetArchived):
        world.send(kim, event)
    unarchive_dataset(database, OPERATOR, "d", now=NOW)
    logs: dict[str, list[str]] = {"audit_event": [], "audit_entry": []}
    assert {**read_everything(database), **logs} == {**before, **logs}
    assert (show_dataset(database, OPERATOR, "d"), len(list_datasets(database, kim))) == (settings, 1)
    assert world.send(kim, event).acknowledged == (event["id"],)


def test_archiving_twice_is_noted_once_and_only_leads_may(world: World) -> None:
    database, kim, lea = world.database, world.person("kim"), world.person("lea", "lead")
    for act in (archive_dataset, unarchive_dataset):
        with pytest.raises(NotAllowed):
            act(database, kim, "d", now=NOW)
    archive_dataset(database, lea, "d", now=NOW)
    archive_dataset(database, lea, "d", now=NOW)
    unarchive_dataset(database, lea, "d", now=NOW)
    with database.read() as session:
        actions = session.execute(text("SELECT action, person_pk FROM audit_event ORDER BY pk")).all()
    assert actions == [("archived dataset", lea.person_id), ("unarchived dataset", lea.person_id)]


def test_who_may_read_an_archived_dataset_can_still_be_changed(world: World) -> None:
    database = world.database
    archive_dataset(database, OPERATOR, "d", now=NOW)
    add_person(database, OPERATOR, "eve", role="lead", dataset="d", now=NOW)
    assert [person.username for person in list_people(database, OPERATOR, dataset="d")] == ["eve"]
    assert remove_role(database, OPERATOR, "eve", dataset="d", now=NOW).memberships == ()


def test_the_commands_archive_list_and_unarchive(world: World) -> None:
    def run(*words: str) -> str:
        return (
            CliRunner()
            .invoke(app, ["dataset", *words, "--database", world.url], catch_exceptions=False)
            .output
        )

    assert run("archive", "d") == "Archived d. To work in it again: annotator dataset unarchive d\n"
    assert run("list").startswith("No dataset yet") and "d" in run("list", "--archived").split()
    assert run("unarchive", "d") == "d can be judged and changed again.\n"
    assert "d" in run("list").split()


def test_a_lead_is_told_what_another_changed_meanwhile_and_nothing_is_saved(world: World) -> None:
    database, lea = world.database, world.person("lea", "lead")
    change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=NOW)
    changes, seen = {"overlap": "4", "title": "T"}, {"overlap": "2", "title": "d"}
    with pytest.raises(ConflictError, match="Another person changed overlap in the meantime"):
        change_settings(database, lea, "d", changes, now=NOW, seen=seen)
    assert show_dataset(database, lea, "d")[0].title == "d"
    assert change_settings(database, lea, "d", changes, now=NOW, seen={**seen, "overlap": "3"}).overlap == 4


def test_an_evaluator_that_there_is_none_of_is_refused(world: World) -> None:
    with pytest.raises(ValidationError, match="profile: expected one of trec, nablarch, law"):
        change_settings(world.database, OPERATOR, "d", {"profile": "bleu"}, now=NOW)
    assert change_settings(world.database, OPERATOR, "d", {"profile": "law"}, now=NOW).profile == "law"
