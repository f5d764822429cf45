"""Decisions from a file, and the queue as a file for a meeting, on both databases."""

import csv
import io
import threading

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import FileDecisions, adjudicate_file, export_queue
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.dataset.service import change_settings
from annotator.domain.errors import BadInput, NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database, lock_dataset
from annotator.storage.tables.adjudication import AdjudicationRow, AuditEventRow, DecisionProposalRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.databases import CopyWorld
from tests.integration.adjudication.test_adjudication import LATER, Court
from tests.integration.judged_world import NOW, JudgedWorld

NASTY = ("-1+1", "007", "=SUM(A1)", "'x", 'a,"b"\n', " a ", "@x", "１２", "x" * 1_000)


@pytest.fixture
def court(copy_world: CopyWorld) -> Court:
    return copy_world(Court)


def file(court: Court, *lines: str, dry_run: bool = False, actor: Actor | None = None) -> FileDecisions:
    data = "\n".join(["query_id,doc_id,grade,rationale,reason", *lines]).encode()
    return adjudicate_file(
        court.database, actor or court.lead, "d", data, "d.csv", now=LATER, dry_run=dry_run
    )


def refused(court: Court, *lines: str, actor: Actor | None = None) -> list[str]:
    with pytest.raises(BadInput) as caught:
        file(court, *lines, actor=actor)
    return [str(problem) for problem in caught.value.problems]


def export(
    court: JudgedWorld, wanted: QueueFilter | None = None, *, actor: Actor | None = None
) -> list[list[str]]:
    """The rows of the file, the header among them."""
    lead = getattr(court, "lead", OPERATOR) if actor is None else actor
    pieces = export_queue(
        court.database, lead, court.name, wanted or QueueFilter(), now=NOW, base_url="https://a"
    )
    return list(csv.reader(io.StringIO(b"".join(pieces).decode("utf-8-sig"), newline="")))


