"""The audit log: what leads did, who may read it, the history of a pair; and that nobody changes it. On both databases."""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col
from typer.testing import CliRunner

from annotator.adjudication.history.history import AuditLogFilter, HistoryEntry, write_csv, write_json_lines
from annotator.adjudication.history.history_service import (
    iterate_audit_log,
    list_audit_log_people,
    read_audit_log,
    read_pair_history,
)
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.cli.main import app
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import publish_version, read_version
from annotator.labeling.questions_service import answer_question
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.tables.adjudication import DiscussionTurnRow, ObjectionRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import DisclosureRow, QuestionRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


@dataclass
class AuditedPair:
    """A pair that 花子 and 민준 judged 0 and 3, and its lead, who has looked at nothing yet."""

    world: JudgedWorld
    pair: str
    hanako: Actor
    minjun: Actor
    lead: Actor

    def note(self, *events: tuple[Action, int], at: int = 0, pair: bool = True) -> None:
        """Append records by the lead, each so many minutes after LATER, with a number for what was and is so."""
        with self.world.database.write() as session:
            pair_pk = self.pair_pk if pair else None
            add_events(
                session,
                [
                    AuditEvent(
                        action,
                        self.world.dataset_pk,
                        self.lead.person_id,
                        LATER + timedelta(minutes=at + index),
                        pair_pk,
                        {"number": number - 1},
                        {"number": number},
                    )
                    for index, (action, number) in enumerate(events)
                ],
            )

    @property
    def pair_pk(self) -> int:
        with self.world.database.read() as session:
            return key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == self.pair)))

    def list_sentences(self) -> list[tuple[str, str, str]]:
        """Who, what, and how it is said."""
        pair_history = read_pair_history(self.world.database, self.lead, "d", self.pair, now=LATER)
        assert [entry.at for entry in pair_history] == sorted(entry.at for entry in pair_history)
        return [(str(entry.who), entry.action, str(entry.said)) for entry in pair_history]


@pytest.fixture
def audited(database: Database) -> AuditedPair:
    world = JudgedWorld(database)
    world.query("Q1", "検索 🔎")
    pair = world.pair("Q1", "법률_제17조", rank=1)
    hanako, minjun, lead = world.person("花子"), world.person("민준"), world.person("lead", "lead")
    world.judge(hanako, "Q1", "법률_제17조", 0)
    world.judge(minjun, "Q1", "법률_제17조", 3, note="第17条に書いてある")
    return AuditedPair(world, pair, hanako, minjun, lead)


def list_actions(events: Iterable[object]) -> list[str]:
    return [getattr(event, "action") for event in events]  # noqa: B009


def decide(audited: AuditedPair, grade: int, *, at: int = 0) -> None:
    seen = show_disagreement(audited.world.database, audited.lead, "d", audited.pair, now=NOW).seen
    moment = LATER + timedelta(minutes=at)
    adjudicate(
        audited.world.database,
        audited.lead,
        "d",
        audited.pair,
        grade=grade,
        rationale="第17条",
        seen=seen,
        now=moment,
    )


def test_a_record_says_who_when_what_before_and_after(audited: AuditedPair) -> None:
    audited.note(("put off", 7))
    (event,) = read_audit_log(audited.world.database, OPERATOR, "d", now=NOW).events
    assert (event.at, event.username, event.name, event.action) == (LATER, "lead", "lead Realname", "put off")
    assert (event.pair, event.query_id, event.doc_id) == (audited.pair, "Q1", "법률_제17조")
    assert (event.before, event.after) == ({"number": 6}, {"number": 7})


def test_records_come_the_latest_first_in_parts_and_are_counted(audited: AuditedPair) -> None:
    audited.note(("put off", 1), ("assigned", 2), ("asked to discuss", 3))
    page = read_audit_log(audited.world.database, OPERATOR, "d", limit=2, now=NOW)
    assert (page.total, list_actions(page.events)) == (3, ["asked to discuss", "assigned"])
    assert list_actions(read_audit_log(audited.world.database, OPERATOR, "d", offset=2, now=NOW).events) == [
        "put off"
    ]


def test_records_are_filtered_by_pair_action_person_and_time(audited: AuditedPair) -> None:
    audited.world.pair("Q1", "other")
    audited.note(("put off", 1), ("assigned", 2))
    audited.note(("exported queue", 3), at=5, pair=False)
    with audited.world.database.write() as session:
        add_events(
            session, [AuditEvent("exported queue", audited.world.dataset_pk, None, LATER - timedelta(days=1))]
        )

    def find(**wanted: object) -> list[str]:
        return list_actions(
            read_audit_log(audited.world.database, OPERATOR, "d", AuditLogFilter(**wanted), now=NOW).events
        )  # type: ignore[arg-type]

    assert find(pair=audited.pair) == ["assigned", "put off"]
    assert find(pair="0" * 24) == []
    assert find(action="assigned") == ["assigned"]
    assert find(person="operator") == ["exported queue"]
    assert len(find(person="lead")) == 3
    assert find(since=LATER + timedelta(minutes=1)) == ["exported queue", "assigned"]
    assert find(until=LATER) == ["put off", "exported queue"]
    with pytest.raises(ValidationError, match=r"Unknown action 'deleted': choose one of decided"):
        find(action="deleted")


