"""`annotator lessons` as a process would run it."""

import json

from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.storage.database import Database
from tests.integration.feedback_world import FeedbackWorld


def run(database: Database, *words: str) -> str:
    url = database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["lessons", "d", *words, "--database", url])
    assert done.exit_code == 0, done.output
    return done.output


def test_feedback_are_listed_with_how_many_wait_and_their_cases(database: Database) -> None:
    world = FeedbackWorld(database)
    assert run(database) == "No lessons yet. Decide disagreements first.\n"
    keys = [world.add_disagreement("Q1", 2, 1, 1, "borderline") for _ in range(3)]
    world.publish([(keys[0], 1)])
    head, row = run(database).splitlines()
    assert head.split() == ["decisions", "open", "impact", "answered", "in", "lesson"]
    assert row.split()[:2] == ["3", "2"]
    assert "3 of 3 decided disagreements in 障害 対応 are 1 against 2 and borderline." in row
    body = json.loads(run(database, "--json"))
    (item,) = body["lessons"]
    assert (body["decided"], body["waiting"], item["apart"], item["open"]) == (3, 2, [1, 2], 2)
    versions = {decision["pair"]: decision["answered_in"] for decision in item["cases"]}
    assert versions == {keys[0]: 2, keys[1]: None, keys[2]: None}
    assert item["cases"][0]["grades"] == [1, 2]
