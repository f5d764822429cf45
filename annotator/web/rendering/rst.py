"""Render reStructuredText as HTML by docutils, with Sphinx's directives and roles shown as text.

Includes, files and raw passages are disabled. An unknown directive becomes a box with its name and content,
an unknown role its text. Markup with errors is shown as written, without the error message. docutils has one
registry of directives per process; here they are set in the parser's states, so nothing else in the process
changes.
"""

import re
from collections.abc import Callable
from copy import copy
from functools import cache
from html import escape
from typing import Any

from annotator.web.rendering.code import highlight

NOTES = {
    "tip", "note", "important", "warning", "caution", "attention", "danger", "error", "hint", "seealso", "todo",
    "admonition", "versionadded", "versionchanged", "deprecated", "versionremoved",
}  # fmt: skip
CODE_BLOCKS = {"code", "code-block", "sourcecode", "highlight-block", "parsed-code"}
NAMED = {"include", "literalinclude", "download", "automodule", "autoclass", "autofunction", "automethod"}
SILENT = {
    "contents", "highlight", "index", "meta", "sectnum", "section-numbering", "header", "footer", "title", "role",
    "default-role", "currentmodule", "module", "target-notes", "date", "restructuredtext-test-directive", "tabularcolumns",
}  # fmt: skip
OPEN = {
    "only",
    "container",
    "compound",
    "class",
    "rst-class",
    "centered",
    "hlist",
    "pull-quote",
    "highlights",
    "epigraph",
}
ITSELF = {
    "table", "list-table", "csv-table", "replace", "unicode", "topic", "sidebar", "rubric", "line-block",
    "parsed-literal", "math",
}  # fmt: skip


class AnyOptions(dict[str, Callable[[str | None], str]]):
    """Accepts every option unchanged."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        return lambda value: value or ""


@cache
def make_state_classes() -> tuple[Any, ...]:
    """Return the states of docutils' parser with our directives."""
    from docutils.parsers.rst import directives, states

    block = _block_class()

    class AnyDirectiveState:
        explicit = copy(states.Body.explicit)

        def __init__(self, state_machine: Any, debug: bool = False) -> None:
            super().__init__(state_machine, debug)  # type: ignore[call-arg]
            self.nested_sm_kwargs = {"state_classes": made, "initial_state": "Body"}

        def directive(self, match: Any, **presets: Any) -> Any:
            name = match.group(1).lower()
            directive_class = None
            if name in ITSELF:
                directive_class, _ = directives.directive(name, self.memo.language, self.document)  # type: ignore[attr-defined]
            return self.run_directive(directive_class or block, match, name, presets)  # type: ignore[attr-defined]

    AnyDirectiveState.explicit.constructs = [  # docutils keeps its methods in a list, where another class cannot replace them
        (AnyDirectiveState.directive if method is states.Body.directive else method, pattern)
        for method, pattern in states.Body.explicit.constructs
    ]
    made = tuple(type(state.__name__, (AnyDirectiveState, state), {}) for state in states.state_classes)
    return made


@cache
def _block_class() -> Any:
    from docutils.parsers.rst import Directive

    class AnyDirective(Directive):  # type: ignore[misc]
        """Any directive at all."""

        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = AnyOptions()
        has_content = True

        def run(self) -> list[Any]:
            return _show(self)

    return AnyDirective


def _show(block: Any) -> list[Any]:
    name = block.name.lower()
    if name in SILENT:
        return []
    if name in CODE_BLOCKS:
        return _raw(f"<pre><code>{_highlighted(block)}</code></pre>")
    if name == "image":
        return _raw(_image(block))
    if name == "figure":
        return [*_raw(f"<p>{_image(block)}</p>"), *_content(block)]
    if name == "raw":
        return _raw("<br>" if "\n".join(block.content).lower().strip() in ("<br>", "<br/>", "<br />") else "")
    if name == "toctree":
        return _list_entries(block)
    if name in OPEN:
        return _content(block, first=_argument(block) if name == "centered" else "")
    if name in NAMED:
        return _raw(f'<p class="dx-note">{escape(name)}: {escape(_argument(block))}</p>')
    return _box(block, name)


def _box(block: Any, name: str) -> list[Any]:
    from docutils import nodes

    argument, title = (
        _argument(block),
        name.rsplit(":", 1)[-1].replace("-", " ").capitalize().replace("Version", "Version "),
    )
    box = nodes.container(classes=["dx-box"])
    as_text = name in NOTES and name not in (
        "admonition",
        "versionadded",
        "versionchanged",
        "deprecated",
        "versionremoved",
    )
    words = (
        title if as_text else argument if name == "admonition" and argument else f"{title} {argument}".strip()
    )
    box += nodes.paragraph("", words, classes=["dx-boxname"])
    box += _content(block, first=argument if as_text else "")
    return [box]


