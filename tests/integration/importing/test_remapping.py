"""Documents get new ids, on both databases: whatever the mapping, no judgment is lost, doubled or on another document."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlmodel import SQLModel, col

from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.agreement.service import compute_agreement
from annotator.dataset.service import create_dataset, show_dataset
from annotator.domain.errors import BadInput, ConflictError, NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.remapping.remapping import RemapReport, name_retired
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_documents, import_pairs
from annotator.labeling.service import SubmitResponse, compute_progress, list_judgments, submit_judgments
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.service import list_pairs
from annotator.releases.writing.judged_sql import iterate_documents, iterate_judged_queries
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.logs.disclosures import RETIRED, find_published, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_states import ImportedQrel, list_suggestions
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    ImportedQrelRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
    RemapRow,
    RubricRow,
    RunEntryRow,
)
from annotator.storage.tables.labeling import DisclosureRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling_world import hand_out
from tests.short_run import draw_few

LATER = NOW + timedelta(days=1)


class Desk(JudgedWorld):
    """A dataset with two queries and two annotators, and a folder to put files in."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.folder = folder
        self.query("Q1", "検索 🔎")
        self.query("Q2", "شرح")
        self.ann, self.bob, self.lead = self.person("ann"), self.person("bob"), self.person("lead", "lead")
        self.ids = count(1)

    def remap(self, *links: str, now: Any = LATER, actor: Actor = OPERATOR, **options: Any) -> RemapReport:
        """`links` are "old>new"."""
        path = self.folder / "new ids.csv"
        lines = ["old_doc_id,new_doc_id", *(link.replace(">", ",") for link in links)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return remap_documents(self.database, actor, "d", path, now=now, **options)

    def put(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        return path

    def submit(
        self, actor: Actor, *grades: tuple[str, int], have: tuple[str, ...] = (), want: int = 9
    ) -> SubmitResponse:
        events = [
            {
                "id": f"10000000-0000-4000-8000-{next(self.ids):012d}",
                "pair": pair,
                "outcome": "graded",
                "grade": grade,
                "pressed_at": (NOW + timedelta(hours=1)).isoformat(),
            }
            for pair, grade in grades
        ]
        hand_out(self.database, actor, [pair for pair, _ in grades], now=LATER)
        return submit_judgments(
            self.database, actor, "d", events=events, have=list(have), want=want, now=LATER
        )

    def open_to(self, actor: Actor) -> set[tuple[str, str]]:
        """What the annotator is handed; at the end of the leases it is open to others again."""
        return {(pair.query_id, pair.doc_id) for pair in self.submit(actor).pairs}

    def pool(self) -> dict[tuple[str, str], str]:
        """The status of every pair of the pool."""
        return {
            (pair.query_id, pair.doc_id): pair.status for pair in list_pairs(self.database, OPERATOR, "d")
        }

    def grades(self, *, history: bool = False) -> list[tuple[str, str, str, int | None]]:
        judgments = list_judgments(self.database, OPERATOR, "d", history=history)
        return sorted((row.query_id, row.doc_id, row.annotator, row.grade) for row in judgments)

    def suggested(self) -> dict[tuple[str, str], ImportedQrel]:
        with self.database.read() as session:
            suggestions = list_suggestions(session, self.dataset_pk)
            statement = (
                select(col(PairRow.pk), col(QueryRow.query_id), col(DocumentRow.doc_id))
                .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
                .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
            )
            names = {pk: (query_id, doc_id) for pk, query_id, doc_id in session.execute(statement)}
            return {names[pk]: qrel for pk, qrel in suggestions.items()}

    def texts(self) -> dict[str, tuple[str | None, set[str]]]:
        """By doc_id: the text shown, and every text kept."""
        with self.database.read() as session:
            kept: dict[int, dict[str, str]] = defaultdict(dict)
            for row in session.scalars(select(DocumentTextRow)):
                kept[row.document_pk][row.sha256] = row.text
            return {
                row.doc_id: (
                    kept[key_of(row.pk)][row.text_sha256] if row.text_sha256 else None,
                    set(kept[key_of(row.pk)].values()),
                )
                for row in session.scalars(select(DocumentRow))
            }

    def keys(self) -> dict[tuple[str, str], str]:
        return {(pair.query_id, pair.doc_id): pair.pair for pair in list_pairs(self.database, OPERATOR, "d")}

    def dump(self) -> dict[str, list[str]]:
        with self.database.read() as session:
            return {
                table.name: sorted(str(tuple(row)) for row in session.execute(select(table)))
                for table in SQLModel.metadata.sorted_tables
            }


@pytest.fixture
def desk(copy_world: CopyWorld) -> Desk:
    return copy_world(Desk)


# One to one ------------------------------------------------------------------------------------------


def test_a_renamed_document_takes_everything_along(desk: Desk) -> None:
    key = desk.pair("Q1", "법/1", rank=1, text="古い本文", title="題", law="민법")
    desk.judge(desk.ann, "Q1", "법/1", 3, note="메모")
    report = desk.remap("법/1>مادة/١")
    assert (dict(report.renamed), report.pairs_carried, report.pairs_retired) == ({"법/1": "مادة/١"}, 1, 0)
    assert desk.pool() == {("Q1", "مادة/١"): "single"}
    assert desk.keys() == {("Q1", "مادة/١"): key}
    assert desk.grades() == desk.grades(history=True) == [("Q1", "مادة/١", "ann", 3)]
    assert desk.texts() == {"مادة/١": ("古い本文", {"古い本文"})}
    (pair,) = list_pairs(desk.database, OPERATOR, "d")
    assert [(by.system, by.rank) for by in pair.provenance] == [("bm25", 1)]


def test_a_swap_a_ring_and_a_chain_go_in_one_file(desk: Desk) -> None:
    for number, doc_id in enumerate("abcdefg"):
        desk.pair("Q1", doc_id, text=f"text of {doc_id}")
        desk.judge(desk.ann, "Q1", doc_id, number % 4)
    desk.remap("a>b", "b>a", "c>d", "d>e", "e>c", "f>g", "g>🔎")
    grades = {doc_id: grade for _, doc_id, _, grade in desk.grades()}
    assert grades == {"b": 0, "a": 1, "d": 2, "e": 3, "c": 0, "g": 1, "🔎": 2}
    assert desk.texts()["b"] == ("text of a", {"text of a"})
    assert len(desk.pool()) == 7


def test_a_judgment_on_its_way_lands_on_its_pair_under_the_new_id(desk: Desk) -> None:
    key = desk.pair("Q1", "a", text="本文")
    desk.remap("a>b", "b>a")
    answer = desk.submit(desk.ann, (key, 2))
    assert (len(answer.acknowledged), answer.refused) == (1, ())
    assert desk.grades() == [("Q1", "b", "ann", 2)]


def test_the_same_file_twice_is_once_also_where_it_would_go_round(desk: Desk) -> None:
    for doc_id in "abc":
        desk.pair("Q1", doc_id)
        desk.judge(desk.ann, "Q1", doc_id, "abc".index(doc_id))
    links = ("a>b", "b>c", "c>d", "later>new")
    desk.remap(*links)
    before = desk.dump()
    report = desk.remap(*links, now=LATER + timedelta(days=1))
    assert (report.applied, dict(report.renamed), report.unknown) == (3, {}, ("later",))
    assert desk.dump() == before
    desk.pair("Q1", "later")
    report = desk.remap(*links, now=LATER + timedelta(days=2))
    assert dict(report.renamed) == {"later": "new"}
    assert {doc_id: grade for _, doc_id, _, grade in desk.grades()} == {"b": 0, "c": 1, "d": 2}
    assert desk.remap(*links, now=LATER + timedelta(days=3)).applied == 4


def test_where_the_new_document_is_there_already_its_text_stays_and_the_judged_one_is_kept_beside(
    desk: Desk,
) -> None:
    key = desk.pair("Q1", "old", rank=4, text="旧")
    desk.judge(desk.ann, "Q1", "old", 2)
    other = desk.pair("Q2", "new", text="新", title="New")
    report = desk.remap("old>new")
    assert report.pairs_carried == 1 and report.pairs_met == 0
    assert desk.texts() == {"new": ("新", {"新", "旧"})}
    assert desk.keys() == {("Q1", "new"): key, ("Q2", "new"): other}
    assert desk.grades() == [("Q1", "new", "ann", 2)]
    with desk.database.read() as session:
        hashes = set(session.scalars(select(col(JudgmentRow.document_sha256))))
        kept = set(session.scalars(select(col(DocumentTextRow.sha256))))
        assert hashes <= kept


def test_a_text_goes_along_where_the_new_document_has_none(desk: Desk) -> None:
    desk.pair("Q1", "old", text="本文", title="題")
    desk.pair("Q2", "new")
    desk.remap("old>new")
    assert desk.texts() == {"new": ("本文", {"本文"})}


def test_a_judged_pair_takes_the_place_of_an_unjudged_one_whose_judgment_on_its_way_is_kept(
    desk: Desk,
) -> None:
    judged, waiting = desk.pair("Q1", "old", rank=4), desk.pair("Q1", "new", rank=1, text="新")
    desk.judge(desk.ann, "Q1", "old", 2)
    report = desk.remap("old>new")
    assert (report.pairs_met, report.pairs_retired, report.pairs_carried) == (1, 1, 1)
    assert desk.keys() == {("Q1", "new"): judged}
    answer = desk.submit(desk.bob, (waiting, 3), have=(waiting,))
    assert (len(answer.acknowledged), answer.refused, answer.judged) == (1, (), (waiting,))
    assert [(pair.pair, pair.doc_id) for pair in answer.pairs] == [(judged, "new")]
    assert desk.grades() == [("Q1", "new", "ann", 2)]
    history = desk.grades(history=True)
    assert history == [("Q1", "new", "ann", 2), ("Q1", "new (retired 2026-03-05)", "bob", 3)]
    (pair,) = list_pairs(desk.database, OPERATOR, "d")
    assert [(by.system, by.rank) for by in pair.provenance] == [("bm25", 4)]


def test_an_unjudged_pair_gives_way_and_leaves_word_of_who_proposed_it(desk: Desk) -> None:
    desk.pair("Q1", "old", rank=4)
    key = desk.pair("Q1", "new", rank=1)
    with desk.database.write() as session:
        pk = session.scalar(
            select(col(PairRow.pk))
            .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
            .where(col(DocumentRow.doc_id) == "old")
        )
        session.add(ProvenanceRow(pair_pk=key_of(pk), system="밀집", rank=2, signals={"cos": 0.5}))
    desk.judge(desk.ann, "Q1", "new", 1)
    desk.remap("old>new")
    assert desk.keys() == {("Q1", "new"): key}
    (pair,) = list_pairs(desk.database, OPERATOR, "d")
    assert [(by.system, by.rank, dict(by.signals)) for by in pair.provenance] == [
        ("bm25", 1, {}), ("밀집", 2, {"cos": 0.5}),
    ]  # fmt: skip


def test_where_both_were_judged_the_grade_of_the_old_one_is_suggested(desk: Desk) -> None:
    desk.pair("Q1", "old")
    desk.pair("Q1", "new")
    desk.judge(desk.ann, "Q1", "old", 3)
    desk.judge(desk.bob, "Q1", "new", 0)
    desk.remap("old>new")
    assert desk.grades() == [("Q1", "new", "bob", 0)]
    suggestion = desk.suggested()[("Q1", "new")]
    assert (suggestion.grade, suggestion.keep) == (3, False)
    assert suggestion.source["old_doc_id"] == "old" and suggestion.source["status"] == "single"
    assert ("Q1", "old (retired 2026-03-05)", "ann", 3) in desk.grades(history=True)


def test_run_results_follow_a_renamed_document(desk: Desk) -> None:
    lines = "Q1 Q0 a 1 3.0 s\nQ1 Q0 b 2 2.0 s\nQ1 Q0 c 3 1.0 s\nQ2 Q0 a 1 1.0 s\n"
    import_run(desk.database, OPERATOR, "d", desk.put("r.txt", lines), now=NOW)
    desk.remap("a>c", "b>x")
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=3), now=LATER)
    assert set(desk.pool()) == {("Q1", "c"), ("Q1", "x"), ("Q2", "c")}
    with desk.database.read() as session:
        assert session.scalar(select(func.count()).select_from(RunEntryRow)) == 4


