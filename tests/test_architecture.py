"""The rules of docs/architecture.md: import-linter's contracts (pyproject.toml), and what they cannot say.

These tests read the source; they import none of it. A rule that fails names the file and the line.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PROGRAM = PROJECT / "annotator"
ROOMS_OF_PLAIN_DATA = ("domain", "formats")
SLICES = (
    "people", "dataset", "guideline", "importing", "pooling", "labeling", "agreement", "adjudication", "quality", "releases",
    "evaluation", "overview",
)  # fmt: skip
HEAVY = (
    "streamlit", "starlette", "uvicorn", "pandas", "numpy", "pyarrow", "scipy", "sklearn", "altair", "bm25s",
    "sqlalchemy", "sqlmodel", "alembic", "psycopg", "pydantic", "yaml", "argon2", "ir_measures", "pytrec_eval",
)  # fmt: skip


def list_modules(*folders: Path) -> list[Path]:
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [path for path in paths if "versions" not in path.parts and "__pycache__" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def room_of(path: Path) -> str:
    """The folder below annotator/: a slice, `domain`, `web` and so on."""
    return path.relative_to(PROGRAM).parts[0]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def list_calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every call as (line, dotted name), e.g. (12, "datetime.now")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


MODULES = list_modules(PROGRAM)
TESTS = list_modules(PROJECT / "tests", PROJECT / "benchmarks", PROJECT / "docs")
IN_SLICES = [path for path in MODULES if room_of(path) in SLICES]
SERVICES = [path for path in IN_SLICES if path.stem == "service" or path.stem.endswith("_service")]
RECORDS = [path for path in IN_SLICES if path.stem == "records" or path.stem.endswith("_records")]
QUERIES = [path for path in IN_SLICES if path.stem.endswith("_sql")]
RULES = [path for path in IN_SLICES if path not in SERVICES and path not in QUERIES]


def test_the_contracts_about_imports_hold() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rooms_are_looked_at() -> None:
    rooms = {room_of(path) for path in MODULES if path.parent != PROGRAM}
    assert rooms == {*SLICES, *ROOMS_OF_PLAIN_DATA, "storage", "cli", "web"}


@pytest.mark.parametrize("path", MODULES + TESTS, ids=name_of)
def test_a_file_says_what_it_does(path: Path) -> None:
    assert ast.get_docstring(parse(path)), "no docstring at its top"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_what_is_public_has_a_docstring(path: Path) -> None:
    """Classes and functions of a service, of a slice's records, and of the rooms of plain data."""
    if path not in SERVICES + RECORDS and room_of(path) not in ROOMS_OF_PLAIN_DATA:
        return
    kinds = (ast.FunctionDef, ast.ClassDef)
    public = [node for node in parse(path).body if isinstance(node, kinds) and not node.name.startswith("_")]
    assert [f"{node.name} (line {node.lineno})" for node in public if not ast.get_docstring(node)] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_function_is_short(path: Path) -> None:
    """Counted without the signature: a command's signature is its options."""
    functions = (
        node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    long = [
        f"{node.name} (line {node.lineno})"
        for node in functions
        if (node.end_lineno or 0) - node.body[0].lineno >= 80
    ]
    assert long == []


def test_a_class_name_is_unique_in_the_program() -> None:
    """Private and nested classes count, since a reader searches for a name; one called Meta belongs to its library."""
    definitions: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef) and node.name not in {"Meta", "Config"}:
                definitions.setdefault(node.name, []).append(f"{name_of(path)}:{node.lineno}")
    doubled = {name: where for name, where in definitions.items() if len(where) > 1}
    assert doubled == {}, "; ".join(
        f"{name} in {' and '.join(where)}" for name, where in sorted(doubled.items())
    )


@pytest.mark.parametrize("path", MODULES + TESTS, ids=name_of)
def test_no_file_is_named_after_nothing(path: Path) -> None:
    assert not re.search(r"util|helper|common|manager|misc", path.stem)


def test_nothing_is_left_to_do() -> None:
    kinds = {".py", ".js", ".css", ".html", ".md", ".toml", ".yaml", ".json"}
    folders = ("annotator", "tests", "docs", "benchmarks", ".ci")
    files = [path for folder in folders for path in (PROJECT / folder).rglob("*") if path.suffix in kinds]
    files += [path for path in PROJECT.iterdir() if path.is_file() and path.suffix in {".md", ".toml", ""}]
    mark = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X])\b")
    assert [
        name_of(path) for path in files if mark.search(path.read_text(encoding="utf-8", errors="replace"))
    ] == []


def list_imported_roots(path: Path) -> set[str]:
    """The first name of every import, also of one that is for types only; two names for our own."""
    roots = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            words = (node.module or "").split(".")
            roots.add(".".join(words[:2]) if words[0] == "annotator" else words[0])
    return roots


