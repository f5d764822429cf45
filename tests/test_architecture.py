"""The rules of docs/architecture.md: import-linter's contracts (pyproject.toml), and what they cannot say.

These tests read the source; they import none of it. Each file is read and parsed once. A rule is one test, which lists
every file and line that breaks it.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PROGRAM = PROJECT / "annotator"
ROOMS_OF_PLAIN_DATA = ("domain", "formats")
SLICES = (
    "people", "dataset", "guideline", "importing", "pooling", "labeling", "agreement", "adjudication", "quality", "releases",
    "evaluation", "overview", "installation", "audit",
)  # fmt: skip
HEAVY = (
    "streamlit", "starlette", "uvicorn", "pandas", "numpy", "pyarrow", "scipy", "sklearn", "altair", "bm25s",
    "sqlalchemy", "sqlmodel", "alembic", "psycopg", "pydantic", "yaml", "argon2", "ir_measures", "pytrec_eval",
)  # fmt: skip

ENTRANCE = re.compile(r"(\w+_)?(service|records)")
"""By what a slice is entered."""
SHARED = {  # rules, and queries that another slice's service runs in its own transaction: by which slices they are used
    "adjudication.queue.queue_sql": {"overview"},
    "agreement.intervals": {"evaluation", "pooling", "quality"},
    "dataset.coverage_counts": {"overview", "releases"},
    "dataset.settings": {"overview", "releases"},
    "guideline.feedback_sql": {"agreement", "overview", "releases"},
    "labeling.calibration_sql": {"agreement", "overview"},
    "labeling.next_pairs_sql": {"pooling"},
    "labeling.open_pairs_sql": {"adjudication", "pooling", "quality"},
    "labeling.questions_sql": {"overview"},
    "labeling.submission_sql": {"pooling"},
    "pooling.filters.near_duplicates": {"adjudication"},
    "pooling.one_thread": {"evaluation"},
    "pooling.rounds.rounds_sql": {"releases"},
    "releases.releases_sql": {"overview"},
}


def list_modules(*folders: Path) -> list[Path]:
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [path for path in paths if "versions" not in path.parts and "__pycache__" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def room_of(path: Path) -> str:
    """The folder below annotator/: a slice, `domain`, `web` and so on."""
    return path.relative_to(PROGRAM).parts[0]


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement: `names` as (name, name given to it), `level` the dots of a relative import."""

    line: int
    module: str
    names: tuple[tuple[str, str | None], ...]
    level: int

    @property
    def root(self) -> str:
        """The first name; two names for our own."""
        words = self.module.split(".")
        return ".".join(words[:2]) if words[0] == "annotator" else words[0]

    def list_modules(self) -> list[str]:
        """Return the modules of the program that are imported, without `annotator.`: also for `from annotator.labeling import next_pairs_sql`."""
        if not self.module.startswith("annotator."):
            return []
        module = self.module.removeprefix("annotator.")
        is_folder = PROGRAM.joinpath(*module.split(".")).is_dir()
        return [f"{module}.{name}" for name, _ in self.names] if is_folder else [module]


@dataclass(slots=True)
class Source:
    """What the rules look at in one file; `functions`: name, line, and lines without the signature."""

    docstring: bool = False
    imports: list[Import] = field(default_factory=list)
    calls: list[tuple[int, str, str]] = field(default_factory=list)  # line, dotted name, whole call
    functions: list[tuple[str, int, int]] = field(default_factory=list)
    classes: list[tuple[str, int]] = field(default_factory=list)
    undocumented: list[tuple[str, int]] = field(default_factory=list)  # public, at the top of the file
    names: set[str] = field(default_factory=set)
    asserts: list[int] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)


@cache
def read_source(path: Path) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    source = Source(docstring=bool(ast.get_docstring(tree)))
    source.undocumented += [
        (node.name, node.lineno)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                source.imports.append(Import(node.lineno, alias.name, ((alias.name, alias.asname),), 0))
        elif isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname) for alias in node.names)
            source.imports.append(Import(node.lineno, node.module or "", names, node.level))
        elif isinstance(node, ast.Call):
            source.calls.append((node.lineno, _write_name(node.func), ""))
            if source.calls[-1][1].startswith("yaml."):
                source.calls[-1] = (node.lineno, source.calls[-1][1], ast.unparse(node))
        elif isinstance(node, ast.Assert):
            source.asserts.append(node.lineno)
        elif isinstance(node, ast.Name):
            source.names.add(node.id)
        elif isinstance(node, ast.arg):
            source.names.add(node.arg)
        elif isinstance(node, ast.Attribute):
            source.names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            source.texts.append((node.lineno, node.value))
        elif isinstance(node, ast.ClassDef):
            source.names.add(node.name)
            source.classes.append((node.name, node.lineno))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            source.names.add(node.name)
            lines = (node.end_lineno or 0) - node.body[0].lineno
            source.functions.append((node.name, node.lineno, lines))
    return source