# Split and merged ------------------------------------------------------------------------------------


def test_a_split_document_leaves_and_its_parts_are_to_be_judged_again(desk: Desk) -> None:
    old = desk.pair("Q1", "법", rank=1, text="全文")
    desk.pair("Q2", "법")
    desk.judge(desk.ann, "Q1", "법", 3)
    desk.judge(desk.bob, "Q1", "법", 3)
    report = desk.remap("법>법#1", "법>법#2")
    assert dict(report.split) == {"법": ("법#1", "법#2")}
    assert (report.pairs_retired, report.pairs_new, report.suggestions) == (2, 4, 2)
    assert (report.documents_new, report.pairs_carried) == (2, 0)
    assert set(desk.pool().values()) == {"unjudged"} and len(desk.pool()) == 4
    assert {pair: item.grade for pair, item in desk.suggested().items()} == {
        ("Q1", "법#1"): 3, ("Q1", "법#2"): 3,
    }  # fmt: skip
    assert desk.open_to(desk.ann) == {(query, doc) for query in ("Q1", "Q2") for doc in ("법#1", "법#2")}
    assert desk.grades() == [] and len(desk.grades(history=True)) == 2
    answer = desk.submit(desk.ann, (old, 0), have=(old,))
    assert (answer.refused, answer.judged, answer.done) == ((), (old,), 0)
    assert len(desk.grades(history=True)) == 3 and desk.grades() == []
    assert {by.system for pair in list_pairs(desk.database, OPERATOR, "d") for by in pair.provenance} == {
        "remap"
    }


