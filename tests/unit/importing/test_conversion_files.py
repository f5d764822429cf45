"""The name of a target says its format only where it is certain, and nothing is written over unasked."""

from pathlib import Path

import pytest

from annotator.domain.errors import ConflictError, ValidationError
from annotator.formats.registry import find_format
from annotator.importing.conversion_service import check_target, choose_format

LAW, BEIR = find_format("law"), find_format("beir")


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("x.qrels", "trec"), ("x.txt", "trec"), ("qrels.trec.txt", "trec"), ("x.JSONL", "jsonl"), ("결과.csv", "csv"),
        ("out/law.json", "law"), ("law-compact.json", "law-compact"), ("ranked.json", "ranked"),
        ("nablarch.yaml", "nablarch"), ("assay.yaml", "assay"), ("assay-queries.yaml", "assay-queries"),
        ("anything/", "beir"), ("x/beir", "beir"),
    ],
)  # fmt: skip
def test_a_name_that_can_mean_one_format_alone_says_it(name: str, format_name: str) -> None:
    assert choose_format(name, None).name == format_name


@pytest.mark.parametrize(
    ("name", "message"), [("x.json", "law, law-compact, ranked"), ("x.yaml", "nablarch, assay, assay-queries"), ("検索", "nablarch, law")]
)  # fmt: skip
def test_a_name_that_can_mean_several_asks_for_to(name: str, message: str) -> None:
    with pytest.raises(ValidationError, match=f"say --to, one of: {message}"):
        choose_format(name, None)


def test_a_format_that_is_named_is_taken_whatever_the_name() -> None:
    assert choose_format("x.json", "trec").name == "trec"
    with pytest.raises(ValidationError, match="no format named 'xml'"):
        choose_format("x.json", "xml")


def test_what_is_there_is_not_written_over_unasked(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    check_target(file, LAW, overwrite=False)
    file.write_text("{}")
    with pytest.raises(ConflictError, match="--overwrite"):
        check_target(file, LAW, overwrite=False)
    check_target(file, LAW, overwrite=True)


def test_a_link_to_nothing_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConflictError):
        check_target(tmp_path / "x", LAW, overwrite=False)


def test_a_folder_is_never_written_over_by_a_file_nor_the_other_way(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValidationError, match="expected a file"):
        check_target(tmp_path / "folder", LAW, overwrite=True)
    with pytest.raises(ValidationError, match="expected a folder"):
        check_target(tmp_path / "file", BEIR, overwrite=True)


def test_a_folder_with_anything_else_in_it_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    check_target(tmp_path / "beir", BEIR, overwrite=True)
    (tmp_path / "beir" / "논문.txt").write_text("mine")
    with pytest.raises(ValidationError, match=r"found 논문\.txt too"):
        check_target(tmp_path / "beir", BEIR, overwrite=True)


def test_a_place_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected its folder to be there"):
        check_target(tmp_path / "none" / "x.json", LAW, overwrite=False)
