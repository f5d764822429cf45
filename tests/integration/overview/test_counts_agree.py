"""A dataset walks through all its states, and after every step every page, command and file shows the same counts."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update
from sqlmodel import col
from typer.testing import CliRunner

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import (
    compute_queue_pace,
    count_open,
    find_disagreements,
    list_queue,
)
from annotator.agreement.service import compute_agreement
from annotator.cli import terminal
from annotator.cli.main import app
from annotator.dataset.service import show_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.domain.settling import OPEN, SETTLED
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.importing.uploads.import_service import show_contents as show_imported
from annotator.labeling.assignment_service import preview_overlap, show_assignment
from annotator.labeling.calibration_service import set_check
from annotator.labeling.my_work_service import show_pace
from annotator.labeling.questions_service import ask_question, count_open_questions
from annotator.labeling.service import (
    compute_progress,
    list_judgments,
    list_work_progress,
    submit_judgments,
)
from annotator.overview.service import show_overview, show_status
from annotator.overview.waiting_service import count_waiting_work
from annotator.pooling.analysis.pool_analysis import PairFilter
from annotator.pooling.analysis.pool_analysis_service import list_pair_page, show_contents
from annotator.pooling.service import list_pairs
from annotator.quality.service import show_quality
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.labeling import QueryWorkRow
from annotator.web.overview.page import list_annotator_rows
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.release_world import EPOCH

DOCUMENTS = ["甲", "乙", "丙", "丁", "戊", "己", "庚", "辛", "壬", "癸", "가", "나"]
REASON = "counted in a test"


class Walk(JudgedWorld):
    """One dataset with twelve pairs in two queries, and the counts of every place that shows some."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database, kappa_target="-1")
        self.folder, self.releases = folder, 0
        self.shown: dict[str, tuple[int, int]] = {}  # done and total, by username
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.expert, self.lead = self.person("専門家"), self.person("lead", "lead")
        with database.write() as session:
            session.execute(update(PersonRow).values(password_hash="x"))  # so that they count as at work
        self.robot = self.person("simulated_1", simulated=True)

    def steps(self) -> Iterator[str]:
        """Change the dataset, and say how."""
        yield "empty"
        self.query("Q1", "検索 🔎", category="設定")
        self.query("Q2", "검색", category="법")
        yield "queries"
        keys = {
            doc: self.pair("Q1" if index < 6 else "Q2", doc, rank=1 + index)
            for index, doc in enumerate(DOCUMENTS)
        }
        yield "pooled"
        for doc, kind in (("가", "training"), ("나", "gold"), ("癸", "gold")):
            mark = {"kind": kind, "grade": 2, "explanation": "第17条"}
            set_check(self.database, self.lead, "d", keys[doc], now=NOW, **mark)
        self.judge(self.hanako, "Q2", "가", 2, purpose="training")
        self.judge(self.hanako, "Q2", "나", 2, purpose="gold")
        yield "checks"
        self.judge(self.hanako, "Q1", "甲", 3)
        self.judge(self.hanako, "Q1", "乙", None)
        self.judge(self.hanako, "Q1", "丙", None, outcome="later")
        yield "begun"
        self.judge(self.minjun, "Q1", "甲", 3)
        self.judge(self.minjun, "Q1", "乙", None)
        self.judge(self.minjun, "Q1", "丙", 1)
        self.judge(self.hanako, "Q1", "丙", 1)
        self.judge(self.hanako, "Q1", "丁", 0)
        self.judge(self.minjun, "Q1", "丁", 3)
        self.judge(self.hanako, "Q1", "戊", 2)
        self.judge(self.minjun, "Q1", "戊", None)
        self.judge(self.minjun, "Q1", "丁", 2)
        yield "disagreements"
        self.judge(self.expert, "Q1", "丁", 2, purpose="conditional")
        self.judge(self.hanako, "Q1", "甲", 3, purpose="repeat")
        yield "a third judgment and a repeat"
        self.judge(self.robot, "Q2", "辛", 0)
        for doc, grade in (("戊", 2), ("辛", 0)):
            mark = {"kind": "gold", "grade": grade, "explanation": "第17条"}
            set_check(self.database, self.lead, "d", keys[doc], now=NOW, **mark)
        yield "judged pairs that became gold"
        self.add_decision(self.lead, "Q1", "丁", 2)
        self.judge(self.hanako, "Q1", "己", 0)
        self.judge(self.minjun, "Q1", "己", 1)
        self.add_decision(self.lead, "Q1", "己", 1)
        yield "decided"
        for number, doc in enumerate(("丁", "甲"), 1):
            ask_question(
                self.database,
                self.hanako,
                "d",
                pair=keys[doc],
                text="なぜ?",
                event_id=str(UUID(int=9000 + number, version=4)),
                now=NOW,
            )
        yield "questions about a decided and an agreed pair"
        self.check_quality(self.expert, "Q1", "丙", 3, settled=1)
        self.check_quality(self.expert, "Q1", "己", 1, settled=1, settled_by="adjudicated")
        yield "reopened by quality control"
        self._import("Q2 0 庚 2\nQ2 0 辛 0\nQ2 0 癸 1\n")
        yield "imported"
        self.judge(self.hanako, "Q2", "庚", 1)
        yield "judged after it was imported"
        self._remap("old_doc_id,new_doc_id\n甲,甲2\n辛,辛2\n辛,辛3\n")
        yield "new document ids"

    def _import(self, lines: str) -> None:
        path = self.folder / "qrels.txt"
        path.write_text(lines, encoding="utf-8")
        import_qrels(self.database, OPERATOR, "d", path, now=NOW)

    def _remap(self, lines: str) -> None:
        path = self.folder / "new-ids.csv"
        path.write_text(lines, encoding="utf-8")
        after_all = NOW + timedelta(minutes=self.judged + 1)
        remap_documents(self.database, OPERATOR, "d", path, now=after_all)

    def command(self, *arguments: str) -> Any:
        url = self.database.url.render_as_string(hide_password=False)
        done = CliRunner().invoke(app, [*arguments, "--json", "--database", url])
        return json.loads(done.stdout)

    def publish(self) -> tuple[dict[str, Any], list[dict[str, str]], str]:
        """The manifest's counts, the rows of judgments.csv, and the datasheet of a release of this moment."""
        self.releases += 1
        open_gates = [gate.name for gate in check_release(self.database, OPERATOR, "d").gates if not gate.met]
        made = publish_release(
            self.database, self.lead, "d", f"1.{self.releases}.0",
            exports_dir=self.folder, now=EPOCH, overrides=dict.fromkeys(open_gates, REASON),
        )  # fmt: skip
        counts = json.loads((made.path / "manifest.json").read_bytes())["counts"]
        rows = list(csv.DictReader(io.StringIO((made.path / "judgments.csv").read_text(encoding="utf-8"))))
        return counts, rows, (made.path / "DATASHEET.md").read_text(encoding="utf-8")


