"""Mount components of our own, and draw those that several pages share: a text to copy, a table with selectable rows.

Streamlit imports a component's script from a `blob:` URL, which cannot resolve `import … from "./x.js"`. So
`join_modules` concatenates the modules, each after its imports, without `import` lines, the word `export`, and
comments on their own lines. All modules then share one scope: two modules must not declare the same name at
the top level.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from annotator.web.kit.messages import tr

HERE = Path(__file__).parent
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


@cache
def load_component(
    name: str, script: Path, *, html: Path | None = None, styles: tuple[Path, ...] = ()
) -> Any:
    """Return the component of a module and its imports, with the HTML and CSS files beside it if no others are given."""
    markup = html or script.with_suffix(".html")
    looks = styles or (script.with_suffix(".css"),)
    return st.components.v2.component(
        name,
        html=_read(markup) if markup.is_file() else None,
        css="\n".join(_read(path) for path in looks if path.is_file()) or None,
        js=join_modules(script),
    )


def write_message(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the data of a component as one JSON text: a list in `data=` would import pandas (docs/streamlit.md)."""
    return {"message": json.dumps(message, ensure_ascii=False)}


def draw_copy_field(key: str, label: str, text: str) -> None:
    """Draw a text to pass on, such as a link that is shown once, with its label and a button that copies it.

    Streamlit's own code block shows its copy button only while the pointer is over it.
    """
    message = {
        "label": label,
        "text": text,
        "copy": tr("Copy"),
        "copied": tr("Copied"),
        "select": tr("Copy the selected text by keyboard."),
    }
    load_component("annotator_copy_field", HERE / "copy_field.js")(key=key, data=write_message(message))


def draw_rows(
    key: str,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    chosen: str | None,
    on_choose: Callable[[str], None],
    leads_to: str = "",
    links: Sequence[str] = (),
    groups: Sequence[str] = (),
    tall: bool = False,
) -> None:
    """Draw a table with selectable rows: by a click, or by Enter on the row's button; up and down move between rows.

    Streamlit's own table is a canvas without buttons for Enter. Every cell is plain text. The component returns the
    key of a row, not its position, so it can never select another row.

    `leads_to`: CSS selector of the content that a choice shows; the window scrolls to it.
    `on_choose`: callback. `links`: URLs of the rows' own pages, which can be opened in another tab. `groups`: each row's
    heading, shown once above neighbouring rows with the same heading. `tall`: as high as its rows."""
    message = {
        "caption": caption,
        "columns": list(columns),
        "button": 0,
        "chosen": chosen,
        "leadsTo": leads_to,
        "links": list(links),
        "groups": list(groups),
        "tall": tall,
        "rows": [{"key": name, "cells": list(cells)} for name, cells in rows],
    }
    load_component("annotator_rows", HERE / "row_table.js")(
        key=key,
        data=write_message(message),
        on_chosen_change=lambda: _take_row(key, [name for name, _ in rows], on_choose),
    )


def _take_row(key: str, row_keys: list[str], on_choose: Callable[[str], None]) -> None:
    chosen_key = st.session_state[key]["chosen"]
    if chosen_key in row_keys:
        on_choose(chosen_key)
