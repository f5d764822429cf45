"""Relations between laws by their own texts: whom a reference leads to, and what leads nowhere."""

import pytest

from annotator.importing.texts.law_relations import LawDocument, find_relations

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
        make(ACT, "제97조"),
        make(ACT, "제97조의2"),
        *(make(ACT, "제98조", f"제{number}항") for number in (1, 2, 3)),
        make(ACT, "제99조의2"),
        make(ACT, "제17조의2"),
        make(DECREE, "제5조"),
        make(DECREE, "제25조", "제1항"),
        make(RULE, "제7조"),
    ]
    source = make(law, "제99조", "", text)
    relations = find_relations([*targets, source]).relations
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
        (ACT, "전조제2항 및 제3항", ["법률_제98조_제2항", "법률_제98조_제3항"]),
        (ACT, "전조 및 제1조", ["법률_제98조_제1항", "법률_제98조_제2항", "법률_제98조_제3항", "법률_제1조"]),
        (
            ACT,
            "전2조의 규정",
            ["법률_제97조의2", "법률_제98조_제1항", "법률_제98조_제2항", "법률_제98조_제3항"],
        ),
        (ACT, "전 4조의 규정", []),
        (ACT, "다음 조에 따라 같은 조제1항", ["법률_제99조의2"]),
        (ACT, "본조 및 이 조에서 같은 조제1항", []),
        (ACT, "안전조치, 전조등, 사전조사, 다음 조치와 전조합원", []),
        (DECREE, "법 제1조와 전조", ["법률_제1조"]),
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
    assert {tuple(relation) for relation in find_relations(documents).relations} == {
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
    assert [tuple(relation) for relation in find_relations(documents).relations] == [
        ("법률_제17조_제1항", "법률_제17조_제2항", "sibling"),
        ("법률_제17조_제1항", "법률_제17조_제3항", "sibling"),
        ("법률_제17조_제2항", "법률_제17조_제3항", "sibling"),
    ]


def test_supplementary_provisions_have_no_relations() -> None:
    assert find_relations([make(ACT, "제1조"), make(ACT, "부칙", "", "제1조의 개정규정")]).relations == ()


def test_two_acts_keep_their_own_decrees() -> None:
    documents = [
        make(ACT, "제1조"),
        make("건축법", "제1조"),
        make("건축법 시행령", "제3조", "", "법 제1조에 따라"),
    ]
    decrees = [
        tuple(relation) for relation in find_relations(documents).relations if relation.relation == "decree"
    ]
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
    relations = {tuple(relation) for relation in find_relations(documents).relations}
    assert relations == {
        ("法_第17条_第2項", "令_第1条", "decree"),
        ("令_第1条", "法_第17条_第2項", "reference"),
        ("法_第3条の2", "令_第1条", "decree"),
        ("令_第1条", "法_第3条の2", "reference"),
        ("令_第2条", "令_第1条", "reference"),
    }


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("前条第二項に規定する", ["第16条_第2項"]),
        ("前条の規定は次条に準用する", ["第16条_第1項", "第16条_第2項", "第17条の2"]),
        ("前二条の規定", ["第15条の3", "第16条_第1項", "第16条_第2項"]),
        ("前三条の規定", []),
        ("次条第一項及び前条第一項", ["第17条の2", "第16条_第1項"]),
        ("第十五条の三及び同条第一項", ["第15条の3"]),
        ("以前条例により、前条件、次条約、同条例第十六条", ["第16条_第1項", "第16条_第2項"]),
    ],
)
def test_japanese_references_are_relative_to_their_article(text: str, targets: list[str]) -> None:
    def make_document(article: str, paragraph: str = "", words: str = "") -> LawDocument:
        doc_id = f"{article}_{paragraph}" if paragraph else article
        return LawDocument(doc_id, "農地法", "法律", article, paragraph, words)

    documents = [
        make_document("第17条", "", text),
        make_document("第17条の2"),
        make_document("第16条", "第1項"),
        make_document("第16条", "第2項"),
        make_document("第15条の3"),
        make_document("第15条"),
    ]
    found = find_relations(documents).relations
    assert [end for start, end, relation in found if relation == "reference"] == targets


def test_an_article_is_next_only_by_its_number() -> None:
    documents = [
        make(ACT, "제3조", "", "다음 조에"),
        make(ACT, "제5조", "", "전조에"),
        make(ACT, "제5조의2", "", "전조에"),
        make(ACT, "제6조", "", "전조에"),
    ]
    found = find_relations(documents)
    assert [relation[:2] for relation in found.relations] == [
        ("법률_제5조의2", "법률_제5조"),
        ("법률_제6조", "법률_제5조의2"),
    ]
    assert [tuple(reference) for reference in found.unknown] == [
        ("법률_제3조", "다음 조"),
        ("법률_제5조", "전조"),
    ]


def test_references_that_lead_nowhere_are_told_once_and_those_to_other_laws_are_counted() -> None:
    text = "같은 조 제1항, 제88조제2항, 제88조제2항, 제1조 및 제77조, 「건축법」 제1조 및 제2조, 같은 조, 같은 법 제3조"
    found = find_relations([make(ACT, "제1조"), make(ACT, "제2조", "", text)])
    assert [reference.words for reference in found.unknown] == ["같은 조 제1항", "제88조제2항", "및 제77조"]
    assert found.other_laws == 3
