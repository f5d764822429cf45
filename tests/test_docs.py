"""The documentation is held to account: what it shows exists, and what exists is shown.

Looked at: README.md, CHANGELOG.md, every Markdown file of docs/, datasets/ and benchmarks/, and the README of exports/ and deploy/.
"""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from annotator import __version__
from annotator.cli.main import app
from annotator.settings import Settings

PROJECT = Path(__file__).parents[1]
PAGES = [
    *(PROJECT / name for name in ("README.md", "CHANGELOG.md")),
    *sorted(
        path for folder in ("docs", "datasets", "benchmarks") for path in (PROJECT / folder).rglob("*.md")
    ),
    *(PROJECT / folder / "README.md" for folder in ("exports", "deploy")),
]
COMMANDS_PAGE = PROJECT / "docs" / "commands.md"
SAID_ONCE = {"--help", "--json", "--database"}
BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"[\[\]…|]|\bsudo\b")


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def list_commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that call it."""
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    for name, child in children.items():
        yield from list_commands(child, (*path, name))


def list_options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")} | {
        "--help"
    }


ROOT = get_command(app)
COMMANDS = dict(list_commands(ROOT))


def list_shown_lines(page: Path) -> list[str]:
    """Every `annotator …` line in a code block, a continued line joined, without its comment and its output."""
    blocks = "\n".join(BLOCK.findall(read(page))).replace("\\\n", " ")
    lines = (re.sub(r"^\s*(\$ )?(\.venv/bin/)?", "", line) for line in blocks.splitlines())
    return [line for line in lines if line.startswith("annotator ")]


def list_shown_spans(page: Path) -> list[str]:
    """Every `annotator …` in running text and tables."""
    text = BLOCK.sub("", read(page)).replace("\\|", "|")
    return [span for span in re.findall(r"`([^`\n]+)`", text) if span.startswith("annotator ")]


def follow(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words call, and the words left over."""
    command, rest = ROOT, words
    while rest and hasattr(command, "commands"):
        assert rest[0] in command.commands, f"there is no command {' '.join(words)!r}"
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


SHOWN_LINES = [(page, line) for page in PAGES if page.exists() for line in list_shown_lines(page)]
SHOWN_SPANS = [(page, span) for page in PAGES if page.exists() for span in list_shown_spans(page)]


def test_the_pages_are_there() -> None:
    assert [name_of(page) for page in PAGES if not page.exists()] == []
    assert len(SHOWN_LINES) > 10


@pytest.mark.parametrize(("page", "line"), SHOWN_LINES, ids=[line for _, line in SHOWN_LINES])
def test_a_command_line_that_is_shown_would_be_accepted(page: Path, line: str) -> None:
    """The line is parsed as the program parses it, up to the point of running it."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: words.index("<")] if "<" in words else words
    words = words[: words.index(">")] if ">" in words else words
    words = words[: words.index("|")] if "|" in words else words
    if words[:1] == ["--help"] or words[:1] == ["--version"]:
        return
    if words[:1] == ["--database"]:
        words = words[2:]
    command, rest = follow(words)
    if PLACEHOLDER.search(line):
        assert set(re.findall(r"--[a-z][a-z0-9-]*", line)) <= list_options(command)
    elif "--help" not in rest:
        command.make_context(words[0], list(rest))


@pytest.mark.parametrize(("page", "span"), SHOWN_SPANS, ids=[span for _, span in SHOWN_SPANS])
def test_a_command_that_is_mentioned_exists(page: Path, span: str) -> None:
    words = [word for word in span.split()[1:] if not word.startswith(("-", "[", "…"))]
    named = [word for word in words if re.fullmatch(r"[a-z][a-z-]*", word)]
    command, _ = follow(named)
    assert set(re.findall(r"--[a-z][a-z0-9-]*", span)) <= list_options(command) | {"--version"}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_has_help_and_is_documented_with_every_option(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*path, "--help"])
    assert done.exit_code == 0
    shown = [
        span for span in list_shown_spans(COMMANDS_PAGE) if span.split()[1 : 1 + len(path)] == list(path)
    ]
    assert shown, f"docs/commands.md does not show `annotator {' '.join(path)} …`"
    options = list_options(COMMANDS[path]) - SAID_ONCE
    assert options - set(re.findall(r"--[a-z0-9][a-z0-9-]*", " ".join(shown))) == set()


def list_advised_commands() -> list[str]:
    """What messages tell the user to run: "…: annotator people list" and the like, in the program's texts."""
    texts = []
    for path in sorted((PROJECT / "annotator").rglob("*.py")):
        nodes = ast.walk(ast.parse(read(path)))
        texts += [
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
    return sorted(
        {
            command
            for text in texts
            for command in re.findall(r"(?:: |`)(annotator [a-z-]+(?: [a-z]+)?)", text)
        }
    )


def test_a_command_that_a_message_advises_exists() -> None:
    for advised in list_advised_commands():
        follow(advised.split()[1:])


def slugs_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.*)$", BLOCK.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=name_of)
def test_a_link_leads_somewhere(page: Path) -> None:
    """Relative links and pictures name a file that is there, and a heading that it has."""
    links = re.findall(r"!?\[[^\]]*\]\((?!https?:|mailto:)([^)\s]+)\)", BLOCK.sub("", read(page)))
    broken = []
    for link in links:
        target, _, heading = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (heading and heading not in slugs_of(file)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=name_of)
