"""The pages New dataset and Settings as Streamlit runs them, without a browser."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from annotator.dataset.rubric_file import GENERAL, GRADE_TEMPLATES, read_grade_template
from annotator.dataset.service import (
    archive_dataset,
    change_settings,
    list_datasets,
    read_current_rubric,
    show_dataset,
)
from annotator.dataset.settings import SETTINGS, read_setting
from annotator.domain.grades import DEFAULT_RUBRIC, choose_languages
from annotator.domain.ground_truth import PROFILE_NAMES
from annotator.domain.people import OPERATOR
from annotator.evaluation.profiles import PROFILES
from annotator.overview.settings_effects_service import describe_effects
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.dataset.words import WORDS, list_fields
from annotator.web.kit.messages import read_words
from tests.integration.dataset.test_archive import read_everything
from tests.integration.labeling_world import NOW, World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Two queries with two documents, which kim judges and lea leads."""
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield World(opened, queries=2, documents=2)
    opened.dispose()


def run(url: str, module: str, username: str, person_id: int, where: str | None, role: str) -> None:
    from datetime import UTC, datetime
    from importlib import import_module

    from annotator.dataset.service import list_datasets
    from annotator.domain.people import Actor, Membership, SignedIn
    from annotator.settings import Settings
    from annotator.storage.database import Database
    from annotator.web.page_context import PageContext

    database, actor = Database(url), Actor(person_id, username)
    now = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)
    person = SignedIn(actor, username, (Membership(where, role),), False, now)
    datasets = tuple(list_datasets(database, actor, archived_too=True))
    name = datasets[0].name if datasets else None
    import_module(module).draw(PageContext(database, Settings(), person, "", datasets, name, now))


def open_page(world: World, page: str, role: str = "lead", where: str | None = "d") -> AppTest:
    if where is None:
        add_person(world.database, OPERATOR, role, role=role, now=NOW)
        with world.database.read() as session:
            from annotator.people.roles_service import find_actor

            actor = find_actor(session, role)
    else:
        actor = world.person(role, role)
    module = f"annotator.web.dataset.{page}"
    args = (world.url, module, actor.username, actor.person_id, where, role)
    return AppTest.from_function(run, args=args, default_timeout=60).run()


def find(app: AppTest, kind: str, label: str) -> object:
    return next(item for item in app.get(kind) if item.label == label)


def texts(app: AppTest) -> str:
    shown = (*app.get("html"), *app.markdown, *app.error, *app.success, *app.text, *app.info)
    words = (str(getattr(item, "value", "") or getattr(item.proto, "body", "")) for item in shown)
    return "\n".join(words).replace("\\", "")  # without the escapes of Markdown


def test_every_setting_is_on_the_page_once_and_every_evaluator_has_its_profile() -> None:
    assert sorted(field.name for field in list_fields()) == sorted(SETTINGS) == sorted(read_words(WORDS))
    assert tuple(profile.name for profile in PROFILES) == PROFILE_NAMES


def test_every_control_takes_what_its_setting_takes() -> None:
    for field in list_fields():
        for bound in {field.low, field.high} if field.kind in ("whole", "number") else ():
            typed = str(int(bound) if field.kind == "whole" else bound)
            assert read_setting(field.name, typed) == bound
        for name, _ in field.choices:
            assert read_setting(field.name, name) == name


def test_a_change_says_what_it_causes_and_is_stored_only_when_saved(world: World) -> None:
    app = open_page(world, "settings_page")
    assert not app.exception and "No changes." in texts(app)
    find(app, "number_input", "Judgments per pair").set_value(3)  # type: ignore[attr-defined]
    app.run()
    assert "4 pairs need one more judgment." in texts(app)
    assert "**Judgments per pair**: 2 → 3" in texts(app)
    assert "Release gate judgments per pair: not met, before and after." in texts(app)
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 2
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert "Saved." in texts(app) and "No changes." in texts(app)
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 3


def test_a_closed_group_says_what_is_set_otherwise_than_by_default(world: World) -> None:
    change_settings(world.database, OPERATOR, "d", {"gold_rate": "0.1", "licence": "CC BY 4.0 " * 9}, now=NOW)
    app = open_page(world, "settings_page")
    lines = dict(item.label.replace("\\", "").split("  \n") for item in app.expander)
    assert lines["**Calibration**"] == "Gold pairs: 10 %"
    assert lines["**Disagreements**"] == "as by default"
    assert lines["**About the dataset**"] == "Licence: CC BY 4.0 CC BY 4.0 CC BY 4.0 CC BY 4.0 …"
    assert not any(item.proto.expanded for item in app.expander)
    assert "Default: 0\N{NO-BREAK SPACE}%." in texts(app) and "Default: 2." not in texts(app)


