"""A guideline in several languages: published as one version, read in one's own, kept in exports and releases."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.export_service import export_dataset
from annotator.dataset.restore_service import restore_dataset
from annotator.domain.errors import AnnotatorError, StateError
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.people import OPERATOR
from annotator.guideline.service import (
    GuidelineVersion,
    count_outdated,
    explain_change,
    explain_versions_since,
    list_versions,
    publish_version,
    read_version,
)
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.dataset.test_export import GATES
from tests.integration.guideline_world import LATER, GuidelineWorld
from tests.integration.judged_world import NOW
from tests.integration.release_world import ReleaseWorld
from tests.unit.guideline.test_compare import change

KOREAN = Rubric(
    tuple(replace(item, name=f"등급 {item.grade}", definition="뜻") for item in DEFAULT_RUBRIC.grades),
    guideline="한국어 지침",
    title="등급",
    language="ko",
)
ENGLISH = replace(DEFAULT_RUBRIC, language="en")
FILE = """
language: ja
title: 評価基準
grades: &grades
  - {grade: 0, name: 無関係, definition: 役に立たない。}
  - {grade: 1, name: 少し, definition: 話題が同じ。}
  - {grade: 2, name: 大半, definition: 大半に答える。}
  - {grade: 3, name: 完璧, definition: これだけで足りる。}
translations:
  ko:
    title: 등급 기준
    guideline: 한국어 지침
    grades:
      - {grade: 0, name: 무관, definition: 도움이 되지 않는다.}
      - {grade: 1, name: 조금, definition: 주제가 같다.}
      - {grade: 2, name: 대부분, definition: 대부분 답한다.}
      - {grade: 3, name: 완벽, definition: 이것으로 충분하다.}
