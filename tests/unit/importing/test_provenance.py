"""What an importer declares of how grades came about: every key optional, and every bad one named with its line."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import DECLARED
from annotator.importing.judgments.provenance import MAX_TEXT, read_provenance, split_declaration

FULL = """\
who: "대학원생 3명"
when: 2019
how: |
  종이에 적고
  나중에 입력
blind: true
guideline: 指針 第2版
licence: CC BY 4.0
note: '= SUM(A1)'
"""


def put(folder: Path, content: str, name: str = "provenance.yaml") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def complain(folder: Path, content: str, name: str = "provenance.yaml") -> list[tuple[int | None, str]]:
    with pytest.raises(BadInput) as refused:
        read_provenance(put(folder, content, name))
    return [(problem.line, problem.expected) for problem in refused.value.problems]


def test_every_key_is_read(tmp_path: Path) -> None:
    provenance = read_provenance(put(tmp_path, FULL))
    assert list(provenance) == list(DECLARED)
    assert (provenance["when"], provenance["how"], provenance["blind"]) == (
        "2019",
        "종이에 적고\n나중에 입력",
        True,
    )


def test_a_json_file_says_the_same(tmp_path: Path) -> None:
    assert read_provenance(put(tmp_path, '{"who": "花子", "blind": false, "when": 2019}', "p.json")) == {
        "who": "花子", "blind": False, "when": "2019",
    }  # fmt: skip


def test_what_is_left_empty_is_not_declared(tmp_path: Path) -> None:
    assert read_provenance(put(tmp_path, "who: 花子\nlicence: ~\nblind:\n")) == {"who": "花子"}


def test_every_bad_place_is_named_with_its_line(tmp_path: Path) -> None:
    problems = complain(tmp_path, "who: [a, b]\nwhne: 2019\nblind: maybe\nhow: ''\n")
    assert [line for line, _ in problems] == [1, 2, 3, 4]
    assert problems[0][1] == "who to be a text"
    assert "did you mean when?" in problems[1][1]
    assert problems[2][1] == "blind to be true or false"


def test_annotators_of_a_file_have_names_of_their_own_which_are_not_told_in_a_datasheet(
    tmp_path: Path,
) -> None:
    provenance = read_provenance(
        put(tmp_path, "who: two\nannotators:\n  annotator_1: ' Zoe\u0308 '\n  annotator_2: 007\n")
    )
    statements, names = split_declaration(provenance)
    assert statements == {"who": "two"}
    assert names == {"annotator_1": "Zoë", "annotator_2": "007"}, "in NFC, as people are stored"
    assert split_declaration({"annotators": names}) == (None, names)
    assert split_declaration(None) == (None, {})


def test_every_name_of_an_annotator_is_a_name_and_nobody_is_two(tmp_path: Path) -> None:
    problems = complain(
        tmp_path,
        "annotators:\n  annotator_1: Tanaka\n  annotator_2: tanaka\n  annotator_3: ''\n  annotator_4: [a]\n",
    )
    assert [line for line, _ in problems] == [3, 4, 5]
    assert "another person than annotator_1" in problems[0][1]
    assert all("to be a name or username" in problem for _, problem in problems[1:])


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "p.yaml", "a YAML document"),
        ("{}", "p.yaml", "one or more of who, when, how, blind"),
        ("who: ~", "p.yaml", "one or more of who"),
        ("- who", "p.yaml", "a mapping"),
        ("{", "p.json", "JSON"),
        ("who: " + "長" * (MAX_TEXT + 1), "p.yaml", "a text of at most 5,000 characters"),
        ("who: " + "x" * 200_000, "p.yaml", "a file of at most 100,000 bytes"),
        ("licence: 1\nlicence: 2", "p.yaml", "each key once"),
        ("annotators: Tanaka", "p.yaml", "annotators to be a mapping"),
        ("annotators: {}", "p.yaml", "a name for each annotator in the file"),
        ("anotators: {a: b}", "p.yaml", "did you mean annotators?"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, content: str, name: str, message: str) -> None:
    assert message in complain(tmp_path, content, name)[0][1]