def _write_name(node: ast.expr) -> str:
    """Return what `ast.unparse` does, which takes a hundred times as long for a dotted name."""
    if isinstance(node, ast.Attribute):
        return f"{_write_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def list_imports(paths: Iterable[Path], forbidden: set[str]) -> list[str]:
    """Every import of one of these roots, also one that is for types only."""
    return [
        f"{name_of(path)}:{imported.line} imports {imported.module}"
        for path in paths
        for imported in read_source(path).imports
        if imported.root in forbidden
    ]


def list_imports_beyond(paths: Iterable[Path], allowed: set[str]) -> list[str]:
    """Every import that is neither of the standard library nor of one of these roots."""
    return [
        f"{name_of(path)}:{imported.line} imports {imported.module}"
        for path in paths
        for imported in read_source(path).imports
        if imported.root not in sys.stdlib_module_names | allowed
    ]


MODULES = list_modules(PROGRAM)
TESTS = list_modules(PROJECT / "tests", PROJECT / "benchmarks", PROJECT / "docs")
IN_SLICES = [path for path in MODULES if room_of(path) in SLICES]
SERVICES = [path for path in IN_SLICES if path.stem == "service" or path.stem.endswith("_service")]
RECORDS = [path for path in IN_SLICES if path.stem == "records" or path.stem.endswith("_records")]
QUERIES = [path for path in IN_SLICES if path.stem.endswith("_sql")]
RULES = [path for path in IN_SLICES if path not in SERVICES and path not in QUERIES]
WITHOUT_SQL = [path for path in MODULES if path not in SERVICES + QUERIES and room_of(path) != "storage"]


def test_the_contracts_about_imports_hold() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint_reads_every_python_file() -> None:
    """A folder named `build` or `dist`, or in .gitignore, is invisible to ruff."""
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [ruff, "check", "--show-files", "--no-cache", "."],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    linted = {Path(line) for line in done.stdout.splitlines()}
    python_files = list_modules(
        *(PROJECT / folder for folder in ("annotator", "tests", "benchmarks", "docs", "exports"))
    )
    assert [name_of(path) for path in python_files if path not in linted] == []


def test_the_rooms_are_looked_at() -> None:
    rooms = {room_of(path) for path in MODULES if path.parent != PROGRAM}
    assert rooms == {*SLICES, *ROOMS_OF_PLAIN_DATA, "storage", "cli", "web"}


def test_a_file_says_what_it_does() -> None:
    assert [name_of(path) for path in MODULES if not read_source(path).docstring] == []
    begins = re.compile(r'(?:#.*\n|\s)*r?"""\s*[^"\s]')
    assert [name_of(path) for path in TESTS if not begins.match(path.read_text(encoding="utf-8"))] == []


def test_what_is_public_has_a_docstring() -> None:
    """Classes and functions of a service, of a slice's records, and of the rooms of plain data."""
    held = {*SERVICES, *RECORDS, *(path for path in MODULES if room_of(path) in ROOMS_OF_PLAIN_DATA)}
    undocumented = [
        f"{name_of(path)}:{line} {name}"
        for path in sorted(held)
        for name, line in read_source(path).undocumented
    ]
    assert undocumented == []


def test_a_function_is_short() -> None:
    """Counted without the signature: a command's signature is its options."""
    long = [
        f"{name_of(path)}:{line} {name}"
        for path in MODULES
        for name, line, lines in read_source(path).functions
        if lines >= 80
    ]
    assert long == []


def test_a_class_name_is_unique_in_the_program() -> None:
    """Private and nested classes count, since a reader searches for a name; one called Meta belongs to its library."""
    definitions: dict[str, list[str]] = {}
    for path in MODULES:
        for name, line in read_source(path).classes:
            if name not in {"Meta", "Config"}:
                definitions.setdefault(name, []).append(f"{name_of(path)}:{line}")
    doubled = {name: where for name, where in definitions.items() if len(where) > 1}
    assert doubled == {}, "; ".join(
        f"{name} in {' and '.join(where)}" for name, where in sorted(doubled.items())
    )


def test_no_file_is_named_after_nothing() -> None:
    nothing = re.compile(r"util|helper|common|manager|misc")
    assert [name_of(path) for path in MODULES + TESTS if nothing.search(path.stem)] == []


def test_nothing_is_left_to_do() -> None:
    kinds = {".py", ".js", ".css", ".html", ".md", ".toml", ".yaml", ".json"}
    folders = ("annotator", "tests", "docs", "benchmarks", ".ci")
    files = [path for folder in folders for path in (PROJECT / folder).rglob("*") if path.suffix in kinds]
    files += [path for path in PROJECT.iterdir() if path.is_file() and path.suffix in {".md", ".toml", ""}]
    mark = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X])\b")
    assert [
        name_of(path) for path in files if mark.search(path.read_text(encoding="utf-8", errors="replace"))
    ] == []


def test_an_import_names_its_module_in_full() -> None:
    relative = [
        f"{name_of(path)}:{imported.line}"
        for path in MODULES
        for imported in read_source(path).imports
        if imported.level
    ]
    assert relative == []


