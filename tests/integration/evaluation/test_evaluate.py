"""Evaluation of imported runs against a dataset and its releases, and of files, by service and by command."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import (
    EvaluationRequest,
    EvaluationResult,
    evaluate_dataset,
    record_shown_grades,
)
from annotator.importing.runs.runs_service import import_run
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.tables.labeling import DisclosureRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.published_world import PublishedWorld
from tests.integration.release_world import WAIVED, ReleaseWorld

RUNS = {
    "bm25": {"Q1": ["Q1/three", "Q1/two", "Q1/one", "Q1/zero"], "Q2": ["é", "e\u0301🎯"], "Q3": ["unjudged"]},
    "vector": {"Q1": ["Q1/zero", "Q1/one", "Q1/two"], "Q2": ["e\u0301🎯", "법률_제17조"]},
}


class EvaluatedWorld(PublishedWorld, ReleaseWorld):
    """The judged dataset with everything that a release tells apart, and releases written row by row."""


def write_run(folder: Path, system: str) -> Path:
    path = folder / f"{system}.trec"
    lines = [
        f"{query_id} Q0 {doc_id} {rank} {10 - rank} {system}"
        for query_id, doc_ids in RUNS[system].items()
        for rank, doc_id in enumerate(doc_ids, 1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_world(database: Database, folder: Path) -> EvaluatedWorld:
    world = EvaluatedWorld(database)
    for system in RUNS:
        import_run(database, OPERATOR, world.name, write_run(folder, system), now=NOW)
    return world


@pytest.fixture
def world(copy_world: CopyWorld) -> EvaluatedWorld:
    return copy_world(make_world)


def evaluate(world: EvaluatedWorld, *measures: str, **options: Any) -> EvaluationResult:
    request = EvaluationRequest(scoring=ScoringOptions(measures=measures or ("nDCG@10", "P@1")))
    return evaluate_dataset(world.database, OPERATOR, world.name, request, **options)


def read_scores(result: EvaluationResult, measure: str) -> dict[str, list[float]]:
    table = result.evaluation.table
    return {system.system: system.values[measure].tolist() for system in table.systems}


def test_imported_runs_are_scored_against_the_settled_grades_of_today(world: EvaluatedWorld) -> None:
    """Settled: Q1 zero 0, two 2, three 3, one 1; Q2 e\u0301🎯 2. Q3 has nothing settled."""
    result = evaluate(world, "P@1", "RR")
    assert result.evaluation.table.query_ids == ("Q1", "Q2")
    assert dict(result.evaluation.table.left_out) == {"Q3": "no document of this query is judged"}
    assert read_scores(result, "P@1") == {"bm25": [1.0, 0.0], "vector": [0.0, 1.0]}
    assert read_scores(result, "RR") == {"bm25": [1.0, 0.5], "vector": [0.5, 1.0]}
    assert result.source == {"dataset": world.name}


def test_an_open_disagreement_is_unjudged_and_never_grade_0(world: EvaluatedWorld) -> None:
    result = evaluate(world)
    holes = result.evaluation.dataset.holes
    assert holes is not None
    assert {(hole.query_id, hole.doc_id) for hole in holes.holes} == {("Q2", "é"), ("Q2", "법률_제17조")}


def test_a_published_version_is_scored_as_it_was_published(world: EvaluatedWorld) -> None:
    published = [("Q1", "Q1/three", 3, {}), ("Q2", "e\u0301🎯", 2, {})]
    world.publish("v1", published, texts={"Q1": "as published", "Q2": "17"}, hour=1)
    before = read_scores(evaluate(world, "P@1", version="v1"), "P@1")
    assert before == {"bm25": [1.0, 0.0], "vector": [0.0, 1.0]}
    world.judge(world.hanako, "Q2", "é", 3)
    assert read_scores(evaluate(world, "P@1"), "P@1")["bm25"] == [1.0, 1.0]
    assert read_scores(evaluate(world, "P@1", version="v1"), "P@1") == before
    assert evaluate(world, version="v1").evaluation.table.truth.version == "v1"


def test_the_order_by_each_annotators_own_grades_is_measured(world: EvaluatedWorld) -> None:
    robustness = evaluate(world).robustness
    assert robustness is not None
    assert {variant.variant for variant in robustness.by_annotator} == {"花子", "민준"}
    assert evaluate(world, systems=["bm25"]).robustness.by_annotator == ()  # type: ignore[union-attr]


def test_the_datasheet_of_a_release_has_the_figures_of_its_evaluation(
    world: EvaluatedWorld, tmp_path: Path
) -> None:
    """The release holds what was settled; whoever evaluates it with the same runs gets what its datasheet says."""
    made = publish_release(
        world.database, world.lead, world.name, "1.0.0", exports_dir=tmp_path, now=NOW, overrides=WAIVED
    )
    sheet = (made.path / "DATASHEET.md").read_text("utf-8")
    result = evaluate(world, "nDCG@10", version="1.0.0")
    shown = []
    for system in sorted(
        result.evaluation.systems, key=lambda system: -(system.measures["nDCG@10"].score.value or 0)
    ):
        summary = system.measures["nDCG@10"]
        low, high = summary.ci95 or (0, 0)
        shown.append(f"{system.system} {summary.score.value:.3f} ({low:.3f} to {high:.3f})")
    assert ", ".join(shown) + "." in sheet
    assert "2 imported runs were scored" in sheet


def test_only_leads_evaluate(world: EvaluatedWorld) -> None:
    with pytest.raises(NotAllowed):
        evaluate_dataset(world.database, world.hanako, world.name, EvaluationRequest())
    assert evaluate_dataset(world.database, world.lead, world.name, EvaluationRequest()).evaluation.systems


def test_an_unknown_system_or_version_is_refused_with_those_there_are(world: EvaluatedWorld) -> None:
    with pytest.raises(NotFound, match=r"There is no system 'bm26'\. Choose one of: bm25, vector"):
        evaluate(world, systems=["bm26"])
    with pytest.raises(NotFound, match="no release 'v9'"):
        evaluate(world, version="v9")


def test_a_dataset_without_runs_says_how_to_import_one(database: Database, tmp_path: Path) -> None:
    world = EvaluatedWorld(database)
    with pytest.raises(ValidationError, match=r"has no runs yet\. Import a run first"):
        evaluate(world)


def test_a_lead_who_is_shown_relevant_documents_judges_them_no_more(world: EvaluatedWorld) -> None:
    lead = world.lead
    assert lead.person_id is not None
    record_shown_grades(world.database, lead, world.name, now=NOW)
    with world.database.read() as session:
        seen = session.scalars(
            select(DisclosureRow.pair_pk).where(DisclosureRow.person_pk == lead.person_id)
        ).all()
    assert (
        len(seen) == 4
    )  # the fifth is in a query with a pair that the lead may still judge, so it is not shown
    with pytest.raises(NotAllowed):
        record_shown_grades(world.database, world.hanako, world.name, now=NOW)


# --- the command ---------------------------------------------------------------------------------------


def run(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    assert result.exit_code == code, result.output + str(result.exception)
    return result


QRELS = "q1 0 a 3\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\nq2 0 b 2\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.trec").write_text(
        "q1 Q0 a 1 9 good\nq1 Q0 c 2 8 good\nq2 Q0 b 1 9 good\nq2 Q0 a 2 8 good\n"
    )
    (tmp_path / "poor.trec").write_text(
        "q1 Q0 b 1 9 poor\nq1 Q0 a 2 8 poor\nq2 Q0 a 1 9 poor\nq2 Q0 z 2 8 poor\n"
    )
    return tuple(str(tmp_path / name) for name in ("qrels.txt", "good.trec", "poor.trec"))  # type: ignore[return-value]


def test_files_are_evaluated_without_a_database(files: tuple[str, str, str], tmp_path: Path) -> None:
    result = run(
        *files,
        "--measures",
        "nDCG@10,P@1",
        "--json",
        "--by",
        "query",
        "--database",
        "sqlite:////nowhere/x.db",
    )
    report = json.loads(result.stdout)
    assert report["truth"]["path"] == files[0]
    assert [system["system"] for system in report["systems"]] == ["good", "poor"]
    assert report["systems"][0]["by_query"]["q1"] == {"nDCG@10": 1.0, "P@1": 1.0}
    assert report["comparisons"][0]["a"] == "good"


def test_a_release_in_the_database_is_named_by_its_version_and_not_taken_for_a_file(
    world: EvaluatedWorld,
) -> None:
    published = [("Q1", "Q1/three", 3, {}), ("Q2", "e\u0301🎯", 2, {})]
    world.publish("1.0.0", published, texts={"Q1": "as published", "Q2": "17"}, hour=1)
    url = world.database.url.render_as_string(hide_password=False)
    report = json.loads(run(f"{world.name}@1.0.0", "--database", url, "--json").stdout)
    assert report["truth"]["version"] == "1.0.0"
    assert (
        "no such file" in str(CliRunner().invoke(app, ["evaluate", "qrels.txt", "run.txt"]).exception).lower()
    )


def test_a_dataset_is_scored_by_its_own_profile_unless_another_is_named(world: EvaluatedWorld) -> None:
    change_settings(world.database, OPERATOR, world.name, {"profile": "nablarch"}, now=NOW)
    url = world.database.url.render_as_string(hide_password=False)
    assert json.loads(run(world.name, "--database", url, "--json").stdout)["profile"] == "nablarch"
    assert (
        json.loads(run(world.name, "--profile", "trec", "--database", url, "--json").stdout)["profile"]
        == "trec"
    )


def test_a_dataset_comes_before_a_folder_of_its_name_and_a_slash_names_the_folder(
    world: EvaluatedWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / world.name).mkdir()
    url = world.database.url.render_as_string(hide_password=False)
    result = run(world.name, "--database", url, "--json")
    assert json.loads(result.stdout)["truth"]["dataset"] == world.name
    assert f"Evaluating the dataset {world.name}, not the folder {world.name}" in result.stderr
    assert f"write ./{world.name}" in result.stderr
    folder = CliRunner().invoke(app, ["evaluate", f"./{world.name}", "run.trec", "--database", url])
    assert folder.exit_code == 1
    assert "no such" in str(folder.exception) or world.name in str(folder.exception)


def test_a_folder_whose_name_no_dataset_has_is_read_and_no_database_is_made(
    files: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "csf").write_text(QRELS)
    result = run(
        "csf", "good.trec", "--from", "trec", "--database", f"sqlite:///{tmp_path}/none.db", "--json"
    )
    assert json.loads(result.stdout)["truth"]["path"] == "csf"
    assert not (tmp_path / "none.db").exists()


def test_the_screen_shows_scores_readings_and_formulas(files: tuple[str, str, str]) -> None:
    output = run(*files, "--measures", "nDCG@10,P@1").output
    assert "2 queries, profile trec" in output
    assert "nDCG@10  good    1.0000" in output
    assert "How the scores are computed" in output
    assert "log2(rank + 1)" in output
    assert "means over queries with a judged document" in output
    assert "; relevant: grade 1 or more" in output
    assert "ideal ranking: from the truth" in output
    assert "P50 ms" not in output  # no run carries times


def test_a_missed_target_ends_with_exit_code_3_and_a_met_one_with_0(
    files: tuple[str, str, str], tmp_path: Path
) -> None:
    targets = tmp_path / "targets.yaml"
    targets.write_text("nDCG@10: 0.9\n")
    assert "missed" in run(*files, "--targets", str(targets), code=3).output
    assert "met" in run(*files[:2], "--targets", str(targets)).output


def test_a_regression_ends_with_exit_code_3_and_names_its_queries(
    files: tuple[str, str, str], tmp_path: Path
) -> None:
    truth, good, poor = files
    old = tmp_path / "old.json"
    old.write_text(run(truth, good, "--json", "--by", "query").stdout)
    assert "no score fell" in run(truth, good, "--against", str(old)).stderr
    Path(good).write_text(Path(poor).read_text().replace("poor", "good"))
    fallen = run(truth, good, "--against", str(old), code=3)
    assert "good: nDCG@10 fell from 1.0000 to " in fallen.stderr
    assert "  q1: 1.0000 -> " in fallen.stderr


def test_systems_that_differ_in_parameters_are_shown_as_one_family(
    files: tuple[str, str, str], tmp_path: Path
) -> None:
    truth, *paths = files
    for path, tag in zip(paths, ("rrf;k=60", "rrf;k=100"), strict=True):
        text = Path(path).read_text()
        Path(path).write_text(text.replace("good", tag).replace("poor", tag))
    output = run(truth, *paths, "--measures", "P@1").output
    assert "Parameters of rrf on P@1 (2 systems); best: rrf;k=60 with 1.0000" in output
    (sweep,) = json.loads(run(truth, *paths, "--measures", "P@1", "--json").stdout)["sweeps"]
    assert [value["value"] for value in sweep["parameters"][0]["values"]] == ["60", "100"]


def test_the_csv_is_written_beside_the_screen(files: tuple[str, str, str], tmp_path: Path) -> None:
    run(*files, "--csv", str(tmp_path / "scores.csv"))
    assert "nDCG@10" in (tmp_path / "scores.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("profile", ["trec", "nablarch", "law", "survey", "code", "document"])
def test_every_profile_can_be_chosen(files: tuple[str, str, str], profile: str) -> None:
    assert f"profile {profile}" in run(*files, "--profile", profile).output


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "## Scores"), ("ja", "## スコア"), ("ko", "## 점수")]
)
def test_the_report_is_written_in_the_language_asked_for(
    files: tuple[str, str, str], tmp_path: Path, language: str, heading: str
) -> None:
    report = tmp_path / "report.md"
    output = run(*files, "--profile", "nablarch", "--markdown", str(report), "--language", language).output
    assert f"\n{heading}\n" in report.read_text(encoding="utf-8")
    assert "How the scores are computed" in output  # the screen stays English


def test_the_page_is_written_in_the_language_asked_for(files: tuple[str, str, str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run(*files, "--html", str(page), "--language", "ko")
    assert '<html lang="ko">' in page.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_computed(
    files: tuple[str, str, str], tmp_path: Path
) -> None:
    missing = str(tmp_path / "none" / "report.md")
    refused = CliRunner().invoke(app, ["evaluate", "no-such-file.txt", *files[1:], "--markdown", missing])
    assert "does not exist" in str(refused.exception) + refused.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--measures", "nDCG"], None),
        (["--measures", "MAGIC@10"], "There is no measure 'MAGIC@10'. Choose one of: nDCG@k"),
        (["--profile", "best"], "There is no profile 'best'. Choose one of: trec, nablarch"),
        (["--ideal", "mine"], "--ideal: expected truth or retrieved, found 'mine'"),
        (["--order", "random"], "expected the order score or rank, found 'random'"),
        (["--relevant-from", "4"], "relevant from grade 1, 2 or 3, found 4"),
        (["--baseline", "none"], "There is no system 'none'. Choose one of: good, poor"),
        (["--by", "colour"], "No query has the field 'colour'"),
        (["--targets", "profile"], "the profile trec has no targets"),
        (["--language", "fr"], "--language: expected en, ja, ko, found 'fr'"),
        (["--markdown", "x.md", "--csv", "x.md"], "expected different files, found one twice"),
        (["--resamples", "0"], "--resamples: expected a number from 1"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_a_sentence(
    files: tuple[str, str, str], options: list[str], said: str | None
) -> None:
    result = CliRunner().invoke(app, ["evaluate", *files, *options])
    if said is None:
        assert result.exit_code == 0
        return
    assert result.exit_code != 0
    assert said in str(result.exception) + result.output


def test_a_bad_run_line_is_named_with_file_and_line(files: tuple[str, str, str]) -> None:
    Path(files[1]).write_text("q1 Q0 a 1 9 good\nq1 Q0 a 2 8 good\n")
    result = CliRunner().invoke(app, ["evaluate", *files])
    assert result.exit_code != 0
    assert "good.trec:2" in str(result.exception)
