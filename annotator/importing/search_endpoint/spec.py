"""Read the spec of a search endpoint: a small YAML file with the keys of KEYS.

Refused, each with its line: an unknown key, a missing url, results or id, a template that never sends the
query, an unknown or unquoted placeholder, a placeholder in the host, an invalid JMESPath expression, a number
out of range, and a secret written in the file instead of named as ${NAME}. Sends nothing.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from annotator.domain.errors import ValidationError, refuse
from annotator.domain.messages import say
from annotator.formats.syntax.json_text import parse_json
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing
from annotator.formats.syntax.yaml_text import load_yaml, resolve
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths, EndpointSpec, RequestLimits
from annotator.importing.search_endpoint.request_template import (
    CURSOR,
    NAMES,
    NUMBERS,
    PLACEHOLDER,
    TEXTS,
    VARIABLE,
    list_placeholders,
    list_variables,
)

MAX_BYTES = 100_000
TEMPLATES = ("opensearch", "solr", "qdrant", "json-api")
_FOLDER = Path(__file__).parent / "templates"
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_|~-]{1,100}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential|session", re.IGNORECASE)
_SECRET_PARAMETER = re.compile(
    r"(access|api|auth|client|private|secret)?[-_]?(key|token|secret|signature|sig|password|passwd|pwd)",
    re.IGNORECASE,
)
_OWN_HEADERS = (
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "accept-encoding",
    "content-type",
)
_RESERVED = (
    "query_id",
    "query",
    "results",
    "latency_ms",
    "response_time",
    "system",
    "tag",
    "failed",
    "retries",
)
LIMITS: Mapping[str, tuple[type, float, float]] = {
    "concurrency": (int, 1, 32),
    "requests_per_second": (float, 0.001, 10_000),
    "timeout_seconds": (float, 0.001, 600),
    "attempts": (int, 1, 10),
    "max_wait_seconds": (float, 0, 3_600),
    "max_megabytes": (int, 1, 1_000),
}


def print_template(name: str) -> str:
    """Return a ready spec to start from. ValidationError lists the existing ones."""
    if name not in TEMPLATES:
        raise ValidationError(f"no ready spec named {name!r}; there are: {', '.join(TEMPLATES)}")
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def show_template(name: str) -> str:
    """Return a ready spec for a page: without the parts about commands and the server's files."""
    lines = print_template(name).splitlines(keepends=True)
    left_out = ("#   annotator ", "# ca_file:")
    return "".join(
        line.replace("; then:", ".").replace(", https://jmespath.org)", ")")
        for line in lines
        if not line.startswith(left_out)
    )


def read_spec_file(path: Path) -> EndpointSpec:
    """Return the spec in a file. BadInput names every bad place with its line."""
    return read_spec(InputSource(str(path)).read_bytes(), str(path))


def read_spec(data: bytes, path: str) -> EndpointSpec:
    """Return the spec in a YAML text; `path` is the name that errors use."""
    if len(data) > MAX_BYTES:
        raise refuse(
            path, None, say("a file of at most {n} bytes", n=MAX_BYTES), say("{n} bytes", n=len(data))
        )
    tree = load_yaml(data, path)
    problems = TreeProblems(tree)
    values: dict[str, Any] = {}
    for name, value in problems.mapping(tree.value, ()).items():
        if name not in KEYS:
            close = get_close_matches(name, KEYS, n=1)
            expected = (
                say("a key of endpoint specs (did you mean {name}?)", name=close[0])
                if close
                else say("a key of endpoint specs (they are {names})", names=", ".join(KEYS))
            )
            problems.add((name,), expected, name)
        elif not is_nothing(value):
            values[name] = KEYS[name](value, (name,), problems)
    for name in ("url", "results", "id"):
        if name not in values:
            problems.errors.append(((name,), say("{name} to be given", name=name), say("nothing")))
    problems.raise_if_any()
    spec = _make_spec(path, values)
    _check_whole(spec, values, problems)
    problems.raise_if_any()
    return spec


