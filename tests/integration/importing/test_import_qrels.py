"""An earlier ground truth: its grades settle pairs, are kept or judged again, and annotators never see them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlmodel import SQLModel, col

from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.agreement.service import compute_agreement
from annotator.domain.errors import AnnotatorError, BadInput, ConflictError, NotAllowed, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.formats import registry
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, read_truth
from annotator.formats.syntax.source import InputSource
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.report import ImportReport
from annotator.importing.texts.texts_service import import_documents
from annotator.labeling.service import compute_progress, submit_judgments
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import list_current_judgments
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.pair_states import ImportedQrel, list_kept_imports, list_suggestions
from annotator.storage.tables.central import (
    DocumentRow,
    ImportedQrelRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
)
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling_world import hand_out

SAMPLES = Path(registry.__file__).parent / "samples"
LATER = NOW + timedelta(days=1)
LAW = {
    "version": "1.0",
    "queries": [
        {
            "query_id": "Q1",
            "query_text": "検索 🔎",
            "ground_truth": {
                "민법/제17조": {
                    "relevance": 3, "law_type": "법률", "annotator_1": 3, "annotator_2": 2, "notes": "명백하다",
                },
                "مادة ١": {"relevance": 0},
            },
        },
        {"query_id": "Q 2", "query_text": "شرح", "ground_truth": {"d3": {"relevance": 1}}},
    ],
}  # fmt: skip


class Desk:
    """A dataset with two queries, one pair in the pool, two annotators, and a folder to put files in."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder = database, folder
        self.world = JudgedWorld(database)
        self.world.query("Q1", "検索 🔎")
        self.world.query("Q 2", "شرح")
        self.key = self.world.pair("Q1", "民法", rank=1)
        self.ann, self.bob = self.world.person("ann"), self.world.person("bob")
        self.sent = 0

    def bring(
        self, content: Any, name: str = "old.json", *, now: datetime = NOW, **options: Any
    ) -> ImportReport:
        path = self.folder / name
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        return import_qrels(self.database, OPERATOR, "d", path, now=now, **options)

    def submit(
        self, actor: Actor, *grades: tuple[str, int], have: list[str] | None = None, want: int = 9
    ) -> Any:
        events = []
        for pair, grade in grades:
            self.sent += 1
            events.append(
                {
                    "id": f"00000000-0000-4000-8000-{self.sent:012d}",
                    "pair": pair,
                    "outcome": "graded",
                    "grade": grade,
                    "pressed_at": (NOW + timedelta(hours=self.sent)).isoformat(),
                }
            )
        hand_out(self.database, actor, [*(event["pair"] for event in events), *(have or [])], now=LATER)
        return submit_judgments(
            self.database, actor, "d", events=events, have=have or [], want=want, now=LATER
        )

    def open_to(self, actor: Actor) -> set[str]:
        """What the annotator is handed, by doc_id."""
        return {pair.doc_id for pair in self.submit(actor).pairs}

    def keys(self) -> dict[tuple[str, str], str]:
        statement = (
            select(col(QueryRow.query_id), col(DocumentRow.doc_id), col(PairRow.key))
            .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
            .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        )
        with self.database.read() as session:
            return {(query, doc): key for query, doc, key in session.execute(statement)}

    def kept(self) -> dict[str, ImportedQrel]:
        """The kept grades by doc_id."""
        return self._by_document(list_kept_imports)

    def suggested(self) -> dict[str, ImportedQrel]:
        return self._by_document(list_suggestions)

    def _by_document(self, read: Any) -> dict[str, ImportedQrel]:
        with self.database.read() as session:
            body = read(session, key_of(find_dataset(session, "d").pk))
            statement = select(col(PairRow.pk), col(DocumentRow.doc_id)).join(
                DocumentRow, col(DocumentRow.pk) == PairRow.document_pk
            )
            names = dict(tuple(row) for row in session.execute(statement))
            return {names[pk]: qrel for pk, qrel in body.items()}

    def dump(self) -> dict[str, list[str]]:
        with self.database.read() as session:
            return {
                table.name: sorted(str(tuple(row)) for row in session.execute(select(table)))
                for table in SQLModel.metadata.sorted_tables
            }


