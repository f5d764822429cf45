"""Every registered format meets bad files: an error that names the file and the line, all of them in one go."""

from collections.abc import Callable
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.registry import FORMATS, find_format, read_truth
from annotator.formats.syntax import json_text, source, yaml_text
from annotator.formats.syntax.source import InputSource
from tests.unit.formats.small_files import QUERIES, WRITERS, Asked, Item, line_of, put, read

NAMES = [file_format.name for file_format in FORMATS]
YAML = ("nablarch", "assay", "assay-queries")
JSON = ("law", "law-compact", "ranked")
LINES = ("trec", "beir", "csv", "jsonl")
TYPED = (*YAML, *JSON, "jsonl")  # tell a number from a text
GRADED = [name for name in NAMES if name != "ranked"]


def refuse(name: str, data: bytes | str, folder: Path) -> list[str]:
    """What is said about a file, a line each, without the folder."""
    content = data.encode() if isinstance(data, str) else data
    with pytest.raises(BadInput) as caught:
        read(name, put(name, content, folder))
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_the_matrix_knows_every_registered_format() -> None:
    assert list(WRITERS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_good_file_that_the_bad_ones_are_made_of_is_read(name: str, tmp_path: Path) -> None:
    truth = read(name, put(name, WRITERS[name](QUERIES).encode(), tmp_path))
    assert len(truth.queries) == 2
    assert [qrel.doc_id for qrel in truth.qrels] == ["d1", "d2", "d1", "d3"]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_file_is_refused(name: str, tmp_path: Path) -> None:
    (problem,) = refuse(name, b"", tmp_path)
    assert problem.startswith("bad.")
    assert problem.endswith("found an empty file")


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_file_is_refused_on_its_last_line(name: str, tmp_path: Path) -> None:
    text = WRITERS[name](QUERIES)
    cut = {"trec": "d3 1\n", "beir": "\t1\n", "csv": '検索"\n', "jsonl": "検索"}.get(name, "d3")
    text = text[: text.rindex(cut)] + ("検" if name == "csv" else "d" if name in JSON + YAML else "")
    (problem,) = refuse(name, text, tmp_path)
    line = text.count("\n") + 1
    assert int(problem.split(":")[1]) in (
        line - 1,
        line,
        line + 1,
    )  # where a YAML text was opened, or the file's end
    assert "expected" in problem


@pytest.mark.parametrize("name", NAMES)
def test_bytes_in_another_encoding_are_refused_with_their_line(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item("検", "2"))),))
    problems = refuse(name, text.encode("cp932"), tmp_path)
    first = min(line_of(text, mark) for mark in ("検", "検索") if mark in text)
    expected = "expected UTF-8 text (save it as UTF-8, or name the file's encoding), found byte 0x8c"
    assert problems == [f"bad{find_format(name).suffixes[0]}:{first}: {expected}"]


@pytest.mark.parametrize("name", NAMES)
def test_the_encoding_that_is_named_is_read(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("検", "3"),)),))
    source = put(name, text.encode("cp932"), tmp_path)
    assert read(name, InputSource(source.path, encoding="cp932")) == read(
        name, InputSource("f", text.encode())
    )


@pytest.mark.parametrize("name", NAMES)
def test_nul_characters_are_refused_with_their_line(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item("d\x002", "2"))),))
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(
        f"bad{find_format(name).suffixes[0]}:{line_of(text, chr(0))}: expected text without NUL"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_bom_and_crlf_change_nothing(name: str, tmp_path: Path) -> None:
    text = WRITERS[name](QUERIES)
    windows = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    assert read(name, put(name, windows, tmp_path)) == read(name, InputSource("f", text.encode()))


@pytest.mark.parametrize("name", LINES)
def test_a_line_over_the_limit_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item("d" * 900, "2"))),))
    monkeypatch.setattr(source, "MAX_LINE", 500)
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(
        f"bad{find_format(name).suffixes[0]}:{line_of(text, 'd' * 900)}: expected lines of at most"
    )


@pytest.mark.parametrize("name", [*LINES, pytest.param("law", marks=pytest.mark.long)])
def test_a_line_of_a_hundred_megabytes_is_refused(name: str, tmp_path: Path) -> None:
    """The lines of JSON are counted as one file: there it is the id that is too long."""
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item("MARK", "2"))),))
    (problem,) = refuse(name, text.encode().replace(b"MARK", b"d" * 100_000_000), tmp_path)
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:{line_of(text, 'MARK')}: expected ")
    assert len(problem) < 300


