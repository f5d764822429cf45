"""A dataset with runs, and the scores of its systems computed from nothing: what is stored must be this."""

import math
from itertools import combinations
from pathlib import Path

from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import OPERATOR
from annotator.importing.runs.runs_service import import_run
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import DisagreementRow, QueryScoreRow, ScoreDueRow, ScoreTotalRow
from annotator.storage.tables.central import DocumentRow, PairRow, QueryRow
from tests.integration.judged_world import NOW, JudgedWorld

Grades = dict[str, dict[str, int]]
"""By query_id and doc_id; a document without a grade is absent."""
Stored = dict[str, tuple[float, float | None, float | None, int | None]]


class ScoredWorld(JudgedWorld):
    """Queries Q1 to Q3 with the documents a to f; `rank` imports a run."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.folder, self.runs = folder, dict[str, dict[str, list[str]]]()
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lead = self.person("lead", "lead")
        for query_id in ("Q1", "Q2", "Q3"):
            self.query(query_id, f"検索 {query_id} 🔎")
            for doc_id in "abcdef":
                self.pair(query_id, doc_id)

    def rank(self, system: str, rankings: dict[str, list[str]], *, first: int = 1) -> None:
        """Import a run: per query its documents, best first; `first`: the rank that its file begins with."""
        path = self.folder / f"{system}.run"
        path.write_text(
            "".join(
                f"{query_id} Q0 {doc_id} {rank} {100 - rank} {system}\n"
                for query_id, docs in rankings.items()
                for rank, doc_id in enumerate(docs, start=first)
            )
        )
        import_run(self.database, OPERATOR, "d", path, now=NOW)
        self.runs[system] = rankings

    def both(self, query_id: str, doc_id: str, first: int | None, second: int | None) -> None:
        """What both annotators say."""
        self.judge(self.hanako, query_id, doc_id, first)
        self.judge(self.minjun, query_id, doc_id, second)

    def stored(self) -> Stored:
        """Impact on nDCG, recall and reciprocal rank, and the flips, by query and document."""
        with self.database.read() as session:
            rows = session.execute(
                select(col(QueryRow.query_id), col(DocumentRow.doc_id), DisagreementRow)
                .join(PairRow, col(PairRow.pk) == col(DisagreementRow.pair_pk))
                .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
                .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
            )
            return {
                f"{query_id} {doc_id}": (row.impact, row.recall_impact, row.mrr_impact, row.flips)
                for query_id, doc_id, row in rows
            }

    def scores(self) -> tuple[dict[str, dict[str, list[float | None]]], dict[str, list[float]]]:
        """What is stored: by query_id the systems' scores, and the sums."""
        with self.database.read() as session:
            rows = session.execute(
                select(col(QueryRow.query_id), col(QueryScoreRow.scores)).join(
                    QueryScoreRow, col(QueryScoreRow.query_pk) == col(QueryRow.pk)
                )
            )
            total = session.scalars(select(ScoreTotalRow)).first()
            scores = {row.query_id: row.scores for row in rows}
            return scores, total.scores if total else {}

    def due(self) -> set[str]:
        with self.database.read() as session:
            return set(
                session.scalars(
                    select(col(QueryRow.query_id)).join(
                        ScoreDueRow, col(ScoreDueRow.query_pk) == col(QueryRow.pk)
                    )
                )
            )

    def evaluate(self, grades: Grades) -> dict[str, dict[str, tuple[float, float, float]]]:
        """By system and query, what an evaluator says: nDCG@10, recall@10, reciprocal rank; 0 where one is undefined."""
        return {
            system: {
                query_id: _evaluate(rankings.get(query_id, []), grades.get(query_id, {}))
                for query_id in ("Q1", "Q2", "Q3")
            }
            for system, rankings in self.runs.items()
        }

    def try_grades(
        self, grades: Grades, query_id: str, doc_id: str, choice: list[int | None]
    ) -> tuple[float, float, float, int]:
        """What the choice moves, as the difference of whole evaluations."""
        runs = []
        for grade in choice:
            others = {key: value for key, value in grades[query_id].items() if key != doc_id}
            tried = {**grades, query_id: others if grade is None else {**others, doc_id: grade}}
            runs.append(self.evaluate(tried))
        moved = [
            max(
                max(run[system][query_id][metric] for run in runs)
                - min(run[system][query_id][metric] for run in runs)
                for system in self.runs
            )
            for metric in range(3)
        ]
        means = [
            {system: sum(by_metric[0] for by_metric in run[system].values()) / 3 for system in self.runs}
            for run in runs
        ]
        flips = sum(
            any(mean[first] - mean[second] > 1e-9 for mean in means)
            and any(mean[second] - mean[first] > 1e-9 for mean in means)
            for first, second in combinations(self.runs, 2)
        )
        return moved[0], moved[1], moved[2], flips


def _evaluate(ranking: list[str], grades: dict[str, int]) -> tuple[float, float, float]:
    def add_up(given: list[int]) -> float:
        return sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(given[:10]))

    ideal = add_up(sorted(grades.values(), reverse=True))
    relevant = {doc_id for doc_id, grade in grades.items() if grade >= 1}
    ranks = [rank for rank, doc_id in enumerate(ranking, start=1) if doc_id in relevant]
    return (
        add_up([grades.get(doc_id, 0) for doc_id in ranking]) / ideal if ideal else 0.0,
        len([rank for rank in ranks if rank <= 10]) / len(relevant) if relevant else 0.0,
        1 / ranks[0] if ranks else 0.0,
    )
