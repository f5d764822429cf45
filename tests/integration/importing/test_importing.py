"""Importing, on both databases: all of a file or nothing, twice is once, and every bad line is named."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from sqlmodel import SQLModel, col

from annotator.dataset.service import create_dataset, show_dataset
from annotator.domain.errors import AnnotatorError, BadInput, ConflictError, NotAllowed, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.report import ImportReport
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.people.roles_service import find_actor, require_role
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided, list_current_judgments
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
    RubricRow,
    RunEntryRow,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Import = Callable[..., ImportReport]
NABLARCH = """\
dataset: {version: "1.0"}
queries:
  - id: "Q1"
    query: "ハンドラキューの順序"
    category: "handler"
    expected_docs:
      - {doc_id: "d1", relevance: 3}
    metadata: {language: "ja", needs_a2a: true}
  - id: "Q 2"
    query: "제17조 검색 🔎"
"""
QUERIES = "query_id,text\nQ1,検索\nQ2,질의\n"
JUDGMENTS = "query_id,doc_id,annotator,grade,note,judged_at,seconds\n"


class Desk:
    """A dataset `d` and a folder to put files in."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder = database, folder
        create_dataset(database, OPERATOR, "d", now=NOW)

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def bring(
        self, use_case: Import, name: str, content: str | bytes, *, now: datetime = NOW, **options: Any
    ) -> ImportReport:
        return use_case(self.database, OPERATOR, "d", self.put(name, content), now=now, **options)

    def rows(self, *columns: Any) -> list[tuple[Any, ...]]:
        with self.database.read() as session:
            return [tuple(row) for row in session.execute(select(*columns).order_by(*columns))]

    def dump(self) -> dict[str, list[str]]:
        """Every row of every table."""
        with self.database.read() as session:
            return {
                table.name: sorted(str(tuple(row)) for row in session.execute(select(table)))
                for table in SQLModel.metadata.sorted_tables
            }


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    return Desk(database, tmp_path)


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.read, report.added, report.changed, report.unchanged


# Queries -----------------------------------------------------------------------------------------------


def test_queries_come_from_a_ground_truth_file_and_its_judgments_are_left_alone(desk: Desk) -> None:
    report = desk.bring(import_queries, "q.yaml", NABLARCH)
    assert counts(report) == (2, 2, 0, 0)
    left_alone, unwritable = report.notes
    assert left_alone == "1 judgment in the file is not imported"
    assert unwritable.startswith("warning: 1 new id contains white space") and "'Q 2'" in unwritable
    with desk.database.read() as session:
        first, second = session.scalars(select(QueryRow).order_by(col(QueryRow.position)))
    assert (first.query_id, first.category, first.language, first.extra) == (
        "Q1",
        "handler",
        "ja",
        {"needs_a2a": True},
    )
    assert (second.query_id, second.text, second.position) == ("Q 2", "제17조 검색 🔎", 1)
    assert show_dataset(desk.database, OPERATOR, "d")[1].pairs == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", "query_id,text,category,language\nQ1,検索,c,ja\n"),
        ("q.tsv", "query_id\ttext\tcategory\tlanguage\nQ1\t検索\tc\tja\n"),
        ("q.jsonl", '{"_id": "Q1", "text": "検索", "metadata": {"category": "c", "language": "ja"}}\n'),
        (
            "q.json",
            '{"queries": [{"query_id": "Q1", "query_text": "検索", "category": "c", "language": "ja"}]}',
        ),
        ("q.yaml", 'queries: [{id: Q1, query: "検索", category: c, metadata: {language: ja}}]'),
    ],
)
def test_every_query_format_stores_the_same(desk: Desk, name: str, content: str) -> None:
    desk.bring(import_queries, name, content)
    row = (QueryRow.query_id, QueryRow.text, QueryRow.category, QueryRow.language)
    assert desk.rows(*row) == [("Q1", "検索", "c", "ja")]


def test_new_queries_stand_behind_the_ones_there_are(desk: Desk) -> None:
    desk.bring(import_queries, "a.csv", "query_id,text\nz,1\na,2\n")
    report = desk.bring(import_queries, "b.csv", "query_id,text\nb,3\na,2\nz,changed\n")
    assert counts(report) == (3, 1, 1, 1)
    assert desk.rows(QueryRow.position, QueryRow.query_id, QueryRow.text) == [
        (0, "z", "changed"),
        (1, "a", "2"),
        (2, "b", "3"),
    ]


