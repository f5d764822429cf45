"""A dataset with annotators who share much, little and nothing, so that every figure of agreement has something to show."""

import random
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, JudgmentRow, PairRow, QueryRow
from tests.integration.judged_world import NOW, JudgedWorld

QUERIES, PER_QUERY, CORE = 24, 4, 16
CATEGORIES = ("설정", "検索", "law | <b>", None)


class AgreementWorld(JudgedWorld):
    """So many annotators over 96 pairs of 24 queries in 4 categories, in three weeks.

    The first CORE judge every third pair, all of them together, and everybody else has their turn at the other pairs, two or
    three to a pair. Of more than two, one judges a pair that nobody else does; one says of a pair that it cannot be rated,
    one changes their mind. A few pairs have one judgment only.
    """

    def __init__(self, database: Database, people: int) -> None:
        super().__init__(database, kappa_target="0.6", overlap="1", seed="0")
        self.people = [self.person(f"p{number:03}", simulated=number == 1) for number in range(people)]
        self.lead = self.person("lead", "lead")
        self._rows: list[dict[str, object]] = []
        self._random = random.Random(people)
        self._pool()
        self._judge_core()
        self._judge_rest()
        self._store()

    def _pool(self) -> None:
        for number in range(QUERIES):
            self.query(f"Q{number:02}", f"검색 {number}", category=CATEGORIES[number % 4])
        with self.database.write() as session:
            queries = session.execute(select(col(QueryRow.query_id), col(QueryRow.pk))).all()
            documents = {
                (query_id, rank): DocumentRow(dataset_pk=self.dataset_pk, doc_id=f"{query_id}-{rank}", title="題")
                for query_id, _ in queries
                for rank in range(PER_QUERY)
            }  # fmt: skip
            session.add_all(documents.values())
            session.flush()
            candidates = [
                PoolCandidate(pk or 0, query_id, documents[query_id, rank].pk or 0, f"{query_id}-{rank}", "bm25", rank, 1.0)
                for query_id, pk in queries
                for rank in range(PER_QUERY)
            ]  # fmt: skip
            add_candidates(session, self.dataset_pk, self.name, candidates, now=NOW)
            rows = select(col(DocumentRow.doc_id), col(PairRow.pk)).join(
                PairRow, col(PairRow.document_pk) == col(DocumentRow.pk)
            )
            self._pairs = [key_of(pk) for _, pk in sorted(tuple(row) for row in session.execute(rows))]

    def _judge_core(self) -> None:
        for index in range(0, len(self._pairs), 3):
            for who in self.people[:CORE]:
                self._grade(who, index)

    def _judge_rest(self) -> None:
        rest = self.people[CORE:] or self.people
        turn = 0
        for index in range(len(self._pairs)):
            if index % 3 == 0:
                continue
            for _ in range(1 if index % 24 == 1 else 3 if len(rest) > 3 else 2):
                self._grade(rest[turn % len(rest)], index)
                turn += 1
        if len(self.people) > 2:
            alone = self.person("zz-alone")
            self.people.append(alone)
            self._add(alone, self._free_pair(), 2)
            self._add(self.people[0], self._pairs[-1], None)
            self._grade(self.people[0], 0)

    def _free_pair(self) -> int:
        """A pair that only this one will judge."""
        self.pair("Q00", "only-one")
        with self.database.read() as session:
            pair_pk = session.scalar(
                select(col(PairRow.pk))
                .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
                .where(col(DocumentRow.doc_id) == "only-one")
            )
        return pair_pk or 0

    def _grade(self, who: Actor, index: int) -> None:
        """The true grade, or often another one near it; the first annotator is lenient, the last severe."""
        truth = (index * 7 // 3) % 4
        lean = 1 if who is self.people[0] else -1 if who is self.people[-1] else self._random.choice([-1, 1])
        off = lean if self._random.random() < 0.25 else 0
        self._add(who, self._pairs[index], min(3, max(0, truth + off)), days=index * 21 // len(self._pairs))

    def _add(self, who: Actor, pair_pk: int, grade: int | None, *, days: int = 20) -> None:
        self.judged += 1
        at = NOW + timedelta(days=days, seconds=self.judged)
        self._rows.append(
            {
                "event_id": str(UUID(int=self.judged, version=4)), "pair_pk": pair_pk, "annotator_pk": who.person_id,
                "outcome": "unrateable" if grade is None else "graded", "grade": grade, "purpose": "independent",
                "judged_at": at, "received_at": at, "seconds": 12.5,
            }
        )  # fmt: skip

    def _store(self) -> None:
        with self.database.write() as session:
            rubric = find_rubric(session, self.dataset_pk).pk
            session.add_all(JudgmentRow.model_validate({**row, "rubric_pk": rubric}) for row in self._rows)
            derive_current(session, self.dataset_pk)
