"""Every key that a command prints as JSON stands on the page of commands."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.demo import DATASET, FOLDER, build_demo
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
BY_NAME = {
    "grades",
    "grades_by_annotator",
    "short",
    "waits_for",
    "renamed",
    "split",
    "merged",
    "statuses",
    "by_status",
    "by_reason",
    "signals",
}
"""Keys whose value is a mapping by names of the dataset, or by words that counts.md defines."""
COMMANDS = (
    ("progress", DATASET),
    ("judgments", DATASET, "--history"),
    ("pairs", DATASET),
    ("pool", DATASET, "--depth", "6", "--dry-run"),
    ("pool", DATASET, "--holes", "--dry-run"),
    ("assign", DATASET, "--list"),
    ("agreement", DATASET),
    ("disagreements", DATASET, "--show", "all"),
    ("status", DATASET),
    ("lessons", DATASET),
    ("calibrate", "list", DATASET),
    ("calibrate", "results", DATASET),
    ("qc", "draw", DATASET, "--annotator", "demo-hana", "--dry-run"),
    ("qc", "status", DATASET),
    ("release", "check", DATASET),
    ("import", "queries", DATASET, str(FOLDER / "queries.yaml"), "--dry-run"),
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('json') / 'demo.db'}"
    database = Database(url)
    upgrade_schema(database)
    build_demo(database, with_judgments=True, now=NOW)
    database.dispose()
    return url


def list_keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from list_keys(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in BY_NAME:
                yield from list_keys(item)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_key_of_a_commands_json_is_documented(demo: str, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--json", "--database", demo])
    page = PAGE.read_text(encoding="utf-8")
    keys = set(list_keys(json.loads(done.stdout)))
    assert keys
    assert sorted(key for key in keys if not re.search(rf'["`\s]{re.escape(key)}["`,]', page)) == []
