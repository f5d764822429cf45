"""reStructuredText as HTML, by docutils, with Sphinx's directives and roles shown as what they say.

Nothing is included, read from a file, or passed through raw. A directive that docutils does not know becomes a box with
its name and content; a role, its words. What docutils complains of is not shown: the text is.
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
    "report_level": 5,
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
    from docutils.writers.html5_polyglot import Writer

    parser = Parser(inliner=make_inliner())
    parser.state_classes = make_state_classes()
    try:
        parts = publish_parts(text, parser=parser, writer=Writer(), settings_overrides=SETTINGS)
    except SystemMessage as error:
        raise ValueError(str(error)) from None
    return str(parts["body"])
