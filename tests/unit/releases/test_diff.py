"""What changed between two releases: pairs, reasons, renamed documents, and the version that it calls for."""

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import pytest

from annotator.releases.diff import ChangeCollector, compare_query, find_reason, summarise_changes
from annotator.releases.records import PublishedQrel, QrelChange, ReleaseFacts

SCALE = [{"grade": 0, "name": "無関係", "definition": "…"}]


def qrel(doc_id: str, grade: int, judgments: str | None = "", **more: Any) -> PublishedQrel:
    """One that rests on two judgments of its own, unless others are given ("none": on no judgment)."""
    own = str(crc32(doc_id.encode()))
    keys = None if judgments is None else {"": f"{own}1 {own}2", "none": ""}.get(judgments, judgments)
    return PublishedQrel("質問 1", doc_id, grade, more.pop("origin", "unanimous"), keys, **more)


def by_doc(*qrels: PublishedQrel) -> dict[str, PublishedQrel]:
    return {item.doc_id: item for item in qrels}


def facts(version: str | None = "1.0.0", **more: Any) -> ReleaseFacts:
    fields: dict[str, Any] = {"scale": SCALE, "guideline_version": 1, "queries": {"質問 1": "本文"}, **more}
    return ReleaseFacts("検索", version, **fields)


def test_pairs_come_go_and_change_in_the_order_of_their_documents() -> None:
    before = by_doc(qrel("문서", 3), qrel("a", 1), qrel("same", 0))
    after = by_doc(qrel("same", 0), qrel("🎯", 2, "7"), qrel("a", 2, "1 3"))
    assert compare_query(before, after) == [
        QrelChange("changed", "質問 1", "a", 1, 2, "revision"),
        QrelChange("removed", "質問 1", "문서", 3, None),
        QrelChange("added", "質問 1", "🎯", None, 2),
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ({"judgments": "1 2"}, {"judgments": "1 3"}, "revision"),
        ({"judgments": "1 2"}, {"judgments": "2"}, "revision"),
        ({"judgments": "1 2"}, {"judgments": "1 2 3"}, "further judgment"),
        ({"judgments": "9 10"}, {"judgments": "10 9 11"}, "further judgment"),
        ({"judgments": "none"}, {"judgments": "1"}, "further judgment"),
        ({"judgments": "1 2"}, {"judgments": "1 3", "adjudication_pk": 4, "origin": "adjudicated"}, "adjudication"),
        ({"adjudication_pk": 4, "origin": "adjudicated"}, {"adjudication_pk": 5, "origin": "adjudicated"}, "adjudication"),
        ({"judgments": "none", "imported_qrel_pk": 1, "origin": "imported"},
         {"judgments": "none", "imported_qrel_pk": 2, "origin": "imported"}, "re-import"),
        ({"judgments": "none", "imported_qrel_pk": 1, "origin": "imported"}, {"judgments": "8 9"}, "further judgment"),
        ({"judgments": None}, {"judgments": "1 2"}, None),
        ({"judgments": None}, {"judgments": "1 2", "adjudication_pk": 4, "origin": "adjudicated"}, "adjudication"),
        ({"judgments": "1 2"}, {"judgments": "1 2"}, None),
    ],
)  # fmt: skip
def test_the_reason_is_read_from_what_both_rest_on(
    old: Mapping[str, Any], new: Mapping[str, Any], reason: str | None
) -> None:
    assert find_reason(qrel("d", 1, **old), qrel("d", 2, **new)) == reason


def test_the_same_grade_on_other_grounds_is_said_as_such() -> None:
    before, after = by_doc(qrel("d", 1, "1", origin="single")), by_doc(qrel("d", 1, "1 2"))
    assert compare_query(before, after) == [QrelChange("grounds", "質問 1", "d", 1, 1, "further judgment")]
    assert compare_query(before, before) == []