def test_a_merged_document_gets_one_pair_and_the_highest_grade_is_suggested(desk: Desk) -> None:
    for doc_id, grade in (("a", 3), ("b", 1)):
        desk.pair("Q1", doc_id)
        desk.judge(desk.ann, "Q1", doc_id, grade)
    report = desk.remap("a>全部", "b>全部")
    assert dict(report.merged) == {"全部": ("a", "b")}
    assert desk.pool() == {("Q1", "全部"): "unjudged"}
    assert desk.suggested()[("Q1", "全部")].grade == 3
    (pair,) = list_pairs(desk.database, OPERATOR, "d")
    assert [(by.system, by.signals["old_doc_ids"]) for by in pair.provenance] == [("remap", ["a", "b"])]


def test_a_part_that_keeps_the_old_id_is_judged_again_on_a_pair_of_its_own(desk: Desk) -> None:
    key = desk.pair("Q1", "a", text="本文", title="題")
    desk.judge(desk.ann, "Q1", "a", 3)
    report = desk.remap("a>a", "a>b")
    assert desk.pool() == {("Q1", "a"): "unjudged", ("Q1", "b"): "unjudged"}
    assert key not in desk.keys().values()
    assert desk.open_to(desk.ann) == {("Q1", "a"), ("Q1", "b")}
    assert desk.texts()["a"] == ("本文", {"本文"}) and report.documents_new == 1
    assert desk.grades(history=True) == [("Q1", "a (retired 2026-03-05)", "ann", 3)]


