"""Publishes releases of 10,000, 100,000 and 1,000,000 qrels, every format at once, and prints seconds and peak memory.

    .venv/bin/python -m benchmarks.release [--qrels 10000 100000 1000000] [--seed 0] [--database URL]

Each qrel has two judgments; every tenth pair's differ, and a lead decided it. A hundred documents a query. The dataset
is made with a seed in a database of its own (temporary SQLite, unless another, empty one is named); publishing is a
process of its own, as a user would run it. The aim for a million is at most 60 seconds and 600 MB.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
)

SMALL = "--qrels 500"  # what the tests start it with
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
DEPTH = 100  # documents a query
PAIRS_AT_ONCE = 20_000
OVERRIDES = ("quality_control", "kappa", "relevant")
ANNOTATOR = Path(sys.executable).parent / "annotator"


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds and memory of publishing a release.")
    parser.add_argument("--qrels", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", help="an empty database to use instead of a temporary SQLite file")
    chosen = parser.parse_args()
    print(
        f"{'qrels':>10} {'judgments':>10} {'seconds':>8} {'CPU s':>7} {'peak MB':>8} {'MB written':>10} {'µs a qrel':>9}"
    )
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for qrels in chosen.qrels:
            url = chosen.database or f"sqlite:///{folder}/{qrels}.db"
            name = f"bench-{qrels}"
            fill(url, name, qrels, random.Random(chosen.seed))
            seconds, cpu, peak, size = publish(url, name, Path(folder))
            print(
                f"{qrels:>10,} {2 * qrels:>10,} {seconds:>8.1f} {cpu:>7.1f} {peak:>8,.0f} {size:>10,.0f} "
                f"{seconds / qrels * 1e6:>9.1f}",
                flush=True,
            )


def publish(url: str, name: str, folder: Path) -> tuple[float, float, float, float]:
    """Seconds, seconds of computing, peak memory (MB), and MB of files of one `release publish`."""
    command = [str(ANNOTATOR), "release", "publish", name, "1.0.0", "--as", f"{name}-lead"]
    for gate in OVERRIDES:
        command += ["--override", f"{gate}=benchmark"]
    environment = {**os.environ, "ANNOTATOR_DATABASE_URL": url, "ANNOTATOR_EXPORTS_DIR": str(folder)}
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"publishing failed: {status}")
    size = sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, size / 1e6


def fill(url: str, name: str, qrels: int, drawn: random.Random) -> None:
    """A dataset of `qrels` pairs, each judged by two."""
    database = Database(url)
    upgrade_schema(database)
    create_dataset(database, OPERATOR, name, now=NOW)
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, name).pk)
        rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        people = []
        for username, role in (("one", "annotator"), ("two", "annotator"), ("lead", "lead")):
            person = PersonRow(username=f"{name}-{username}", created_at=NOW)
            session.add(person)
            session.flush()
            people.append(key_of(person.pk))
            session.add(MembershipRow(person_pk=people[-1], dataset_pk=dataset_pk, role=role))
        base = dataset_pk * 10_000_000  # keys of this dataset's rows
        queries, documents = max(1, qrels // DEPTH), max(DEPTH, qrels // 10)
        add_rows(session, QueryRow, [_query(base + at, dataset_pk, at, drawn) for at in range(queries)])
        add_rows(session, DocumentRow, [_document(base + at, dataset_pk, at) for at in range(documents)])
        texts = [
            {"document_pk": base + at, "sha256": "aa", "text": f"本文 {at} " * 20, "imported_at": NOW}
            for at in range(documents)
        ]
        add_rows(session, DocumentTextRow, texts)
    for start in range(0, qrels, PAIRS_AT_ONCE):
        with database.write() as session:
            pair_numbers = range(start, min(qrels, start + PAIRS_AT_ONCE))
            rows = [_pair(base, dataset_pk, at, documents) for at in pair_numbers]
            add_rows(session, PairRow, rows)
            add_rows(
                session, ProvenanceRow,
                [
                    {"pair_pk": base + at, "system": "bm25", "rank": at % DEPTH + 1, "score": 1.5, "signals": {}}
                    for at in pair_numbers
                ],
            )  # fmt: skip
            _judge(session, base, dataset_pk, rubric_pk, people, pair_numbers, drawn)
    with database.write() as session:
        derive_work(session, dataset_pk)
    database.dispose()


def _query(pk: int, dataset_pk: int, at: int, drawn: random.Random) -> dict[str, Any]:
    language = drawn.choice(["ja", "ko", "en"])
    return {
        "pk": pk, "dataset_pk": dataset_pk, "position": at, "query_id": f"Q{at:05}",
        "text": f"検索クエリ {at} 검색 how to configure the handler queue", "category": f"category {at % 20}",
        "language": language, "query_type": None, "difficulty": "easy", "primary_domain": None,
        "narrative": None, "extra": {"needs_a2a": False},
    }  # fmt: skip


def _document(pk: int, dataset_pk: int, at: int) -> dict[str, Any]:
    return {
        "pk": pk, "dataset_pk": dataset_pk, "doc_id": f"guide/章 {at // 1000}/page-{at:06}.html".replace(" ", "-"),
        "title": f"Handler queue, 第{at}章", "url": None, "media_type": "text/plain", "text_sha256": "aa",
        "extra": {"law_type": "법률"} if at % 10 == 0 else {},
    }  # fmt: skip


def _pair(base: int, dataset_pk: int, at: int, documents: int) -> dict[str, Any]:
    query, position = divmod(at, DEPTH)
    return {
        "pk": base + at, "dataset_pk": dataset_pk, "query_pk": base + query,
        "document_pk": base + (query * 37 + position) % documents, "key": f"{base + at:x}", "judged": 2, "kept": False,
        "retired_at": None, "created_at": NOW,
    }  # fmt: skip


def _judge(
    session: Any,
    base: int,
    dataset_pk: int,
    rubric_pk: int,
    people: list[int],
    pair_numbers: range,
    drawn: random.Random,
) -> None:
    judgments, decisions = [], []
    for at in pair_numbers:
        first = drawn.choices((0, 1, 2, 3), (50, 25, 15, 10))[0]
        second = (first + 1) % 4 if at % 10 == 0 else first
        for number, grade in enumerate((first, second)):
            pk, moment = base + 2 * at + number, NOW + timedelta(seconds=at)
            judgments.append(
                {
                    "pk": pk, "event_id": str(UUID(int=pk, version=4)), "pair_pk": base + at, "annotator_pk": people[number],
                    "rubric_pk": rubric_pk, "outcome": "graded", "grade": grade,
                    "note": "第17条を参照, 검토함" if at % 20 == 0 else None, "purpose": "independent",
                    "document_sha256": "aa", "judged_at": moment, "received_at": moment, "seconds": 4.25,
                }
            )  # fmt: skip
        if first != second:
            decisions.append(
                {
                    "pk": base + at, "pair_pk": base + at, "revision": 1, "lead_pk": people[2],
                    "rubric_pk": rubric_pk, "grade": first, "rationale": "第17条に直接", "reason": None,
                    "decided_at": NOW,
                }
            )  # fmt: skip
    add_rows(session, JudgmentRow, judgments)
    add_rows(session, AdjudicationRow, decisions)
    # What the program derives from these rows is left to the program, so that a new derived table is filled here too.
    derive_current(session, dataset_pk, [base + at for at in pair_numbers])
    decided = [row["pair_pk"] for row in decisions]
    derive_decided(session, decided)
    derive_disagreements(session, dataset_pk, decided)


if __name__ == "__main__":
    main()
