"""CHANGES.md as people read it."""

from dataclasses import replace
from typing import Any

from annotator.releases.diff import SHOWN, write_changes
from annotator.releases.records import QrelChange, ReleaseDiff, Renames

QUIET = ReleaseDiff(
    "検索", "1.0.0", "1.1.0", (), (), (), (), False, "none", "nothing changed", guideline=(1, 1)
)


def make(**more: Any) -> ReleaseDiff:
    return replace(QUIET, **{"advice": "minor", "advice_why": "qrels changed (1 changed)", **more})


def test_the_whole_file_with_something_of_everything() -> None:
    diff = make(
        queries_added=("新|1",),
        queries_removed=("gone",),
        texts_changed=(("Q1", "前の\n本文", "後の本文"), ("Q2", "が", "か\u3099")),
        changes=(
            QrelChange(
                "changed",
                "Q1",
                "문서",
                3,
                1,
                "adjudication",
                cause="guideline_gap",
                rationale="第17条 | 本文",
            ),
            QrelChange("changed", "Q1", "b", 0, 2, None, "a"),
            QrelChange("added", "新|1", "d", None, 2),
            QrelChange("added", "Q1", "مستند", None, 2, "remap"),
            QrelChange("removed", "gone", "d", 1, None),
            QrelChange("removed", "Q1", "<x>", 0, None),
            QrelChange("grounds", "Q1", "s", 1, 1, "further judgment"),
            QrelChange("renamed", "Q1", "n", 1, 1, "remap", "o"),
        ),
        counts={"changed": 2, "added": 2, "removed": 2, "grounds": 1, "renamed": 1},
        whole={"新|1": 1, "gone": 1},
        reasons={"adjudication": 1, "": 1},
        scale_changed=True,
        guideline=(1, 2),
    )
    text = write_changes(diff, Renames(rows=(("o", "n", "renamed"), ("p", "p#1", "split"))))
    assert text == (
        "# Changes in 検索 1.1.0\n\nCompared with 1.0.0.\n\n"
        "Version: at least a minor step is recommended, because qrels changed (1 changed).\n\n"
        "| what | how many |\n|---|---:|\n"
        "| changed grades | 2 |\n| added queries | 1 |\n| removed queries | 1 |\n"
        "| qrels added with their query | 1 |\n| qrels removed with their query | 1 |\n"
        "| qrels added to queries in both releases | 1 |\n| qrels removed from queries in both releases | 1 |\n"
        "| qrels whose document has another id | 1 |\n"
        "| qrels with the same grade from other judgments or decisions | 1 |\n| changed query texts | 2 |\n\n"
        "The scale changed: see `scale` in both manifests.\n\n"
        "The guideline is version 2 instead of 1.\n\n"
        "## Changed grades\n\n- adjudication (1): a lead decided\n- not recorded (1): one of the releases is too old to tell\n\n"
        "| query | document | old | new | reason | cause | rationale |\n|---|---|---:|---:|---|---|---|\n"
        "| Q1 | 문서 | 3 | 1 | adjudication | guideline gap | 第17条 \\| 本文 |\n| Q1 | b (was a) | 0 | 2 | not recorded |  |  |\n\n"
        "## Added queries\n\n| query | qrels |\n|---|---:|\n| 新\\|1 | 1 |\n\n"
        "## Removed queries\n\n| query | qrels |\n|---|---:|\n| gone | 1 |\n\n"
        "## Changed query texts\n\n| query | before | after |\n|---|---|---|\n| Q1 | 前の⏎本文 | 後の本文 |\n"
        "| Q2 | が | か\u3099 (differs in white space or Unicode form only) |\n\n"
        "## Added qrels of queries in both releases\n\n| query | document | grade | reason |\n|---|---|---:|---|\n"
        "| Q1 | \u2068مستند\u2069 | 2 | remap |\n\n"
        "## Removed qrels of queries in both releases\n\n| query | document | grade |\n|---|---|---:|\n"
        "| Q1 | \\<x\\> | 0 |\n\n"
        "## Documents with other ids\n\n| old | new | how |\n|---|---|---|\n| o | n | renamed |\n| p | p\\#1 | split |\n"
    )


def test_the_first_release_says_so_and_an_unchanged_one_too() -> None:
    first = write_changes(replace(QUIET, before=None))
    assert first == "# Changes in 検索 1.1.0\n\nThe first release: there is nothing to compare it with.\n"
    assert (
        write_changes(QUIET)
        == "# Changes in 検索 1.1.0\n\nCompared with 1.0.0.\n\nVersion: nothing changed.\n"
    )


def test_long_tables_are_cut_and_say_how_many_there_are() -> None:
    changes = tuple(QrelChange("changed", "Q", f"d{number}", 0, 1, "revision") for number in range(SHOWN))
    text = write_changes(
        make(changes=changes, counts={"changed": 1_234}, queries_added=tuple(map(str, range(201))))
    )
    assert f"… and {1_234 - SHOWN:,} more: `annotator release diff` lists all 1,234." in text
    assert "… and 1 more: `annotator release diff` lists all 201." in text
    assert text.count("| revision |") == SHOWN


def test_a_version_that_is_smaller_than_its_changes_is_told() -> None:
    advice = make(after="1.0.1", advice="major").describe_advice()
    assert advice.endswith("**1.0.0 to 1.0.1 is only a patch step.**")
    assert "only" not in make(after="2.0.0", advice="major").describe_advice()
    assert "only" not in make(after=None).describe_advice()