@pytest.fixture
def desk(copy_world: CopyWorld) -> Desk:
    return copy_world(Desk)


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.read, report.added, report.changed, report.unchanged


def test_grades_come_in_with_everything_the_file_says_of_them_and_with_their_origin(desk: Desk) -> None:
    report = desk.bring(LAW)
    assert (report.kind, counts(report)) == ("qrels", (3, 3, 0, 0))
    *notes, unwritable = report.notes
    assert notes == [
        "3 grades are kept as settled: nobody judges their pairs",
        "3 pairs joined the pool",
        "3 documents are known by their id only ('민법/제17조', 'مادة ١', 'd3'): import their texts as documents",
    ]
    assert unwritable.startswith(
        "warning: 1 new id contains white space, which the format trec cannot hold: 'مادة ١'"
    )
    kept = desk.kept()
    assert {doc_id: qrel.grade for doc_id, qrel in kept.items()} == {"민법/제17조": 3, "مادة ١": 0, "d3": 1}
    qrel = kept["민법/제17조"]
    assert (qrel.note, qrel.annotator_grades) == ("명백하다", (("annotator_1", 3), ("annotator_2", 2)))
    assert (qrel.extra, qrel.keep, qrel.imported_at) == ({"law_type": "법률"}, True, NOW)
    assert {key: qrel.source[key] for key in ("kind", "format", "origin")} == {
        "kind": "qrels", "format": "law", "origin": "imported",
    }  # fmt: skip
    assert len(qrel.source["sha256"]) == 64 and qrel.source["path"].endswith("old.json")
    assert desk.suggested() == {}


def test_a_pair_that_joins_the_pool_has_the_provenance_import_and_one_that_was_there_keeps_its_own(
    desk: Desk,
) -> None:
    desk.bring("Q1 0 民法 2\nQ1 0 新しい 1\n", "q.txt")
    with desk.database.read() as session:
        statement = (
            select(col(DocumentRow.doc_id), col(ProvenanceRow.system))
            .join(PairRow, col(PairRow.pk) == ProvenanceRow.pair_pk)
            .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
        )
        assert {tuple(row) for row in session.execute(statement)} == {("民法", "bm25"), ("新しい", "import")}


def test_kept_pairs_are_handed_to_nobody_and_are_no_work_left(desk: Desk) -> None:
    desk.bring("Q1 0 民法 2\nQ1 0 d2 1\n", "q.txt")
    desk.world.pair("Q1", "残り")
    assert desk.open_to(desk.ann) == {"残り"}
    answer = desk.submit(desk.ann)
    assert (answer.done, answer.total) == (0, 1)
    progress = compute_progress(desk.database, OPERATOR, "d")
    assert (progress.pairs, progress.complete, progress.begun) == (3, 2, 0)


def test_a_browser_is_told_that_a_pair_it_holds_is_kept_now(desk: Desk) -> None:
    assert desk.open_to(desk.ann) == {"民法"}
    desk.bring("Q1 0 民法 2\n", "q.txt")
    answer = desk.submit(desk.ann, have=[desk.key])
    assert (answer.judged, answer.pairs) == ((desk.key,), ())


def test_a_judgment_of_a_kept_pair_that_was_on_its_way_is_stored_and_opens_the_pair(desk: Desk) -> None:
    assert desk.open_to(desk.ann) == {"民法"}
    desk.bring("Q1 0 民法 2\n", "q.txt")
    assert desk.open_to(desk.bob) == set()
    answer = desk.submit(desk.ann, (desk.key, 0))
    assert (len(answer.acknowledged), answer.refused, answer.done) == (1, (), 1)
    assert desk.open_to(desk.bob) == {"民法"}
    progress = compute_progress(desk.database, OPERATOR, "d")
    assert (progress.complete, progress.begun) == (0, 1)
    assert counts(desk.bring("Q1 0 民法 2\n", "q.txt")) == (1, 0, 0, 1)


