"""What is out: releases compared, their qrels page by page, and what each of them rests on. On both databases."""

import pytest

from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR
from annotator.releases.published_service import (
    browse_qrels,
    compare_releases,
    list_guidelines,
    read_renames,
    trace_qrel,
)
from annotator.releases.records import QrelChange, QrelRow, TracedImport
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.published_world import PublishedWorld


def make_world(database: Database) -> PublishedWorld:
    """Two releases: a grade adjudicated, one revised, a document renamed, one split, a query gone and one new."""
    made = PublishedWorld(database)
    made.publish(
        "1.0.0",
        [
            ("질의", "a", 3, {}),
            ("질의", "文書 1", 1, {}),
            ("질의", "old/é", 2, {}),
            ("질의", "page", 1, {}),
            ("gone", "x", 0, {}),
            ("استعلام", "same_100%", 2, {"origin": "single", "judgments": "7"}),
        ],
        texts={"질의": "검색어", "gone": "x", "استعلام": "قديم"},
        hour=1,
    )
    made.remap({"old/é": "mid"}, hour=2)
    made.remap({"mid": "new/é"}, hour=3)
    made.remap({"page": "page#1"}, hour=3, kind="split")
    made.publish(
        "1.1.0",
        [
            ("new", "y", 1, {}),
            ("질의", "文書 1", 2, {"origin": "adjudicated", "adjudication_pk": 5}),
            ("질의", "a", 0, {"judgments": "1 3"}),
            ("질의", "new/é", 2, {}),
            ("질의", "page#1", 3, {}),
            ("استعلام", "same_100%", 2, {"judgments": "7 8"}),
        ],
        texts={"new": "新しい", "질의": "검색어", "استعلام": "جديد"},
        hour=10,
    )
    made.remap({"a": "later"}, hour=11)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> PublishedWorld:
    return copy_world(make_world)


def test_two_releases_compared(world: PublishedWorld) -> None:
    diff = compare_releases(world.database, OPERATOR, "d", "1.0.0", "1.1.0", now=NOW)
    assert (diff.dataset, diff.before, diff.after) == ("d", "1.0.0", "1.1.0")
    assert (diff.queries_added, diff.queries_removed) == (("new",), ("gone",))
    assert diff.texts_changed == (("استعلام", "قديم", "جديد"),)
    assert diff.changes == (
        QrelChange("added", "new", "y", None, 1),
        QrelChange("changed", "질의", "a", 3, 0, "revision"),
        QrelChange("renamed", "질의", "new/é", 2, 2, "remap", "old/é"),
        QrelChange("removed", "질의", "page", 1, None, "remap"),
        QrelChange("added", "질의", "page#1", None, 3, "remap"),
        QrelChange("changed", "질의", "文書 1", 1, 2, "adjudication"),
        QrelChange("grounds", "استعلام", "same_100%", 2, 2, "further judgment"),
        QrelChange("removed", "gone", "x", 0, None),
    )
    assert (diff.whole, diff.advice, diff.scale_changed) == ({"new": 1, "gone": 1}, "minor", False)
    few = compare_releases(world.database, OPERATOR, "d", "1.0.0", "1.1.0", keep=1, now=NOW)
    assert few.counts == diff.counts
    assert [change.kind for change in few.changes] == ["changed", "renamed", "removed", "added", "grounds"]


def test_the_way_back_knows_the_same_documents(world: PublishedWorld) -> None:
    diff = compare_releases(world.database, OPERATOR, "d", "1.1.0", "1.0.0", now=NOW)
    assert {(change.kind, change.doc_id): change.reason for change in diff.changes if change.query_id == "질의"} == {
        ("changed", "a"): "revision", ("changed", "文書 1"): "adjudication", ("renamed", "old/é"): "remap",
        ("removed", "page#1"): "remap", ("added", "page"): "remap",
    }  # fmt: skip


def test_a_release_compared_with_itself_changed_nothing(world: PublishedWorld) -> None:
    diff = compare_releases(world.database, OPERATOR, "d", "1.1.0", "1.1.0", now=NOW)
    assert (diff.changes, diff.advice) == ((), "none")


def test_more_queries_than_are_read_at_once(database: Database) -> None:
    world = PublishedWorld(database)
    qrels = [(f"q{index}", "d", index % 4, {}) for index in range(450)]
    world.publish("1.0.0", qrels, texts={name: "" for name, *_ in qrels}, hour=1)
    moved = [
        (name, doc, grade if index != 449 else 3, more)
        for index, (name, doc, grade, more) in enumerate(qrels)
    ]
    world.publish("1.0.1", moved[1:], texts={name: "" for name, *_ in moved[1:]}, hour=2, scale=[])
    diff = compare_releases(database, OPERATOR, "d", "1.0.0", "1.0.1", now=NOW)
    assert [(change.kind, change.query_id) for change in diff.changes] == [
        ("changed", "q449"),
        ("removed", "q0"),
    ]
    assert (diff.scale_changed, diff.advice) == (True, "major")


