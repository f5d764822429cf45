"""A setting as typed: what it reads as, what is refused and with which words."""

from typing import Any

import pytest

from annotator.dataset.settings import SETTINGS, read_setting, write_setting
from annotator.domain.errors import ValidationError
from annotator.web.kit.messages import show_refusal, use_language

READ: list[tuple[str, str, Any]] = [
    ("overlap_by_category", "howto=2, 判例=1", {"howto": 2, "判例": 1}),
    ("overlap_by_category", "a=b=3", {"a=b": 3}),
    ("overlap_by_category", '{"a,b": 2}', {"a,b": 2}),
    ("overlap_by_category", "None", None),
    ("overlap_share", "0.3:2", {"share": 0.3, "overlap": 2}),
    ("overlap_share", "", None),
    ("overlap_cap", "3", 3),
    ("third_judgment_from", "2", 2),
    ("training_score", "0.8", 0.8),
    ("gold_rate", "0.05", 0.05),
    ("repeat_rate", "0.5", 0.5),
    ("repeat_after", "30", 30),
    ("idle_seconds", "120", 120),
    ("shown_metadata", "author, 発行年,author", ["author", "発行年"]),
    ("shown_metadata", '["a,b"]', ["a,b"]),
    ("shown_metadata", "none", None),
    ("language", "ja", "ja"),
    ("language", " zh-Hant-TW ", "zh-Hant-TW"),
    ("language", "de-1996-x-law", "de-1996-x-law"),
    ("language", "", None),
]


@pytest.mark.parametrize(("name", "typed", "value"), READ, ids=repr)
def test_a_setting_is_read_and_written_as_it_can_be_typed(name: str, typed: str, value: Any) -> None:
    assert read_setting(name, typed) == value
    assert read_setting(name, write_setting(name, value)) == value


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("overlap_by_category", "howto"),
        ("overlap_by_category", "=2"),
        ("overlap_by_category", "howto=2,howto=3"),
        ("overlap_by_category", '{"howto": 2.5}'),
        ("overlap_by_category", '{"howto"'),
        ("overlap_share", "0.3"),
        ("overlap_share", "30:2"),
        ("overlap_share", "nan:2"),
        ("overlap_cap", "0"),
        ("third_judgment_from", "4"),
        ("training_score", "1.1"),
        ("gold_rate", "0.6"),
        ("repeat_rate", "-0.1"),
        ("repeat_after", "0"),
        ("idle_seconds", "9"),
        ("shown_metadata", "author,,year"),
        ("language", "Japanese"),
        ("language", "日本語"),
        ("language", "ja, ko"),
        ("language", "ja_JP"),
    ],
)
def test_what_a_setting_does_not_accept_is_told_with_what_it_does(name: str, typed: str) -> None:
    with pytest.raises(ValidationError) as refused:
        read_setting(name, typed)
    assert str(refused.value).startswith(f"{name}: expected ")
    assert str(refused.value).endswith(f"found {typed!r}")


def test_every_setting_is_in_the_table_of_the_commands_page() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")
    table = page[page.index("| setting | default") : page.index("## In")]
    assert [name for name in SETTINGS if f"`{name}`" not in table] == []


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("ja", "overlap: 1～20の整数を指定してください（入力: 'many'）"),
        ("ko", "overlap: 다음으로 지정하십시오: 1~20의 정수(입력: 'many')"),
    ],
)
def test_a_refused_value_is_explained_in_the_language_of_the_page(language: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read_setting("overlap", "many")
    assert str(caught.value) == "overlap: expected a whole number 1-20, found 'many'"
    use_language(language)
    try:
        assert show_refusal(caught.value) == message
    finally:
        use_language("en")


def test_an_unknown_setting_is_refused_with_every_setting_and_its_meaning() -> None:
    with pytest.raises(ValidationError) as refused:
        read_setting("overlp", "2")
    lines = str(refused.value).splitlines()
    assert lines[0] == "no setting named 'overlp'; there are:"
    assert "  overlap: how many annotators judge each pair (a whole number 1-20)" in lines
    assert [line.split(":")[0].strip() for line in lines[1:]] == list(SETTINGS)