def hash_spec(spec: EndpointSpec) -> str:
    """Return the SHA-256 of everything that affects the answers: not speed, retries and certificates."""
    paths = spec.paths
    content = [
        spec.url,
        spec.method,
        spec.body,
        dict(spec.headers),
        spec.basic_auth,
        spec.page_size,
        spec.first_page,
        paths.results,
        paths.doc_id,
        paths.score,
        paths.rank,
        paths.total,
        paths.engine_ms,
        paths.engine_seconds,
        paths.failed_if,
        dict(paths.signals),
        dict(paths.query_signals),
        # only where there is one: files that were begun without cursors keep their hash
        *([paths.next_cursor, spec.first_cursor] if paths.next_cursor else []),
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _make_spec(path: str, values: Mapping[str, Any]) -> EndpointSpec:
    body = values.get("body")
    return EndpointSpec(
        path=path,
        url=values["url"],
        method=values.get("method", "GET" if body is None else "POST"),
        body=body,
        headers=values.get("headers", {}),
        basic_auth=values.get("basic_auth"),
        page_size=values.get("page_size"),
        first_page=values.get("first_page", 1),
        first_cursor=values.get("first_cursor"),
        ca_file=values.get("ca_file"),
        paths=AnswerPaths(
            results=values["results"],
            doc_id=values["id"],
            **{name: values[name] for name in (*_PATHS, "signals", "query_signals") if name in values},
        ),
        limits=RequestLimits(**{name: values[name] for name in LIMITS if name in values}),
    )


def _check_whole(spec: EndpointSpec, values: Mapping[str, Any], problems: TreeProblems) -> None:
    """Note problems across keys: the placeholders of url and body together, and keys that exclude each other."""
    placeholders = list_placeholders(spec.url) + list_placeholders(spec.body)
    if not any(name == "query" or name.startswith("query.") for name in placeholders):
        problems.add(("url",), say('a template that sends the query: "{{query}}" in url or body'), spec.url)
    steps = [name for name in placeholders if name in ("offset", "page")]
    cursor = spec.paths.next_cursor
    if spec.page_size is not None and not steps and cursor is None:
        problems.add(
            ("page_size",),
            say('used with "{{offset}}", "{{page}}" or "{{cursor}}" in url or body'),
            spec.page_size,
        )
    if cursor is not None and CURSOR not in placeholders:
        problems.add(("next_cursor",), say('sent back as "{{cursor}}" in url or body'), cursor)
    if cursor is not None and steps:
        problems.add_words(("next_cursor",), say('used without "{{{name}}}"', name=steps[0]), say("both"))
    if cursor is None and CURSOR in placeholders:
        problems.add_words(
            ("url",), say('given with next_cursor, since "{{cursor}}" turns pages'), say("no next_cursor")
        )
    if cursor is None and spec.first_cursor is not None:
        problems.add_words(("first_cursor",), say("given with next_cursor"), say("no next_cursor"))
    if spec.page_size is None and steps and cursor is None:
        problems.add_words(
            ("url",),
            say('given with page_size, since "{{{name}}}" turns pages', name=steps[0]),
            say("no page_size"),
        )
    if spec.method == "GET" and spec.body is not None:
        problems.add(("method",), say("POST where a body is sent"), "GET")
    if spec.basic_auth and any(name.lower() == "authorization" for name in spec.headers):
        problems.add_words(("basic_auth",), say("given without a header Authorization"), say("both"))
    if "engine_ms" in values and "engine_seconds" in values:
        problems.add_words(("engine_seconds",), say("given without engine_ms"), say("both"))


# What a key takes --------------------------------------------------------------------------------------


def _read_url(value: Any, location: Location, problems: TreeProblems) -> str:
    url = problems.text(value, location).strip()
    host = PLACEHOLDER.sub("", url)
    try:
        parts = urlsplit(url)
        plain = urlsplit(host)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or any(character.isspace() for character in url):
        problems.add(location, say("an address with http:// or https://"), value)
        return url
    if parts.netloc != plain.netloc:
        problems.add(location, say("an address without placeholders in its host"), value)
    if "@" in parts.netloc:
        problems.add_words(
            location, say("an address without user and password (use basic_auth)"), say("user and password")
        )
    if parts.fragment:
        problems.add(location, say("an address without #fragment"), value)
    if VARIABLE.search(url):
        problems.add(
            location, say("an address without ${{…}}: addresses are shown in errors (use headers)"), value
        )
    for name, text in parse_qsl(parts.query, keep_blank_values=True) if valid else ():
        if _SECRET_PARAMETER.fullmatch(name) and not PLACEHOLDER.search(text):
            # the value itself is not repeated
            problems.add_words(
                location,
                say(
                    "an address without secrets: addresses are shown and recorded (use headers and ${{NAME}})"
                ),
                say("a value of {name}", name=name),
            )
    _check_placeholders(url, location, problems)
    return url


def _read_method(value: Any, location: Location, problems: TreeProblems) -> str:
    method = problems.text(value, location).upper()
    if method not in ("GET", "POST"):
        problems.add(location, say("GET or POST"), value)
    return method


def _read_body(value: Any, location: Location, problems: TreeProblems) -> Any:
    """Return the JSON to send: a mapping or list of the YAML, or the JSON in a text."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError as error:
            problems.add(
                location, say('JSON (placeholders in quotes: "{{depth}}" becomes a number)'), str(error)
            )
            return None
    if not isinstance(value, dict | list):
        problems.add(location, say("a JSON object or list"), value)
        return None
    _check_unquoted(value, location, problems)
    body = resolve(value)
    _check_placeholders(body, location, problems)
    if any(VARIABLE.search(text) for text in _list_texts(body)):
        problems.add_words(location, say("a body without ${{…}}: secrets belong in headers"), "${…}")
    return body


def _check_unquoted(value: Any, location: Location, problems: TreeProblems) -> None:
    """Note each `{query}` without quotes, which YAML reads as a mapping."""
    if isinstance(value, dict):
        if len(value) == 1:
            (name, inner), *_ = value.items()
            if is_nothing(inner) and (name in NAMES or name.startswith("query.")):
                problems.add_words(
                    location,
                    say('"{{{name}}}" in quotes', name=name),
                    say("{{{name}}} without quotes", name=name),
                )
        for name, inner in value.items():
            _check_unquoted(inner, (*location, name), problems)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_unquoted(inner, (*location, index), problems)


def _check_placeholders(template: Any, location: Location, problems: TreeProblems) -> None:
    for name in list_placeholders(template):
        if name not in NAMES and not name.startswith("query."):
            names = ", ".join(
                f"{{{placeholder}}}" for placeholder in (*TEXTS, "query.COLUMN", *NUMBERS, CURSOR)
            )
            problems.add(
                location, say("a template with the placeholders {names}", names=names), f"{{{name}}}"
            )


def _list_texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (str(key), *_list_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in _list_texts(item)]
    return [value] if isinstance(value, str) else []


def _read_headers(value: Any, location: Location, problems: TreeProblems) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, item in problems.mapping(value, location).items():
        at = (*location, name)
        text = str(item) if isinstance(item, str | int) and not isinstance(item, bool) else None
        if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
            problems.add(at, say("the name of a header that the program does not set itself"), name)
        elif text is None or is_nothing(item) or not _is_header_value(text):
            problems.add_words(at, say("a text of printable ASCII characters"), say("something else"))
        elif _SECRET_HEADER.search(name) and not list_variables(text):
            # the value itself is not repeated: it is a secret
            problems.add_words(
                at, say("${{NAME}} of an environment variable: this header holds a secret"), say("a value")
            )
        headers[name] = text or ""
    return headers


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _read_basic_auth(value: Any, location: Location, problems: TreeProblems) -> tuple[str, str]:
    given = problems.mapping(value, location)
    for name in given:
        if name not in ("user", "password"):
            problems.add((*location, name), say("user or password"), name)
    user, password = (given.get(name) for name in ("user", "password"))
    if not isinstance(user, str) or not user:
        problems.add((*location, "user"), say("a text"), None)
    if not isinstance(password, str) or not VARIABLE.fullmatch(password):
        problems.add_words(
            (*location, "password"), say("${{NAME}} of an environment variable"), say("a value")
        )
    return str(user), str(password)


def _read_path(value: Any, location: Location, problems: TreeProblems) -> str:
    import jmespath
    from jmespath.exceptions import JMESPathError

    text = problems.text(value, location)
    try:
        jmespath.compile(text)
    except (JMESPathError, ValueError):
        problems.add(location, say("a JMESPath expression"), value)
    except RecursionError:
        problems.add_words(location, say("a JMESPath expression"), "one that is nested too deeply")
    return text


def _read_paths(value: Any, location: Location, problems: TreeProblems) -> dict[str, str]:
    items = problems.mapping(value, location)
    for name in items:
        if not name or name in _RESERVED:
            problems.add((*location, name), say("a name that the run file has no other use for"), name)
    return {name: _read_path(item, (*location, name), problems) for name, item in items.items()}


def _make_number_reader(kind: type, least: float, most: float) -> Callable[..., Any]:
    def read(value: Any, location: Location, problems: TreeProblems) -> Any:
        number = resolve(value)
        if type(number) not in (int, kind) or not least <= number <= most:
            limits = f"{least:g}-{most:g}"
            whole, any_number = (
                say("a whole number {range}", range=limits),
                say("a number {range}", range=limits),
            )
            problems.add(location, whole if kind is int else any_number, number)
            return kind(least)
        return kind(number)

    return read


def _read_text(value: Any, location: Location, problems: TreeProblems) -> str:
    return problems.text(value, location)


_PATHS = ("score", "rank", "total", "engine_ms", "engine_seconds", "failed_if", "next_cursor")
KEYS: Mapping[str, Callable[[Any, Location, TreeProblems], Any]] = {
    "about": _read_text,
    "url": _read_url,
    "method": _read_method,
    "headers": _read_headers,
    "basic_auth": _read_basic_auth,
    "body": _read_body,
    "results": _read_path,
    "id": _read_path,
    **dict.fromkeys(_PATHS, _read_path),
    "signals": _read_paths,
    "query_signals": _read_paths,
    "page_size": _make_number_reader(int, 1, 10_000),
    "first_page": _make_number_reader(int, 0, 1),
    "first_cursor": _read_text,
    **{name: _make_number_reader(*bounds) for name, bounds in LIMITS.items()},
    "ca_file": _read_text,
}
"""How the value of each key is read: `read(value, location, problems)` returns it for the record."""