def test_a_renamed_document_is_neither_removed_nor_added() -> None:
    before = by_doc(qrel("old/é", 1, None), qrel("x", 2, None), qrel("y", 3, None))
    after = by_doc(qrel("new/é", 1, None), qrel("y", 2, None), qrel("x", 1, None))
    changes = compare_query(before, after, {"old/é": "new/é", "x": "y", "y": "x"})
    assert changes == [
        QrelChange("renamed", "質問 1", "new/é", 1, 1, "remap", "old/é"),
        QrelChange("changed", "質問 1", "x", 3, 1, None, "y"),
        QrelChange("renamed", "質問 1", "y", 2, 2, "remap", "x"),
    ]


def test_two_that_share_a_judgment_are_one_pair_whatever_was_noted_of_its_document() -> None:
    before = by_doc(
        qrel("x", 1, "1 2"), qrel("y", 2, "3"), qrel("z", 0, "5"), qrel("k", 3, "none", imported_qrel_pk=9)
    )
    after = by_doc(
        qrel("y", 1, "1 2"), qrel("x", 0, "3 4"), qrel("z", 0, "5"), qrel("n", 3, "none", imported_qrel_pk=9)
    )
    expected = [
        QrelChange("renamed", "質問 1", "n", 3, 3, "remap", "k"),
        QrelChange("changed", "質問 1", "x", 2, 0, "further judgment", "y"),
        QrelChange("renamed", "質問 1", "y", 1, 1, "remap", "x"),
    ]
    assert compare_query(before, after) == expected
    assert compare_query(before, after, {"z": "elsewhere"}) == expected


def test_an_id_taken_over_from_another_document_is_not_that_document() -> None:
    before, after = by_doc(qrel("x", 1, "1"), qrel("y", 2, "2")), by_doc(qrel("y", 1, "1"))
    assert compare_query(before, after) == [
        QrelChange("removed", "質問 1", "y", 2, None, "remap"),
        QrelChange("renamed", "質問 1", "y", 1, 1, "remap", "x"),
    ]


def test_a_swap_is_seen_even_where_both_documents_look_the_same() -> None:
    before, after = (by_doc(qrel("x", 1, None), qrel("y", 1, None)) for _ in "12")
    changes = compare_query(before, after, {"x": "y", "y": "x"})
    assert [(change.kind, change.doc_id, change.old_doc_id) for change in changes] == [
        ("renamed", "x", "y"), ("renamed", "y", "x"),
    ]  # fmt: skip


def test_where_two_documents_meet_under_one_id_the_other_is_removed_by_the_remap() -> None:
    before, after = by_doc(qrel("a", 1), qrel("b", 3)), by_doc(qrel("b", 3))
    assert compare_query(before, after, {"a": "b"}) == [
        QrelChange("removed", "質問 1", "a", 1, None, "remap"),
    ]


def test_what_a_split_or_merge_took_and_brought_has_the_remap_as_its_reason() -> None:
    before, after = by_doc(qrel("page", 1), qrel("gone", 1)), by_doc(qrel("page#1", 1), qrel("new", 1))
    changes = compare_query(before, after, parted={"page"}, joined={"page#1", "page#2"})
    assert {(change.kind, change.doc_id): change.reason for change in changes} == {
        ("removed", "page"): "remap", ("removed", "gone"): None,
        ("added", "page#1"): "remap", ("added", "new"): None,
    }  # fmt: skip


def test_an_id_that_is_given_to_a_part_of_its_document_is_another_text() -> None:
    before, after = by_doc(qrel("page", 1), qrel("b", 2)), by_doc(qrel("page", 3, "8 9"), qrel("b", 2, "10"))
    changes = compare_query(before, after, parted={"page", "b"}, joined={"page", "page#2", "b"})
    assert [(change.kind, change.doc_id, change.reason) for change in changes] == [
        ("grounds", "b", "remap"), ("changed", "page", "remap"),
    ]  # fmt: skip


