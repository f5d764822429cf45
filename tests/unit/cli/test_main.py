"""The command line as a whole: its help, short options, and what it says to a mistyped name."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.main import COMMANDS, STAGES, app
from annotator.cli.terminal import print_table
from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema


def test_the_help_lists_every_command_by_stage_with_its_whole_sentence() -> None:
    shown = CliRunner().invoke(app, ["-h"], env={"COLUMNS": "100"}).output
    assert shown == CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).output
    assert [line[:-1] for line in shown.splitlines() if line.removesuffix(":") in STAGES] == list(STAGES)
    lines = shown.partition("Start:")[2].splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == list(COMMANDS)
    assert "..." not in "".join(lines)


def test_h_is_help_in_every_command() -> None:
    for words in (["evaluate"], ["dataset"], ["dataset", "create"]):
        shown = CliRunner().invoke(app, [*words, "-h"])
        assert shown.exit_code == 0
        assert "-h, --help" in shown.output


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("lwas", "there is no dataset named 'lwas', or you have no role on it. Did you mean 'laws'?\n"),
        ("zzzz", "there is no dataset named 'zzzz', or you have no role on it\n"),
    ],
)
def test_python_m_annotator_runs_it_and_a_mistyped_dataset_is_suggested(
    tmp_path: Path, typed: str, answer: str
) -> None:
    url = f"sqlite:///{tmp_path / 'annotator.db'}"
    database = Database(url)
    upgrade_schema(database)
    create_dataset(database, OPERATOR, "laws", now=datetime(2026, 1, 1, tzinfo=UTC))
    database.dispose()
    words = [sys.executable, "-m", "annotator", "progress", typed, "--database", url]
    done = subprocess.run(words, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(answer)


def test_figures_of_a_table_end_below_each_other_and_ids_begin_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [("10", "検索", 1, 0.5, "3 %", None), ("9", "設定を変える", 1200, None, "12.5 %", None)]
    print_table(("query", "text", "pairs", "κ", "share", "note"), rows, empty="")
    assert capsys.readouterr().out.splitlines() == [
        "query  text          pairs    κ   share  note",
        "10     検索              1  0.5     3 %",
        "9      設定を変える  1,200       12.5 %",
    ]
