"""Ids that somebody computes tell no grade, block no import, and no draw can be computed either."""

import json
import re
import unicodedata
import uuid
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import text
from sqlmodel import col, select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotator.dataset.export_service import export_dataset
from annotator.dataset.restore_service import restore_dataset
from annotator.dataset.service import create_dataset
from annotator.domain.errors import BadInput
from annotator.domain.people import OPERATOR, Actor, SignedIn
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling.checks import CheckRates
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import DatasetRow, JudgmentRow, PersonRow
from annotator.web.labeling import api
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.integration.checked_world import CheckedWorld
from tests.integration.labeling_world import NOW, World

PAIRS = [(f"Q{query}", f"문서/{query}-{index}") for query in range(17) for index in range(5)]
NOWHERE = "0" * 24
_STORE_AS = "UPDATE judgment SET line_id = :name, event_id = :event, annotator_pk = :person, grade = :grade WHERE pk = :pk"
OLD_NAMESPACE = uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11")


class Attacked(World):
    """85 grades that hanako gave elsewhere are imported, and minjun attacks over HTTP."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database, queries=17, documents=5)
        with database.write() as session:
            dataset = find_dataset(session, "d")
            dataset.check_secret = dataset.order_secret = "of this test"
        self.hanako, self.minjun = self.person("hanako"), self.person("minjun")
        self.grades = {pair: number % 4 for number, pair in enumerate(PAIRS)}
        self.path = folder / "grades.csv"
        lines = [f"{query},{doc},hanako,{grade}" for (query, doc), grade in self.grades.items()]
        self.path.write_text("\n".join(("query_id,doc_id,annotator,grade", *lines)), "utf-8")
        self.routes = api.routes(database)

    def load(self, dataset: str = "d") -> tuple[int, int]:
        """Import the grades; returns how many are new, and how many were stored before."""
        done = import_judgments(self.database, OPERATOR, dataset, self.path, now=self.now)
        return done.added + done.changed, done.unchanged

    def post(self, actor: Actor, *events: dict[str, Any]) -> dict[str, Any]:
        """What the server answers to these events."""

        async def answer(scope: Any, receive: Any, send: Any) -> None:
            scope.setdefault("state", {})["signed_in"] = SignedIn(actor, "", (), False, NOW)
            await Starlette(routes=self.routes, exception_handlers=EXCEPTION_HANDLERS)(scope, receive, send)  # type: ignore[arg-type]

        client = TestClient(answer, headers={"Origin": "http://testserver"})
        body = {"dataset": "d", "events": events, "have": [], "want": 0}
        response = client.post("/api/judgments", json=body)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def hand_out(self, actor: Actor) -> str:
        return self.send(actor, want=1).pairs[0].pair

    def store_as(self, old: str | None, *, person: str = "hanako", grade: int | None = None) -> None:
        """As if the first line's judgment had been stored under another name, by another person or with another grade."""
        with self.database.write() as session:
            connection = session.connection()
            if self.database.is_sqlite:
                connection.execute(text("DROP TRIGGER IF EXISTS judgment_no_update"))
            else:
                connection.execute(text("ALTER TABLE judgment DISABLE TRIGGER USER"))
            person_pk = session.scalar(select(col(PersonRow.pk)).where(col(PersonRow.username) == person))
            first = session.scalars(select(JudgmentRow).order_by(col(JudgmentRow.pk))).first()
            assert first is not None
            values = {
                "pk": first.pk,
                "name": old or first.line_id,
                "event": old or first.event_id,
                "person": person_pk,
                "grade": first.grade if grade is None else grade,
            }
            connection.execute(text("DELETE FROM current_judgment WHERE judgment_pk = :pk"), {"pk": first.pk})
            connection.execute(text(_STORE_AS), values)


@pytest.fixture
def world(database: Database, tmp_path: Path) -> Attacked:
    return Attacked(database, tmp_path)


def name_as_before(
    pair: tuple[str, str], grade: int, *, dataset: str = "d", annotator: str = "hanako"
) -> str:
    """The id that imports gave a judgment until 0.1: anybody can compute it."""
    content = [dataset, *pair, unicodedata.normalize("NFC", annotator), "graded", grade, None, None, None]
    return str(uuid.uuid5(OLD_NAMESPACE, json.dumps(content, ensure_ascii=False)))


def make_random(event_id: str) -> str:
    """The same id, made to look like one that a browser draws."""
    return str(uuid.UUID(bytes=uuid.UUID(event_id).bytes, version=4))


