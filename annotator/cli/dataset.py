"""Run `annotator dataset …`: datasets and their settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from annotator.cli.terminal import (
    AsOption,
    CommandGroup,
    Console,
    DatabaseOption,
    DatasetArgument,
    LeadConsole,
    now,
    open_as,
    print_table,
    read_bytes,
)
from annotator.domain.people import OPERATOR

app = CommandGroup(help="Datasets and their settings.", no_args_is_help=True)


@app.command()
def create(
    name: DatasetArgument,
    title: str = typer.Option("", help="The name shown to people."),
    overlap: int = typer.Option(2, help="How many annotators judge each pair."),
    rubric: Path | None = typer.Option(None, help="A YAML file with the grades' definitions."),
    grades: str = typer.Option(
        "general", metavar="NAME", help="Ready definitions of the grades: general, nablarch or law."
    ),
    settings: list[str] | None = typer.Argument(
        None, metavar="[KEY=VALUE…]", help="Settings, as for dataset set."
    ),
    console: Console = Console(),
) -> None:
    """Create an empty dataset."""
    from annotator.dataset.rubric_file import read_grade_template, read_rubric
    from annotator.dataset.service import create_dataset

    chosen_rubric = read_rubric(read_bytes(rubric), str(rubric)) if rubric else read_grade_template(grades)
    typed = _split_changes(settings or [])
    required = _read_required_file(typed)
    made = create_dataset(
        console.open(),
        OPERATOR,
        name,
        now=now(),
        title=title,
        settings={"overlap": str(overlap), **typed},
        rubric=chosen_rubric,
        requirements=required,
    )
    console.show(made, f"Made the dataset {made.name}. Next: annotator import queries {made.name} FILE")


@app.command("list")
def list_(
    archived: bool = typer.Option(False, "--archived", help="List the archived datasets too."),
    console: Console = Console(),
) -> None:
    """List the datasets."""
    from annotator.dataset.service import list_datasets

    datasets = list_datasets(console.open(), OPERATOR, archived_too=archived)
    console.show_table(
        datasets,
        ("name", "title", "overlap", "kappa_target"),
        ((item.name, item.title, item.overlap, item.kappa_target) for item in datasets),
        empty="No dataset yet. Make one: annotator dataset create NAME",
    )


@app.command()
def show(name: DatasetArgument, console: Console = Console()) -> None:
    """Show a dataset's settings and its size."""
    from dataclasses import asdict

    from annotator.dataset.service import read_current_rubric, show_dataset, show_search_hosts
    from annotator.dataset.settings import SEARCH_HOSTS, write_setting
    from annotator.domain.settling import describe_overlap

    opened = console.open()
    dataset, counts = show_dataset(opened, OPERATOR, name)
    settings = {**asdict(dataset), SEARCH_HOSTS: show_search_hosts(opened, OPERATOR, name)}
    version, rubric = read_current_rubric(opened, OPERATOR, name)
    guideline = {
        "version": version,
        "language": rubric.language or None,
        "translations": [texts.language for texts in rubric.translations],
    }
    if console.show_json({**settings, "guideline": guideline, "counts": asdict(counts)}):
        return
    required = settings.pop("requirements")
    made = {name: settings.pop(name) for name in ("name", "created_at", "archived_at")}
    rows = [
        *made.items(),
        *((key, write_setting(key, value)) for key, value in settings.items()),
        ("who judges", describe_overlap(dataset.overlap, dataset.overlap_rules)),
        ("requirements", _show_requirements(required)),
        *(
            (f"requirements: {key}", _show_required(value))
            for key, value in (required or {}).items()
            if key != "about"
        ),
        ("guideline", _show_guideline(version, rubric.languages)),
        *asdict(counts).items(),
    ]
    print_table(("setting", "value"), rows, empty="")


def _show_guideline(version: int, languages: Sequence[str]) -> str:
    if not languages:
        return f"version {version}"
    own, *others = languages
    return f"version {version} in {own}" + (f", translated into {', '.join(others)}" if others else "")


