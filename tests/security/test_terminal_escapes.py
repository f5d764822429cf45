"""What a file holds never controls the terminal of the operator who runs a command."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.integration.judged_world import NOW

COMMAND = (sys.executable, "-c", "from annotator.cli.main import run; run()")
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def run_in_terminal(*words: str, url: str) -> str:
    """Return what a terminal gets of a command, from both streams."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "ANNOTATOR_DATABASE_URL": url}
    process = subprocess.Popen((*COMMAND, *words), stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # the terminal is closed by its other end
        pass
    os.close(ours)
    process.wait()
    return shown.decode("utf-8")


def import_a_query(folder: Path, line: str) -> str:
    """Return the address of a database with a dataset `d`, in which a file with this line was imported."""
    url = f"sqlite:///{folder / 'a.db'}"
    database, queries = Database(url), folder / "q.jsonl"
    upgrade_schema(database)
    create_dataset(database, OPERATOR, "d", now=NOW)
    queries.write_text(f"{line}\n", encoding="utf-8")
    import_queries(database, OPERATOR, "d", queries, now=NOW)
    database.dispose()
    return url


def test_control_characters_of_a_file_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    escaped = EVIL.encode("unicode_escape").decode().replace("\\x", "\\u00")
    url = import_a_query(tmp_path, f'{{"query_id": "Q{escaped}", "text": "検索 질의"}}')
    shown = run_in_terminal("progress", "d", url=url)
    assert "Q\\x1b]0;owned\\x07\\x1b[2J\\x9b31m" in shown
    refused = run_in_terminal("trail", "d", EVIL, url=url)
    for text in (shown, refused):
        assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_a_pipe_gets_the_ids_as_they_are(tmp_path: Path) -> None:
    url = import_a_query(tmp_path, '{"query_id": "Q\\u001b", "text": "a"}')
    done = subprocess.run(
        (*COMMAND, "progress", "d", "--database", url), capture_output=True, text=True, check=True, timeout=60
    )
    assert "Q\x1b" in done.stdout
