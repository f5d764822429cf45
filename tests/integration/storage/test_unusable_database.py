"""A command on a database that cannot be used: one sentence on stderr, exit code 1, no traceback, no password."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import event

from annotator.cli import main
from annotator.dataset.service import list_datasets
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from tests.browser.warm_server import start_process

COMMAND = [sys.executable, "-c", "from annotator.cli.main import run; run()"]
SECRETS = ("hunter2", "hunter3")


def run(
    *arguments: str, folder: Path, stdout: Path | None = None, largest_file: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process. `largest_file`: the kernel lets no file become larger, as on a disk that is full.

    The process is forked from one that has imported the program, unless it is to have another output: how a new
    interpreter ends is part of that.
    """
    if stdout is not None:
        with stdout.open("wb") as target:
            return subprocess.run(
                [*COMMAND, *arguments],
                cwd=folder,
                stdout=target,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
    errors = folder / "stderr.txt"
    process = start_process(act, folder, arguments, errors, largest_file)
    process.join()
    assert process.exitcode is not None
    return subprocess.CompletedProcess(arguments, process.exitcode, "", errors.read_text(encoding="utf-8"))


def act(folder: Path, arguments: Sequence[str], errors: Path, largest_file: int | None) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    sys.argv = ["annotator", *arguments]
    main.run()


def check_sentence(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert done.returncode == 1, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not [secret for secret in SECRETS if secret in done.stderr]


def damage(path: Path, keep: int, add: bytes = b"") -> None:
    path.write_bytes(path.read_bytes()[:keep] + add)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/x", 'u:***@127.0.0.1:1/x (connection failed: connection to server at "127.0.0.1", port 1 failed'),
        ("postgresql://u@127.0.0.1:1/x?password=hunter3", "the database cannot be reached: postgresql+psycopg://u@127.0.0.1:1/x"),
        ("postgresql://u:hunter2@127.0.0.1:port/x", "expected a database URL such as"),
        ("postgresql://u:hunter2@127.0.0.1:1/x?nonsense=1", "the database cannot be reached"),
        ("sqlite:///.", "expected a file as the database, found a folder"),
        ("sqlite:///nowhere/x.db", "the folder of the database does not exist"),
        ("sqlite:////proc/x.db", "the database cannot be reached: sqlite:////proc/x.db"),
        ("sqlite:///file:fine.db?mode=ro&uri=true", "the database can only be read"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_used(
    url: str, message: str, sqlite_template: Path, tmp_path: Path
) -> None:
    (tmp_path / "fine.db").write_bytes(sqlite_template.read_bytes())
    check_sentence(run("--database", url, "dataset", "create", "law", folder=tmp_path), message)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: damage(path, 0, b"query_id,text\n1,x\n" * 100),
        lambda path: damage(path, 100),
        lambda path: damage(path, 20_000),
        lambda path: damage(path, 8_192, b"\xff" * 400_000),
    ],
    ids=["another file", "the first 100 bytes", "the first pages", "pages overwritten"],
)
def test_a_damaged_file(spoil: Callable[[Path], None], sqlite_template: Path, tmp_path: Path) -> None:
    path = tmp_path / "annotator.db"
    path.write_bytes(sqlite_template.read_bytes())
    spoil(path)
    done = run("dataset", "list", folder=tmp_path)
    check_sentence(done, "the database file is damaged, or it is not a database: sqlite:///annotator.db")


def test_a_disk_that_takes_no_more(sqlite_template: Path, tmp_path: Path) -> None:
    (tmp_path / "annotator.db").write_bytes(sqlite_template.read_bytes())
    done = run("dataset", "create", "law", folder=tmp_path, largest_file=20_000)
    check_sentence(done, "the disk of the database reports an error: sqlite:///annotator.db")
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    assert list_datasets(database, OPERATOR) == [], "nothing was changed"
    database.dispose()


def test_a_new_database_on_a_disk_that_takes_no_more(tmp_path: Path) -> None:
    check_sentence(run("dataset", "list", folder=tmp_path, largest_file=20_000), "the disk of the database")
    assert run("dataset", "list", folder=tmp_path).returncode == 0, "it can be made later"


def test_a_full_disk_is_called_full(
    sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SQLite's own limit of pages is refused with the code of a full disk."""
    (tmp_path / "annotator.db").write_bytes(sqlite_template.read_bytes())
    create = Database._create_engine

    def create_small(self: Database) -> object:
        engine = create(self)
        event.listen(
            engine, "connect", lambda connection, _record: connection.execute("PRAGMA max_page_count=1")
        )
        return engine

    monkeypatch.setattr(Database, "_create_engine", create_small)
    monkeypatch.chdir(tmp_path)
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(f'{{"query_id": "{n}", "text": "{"x" * 2_000}"}}\n' for n in range(40)))
    monkeypatch.setattr(sys, "argv", ["annotator", "dataset", "create", "law"])
    with pytest.raises(SystemExit):
        main.run()
    monkeypatch.setattr(sys, "argv", ["annotator", "import", "queries", "law", str(queries)])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 1
    errors = capfd.readouterr().err
    assert "the disk of the database is full: sqlite:///annotator.db (database or disk is full)" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("more", [("--json",), ()])
def test_a_full_disk_under_the_output(more: tuple[str, ...], sqlite_template: Path, tmp_path: Path) -> None:
    (tmp_path / "annotator.db").write_bytes(sqlite_template.read_bytes())
    done = run("dataset", "list", *more, folder=tmp_path, stdout=Path("/dev/full"))
    check_sentence(done, "cannot write the output: No space left on device")