def test_a_chain_of_chunks_that_move_up_by_one(desk: Desk) -> None:
    for number in (1, 2, 3):
        desk.pair("Q1", f"#{number}", text=f"chunk {number}")
        desk.judge(desk.ann, "Q1", f"#{number}", number)
    desk.remap("#1>#1", "#2>#2", "#2>#3", "#3>#4")
    assert desk.pool() == {
        ("Q1", "#1"): "single", ("Q1", "#2"): "unjudged", ("Q1", "#3"): "unjudged", ("Q1", "#4"): "single",
    }  # fmt: skip
    assert desk.grades() == [("Q1", "#1", "ann", 1), ("Q1", "#4", "ann", 3)]
    assert desk.texts()["#4"][0] == "chunk 3" and desk.texts()["#3"][0] is None


def test_grades_of_an_earlier_ground_truth_go_along_or_become_suggestions(desk: Desk) -> None:
    import_qrels(desk.database, OPERATOR, "d", desk.put("q.txt", "Q1 0 a 2\nQ1 0 b 3\n"), now=NOW)
    desk.remap("a>x", "b>y", "b>z")
    assert desk.pool() == {("Q1", "x"): "imported", ("Q1", "y"): "unjudged", ("Q1", "z"): "unjudged"}
    assert desk.suggested()[("Q1", "y")].source["status"] == "imported"
    assert desk.open_to(desk.ann) == {("Q1", "y"), ("Q1", "z")}
    desk.remap("y>y1", "y>y2", now=LATER + timedelta(days=1))
    assert desk.suggested()[("Q1", "y1")].grade == 3


def test_a_suggestion_does_not_unsettle_a_kept_grade(desk: Desk) -> None:
    import_qrels(desk.database, OPERATOR, "d", desk.put("q.txt", "Q1 0 x 1\n"), now=NOW)
    desk.pair("Q1", "a")
    desk.judge(desk.ann, "Q1", "a", 3)
    desk.remap("a>x", "a>y")
    assert desk.pool()[("Q1", "x")] == "imported"
    assert desk.open_to(desk.ann) == {("Q1", "y")}


def test_a_document_that_comes_back_under_a_retired_id_is_another_one_with_a_key_of_its_own(
    desk: Desk,
) -> None:
    old = desk.pair("Q1", "a", rank=1)
    desk.judge(desk.ann, "Q1", "a", 3)
    desk.remap("a>b", "a>c")
    import_run(desk.database, OPERATOR, "d", desk.put("r.txt", "Q1 Q0 a 1 1.0 new\n"), now=LATER)
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=5), now=LATER)
    assert desk.pool()[("Q1", "a")] == "unjudged"
    assert desk.keys()[("Q1", "a")] != old
    renamed = desk.keys()[("Q1", "a")]
    desk.remap("a>x", now=LATER + timedelta(days=1))
    desk.pair("Q1", "a")
    assert len(set(desk.keys().values()) | {old}) == len(desk.keys()) + 1
    assert desk.keys()[("Q1", "x")] == renamed


@pytest.mark.parametrize(
    ("use_case", "name", "text"),
    [
        (import_qrels, "n.csv", "query_id,doc_id,grade\nQ1,a,1\nQ1,b,1\nQ1,나,1\n"),
        (import_judgments, "n.csv", "query_id,doc_id,annotator,grade\nQ1,a,x,1\nQ1,b,x,1\nQ1,나,x,1\n"),
        (import_pairs, "n.csv", "query_id,doc_id\nQ1,a\nQ1,b\nQ1,나\n"),
        (import_run, "n.txt", "Q1 Q0 a 1 3.0 s\nQ1 Q0 b 2 2.0 s\nQ1 Q0 나 3 1.0 s\n"),
    ],
)
def test_a_file_with_ids_that_were_replaced_says_so(desk: Desk, use_case: Any, name: str, text: str) -> None:
    desk.pair("Q1", "a")
    desk.pair("Q1", "b")
    desk.remap("a>b", "b>a1", "b>a2", "나>나")
    report = use_case(desk.database, OPERATOR, "d", desk.put(name, text), now=LATER)
    (note,) = [note for note in report.notes if "remap" in note]
    assert note.startswith("warning: 2 ids ")
    assert "'a' (now 'b')" in note
    assert "'b' (now 'a1', 'a2')" in note


