"""A folder of runs: which files it holds, and which system each of them is.

Hidden files and folders within are skipped and counted in a note. Refused: a folder without a file, a system that two
files name, and every bad line of every file.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from annotator.domain.errors import BadInput, Problems
from annotator.formats.run_lines import RunFile
from annotator.formats.runs import find_system
from annotator.formats.text import describe

SUFFIXES = (".txt", ".trec", ".run", ".res", ".out", ".json", ".jsonl", ".ndjson")


def list_run_files(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """The files of a folder by their names, and a note on what was skipped."""
    found = sorted(folder.iterdir())
    paths = [path for path in found if path.is_file() and not path.name.startswith(".")]
    if not paths:
        problems = Problems(str(folder))
        problems.add(None, "at least one run file", "none")
        problems.raise_if_any()
    skipped = len(found) - len(paths)
    what = "hidden file or folder" if skipped == 1 else "hidden files or folders"
    return paths, ((f"{skipped:,} {what} skipped",) if skipped else ())


def name_systems(paths: Iterable[Path], read: Callable[[Path], RunFile]) -> dict[Path, str]:
    """The system of each file: its tag, or else the file's name. BadInput names every bad line of every file."""
    problems = Problems("")
    systems: dict[Path, str] = {}
    first: dict[str, Path] = {}
    for path in paths:
        try:
            system = find_system(read(path), str(path)) or _name_by_file(path)
        except BadInput as error:
            problems.found += error.problems
            continue
        systems[path] = system
        before = first.setdefault(system, path)
        if before != path:
            expected = (
                f"a system of its own in each file (import it alone with --system; {before.name} has it)"
            )
            problems.add(None, expected, describe(system), path=str(path))
    problems.raise_if_any()
    return systems


def _name_by_file(path: Path) -> str:
    """The file's name without the suffixes that say what kind of file it is."""
    name = path.name
    while (suffix := Path(name).suffix).lower() in SUFFIXES and suffix:
        name = name.removesuffix(suffix)
    return name