@pytest.mark.parametrize("name", [*YAML, *JSON])
def test_a_file_over_the_limit_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text if name in YAML else json_text, "MAX_BYTES", 100)
    (problem,) = refuse(name, WRITERS[name](QUERIES), tmp_path)
    assert problem.startswith(
        f"bad{find_format(name).suffixes[0]}: expected {'YAML' if name in YAML else 'JSON'} of at"
    )


@pytest.mark.parametrize("name", YAML)
def test_an_alias_bomb_is_refused_where_it_grows_too_large(name: str, tmp_path: Path) -> None:
    links = ["&a0 [lol, lol]", *(f"&a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    good = WRITERS[name](QUERIES)
    if name == "assay-queries":
        text = good + "- id: bomb\n" + "".join(f"  k{n}: {link}\n" for n, link in enumerate(links))
    else:
        text = good + "".join(f"k{n}: {link}\n" for n, link in enumerate(links))
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(f"bad.yaml:{line_of(text, 'k4')}: expected aliases of at most 10,000 values")


@pytest.mark.parametrize("name", YAML)
def test_a_tag_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name](QUERIES).replace('"d2"', '!!python/object/apply:os.system ["d2"]')
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(f"bad.yaml:{line_of(text, '!!')}: expected YAML without tags")


@pytest.mark.parametrize("name", [*YAML, *JSON, "jsonl"])
def test_nesting_without_end_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name](
        (Asked("Q1", (Item("d1", "3"),)), Asked("[" * 5_000 + "]" * 5_000, (Item("d2", "3"),)))
    )
    if name == "ranked":
        text = text.replace('"d2"', "[" * 5_000 + "]" * 5_000)
    (problem,) = refuse(name, text, tmp_path)
    assert "nesting of at most 50 levels" in problem
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:{line_of(text, '[[')}")


GRADES = ["2.5", "-1", "4", '"3"', "true", "null", "[3]", "three"]


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("name", GRADED)
def test_a_grade_other_than_0_to_3_is_refused(name: str, grade: str, tmp_path: Path) -> None:
    if name not in TYPED and grade == '"3"':
        grade = "'3'"  # there every value is a text
    if name not in YAML and name in TYPED and grade == "three":
        grade = '"three"'
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item("d2", grade), Item("d3", grade))),))
    problems = refuse(name, text, tmp_path)
    lines = [line_of(text, grade), line_of(text, grade, 2)]
    assert [int(problem.split(":")[1]) for problem in problems] == lines
    assert all("0, 1, 2 or 3" in problem for problem in problems)


def changed(name: str, first: Asked, second: Asked, folder: Path) -> tuple[str, list[str]]:
    text = WRITERS[name]((first, second))
    return text, refuse(name, text, folder)


@pytest.mark.parametrize("name", ["nablarch", "law", "law-compact", "assay", "assay-queries"])
def test_a_query_id_twice_is_refused(name: str, tmp_path: Path) -> None:
    text, (problem,) = changed(name, Asked("Q1", (Item("d1"),)), Asked("Q1", (Item("d2"),)), tmp_path)
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:{line_of(text, 'Q1', 2)}: expected ")
    assert problem.endswith("given once, found 'Q1'")


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_rows_of_a_query_that_say_different_things_of_it_are_refused(name: str, tmp_path: Path) -> None:
    first, second = Asked("Q1", (Item("d1"),)), Asked("Q1", (Item("d2"),), "다른 질의")
    text, (problem,) = changed(name, first, second, tmp_path)
    assert problem.startswith(
        f"bad.{name}:{line_of(text, 'd2')}: expected text as in the query's rows before ('検索')"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_document_twice_in_a_query_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("dd", "3"), Item("か", "2"), Item("dd", "1"))),))
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:{line_of(text, 'dd', 2)}: expected ")
    assert "once" in problem
    assert "'dd'" in problem or "dd" in problem


@pytest.mark.parametrize("name", [name for name in GRADED if name not in ("csv", "beir")])  # left out there
def test_a_missing_grade_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1"), Item("xx", None))),))
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:{line_of(text, 'xx')}: expected ")


