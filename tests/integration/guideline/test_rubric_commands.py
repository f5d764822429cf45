"""`annotator rubric …` as a process would run it: print, list, compare, publish."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import AnnotatorError
from annotator.storage.database import Database
from tests.integration.guideline_world import GuidelineWorld

FILE = """
title: 評価基準
guideline: |
  一行目
  둘째 줄
grades:
  - {grade: 0, name: 無関係, definition: 役に立たない。}
  - {grade: 1, name: 少し, definition: 話題が同じ。}
  - {grade: 2, name: 大半, definition: 大半に答える。, positive_examples: [手順書], negative_examples: [目次]}
  - {grade: 3, name: 完璧, definition: これだけで足りる。}
"""


class Commands:
    """The command line over the test's database."""

    def __init__(self, world: GuidelineWorld, folder: Path) -> None:
        self.world, self.file = world, folder / "rubric.yaml"
        self.file.write_text(FILE, encoding="utf-8")
        self.url = world.database.url.render_as_string(hide_password=False)

    def run(self, *words: str) -> str:
        done = CliRunner().invoke(app, ["rubric", *words, "--database", self.url])
        if isinstance(done.exception, AnnotatorError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.output

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def commands(database: Database, tmp_path: Path) -> Commands:
    return Commands(GuidelineWorld(database, tmp_path), tmp_path)


def test_a_version_is_published_from_a_file_shown_listed_and_compared(commands: Commands) -> None:
    file = str(commands.file)
    output = commands.run("set", "d", file, "--change", "semantic", "--why", "改正", "--as", "léa")
    assert output == "Published version 2 of the guideline of d.\n5 judgments must be confirmed or changed.\n"
    shown = commands.run("show", "d")
    assert shown.startswith("version 2 (semantic)\n改正\n\n評価基準\n")
    assert "2  大半\n   大半に答える。\n   + 手順書\n   - 目次\n" in shown
    assert shown.endswith("一行目\n둘째 줄\n")
    assert commands.run("show", "d", "--version", "1").startswith("version 1 ")
    assert commands.json("show", "d")["grades"][2]["positive_examples"] == ["手順書"]
    assert [(item["version"], item["author"]) for item in commands.json("list", "d")] == [
        (2, "léa Realname"), (1, None),
    ]  # fmt: skip
    assert "2  " in commands.run("list", "d")
    compared = commands.run("diff", "d", "1", "2")
    assert "  + 大半に答える。\n" in compared
    assert "  + 둘째 줄\n" in compared
    assert [item["grade"] for item in commands.json("diff", "d", "1", "2")["grades"]] == [0, 1, 2, 3]
    assert commands.run("diff", "d", "2", "2") == "No differences.\n"


def test_what_is_not_to_be_published_is_refused_with_the_reason(commands: Commands) -> None:
    file = str(commands.file)
    with pytest.raises(AnnotatorError, match="why: enter a reason"):
        commands.run("set", "d", file, "--change", "semantic", "--as", "léa")
    with pytest.raises(AnnotatorError, match="change: choose minor or semantic, not 'big'"):
        commands.run("set", "d", file, "--change", "big")
    with pytest.raises(AnnotatorError, match="needs the role lead"):
        commands.run("set", "d", file, "--change", "minor", "--as", "花子")
    commands.run("set", "d", file, "--change", "minor")
    with pytest.raises(AnnotatorError, match="Version 2 was published while you were changing version 1"):
        commands.run("set", "d", file, "--change", "minor", "--base", "1")
    with pytest.raises(
        AnnotatorError, match="There is nothing to publish: the draft is the same as version 2"
    ):
        commands.run("set", "d", file, "--change", "minor")
