"""Ids and titles of files by a pattern: from the path, the front matter, or the headings."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.importing.sources import make_layout, read_folder

FILES = {
    "forms/customer.md": "# Survey template\n\nintro\n\n## Customer survey\n\nQ1\n",
    "forms/staff.md": "---\ntitle_ja: 社員調査\n---\n# Survey template\n\nintro\n\n## Staff survey\n\nQ1\n",
}


def read(
    tmp_path: Path, doc_id: str | None = None, title: str | None = None, **options: object
) -> dict[str, str]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    layout = make_layout(
        sections=bool(options.get("sections")),
        cut=options.get("cut"),
        doc_id=doc_id,
        title=title,  # type: ignore[arg-type]
    )
    lines = read_folder(tmp_path, layout=layout, encoding=None).documents
    return {line.document.doc_id: line.document.title for line in lines}


def test_without_a_pattern_the_path_and_the_first_heading_name_a_file(tmp_path: Path) -> None:
    assert read(tmp_path) == {"forms/customer.md": "Survey template", "forms/staff.md": "Survey template"}


def test_an_id_may_be_the_path_without_its_suffix_or_the_name_alone(tmp_path: Path) -> None:
    assert list(read(tmp_path, "{stem}")) == ["forms/customer", "forms/staff"]
    assert list(read(tmp_path, "survey-{name}")) == ["survey-customer", "survey-staff"]


def test_a_title_may_be_the_first_heading_that_no_other_file_has(tmp_path: Path) -> None:
    assert list(read(tmp_path, title="{own_heading}").values()) == ["Customer survey", "Staff survey"]


def test_of_alternatives_the_first_with_a_value_counts(tmp_path: Path) -> None:
    assert list(read(tmp_path, title="{front.title_ja|own_heading}").values()) == [
        "Customer survey",
        "社員調査",
    ]


def test_sections_go_on_from_the_pattern(tmp_path: Path) -> None:
    assert "customer#customer-survey" in read(tmp_path, "{name}", sections=True)


def test_a_cut_law_is_named_without_the_suffix_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "법률.md").write_text("##### 제1조 (목적)\n\n목적\n", encoding="utf-8")
    assert "법률_제1조" in read(tmp_path, cut="articles")


def test_a_file_without_a_value_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"customer\.md: expected a value for \{front\.title_ja\} of --title"):
        read(tmp_path, title="{front.title_ja}")


def test_two_files_with_one_id_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"staff\.md: expected an id of its own by --doc-id \(not that of .*customer\.md\)"
    ):
        read(tmp_path, "{heading}")


@pytest.mark.parametrize("pattern", ["{file}", "{}", "{front.}", "{stem", "stem}", "survey", "{stem|x}"])
def test_a_pattern_that_is_none_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ValidationError, match="--doc-id: expected"):
        read(tmp_path, pattern)


def test_a_cut_that_there_is_not_and_a_cut_beside_sections_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="articles, paragraphs, items, found 'chapters'"):
        read(tmp_path, cut="chapters")
    with pytest.raises(ValidationError, match="give one of them"):
        read(tmp_path, cut="articles", sections=True)