def _content(block: Any, *, first: str = "") -> list[Any]:
    from docutils import nodes

    inside = nodes.Element()
    if first:
        from docutils.statemachine import StringList

        block.state.nested_parse(StringList(first.splitlines(), "document"), block.content_offset, inside)
    block.state.nested_parse(block.content, block.content_offset, inside)
    return list(inside.children)


def _list_entries(block: Any) -> list[Any]:
    from docutils import nodes

    entries = [line.strip() for line in block.content if line.strip() and not line.strip().startswith(":")]
    items = [nodes.list_item("", nodes.paragraph("", entry)) for entry in entries]
    return [nodes.bullet_list("", *items)] if items else []


def _image(block: Any) -> str:
    alt = block.options.get("alt", "").strip() or _argument(block).rsplit("/", 1)[-1]
    return f'<img alt="{escape(alt)}">'


def _highlighted(block: Any) -> str:
    return highlight(
        "\n".join(block.content), _argument(block).split()[0] if _argument(block).split() else ""
    )


def _argument(block: Any) -> str:
    return str(block.arguments[0]) if block.arguments else ""


def _raw(html: str) -> list[Any]:
    from docutils import nodes

    return [nodes.raw("", html, format="html")] if html else []


CODE_ROLES = {
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

    class AnyRole(states.Inliner):  # type: ignore[misc]
        """Shows roles as their text; everything else as docutils does."""

        def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
            if role.lower() in STANDARD or not role:
                return super().interpreted(rawsource, text, role, lineno)
            from docutils.utils import unescape

            words = read_words(unescape(text))
            if role.lower().split(":")[-1] in CODE_ROLES:
                return [nodes.literal(rawsource, words)], []
            return [nodes.inline(rawsource, words)], []

    for name, value in vars(
        states.Inliner
    ).items():  # docutils looks for its patterns in the object's very class
        if isinstance(value, str) and not name.startswith("__"):
            setattr(AnyRole, name, value)
    return AnyRole


def read_words(text: str) -> str:
    """Return the text of a role: the title of "title <target>", Name of "~package.Name", else the whole text."""
    titled = _TITLED.fullmatch(text)
    if titled:
        return titled[1]
    if text.startswith("~"):
        return text[1:].rsplit(".", 1)[-1]
    return text.removeprefix("!")


_SUBSTITUTION = re.compile(r"\|([^|]+)\|_{0,2}")
SETTINGS: dict[str, Any] = {
    "raw_enabled": False,
    "file_insertion_enabled": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "docinfo_xform": False,
    "initial_header_level": 3,
    "report_level": 3,
    "halt_level": 5,
    "warning_stream": False,
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "smart_quotes": False,
    "line_length_limit": 20_000,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "stylesheet": "",
    "_disable_config": True,
    "image_loading": "link",
    "footnote_backlinks": False,
    "toc_backlinks": False,
    "sectnum_xform": False,
    "pep_references": False,
    "rfc_references": False,
    "id_prefix": "dx-",
    "cloak_email_addresses": False,
}


def write_rst(text: str, _doc_id: str) -> str:
    """Return the HTML, not yet safe. Raises ValueError if docutils gives up."""
    from docutils.core import publish_parts
    from docutils.parsers.rst import Parser
    from docutils.utils import SystemMessage

    parser = Parser(inliner=_inliner_class()())  # a new one for each document: it has state
    parser.state_classes = make_state_classes()
    try:
        parts = publish_parts(text, parser=parser, writer=_make_writer(), settings_overrides=SETTINGS)
    except SystemMessage as error:
        raise ValueError(str(error)) from None
    return str(parts["body"])


def _make_writer() -> Any:
    from docutils import nodes
    from docutils.writers.html5_polyglot import HTMLTranslator, Writer

    class CodeTranslator(HTMLTranslator):  # type: ignore[misc]
        """Writes literal text as `<code>`; of an error message only the text it quotes."""

        def visit_literal(self, node: Any) -> None:
            del node
            self.body.append("<code>")

        def depart_literal(self, node: Any) -> None:
            del node
            self.body.append("</code>")

        def visit_problematic(self, node: Any) -> None:
            """Show a substitution that is defined elsewhere, as in a section cut from its page, by its name."""
            name = _SUBSTITUTION.fullmatch(node.astext())
            if name is None:
                super().visit_problematic(node)
                return
            self.body.append("<br>" if name[1].lower() == "br" else escape(name[1]))
            raise nodes.SkipNode

        def visit_system_message(self, node: Any) -> None:
            node.children = [child for child in node.children if isinstance(child, nodes.literal_block)]

        def depart_system_message(self, node: Any) -> None:
            """Write nothing: a system message has no element of its own."""

        def visit_section(self, node: Any) -> None:
            if "system-messages" in node["classes"]:
                raise nodes.SkipNode
            super().visit_section(node)

    writer = Writer()
    writer.translator_class = CodeTranslator
    return writer
