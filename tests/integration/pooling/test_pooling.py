"""Pooling from runs and from our own retriever, and the list of pairs; on both databases."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from sqlmodel import col
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import BadInput, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.pooling.retrievers.records import RetrievalOptions
from annotator.pooling.rounds import pooling_sql
from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import (
    DocumentRow,
    PairRow,
    ProvenanceRow,
    QueryRow,
    RunEntryRow,
    RunRow,
)
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = datetime(2026, 5, 6, tzinfo=UTC)
TEXTS = {
    "ハンドラ#概要": "トランザクション制御ハンドラの概要",
    "제2조": "농지의 전용 허가",
    "HttpRequest": None,
    "b": "メール送信 トランザクション",
    "a": "メール送信 トランザクション",
}


class Pool(JudgedWorld):
    """Three queries, five documents (one without text), no run yet."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.query("Q2", "トランザクション")
        self.query("Q1", "농지 전용")
        self.query("Q3", "🔎")
        for doc_id, text in TEXTS.items():
            self.document(doc_id, text)

    def document(self, doc_id: str, text: str | None) -> None:
        """A document outside any pair: made with one, which is then taken away."""
        key = self.pair("Q2", doc_id, text=text)
        with self.database.write() as session:
            pair = session.scalars(select(PairRow).where(col(PairRow.key) == key)).one()
            for row in session.scalars(select(ProvenanceRow).where(col(ProvenanceRow.pair_pk) == pair.pk)):
                session.delete(row)
            session.flush()
            session.delete(pair)

    def run(self, system: str, results: dict[str, list[str]], *, first: int = 1, step: int = 1) -> None:
        """A run that ranks from `first` on, every `step`-th rank, with a score and a further signal."""
        with self.database.write() as session:
            run = RunRow(dataset_pk=self.dataset_pk, system=system, content_sha256=system, imported_at=NOW)
            session.add(run)
            session.flush()
            queries = dict(session.execute(select(col(QueryRow.query_id), col(QueryRow.pk))).all())
            documents = dict(session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk))).all())
            for query_id, doc_ids in results.items():
                for index, doc_id in enumerate(doc_ids):
                    session.add(
                        RunEntryRow(
                            run_pk=key_of(run.pk), query_pk=queries[query_id], document_pk=documents[doc_id],
                            rank=first + step * index, score=9.5 - index, signals={"벡터": 0.25, "route": [index]},
                        )
                    )  # fmt: skip

    def pool(self, **options: Any) -> PoolReport:
        fields: dict[str, Any] = {"depth": 2}
        further: dict[str, Any] = {"now": NOW}
        for name, value in options.items():
            target = further if name in ("now", "dry_run", "progress") else fields
            target[name] = tuple(value) if isinstance(value, list) else value
        return make_round(self.database, OPERATOR, "d", PoolRequest(**fields), **further)

    def places(self) -> dict[tuple[str, str], list[tuple[str, int | None]]]:
        """(query_id, doc_id) -> (system, rank) of each pair, in the order listed."""
        return {
            (pair.query_id, pair.doc_id): [(by.system, by.rank) for by in pair.provenance]
            for pair in list_pairs(self.database, OPERATOR, "d")
        }


@pytest.fixture
def world(copy_world: CopyWorld) -> Pool:
    return copy_world(Pool)


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_results_are_taken_whether_ranks_begin_at_0_or_1(world: Pool, first: int) -> None:
    world.run("s", {"Q2": ["b", "a", "제2조"], "Q1": ["제2조"]}, first=first)
    report = world.pool()
    assert world.places() == {
        ("Q2", "a"): [("s", first + 1)],
        ("Q2", "b"): [("s", first)],
        ("Q1", "제2조"): [("s", first)],
    }
    assert (report.new, report.already_there) == (3, 0)
    assert (dict(report.short), report.without) == ({"Q1": 1}, ("Q3",))