def write(rows: list[list[str]], decisions: dict[str, tuple[str, str, str]]) -> bytes:
    """The file with grade, rationale and reason of the rows of these documents filled in, as Excel writes it."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    for row in rows:
        writer.writerow([*row[:2], *decisions.get(row[1], row[2:5]), *row[5:]])
    return ("\ufeff" + made.getvalue()).encode()


def bring_back(court: JudgedWorld, data: bytes, *, actor: Actor, dry_run: bool = False) -> FileDecisions:
    return adjudicate_file(court.database, actor, court.name, data, "m.csv", now=LATER, dry_run=dry_run)


def refused_back(court: JudgedWorld, data: bytes, *, actor: Actor) -> list[str]:
    with pytest.raises(BadInput) as caught:
        bring_back(court, data, actor=actor)
    return [str(problem) for problem in caught.value.problems]


def count(database: Database, table: type) -> int:
    with database.read() as session:
        return len(session.scalars(select(table)).all())


def test_a_file_decides_and_the_same_file_again_changes_nothing(court: Court) -> None:
    lines = ("Q1,遠い,1,第17条,", "Q2,近い,3,直接 🎯,guideline")
    assert file(court, *lines, dry_run=True) == FileDecisions(2, 0, 0, 0, 0, True)
    assert court.open_ids() == ["遠い", "近い"]
    assert (count(court.database, AdjudicationRow), count(court.database, AuditEventRow)) == (0, 0)
    assert file(court, *lines) == FileDecisions(2, 0, 0, 0, 0, False)
    assert court.open_ids() == []
    assert file(court, *lines) == FileDecisions(0, 0, 2, 0, 0, False)
    assert file(court, "Q1,遠い,2,見直し,") == FileDecisions(0, 1, 0, 0, 0, False)
    assert [(item.grade, item.reason) for item in court.case(court.far).decisions] == [(1, None), (2, None)]
    assert court.case(court.near).decisions[0].reason == "guideline"


def test_a_reason_that_is_a_cause_is_one_and_unrateable_is_a_grade(court: Court) -> None:
    assert file(court, "Q1,遠い,unrateable,画像のみ,slip", "Q2,近い,2,x,slips").decided == 2
    (far,), (near,) = court.case(court.far).decisions, court.case(court.near).decisions
    assert (far.outcome, far.grade, far.cause, far.reason) == ("unrateable", None, "slip", None)
    assert (near.cause, near.reason) == (None, "slips")
    assert file(court, "Q1,遠い,unrateable,画像のみ,borderline").revised == 1


def test_a_file_with_bad_lines_changes_nothing_and_names_each(court: Court) -> None:
    both = court.person("both", "lead")
    court.judge(both, "Q2", "近い", 2)
    assert refused(
        court,
        "Q1,遠い,1,ok,",
        "Q1,無い,1,ok,",
        "Q1,同じ,2,ok,",
        "Q2,近い,2,ok,",
        "Q1,d,9,ok,",
        "Q1,遠い,2,ok,",
        "Q1,e,2,,",
        actor=both,
    ) == [
        "d.csv:3: expected a pair of the pool, found Q1 無い",
        "d.csv:4: expected a pair whose judgments differ, found Q1 同じ (unanimous)",
        "d.csv:5: expected a pair that the deciding lead did not judge, found Q2 近い",
        "d.csv:6: expected a grade 0, 1, 2, 3 or unrateable, found '9'",
        "d.csv:7: expected each pair once, found the pair of line 2 again",
        "d.csv:8: expected a rationale of some words, found nothing",
    ]
    assert court.open_ids() == ["遠い", "近い"]
    assert (count(court.database, AdjudicationRow), count(court.database, AuditEventRow)) == (0, 0)


def test_a_line_that_says_what_holds_already_is_counted_and_changes_nothing(court: Court) -> None:
    assert file(court, "Q1,同じ,1,unanimous,", "Q1,遠い,1,第17条,") == FileDecisions(1, 0, 1, 0, 0, False)
    judge = court.person("judge", "lead")
    with court.database.read() as session:
        assert len(session.scalars(select(AdjudicationRow)).all()) == 1, "the unanimous pair has no decision"
    court.judge(judge, "Q1", "同じ", 1)
    done = file(court, "Q1,同じ,1,my own,", "Q1,遠い,1,第17条,", actor=judge)
    assert done == FileDecisions(0, 0, 2, 0, 0, False), "not even one's own: nothing is decided"
    assert refused(court, "Q1,同じ,2,not so,") == [
        "d.csv:2: expected a pair whose judgments differ, found Q1 同じ (unanimous)"
    ]


def test_only_a_lead_may_decide_from_a_file_or_take_the_queue_away(court: Court) -> None:
    stranger = JudgedWorld(court.database, name="other").person("stranger", "lead")
    for actor in (court.hanako, OPERATOR, stranger):
        with pytest.raises(NotAllowed):
            file(court, "Q1,遠い,1,ok,", actor=actor)
    for actor in (court.hanako, stranger):
        with pytest.raises(NotAllowed):
            export(court, actor=actor)
    assert count(court.database, AuditEventRow) == 0


def test_a_file_in_another_encoding_is_refused_with_its_line(court: Court) -> None:
    data = "query_id,doc_id,grade,rationale\r\nQ1,d,1,ok\r\nQ1,遠い,1,理由\r\n"
    assert refused_back(court, data.encode("cp932"), actor=court.lead) == [
        "m.csv:3: expected UTF-8 text (save it as UTF-8, or name the file's encoding), found byte 0x89"
    ]


def test_the_exported_queue_says_all_that_a_meeting_needs_and_nobodys_name(court: Court) -> None:
    both = court.person("both", "lead")
    court.judge(both, "Q2", "近い", None, note='図のみ,\n"見えない"')
    header, far, near = export(court)
    cells = dict(zip(header, far, strict=True))
    assert (cells["query_id"], cells["doc_id"], cells["grade"], cells["rationale"]) == ("Q1", "遠い", "", "")
    assert (cells["why"], cells["apart"], cells["grades"], cells["title"]) == ("differ", "3", "0 3", "مرحبا")
    assert cells["seen"] == f"{court.far}:{court.case(court.far).seen}"
    assert cells["link"] == f"https://a/disagreements?dataset=d&pair={court.far}"
    letters = {judgment.note: judgment.letter for judgment in court.case(court.far).judgments}
    assert cells["notes"] == f"{letters['ノート 遠い']}: ノート 遠い"
    cells = dict(zip(header, near, strict=True))
    assert (cells["why"], cells["grades"], cells["category"]) == (
        "differ unrateable",
        "2 3 unrateable",
        "law",
    )
    notes = {
        f"{judgment.letter}: {judgment.note}"
        for judgment in court.case(court.near).judgments
        if judgment.note
    }
    assert cells["notes"] == "\n".join(sorted(notes))
    assert len(notes) == 2
    assert "花子" not in str((far, near))
    assert "both" not in str((far, near))
    assert [row[1] for row in export(court, QueueFilter(category="law"))[1:]] == ["近い"]


def test_the_state_that_an_export_carries_is_the_one_that_a_disagreement_shows(court: Court) -> None:
    expert = court.person("expert")
    court.check_quality(expert, "Q1", "同じ", 3, settled=1)
    file(court, "Q1,遠い,1,x,")
    header, *rows = export(court, QueueFilter(shown="all"))
    seen = header.index("seen")
    for row in rows:
        pair, _, digest = row[seen].partition(":")
        assert court.case(pair).seen == digest
    data = write([header, *rows], {"同じ": ("3", "x", "")})
    assert bring_back(court, data, actor=court.lead).decided == 1
    data = write([header, *rows], {"同じ": ("2", "x", "")})
    assert refused_back(court, data, actor=court.lead) == [
        "m.csv:2: expected Q1 同じ as it was when exported, found a decision since: 3"
    ]


def test_what_a_meeting_decided_comes_back_and_the_rest_stays_open(court: Court) -> None:
    rows = export(court)
    data = write(rows, {"遠い": ("unrateable", "画像, のみ\n二行目", "misread_document")})
    assert bring_back(court, data, actor=court.lead, dry_run=True) == FileDecisions(1, 0, 0, 1, 0, True)
    assert bring_back(court, data, actor=court.lead) == FileDecisions(1, 0, 0, 1, 0, False)
    assert court.open_ids() == ["近い"]
    (made,) = court.case(court.far).decisions
    assert (made.rationale, made.cause) == ("画像, のみ\n二行目", "misread_document")
    assert bring_back(court, data, actor=court.lead) == FileDecisions(0, 0, 1, 1, 0, False)
    assert bring_back(court, write(rows, {}), actor=court.lead) == FileDecisions(0, 0, 0, 2, 0, False)
    court.judge(court.hanako, "Q1", "遠い", 1)
    assert refused_back(court, data, actor=court.lead) == [
        "m.csv:2: expected Q1 遠い as it was when exported, found a decision since: it cannot be rated"
    ]


def test_an_export_of_an_older_state_is_refused_and_says_what_changed(court: Court) -> None:
    other = court.person("other", "lead")
    rows, row = export(court), {"遠い": ("2", "x", ""), "近い": ("2", "x", "")}
    court.judge(court.hanako, "Q2", "近い", 1)
    file(court, "Q1,遠い,3,x,", actor=other)
    assert refused_back(court, write(rows, row), actor=court.lead) == [
        "m.csv:2: expected Q1 遠い as it was when exported, found a decision since: 3",
        "m.csv:3: expected Q2 近い as it was when exported, found a judgment that came or was changed since",
    ]
    file(court, "Q1,遠い,unrateable,x,", actor=other)
    assert refused_back(court, write(rows, {"遠い": row["遠い"]}), actor=court.lead) == [
        "m.csv:2: expected Q1 遠い as it was when exported, found a decision since: it cannot be rated"
    ]
    assert court.case(court.near).decisions == ()
    with pytest.raises(BadInput):
        bring_back(court, write(rows, row), actor=other)
    court.judge(other, "Q1", "遠い", 1)
    with pytest.raises(BadInput, match="did not judge"):
        bring_back(court, write(export(court, QueueFilter(shown="all")), row), actor=other)


def test_another_datasets_export_is_refused_even_where_it_names_the_same_pairs(court: Court) -> None:
    twin = JudgedWorld(court.database, name="twin")
    lead = twin.person("twin lead", "lead")
    rows = export(court)
    assert refused_back(twin, write(rows, {"遠い": ("2", "x", "")}), actor=lead) == [
        "m.csv:1: expected an export of the queue of twin, found one of another dataset, or with other ids",
        "m.csv:2: expected a pair of the pool, found Q1 遠い",
    ]
    moved = [row[:5] + other[5:] for row, other in zip(rows, [rows[0], *rows[:0:-1]], strict=True)]
    assert "other ids" in refused_back(court, write(moved, {"遠い": ("2", "x", "")}), actor=court.lead)[0]


def test_ids_that_spreadsheets_spoil_come_back_to_their_pairs(database: Database) -> None:
    world = JudgedWorld(database)
    lead, first, two = world.person("lead", "lead"), world.person("a"), world.person("b")
    world.query("=1+1", "検索")
    for doc_id in NASTY:
        world.pair("=1+1", doc_id)
        world.judge(first, "=1+1", doc_id, 0)
        world.judge(two, "=1+1", doc_id, 3)
    rows = export(world, actor=lead)
    assert not any(cell[:1] in tuple("=+-@\t\r") for row in rows for cell in row if cell)
    data = write(rows, {row[1]: ("2", f"決定 {n}", "") for n, row in enumerate(rows[1:])})
    assert bring_back(world, data, actor=lead).decided == len(NASTY)
    disagreements = find_disagreements(database, lead, "d", now=NOW)
    assert {item.doc_id: item.decided for item in disagreements} == dict.fromkeys(NASTY, 2)


def test_who_takes_the_queue_away_has_seen_its_grades_and_the_audit_log_says_so(court: Court) -> None:
    export(court, QueueFilter(reasons=QueueReason.DIFFER, category="law"))
    export(court, actor=OPERATOR)
    with court.database.read() as session:
        seen = session.execute(select(col(DisclosureRow.person_pk), col(DisclosureRow.pair_pk))).all()
        first, second = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk)))
    assert [person for person, _ in seen] == [court.lead.person_id]
    assert (first.action, first.person_pk, first.after) == (
        "exported queue",
        court.lead.person_id,
        {"pairs": 1, "filter": {"reasons": ["differ"], "category": "law"}},
    )
    assert (second.person_pk, second.after) == (None, {"pairs": 2, "filter": {}})


def test_what_a_file_decides_stands_in_the_audit_log(court: Court) -> None:
    file(court, "Q1,遠い,1,x,slip")
    file(court, "Q1,遠い,2,y,")
    with court.database.read() as session:
        events = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk))).all()
    assert {event.action for event in events} == {"decided from file"}
    assert [(event.before or {}).get("grade") for event in events] == [None, 1]
    assert [(event.after or {}).get("grade") for event in events] == [1, 2]
    assert events[0].after is not None
    assert events[0].after["cause"] == "slip"


def test_where_two_leads_are_asked_for_a_file_proposes_until_the_other_says_the_same(court: Court) -> None:
    other = court.person("other", "lead")
    change_settings(court.database, OPERATOR, "d", {"second_adjudicator": "yes"}, now=NOW)
    lines = ("Q1,遠い,1,x,", "Q2,近い,2,x,")
    assert file(court, *lines, dry_run=True) == FileDecisions(1, 0, 0, 0, 1, True)
    assert count(court.database, DecisionProposalRow) == 0
    assert file(court, *lines) == FileDecisions(1, 0, 0, 0, 1, False)
    assert court.open_ids() == ["遠い"]
    assert file(court, *lines, dry_run=True) == FileDecisions(0, 0, 1, 0, 1, True)
    assert file(court, *lines, actor=other, dry_run=True) == FileDecisions(0, 0, 1, 0, 1, True)  # as if alone
    assert file(court, *lines, actor=other) == FileDecisions(1, 0, 1, 0, 0, False)
    assert court.open_ids() == []


def test_while_a_release_is_published_a_file_waits_and_is_then_stored_whole(court: Court) -> None:
    done: list[FileDecisions] = []
    thread = threading.Thread(target=lambda: done.append(file(court, "Q1,遠い,1,x,", "Q2,近い,2,x,")))
    with court.database.write() as session:
        lock_dataset(session, court.dataset_pk)  # as whoever publishes holds it
        thread.start()
        thread.join(0.2)  # it must wait for this transaction, however long that takes
        assert done == []
    thread.join()
    assert done == [FileDecisions(2, 0, 0, 0, 0, False)]


def test_a_file_that_is_cut_off_half_way_leaves_nothing(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("annotator.adjudication.decisions_sql.add_events", fail)
    with pytest.raises(KeyboardInterrupt):
        file(court, "Q1,遠い,1,x,", "Q2,近い,2,x,")
    assert court.open_ids() == ["遠い", "近い"]
    assert count(court.database, AdjudicationRow) == 0
    monkeypatch.undo()
    assert file(court, "Q1,遠い,1,x,", "Q2,近い,2,x,").decided == 2
