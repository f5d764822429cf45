"""A dataset whose disagreements were decided, each with its cause: what tests of the worklist for the guideline share."""

from datetime import timedelta

from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.records import Outcome
from annotator.guideline.feedback_sql import DecisionKey
from annotator.guideline.service import GuidelineVersion, publish_version, read_version
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import QuestionRow
from tests.integration.guideline_world import with_fields
from tests.integration.judged_world import NOW, JudgedWorld

CATEGORIES = ("障害 対応", "설정")


class FeedbackWorld(JudgedWorld):
    """Two queries, one of each category; 花子 and 민준 judge, léa leads."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lea = self.person("léa", "lead")
        self.query("Q1", "エラーの原因 🔎", category=CATEGORIES[0])
        self.query("Q2", "포트 <b>설정", category=CATEGORIES[1])
        self.documents = 0

    def add_disagreement(
        self,
        query_id: str,
        first: int | None,
        second: int | None,
        decided: int | None = None,
        cause: str | None = None,
        *,
        in_guideline: bool = False,
        text: str | None = None,
        rationale: str = "第17条 & <i>",
    ) -> str:
        """Add a pair that two people judged and, with `decided`, a decision on it; return its key."""
        self.documents += 1
        doc_id = f"文書{self.documents}"
        key = self.pair(query_id, doc_id, rank=1, title=f"題 {self.documents} <x>", text=text)
        self.judge(self.hanako, query_id, doc_id, first)
        self.judge(self.minjun, query_id, doc_id, second)
        if decided is not None:
            self.decide(key, decided, cause, in_guideline=in_guideline, rationale=rationale)
        return key

    def decide(
        self,
        key: str,
        grade: int | None,
        cause: str | None = None,
        *,
        in_guideline: bool = False,
        rationale: str = "第17条",
        outcome: Outcome = "graded",
    ) -> DecisionKey:
        """Léa's next decision on a pair, a minute after whatever came before."""
        self.judged += 1
        with self.database.write() as session:
            pair_pk = key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key)))
            earlier = session.scalars(select(AdjudicationRow).where(col(AdjudicationRow.pair_pk) == pair_pk))
            revision = len(earlier.all()) + 1
            session.add(
                AdjudicationRow.model_validate(
                    {
                        "pair_pk": pair_pk, "revision": revision, "lead_pk": self.lea.person_id, "outcome": outcome,
                        "rubric_pk": find_rubric(session, self.dataset_pk).pk, "grade": grade, "rationale": rationale,
                        "cause": cause, "in_guideline": in_guideline,
                        "decided_at": NOW + timedelta(minutes=self.judged),
                    }
                )
            )  # fmt: skip
            derive_decided(session, [pair_pk])
            derive_disagreements(session, self.dataset_pk, [pair_pk])
        return key, revision

    def ask(self, key: str, *, in_guideline: bool = True) -> int:
        """An answered question of 花子's; returns its number."""
        with self.database.write() as session:
            row = QuestionRow.model_validate(
                {
                    "pair_pk": key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key))),
                    "annotator_pk": self.hanako.person_id, "text": "どちら？", "asked_at": NOW, "answer": "2 です",
                    "answered_by_pk": self.lea.person_id, "answered_at": NOW, "in_guideline": in_guideline,
                }
            )  # fmt: skip
            session.add(row)
            session.flush()
            return key_of(row.pk)

    def publish(
        self, decisions: list[DecisionKey], *, questions: tuple[int, ...] = (), change: str = "minor"
    ) -> GuidelineVersion:
        """The next version, with another guideline, to which these decisions led."""
        present = read_version(self.database, self.lea, "d")
        rubric = with_fields(present.rubric, guideline=f"手引き {present.version + 1}")
        return publish_version(
            self.database, self.lea, "d", rubric, base_version=present.version, change=change, why="争いから",
            decisions=decisions, questions=questions, now=NOW + timedelta(days=present.version),
        )  # fmt: skip
