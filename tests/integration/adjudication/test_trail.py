"""The trail: what leads did, who may read it, the story of a pair; and that nobody changes it. On both databases."""

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

from annotator.adjudication.history_service import (
    AuditLogFilter,
    HistoryEntry,
    iterate_trail,
    list_trail_people,
    read_timeline,
    read_trail,
    write_csv,
    write_json_lines,
)
from annotator.adjudication.service import adjudicate, show_case
from annotator.cli.main import app
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import publish_version, read_version
from annotator.labeling.questions_service import answer_question
from annotator.storage.adjudication_tables import DiscussionTurnRow, ObjectionRow
from annotator.storage.audit_log import Action, AuditEvent, add_events
from annotator.storage.database import Database
from annotator.storage.disagreements import derive_disputes
from annotator.storage.labeling_tables import DisclosureRow, QuestionRow
from annotator.storage.lookup import key_of
from annotator.storage.tables import PairRow, ReleaseQrelRow, ReleaseRow
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


@dataclass
class Case:
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
                        action, self.world.dataset_pk, self.lead.person_id, LATER + timedelta(minutes=at + place),
                        pair_pk, {"number": number - 1}, {"number": number},
                    )
                    for place, (action, number) in enumerate(events)
                ],
            )  # fmt: skip

    @property
    def pair_pk(self) -> int:
        with self.world.database.read() as session:
            return key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == self.pair)))

    def tell(self) -> list[tuple[str, str, str]]:
        """Who, what, and how it is said."""
        found = read_timeline(self.world.database, self.lead, "d", self.pair, now=LATER)
        assert [one.at for one in found] == sorted(one.at for one in found)
        return [(str(one.who), one.action, str(one.said)) for one in found]


@pytest.fixture
def case(database: Database) -> Case:
    world = JudgedWorld(database)
    world.query("Q1", "検索 🔎")
    pair = world.pair("Q1", "법률_제17조", rank=1)
    hanako, minjun, lead = world.person("花子"), world.person("민준"), world.person("lead", "lead")
    world.judge(hanako, "Q1", "법률_제17조", 0)
    world.judge(minjun, "Q1", "법률_제17조", 3, note="第17条に書いてある")
    return Case(world, pair, hanako, minjun, lead)


def list_actions(events: Iterable[object]) -> list[str]:
    return [getattr(event, "action") for event in events]  # noqa: B009


def decide(case: Case, grade: int, *, at: int = 0) -> None:
    seen = show_case(case.world.database, case.lead, "d", case.pair, now=NOW).seen
    moment = LATER + timedelta(minutes=at)
    adjudicate(
        case.world.database, case.lead, "d", case.pair, grade=grade, rationale="第17条", seen=seen, now=moment
    )


def test_a_record_says_who_when_what_before_and_after(case: Case) -> None:
    case.note(("put off", 7))
    (event,) = read_trail(case.world.database, OPERATOR, "d", now=NOW).events
    assert (event.at, event.username, event.name, event.action) == (LATER, "lead", "lead Realname", "put off")
    assert (event.pair, event.query_id, event.doc_id) == (case.pair, "Q1", "법률_제17조")
    assert (event.before, event.after) == ({"number": 6}, {"number": 7})


def test_records_come_the_latest_first_in_parts_and_are_counted(case: Case) -> None:
    case.note(("put off", 1), ("assigned", 2), ("asked to discuss", 3))
    page = read_trail(case.world.database, OPERATOR, "d", limit=2, now=NOW)
    assert (page.total, list_actions(page.events)) == (3, ["asked to discuss", "assigned"])
    assert list_actions(read_trail(case.world.database, OPERATOR, "d", offset=2, now=NOW).events) == [
        "put off"
    ]


def test_records_are_filtered_by_pair_action_person_and_time(case: Case) -> None:
    case.world.pair("Q1", "other")
    case.note(("put off", 1), ("assigned", 2))
    case.note(("exported queue", 3), at=5, pair=False)
    with case.world.database.write() as session:
        add_events(
            session, [AuditEvent("exported queue", case.world.dataset_pk, None, LATER - timedelta(days=1))]
        )

    def find(**wanted: object) -> list[str]:
        return list_actions(
            read_trail(case.world.database, OPERATOR, "d", AuditLogFilter(**wanted), now=NOW).events
        )  # type: ignore[arg-type]

    assert find(pair=case.pair) == ["assigned", "put off"]
    assert find(pair="0" * 24) == []
    assert find(action="assigned") == ["assigned"]
    assert find(person="operator") == ["exported queue"]
    assert len(find(person="lead")) == 3
    assert find(since=LATER + timedelta(minutes=1)) == ["exported queue", "assigned"]
    assert find(until=LATER) == ["put off", "exported queue"]
    with pytest.raises(ValidationError, match=r"expected one of decided, .* found 'deleted'"):
        find(action="deleted")