@pytest.fixture
def walk(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    monkeypatch.setitem(terminal.chosen, "database", None)
    return Walk(database, tmp_path)


def test_every_place_shows_the_same_counts_in_every_state(walk: Walk) -> None:
    seen: Counter[str] = Counter()
    for step in walk.steps():
        statuses = check_pairs(walk, step)
        check_queue(walk, step)
        check_judgments(walk, step)
        check_own_progress(walk, step)
        if any(statuses[status] for status in SETTLED):
            check_release_files(walk, step)
        seen.update({status: n for status, n in statuses.items() if n})
    assert set(seen) >= {*SETTLED, *OPEN, "unjudged", "unrateable"}  # the walk comes by every status


def check_pairs(walk: Walk, step: str) -> Counter[str]:
    """Pairs by status, and how far they are: Overview, status, pairs, Pool, progress, the release and its gates."""
    pairs = show_overview(walk.database, OPERATOR, "d").pairs
    listed = Counter(pair.status for pair in list_pairs(walk.database, OPERATOR, "d"))
    by_status = {status: n for status, n in pairs.by_status.items() if n}
    assert by_status == dict(listed), step
    contents = show_contents(walk.database, OPERATOR, "d")
    assert dict(contents.statuses) == dict(pairs.by_status), step
    assert sum(item.counted.settled for item in contents.sets) == sum(
        pairs.by_status[name] for name in SETTLED
    ), step
    for status, count in pairs.by_status.items():
        page = list_pair_page(walk.database, OPERATOR, "d", PairFilter(status=status))
        assert (page.total, {pair.status for pair in page.pairs} or {status}) == (count, {status}), step
    assert show_status(walk.database, OPERATOR, "d", now=NOW).pairs == pairs, step
    history = show_overview(walk.database, OPERATOR, "d", history_until=NOW).history
    today = [(day.settled, day.open, day.unrateable) for day in history[-1:]]
    expected = (pairs.settled, pairs.disagreements, pairs.by_status["unrateable"])
    assert today == ([expected] if today else []), step
    assert today or walk.judged <= 2, (step, "without a judgment there is no history")
    check = check_release(walk.database, OPERATOR, "d")
    assert {status: n for status, n in check.statuses.items() if n} == by_status, step
    gates = {gate.name: gate for gate in check.gates}
    assert gates["disagreements"].measured == pairs.disagreements, step
    assert gates["overlap"].measured == pairs.to_judge, step
    _, counts = show_dataset(walk.database, OPERATOR, "d")
    shown = walk.command("dataset", "show", "d")["counts"]
    assert counts.pairs == shown["pairs"] == pairs.pairs == len(walk.command("pairs", "d")), step
    progress = compute_progress(walk.database, OPERATOR, "d")
    assert (progress.pairs, progress.checks) == (pairs.pairs - pairs.checks, pairs.checks), step
    assert (progress.complete, progress.begun) == (pairs.complete, pairs.begun), step
    assert progress.pairs - progress.complete == pairs.to_judge == count_open_work(walk), step
    status = walk.command("status", "d")
    assert (status["pairs"], status["statuses"]) == (pairs.pairs, dict(pairs.by_status)), step
    assert (status["to_judge"], status["begun"], status["checks"]) == (
        pairs.to_judge,
        pairs.begun,
        pairs.checks,
    ), step
    return listed


def count_open_work(walk: Walk) -> int:
    """The pairs that the pages Assignment and Label hand out, as storage counts them."""
    with walk.database.read() as session:
        return session.scalar(select(func.sum(col(QueryWorkRow.open_pairs)))) or 0


def check_queue(walk: Walk, step: str) -> None:
    """What waits for a lead: Overview, status, Disagreements, its command, the sidebar and the pace."""
    pairs = show_overview(walk.database, OPERATOR, "d").pairs
    page = list_queue(walk.database, OPERATOR, "d", QueueFilter(), now=NOW)
    assert (page.open, page.ungraded) == (pairs.waiting, pairs.disagreements), step
    assert count_open(walk.database, OPERATOR, "d") == pairs.waiting, step
    waiting = count_waiting_work(walk.database, walk.lead, "d", "lead", now=NOW)
    assert waiting.disagreements == pairs.waiting, step
    assert waiting.questions == count_open_questions(walk.database, OPERATOR, "d"), step
    quality = show_quality(walk.database, OPERATOR, "d", now=NOW)
    assert waiting.checks == quality.drawn - quality.checked, step
    assert count_waiting_work(walk.database, walk.expert, "d", "annotator", now=NOW).disagreements == 0, step
    assert compute_queue_pace(walk.database, OPERATOR, "d", now=NOW).open == pairs.waiting, step
    rows = Counter(row.status for row in find_disagreements(walk.database, OPERATOR, "d", now=NOW))
    assert (rows["open"], rows["decided"]) == (page.open, page.decided), step
    assert Counter(row["status"] for row in walk.command("disagreements", "d")) == rows, step
    assert walk.command("status", "d")["queue"]["open"] == pairs.waiting, step
    assert all(pairs.waiting_by_status[status] == pairs.by_status[status] for status in OPEN), step


def check_judgments(walk: Walk, step: str) -> None:
    """Judgments: current ones, those that agreement counts and leaves out, and all that were ever stored."""
    _, counts = show_dataset(walk.database, OPERATOR, "d")
    current = list_judgments(walk.database, OPERATOR, "d")
    progress = compute_progress(walk.database, OPERATOR, "d")

    assert counts.judgments == len(current) == sum(person.judged for person in progress.annotators), step
    overview = show_overview(walk.database, OPERATOR, "d")
    assigned = show_assignment(walk.database, walk.lead, "d", now=NOW).judgments
    listed = walk.command("assign", "d", "--list")["judgments"]
    assert (assigned.done, assigned.left) == (counts.judgments, overview.lacking), step
    assert (listed["done"], listed["left"]) == (assigned.done, assigned.left), step
    rules, _ = preview_overlap(walk.database, OPERATOR, "d", overlap=overview.dataset.overlap, rules={})
    assert rules == assigned, (step, "the rules of today ask for what is asked for")
    contents = {item.kind: item.count for item in show_imported(walk.database, OPERATOR, "d").counts}
    assert (contents["judgments"], contents["pairs"]) == (counts.judgments, counts.pairs), step
    stored = len(list_judgments(walk.database, OPERATOR, "d", history=True))
    report = compute_agreement(walk.database, OPERATOR, "d", resamples=0)
    left_out = sum(item.judgments for item in report.left_out)
    graded = sum(sum(grades) for grades in report.measured.grades_by_annotator.values())
    assert stored - left_out == graded - sum(
        item.judgments for item in report.left_out if item.kind == "single"
    ), step


def check_own_progress(walk: Walk, step: str) -> None:
    """How far each annotator is: Label, My work, the numbers of Overview, Assignment and both commands."""
    overview = show_overview(walk.database, OPERATOR, "d").progress.annotators
    rows = {person.annotator: person for person in overview}
    by_command = {row["annotator"]: row["left"] for row in walk.command("progress", "d")["annotators"]}
    work = list_work_progress(walk.database, walk.lead, "d", now=NOW)
    people = {p.username: p for p in show_assignment(walk.database, walk.lead, "d", now=NOW).people}
    lefts = {
        row["annotator"]: row["pairs left, checks included"]
        for row in list_annotator_rows(list(rows.values()), work)
    }
    robot = walk.robot.username
    found = {people[robot].pairs, lefts.get(robot, 0), by_command.get(robot, 0)}
    assert found == {0}, (step, "nobody signs in as it")
    for actor in (walk.hanako, walk.minjun, walk.expert):
        name, before = actor.username, walk.shown.get(actor.username)
        label = submit_judgments(walk.database, actor, "d", events=[], have=[], want=0, now=NOW)
        walk.shown[name] = label.done, label.total
        pace = show_pace(walk.database, actor, "d", now=NOW)
        assert (label.done, label.total) == (pace.done, pace.done + pace.left), (step, name)
        assert pace.left == count_gettable(walk, actor), (step, name)
        work = list_work_progress(walk.database, walk.lead, "d", now=NOW)
        assert (work[name].done, work[name].total) == (label.done, label.total), (step, name)
        (row,) = list_annotator_rows([rows[name]], work)
        assert row["pairs left, checks included"] == by_command[name] == pace.left, (step, name)
        status = show_assignment(walk.database, walk.lead, "d", now=NOW)
        listed = {
            person["username"]: person["pairs"] for person in walk.command("assign", "d", "--list")["people"]
        }
        (person,) = [person for person in status.people if person.username == name]
        assert person.pairs == listed[name] == (pace.left if person.works else 0), (step, name)
        falls = before is not None and label.done * before[1] < before[0] * label.total
        assert falls == bool(label.added), (step, name)


def count_gettable(walk: Walk, actor: Actor) -> int:
    """The pairs that this person can still get, each looked at."""
    with walk.database.read() as session:
        pairs = session.execute(text("SELECT pk FROM pair WHERE lacking > 0")).scalars().all()
        values = {"person": actor.person_id}
        answered = session.execute(
            text("SELECT pair_pk FROM current_judgment WHERE annotator_pk = :person AND outcome <> 'later'"),
            values,
        )
        drawn = session.execute(
            text(
                "SELECT x.pair_pk, x.outcome FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk "
                "WHERE w.annotator_pk = :person"
            ),
            values,
        ).all()
        left = set(pairs) - set(answered.scalars()) - {pair for pair, _ in drawn}
        return len(left | {pair for pair, outcome in drawn if outcome is None})


def check_release_files(walk: Walk, step: str) -> None:
    """The files of a release hold what the pages said they would."""
    pairs = show_overview(walk.database, OPERATOR, "d").pairs
    current = list_judgments(walk.database, OPERATOR, "d")
    counts, rows, datasheet = walk.publish()
    assert (counts["pairs"], counts["qrels"]) == (pairs.pairs, pairs.settled), step
    for status, n in pairs.by_status.items():
        assert counts.get(status, 0) == n, (step, status)
    assert len(rows) == len(current), step
    assert f"{pairs.settled}" in datasheet
