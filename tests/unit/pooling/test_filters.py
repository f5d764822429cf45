"""What stays out of a pool: by field, title and length, and all but the best ranked of each page."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import ValidationError
from annotator.pooling.filters.filters import (
    LONGEST_PATTERN,
    ExcludedValue,
    FilteredDocument,
    NearDuplicateRule,
    PoolFilters,
    RankedCandidate,
    check_pattern,
    choose_one_per,
    find_excluded,
    leave_out,
    list_field_names,
    list_unknown_fields,
    list_values,
    match_titles,
    rank_candidates,
    read_filters,
    refuse_fields,
)
from annotator.pooling.rounds.round_records import LeftOut


def _document(pk: int = 1, length: int | None = 500, **extra: Any) -> FilteredDocument:
    return FilteredDocument(
        pk, f"doc#{pk}", "第709条 불법행위", "https://x.example/a?b=c", "text/plain", extra, length
    )


def _values(field: str, **extra: Any) -> list[str]:
    return list_values(_document(**extra), field)


def test_a_field_is_an_own_field_or_a_further_column_nested_by_dots() -> None:
    assert _values("doc_id") == ["doc#1"]
    assert _values("media_type") == ["text/plain"]
    assert _values("언어", 언어="한국어") == ["한국어"]
    assert _values("meta.lang", meta={"lang": "ja"}) == ["ja"]
    assert _values("meta.lang", **{"meta.lang": "ko"}) == ["ko"]
    assert _values("a.b.c", a={"b.c": "x"}) == ["x"]
    assert _values("authors.name", authors=[{"name": "김"}, {"name": "佐藤"}]) == ["김", "佐藤"]


def test_a_list_has_the_values_of_its_members_and_numbers_are_written_as_json() -> None:
    assert _values("tags", tags=["law", "🔎", 3, True, 0.5, None]) == ["law", "🔎", "3", "true", "0.5"]
    assert _values("draft", draft=None) == []
    assert _values("draft") == []
    assert _values("meta", meta={"lang": "ja"}) == []


def test_values_match_exactly_except_for_the_unicode_form() -> None:
    filters = read_filters(exclude=["lang=ガ"])
    assert find_excluded(_document(lang=unicodedata.normalize("NFD", "ガ")), filters, {}) == "exclude:lang=ガ"
    assert find_excluded(_document(lang="ｶﾞ"), filters, {}) is None
    assert find_excluded(_document(lang="ガイド"), filters, {}) is None
    hangul = read_filters(exclude=["lang=" + unicodedata.normalize("NFD", "한국어")])
    assert find_excluded(_document(lang="한국어"), hangul, {}) is not None
    assert find_excluded(_document(lang="KO"), read_filters(exclude=["lang=ko"]), {}) is None


def test_the_first_equals_sign_ends_the_field() -> None:
    filters = read_filters(exclude=["url=https://x.example/a?b=c", "lang="])
    assert filters.excluded == (ExcludedValue("url", "https://x.example/a?b=c"), ExcludedValue("lang", ""))
    assert find_excluded(_document(), filters, {}) == "exclude:url=https://x.example/a?b=c"
    assert find_excluded(_document(lang=""), read_filters(exclude=["lang="]), {}) == "exclude:lang="
    assert find_excluded(_document(), read_filters(exclude=["lang="]), {}) is None


def test_a_text_below_the_minimum_length_stays_out() -> None:
    filters = read_filters(min_length=100)
    assert find_excluded(_document(length=99), filters, {}) == "min-length:100"
    assert find_excluded(_document(length=100), filters, {}) is None
    assert find_excluded(_document(length=None), filters, {}) == "min-length:100"
    assert find_excluded(_document(length=None), read_filters(min_length=0), {}) is None


def test_each_candidate_is_left_out_by_the_first_rule_only() -> None:
    filters = read_filters(exclude=["lang=ko"], exclude_title=["불법"], min_length=9, one_per="url")
    documents = {
        1: _document(1, lang="ko", length=1),
        2: _document(2, length=1),
        3: _document(3, length=2),
        4: _document(4),
        5: _document(5),
    }
    ranked = rank_candidates([(7, pk, pk) for pk in documents], {})
    left_out = leave_out(ranked, documents, filters, {1: "exclude-title:불법", 2: "exclude-title:불법"})
    assert left_out == [
        LeftOut(7, 1, "exclude:lang=ko"),
        LeftOut(7, 2, "exclude-title:불법"),
        LeftOut(7, 3, "min-length:9"),
        LeftOut(7, 5, "one-per:url", 4),
    ]


def test_no_rule_leaves_out_a_pair_of_the_pool() -> None:
    filters = read_filters(exclude=["lang=ko"], one_per="lang")
    documents = {pk: _document(pk, lang="ko") for pk in (1, 2)} | {3: _document(3, lang="ja")}
    ranked = rank_candidates([(7, 1, 1), (7, 3, 2)], {7: {1, 2}})
    assert leave_out(ranked, documents, filters, {}) == []


def test_only_the_best_ranked_of_a_page_stays_unless_a_pair_of_the_pool_represents_it() -> None:
    documents = {pk: _document(pk, page="頁" if pk < 4 else f"p{pk}") for pk in range(1, 6)}
    filters = read_filters(one_per="page")
    ranked = rank_candidates([(1, 1, 9), (1, 2, 3), (1, 3, 3), (1, 4, 1), (1, 5, 2)], {})
    assert leave_out(ranked, documents, filters, {}) == [
        LeftOut(1, 3, "one-per:page", 2),
        LeftOut(1, 1, "one-per:page", 2),
    ]
    ranked = rank_candidates([(1, 2, 1), (1, 3, 2)], {1: {1}, 2: {3}})
    assert leave_out(ranked, documents, filters, {}) == [
        LeftOut(1, 2, "one-per:page", 1),
        LeftOut(1, 3, "one-per:page", 1),
    ]


def test_documents_without_the_field_all_stay() -> None:
    documents = {1: _document(1), 2: _document(2), 3: _document(3, page=None)}
    ranked = [RankedCandidate(pk, False) for pk in documents]
    assert choose_one_per(ranked, documents, "page") == {}


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 4)), unique_by=lambda item: item[:2]
    )
)
def test_one_per_page_keeps_the_best_in_any_order_of_candidates(
    candidates: list[tuple[int, int, int]],
) -> None:
    documents = {pk: _document(pk, page=str(pk % 3)) for pk in range(1, 10)}
    filters = PoolFilters(one_per="page")
    left_out = leave_out(rank_candidates(candidates, {}), documents, filters, {})
    assert left_out == leave_out(rank_candidates(reversed(candidates), {}), documents, filters, {})
    for item in left_out:
        ranks = {pk: rank for query, pk, rank in candidates if query == item.query_pk}
        assert item.kept_document_pk is not None
        assert item.kept_document_pk % 3 == item.document_pk % 3
        best = min((rank, pk) for pk, rank in ranks.items() if pk % 3 == item.document_pk % 3)
        assert best == (ranks[item.kept_document_pk], item.kept_document_pk)
    pages = {(query, pk % 3) for query, pk, _ in candidates}
    assert len(candidates) - len(left_out) == len(pages)


def test_the_names_of_fields_are_listed_with_dots() -> None:
    documents = [
        _document(meta={"lang": "ja", "in": {"deep": [1]}}, tags=["a"], none=None, authors=[{"name": "김"}])
    ]
    names = list_field_names(documents)
    assert names == {
        "doc_id",
        "title",
        "url",
        "media_type",
        "meta.lang",
        "meta.in.deep",
        "tags",
        "authors.name",
    }
    filters = read_filters(exclude=["meta.lang=x", "lang=ko"], one_per="page")
    assert list_unknown_fields(filters, names) == ["lang", "page"]


def test_an_unknown_field_is_refused_with_the_existing_fields() -> None:
    refuse_fields([], {"title"})
    with pytest.raises(ValidationError) as refusal:
        refuse_fields(["lang"], {"title", "doc_id", "언어", "b"})
    assert str(refusal.value) == "no document has the field 'lang'; there are: doc_id, title, b, 언어"
    with pytest.raises(ValidationError, match="and 9 more"):
        refuse_fields(["lang"], {f"f{number:02}" for number in range(39)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude": ["lang"]}, "exclude: expected FIELD=VALUE, found 'lang'"),
        ({"exclude": ["=ko"]}, "exclude: expected FIELD=VALUE, found '=ko'"),
        ({"min_length": -1}, "minimum length: expected 0 or more characters, found -1"),
        ({"one_per": " "}, "one per: expected a field of documents, found nothing"),
        (
            {"near_duplicates": "2"},
            "near duplicates: expected “exact” or a similarity from 0.5 to 1, found '2'",
        ),
        (
            {"exclude_title": ["조(항"]},
            "title: expected a regular expression, found '조(항', wrong at character 2: ",
        ),
        ({"exclude_title": [""]}, "title: expected a regular expression of 1 to 1,000 characters, found 0"),
    ],
)
def test_a_wrong_option_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        read_filters(**options)
    assert str(refusal.value).startswith(message)


def test_rules_have_fixed_names() -> None:
    filters = read_filters(
        exclude=["lang=ko", "lang=ko"],
        exclude_title=["^附則"],
        min_length=100,
        one_per="page",
        near_duplicates="0.90",
    )
    assert filters.list_rules() == [
        "exclude:lang=ko",
        "exclude-title:^附則",
        "min-length:100",
        "one-per:page",
        "near-duplicate:0.9",
    ]
    assert read_filters(near_duplicates="exact").near_duplicates == NearDuplicateRule(None)
    assert read_filters(near_duplicates="exact").list_rules() == ["near-duplicate:exact"]
    assert not read_filters()
    assert not read_filters(min_length=0)


TITLES = {
    1: "第七百九条 不法行為",
    2: "제750조(불법행위의 내용)",
    3: "Annex 🔎",
    4: "ملحق",
    5: unicodedata.normalize("NFD", "별표 ガ"),
}


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("^第", {1}),
        ("불법", {2}),
        ("(?i)ANNEX", {3}),
        ("🔎$", {3}),
        ("ملحق", {4}),
        ("별표 ガ", {5}),
        ("条$", set()),
    ],
)
def test_titles_are_matched_anywhere_in_every_script(pattern: str, matching: set[int]) -> None:
    assert match_titles(pattern, TITLES) == matching


def test_a_pattern_that_takes_too_long_is_refused() -> None:
    with pytest.raises(ValidationError, match="which takes longer; avoid repeats inside repeats"):
        match_titles("(a+)+$", {1: "a" * 60 + "!"}, seconds=0.5)


def test_a_pattern_that_takes_too_long_to_compile_is_refused() -> None:
    with pytest.raises(ValidationError, match="which takes longer"):
        match_titles("(?i)" + "[\u0001-\U0010ffff]" * 150, {}, seconds=1.0)


def test_a_pattern_above_the_maximum_length_is_refused() -> None:
    check_pattern("a" * LONGEST_PATTERN)
    for pattern in ("a" * (LONGEST_PATTERN + 1), "(?P<n>", "[z-a]", "a{9999999999999999999}", "\\"):
        with pytest.raises(ValidationError, match="title: expected a regular expression"):
            check_pattern(pattern)