def test_only_leads_of_the_dataset_read_the_audit_log(audited: AuditedPair) -> None:
    database = audited.world.database
    JudgedWorld(database, name="other")
    for read in (
        lambda: read_audit_log(database, audited.hanako, "d", now=NOW),
        lambda: iterate_audit_log(database, audited.hanako, "d", now=NOW),
        lambda: list_audit_log_people(database, audited.hanako, "d"),
        lambda: read_pair_history(database, audited.hanako, "d", audited.pair, now=NOW),
        lambda: read_audit_log(database, audited.lead, "other", now=NOW),
    ):
        with pytest.raises(NotAllowed):
            read()
    with pytest.raises(NotFound):
        read_pair_history(database, audited.lead, "d", "0" * 24, now=NOW)


def test_what_was_said_of_a_pair_that_the_reader_may_still_judge_is_hidden(audited: AuditedPair) -> None:
    audited.world.pair("Q1", "open")
    with audited.world.database.write() as session:
        open_pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) != audited.pair))
        event = AuditEvent(
            "proposed", audited.world.dataset_pk, audited.lead.person_id, NOW, open_pk, None, {"grade": 3}
        )
        add_events(session, [event])
    (event_read,) = read_audit_log(audited.world.database, audited.lead, "d", now=NOW).events
    assert (event_read.action, event_read.after, event_read.hidden) == ("proposed", None, True)
    (written,) = iterate_audit_log(audited.world.database, audited.lead, "d", now=NOW)
    assert written.after is None
    assert read_audit_log(audited.world.database, OPERATOR, "d", now=NOW).events[0].after == {"grade": 3}


def test_everybody_who_did_something_is_listed(audited: AuditedPair) -> None:
    assert list_audit_log_people(audited.world.database, OPERATOR, "d") == []
    audited.note(("put off", 1))
    assert list_audit_log_people(audited.world.database, OPERATOR, "d") == [("lead", "lead Realname")]


def test_no_record_is_ever_changed_or_deleted(audited: AuditedPair) -> None:
    audited.note(("put off", 1))
    before = read_audit_log(audited.world.database, OPERATOR, "d", now=NOW)
    statements = ["UPDATE audit_event SET action = 'decided'", "DELETE FROM audit_event"]
    if audited.world.database.is_sqlite:
        statements.append("INSERT OR REPLACE INTO audit_event SELECT * FROM audit_event")
    else:
        statements.append("TRUNCATE audit_event")
    for statement in statements:
        with pytest.raises(IntegrityError, match="append-only"), audited.world.database.write() as session:
            session.connection().execute(text(statement))
    assert read_audit_log(audited.world.database, OPERATOR, "d", now=NOW) == before


def test_the_files_hold_every_record_in_order(audited: AuditedPair) -> None:
    audited.note(("put off", 1), ("assigned", 2))
    audited.note(("exported queue", 3), at=5, pair=False)
    events = list(iterate_audit_log(audited.world.database, OPERATOR, "d", now=NOW))
    assert list_actions(events) == ["put off", "assigned", "exported queue"]
    text = "".join(write_csv(events))
    rows = list(csv.DictReader(text.removeprefix("\ufeff").splitlines()))
    assert [row["action"] for row in rows] == list_actions(events)
    assert (rows[0]["at"], rows[0]["username"], json.loads(rows[0]["after"])) == (
        LATER.isoformat().replace("+00:00", "Z"),
        "lead",
        {"number": 1},
    )
    assert (rows[2]["pair"], rows[2]["doc_id"], rows[0]["doc_id"]) == ("", "", "법률_제17조")
    lines = [json.loads(line) for line in write_json_lines(events)]
    assert [line["after"] for line in lines] == [{"number": 1}, {"number": 2}, {"number": 3}]


