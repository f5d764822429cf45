"""Which sentences the program says, which of them are translated, and which English stands outside the catalogs.

Not a test by itself: tests/test_languages.py asks it, and so does `make messages`, which prints what is missing.
"""

import ast
import string
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from babel.messages.pofile import read_po
from jinja2 import Environment
from jinja2.ext import extract_from_ast

ROOT = Path(__file__).parent.parent
CODE = ROOT / "annotator"
CATALOGS = CODE / "web" / "locale"
LANGUAGES = ("ja", "ko")
KEYWORDS = {"tr": 1, "say": 1, "tr_n": 2, "say_n": 2}  # how many of the first arguments are the sentence

Id = tuple[str, ...]  # the sentence; or its singular and plural


@dataclass
class Catalog:
    """The messages of one PO file, by sentence."""

    path: Path
    said: dict[Id, str] = field(default_factory=dict)
    fuzzy: list[Id] = field(default_factory=list)


@cache
def list_sentences() -> dict[Id, list[str]]:
    """Every sentence in the code, with the files (below annotator/) that say it. Read from the syntax tree:
    Babel's own reader passes over what stands inside an f-string."""
    sentences: dict[Id, list[str]] = defaultdict(list)
    for path in sorted(CODE.rglob("*.py")):
        name = path.relative_to(CODE).as_posix()
        for node in list_calls(ast.parse(path.read_text(encoding="utf-8"))):
            arguments = node.args[: KEYWORDS[_name_of(node.func)]]
            for chosen in product(*map(list_branches, arguments)):
                key = tuple(text for argument in chosen for text in _texts(argument))
                if key and name not in sentences[key]:
                    sentences[key].append(name)
    for path in sorted(CODE.rglob("*.jinja")):
        for key in list_template_sentences(path.read_text(encoding="utf-8")):
            sentences[key].append(path.relative_to(CODE).as_posix())
    for path in sorted(CODE.rglob("*words.yaml")):
        for text in list_values(yaml.safe_load(path.read_text(encoding="utf-8"))):
            sentences[text,].append(path.relative_to(CODE).as_posix())
    return dict(sentences)


def list_values(tree: Any) -> Iterator[str]:
    """The texts in a file of words: all values, and no names."""
    if isinstance(tree, str):
        yield tree
    for branch in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from list_values(branch)


def list_template_sentences(source: str) -> list[Id]:
    """The sentences that a template says with tr(), each once."""
    calls = extract_from_ast(Environment().parse(source), gettext_functions=("tr",))
    texts = [text if isinstance(text, tuple) else (text,) for _, _, text in calls]
    return list(dict.fromkeys((text[0],) for text in texts if text[0] is not None))


def list_branches(value: ast.expr) -> list[ast.expr]:
    """The expressions of which a conditional expression is one."""
    return (
        [*list_branches(value.body), *list_branches(value.orelse)]
        if isinstance(value, ast.IfExp)
        else [value]
    )


def list_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that say something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name_of(node.func) in KEYWORDS:
            yield node


def list_catalogs(language: str) -> Iterator[Catalog]:
    """The PO files of a language."""
    for path in sorted((CATALOGS / language).glob("*.po")):
        catalog = Catalog(path)
        with path.open("rb") as file:
            for message in read_po(file, locale=language, abort_invalid=True):
                if message.id:
                    key = (message.id,) if isinstance(message.id, str) else tuple(message.id)
                    translation = message.string or ""
                    catalog.said[key] = translation if isinstance(translation, str) else translation[0]
                    if message.fuzzy:
                        catalog.fuzzy.append(key)
        yield catalog


def list_missing(language: str) -> dict[str, list[str]]:
    """The sentences without a translation, by the file that says them."""
    translated = {key[0] for catalog in list_catalogs(language) for key, text in catalog.said.items() if text}
    missing: dict[str, list[str]] = defaultdict(list)
    for key, files in list_sentences().items():
        if key[0] not in translated:
            missing[files[0]].append(" | ".join(key))
    return dict(missing)


def list_fields(text: str) -> set[tuple[str, str]]:
    """The places that values fill in, each with how it is written: {("n", ",")}."""
    return {(name, spec or "") for _, name, spec, _ in string.Formatter().parse(text) if name is not None}


def list_literals(tree: ast.AST, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Literal text, f-strings included, given straight to a function or method of one of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name_of(node.func) in names and not _is_log(node.func):
            given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in SHOWN)]
            for value in given:
                for text in _texts(value):
                    yield value.lineno, text


SHOWN = frozenset({"label", "help", "placeholder", "alt", "title", "text", "body", "caption"})


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_log(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "log"


def _texts(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(str(part.value) for part in value.values if isinstance(part, ast.Constant))
    elif isinstance(value, ast.IfExp):
        yield from _texts(value.body)
        yield from _texts(value.orelse)
    elif isinstance(value, (ast.List, ast.Tuple)):
        for item in value.elts:
            yield from _texts(item)
    elif isinstance(value, ast.BinOp | ast.BoolOp):
        for part in (value.left, value.right) if isinstance(value, ast.BinOp) else value.values:
            yield from _texts(part)


def main() -> int:
    """Print what is missing, by language and file; 1 when anything is."""
    total = 0
    for language in LANGUAGES:
        for file, sentences in list_missing(language).items():
            total += len(sentences)
            print(f"{language}  annotator/{file}")
            for sentence in sentences:
                print(f"      {sentence!r}")
    print(f"{total:,} translations are missing." if total else "Every sentence is translated.")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
