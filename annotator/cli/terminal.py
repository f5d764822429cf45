"""Parts that all commands share: options, the database, printed results, and lists of errors.

With `--json` stdout gets exactly one JSON document; progress and logs go to stderr. The table of formats is read only for
`--help`. `--errors FILE` lists every bad line of a refused input as CSV, also lines that the screen omits. It overwrites
only an earlier list, never another file. After a command without errors the list is empty.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, date, datetime
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperCommand

from annotator.domain.figures import show_figure, show_number

if TYPE_CHECKING:
    from annotator.domain.errors import DatasetNotOpen, FormatError
    from annotator.domain.people import Actor
    from annotator.storage.database import Database


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="The database (default: ANNOTATOR_DATABASE_URL, else sqlite:///annotator.db).",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DatasetArgument = Annotated[str, typer.Argument(help="The dataset's name.", metavar="DATASET")]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="The text's encoding, if not UTF-8 (cp932, euc-kr …)."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Check everything, change nothing.")]
AsOption = Annotated[str | None, typer.Option("--as", metavar="LEAD", help="Act as this person.")]

COLUMNS = ("file", "line", "field", "expected", "found", "message")
chosen_errors_file: dict[str, Path | None] = {"errors": None}


def _choose(path: Path | None) -> Path | None:
    chosen_errors_file["errors"] = path
    return path


ErrorsOption = Annotated[
    Path | None,
    typer.Option(
        "--errors",
        metavar="FILE",
        callback=_choose,
        help="Write every bad line to this CSV file; the screen shows the first 200.",
    ),
]
chosen: dict[str, str | None] = {"database": None}


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROLS_IN_LOG = re.compile(r"(?!\r|\x1b\[[0-9;]*m)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def open_database(url: str | None) -> "Database":
    """Return the database of the option (before or after the command) or the environment. Updates its schema."""
    from annotator.storage.schema import upgrade_schema

    database = open_as_it_is(url)
    upgrade_schema(database, now=now())
    return database


def open_as_it_is(url: str | None) -> "Database":
    """Return the database as `open_database` does, without updating its schema."""
    from annotator.settings import Settings
    from annotator.storage.database import Database

    url = chosen["database"] = url or chosen["database"] or Settings().database_url
    return Database(url)


def suggest_dataset(error: "DatasetNotOpen") -> str:
    """Return a question that suggests the dataset with the most similar name; "" if no name is similar."""
    from difflib import get_close_matches

    from annotator.dataset.service import list_datasets
    from annotator.domain.people import OPERATOR

    names = [item.name for item in list_datasets(open_as_it_is(None), OPERATOR)]
    similar = get_close_matches(str(error.args[0].values["name"]), names, n=1)
    return f". Did you mean {similar[0]!r}?" if similar else ""


def open_as(
    url: str | None, username: str | None, *, figures_of: str | None = None
) -> "tuple[Database, Actor]":
    """Return the database (see `open_database`) and the actor (see `resolve_actor`).

    `figures_of`: a dataset. The command shows its figures, so the person can no longer change answers there
    (`keep_answers`).
    """
    database = open_database(url)
    actor = resolve_actor(database, username)
    if figures_of is not None and not actor.is_operator:
        from annotator.overview.service import keep_answers

        keep_answers(database, actor, figures_of, now=now())
    return database, actor


def has_dataset(url: str | None, name: str) -> bool:
    """Return whether the database has a dataset of this name, archived or not. Creates no database."""
    from annotator.dataset.service import list_datasets
    from annotator.domain.people import OPERATOR
    from annotator.storage.database import find_sqlite_file

    file = find_sqlite_file(open_as_it_is(url).url)
    if file is not None and not file.exists():
        return False
    return any(
        dataset.name == name for dataset in list_datasets(open_database(url), OPERATOR, archived_too=True)
    )


def resolve_actor(database: "Database", username: str | None) -> "Actor":
    """Return the person of `--as`; the operator without it."""
    from annotator.domain.people import OPERATOR
    from annotator.people.roles_service import find_actor

    if username is None:
        return OPERATOR
    with database.read() as session:
        return find_actor(session, username)


def note_written(database: "Database", actor: "Actor", dataset: str, file: str) -> None:
    """Note in the audit log that a file with a dataset's grades will be written. `file`: such as consensus.csv."""
    from annotator.audit.service import note_download

    note_download(database, actor, dataset, file, now=now())


class _Answers:
    """What the groups of a command's last options have in common: they open the database and print the result."""

    database: str | None
    json: bool

    def open(self) -> "Database":
        return open_database(self.database)

    def show_json(self, value: Any) -> bool:
        """Print the value as one JSON document if `--json` is given. Returns whether it is."""
        if self.json:
            print_json(value)
        return self.json

    def show(self, value: Any, *sentences: str) -> None:
        """Print the value as JSON with `--json`, else these sentences, each on a line."""
        if not self.show_json(value):
            typer.echo("\n".join(sentences))

    def show_table(
        self, value: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str
    ) -> None:
        """Print the value as JSON with `--json`, else the rows (see `print_table`)."""
        if not self.show_json(value):
            print_table(columns, list(rows), empty=empty)

    def show_records(self, records: Sequence[Any], columns: Mapping[str, str], *, empty: str) -> None:
        """Print the records as JSON with `--json`, else as a table. `columns`: {heading: field}."""
        rows = ([getattr(record, field) for field in columns.values()] for record in records)
        self.show_table(records, tuple(columns), rows, empty=empty)


@dataclass(frozen=True, slots=True)
class Console(_Answers):
    """The last options of a command of the operator."""

    database: DatabaseOption = None
    json: JsonOption = False