def test_the_history_of_a_pair_is_told_from_its_judgments_on_without_names(audited: AuditedPair) -> None:
    world, doc = audited.world, "법률_제17조"
    world.judge(audited.hanako, "Q1", doc, 1)
    world.judge(audited.minjun, "Q1", doc, None, outcome="later")
    world.judge(audited.minjun, "Q1", doc, None)
    entries = audited.list_sentences()
    letters = {
        judgment.letter: judgment
        for judgment in show_disagreement(world.database, audited.lead, "d", audited.pair, now=NOW).judgments
    }
    hanako = next(f"Annotator {letter}" for letter, judgment in letters.items() if judgment.grade == 1)
    minjun = next(f"Annotator {letter}" for letter, judgment in letters.items() if judgment.grade is None)
    assert entries == [
        ("", "pooled", "added to the pool"),
        (hanako, "judged", "judged 0"),
        (minjun, "judged", "judged 3: 第17条に書いてある"),
        (hanako, "judged", "changed the judgment from 0 to 1"),
        (minjun, "judged", "set the pair to later"),
        (minjun, "judged", "judged cannot rate"),
    ]
    assert not {"花子", "민준"} & set(" ".join(f"{who} {sentence}" for who, _, sentence in entries).split())


def test_decisions_are_told_once_also_those_older_than_the_audit_log(audited: AuditedPair) -> None:
    audited.world.add_decision(audited.lead, "Q1", "법률_제17조", 2)
    decide(audited, 3)
    assert [entry for entry in audited.list_sentences() if entry[0] == "lead Realname"] == [
        ("lead Realname", "decided", "decided 2: 第17条"),
        ("lead Realname", "decided", "changed the decision from 2 to 3: 第17条"),
    ]


def test_how_a_decision_came_about_is_told_of_its_record(audited: AuditedPair) -> None:
    audited.world.add_decision(audited.lead, "Q1", "법률_제17조", 2)
    with audited.world.database.write() as session:
        at = NOW + timedelta(minutes=audited.world.judged)
        after = {"revision": 1, "outcome": "graded", "grade": 2}
        person = audited.lead.person_id
        add_events(
            session,
            [
                AuditEvent(
                    "decided from file", audited.world.dataset_pk, person, at, audited.pair_pk, None, after
                )
            ],
        )
    assert audited.list_sentences()[-1:] == [
        ("lead Realname", "decided from file", "decided 2 from a file: 第17条")
    ]


def test_questions_objections_and_a_discussion_belong_to_the_history(audited: AuditedPair) -> None:
    audited.world.add_decision(audited.lead, "Q1", "법률_제17조", 2)
    with audited.world.database.write() as session:
        pair_pk, hanako_pk = audited.pair_pk, key_of(audited.hanako.person_id)
        question = QuestionRow(pair_pk=pair_pk, annotator_pk=hanako_pk, text="どこまで?", asked_at=LATER)
        session.add(question)
        turn = {
            "pair_pk": pair_pk,
            "annotator_pk": hanako_pk,
            "outcome": "graded",
            "grade": 2,
            "revised": True,
        }
        session.add(
            DiscussionTurnRow.model_validate(
                {**turn, "note": "納得", "said_at": LATER + timedelta(minutes=1)}
            )
        )
        objection = {"pair_pk": pair_pk, "annotator_pk": audited.minjun.person_id, "adjudication_pk": 1}
        session.add(
            ObjectionRow.model_validate(
                {**objection, "text": "아니요", "objected_at": LATER + timedelta(minutes=3)}
            )
        )
        session.flush()
        number = key_of(question.pk)
        derive_disagreements(session, audited.world.dataset_pk, [pair_pk])
    for at, seen, answer in ((2, None, "17条"), (4, "17条", "18条")):
        moment = LATER + timedelta(minutes=at)
        answer_question(
            audited.world.database,
            audited.lead,
            "d",
            number,
            answer,
            seen=seen,
            in_guideline=False,
            now=moment,
        )
    entries = audited.list_sentences()
    hanako, minjun = entries[1][0], entries[2][0]
    assert entries[-5:] == [
        (hanako, "asked", "asked a question: どこまで?"),
        (hanako, "revised", "changed to 2 in the discussion: 納得"),
        ("lead Realname", "answered question", "answered the question: 17条"),
        (minjun, "objected", "objected to the decision: 아니요"),
        ("lead Realname", "answered question", "answered the question: 18条"),
    ]


def test_quality_control_has_a_letter_of_its_own(audited: AuditedPair) -> None:
    expert = audited.world.person("expert")
    audited.world.add_decision(audited.lead, "Q1", "법률_제17조", 2)
    audited.world.check_quality(expert, "Q1", "법률_제17조", 0, settled=2, settled_by="adjudicated")
    who, action, sentence = audited.list_sentences()[-1]
    judged = show_disagreement(audited.world.database, audited.lead, "d", audited.pair, now=NOW).judgments
    assert who == next(f"Annotator {judgment.letter}" for judgment in judged if judgment.quality)
    assert (action, sentence) == ("checked", "judged 0 in quality control (settled grade: 2)")


