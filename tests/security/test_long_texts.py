"""Every text that a lead or an annotator sets has a limit, and the refusal names the field and how many characters it may have."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.dataset.service import change_settings, create_dataset, show_dataset
from annotator.dataset.settings import SETTINGS, read_setting
from annotator.domain.errors import ValidationError
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_queries
from annotator.people.invitations_service import invite
from annotator.people.service import add_person, change_person
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld

LONG = "x" * 200_001
AT_MOST = re.compile(r"(at most|up to|to) [\d,]+|\(now [\d,]+\)")


class World(JudgedWorld):
    """A dataset without queries, and its lead."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.lea, self.ann = self.person("lea", "lead"), self.person("ann")
        self.folder = folder

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content, "utf-8")
        return path

    def change(self, **settings: str) -> object:
        return change_settings(self.database, self.lea, "d", settings, now=NOW)

    def publish_rubric(self, rubric: Rubric, why: str = "why") -> object:
        return publish_version(
            self.database, self.lea, "d", rubric, base_version=1, change="semantic", why=why, now=NOW
        )

    def publish(self, **texts: Any) -> object:
        return publish_release(
            self.database, self.lea, "d", "1.0.0", exports_dir=self.folder, now=NOW, **texts
        )

    def limit(self, **expertise: list[str]) -> object:
        return change_person(self.database, OPERATOR, "ann", dataset="d", expertise=expertise, now=NOW)

    def load_queries(self, **columns: str) -> object:
        path = self.write("q.csv", f"id,{LONG[:150_000]}\nQ1,x\n")
        return import_queries(self.database, self.lea, "d", path, now=NOW, columns=columns)

    def load_run(self, system: str) -> object:
        path = self.write("run.txt", "Q1 Q0 d1 1 1.0 bm25\n")
        return import_run(self.database, self.lea, "d", path, now=NOW, system=system)


def change_grade(**texts: Any) -> Rubric:
    first, *others = DEFAULT_RUBRIC.grades
    return replace(DEFAULT_RUBRIC, grades=(replace(first, **texts), *others))


RUBRICS = {
    "guideline": replace(DEFAULT_RUBRIC, guideline=LONG),
    "guideline's title": replace(DEFAULT_RUBRIC, title=LONG),
    "name of a grade": change_grade(name=LONG),
    "definition of a grade": change_grade(definition=LONG),
    "example of a grade": change_grade(positive_examples=(LONG,)),
    "examples of a grade": change_grade(positive_examples=("x",) * 101),
}
WAYS: dict[str, Callable[[World], object]] = {
    "title of a new dataset": lambda world: create_dataset(
        world.database, OPERATOR, "n", now=NOW, title=LONG
    ),
    "title": lambda world: world.change(title=LONG[:2_001]),
    "reason of a version": lambda world: world.publish_rubric(replace(DEFAULT_RUBRIC, guideline="y"), LONG),
    "note of a release": lambda world: world.publish(note=LONG),
    "categories of a person": lambda world: world.limit(categories=[LONG]),
    "languages of a person": lambda world: world.limit(languages=[LONG]),
    "note of an invitation": lambda world: invite(
        world.database, world.lea, role="annotator", dataset="d", note=LONG, now=NOW
    ),
    "name of a person": lambda world: add_person(
        world.database, OPERATOR, "new", name=LONG, role="annotator", now=NOW
    ),
    "username": lambda world: add_person(world.database, OPERATOR, LONG, role="annotator", now=NOW),
    "system": lambda world: world.load_run(LONG),
    "columns of an import": lambda world: world.load_queries(query_id="id", text=LONG[:150_000]),
}


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    return World(database, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_a_text_of_any_length_is_refused_with_its_limit(world: World, way: str) -> None:
    before = show_dataset(world.database, OPERATOR, "d")
    with pytest.raises(ValidationError) as refused:
        WAYS[way](world)
    assert AT_MOST.search(str(refused.value))
    assert len(str(refused.value)) < 1_000
    assert show_dataset(world.database, OPERATOR, "d") == before


@pytest.mark.parametrize("name", RUBRICS)
def test_a_guideline_of_any_length_is_refused_at_the_beginning_and_later(world: World, name: str) -> None:
    ways = (
        lambda: create_dataset(world.database, OPERATOR, "n", now=NOW, rubric=RUBRICS[name]),
        lambda: world.publish_rubric(RUBRICS[name]),
    )
    for way in ways:
        with pytest.raises(ValidationError) as refused:
            way()
        assert AT_MOST.search(str(refused.value))
        assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize("name", list(SETTINGS))
def test_no_setting_takes_a_text_of_any_length(name: str) -> None:
    for text in (LONG, ",".join(f"c{number}=2" for number in range(5_000)), "en" + "-abcde" * 5_000):
        with pytest.raises(ValidationError) as refused:
            read_setting(name, text)
        assert len(str(refused.value)) < 1_000
