"""A dataset to spread among people: queries of two categories in two languages, and annotators who can sign in."""

from sqlalchemy import select, update
from sqlmodel import col

from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.tables.central import PersonRow, QueryRow
from tests.integration.labeling_world import World

FACTS = (("howto", "ja"), ("howto", "ko"), ("判例", "ja"), ("判例", None))


class AssignmentWorld(World):
    """Queries Q0-Q3, in turn howto/ja, howto/ko, 判例/ja and 判例 in no language, with `documents` pairs each."""

    def __init__(self, database: Database, *, documents: int = 3, overlap: int = 2) -> None:
        super().__init__(database, queries=len(FACTS), documents=documents, overlap=overlap)
        with database.write() as session:
            rows = session.scalars(select(QueryRow).order_by(col(QueryRow.position)))
            for row, (category, language) in zip(rows, FACTS, strict=True):
                row.category, row.language = category, language
                session.add(row)
            derive_work(session, key_of(find_dataset(session, "d").pk))

    def person(self, username: str, role: str = "annotator") -> Actor:
        """Somebody with a role on the dataset, who can sign in."""
        made = super().person(username, role)
        with self.database.write() as session:
            own_row = update(PersonRow).where(col(PersonRow.pk) == made.person_id)
            session.execute(own_row.values(password_hash="x"))
        return made

    def judge(self, actor: Actor, *, pairs: int, grade: int = 2) -> list[str]:
        """Let somebody judge so many pairs, as many as there are for them; their keys."""
        judged: list[str] = []
        while len(judged) < pairs and (handed := self.send(actor, want=1).pairs):
            self.send(actor, self.event(handed[0].pair, grade))
            judged.append(handed[0].pair)
        return judged


def find_pk(database: Database, username: str) -> int:
    with database.read() as session:
        return key_of(find_person(session, username).pk)
