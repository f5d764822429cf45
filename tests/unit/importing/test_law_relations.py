"""Relations between laws by their own texts: whom a reference leads to, and what leads nowhere."""

import pytest

from annotator.importing.relations.law_relations import LawDocument, find_relations

ACT, DECREE, RULE = "토지법", "토지법 시행령", "토지법 시행규칙"


def make(law: str, article: str, paragraph: str = "", text: str = "") -> LawDocument:
    names = {ACT: "법률", DECREE: "시행령", RULE: "시행규칙"}
    parts = (names.get(law, law), article, paragraph)
    return LawDocument(
        "_".join(part for part in parts if part), law, names.get(law, ""), article, paragraph, text
    )


def list_references(law: str, text: str) -> list[str]:
    """Where a text of this law, in an article of its own, refers to."""
    targets = [
        *(make(ACT, f"제{number}조") for number in (1, 2, 3, 4)),
        *(make(ACT, "제17조", f"제{number}항") for number in (1, 2, 3)),
        make(ACT, "제17조의2"),
        make(DECREE, "제5조"),
        make(DECREE, "제25조", "제1항"),
        make(RULE, "제7조"),
    ]
    source = make(law, "제99조", "", text)
    relations = find_relations([*targets, source])
    return [end for start, end, relation in relations if relation == "reference" and start == source.doc_id]


@pytest.mark.parametrize(
    ("law", "text", "targets"),
    [
        (ACT, "제17조제2항에 따른 경우", ["법률_제17조_제2항"]),
        (ACT, "제17조에 따라", ["법률_제17조_제1항", "법률_제17조_제2항", "법률_제17조_제3항"]),
        (ACT, "제17조의2에 따라", ["법률_제17조의2"]),
        (ACT, "제1조 및 제3조를", ["법률_제1조", "법률_제3조"]),
        (ACT, "제1조부터 제3조까지", ["법률_제1조", "법률_제2조", "법률_제3조"]),
        (ACT, "제17조제1항ㆍ제3항", ["법률_제17조_제1항", "법률_제17조_제3항"]),
        (ACT, "제17조제1항부터 제3항까지", ["법률_제17조_제1항", "법률_제17조_제2항", "법률_제17조_제3항"]),
        (ACT, "제17조제1항제2호 또는 제3호", ["법률_제17조_제1항"]),
        (ACT, "제17조제1항에서 정하고 같은 조 제3항은", ["법률_제17조_제1항", "법률_제17조_제3항"]),
        (ACT, "이 법 제1조", ["법률_제1조"]),
        (ACT, "「건축법」 제1조에 따른 같은 법 제2조 및 제3조", []),
        (ACT, "「건축법」 제1조 및 제2조", []),
        (ACT, "「토지법 시행령」 제5조", ["시행령_제5조"]),
        (ACT, "건축법 제1조", []),
        (ACT, "부칙 제1조", []),
        (ACT, "제88조", []),
        (DECREE, "법 제17조제1항", ["법률_제17조_제1항"]),
        (DECREE, "(법 제1조의 시설)", ["법률_제1조"]),
        (DECREE, '「토지법」(이하 "법"이라 한다) 제2조제6호', ["법률_제2조"]),
        (DECREE, "제5조에도 불구하고", ["시행령_제5조"]),
        (RULE, "영 제25조제1항", ["시행령_제25조_제1항"]),
        (RULE, "법 제1조 및 영 제5조", ["법률_제1조", "시행령_제5조"]),
        (RULE, "영 제25조제9항", ["시행령_제25조_제1항"]),
    ],
)
def test_a_reference_leads_to_what_it_names(law: str, text: str, targets: list[str]) -> None:
    assert list_references(law, text) == targets


def test_what_a_decree_says_of_an_article_is_its_decree_and_so_with_rules() -> None:
    documents = [
        make(ACT, "제17조", "", "제5조"),
        make(ACT, "제5조"),
        make(DECREE, "제13조", "", "법 제17조에서 정하는"),
        make(RULE, "제2조", "", "영 제13조 및 법 제5조"),
    ]
    assert {tuple(relation) for relation in find_relations(documents)} == {
        ("법률_제17조", "법률_제5조", "reference"),
        ("법률_제17조", "시행령_제13조", "decree"),
        ("시행령_제13조", "법률_제17조", "reference"),
        ("시행령_제13조", "시행규칙_제2조", "rule"),
        ("시행규칙_제2조", "시행령_제13조", "reference"),
        ("법률_제5조", "시행규칙_제2조", "rule"),
        ("시행규칙_제2조", "법률_제5조", "reference"),
    }


def test_parts_of_an_article_are_siblings_once_and_not_references() -> None:
    documents = [make(ACT, "제17조", f"제{number}항", "제17조제1항에 따라") for number in (1, 2, 3)]
    assert [tuple(relation) for relation in find_relations(documents)] == [
        ("법률_제17조_제1항", "법률_제17조_제2항", "sibling"),
        ("법률_제17조_제1항", "법률_제17조_제3항", "sibling"),
        ("법률_제17조_제2항", "법률_제17조_제3항", "sibling"),
    ]


def test_supplementary_provisions_have_no_relations() -> None:
    assert find_relations([make(ACT, "제1조"), make(ACT, "부칙", "", "제1조의 개정규정")]) == []


def test_two_acts_keep_their_own_decrees() -> None:
    documents = [
        make(ACT, "제1조"),
        make("건축법", "제1조"),
        make("건축법 시행령", "제3조", "", "법 제1조에 따라"),
    ]
    decrees = [tuple(relation) for relation in find_relations(documents) if relation.relation == "decree"]
    assert decrees == [("건축법_제1조", "건축법 시행령_제3조", "decree")]


def test_japanese_references_are_read() -> None:
    documents = [
        LawDocument("法_第17条_第2項", "農地法", "法律", "第17条", "第2項", ""),
        LawDocument("法_第3条の2", "農地法", "法律", "第3条の2", "", "建築基準法第十七条第二項"),
        LawDocument(
            "令_第1条", "農地法施行令", "施行令", "第1条", "", "法第十七条第二項及び第三条の二の規定"
        ),
        LawDocument("令_第2条", "農地法施行令", "施行令", "第2条", "", "第一条の規定により、同法第十七条"),
    ]
    relations = {tuple(relation) for relation in find_relations(documents)}
    assert relations == {
        ("法_第17条_第2項", "令_第1条", "decree"),
        ("令_第1条", "法_第17条_第2項", "reference"),
        ("法_第3条の2", "令_第1条", "decree"),
        ("令_第1条", "法_第3条の2", "reference"),
        ("令_第2条", "令_第1条", "reference"),
    }
