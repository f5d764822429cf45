"""What `make test` leaves out (tests/short_run.py) leaves nothing without a test on PostgreSQL where SQL is written twice."""

import re
from pathlib import Path

import pytest

from tests.short_run import EVERY_CASE, ON_BOTH, SQLITE_ENOUGH

ASKS_THE_KIND = re.compile(
    r"dialect\.name|\bis_sqlite\b|\[dialect\]|\"postgresql\":|\bis_postgresql\(|_is_sqlite\("
)
WRITTEN_TWICE = {
    "adjudication/impact/impact_service": "adjudication/test_impact",
    "agreement/grades_sql": "agreement/test_grades",
    "agreement/selected_pairs_sql": "agreement/test_selected_pairs",
    "dataset/restore_service": "dataset/test_restored_rows",
    "installation/backup_file": "installation/test_backup",
    "installation/copy_service": "installation/test_copy",
    "installation/load_service": "installation/test_load",
    "installation/service": "installation/test_backup",
    "installation/tables_sql": "installation/test_copy",
    "installation/upgrade_service": "installation/test_check_upgrade",
    "labeling/exchange_sql": "labeling/test_at_the_same_time",
    "labeling/submission_sql": "labeling/test_labeling",
    "pooling/proposals/search_service": "pooling/test_proposals",
    "releases/releases_sql": "releases/test_release_order",
    "releases/writing/judged_sql": "releases/test_publish_in_parts",
    "storage/database": "storage/test_transactions",
    "storage/judgments/answers": "labeling/test_labeling",
    "storage/judgments/current_judgments": "storage/test_current_judgments",
    "storage/judgments/missing_judgments": "labeling/test_missing_judgments",
    "labeling/open_pairs_sql": "labeling/test_handed_out_pairs",
    "storage/logs/audit_log": "audit/test_audit_log",
    "storage/logs/disclosures": "agreement/test_left_out",
    "storage/long_writes": "storage/test_long_writes",
    "storage/lookup": "people/test_look_alikes",
    "storage/pairs/disagreements": "adjudication/test_queue",
    "storage/pairs/pair_settlements": "adjudication/test_adjudication",
    "storage/schema": "storage/test_migrating_at_once",
    "storage/sql": "storage/test_typed_rows",
    "web/labeling/api": "labeling/test_at_the_same_time",
    "web/server/figures": "web/test_health",
}
"""Files of annotator/ that do not say the same to both databases, and a file of tests/integration/ that runs them on both."""


def test_every_file_that_asks_for_the_kind_of_database_has_its_tests_on_both(project: Path) -> None:
    program = project / "annotator"
    asking = {
        path.relative_to(program).with_suffix("").as_posix()
        for path in program.rglob("*.py")
        if "versions" not in path.parts and ASKS_THE_KIND.search(path.read_text(encoding="utf-8"))
    }
    assert asking == set(WRITTEN_TWICE)


@pytest.mark.parametrize("name", sorted(set(WRITTEN_TWICE.values())))
def test_what_tests_them_runs_on_both_every_time(name: str, project: Path) -> None:
    path = f"tests/integration/{name}.py"
    assert path.startswith(ON_BOTH)
    assert re.search(r"\bdatabase\b|_database\b", (project / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name", [*ON_BOTH, *EVERY_CASE, *(f"tests/integration/{name}" for name in SQLITE_ENOUGH)]
)
def test_what_runs_on_both_exists(name: str, project: Path) -> None:
    path, _, test = name.partition("::")
    assert (project / path).exists()
    assert not test or test.rpartition("::")[2] in (project / path).read_text(encoding="utf-8")


def test_every_slice_has_tests_on_both(project: Path) -> None:
    folders = {path.parent.name for path in (project / "tests" / "integration").glob("*/test_*.py")}
    assert {name for name in folders if not any(f"/integration/{name}/" in on for on in ON_BOTH)} == {"cli"}


def test_what_a_long_test_names_runs_every_time(project: Path) -> None:
    named = [
        name
        for path in sorted((project / "tests").rglob("test_*.py"))
        for arguments in re.findall(r"\bmark\.long\((.*?)\)", path.read_text(encoding="utf-8"), re.DOTALL)
        for name in re.findall(r'"([^"]+)"', arguments)
    ]
    assert named
    for name in named:
        path, _, function = name.partition("::")
        text = (project / "tests" / path).read_text(encoding="utf-8")
        if not function:
            assert text.count("def test_") > text.count("@pytest.mark.long"), f"{name}: none of its tests"
        else:
            before = re.search(rf"((?:^@.*\n|^[ )\]].*\n)*)^ *def {function}\(", text, re.MULTILINE)
            assert before is not None, name
            assert "@pytest.mark.long" not in before[1], name
