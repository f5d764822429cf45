"""What the page Queries and documents costs for many documents: seconds of its check and its import, and memory.

    .venv/bin/python -m benchmarks.import_page [--documents 100000] [--characters 800]

Makes a JSON Lines file of Japanese documents, stores it as the page does, and lets the page's processes recognise, check and
import it into SQLite. Prints the seconds of each, the largest memory of the processes, and how much that of this process (the
server) grew. Exits with 1 if something was stored by the check, or not everything by the import.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.importing.uploads.import_service import show_contents
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.importing.file_jobs import FileJob, FileJobs

SMALL = "--documents 50 --characters 40"  # what the tests start it with
LETTERS = "ログの出力先を変更する方法設定画面検索結果処理順序民法第百九十九条"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds and memory of imports in the browser.")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--characters", type=int, default=800)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as name:
        folder = Path(name)
        path = folder / "documents.jsonl"
        write_documents(path, chosen.documents, chosen.characters)
        print(f"{chosen.documents:,} documents, {path.stat().st_size / 1e6:,.0f} MB")
        database = Database(f"sqlite:///{folder / 'annotator.db'}")
        upgrade_schema(database)
        create_dataset(database, OPERATOR, "d", now=NOW)
        wrong = measure(database, path, chosen.documents)
        database.dispose()
    sys.exit(1 if wrong else 0)


def write_documents(path: Path, documents: int, characters: int) -> None:
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            text = "".join(draw.choices(LETTERS, k=characters))
            document = {"doc_id": f"文書{number:06}", "title": text[:12], "text": text}
            file.write(json.dumps(document, ensure_ascii=False) + "\n")


def measure(database: Database, path: Path, documents: int) -> bool:
    """Print seconds and memory of each step; whether something was wrong."""
    jobs = FileJobs()
    before = measure_memory(resource.RUSAGE_SELF)
    began = time.perf_counter()
    with path.open("rb") as file:
        job = jobs.stage(None, "operator", "d", "import", [(path.name, file)])
    print(f"stored on disk: {time.perf_counter() - began:.1f} s")
    common = {"dataset": "d", "person_id": None, "username": "operator", "now": NOW.isoformat()}
    run(jobs, job, database, {"task": "look", "then": "import", **common}, "recognised, shown and checked")
    checked = job.results["import"]
    held = count(database)
    request = {**job.requests["import"], **common, "dry_run": False}
    run(jobs, job, database, request, "imported")
    print(f"memory: a process {measure_memory(resource.RUSAGE_CHILDREN):,.0f} MB at most,", end=" ")
    print(f"the server +{measure_memory(resource.RUSAGE_SELF) - before:,.0f} MB")
    jobs.discard_all()
    return checked.get("added") != documents or held != 0 or count(database) != documents


def run(jobs: FileJobs, job: FileJob, database: Database, request: dict[str, object], what: str) -> None:
    began = time.perf_counter()
    jobs.start(job, request, database=database)
    if job.thread is not None:
        job.thread.join()
    print(f"{what}: {time.perf_counter() - began:.1f} s ({job.ended})")


def count(database: Database) -> int:
    return show_contents(database, OPERATOR, "d").count("documents")


def measure_memory(who: int) -> float:
    """The largest resident memory so far, in MB."""
    return resource.getrusage(who).ru_maxrss / 1024


if __name__ == "__main__":
    main()
