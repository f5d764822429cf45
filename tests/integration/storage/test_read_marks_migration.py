"""What annotators could see before the program kept what they have read counts as read; everything else is news."""

from datetime import timedelta
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from annotator.adjudication.discussion.discussion_service import count_news
from annotator.labeling.questions_service import count_new_answers
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import add_seen, find_pair_pks
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from annotator.storage.tables.labeling import QuestionRow
from tests.integration.judged_world import NOW, JudgedWorld


def migrate(database: Database, step: Any, version: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.write() as session:
        config.attributes["connection"] = session.connection()
        step(config, version)


def test_decisions_that_were_shown_and_answers_are_read_and_the_others_are_news(
    empty_database: Database,
) -> None:
    upgrade_schema(empty_database)
    world = JudgedWorld(empty_database)
    hanako, minjun, lead = world.person("花子"), world.person("민준"), world.person("lead", "lead")
    world.query("Q1", "一")
    keys = []
    for doc_id in ("読んだ", "読んでいない"):
        keys.append(world.pair("Q1", doc_id))
        world.judge(hanako, "Q1", doc_id, 0)
        world.judge(minjun, "Q1", doc_id, 3)
    with empty_database.write() as session:
        pair_pk = find_pair_pks(session, keys)[keys[0]]
        add_seen(
            session, [pair_pk], hanako.person_id or 0, now=NOW
        )  # she discussed it: a decision came later
        asked = {"pair_pk": pair_pk, "annotator_pk": hanako.person_id, "text": "?", "asked_at": NOW}
        session.add(QuestionRow.model_validate({**asked, "answer": "はい", "answered_at": NOW}))
    for doc_id in ("読んだ", "読んでいない"):
        world.add_decision(lead, "Q1", doc_id, 2)
    with empty_database.write() as session:
        for table in ("seen_decision", "seen_answer"):
            session.execute(text(f"DROP TABLE {table}"))
        session.execute(text("UPDATE alembic_version SET version_num = '0022'"))
    migrate(empty_database, command.upgrade, "0023")
    later = NOW + timedelta(days=9)
    assert count_news(empty_database, hanako, "d", now=later).decisions == 1
    assert count_news(empty_database, minjun, "d", now=later).decisions == 2
    assert count_new_answers(empty_database, hanako, "d") == 0