@pytest.mark.parametrize("path", list_modules(PROGRAM / "domain"), ids=name_of)
def test_the_domain_needs_only_the_standard_library(path: Path) -> None:
    assert list_imported_roots(path) - sys.stdlib_module_names <= {"annotator.domain"}


@pytest.mark.parametrize("path", list_modules(PROGRAM / "formats"), ids=name_of)
def test_formats_need_only_the_domain_and_yaml(path: Path) -> None:
    assert list_imported_roots(path) - sys.stdlib_module_names <= {
        "annotator.domain",
        "annotator.formats",
        "yaml",
    }


@pytest.mark.parametrize("path", RULES, ids=name_of)
def test_a_rule_does_not_know_the_database_not_even_its_types(path: Path) -> None:
    assert list_imported_roots(path) & {"sqlalchemy", "sqlmodel", "annotator.storage"} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_services_queries_and_the_storage_know_sql(path: Path) -> None:
    if path in SERVICES + QUERIES or room_of(path) == "storage":
        return
    assert list_imported_roots(path) & {"sqlalchemy", "sqlmodel", "alembic", "psycopg"} == set()


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) in ("cli", "web")], ids=name_of)
def test_a_page_or_a_command_runs_no_query(path: Path) -> None:
    imported = [
        node.module or ""
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("annotator.")
    ]
    assert [module for module in imported if module.endswith("_sql")] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_name_is_imported_from_where_it_is_defined(path: Path) -> None:
    """`from x import name as name` passes a name on; whoever needs it imports it from its own module."""
    passed_on = [
        alias.name
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    assert passed_on == []


@pytest.mark.parametrize("path", SERVICES + QUERIES, ids=name_of)
def test_only_the_storage_knows_migrations_and_the_driver(path: Path) -> None:
    assert list_imported_roots(path) & {"alembic", "psycopg"} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_a_service_opens_a_write_transaction(path: Path) -> None:
    if path in SERVICES + QUERIES or room_of(path) == "storage":
        return
    writes = [
        line for line, name in list_calls(parse(path)) if re.fullmatch(r"(.*\.)?(database|db)\.write", name)
    ]
    assert writes == []


@pytest.mark.parametrize(
    "path", SERVICES + RULES + list_modules(PROGRAM / "domain", PROGRAM / "formats"), ids=name_of
)
def test_clock_and_chance_are_arguments(path: Path) -> None:
    """Only secrets (passwords, session tokens) may differ between two runs on the same data."""
    forbidden = re.compile(
        r"(datetime\.)*datetime\.(now|utcnow|today)|date\.today|time\.(time|time_ns|monotonic|perf_counter)"
        r"|random\.(random|randint|choice|choices|sample|shuffle|seed)|np\.random\.(?!default_rng|Generator)\w+|uuid\.uuid[14]|uuid[14]|Path\.cwd"
    )
    assert [
        f"{name} (line {line})" for line, name in list_calls(parse(path)) if forbidden.fullmatch(name)
    ] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_bad_input_is_never_asserted(path: Path) -> None:
    assert [node.lineno for node in ast.walk(parse(path)) if isinstance(node, ast.Assert)] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_yaml_is_read_by_a_safe_loader(path: Path) -> None:
    unsafe = re.compile(r"yaml\.(load|load_all|full_load|full_load_all|unsafe_load|unsafe_load_all)")
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and unsafe.fullmatch(ast.unparse(node.func)):
            assert "Safe" in ast.unparse(node), f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_words_are_the_fields_own(path: Path) -> None:
    """See docs/glossary.md: judgment, annotator, pair, pool, dataset."""
    others = {"rating", "ratings", "assessor", "assessors", "labeler", "labelers", "judgement", "judgements"}
    names = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    old_words = {
        name
        for name in names
        if others & set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower()))
    }
    assert old_words == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_which_judgments_count_is_written_once(path: Path) -> None:
    """`COUNTED_PURPOSE` of annotator/domain/judgments.py; only the translatable word stands beside it."""
    spelled = [
        node.lineno
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.value == "independent" or "'independent'" in node.value)
    ]
    homes = ("annotator/domain/judgments.py", "annotator/web/kit/words.py")
    assert spelled == [] or name_of(path) in homes


def test_help_loads_nothing_heavy() -> None:
    """`annotator --help` must answer at once, so a command imports its libraries when it runs."""
    program = (
        "import sys; from annotator.cli.main import app; from typer.main import get_command; import click\n"
        "command = get_command(app)\n"
        "def visit(command, parent):\n"
        "    context = click.Context(command, parent=parent, info_name=command.name or 'annotator')\n"
        "    command.get_help(context)\n"
        "    for child in getattr(command, 'commands', {}).values():\n"
        "        visit(child, context)\n"
        "visit(command, None)\n"
        f"print(*sorted(set(sys.modules) & {set(HEAVY)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
