"""`annotator qc`: what it prints, and its exit codes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from annotator.cli.main import run
from annotator.storage.database import Database
from tests.integration.quality_world import QualityWorld


def call(
    database_url: str,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    *words: str,
) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command."""
    monkeypatch.setattr("sys.argv", ["annotator", "qc", *words, "--database", database_url])
    with pytest.raises(SystemExit) as ended:
        run()
    out, err = capsysbinary.readouterr()
    return int(ended.value.code or 0), out.decode(), err.decode()


@pytest.fixture
def qc(database_url: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *words: call(database_url, capsysbinary, monkeypatch, *words)


def test_a_sample_is_drawn_and_read_from_the_command_line(database: Database, qc: Any) -> None:
    world = QualityWorld(database)
    code, out, err = qc("status", "d")
    assert (code, "No sample has been drawn yet" in out, "undecided" in err) == (3, True, True)
    code, out, _ = qc("draw", "d", "--annotator", "cho", "--dry-run", "--json")
    assert (code, json.loads(out)["pairs"], world.drawn()) == (0, 2, {})
    code, out, _ = qc("draw", "d", "--annotator", "cho", "--as", "lea", "--json")
    made = json.loads(out)
    assert code == 0
    assert {name: made[name] for name in ("number", "round", "annotator", "drawn_by", "rate", "seed", "population", "outside", "pairs")} == {
        "number": 1, "round": 1, "annotator": "cho", "drawn_by": "lea", "rate": 0.1, "seed": 0, "population": 20, "outside": 0, "pairs": 2,
    }  # fmt: skip
    code, _, err = qc("draw", "d", "--annotator", "cho")
    assert (code, "already contains 2 of 20 pairs" in err) == (1, True)
    code, out, _ = qc("draw", "d", "--annotator", "cho", "--size", "20")
    assert (code, "Drew 18 of 20 settled pairs for cho" in out) == (0, True)
    assert len(world.drawn()) == 20


def test_errors_that_are_hidden_from_the_lead_are_counted_in_words(
    database: Database, qc: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = QualityWorld(database)
    qc("draw", "d", "--annotator", "cho", "--rate", "1")
    pk = next(iter(world.drawn()))
    world.check(pk, (world.grades[pk] + 1) % 4)
    assert "left out" not in qc("status", "d")[1]
    status = replace(world.status(), errors=(), hidden=2)
    monkeypatch.setattr("annotator.quality.service.show_quality", lambda *_, **__: status)
    assert qc("status", "d", "--as", "lea")[1].endswith(
        "\n2 pairs that you may still judge are left out of these figures.\n"
    )


def test_a_sample_that_proves_it_passes(database: Database, qc: Any) -> None:
    world = QualityWorld(database)
    qc("draw", "d", "--annotator", "cho", "--rate", "1")
    last, *others = world.drawn()
    for pk in others[:-1]:
        world.check(pk, world.grades[pk])
    code, out, err = qc("status", "d")
    assert (code, "rule: bound" in err, "Passes if the next waiting pair shows no error." in out) == (
        3,
        True,
        True,
    )
    world.check(others[-1], world.grades[others[-1]])
    code, out, err = qc("status", "d", "--json")
    status = json.loads(out)
    assert (code, err, status["verdict"], status["waiting"]) == (0, "", "passed", 1)
    assert status["rates"]["any"] == {
        "errors": 0, "checked": 19, "rate": 0.0, "ci95": [0.0, pytest.approx(0.1765, abs=1e-4)], "upper_bound": 0.0,
    }  # fmt: skip
    world.check(last, (world.grades[last] + 1) % 4)
    code, out, _ = qc("status", "d")
    assert code == 3
    assert "Failed: 5 % or more" in out
    assert "reopened" in out


def test_errors_and_draws_of_earlier_rounds_stay_in_what_is_told(database: Database, qc: Any) -> None:
    world = QualityWorld(database)
    world.person("dan")
    qc("draw", "d", "--annotator", "cho", "--size", "4")
    pk = next(iter(world.drawn()))
    world.check(pk, (world.grades[pk] + 1) % 4)
    qc("draw", "d", "--annotator", "dan", "--new-round")
    status = json.loads(qc("status", "d", "--json")[1])
    assert (status["round"], status["rates"]["any"]["errors"]) == (2, 0)
    draws = [
        {name: draw[name] for name in ("round", "pairs", "checked", "unrateable", "errors")}
        for draw in status["draws"]
    ]
    assert draws == [
        {"round": 1, "pairs": 4, "checked": 1, "unrateable": 0, "errors": 1},
        {"round": 2, "pairs": 2, "checked": 0, "unrateable": 0, "errors": 0},
    ]
    assert [(error["draw"], error["round"], error["state"]) for error in status["errors"]] == [
        (1, 1, "reopened")
    ]
    _, out, _ = qc("status", "d")
    lines = [line.split() for line in out.splitlines()]
    heads = {
        name: at for at, name in enumerate(next(line for line in lines if line[:2] == ["draw", "round"]))
    }
    first = next(line for line in lines if line[:3] == ["1", "1", "cho"])
    assert [first[heads[name]] for name in ("pairs", "checked", "unrateable", "errors")] == [
        "4",
        "1",
        "0",
        "1",
    ]
    assert any(line[:1] == ["1"] and "reopened" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("draw", "d"), 2, "--annotator"),
        (("draw", "d", "--annotator", "cho", "--rate", "0.5", "--size", "3"), 2, "not both"),
        (("draw", "d", "--annotator", "cho", "--rate", "2"), 1, "The share must be above 0"),
        (("draw", "d", "--annotator", "nemo"), 1, "nemo"),
        (("draw", "x", "--annotator", "cho"), 1, "no dataset named 'x'"),
        (("status", "x"), 1, "no dataset named 'x'"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(
    database: Database, qc: Any, words: tuple[str, ...], code: int, why: str
) -> None:
    QualityWorld(database, queries=1)
    exit_code, out, err = qc(*words)
    assert (exit_code, out) == (code, "")
    assert why in err
