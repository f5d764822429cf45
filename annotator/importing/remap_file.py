"""Reads which documents got which new ids: CSV, TSV or JSONL `old_doc_id,new_doc_id`.

An old id on several lines was split; a new id on several lines was merged. Further columns are left alone. Refused,
each with its line: an id that is empty or too long, a missing column. The same line twice is one.
"""

from dataclasses import dataclass

from annotator.formats.tables import open_table, take_id

OLD, NEW = ("old_doc_id",), ("new_doc_id",)


@dataclass(frozen=True, slots=True)
class RemapFile:
    """`links`: (old_doc_id, new_doc_id), each once, in file order. `repeated`: how many lines say it again."""

    path: str
    links: tuple[tuple[str, str], ...]
    repeated: int


def read_remap(data: bytes, path: str) -> RemapFile:
    """The links of a file. BadInput names every bad line."""
    table, problems = open_table(data, path, (OLD, NEW))
    links = []
    for row in table.rows:
        old, new = take_id(row, OLD, problems), take_id(row, NEW, problems)
        if old is not None and new is not None:
            links.append((old, new))
    problems.raise_if_any()
    once = tuple(dict.fromkeys(links))
    return RemapFile(path, once, len(links) - len(once))