def test_a_ground_truth_from_before_new_ids_is_not_taken_for_one_of_the_new_ids(desk: Desk) -> None:
    path = desk.put("t.csv", "query_id,doc_id,grade\nQ1,a,3\nQ1,b,0\n")
    import_qrels(desk.database, OPERATOR, "d", path, now=NOW)
    desk.remap("a>b", "b>a", now=LATER)
    before = desk.pool()
    with pytest.raises(ConflictError, match=r"before remap gave.*'a', 'b'"):
        import_qrels(desk.database, OPERATOR, "d", path, now=LATER + timedelta(days=1))
    assert desk.pool() == before
    other = desk.put("u.csv", "query_id,doc_id,grade\nQ1,나,2\n")
    for days in (1, 2):  # its ids are as before
        import_qrels(desk.database, OPERATOR, "d", other, now=LATER + timedelta(days=days))


def test_results_of_runs_for_documents_that_left_are_kept_but_not_pooled(desk: Desk) -> None:
    lines = "Q1 Q0 a 1 3.0 s\nQ1 Q0 b 2 2.0 s\nQ1 Q0 c 3 1.0 s\n"
    import_run(desk.database, OPERATOR, "d", desk.put("r.txt", lines), now=NOW)
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=1), now=NOW)
    desk.remap("a>a1", "a>a2", "b>m", "나>m")
    assert set(desk.pool()) == {("Q1", "a1"), ("Q1", "a2")}
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=1, retrievers=("bm25",)), now=LATER)
    assert set(desk.pool()) >= {("Q1", "a1"), ("Q1", "a2"), ("Q1", "c")}
    assert not {doc_id for _, doc_id in desk.pool()} & {"a", "b"}
    assert not any("retired" in doc_id for _, doc_id in desk.pool())
    with desk.database.read() as session:
        assert session.scalar(select(func.count()).select_from(RunEntryRow)) == 3


def test_a_split_document_that_nothing_hangs_on_is_taken_away(desk: Desk) -> None:
    documents = '{"doc_id": "a", "text": "本文"}\n{"doc_id": "b", "text": "別"}\n'
    import_documents(desk.database, OPERATOR, "d", desk.put("d.jsonl", documents), now=NOW)
    report = desk.remap("a>a#1", "a>a#2", "b>b", "b>b#2")
    assert (report.documents_dropped, report.documents_new) == (2, 0)
    assert desk.texts() == {"b": ("別", {"別"})}


# Counts ----------------------------------------------------------------------------------------------


def test_every_count_leaves_out_what_has_left_the_pool(desk: Desk) -> None:
    for doc_id in "ab":
        desk.pair("Q1", doc_id)
        for annotator in (desk.ann, desk.bob):
            desk.judge(annotator, "Q1", doc_id, 3 if annotator is desk.ann else 0)
    desk.remap("a>x", "a>y")
    answer = desk.submit(desk.ann, want=0)
    assert (answer.done, answer.total) == (1, 3)
    progress = compute_progress(desk.database, OPERATOR, "d")
    assert (progress.pairs, progress.complete, progress.begun) == (3, 1, 0)
    assert [person.judged for person in progress.annotators] == [1, 1]
    counts = show_dataset(desk.database, OPERATOR, "d")[1]
    assert (counts.pairs, counts.documents, counts.judgments) == (3, 3, 2)
    agreement = compute_agreement(desk.database, OPERATOR, "d", resamples=0)
    assert agreement.measured.pairs == 1
    (disagreement,) = find_disagreements(desk.database, desk.lead, "d", now=NOW)
    assert disagreement.doc_id == "b"


def test_a_release_holds_what_a_document_is_now_and_nothing_of_what_has_left(desk: Desk) -> None:
    for doc_id in "ab":
        desk.pair("Q1", doc_id, text=f"text of {doc_id}")
        desk.judge(desk.ann, "Q1", doc_id, 3)
    desk.remap("a>x", "a>y", "b>c")
    with desk.database.read() as session:
        assert [document.doc_id for document in iterate_documents(session, desk.dataset_pk)] == [
            "c",
            "x",
            "y",
        ]
        ((_, pairs), _) = iterate_judged_queries(session, desk.dataset_pk)
        settled = {pair.doc_id: pair.grade for pair in pairs if pair.grade is not None}
    assert settled == {"c": 3}


def test_a_pair_that_has_left_is_no_case_any_more_and_its_decision_stays_on_record(desk: Desk) -> None:
    key = desk.pair("Q1", "a")
    desk.judge(desk.ann, "Q1", "a", 3)
    desk.judge(desk.bob, "Q1", "a", 1)
    seen = show_disagreement(desk.database, desk.lead, "d", key, now=NOW).seen
    adjudicate(desk.database, desk.lead, "d", key, grade=2, rationale="理由", seen=seen, now=LATER)
    desk.remap("a>x", "a>y")
    with pytest.raises(NotFound):
        show_disagreement(desk.database, desk.lead, "d", key, now=NOW)
    assert find_disagreements(desk.database, desk.lead, "d", now=NOW) == []
    assert desk.suggested()[("Q1", "x")].grade == 2
    with desk.database.read() as session:
        assert session.scalars(select(AdjudicationRow)).one().rationale == "理由"


