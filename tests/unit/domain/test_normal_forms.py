"""Names and ids that people may take for the same one."""

import time
import unicodedata

import pytest

from annotator.domain.texts import clean, find_near_ids, fold, match_names, show_id


@pytest.mark.parametrize(
    "name",
    [
        "hana",
        "hana ",
        " hana",
        "HANA",
        "Hana",
        "ｈａｎａ",
        "ha\u200bna",
        "hana\u3000",
        "\ufeffhana",
        "hana\t",
    ],
)
def test_spellings_of_a_name_have_one_normal_form(name: str) -> None:
    assert fold(name) == "hana"


def test_the_normal_form_keeps_different_names_apart() -> None:
    names = ["hana", "hanako", "ha na", "josé", "jose", "花子", "かな", "가나", "a-1", "a-2"]
    assert len(set(map(fold, names))) == len(names)
    assert fold("ha   na") == fold("Ha\u00a0Na") == "ha na"
    assert fold("が") == fold("か\u3099")
    assert fold("STRASSE") == fold("straße")


def test_a_name_is_an_existing_person_or_the_first_spelling() -> None:
    assert match_names(["HANA", "hana ", "Taro  Y", "taro y"], ["hana", "mei"]) == {
        "HANA": "hana",
        "hana ": "hana",
        "Taro  Y": "Taro Y",
        "taro y": "Taro Y",
    }
    assert clean(" \u200b ") == ""


def test_two_people_with_one_normal_form_keep_their_names_and_get_no_other_spelling() -> None:
    assert match_names(["hana", "hana ", "HANA"], ["hana", "hana "]) == {
        "hana": "hana",
        "hana ": "hana ",
        "HANA": "HANA",
    }


@pytest.mark.parametrize(
    ("new_id", "existing"),
    [
        ("d1 ", "d1"),
        ("d 1", "d1"),
        ("D1", "d1"),
        ("d1\u200b", "d1"),
        ("\ufeffd1", "d1"),
        ("ｄ１", "d1"),
        ("7", "007"),
        ("Q1", "q01"),
        ("12.0", "12"),
        ("1.23457E+15", "1234567890123456"),
        ("1.23456789012346E+15", "1234567890123456"),
        ("1234567890123450000", "1234567890123456789"),
        ("1234567890123456", "1.23457E+15"),
        (unicodedata.normalize("NFD", "법령"), "법령"),
    ],
)
def test_a_new_id_that_nearly_equals_an_existing_one_is_found(new_id: str, existing: str) -> None:
    assert find_near_ids([new_id], ["other", existing]) == {new_id: existing}
    ((later, earlier),) = find_near_ids(["other", existing, new_id], [], among_new=True).items()
    assert {later, earlier} == {new_id, existing}


@pytest.mark.parametrize(
    ("new_id", "existing"),
    [
        ("d1", "d2"),
        ("d10", "d1"),
        ("1.05", "1.5"),
        ("1234567890123457", "1234567890123456"),
        ("1.3E+15", "1234567890123456"),
        ("제1조", "제10조"),
        ("a.0", "a"),
    ],
)
def test_other_ids_are_not_near(new_id: str, existing: str) -> None:
    assert find_near_ids([new_id], [existing]) == {}
    assert find_near_ids([new_id, existing], [], among_new=True) == {}


def test_thousands_of_ids_of_one_normal_form_are_compared_in_linear_time() -> None:
    ids = [
        "".join(
            letter.upper() if number >> bit & 1 else letter for bit, letter in enumerate("abcdefghijklmn")
        )
        for number in range(16_384)
    ]
    began = time.process_time()
    near = find_near_ids(ids[:8_192], ids[8_192:], among_new=True)
    assert time.process_time() - began < 3, "each with each takes ten times as long"
    assert set(near) == set(ids[:8_192])
    assert set(near.values()) == {ids[8_192]}


def test_an_id_is_shown_with_invisible_characters_escaped() -> None:
    assert show_id("d1 ") == "'d1 '"
    assert show_id("d1\u200b") == r"'d1\u200b'"
    assert show_id("민법") == "'민법'"
    assert "\\u" in show_id(unicodedata.normalize("NFD", "민법"))