def test_with_rejudge_the_pairs_are_open_and_the_grades_are_suggestions(desk: Desk) -> None:
    report = desk.bring("Q1 0 民法 2\n", "q.txt", rejudge=True)
    assert report.notes == ("1 grade is a suggestion, which only leads see",)
    assert desk.kept() == {}
    assert desk.suggested()["民法"].grade == 2
    assert desk.open_to(desk.ann) == {"民法"}


def test_what_an_annotator_is_handed_holds_no_imported_grade(desk: Desk) -> None:
    law = {"version": "1", "queries": [
        {"query_id": "Q1", "query_text": "検索 🔎", "ground_truth": {"民法": {"relevance": 3, "notes": "秘密"}}}
    ]}  # fmt: skip
    desk.bring(law, rejudge=True)
    (pair,) = desk.submit(desk.ann).pairs
    assert "秘密" not in repr(pair)
    assert {name for name in pair.__slots__ if "grade" in name or "relevance" in name} == set()


def test_a_pair_judged_here_keeps_its_judgments_and_the_grade_is_a_suggestion(desk: Desk) -> None:
    desk.world.judge(desk.ann, "Q1", "民法", 3)
    report = desk.bring("Q1 0 民法 0\n", "q.txt")
    assert "1 pair was judged here already: the judgments count" in report.notes
    assert (desk.kept(), desk.suggested()["民法"].grade) == ({}, 0)
    assert desk.open_to(desk.bob) == {"民法"}


def test_importing_the_same_again_changes_nothing(desk: Desk) -> None:
    desk.bring(LAW)
    before = desk.dump()
    assert counts(desk.bring(LAW, now=LATER)) == (3, 0, 0, 3)
    assert desk.dump() == before


def test_another_grade_is_another_row_and_the_latest_holds(desk: Desk) -> None:
    desk.bring("Q1 0 民法 2\nQ1 0 d2 1\n", "q.txt")
    assert counts(desk.bring("Q1 0 民法 0\nQ1 0 d2 1\n", "q.txt", now=LATER)) == (2, 0, 1, 1)
    assert {doc_id: qrel.grade for doc_id, qrel in desk.kept().items()} == {"民法": 0, "d2": 1}
    with desk.database.read() as session:
        grades = session.scalars(select(col(ImportedQrelRow.grade)).order_by(col(ImportedQrelRow.pk)))
        assert list(grades) == [2, 1, 0]


def test_a_lead_may_change_her_mind_about_keeping(desk: Desk) -> None:
    desk.bring("Q1 0 民法 2\n", "q.txt")
    assert counts(desk.bring("Q1 0 民法 2\n", "q.txt", rejudge=True)) == (1, 0, 1, 0)
    assert (desk.kept(), desk.open_to(desk.ann)) == ({}, {"民法"})
    assert counts(desk.bring("Q1 0 民法 2\n", "q.txt")) == (1, 0, 1, 0)
    assert (desk.kept()["民法"].grade, desk.open_to(desk.ann)) == (2, set())


def test_kept_grades_can_be_read_query_by_query(desk: Desk) -> None:
    desk.bring(LAW)
    with desk.database.read() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        second = session.scalar(select(col(QueryRow.pk)).where(col(QueryRow.query_id) == "Q 2"))
        some = list_kept_imports(session, dataset_pk, [key_of(second)])
        assert [qrel.grade for qrel in some.values()] == [1]
        assert list_kept_imports(session, dataset_pk, []) == {}


