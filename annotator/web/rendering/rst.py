"""reStructuredText as HTML, by docutils, with Sphinx's directives and roles shown as what they say.

Nothing is included, read from a file, or passed through raw. A directive that docutils does not know becomes a box with
its name and content; a role, its words. What docutils complains of is shown as it is written, without the complaint.
"""

from typing import Any

from annotator.web.rendering.rst_blocks import make_state_classes
from annotator.web.rendering.rst_roles import make_inliner

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
    """The HTML, not yet safe. ValueError when docutils gives up on the text."""
    from docutils.core import publish_parts
    from docutils.parsers.rst import Parser
    from docutils.utils import SystemMessage

    parser = Parser(inliner=make_inliner())
    parser.state_classes = make_state_classes()
    try:
        parts = publish_parts(text, parser=parser, writer=_make_writer(), settings_overrides=SETTINGS)
    except SystemMessage as error:
        raise ValueError(str(error)) from None
    return str(parts["body"])


def _make_writer() -> Any:
    from docutils import nodes
    from docutils.writers.html5_polyglot import HTMLTranslator, Writer

    class Translator(HTMLTranslator):  # type: ignore[misc]
        """Literal text as `<code>`; of a complaint, only the text that it is about."""

        def visit_literal(self, node: Any) -> None:
            del node
            self.body.append("<code>")

        def depart_literal(self, node: Any) -> None:
            del node
            self.body.append("</code>")

        def visit_system_message(self, node: Any) -> None:
            node.children = [child for child in node.children if isinstance(child, nodes.literal_block)]

        def depart_system_message(self, node: Any) -> None:
            """It has no element of its own."""

        def visit_section(self, node: Any) -> None:
            if "system-messages" in node["classes"]:
                raise nodes.SkipNode
            super().visit_section(node)

    writer = Writer()
    writer.translator_class = Translator
    return writer
