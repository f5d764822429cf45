"""A release falsified by somebody who makes manifest and checksums anew: what verifying finds, and what it says it cannot."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from annotator.releases.verify.recompute import recompute
from annotator.releases.verify.verify import Verification, verify_folder

RELEASES = Path(__file__).parents[2]
SAMPLE = RELEASES / "exports" / "sample" / "demo" / "1.0.0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLE, tmp_path / "r")
    for path in (tmp_path / "r").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "r"


def seal(folder: Path, **changes: Any) -> None:
    """Make the manifest and the checksums anew."""
    manifest = json.loads((folder / "manifest.json").read_bytes()) | changes
    for entry in manifest["files"]:
        data = (folder / entry["path"]).read_bytes()
        entry["sha256"], entry["bytes"] = hashlib.sha256(data).hexdigest(), len(data)
    (folder / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def change(folder: Path, name: str, old: str, new: str, count: int = 1) -> Verification:
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, count), encoding="utf-8")
    seal(folder)
    return verify_folder(folder)


def says(verification: Verification) -> str:
    return "\n".join(f"{fault.path}: {fault.expected} / {fault.found}" for fault in verification.faults)


def read_manifest(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return body


def test_the_sample_is_whole_and_says_what_its_files_cannot_prove(folder: Path) -> None:
    seal(folder)
    verification = verify_folder(folder)
    assert verification.faults == ()
    assert len(verification.unproven) == 3
    assert "11 grades were decided by a lead: the release holds no record" in verification.unproven[0]
    assert "it is not signed" in verification.unproven[1]
    assert (
        "what only one file states was compared with nothing: texts of documents" in verification.unproven[2]
    )


@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS"])
def test_a_named_pipe_in_place_of_a_file_is_found_and_not_read(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert name in says(verify_folder(folder))


def test_a_grade_under_a_unanimous_qrel_is_found(folder: Path) -> None:
    faults = says(
        change(
            folder, "judgments.csv", "GlobalErrorHandler,annotator_1,2,", "GlobalErrorHandler,annotator_1,3,"
        )
    )
    assert "judgments.csv: at most 11 grades of qrels.trec.txt that the judgments do not give" in faults
    assert "12: " in faults
    assert "judgments that settle 72 qrels as unanimous (manifest.json) / 71" in faults
    assert "manifest.json: agreement observed_agreement" in faults
    assert (
        "law.json: D01 com.example.fw.handler.GlobalErrorHandler: annotators' grades 3, 2 as in judgments.csv / 2, 2"
        in faults
    )


def test_both_grades_under_a_unanimous_qrel_are_found(folder: Path) -> None:
    change(folder, "judgments.csv", "GlobalErrorHandler,annotator_1,2,", "GlobalErrorHandler,annotator_1,3,")
    faults = says(
        change(
            folder, "judgments.csv", "GlobalErrorHandler,annotator_2,2,", "GlobalErrorHandler,annotator_2,3,"
        )
    )
    assert "(grade 2; judged annotator_1 3, annotator_2 3)" in faults


def test_a_judgment_taken_away_is_found(folder: Path) -> None:
    lines = (folder / "judgments.csv").read_text("utf-8").splitlines(keepends=True)
    (folder / "judgments.csv").write_text("".join(lines[:1] + lines[2:]), encoding="utf-8")
    seal(folder)
    assert "settle 72 qrels as unanimous" in says(verify_folder(folder))


def test_a_falsified_datasheet_is_found_by_its_checksum(folder: Path) -> None:
    """Who makes the checksums anew cannot make the signature anew: test_signed_release.py."""
    path = folder / "DATASHEET.md"
    path.write_text(
        path.read_text("utf-8").replace("| Cohen's κ | 0.850 |", "| Cohen's κ | 0.950 |"), encoding="utf-8"
    )
    assert "DATASHEET.md: SHA-256 " in says(verify_folder(folder))
    seal(folder)
    verification = verify_folder(folder)
    assert verification.faults == ()
    assert "it is not signed" in verification.unproven[1]
    assert verification.unproven[2].endswith("and the datasheet")


def test_one_grade_that_a_lead_decided_is_told_as_one() -> None:
    counts = {"adjudicated": 1, "imported": 1, "unanimous": 0, "single": 0}
    _, unproven = recompute({}, {"counts": counts, "agreement": None}, [], {})
    assert [sentence.partition(":")[0].partition(",")[0] for sentence in unproven] == [
        "1 grade was decided by a lead",
        "1 grade was kept from an earlier ground truth",
    ]


def test_a_falsified_coefficient_of_the_manifest_is_found(folder: Path) -> None:
    agreement = read_manifest(folder)["agreement"]
    agreement["cohen_kappa"]["unweighted"]["value"] = 0.95
    seal(folder, agreement=agreement)
    assert says(verify_folder(folder)).splitlines() == [
        "manifest.json: gates.kappa.measured 0.95 as agreement.cohen_kappa.unweighted.value / 0.849969",
        "manifest.json: agreement cohen_kappa unweighted 0.849969 as in judgments.csv / 0.95",
    ]


def test_a_falsified_table_of_two_annotators_is_found(folder: Path) -> None:
    agreement = read_manifest(folder)["agreement"]
    agreement["annotator_pairs"][0]["confusion"][0][1] += 5
    seal(folder, agreement=agreement)
    assert "agreement of annotator_1 and annotator_2: confusion" in says(verify_folder(folder))


def test_falsified_counts_are_found(folder: Path) -> None:
    counts = read_manifest(folder)["counts"]
    seal(folder, counts=counts | {"unanimous": 83, "adjudicated": 0})
    faults = says(verify_folder(folder))
    assert "at most 0 grades of qrels.trec.txt that the judgments do not give" in faults


def test_open_pairs_on_which_no_judgments_differ_are_found(folder: Path) -> None:
    counts = read_manifest(folder)["counts"]
    seal(folder, counts=counts | {"disagreement": 2})
    assert "judgments.csv: judgments that differ on 2 pairs without a qrel (manifest.json) / 0" in says(
        verify_folder(folder)
    )


def test_intervals_of_another_draw_are_said_and_no_fault(folder: Path) -> None:
    agreement = read_manifest(folder)["agreement"]
    seal(folder, agreement=agreement | {"seed": 1})
    verification = verify_folder(folder)
    assert verification.faults == ()
    assert any(
        "intervals of agreement are not those that this program draws" in sentence
        for sentence in verification.unproven
    )


@pytest.mark.parametrize(
    "agreement",
    [
        7,
        None,
        [],
        {},
        {"cohen_kappa": 1},
        {"cohen_kappa": {"unweighted": "x"}, "seed": "a"},
        {"resamples": 10**30, "seed": -1},
    ],
)
def test_a_manifest_of_any_shape_is_verified_without_a_crash(folder: Path, agreement: Any) -> None:
    seal(folder, agreement=agreement)
    assert not verify_folder(folder).whole
    seal(folder, counts=agreement, gates=agreement)
    assert not verify_folder(folder).whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "query_id,doc_id\n",
        "query_id,doc_id,annotator,grade,purpose\na,b,c,9,independent\n",
        'a,"b\n',
        "\0\n",
    ],
)
def test_judgments_that_cannot_be_read_are_a_fault(folder: Path, text: str) -> None:
    (folder / "judgments.csv").write_text(text, encoding="utf-8")
    seal(folder)
    assert any(fault.path == "judgments.csv" for fault in verify_folder(folder).faults)


def test_a_licence_in_the_manifest_alone_is_found(folder: Path) -> None:
    seal(folder, licence="CC0")
    faults = says(verify_folder(folder))
    assert "nablarch.yaml: licence CC0 as in manifest.json / none" in faults
    assert "law.json: licence CC0 as in manifest.json / none" in faults


@pytest.mark.parametrize(("key", "value"), [("created_at", "2020-01-01T00:00:00Z"), ("version", "2.0.0")])
def test_which_version_was_published_when_is_compared(folder: Path, key: str, value: str) -> None:
    seal(folder, **{key: value})
    assert f"{key} " in says(verify_folder(folder))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tied", 4, "manifest.json: order.tied 30 as in qrels.trec.txt / 4"),
        ("undecided", 31, "manifest.json: order.undecided at most 30, as order.tied / 31"),
        ("queries_without_relevant", 1, "order.queries_without_relevant 0 as in qrels.trec.txt / 1"),
    ],
)
def test_a_falsified_order_is_found(folder: Path, name: str, value: int, message: str) -> None:
    seal(folder, order=read_manifest(folder)["order"] | {name: value})
    assert message in says(verify_folder(folder))


def test_documents_in_another_order_than_their_grades_are_found(folder: Path) -> None:
    lines = (folder / "qrels.trec.txt").read_text("utf-8").splitlines(keepends=True)
    lines[0], lines[1] = lines[1], lines[0]
    (folder / "qrels.trec.txt").write_text("".join(lines), encoding="utf-8")
    seal(folder)
    assert "documents in the order of grades and mean grades / 1 above a better one: D01 " in says(
        verify_folder(folder)
    )


def test_a_description_that_differs_from_the_other_files_is_found(folder: Path) -> None:
    faults = says(change(folder, "nablarch.yaml", "GlobalErrorHandler（API）", "Another"))
    assert "D01: what is said of its documents as in nablarch.yaml / something else" in faults


def test_a_field_of_a_query_that_differs_is_found(folder: Path) -> None:
    faults = says(change(folder, "law-compact.json", '"difficulty": "easy"', '"difficulty": "hard"'))
    assert "law-compact.json: D01: difficulty easy as in beir/queries.jsonl / hard" in faults


def test_a_wrong_count_that_a_file_states_is_found(folder: Path) -> None:
    faults = says(change(folder, "law.json", '"total_relevant": ', '"total_relevant": 9'))
    assert "law.json: queries[0].total_relevant: " in faults


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pictures/grades.svg", ">13 (15.5 %)<", ">31 (15.5 %)<"),
        ("pictures/grades.svg", "(15.5 %)", "(51.5 %)"),
        ("pictures/confusion.svg", "81 pairs", "91 pairs"),
    ],
)
def test_a_falsified_number_in_a_picture_is_found(folder: Path, name: str, old: str, new: str) -> None:
    assert f"{name}: " in says(change(folder, name, old, new))


def test_a_picture_that_is_drawn_differently_is_said_and_no_fault(folder: Path) -> None:
    verification = change(folder, "pictures/grades.svg", 'height="14"', 'height="15"')
    assert verification.faults == ()
    assert any("draws it differently" in sentence for sentence in verification.unproven)


def test_a_simulated_judgment_made_a_persons_is_found(folder: Path) -> None:
    faults = says(change(folder, "judgments.csv", "independent,true", "independent,false"))
    assert "judgments.csv: all judgments of annotator_1 simulated, or none / some of them" in faults


def test_simulated_judgments_that_the_manifest_does_not_mention_are_found(folder: Path) -> None:
    seal(folder, simulated=False)
    faults = says(verify_folder(folder))
    assert "manifest.json: simulated: true as in judgments.csv / False" in faults


@pytest.mark.parametrize(
    "name", ["qrels.trec.txt", "judgments.csv", "law.json", "DATASHEET.md", "nablarch.yaml"]
)
def test_lines_that_end_with_crlf_are_found(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    lines = data.count(b"\n")
    (folder / name).write_bytes(data.replace(b"\n", b"\r\n"))
    seal(folder)
    assert f"{name}: lines that end with LF / CRLF in {lines} lines" in says(verify_folder(folder))


def test_a_byte_order_mark_is_found(folder: Path) -> None:
    (folder / "law.json").write_bytes(b"\xef\xbb\xbf" + (folder / "law.json").read_bytes())
    seal(folder)
    assert "law.json: UTF-8 without a byte order mark / one" in says(verify_folder(folder))


def test_crlf_within_a_note_is_no_fault(folder: Path) -> None:
    verification = change(folder, "judgments.csv", ",annotator_1,2,,", ',annotator_1,2,"a\r\nb",')
    assert "CRLF" not in says(verification)