def test_only_leads_of_the_dataset_read_the_trail(case: Case) -> None:
    database = case.world.database
    JudgedWorld(database, name="other")
    for read in (
        lambda: read_trail(database, case.hanako, "d", now=NOW),
        lambda: iterate_trail(database, case.hanako, "d", now=NOW),
        lambda: list_trail_people(database, case.hanako, "d"),
        lambda: read_timeline(database, case.hanako, "d", case.pair, now=NOW),
        lambda: read_trail(database, case.lead, "other", now=NOW),
    ):
        with pytest.raises(NotAllowed):
            read()
    with pytest.raises(NotFound):
        read_timeline(database, case.lead, "d", "0" * 24, now=NOW)


def test_what_was_said_of_a_pair_that_the_reader_may_still_judge_is_hidden(case: Case) -> None:
    case.world.pair("Q1", "open")
    with case.world.database.write() as session:
        open_pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) != case.pair))
        event = AuditEvent(
            "proposed", case.world.dataset_pk, case.lead.person_id, NOW, open_pk, None, {"grade": 3}
        )
        add_events(session, [event])
    (event_read,) = read_trail(case.world.database, case.lead, "d", now=NOW).events
    assert (event_read.action, event_read.after, event_read.hidden) == ("proposed", None, True)
    (written,) = iterate_trail(case.world.database, case.lead, "d", now=NOW)
    assert written.after is None
    assert read_trail(case.world.database, OPERATOR, "d", now=NOW).events[0].after == {"grade": 3}


def test_everybody_who_did_something_is_listed(case: Case) -> None:
    assert list_trail_people(case.world.database, OPERATOR, "d") == []
    case.note(("put off", 1))
    assert list_trail_people(case.world.database, OPERATOR, "d") == [("lead", "lead Realname")]


def test_no_record_is_ever_changed_or_deleted(case: Case) -> None:
    case.note(("put off", 1))
    before = read_trail(case.world.database, OPERATOR, "d", now=NOW)
    statements = ["UPDATE audit_event SET action = 'decided'", "DELETE FROM audit_event"]
    if case.world.database.is_sqlite:
        statements.append("INSERT OR REPLACE INTO audit_event SELECT * FROM audit_event")
    else:
        statements.append("TRUNCATE audit_event")
    for statement in statements:
        with pytest.raises(IntegrityError, match="append-only"), case.world.database.write() as session:
            session.connection().execute(text(statement))
    assert read_trail(case.world.database, OPERATOR, "d", now=NOW) == before


def test_the_files_hold_every_record_in_order(case: Case) -> None:
    case.note(("put off", 1), ("assigned", 2))
    case.note(("exported queue", 3), at=5, pair=False)
    events = list(iterate_trail(case.world.database, OPERATOR, "d", now=NOW))
    assert list_actions(events) == ["put off", "assigned", "exported queue"]
    told = "".join(write_csv(events))
    rows = list(csv.DictReader(told.removeprefix("\ufeff").splitlines()))
    assert [row["action"] for row in rows] == list_actions(events)
    assert (rows[0]["at"], rows[0]["username"], json.loads(rows[0]["after"])) == (
        LATER.isoformat().replace("+00:00", "Z"), "lead", {"number": 1},
    )  # fmt: skip
    assert (rows[2]["pair"], rows[2]["doc_id"], rows[0]["doc_id"]) == ("", "", "법률_제17조")
    lines = [json.loads(line) for line in write_json_lines(events)]
    assert [line["after"] for line in lines] == [{"number": 1}, {"number": 2}, {"number": 3}]