def test_the_text_of_a_judged_query_is_not_changed(desk: Desk) -> None:
    desk.bring(import_queries, "q.yaml", NABLARCH)
    desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d1,田中,3,,,\n")
    before = desk.dump()
    with pytest.raises(
        BadInput, match=r"q\.yaml:3: expected the text that 'Q1' was judged under: 'ハンドラキューの順序'"
    ):
        desk.bring(import_queries, "q.yaml", NABLARCH.replace("順序", "順番"))
    assert desk.dump() == before
    assert counts(desk.bring(import_queries, "q.yaml", NABLARCH.replace('"handler"', '"x"'))) == (2, 0, 1, 1)


# Documents ---------------------------------------------------------------------------------------------


def test_a_changed_text_is_kept_beside_the_old_one(desk: Desk) -> None:
    def row(text: str) -> str:
        return json.dumps(
            {"doc_id": "d1", "title": "題", "text": text, "url": "https://example.com", "source": "s"}
        )

    assert counts(desk.bring(import_documents, "d.jsonl", row("古い"))) == (1, 1, 0, 0)
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d1,田中,3,,,\n")
    report = desk.bring(import_documents, "d.jsonl", row("新しい"))
    assert counts(report) == (1, 0, 1, 0)
    assert report.notes == (
        "1 document has another text now",
        (
            "1 judgment was made on an older text, which is kept; their annotators are asked to confirm or "
            "change them"
        ),
    )
    assert {text for (text,) in desk.rows(DocumentTextRow.text)} == {"古い", "新しい"}
    assert counts(desk.bring(import_documents, "d.jsonl", row("古い"))) == (1, 0, 1, 0)
    with desk.database.read() as session:
        document = session.scalars(select(DocumentRow)).one()
        present = session.get_one(DocumentTextRow, (document.pk, document.text_sha256))
    assert (present.text, document.title, document.extra) == ("古い", "題", {"source": "s"})
    assert len(desk.rows(DocumentTextRow.sha256)) == 2


def test_a_folder_is_imported_by_file_or_by_section(desk: Desk) -> None:
    desk.put("docs/法.md", "# 법\n서문\n## 제1조 (목적)\n내용\n")
    desk.put("docs/sub/page.rst", "題\n==\n本文\n")
    report = import_documents(desk.database, OPERATOR, "d", desk.folder / "docs", now=NOW)
    assert counts(report) == (2, 2, 0, 0)
    report = import_documents(desk.database, OPERATOR, "d", desk.folder / "docs", now=NOW, sections=True)
    assert counts(report) == (3, 3, 0, 0)
    assert ("法.md#제1조-목적", "법 › 제1조 (목적)", "text/markdown") in desk.rows(
        DocumentRow.doc_id, DocumentRow.title, DocumentRow.media_type
    )
    single = import_documents(desk.database, OPERATOR, "d", desk.folder / "docs" / "法.md", now=NOW)
    assert counts(single) == (1, 0, 0, 1)


def test_sections_of_a_table_are_refused(desk: Desk) -> None:
    with pytest.raises(ValidationError, match="--sections"):
        desk.bring(import_documents, "d.csv", "doc_id,text\na,b\n", sections=True)


def test_a_document_full_of_markup_is_stored_exactly(desk: Desk) -> None:
    text = "<script>alert(1)</script>\r\n# *x* `y` </textarea> ${1} \u2028 か\u3099 שלום\n" * 50
    desk.bring(import_documents, "d.jsonl", json.dumps({"doc_id": "<b>&amp;</b> ' \"", "text": text}))
    assert desk.rows(DocumentTextRow.text) == [(text,)]
    assert desk.rows(DocumentRow.doc_id) == [("<b>&amp;</b> ' \"",)]


def test_a_document_of_twenty_megabytes_is_stored(desk: Desk) -> None:
    text = "検索 handler 법률 " * 950_000
    assert len(text.encode()) > 20_000_000
    desk.bring(import_documents, "d.jsonl", json.dumps({"doc_id": "big", "text": text}, ensure_ascii=False))
    assert desk.rows(DocumentTextRow.text) == [(text,)]


# Runs and pairs ----------------------------------------------------------------------------------------


