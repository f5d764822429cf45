"""A dataset with judgments in it, written directly into storage so that these tests stand on their own."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.pool import PoolCandidate, add_candidates, pair_key
from annotator.storage.tables.adjudication import AdjudicationRow, QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


class JudgedWorld:
    """A dataset `d`, built up call by call. Every judgment is a minute after the one before."""

    def __init__(self, database: Database, *, name: str = "d", **settings: str) -> None:
        self.database, self.name, self.judged, self.queries = database, name, 0, 0
        self.open_session: Session | None = None
        self.to_derive: set[int] = set()
        create_dataset(database, OPERATOR, name, now=NOW, settings={"seed": "7", **settings})
        with database.read() as session:
            self.dataset_pk = key_of(find_dataset(session, name).pk)

    @property
    def url(self) -> str:
        """The address of its database, with the password."""
        return self.database.url.render_as_string(hide_password=False)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Store the queries, pairs and judgments of this block in one transaction, and derive what follows once at its end."""
        with self.database.write() as session:
            self.open_session = session
            try:
                yield
                derive_current(session, self.dataset_pk, self.to_derive)
            finally:
                self.open_session = None
                self.to_derive.clear()

    @contextmanager
    def _write(self) -> Iterator[Session]:
        if self.open_session is not None:
            yield self.open_session
            return
        with self.database.write() as session:
            yield session

    def person(self, username: str, role: str = "annotator", *, simulated: bool = False) -> Actor:
        """Somebody with a role on the dataset."""
        with self.database.write() as session:
            person = PersonRow(
                username=username, name=f"{username} Realname", simulated=simulated, created_at=NOW
            )
            session.add(person)
            session.flush()
            session.add(MembershipRow(person_pk=key_of(person.pk), dataset_pk=self.dataset_pk, role=role))
            return Actor(key_of(person.pk), username)

    def query(self, query_id: str, text: str, **fields: Any) -> None:
        """A query after the ones before it."""
        self.queries += 1
        with self._write() as session:
            session.add(
                QueryRow(
                    dataset_pk=self.dataset_pk,
                    position=self.queries,
                    query_id=query_id,
                    text=text,
                    **fields,
                )
            )

    def pair(
        self,
        query_id: str,
        doc_id: str,
        *,
        rank: int | None = None,
        title: str = "",
        text: str | None = None,
        **extra: Any,
    ) -> str:
        """A pair, and its document if it is new; returns the pair's key."""
        with self._write() as session:
            query_pk = key_of(
                session.scalar(select(col(QueryRow.pk)).where(col(QueryRow.query_id) == query_id))
            )
            document = session.scalars(select(DocumentRow).where(col(DocumentRow.doc_id) == doc_id)).first()
            if document is None:
                sha256 = None if text is None else hashlib.sha256(text.encode()).hexdigest()
                document = DocumentRow(
                    dataset_pk=self.dataset_pk, doc_id=doc_id, title=title, text_sha256=sha256, extra=extra
                )
                session.add(document)
                session.flush()
                if sha256 is not None:
                    session.add(
                        DocumentTextRow(
                            document_pk=key_of(document.pk), sha256=sha256, text=text or "", imported_at=NOW
                        )
                    )
            candidate = PoolCandidate(query_pk, query_id, key_of(document.pk), doc_id, "bm25", rank, 1.5)
            add_candidates(session, self.dataset_pk, self.name, [candidate], now=NOW)
        return pair_key(self.name, query_id, doc_id)

    def judge(
        self,
        actor: Actor,
        query_id: str,
        doc_id: str,
        grade: int | None,
        *,
        note: str | None = None,
        outcome: str | None = None,
        purpose: str = "independent",
    ) -> str:
        """One judgment (None: unrateable), a minute after the one before; returns its event id."""
        self.judged += 1
        at = NOW + timedelta(minutes=self.judged)
        event_id = str(UUID(int=self.judged, version=4))
        with self._write() as session:
            pair_pk, sha256 = session.execute(
                select(col(PairRow.pk), col(DocumentRow.text_sha256))
                .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
                .where(col(PairRow.key) == pair_key(self.name, query_id, doc_id))
            ).one()
            session.add(
                JudgmentRow.model_validate(
                    {
                        "event_id": event_id,
                        "pair_pk": pair_pk,
                        "annotator_pk": actor.person_id,
                        "rubric_pk": find_rubric(session, self.dataset_pk).pk,
                        "outcome": outcome or ("unrateable" if grade is None else "graded"),
                        "grade": grade,
                        "note": note,
                        "purpose": purpose,
                        "document_sha256": sha256,
                        "judged_at": at,
                        "received_at": at,
                        "seconds": 2.5,
                    }
                )
            )
            if self.open_session is None:
                derive_current(session, self.dataset_pk, [pair_pk])
            else:
                self.to_derive.add(pair_pk)
        return event_id

    def add_decision(self, lead: Actor, query_id: str, doc_id: str, grade: int, **more: Any) -> None:
        """A lead's decision, a minute after whatever came before; `more`: further columns."""
        self.judged += 1
        with self.database.write() as session:
            pair_pk = session.scalar(
                select(col(PairRow.pk)).where(col(PairRow.key) == pair_key(self.name, query_id, doc_id))
            )
            earlier = session.scalars(select(AdjudicationRow).where(col(AdjudicationRow.pair_pk) == pair_pk))
            session.add(
                AdjudicationRow.model_validate(
                    {
                        "pair_pk": pair_pk,
                        "revision": len(earlier.all()) + 1,
                        "lead_pk": lead.person_id,
                        "rubric_pk": find_rubric(session, self.dataset_pk).pk,
                        "grade": grade,
                        "rationale": "第17条",
                        "decided_at": NOW + timedelta(minutes=self.judged),
                        **more,
                    }
                )
            )
            derive_decided(session, [key_of(pair_pk)])
            derive_disagreements(session, self.dataset_pk, [key_of(pair_pk)])

    def check_quality(
        self,
        expert: Actor,
        query_id: str,
        doc_id: str,
        grade: int | None,
        *,
        settled: int,
        drawn_by: Actor | None = None,
        settled_by: str = "unanimous",
        note: str | None = None,
    ) -> str:
        """Quality control of one settled pair: a draw of its own, and the expert's answer (None: unrateable), a minute
        after whatever came before; returns the answer's event id."""
        event_id = self.judge(expert, query_id, doc_id, grade, purpose="quality", note=note)
        at = NOW + timedelta(minutes=self.judged)
        with self.database.write() as session:
            judgment = session.scalars(select(JudgmentRow).where(col(JudgmentRow.event_id) == event_id)).one()
            drawn = session.scalars(
                select(QualityDrawRow).where(col(QualityDrawRow.dataset_pk) == self.dataset_pk)
            )
            draw = QualityDrawRow.model_validate(
                {
                    "dataset_pk": self.dataset_pk, "number": len(drawn.all()) + 1, "round": 1,
                    "annotator_pk": expert.person_id, "drawn_by_pk": drawn_by.person_id if drawn_by else None,
                    "rate": 0.1, "seed": 3, "population": 40, "outside": 2, "drawn_at": at - timedelta(seconds=30),
                }
            )  # fmt: skip
            session.add(draw)
            session.flush()
            session.add(
                QualityPairRow.model_validate(
                    {
                        "draw_pk": draw.pk, "pair_pk": judgment.pair_pk, "settled_grade": settled,
                        "settled_by": settled_by, "judgment_pk": judgment.pk, "outcome": judgment.outcome,
                        "grade": grade, "answered_at": at,
                    }
                )
            )  # fmt: skip
            derive_disagreements(session, self.dataset_pk, [judgment.pair_pk])
        return event_id