def test_a_search_opens_the_settings_that_match_and_keeps_what_is_typed_in_others(world: World) -> None:
    app = open_page(world, "settings_page")
    find(app, "number_input", "Judgments per pair").set_value(3).run()  # type: ignore[attr-defined]
    find(app, "text_input", "Find a setting").input("TARGET kappa").run()  # type: ignore[attr-defined]
    assert [item.label for item in app.number_input] == ["Target for Cohen's κ"]
    assert [item.proto.expanded for item in app.expander] == [True]
    assert "**Judgments per pair**: 2 → 3" in texts(app)
    find(app, "text_input", "Find a setting").input("nothing like it").run()  # type: ignore[attr-defined]
    assert "No setting matches." in texts(app) and not app.expander
    find(app, "text_input", "Find a setting").input("").run()  # type: ignore[attr-defined]
    assert find(app, "number_input", "Judgments per pair").value == 3  # type: ignore[attr-defined]
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 3


def test_own_requirements_stay_while_a_search_hides_them(world: World) -> None:
    app = open_page(world, "settings_page")
    find(app, "selectbox", "Requirements").select("own").run()  # type: ignore[attr-defined]
    find(app, "text_area", "Own requirements (YAML)").set_value("queries: 3").run()  # type: ignore[attr-defined]
    find(app, "text_input", "Find a setting").input("seed").run()  # type: ignore[attr-defined]
    assert not app.text_area and "**Requirements**: changed" in texts(app)
    find(app, "text_input", "Find a setting").input("requirements").run()  # type: ignore[attr-defined]
    assert find(app, "text_area", "Own requirements (YAML)").value == "queries: 3"  # type: ignore[attr-defined]
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].requirements == {"queries": 3}


def test_a_lead_who_saves_what_another_changed_is_told_so_and_loses_nothing(world: World) -> None:
    app = open_page(world, "settings_page")
    find(app, "number_input", "Judgments per pair").set_value(3)  # type: ignore[attr-defined]
    app.run()
    change_settings(world.database, OPERATOR, "d", {"overlap": "5"}, now=NOW)
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert "Another person changed overlap in the meantime" in texts(app)
    assert "Judgments per pair is now: 5" in texts(app)
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 5
    app.run()
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 3


def test_what_cannot_be_read_is_said_at_its_field_and_cannot_be_saved(world: World) -> None:
    app = open_page(world, "settings_page")
    find(app, "text_input", "Judgments per pair, by category").input("howto")  # type: ignore[attr-defined]
    app.run()
    assert "expected category=1-20" in texts(app)
    assert [button.label for button in app.button if button.label.startswith("Save")] == []


def test_requirements_are_written_as_yaml_and_a_bad_line_is_named(world: World) -> None:
    app = open_page(world, "settings_page")
    find(app, "selectbox", "Requirements").select("own").run()  # type: ignore[attr-defined]
    area = find(app, "text_area", "Own requirements (YAML)")
    area.set_value("queries: many").run()  # type: ignore[attr-defined]
    assert "queries to be a whole number" in texts(app)
    find(app, "text_area", "Own requirements (YAML)").set_value("queries: 3").run()  # type: ignore[attr-defined]
    next(button for button in app.button if button.label == "Save 1 change").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].requirements == {"queries": 3}


def test_what_a_change_causes_is_counted_without_storing_anything(world: World) -> None:
    before = read_everything(world.database)
    changes = {"overlap": "1", "kappa_target": "-1", "second_adjudicator": "true", "discuss_from": "2"}
    effects = describe_effects(world.database, OPERATOR, "d", changes, now=NOW)
    assert [str(effect) for effect in effects] == [
        "4 pairs need fewer judgments: 4 fewer in all.",
        "Release gate judgments per pair: not met, before and after.",
        "Release gate Cohen's κ: not met, before and after.",
        "0 open disagreements need two leads.",
        "0 open disagreements are discussed before a lead decides.",
    ]
    assert read_everything(world.database) == before


def test_a_dataset_is_archived_from_its_page_and_brought_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamlit, "switch_page", lambda *_, **__: streamlit.stop())
    app = open_page(world, "settings_page")
    find(app, "checkbox", "Archive d").check().run()  # type: ignore[attr-defined]
    next(button for button in app.button if button.label == "Archive this dataset").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].archived_at is not None
    app.run()
    assert app.number_input == []
    next(button for button in app.button if button.label == "Unarchive this dataset").click().run()
    assert show_dataset(world.database, OPERATOR, "d")[0].archived_at is None


