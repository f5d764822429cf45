"""Holes of the imported runs become pairs to be judged, most influential first; on both databases, by service and command."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.evaluation.holes_service import PooledHoles, pool_holes
from annotator.importing.runs.runs_service import import_run
from annotator.labeling.service import submit_judgments
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

RUNS = {
    "bm25": {"Q1": ["judged", "low"], "Q2": ["top", "judged", "both"], "Q3": ["never"]},
    "벡터": {"Q1": ["judged", "waiting"], "Q2": ["judged", "both"]},
}


class HolesWorld(JudgedWorld):
    """Two queries with a settled grade, a third without; unjudged documents in the pool and outside it."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database, overlap="1")
        self.annotator = self.person("花子")
        for query_id in ("Q1", "Q2", "Q3"):
            self.query(query_id, f"text of {query_id}")
        for query_id, doc_id in (("Q1", "judged"), ("Q2", "judged"), ("Q1", "waiting")):
            self.pair(query_id, doc_id, rank=1)
        self.judge(self.annotator, "Q1", "judged", 3)
        self.judge(self.annotator, "Q2", "judged", 2)
        for system, results in RUNS.items():
            path = folder / f"{system}.trec"
            lines = [
                f"{query_id} Q0 {doc_id} {rank} {10 - rank} {system}\n"
                for query_id, doc_ids in results.items()
                for rank, doc_id in enumerate(doc_ids, 1)
            ]
            path.write_text("".join(lines), encoding="utf-8")
            import_run(database, OPERATOR, self.name, path, now=NOW)

    def pool_holes(self, **options: Any) -> PooledHoles:
        return pool_holes(self.database, OPERATOR, self.name, now=NOW, **options)

    def list_pool(self) -> dict[tuple[str, str], list[tuple[str, int | None, float | None]]]:
        return {
            (pair.query_id, pair.doc_id): [(by.system, by.rank, by.score) for by in pair.provenance]
            for pair in list_pairs(self.database, OPERATOR, self.name)
        }


@pytest.fixture
def world(copy_world: CopyWorld) -> HolesWorld:
    return copy_world(HolesWorld)


def list_names(report: PooledHoles) -> list[tuple[str, str]]:
    return [(document.query_id, document.doc_id) for document in report.documents]


def test_holes_become_pairs_the_most_influential_first_with_the_systems_that_list_them(
    world: HolesWorld,
) -> None:
    report = world.pool_holes()
    assert list_names(report) == [("Q2", "top"), ("Q1", "low"), ("Q2", "both")]
    assert (report.holes, report.already_there, report.left) == (4, 1, 0)
    influences = [document.influence for document in report.documents]
    assert influences == sorted(influences, reverse=True)
    pool = world.list_pool()
    assert pool["Q2", "top"] == [("bm25", 1, 9.0)]
    assert pool["Q2", "both"] == [("bm25", 3, 7.0), ("벡터", 2, 8.0)]
    assert ("Q3", "never") not in pool  # a query without a settled grade is in no mean


def test_a_dry_run_says_the_same_and_stores_nothing(world: HolesWorld) -> None:
    before = world.list_pool()
    planned = world.pool_holes(dry_run=True)
    assert world.list_pool() == before
    stored = world.pool_holes()
    assert (planned.documents, planned.holes, planned.left) == (stored.documents, stored.holes, stored.left)


def test_twice_makes_no_second_pair(world: HolesWorld) -> None:
    world.pool_holes()
    again = world.pool_holes()
    assert (again.documents, again.already_there) == ((), 4)


def test_the_limit_leaves_the_least_influential_outside(world: HolesWorld) -> None:
    report = world.pool_holes(limit=1)
    assert (list_names(report), report.left) == ([("Q2", "top")], 2)
    assert list_names(world.pool_holes()) == [("Q1", "low"), ("Q2", "both")]


