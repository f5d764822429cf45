"""A dataset with two imported systems, settled grades, unjudged results and two releases a grade apart."""

from pathlib import Path

from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow
from tests.integration.judged_world import NOW
from tests.integration.scored_world import ScoredWorld

RANKINGS = {
    "bm25": {"Q1": ["a", "b", "x"], "Q2": ["c", "a", "y"], "Q3": ["e", "f"]},
    "dense": {"Q1": ["b", "a", "z"], "Q2": ["a", "c"], "Q3": ["f", "e", "x"]},
}
GRADES = {"Q1": {"a": 3, "b": 1, "d": 2}, "Q2": {"a": 0, "c": 2}, "Q3": {"e": 1, "f": 3}}


class EvaluatedWorld(ScoredWorld):
    """Two annotators agree on GRADES but for (Q1, b), where one is a grade lower and the lead decided 1. x, y and z are
    unjudged and not in the pool. The releases 1.0.0 and 2.0.0 differ in the grade of (Q2, c)."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database, folder)
        for system, rankings in RANKINGS.items():
            self.rank(system, rankings)
        for query_id, documents in GRADES.items():
            for doc_id, grade in documents.items():
                self.both(query_id, doc_id, grade, 0 if (query_id, doc_id) == ("Q1", "b") else grade)
        self.add_decision(self.lead, "Q1", "b", 1)
        self.publish("1.0.0", changed=1)
        self.publish("2.0.0", changed=2)

    def publish(self, version: str, *, changed: int) -> None:
        """A release of GRADES, directly in storage; `changed`: the grade of (Q2, c)."""
        with self.database.write() as session:
            release = ReleaseRow(
                dataset_pk=self.dataset_pk,
                version=version,
                created_at=NOW,
                content_sha256=version,
                sums="",
                manifest={"scale": [], "guideline_version": 1},
                note="",
            )
            session.add(release)
            session.flush()
            grades = [
                (query_id, doc_id, changed if (query_id, doc_id) == ("Q2", "c") else grade)
                for query_id, documents in GRADES.items()
                for doc_id, grade in documents.items()
            ]
            for position, (query_id, doc_id, grade) in enumerate(grades):
                session.add(
                    ReleaseQrelRow(
                        release_pk=key_of(release.pk),
                        position=position,
                        query_id=query_id,
                        doc_id=doc_id,
                        grade=grade,
                        origin="unanimous",
                        judgments="",
                    )
                )

    def ask_for_more(self, *, lacking: int = 1) -> None:
        """Every pair lacks further judgments, so that whoever has not judged it may be handed it."""
        from sqlalchemy import select, update
        from sqlmodel import col

        from annotator.storage.judgments.missing_judgments import count_queries
        from annotator.storage.tables.central import PairRow

        with self.database.write() as session:
            session.execute(update(PairRow).values(lacking=lacking))
            count_queries(session, session.scalars(select(col(PairRow.query_pk)).distinct()))

    def list_seen(self, actor: Actor) -> set[tuple[str, str]]:
        """The pairs whose grades are recorded as shown to somebody, by name."""
        from sqlalchemy import select
        from sqlmodel import col

        from annotator.storage.tables.central import DocumentRow, PairRow, QueryRow
        from annotator.storage.tables.labeling import DisclosureRow

        statement = (
            select(col(QueryRow.query_id), col(DocumentRow.doc_id))
            .join(PairRow, col(PairRow.query_pk) == col(QueryRow.pk))
            .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
            .join(DisclosureRow, col(DisclosureRow.pair_pk) == col(PairRow.pk))
            .where(col(DisclosureRow.person_pk) == actor.person_id)
        )
        with self.database.read() as session:
            return {(query_id, doc_id) for query_id, doc_id in session.execute(statement)}