@dataclass(frozen=True, slots=True)
class LeadConsole(_Answers):
    """The last options of a command that a person may run too."""

    as_: AsOption = None
    database: DatabaseOption = None
    json: JsonOption = False

    def open_as(self, *, figures_of: str | None = None) -> "tuple[Database, Actor]":
        return open_as(self.database, self.as_, figures_of=figures_of)


@dataclass(frozen=True, slots=True)
class FileConsole(_Answers):
    """The last options of a command that reads a file. `errors` is read where the command ends: `write_errors`."""

    dry_run: DryRunOption = False
    database: DatabaseOption = None
    errors: ErrorsOption = None
    json: JsonOption = False


def spread_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its dataclasses as options of its own, for Typer."""
    parameters = signature(command).parameters.values()
    groups: dict[str, Any] = {
        each.name: each.annotation for each in parameters if is_dataclass(each.annotation)
    }

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{option.name: values.pop(option.name) for option in fields(group)})
        command(**values)

    spread: Any = run
    spread.__signature__ = Signature(
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for each in parameters
            for name, default, annotation in (
                [(option.name, option.default, option.type) for option in fields(groups[each.name])]
                if each.name in groups
                else [(each.name, each.default, each.annotation)]
            )
        ]
    )
    return run


class CommandGroup(typer.Typer):
    """A group of commands, whose options may be fields of dataclasses (`spread_options`)."""

    def command(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        register = super().command(*args, **settings)
        return lambda command: register(spread_options(command))


def now() -> datetime:
    return datetime.now(UTC)


def read_bytes(path: Path) -> bytes:
    """Return a regular file's content. Raises a plain message if it is no regular file or unreadable."""
    from annotator.formats.syntax.source import read_regular

    return read_regular(path)


def to_json(value: Any) -> Any:
    """Return records, times and paths as values for JSON."""
    if value is None or isinstance(value, str | int | float):  # first: a crowd's report has a million of them
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, date | Path) else value


def print_json(value: Any) -> None:
    """Print one JSON document on stdout, always in UTF-8. Escapes bytes of file names that are not UTF-8."""
    text = json.dumps(to_json(value), ensure_ascii=False, indent=2, allow_nan=False)
    rest = memoryview(text.encode("utf-8", "backslashreplace") + b"\n")
    while (
        rest
    ):  # without a buffer (PYTHONUNBUFFERED) a write may take a part only, and say so by its count alone
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.flush()


_FIGURE = re.compile(r"[-−]?[\d,]+(\.\d+|(\.\d+)? ?%)")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: str) -> None:
    """Print rows in columns, figures right-aligned, also for full-width characters; without rows, print `empty`."""
    if not rows:
        typer.echo(empty)
        return
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(_width(row[index]) for row in cells) for index in range(len(columns))]
    are_figures = [_are_figures([row[index] for row in rows]) for index in range(len(columns))]
    for row in cells:
        spaces = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [
            space + cell if is_figure else cell + space
            for cell, space, is_figure in zip(row, spaces, are_figures, strict=True)
        ]
        typer.echo("  ".join(padded).rstrip())


def _are_figures(values: Sequence[Any]) -> bool:
    """Return whether a column has figures only. Texts are figures if they have decimals or a percent sign: ids have not."""
    said = [value for value in values if value not in (None, "", "–")]
    return bool(said) and all(
        bool(_FIGURE.fullmatch(value)) if isinstance(value, str) else type(value) in (int, float)
        for value in said
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return show_figure(value)
    if type(value) is int:
        return show_number(value)
    return str(value).replace("\n", " ")


def _width(text: str) -> int:
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def show_controls(stream: TextIO, *, is_log: bool) -> None:
    """Let a stream to a terminal show the control characters of ids and texts, which a terminal would obey: ESC as \\x1b.

    `is_log`: colours and the return of the cursor for progress are the program's own.
    """
    controls, write = _CONTROLS_IN_LOG if is_log else _CONTROLS, stream.write
    stream.write = lambda text: write(controls.sub(lambda found: f"\\x{ord(found[0]):02x}", text))  # type: ignore[method-assign]


def fail(message: str, code: int) -> None:
    """Print the reason on stderr and end with this exit code."""
    typer.echo(message, err=True)
    raise SystemExit(code)


class CommandOnFormats(TyperCommand):
    """A command on ground-truth files. Its help ends with the table of formats."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from annotator.formats.registry import list_formats

        formatter.write(f"\nFormats:\n{list_formats(in_full=True)}\n")


def write_errors(problems: "Sequence[FormatError]") -> str:
    """Write the list to the file of `--errors`. Returns a sentence about the result; "" without the option."""
    path = chosen_errors_file["errors"]
    if path is None or (not problems and not path.exists()):
        return ""
    from annotator.dataset.schema_check import split_location
    from annotator.domain.messages import count_of
    from annotator.formats.syntax.partial_files import replace_file
    from annotator.formats.syntax.spreadsheet import write_sheet

    rows = [
        (problem.path, problem.line, *split_location(problem), problem.found, str(problem))
        for problem in problems
    ]
    try:
        if path.exists() and not path.read_bytes().startswith("".join(write_sheet(COLUMNS, [])).encode()):
            return (
                f"--errors: {path} is another file and was not written over; name one that is not there"
                * bool(problems)
            )
        replace_file(path, [piece.encode() for piece in write_sheet(COLUMNS, rows)], mode=0o666)
    except OSError as error:
        return f"--errors: cannot write {path}: {error.strerror}"
    return f"{path}: {count_of(len(rows), 'bad place')}" if rows else ""
