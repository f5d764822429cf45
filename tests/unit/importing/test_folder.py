"""A folder is read in the order of its paths; what is skipped is said, what is bad is named."""

import os
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput
from annotator.importing.sources import FileLayout, read_folder


def read(
    folder: Path, *, sections: bool = False, encoding: str | None = None
) -> tuple[list[str], tuple[str, ...]]:
    read = read_folder(folder, layout=FileLayout(sections), encoding=encoding)
    return [line.document.doc_id for line in read.documents], read.notes


def test_ids_are_relative_paths_in_order_and_what_is_skipped_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "b" / ".git").mkdir(parents=True)
    (folder / "a").mkdir()
    for name in (
        "b/か\u3099 1.md",
        "a/Z.RST",
        "a.txt",
        "b/x.htm",
        "b/.hidden.md",
        "b/.git/y.md",
        "a/picture.png",
        "a/empty.md",
    ):
        (folder / name).write_text("" if "empty" in name else "x", encoding="utf-8")
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "inside.md").symlink_to(folder / "a.txt")
    (folder / "loop").symlink_to(folder)
    ids, notes = read(folder)
    assert ids == ["a.txt", "a/Z.RST", "b/x.htm", "b/か\u3099 1.md", "inside.md"]
    assert notes == (
        "2 hidden files or folders skipped",
        "2 links out of the folder, or to folders, skipped",
        "1 file of another kind than .md .rst .txt .html .htm .docx .pdf .xlsx skipped",
        "1 file without text skipped",
    )


def test_headings_without_text_are_said_to_be_left_to_their_sections(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 법\n## 장\n### 조\n내용\n", encoding="utf-8")
    assert read(tmp_path, sections=True) == (
        ["a.md#조"],
        ("2 headings without text of their own: they appear in the titles of their sections",),
    )


def test_an_empty_folder_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"expected at least one file of \.md .*, found an empty folder"):
        read(tmp_path)
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(BadInput, match="found 1 file of another kind than"):
        read(tmp_path)


def test_every_file_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_bytes("x\n検索".encode("cp932"))
    with pytest.raises(BadInput) as caught:
        read(tmp_path)
    assert [Path(problem.path).name for problem in caught.value.problems] == ["a.md", "b.md"]
    assert [problem.line for problem in caught.value.problems] == [2, 2]
    assert read(tmp_path, encoding="cp932")[0] == ["a.md", "b.md"]


def test_a_file_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("x", encoding="utf-8")
    except OSError:
        return  # this file system takes only names that are text
    with pytest.raises(BadInput, match="expected a file name in UTF-8"):
        read(tmp_path)
