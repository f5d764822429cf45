"""Cutting laws: articles, paragraphs and items of Korean and Japanese texts, their ids, and what is left out."""

import pytest

from annotator.domain.ground_truth import Document
from annotator.importing.texts.law_articles import CUTS, Cut, cut_law, find_law_type, read_number
from annotator.importing.texts.sections import read_page

KOREAN = """---
제목: 토지법 시행령
법령구분: 대통령령
시행일자: 2026-07-01
첨부파일:
- 제목: 서식
---

# 토지법 시행령

## 제1장 총칙 <개정 2009.2.6>

##### 제1조 (목적)

이 영은 「토지법」(이하 "법"이라 한다)에서 위임된 사항을 정한다.

##### 제2조 (정의)

용어의 뜻은 다음과 같다.

  1\\. "구역"이란 제10조에 따라 지정된 것을 말한다.
    가\\. 주거지역
  1의2\\. 삭제 <2024.2.6>
  2\\. "시설"이란 다음의 것을 말한다.

##### 제2조의2 (절차(경미한 사항))

**①** 신청은 다음 각 호와 같다.

  1\\. 신청서
  2\\. 도면

**②** 삭제 <2011.4.14>

**③** 제1항에 따른 신청을 심사한다.

## 제2장 삭제

##### 제3조

삭제 <2011.4.14>

## 부칙

부칙 <제6655호,2002.2.4>

제1조 (시행일) 이 법은 2003년 1월 1일부터 시행한다.
제2조 (다른 법률의 개정) 다음과 같이 한다.

부칙(정부조직법) <제14839호,2017.7.26>

이 영은 공포한 날부터 시행한다.
"""
JAPANESE = """土地法

第一章　総則

（目的）
第一条　この法律は、土地の利用を定める。
（定義）
第二条　この法律において「区域」とは、次に掲げるものをいう。
一　市街地
二　農地
　イ　田
２　前項の区域は、第十七条の二第一項により定める。
第十七条の二　都道府県は、区域を定める。
第三条　削除

附　則　（平成二年法律第六十一号）
第一条　この法律は、公布の日から施行する。
"""


def cut(text: str, how: Cut, doc_id: str = "시행령", media_type: str = "text/markdown") -> list[Document]:
    return list(cut_law(read_page(doc_id, text, media_type), how).documents)


def list_ids(text: str, how: Cut, doc_id: str = "시행령", media_type: str = "text/markdown") -> list[str]:
    return [document.doc_id.removeprefix(f"{doc_id}_") for document in cut(text, how, doc_id, media_type)]


def test_articles_have_ids_by_their_numbers_and_deleted_ones_are_left_out() -> None:
    expected = ["제1조", "제2조", "제2조의2", "부칙_제6655호", "부칙_제14839호"]
    assert list_ids(KOREAN, "articles") == expected
    assert cut_law(read_page("시행령", KOREAN, "text/markdown"), "articles").deleted == 1


def test_paragraphs_and_items_are_documents_of_their_own() -> None:
    assert list_ids(KOREAN, "paragraphs")[:4] == ["제1조", "제2조", "제2조의2_제1항", "제2조의2_제3항"]
    assert list_ids(KOREAN, "items")[:8] == [
        "제1조",
        "제2조",
        "제2조_제1호",
        "제2조_제2호",
        "제2조의2_제1항",
        "제2조의2_제1항_제1호",
        "제2조의2_제1항_제2호",
        "제2조의2_제3항",
    ]
    assert cut_law(read_page("시행령", KOREAN, "text/markdown"), "items").deleted == 3


def test_a_part_of_an_article_says_what_it_is() -> None:
    paragraph = cut(KOREAN, "paragraphs")[3]
    assert paragraph.title == "토지법 시행령 › 제2조의2 (절차(경미한 사항)) › 제3항"
    assert paragraph.text == "**③** 제1항에 따른 신청을 심사한다."
    assert paragraph.metadata["law"] == "토지법 시행령"
    assert paragraph.metadata["law_type"] == "시행령"
    assert (paragraph.metadata["article"], paragraph.metadata["paragraph"]) == ("제2조의2", "제3항")
    assert paragraph.metadata["chapter"] == "제1장 총칙"
    assert paragraph.metadata["시행일자"] == "2026-07-01"
    assert "첨부파일" not in paragraph.metadata


