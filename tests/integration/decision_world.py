"""Four disagreements and two leads, and what they are handed."""

from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.service import hand_out_disagreements
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import AuditEventRow, QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.integration.judged_world import NOW, JudgedWorld

DOCUMENTS = ("甲", "乙", "丙", "丁")


class DecisionWorld(JudgedWorld):
    """Four disagreements, three apart, in their order; two leads."""

    def __init__(self, database: Database, **settings: str) -> None:
        super().__init__(database, **settings)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lea, self.lou = self.person("lea", "lead"), self.person("lou", "lead")
        self.query("Q1", "一")
        self.keys = {doc_id: self.pair("Q1", doc_id) for doc_id in DOCUMENTS}
        for doc_id in DOCUMENTS:
            self.judge(self.hanako, "Q1", doc_id, 0)
            self.judge(self.minjun, "Q1", doc_id, 3)

    def ask(
        self,
        actor: Actor,
        want: int = 1,
        *,
        tab: str = "t1",
        have: tuple[str, ...] = (),
        pair: str | None = None,
        now: datetime = NOW,
        wanted: QueueFilter | None = None,
    ) -> list[str]:
        """Return the doc_ids of the disagreements handed out."""
        batch = hand_out_disagreements(
            self.database, actor, "d", wanted or QueueFilter(), tab=tab, want=want,
            have=[self.keys[doc_id] for doc_id in have], pair=None if pair is None else self.keys[pair], now=now,
        )  # fmt: skip
        return [view.document.doc_id for view in batch.disagreements]

    def events(self) -> list[tuple[str, object, object]]:
        with self.database.read() as session:
            rows = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk))).all()
            return [(row.action, row.before, row.after) for row in rows]

    def set_lacking(self, doc_id: str, lacking: int) -> None:
        with self.database.write() as session:
            row = session.scalars(select(PairRow).where(col(PairRow.key) == self.keys[doc_id])).one()
            row.lacking = lacking
            session.add(row)

    def draw_for(self, expert: Actor, doc_id: str, *, settled: int) -> None:
        """A quality check of this pair that the expert has not answered yet."""
        with self.database.write() as session:
            draw = QualityDrawRow.model_validate(
                {
                    "dataset_pk": self.dataset_pk, "number": 1, "round": 1, "annotator_pk": expert.person_id,
                    "drawn_by_pk": None, "rate": 0.1, "seed": 3, "population": 40, "outside": 2, "drawn_at": NOW,
                }
            )  # fmt: skip
            session.add(draw)
            session.flush()
            pair_pk = session.scalars(
                select(col(PairRow.pk)).where(col(PairRow.key) == self.keys[doc_id])
            ).one()
            checked = {
                "draw_pk": draw.pk,
                "pair_pk": pair_pk,
                "settled_grade": settled,
                "settled_by": "unanimous",
            }
            session.add(QualityPairRow.model_validate(checked))

    def seen_by(self, actor: Actor) -> int:
        with self.database.read() as session:
            own = col(DisclosureRow.person_pk) == actor.person_id
            return len(session.scalars(select(col(DisclosureRow.pair_pk)).where(own)).all())