def test_a_new_dataset_begins_with_a_template_edited_in_place(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[object] = []
    monkeypatch.setattr(
        streamlit, "switch_page", lambda _page, query_params: (went.append(query_params), streamlit.stop())
    )
    app = open_page(world, "new_dataset_page", "admin", None)
    app.get("button_group")[0].set_value("law").run()
    find(app, "text_input", "Name").input("법령-검색").run()  # type: ignore[attr-defined]
    find(app, "text_input", "Grade 3: name").input("Decides").run()  # type: ignore[attr-defined]
    find(app, "number_input", "Judgments per pair").set_value(3).run()  # type: ignore[attr-defined]
    assert [item.name for item in list_datasets(world.database, OPERATOR)] == ["d"]
    next(button for button in app.button if button.label == "Create dataset").click().run()
    made, _ = show_dataset(world.database, OPERATOR, "법령-검색")
    assert (made.title, made.language, made.overlap, made.profile) == ("법령-검색", "ko", 3, "law")
    assert made.requirements is not None and made.requirements["size_tier"] == 30
    _, rubric = read_current_rubric(world.database, OPERATOR, "법령-검색")
    assert [grade.name for grade in rubric.grades] == [
        "Unrelated",
        "Useful context",
        "Related background",
        "Decides",
    ]
    assert went == [{"dataset": "법령-검색"}]


def test_a_new_dataset_has_its_grades_in_the_languages_chosen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamlit, "switch_page", lambda *_, **__: streamlit.stop())
    app = open_page(world, "new_dataset_page", "admin", None)
    find(app, "text_input", "Name").input("new").run()  # type: ignore[attr-defined]
    find(app, "selectbox", "Language of the grades and the guideline").select("ko").run()  # type: ignore[attr-defined]
    next(item for item in app.get("button_group") if item.label == "Translations").set_value(["ja"]).run()
    assert [tab.label for tab in app.tabs] == ["한국어", "日本語"]
    names = [item for item in app.text_input if item.label == "Grade 3: name"]
    assert [item.value for item in names] == ["완벽함", "完全に適合する"]
    names[0].input("정확함").run()
    assert [item.value for item in app.warning] == [
        "You changed grade 3, and the Japanese translation is as before. Change it too, or publish it as it is."
    ]
    next(button for button in app.button if button.label == "Create dataset").click().run()
    _, rubric = read_current_rubric(world.database, OPERATOR, "new")
    assert (rubric.languages, rubric.grades[3].name) == (("ko", "ja"), "정확함")
    assert rubric.translations[0].guideline.startswith("文書は一つずつ")


def test_an_empty_field_of_a_translation_is_named_in_its_tab(world: World) -> None:
    app = open_page(world, "new_dataset_page", "admin", None)
    find(app, "text_input", "Name").input("new").run()  # type: ignore[attr-defined]
    [item for item in app.text_input if item.label == "Grade 3: name"][2].input(" ").run()
    next(button for button in app.button if button.label == "Create dataset").click().run()
    assert texts(app).count("Give this grade a name.") == 1
    assert len(list_datasets(world.database, OPERATOR)) == 1


def test_every_template_is_given_in_every_language_of_the_pages() -> None:
    for name in GRADE_TEMPLATES:
        rubric = read_grade_template(name)
        assert rubric.languages == ("en", "ja", "ko")
        assert all(texts.guideline and texts.title for texts in rubric.translations)
    english = choose_languages(read_grade_template(GENERAL), "en", ())
    assert replace(english, language="") == DEFAULT_RUBRIC


@pytest.mark.parametrize(
    ("name", "said"),
    [("a b", "Expected a dataset name"), ("D", "There is a dataset named &#x27;D&#x27; already")],
)
def test_a_name_that_cannot_be_is_said_while_it_is_typed(world: World, name: str, said: str) -> None:
    app = open_page(world, "new_dataset_page", "admin", None)
    find(app, "text_input", "Name").input(name).run()  # type: ignore[attr-defined]
    assert said in texts(app)


def test_a_language_that_is_no_tag_is_named_at_its_field_and_nothing_is_made(world: World) -> None:
    app = open_page(world, "new_dataset_page", "admin", None)
    find(app, "text_input", "Name").input("new").run()  # type: ignore[attr-defined]
    find(app, "text_input", "Main language of the documents").input("Japanese").run()  # type: ignore[attr-defined]
    assert "expected a language tag such as ja, or nothing, found &#x27;Japanese&#x27;" in texts(app)
    next(button for button in app.button if button.label == "Create dataset").click().run()
    assert "Not created yet" in texts(app)
    assert len(list_datasets(world.database, OPERATOR)) == 1


def test_an_empty_field_is_named_and_nothing_is_made(world: World) -> None:
    app = open_page(world, "new_dataset_page", "admin", None)
    find(app, "text_area", "Grade 2: definition").set_value(" ").run()  # type: ignore[attr-defined]
    next(button for button in app.button if button.label == "Create dataset").click().run()
    assert "Give the dataset a name." in texts(app) and "Describe what this grade means." in texts(app)
    assert len(list_datasets(world.database, OPERATOR)) == 1


def test_only_an_admin_of_all_datasets_sees_the_form(world: World) -> None:
    app = open_page(world, "new_dataset_page", "admin")
    assert "Only an admin of all datasets can create one" in texts(app)
    assert not app.button


def test_a_lead_finds_the_archived_datasets_and_an_annotator_does_not_see_them(world: World) -> None:
    kim = world.person("kim")
    archive_dataset(world.database, OPERATOR, "d", now=NOW)
    assert list_datasets(world.database, kim) == []
