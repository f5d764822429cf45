"""The inline roles of reStructuredText that docutils does not know: Sphinx's and anybody's, shown as their words."""

import re
from functools import cache
from typing import Any

CODE = {
    "class", "func", "meth", "method", "attr", "mod", "exc", "obj", "data", "const", "file", "command", "program",
    "option", "envvar", "samp", "kbd", "extdoc", "javadoc", "type", "ref-code", "package", "field", "ctor", "any",
}  # fmt: skip
STANDARD = {
    "emphasis", "strong", "literal", "code", "subscript", "superscript", "sub", "sup", "title-reference", "title", "t",
    "abbreviation", "ac", "acronym", "ab", "math",
}  # fmt: skip
_TITLED = re.compile(r"(.+?)\s*<([^<>]*)>", re.DOTALL)


@cache
def _inliner_class() -> Any:
    from docutils import nodes
    from docutils.parsers.rst import states

    class Words(states.Inliner):  # type: ignore[misc]
        """Roles by their words; everything else as docutils does."""

        def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
            if role.lower() in STANDARD or not role:
                return super().interpreted(rawsource, text, role, lineno)
            from docutils.utils import unescape

            words = read_words(unescape(text))
            if role.lower().split(":")[-1] in CODE:
                return [nodes.literal(rawsource, words)], []
            return [nodes.inline(rawsource, words)], []

    for name, value in vars(
        states.Inliner
    ).items():  # docutils looks for its patterns in the object's very class
        if isinstance(value, str) and not name.startswith("__"):
            setattr(Words, name, value)
    return Words


def make_inliner() -> Any:
    """A fresh one for each document: it keeps state."""
    return _inliner_class()()


def read_words(text: str) -> str:
    """What a role shows: "title <target>" its title, "~package.Name" the name, else its text."""
    titled = _TITLED.fullmatch(text)
    if titled:
        return titled[1]
    if text.startswith("~"):
        return text[1:].rsplit(".", 1)[-1]
    return text.removeprefix("!")
