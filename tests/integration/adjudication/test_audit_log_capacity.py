"""The history of a pair stays in its dataset, and its letters are those by which leads know the annotators of the case."""

import pytest

from annotator.adjudication.history import history_sql
from annotator.adjudication.history.history_service import find_pair_key, iterate_audit_log, read_pair_history
from annotator.adjudication.service import show_disagreement
from annotator.domain.errors import NotFound
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from tests.integration.judged_world import NOW, JudgedWorld


def test_a_pair_of_another_dataset_has_no_history_here(database: Database) -> None:
    here, there = JudgedWorld(database), JudgedWorld(database, name="other")
    lead = here.person("lead", "lead")
    there.query("Q9", "一")
    pair = there.pair("Q9", "遠い")
    with pytest.raises(NotFound):
        read_pair_history(database, lead, "d", pair, now=NOW)
    with pytest.raises(NotFound):
        find_pair_key(database, lead, "d", "Q9", "遠い")


def test_who_put_the_pair_off_takes_no_letter_from_those_who_judged_it(database: Database) -> None:
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    world.query("Q1", "一")
    pair = world.pair("Q1", "遠い")
    for number in range(6):
        world.judge(world.person(f"late{number}"), "Q1", "遠い", None, outcome="later")
    world.judge(world.person("花子"), "Q1", "遠い", 0)
    world.judge(world.person("민준"), "Q1", "遠い", 3)
    disagreement = show_disagreement(database, lead, "d", pair, now=NOW)
    letters = {judgment.grade: f"Annotator {judgment.letter}" for judgment in disagreement.judgments}
    story = {entry.said: entry.who for entry in read_pair_history(database, lead, "d", pair, now=NOW)}
    assert (story["judged 0"], story["judged 3"]) == (letters[0], letters[3])


def test_all_records_are_read_however_many_pieces_they_come_in(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_sql, "AT_ONCE", 2)
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    with database.write() as session:
        event = AuditEvent("exported queue", world.dataset_pk, lead.person_id, NOW)
        add_events(session, [event] * 5)
    assert len(list(iterate_audit_log(database, lead, "d", now=NOW))) == 5
