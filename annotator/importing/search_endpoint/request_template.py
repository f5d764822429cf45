"""Fill the templates of a search endpoint for one query and one page, and its headers with secrets.

A placeholder is {query}, {query_id}, {query.COLUMN}, {depth}, {size}, {offset}, {page} or {cursor}. In an
address its value is percent-encoded. In a JSON body it becomes a JSON value: a text that consists of one
placeholder takes the value's own type (a number, a list of numbers). Braces inside a value are not
placeholders. On the first page, members of the body and parameters of the address that consist of {cursor}
are left out.

Secrets come from environment variables, named ${NAME} in headers, and stay out of all output and storage.
Refused: a variable that is unset or empty, and a value that no header can hold. Messages name the variable,
never its value.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS, Query
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec

PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[^{}\"\s]+)?)\}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
TEXTS = ("query", "query_id")
NUMBERS = ("depth", "size", "offset", "page")
CURSOR = "cursor"
NAMES = (*TEXTS, *NUMBERS, CURSOR)  # and query.COLUMN
_ONLY_CURSOR = f"{{{CURSOR}}}"


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """One request: an address and, for POST, the bytes of a JSON body."""

    url: str
    body: bytes | None


def list_placeholders(template: Any) -> list[str]:
    """Return the names of the placeholders in an address or a body, in order."""
    if isinstance(template, Mapping):
        return [name for item in template.values() for name in list_placeholders(item)]
    if isinstance(template, list):
        return [name for item in template for name in list_placeholders(item)]
    return PLACEHOLDER.findall(template) if isinstance(template, str) else []


def list_missing_columns(spec: EndpointSpec, query: Query) -> list[str]:
    """Return the columns in {query.COLUMN} placeholders that this query lacks."""
    names = list_placeholders(spec.url) + list_placeholders(spec.body)
    columns = [name.partition(".")[2] for name in names if name.startswith("query.")]
    given = _list_columns(query)
    return [column for column in dict.fromkeys(columns) if given.get(column) is None]


def _list_columns(query: Query) -> dict[str, Any]:
    return {**query.metadata, **{name: getattr(query, name) for name in QUERY_FIELDS}}


def fill_request(
    spec: EndpointSpec, query: Query, *, depth: int, page: int, cursor: Any = None
) -> EndpointRequest:
    """Return the request for a page (0, 1, …) of a query's results.

    `depth`: of all pages together. `cursor`: from the previous page; None for the first page.
    """
    size = spec.page_size or depth
    values: dict[str, Any] = {
        "query": query.text,
        "query_id": query.query_id,
        **{f"query.{name}": value for name, value in _list_columns(query).items()},
        "depth": depth,
        "size": size,
        "offset": page * size,
        "page": page + spec.first_page,
        CURSOR: spec.first_cursor if cursor is None else cursor,
    }
    template = spec.url if values[CURSOR] is not None else _leave_out_cursor(spec.url)
    url = PLACEHOLDER.sub(lambda match: quote(_to_text(values[match.group(1)]), safe=""), template)
    if spec.body is None:
        return EndpointRequest(url, None)
    body = json.dumps(_fill(spec.body, values), ensure_ascii=False, allow_nan=False)
    return EndpointRequest(url, body.encode("utf-8"))


def _fill(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, Mapping):
        return {
            name: _fill(item, values)
            for name, item in template.items()
            if item != _ONLY_CURSOR or values[CURSOR] is not None
        }
    if isinstance(template, list):
        return [_fill(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = PLACEHOLDER.fullmatch(template)
    if whole:
        return values[whole.group(1)]
    return PLACEHOLDER.sub(lambda match: _to_text(values[match.group(1)]), template)


def _leave_out_cursor(url: str) -> str:
    """Return the address without parameters that consist of {cursor}."""
    path, mark, parameters = url.partition("?")
    kept = [part for part in parameters.split("&") if part.partition("=")[2] != _ONLY_CURSOR]
    return path + mark + "&".join(kept) if kept else path


def _to_text(value: Any) -> str:
    if value is None:  # no cursor yet, within a longer text
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def list_variables(text: str) -> list[str]:
    """Return the names of the environment variables in a header's template, written as ${NAME}."""
    return VARIABLE.findall(text)


def fill_variables(text: str, environment: Mapping[str, str]) -> str:
    """Return the text with the values of its variables. All must be in `environment`."""
    return VARIABLE.sub(lambda match: environment[match.group(1)], text)


MASK = "***"
LEAST_SECRET = 8  # characters; a shorter value may be an ordinary word of a document


@dataclass(frozen=True, slots=True)
class EndpointSecrets:
    """The headers to send, and their secret values. Its repr shows neither."""

    headers: Mapping[str, str] = field(repr=False)
    values: tuple[str, ...] = field(repr=False)

    def mask(self, text: str) -> str:
        """Return the text with every secret replaced."""
        for value in self.values:
            text = text.replace(value, MASK)
        return text

    def is_repeated_in(self, text: str) -> bool:
        """Check whether a text contains a secret of at least LEAST_SECRET characters."""
        return any(len(value) >= LEAST_SECRET and value in text for value in self.values)


def take_secrets(spec: EndpointSpec, environment: Mapping[str, str]) -> EndpointSecrets:
    """Return the headers of a spec with the variables' values."""
    templates = [*spec.headers.values(), *(spec.basic_auth or ())]
    names = list(dict.fromkeys(name for text in templates for name in list_variables(text)))
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise ValidationError(
            f"{spec.path}: expected the environment variable {missing[0]} to be set, found nothing"
            + (f" (nor {', '.join(missing[1:])})" if missing[1:] else "")
        )
    for name in names:
        value = environment[name]
        if not value.isascii() or not value.isprintable():
            raise ValidationError(
                f"{spec.path}: expected the environment variable {name} to hold printable ASCII characters "
                "(a line break at its end?), found something else"
            )
    headers = {name: fill_variables(text, environment) for name, text in spec.headers.items()}
    values = [environment[name] for name in names]
    if spec.basic_auth:
        user, password = (fill_variables(text, environment) for text in spec.basic_auth)
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers["Authorization"] = f"Basic {encoded}"
        values.append(encoded)
    # the longest first, so that no part of a secret is left where another one is masked
    return EndpointSecrets(headers, tuple(sorted(set(values), key=len, reverse=True)))
