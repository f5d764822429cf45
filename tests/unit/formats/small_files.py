"""Small files of every format, written by hand from what a test wants in them: literals as the format spells them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from annotator.domain.ground_truth import GroundTruth
from annotator.formats.registry import find_format, read_truth
from annotator.formats.syntax.source import InputSource


class Item(NamedTuple):
    """A document of a query; None leaves the key (or the cell) out. Unquoted: formats that quote add quotes to ids."""

    doc_id: str | None
    grade: str | None = "3"


class Asked(NamedTuple):
    """A query. `text` and the ids are plain texts; a `{` or `[` at the start is written as it is."""

    query_id: str | None
    items: tuple[Item, ...] = ()
    text: str | None = "検索"


def _literal(value: str) -> str:
    return value if value.startswith(("{", "[")) else f'"{value}"'


def _block(indent: str, pairs: Sequence[tuple[str, str | None]], *, dash: bool = True) -> str:
    """The lines of a YAML mapping, as an item of a list."""
    given = [f"{key}: {value}" for key, value in pairs if value is not None]
    lead = [f"{indent}- "] if dash else [f"{indent}  "]
    leads = [*lead, *([f"{indent}  "] * len(given))]
    return "".join(f"{start}{line}\n" for start, line in zip(leads, given, strict=False))


def _quoted(value: str | None) -> str | None:
    return None if value is None else _literal(value)


def nablarch(queries: Sequence[Asked]) -> str:
    text = 'dataset:\n  version: "1.0"\nqueries:\n'
    for query in queries:
        text += _block("  ", [("id", _quoted(query.query_id)), ("query", _quoted(query.text))])
        text += "    expected_docs:\n"
        for item in query.items:
            text += _block("      ", [("doc_id", _quoted(item.doc_id)), ("relevance", item.grade)])
    return text


def assay(queries: Sequence[Asked]) -> str:
    text = "expected:\n"
    for query in queries:
        text += _block("  ", [("id", _quoted(query.query_id)), ("reference", "")])
        text += "      paths:\n"
        for item in query.items:
            text += _block("        ", [("path", _quoted(item.doc_id)), ("relevance", item.grade)])
    return text


def assay_queries(queries: Sequence[Asked]) -> str:
    text = ""
    for query in queries:
        pairs = [("id", _quoted(query.query_id)), ("text", _quoted(query.text)), ("expected", "")]
        text += _block("", pairs)
        for item in query.items:
            text += _block("    ", [("path", _quoted(item.doc_id)), ("relevance", item.grade)])
    return text


def _json(indent: str, pairs: Sequence[tuple[str, str | None]]) -> str:
    return ",\n".join(f'{indent}"{key}": {value}' for key, value in pairs if value is not None)


def _law(queries: Sequence[Asked], write: Callable[[Item], str]) -> str:
    items = []
    for query in queries:
        judged = ",\n".join(write(item) for item in query.items)
        about = [("query_id", _quoted(query.query_id)), ("query_text", _quoted(query.text))]
        items.append("{\n" + _json("", [*about, ("ground_truth", f"{{\n{judged}\n}}")]) + "\n}")
    return '{"queries": [\n' + ",\n".join(items) + "\n]}\n"


def law(queries: Sequence[Asked]) -> str:
    def write(item: Item) -> str:
        return f'"{item.doc_id}": {{' + ("" if item.grade is None else f'"relevance": {item.grade}') + "}"

    return _law(queries, write)


def law_compact(queries: Sequence[Asked]) -> str:
    return _law(queries, lambda item: f'"{item.doc_id}": {item.grade or "null"}')


def ranked(queries: Sequence[Asked]) -> str:
    items = []
    for query in queries:
        listed = ",\n".join(_literal(item.doc_id or "") for item in query.items)
        documents = None if query.query_id is None else f"[\n{listed}\n]"
        items.append(
            "{\n" + _json("", [("query", _quoted(query.text)), ("relevant_documents", documents)]) + "\n}"
        )
    return "[\n" + ",\n".join(items) + "\n]\n"


def jsonl(queries: Sequence[Asked]) -> str:
    lines = []
    for query in queries:
        for item in query.items:
            pairs = [
                ("query_id", _quoted(query.query_id)),
                ("query", _quoted(query.text)),
                ("doc_id", _quoted(item.doc_id)),
                ("grade", item.grade),
            ]
            lines.append("{" + _json("", pairs).replace("\n", " ") + "}\n")
    return "".join(lines)


def csv(queries: Sequence[Asked]) -> str:
    rows = [
        f'{query.query_id or ""},{item.doc_id or ""},{item.grade or ""},"{query.text or ""}"\n'
        for query in queries
        for item in query.items
    ]
    return "query_id,doc_id,grade,query\n" + "".join(rows)


def trec(queries: Sequence[Asked]) -> str:
    return "".join(
        f"{query.query_id} 0 {item.doc_id} {item.grade}\n".replace("None", "")
        for query in queries
        for item in query.items
    )


def tsv(queries: Sequence[Asked]) -> str:
    rows = [
        f"{query.query_id or ''}\t{item.doc_id or ''}\t{item.grade or ''}\n"
        for query in queries
        for item in query.items
    ]
    return "query-id\tcorpus-id\tscore\n" + "".join(rows)


WRITERS: dict[str, Callable[[Sequence[Asked]], str]] = {
    "nablarch": nablarch,
    "law": law,
    "law-compact": law_compact,
    "ranked": ranked,
    "assay": assay,
    "assay-queries": assay_queries,
    "trec": trec,
    "beir": tsv,
    "csv": csv,
    "jsonl": jsonl,
}
QUERIES = (
    Asked("Q1", (Item("d1", "3"), Item("d2", "2"))),
    Asked("Q2", (Item("d1", "1"), Item("d3", "1"))),
)


def read(name: str, source: InputSource) -> GroundTruth:
    """The truth of a file; a ranked one with grade 1 throughout."""
    grades_by = "all=1" if find_format(name).needs_grades_by else None
    return read_truth(source, format_name=name, grades_by=grades_by)[1]


def put(name: str, data: bytes, folder: Path) -> InputSource:
    """The file, called `bad.` and the format's first suffix."""
    path = folder / f"bad{find_format(name).suffixes[0]}"
    path.write_bytes(data)
    return InputSource(str(path))


def line_of(text: str, mark: str, nth: int = 1) -> int:
    """The line of the nth occurrence of a mark that stands in the text."""
    start = -1
    for _ in range(nth):
        start = text.index(mark, start + 1)
    return text.count("\n", 0, start) + 1
