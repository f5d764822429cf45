"""A judged document's grade is offered to its near duplicates, and theirs only when a lead accepts it; on both databases."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.history.history_service import read_pair_history
from annotator.dataset.service import change_settings
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError
from annotator.domain.people import OPERATOR
from annotator.pooling.analysis.pool_analysis_service import iterate_left_out
from annotator.pooling.duplicates.duplicates import DuplicateGroup
from annotator.pooling.duplicates.duplicates_service import (
    accept_duplicates,
    list_duplicates,
    show_duplicates,
)
from annotator.pooling.filters.filters import read_filters
from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest
from annotator.pooling.rounds.rounds_service import list_pool_rounds, make_round
from annotator.pooling.service import list_pairs
from annotator.releases.published_service import trace_qrel
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.central import DocumentRow, ImportedQrelRow, PairRow, QueryRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.pooling.test_pooling import Pool, _run
from tests.integration.release_world import WAIVED

LATER = NOW + timedelta(days=1)
KEPT = pair_key("d", "Q2", "b")


class DuplicateWorld(Pool):
    """Documents `a` and `b` say the same; `b` was ranked first for Q2 and is judged by two annotators, at 2."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.lead = self.person("花子", "lead")
        self.first, self.second = self.person("민준"), self.person("yuki")
        self.run("s1", {"Q2": ["b", "a", "제2조"], "Q1": ["a"]})
        self.report = self.pool_again()
        self.settle("b", 2)

    def pool_again(self, **request: object) -> PoolReport:
        chosen = PoolRequest(depth=3, filters=read_filters(near_duplicates="exact"), **request)
        return make_round(self.database, self.lead, "d", chosen, now=NOW)

    def settle(self, doc_id: str, grade: int) -> None:
        self.judge(self.first, "Q2", doc_id, grade)
        self.judge(self.second, "Q2", doc_id, grade)

    def group(self) -> DuplicateGroup:
        (group,) = list_duplicates(self.database, OPERATOR, "d", now=LATER).groups
        return group

    def list_seen(self) -> set[tuple[str, str]]:
        """The pairs that are recorded as seen by the lead."""
        with self.database.read() as session:
            statement = (
                select(col(QueryRow.query_id), col(DocumentRow.doc_id))
                .join(PairRow, col(PairRow.query_pk) == col(QueryRow.pk))
                .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
                .join(DisclosureRow, col(DisclosureRow.pair_pk) == col(PairRow.pk))
                .where(col(DisclosureRow.person_pk) == self.lead.person_id)
            )
            return {(query_id, doc_id) for query_id, doc_id in session.execute(statement)}

    def accept(self, *pairs: str, dry_run: bool = False) -> tuple[int, int, int]:
        done = accept_duplicates(self.database, self.lead, "d", pairs=pairs, dry_run=dry_run, now=LATER)
        return done.accepted, done.renewed, done.new_pairs

    def statuses(self) -> dict[tuple[str, str], str]:
        return {
            (pair.query_id, pair.doc_id): pair.status for pair in list_pairs(self.database, OPERATOR, "d")
        }

    def count_imported(self) -> int:
        with self.database.read() as session:
            return len(session.scalars(select(col(ImportedQrelRow.pk))).all())


@pytest.fixture
def world(copy_world: CopyWorld) -> DuplicateWorld:
    return copy_world(DuplicateWorld)


def test_a_round_leaves_out_near_duplicates_and_says_which_document_is_judged_instead(
    world: DuplicateWorld,
) -> None:
    assert dict(world.report.left_out) == {"near-duplicate:exact": 1}
    assert world.statuses().keys() == {("Q2", "b"), ("Q2", "제2조"), ("Q1", "a")}
    (made,) = list_pool_rounds(world.database, world.lead, "d")
    assert made.options["filters"] == ["near-duplicate:exact"]
    assert made.figures["left_out"] == {"near-duplicate:exact": 1}
    (item,) = iterate_left_out(world.database, world.lead, "d")
    assert (item.query_id, item.doc_id, item.rule, item.kept_doc_id) == (
        "Q2",
        "a",
        "near-duplicate:exact",
        "b",
    )
    again = world.pool_again()
    assert (again.new, again.round, again.left_out) == (0, None, {"near-duplicate:exact": 1})


def test_a_grade_is_offered_and_nothing_is_copied_until_a_lead_accepts_it(world: DuplicateWorld) -> None:
    group = world.group()
    assert (group.query_id, group.doc_id, group.pair, group.grade) == ("Q2", "b", KEPT, 2)
    assert [(item.doc_id, item.state, item.grade) for item in group.documents] == [("a", "offered", None)]
    assert world.accept(dry_run=True) == (1, 0, 1)
    assert ("Q2", "a") not in world.statuses()
    assert world.count_imported() == 0
    assert world.accept(KEPT) == (1, 0, 1)
    assert world.statuses()["Q2", "a"] == "imported"
    (item,) = world.group().documents
    assert (item.state, item.grade, item.accepted_at) == ("accepted", 2, LATER)
    with pytest.raises(StateError, match="Q2 b: its near duplicates have its grade already"):
        world.accept(KEPT)
    with pytest.raises(StateError, match="no near duplicate to which a settled grade is offered"):
        world.accept()
    assert world.count_imported() == 1