def test_queries_that_are_not_there_are_each_named_with_the_command_that_brings_them(desk: Desk) -> None:
    file = {"queries": [
        {"query_id": name, "query_text": name, "ground_truth": {"d": {"relevance": 1}, "e": {"relevance": 1}}}
        for name in ("없음", "Q1", "أخرى")
    ]}  # fmt: skip
    before = desk.dump()
    with pytest.raises(BadInput) as raised:
        desk.bring(json.dumps(file, ensure_ascii=False, indent=1))
    assert len(raised.value.problems) == 2
    assert [problem.line for problem in raised.value.problems] == [3, 27]
    assert "annotator import queries d" in str(raised.value) and "'없음'" in str(raised.value)
    assert desk.dump() == before


def test_a_format_without_ids_is_matched_by_the_exact_text_of_its_queries(desk: Desk) -> None:
    ranked = [{"query": "検索 🔎", "relevant_documents": ["d1", "民法"]}]
    with pytest.raises(ValidationError, match="--grades-by"):
        desk.bring(ranked, format_name="ranked")
    desk.bring(ranked, format_name="ranked", grades_by="position")
    assert {doc_id: qrel.grade for doc_id, qrel in desk.kept().items()} == {"d1": 2, "民法": 1}


def test_a_text_that_two_queries_have_or_none_is_refused(desk: Desk) -> None:
    desk.world.query("Q3", "شرح")
    ranked = [{"query": "شرح", "relevant_documents": ["d1"]}, {"query": "検索", "relevant_documents": ["d1"]}]
    with pytest.raises(BadInput, match="'شرح' 2 times") as raised:
        desk.bring(ranked, format_name="ranked", grades_by="all=2")
    assert len(raised.value.problems) == 2


def test_a_grade_above_3_is_refused_with_its_pair(desk: Desk) -> None:
    ranked = [{"query": "検索 🔎", "relevant_documents": ["a", "b", "c", "d", "e"]}]
    with pytest.raises(BadInput) as raised:
        desk.bring(ranked, format_name="ranked", grades_by="position")
    assert [problem.found for problem in raised.value.problems] == ["5", "4"]
    assert "'Q1', 'a'" in str(raised.value)


def test_another_text_in_the_file_is_said(desk: Desk) -> None:
    law = {"queries": [{"query_id": "Q1", "query_text": "別", "ground_truth": {"d": {"relevance": 1}}}]}
    assert desk.bring(law).notes[0] == "1 query has another text in the dataset than in the file: Q1"


def test_a_dry_run_reports_and_stores_nothing(desk: Desk) -> None:
    before = desk.dump()
    report = desk.bring(LAW, dry_run=True)
    assert (counts(report), report.dry_run) == ((3, 3, 0, 0), True)
    assert desk.dump() == before


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_every_format_can_be_imported_and_the_same_again_changes_nothing(
    database: Database, file_format: Format
) -> None:
    (path,) = SAMPLES.glob(f"{file_format.name}.nasty*")
    grades_by = "all=2" if file_format.read_graded else None
    _, truth = read_truth(InputSource(str(path)), format_name=file_format.name, grades_by=grades_by)
    world = JudgedWorld(database)
    for query in truth.queries:
        world.query(query.query_id, query.text)
    options: dict[str, Any] = {"now": NOW, "format_name": file_format.name, "grades_by": grades_by}
    report = import_qrels(database, OPERATOR, "d", path, **options)
    assert report.added == len(truth.qrels) > 0
    assert import_qrels(database, OPERATOR, "d", path, **options).unchanged == len(truth.qrels)