def test_deriving_everything_anew_changes_nothing(desk: Desk) -> None:
    for doc_id in "ab":
        desk.pair("Q1", doc_id)
        desk.judge(desk.ann, "Q1", doc_id, 1)
    desk.remap("a>x", "a>y", "b>c")
    before = desk.dump()
    with desk.database.write() as session:
        derive_current(session, desk.dataset_pk)
    assert desk.dump() == before
    with desk.database.read() as session:
        assert session.scalar(select(func.count()).select_from(CurrentJudgmentRow)) == 1


# The report, and what is refused ---------------------------------------------------------------------


def test_what_the_file_and_the_dataset_do_not_share_is_reported(desk: Desk) -> None:
    for doc_id in ("a", "남은 것", "b"):
        desk.pair("Q1", doc_id)
    report = desk.remap("a>x", "ない>y", "a>x", "b>b")
    assert (report.read, report.repeated) == (3, 1)
    assert (report.unknown, report.left_over) == (("ない",), ("남은 것",))
    with desk.database.read() as session:
        rows = session.execute(select(col(RemapRow.old_doc_id), col(RemapRow.new_doc_id), col(RemapRow.kind)))
        assert [tuple(row) for row in rows] == [("a", "x", "renamed")]


def test_a_dry_run_reports_and_changes_nothing(desk: Desk) -> None:
    desk.pair("Q1", "a")
    desk.judge(desk.ann, "Q1", "a", 1)
    before = desk.dump()
    report = desk.remap("a>x", "a>y", dry_run=True)
    assert (report.dry_run, report.pairs_new, report.suggestions) == (True, 2, 2)
    assert desk.dump() == before


def test_bad_lines_are_named_and_nothing_is_changed(desk: Desk) -> None:
    desk.pair("Q1", "a")
    before = desk.dump()
    with pytest.raises(BadInput) as raised:
        desk.remap("a>x", ">y", "z>")
    assert [problem.line for problem in raised.value.problems] == [3, 4]
    with pytest.raises(ValidationError, match="cannot read"):
        remap_documents(desk.database, OPERATOR, "d", desk.folder / "none.csv", now=NOW)
    assert desk.dump() == before


def test_a_new_id_by_which_a_retired_document_is_known_is_refused(desk: Desk) -> None:
    desk.pair("Q1", "a")
    desk.pair("Q1", "b")
    desk.remap("a>x", "a>y")
    with pytest.raises(BadInput, match="no retired document"):
        desk.remap("b>a (retired 2026-03-05)")


def test_only_a_lead_may(desk: Desk) -> None:
    path = desk.put("r.csv", "old_doc_id,new_doc_id\na,b\n")
    with pytest.raises(NotAllowed):
        remap_documents(desk.database, desk.ann, "d", path, now=NOW)


# Whatever the mapping --------------------------------------------------------------------------------

IDS = ("a", "ｂ", "법 3", "🔎", "e\u0301", "é")
NEW_IDS = (*IDS, "n1", "ن٢", "a#1")
LINKS = st.lists(st.tuples(st.sampled_from((*IDS, "ない")), st.sampled_from(NEW_IDS)), max_size=9)
STATES = ("absent", "unjudged", "judged", "judged twice", "decided", "kept")
PAIRS = st.fixed_dictionaries(
    {(query, doc_id): st.sampled_from(STATES) for query in range(2) for doc_id in IDS}
)
numbers = count(1)


