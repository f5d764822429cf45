"""`annotator agreement`: tables, JSON, the page and the estimates, from what is in the database; on both databases."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.agreement.consensus import estimate
from annotator.agreement.service import compute_consensus, write_estimates
from annotator.cli.main import app
from annotator.domain.errors import InsufficientData, NotAllowed, ValidationError
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.pairs.pair_states import list_pair_states
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

GRADES = [(0, 0, 0), (1, 1, 2), (2, 3, 3), (3, 3, None), (0, 1, None), (2, None, None)]
DOCUMENTED = [
    "dataset", "annotators", "pairs", "observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha",
    "gwet_ac1", "gwet_ac2", "cut_points", "annotator_pairs", "groups", "diagnosis",
]  # fmt: skip


class Judges(JudgedWorld):
    """Three annotators, six pairs of two queries; a lead has decided that the second pair is a 2."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.people = [self.person(name) for name in ("<script>", "고양이", "高橋")]
        self.lead = self.person("lead", "lead")
        for number, query_id in enumerate(("법-1", "q2")):
            self.query(query_id, f"농지 {number} 🏞", category=("법령", "<b>")[number])
        for number, grades in enumerate(GRADES):
            query_id = ("법-1", "q2")[number % 2]
            self.pair(query_id, f"文書{number}")
            for person, grade in zip(self.people, grades, strict=True):
                if grade is not None:
                    self.judge(person, query_id, f"文書{number}", grade)
        self.judge(self.people[0], "q2", "文書5", None)
        self.judge(self.people[1], "q2", "文書5", None, outcome="later")


@pytest.fixture
def world(copy_world: CopyWorld) -> Judges:
    return copy_world(Judges)


def run(world: JudgedWorld, *words: str) -> Result:
    url = world.database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, "agreement", "d", "--resamples", "40", *words])


def test_the_tables_begin_with_the_verdict_and_end_with_what_counts(world: Judges) -> None:
    shown = run(world, "--by", "category").stdout
    assert shown.startswith(("MET: ", "NOT MET: ", "UNKNOWN: "))
    positions = [
        shown.index(words)
        for words in (
            "\n- ",
            "Cohen's kappa, unweighted",
            "\ncategory ",
            "\nannotators ",
            "rows ",
            "grades higher by",
            "grades given by",
        )
    ]
    assert positions == sorted(positions)
    assert "“cannot rate”, so there is no grade" in shown
    assert "13 judgments count." in shown


def test_the_json_keeps_every_documented_key_and_adds_what_else_there_is(world: Judges) -> None:
    report = json.loads(run(world, "--by", "category", "--json").stdout)
    assert [key for key in report if key in DOCUMENTED] == DOCUMENTED
    assert set(report["cohen_kappa"]["linear"]) == {"value", "ci95"}
    assert {"kappa_target", "resamples", "seed", "left_out", "outdated", "leanings", "periods"} <= set(report)
    kinds = {item["kind"]: item["judgments"] for item in report["left_out"]}
    assert kinds == {"unrateable": 1, "later": 1, "revised": 1}
    assert {leaning["annotator"] for leaning in report["leanings"]} == set(report["annotators"])
    assert set(report["leanings"][0]) == {
        "annotator", "comparisons", "mean", "ci95", "krippendorff_alpha_ordinal_without", "pairs_without",
        "cohen_kappa_with_others",
    }  # fmt: skip
    assert "estimates" not in report


def test_the_page_is_written_with_every_name_escaped(world: Judges, tmp_path: Path) -> None:
    target = tmp_path / "報告.html"
    done = run(world, "--by", "category", "--html", str(target))
    assert (done.exit_code, done.stderr) == (0, "")
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "“cannot rate”, so there is no grade" in page
    assert "Estimates for comparison" not in page
    assert str(target) in done.stdout


def test_with_json_only_the_document_is_on_stdout(world: Judges, tmp_path: Path) -> None:
    done = run(world, "--json", "--html", str(tmp_path / "a.html"), "--consensus", str(tmp_path / "b.csv"))
    report = json.loads(done.stdout)
    assert report["estimates"]["are_qrels"] is False
    assert report["estimates"]["pairs"] == 5
    assert "Estimates for comparison" in (tmp_path / "a.html").read_text()
    assert "not qrels" in done.stderr