def test_ranks_with_gaps_are_counted_by_their_order_beside_runs_without(
    world: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling_sql, "QUERIES_AT_ONCE", 1)
    world.run("gaps", {"Q2": ["b", "a", "제2조"], "Q1": ["제2조", "b", "a"]}, first=5, step=10)
    world.run("plain", {"Q2": ["a", "HttpRequest", "b"]}, first=0)
    assert world.pool().new == 5
    assert world.places() == {
        ("Q2", "HttpRequest"): [("plain", 1)],
        ("Q2", "a"): [("gaps", 15), ("plain", 0)],
        ("Q2", "b"): [("gaps", 5)],
        ("Q1", "b"): [("gaps", 15)],
        ("Q1", "제2조"): [("gaps", 5)],
    }
    assert world.pool(depth=3).new == 2
    assert world.places()["Q2", "b"] == [("gaps", 5), ("plain", 2)]
    assert world.places()["Q1", "a"] == [("gaps", 25)]


def test_every_system_that_proposed_a_pair_is_kept_with_its_signals(world: Pool) -> None:
    world.run("s2", {"Q2": ["a", "b"]})
    world.run("s1", {"Q2": ["b", "제2조"]})
    report = world.pool()
    pair = next(pair for pair in list_pairs(world.database, OPERATOR, "d") if pair.doc_id == "b")
    assert [(by.system, by.rank, by.score, by.signals) for by in pair.provenance] == [
        ("s1", 1, 9.5, {"벡터": 0.25, "route": [0]}),
        ("s2", 2, 8.5, {"벡터": 0.25, "route": [1]}),
    ]
    assert [(system.system, system.candidates, system.only_here) for system in report.systems] == [
        ("s1", 2, 1),
        ("s2", 2, 1),
    ]


def test_only_the_named_systems_are_pooled(world: Pool) -> None:
    world.run("s1", {"Q2": ["a"]})
    world.run("s2", {"Q2": ["b"]})
    world.pool(systems=["s2"])
    assert list(world.places()) == [("Q2", "b")]
    with pytest.raises(ValidationError, match="no run of the system 's3' is imported; there is: s1, s2"):
        world.pool(systems=["s1", "s3"])


def test_pooling_twice_changes_nothing(world: Pool) -> None:
    world.run("s", {"Q2": ["b", "a"]})
    world.pool(retrievers=["bm25"])
    before = world.places()
    report = world.pool(retrievers=["bm25"], now=LATER)
    assert (report.new, report.already_there) == (0, len(before))
    assert world.places() == before


def test_a_deeper_pool_adds_to_the_one_there_is(world: Pool) -> None:
    world.run("s", {"Q2": ["b", "a", "제2조"]})
    world.pool(depth=1)
    report = world.pool(depth=3)
    assert (report.new, report.already_there, len(world.places())) == (2, 1, 3)


def test_a_dry_run_says_the_same_and_stores_nothing(world: Pool) -> None:
    world.run("s", {"Q2": ["b", "a"]})
    world.pool(depth=1)
    dry = world.pool(dry_run=True)
    assert len(world.places()) == 1
    wet = world.pool()
    assert (dry.new, dry.already_there, dry.systems, dry.dry_run) == (1, 1, wet.systems, True)
    assert (wet.new, wet.already_there) == (1, 1)


def test_bm25_finds_candidates_without_a_run(world: Pool) -> None:
    report = make_round(
        world.database, OPERATOR, "d", PoolRequest(depth=2, systems=(), retrievers=("bm25",)), now=NOW
    )
    assert world.places() == {
        ("Q2", "a"): [("annotator:bm25", 1)],
        ("Q2", "b"): [("annotator:bm25", 2)],
        ("Q1", "제2조"): [("annotator:bm25", 1)],
    }
    assert (report.without, report.too_short) == (("Q3",), ("Q3",))
    first = list_pairs(world.database, OPERATOR, "d")[0].provenance[0]
    assert first.score is not None
    assert first.score > 0


def test_a_query_that_a_retriever_cannot_answer_is_named(world: Pool) -> None:
    world.query("Q4", "zzz")
    report = make_round(
        world.database, OPERATOR, "d", PoolRequest(depth=2, systems=(), retrievers=("bm25",)), now=NOW
    )
    assert [(note.system, note.kind, note.names) for note in report.notes] == [
        ("annotator:bm25", "too_short", ("Q3",)),
        ("annotator:bm25", "no_candidate", ("Q4",)),
    ]
    shown = _run(world, "pool", "d", "--depth", "2", "--retrieve", "bm25", "--dry-run").stdout
    assert "annotator:bm25: 1 query has no candidate: Q4" in shown


