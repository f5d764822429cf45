"""A released law.json with more annotators than places says nothing of agreement, and brings in nobody's judgments."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.coverage_service import check_file
from annotator.domain.errors import ValidationError
from annotator.formats.law import has_mixed_annotators
from annotator.formats.syntax.source import InputSource
from annotator.importing.judgments.qrel_plan import name_annotators, read_qrel_source

JUDGED = {"a": {"relevance": 2, "annotator_1": 2, "annotator_2": 1}}
LAW = json.dumps({"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": JUDGED}]})


def put(folder: Path, manifest: str) -> Path:
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    path = folder / "law.json"
    path.write_text(LAW, encoding="utf-8")
    return path


def say(*annotators: str, path: str = "law.json") -> str:
    return json.dumps({"files": [{"path": path}], "agreement": {"annotators": annotators}})


def test_the_places_of_a_release_with_three_annotators_are_no_two_people(tmp_path: Path) -> None:
    path = put(tmp_path, say("annotator_1", "annotator_2", "annotator_3"))
    report = check_file(InputSource(str(path)))
    assert (report.valid, report.agreement, report.differing, report.mixed_annotators) == (
        True,
        None,
        (),
        True,
    )
    shown = CliRunner().invoke(app, ["check", str(path)]).stdout
    assert "the first two annotators of each pair here, not two people" in shown
    assert "kappa" not in shown
    file = read_qrel_source(path, format_name=None, encoding=None, grades_by=None)
    with pytest.raises(ValidationError, match="more annotators than its two places"):
        name_annotators(file, {})


@pytest.mark.parametrize(
    "manifest",
    [
        say("annotator_1", "annotator_2"),
        say("annotator_1", "annotator_3", path="other.json"),
        "{",
        "[]",
        '{"files": 1, "agreement": []}',
        '{"files": [{"path": "law.json"}, 2], "agreement": {"annotators": 3}}',
    ],
)
def test_other_files_have_two_annotators(tmp_path: Path, manifest: str) -> None:
    path = put(tmp_path, manifest)
    assert not has_mixed_annotators(InputSource(str(path)))
    assert check_file(InputSource(str(path))).agreement is not None
    file = read_qrel_source(path, format_name=None, encoding=None, grades_by=None)
    assert len(name_annotators(file, {})) == 2
