"""Expertise: the categories and languages that people judge, set by those who may, on both databases."""

import json

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import OPERATOR, Membership
from annotator.people.service import change_person, list_people
from annotator.storage.database import Database
from tests.integration.assignment_world import AssignmentWorld
from tests.integration.labeling_world import NOW


def _held(database: Database, username: str) -> tuple[Membership, ...]:
    people = list_people(database, OPERATOR, dataset="d")
    return next(person.memberships for person in people if person.username == username)


def test_expertise_is_given_shown_and_taken_back_one_kind_at_a_time(database: Database) -> None:
    AssignmentWorld(database).person("花子")
    url = database.url.render_as_string(hide_password=False)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["--database", url, *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    output = run(
        "people", "set", "花子", "--dataset", "d", "--categories", "判例, howto", "--languages", "ja"
    )
    assert "annotator on d (判例, howto; ja)" in output
    assert "annotator on d (判例, howto; ja)" in run("people", "list")
    run("people", "set", "花子", "--dataset", "d", "--categories", "none")
    assert _held(database, "花子") == (Membership("d", "annotator", None, ("ja",)),)
    listed = json.loads(run("people", "list", "--json"))
    assert listed[0]["memberships"][0]["languages"] == ["ja"]


def test_another_role_keeps_the_expertise(database: Database) -> None:
    AssignmentWorld(database).person("kim")
    change_person(database, OPERATOR, "kim", dataset="d", expertise={"languages": ["ko"]}, now=NOW)
    change_person(database, OPERATOR, "kim", dataset="d", role="lead", now=NOW)
    assert _held(database, "kim") == (Membership("d", "lead", None, ("ko",)),)


def test_a_category_or_language_that_no_query_has_is_refused_with_those_there_are(database: Database) -> None:
    AssignmentWorld(database).person("kim")
    with pytest.raises(ValidationError, match="categories: no query has 'law'; there are: howto, 判例"):
        change_person(database, OPERATOR, "kim", dataset="d", expertise={"categories": ["law"]}, now=NOW)
    with pytest.raises(ValidationError, match="languages: no query has 'en'; there are: ja, ko"):
        change_person(database, OPERATOR, "kim", dataset="d", expertise={"languages": ["ja", "en"]}, now=NOW)
    with pytest.raises(ValidationError, match="has no role on this dataset"):
        change_person(database, OPERATOR, "kim", expertise={"languages": ["ja"]}, now=NOW)


def test_a_lead_sets_expertise_and_an_annotator_does_not(database: Database) -> None:
    world = AssignmentWorld(database)
    kim, lead = world.person("kim"), world.person("lee", "lead")
    change_person(database, lead, "kim", dataset="d", expertise={"categories": ["howto"]}, now=NOW)
    assert _held(database, "kim") == (Membership("d", "annotator", ("howto",)),)
    with pytest.raises(NotAllowed):
        change_person(database, kim, "kim", dataset="d", expertise={"categories": None}, now=NOW)
    with pytest.raises(NotAllowed):
        change_person(
            database, lead, "kim", role="lead", dataset="d", expertise={"categories": None}, now=NOW
        )
    assert _held(database, "kim") == (Membership("d", "annotator", ("howto",)),)
