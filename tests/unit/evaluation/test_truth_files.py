"""Ground truths as they are read for scoring: release folders and files of every format."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from annotator.domain.errors import AnnotatorError, BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.evaluation.truth_files import build_truth, read_truth_file
from annotator.formats.registry import FORMATS

GOLDEN = Path(__file__).parents[2] / "golden"
RELEASE = GOLDEN / "releases"
SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_format_can_be_a_truth(known: object) -> None:
    name = known.name  # type: ignore[attr-defined]
    sample = next(path for path in sorted(SAMPLES.iterdir()) if path.name.startswith(f"{name}.nasty"))
    truth = read_truth_file(sample, format_name=name)
    assert truth.format == name
    assert any(truth.grades.values())
    assert truth.has_grades is (name != "ranked")
    assert truth.tells_grade_0 is (name in ("trec", "beir", "csv", "jsonl"))


def test_a_release_is_read_with_grade_0_texts_fields_version_and_content_hash() -> None:
    truth = read_truth_file(RELEASE)
    manifest = json.loads((RELEASE / "manifest.json").read_text("utf-8"))
    assert (truth.name, truth.version, truth.sha256) == (
        manifest["dataset"],
        manifest["version"],
        manifest["content_sha256"],
    )
    assert sum(map(len, truth.grades.values())) == manifest["counts"]["qrels"]
    assert truth.tells_grade_0
    assert truth.texts


def test_the_order_within_a_query_of_a_release_is_that_of_its_ranked_list() -> None:
    truth = read_truth_file(RELEASE)
    for item in json.loads((RELEASE / "ranked.json").read_text("utf-8")):
        query_id = next(query_id for query_id, text in truth.texts.items() if text == item["query"])
        listed = list(truth.grades[query_id])[: len(item["relevant_documents"])]
        assert listed == item["relevant_documents"]


def test_a_ranked_list_in_another_order_changes_only_the_order(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    path = folder / "ranked.json"
    items = json.loads(path.read_text("utf-8"))
    items[1]["relevant_documents"].reverse()
    path.chmod(0o644)
    path.write_text(json.dumps(items), "utf-8")
    seal(folder)
    before, after = read_truth_file(RELEASE).grades["Q2"], read_truth_file(folder).grades["Q2"]
    assert (list(after), dict(after)) == (list(before)[::-1], dict(before))


def seal(folder: Path) -> None:
    """Write SHA256SUMS of the files as they are now, as somebody would who changes a release on purpose."""
    lines = []
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        name = line.split("  ", 1)[1]
        lines.append(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n")
    (folder / "SHA256SUMS").chmod(0o644)
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


@pytest.mark.parametrize(
    "name", ["ranked.json", "law.json", "manifest.json", "beir/queries.jsonl", "beir/qrels/test.tsv"]
)
def test_a_release_of_which_a_file_was_changed_is_refused_with_both_hashes(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    path = folder / name
    published = hashlib.sha256(path.read_bytes()).hexdigest()
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"\n")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(BadInput) as refused:
        read_truth_file(folder)
    assert (
        str(refused.value)
        == f"{path}: expected the published file, SHA-256 {published}, found SHA-256 {found}"
    )


def test_a_release_with_a_file_more_or_less_or_without_checksums_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    more = folder / "beir" / "qrels" / "dev.tsv"
    more.parent.chmod(0o755)
    more.write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(
        BadInput, match=r"dev\.tsv: expected a file that SHA256SUMS lists, found one that it does not"
    ):
        read_truth_file(folder)
    more.unlink()
    (folder / "ranked.json").unlink()
    with pytest.raises(
        BadInput, match=r"ranked.json: expected the published file, SHA-256 \w+, found no file"
    ):
        read_truth_file(folder)
    (folder / "SHA256SUMS").chmod(0o644)
    (folder / "SHA256SUMS").write_text("nothing\n")
    with pytest.raises(
        BadInput, match=r"SHA256SUMS:1: expected a SHA-256, two spaces and a path, found 'nothing'"
    ):
        read_truth_file(folder)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(BadInput, match="SHA256SUMS: expected the checksums of a release, found no file"):
        read_truth_file(folder)


def test_a_file_of_a_release_that_is_not_read_may_differ(tmp_path: Path) -> None:
    """`annotator release verify` looks at every file; scoring only at those it reads."""
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    (folder / "CHANGES.md").chmod(0o644)
    (folder / "CHANGES.md").write_text("other words\n")
    assert read_truth_file(folder).version


def test_the_same_grades_have_the_same_hash_in_every_format() -> None:
    assert read_truth_file(RELEASE / "qrels.trec.txt").sha256 == read_truth_file(RELEASE).sha256


def test_a_release_whose_grades_were_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    path = folder / "beir" / "qrels" / "test.tsv"
    path.chmod(0o644)
    lines = path.read_text("utf-8").splitlines()
    lines[1] = lines[1][:-1] + ("0" if lines[1][-1] != "0" else "1")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    seal(folder)
    with pytest.raises(BadInput, match=r"expected the grades that were published .*, found other ones"):
        read_truth_file(folder)


def test_a_release_without_its_files_or_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ValidationError, match="found no folder beir"):
        read_truth_file(tmp_path)
    (tmp_path / "manifest.json").write_text("[")
    with pytest.raises(BadInput, match=r"manifest.json: expected a release's manifest"):
        read_truth_file(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(BadInput, match="found no mapping"):
        read_truth_file(tmp_path)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AnnotatorError, match="cannot read"):
        read_truth_file(tmp_path / "none.txt")


def test_a_ranked_file_with_chosen_grades_holds_grades(tmp_path: Path) -> None:
    path = tmp_path / "ranked.json"
    path.write_text(json.dumps([{"query": "x", "relevant_documents": ["a", "b"]}]), "utf-8")
    assert dict(read_truth_file(path).grades["q1"]) == {"a": 2, "b": 1}
    graded = read_truth_file(path, grades_by="all=3")
    assert (dict(graded.grades["q1"]), graded.has_grades) == ({"a": 3, "b": 3}, True)


def test_other_scales_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 a 4\nq1 0 b 1\n", "utf-8")
    assert dict(read_truth_file(path, grades={"4": 3}).grades["q1"]) == {"a": 3, "b": 1}
    with pytest.raises(BadInput, match=r"qrels.txt:1: expected a grade 0, 1, 2 or 3, found '4'"):
        read_truth_file(path)


def test_queries_keep_their_fields_to_be_grouped_by() -> None:
    content = GroundTruth(
        (Query("q1", "x", category="c", metadata={"needs_a2a": True}), Query("q2", "")), (Qrel("q1", "a", 2),)
    )
    truth = build_truth(content, "d", version="1.0.0")
    assert dict(truth.fields) == {"q1": {"category": "c", "needs_a2a": True}}
    assert (dict(truth.texts), dict(truth.grades["q2"]), truth.tells_grade_0) == ({"q1": "x"}, {}, True)