"""


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


def publish(
    world: GuidelineWorld, rubric: Rubric, base: int, change: str = "minor", **options: Any
) -> GuidelineVersion:
    return publish_version(
        world.database,
        world.lea,
        "d",
        rubric,
        base_version=base,
        change=change,
        why="x",
        now=LATER,
        **options,
    )


def test_a_translation_is_a_version_of_its_own_and_asks_nobody_again(world: GuidelineWorld) -> None:
    before = read_version(world.database, world.hanako, "d")
    made = publish(world, replace(ENGLISH, translations=(KOREAN,)), 1)
    assert (made.version, made.rubric.languages) == (2, ("en", "ko"))
    assert read_version(world.database, world.hanako, "d", 1) == before
    assert count_outdated(world.database, world.lea, "d") == []
    mended = replace(ENGLISH, translations=(change(KOREAN, 2, definition="고친 뜻"),))
    publish(world, mended, 2)
    assert [item.rubric.translations for item in list_versions(world.database, world.lea, "d")] == [
        mended.translations, (KOREAN,), (),
    ]  # fmt: skip
    assert count_outdated(world.database, world.lea, "d") == []


def test_what_changed_since_an_answer_is_explained_in_the_annotators_language(world: GuidelineWorld) -> None:
    publish(world, replace(ENGLISH, translations=(KOREAN,)), 1)
    after = replace(
        change(ENGLISH, 2, definition="English since"),
        translations=(change(KOREAN, 2, definition="바뀐 뜻"),),
    )
    publish(world, after, 2, "semantic")

    def find_definition(language: str) -> str:
        why = explain_change(world.database, world.hanako, "d", world.keys["d1"], language=language)
        assert why.guideline is not None
        return why.guideline.comparison.grades[0].after.definition

    assert (find_definition("en"), find_definition("ja")) == ("English since", "English since")
    since = explain_versions_since(world.database, world.hanako, "d", 2, language="ko")
    assert since.comparison.grades[0].after.definition == "바뀐 뜻"
    whole = explain_versions_since(world.database, world.hanako, "d", 1, language="ko")
    assert whole.shown_since_in == "ko"  # version 1 did not say in which language it is
    assert [grade.after.definition for grade in whole.comparison.grades] == ["English since"]


def test_a_version_that_lacks_a_language_is_refused_unless_it_is_to_be_removed(world: GuidelineWorld) -> None:
    publish(world, replace(ENGLISH, translations=(KOREAN,)), 1)
    with pytest.raises(StateError, match="This version lacks ko: add it, or ask"):
        publish(world, change(ENGLISH, 2, definition="x"), 2)
    made = publish(world, change(ENGLISH, 2, definition="x"), 2, may_remove_languages=True)
    assert made.rubric.languages == ("en",)


def run(world: GuidelineWorld, *words: str) -> str:
    url = world.database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, [*words, "--database", url])
    if isinstance(done.exception, AnnotatorError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_commands_publish_show_and_compare_every_language(world: GuidelineWorld, tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(FILE, encoding="utf-8")
    run(world, "rubric", "set", "d", str(path), "--change", "minor")
    assert "languages: ja, ko\n\n評価基準\n" in run(world, "rubric", "show", "d")
    korean = run(world, "rubric", "show", "d", "--language", "ko")
    assert "3  완벽\n   이것으로 충분하다." in korean and korean.endswith("한국어 지침\n")
    with pytest.raises(AnnotatorError, match="version 2 is not given in 'en'; its languages: ja, ko"):
        run(world, "rubric", "show", "d", "--language", "en")
    compared = run(world, "rubric", "diff", "d", "1", "2")
    assert "language: not stated -> ja\n" in compared
    assert compared.endswith("translation ko: added\n")
    shown = run(world, "rubric", "show", "d", "--json")
    path.write_text(shown, encoding="utf-8")  # what is shown can be published again
    with pytest.raises(AnnotatorError, match="the draft is the same as version 2"):
        run(world, "rubric", "set", "d", str(path), "--change", "minor")
    assert json.loads(run(world, "dataset", "show", "d", "--json"))["guideline"] == {
        "version": 2, "language": "ja", "translations": ["ko"],
    }  # fmt: skip
    assert "version 2 in ja, translated into ko" in run(world, "dataset", "show", "d")
    path.write_text(FILE[: FILE.index("translations")], encoding="utf-8")
    with pytest.raises(AnnotatorError, match="This version lacks ko"):
        run(world, "rubric", "set", "d", str(path), "--change", "minor")
    run(world, "rubric", "set", "d", str(path), "--change", "minor", "--remove-languages")
    assert "translation ko: removed" in run(world, "rubric", "diff", "d", "2", "3")


def test_a_dataset_is_created_from_a_file_with_languages(world: GuidelineWorld, tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(FILE, encoding="utf-8")
    run(world, "dataset", "create", "new", "--rubric", str(path))
    assert read_version(world.database, OPERATOR, "new").rubric.languages == ("ja", "ko")


def test_an_exported_dataset_keeps_every_language(world: GuidelineWorld, tmp_path: Path) -> None:
    publish(world, replace(ENGLISH, translations=(KOREAN,)), 1)
    path = tmp_path / "d.zip"
    path.write_bytes(b"".join(export_dataset(world.database, OPERATOR, "d", now=NOW)))
    restore_dataset(world.database, OPERATOR, path, name="copy", now=NOW)
    copied, first = list_versions(world.database, OPERATOR, "copy")
    assert copied.rubric == replace(ENGLISH, guideline=ENGLISH.guideline.rstrip(), translations=(KOREAN,))
    assert first.rubric.languages == ()


def test_a_release_shows_the_authoritative_texts_and_lists_the_languages(
    database: Database, tmp_path: Path
) -> None:
    released = ReleaseWorld(database)
    released.add_decision(released.lead, "Q2", "법률_제17조", 2)
    reasons = dict.fromkeys(GATES, "a test")

    def release(version: str) -> tuple[dict[str, Any], str]:
        made = publish_release(
            database, released.lead, released.name, version, exports_dir=tmp_path, now=NOW, overrides=reasons
        )
        sheet = (made.path / "DATASHEET.md").read_text(encoding="utf-8")
        return json.loads((made.path / "manifest.json").read_text(encoding="utf-8")), sheet

    manifest, sheet = release("1.0.0")
    assert "guideline_languages" not in manifest and "authoritative language" not in sheet
    rubric = replace(ENGLISH, translations=(KOREAN,))
    publish_version(database, released.lead, released.name, rubric, base_version=1, change="minor", now=NOW)
    manifest, sheet = release("1.0.1")
    assert manifest["guideline_languages"] == ["en", "ko"]
    assert [grade["name"] for grade in manifest["scale"]] == [item.name for item in ENGLISH.grades]
    assert "in English, the authoritative language. Annotators could also read them in Korean." in sheet
    assert "한국어 지침" not in sheet
