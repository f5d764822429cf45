"""Which language a reader is spoken to: the account's own choice, else the browser's, else English; and addresses that
name a choice in another language than the reader's."""

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from annotator.domain.messages import LANGUAGES as SPOKEN
from annotator.domain.messages import say
from annotator.domain.people import Actor, SignedIn
from annotator.domain.settling import QueueReason
from annotator.overview.next_steps import WaitingDisagreements, describe_waiting
from annotator.web.adjudication.queue_filters import name_reasons
from annotator.web.kit.controls import apply_url_choice, apply_url_tab, find_chosen_option, list_names
from annotator.web.kit.messages import (
    LANGUAGES,
    choose_language,
    current_language,
    find_language,
    tr,
    use_language,
)
from annotator.web.kit.words import name_field
from annotator.web.session import use_language_of

SORTS = ("distance", "impact", "age")
TABS = [say("Browse"), say("Compare")]


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    use_language("en")
    yield
    use_language("en")


def somebody(language: str | None) -> SignedIn:
    return SignedIn(Actor(1, "hanako"), "花子", (), False, datetime(2026, 1, 2, tzinfo=UTC), language)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("ja", "ja"),
        ("ko-KR", "ko"),
        ("JA-jp", "ja"),
        ("ja-JP,ja;q=0.9,en-US;q=0.8,en;q=0.7", "ja"),
        ("en-US,en;q=0.9,ja;q=0.8", "en"),
        ("ja;q=0.3,ko;q=0.4,en;q=0.2", "ko"),
        ("ko;q=0.5,ja;q=0.5", "ko"),
        ("ko;q=1.0,ja", "ko"),
        ("ja;q=0.5,ko;q=0.5", "ja"),
        ("de, fr;q=0.9, ko;q=0.1", "ko"),
        (" ja ; q=0.3 , ko ; q=0.9 ", "ko"),
        ("ja;q=0,ko;q=0.1", "ko"),
        ("ja;q=0", "en"),
        ("ja;q=-1", "en"),
        ("ja;q=nan", "en"),
        ("ja;q=x,ko;q=0.1", "ko"),
        ("*", "en"),
        ("*;q=0.5,ja;q=0.1", "ja"),
        ("de", "en"),
        ("jajp", "en"),
        (",,;;", "en"),
        ("", "en"),
        ("x," * 249 + "ja", "ja"),
        ("x," * 250 + "ja", "en"),
    ],
)  # fmt: skip
def test_of_what_the_browser_asks_for_the_language_of_ours_that_it_prefers_is_spoken(
    accepted: str, language: str
) -> None:
    assert choose_language(accepted) == language


def test_the_accounts_own_choice_goes_before_the_browsers() -> None:
    assert find_language(somebody("ko"), "ja") == "ko"
    assert find_language(somebody("en"), "ja") == "en"


@pytest.mark.parametrize("person", [None, somebody(None), somebody("tlh")])
def test_without_a_choice_or_with_one_that_is_spoken_no_more_the_browsers_language_is(
    person: SignedIn | None,
) -> None:
    assert find_language(person, "ja") == "ja"
    assert find_language(person, "de") == "en"


@pytest.mark.parametrize(
    ("person", "accepted", "language"),
    [(None, b"ko", "ko"), (somebody("ja"), b"ko", "ja"), (None, None, "en"), (somebody(None), b"ko;q=0.1", "ko")],
)  # fmt: skip
def test_a_request_is_answered_in_the_language_of_whom_it_comes_from(
    person: SignedIn | None, accepted: bytes | None, language: str
) -> None:
    use_language("ja" if language != "ja" else "ko")
    headers = [(b"accept-language", accepted)] if accepted is not None else []
    scope = {"type": "http", "headers": headers, "state": {"signed_in": person}}
    use_language_of(HTTPConnection(scope))
    assert current_language() == language