def test_releases_made_before_texts_and_grounds_were_recorded_are_compared_by_their_grades(
    database: Database,
) -> None:
    world = PublishedWorld(database)
    old = {"judgments": None}
    world.publish("0.9.0", [("b", "d", 1, old), ("a", "d", 2, old), ("b", "e", 1, old)], texts=None, hour=1)
    world.publish(
        "1.0.0", [("b", "d", 2, {}), ("a", "d", 2, {}), ("b", "e", 1, {})], texts={"b": "x", "a": "y"}, hour=2
    )
    diff = compare_releases(database, OPERATOR, "d", "0.9.0", "1.0.0", now=NOW)
    assert diff.changes == (QrelChange("changed", "b", "d", 1, 2, None),)
    assert (diff.texts_changed, diff.queries_added) == ((), ())


def test_what_was_remapped_since_a_release(world: PublishedWorld) -> None:
    with world.database.read() as session:
        renames = read_renames(session, world.dataset_pk, since=world.at(10))
        between = read_renames(session, world.dataset_pk, since=world.at(1), until=world.at(10))
    assert renames.renamed == {"a": "later"}
    assert between.renamed == {"old/é": "new/é"}
    assert between.rows == (
        ("old/é", "mid", "renamed"),
        ("mid", "new/é", "renamed"),
        ("page", "page#1", "split"),
    )


def list_documents(world: PublishedWorld, **filters: object) -> list[str]:
    page = browse_qrels(world.database, OPERATOR, "d", "1.1.0", **filters, now=NOW)  # type: ignore[arg-type]
    assert page.total == len(page.rows)
    return [row.doc_id for row in page.rows]


def test_qrels_are_browsed_in_their_order_by_pages(world: PublishedWorld) -> None:
    page = browse_qrels(world.database, OPERATOR, "d", "1.1.0", limit=2, offset=1, now=NOW)
    assert page.total == 6
    assert page.rows == (
        QrelRow("질의", "검색어", "文書 1", 2, "adjudicated"),
        QrelRow("질의", "검색어", "a", 0, "unanimous"),
    )
    assert browse_qrels(world.database, OPERATOR, "d", "1.1.0", offset=6, now=NOW).rows == ()


def test_a_qrel_has_the_title_that_its_document_has_now(world: PublishedWorld) -> None:
    world.query("질의", "검색어")
    world.pair("질의", "文書 1", title="題 🔎")
    page = browse_qrels(world.database, OPERATOR, "d", "1.1.0", now=NOW)
    titles = {row.doc_id: row.title for row in page.rows}
    assert titles["文書 1"] == "題 🔎"
    assert set(titles.values()) == {"題 🔎", ""}


def test_filters_narrow_the_qrels_down(world: PublishedWorld) -> None:
    assert list_documents(world, grade=2) == ["文書 1", "new/é", "same_100%"]
    assert list_documents(world, grade=2, origin="adjudicated") == ["文書 1"]
    assert list_documents(world, search="新しい") == ["y"]
    assert list_documents(world, search="PAGE") == ["page#1"]
    assert list_documents(world, search="جديد") == ["same_100%"]
    assert list_documents(world, search="_1") == ["same_100%"]
    assert list_documents(world, search="0%") == ["same_100%"]
    assert list_documents(world, search="\0nothing") == []
    page = browse_qrels(world.database, OPERATOR, "d", "1.1.0", changed_since="1.0.0", now=NOW)
    assert [(row.doc_id, row.previous) for row in page.rows] == [
        ("y", None), ("文書 1", 1), ("a", 3), ("new/é", None), ("page#1", None),
    ]  # fmt: skip
    assert page.total == 5


@pytest.mark.parametrize("limits", [{"limit": 0}, {"limit": 1_001}, {"offset": -1}])
def test_a_page_has_bounds(world: PublishedWorld, limits: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="expected 1 to 1000 qrels"):
        browse_qrels(world.database, OPERATOR, "d", "1.1.0", **limits, now=NOW)  # type: ignore[arg-type]


def test_what_is_not_published_is_not_found(world: PublishedWorld) -> None:
    with pytest.raises(NotFound, match=r"no release '2\.0\.0'; there are: 1\.0\.0, 1\.1\.0"):
        compare_releases(world.database, OPERATOR, "d", "1.0.0", "2.0.0", now=NOW)
    for query_id, doc_id in (("질의", "nowhere"), ("gone", "x"), ("질의", "a\0")):
        with pytest.raises(NotFound, match=r"d 1\.1\.0 has no qrel for query"):
            trace_qrel(world.database, OPERATOR, "d", "1.1.0", query_id, doc_id, now=NOW)


def test_only_leads_see_what_is_behind_a_release(world: PublishedWorld) -> None:
    annotator = world.person("花子")
    for ask in (
        lambda: compare_releases(world.database, annotator, "d", "1.0.0", "1.1.0", now=NOW),
        lambda: browse_qrels(world.database, annotator, "d", "1.1.0", now=NOW),
        lambda: trace_qrel(world.database, annotator, "d", "1.1.0", "질의", "a", now=NOW),
        lambda: list_guidelines(world.database, annotator, "d"),
    ):
        with pytest.raises(NotAllowed):
            ask()
    assert browse_qrels(world.database, world.person("editor", "lead"), "d", "1.1.0", now=NOW).total == 6