def test_only_a_lead_may(desk: Desk) -> None:
    (desk.folder / "q.txt").write_text("Q1 0 d 1\n")
    with desk.database.read() as session:
        ann = find_actor(session, "ann")
    with pytest.raises(NotAllowed):
        import_qrels(desk.database, ann, "d", desk.folder / "q.txt", now=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("name", ["missing.txt", "."])
def test_what_cannot_be_read_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(AnnotatorError):
        import_qrels(desk.database, OPERATOR, "d", desk.folder / name, now=NOW)


def test_grades_of_another_scale_are_mapped_and_the_record_says_so(desk: Desk) -> None:
    content = "Q1 0 d1 4\nQ1 0 d2 -2\nQ1 0 d3 1\n"
    with pytest.raises(BadInput, match="--map-grades"):
        desk.bring(content, "old.qrels")
    report = desk.bring(content, "old.qrels", map_grades="4=3,-2=unrateable")
    assert (report.read, report.added) == (2, 2)
    assert "grades of another scale: '4' read as 3 (1), '-2' read as unrateable (1)" in report.notes
    with desk.database.read() as session:
        (record,) = list_import_records(session, key_of(find_dataset(session, "d").pk))
        kept = list_kept_imports(session, desk.world.dataset_pk)
    assert record.options["map_grades"] == {"4": 3, "-2": "unrateable"}
    assert record.figures["mapped_grades"] == {"4": 1, "-2": 1}
    assert sorted(qrel.grade for qrel in kept.values()) == [1, 3]


def test_the_annotators_in_a_file_become_judges_whose_disagreement_waits_for_a_lead(desk: Desk) -> None:
    report = desk.bring(LAW, as_judgments=True)
    assert any(
        "2 judgments of annotator_1, annotator_2 taken as independent" in note for note in report.notes
    )
    assert any("1 pair on which they differ" in note for note in report.notes)
    with desk.database.read() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        held = list_current_judgments(session, dataset_pk)
        records = list_import_records(session, dataset_pk)
        suggestions, kept = list_suggestions(session, dataset_pk), list_kept_imports(session, dataset_pk)
        assert {row.password_hash for row in session.scalars(select(PersonRow)) if "_" in row.username} == {
            None
        }
    assert [(judgment.annotator, judgment.doc_id, judgment.grade, judgment.purpose) for judgment in held] == [
        ("annotator_1", "민법/제17조", 3, "independent"),
        ("annotator_2", "민법/제17조", 2, "independent"),
    ]
    assert [(suggestion.grade, suggestion.note) for suggestion in suggestions.values()] == [
        (3, "명백하다")
    ], "what the file settled"
    assert len(kept) == 2, "what only the file settled is kept as ever"
    assert [record.kind for record in records] == ["judgments", "qrels"]
    assert all(record.options["as_judgments"] for record in records)
    assert [
        disagreement.doc_id for disagreement in find_disagreements(desk.database, OPERATOR, "d", now=NOW)
    ] == ["민법/제17조"]
    agreement = compute_agreement(desk.database, OPERATOR, "d", resamples=0)
    assert (agreement.measured.pairs, agreement.measured.observed_agreement) == (1, 0.0)
    again = desk.bring(LAW, now=LATER, as_judgments=True)
    assert (again.added, again.changed) == (0, 0)
    with desk.database.read() as session:
        assert len(list_current_judgments(session, dataset_pk, history=True)) == 2


NAMES = {"annotator_1": "田中", "annotator_2": "ann"}


def test_the_annotators_in_a_file_are_the_people_whom_the_importer_declares(desk: Desk) -> None:
    report = desk.bring(LAW, as_judgments=True, declared={"who": "two lawyers", "annotators": NAMES})
    assert any("2 judgments of 田中, ann taken as independent" in note for note in report.notes)
    with desk.database.read() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        held = list_current_judgments(session, dataset_pk)
        records = list_import_records(session, dataset_pk)
    assert [
        (judgment.annotator, judgment.annotator_pk == desk.ann.person_id, judgment.grade) for judgment in held
    ] == [
        ("ann", True, 2),
        ("田中", False, 3),
    ]
    assert [record.options.get("annotators") for record in records] == [NAMES, None]
    assert [record.declared for record in records] == [{"who": "two lawyers"}] * 2, (
        "no name is told in a datasheet"
    )
    again = desk.bring(LAW, now=LATER, as_judgments=True, declared={"annotators": NAMES})
    assert (again.added, again.changed) == (0, 0)
    with desk.database.read() as session:
        assert len(list_current_judgments(session, dataset_pk, history=True)) == 2


@pytest.mark.parametrize(
    ("names", "as_judgments", "message"),
    [
        ({"annotator_1": "田中"}, True, "found none for annotator_2"),
        (
            {**NAMES, "annotator_3": "Kim"},
            True,
            r"expected annotators with grades in .* \(annotator_1, annotator_2\), found annotator_3",
        ),
        (NAMES, False, "add --as-judgments"),
    ],
)
def test_names_that_do_not_fit_the_annotators_in_a_file_are_refused(
    desk: Desk, names: dict[str, str], as_judgments: bool, message: str
) -> None:
    before = desk.dump()
    with pytest.raises(ValidationError, match=message):
        desk.bring(LAW, as_judgments=as_judgments, declared={"annotators": names})
    assert desk.dump() == before


def test_names_of_annotators_are_refused_for_a_file_that_names_them_itself(desk: Desk) -> None:
    path = desk.folder / "j.csv"
    path.write_text("query_id,doc_id,annotator,grade\nQ1,d,ann,1\n")
    with pytest.raises(ValidationError, match="this file names its annotators itself"):
        import_judgments(desk.database, OPERATOR, "d", path, now=NOW, declared={"annotators": NAMES})


def test_annotators_of_two_files_who_bear_one_name_are_told_apart_or_warned_of(desk: Desk) -> None:
    assert "who its annotators are" not in "; ".join(desk.bring(LAW, as_judgments=True).notes)
    other = {**LAW, "version": "2.0"}
    notes = desk.bring(other, as_judgments=True, dry_run=True).notes
    assert [note for note in notes if "taken for the same people" in note and "--provenance" in note]
    named = desk.bring(other, as_judgments=True, dry_run=True, declared={"annotators": NAMES}).notes
    assert not [note for note in named if "taken for the same people" in note]


@pytest.mark.parametrize("first", [None, {"annotators": {**NAMES, "annotator_2": "Kim"}}])
def test_the_same_file_is_not_taken_a_second_time_as_the_grades_of_other_people(
    desk: Desk, first: dict[str, Any] | None
) -> None:
    desk.bring(LAW, as_judgments=True, declared=first)
    before = desk.dump()
    with pytest.raises(ConflictError, match="would count twice"):
        desk.bring(LAW, now=LATER, as_judgments=True, declared={"annotators": NAMES})
    assert desk.dump() == before


def test_what_an_annotator_in_a_file_could_not_rate_is_a_judgment_too(desk: Desk) -> None:
    content = {
        "queries": [
            {
                "query_id": "Q1",
                "query_text": "検索 🔎",
                "ground_truth": {
                    "d1": {"relevance": 2, "annotator_1": 2, "annotator_2": "unrateable"},
                    "d2": {"relevance": "?", "annotator_1": "?", "annotator_2": "?"},
                    "d3": {"relevance": "?", "annotator_1": 0, "annotator_2": 3},
                },
            }
        ]
    }
    report = desk.bring(content, as_judgments=True, map_grades="?=unrateable", declared={"annotators": NAMES})
    assert any("6 judgments (3 of them unrateable) of 田中, ann taken" in note for note in report.notes)
    assert any("2 pairs on which they differ" in note for note in report.notes)
    with desk.database.read() as session:
        held = list_current_judgments(session, desk.world.dataset_pk)
        kept = list_kept_imports(session, desk.world.dataset_pk)
    assert [(judgment.doc_id, judgment.annotator, judgment.outcome, judgment.grade) for judgment in held] == [
        ("d1", "ann", "unrateable", None),
        ("d1", "田中", "graded", 2),
        ("d2", "ann", "unrateable", None),
        ("d2", "田中", "unrateable", None),
        ("d3", "ann", "graded", 3),
        ("d3", "田中", "graded", 0),
    ]
    assert not kept, "the pair that the file settled is judged here now"
    assert sorted(
        disagreement.doc_id for disagreement in find_disagreements(desk.database, OPERATOR, "d", now=NOW)
    ) == [
        "d1",
        "d3",
    ]
    again = desk.bring(
        content, now=LATER, as_judgments=True, map_grades="?=unrateable", declared={"annotators": NAMES}
    )
    assert (again.added, again.changed) == (0, 0)
    with desk.database.read() as session:
        assert len(list_current_judgments(session, desk.world.dataset_pk, history=True)) == 6


def test_a_query_of_an_unrateable_document_must_be_in_the_dataset(desk: Desk) -> None:
    content = "query_id,doc_id,grade,annotator_1\nQ1,d1,1,1\nQ9,d2,?,unrateable\n"
    with pytest.raises(BadInput, match=r"a query_id of this dataset .*, found 'Q9'"):
        desk.bring(content, "old.csv", as_judgments=True, map_grades="?=unrateable")
    assert desk.bring(content, "old.csv", map_grades="?=unrateable").added == 1, (
        "its settled grades need Q1 only"
    )


def test_a_file_without_annotators_own_grades_has_no_judgments(desk: Desk) -> None:
    with pytest.raises(ValidationError, match="expected annotators' own grades"):
        desk.bring("Q1 0 d1 1\n", "old.qrels", as_judgments=True)


# --- what is not derived pair by pair


@pytest.mark.parametrize("rejudge", [False, True])
def test_what_new_pairs_lack_and_wait_for_is_what_deriving_everything_anew_comes_to(
    desk: Desk, rejudge: bool
) -> None:
    desk.submit(desk.ann, (desk.key, 2))
    desk.submit(desk.bob, (desk.key, 0))
    desk.world.pair("Q 2", "d4")
    with desk.database.write() as session:
        session.execute(text("DELETE FROM score_due"))
    lines = ["Q1 0 民法 3", "Q1 0 d9 1", "Q1 0 d8 0"]
    desk.bring("\n".join(lines), "old.txt", map_grades=None, rejudge=rejudge)
    desk.bring({**LAW, "queries": LAW["queries"][1:]}, rejudge=rejudge)
    with desk.database.read() as session:
        due = session.execute(text("SELECT count(*) FROM score_due")).scalar_one()
    assert due == (1 if rejudge else 2)  # queries whose scores are computed again
    before = read_derived(desk)
    with desk.database.write() as session:
        derive_work(session, desk.world.dataset_pk)
        derive_disagreements(session, desk.world.dataset_pk)
    assert read_derived(desk) == before
    kept = {doc_id for (_, doc_id), (keeps, *_) in before[0].items() if keeps}
    assert kept == (set() if rejudge else {"d9", "d8", "d3"})


def read_derived(desk: Desk) -> tuple[dict[tuple[str, str], tuple[bool, int, int]], list[Any], list[Any]]:
    """What is derived of each pair, of the queue and of each query's open pairs."""
    names = {key: name for name, key in desk.keys().items()}
    with desk.database.read() as session:
        pairs = {
            names[row.key]: (row.kept, row.wanted, row.lacking) for row in session.scalars(select(PairRow))
        }
        queue = session.execute(
            text("SELECT pair_pk, open, reasons, waiting FROM dispute ORDER BY pair_pk")
        ).all()
        work = session.execute(
            text("SELECT query_pk, open_pairs, begun_pairs FROM query_work ORDER BY query_pk")
        ).all()
    return pairs, list(queue), list(work)


def test_the_documents_of_a_folder_are_imported_from_the_file_that_the_note_names(desk: Desk) -> None:
    folder = desk.folder / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "Q1", "text": "検索 🔎"}\n', encoding="utf-8")
    (folder / "corpus.jsonl").write_text('{"_id": "new", "text": "本文"}\n', encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nQ1\tnew\t2\n", encoding="utf-8")
    report = import_qrels(desk.database, OPERATOR, "d", folder, now=NOW)
    assert any("import its file corpus.jsonl as documents too" in str(note) for note in report.notes)
    documents = import_documents(desk.database, OPERATOR, "d", folder / "corpus.jsonl", now=NOW)
    assert documents.read == 1