def test_an_account_can_choose_every_language_that_the_app_speaks() -> None:
    assert tuple(LANGUAGES) == SPOKEN
    use_language("de")
    assert current_language() == "en"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What Streamlit knows of a page: its address and what was chosen on it."""

    def rerun() -> None:
        raise RunAgain

    made = SimpleNamespace(session_state={}, query_params={}, rerun=rerun)
    monkeypatch.setattr("annotator.web.kit.controls.st", made)
    return made


class RunAgain(Exception):
    """The page is drawn again, with the address as it is now."""


@pytest.mark.parametrize("spoken", SPOKEN)
@pytest.mark.parametrize("named", SPOKEN)
def test_an_address_names_the_same_choice_to_a_reader_of_any_language(
    page: Any, spoken: str, named: str
) -> None:
    use_language(named)
    page.query_params["sort"] = tr(say("impact"))
    use_language(spoken)
    assert find_chosen_option("sort", SORTS) == "impact"
    assert current_language() == spoken
    with pytest.raises(RunAgain) if spoken != named else nullcontext():
        apply_url_choice("sort", SORTS)
    assert (page.query_params, page.session_state) == ({"sort": tr(say("impact"))}, {})
    apply_url_choice("sort", SORTS)


def test_what_is_chosen_goes_before_the_address_and_what_is_no_option_is_nothing(page: Any) -> None:
    page.query_params["sort"] = "impact"
    page.session_state["sort"] = "age"
    assert find_chosen_option("sort", SORTS) == "age"
    apply_url_choice("sort", SORTS)
    page.session_state["sort"] = "no such"
    assert find_chosen_option("sort", SORTS) == "impact"
    page.query_params["sort"] = "no such"
    assert find_chosen_option("sort", SORTS) is None
    del page.session_state["sort"]
    apply_url_choice("sort", SORTS)
    assert (page.query_params, page.session_state) == ({"sort": "no such"}, {})


def test_an_option_is_listed_by_its_own_name_and_as_each_language_calls_it() -> None:
    names = list_names("impact")
    assert names[:2] == ("impact", "impact")
    assert len(set(names)) == 3
    assert list_names("文書 1") == ("文書 1",) * 4, (
        "what is no word of the program is called the same everywhere"
    )


def test_a_tab_named_in_another_language_opens_and_stays_in_the_address(page: Any) -> None:
    use_language("ko")
    page.query_params["part"] = named = tr(TABS[1])
    apply_url_tab("part", TABS)
    use_language("ja")
    with pytest.raises(RunAgain):
        apply_url_tab("part", TABS)
    apply_url_tab("part", TABS)
    assert (page.query_params, page.session_state) == ({"part": tr(TABS[1])}, {})
    assert tr(TABS[1]) not in (named, "Compare")


def test_an_open_tab_stays_open_in_another_language(page: Any) -> None:
    use_language("ko")
    page.session_state["part"] = tr(TABS[1])
    apply_url_tab("part", TABS)
    use_language("ja")
    apply_url_tab("part", TABS)
    assert (page.query_params, page.session_state) == ({}, {"part": tr(TABS[1])})


@pytest.mark.parametrize("former", ["In force", "現行", "현행"])
def test_a_tab_opens_by_the_name_that_it_had_in_an_older_link(page: Any, former: str) -> None:
    page.query_params["standard"] = former
    with pytest.raises(RunAgain):
        apply_url_tab("standard", [say("Current"), say("Versions")])
    assert page.query_params == {"standard": "Current"}


def test_a_link_to_the_judgments_left_out_of_agreement_opens_the_tab_of_excluded_ones(page: Any) -> None:
    page.query_params["tab"] = "Left out"
    with pytest.raises(RunAgain):
        apply_url_tab("tab", [say("Groups"), say("Excluded")])
    assert page.query_params == {"tab": "Excluded"}


@pytest.mark.parametrize("spoken", SPOKEN)
def test_a_field_is_named_as_its_control_names_it(page: Any, spoken: str) -> None:
    use_language(spoken)
    page.query_params["by"] = "guideline_version"
    with pytest.raises(RunAgain):
        apply_url_choice("by", ["category", "guideline_version"], name_field)
    assert page.query_params == {"by": name_field("guideline_version")}


def test_a_tab_that_nobody_named_or_that_there_is_not_opens_the_first(page: Any) -> None:
    apply_url_tab("part", TABS)
    page.query_params["part"] = "no such"
    apply_url_tab("part", TABS)
    assert (page.query_params, page.session_state) == ({"part": "no such"}, {})


def test_japanese_sentences_and_lists_are_joined_as_japanese_joins_them() -> None:
    _, why = describe_waiting(
        WaitingDisagreements(3, {QueueReason.DIFFER: 2, QueueReason.QUESTION: 1}), 3, reopened=1
    )
    assert tr(why).count(". Reasons: grades differ 2, question 1.") == 1
    assert name_reasons(QueueReason.DIFFER | QueueReason.QUESTION) == "grades differ, question"
    use_language("ja")
    assert tr(why).count("。内訳: 評価値の不一致 2、質問 1。") == 1
    assert name_reasons(QueueReason.DIFFER | QueueReason.QUESTION) == "評価値の不一致、質問"
    use_language("ko")
    assert tr(why).count(". 내역: 등급 불일치 2, 질문 1.") == 1