def test_the_story_of_a_pair_is_told_from_its_judgments_on_without_names(case: Case) -> None:
    world, doc = case.world, "법률_제17조"
    world.judge(case.hanako, "Q1", doc, 1)
    world.judge(case.minjun, "Q1", doc, None, outcome="later")
    world.judge(case.minjun, "Q1", doc, None)
    told = case.tell()
    letters = {
        one.letter: one for one in show_case(world.database, case.lead, "d", case.pair, now=NOW).judgments
    }
    hanako = next(f"Annotator {letter}" for letter, one in letters.items() if one.grade == 1)
    minjun = next(f"Annotator {letter}" for letter, one in letters.items() if one.grade is None)
    assert told == [
        ("", "pooled", "came into the pool"),
        (hanako, "judged", "judged 0"),
        (minjun, "judged", "judged 3: 第17条に書いてある"),
        (hanako, "judged", "judged 1 instead of 0"),
        (minjun, "judged", "put the pair off"),
        (minjun, "judged", "judged cannot be rated"),
    ]
    assert not {"花子", "민준"} & set(" ".join(f"{who} {said}" for who, _, said in told).split())


def test_decisions_are_told_once_also_those_older_than_the_trail(case: Case) -> None:
    case.world.add_decision(case.lead, "Q1", "법률_제17조", 2)
    decide(case, 3)
    assert [one for one in case.tell() if one[0] == "lead Realname"] == [
        ("lead Realname", "decided", "decided 2: 第17条"),
        ("lead Realname", "decided", "decided 3 instead of 2: 第17条"),
    ]


def test_how_a_decision_came_about_is_told_of_its_record(case: Case) -> None:
    case.world.add_decision(case.lead, "Q1", "법률_제17조", 2)
    with case.world.database.write() as session:
        at = NOW + timedelta(minutes=case.world.judged)
        after = {"revision": 1, "outcome": "graded", "grade": 2}
        person = case.lead.person_id
        add_events(
            session,
            [AuditEvent("decided from file", case.world.dataset_pk, person, at, case.pair_pk, None, after)],
        )
    assert case.tell()[-1:] == [("lead Realname", "decided from file", "decided 2 from a file: 第17条")]


def test_questions_objections_and_a_discussion_belong_to_the_story(case: Case) -> None:
    case.world.add_decision(case.lead, "Q1", "법률_제17조", 2)
    with case.world.database.write() as session:
        pair_pk, hanako_pk = case.pair_pk, key_of(case.hanako.person_id)
        asked = QuestionRow(pair_pk=pair_pk, annotator_pk=hanako_pk, text="どこまで?", asked_at=LATER)
        session.add(asked)
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
        objection = {"pair_pk": pair_pk, "annotator_pk": case.minjun.person_id, "adjudication_pk": 1}
        session.add(
            ObjectionRow.model_validate(
                {**objection, "text": "아니요", "objected_at": LATER + timedelta(minutes=3)}
            )
        )
        session.flush()
        number = key_of(asked.pk)
        derive_disputes(session, case.world.dataset_pk, [pair_pk])
    for at, seen, answer in ((2, None, "17条"), (4, "17条", "18条")):
        moment = LATER + timedelta(minutes=at)
        answer_question(
            case.world.database, case.lead, "d", number, answer, seen=seen, in_guideline=False, now=moment
        )
    told = case.tell()
    hanako, minjun = told[1][0], told[2][0]
    assert told[-5:] == [
        (hanako, "asked", "asked the leads: どこまで?"),
        (hanako, "revised", "went over to 2 in the discussion: 納得"),
        ("lead Realname", "answered question", "answered the question: 17条"),
        (minjun, "objected", "objected to the decision: 아니요"),
        ("lead Realname", "answered question", "answered the question: 18条"),
    ]


def test_quality_control_has_a_letter_of_its_own(case: Case) -> None:
    expert = case.world.person("expert")
    case.world.add_decision(case.lead, "Q1", "법률_제17조", 2)
    case.world.check_quality(expert, "Q1", "법률_제17조", 0, settled=2, settled_by="adjudicated")
    who, action, said = case.tell()[-1]
    judged = show_case(case.world.database, case.lead, "d", case.pair, now=NOW).judgments
    assert who == next(f"Annotator {one.letter}" for one in judged if one.quality)
    assert (action, said) == ("checked", "answered 0 for quality control, where 2 was settled")