def test_an_accepted_grade_says_where_it_came_from(world: DuplicateWorld) -> None:
    world.accept()
    pair = next(
        pair
        for pair in list_pairs(world.database, OPERATOR, "d")
        if (pair.query_id, pair.doc_id) == ("Q2", "a")
    )
    (by,) = pair.provenance
    assert (by.system, by.rank, by.signals) == (
        "near duplicate",
        None,
        {"of": "b", "rule": "near-duplicate:exact", "round": 1},
    )
    assert pair.round == 2
    with world.database.read() as session:
        (row,) = session.scalars(select(ImportedQrelRow))
        assert row.source == {
            "kind": "near_duplicate",
            "of": "b",
            "of_pair": KEPT,
            "rule": "near-duplicate:exact",
            "round": 1,
            "accepted_by": "花子",
        }
        (event,) = session.scalars(
            select(AuditEventRow).where(col(AuditEventRow.action) == "accepted duplicates")
        )
        assert (event.action, event.person_pk, event.after) == (
            "accepted duplicates",
            world.lead.person_id,
            {"groups": 1, "pairs": 1, "new_pairs": 1},
        )


def test_the_history_of_a_pair_says_which_document_its_grade_is_of_and_who_accepted_it(
    world: DuplicateWorld,
) -> None:
    world.accept()
    history = read_pair_history(world.database, world.lead, "d", pair_key("d", "Q2", "a"), now=LATER)
    assert [(entry.who, entry.said) for entry in history if entry.action == "taken over"] == [
        ("花子", "took grade 2 from the near duplicate b")
    ]


def test_a_judgment_takes_the_place_of_an_accepted_grade(world: DuplicateWorld) -> None:
    world.accept()
    world.judge(world.first, "Q2", "a", 0)
    assert world.statuses()["Q2", "a"] == "single"
    (item,) = world.group().documents
    assert (item.state, item.grade) == ("judged", 0)
    with pytest.raises(StateError, match="Q2 b: all its near duplicates have been judged"):
        world.accept(KEPT)


def test_an_accepted_grade_is_out_of_date_when_the_judged_document_gets_another(
    world: DuplicateWorld,
) -> None:
    world.accept()
    world.judge(world.first, "Q2", "b", 3)
    (item,) = world.group().documents
    assert (world.group().grade, item.state, item.grade) == (None, "out of date", 2)
    with pytest.raises(StateError, match="Q2 b: it has no settled grade to pass on yet"):
        world.accept(KEPT)
    world.judge(world.second, "Q2", "b", 3)
    assert list_duplicates(world.database, OPERATOR, "d", now=LATER).out_of_date == 1
    assert world.accept() == (1, 1, 0)
    (item,) = world.group().documents
    assert (item.state, item.grade) == ("accepted", 3)


def test_a_further_near_duplicate_is_left_out_for_the_judged_document_and_not_for_one_with_its_grade(
    world: DuplicateWorld,
) -> None:
    world.run("s2", {"Q1": ["a", "b"]})
    assert world.pool_again().round == 2
    world.judge(world.first, "Q1", "a", 1)
    world.accept()
    world.document("c", "メール送信　トランザクション")
    world.run("s3", {"Q1": ["c"]})
    report = world.pool_again()
    assert (report.new, report.round) == (0, 4)
    assert world.pool_again().round is None
    groups = list_duplicates(world.database, OPERATOR, "d", now=LATER).groups
    assert [(group.doc_id, [(item.doc_id, item.state) for item in group.documents]) for group in groups] == [
        ("a", [("b", "accepted"), ("c", "offered")]),
        ("b", [("a", "accepted")]),
    ]


def test_only_a_lead_who_is_a_person_accepts(world: DuplicateWorld) -> None:
    with pytest.raises(NotAllowed):
        list_duplicates(world.database, world.first, "d", now=LATER)
    with pytest.raises(NotAllowed):
        accept_duplicates(world.database, world.first, "d", now=LATER)
    with pytest.raises(NotAllowed):
        accept_duplicates(world.database, OPERATOR, "d", now=LATER)
    with pytest.raises(NotFound, match="no group of near duplicates has the judged pair 0123"):
        world.accept(KEPT, "0123")
    assert world.count_imported() == 0


