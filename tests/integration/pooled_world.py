"""A pool that two systems and an import proposed, judged in part, with a round that left out two candidates."""

from typing import Any

from sqlalchemy import select
from sqlmodel import col

from annotator.pooling.rounds.round_records import LeftOut, NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import DocumentRow, PairRow, ProvenanceRow, QueryRow
from tests.integration.judged_world import NOW, JudgedWorld


class PooledWorld(JudgedWorld):
    """Two queries. `s1` ranks from 1, `s0` from 0, `imp` gives no rank. Settled: a (3), b (0), d (2); c is in disagreement."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        first, second = self.person("first"), self.person("second")
        self.query("Q2", "検索", category="設定")
        self.query("Q1", "검색 100%", category="법")
        for query_id, doc_id, systems in (
            ("Q2", "b", {"s1": 2}),
            ("Q2", "a", {"s1": 1, "s0": 0}),
            ("Q1", "c", {"s0": 0, "s1": 2}),
            ("Q1", "d", {"s0": 1, "imp": None}),
            ("Q1", "e_1", {"imp": None}),
        ):
            self.pair(query_id, doc_id, title=f"題 {doc_id}")
            self.propose(query_id, doc_id, systems)
        for query_id, doc_id, grades in (
            ("Q2", "a", (3, 3)),
            ("Q2", "b", (0, 0)),
            ("Q1", "c", (0, 2)),
            ("Q1", "d", (2, 2)),
        ):
            for person, grade in zip((first, second), grades, strict=True):
                self.judge(person, query_id, doc_id, grade)

    def propose(self, query_id: str, doc_id: str, systems: dict[str, int | None]) -> None:
        """These systems, at these ranks, in place of whoever stands there."""
        with self.database.write() as session:
            pair_pk = self.find_pk(session, query_id, doc_id)
            for row in session.scalars(select(ProvenanceRow).where(col(ProvenanceRow.pair_pk) == pair_pk)):
                session.delete(row)
            session.flush()
            session.add_all(
                [
                    ProvenanceRow(pair_pk=pair_pk, system=name, rank=rank, score=0.5, signals={"벡터": 1})
                    for name, rank in systems.items()
                ]
            )

    def find_pk(self, session: Any, query_id: str, doc_id: str) -> int:
        return session.scalar(
            select(col(PairRow.pk)).where(col(PairRow.key) == pair_key("d", query_id, doc_id))
        )

    def add_round(self) -> None:
        """A round that brought Q1 c by chance and Q1 d, and left out two candidates."""
        with self.database.write() as session:
            queries = dict(session.execute(select(col(QueryRow.query_id), col(QueryRow.pk))).all())
            documents = dict(session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk))).all())
            pairs = {
                self.find_pk(session, "Q1", "c"): PairDraw("2-3", 0.25),
                self.find_pk(session, "Q1", "d"): PairDraw(),
            }
            left_out = (
                LeftOut(queries["Q1"], documents["a"], "near-duplicate", documents["d"]),
                LeftOut(queries["Q1"], documents["b"], "min-length:100"),
            )
            new = NewRound("stratified", {"depth": 3}, {"new": 2}, left_out)
            add_round(session, self.dataset_pk, new, pairs, made_by=None, now=NOW)

    def find_key(self, query_id: str, doc_id: str) -> str:
        return pair_key("d", query_id, doc_id)