def test_hybrid_fuses_retrievers_and_runs_and_keeps_each_rank(world: Pool) -> None:
    world.run("s", {"Q2": ["제2조", "b"]}, first=0)
    options = RetrievalOptions(weights={"bm25": 0.6, "run:s": 0.8}, title_boost={"exact": 1.2})
    report = world.pool(systems=(), retrievers=["hybrid"], retrieval=options)
    assert [counts.system for counts in report.systems] == ["annotator:hybrid"]
    assert world.places()[("Q2", "b")] == [("annotator:hybrid", 1)]
    pair = next(pair for pair in list_pairs(world.database, OPERATOR, "d") if pair.doc_id == "b")
    signals = pair.provenance[0].signals
    assert {name: (signal["rank"], signal["contribution"]) for name, signal in signals.items()} == {
        "bm25": (2, 0.6 / 62),
        "run:s": (2, 0.8 / 62),
    }
    assert ("run:s", "no_candidate", ("Q1", "Q3")) in [
        (note.system, note.kind, note.names) for note in report.notes
    ]
    with pytest.raises(ValidationError, match="weights: no run of the system 't' is imported; there is: s"):
        world.pool(retrievers=["hybrid"], retrieval=RetrievalOptions(weights={"run:t": 1.0}))


def test_the_command_takes_the_options_of_hybrid(world: Pool) -> None:
    world.run("s", {"Q2": ["제2조"]})
    options = ["--weights", "bm25=0.6,run:s=0.8", "--title-boost", "exact=1.2", "--seed", "3"]
    shown = _run(world, "pool", "d", "--depth", "1", "--systems", "", "--retrieve", "lsa,hybrid", *options)
    assert shown.exit_code == 0, shown.output
    assert "annotator:hybrid" in shown.stdout
    assert "annotator:lsa: " not in shown.stdout
    with pytest.raises(ValidationError, match="--weights goes with --retrieve hybrid"):
        _run(world, "pool", "d", "--depth", "1", "--retrieve", "bm25", *options)
    assert world.places().keys() == {("Q2", "a"), ("Q2", "제2조"), ("Q1", "제2조")}


def test_own_vectors_pool_and_a_bad_file_changes_nothing(world: Pool, tmp_path: Path) -> None:
    documents, queries = tmp_path / "d.npy", tmp_path / "q.npy"
    np.save(documents, np.eye(4, dtype=np.float32))
    documents.with_suffix(".ids").write_text("제2조\nHttpRequest\nb\na\n", encoding="utf-8")
    np.save(queries, np.eye(4)[[0, 2, 3]])
    queries.with_suffix(".ids").write_text("Q1\nQ2\nQ4\n", encoding="utf-8")
    files = ["--vectors", str(documents), "--query-vectors", str(queries)]
    words = ["pool", "d", "--depth", "1", "--systems", "", "--retrieve", "vectors", *files]
    with pytest.raises(BadInput, match=r"q.ids:3: expected the id of a query of the dataset, found 'Q4'"):
        _run(world, *words)
    assert world.places() == {}
    queries.with_suffix(".ids").write_text("Q1\nQ2\nQ3\n", encoding="utf-8")
    shown = _run(world, *words).stdout
    assert "annotator:vectors: 1 document has no vector: ハンドラ#概要" in shown
    assert world.places() == {
        (query_id, doc_id): [("annotator:vectors", 1)]
        for query_id, doc_id in (("Q2", "b"), ("Q1", "제2조"), ("Q3", "a"))
    }


def test_a_document_without_text_is_found_by_its_id(world: Pool) -> None:
    world.query("Q4", "httprequest")
    make_round(world.database, OPERATOR, "d", PoolRequest(depth=1, systems=(), retrievers=("bm25",)), now=NOW)
    assert world.places()[("Q4", "HttpRequest")] == [("annotator:bm25", 1)]