class Small:
    """A dataset of its own with two queries and pairs in the given states."""

    def __init__(self, database: Database, states: dict[tuple[int, str], str]) -> None:
        self.database, self.name = database, f"d{next(numbers)}"
        create_dataset(database, OPERATOR, self.name, now=NOW)
        self.event_ids = count(1)
        with database.write() as session:
            self.pk = key_of(find_dataset(session, self.name).pk)
            rubric = session.scalars(select(RubricRow).where(col(RubricRow.dataset_pk) == self.pk)).one()
            people = [PersonRow(username=f"{self.name}-{name}", created_at=NOW) for name in ("ann", "밥")]
            queries = [
                QueryRow(dataset_pk=self.pk, position=n, query_id=f"Q{n}", text="検索") for n in range(2)
            ]
            present = sorted({doc_id for (_, doc_id), state in states.items() if state != "absent"})
            documents = {doc_id: DocumentRow(dataset_pk=self.pk, doc_id=doc_id) for doc_id in present}
            session.add_all([*people, *queries, *documents.values()])
            session.flush()
            session.add_all(
                MembershipRow(person_pk=key_of(person.pk), dataset_pk=self.pk, role="annotator")
                for person in people
            )
            chosen = {pair: state for pair, state in states.items() if state != "absent"}
            add_candidates(
                session, self.pk, self.name,
                [
                    PoolCandidate(key_of(queries[query].pk), f"Q{query}", key_of(documents[doc_id].pk), doc_id, "s", 1)
                    for query, doc_id in chosen
                ],
                now=NOW,
            )  # fmt: skip
            rows = {
                (row.query_pk, row.document_pk): row
                for row in session.scalars(select(PairRow).where(col(PairRow.dataset_pk) == self.pk))
            }
            for (query, doc_id), state in chosen.items():
                row = rows[key_of(queries[query].pk), key_of(documents[doc_id].pk)]
                annotators = {"judged": 1, "judged twice": 2, "decided": 2}.get(state, 0)
                for person in people[:annotators]:
                    session.add(self._judgment(row, person, rubric))
                if state == "decided":
                    session.add(
                        AdjudicationRow(
                            pair_pk=key_of(row.pk), revision=1, lead_pk=key_of(people[0].pk),
                            rubric_pk=key_of(rubric.pk), grade=1, rationale="理由", decided_at=NOW,
                        )
                    )  # fmt: skip
                if state == "kept":
                    row.kept = True
                    session.add(
                        ImportedQrelRow(
                            pair_pk=key_of(row.pk), grade=2, keep=True, source={"kind": "qrels"},
                            annotator_grades=[], imported_at=NOW,
                        )
                    )  # fmt: skip
            session.flush()
            derive_decided(session, [key_of(row.pk) for row in rows.values()])
            derive_current(session, self.pk)

    def _judgment(self, row: PairRow, person: PersonRow, rubric: RubricRow) -> JudgmentRow:
        return JudgmentRow(
            event_id=f"{self.name}-{next(self.event_ids)}", pair_pk=key_of(row.pk), annotator_pk=key_of(person.pk),
            rubric_pk=key_of(rubric.pk), outcome="graded", grade=3, judged_at=NOW, received_at=NOW,
        )  # fmt: skip

    def places(self) -> dict[str, tuple[str, str, str, bool]]:
        """By the key of every pair: query_id, doc_id, and whether it is in the pool."""
        statement = (
            select(col(PairRow.key), col(QueryRow.query_id), col(DocumentRow.doc_id), col(PairRow.retired_at))
            .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
            .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
            .where(col(PairRow.dataset_pk) == self.pk)
        )
        with self.database.read() as session:
            return {
                key: (query, doc_id, "", at is None) for key, query, doc_id, at in session.execute(statement)
            }

    def judgments(self) -> dict[str, str]:
        """The key of the pair of every judgment and every decision, by an id of its own."""
        with self.database.read() as session:
            given = select(col(JudgmentRow.event_id), col(PairRow.key)).join(
                PairRow, col(PairRow.pk) == JudgmentRow.pair_pk
            )
            decided = select(col(AdjudicationRow.pk), col(PairRow.key)).join(
                PairRow, col(PairRow.pk) == AdjudicationRow.pair_pk
            )
            return {
                str(name): key
                for statement in (given, decided)
                for name, key in session.execute(statement.where(col(PairRow.dataset_pk) == self.pk))
            }

    def current(self) -> Iterator[tuple[str, str, int | None]]:
        for row in list_judgments(self.database, OPERATOR, self.name):
            yield row.query_id, row.doc_id, row.grade


def kind_of(old: str, links: set[tuple[str, str]]) -> str | None:
    """The new id of a renamed document; None when it was split or merged."""
    news = [new for first, new in links if first == old]
    if not news:
        return old
    return news[0] if len(news) == 1 and sum(new == news[0] for _, new in links) == 1 else None


@given(states=PAIRS, links=LINKS)
@draw_few()
def test_whatever_the_mapping_no_judgment_is_lost_doubled_or_on_another_document(
    database: Database, tmp_path: Path, states: dict[tuple[int, str], str], links: list[tuple[str, str]]
) -> None:
    small = Small(database, states)
    before, judged = small.places(), small.judgments()
    path = tmp_path / "new.csv"
    path.write_text(
        "old_doc_id,new_doc_id\n" + "".join(f"{old},{new}\n" for old, new in links), encoding="utf-8"
    )
    report = remap_documents(database, OPERATOR, small.name, path, now=LATER)

    after = small.places()
    assert small.judgments() == judged, "a judgment or decision is gone, new, or on another pair"
    assert before.keys() <= after.keys(), "a pair is gone"
    links_of_file = set(links)
    for key, (query_id, doc_id, _, _) in before.items():
        new, (query_after, doc_after, _, in_pool) = kind_of(doc_id, links_of_file), after[key]
        assert query_after == query_id
        if in_pool:
            assert doc_after == new, "a pair of the pool is on another document than the file says"
        else:
            assert doc_after.split(" (retired ")[0] in {doc_id, new}
        if new is None:
            assert not in_pool, "a pair of a split or merged document is still in the pool"
    pool = [(query, doc_id) for query, doc_id, _, in_pool in after.values() if in_pool]
    assert len(pool) == len(set(pool))
    expected = set()
    for query_id, doc_id, _, _ in before.values():
        new = kind_of(doc_id, links_of_file)
        expected |= (
            {(query_id, target) for old, target in links_of_file if old == doc_id}
            if new is None
            else {(query_id, new)}
        )
    assert set(pool) == expected, "the pool holds another document than the file says"
    for query_id, doc_id, _ in small.current():
        assert (query_id, doc_id) in expected
    alive = {key for key, (_, _, _, in_pool) in after.items() if in_pool}
    live_judgments = sum(key in alive for name, key in judged.items() if name.startswith(small.name))
    assert len(list(small.current())) == live_judgments
    again = remap_documents(database, OPERATOR, small.name, path, now=LATER + timedelta(days=1))
    assert (dict(again.renamed), again.pairs_retired, again.pairs_new) == ({}, 0, 0)
    assert small.places() == after
    assert not report.dry_run