class JudgedAndPublished:
    """A pair judged twice, then revised after the release; decided, then decided anew after it."""

    def __init__(self, database: Database, *, recorded: bool) -> None:
        self.world = world = PublishedWorld(database)
        self.hanako, self.minjun = world.person("花子"), world.person("민준", simulated=True)
        self.lead = world.person("editor", "lead")
        world.query("Q1", "検索")
        self.key = world.pair("Q1", "مستند")
        first = world.judge(self.hanako, "Q1", "مستند", 3, note="直接の答え")
        second = world.judge(self.minjun, "Q1", "مستند", None, note="읽을 수 없음")
        world.judge(world.person("put off"), "Q1", "مستند", None, outcome="later")
        decided = world.decide(self.lead, self.key, 2, "第17条", hour=1)
        world.name_people(self.minjun, self.lead, self.hanako)
        grounds = (
            {"judgments": world.find_judgments(first, second), "adjudication_pk": decided}
            if recorded
            else {"judgments": None}
        )
        world.publish(
            "1.0.0", [("Q1", "مستند", 2, {"origin": "adjudicated", **grounds})], texts={"Q1": "検索"}, hour=2
        )
        world.judged = 180
        world.judge(self.hanako, "Q1", "مستند", 0, note="after")
        world.decide(self.lead, self.key, 0, "after", hour=4, revision=2)


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "before keys were recorded"])
def test_a_grade_is_traced_to_what_it_was_published_on(database: Database, recorded: bool) -> None:
    made = JudgedAndPublished(database, recorded=recorded)
    trace = trace_qrel(database, made.lead, "d", "1.0.0", "Q1", "مستند", now=NOW)
    assert (trace.query, trace.grade, trace.origin, trace.complete) == ("検索", 2, "adjudicated", recorded)
    assert [(item.annotator, item.outcome, item.grade, item.note) for item in trace.judgments] == [
        ("annotator_1", "unrateable", None, "읽을 수 없음"),
        ("annotator_3", "graded", 3, "直接の答え"),
    ]
    assert [item.simulated for item in trace.judgments] == [True, False]
    assert {(item.guideline_version, item.purpose) for item in trace.judgments} == {(1, "independent")}
    decision = trace.adjudication
    assert decision is not None
    assert (decision.grade, decision.rationale, decision.reason, decision.lead, decision.guideline_version) == (
        2, "第17条", "guideline", "lead_2", 1,
    )  # fmt: skip
    assert decision.decided_at == made.world.at(1)
    assert trace.imported is None
    assert not [name for name in made.world.list_real_names() if name in repr(trace)]


def test_an_old_trail_is_found_under_the_id_that_a_document_has_now(database: Database) -> None:
    world = PublishedWorld(database)
    annotator = world.person("花子")
    world.query("Q1", "検索")
    world.pair("Q1", "now")
    world.judge(annotator, "Q1", "now", 1)
    world.name_people(annotator)
    world.publish("1.0.0", [("Q1", "then", 1, {"judgments": None, "origin": "single"}), ("Q1", "lost", 1, {"judgments": None})],
                  texts=None, hour=1)  # fmt: skip
    world.remap({"then": "now"}, hour=2)
    trace = trace_qrel(database, OPERATOR, "d", "1.0.0", "Q1", "then", now=NOW)
    assert [item.grade for item in trace.judgments] == [1]
    assert (trace.query, trace.complete) == (None, False)
    lost = trace_qrel(database, OPERATOR, "d", "1.0.0", "Q1", "lost", now=NOW)
    assert (lost.judgments, lost.adjudication, lost.complete) == ((), None, False)


def test_a_kept_grade_is_traced_to_the_file_it_came_from(database: Database) -> None:
    world = PublishedWorld(database)
    world.query("Q1", "検索")
    imported = world.keep_grade(world.pair("Q1", "d"), 3)
    grounds = {"judgments": "", "origin": "imported", "imported_qrel_pk": imported}
    world.publish("1.0.0", [("Q1", "d", 3, grounds)], texts={"Q1": "検索"}, hour=1)
    trace = trace_qrel(database, OPERATOR, "d", "1.0.0", "Q1", "d", now=NOW)
    assert trace.imported == TracedImport(3, {"kind": "qrels", "path": "구판.yaml"}, "先代", NOW)
    assert (trace.judgments, trace.adjudication, trace.complete) == ((), None, True)


def test_the_guidelines_are_listed_with_their_text(database: Database) -> None:
    PublishedWorld(database)
    (guideline,) = list_guidelines(database, OPERATOR, "d")
    assert (guideline.version, guideline.change, len(guideline.grades)) == (1, "semantic", 4)
    assert "Judge each document on its own" in guideline.guideline