def list_answers(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Codes and words of the refusals, without the ids that were sent."""
    ids = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
    return [(refused["code"], ids.sub("ID", refused["why"])) for refused in answer["refused"]]


@pytest.mark.parametrize("look", [str, make_random], ids=["as before", "made to look random"])
def test_no_imported_grade_can_be_read_by_ids_that_follow_from_it(
    world: Attacked, look: Callable[[str], str]
) -> None:
    assert world.load() == (85, 0)
    learned = 0
    for pair in PAIRS:
        guesses = [look(name_as_before(pair, grade)) for grade in range(4)]
        events = [
            world.event(NOWHERE, 3, id=guess) for guess in guesses
        ]  # stores nothing, whatever the answer
        answers = list_answers(world.post(world.minjun, *events))
        assert len(answers) == 4
        learned += len(set(answers)) > 1
    assert learned == 0
    with world.database.read() as session:
        stored = set(session.scalars(select(col(JudgmentRow.event_id))))
    assert {uuid.UUID(event_id).version for event_id in stored} == {8}
    probe = [world.event(NOWHERE, 3, id=event_id) for event_id in sorted(stored)]
    assert {code for code, _why in list_answers(world.post(world.minjun, *probe))} == {"bad_event"}


def test_somebody_elses_id_is_refused_in_one_way_whatever_it_stands_for(world: Attacked) -> None:
    first, second = (pair.pair for pair in world.send(world.hanako, want=2).pairs)
    theirs = world.event(first, 2)
    assert world.post(world.hanako, theirs)["acknowledged"] == [theirs["id"]]
    key = world.hand_out(world.minjun)
    probes = [
        world.event(pair, grade, id=theirs["id"], outcome="graded" if grade is not None else "unrateable")
        for pair in (first, second, key, NOWHERE)
        for grade in (0, 1, 2, 3, None)
    ]
    answers = [list_answers(world.post(world.minjun, probe)) for probe in probes]
    assert answers == [[("known_id", "this event id belongs to another judgment")]] * len(probes)


def test_ids_that_were_computed_in_advance_keep_no_line_from_being_imported(world: Attacked) -> None:
    key = world.hand_out(world.minjun)
    events = [world.event(key, 0, id=name_as_before(pair, grade)) for pair, grade in world.grades.items()]
    assert world.post(world.minjun, *events)["acknowledged"] == []
    assert world.load() == (85, 0)
    assert world.load() == (0, 85)


def test_what_was_stored_on_purpose_under_an_old_name_keeps_no_line_from_being_imported(
    world: Attacked,
) -> None:
    world.load()
    old = name_as_before(PAIRS[0], world.grades[PAIRS[0]])
    world.store_as(old)
    assert world.load() == (0, 85), "a line that was imported before the upgrade is known"
    world.store_as(old, person="minjun")
    assert world.load() == (1, 84)


def test_another_judgment_under_the_name_of_a_line_stops_the_import_at_that_line(world: Attacked) -> None:
    world.load()
    world.store_as(None, grade=3)
    with pytest.raises(BadInput, match=r"grades\.csv:2: expected this line's judgment under its name"):
        world.load()


@pytest.mark.parametrize("name", ["d", "copy"])
def test_a_file_is_known_again_in_a_restored_dataset(
    world: Attacked, empty_database: Database, tmp_path: Path, name: str
) -> None:
    world.load()
    before = list_judgments(world.database, OPERATOR, "d")
    (tmp_path / "d.zip").write_bytes(b"".join(export_dataset(world.database, OPERATOR, "d", now=NOW)))
    upgrade_schema(empty_database)
    restore_dataset(empty_database, OPERATOR, tmp_path / "d.zip", name=name, now=NOW)
    done = import_judgments(empty_database, OPERATOR, name, world.path, now=NOW)
    assert (done.added, done.changed, done.unchanged) == (0, 0, 85)
    after = list_judgments(empty_database, OPERATOR, name)
    assert [(j.annotator, j.grade, j.guideline_version, j.judged_at) for j in after] == [
        (j.annotator, j.grade, j.guideline_version, j.judged_at) for j in before
    ]


def test_the_secret_of_checks_is_in_no_export_and_a_restored_dataset_has_another(
    world: Attacked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"".join(export_dataset(world.database, OPERATOR, "d", now=NOW))
    (row,) = map(json.loads, ZipFile(BytesIO(data)).read("dataset.jsonl").splitlines())
    assert "check_secret" not in row
    (tmp_path / "d.zip").write_bytes(data)
    monkeypatch.setattr("annotator.dataset.restore_service.make_secret", lambda: "another")
    restore_dataset(world.database, OPERATOR, tmp_path / "d.zip", name="copy", now=NOW)
    with world.database.read() as session:
        copy = find_dataset(session, "copy")
        assert (copy.check_secret, copy.order_secret) == ("another", "of this test")
    assert "secret" not in repr(copy)


def test_a_new_dataset_has_secrets_of_its_own(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["1", "2", "3", "4"])
    monkeypatch.setattr("annotator.dataset.service.make_secret", lambda: next(drawn))
    for name in ("a", "b"):
        assert "secret" not in str(create_dataset(database, OPERATOR, name, now=NOW))
    with database.read() as session:
        rows = session.scalars(select(DatasetRow)).all()
        assert {secret for row in rows for secret in (row.check_secret, row.order_secret)} == set("1234")


def test_where_checks_come_cannot_be_computed_from_the_seed(database: Database) -> None:
    """Without a secret, somebody who knows the seed computes where the gold pairs are."""
    rates, seed = CheckRates(0.25, 0, 30), 7
    world = CheckedWorld(database, queries=4, documents=20, gold_rate=rates.gold)
    gold = [pair for number, pair in enumerate(world.pairs) if number % 2 == 0]
    world.mark("gold", *gold)
    keys = {world.keys[pair] for pair in gold}
    guessed = {}
    for number, secret in enumerate(("", "of this test", "another")):
        with database.write() as session:
            find_dataset(session, "d").check_secret = secret
            derive_work(session, world.dataset_pk)
        name = f"annotator {number}"
        handed = [pair.pair for pair in world.send(world.person(name), want=8).pairs]
        computed = [rates.choose_due(seed, name, position) == "gold" for position in range(len(handed))]
        guessed[secret] = computed == [pair in keys for pair in handed]
        assert keys.intersection(handed)
    assert guessed == {"": True, "of this test": False, "another": False}
