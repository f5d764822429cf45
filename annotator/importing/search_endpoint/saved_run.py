"""Store a run while it is fetched: a run file (JSON Lines, a line per answered query) and FILE.fetch.json
next to it.

The second file identifies the fetch (spec, depth, system, the query texts), so an interrupted fetch continues
exactly where it stopped and never mixes two configurations. A line cut off by a crash is dropped, and so are
lines of failed queries, which are sent again. Refuses a file of another fetch, a run file without its second
file, and queries whose text has changed.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

from annotator.domain.errors import BadInput, FormatError, StateError, ValidationError
from annotator.domain.ground_truth import Query
from annotator.domain.messages import say
from annotator.formats.runs import FAILED
from annotator.formats.syntax.json_text import parse_json
from annotator.formats.syntax.partial_files import replace_file
from annotator.formats.syntax.source import read_regular
from annotator.importing.search_endpoint.endpoint_records import QueryAnswer, UnansweredQuery

SUFFIX = ".fetch.json"


@dataclass(frozen=True, slots=True)
class FetchIdentity:
    """The configuration to which the answers in a file belong."""

    dataset: str
    system: str
    host: str
    depth: int
    spec_sha256: str


@dataclass(slots=True)
class SavedRun:
    """The files of a fetch. `lines`: {query_id: answered line}.

    `opened_sha256`: of the file when opened; None if it had no answer. `imported_sha256`: of the file at its
    last import. `most_bytes`: size limit of the run file; None: no limit.
    """

    path: Path
    identity: FetchIdentity
    texts: dict[str, str]  # by query_id, the hash of the text that is or will be sent
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    imported_sha256: str | None = None
    opened_sha256: str | None = None
    file: BinaryIO | None = None
    most_bytes: int | None = None

    def begin(self) -> None:
        """Open the files for writing. Drops an incomplete last line and the lines of failed queries."""
        self.write_state()
        _write_whole(self.path, self.lines.values())
        self.file = self.path.open("ab")

    def add(self, answer: QueryAnswer) -> None:
        """Append the answer to a query. It is on disk when this returns."""
        if self.file is None:
            raise StateError("the file of the run is not open")
        line = answer.to_line()
        encoded = _encode(line)
        if self.most_bytes is not None and self.file.tell() + len(encoded) > self.most_bytes:
            raise StateError(
                say(
                    "The answers need more than {mb:,} MB, the server's limit for a run. Keep fewer signals or fewer results. Nothing was imported.",
                    mb=self.most_bytes // 1_000_000,
                )
            )
        self.file.write(encoded)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.lines[answer.query_id] = line

    def end(self) -> None:
        """Close the run file."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def add_failed(self, failed: Iterable[UnansweredQuery]) -> None:
        """Write the run file with a line for each failed query, so the file shows which have no answer."""
        lines = [{"query_id": query.query_id, FAILED: query.reason, "results": []} for query in failed]
        _write_whole(self.path, [*self.lines.values(), *lines])

    def write_state(self) -> None:
        """Write FILE.fetch.json."""
        state = {**asdict(self.identity), "imported_sha256": self.imported_sha256, "texts": self.texts}
        shown = json.dumps(state, ensure_ascii=False, indent=1) + "\n"
        replace_file(_state_path(self.path), [shown.encode()], mode=0o666)


def open_saved_run(path: Path, identity: FetchIdentity, queries: Iterable[Query]) -> SavedRun:
    """Return the run saved at `path` by an earlier call of the same command, or an empty run. Writes nothing."""
    texts = {query.query_id: _hash_text(query.text) for query in queries}
    state_path = _state_path(path)
    if not state_path.exists():
        if path.exists():
            raise StateError(
                f"{path}: this file is not an unfinished run of this command; name another one with --save"
            )
        if not path.parent.is_dir():
            raise ValidationError(f"{path}: there is no folder {path.parent} (--save)")
        return SavedRun(path, identity, texts)
    state = _read_state(state_path)
    _check_identity(path, identity, state)
    data = read_regular(path) if path.exists() else b""
    lines = _read_lines(path, data)
    changed = [query_id for query_id in lines if texts.get(query_id) != state["texts"].get(query_id)]
    if changed:
        shown = ", ".join(changed[:5]) + (", …" if len(changed) > 5 else "")
        raise StateError(
            f"{path}: the dataset has another text now for queries that are answered in it, or no longer has them: {shown}; "
            "name another file with --save and another --system"
        )
    opened_sha256 = hashlib.sha256(data).hexdigest() if lines else None
    return SavedRun(path, identity, texts, lines, state.get("imported_sha256"), opened_sha256)


def _check_identity(path: Path, identity: FetchIdentity, state: Mapping[str, Any]) -> None:
    for name, value in asdict(identity).items():
        if state[name] == value:
            continue
        if name == "spec_sha256":
            raise StateError(
                f"{path}: it was begun with another spec (url, body, headers, paths or pages differ); "
                "go on with that one, or name another file with --save"
            )
        raise StateError(
            f"{path}: it was begun with the {name} {state[name]}, found {value}; name another file with --save"
        )


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = parse_json(read_regular(path).decode("utf-8"))
        complete = isinstance(state["texts"], dict) and all(
            item.name in state for item in fields(FetchIdentity)
        )
    except (ValueError, KeyError, TypeError):
        complete = False
    if not complete:
        raise BadInput(
            [FormatError(str(path), None, "what this command wrote beside a run file", say("something else"))]
        )
    return dict(state)


def _read_lines(path: Path, data: bytes) -> dict[str, dict[str, Any]]:
    """Return {query_id: answered line}. An incomplete last line is dropped; any other bad line is refused."""
    whole = data[: data.rfind(b"\n") + 1]
    lines: dict[str, dict[str, Any]] = {}
    for number, content in enumerate(whole.splitlines(), 1):
        try:
            line = parse_json(content.decode("utf-8"))
            query_id, results = line["query_id"], line["results"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(
                [FormatError(str(path), number, "a line that this command wrote", say("something else"))]
            ) from None
        if FAILED not in line and isinstance(query_id, str) and isinstance(results, list):
            lines[query_id] = line
    return lines


def _write_whole(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    replace_file(path, map(_encode, lines), mode=0o666)


def _encode(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _state_path(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)
