"""A dataset whose pairs are settled, and an expert who judged none of them: made directly in storage."""

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import SubmitResponse
from annotator.quality.records import QualityDraw, QualityStatus
from annotator.quality.service import draw_sample, show_quality
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.tables.adjudication import QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import JudgmentRow, PairRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.integration.labeling_world import World


class QualityWorld(World):
    """`d` with `queries` × `documents` pairs, judged alike by ann and bea unless told otherwise; cho is the expert, and lea
    the lead. The settled grade of the n-th pair is n % 4."""

    def __init__(
        self,
        database: Database,
        *,
        queries: int = 4,
        documents: int = 5,
        settled: bool = True,
        overlap: int = 2,
    ) -> None:
        super().__init__(database, queries=queries, documents=documents, overlap=overlap)
        self.documents = documents
        self.ann, self.bea, self.cho = (self.person(name) for name in ("ann", "bea", "cho"))
        self.lea = self.person("lea", "lead")
        with database.read() as session:
            self.dataset_pk = key_of(find_dataset(session, "d").pk)
            rows = session.scalars(select(PairRow).order_by(col(PairRow.pk))).all()
            self.keys = {key_of(row.pk): row.key for row in rows}
        self.pks = {key: pk for pk, key in self.keys.items()}
        self.grades = {pk: index % 4 for index, pk in enumerate(self.keys)}
        if settled:
            self.settle(list(self.keys))

    def name(self, pk: int) -> str:
        """The document of a pair, which is in one query only."""
        index = list(self.keys).index(pk)
        return f"{index // self.documents}-{index % self.documents}"

    def list_seen(self, actor: Actor) -> set[int]:
        """The pairs (pair_pk) whose disclosure to this person is recorded."""
        with self.database.read() as session:
            own = col(DisclosureRow.person_pk) == actor.person_id
            return set(session.scalars(select(col(DisclosureRow.pair_pk)).where(own)))

    def settle(self, pks: list[int], *, by: tuple[Actor, ...] = ()) -> None:
        """The pairs are judged with their grades, by ann and bea unless told otherwise."""
        self.later(seconds=1)
        with self.database.write() as session:
            for pk in pks:
                for actor in by or (self.ann, self.bea):
                    self._add(session, actor, pk, self.grades[pk], "graded", "independent")
            derive_current(session, self.dataset_pk, pks)

    def judge_as(
        self,
        actor: Actor,
        pk: int,
        grade: int | None,
        *,
        outcome: str = "graded",
        purpose: str = "independent",
    ) -> None:
        """One stored answer, a second later."""
        self.later(seconds=1)
        with self.database.write() as session:
            self._add(session, actor, pk, grade, outcome, purpose)
            derive_current(session, self.dataset_pk, [pk])

    def _add(
        self, session: Session, actor: Actor, pk: int, grade: int | None, outcome: str, purpose: str
    ) -> None:
        row = {
            "event_id": self.event(self.keys[pk])["id"], "pair_pk": pk, "annotator_pk": actor.person_id,
            "rubric_pk": find_rubric(session, self.dataset_pk).pk, "outcome": outcome, "grade": grade,
            "purpose": purpose, "document_sha256": "aa", "judged_at": self.now, "received_at": self.now,
            "seconds": 1.5,
        }  # fmt: skip
        session.add(JudgmentRow.model_validate(row))

    def draw(self, annotator: str = "cho", **changes: object) -> QualityDraw:
        """A draw by the operator, a second later."""
        self.later(seconds=1)
        return draw_sample(self.database, OPERATOR, "d", annotator=annotator, now=self.now, **changes)  # type: ignore[arg-type]

    def status(self) -> QualityStatus:
        return show_quality(self.database, OPERATOR, "d", now=self.now)

    def drawn(self, number: int | None = None) -> dict[int, QualityPairRow]:
        """The drawn pairs by pair_pk, of one draw or all."""
        with self.database.read() as session:
            statement = select(QualityPairRow).join(
                QualityDrawRow, col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk)
            )
            if number is not None:
                statement = statement.where(col(QualityDrawRow.number) == number)
            return {row.pair_pk: row for row in session.scalars(statement)}

    def check(
        self, pk: int, grade: int | None, actor: Actor | None = None, **changes: object
    ) -> SubmitResponse:
        """The expert answers a pair, a second later."""
        self.later(seconds=1)
        return self.send(actor or self.cho, self.event(self.keys[pk], grade, **changes))