@pytest.mark.parametrize("name", [*YAML, "trec", "beir", "csv", "jsonl"])
def test_a_missing_document_id_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1", "3"), Item(None, "2"))),))
    (problem,) = refuse(name, text, tmp_path)
    assert problem.startswith(f"bad{find_format(name).suffixes[0]}:")
    assert int(problem.split(":")[1]) == line_of(
        text, {"trec": " 2\n", "beir": "\t2", "csv": ",2,"}.get(name, ": 2")
    )


@pytest.mark.parametrize(
    "name", ["nablarch", "law", "law-compact", "assay", "assay-queries", "csv", "jsonl", "trec", "beir"]
)
def test_a_missing_query_id_is_refused(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1"),)), Asked(None, (Item("zz"),), "또")))
    problems = refuse(name, text, tmp_path)
    assert len(problems) == 1
    assert int(problems[0].split(":")[1]) in range(line_of(text, "zz") - 4, line_of(text, "zz") + 1)


@pytest.mark.parametrize("name", ["nablarch", "law", "law-compact", "ranked", "assay-queries"])
def test_a_missing_text_is_refused(name: str, tmp_path: Path) -> None:
    text, (problem,) = changed(name, Asked("Q1", (Item("d1"),)), Asked("Q2", (Item("d2"),), None), tmp_path)
    assert "to be a text, found nothing" in problem
    assert int(problem.split(":")[1]) in range(line_of(text, "d2") - 5, line_of(text, "d2") + 1)


@pytest.mark.parametrize("value", ["[1, 2]", "{}"])
@pytest.mark.parametrize("name", TYPED)
def test_values_of_the_wrong_type_are_all_refused(name: str, value: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1"),)), Asked(value, (Item("d2"),), value)))
    problems = refuse(name, text, tmp_path)
    lines = [
        index for index, line in enumerate(text.split("\n"), 1) if value in line and not line.endswith("[")
    ]
    named = {int(problem.split(":")[1]) for problem in problems}
    assert named == set(lines)


SHAPES: dict[str, Callable[[str], str]] = {
    "a list": lambda text: "[1]",
    "a text": lambda text: '"only words"',
    "a mapping": lambda text: '{"unknown": 1}',
    "number of pairs": lambda text: "17",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_another_shape_is_refused(name: str, shape: str, tmp_path: Path) -> None:
    problems = refuse(name, SHAPES[shape]("") + "\n", tmp_path)
    assert len(problems) == 1
    assert problems[0].startswith(f"bad{find_format(name).suffixes[0]}:1: expected ")


@pytest.mark.parametrize("name", GRADED)
def test_everything_that_is_wrong_is_said_in_one_go(name: str, tmp_path: Path) -> None:
    bad = "2.5"
    items = [Item("d1"), Item("d2", bad), Item("ä" * 1_001, "1"), Item("d3", "-1"), Item("d4", "9")]
    text = WRITERS[name]((Asked("Q1", tuple(items)), Asked("Q2", (Item("d1", "7"),))))
    lines = [line_of(text, mark) for mark in ("2.5", "ää", "-1", "9", "7")]
    assert [int(problem.split(":")[1]) for problem in refuse(name, text, tmp_path)] == sorted(lines)


@pytest.mark.parametrize("name", LINES)
def test_what_stops_the_reading_is_said_with_what_was_found_before(name: str, tmp_path: Path) -> None:
    text = WRITERS[name]((Asked("Q1", (Item("d1", "9"), Item("d2", "8"), Item("XX"), Item("d4", "7"))),))
    problems = refuse(name, text.encode().replace(b"XX", b"\xff\xfe"), tmp_path)
    assert [int(problem.split(":")[1]) for problem in problems] == [
        line_of(text, mark) for mark in ("d1", "d2", "XX")
    ]


# A folder of BEIR ---------------------------------------------------------------------------------

GOOD = {
    "queries.jsonl": '{"_id": "Q1", "text": "検索"}\n{"_id": "Q2", "text": "또"}\n',
    "corpus.jsonl": '{"_id": "d1", "title": "題", "text": "本文"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nQ1\td1\t3\nQ2\td2\t0\n",
}


def refuse_folder(folder: Path, **changes: str | bytes | None) -> list[str]:
    path = folder / "set"
    write_folder(path, **changes)
    with pytest.raises(BadInput) as caught:
        read_truth(InputSource(str(path)))
    return [
        line.removeprefix(f"{path}/")
        for line in "\n".join(map(str, caught.value.problems)).replace(f"{path}: ", "").split("\n")
    ]


def write_folder(folder: Path, **changes: str | bytes | None) -> None:
    for path, text in {**GOOD, **changes}.items():
        if text is None:
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_good_folder_is_read_with_its_documents(tmp_path: Path) -> None:
    write_folder(tmp_path)
    file_format, truth = read_truth(InputSource(str(tmp_path)))
    assert file_format.name == "beir"
    assert [(query.query_id, query.text) for query in truth.queries] == [("Q1", "検索"), ("Q2", "또")]
    assert [document.title for document in truth.documents] == ["題"]
    assert [(qrel.doc_id, qrel.grade) for qrel in truth.qrels] == [("d1", 3), ("d2", 0)]


def test_bad_lines_of_all_files_of_a_folder_are_said_in_one_go(tmp_path: Path) -> None:
    problems = refuse_folder(
        tmp_path,
        **{
            "queries.jsonl": '{"_id": "Q1", "text": 5}\n{"text": "x"}\n{"_id": "Q1", "text": "x"}\n{"_id":\n',
            "corpus.jsonl": '{"_id": "d1", "media_type": "image/png"}\n[]\n{"_id": "d1"}\n{"_id": "", "metadata": 1}\n',
            "qrels/test.tsv": "query-id\tcorpus-id\tscore\nQ1\td1\t2.5\nQ9\td1\t1\nQ1\td2\n\td2\t1\n",
            "qrels/train.tsv": "query\tdoc\tgrade\nQ1\td1\t1\n",
        },
    )
    assert [line.split(" expected")[0] for line in problems] == [
        "queries.jsonl:1:",
        "queries.jsonl:2:",
        "queries.jsonl:3:",
        "queries.jsonl:4:",
        "corpus.jsonl:1:",
        "corpus.jsonl:2:",
        "corpus.jsonl:3:",
        "corpus.jsonl:4:",
        "corpus.jsonl:4:",
        "qrels/test.tsv:2:",
        "qrels/test.tsv:3:",
        "qrels/test.tsv:4:",
        "qrels/test.tsv:5:",
        "qrels/train.tsv:1:",
    ]


def test_a_pair_in_two_splits_is_refused(tmp_path: Path) -> None:
    problems = refuse_folder(tmp_path, **{"qrels/train.tsv": "query-id\tcorpus-id\tscore\nQ1\td1\t1\n"})
    assert problems == [
        "qrels/train.tsv:2: expected each document of a query once, found 'd1' again, graded 1 and 3 before"
    ]


@pytest.mark.parametrize("name", ["queries.jsonl", "qrels/test.tsv"])
def test_an_empty_file_of_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    problems = refuse_folder(tmp_path, **{name: ""})
    assert problems[0].startswith(f"{name}: expected")
    assert problems[0].endswith("found an empty file")


def test_a_folder_without_queries_is_refused(tmp_path: Path) -> None:
    assert refuse_folder(tmp_path, **{"queries.jsonl": None, "qrels/test.tsv": None}) == [
        "expected queries.jsonl in the folder, found none"
    ]


@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl", "qrels/test.tsv", "qrels/more.tsv"])
def test_a_link_out_of_the_folder_is_refused_and_not_read(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "secret.tsv"
    outside.write_text("password\n")
    path = tmp_path / "set"
    write_folder(path)
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(outside)
    with pytest.raises(BadInput) as caught:
        read_truth(InputSource(str(path)))
    (problem, *_) = [str(problem) for problem in caught.value.problems]
    assert f"expected {name} to be a file within the folder" in problem
    assert "password" not in str(caught.value)


def test_a_folder_of_qrels_that_lies_elsewhere_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "test.tsv").write_text(GOOD["qrels/test.tsv"])
    path = tmp_path / "set"
    write_folder(path, **{"qrels/test.tsv": None})
    (path / "qrels").symlink_to(outside)
    with pytest.raises(BadInput, match=r"expected qrels/test\.tsv to be a file within the folder"):
        read_truth(InputSource(str(path)))


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "qrels/../../secret", "qrels/.."])
def test_a_path_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected files within the folder"):
        InputSource(str(tmp_path)).child(name)


def test_a_folder_where_a_file_should_be_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "qrels" / "more.tsv").mkdir()
    with pytest.raises(BadInput, match=r"expected qrels/more\.tsv to be a file within the folder"):
        read_truth(InputSource(str(tmp_path)))
