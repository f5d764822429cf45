"""A judged dataset with two leads and files to import: what tests of the standard and of changed documents share."""

import json
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from annotator.domain.grades import Rubric
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import GuidelineVersion, publish_version, read_version
from annotator.importing.report import ImportReport
from annotator.importing.texts.texts_service import import_documents
from annotator.storage.database import Database
from annotator.storage.lookup import OpenPairsRequest
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


class GuidelineWorld(JudgedWorld):
    """Two queries with two documents each, all judged by 花子, the first by 민준 too; the leads are léa and lou."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.folder = folder
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lea, self.lou = self.person("léa", "lead"), self.person("lou", "lead")
        self.query("Q1", "届出の期限")
        self.query("Q2", "토지거래허가")
        self.keys = {
            doc_id: self.pair(query_id, doc_id, text=f"本文 {doc_id}\n三日以内に届け出る。")
            for query_id, doc_id in (("Q1", "d1"), ("Q1", "d2"), ("Q2", "d3"), ("Q2", "d4"))
        }
        for query_id, doc_id in (("Q1", "d1"), ("Q1", "d2"), ("Q2", "d3"), ("Q2", "d4")):
            self.judge(self.hanako, query_id, doc_id, 2)
        self.judge(self.minjun, "Q1", "d1", 3)

    def request(self, actor: Actor) -> OpenPairsRequest:
        values: dict[str, Any] = {
            "dataset_pk": self.dataset_pk,
            "annotator_pk": actor.person_id,
            "now": LATER,
        }
        named = {field.name for field in fields(OpenPairsRequest)}
        values |= {"overlap": 2} if "overlap" in named else {}
        return OpenPairsRequest(**values)

    def bring(self, texts: dict[str, str], *, dry_run: bool = False) -> ImportReport:
        """Import these documents with these texts."""
        path = self.folder / "documents.jsonl"
        lines = [json.dumps({"doc_id": doc_id, "text": text}) for doc_id, text in texts.items()]
        path.write_text("\n".join(lines), encoding="utf-8")
        return import_documents(self.database, OPERATOR, "d", path, now=LATER, dry_run=dry_run)

    def publish(
        self, actor: Actor, *, base: int | None = None, change: str = "minor", why: str = "", **changes: Any
    ) -> GuidelineVersion:
        """The version in force (or `base`) with these fields of it changed; `definition` is grade 2's."""
        present = read_version(self.database, actor, "d", base)
        return publish_version(
            self.database,
            actor,
            "d",
            with_fields(present.rubric, **changes),
            base_version=present.version,
            change=change,
            why=why,
            now=LATER,
        )


def with_fields(rubric: Rubric, *, definition: str | None = None, **changes: Any) -> Rubric:
    """The rubric with these fields changed; `definition` is grade 2's."""
    grades = list(rubric.grades)
    if definition is not None:
        grades[2] = replace(grades[2], definition=definition)
    return replace(rubric, grades=tuple(grades), **changes)
