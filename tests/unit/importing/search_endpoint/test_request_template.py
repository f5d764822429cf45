"""Templates of requests: a query with any characters arrives as it is, in an address and in JSON."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.ground_truth import Query
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths, EndpointSpec
from annotator.importing.search_endpoint.request_template import fill_request, list_missing_columns

PATHS = AnswerPaths("hits", "id")


def make(url: str = "http://h/s?q={query}", body: Any = None, **options: Any) -> EndpointSpec:
    return EndpointSpec("s.yaml", url, "POST" if body is not None else "GET", PATHS, body, **options)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_arrives_as_it_is(text: str) -> None:
    spec = make("http://h/s?q={query}&n={depth}", {"q": "{query}", "deep": ["é {query}"]})
    request = fill_request(spec, Query("Q", text), depth=7, page=0)
    sent = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
    assert sent == {"q": [text], "n": ["7"]}
    assert json.loads(request.body or b"") == {"q": text, "deep": [f"é {text}"]}


def test_a_placeholder_inside_a_query_stays_text() -> None:
    spec = make(body={"q": "{query}"})
    request = fill_request(spec, Query("Q", '{depth} "} {query_id}'), depth=7, page=0)
    assert json.loads(request.body or b"") == {"q": '{depth} "} {query_id}'}


def test_a_text_that_is_nothing_but_a_placeholder_takes_the_type_of_its_value() -> None:
    query = Query("Q1", "x", language="ja", metadata={"vector": [0.5, 1]})
    body = {"size": "{depth}", "text": "top {depth}", "v": "{query.vector}", "l": "{query.language}", "k": 3}
    request = fill_request(make(body=body), query, depth=20, page=0)
    assert json.loads(request.body or b"") == {
        "size": 20,
        "text": "top 20",
        "v": [0.5, 1],
        "l": "ja",
        "k": 3,
    }


@pytest.mark.parametrize(("first_page", "shown"), [(0, "p=2"), (1, "p=3")])
def test_pages_are_counted_by_offset_and_by_number(first_page: int, shown: str) -> None:
    spec = make("http://h/s?q={query}&o={offset}&n={size}&p={page}", page_size=10, first_page=first_page)
    url = fill_request(spec, Query("Q", "x"), depth=25, page=2).url
    assert url == f"http://h/s?q=x&o=20&n=10&{shown}"


def test_before_there_is_a_cursor_what_is_only_a_cursor_is_left_out() -> None:
    body = {"q": "{query}", "after": "{cursor}", "deep": {"from": "{cursor}", "k": ["at {cursor}"]}}
    spec = make("http://h/s?c={cursor}&q={query}&cc=x{cursor}&d={cursor}", body)
    first = fill_request(spec, Query("Q", "x"), depth=5, page=0)
    assert first.url == "http://h/s?q=x&cc=x"
    assert json.loads(first.body or b"") == {"q": "x", "deep": {"k": ["at "]}}
    assert fill_request(make("http://h/{query}?c={cursor}"), Query("Q", "x"), depth=5, page=0).url == (
        "http://h/x"
    )


@pytest.mark.parametrize("cursor", ["a&b=c", 7, [1.5, "d3"], {"id": 1}])
def test_a_cursor_is_sent_back_as_it_came(cursor: Any) -> None:
    spec = make("http://h/s?q={query}&c={cursor}", {"after": "{cursor}"})
    request = fill_request(spec, Query("Q", "x"), depth=5, page=1, cursor=cursor)
    assert json.loads(request.body or b"") == {"after": cursor}
    (sent,) = parse_qs(urlsplit(request.url).query)["c"]
    assert (sent if isinstance(cursor, str) else json.loads(sent)) == cursor


def test_the_first_cursor_is_the_specs() -> None:
    spec = make("http://h/s?q={query}&c={cursor}", {"after": "{cursor}"}, first_cursor="*")
    request = fill_request(spec, Query("Q", "x"), depth=5, page=0)
    assert (request.url, request.body) == ("http://h/s?q=x&c=%2A", b'{"after": "*"}')


def test_columns_that_a_query_lacks_are_named() -> None:
    spec = make("http://h/{query.language}?q={query}", {"v": "{query.vector}"})
    assert list_missing_columns(spec, Query("Q", "x", language="ja")) == ["vector"]
    assert list_missing_columns(spec, Query("Q", "x")) == ["language", "vector"]
