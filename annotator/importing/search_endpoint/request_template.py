"""Fill the templates of a search endpoint for one query and one page.

A placeholder is {query}, {query_id}, {query.COLUMN}, {depth}, {size}, {offset} or {page}. In an address its value is
percent-encoded; in a JSON body it becomes a JSON value: a text that is nothing but a placeholder takes the value's own type
(a number, a list of numbers). What a value itself contains is never read as a placeholder.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from annotator.importing.search_endpoint.endpoint_records import EndpointQuery, EndpointSpec

PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[^{}\"\s]+)?)\}")
TEXTS = ("query", "query_id")
NUMBERS = ("depth", "size", "offset", "page")


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """One request: an address and, for POST, the bytes of a JSON body."""

    url: str
    body: bytes | None


def list_placeholders(template: Any) -> list[str]:
    """Return the names of the placeholders in an address or a body, in their order."""
    if isinstance(template, Mapping):
        return [name for item in template.values() for name in list_placeholders(item)]
    if isinstance(template, list):
        return [name for item in template for name in list_placeholders(item)]
    return PLACEHOLDER.findall(template) if isinstance(template, str) else []


def list_missing_columns(spec: EndpointSpec, query: EndpointQuery) -> list[str]:
    """Return the columns that the templates name as {query.COLUMN} and this query does not have."""
    names = list_placeholders(spec.url) + list_placeholders(spec.body)
    columns = [name.partition(".")[2] for name in names if name.startswith("query.")]
    return [column for column in dict.fromkeys(columns) if query.fields.get(column) is None]


def fill_request(spec: EndpointSpec, query: EndpointQuery, *, depth: int, page: int) -> EndpointRequest:
    """Return the request for a page (0, 1, …) of a query's results. `depth`: how many results all pages hold together."""
    size = spec.page_size or depth
    values: dict[str, Any] = {
        "query": query.text,
        "query_id": query.query_id,
        **{f"query.{name}": value for name, value in query.fields.items()},
        "depth": depth,
        "size": size,
        "offset": page * size,
        "page": page + spec.first_page,
    }
    url = PLACEHOLDER.sub(lambda match: quote(_to_text(values[match.group(1)]), safe=""), spec.url)
    if spec.body is None:
        return EndpointRequest(url, None)
    body = json.dumps(_fill(spec.body, values), ensure_ascii=False, allow_nan=False)
    return EndpointRequest(url, body.encode("utf-8"))


def _fill(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, Mapping):
        return {name: _fill(item, values) for name, item in template.items()}
    if isinstance(template, list):
        return [_fill(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = PLACEHOLDER.fullmatch(template)
    if whole:
        return values[whole.group(1)]
    return PLACEHOLDER.sub(lambda match: _to_text(values[match.group(1)]), template)


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
