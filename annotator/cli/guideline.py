"""`annotator rubric …` and `annotator lessons`: the guideline's versions, and what disagreements teach it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    DatasetArgument,
    JsonOption,
    now,
    open_as,
    open_database,
    print_json,
    print_table,
    read_bytes,
)
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.guideline.service import DiffLine, GuidelineComparison, GuidelineVersion


app = typer.Typer(help="The grades' definitions and the guideline, by version.", no_args_is_help=True)
SIGNS = {"same": " ", "removed": "-", "added": "+"}


@app.command()
def show(
    dataset: DatasetArgument,
    version: Annotated[
        int | None, typer.Option(help="Which one (default: the one in force).", show_default=False)
    ] = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Print a version: the grades with their examples, and the guideline."""
    from annotator.guideline.service import read_version

    found = read_version(open_database(database), OPERATOR, dataset, version)
    if json:
        print_json(_to_json(found))
        return
    lines = [f"version {found.version} ({found.change})", *([found.why] if found.why else []), ""]
    lines += [found.rubric.title, ""] if found.rubric.title else []
    for definition in found.rubric.grades:
        lines += [f"{definition.grade}  {definition.name}", f"   {definition.definition}"]
        lines += [f"   + {example}" for example in definition.positive_examples]
        lines += [f"   - {example}" for example in definition.negative_examples]
    typer.echo("\n".join([*lines, "", found.rubric.guideline]).rstrip())


@app.command("list")
def list_(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """List the versions, the newest first."""
    from annotator.guideline.service import list_versions

    found = list_versions(open_database(database), OPERATOR, dataset)
    if json:
        print_json([_to_json(version) for version in found])
        return
    rows = [
        (item.version, item.change, item.created_at, item.author or "operator", item.why) for item in found
    ]
    print_table(("version", "change", "created_at", "author", "why"), rows, empty="")


@app.command()
def diff(
    dataset: DatasetArgument,
    before: Annotated[int, typer.Argument(help="A version.", metavar="A")],
    after: Annotated[int, typer.Argument(help="Another version.", metavar="B")],
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two versions: the grades that differ, and the guideline line by line."""
    from annotator.guideline.service import compare_versions

    found = compare_versions(open_database(database), OPERATOR, dataset, before, after)
    if json:
        print_json(found)
        return
    typer.echo("\n".join(_list_lines(found)) or "Nothing differs.")


@app.command("set")
def set_(
    dataset: DatasetArgument,
    path: Annotated[Path, typer.Argument(help="A YAML file, as of dataset create --rubric.", metavar="FILE")],
    change: Annotated[
        str, typer.Option(help="minor: wording. semantic: what a grade means; judgments are asked again.")
    ],
    why: Annotated[str, typer.Option(help="What changed and why; needed when it is semantic.")] = "",
    base: Annotated[
        int | None,
        typer.Option(help="The version it was written from (default: the one in force).", show_default=False),
    ] = None,
    lead: AsOption = None,
    database: DatabaseOption = None,
    json: JsonOption = False,
) -> None:
    """Publish a new version. Refused when another one was published since --base."""
    from annotator.dataset.service import read_rubric
    from annotator.guideline.service import count_asked_again, publish_version, read_version

    opened, actor = open_as(database, lead)
    rubric = read_rubric(read_bytes(path), str(path))
    begun = base if base is not None else read_version(opened, actor, dataset).version
    made = publish_version(
        opened, actor, dataset, rubric, base_version=begun, change=change, why=why, now=now()
    )
    if json:
        print_json(_to_json(made))
        return
    typer.echo(f"Published version {made.version} of {dataset}'s standard.")
    if made.change == "semantic":
        again = count_asked_again(opened, actor, dataset)
        typer.echo(f"{again:,} {'judgment is' if again == 1 else 'judgments are'} asked again.")


def _to_json(version: "GuidelineVersion") -> dict[str, object]:
    rubric = version.rubric
    return {
        "version": version.version,
        "change": version.change,
        "why": version.why,
        "author": version.author,
        "created_at": version.created_at,
        "title": rubric.title,
        "grades": rubric.grades,
        "guideline": rubric.guideline,
    }


def _list_lines(found: "GuidelineComparison") -> list[str]:
    lines = [f"title: {found.title[0]!r} -> {found.title[1]!r}"] if found.title else []
    for grade in found.grades:
        lines += [f"grade {grade.grade}", *map(_line, grade.lines)]
    if found.guideline.lines:
        lines += ["guideline", *map(_line, found.guideline.lines)]
    return lines


def _line(line: "DiffLine") -> str:
    text = f"… {count_of(line.skipped, 'line')}" if line.skipped else line.text
    return f"  {SIGNS[line.kind]} {text}".rstrip()


def lessons(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Sum up what decided disputes teach the guideline, most to be gained first."""
    from annotator.domain.people import OPERATOR
    from annotator.guideline.feedback_service import list_lessons

    found = list_lessons(open_database(database), OPERATOR, dataset, now=now())
    if json:
        told = [lesson.as_json() for lesson in found.lessons]
        print_json({"decided": found.decided, "waiting": found.waiting, "lessons": told})
        return
    rows = [
        (
            len(lesson.cases) or len(lesson.questions),
            lesson.open,
            lesson.impact,
            ", ".join(map(str, lesson.answered_in)),
            lesson.sentence,
        )
        for lesson in found.lessons
    ]
    columns = ("decisions", "open", "impact", "answered in", "lesson")
    print_table(columns, rows, empty="Decided disputes teach the guideline nothing so far.")
