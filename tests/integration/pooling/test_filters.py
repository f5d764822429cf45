"""What stays out of a pool, as it is read from both databases."""

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.errors import ValidationError
from annotator.pooling.filters.filters import read_filters
from annotator.pooling.filters.filters_sql import find_left_out
from annotator.storage.database import Database
from annotator.storage.pairs import document_text
from annotator.storage.pairs.pool import read_documents
from annotator.storage.tables.central import DocumentRow, PairRow, ProvenanceRow, QueryRow
from tests.databases import CopyWorld
from tests.integration.judged_world import JudgedWorld

LAW = "農地の転用には許可を要する。許可の申請は書面によって行い、その控えを三年間保存しなければならない。"
KOREAN = (
    "농지를 전용하려면 허가를 받아야 한다. 허가의 신청은 서면으로 하고 그 사본을 삼 년간 보존하여야 한다."
)


class FilteredWorld(JudgedWorld):
    """One query, and documents that are no pairs; ranked in the order in which they are made."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.query("Q1", "농지 전용")
        self.candidates: list[str] = []

    def candidate(self, doc_id: str, text: str | None = LAW, *, title: str = "", **extra: object) -> None:
        """A document that is no pair: made with one, which is then taken away."""
        key = self.pair("Q1", doc_id, text=text, title=title, **extra)
        with self.database.write() as session:
            pair = session.scalars(select(PairRow).where(col(PairRow.key) == key)).one()
            for row in session.scalars(select(ProvenanceRow).where(col(ProvenanceRow.pair_pk) == pair.pk)):
                session.delete(row)
            session.flush()
            session.delete(pair)
        self.candidates.append(doc_id)

    def left_out(self, **options: object) -> dict[str, tuple[str, str | None]]:
        """The rule by doc_id, with the document that is kept in its stead."""
        with self.database.read() as session:
            query_pk = session.scalars(select(col(QueryRow.pk))).one()
            rows = session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk)))
            pks = dict(rows.all())
            ranked = [(query_pk, pks[doc_id], rank) for rank, doc_id in enumerate(self.candidates, start=1)]
            filters = read_filters(**options)
            left_out = find_left_out(session, self.dataset_pk, ranked, filters)
        names: dict[int | None, str] = {pk: doc_id for doc_id, pk in pks.items()}
        return {names[item.document_pk]: (item.rule, names.get(item.kept_document_pk)) for item in left_out}


@pytest.fixture
def world(copy_world: CopyWorld) -> FilteredWorld:
    return copy_world(FilteredWorld)


def test_each_rule_leaves_out_its_documents(world: FilteredWorld) -> None:
    world.candidate("한", KOREAN, language="ko")
    world.candidate("附則", title="附則第1条")
    world.candidate("短", "五文字です👍")
    world.candidate("no text", None)
    world.candidate("a1", "first chunk of a page", page={"path": "a"})
    world.candidate("a2", "another chunk of that page", page={"path": "a"})
    world.candidate("law")
    world.candidate("copy", LAW.replace("、", "､"))
    options = {"exclude": ["language=ko"], "exclude_title": ["^附則"], "min_length": 7}
    assert world.left_out(**options, one_per="page.path", near_duplicates="0.9") == {
        "한": ("exclude:language=ko", None),
        "附則": ("exclude-title:^附則", None),
        "短": ("min-length:7", None),
        "no text": ("min-length:7", None),
        "a2": ("one-per:page.path", "a1"),
        "copy": ("near-duplicate:0.9", "law"),
    }
    assert world.left_out() == {}


def test_of_a_very_long_text_only_the_beginning_is_compared_and_ranked(
    world: FilteredWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_text, "RANKED_CHARACTERS", len(LAW))
    world.candidate("law", LAW)
    world.candidate("longer", LAW + KOREAN)
    assert world.left_out(near_duplicates="0.9") == {"longer": ("near-duplicate:0.9", "law")}
    with world.database.read() as session:
        searched = [document.searched for document in read_documents(session, world.dataset_pk)]
    assert searched == [f"\n{LAW}", f"\n{LAW}"]


def test_a_pair_of_the_pool_stands_for_its_near_duplicates_though_no_run_names_it(
    world: FilteredWorld,
) -> None:
    world.pair("Q1", "judged", text=LAW + "附則")
    world.candidate("first", LAW)
    world.candidate("second", LAW + "別表")
    world.candidate("한", KOREAN)
    assert world.left_out(near_duplicates="0.8") == {
        "first": ("near-duplicate:0.8", "judged"),
        "second": ("near-duplicate:0.8", "judged"),
    }
    assert world.left_out(near_duplicates="exact") == {}


def test_a_document_that_is_left_out_otherwise_stands_for_no_near_duplicate(world: FilteredWorld) -> None:
    world.candidate("draft", draft=True)
    world.candidate("final")
    assert world.left_out(exclude=["draft=true"], near_duplicates="exact") == {
        "draft": ("exclude:draft=true", None)
    }


def test_a_field_that_only_other_documents_have_is_no_mistake(world: FilteredWorld) -> None:
    world.candidate("a")
    world.pair("Q1", "b", language="ko")
    with world.database.write() as session:
        session.delete(session.scalars(select(ProvenanceRow)).one())
        session.delete(session.scalars(select(PairRow)).one())
    assert world.left_out(exclude=["language=ko"]) == {}
    with pytest.raises(
        ValidationError, match="no document has the field 'lang'; there are: doc_id, title, url"
    ):
        world.left_out(one_per="lang")
    with pytest.raises(ValidationError, match="media_type, language"):
        world.left_out(exclude=["lang=ko"])
