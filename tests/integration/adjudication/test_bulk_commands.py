"""`annotator disagreements --csv`, `annotator adjudicate` and `annotator settle`, as a lead types them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import AnnotatorError
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.adjudication.test_policies import Bench


def run(database: Database, *words: str) -> Result:
    url = database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, *words])


def read(database: Database, *words: str) -> Any:
    done = run(database, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refused(database: Database, *words: str) -> str:
    done = run(database, *words)
    assert isinstance(done.exception, AnnotatorError)
    return str(done.exception)


@pytest.fixture
def bench(copy_world: CopyWorld) -> Bench:
    return copy_world(Bench)


def test_the_list_is_narrowed_by_the_same_words_as_the_page(bench: Bench) -> None:
    def names(*words: str) -> list[str]:
        return [item["doc_id"] for item in read(bench.database, "disagreements", "d", *words)]

    assert names() == ["far", "t1", "t2", "t3", "cross"]
    assert names("--taste", "--category", "law") == ["t1", "t2"]
    assert names("--no-taste", "--sort", "age") == ["cross", "far"]
    assert names("--grades", "1-2") == ["t3"]
    assert names("--distance", "3", "--query", "Q1", "--annotator", "a", "--annotator", "b") == ["far"]
    assert names("--reason", "question") == []
    assert names("--show", "decided") == []
    for words, expected in (
        (("--show", "some"), "--show: choose one of open, decided, all, not 'some'."),
        (("--reason", "x"), "expected one of differ, unrateable"),
        (("--grades", "3-1"), "--grades: enter two grades such as 1-2, not '3-1'."),
        (("--sort", "x"), "sort: expected one of"),
    ):
        assert expected in refused(bench.database, "disagreements", "d", *words)


def test_a_meeting_from_the_file_to_the_decisions(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "meeting.csv"
    output = run(
        bench.database, "disagreements", "d", "--csv", str(path), "--as", "lead", "--no-taste"
    ).stdout
    assert f"Wrote {path}." in output
    assert [item.name for item in tmp_path.iterdir() if "meeting" in item.name] == ["meeting.csv"]
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert [row[1] for row in rows] == ["far", "cross"]
    rows[0][2:5] = ["2", "理由", "borderline"]
    with path.open("w", encoding="cp932", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    words = ("adjudicate", "d", str(path), "--as", "lead")
    assert "expected UTF-8 text" in refused(bench.database, *words)
    words += ("--encoding", "cp932")
    assert read(bench.database, *words, "--dry-run") == {
        "decided": 1, "revised": 0, "unchanged": 0, "skipped": 1, "proposed": 0, "dry_run": True,
    }  # fmt: skip
    assert run(bench.database, *words).stdout == (
        "Saved: 1 new decision, 0 changed, 0 unchanged.\n1 row without a decision was skipped.\n"
    )
    assert bench.decided() == {"far": 2}
    assert "a file name in an existing folder" in refused(
        bench.database, "disagreements", "d", "--csv", str(tmp_path)
    )


def test_a_policy_is_looked_at_carried_out_listed_and_undone(bench: Bench) -> None:
    words = ("settle", "d", "--as", "lead", "--policy", "lower")
    output = run(bench.database, *words, "--dry-run").stdout
    assert "3 pairs to settle at the lower grade:" in output
    assert "- 2 against 3: 2 pairs get 2" in output
    assert (
        "- 2 pairs stay open: the grades are further apart or on both sides of the relevance threshold"
        in output
    )
    assert bench.decided() == {}
    assert "rationale: expected some words" in refused(bench.database, *words)
    words += ("--rationale", "疑わしきは低く")
    output = run(bench.database, *words, "--query", "Q2").stdout
    assert output.splitlines()[-1].startswith(
        "Settled as batch 1. To undo it, run: annotator settle d --undo 1"
    )
    assert bench.decided() == {"t3": 1}
    assert read(bench.database, *words)["pairs"] == 2
    assert "Nothing to settle" in refused(bench.database, *words)
    assert run(bench.database, "settle", "d", "--undo", "1", "--as", "lead").stdout == (
        "Undid 1 decision of batch 1; 0 pairs keep their newer decision.\n"
    )
    second, first = read(bench.database, "settle", "d", "--batches", "--as", "lead")
    assert (second["number"], second["holding"], first["undone_by"]) == (2, 2, "lead")
    assert "疑わしきは低く" in run(bench.database, "settle", "d", "--batches", "--as", "lead").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "Give exactly one of --policy, --undo and --batches."),
        (("--policy", "lower", "--undo", "1"), "Give exactly one of --policy, --undo and --batches."),
        (("--undo", "1", "--dry-run"), "--dry-run needs --policy."),
        (("--policy", "mean"), "Unknown policy 'mean': choose one of median, lower, higher."),
        (("--undo", "7"), "d has no batch 7."),
    ],
)
def test_what_settle_cannot_do_is_said(bench: Bench, words: tuple[str, ...], expected: str) -> None:
    assert expected in refused(bench.database, "settle", "d", "--as", "lead", *words)
