"""Join the JavaScript modules of a component into the single script that Streamlit mounts.

Streamlit imports a component's script from a `blob:` URL, which cannot resolve `import … from "./x.js"`. So
the modules are concatenated, each after its imports, without `import` lines, the word `export`, and comments
on their own lines. All modules then share one scope: two modules must not declare the same name at the top
level.
"""

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let)\b)", re.MULTILINE)
DECLARED = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)[ \t]*\n", re.MULTILINE | re.DOTALL)
LEFT_OVER = re.compile(r"^(?:import\b|export (?!default (?:async )?function \())", re.MULTILINE)


def join_modules(entry: Path) -> str:
    """Return the script of the module `entry` and all its imports, each module once.

    Raises ValueError for circular imports, imported names that are not exported, names declared twice, and
    any form of `import` or `export` except `import { a, b } from "./file.js"`, `export function`,
    `export class`, `export const` and, in the entry, `export default function`.
    """
    order: list[Path] = []
    _order_modules(entry.resolve(), [], order)
    declared: dict[str, Path] = {}
    scripts = []
    for path in order:
        script = _strip_module(path, is_entry=path == order[-1])
        for name in DECLARED.findall(script):
            if name in declared:
                raise ValueError(
                    f"{path.name} and {declared[name].name} both declare {name} at the top level."
                )
            declared[name] = path
        scripts.append(script)
    return "".join(scripts)


def _order_modules(path: Path, importers: list[Path], order: list[Path]) -> None:
    """Append the module to `order` after all its imports."""
    if path in order:
        return
    if path in importers:
        circle = " -> ".join(module.name for module in [*importers[importers.index(path) :], path])
        raise ValueError(f"The modules import each other in a circle: {circle}.")
    for names, address in IMPORT.findall(_read(path)):
        imported = (path.parent / address).resolve()
        _order_modules(imported, [*importers, path], order)
        exported = _list_exported(imported)
        for name in filter(None, (name.strip() for name in names.split(","))):
            if name not in exported:
                raise ValueError(f"{path.name} imports {name}, which {imported.name} does not export.")
    order.append(path)


def _list_exported(path: Path) -> set[str]:
    return {
        name
        for line in _read(path).splitlines()
        if EXPORT.match(line)
        for name in DECLARED.findall(EXPORT.sub("", line))
    }


def _strip_module(path: Path, *, is_entry: bool) -> str:
    """Return the module's text without imports, the word export, and comments."""
    script = EXPORT.sub("", IMPORT.sub("", COMMENT.sub("", _read(path))))
    left_over = LEFT_OVER.search(script) or (
        None if is_entry else re.search(r"^export ", script, re.MULTILINE)
    )
    if left_over:
        line = script[left_over.start() :].split("\n", 1)[0]
        raise ValueError(f"{path.name} has an import or export that cannot be joined: {line}")
    return re.sub(r"\n{2,}", "\n", script).lstrip("\n")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