def test_versions_of_the_guideline_and_releases_belong_to_the_story(case: Case) -> None:
    database, world = case.world.database, case.world
    rubric = read_version(database, case.lead, "d").rubric
    for base, change, at in ((1, "semantic", 1), (2, "minor", 2)):
        changed = type(rubric)(rubric.grades, f"第{at}版", rubric.title)
        moment = LATER + timedelta(minutes=at)
        publish_version(
            database, case.lead, "d", changed, base_version=base, change=change, why="明確にした", now=moment
        )
    with database.write() as session:
        values = {"version": "1.0.0", "note": "", "content_sha256": "0", "sums": "", "manifest": {}}
        moment = LATER + timedelta(minutes=3)
        release = ReleaseRow.model_validate({**values, "dataset_pk": world.dataset_pk, "created_at": moment})
        session.add(release)
        session.flush()
        qrel = {"query_id": "Q1", "doc_id": "법률_제17조", "grade": 3, "origin": "adjudicated"}
        session.add(ReleaseQrelRow.model_validate({**qrel, "release_pk": release.pk, "position": 0}))
    assert case.tell()[-3:] == [
        ("lead Realname", "published guideline",
         "published version 2 of the guideline, which changes what a grade means: 明確にした"),
        ("lead Realname", "published guideline", "published version 3 of the guideline: 明確にした"),
        ("operator", "released", "published it in release 1.0.0, at 3"),
    ]  # fmt: skip
    versions = [one.after for one in read_trail(database, OPERATOR, "d", now=NOW).events]
    assert [(one or {})["version"] for one in versions] == [3, 2]


def test_who_has_read_the_story_no_longer_judges_the_pair(case: Case) -> None:
    case.tell()
    with case.world.database.read() as session:
        noted = session.execute(select(col(DisclosureRow.pair_pk), col(DisclosureRow.person_pk))).all()
    assert [tuple(row) for row in noted] == [(case.pair_pk, case.lead.person_id)]


def test_answering_as_before_leaves_no_record(case: Case) -> None:
    database = case.world.database
    with database.write() as session:
        values = {"pair_pk": case.pair_pk, "annotator_pk": case.hanako.person_id}
        asked = QuestionRow.model_validate({**values, "text": "何?", "asked_at": NOW})
        session.add(asked)
        session.flush()
        number = key_of(asked.pk)
    for marked in (False, False, True):
        answer_question(database, case.lead, "d", number, "これ", seen="これ" if marked else None, in_guideline=marked, now=LATER)  # fmt: skip
    found = [(one.before, one.after) for one in read_trail(database, OPERATOR, "d", now=NOW).events]
    told = {"question": number, "answer": "これ"}
    assert found == [
        ({**told, "in_guideline": False}, {**told, "in_guideline": True}),
        ({**told, "answer": None, "in_guideline": False}, {**told, "in_guideline": False}),
    ]


def test_a_moment_keeps_its_sentence_translatable(case: Case) -> None:
    found: tuple[HistoryEntry, ...] = read_timeline(case.world.database, case.lead, "d", case.pair, now=LATER)
    assert found[1].said.template == "judged {answer}"


def run(case: Case, *words: str) -> str:
    url = case.world.database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["trail", "d", *words, "--database", url], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_prints_records_and_stories_and_writes_files(case: Case, tmp_path: Path) -> None:
    case.note(("put off", 1), ("assigned", 2))
    printed = run(case)
    assert printed.splitlines()[1].split()[2:] == ["lead", "Q1", "법률_제17조", "gave", "the", "case", "to", "nobody", "in", "particular"]  # fmt: skip
    assert [one["action"] for one in json.loads(run(case, "--json", "--action", "assigned"))] == ["assigned"]
    assert json.loads(run(case, "--json", "--until", "2026-03-01")) == []
    story = json.loads(run(case, "--json", "--pair", "Q1", "법률_제17조"))
    assert [one["action"] for one in story] == ["pooled", "judged", "judged", "put off", "assigned"]
    assert "judged 3: 第17条に書いてある" in run(case, "--pair", "Q1", "법률_제17조")
    run(case, "--csv", str(tmp_path / "trail.csv"))
    assert len((tmp_path / "trail.csv").read_text(encoding="utf-8").splitlines()) == 3
    with pytest.raises(NotFound, match="no pair of query 'Q9'"):
        run(case, "--pair", "Q9", "x")
