"""A file with grades that a command writes has an entry in the audit log; tables and figures have none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.audit.records import AuditEntry, AuditFilter
from annotator.audit.service import iterate_audit_log
from annotator.cli.main import app
from annotator.domain.audit import AuditAction
from annotator.domain.people import OPERATOR
from annotator.importing.runs.runs_service import import_run
from annotator.storage.database import Database
from tests.integration.judged_world import NOW
from tests.integration.release_world import ReleaseWorld


@pytest.fixture
def world(database: Database, tmp_path: Path) -> ReleaseWorld:
    world, run = ReleaseWorld(database), tmp_path / "bm25.trec"
    run.write_text("Q1 Q0 Q1/three 1 9 bm25\nQ1 Q0 Q1/zero 2 8 bm25\n", encoding="utf-8")
    import_run(database, OPERATOR, world.name, run, now=NOW)
    return world


@pytest.mark.parametrize("as_lead", [True, False], ids=["lead", "operator"])
@pytest.mark.parametrize(
    ("command", "option", "entered"),
    [
        ("trail", "--csv", "activity-log.csv"),
        ("agreement", "--consensus", "consensus.csv"),
        ("evaluate", "--markdown", "evaluation.md"),
        ("evaluate", "--html", "evaluation.html"),
    ],
)
def test_a_file_with_grades_is_entered_for_who_wrote_it(
    world: ReleaseWorld, tmp_path: Path, command: str, option: str, entered: str, as_lead: bool
) -> None:
    target = tmp_path / "file"
    run(world, command, option, str(target), *(["--as", "editor"] if as_lead else []))
    assert target.exists()
    (entry,) = list_files(world.database)
    assert (entry.chained.object, entry.chained.source) == (entered, "cli")
    assert entry.chained.actor_kind == ("person" if as_lead else "operator")
    assert str(tmp_path) not in str(entry)


@pytest.mark.parametrize(
    "words",
    [
        ["trail"],
        ["trail", "--json"],
        ["agreement", "--html"],
        ["evaluate", "--csv"],
        ["evaluate", "--by", "query"],
    ],
)
def test_tables_and_figures_are_not_entered(world: ReleaseWorld, tmp_path: Path, words: list[str]) -> None:
    target = [str(tmp_path / "file")] if words[-1] in ("--html", "--csv") else []
    run(world, *words, *target, "--as", "editor")
    assert list_files(world.database) == []


def run(world: ReleaseWorld, command: str, *options: str) -> None:
    url = world.database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["--database", url, command, world.name, *options])
    assert (done.exit_code, done.exception) == (0, None)


def list_files(database: Database) -> list[AuditEntry]:
    wanted = AuditFilter(action=AuditAction.file_downloaded)
    return list(iterate_audit_log(database, OPERATOR, wanted))
