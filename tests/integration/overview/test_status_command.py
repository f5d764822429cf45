"""`annotator status`: how far the pairs are and how long the queue lasts, on both databases."""

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from annotator.cli import terminal
from annotator.cli.main import app
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.domain.settling import PAIR_STATUSES
from annotator.overview.service import show_status
from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld


def make(database: Database) -> JudgedWorld:
    """A pair at each stage: waiting, agreed, disputed, settled, reopened."""
    world = JudgedWorld(database)
    ann, bea, lead = world.person("花子"), world.person("민준"), world.person("lead", "lead")
    world.query("Q1", "検索 🔎")
    for doc in "待同異決再":
        world.pair("Q1", doc, rank=1)
    for doc, first, second in (("同", 2, 2), ("異", 0, 3), ("決", 1, 2), ("再", 3, 3)):
        world.judge(ann, "Q1", doc, first)
        world.judge(bea, "Q1", doc, second)
    world.add_decision(lead, "Q1", "決", 2, seconds=30.0)
    world.check_quality(world.person("専門家"), "Q1", "再", 0, settled=3)
    return world


def run(database: Database, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("annotator.cli.serving.now", lambda: NOW + timedelta(days=1))
    url = database.url.render_as_string(hide_password=False)
    monkeypatch.setitem(terminal.chosen, "database", None)
    done = CliRunner().invoke(app, ["status", "d", "--database", url, *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_pair_has_one_status(database: Database) -> None:
    make(database)
    status = show_status(database, OPERATOR, "d", now=NOW + timedelta(days=1))
    counts = {name: n for name, n in status.pairs.by_status.items() if n}
    assert counts == {"unjudged": 1, "unanimous": 1, "disagreement": 1, "adjudicated": 1, "reopened": 1}
    assert (status.pairs.pairs, status.pairs.to_judge, status.pairs.waiting) == (5, 1, 2)
    assert (status.pace.open, status.pace.decided) == (2, 1)


def test_it_is_for_leads(database: Database) -> None:
    world = make(database)
    with pytest.raises(NotAllowed):
        show_status(database, world.person("somebody"), "d", now=NOW)


def test_it_says_how_long_the_queue_lasts_or_why_that_is_not_known(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(database)
    output = run(database, monkeypatch=monkeypatch)
    assert "5 pairs: 1 unjudged, 1 unanimous, 1 disagreement, 1 reopened, 1 adjudicated." in output
    assert "To judge: 1 pair, 0 begun." in output
    assert (
        "Queue: 2 pairs wait for a lead, 2 of them without a settled grade (grades differ 1, quality control 1)."
        in output
    )
    assert "Work left: not known: only 1 decision of the last 7 days has a measured time" in output
    assert "It lasts: about 2 working days at this pace." in output


def test_as_json_it_has_every_figure(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    make(database)
    body = json.loads(run(database, "--json", monkeypatch=monkeypatch))
    assert body["queue"] == {
        "open": 2, "taste": 0, "flips": 0,
        "by_status": {**dict.fromkeys(PAIR_STATUSES, 0), "disagreement": 1, "reopened": 1},
        "by_reason": {"differ": 1, "unrateable": 0, "quality": 1, "objection": 0, "question": 0, "stale": 0},
    }  # fmt: skip
    assert (body["pace"]["per_day"], body["pace"]["working_days_left"], body["pace"]["work"]) == (
        1,
        2,
        None,
    )


def test_an_empty_queue_is_said_to_be_empty(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    JudgedWorld(database)
    assert run(database, monkeypatch=monkeypatch) == "0 pairs.\nTo judge: 0 pairs, 0 begun.\nQueue: empty.\n"
