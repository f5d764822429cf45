"""Decisions while something else goes on: a publish, another lead at the same moment, the last lead leaving."""

import json
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.service import adjudicate, list_adjudicators, show_disagreement
from annotator.domain.errors import AnnotatorError, ConflictError, NotAllowed, StateError
from annotator.domain.people import OPERATOR, Actor
from annotator.people import roles_service as roles
from annotator.people.service import change_person, disable_person, remove_role
from annotator.releases import service
from annotator.releases.files_service import verify_release
from annotator.releases.releases_sql import add_release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import AdjudicationRow, AuditEventRow
from annotator.storage.tables.releases import ReleaseQrelRow
from tests.integration.decision_world import DecisionWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld

LATER = EPOCH + timedelta(minutes=1)


def test_a_decision_during_a_publish_is_stored_and_in_no_half_of_that_release(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = ReleaseWorld(database)
    key = pair_key(world.name, "Q2", "법률_제17조")

    def decide(grade: int) -> None:
        seen = show_disagreement(database, world.lead, world.name, key, now=EPOCH).seen
        adjudicate(
            database,
            world.lead,
            world.name,
            key,
            grade=grade,  # type: ignore[arg-type]
            rationale="第17条",
            seen=seen,
            now=LATER,
        )

    decide(2)
    plain = service._write

    def decide_meanwhile(*given: Any) -> Any:
        worker = threading.Thread(target=decide, args=(3,))
        worker.start()
        worker.join()
        return plain(*given)

    monkeypatch.setattr(service, "_write", decide_meanwhile)
    release = publish_release(
        database, world.lead, world.name, "1.0.0", exports_dir=tmp_path, now=LATER, overrides=WAIVED
    )
    with database.read() as session:
        grades = session.execute(
            select(col(ReleaseQrelRow.grade)).where(col(ReleaseQrelRow.doc_id) == "법률_제17조")
        )
        assert list(grades.scalars()) == [2]
    body = json.loads((release.path / "manifest.json").read_bytes())
    assert body["counts"]["by_grade"]["3"] == 1, "Q1/three alone"
    assert verify_release(release.path).whole
    disagreement = show_disagreement(database, world.lead, world.name, key, now=LATER)
    assert [decision.grade for decision in disagreement.decisions] == [2, 3]


@pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)
def test_who_decides_does_not_wait_until_a_release_is_recorded(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million qrels take their time; SQLite has one writer at a time."""
    world, plain, waited = ReleaseWorld(database), add_release, []
    key = pair_key(world.name, "Q2", "법률_제17조")

    def decide() -> None:
        seen = show_disagreement(database, world.lead, world.name, key, now=EPOCH).seen
        adjudicate(database, world.lead, world.name, key, grade=3, rationale="第17条", seen=seen, now=LATER)

    def decide_meanwhile(*given: Any) -> None:
        worker = threading.Thread(target=decide)
        worker.start()
        worker.join(timeout=120)
        waited.append(worker.is_alive())
        plain(*given)

    monkeypatch.setattr(service, "add_release", decide_meanwhile)
    publish_release(
        database, world.lead, world.name, "1.0.0", exports_dir=tmp_path, now=LATER, overrides=WAIVED
    )
    assert waited == [False]


def test_of_leads_who_decide_at_the_same_moment_one_gets_it(database: Database) -> None:
    desk = DecisionWorld(database)
    leads = [desk.lea, desk.lou, *(desk.person(f"l{number}", "lead") for number in range(4))]
    seen = show_disagreement(database, OPERATOR, "d", desk.keys["甲"], now=EPOCH).seen
    results: list[object] = []

    def decide(number: int) -> None:
        try:
            results.append(
                adjudicate(
                    database,
                    leads[number],
                    "d",
                    desk.keys["甲"],
                    grade=number % 4,
                    rationale=str(number),
                    seen=seen,
                    now=EPOCH,
                )
            )
        except ConflictError as error:
            results.append(error)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(len(leads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(result, ConflictError) for result in results) == len(leads) - 1
    with database.read() as session:
        (row,) = session.scalars(select(AdjudicationRow)).all()
        (event,) = session.scalars(select(AuditEventRow)).all()
    assert event.after is not None
    assert event.after["grade"] == row.grade == int(row.rationale) % 4


def test_the_last_lead_cannot_leave_disagreements_behind(database: Database) -> None:
    desk = DecisionWorld(database)
    disable_person(database, OPERATOR, "lou", now=EPOCH)
    for leave in (
        lambda: disable_person(database, OPERATOR, "lea", now=EPOCH),
        lambda: remove_role(database, OPERATOR, "lea", dataset="d", now=EPOCH),
        lambda: change_person(database, OPERATOR, "lea", role="annotator", dataset="d", now=EPOCH),
    ):
        with pytest.raises(
            StateError,
            match="nobody could decide the disagreements of d; make another person a lead there first",
        ):
            leave()
    assert desk.ask(desk.lea, 1) == ["甲"]
    change_person(database, OPERATOR, "lou", enable=True, now=EPOCH)
    disable_person(database, OPERATOR, "lea", now=EPOCH)
    assert desk.ask(desk.lou, 1, now=EPOCH) == ["甲"]


@pytest.mark.parametrize(
    ("role", "refused"),
    [("lead", StateError), ("admin", NotAllowed)],
    ids=["by the operator", "by each other"],
)
def test_of_the_last_two_who_may_decide_one_stays_when_both_are_disabled_in_the_same_moment(
    database: Database, monkeypatch: pytest.MonkeyPatch, role: str, refused: type[Exception]
) -> None:
    """Each has looked who is left before the other's change is there, unless one waits for the other."""
    desk = DecisionWorld(database)
    for username in ("lea", "lou"):
        change_person(database, OPERATOR, username, role=role, dataset="d", now=EPOCH)
    both_looked, look = threading.Barrier(2), roles._list_names
    looked, refusals = set[int](), list[AnnotatorError]()

    def look_together(session: Any, statement: Any) -> list[str]:
        result = look(session, statement)
        if statement is roles._LEADERLESS:
            if threading.get_ident() in looked:
                with suppress(threading.BrokenBarrierError):
                    both_looked.wait(timeout=0.3)
            looked.add(threading.get_ident())
        return result

    def disable(actor: Actor, username: str) -> None:
        try:
            disable_person(database, actor, username, now=EPOCH)
        except AnnotatorError as error:
            refusals.append(error)

    monkeypatch.setattr(roles, "_list_names", look_together)
    actors = (OPERATOR, OPERATOR) if role == "lead" else (desk.lou, desk.lea)
    threads = [
        threading.Thread(target=disable, args=given) for given in zip(actors, ("lea", "lou"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(error) for error in refusals] == [refused]
    assert len(list_adjudicators(database, OPERATOR, "d", now=EPOCH)) == 1


def test_a_lead_may_leave_where_nothing_is_disputed(database: Database) -> None:
    desk = DecisionWorld(database)
    for key in desk.keys.values():
        seen = show_disagreement(database, OPERATOR, "d", key, now=EPOCH).seen
        adjudicate(database, desk.lea, "d", key, grade=3, rationale="w", seen=seen, now=EPOCH)
    for username in ("lou", "lea"):
        disable_person(database, OPERATOR, username, now=EPOCH)
