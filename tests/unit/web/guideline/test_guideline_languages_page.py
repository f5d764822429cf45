"""A guideline in several languages on its page and in the panels: each reader sees theirs, and leads write all of them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.people import Actor
from annotator.guideline.service import list_versions, publish_version, read_version
from annotator.web.guideline.api import describe_rubric, routes
from annotator.web.kit.messages import use_language
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.guideline_world import LATER, GuidelineWorld
from tests.integration.judged_world import NOW
from tests.unit.guideline.test_compare import change
from tests.unit.guideline.test_languages import BOTH, ENGLISH, JAPANESE, KOREAN
from tests.unit.web.guideline.test_guideline_page import field, open_draft, press, type_in
from tests.unit.web.lead_pages import run, words


@pytest.fixture
def world(copy_world: CopyWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[GuidelineWorld]:
    made = copy_world(GuidelineWorld)
    context = GivenContext(database=made.database, actor=made.lea, now=NOW)
    monkeypatch.setattr("annotator.web.guideline.page.find_context", lambda: context)
    yield made
    use_language("en")


def publish(world: GuidelineWorld, rubric: Rubric, base: int = 1) -> None:
    publish_version(
        world.database, world.lea, "d", rubric, base_version=base, change="minor", why="", now=NOW
    )


def read_page(url: str, page: str, language: str, username: str, person_id: int) -> None:
    from annotator.web.kit.messages import use_language
    from tests.unit.web.lead_pages import run_page

    use_language(language)
    run_page(url, page, username, person_id, "d", "exports")


def open_in(world: GuidelineWorld, language: str, page: str = "guideline") -> AppTest:
    args = (str(world.database.url), page, language, world.lea.username, world.lea.person_id)
    return run(AppTest.from_function(read_page, args=args))


def choose_language(app: AppTest, tag: str) -> AppTest:
    next(item for item in app.selectbox if item.label == "Language of this guideline").set_value(tag)
    return run(app)


def test_each_reader_sees_their_language_and_is_told_when_it_is_missing(world: GuidelineWorld) -> None:
    publish(world, BOTH)
    korean, japanese, english = (words(open_in(world, tag)) for tag in ("ko", "ja", "en"))
    assert "등급 3" in korean and "Perfect" not in korean
    assert 'lang="ko"' in korean and "번역이 없습니다" not in korean
    assert "このガイドラインの日本語版はまだありません。英語版を表示しています。" in japanese
    assert "Perfect" in japanese and "Perfect" in english
    assert "version yet" not in english


def test_another_language_of_the_guideline_can_be_read(world: GuidelineWorld) -> None:
    publish(world, BOTH)
    app = open_in(world, "en")
    app.get("button_group")[0].set_value("ko")
    assert "등급 3" in words(run(app))


def test_a_guideline_without_languages_is_shown_as_before(world: GuidelineWorld) -> None:
    app = open_in(world, "ko")
    assert "Perfect" in words(app) and "번역이 없습니다" not in words(app)
    assert not app.get("button_group")


@pytest.mark.parametrize("page", ["help", "guideline"])
def test_a_grade_has_its_name_in_the_readers_language(world: GuidelineWorld, page: str) -> None:
    publish(world, BOTH)
    app = open_in(world, "ko", page)
    shown = words(app) + "".join(str(item.value) for item in app.text)
    assert "등급 3" in shown and "Perfect" not in shown


def test_a_panel_gets_the_grades_in_the_readers_language() -> None:
    for language, name, tag, missing in (
        ("ko", "등급 3", "ko", ""),
        ("en", "Perfect", "en", ""),
        ("ja", "Perfect", "en", "このガイドラインの日本語版はまだありません。英語版を表示しています。"),
    ):
        use_language(language)
        shown = describe_rubric(2, BOTH)
        assert (shown["grades"][3]["name"], shown["language"], shown["missing"]) == (name, tag, missing)
    use_language("ko")
    partly = describe_rubric(2, replace(BOTH, translations=(replace(KOREAN, guideline=""),)))
    assert (partly["language"], partly["guideline_language"]) == ("ko", "en")
    assert "본문에는 아직 한국어 번역이 없습니다" in partly["missing"]
    use_language("en")


def test_a_browser_is_told_of_a_version_only_if_it_changed_something_in_its_language(
    world: GuidelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(world, BOTH)
    publish(world, replace(BOTH, translations=(JAPANESE, change(KOREAN, 0, name="무관"))), 2)
    monkeypatch.setattr("annotator.web.downloads.require_signed_in", lambda _: SignedInAs(world.hanako))
    client = TestClient(Starlette(routes=routes(world.database)))
    changes = {}
    for language in ("en", "ja", "ko"):
        use_language(language)
        shown = client.get("/api/standard", params={"dataset": "d", "since": "2"}).json()
        assert shown["version"] == 3
        changes[language] = shown.get("change")
    assert changes["en"] is None
    assert [grade["after"] for grade in changes["ko"]["grades"]] == ["무관"]
    assert (changes["ko"]["translated"], changes["ja"]["grades"]) == ("", [])
    assert changes["ja"]["translated"] == "ガイドラインが日本語で表示されるようになりました。"


class SignedInAs:
    """Who a request comes from."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor


def test_a_lead_adds_a_translation_under_a_tab_of_its_own_and_publishes_it(world: GuidelineWorld) -> None:
    app = open_draft(world)
    assert "Choose the language of this guideline to add translations." in words(app)
    choose_language(app, "en")
    press(app, "Add Korean")
    assert [tab.label for tab in app.tabs if tab.label in ("English", "한국어")] == ["English", "한국어"]
    for definition in KOREAN.grades:
        type_in(app, f"ko_name{definition.grade}", definition.name)
        type_in(app, f"ko_definition{definition.grade}", definition.definition)
    type_in(app, "ko_guideline", KOREAN.guideline)
    type_in(app, "ko_title", KOREAN.title)
    assert "New translation: Korean" in words(app)
    assert app.radio[0].value == "minor"
    press(app, "Publish version 2")
    assert read_version(world.database, world.lea, "d").rubric == replace(
        ENGLISH, guideline=ENGLISH.guideline.rstrip(), translations=(KOREAN,)
    )


def test_what_is_typed_in_one_language_stays_while_another_is_added(world: GuidelineWorld) -> None:
    app = open_draft(world)
    choose_language(app, "en")
    type_in(app, "name1", "Slightly")
    press(app, "Add Korean")
    type_in(app, "ko_name1", "조금")
    press(app, "Add Japanese")
    assert field(app, "name1").value == "Slightly"  # type: ignore[attr-defined]
    assert field(app, "ko_name1").value == "조금"  # type: ignore[attr-defined]
    assert field(app, "ja_name1").value == ""  # type: ignore[attr-defined]


def test_a_translation_that_is_not_whole_is_refused_with_its_language_and_field(
    world: GuidelineWorld,
) -> None:
    app = open_draft(world)
    choose_language(app, "en")
    press(app, "Add Korean")
    press(app, "Publish version 2")
    assert "Korean, Grade 0: name: enter 1 to 100 characters" in words(app).replace("\\", "")
    assert [item.version for item in list_versions(world.database, world.lea, "d")] == [1]


def test_a_translation_that_did_not_follow_is_named_before_publishing(world: GuidelineWorld) -> None:
    publish(world, BOTH)
    app = open_draft(world)
    type_in(app, "definition2", "Changed.")
    warned = [item.value for item in app.warning]
    assert warned == [
        "You changed grade 2, and the Korean translation is as before. Change it too, or publish it as it is."
    ]
    type_in(app, "ko_definition2", "바뀜")
    assert not app.warning
    assert "Translation into Korean" in words(app)


def test_a_translation_is_removed_by_its_button(world: GuidelineWorld) -> None:
    publish(world, BOTH)
    app = open_draft(world)
    press(app, "Remove Korean")
    assert "Removed translation: Korean" in words(app)
    press(app, "Publish version 3")
    assert read_version(world.database, world.lea, "d").rubric.languages == ("en",)


def test_two_leads_who_change_different_languages_get_both(world: GuidelineWorld) -> None:
    publish(world, BOTH)
    app = open_draft(world)
    type_in(app, "name1", "Slightly")
    publish_version(
        world.database,
        world.lou,
        "d",
        replace(BOTH, translations=(change(KOREAN, 1, name="조금"),)),
        base_version=2,
        change="minor",
        now=LATER,
    )
    press(app, "Publish version 3")
    press(app, "Publish version 4")
    made = read_version(world.database, world.lea, "d").rubric
    assert (made.grades[1].name, made.translations[0].grades[1].name) == ("Slightly", "조금")


def test_a_stored_draft_with_an_unknown_language_keeps_its_texts(world: GuidelineWorld) -> None:
    from annotator.web.guideline import draft as guideline_draft

    taken: list[Any] = []
    fields = {"language": "kr", "translated": "ko xx", "ko_name1": "조금", "xx_name1": "x"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guideline_draft, "set_draft", lambda dataset, draft: taken.append(draft))
        patch.setattr("streamlit.session_state", {})
        base = list_versions(world.database, world.lea, "d")[0]
        guideline_draft._restore("d", base, json.dumps({"base": 1, "fields": fields}))
    (draft,) = taken
    assert draft.fields == {"translated": "ko xx", "ko_name1": "조금"}
    read = guideline_draft.to_rubric(guideline_draft.to_fields(ENGLISH) | draft.fields)
    assert read.languages == ("en", "ko")
    assert DEFAULT_RUBRIC.grades[2].name == read.grades[2].name