def test_a_release_says_that_a_grade_is_a_near_duplicates(world: DuplicateWorld, tmp_path: Path) -> None:
    world.accept()
    publish_release(
        world.database,
        world.lead,
        "d",
        "1.0.0",
        exports_dir=tmp_path,
        now=LATER,
        overrides=WAIVED,
    )
    folder = tmp_path / "d" / "1.0.0"
    sheet = " ".join((folder / "DATASHEET.md").read_text(encoding="utf-8").split())
    assert "which a lead accepted for this document, were kept as well: 1 qrel." in sheet
    assert "earlier ground truth were kept where nobody has judged the pair since: 0 qrels." in sheet
    assert "What came from files" not in sheet
    assert "near duplicate of b, whose grade a lead accepted for it" in (folder / "law.json").read_text(
        encoding="utf-8"
    )
    trace = trace_qrel(world.database, world.lead, "d", "1.0.0", "Q2", "a", now=LATER)
    assert trace.origin == "imported"
    assert trace.imported is not None
    assert (trace.imported.grade, trace.imported.source["of"]) == (2, "b")


def test_the_commands_list_and_accept(world: DuplicateWorld) -> None:
    shown = _run(world, "duplicates", "d").stdout
    assert "1 near duplicate: 0 waiting, 1 offered, 0 accepted, 0 out of date, 0 judged." in shown
    assert _run(world, "duplicates", "d", "--accept").exit_code == 2
    assert _run(world, "duplicates", "d", "--group", KEPT).exit_code == 2
    said = _run(world, "duplicates", "d", "--accept", "--as", "花子", "--group", KEPT).stdout
    assert (
        "Accepted the grades of 1 judged document for 1 near duplicate; 1 is a new pair, 0 had another grade before."
        in said
    )
    world.settle("b", 1)
    report = json.loads(_run(world, "duplicates", "d", "--json").stdout)
    assert (report["out_of_date"], report["groups"][0]["documents"][0]["grade"]) == (1, 2)
    assert "Out of date: Q2 a was accepted at 2, and b is at 1 now." in _run(world, "duplicates", "d").stdout
    assert "near duplicate of b" in _run(world, "pairs", "d").stdout
    left_out = json.loads(_run(world, "pool-rounds", "d", "--left-out", "--json").stdout)
    assert [(item["doc_id"], item["kept_doc_id"]) for item in left_out] == [("a", "b")]


def test_the_command_pool_leaves_documents_out(world: DuplicateWorld) -> None:
    words = (
        "pool",
        "d",
        "--depth",
        "3",
        "--dry-run",
        "--near-duplicates",
        "exact",
        "--exclude",
        "doc_id=제2조",
    )
    words += ("--exclude-title", "x", "--min-length", "5", "--one-per", "doc_id", "--json")
    report = json.loads(_run(world, *words).stdout)
    assert report["left_out"] == {
        "exclude:doc_id=제2조": 0,
        "exclude-title:x": 0,
        "min-length:5": 0,
        "one-per:doc_id": 0,
        "near-duplicate:exact": 1,
    }
    assert _run(world, "pool", "d", "--holes", "--min-length", "5").exit_code == 2
    assert "near-duplicate:exact" in _run(world, *words[:-1]).stdout


def test_a_lead_who_sees_the_grades_does_not_judge_these_pairs_and_without_them_nothing_is_recorded(
    world: DuplicateWorld,
) -> None:
    database, lead = world.database, world.lead
    page = show_duplicates(database, lead, "d", now=LATER)
    assert [(group.doc_id, group.grade) for group in page.report.groups] == [("b", None)]
    assert (page.total, page.report.offered, page.with_grades) == (1, 1, False)
    assert not world.list_seen()
    page = show_duplicates(database, lead, "d", now=LATER, with_grades=True)
    assert [(group.doc_id, group.grade) for group in page.report.groups] == [("b", 2)]
    assert world.list_seen() == {("Q2", "b")}


def test_a_lead_is_shown_no_grade_of_a_pair_that_is_still_theirs_to_judge(world: DuplicateWorld) -> None:
    change_settings(world.database, OPERATOR, "d", {"overlap": "3"}, now=LATER)
    page = show_duplicates(world.database, world.lead, "d", now=LATER, with_grades=True)
    assert (page.report.groups, page.hidden, page.total) == ((), 1, 0)
    assert not world.list_seen()


def test_only_the_grade_that_the_lead_has_seen_is_accepted(world: DuplicateWorld) -> None:
    with pytest.raises(ConflictError, match="the grade of Q2 b has changed in the meantime"):
        accept_duplicates(world.database, world.lead, "d", expected={KEPT: 3}, now=LATER)
    assert world.group().documents[0].state == "offered"
    done = accept_duplicates(world.database, world.lead, "d", expected={KEPT: 2}, now=LATER)
    assert done.accepted == 1 and world.group().documents[0].grade == 2
