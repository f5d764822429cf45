"""Releases written directly into storage, so that what is read of them is tested apart from how they are made."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import Actor
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import ImportedQrelRow, JudgmentRow, PairRow, PersonRow, RemapRow
from annotator.storage.tables.releases import PseudonymRow, ReleaseQrelRow, ReleaseQueryRow, ReleaseRow
from tests.integration.judged_world import NOW, JudgedWorld

SCALE = [{"grade": grade, "name": str(grade), "definition": "…"} for grade in range(4)]
Published = tuple[str, str, int, Mapping[str, Any]]


class PublishedWorld(JudgedWorld):
    """A dataset whose releases, remaps, decisions and imports are written row by row."""

    def publish(
        self,
        version: str,
        qrels: Sequence[Published],
        *,
        texts: Mapping[str, str] | None,
        hour: int,
        scale: Any = SCALE,
        guideline_version: int = 1,
    ) -> None:
        """A release of `hour` hours after NOW. `qrels`: query_id, doc_id, grade and what they rest on; `texts`: by
        query_id, None as in releases made before they were recorded."""
        manifest = {"scale": scale, "guideline_version": guideline_version}
        with self.database.write() as session:
            release = ReleaseRow(
                dataset_pk=self.dataset_pk, version=version, created_at=self.at(hour), content_sha256="0", sums="",
                manifest=manifest,
            )  # fmt: skip
            session.add(release)
            session.flush()
            pk = key_of(release.pk)
            for position, (query_id, text) in enumerate((texts or {}).items()):
                session.add(ReleaseQueryRow(release_pk=pk, position=position, query_id=query_id, text=text))
            for position, (query_id, doc_id, grade, more) in enumerate(qrels):
                values = {"origin": "unanimous", "judgments": str(crc32(doc_id.encode())), **more}
                session.add(
                    ReleaseQrelRow(
                        release_pk=pk,
                        position=position,
                        query_id=query_id,
                        doc_id=doc_id,
                        grade=grade,
                        **values,
                    )
                )

    def at(self, hour: int) -> datetime:
        return NOW + timedelta(hours=hour)

    def remap(self, renames: Mapping[str, str], *, hour: int, kind: str = "renamed") -> None:
        with self.database.write() as session:
            for old, new in renames.items():
                session.add(
                    RemapRow(
                        dataset_pk=self.dataset_pk, old_doc_id=old, new_doc_id=new, kind=kind,
                        remapped_at=self.at(hour),
                    )
                )  # fmt: skip

    def name_people(self, *people: Actor) -> None:
        """Pseudonyms, numbered from 1 in this order."""
        with self.database.write() as session:
            for number, person in enumerate(people, 1):
                session.add(
                    PseudonymRow(dataset_pk=self.dataset_pk, person_pk=person.person_id, number=number)
                )

    def find_judgments(self, *event_ids: str) -> str:
        """Their keys as a release records them."""
        with self.database.read() as session:
            rows = session.scalars(
                select(col(JudgmentRow.pk)).where(col(JudgmentRow.event_id).in_(event_ids))
            )
            return " ".join(str(pk) for pk in sorted(key_of(pk) for pk in rows))

    def decide(
        self, lead: Actor, pair_key: str, grade: int, rationale: str, *, hour: int, revision: int = 1
    ) -> int:
        with self.database.write() as session:
            row = AdjudicationRow(
                pair_pk=session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == pair_key)),
                revision=revision, lead_pk=lead.person_id, rubric_pk=find_rubric(session, self.dataset_pk).pk,
                grade=grade, rationale=rationale, reason="guideline", decided_at=self.at(hour),
            )  # fmt: skip
            session.add(row)
            session.flush()
            derive_decided(session, [row.pair_pk])
            return key_of(row.pk)

    def keep_grade(self, pair_key: str, grade: int) -> int:
        with self.database.write() as session:
            row = ImportedQrelRow(
                pair_pk=session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == pair_key)),
                grade=grade, keep=True, source={"kind": "qrels", "path": "구판.yaml"}, note="先代", imported_at=NOW,
            )  # fmt: skip
            session.add(row)
            session.flush()
            return key_of(row.pk)

    def list_real_names(self) -> list[str]:
        with self.database.read() as session:
            rows = session.execute(select(col(PersonRow.username), col(PersonRow.name)))
            return [name for row in rows for name in row]
