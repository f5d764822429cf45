"""Every registered format reads its sample files, is recognised by them, and gives them back."""

from pathlib import Path

import pytest

from annotator.domain.ground_truth import GroundTruth
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, detect_format, find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"
GOLDEN = Path(__file__).parents[2] / "golden" / "formats"
FILES = sorted(SAMPLES.iterdir())
ONE_FILE = [file for file in FILES if file.is_file()]
names = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
files = pytest.mark.parametrize("file", ONE_FILE, ids=lambda file: file.name)


def format_of(file: Path) -> Format:
    return find_format(file.name.split(".")[0])


def read(file_format: Format, source: InputSource) -> GroundTruth:
    grades_by = "position" if file_format.needs_grades_by else None
    return read_truth(source, format_name=file_format.name, grades_by=grades_by)[1]


def list_content(root: Path) -> dict[str, bytes]:
    """The bytes of a file, or of every file of a folder by its path within."""
    if root.is_file():
        return {"": root.read_bytes()}
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def test_every_format_has_a_nasty_sample() -> None:
    assert {file.name.split(".")[0] for file in FILES if ".nasty" in file.name} == {
        file_format.name for file_format in FORMATS
    }


@names
def test_a_sample_is_recognised_by_its_content(file: Path, tmp_path: Path) -> None:
    nameless = tmp_path / "without a suffix"
    nameless.symlink_to(file)
    assert detect_format(InputSource(str(nameless))) is format_of(file)


@names
def test_what_is_written_reads_back_as_it_was(file: Path, tmp_path: Path) -> None:
    file_format = format_of(file)
    truth = read(file_format, InputSource(str(file)))
    written = write_files(file_format, truth, list_grade_0=True)
    for path, data in written.items():
        target = tmp_path / "again" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    again = read(file_format, InputSource(str(tmp_path / "again")))
    assert again == truth
    assert write_files(file_format, again, list_grade_0=True) == written


@names
def test_a_sample_is_written_as_the_golden_files(file: Path) -> None:
    file_format = format_of(file)
    written = write_files(file_format, read(file_format, InputSource(str(file))), list_grade_0=True)
    assert written == list_content(GOLDEN / file.name)


@pytest.mark.parametrize(
    "file", [file for file in FILES if ".nasty" not in file.name], ids=lambda file: file.name
)
def test_the_evaluators_own_sample_comes_back_byte_for_byte(file: Path) -> None:
    file_format = format_of(file)
    assert write_files(file_format, read(file_format, InputSource(str(file)))) == list_content(file)


@files
def test_a_bom_and_crlf_change_nothing(file: Path) -> None:
    file_format = format_of(file)
    plain = file.read_bytes().replace(b"\r\n", b"\n")
    windows = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
    assert read(file_format, InputSource("f", windows)) == read(file_format, InputSource("f", plain))
    assert detect_format(InputSource("f", windows)) is file_format


@files
def test_another_encoding_is_read_when_it_is_named(file: Path) -> None:
    file_format = format_of(file)
    utf16 = file.read_bytes().decode("utf-8").encode("utf-16")
    assert read(file_format, InputSource("f", utf16, "utf-16")) == read(file_format, InputSource(str(file)))
    assert detect_format(InputSource("f", utf16, "utf-16")) is file_format


@pytest.mark.parametrize(
    "file", [file for file in ONE_FILE if file.suffix in (".yaml", ".json")], ids=lambda file: file.name
)
def test_the_lines_of_queries_are_where_they_stand(file: Path) -> None:
    file_format = format_of(file)
    assert file_format.find_query_lines is not None
    truth = read(file_format, InputSource(str(file)))
    lines = file_format.find_query_lines(InputSource(str(file)))
    assert len(lines) == len(truth.queries)
    assert lines == sorted(lines)
    source = file.read_bytes().decode().split("\n")
    assert all(source[line - 1].strip().startswith(("- ", "{")) for line in lines)