def test_an_id_freed_by_a_split_goes_to_the_document_that_was_given_it() -> None:
    before, after = by_doc(qrel("page", 1), qrel("x", 3)), by_doc(qrel("page", 3))
    assert compare_query(before, after, {"x": "page"}, parted={"page"}, joined={"page#1"}) == [
        QrelChange("removed", "質問 1", "page", 1, None, "remap"),
        QrelChange("renamed", "質問 1", "page", 3, 3, "remap", "x"),
    ]


def collect(*kinds: str, keep: int | None = None, whole: bool = False) -> ChangeCollector:
    collected = ChangeCollector(keep=keep)
    for index, kind in enumerate(kinds):
        collected.add([QrelChange(kind, "質問 1", str(index), 0, 1, None)], whole=whole)  # type: ignore[arg-type]
    return collected


@pytest.mark.parametrize(
    ("kinds", "after", "advice"),
    [
        ([], {}, "none"),
        (["changed"], {}, "minor"),
        (["added"], {}, "minor"),
        (["removed"], {}, "minor"),
        (["renamed"], {}, "minor"),
        (["grounds"], {}, "patch"),
        ([], {"queries": {"質問 1": "本文 改"}}, "patch"),
        ([], {"guideline_version": 2}, "patch"),
        ([], {"queries": {"質問 1": "本文", "질문 2": ""}}, "minor"),
        (["changed"], {"scale": []}, "major"),
        ([], {"scale": []}, "major"),
    ],
)
def test_the_advice_is_the_smallest_step_that_the_changes_allow(
    kinds: list[str], after: dict[str, Any], advice: str
) -> None:
    diff = summarise_changes(facts(), facts("1.0.1", **after), collect(*kinds), lambda _: {})
    assert diff.advice == advice
    assert diff.advice_why


def test_the_summary_lists_queries_and_texts_and_knows_when_texts_were_not_recorded() -> None:
    before = facts(queries={"gone": "x", "質問 1": "前", "old": None})
    after = facts("1.1.0", queries={"質問 1": "後", "old": "now", "новый": "y"})
    diff = summarise_changes(before, after, collect("changed"), lambda _: {})
    assert (diff.queries_added, diff.queries_removed) == (("новый",), ("gone",))
    assert diff.texts_changed == (("質問 1", "前", "後"),)
    assert (diff.before, diff.after, diff.guideline) == ("1.0.0", "1.1.0", (1, 1))
    assert diff.reasons == {"": 1}


def test_the_first_release_has_nothing_to_be_compared_with() -> None:
    diff = summarise_changes(None, facts(), collect("added"), lambda _: {})
    assert (diff.before, diff.after, diff.changes, diff.queries_added) == (None, "1.0.0", (), ())


def test_only_some_changes_are_listed_when_asked_but_all_are_counted() -> None:
    collected = collect("changed", "changed", "added", "changed", keep=2)
    collected.add([QrelChange("added", "新", "d", None, 1)], whole=True)
    assert [change.kind for change in collected.listed] == ["changed", "changed", "added"]
    assert collected.counts == {"changed": 3, "added": 2}
    assert collected.whole == {"新": 1}
    assert len(collect("changed", "changed", whole=True).listed) == 2


def test_a_grade_that_a_lead_changed_says_the_cause_and_the_rationale() -> None:
    collected = ChangeCollector()
    before = {"d": PublishedQrel("Q", "d", 3, "unanimous", "1 2", None, None)}
    after = {"d": PublishedQrel("Q", "d", 1, "adjudicated", "1 2", 7, None)}
    collected.add(compare_query(before, after), after)
    diff = summarise_changes(
        facts(), facts("1.0.1"), collected, lambda pks: dict.fromkeys(pks, ("slip", "第17条"))
    )
    (change,) = diff.changes
    assert (change.reason, change.cause, change.rationale) == ("adjudication", "slip", "第17条")
