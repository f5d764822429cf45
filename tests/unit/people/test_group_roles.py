"""The file that says which roles the provider's groups give."""

from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.people.single_sign_on.records import choose_roles, read_group_roles

ROLES = {"engineers": {"*": "annotator", "law": "lead"}, "leads": {"*": "lead"}, "법률팀": {"law": "admin"}}


def test_of_several_groups_the_strongest_role_on_each_dataset_counts() -> None:
    assert choose_roles(ROLES, ["engineers", "unknown"]) == {"*": "annotator", "law": "lead"}
    assert choose_roles(ROLES, ["leads", "법률팀", "engineers"]) == {"*": "lead", "law": "admin"}
    assert choose_roles(ROLES, []) == {}


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "roles.yaml"
    path.write_text(
        'engineers: {"*": annotator, law: lead}\nleads: {"*": lead}\n법률팀: {law: admin}\n', "utf-8"
    )
    assert read_group_roles(path) == ROLES


@pytest.mark.parametrize(
    "content",
    [
        "",
        "- a",
        "engineers: lead",
        "engineers: {law: root}",
        "1: {law: lead}",
        "a: {1: lead}",
        "a: [",
        "a: {law: [lead]}",
        pytest.param("[" * 5_000, id="nested without end"),
    ],
)
def test_an_entry_that_means_nothing_is_refused_with_the_setting(tmp_path: Path, content: str) -> None:
    path = tmp_path / "roles.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(ValidationError, match="ANNOTATOR_OIDC_ROLES_FILE"):
        read_group_roles(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="ANNOTATOR_OIDC_ROLES_FILE"):
        read_group_roles(tmp_path / "none.yaml")
