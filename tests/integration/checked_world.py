"""A labeled world with training pairs, gold pairs and repeats, for the tests of checks."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlmodel import col

from annotator.domain.judgments import OpenPair, TrainingState
from annotator.domain.people import Actor
from annotator.labeling.checks import CheckMixer
from annotator.labeling.next_pairs_sql import (
    StoredChecks,
    find_training,
    list_training,
    read_check_rates,
)
from annotator.labeling.open_pairs_sql import Eligibility, list_held
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import OpenPairsRequest, find_dataset, find_rubric, key_of
from annotator.storage.tables.central import DatasetRow, JudgmentRow, PairRow
from annotator.storage.tables.labeling import CheckRow
from tests.integration.labeling_world import World


class CheckedWorld(World):
    """The world of labeling, spoken to through storage: marks, answers of any purpose, and what is handed out."""

    def __init__(self, database: Database, *, queries: int = 3, documents: int = 4, **settings: Any) -> None:
        super().__init__(database, queries=queries, documents=documents)
        with database.write() as session:
            dataset = find_dataset(session, "d")
            self.dataset_pk = key_of(dataset.pk)
            session.execute(update(DatasetRow).values(**settings)) if settings else None
            rows = session.execute(
                select(col(PairRow.pk), col(PairRow.key), col(PairRow.query_pk)).order_by(col(PairRow.pk))
            ).all()
            self.pairs = [key_of(pk) for pk, _key, _query in rows]
            self.keys = {key_of(pk): key for pk, key, _query in rows}
            self.queries = {key_of(pk): query for pk, _key, query in rows}
            self.rubric_pk = key_of(find_rubric(session, self.dataset_pk).pk)

    def mark(self, kind: str, *pairs: int, grade: int = 2, by: Actor | None = None) -> None:
        """Mark these pairs (pair_pk); the right grade is the same for all."""
        with self.database.write() as session:
            for pair in pairs:
                row = {"pair_pk": pair, "kind": kind, "grade": grade, "explanation": f"because {pair}"}
                session.add(
                    CheckRow.model_validate(
                        {**row, "marked_by_pk": by and by.person_id, "marked_at": self.now}
                    )
                )

    def answer(
        self,
        actor: Actor,
        pair: int,
        grade: int | None,
        *,
        purpose: str = "independent",
        outcome: str = "",
    ) -> None:
        """One stored answer of that purpose (None: unrateable), a second after the one before."""
        self.later(seconds=1)
        event = self.event(self.keys[pair], grade)
        with self.database.write() as session:
            row = {
                "event_id": event["id"],
                "pair_pk": pair,
                "annotator_pk": actor.person_id,
                "rubric_pk": self.rubric_pk,
                "outcome": outcome or event["outcome"],
                "grade": None if outcome else grade,
                "purpose": purpose,
                "judged_at": self.now,
                "received_at": self.now,
                "seconds": 1.5,
                "document_sha256": "aa",
            }
            session.add(JudgmentRow.model_validate(row))
            derive_current(session, self.dataset_pk, [pair])
            derive_work(session, self.dataset_pk, [pair])

    def request(self, actor: Actor, tab: str = "") -> OpenPairsRequest:
        return OpenPairsRequest(self.dataset_pk, key_of(actor.person_id), 2, self.now, tab)

    def training(self, actor: Actor) -> TrainingState | None:
        """How far the annotator's training is."""
        with self.database.read() as session:
            return find_training(session, self.request(actor), find_dataset(session, "d"))

    def next_training(self, actor: Actor) -> list[int]:
        """The training pairs to come, by pair_pk."""
        with self.database.read() as session:
            return list_training(session, self.request(actor), find_dataset(session, "d"), limit=50)

    def mixed(self, actor: Actor, ordinary: Sequence[int], *, held: Sequence[int] = ()) -> list[OpenPair]:
        """What is handed out with checks among it."""
        with self.database.write() as session:
            dataset = find_dataset(session, "d")
            request = self.request(actor)
            mixer = CheckMixer(
                StoredChecks(session, request),
                read_check_rates(dataset),
                seed=dataset.seed,
                annotator=actor.username,
                taken={
                    *held,
                    *(pair.pair_pk for pair in list_held(session, request, Eligibility(), elsewhere=True)),
                },
            )
            pairs = [OpenPair(pk, self.keys[pk], self.queries[pk], False, False) for pk in ordinary]
            return mixer.mix(pairs, shown=len(held), query_before=None)