def test_the_files_are_there_also_for_whoever_stops_reading_the_output(
    world: Judges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("annotator.cli.agreement.print_report", leave)
    run(world, "--html", str(tmp_path / "a.html"), "--consensus", str(tmp_path / "b.csv"))
    assert sorted(path.name for path in tmp_path.glob("?.*")) == ["a.html", "b.csv"]


@pytest.mark.parametrize("option", ["--html", "--consensus"])
@pytest.mark.parametrize(
    ("name", "message"), [("-", "instead of '-'"), ("", "it is a folder"), ("nowhere/x", "does not exist")]
)
def test_a_file_that_cannot_be_is_refused_before_anything_is_computed(
    world: Judges, tmp_path: Path, option: str, name: str, message: str
) -> None:
    done = run(world, option, name if name == "-" else str(tmp_path / name))
    assert (done.exit_code, done.stdout) == (1, "")
    assert isinstance(done.exception, ValidationError)
    assert message in str(done.exception)
    assert [path for path in tmp_path.iterdir() if not path.name.startswith("world-")] == []


def test_the_page_and_the_estimates_cannot_be_one_file(world: Judges, tmp_path: Path) -> None:
    target = str(tmp_path / "x")
    done = run(world, "--html", target, "--consensus", target)
    assert done.exit_code == 1
    assert "two different files" in str(done.exception)
    assert not Path(target).exists()


def test_a_field_that_there_is_not_writes_nothing(world: Judges, tmp_path: Path) -> None:
    done = run(world, "--by", "colour", "--html", str(tmp_path / "x.html"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Cannot group by 'colour'" in str(done.exception)
    assert not (tmp_path / "x.html").exists()


def test_an_empty_dataset_has_tables_a_page_and_no_estimates(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    done = run(
        world, "--by", "category", "--html", str(tmp_path / "x.html"), "--consensus", str(tmp_path / "x.csv")
    )
    assert done.exit_code == 0
    assert "0 judgments count." in done.stdout
    assert "there is nothing to estimate" in done.stdout
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 1
    assert (tmp_path / "x.html").read_text().endswith("</html>\n")


def test_the_estimates_of_shared_pairs_stand_beside_what_settled_them(world: Judges, tmp_path: Path) -> None:
    decided = "query_id,doc_id,grade,rationale\nq2,文書1,2,weil\n".encode()
    adjudicate_file(world.database, world.lead, "d", decided, "decisions.csv", now=NOW)
    done = run(world, "--consensus", str(tmp_path / "estimates.csv"))
    with (tmp_path / "estimates.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["doc_id"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["文書0", "文書2", "文書4", "文書1", "文書3"]
    estimates = {
        name: (row["majority_estimate"], row["median_estimate"], row["settled_grade"], row["settled_by"])
        for name, row in rows.items()
    }
    assert estimates == {
        "文書0": ("0", "0", "0", "unanimous"),
        "文書2": ("3", "3", "", ""),
        "文書4": ("", "0.5", "", ""),
        "文書1": ("1", "1", "2", "adjudicated"),
        "文書3": ("3", "3", "3", "unanimous"),
    }
    assert "they are not qrels, settle nothing and enter no release" in done.stdout
    assert "adjudicated pairs compared" in done.stdout


def test_estimates_that_do_not_converge_are_not_written_and_the_rest_is(
    world: Judges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "annotator.agreement.consensus.find_likelier", lambda *columns: estimate(*columns, most_rounds=1)
    )
    (tmp_path / "x.csv").write_text("what was there")
    for options in (["--html", str(tmp_path / "x.html")], ["--json"]):
        done = run(world, "--consensus", str(tmp_path / "x.csv"), *options)
        assert done.exit_code == 1
        assert isinstance(done.exception, InsufficientData)
        assert "x.csv: not written. No estimates: those of Dawid and Skene's method still changed" in str(
            done.exception
        )
        assert (tmp_path / "x.csv").read_text() == "what was there"
        assert "adjudicated pairs compared" not in done.stdout
    assert json.loads(done.stdout)["estimates"]["why"].startswith("No estimates")
    assert json.loads(done.stdout)["estimates"]["annotators"] == []
    assert "still changed after" in (tmp_path / "x.html").read_text()
    with pytest.raises(InsufficientData, match="still changed"):
        write_estimates(tmp_path / "y.csv", compute_consensus(world.database, OPERATOR, "d", now=NOW))
    assert not (tmp_path / "y.csv").exists()


def test_estimating_settles_nothing(world: Judges) -> None:
    def settled() -> list[Any]:
        with world.database.read() as session:
            return [state.settlement for state in list_pair_states(session, world.dataset_pk)]

    before = settled()
    compute_consensus(world.database, OPERATOR, "d", now=NOW)
    assert settled() == before


def test_estimates_are_for_leads(world: Judges) -> None:
    assert compute_consensus(world.database, world.lead, "d", now=NOW).dataset == "d"
    with pytest.raises(NotAllowed):
        compute_consensus(world.database, world.people[0], "d", now=NOW)
