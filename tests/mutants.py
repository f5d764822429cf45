"""Break one line of the program at a time and check that a test fails: `python -m tests.mutants [WORD]`.

A mutant: a file of annotator/, a text that occurs once in it, the text that replaces it, and the test that must
fail. Each runs in a copy of the checkout. These lines run on PostgreSQL only, so tests/short_run.py must keep
their tests.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
MUTANTS = (
    ("storage/lookup.py", "session.connection().execute(_LOCK_USERNAMES)", "pass", "people/test_look_alikes.py"),
    ("storage/logs/audit_log.py", "session.execute(_LOCK)", "pass", "audit/test_audit_log.py"),
    ("storage/judgments/missing_judgments.py", "execute_sql(session, _LOCK_COUNTERS, {", "dict({", "labeling"),
    ("labeling/exchange_sql.py", " FOR NO KEY UPDATE OF p", "", "labeling/test_at_the_same_time.py"),
    ("labeling/open_pairs_sql.py", " FOR NO KEY UPDATE{rest}", "", "labeling"),
    ("storage/database.py", 'execute(_LOCK, {"d": dataset_pk})', "begin_nested()", "people"),
    ("storage/judgments/current_judgments.py", "floor(extract(epoch", "floor(1 + extract(epoch", "storage/test_current_judgments.py"),
    ("storage/pairs/disagreements.py", '"to_timestamp(c.made_at)"', '"to_timestamp(c.made_at + 1)"', "adjudication/test_queue.py"),
    ("storage/logs/disclosures.py", '"SELECT value ->> 0, value ->> 1', '"SELECT value ->> 1, value ->> 0', "agreement"),
    ("labeling/exchange_sql.py", '"list_all": "json_agg"', '"list_all": "json_build_array"', "labeling/test_labeling.py"),
    ("labeling/submission_sql.py", '"list_all": "json_agg"', '"list_all": "json_build_array"', "labeling/test_labeling.py"),
    ("releases/releases_sql.py", 'collate("C" if', 'collate("en_US" if', "releases/test_releases.py"),
    ("releases/writing/judged_sql.py", '.collate("C" if postgresql', '.collate("und-x-icu" if postgresql', "releases/test_release_order.py"),
    ("storage/pairs/pair_settlements.py", 'dialect.name != "postgresql"', 'dialect.name == "postgresql"', "adjudication/test_adjudication.py"),
    ("agreement/grades_sql.py", 'dialect.name == "postgresql"', 'dialect.name == "sqlite"', "agreement/test_grades.py"),
    ("agreement/selected_pairs_sql.py", 'dialect.name == "sqlite"', 'dialect.name == "postgresql"', "agreement/test_selected_pairs.py"),
    ("adjudication/impact/impact_service.py", 'if dialect != "postgresql":', "if dialect:", "adjudication/test_impact.py"),
    ("pooling/proposals/search_service.py", "func.unicode if self.database.is_sqlite else func.ascii", "func.unicode", "pooling/test_proposals.py"),
    ("storage/judgments/answers.py", 'dialect.name == "postgresql"', 'dialect.name == "other"', "labeling/test_labeling.py"),
)  # fmt: skip


def main() -> None:
    survivors = 0
    for path, old, new, test in MUTANTS:
        if not all(word in path for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in ("annotator", "tests", "benchmarks", "docs", "pyproject.toml", "README.md"):
                source, target = PROJECT / name, Path(folder, name)
                (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
            mutated = Path(folder, "annotator", path)
            text = mutated.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise SystemExit(f"{path}: expected once, found {text.count(old)} times: {old}")
            mutated.write_text(text.replace(old, new), encoding="utf-8")
            run = subprocess.run(
                [sys.executable, "-m", "pytest", "-x", "-k", "postgresql", f"tests/integration/{test}"],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
        if run.returncode not in (0, 1):
            raise SystemExit(f"{path}: pytest did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        survivors += run.returncode == 0
        print("noticed " if run.returncode == 1 else "SURVIVED", path, old, flush=True)
    sys.exit(survivors)


if __name__ == "__main__":
    main()
