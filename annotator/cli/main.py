"""Run the console script `annotator`.

Catches every error once and turns it into a message on stderr and an exit code: 0 done, 1 refused (nothing changed),
2 wrong usage, 3 a gate or check is not met, 141 nobody read the output to its end.
"""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from annotator import __version__
from annotator.cli import (
    adjudication,
    agreement,
    conversion,
    dataset,
    duplicates,
    evaluation,
    guideline,
    history,
    importing,
    labeling,
    people,
    pooling,
    quality,
    releases,
    serving,
    suggestions,
    terminal,
)
from annotator.cli.terminal import CommandOnFormats

# A million objects come with the imports, and stay: to look through them for cycles was a fifth of each start.
START_THRESHOLD = (50_000, 20, 100)
OUTPUT_NOT_READ = 128 + 13  # what a shell shows for a program that SIGPIPE ended, such as `cat FILE | true`

app = typer.Typer(
    name="annotator",
    help="From a pool of candidates to a ground truth you can defend.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"annotator {__version__}")
        raise typer.Exit


@app.callback()
def choose(
    context: typer.Context,
    database: terminal.DatabaseOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a pool of candidates to a ground truth you can defend."""
    del version
    # a command that keeps all its records turns the collector off, and a process may run several commands
    if gc.isenabled():
        context.call_on_close(gc.enable)
    terminal.chosen["database"] = database


app.command()(serving.demo)
app.command()(serving.serve)
app.add_typer(dataset.app, name="dataset")
app.add_typer(people.app, name="people")
app.add_typer(guideline.app, name="rubric")
app.add_typer(importing.app, name="import")
app.command("remap")(importing.remap)
app.command("pool")(pooling.pool)
app.command("pool-rounds")(pooling.pool_rounds)
app.command("pool-probabilities")(pooling.pool_probabilities)
app.command("pairs")(pooling.pairs)
app.command("relations")(suggestions.relations)
app.command("duplicates")(duplicates.duplicates)
app.command("suggest")(suggestions.suggest)
app.command("suggestions")(suggestions.suggestions)
app.command("assign")(labeling.assign)
app.command("reassign")(labeling.reassign)
app.command("judgments")(labeling.judgments)
app.add_typer(labeling.app, name="calibrate")
app.command("progress")(labeling.progress)
app.command("agreement")(agreement.agreement)
app.command("disagreements")(adjudication.disagreements)
app.command("adjudicate")(adjudication.adjudicate)
app.command("order")(adjudication.order)
app.command("settle")(adjudication.settle)
app.command("evaluate", cls=CommandOnFormats)(evaluation.evaluate)
app.command("status")(serving.status)
app.command("trail")(history.trail)
app.command("lessons")(guideline.lessons)
app.add_typer(quality.app, name="qc")
app.add_typer(releases.app, name="release")
app.command("convert", cls=CommandOnFormats)(conversion.convert)
app.command("check", cls=CommandOnFormats)(conversion.check)


def run() -> None:
    """Run the command line as a process."""
    from annotator.domain.errors import AnnotatorError, BadInput, DatabaseUnavailable, GateNotMet

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
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
    except GateNotMet as error:
        terminal.write_errors(())  # the input itself was good
        terminal.fail(str(error), 3)
    except DatabaseUnavailable as error:
        terminal.fail(error.describe(), 1)
    except BadInput as error:
        written = terminal.write_errors(error.problems)
        terminal.fail(f"{error}\n{written}" if written else str(error), 1)
    except AnnotatorError as error:
        terminal.fail(str(error), 1)
    except BrokenPipeError:
        _drop_output()
        sys.exit(OUTPUT_NOT_READ)
    except OSError as error:
        _drop_output()
        terminal.fail(f"{error.filename or 'cannot write the output'}: {error.strerror or error}", 1)


def _require_texts(words: Sequence[str]) -> None:
    """Refuse an argument that no database can hold (NUL, bytes that are not UTF-8), unless a file is called so."""
    from annotator.domain.texts import holds_no_text

    for word in words:
        value = word.partition("=")[2] if word.startswith("--") else word
        if holds_no_text(word) and ("\x00" in word or not Path(value).exists()):
            terminal.fail(f"expected arguments that are text in UTF-8, found {word!r:.80}", 2)


def _drop_output() -> None:
    """Let Python end quietly: what stands in stdout's buffer cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
