"""Run the console script `annotator`.

Turns every error into a message on stderr and an exit code: 0 done, 1 refused (nothing changed), 2 wrong usage,
3 a gate or check is not met, 141 the output was closed before its end.
"""

import gc
import os
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from annotator import __version__
from annotator.cli import terminal
from annotator.cli.terminal import CommandOnFormats

# A million objects come with the imports, and stay: to look through them for cycles was a fifth of each start.
START_THRESHOLD = (50_000, 20, 100)
OUTPUT_NOT_READ = 128 + 13  # what a shell shows for a program that SIGPIPE ended, such as `cat FILE | true`

Command = TyperCommand | TyperGroup

# The commands by stage of the work. Where each is: a function of a module of `cli/`, or the module's `app`, a group.
STAGES: dict[str, dict[str, str]] = {
    "Start": {"demo": "serving:demo", "serve": "serving:serve", "status": "serving:status"},
    "Set up": {"dataset": "dataset:app", "people": "people:app", "rubric": "guideline:app"},
    "Import": {
        "import": "importing:app",
        "convert": "conversion:convert",
        "check": "conversion:check",
        "remap": "importing:remap",
    },
    "Pool": {
        "pool": "pooling:pool",
        "pool-rounds": "pooling:pool_rounds",
        "pool-probabilities": "pooling:pool_probabilities",
        "pairs": "pooling:pairs",
        "relations": "suggestions:relations",
        "duplicates": "suggestions:duplicates",
        "suggest": "suggestions:suggest",
        "suggestions": "suggestions:suggestions",
    },
    "Label": {
        "assign": "labeling:assign",
        "reassign": "labeling:reassign",
        "calibrate": "labeling:app",
        "progress": "labeling:progress",
        "judgments": "labeling:judgments",
    },
    "Agree": {"agreement": "agreement:agreement"},
    "Decide": {
        "disagreements": "adjudication:disagreements",
        "adjudicate": "adjudication:adjudicate",
        "settle": "adjudication:settle",
        "order": "adjudication:order",
        "trail": "audit:trail",
        "lessons": "guideline:lessons",
    },
    "Check and release": {"qc": "quality:app", "release": "releases:app"},
    "Evaluate": {"evaluate": "evaluation:evaluate"},
    "Operate": {
        "audit": "audit:audit",
        "backup": "installation:backup",
        "restore": "installation:restore",
        "copy": "installation:copy",
        "check-upgrade": "installation:check_upgrade",
    },
}
COMMANDS = {name: place for stage in STAGES.values() for name, place in stage.items()}
ON_FORMATS = ("evaluate", "convert", "check")
STYLE: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
}


def load_command(name: str) -> Command:
    """Import the module of a command, and return the command. Other modules are not imported."""
    module, _, attribute = COMMANDS[name].partition(":")
    found = getattr(import_module(f"annotator.cli.{module}"), attribute)
    part = terminal.CommandGroup(**STYLE)
    if isinstance(found, typer.Typer):
        part.add_typer(found, name=name)
    else:
        part.command(name, cls=CommandOnFormats if name in ON_FORMATS else None)(found)
    return cast(Command, get_group(part).commands[name])


class LoadedCommands(MutableMapping[str, Any]):
    """The commands by name, in the order of COMMANDS. Loads each command at its first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = load_command(name)  # KeyError for another name
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class AnnotatorCommands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": None})
        self.commands = LoadedCommands()

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the commands by stage, with the whole first sentence of each."""
        for stage, names in STAGES.items():
            with formatter.section(stage):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=200)) for name in names]
                )


app = typer.Typer(
    cls=AnnotatorCommands,
    name="annotator",
    help="From a pool of candidates to a ground truth you can defend.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **{**STYLE, "add_completion": True},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"annotator {__version__}")
        raise typer.Exit


@app.callback()
def choose(
    context: typer.Context,
    database: terminal.DatabaseOption = None,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """From a pool of candidates to a ground truth you can defend."""
    from annotator.domain.audit import AuditOrigin, audit_origin

    del version
    began = audit_origin.set(AuditOrigin("cli"))
    context.call_on_close(lambda: audit_origin.reset(began))
    # a command that keeps all its records turns the collector off, and a process may run several commands
    if gc.isenabled():
        context.call_on_close(gc.enable)
    terminal.chosen["database"] = database


def run() -> None:
    """Run the command line as a process."""
    from annotator.domain.errors import (
        AnnotatorError,
        BadInput,
        DatabaseUnavailable,
        DatasetNotOpen,
        GateNotMet,
    )

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
        if stream.isatty():
            terminal.show_controls(stream, is_log=stream is sys.stderr)
    stdout = sys.stdout
    gc.set_threshold(*START_THRESHOLD)
    try:
        try:
            _require_texts(sys.argv[1:])
            app()
        except SystemExit as ended:
            if (
                sys.stdout is not stdout
            ):  # Typer exchanges it when the pipe is closed, and ends with 1: "refused"
                sys.stdout = stdout
                raise BrokenPipeError from None
            if not ended.code:
                terminal.write_errors(())
            raise
        finally:
            sys.stdout.flush()  # a full disk shows here, not when Python has ended already
            gc.freeze()  # Python would look through all objects again before it ends
    except GateNotMet as error:
        terminal.write_errors(())  # the input itself was good
        terminal.fail(str(error), 3)
    except DatabaseUnavailable as error:
        terminal.fail(error.describe(), 1)
    except BadInput as error:
        written = terminal.write_errors(error.problems)
        terminal.fail(f"{error}\n{written}" if written else str(error), 1)
    except DatasetNotOpen as error:
        terminal.fail(f"{error}{terminal.suggest_dataset(error)}", 1)
    except AnnotatorError as error:
        terminal.fail(str(error), 1)
    except BrokenPipeError:
        _drop_output()
        sys.exit(OUTPUT_NOT_READ)
    except OSError as error:
        _drop_output()
        terminal.fail(f"{error.filename or 'cannot write the output'}: {error.strerror or error}", 1)


def _require_texts(words: Sequence[str]) -> None:
    """Refuse an argument that no database can store (NUL, invalid UTF-8), unless a file has this name."""
    from annotator.domain.texts import holds_no_text

    for word in words:
        value = word.partition("=")[2] if word.startswith("--") else word
        if holds_no_text(word) and ("\x00" in word or not Path(value).exists()):
            terminal.fail(f"expected arguments that are text in UTF-8, found {word!r:.80}", 2)


def _drop_output() -> None:
    """Let Python exit without an error: the rest of stdout's buffer cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
