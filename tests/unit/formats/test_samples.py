"""Every registered format reads its sample files, is recognised by them, and gives them back."""

from pathlib import Path

import pytest

from annotator.formats.registry import FORMATS, detect_format, find_format

SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"
GOLDEN = Path(__file__).parents[2] / "golden" / "formats"
FILES = sorted(SAMPLES.iterdir())


def test_every_format_has_a_sample() -> None:
    assert {file.name.split(".")[0] for file in FILES} == {known.name for known in FORMATS}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_sample_is_recognised_by_its_content(file: Path) -> None:
    assert detect_format(file.read_bytes(), "without a suffix").name == file.name.split(".")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_written_reads_back_as_it_was(file: Path) -> None:
    known = find_format(file.name.split(".")[0])
    truth = known.read(file.read_bytes(), file.name)
    written = known.write(truth, list_grade_0=True)
    again = known.read(written, file.name)
    assert again == truth
    assert known.write(again, list_grade_0=True) == written


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_sample_is_written_as_the_golden_file(file: Path) -> None:
    known = find_format(file.name.split(".")[0])
    written = known.write(known.read(file.read_bytes(), file.name), list_grade_0=True)
    assert written == (GOLDEN / file.name).read_bytes()


@pytest.mark.parametrize("name", ["nablarch.yaml", "law.json"])
def test_the_evaluators_own_sample_comes_back_byte_for_byte(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    known = find_format(name.split(".")[0])
    assert known.write(known.read(data, name)) == data


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_bom_and_crlf_change_nothing(file: Path) -> None:
    known = find_format(file.name.split(".")[0])
    plain = file.read_bytes().replace(b"\r\n", b"\n")
    windows = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
    assert known.read(windows, file.name) == known.read(plain, file.name)
    assert detect_format(windows, file.name) is known


@pytest.mark.parametrize(
    "file", [file for file in FILES if "trec" not in file.name], ids=lambda file: file.name
)
def test_the_lines_of_queries_are_where_they_stand(file: Path) -> None:
    known = find_format(file.name.split(".")[0])
    data = file.read_bytes()
    assert known.find_query_lines is not None
    lines = known.find_query_lines(data, file.name)
    assert len(lines) == len(known.read(data, file.name).queries)
    source = data.decode().split("\n")
    assert all(source[line - 1].strip().startswith(("- id:", "{")) for line in lines)