@app.command("set")
def set_(
    name: DatasetArgument,
    changes: list[str] = typer.Argument(..., metavar="KEY=VALUE…", help="Settings to change."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Change settings, such as overlap=2 or overlap_share=0.3:2. An unknown setting is refused with a list of all settings;
    `annotator dataset show` shows their values."""
    from dataclasses import asdict

    from annotator.dataset.service import change_settings, show_search_hosts
    from annotator.dataset.settings import SEARCH_HOSTS, write_setting
    from annotator.domain.settling import describe_overlap

    pairs = _split_changes(changes)
    typed = dict(pairs)
    required = _read_required_file(typed)
    opened, actor = console.open_as()
    dataset = change_settings(opened, actor, name, typed, now=now(), requirements=required)
    settings = {**asdict(dataset), SEARCH_HOSTS: show_search_hosts(opened, actor, name)}
    if console.show_json(settings):
        return
    values = {key: write_setting(key, settings[key]) for key in pairs if key != "requirements"}
    if "requirements" in pairs:
        values["requirements"] = _show_requirements(dataset.requirements)
    if any("overlap" in key or key == "third_judgment_from" for key in pairs):
        values["who judges"] = describe_overlap(dataset.overlap, dataset.overlap_rules)
    typer.echo("\n".join(f"{key} = {value}" for key, value in values.items()))


@app.command()
def archive(name: DatasetArgument, console: LeadConsole = LeadConsole()) -> None:
    """Remove a dataset from the lists. Nothing in it can be judged or changed any more; its releases stay."""
    from annotator.dataset.service import archive_dataset

    opened, actor = console.open_as()
    dataset = archive_dataset(opened, actor, name, now=now())
    console.show(dataset, f"Archived {name}. To work in it again: annotator dataset unarchive {name}")


@app.command()
def unarchive(name: DatasetArgument, console: LeadConsole = LeadConsole()) -> None:
    """Bring an archived dataset back: it can be judged and changed again."""
    from annotator.dataset.service import unarchive_dataset

    opened, actor = console.open_as()
    dataset = unarchive_dataset(opened, actor, name, now=now())
    console.show(dataset, f"{name} can be judged and changed again.")


@app.command("export")
def export_(
    name: DatasetArgument,
    output: Path | None = typer.Option(None, metavar="FILE", help="The zip to write (default: NAME.zip)."),
    lead: AsOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write a whole dataset into one zip file: texts, judgments with names, decisions, history, settings. No passwords."""
    from annotator.dataset.export_service import export_dataset
    from annotator.domain.errors import StateError
    from annotator.formats.syntax.partial_files import replace_file

    path = output or Path(f"{name}.zip")
    if path.exists():
        raise StateError(f"{path} already exists and was not overwritten")
    opened, actor = open_as(database, lead)
    pieces = export_dataset(opened, actor, name, now=now())
    replace_file(path, pieces)
    typer.echo(
        f"Exported {name} to {path} ({path.stat().st_size:,} bytes). Keep it private: it holds all grades with names."
    )


@app.command()
def restore(
    file: Path = typer.Argument(..., metavar="FILE", help="A zip of annotator dataset export."),
    name: str | None = typer.Option(None, metavar="NAME", help="A new name for the dataset."),
    with_roles: bool = typer.Option(
        False, "--with-roles", help="Also give people the roles on it that they have in the file."
    ),
    console: Console = Console(),
) -> None:
    """Restore a dataset from its export: all of it, or nothing. People are matched by username, and get no role."""
    from annotator.dataset.restore_service import restore_dataset

    dataset = restore_dataset(console.open(), OPERATOR, file, name=name, with_roles=with_roles, now=now())
    console.show(
        dataset,
        f"Restored {dataset.name}. People who were not here have no sign-in yet: annotator people set USER --new-password",
    )


def _split_changes(changes: list[str]) -> dict[str, str]:
    for change in changes:
        if "=" not in change:
            raise typer.BadParameter(f"expected KEY=VALUE, found {change!r}")
    return dict(change.split("=", 1) for change in changes)


def _read_required_file(typed: dict[str, str]) -> dict[str, Any] | None:
    """Remove `requirements=FILE` from the typed settings, and return the file's requirements."""
    from annotator.dataset.coverage_service import read_requirements
    from annotator.dataset.settings import NO_REQUIREMENTS, TEMPLATES

    named = typed.get("requirements")
    if not named or named.lower() == NO_REQUIREMENTS or named in TEMPLATES:
        return None
    return read_requirements(typed.pop("requirements"))


def _show_required(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{label} {_show_required(item)}" for label, item in value.items())
    if isinstance(value, list):
        return ", ".join("no limit" if item is None else str(item) for item in value) or "none"
    return str(value)


def _show_requirements(required: Mapping[str, Any] | None) -> str:
    if required is None:
        return "none"
    return str(required.get("about", ", ".join(required)))
