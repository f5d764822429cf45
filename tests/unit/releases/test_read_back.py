"""Every file of a release says what the canonical qrels say, whatever the checksums claim."""

import hashlib
import json
import re
import shutil
import threading
from pathlib import Path

import pytest

from annotator.formats.registry import find_format
from annotator.releases.verify import read_back
from annotator.releases.verify.read_back import _IN_SIDE_PROCESSES, SHOWN
from annotator.releases.verify.verify import verify_folder

GOLDEN = Path(__file__).parents[2] / "golden" / "releases"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(GOLDEN, tmp_path / "r")
    return tmp_path / "r"


def change(folder: Path, name: str, old: str, new: str) -> None:
    """Change a file, and hide it: the manifest and the checksums are made anew."""
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    seal(folder)


def seal(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes()) | changes
    for entry in manifest["files"]:
        data = (folder / entry["path"]).read_bytes()
        entry["sha256"], entry["bytes"] = hashlib.sha256(data).hexdigest(), len(data)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}\n"
        for path in paths
        if path != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def faults(folder: Path) -> list[str]:
    return [f"{fault.path}: {fault.expected} / {fault.found}" for fault in verify_folder(folder).faults]


def test_the_golden_release_is_whole(folder: Path) -> None:
    assert faults(folder) == []
    seal(folder)
    assert faults(folder) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "text"),
    [
        ("nablarch.yaml", "relevance: 3 ", "relevance: 1 ", "Q1 Q1/three: grade 3 as in qrels.trec.txt / grade 1"),
        ("law.json", '"relevance": 1,', '"relevance": 2,', "Q1 Q1/one: grade 1 as in qrels.trec.txt / grade 2"),
        ("law-compact.json", '"Q1/two": 2', '"Q1/two": 3', "Q1 Q1/two: grade 2 as in qrels.trec.txt / grade 3"),
        ("law-compact.json", '"Q1/two"', '"Q1/２"', "Q1 Q1/２: nothing as in qrels.trec.txt / grade 2"),
        ("assay.yaml", "relevance: 3", "relevance: 2", "Q1 Q1/three: grade 3 as in qrels.trec.txt / grade 2"),
        ("assay-queries.yaml", "relevance: 3", "relevance: 1", "Q1 Q1/three: grade 3 as in qrels.trec.txt / grade 1"),
        ("beir/qrels/test.tsv", "Q1/zero\t0", "Q1/zero\t1", "Q1 Q1/zero: grade 0 as in qrels.trec.txt / grade 1"),
        ("ranked.json", '"Q1/three"', '"Q1/drei"', "Q1: Q1/three, Q1/two, Q1/one as in qrels.trec.txt / Q1/drei, Q1/two, Q1/one"),
        ("law.json", '"Q2"', '"Q٢"', "the query Q2 / none"),
        ("law.json", "17조", "18조", "Q2: its text as in beir/queries.jsonl / 18조 \"검색\"\n"),
        ("ranked.json", "17조", "18조", "Q2: its text as in beir/queries.jsonl / 18조 \"검색\"\n"),
        ("nablarch.yaml", "queries:", "querie:", "a readable nablarch file / "),
    ],
)  # fmt: skip
def test_a_change_is_named_although_the_checksums_were_made_anew(
    folder: Path, name: str, old: str, new: str, text: str
) -> None:
    change(folder, name, old, new)
    assert any(fault.startswith(f"{name}: {text}") for fault in faults(folder)), faults(folder)


def test_processes_beside_find_what_one_process_finds_in_the_same_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder, "nablarch.yaml", "17조", "18조")
    change(folder, "assay.yaml", "relevance: 3", "relevance: 2")
    change(folder, "assay-queries.yaml", '- id: "Q1"', '- id: ["Q1"')
    change(folder, "law.json", "17조", "19조")
    change(folder, "qrels.trec.txt", "Q1/two 2", "Q1/two 3")
    found = []
    for processors in (1, 3):
        monkeypatch.setattr(read_back, "count_processors", lambda number=processors: number)
        monkeypatch.setattr(threading, "active_count", lambda: 1)
        found.append(verify_folder(folder))
    assert found[0] == found[1]
    assert {"nablarch.yaml", "assay.yaml", "assay-queries.yaml", "law.json", "manifest.json"} <= {
        fault.path for fault in found[0].faults
    }
    assert not any("two_annotators" in find_format(name).features for name in _IN_SIDE_PROCESSES)


def test_an_order_other_than_that_of_publishing_is_named(folder: Path) -> None:
    ranked = json.loads((folder / "ranked.json").read_bytes())
    ranked[0]["relevant_documents"].reverse()
    (folder / "ranked.json").write_text(json.dumps(ranked), encoding="utf-8")
    seal(folder)
    (fault,) = faults(folder)
    assert fault.endswith("/ Q1/one, Q1/two, Q1/three")


def test_a_changed_canonical_qrel_is_named_by_the_manifest_and_by_every_file(folder: Path) -> None:
    change(folder, "qrels.trec.txt", "Q1/two 2", "Q1/two 3")
    named = {fault.split(":")[0] for fault in faults(folder)}
    assert named >= {
        "manifest.json", "nablarch.yaml", "law.json", "law-compact.json", "assay.yaml", "beir/qrels/test.tsv",
    }  # fmt: skip


def test_a_document_that_the_corpus_lacks_is_named(folder: Path) -> None:
    corpus = folder / "beir" / "corpus.jsonl"
    lines = corpus.read_text("utf-8").splitlines(keepends=True)
    corpus.write_text("".join(line for line in lines if "Q1/zero" not in line), encoding="utf-8")
    seal(folder)
    assert faults(folder) == ["beir/corpus.jsonl: the document Q1/zero / none"]


def test_grade_0_is_missed_where_the_release_says_that_it_is_listed(folder: Path) -> None:
    seal(folder, list_grade_0=True)
    assert "law.json: Q1 Q1/zero: grade 0 as in qrels.trec.txt / nothing" in faults(folder)


def test_counts_that_do_not_add_up_are_named(folder: Path) -> None:
    counts = json.loads((folder / "manifest.json").read_bytes())["counts"]
    seal(folder, counts=counts | {"adjudicated": 7, "queries": 9})
    differences = [fault for fault in faults(folder) if fault.startswith("manifest.json")]
    assert [re.split(r" \d", fault)[0] for fault in differences] == [
        "manifest.json: counts.queries without those without qrels",
        "manifest.json: counts by origin",
        "manifest.json: counts.pairs",
    ]


def test_of_many_differences_the_first_are_named_and_the_rest_counted(folder: Path) -> None:
    lines = [f"Q1\tmore-{number:03}\t1\n" for number in range(100)]
    with (folder / "beir" / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.writelines(lines)
    seal(folder)
    differences = [fault for fault in faults(folder) if fault.startswith("beir/qrels/test.tsv: ")]
    assert len(differences) == SHOWN + 1
    assert (
        differences[-1]
        == f"beir/qrels/test.tsv: what qrels.trec.txt says / {100 - SHOWN} further differences"
    )


def test_a_release_of_an_earlier_program_is_whole() -> None:
    assert verify_folder(GOLDEN.with_name("earlier_release")).faults == ()


def test_an_earlier_ranked_file_may_list_a_query_without_a_relevant_document(folder: Path) -> None:
    ranked = json.loads((folder / "ranked.json").read_bytes())
    ranked.insert(1, {"query": "nothing relevant", "relevant_documents": []})
    (folder / "ranked.json").write_text(json.dumps(ranked), encoding="utf-8")
    seal(folder)
    assert faults(folder) == []