def test_depth_and_systems_say_where_holes_are_looked_for(world: HolesWorld) -> None:
    assert list_names(world.pool_holes(depth=1, dry_run=True)) == [("Q2", "top")]
    report = world.pool_holes(systems=["벡터"])
    assert list_names(report) == [("Q2", "both")]
    assert world.list_pool()["Q2", "both"] == [("벡터", 2, 8.0)]


def test_an_annotator_gets_a_hole_as_any_other_pair(world: HolesWorld) -> None:
    world.pool_holes()
    handed_out = submit_judgments(
        world.database, world.annotator, world.name, events=[], have=[], want=10, now=NOW
    ).pairs
    text = repr(handed_out)
    assert all(doc_id in text for doc_id in ("both", "low", "top", "waiting"))
    assert not any(word in text for word in ("bm25", "벡터", "influence"))


def test_only_leads_send_holes(world: HolesWorld) -> None:
    with pytest.raises(NotAllowed):
        pool_holes(world.database, world.annotator, world.name, now=NOW)


def test_what_cannot_be_pooled_is_refused_in_a_sentence(world: HolesWorld, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"There is no system 'x'\. Choose one of: bm25, 벡터"):
        world.pool_holes(systems=["x"])
    with pytest.raises(ValidationError, match="depth: expected 1 to 1,000, found 0"):
        world.pool_holes(depth=0)
    with pytest.raises(ValidationError, match="limit: expected a number from 1, found 0"):
        world.pool_holes(limit=0)


def test_without_a_settled_grade_pooling_by_depth_is_named(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    world.query("Q1", "text")
    path = tmp_path / "bm25.trec"
    path.write_text("Q1 Q0 a 1 9 bm25\n")
    import_run(database, OPERATOR, world.name, path, now=NOW)
    with pytest.raises(
        StateError,
        match=r"no pair has a settled grade\. \(annotator pool d --depth K makes the first pairs\)",
    ):
        pool_holes(database, OPERATOR, world.name, now=NOW)


def run(world: HolesWorld, *arguments: str, code: int = 0) -> str:
    url = world.database.url.render_as_string(hide_password=False)
    result = CliRunner().invoke(app, ["pool", world.name, *arguments, "--database", url])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_makes_the_pairs_and_says_why(world: HolesWorld) -> None:
    planned = run(world, "--holes", "--limit", "2", "--dry-run")
    assert (
        "4 unjudged documents in the systems' top 10. Would make 2 new pairs; 1 was in the pool already; 1 left."
        in planned
    )
    assert "could change the order of systems on nDCG@10" in planned
    report = json.loads(run(world, "--holes", "--json"))
    assert [document["doc_id"] for document in report["documents"]] == ["top", "low", "both"]
    assert report["documents"][0]["provenance"][0]["system"] == "bm25"
    assert "No new pair." in run(world, "--holes")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "expected --depth K, --budget N, --strategy stratified or --holes"),
        (["--depth", "3", "--limit", "1"], "--limit goes with --holes"),
        (
            ["--holes", "--retrieve", "bm25"],
            "--holes goes with --depth, --systems, --limit and --dry-run only, found --retrieve",
        ),
        (["--holes", "--vectors", "docs.npy"], "and --dry-run only, found --vectors"),
        (["--holes", "--query-vectors", "queries.npy"], "and --dry-run only, found --query-vectors"),
        (["--holes", "--embed", "model"], "and --dry-run only, found --embed"),
        (["--holes", "--weights", ""], "and --dry-run only, found --weights"),
        (["--holes", "--seed", "0"], "and --dry-run only, found --seed"),
        (["--holes", "--measure", "nDCG@10"], "and --dry-run only, found --measure"),
        (["--holes", "--min-length", "0"], "and --dry-run only, found --min-length"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    world: HolesWorld, arguments: list[str], expected: str
) -> None:
    assert expected in " ".join(run(world, *arguments, code=2).replace("│", " ").split())