def test_runs_and_retriever_pool_together(world: Pool) -> None:
    world.run("s", {"Q2": ["제2조", "b"]})
    report = world.pool(retrievers=["bm25"])
    assert world.places()[("Q2", "b")] == [("annotator:bm25", 2), ("s", 2)]
    assert [system.system for system in report.systems] == ["annotator:bm25", "s"]


def test_what_there_is_nothing_of_is_refused_with_the_way_on(world: Pool) -> None:
    with pytest.raises(
        StateError,
        match=r"There is no run to pool from yet\. Import one, or choose a search in the documents\.",
    ):
        world.pool()
    with pytest.raises(ValidationError, match="there is no retriever 'lsi'; there is: bm25, tfidf"):
        world.pool(retrievers=["bm25", "lsi"])
    for depth in (0, -1, 10_001):
        with pytest.raises(ValidationError, match=f"depth: expected 1 to 10000, found {depth}"):
            world.pool(depth=depth)
    JudgedWorld(world.database, name="empty")
    with pytest.raises(StateError, match="no queries yet"):
        make_round(world.database, OPERATOR, "empty", PoolRequest(depth=1, retrievers=("bm25",)), now=NOW)
    half = JudgedWorld(world.database, name="half")
    half.query("H", "문서 없음")
    with pytest.raises(StateError, match="no documents to search yet"):
        make_round(
            world.database, OPERATOR, "half", PoolRequest(depth=1, systems=(), retrievers=("bm25",)), now=NOW
        )
    assert world.places() == {}


def test_only_a_lead_pools_and_sees_provenance(world: Pool) -> None:
    lead, annotator = world.person("lead", "lead"), world.person("annotator")
    world.run("s", {"Q2": ["a"]})
    for actor in (annotator, Actor(person_id=999, username="stranger")):
        with pytest.raises(NotAllowed):
            make_round(world.database, actor, "d", PoolRequest(depth=1), now=NOW)
        with pytest.raises(NotAllowed):
            list_pairs(world.database, actor, "d")
    make_round(world.database, lead, "d", PoolRequest(depth=1), now=NOW)
    assert len(list_pairs(world.database, lead, "d")) == 1
    with pytest.raises(NotFound):
        make_round(world.database, lead, "x", PoolRequest(depth=1), now=NOW)


def test_pairs_are_listed_by_status(world: Pool) -> None:
    world.run("s", {"Q2": ["b", "a"]})
    world.pool()
    first, second = world.person("김"), world.person("花子")
    world.judge(first, "Q2", "a", 0)
    world.judge(second, "Q2", "a", 3)
    statuses = {pair.doc_id: pair.status for pair in list_pairs(world.database, OPERATOR, "d")}
    assert statuses == {"a": "disagreement", "b": "unjudged"}
    pairs = list_pairs(world.database, OPERATOR, "d", status="disagreement")
    assert [pair.pair for pair in pairs] == [pair_key("d", "Q2", "a")]
    with pytest.raises(ValidationError, match=r"status: expected one of unjudged, .*, found 'done'"):
        list_pairs(world.database, OPERATOR, "d", status="done")


def _run(world: Pool, *words: str) -> Any:
    url = world.database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, *words], catch_exceptions=False)


def test_the_commands_pool_and_list(world: Pool) -> None:
    world.run("s", {"Q1": ["a"]})
    shown = _run(world, "pool", "d", "--depth", "2", "--systems", "", "--retrieve", "bm25").stdout
    assert "Made 3 new pairs; 0 were there already." in shown
    assert "1 query has no candidate: Q3" in shown
    assert "1 query has fewer than 2 candidates: Q1" in shown
    report = json.loads(
        _run(world, "pool", "d", "--depth", "1", "--systems", "s", "--dry-run", "--json").stdout
    )
    assert (report["dry_run"], report["new"], report["systems"][0]["system"]) == (True, 1, "s")
    pairs = json.loads(_run(world, "pairs", "d", "--status", "unjudged", "--json").stdout)
    assert [set(pair) for pair in pairs] == [
        {"pair", "query_id", "doc_id", "status", "provenance", "query", "title", "round"}
    ] * 3
    assert set(pairs[0]["provenance"][0]) == {"system", "rank", "score", "signals"}
    assert "annotator:bm25 at 1" in _run(world, "pairs", "d").stdout