# Who has seen what -----------------------------------------------------------------------------------


def list_seen(desk: Desk, person: Actor) -> set[str]:
    """The documents of which the person has seen others' judgments."""
    documents = (
        select(col(DocumentRow.doc_id))
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .join(DisclosureRow, col(DisclosureRow.pair_pk) == col(PairRow.pk))
    )
    with desk.database.read() as session:
        return set(session.scalars(documents.where(col(DisclosureRow.person_pk) == person.person_id)))


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (["a>b"], {"b"}),
        (["a>a#1", "a>a#2"], {"a (retired 2026-03-05)", "a#1", "a#2"}),
        (["a>c", "other>c"], {"a (retired 2026-03-05)", "c"}),
    ],
    ids=["renamed", "split", "merged"],
)
def test_who_has_seen_the_grades_of_a_pair_has_seen_those_of_the_pairs_in_its_place(
    desk: Desk, links: list[str], expected: set[str]
) -> None:
    seen_before, seen_after = desk.person("before", "lead"), desk.person("after", "lead")
    key = desk.pair("Q1", "a")
    desk.pair("Q1", "other")
    desk.judge(desk.ann, "Q1", "a", 3)
    with desk.database.read() as session:
        pair_pk = key_of(session.scalars(select(PairRow).where(col(PairRow.key) == key)).one().pk)
    note_seen(desk.database, [pair_pk], seen_before.person_id, now=NOW)
    desk.remap(*links)
    assert list_seen(desk, seen_before) == expected
    assert list_seen(desk, seen_after) == set()
    note_seen(desk.database, [pair_pk], seen_after.person_id, now=LATER)
    assert list_seen(desk, seen_after) == expected
    assert "other" not in list_seen(desk, seen_after)


def test_where_two_pairs_meet_who_has_seen_one_has_seen_the_one_that_stays(desk: Desk) -> None:
    desk.pair("Q1", "a")
    desk.pair("Q1", "b")
    desk.judge(desk.ann, "Q1", "a", 3)
    with desk.database.read() as session:
        pks = {
            row.doc_id: pk
            for row, pk in session.execute(
                select(DocumentRow, col(PairRow.pk)).join(
                    PairRow, col(PairRow.document_pk) == col(DocumentRow.pk)
                )
            )
        }
    note_seen(desk.database, [pks["b"]], desk.bob.person_id, now=NOW)
    desk.remap("a>b")
    assert "b" in list_seen(desk, desk.bob)


def test_a_lead_who_gives_new_ids_sees_the_grades_of_pairs_that_leave(desk: Desk) -> None:
    """The report counts suggestions, which only settled pairs make; a dry run counts as if nobody had judged."""
    with desk.database.write() as session:
        session.get_one(DatasetRow, desk.dataset_pk).overlap = 3
    desk.pair("Q1", "a")
    desk.judge(desk.ann, "Q1", "a", 3)
    with desk.database.write() as session:
        derive_work(session, desk.dataset_pk)
    assert desk.remap("a>a#1", "a>a#2", dry_run=True).suggestions == 2
    assert desk.remap("a>a#1", "a>a#2", dry_run=True, actor=desk.lead).suggestions == 0
    assert not list_seen(desk, desk.lead)
    assert desk.remap("a>a#1", "a>a#2", actor=desk.lead).suggestions == 2
    assert {"a#1", "a#2"} <= list_seen(desk, desk.lead)


@given(doc_id=st.text(min_size=1, max_size=20), taken=st.integers(0, 3))
def test_the_name_of_a_document_that_left_tells_its_old_name(doc_id: str, taken: int) -> None:
    names: list[str] = []
    for _ in range(taken + 1):
        names.append(name_retired(doc_id, names, day="2026-01-31"))
    assert {RETIRED.sub("", name) for name in names} == {doc_id}


def test_pairs_are_followed_through_new_ids_in_time_that_grows_with_the_links(tmp_path: Path) -> None:
    """A download of the dataset and a remap do this while nobody else can write."""

    def count_steps(links: int) -> int:
        database = Database(f"sqlite:///{tmp_path / str(links)}.db")
        upgrade_schema(database)
        dataset_pk = JudgedWorld(database).dataset_pk
        rows = [
            {"dataset_pk": dataset_pk, "old_doc_id": f"old{n}", "new_doc_id": f"new{n}", "kind": "renamed",
             "remapped_at": NOW} for n in range(links)
        ]  # fmt: skip
        with database.write() as session:
            add_rows(session, RemapRow, rows)
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1

        with database.read() as session:
            driver: Any = session.connection().connection.driver_connection
            driver.set_progress_handler(count, 100)
            find_published(session, dataset_pk, [("Q1", f"old{n}") for n in range(links)])
            driver.set_progress_handler(None, 0)
        database.dispose()
        return steps

    few, many = count_steps(300), count_steps(1_200)
    assert many < 8 * few
