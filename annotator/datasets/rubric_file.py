"""Reads a rubric from YAML: title, guideline (Markdown) and the definitions of the grades 0-3.

Refuses a file without exactly the four grades, or with a grade that has no name or definition.
"""

from typing import Any

from annotator.domain.errors import BadInput, FormatError
from annotator.domain.grades import GRADES, GradeDefinition, Rubric

MAX_BYTES = 1_000_000


def read_rubric(data: bytes, path: str) -> Rubric:
    """The rubric of a YAML file's bytes. BadInput names every entry that is missing or wrong."""
    if len(data) > MAX_BYTES:
        raise BadInput([FormatError(path, None, "a rubric of at most 1 MB", f"{len(data):,} bytes")])
    try:
        content = _load(data.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadInput([FormatError(path, line, "UTF-8 text", f"byte 0x{data[error.start]:02x}")]) from None
    entries = content.get("grades")
    if not isinstance(entries, list):
        raise BadInput([FormatError(path, None, "a list 'grades'", type(entries).__name__)])
    problems = [
        problem for index, entry in enumerate(entries) for problem in _check_entry(entry, index, path)
    ]
    found = [entry.get("grade") for entry in entries if isinstance(entry, dict)]
    if sorted(found, key=str) != list(GRADES):
        problems.append(FormatError(path, None, "the grades 0, 1, 2, 3 once each", str(found)))
    if problems:
        raise BadInput(problems)
    return Rubric(
        grades=tuple(_definition(entry) for entry in sorted(entries, key=lambda entry: int(entry["grade"]))),
        guideline=str(content.get("guideline", "")),
        title=str(content.get("title", "")),
    )


def _load(text: str, path: str) -> dict[str, Any]:
    import yaml  # here, so that a server that reads no rubric starts sooner

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise BadInput([FormatError(path, None, "YAML without aliases", "an alias")])
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:  # of the scanner, the parser or the constructor
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise BadInput([FormatError(path, line, "YAML", error.problem or "something else")]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput([FormatError(path, None, "YAML", str(error) or "nested too deeply")]) from None
    if not isinstance(content, dict):
        raise BadInput([FormatError(path, 1, "a mapping with 'grades'", type(content).__name__)])
    return content


def _check_entry(entry: Any, index: int, path: str) -> list[FormatError]:
    where = f"grades[{index}]"
    if not isinstance(entry, dict):
        return [FormatError(path, None, f"{where} to be a mapping", type(entry).__name__)]
    return [
        FormatError(path, None, f"{where}.{key} to be a text", repr(entry.get(key)))
        for key in ("name", "definition")
        if not isinstance(entry.get(key), str) or not entry[key].strip()
    ]


def _definition(entry: dict[str, Any]) -> GradeDefinition:
    return GradeDefinition(
        grade=int(entry["grade"]),
        name=entry["name"].strip(),
        definition=entry["definition"].strip(),
        positive_examples=tuple(str(example) for example in entry.get("positive_examples") or ()),
        negative_examples=tuple(str(example) for example in entry.get("negative_examples") or ()),
    )
