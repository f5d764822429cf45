"""Read and check each row of an exported dataset: its columns, their types and ranges, and the program's rules for their values.

A file can be made by anybody, so nothing in it is trusted. Types, ranges and missing values follow from the tables; settings,
rubrics, overlap rules, requirements and versions are checked by the same functions as when a person types them. The database checks its
constraints when the rows are stored, and `restore_service.py` the keys of other rows.
"""

import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, get_args

from sqlalchemy import JSON, BigInteger, Boolean, Float, Integer, Table
from sqlmodel import SQLModel

from annotator.dataset.coverage_requirements import read_requirements
from annotator.dataset.export_service import list_columns
from annotator.dataset.service import check_dataset_name
from annotator.dataset.settings import RULES, SETTINGS, read_setting, write_setting
from annotator.domain.errors import AnnotatorError
from annotator.domain.grades import GradeDefinition, Rubric, check_languages
from annotator.domain.ground_truth import MEDIA_TYPES, Origin
from annotator.domain.judgments import CHECK_PURPOSES, CURRENT_PURPOSES
from annotator.domain.settling import PAIR_STATUSES, check_rules
from annotator.domain.texts import (
    MAX_OPTIONS,
    MAX_TEXT,
    MOST_FIELDS,
    check_version,
    holds_no_text,
    measure_metadata,
)
from annotator.formats.syntax.text import is_too_long
from annotator.formats.syntax.tree import MAX_TEXT as MAX_TEXT_OF_A_FILE
from annotator.storage.logs.audit_log import ACTIONS
from annotator.storage.tables.columns import UtcDateTime

if TYPE_CHECKING:
    from pydantic import BaseModel

DEEPEST = 50
"""How deeply lists and mappings may be nested in a JSON column, as in every file that the program reads."""
CLOCKS_DIFFER = timedelta(days=1)
"""How far a time may lie in the future, because the clock of the other installation may be ahead."""
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = {False: 2**31 - 1, True: 2**63 - 1}
_KEY = re.compile(r"[0-9A-Za-z_-]{1,100}")
Row = dict[str, Any]


class RowFault(Exception):
    """A row that cannot be restored: in which column, what was expected there, and what was found."""

    def __init__(self, column: str, expected: str, found: Any) -> None:
        super().__init__(column)
        self.expected = f"{column} to be {expected}" if column else expected
        self.found = found if isinstance(found, str) else repr(found)


def decode_row(line: bytes) -> Row:
    """Return the row of a line. Raises RowFault for anything but a JSON object in UTF-8 without NaN and without a name twice."""
    try:
        row = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise RowFault("", "a row as a JSON object, with each name once", line[:80].decode(errors="replace"))
    return row


def _make_object(items: list[tuple[str, Any]]) -> Row:
    made = dict(items)
    if len(made) < len(items):
        raise ValueError("a name twice")
    return made


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_make_object, parse_constant=_refuse_constant)


def check_row(table: Table, row: Row, *, now: datetime) -> None:
    """Raise RowFault for the first column with a value that the program would not have stored."""
    from pydantic import ValidationError as TypeFault

    try:
        _make_model(table).model_validate(row, context=now)
    except TypeFault as error:
        fault = error.errors(include_url=False)[0]
        location = ".".join(map(str, fault["loc"]))
        raise RowFault(location or table.name, _describe_type(fault), fault.get("input")) from None
    for name, value in row.items():
        if isinstance(value, str | dict | list):
            _check_content(value, name, _find_longest(table.name, name))
        if value is not None and (check := _COLUMN_CHECKS.get((table.name, name))) is not None:
            _run(check, value, name)
    if (check_whole := _ROW_CHECKS.get(table.name)) is not None:
        check_whole(row)


def _run(check: Callable[[Any], object], value: Any, column: str) -> None:
    try:
        accepted = check(value)
    except (AnnotatorError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        why = str(error).partition("\n")[0] if isinstance(error, AnnotatorError) else "of another shape"
        raise RowFault(column, f"a value that the program stores ({why})", value) from None
    if accepted is False:
        raise RowFault(column, "a value that the program stores", value)


def _describe_type(fault: Mapping[str, Any]) -> str:
    message = str(fault["msg"])
    return {"extra_forbidden": "no column of this table", "missing": "there"}.get(
        str(fault["type"]), f"valid ({message[:1].lower()}{message[1:]})"
    )


@cache
def _make_model(table: Table) -> "type[BaseModel]":
    """Return a strict model of the exported columns of a table, made from the table itself."""
    from pydantic import ConfigDict, create_model

    row_class = _list_row_classes()[table.name]
    fields: dict[str, Any] = {}
    for column in list_columns(table):
        kind: Any = _find_kind(column.type)
        if isinstance(column.type, JSON):
            kind = row_class.model_fields[column.name].annotation
        fields[column.name] = (kind | None if column.nullable else kind, ...)
    config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())
    model: type[BaseModel] = create_model(f"exported_{table.name}", __config__=config, **fields)
    return model


