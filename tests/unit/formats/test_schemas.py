"""The JSON Schemas: valid, explained key by key, and of one mind with the readers about good and bad files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from annotator.domain.errors import BadInput, NotFound
from annotator.formats.format import list_schemas, read_schema
from annotator.formats.registry import FORMATS
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.yaml_text import load_yaml, resolve
from tests.unit.formats.small_files import QUERIES, WRITERS, Asked, Item, read

SAMPLES = Path(__file__).parents[3] / "annotator" / "formats" / "samples"
GOLDEN = Path(__file__).parents[2] / "golden" / "formats"
WITH_SCHEMA = [file_format.name for file_format in FORMATS if file_format.schema is not None]
LINES_OF_BEIR = {"queries.jsonl": "beir-queries", "corpus.jsonl": "beir-corpus"}


def load(name: str, data: bytes) -> list[Any]:
    """What the schema is held against: the whole document, or each line of a format of lines."""
    if name == "jsonl":
        return [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    if name in ("nablarch", "assay", "assay-queries"):
        return [resolve(load_yaml(data, "f").value)]
    return [json.loads(data)]


def is_valid(schema: str, values: list[Any]) -> bool:
    validator = Draft202012Validator(read_schema(f"{schema}.schema.json"))
    return all(validator.is_valid(value) for value in values)


def is_read(name: str, data: bytes) -> bool:
    try:
        read(name, InputSource("f", data))
    except BadInput:
        return False
    return True


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in schema.get("properties", {}).items():
        yield key, value
        yield from subschemas(value)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield key, schema[key]
            yield from subschemas(schema[key])


def test_every_json_and_yaml_format_has_one() -> None:
    assert WITH_SCHEMA == ["nablarch", "law", "law-compact", "ranked", "assay", "assay-queries", "jsonl"]
    assert list_schemas() == sorted(f"{name}.schema.json" for name in [*WITH_SCHEMA, *LINES_OF_BEIR.values()])


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="there are: assay-queries"):
        read_schema("../law.json")


@pytest.mark.parametrize("name", list_schemas())
def test_a_schema_is_valid_and_explains_every_key(name: str) -> None:
    schema = read_schema(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    for key, part in [("", schema), *subschemas(schema)]:
        assert part.get("title"), key
        assert part.get("description", "").endswith("."), key


@pytest.mark.parametrize("folder", [SAMPLES, GOLDEN], ids=["sample", "golden"])
@pytest.mark.parametrize("name", [*WITH_SCHEMA, *LINES_OF_BEIR.values()])
def test_every_sample_and_golden_file_is_valid(name: str, folder: Path) -> None:
    if name in WITH_SCHEMA:
        files = [path for path in folder.iterdir() if path.name.split(".")[0] == name]
        assert files
        assert all(is_valid(name, load(name, path.read_bytes())) for path in files)
    else:
        file = next(file for file, schema in LINES_OF_BEIR.items() if schema == name)
        assert is_valid(name, load("jsonl", (folder / "beir.nasty" / file).read_bytes()))


def one(*items: Item, query_id: str | None = "Q1", text: str | None = "t") -> tuple[Asked, ...]:
    return (Asked(query_id, items or (Item("d1"),), text),)


BAD = {
    "a grade as a text": one(Item("d1", '"3"')),
    "a grade of 2.5": one(Item("d1", "2.5")),
    "a grade of -1": one(Item("d1", "-1")),
    "a grade of 4": one(Item("d1", "4")),
    "a grade that is true": one(Item("d1", "true")),
    "a grade that is null": one(Item("d1", "null")),
    "a grade in a list": one(Item("d1", "[3]")),
    "no grade": one(Item("d1", None)),
    "no document id": one(Item(None)),
    "an empty document id": one(Item("")),
    "a document id that is a list": one(Item('["d1"]')),
    "a document id of 1,001 characters": one(Item("d" * 1_001)),
    "no query id": one(query_id=None),
    "an empty query id": one(query_id=""),
    "a query id that is a mapping": one(query_id="{}"),
    "a query id of 1,001 characters": one(query_id="q" * 1_001),
    "a text that is a list": one(text="[]"),
    "no text": one(text=None),
}
HAVE_NOT = {  # what a format has no place for
    "ranked": ("grade", "query id"),
    "assay": ("text that", "no text"),
    "law": ("no document id", "document id that is a list"),
    "law-compact": ("no document id", "document id that is a list"),
    "jsonl": ("no text",),  # it stands on another line, or nowhere
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", WITH_SCHEMA)
def test_what_the_schema_refuses_the_reader_refuses_too(name: str, bad: str) -> None:
    assert is_read(name, (good := WRITERS[name](QUERIES).encode()))
    assert is_valid(name, load(name, good))
    if any(words in bad for words in HAVE_NOT.get(name, ())):
        return
    data = WRITERS[name](BAD[bad]).encode()
    assert (is_read(name, data), is_valid(name, load(name, data))) == (False, False)


SHAPES = [
    "[1]",
    '"words"',
    '{"unknown": 1}',
    "17",
    "null",
    "[[]]",
    "[{}]",
    '{"queries": {}}',
    '{"expected": 1}',
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", WITH_SCHEMA)
def test_files_of_another_shape_are_refused_by_both(name: str, shape: str) -> None:
    data = f"{shape}\n".encode()
    assert (is_read(name, data), is_valid(name, load(name, data))) == (False, False)


ROWS: list[tuple[str, bool]] = [
    ('{"query_id": "q", "query": "t"}', True),
    ('{"query_id": 7, "doc_id": 8, "relevance": 2, "query_text": "t"}', True),
    ('{"query_id": "q", "doc_id": "d", "grade": 1, "relevance": [], "query": "t", "text": 5}', True),
    ('{"query_id": "q", "doc_id": null, "grade": null, "note": null}', True),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "annotator_2": 3, "annotator_1": null}', True),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "annotator_2": 4}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "annotator_2": "unrateable"}', True),
    ('{"query_id": "q", "doc_id": "d", "grade": "unrateable", "annotator_2": 1}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "annotator": "x"}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "origin": "guessed"}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "note": 1}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "category": ["c"]}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "query_text": 1}', False),
    ('{"query_id": "q", "doc_id": "d", "grade": 0, "text": 1}', False),
    ('{"query_id": "q", "doc_id": "d", "relevance": "1"}', False),
    ('{"query_id": "q", "grade": 1}', False),
    ('{"query_id": "q", "relevance": 1}', False),
]


@pytest.mark.parametrize(("row", "good"), ROWS)
def test_a_line_of_jsonl_is_judged_alike(row: str, good: bool) -> None:
    data = f"{row}\n".encode()
    assert (is_read("jsonl", data), is_valid("jsonl", load("jsonl", data))) == (good, good)


BEIR_LINES: list[tuple[str, str, bool]] = [
    ("queries.jsonl", '{"_id": 5, "text": "", "metadata": null}', True),
    (
        "queries.jsonl",
        '{"_id": "q", "text": "t", "metadata": {"category": "c", "n": [1]}, "language": "ja"}',
        True,
    ),
    ("queries.jsonl", '{"_id": "", "text": "t"}', False),
    ("queries.jsonl", '{"_id": "q"}', False),
    ("queries.jsonl", '{"_id": "q", "text": null}', False),
    ("queries.jsonl", '{"text": "t"}', False),
    ("queries.jsonl", '{"_id": "q", "text": "t", "metadata": []}', False),
    ("queries.jsonl", '{"_id": "q", "text": "t", "metadata": {"category": 5}}', False),
    ("queries.jsonl", '{"_id": "q", "text": "t", "difficulty": 5}', False),
    ("queries.jsonl", '{"_id": "q", "text": "t", "metadata": {"(beside)": 5}}', False),
    ("queries.jsonl", "[]", False),
    ("corpus.jsonl", '{"_id": "d", "title": null, "url": "https://example.com"}', True),
    ("corpus.jsonl", '{"_id": "d", "metadata": {"media_type": "text/html"}, "text": "t"}', True),
    ("corpus.jsonl", '{"text": "t"}', False),
    ("corpus.jsonl", '{"_id": "d", "title": 1}', False),
    ("corpus.jsonl", '{"_id": "d", "media_type": "image/png"}', False),
    ("corpus.jsonl", '{"_id": "d", "metadata": {"url": 1}}', False),
]


@pytest.mark.parametrize(("file", "line", "good"), BEIR_LINES)
def test_a_line_of_beir_is_judged_alike(file: str, line: str, good: bool, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "t"}\n')
    (tmp_path / file).write_text(f"{line}\n")
    try:
        read("beir", InputSource(str(tmp_path)))
        is_read = True
    except BadInput:
        is_read = False
    assert (is_read, is_valid(LINES_OF_BEIR[file], [json.loads(line)])) == (good, good)
