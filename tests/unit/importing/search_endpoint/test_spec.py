"""The spec of a search endpoint: what it reads as, and every refusal with its line."""

import re
from dataclasses import replace

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec, RequestLimits
from annotator.importing.search_endpoint.request_template import take_secrets
from annotator.importing.search_endpoint.spec import TEMPLATES, hash_spec, print_template, read_spec

LEAST = 'url: "http://h/search?q={query}"\nresults: hits\nid: _id\n'


def read(text: str) -> EndpointSpec:
    return read_spec(text.encode(), "s.yaml")


def refused(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read(text)
    return str(caught.value)


def test_three_keys_are_enough() -> None:
    spec = read(LEAST)
    assert (spec.url, spec.method, spec.body) == ("http://h/search?q={query}", "GET", None)
    assert (spec.paths.results, spec.paths.doc_id, spec.paths.score) == ("hits", "_id", None)
    assert spec.limits == RequestLimits()


def test_a_body_makes_it_a_post_whether_written_as_yaml_or_as_json() -> None:
    by_yaml = read('url: http://h/s\nresults: hits\nid: id\nbody: {q: "{query}", n: "{depth}", t: true}\n')
    by_json = read(
        'url: http://h/s\nresults: hits\nid: id\nbody: |\n  {"q": "{query}", "n": "{depth}", "t": true}\n'
    )
    assert by_yaml.method == by_json.method == "POST"
    assert by_yaml.body == by_json.body == {"q": "{query}", "n": "{depth}", "t": True}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_ready_spec_is_a_good_spec(name: str) -> None:
    spec = read(print_template(name))
    assert spec.paths.doc_id
    assert spec.limits.concurrency == 1


def test_an_unknown_ready_spec_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValidationError, match=r"no ready spec named 'x'; there are: opensearch, solr, "):
        print_template("x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LEAST + "idd: x\n",
            r"s\.yaml:4: expected idd to be a key of endpoint specs \(did you mean id\?\), found 'idd'",
        ),
        ("results: hits\nid: a\n", "expected url to be given, found nothing"),
        ('url: "http://h/?q={query}"\nid: a\n', "expected results to be given, found nothing"),
        ('url: "http://h/?q={query}"\nresults: a\n', "expected id to be given, found nothing"),
        (
            LEAST.replace("{query}", "x"),
            r's\.yaml:1: expected url to be a template that sends the query: "{query}"',
        ),
        (LEAST.replace("http:", "ftp:"), r"s\.yaml:1: expected url to be an address with http"),
        (
            LEAST.replace("//h/", "//{query}/"),
            r"s\.yaml:1: expected url to be an address without placeholders in its host",
        ),
        (
            LEAST.replace("//h/", "//me:pw@h/"),
            r"without user and password \(use basic_auth\), found user and password",
        ),
        (LEAST.replace("{query}", "{query}&key=${KEY}"), r"expected url to be an address without \$\{…\}"),
        (LEAST.replace("{query}", "{query}{deep}"), r"the placeholders \{query\}, .*, found '\{deep\}'"),
        (
            LEAST + "body: {q: {query}}\n",
            r'expected body\.q to be "\{query\}" in quotes, found \{query\} without quotes',
        ),
        (
            LEAST + "body: '{\"q\": {depth}}'\n",
            r"s\.yaml:4: expected body to be JSON \(placeholders in quotes",
        ),
        (LEAST + 'body: {q: "${KEY}"}\n', "expected body to be a body without"),
        (LEAST + 'method: GET\nbody: {q: "x"}\n', "expected method to be POST where a body is sent"),
        (LEAST + "method: PUT\n", r"s\.yaml:4: expected method to be GET or POST, found 'PUT'"),
        (LEAST + "score: 'a..b'\n", r"s\.yaml:4: expected score to be a JMESPath expression, found 'a\.\.b'"),
        (
            LEAST + f"score: {'(' * 5_000}a{')' * 5_000}\n",
            r"s\.yaml:4: expected score to be a JMESPath expression, found one that is nested too deeply",
        ),
        (
            LEAST + "signals: {stages: '['}\n",
            r"s\.yaml:4: expected signals\.stages to be a JMESPath expression",
        ),
        (LEAST + "query_signals: {results: x}\n", "a name that the run file has no other use for"),
        (LEAST + "concurrency: 99\n", r"s\.yaml:4: expected concurrency to be a whole number 1-32, found 99"),
        (LEAST + "timeout_seconds: nan\n", r"s\.yaml:4: expected timeout_seconds to be a number"),
        (
            LEAST + "page_size: 10\n",
            r'expected page_size to be used with "\{offset\}", "\{page\}" or "\{cursor\}"',
        ),
        (
            LEAST + "next_cursor: next\n",
            r'expected next_cursor to be sent back as "\{cursor\}" in url or body',
        ),
        (LEAST + "first_cursor: x\n", "expected first_cursor to be given with next_cursor"),
        (
            LEAST.replace("{query}", "{query}&c={cursor}"),
            r'given with next_cursor, since "\{cursor\}" turns pages',
        ),
        (
            LEAST.replace("{query}", "{query}&c={cursor}&o={offset}") + "next_cursor: next\n",
            r'expected next_cursor to be used without "\{offset\}"',
        ),
        (
            LEAST.replace("{query}", "{query}&o={offset}"),
            r'given with page_size, since "\{offset\}" turns pages',
        ),
        (
            LEAST + "headers: {Host: evil}\n",
            r"expected headers\.Host to be the name of a header that the program does not",
        ),
        (
            LEAST + 'headers: {Team: "a\\nb"}\n',
            r"expected headers\.Team to be a text of printable ASCII characters",
        ),
        (
            LEAST + "basic_auth: {user: me, password: hunter22}\n",
            r"expected basic_auth\.password to be \$\{NAME\}",
        ),
        (
            LEAST + "engine_ms: took\nengine_seconds: time\n",
            "expected engine_seconds to be given without engine_ms",
        ),
    ],
)
def test_what_is_wrong_with_a_spec_is_told_with_its_line(text: str, message: str) -> None:
    assert re.search(message, refused(text)), refused(text)