def test_versions_of_the_guideline_and_releases_belong_to_the_history(audited: AuditedPair) -> None:
    database, world = audited.world.database, audited.world
    rubric = read_version(database, audited.lead, "d").rubric
    for base, change, at in ((1, "semantic", 1), (2, "minor", 2)):
        changed = type(rubric)(rubric.grades, f"第{at}版", rubric.title)
        moment = LATER + timedelta(minutes=at)
        publish_version(
            database,
            audited.lead,
            "d",
            changed,
            base_version=base,
            change=change,
            why="明確にした",
            now=moment,
        )
    with database.write() as session:
        values = {"version": "1.0.0", "note": "", "content_sha256": "0", "sums": "", "manifest": {}}
        moment = LATER + timedelta(minutes=3)
        release = ReleaseRow.model_validate({**values, "dataset_pk": world.dataset_pk, "created_at": moment})
        session.add(release)
        session.flush()
        qrel = {"query_id": "Q1", "doc_id": "법률_제17조", "grade": 3, "origin": "adjudicated"}
        session.add(ReleaseQrelRow.model_validate({**qrel, "release_pk": release.pk, "position": 0}))
    assert audited.list_sentences()[-3:] == [
        (
            "lead Realname",
            "published guideline",
            "published version 2 of the guideline, which changes the meaning of grades: 明確にした",
        ),
        ("lead Realname", "published guideline", "published version 3 of the guideline: 明確にした"),
        ("operator", "released", "published the pair in release 1.0.0 with grade 3"),
    ]
    versions = [event.after for event in read_audit_log(database, OPERATOR, "d", now=NOW).events]
    assert [(version or {})["version"] for version in versions] == [3, 2]


def test_who_has_read_the_history_no_longer_judges_the_pair(audited: AuditedPair) -> None:
    audited.list_sentences()
    with audited.world.database.read() as session:
        noted = session.execute(select(col(DisclosureRow.pair_pk), col(DisclosureRow.person_pk))).all()
    assert [tuple(row) for row in noted] == [(audited.pair_pk, audited.lead.person_id)]


def test_answering_as_before_leaves_no_record(audited: AuditedPair) -> None:
    database = audited.world.database
    with database.write() as session:
        values = {"pair_pk": audited.pair_pk, "annotator_pk": audited.hanako.person_id}
        row = QuestionRow.model_validate({**values, "text": "何?", "asked_at": NOW})
        session.add(row)
        session.flush()
        number = key_of(row.pk)
    for marked in (False, False, True):
        answer_question(
            database,
            audited.lead,
            "d",
            number,
            "これ",
            seen="これ" if marked else None,
            in_guideline=marked,
            now=LATER,
        )
    events = [
        (event.before, event.after) for event in read_audit_log(database, OPERATOR, "d", now=NOW).events
    ]
    answer = {"question": number, "answer": "これ"}
    assert events == [
        ({**answer, "in_guideline": False}, {**answer, "in_guideline": True}),
        ({**answer, "answer": None, "in_guideline": False}, {**answer, "in_guideline": False}),
    ]


def test_a_moment_keeps_its_sentence_translatable(audited: AuditedPair) -> None:
    pair_history: tuple[HistoryEntry, ...] = read_pair_history(
        audited.world.database, audited.lead, "d", audited.pair, now=LATER
    )
    assert pair_history[1].said.template == "judged {answer}"


def run(audited: AuditedPair, *words: str) -> str:
    url = audited.world.database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["trail", "d", *words, "--database", url], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_prints_records_and_stories_and_writes_files(
    audited: AuditedPair, tmp_path: Path
) -> None:
    audited.note(("put off", 1), ("assigned", 2))
    printed = run(audited)
    assert printed.splitlines()[1].split()[2:] == [
        "lead",
        "Q1",
        "법률_제17조",
        "removed",
        "the",
        "assignment",
    ]
    assert [event["action"] for event in json.loads(run(audited, "--json", "--action", "assigned"))] == [
        "assigned"
    ]
    assert json.loads(run(audited, "--json", "--until", "2026-03-01")) == []
    story = json.loads(run(audited, "--json", "--pair", "Q1", "법률_제17조"))
    assert [event["action"] for event in story] == ["pooled", "judged", "judged", "put off", "assigned"]
    assert "judged 3: 第17条に書いてある" in run(audited, "--pair", "Q1", "법률_제17조")
    run(audited, "--csv", str(tmp_path / "trail.csv"))
    assert len((tmp_path / "trail.csv").read_text(encoding="utf-8").splitlines()) == 3
    with pytest.raises(NotFound, match="There is no pair of query 'Q9'"):
        run(audited, "--pair", "Q9", "x")
