"""The blocks of reStructuredText that are shown in our own way: code, images, notes, tables of contents, the unknown.

docutils keeps its directives in one registry for the whole process; here the states of its parser are told instead,
so that nothing else in the process is changed.
"""

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
CODE = {"code", "code-block", "sourcecode", "highlight-block", "parsed-code"}
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
    """Takes every option as it is."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        return lambda found: found or ""


@cache
def make_state_classes() -> tuple[Any, ...]:
    """The states of docutils' parser, with our directives in place of its own."""
    from docutils.parsers.rst import directives, states

    block = _block_class()

    class Ours:
        explicit = copy(states.Body.explicit)

        def __init__(self, state_machine: Any, debug: bool = False) -> None:
            super().__init__(state_machine, debug)  # type: ignore[call-arg]
            self.nested_sm_kwargs = {"state_classes": made, "initial_state": "Body"}

        def directive(self, match: Any, **presets: Any) -> Any:
            name = match.group(1).lower()
            found = None
            if name in ITSELF:
                found, _ = directives.directive(name, self.memo.language, self.document)  # type: ignore[attr-defined]
            return self.run_directive(found or block, match, name, presets)  # type: ignore[attr-defined]

    Ours.explicit.constructs = [  # docutils keeps its methods in a list, where another class cannot replace them
        (Ours.directive if method is states.Body.directive else method, pattern)
        for method, pattern in states.Body.explicit.constructs
    ]
    made = tuple(type(state.__name__, (Ours, state), {}) for state in states.state_classes)
    return made


@cache
def _block_class() -> Any:
    from docutils.parsers.rst import Directive

    class Block(Directive):  # type: ignore[misc]
        """Any directive at all."""

        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = AnyOptions()
        has_content = True

        def run(self) -> list[Any]:
            return _show(self)

    return Block


def _show(block: Any) -> list[Any]:
    name = block.name.lower()
    if name in SILENT:
        return []
    if name in CODE:
        return _raw(f"<pre><code>{_highlighted(block)}</code></pre>")
    if name == "image":
        return _raw(_image(block))
    if name == "figure":
        return [*_raw(f"<p>{_image(block)}</p>"), *_content(block)]
    if name == "raw":
        return _raw("<br>" if _words(block).lower().strip() in ("<br>", "<br/>", "<br />") else "")
    if name == "toctree":
        return _list_entries(block)
    if name in OPEN:
        return _content(block, first=_argument(block) if name == "centered" else "")
    if name in NAMED:
        return _raw(f'<p class="dx-note">{escape(name)}: {escape(_argument(block))}</p>')
    return _box(block, name)


def _box(block: Any, name: str) -> list[Any]:
    """A note, or a directive that nobody here knows, as a box with its name."""
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
    """What stands below the directive, as nodes; `first` goes before it as text of its own."""
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
    said = block.options.get("alt", "").strip() or _argument(block).rsplit("/", 1)[-1]
    return f'<img alt="{escape(said)}">'


def _highlighted(block: Any) -> str:
    return highlight(
        "\n".join(block.content), _argument(block).split()[0] if _argument(block).split() else ""
    )


def _argument(block: Any) -> str:
    return str(block.arguments[0]) if block.arguments else ""


def _words(block: Any) -> str:
    return "\n".join(block.content)


def _raw(html: str) -> list[Any]:
    from docutils import nodes

    return [nodes.raw("", html, format="html")] if html else []
