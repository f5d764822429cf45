"""A dataset that 20 annotators have judged: 10,000 queries with 30 pairs each, every pair judged by three or four.

Shared by `agreement.py` and `agreement_page.py`. The grades are drawn around a true one, with annotators who lean, over eight
weeks; a folder named by the user is used again.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import CurrentJudgmentRow, DocumentRow, JudgmentRow, PairRow, QueryRow
from annotator.storage.tables.sign_in import LoginSessionRow
from benchmarks.labeling_load import DATASET, NOW, add_people, set_sequences, trust

DEPTH, PEOPLE, WEEKS = 30, 20, 8
CATEGORIES = ("howto", "reference", "troubleshooting", "概念", "설정")


def add_queries(session: Session, dataset_pk: int, *, queries: int, documents: int) -> None:
    """Add so many queries and documents; their keys count from 1."""
    add_rows(session, QueryRow, [
        {"pk": at + 1, "dataset_pk": dataset_pk, "position": at, "query_id": f"Q{at:05}", "text": f"検索 {at} 검색",
         "category": CATEGORIES[at % len(CATEGORIES)], "extra": {}} for at in range(queries)
    ])  # fmt: skip
    add_rows(session, DocumentRow, [
        {"pk": at + 1, "dataset_pk": dataset_pk, "doc_id": f"guide/page-{at:06}", "title": f"第{at}章", "extra": {}}
        for at in range(documents)
    ])  # fmt: skip


def fill(database: Database, *, queries: int) -> None:
    """The dataset of this size."""
    upgrade_schema(database)
    create_dataset(database, OPERATOR, DATASET, now=NOW, settings={"overlap": "3", "seed": "7"})
    with database.write() as session:
        trust(session)
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        add_people(session, dataset_pk, PEOPLE)
        add_queries(session, dataset_pk, queries=queries, documents=queries * 3)
    last = 0
    for first in range(0, queries, 200):
        with database.write() as session:
            trust(session)
            pair_numbers = range(first * DEPTH, min(queries, first + 200) * DEPTH)
            add_rows(session, PairRow, [_pair(dataset_pk, at, queries * 3) for at in pair_numbers])
            judgments = list(_judge(rubric_pk, pair_numbers, last))
            last = judgments[-1]["pk"]
            add_rows(session, JudgmentRow, judgments)
            add_rows(session, CurrentJudgmentRow, [_current(dataset_pk, judgment) for judgment in judgments])
    with database.write() as session:
        derive_work(session, dataset_pk)
        set_sequences(session)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def make_lead(database: Database) -> None:
    """Let the first person be a lead, so that one who is signed in can open the leads' pages."""
    with database.write() as session:
        session.execute(text("UPDATE membership SET role = 'lead' WHERE person_pk = 1"))
        assert session.get(
            LoginSessionRow, session.scalar(text("SELECT min(token_sha256) FROM login_session"))
        )


def _pair(dataset_pk: int, at: int, documents: int) -> dict[str, Any]:
    query, position = divmod(at, DEPTH)
    return {
        "pk": at + 1, "dataset_pk": dataset_pk, "query_pk": query + 1, "key": f"{at:024x}", "judged": 3 + (at % 3 == 0),
        "document_pk": (query * 37 + position) % documents + 1, "created_at": NOW,
    }  # fmt: skip


def _judge(rubric_pk: int, pair_numbers: range, last: int) -> Iterator[dict[str, Any]]:
    """The judgments of these pairs: a true grade, which each annotator misses in about a fifth of all cases."""
    random = np.random.default_rng(pair_numbers.start)
    leaning = np.linspace(-0.25, 0.25, PEOPLE)
    pk = last
    for at in pair_numbers:
        true = random.choice(4, p=(0.4, 0.25, 0.2, 0.15))
        people = random.choice(PEOPLE, size=3 + (at % 3 == 0), replace=False)
        felt = true + leaning[people] + random.normal(0, 0.5, size=len(people))
        for person, grade in zip(
            people.tolist(), np.clip(np.rint(felt), 0, 3).astype(int).tolist(), strict=True
        ):
            pk += 1
            made = NOW + timedelta(weeks=WEEKS * (at % 997) / 997, seconds=int(random.integers(3600)))
            yield {
                "pk": pk, "event_id": str(UUID(int=pk, version=4)), "pair_pk": at + 1, "annotator_pk": person + 1,
                "rubric_pk": rubric_pk, "outcome": "graded", "grade": grade, "document_sha256": "aa",
                "judged_at": made, "received_at": made, "seconds": round(float(random.lognormal(1.5, 0.6)), 2),
            }  # fmt: skip


def _current(dataset_pk: int, judgment: dict[str, Any]) -> dict[str, Any]:
    return {
        "pair_pk": judgment["pair_pk"], "annotator_pk": judgment["annotator_pk"], "judgment_pk": judgment["pk"],
        "dataset_pk": dataset_pk, "outcome": "graded", "grade": judgment["grade"], "purpose": "independent",
        "rubric_pk": judgment["rubric_pk"], "seconds": judgment["seconds"],
        "made_at": int(judgment["judged_at"].timestamp()),
    }  # fmt: skip
