"""Run `annotator rubric …` and `annotator lessons`: versions of the guideline, and lessons from disagreements."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import (
    CommandGroup,
    Console,
    DatasetArgument,
    LeadConsole,
    now,
    read_bytes,
)
from annotator.domain.errors import NotFound
from annotator.domain.grades import Rubric
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.guideline.compare import DiffLine, GuidelineComparison
    from annotator.guideline.service import GuidelineVersion


app = CommandGroup(help="The grades' definitions and the guideline, by version.", no_args_is_help=True)
SIGNS = {"same": " ", "removed": "-", "added": "+"}


@app.command()
def show(
    dataset: DatasetArgument,
    version: int | None = typer.Option(
        None, help="Which version (default: the current one).", show_default=False
    ),
    language: str | None = typer.Option(
        None, help="In which language (default: the authoritative one).", show_default=False
    ),
    console: Console = Console(),
) -> None:
    """Print a version: the grades with their examples, and the guideline."""
    from annotator.guideline.service import read_version

    shown = read_version(console.open(), OPERATOR, dataset, version)
    if console.show_json(_to_json(shown)):
        return
    rubric = shown.rubric if language is None else _find_texts(shown, language)
    lines = [f"version {shown.version} ({shown.change})", *([shown.why] if shown.why else [])]
    lines += [f"languages: {', '.join(shown.rubric.languages)}"] if shown.rubric.languages else []
    lines += ["", *([rubric.title, ""] if rubric.title else [])]
    for definition in rubric.grades:
        lines += [f"{definition.grade}  {definition.name}", f"   {definition.definition}"]
        lines += [f"   + {example}" for example in definition.positive_examples]
        lines += [f"   - {example}" for example in definition.negative_examples]
    typer.echo("\n".join([*lines, "", rubric.guideline]).rstrip())


@app.command("list")
def list_(dataset: DatasetArgument, console: Console = Console()) -> None:
    """List the versions, newest first."""
    from annotator.guideline.service import list_versions

    versions = list_versions(console.open(), OPERATOR, dataset)
    console.show_table(
        [_to_json(version) for version in versions],
        ("version", "change", "created_at", "author", "why"),
        (
            (item.version, item.change, item.created_at, item.author or "operator", item.why)
            for item in versions
        ),
        empty="",
    )


@app.command()
def diff(
    dataset: DatasetArgument,
    before: int = typer.Argument(..., help="A version.", metavar="A"),
    after: int = typer.Argument(..., help="Another version.", metavar="B"),
    console: Console = Console(),
) -> None:
    """Compare two versions: the grades that differ, and the guideline line by line."""
    from annotator.guideline.service import compare_versions

    comparison = compare_versions(console.open(), OPERATOR, dataset, before, after)
    console.show(comparison, "\n".join(_list_lines(comparison)) or "No differences.")


@app.command("set")
def set_(
    dataset: DatasetArgument,
    path: Path = typer.Argument(..., help="A YAML file, as of dataset create --rubric.", metavar="FILE"),
    change: str = typer.Option(
        ..., help="minor: wording. semantic: the meaning of a grade; judgments must be confirmed."
    ),
    why: str = typer.Option("", help="What changed and why; required if semantic."),
    base: int | None = typer.Option(
        None, help="The version it was written from (default: the current one).", show_default=False
    ),
    remove_languages: bool = typer.Option(
        False, "--remove-languages", help="Remove the languages that FILE does not have."
    ),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Publish a new version in all its languages. Refused if another one was published since --base."""
    from annotator.dataset.rubric_file import read_rubric
    from annotator.guideline.service import count_judgments_made_outdated, publish_version, read_version

    opened, actor = console.open_as()
    rubric = read_rubric(read_bytes(path), str(path))
    begun = base if base is not None else read_version(opened, actor, dataset).version
    made = publish_version(
        opened,
        actor,
        dataset,
        rubric,
        base_version=begun,
        change=change,
        why=why,
        may_remove_languages=remove_languages,
        now=now(),
    )
    if console.show_json(_to_json(made)):
        return
    typer.echo(f"Published version {made.version} of the guideline of {dataset}.")
    if made.change == "semantic":
        again = count_judgments_made_outdated(opened, actor, dataset)
        typer.echo(f"{again:,} {'judgment' if again == 1 else 'judgments'} must be confirmed or changed.")


def _to_json(version: "GuidelineVersion") -> dict[str, object]:
    rubric = version.rubric
    return {
        "version": version.version,
        "change": version.change,
        "why": version.why,
        "author": version.author,
        "created_at": version.created_at,
        "language": rubric.language or None,
        **_describe_texts(rubric),
        "translations": {texts.language: _describe_texts(texts) for texts in rubric.translations},
    }


def _describe_texts(rubric: Rubric) -> dict[str, object]:
    return {"title": rubric.title, "grades": rubric.grades, "guideline": rubric.guideline}


def _find_texts(version: "GuidelineVersion", language: str) -> Rubric:
    texts = version.rubric.texts_by_language.get(language)
    if not language or texts is None:
        known = ", ".join(version.rubric.languages) or "not stated"
        raise NotFound(f"version {version.version} is not given in {language!r}; its languages: {known}")
    return texts


def _list_lines(comparison: "GuidelineComparison") -> list[str]:
    """Return the differences as lines: authoritative language first, then each translation under its tag."""
    before, after = (tag or "not stated" for tag in comparison.language or ("", ""))
    lines = [f"language: {before} -> {after}"] if comparison.language else []
    lines += _list_text_lines(comparison)
    for change in comparison.translations:
        lines.append(f"translation {change.language}: {change.kind}")
        lines += _list_text_lines(change.comparison) if change.comparison else []
    return lines


def _list_text_lines(comparison: "GuidelineComparison") -> list[str]:
    lines = [f"title: {comparison.title[0]!r} -> {comparison.title[1]!r}"] if comparison.title else []
    for grade in comparison.grades:
        lines += [f"grade {grade.grade}", *map(_line, grade.lines)]
    if comparison.guideline.lines:
        lines += ["guideline", *map(_line, comparison.guideline.lines)]
    return lines


def _line(line: "DiffLine") -> str:
    text = f"… {count_of(line.skipped, 'line')}" if line.skipped else line.text
    return f"  {SIGNS[line.kind]} {text}".rstrip()


def lessons(dataset: DatasetArgument, console: Console = Console()) -> None:
    """List lessons from decided disagreements for the guideline, most useful first."""
    from annotator.domain.people import OPERATOR
    from annotator.guideline.feedback_service import list_worklist

    worklist = list_worklist(console.open(), OPERATOR, dataset, now=now())
    items = [item.as_json() for item in worklist.items]
    rows = [
        (
            len(item.decisions) or len(item.questions),
            item.open,
            item.impact,
            ", ".join(map(str, item.answered_in)),
            item.sentence,
        )
        for item in worklist.items
    ]
    columns = ("decisions", "open", "impact", "answered in", "lesson")
    shown = {"decided": worklist.decided, "waiting": worklist.waiting, "lessons": items}
    console.show_table(shown, columns, rows, empty="No lessons yet. Decide disagreements first.")