@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "api-key", "Cookie", "X-Auth-Token"])
def test_a_secret_in_the_file_is_refused_and_not_repeated(header: str) -> None:
    message = refused(LEAST + f"headers: {{{header}: Bearer hunter22}}\n")
    assert "${NAME} of an environment variable: this header holds a secret" in message
    assert "hunter22" not in message
    assert "hunter22" not in refused(LEAST + "basic_auth: {user: me, password: hunter22}\n")


@pytest.mark.parametrize("name", ["api_key", "apikey", "key", "access_token", "TOKEN", "sig", "password"])
def test_a_secret_in_the_address_is_refused_and_not_repeated(name: str) -> None:
    message = refused(LEAST.replace("{query}", f"{{query}}&{name}=hunter22"))
    assert f"found a value of {name}" in message and "hunter22" not in message
    for harmless in (f"{name}={{query}}", "keyword=x", "token_count=5", "sort=x"):
        read(LEAST.replace("{query}", f"{{query}}&{harmless}"))


def test_secrets_come_from_the_environment_and_are_in_no_repr() -> None:
    spec = read(LEAST + 'headers: {Authorization: "Bearer ${TOKEN}", X-Team: search}\n')
    secrets = take_secrets(spec, {"TOKEN": "hunter22"})
    assert secrets.headers == {"Authorization": "Bearer hunter22", "X-Team": "search"}
    assert "hunter22" not in repr(secrets) + repr(spec)
    assert secrets.mask("got Bearer hunter22!") == "got Bearer ***!"


def test_user_and_password_become_a_basic_header_that_is_masked_too() -> None:
    spec = read(LEAST + 'basic_auth: {user: "${WHO}", password: "${PASS}"}\n')
    secrets = take_secrets(spec, {"WHO": "elastic", "PASS": "hunter22"})
    assert secrets.headers == {"Authorization": "Basic ZWxhc3RpYzpodW50ZXIyMg=="}
    assert secrets.mask("ZWxhc3RpYzpodW50ZXIyMg== hunter22") == "*** ***"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected the environment variable TOKEN to be set, found nothing"),
        ("", "expected the environment variable TOKEN to be set, found nothing"),
        ("hunter22\n", "expected the environment variable TOKEN to hold printable ASCII characters"),
    ],
)
def test_a_variable_that_no_header_can_hold_is_named_without_its_value(
    value: str | None, message: str
) -> None:
    spec = read(LEAST + 'headers: {Authorization: "Bearer ${TOKEN}"}\n')
    with pytest.raises(ValidationError, match=message) as caught:
        take_secrets(spec, {} if value is None else {"TOKEN": value})
    assert "hunter22" not in str(caught.value)


def test_the_hash_of_a_spec_changes_with_what_is_answered_and_not_with_how_fast() -> None:
    spec = read(LEAST)
    assert hash_spec(spec) == hash_spec(
        replace(spec, path="other.yaml", ca_file="x", limits=RequestLimits(8))
    )
    assert hash_spec(spec) != hash_spec(read(LEAST.replace("/search", "/find")))
    assert hash_spec(spec) != hash_spec(read(LEAST + "score: s\n"))
    assert hash_spec(spec) != hash_spec(read(LEAST + "signals: {a: b}\n"))
    paged = LEAST.replace("{query}", "{query}&c={cursor}") + "next_cursor: a\n"
    assert hash_spec(read(paged)) != hash_spec(read(paged.replace("next_cursor: a", "next_cursor: b")))
    assert hash_spec(read(paged)) != hash_spec(read(paged + "first_cursor: '*'\n"))
