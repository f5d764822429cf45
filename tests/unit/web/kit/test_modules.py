"""Modules become one script: in the right order, whole, and refused where joining would change what they mean."""

import re
from pathlib import Path

import pytest

import annotator.web
from annotator.web.kit.components import join_modules

WEB = Path(annotator.web.__file__).parent
MODULES = sorted(WEB.rglob("*.js"))
ENTRIES = [path for path in MODULES if "\nexport default " in path.read_text(encoding="utf-8")]


def write(folder: Path, **modules: str) -> Path:
    """Write the modules by their names; return the entry."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "entry.js"


def test_a_module_stands_once_and_behind_all_that_it_imports(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        entry='import { b } from "./b.js";\nimport {\n  c,\n} from "./c.js";\n\nexport default function () { b(c); }\n',
        b='import { c } from "./c.js";\nexport function b() { return c; }\n',
        c="export const c = 1;\n",
    )
    assert join_modules(entry) == (
        "const c = 1;\nfunction b() { return c; }\nexport default function () { b(c); }\n"
    )


def test_comments_of_their_own_lines_are_left_out_and_nothing_else(tmp_path: Path) -> None:
    text = """// Title.

/** @param {string} a
 * @returns {string} */
export default function (a) {
  // why
  return a + "// kept /** kept */";  // kept
}
"""
    assert join_modules(write(tmp_path, entry=text)) == (
        'export default function (a) {\n  return a + "// kept /** kept */";  // kept\n}\n'
    )


@pytest.mark.parametrize(
    ("entry", "other", "message"),
    [
        (
            'import { a } from "./other.js";\n',
            'import { b } from "./entry.js";\nexport const a = 1;\n',
            "in a circle: entry.js -> other.js -> entry.js",
        ),
        ('import { a } from "./other.js";\n', "const a = 1;\n", "imports a, which other.js does not export"),
        (
            'import { a } from "./other.js";\nconst b = 1;\n',
            "export const a = 1;\nclass b {}\n",
            "both declare b",
        ),
        ('import { a as b } from "./other.js";\n', "export const a = 1;\n", "imports a as b"),
        (
            'import * as all from "./other.js";\n',
            "export const a = 1;\n",
            "cannot be joined: import \\* as all",
        ),
        ("const a = 1;\nexport { a };\n", "", "cannot be joined: export { a };"),
        (
            'import { a } from "./other.js";\n',
            "export const a = 1;\nexport default function () {}\n",
            "other.js has an import or export",
        ),
    ],
)
def test_what_joining_would_change_is_refused(tmp_path: Path, entry: str, other: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_modules(write(tmp_path, entry=entry, other=other))


def test_there_are_entries_and_every_module_belongs_to_one() -> None:
    joined = "".join(join_modules(path) for path in ENTRIES)
    exported = {
        name
        for path in MODULES
        for name in re.findall(
            r"^export (?:async )?(?:function\*?|class|const) (\w+)",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
    assert len(ENTRIES) >= 7
    assert {name for name in exported if not re.search(rf"\b{name}\b", joined)} == set()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.relative_to(WEB).as_posix())
def test_a_script_exports_what_streamlit_calls_and_imports_nothing(entry: Path) -> None:
    script = join_modules(entry)
    assert re.findall(r"^export .*?\(", script, re.MULTILINE) == ["export default function ("]
    assert not re.search(r"^import\b", script, re.MULTILINE)
