"""A crowd that judged: hundreds of annotators who share few pairs each, some of them careless. Made with a seed.

Shared by `crowd_page` and `consensus`, and by tests in a small size. A few annotators judged thousands of pairs, most a handful,
as in public crowd data. `CONSTANT` of them give one grade almost throughout, `GUESSING` any grade, `ADVERSE` the opposite one.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    JudgmentRow,
    PairRow,
)
from benchmarks.agreement_load import add_queries
from benchmarks.labeling_load import DATASET, NOW, add_people, trust

CONSTANT, GUESSING, ADVERSE = 0.15, 0.1, 0.03
DEPTH = 20
PRESENT = 7  # so many annotators look at a query, by chance the same one twice
Ints = NDArray[np.int64]


class Crowd(NamedTuple):
    """Judgments as columns: pair and annotator count from 0 without gaps; pairs of a query follow each other, DEPTH at a time."""

    pair: Ints
    annotator: Ints
    grade: Ints


def draw_crowd(
    *,
    pairs: int,
    people: int,
    judgments: int,
    seed: int = 0,
    constant: float = CONSTANT,
    guessing: float = GUESSING,
    adverse: float = ADVERSE,
) -> Crowd:
    """So many judgments are drawn, two or more of each pair; those of one annotator on one pair are one."""
    random = np.random.default_rng(seed)
    activity = random.lognormal(0, 1.3, people)
    queries = -(-pairs // DEPTH)
    present = random.choice(people, (queries, PRESENT), p=activity / activity.sum())
    present[:, 0] = np.resize(random.permutation(people), queries)  # everybody looks at one query at least
    times = random.poisson(max(0.0, judgments / pairs - 2), pairs) + 2
    pair = np.repeat(np.arange(pairs), times)
    who = present[pair // DEPTH, random.integers(0, PRESENT, len(pair))]
    pair, who = np.divmod(np.unique(pair * people + who), people)
    truth = random.choice(4, pairs, p=[0.5, 0.2, 0.2, 0.1])[pair]
    kind = random.choice(4, people, p=[1 - constant - guessing - adverse, constant, guessing, adverse])[who]
    right = random.random(len(pair)) < random.beta(6, 3, people)[who]
    grade = np.where(right, truth, np.clip(truth + random.choice([-1, 1], len(pair)), 0, 3))
    given = random.integers(0, 4, people)[who]
    grade = np.where((kind == 1) & (random.random(len(pair)) < 0.98), given, grade)
    grade = np.where(kind == 2, random.integers(0, 4, len(pair)), grade)
    grade = np.where(kind == 3, 3 - truth, grade)
    _, pair = np.unique(pair, return_inverse=True)
    _, who = np.unique(who, return_inverse=True)
    return Crowd(pair, who, grade)


def fill(database: Database, crowd: Crowd, *, seed: int = 0) -> None:
    """A dataset named DATASET with this crowd's judgments, over eight weeks."""
    upgrade_schema(database)
    create_dataset(database, OPERATOR, DATASET, now=NOW, settings={"overlap": "5", "seed": "7"})
    pairs, people = int(crowd.pair.max()) + 1, int(crowd.annotator.max()) + 1
    queries = -(-pairs // DEPTH)
    with database.write() as session:
        trust(session)
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        add_people(session, dataset_pk, people)
        add_queries(session, dataset_pk, queries=queries, documents=DEPTH * 5)
        judged = np.bincount(crowd.pair, minlength=pairs).tolist()
        add_rows(session, PairRow, [
            {"pk": at + 1, "dataset_pk": dataset_pk, "query_pk": at // DEPTH + 1, "key": f"{at:024x}", "judged": judged[at],
             "document_pk": at % (DEPTH * 5) + 1, "created_at": NOW} for at in range(pairs)
        ])  # fmt: skip
        rows = list(_list_judgments(crowd, rubric_pk, seed))
        add_rows(session, JudgmentRow, rows)
        add_rows(session, CurrentJudgmentRow, [_name_current(dataset_pk, row) for row in rows])
        derive_work(session, dataset_pk)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _list_judgments(crowd: Crowd, rubric_pk: int, seed: int) -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(seed)
    seconds = random.lognormal(1.5, 0.6, len(crowd.pair)).round(2).tolist()
    columns = (column.tolist() for column in crowd)
    for pk, (pair, person, grade) in enumerate(zip(*columns, strict=True), start=1):
        made = NOW + timedelta(weeks=8 * pair / (int(crowd.pair[-1]) + 1), seconds=pk % 3600)
        yield {
            "pk": pk, "event_id": str(UUID(int=pk, version=4)), "pair_pk": pair + 1, "annotator_pk": person + 1,
            "rubric_pk": rubric_pk, "outcome": "graded", "grade": grade, "document_sha256": "aa",
            "judged_at": made, "received_at": made, "seconds": seconds[pk - 1],
        }  # fmt: skip


def _name_current(dataset_pk: int, judgment: dict[str, Any]) -> dict[str, Any]:
    return {
        "pair_pk": judgment["pair_pk"], "annotator_pk": judgment["annotator_pk"], "judgment_pk": judgment["pk"],
        "dataset_pk": dataset_pk, "outcome": "graded", "grade": judgment["grade"], "purpose": "independent",
        "rubric_pk": judgment["rubric_pk"], "seconds": judgment["seconds"],
        "made_at": int(judgment["judged_at"].timestamp()),
    }  # fmt: skip
