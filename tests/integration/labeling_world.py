"""A small dataset to label: made directly in storage, so that these tests stand on their own."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, MembershipRow, PersonRow, QueryRow

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def hand_out(database: Database, actor: Actor, keys: Collection[str], *, now: datetime) -> None:
    """Note that these pairs were handed to somebody before, on leases that have run out. What they answered stays as it is."""
    statement = prepare_sql(
        "INSERT INTO lease (pair_pk, annotator_pk, expires_at, tab) SELECT p.pk, :person_pk, :now, '' FROM pair p "
        "WHERE p.key IN :keys AND NOT EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :person_pk) "
        "ON CONFLICT DO NOTHING",
        lists=["keys"],
    )
    with database.write() as session:
        execute_sql(session, statement, {"keys": list(keys), "person_pk": actor.person_id, "now": now})


class World:
    """A dataset `d` of `queries` queries with `documents` documents each, and some annotators."""

    def __init__(self, database: Database, *, queries: int = 3, documents: int = 4, overlap: int = 2) -> None:
        self.database = database
        self.now = NOW
        self.sent = 0
        create_dataset(database, OPERATOR, "d", now=NOW, settings={"overlap": str(overlap), "seed": "7"})
        with database.write() as session:
            dataset_pk = key_of(find_dataset(session, "d").pk)
            candidates = []
            for number in range(queries):
                query = QueryRow(
                    dataset_pk=dataset_pk, position=number, query_id=f"Q{number}", text=f"検索 {number}"
                )
                session.add(query)
                session.flush()
                for index in range(documents):
                    doc_id = f"문서/{number}-{index}"
                    document = DocumentRow(
                        dataset_pk=dataset_pk, doc_id=doc_id, title=doc_id, text_sha256="aa"
                    )
                    session.add(document)
                    session.flush()
                    session.add(
                        DocumentTextRow(
                            document_pk=key_of(document.pk),
                            sha256="aa",
                            text=f"text of {doc_id}",
                            imported_at=NOW,
                        )
                    )
                    candidates.append(
                        PoolCandidate(
                            key_of(query.pk),
                            query.query_id,
                            key_of(document.pk),
                            doc_id,
                            "bm25",
                            index + 1,
                            9.5,
                        )
                    )
            add_candidates(session, dataset_pk, "d", candidates, now=NOW)

    @property
    def url(self) -> str:
        """The address of its database, with the password."""
        return self.database.url.render_as_string(hide_password=False)

    def person(self, username: str, role: str = "annotator") -> Actor:
        """Somebody with a role on the dataset."""
        with self.database.write() as session:
            person = PersonRow(username=username, created_at=NOW)
            session.add(person)
            session.flush()
            dataset_pk = key_of(find_dataset(session, "d").pk)
            session.add(MembershipRow(person_pk=key_of(person.pk), dataset_pk=dataset_pk, role=role))
            return Actor(key_of(person.pk), username)

    def later(self, **delta: float) -> None:
        """Let time pass."""
        self.now += timedelta(**delta)

    def event(self, pair: str, grade: int | None = 2, **changes: Any) -> dict[str, Any]:
        """What a browser sends for one press; every call has an id of its own."""
        self.sent += 1
        return {
            "id": str(UUID(int=self.sent, version=4)),
            "pair": pair,
            "outcome": "graded" if grade is not None else "unrateable",
            "grade": grade,
            "note": "",
            "pressed_at": self.now.isoformat(),
            "seconds": 1.5,
            **changes,
        }

    def send(
        self,
        actor: Actor,
        *events: dict[str, Any],
        have: list[str] | None = None,
        want: int = 0,
        tab: str = "",
        whole: bool = False,
    ) -> SubmitResponse:
        """Submit events, and ask for pairs. The pairs of the events were handed to the annotator before."""
        named = {event["pair"] for event in events if isinstance(event.get("pair"), str)}
        if named:
            hand_out(self.database, actor, named, now=self.now)
        request = {"have": have or [], "want": want, "tab": tab, "whole": whole}
        return submit_judgments(self.database, actor, "d", events=list(events), **request, now=self.now)  # type: ignore[arg-type]