def test_a_run_is_stored_with_everything_it_says(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_documents, "d.csv", "doc_id,text\nd1,本文\n")
    line = {
        "query_id": "Q1",
        "doc_id": "d2",
        "rank": 2,
        "score": 0.25,
        "system": "hybrid",
        "signals": {"bm25": 3.5},
        "label": "가",
    }
    content = '{"query_id": "Q1", "doc_id": "d1", "rank": 1, "system": "hybrid"}\n' + json.dumps(line)
    report = desk.bring(import_run, "r.jsonl", content)
    assert counts(report) == (2, 2, 0, 0)
    assert report.notes[0] == "system hybrid"
    assert report.notes[-1].startswith("1 document is known by its id only")
    assert desk.rows(DocumentRow.doc_id, DocumentRow.text_sha256)[1] == ("d2", None)
    with desk.database.read() as session:
        entries = session.scalars(select(RunEntryRow).order_by(col(RunEntryRow.rank))).all()
    assert [(entry.rank, entry.score, entry.signals) for entry in entries] == [
        (1, None, {}),
        (2, 0.25, {"label": "가", "bm25": 3.5}),
    ]


def test_a_system_has_one_run(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    text = "Q1 Q0 a 1 2.0 bm25\nQ1 Q0 b 2 1.0 bm25\n"
    desk.bring(import_run, "r.txt", text)
    turned = "".join(reversed(text.splitlines(keepends=True)))
    before = desk.dump()
    assert counts(desk.bring(import_run, "r.txt", turned)) == (2, 0, 0, 2)
    with pytest.raises(ConflictError, match="use another --system"):
        desk.bring(import_run, "r.txt", text.replace("2.0", "3.0"))
    assert desk.dump() == before
    assert counts(desk.bring(import_run, "r.txt", text.replace("2.0", "3.0"), system="bm25-b")) == (
        2,
        2,
        0,
        0,
    )


def test_pairs_join_the_pool_with_the_provenance_import(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    text = "query_id,doc_id,why\nQ1,d 1,古い\nQ2,d 1,\nQ1,d 1,古い\n"
    report = desk.bring(import_pairs, "p.csv", text)
    assert counts(report) == (3, 2, 0, 1)
    assert counts(desk.bring(import_pairs, "p.csv", text)) == (3, 0, 0, 3)
    with desk.database.read() as session:
        rows = session.scalars(select(ProvenanceRow).order_by(col(ProvenanceRow.pair_pk))).all()
    assert [(row.system, row.rank, row.signals) for row in rows] == [
        ("import", None, {"why": "古い"}),
        ("import", None, {}),
    ]


# Judgments ---------------------------------------------------------------------------------------------


def test_judgments_bring_their_people_documents_and_pairs(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_documents, "d.csv", "doc_id,text\nd1,本文\n")
    text = (
        JUDGMENTS
        + "Q1,d1,田中 太郎,3,よい,2026-01-01T09:00:00+09:00,2.5\nQ1,d2,שרה,unrateable,,,\nQ2,d1,שרה,0,,,\n"
    )
    report = desk.bring(import_judgments, "j.csv", text)
    assert counts(report) == (3, 3, 0, 0)
    assert report.notes[:2] == (
        "3 pairs joined the pool",
        "new annotators, without a sign-in: 田中 太郎, שרה",
    )
    with desk.database.read() as session:
        current_judgments = list_current_judgments(session, 1)
        people = session.scalars(select(PersonRow)).all()
        judged = session.scalars(select(col(PairRow.judged))).all()
        shas = session.scalars(select(col(JudgmentRow.document_sha256)).order_by(col(JudgmentRow.pk))).all()
    assert [
        (row.query_id, row.doc_id, row.annotator, row.outcome, row.grade) for row in current_judgments
    ] == [
        ("Q1", "d1", "田中 太郎", "graded", 3),
        ("Q1", "d2", "שרה", "unrateable", None),
        ("Q2", "d1", "שרה", "graded", 0),
    ]
    assert (current_judgments[0].note, current_judgments[0].seconds, current_judgments[0].judged_at) == (
        "よい",
        2.5,
        datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert (
        current_judgments[1].judged_at,
        current_judgments[1].purpose,
        current_judgments[1].guideline_version,
    ) == (None, "independent", None)
    assert [(person.password_hash, person.simulated) for person in people] == [(None, False)] * 2
    assert judged == [1, 1, 1]
    assert [sha is None for sha in shas] == [False, True, False]
    assert set(desk.rows(ProvenanceRow.system)) == {("import",)}
    with desk.database.read() as session:
        require_role(session, find_actor(session, "שרה"), 1, "annotator")


def test_the_same_row_twice_is_one_judgment_and_another_grade_later_is_a_revision(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    text = JUDGMENTS + "Q1,d1,a,1,,,\nQ1,d1,a,1,,,\nQ1,d1,a,2,,,\n"
    assert counts(desk.bring(import_judgments, "j.csv", text)) == (3, 1, 1, 1)
    before = desk.dump()
    assert counts(desk.bring(import_judgments, "j.csv", text, now=NOW + timedelta(days=1))) == (3, 0, 0, 3)
    assert desk.dump() == before
    later = JUDGMENTS + "Q1,d1,a,3,,,\nQ1,d1,a,0,,2026-01-01T00:00:00Z,\n"
    assert counts(desk.bring(import_judgments, "j.csv", later, now=NOW + timedelta(days=1))) == (2, 0, 2, 0)
    with desk.database.read() as session:
        assert [row.grade for row in list_current_judgments(session, 1)] == [3]
        assert len(list_current_judgments(session, 1, history=True)) == 4


def test_a_pair_in_the_pool_keeps_its_provenance(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_pairs, "p.csv", "query_id,doc_id\nQ1,d1\n")
    with desk.database.write() as session:
        session.execute(update(ProvenanceRow).values(system="bm25"))
    desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d1,a,1,,,\n")
    assert desk.rows(ProvenanceRow.system) == [("bm25",)]


def test_a_settled_pair_takes_no_new_judgment(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    old = JUDGMENTS + "Q1,d1,a,1,,,\n"
    desk.bring(import_judgments, "j.csv", old)
    with desk.database.write() as session:
        rubric = session.scalars(select(RubricRow)).one()
        decision = {
            "pair_pk": 1,
            "revision": 1,
            "lead_pk": 1,
            "rubric_pk": rubric.pk,
            "grade": 2,
            "rationale": "合意",
            "decided_at": NOW,
        }
        session.execute(insert(AdjudicationRow), [decision])
        derive_decided(session, [1])
    before = desk.dump()
    with pytest.raises(BadInput, match=r"j\.csv:3: expected a pair without an adjudication"):
        desk.bring(import_judgments, "j.csv", old + "Q1,d1,b,1,,,\n")
    assert desk.dump() == before
    assert counts(desk.bring(import_judgments, "j.csv", old)) == (1, 0, 0, 1)


def test_people_of_simulated_judgments_are_marked_and_nobody_real_is_made_to_speak(desk: Desk) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    text = JUDGMENTS + "Q1,d1,sim,1,,,\n"
    desk.bring(import_judgments, "j.csv", text, simulated=True)
    assert counts(desk.bring(import_judgments, "j.csv", text, simulated=True)) == (1, 0, 0, 1)
    assert desk.rows(PersonRow.username, PersonRow.simulated) == [("sim", True)]
    desk.bring(import_judgments, "k.csv", JUDGMENTS + "Q1,d1,real,1,,,\n")
    with pytest.raises(BadInput, match="expected a simulated annotator, found the person 'real'"):
        desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d2,real,1,,,\n", simulated=True)
    with pytest.raises(BadInput, match="expected a simulated annotator, found the person 'real'"):
        desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d2,REAL,1,,,\n", simulated=True)


def test_new_annotators_that_look_like_others_are_refused_with_the_line(
    desk: Desk,
) -> None:
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d1,paul,1,,,\n")
    before = desk.dump()
    for lines, message in (
        ("Q1,d1,paul,1,,,\nQ1,d2,PauI,1,,,\n", r"j\.csv:3: expected the annotator as 'paul', found PauI"),
        ("Q1,d1,m\u0456a,1,,,\n", r"j\.csv:2: expected an annotator's name .* one script, found 'm\\u0456a'"),
    ):
        with pytest.raises(BadInput, match=message):
            desk.bring(import_judgments, "j.csv", JUDGMENTS + lines)
    assert desk.dump() == before


# All or nothing ----------------------------------------------------------------------------------------


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """A dataset with something of everything."""
    desk.bring(import_queries, "q.csv", QUERIES)
    desk.bring(import_documents, "d.jsonl", '{"doc_id": "d1", "text": "本文"}')
    desk.bring(import_run, "r.txt", "Q1 Q0 d1 1 2.0 bm25\n")
    desk.bring(import_pairs, "p.csv", "query_id,doc_id\nQ1,d1\n")
    desk.bring(import_judgments, "j.csv", JUDGMENTS + "Q1,d1,a,1,,,\n")
    return desk


GOOD: list[tuple[Import, str, str]] = [
    (import_queries, "q2.csv", "query_id,text\nQ3,new\nQ2,changed\n"),
    (import_documents, "d2.jsonl", '{"doc_id": "d9", "text": "new"}\n{"doc_id": "d1", "text": "changed"}'),
    (import_run, "r2.txt", "Q1 Q0 d9 1 2.0 vector\n"),
    (import_pairs, "p2.csv", "query_id,doc_id\nQ2,d9\n"),
    (import_judgments, "j2.csv", JUDGMENTS + "Q2,d9,b,2,,,\n"),
]


@pytest.mark.parametrize(
    ("use_case", "name", "content"), GOOD, ids=lambda value: getattr(value, "__name__", "")
)
def test_the_same_file_twice_changes_nothing_and_a_dry_run_changes_nothing(
    filled: Desk, use_case: Import, name: str, content: str
) -> None:
    before = filled.dump()
    tried = filled.bring(use_case, name, content, dry_run=True)
    assert filled.dump() == before
    done = filled.bring(use_case, name, content)
    assert (tried.dry_run, counts(tried)) == (True, counts(done))
    after = filled.dump()
    assert after != before
    again = filled.bring(use_case, name, content, now=NOW + timedelta(days=1))
    assert (again.added, again.changed, again.unchanged) == (0, 0, again.read)
    assert filled.dump() == after


SJIS = "query_id,text\nQ3,ascii\nQ4,検索クエリ\n".encode("cp932")
BOMB = "a: &a [x]\n" + "".join(
    f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcde", "bcdef", strict=True)
)
BAD: list[tuple[Import, str, str | bytes, str]] = [
    (import_queries, "x.yaml", "queries:\n  - id: [\n", r"x\.yaml:3: expected YAML"),
    (import_queries, "x.yaml", f"{BOMB}queries: [*f]\n", r"x\.yaml:5: expected aliases of at most 10,000"),
    (import_queries, "x.json", '{"queries": {"query_text": 1}}', r"x\.json:1: expected queries to be a list"),
    (import_queries, "x.json", '{"queries": [\n{"query_text": "t",}]}', r"x\.json:2: expected JSON"),
    (import_queries, "x.csv", SJIS, r"x\.csv:3: expected UTF-8 text .*the file's encoding"),
    (import_queries, "x.csv", "", "found an empty file"),
    (import_queries, "x.yaml", "", r"does not say which format"),
    (import_queries, "x.csv", "query_id,text\nQ3,a\nQ3,b\nQ4\n", r"x\.csv:4: expected 2 cells"),
    (import_queries, "x.csv", "query_id,text\nQ3,a\n ,\n", r"x\.csv:3: expected text"),
    (import_queries, "x.txt", "Q1 0 d1 3\n", "expected queries with their texts"),
    (import_documents, "x.jsonl", '{"doc_id": "d8", "text": "a"}\n{"doc_id": "d9"}\n', r"x\.jsonl:2: expected a title"),
    (import_documents, "x.jsonl", '{"doc_id": "d8", "text": "\\u0000"}\n', r"x\.jsonl:1: expected text without NUL"),
    (import_documents, "x.jsonl", "", "found an empty file"),
    (import_documents, "x.md", " \n", "found an empty file"),
    (import_run, "x.jsonl", '{"query_id": "Q1", "doc_id": "a", "rank": 1, "system": "s"}\n{"query_id": "Q1", "doc_id": "b", "rank": 1, "system": "s"}', r"x\.jsonl:2: expected each rank of a query once"),
    (import_run, "x.txt", "Q1 Q0 a 1 2 s\nQ9 Q0 b 1 1 s\n", r"x\.txt:2: expected a query_id of this dataset, found 'Q9'"),
    (import_run, "x.txt", "", "found an empty file"),
    (import_pairs, "x.csv", "query_id,doc_id\nQ2,new\nQ9,d1\n", r"x\.csv:3: expected a query_id of this dataset"),
    (import_pairs, "x.csv", "query_id,doc_id\nQ2,\n", r"x\.csv:2: expected doc_id"),
    (import_judgments, "x.csv", JUDGMENTS + "Q2,d1,new,2,,,\nQ2,d1,b,4,,,\n", r"x\.csv:3: expected a grade .* found '4'"),
    (import_judgments, "x.csv", JUDGMENTS + "Q2,d1,new,2,,,\nQ9,d1,b,1,,,\n", r"x\.csv:3: expected a query_id of this"),
    (import_judgments, "x.csv", JUDGMENTS + "Q2,d1,b,1,,2026-01-03T00:00:00Z,\n", r"x\.csv:2: .* not later than now"),
]  # fmt: skip


@pytest.mark.parametrize(("use_case", "name", "content", "message"), BAD)
def test_bad_input_is_named_and_leaves_the_database_as_it_was(
    filled: Desk, use_case: Import, name: str, content: str | bytes, message: str
) -> None:
    before = filled.dump()
    with pytest.raises(AnnotatorError, match=message):
        filled.bring(use_case, name, content)
    assert filled.dump() == before


def test_an_empty_or_missing_folder_leaves_the_database_as_it_was(filled: Desk) -> None:
    before = filled.dump()
    (filled.folder / "empty").mkdir()
    with pytest.raises(BadInput, match="found an empty folder"):
        import_documents(filled.database, OPERATOR, "d", filled.folder / "empty", now=NOW)
    with pytest.raises(ValidationError, match=r"cannot read .*missing"):
        import_documents(filled.database, OPERATOR, "d", filled.folder / "missing", now=NOW)
    assert filled.dump() == before


def test_another_encoding_is_read_when_it_is_named(desk: Desk) -> None:
    assert counts(desk.bring(import_queries, "x.csv", SJIS, encoding="cp932")) == (2, 2, 0, 0)
    assert ("検索クエリ",) in desk.rows(QueryRow.text)


def test_ids_are_kept_whatever_they_hold(desk: Desk) -> None:
    ids = [" a ", "a", "か\u3099", "が", "a\tb", "#", "no", "🔎", "a\u2028b", "שלום"]
    desk.bring(
        import_queries, "q.jsonl", "\n".join(json.dumps({"query_id": id_, "text": "t"}) for id_ in ids)
    )
    desk.bring(
        import_pairs, "p.jsonl", "\n".join(json.dumps({"query_id": id_, "doc_id": id_}) for id_ in ids)
    )
    assert {id_ for (id_,) in desk.rows(QueryRow.query_id)} == set(ids)
    assert {id_ for (id_,) in desk.rows(DocumentRow.doc_id)} == set(ids)


def test_the_longest_id_is_stored_and_a_longer_one_is_refused(desk: Desk) -> None:
    longest = "".join(chr(0x1F300 + number * 7919 % 650) for number in range(650))
    row = {"query_id": longest, "doc_id": longest, "text": "t", "annotator": "a", "grade": 1}
    desk.bring(import_queries, "q.jsonl", json.dumps(row))
    desk.bring(import_judgments, "j.jsonl", json.dumps(row))
    assert desk.rows(DocumentRow.doc_id) == [(longest,)]
    for key in ("query_id", "doc_id"):
        expected = rf"j\.jsonl:1: expected {key} of at most 1,000 characters \(2,600 bytes\)"
        with pytest.raises(BadInput, match=expected):
            desk.bring(import_judgments, "j.jsonl", json.dumps({**row, key: longest + "x"}))


@pytest.mark.parametrize(
    ("use_case", "name", "content"), GOOD, ids=lambda value: getattr(value, "__name__", "")
)
def test_importing_needs_a_lead(filled: Desk, use_case: Import, name: str, content: str) -> None:
    with filled.database.read() as session:
        annotator = find_actor(session, "a")
    before = filled.dump()
    for nobody in (annotator, Actor(person_id=999, username="stranger")):
        with pytest.raises(NotAllowed):
            use_case(filled.database, nobody, "d", filled.put(name, content), now=NOW)
    assert filled.dump() == before


# The command line --------------------------------------------------------------------------------------

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    desk: Desk, database_url: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Command:
    """Runs `annotator import …` on the dataset `d`: exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        from annotator.cli import main

        monkeypatch.setattr(
            "sys.argv", ["annotator", "--database", database_url, "import", *map(str, arguments)]
        )
        with pytest.raises(SystemExit) as ended:
            main.run()
        out, err = capfdbinary.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0, out.decode(), err.decode()

    return run


def test_every_command_reports_and_says_what_is_next(desk: Desk, command: Command) -> None:
    files = [
        ("queries", desk.put("q.csv", QUERIES), "annotator import documents d PATH"),
        ("documents", desk.put("d.jsonl", '{"doc_id": "d1", "text": "本文"}'), "annotator import run d FILE"),
        ("run", desk.put("r.txt", "Q1 Q0 d1 1 2.0 bm25\n"), "annotator pool d --depth 10"),
        ("pairs", desk.put("p.csv", "query_id,doc_id\nQ1,d1\n"), "annotator serve"),
        ("judgments", desk.put("j.csv", JUDGMENTS + "Q1,d1,a,1,,,\n"), "annotator agreement d"),
    ]
    for kind, path, following in files:
        code, out, err = command(kind, "d", path, "--dry-run")
        assert (code, err) == (0, "")
        assert "A dry run: nothing was stored." in out
        code, out, err = command(kind, "d", path)
        assert (code, err) == (0, "")
        assert out.startswith(f"{path}: {kind}: ")
        assert f"Next: {following}" in out
        code, out, err = command(kind, "d", path, "--json")
        report = json.loads(out)
        assert (code, err, report["kind"], report["unchanged"], report["dry_run"]) == (
            0,
            "",
            kind,
            report["read"],
            False,
        )
        assert "Nothing changed" in command(kind, "d", path)[1]


def test_bad_lines_go_to_stderr_with_exit_code_1_and_at_most_200_of_them(
    desk: Desk, command: Command
) -> None:
    path = desk.put("q.csv", "query_id,text\n" + ",検索\n" * 250)
    for options in ([], ["--json"]):
        code, out, err = command("queries", "d", path, *options)
        assert (code, out) == (1, "")
        lines = err.splitlines()
        assert lines[0] == f"{path}:2: expected query_id to be a text that is not empty, found nothing"
        assert (len(lines), lines[-1]) == (201, "… and 50 more")
    assert desk.rows(QueryRow.pk) == []


def test_options_reach_the_import(desk: Desk, command: Command) -> None:
    assert command("queries", "d", desk.put("q.dat", SJIS), "--encoding", "cp932", "--format", "csv")[0] == 0
    assert (
        command("run", "d", desk.put("r.txt", "Q3 Q0 d1 1 2.0 x\n"), "--system", "bm25")[1].count(
            "system bm25"
        )
        == 1
    )
    contradictory = desk.put("c.txt", "Q3 Q0 d1 1 1.0 c\nQ3 Q0 d2 2 2.0 c\n")
    assert "- warning: the ranks contradict the scores" in command("run", "d", contradictory)[1]
    assert "ordered by rank; trec_eval" in command("run", "d", contradictory, "--order", "rank")[1]
    assert command("run", "d", contradictory, "--order", "tag")[0] == 1
    answers = '{"query": "ascii", "results": [{"key": "d1", "id": 1}], "response_time": 2}\n{"query": "x", "results": []}'
    path = desk.put("runs/api.jsonl", answers)
    options = (
        "--id-field",
        "key",
        "--response-time-unit",
        "s",
        "--skip-unknown-queries",
        "--duplicates",
        "first",
    )
    code, out, _ = command("run", "d", path.parent, *options)
    assert (code, out.count("runs/api.jsonl: run: 1 read, 1 new"), "- system api" in out) == (0, 1, True)
    report = json.loads(command("run", "d", path.parent, *options, "--json")[1])
    assert (report["unchanged"], report["files"][0]["figures"]) == (1, {"skipped_unknown_queries": 1})
    assert "--system" in command("run", "d", path.parent, "--system", "x")[2]
    folder = desk.put("docs/a.md", "# A\nx\n# B\ny\n").parent
    assert command("documents", "d", folder, "--sections")[0] == 0
    assert {("a.md#a",), ("a.md#b",)} <= set(desk.rows(DocumentRow.doc_id))
    assert command("queries", "d", folder)[0] == 1
    assert command("queries", "nowhere", folder)[0] == 1
    assert command("queries", "d")[0] == 2
