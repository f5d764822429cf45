"""Reads what the importer declares of how judgments or qrels came about: a small YAML or JSON file (`--provenance`).

The declaration is kept with the import (`import_record.declared`) and told in the datasheet, as declared. Refused, with
the line: a key that is not known, a value of another type, a text that is too long.
"""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from annotator.domain.import_records import DECLARED
from annotator.formats.json_tree import load_json
from annotator.formats.source import Source
from annotator.formats.tree import TreeProblems, is_nothing, refuse
from annotator.formats.yaml_tree import load_yaml, resolve

MAX_TEXT = 5_000
MAX_BYTES = 100_000


def read_provenance(path: Path) -> dict[str, Any]:
    """The declaration in a file, as plain JSON values. BadInput names every bad place with its line."""
    data = Source(str(path)).read_bytes()
    if len(data) > MAX_BYTES:
        raise refuse(str(path), None, f"a file of at most {MAX_BYTES:,} bytes", f"{len(data):,} bytes")
    load = load_json if path.suffix.lower() == ".json" else load_yaml
    tree = load(data, str(path))
    problems = TreeProblems(tree)
    found: dict[str, Any] = {}
    for name, value in problems.mapping(tree.value, ()).items():
        if name not in DECLARED:
            problems.add((name,), f"a key of provenance files ({_suggest(name)})", name)
        elif is_nothing(value):
            continue
        elif name == "blind":
            found[name] = _read_flag(resolve(value), problems)
        else:
            found[name] = _read_text(value, name, problems)
    if not found and not problems:
        problems.add((), f"one or more of {', '.join(DECLARED)}", None)
    problems.raise_if_any()
    return found


def _read_flag(value: Any, problems: TreeProblems) -> bool:
    if not isinstance(value, bool):
        problems.add(("blind",), "true or false", value)
    return value is True


def _read_text(value: Any, name: str, problems: TreeProblems) -> str:
    """A text; a number or a date (`when: 2019`) as it is written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        problems.add((name,), "a text", value)
        return ""
    if len(value) > MAX_TEXT:
        problems.add((name,), f"a text of at most {MAX_TEXT:,} characters", f"{len(value):,} characters")
    return str(value).strip()


def _suggest(name: str) -> str:
    close = get_close_matches(name, DECLARED, n=1)
    return f"did you mean {close[0]}?" if close else f"they are {', '.join(DECLARED)}"