def _list_row_classes() -> dict[str, type[SQLModel]]:
    registry: Any = SQLModel._sa_registry
    return {mapper.local_table.name: mapper.class_ for mapper in registry.mappers}


def _find_kind(column_type: Any) -> Any:
    from pydantic import BeforeValidator, Field

    if isinstance(column_type, UtcDateTime):
        return Annotated[datetime, BeforeValidator(lambda value, info: _check_time(value, info.context))]
    if isinstance(column_type, Boolean):
        return bool
    if isinstance(column_type, Integer):
        return Annotated[int, Field(ge=0, le=_MOST[isinstance(column_type, BigInteger)])]
    return float if isinstance(column_type, Float) else str


def read_time(value: Any) -> datetime:
    """Return a time with a zone. Raises ValueError for anything else."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else None
    if time is None or time.tzinfo is None:
        raise ValueError("expected a time with a zone")
    return time


def _check_time(value: Any, now: datetime) -> datetime:
    time = read_time(value)
    if not _EARLIEST <= time <= now + CLOCKS_DIFFER:
        raise ValueError("expected a time between 1970 and now")
    return time


def _find_longest(table: str, column: str) -> float:
    """Return how many characters a text of the column may have, in JSON too: as many as in the file of an import."""
    if (table, column) in _LONG or column in _SIGNALS:
        return math.inf
    return MAX_OPTIONS if table in ("query", "document") and column != "extra" else MAX_TEXT_OF_A_FILE


def _check_content(value: Any, column: str, longest: float, depth: int = 0) -> None:
    """Raise RowFault for NUL, a lone surrogate, a text that is too long, a number that is infinite or has more than
    64 bits, or nesting beyond DEEPEST.
    """
    if isinstance(value, str):
        if len(value) > longest:
            raise RowFault(column, f"a text of at most {longest:,} characters", f"{len(value):,}")
        if holds_no_text(value):
            raise RowFault(column, "a text without NUL and lone surrogates", ascii(value[:80]))
    elif isinstance(value, dict | list):
        if depth == DEEPEST:
            raise RowFault(column, f"nested at most {DEEPEST} deep", "deeper")
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_content(item, column, longest, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RowFault(column, "a finite number", value)
    elif isinstance(value, int) and abs(value) > _MOST[True]:
        raise RowFault(column, "a number of at most 64 bits", f"{len(str(abs(value)))} digits")


def _check_settings(row: Row) -> None:
    """Raise RowFault for a setting that no lead could have typed."""
    _run(lambda rules: check_rules(row["overlap"], rules) == rules, row["overlap_rules"], "overlap_rules")
    rules = row["overlap_rules"] or {}
    for name in SETTINGS:
        column = "overlap_rules" if name in RULES else name
        value = rules.get(RULES[name]) if name in RULES else row[column]
        if name == "requirements":
            if value is not None:
                _run(_read_stored_requirements, value, column)
        elif name != "title":
            _run(partial(_can_be_typed, name), value, column)


def _can_be_typed(name: str, value: Any) -> bool:
    return bool(read_setting(name, write_setting(name, value)) == (value or None if value == [] else value))


def _read_stored_requirements(value: Any) -> object:
    return read_requirements(json.dumps(value, ensure_ascii=False).encode(), "requirements")


def _check_rubric(row: Row) -> None:
    texts = {name: row[name] for name in ("title", "guideline", "language")}
    _run(_read_grades, row["grades"], "grades")
    _run(lambda given: [_read_texts(each) for each in given], row["translations"], "translations")
    translations = tuple(_read_texts(each) for each in row["translations"])
    _run(
        lambda language: check_languages(
            Rubric(
                _read_grades(row["grades"]),
                texts["guideline"],
                texts["title"],
                language=language or "",
                translations=translations,
            )
        ),
        row["language"],
        "language",
    )
    if row["version"] < 1:
        raise RowFault("version", "1 or more", row["version"])


def _read_texts(given: Any) -> Rubric:
    if not isinstance(given, dict) or given.keys() != {"language", "title", "guideline", "grades"}:
        raise TypeError
    if not all(isinstance(given[name], str) for name in ("language", "title", "guideline")):
        raise TypeError
    return Rubric(
        _read_grades(given["grades"]), given["guideline"], given["title"], language=given["language"]
    )


def _read_grades(given: Any) -> tuple[GradeDefinition, ...]:
    """Return the definitions of the grades 0 to 3. Raises ValueError for another shape."""
    definitions: tuple[GradeDefinition, ...] = _make_grades_adapter().validate_json(
        json.dumps(given), strict=True
    )
    Rubric(definitions)
    if not all(each.name.strip() and each.definition.strip() for each in definitions):
        raise ValueError("expected a name and a definition of each grade")
    return definitions


@cache
def _make_grades_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[GradeDefinition, ...])


def _check_release(row: Row) -> None:
    _run(_read_manifest_of_release, row["manifest"], "manifest")
    _run(_read_sums, row["sums"], "sums")


def _read_manifest_of_release(manifest: Any) -> None:
    """Read what pages and commands read of a published release (`releases/files_service.py`). Raises if it is of another shape."""
    for name, kinds in _RELEASE_MANIFEST.items():
        if not isinstance(manifest[name], kinds) or isinstance(manifest[name], bool):
            raise TypeError
    if type(manifest["counts"]["qrels"]) is not int or not isinstance(manifest["scale"], str | dict | list):
        raise TypeError
    for gate in manifest["gates"]:
        override = gate["override"]
        figures = (gate["required"], gate["measured"])
        plain = isinstance(gate["name"], str) and isinstance(gate["met"], bool | None)
        if not plain or not all(isinstance(figure, int | float | str | None) for figure in figures):
            raise TypeError
        if override and not all(isinstance(override[name], str) for name in ("reason", "by")):
            raise TypeError
    for file in manifest["files"]:
        if type(file["bytes"]) is not int:
            raise TypeError
        _check_path(file["path"])


_RELEASE_MANIFEST: Mapping[str, Any] = {
    "published_by": (str, type(None)),
    "previous": (str, type(None)),
    "counts": dict,
    "gates": list,
    "files": list,
    "guideline_version": int,
    "scale": object,
}


def _read_sums(sums: str) -> None:
    for line in sums.splitlines():
        sha256, path = line.split("  ", 1)
        if re.fullmatch("[0-9a-f]{64}", sha256) is None:
            raise ValueError(line)
        _check_path(path)


def _check_path(path: str) -> None:
    """Raise ValueError unless this is a path below a folder."""
    if path.startswith("/") or "\\" in path or {"", ".", ".."} & set(path.split("/")):
        raise ValueError(path)


def _check_imported_grade(row: Row) -> None:
    _run(_read_grade_source, row["source"], "source")


def _read_grade_source(source: Any) -> bool:
    """Return whether the source has the texts by which the history of a pair names it."""
    names = {"near_duplicate": ("of", "accepted_by"), "relation": ("rule",), "remap": ("old_doc_id",)}
    return isinstance(source["kind"], str) and all(
        isinstance(source[name], str) for name in names.get(source["kind"], ())
    )


def _check_before_after(row: Row) -> None:
    to = (row["after"] or {}).get("to")
    if to is not None and not isinstance(to, str):
        raise RowFault("after", "with the username of a person in 'to'", to)


def _is_id(value: str) -> bool:
    return bool(value) and not is_too_long(value)


def _one_of(*names: str) -> Callable[[str], bool]:
    return lambda value: value in names


def _is_uuid(value: str) -> bool:
    return str(uuid.UUID(value)) == value


_LONG = (("document_text", "text"), ("release", "sums"))
_SIGNALS = ("signals", "query_signals")
"""Columns with texts of any length, as long as the line has at most 64 MB."""
_COLUMN_CHECKS: Mapping[tuple[str, str], Callable[[Any], object]] = {
    ("dataset", "name"): check_dataset_name,
    ("person", "username"): _is_id,
    ("person", "name"): lambda value: len(value) <= MAX_TEXT,
    ("query", "query_id"): _is_id,
    ("query", "extra"): lambda value: measure_metadata(value) <= MOST_FIELDS,
    ("document", "doc_id"): _is_id,
    ("document", "extra"): lambda value: measure_metadata(value) <= MOST_FIELDS,
    ("document", "media_type"): _one_of(*MEDIA_TYPES),
    ("run", "system"): _is_id,
    ("run", "query_signals"): lambda value: all(isinstance(item, dict) for item in value.values()),
    ("provenance", "system"): _is_id,
    ("pool_round", "options"): lambda value: isinstance(value.get("systems"), dict | list | None),
    ("pool_round", "figures"): lambda value: isinstance(value.get("systems"), dict | list | None),
    ("pair", "key"): lambda value: _KEY.fullmatch(value) is not None,
    ("repeated_pair", "key"): lambda value: _KEY.fullmatch(value) is not None,
    ("judgment", "event_id"): _is_uuid,
    ("judgment", "purpose"): _one_of(*CURRENT_PURPOSES, *CHECK_PURPOSES),
    ("audit_event", "action"): _one_of(*ACTIONS),
    ("quality_pair", "settled_by"): _one_of(*PAIR_STATUSES),
    ("release", "version"): check_version,
    ("release_query", "query_id"): _is_id,
    ("release_qrel", "query_id"): _is_id,
    ("release_qrel", "doc_id"): _is_id,
    ("release_qrel", "origin"): _one_of(*get_args(Origin)),
}
_ROW_CHECKS: Mapping[str, Callable[[Row], None]] = {
    "dataset": _check_settings,
    "rubric": _check_rubric,
    "release": _check_release,
    "imported_qrel": _check_imported_grade,
    "audit_event": _check_before_after,
}