def test_an_item_keeps_what_is_below_it() -> None:
    item = next(document for document in cut(KOREAN, "items") if document.doc_id.endswith("제2조_제1호"))
    assert "가\\. 주거지역" in item.text


def test_articles_of_other_laws_that_a_supplement_quotes_are_not_articles() -> None:
    supplement = cut(KOREAN, "paragraphs")[-2]
    assert supplement.doc_id == "시행령_부칙_제6655호" and "제2조 (다른 법률의 개정)" in supplement.text
    assert supplement.metadata["article"] == "부칙"


def test_a_japanese_law_is_cut_with_numbers_in_arabic() -> None:
    ids = list_ids(JAPANESE, "items", "土地法", "text/plain")
    assert ids == [
        "第1条",
        "第2条_第1項",
        "第2条_第1項_第1号",
        "第2条_第1項_第2号",
        "第2条_第2項",
        "第17条の2",
        "附則_第61号",
    ]
    second = cut(JAPANESE, "articles", "土地法", "text/plain")[1]
    assert second.title == "土地法 › 第2条 （定義）" and second.text.startswith("（定義）\n第二条")


def test_an_article_in_plain_text_begins_with_its_caption_not_with_a_reference() -> None:
    text = "제1조(목적) ① 이 법은 목적을 정한다.\n② 제2조에 따라\n제2조 및 제3조는 준용한다.\n제2조의3(절차)\n정한다.\n"
    assert list_ids(text, "paragraphs", "법", "text/plain") == ["제1조_제1항", "제1조_제2항", "제2조의3"]


def test_an_article_twice_gets_a_number() -> None:
    text = "##### 제1조 (목적)\n\n하나\n\n##### 제1조 (목적)\n\n둘\n"
    assert list_ids(text, "articles") == ["제1조", "제1조-2"]


@pytest.mark.parametrize("how", CUTS)
def test_a_page_without_articles_stays_as_it_is(how: Cut) -> None:
    page = read_page("안내", "# 안내\n\n제17조에 따라 신청한다.\n", "text/markdown")
    assert cut_law(page, how).documents == (page.document,)


@pytest.mark.parametrize("how", CUTS)
def test_no_text_is_lost_or_doubled(how: Cut) -> None:
    joined = "\n".join(document.text for document in cut(KOREAN, how))
    for words in ("위임된 사항을", "주거지역", "신청서", "심사한다", "공포한 날부터"):
        assert joined.count(words) == 1


@pytest.mark.parametrize(
    ("digits", "value"),
    [("17", 17), ("１７", 17), ("十七", 17), ("二十", 20), ("百二十一", 121), ("三〇", 30)],
)
def test_numbers_are_read_in_every_writing(digits: str, value: int) -> None:
    assert read_number(digits) == value


@pytest.mark.parametrize(
    ("document", "law_type"),
    [
        (Document("x", "국토의 계획 및 이용에 관한 법률"), "법률"),
        (Document("x", "국토의 계획 및 이용에 관한 법률 시행규칙"), "시행규칙"),
        (Document("시행령.md", "모름"), "시행령"),
        (Document("x", "農地法施行令"), "施行令"),
        (Document("x", "農地法"), "法律"),
        (Document("x", "건축법"), "법률"),
        (Document("x", "y", metadata={"law_type": "조례"}), "조례"),
        (Document("x", "고시", metadata={"법령구분": "국토교통부고시"}), "국토교통부고시"),
        (Document("x", "안내"), ""),
    ],
)
def test_the_type_of_a_law_comes_from_its_name_or_front_matter(document: Document, law_type: str) -> None:
    assert find_law_type(document) == law_type