def test_a_make_target_that_is_shown_exists(page: Path) -> None:
    code = "\n".join([*BLOCK.findall(read(page)), *re.findall(r"`([^`\n]+)`", BLOCK.sub("", read(page)))])
    shown = set(re.findall(r"^\s*(?:\$ )?make ([a-z][a-z-]*)", code, re.MULTILINE))
    assert shown <= set(re.findall(r"^([a-z][a-z-]*):", read(PROJECT / "Makefile"), re.MULTILINE))


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=name_of)
def test_a_path_of_the_project_that_is_named_is_there(page: Path) -> None:
    """`annotator/…`, `tests/…`, `docs/…` and the like in backticks; patterns and placeholders are left out."""
    text = BLOCK.sub("", read(page))
    named = re.findall(r"`((?:annotator|tests|docs|benchmarks|datasets)/[\w./-]+)`", text)
    assert [path for path in named if not (PROJECT / path).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=name_of)
def test_a_path_within_the_program_that_is_named_is_there(page: Path) -> None:
    """`labeling/next_pairs.py` and the like, below `annotator/` or the project's top; patterns are left out."""
    text = BLOCK.sub("", read(page))
    named = re.findall(r"`([\w.-]+/[\w./-]*\.(?:py|js|css|jinja|po)|[a-z_]+/[a-z_]+/)`", text)
    roots = (PROJECT, PROJECT / "annotator")
    assert [path for path in named if not any((root / path).exists() for root in roots)] == []


def test_every_file_that_the_architecture_names_without_its_folder_is_there() -> None:
    text = BLOCK.sub("", read(PROJECT / "docs" / "architecture.md"))
    there = {path.name for path in (PROJECT / "annotator").rglob("*.py")}
    assert set(re.findall(r"`([a-z_]+\.py)`", text)) - there == set()


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_a_line_of_a_page_has_at_most_110_characters(page: Path) -> None:
    """Tables, code blocks and addresses may be wider."""
    lines = BLOCK.sub("", read(page)).splitlines()
    assert [
        line for line in lines if len(line) > 110 and " " in line.strip() and not line.startswith("|")
    ] == []


def test_every_setting_of_the_environment_is_in_the_readme_and_no_other() -> None:
    shown = set(re.findall(r"ANNOTATOR_[A-Z_]*[A-Z]", read(PROJECT / "README.md")))
    there = {f"ANNOTATOR_{setting.name.upper()}" for setting in fields(Settings)}
    assert shown - {"ANNOTATOR_CHROMIUM"} == there


def test_every_room_is_in_the_architecture() -> None:
    text = read(PROJECT / "docs" / "architecture.md")
    rooms = [path.parent.name for path in (PROJECT / "annotator").glob("*/__init__.py")]
    assert [room for room in rooms if f"{room}/" not in text] == []


def test_the_changelog_keeps_its_form() -> None:
    """Keep a Changelog, newest first, and a Data effect for every version."""
    text = read(PROJECT / "CHANGELOG.md")
    assert text.startswith("# Changelog\n")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for part in parts:
        assert re.match(r"\[(Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d\d-\d\d)?\n", part), part[:40]
        assert set(re.findall(r"^### (.*)$", part, re.MULTILINE)) <= kinds
        assert re.search(r"^\*\*Data effect\*\*: \S", part, re.MULTILINE), part[:40]
    dates = re.findall(r"^## \[.*\] - (\S+)$", text, re.MULTILINE)
    assert dates == sorted(dates, reverse=True)


def test_the_version_is_said_once_the_same() -> None:
    project = tomllib.loads(read(PROJECT / "pyproject.toml"))["project"]
    assert project["version"] == __version__
    assert re.search(
        rf"^## \[(Unreleased|{re.escape(__version__)})\]", read(PROJECT / "CHANGELOG.md"), re.MULTILINE
    )