def test_the_domain_needs_only_the_standard_library_and_the_tables_of_look_alike_characters() -> None:
    allowed = {"annotator.domain", "confusable_homoglyphs"}
    assert list_imports_beyond(list_modules(PROGRAM / "domain"), allowed) == []


def test_formats_need_only_the_domain_and_yaml() -> None:
    allowed = {"annotator.domain", "annotator.formats", "yaml"}
    assert list_imports_beyond(list_modules(PROGRAM / "formats"), allowed) == []


def test_a_rule_does_not_know_the_database_not_even_its_types() -> None:
    assert list_imports(RULES, {"sqlalchemy", "sqlmodel", "annotator.storage"}) == []


def test_only_services_queries_and_the_storage_know_sql() -> None:
    assert list_imports(WITHOUT_SQL, {"sqlalchemy", "sqlmodel", "alembic", "psycopg"}) == []


def test_slices_enter_each_other_by_services_and_records() -> None:
    shared: dict[str, set[str]] = {}
    for path in IN_SLICES:
        for module in {name for imported in read_source(path).imports for name in imported.list_modules()}:
            slice_, last = module.split(".")[0], module.split(".")[-1]
            if slice_ in SLICES and slice_ != room_of(path) and not ENTRANCE.fullmatch(last):
                shared.setdefault(module, set()).add(room_of(path))
    assert shared == SHARED


def test_a_page_or_a_command_runs_no_query() -> None:
    queries = [
        f"{name_of(path)}:{imported.line} imports {imported.module}"
        for path in MODULES
        if room_of(path) in ("cli", "web")
        for imported in read_source(path).imports
        if imported.module.startswith("annotator.") and imported.module.endswith("_sql")
    ]
    assert queries == []


def test_a_name_is_imported_from_where_it_is_defined() -> None:
    """`from x import name as name` passes a name on; whoever needs it imports it from its own module."""
    passed_on = [
        f"{name_of(path)}:{imported.line} {name}"
        for path in MODULES
        for imported in read_source(path).imports
        for name, given in imported.names
        if name == given
    ]
    assert passed_on == []


def test_only_the_storage_knows_migrations_and_the_driver() -> None:
    assert list_imports(SERVICES + QUERIES, {"alembic", "psycopg"}) == []


def test_only_a_service_opens_a_write_transaction() -> None:
    writes = [
        f"{name_of(path)}:{line}"
        for path in WITHOUT_SQL
        for line, name, _ in read_source(path).calls
        if re.fullmatch(r"(.*\.)?(database|db)\.write", name)
    ]
    assert writes == []


def test_clock_and_chance_are_arguments() -> None:
    """Only secrets (passwords, session tokens) may differ between two runs on the same data."""
    forbidden = re.compile(
        r"(datetime\.)*datetime\.(now|utcnow|today)|date\.today|time\.(time|time_ns|monotonic|perf_counter)"
        r"|random\.(random|randint|choice|choices|sample|shuffle|seed)|np\.random\.(?!default_rng|Generator)\w+|uuid\.uuid[14]|uuid[14]|Path\.cwd"
    )
    calls = [
        f"{name_of(path)}:{line} {name}"
        for path in SERVICES + RULES + list_modules(PROGRAM / "domain", PROGRAM / "formats")
        for line, name, _ in read_source(path).calls
        if forbidden.fullmatch(name)
    ]
    assert calls == []


def test_bad_input_is_never_asserted() -> None:
    assert [f"{name_of(path)}:{line}" for path in MODULES for line in read_source(path).asserts] == []


def test_yaml_is_read_by_a_safe_loader() -> None:
    loads = re.compile(r"yaml\.(load|load_all|full_load|full_load_all|unsafe_load|unsafe_load_all)")
    unsafe = [
        f"{name_of(path)}:{line}"
        for path in MODULES
        for line, name, call in read_source(path).calls
        if loads.fullmatch(name) and "Safe" not in call
    ]
    assert unsafe == []


def test_the_words_are_the_fields_own() -> None:
    """See docs/glossary.md: judgment, annotator, pair, pool, dataset."""
    others = {"rating", "ratings", "assessor", "assessors", "labeler", "labelers", "judgement", "judgements"}
    old_words = [
        f"{name_of(path)} {name}"
        for path in MODULES
        for name in sorted(read_source(path).names)
        if others & set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower()))
    ]
    assert old_words == []


def test_which_judgments_count_is_written_once() -> None:
    """`COUNTED_PURPOSE` of annotator/domain/judgments.py; only the translatable word stands beside it."""
    homes = ("annotator/domain/judgments.py", "annotator/web/kit/words.py")
    spelled = [
        f"{name_of(path)}:{line}"
        for path in MODULES
        if name_of(path) not in homes
        for line, text in read_source(path).texts
        if text == "independent" or "'independent'" in text
    ]
    assert spelled == []


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
