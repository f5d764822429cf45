"""Render source code as coloured HTML: whole files by suffix, and blocks in other documents by language name.

Uses Pygments; classes begin with `dx-` and the stylesheet sets the colours. A file in an unknown language is
plain text. Only the languages of document corpora are supported: other lexers may take too long.
"""

from functools import cache
from html import escape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from annotator.web.rendering.safe_html import PREFIX

if TYPE_CHECKING:
    from pygments.lexer import Lexer

BY_SUFFIX = {
    ".java": "java", ".kt": "kotlin", ".scala": "scala", ".groovy": "groovy", ".gradle": "groovy", ".py": "python",
    ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript", ".ts": "typescript",
    ".tsx": "typescript", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp",
    ".go": "go", ".rs": "rust", ".rb": "ruby", ".php": "php", ".swift": "swift", ".pl": "perl", ".r": "r",
    ".sh": "bash", ".bash": "bash", ".ps1": "powershell", ".bat": "batch", ".sql": "sql", ".xml": "xml", ".xsd": "xml",
    ".xsl": "xml", ".jsp": "jsp", ".css": "css", ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
    ".ini": "ini", ".properties": "properties", ".diff": "diff", ".patch": "diff", ".lua": "lua", ".tf": "terraform",
}  # fmt: skip
OTHER_NAMES = {
    "html": "html", "console": "bash", "shell": "bash", "sh": "bash", "jproperties": "properties", "c++": "cpp",
    "js": "javascript", "ts": "typescript", "py": "python", "python3": "python", "yml": "yaml", "text": "",
    "none": "", "bat": "batch", "kotlin": "kotlin", "dockerfile": "docker", "docker": "docker", "http": "http",
}  # fmt: skip
LONGEST_COLOURED = 60_000
LONGEST_LINE = 4_000
LINES_PER_BLOCK = 200


def find_language(doc_id: str) -> str | None:
    """Return the language of a source file, by the suffix of its path; Ignores "#section" after it."""
    return BY_SUFFIX.get(PurePosixPath(doc_id.split("#")[0].split("?")[0]).suffix.lower())


def write_code(text: str, doc_id: str) -> str:
    """Return a source file as blocks of lines. Each block scrolls sideways separately."""
    lines = highlight(text, find_language(doc_id) or "").splitlines(keepends=True)
    blocks = ["".join(lines[at : at + LINES_PER_BLOCK]) for at in range(0, len(lines), LINES_PER_BLOCK)]
    return "".join(f"<pre>\n{block}</pre>" for block in blocks)


def highlight(code: str, language: str) -> str:
    """Return the escaped code, coloured by spans that never cross a line end.

    Unknown languages, long code and very long lines (generated code) stay without colours."""
    lexer = _find_lexer(language.lower())
    if (
        lexer is None
        or len(code) > LONGEST_COLOURED
        or any(len(line) > LONGEST_LINE for line in code.split("\n"))
    ):
        return escape(code, quote=False)
    return "".join(_write(str(kind), value) for kind, value in lexer.get_tokens(code))


def _write(kind: str, value: str) -> str:
    name = _name(kind)
    if name is None or not value.strip():
        return escape(value, quote=False)
    lines = (escape(line, quote=False) for line in value.split("\n"))
    return "\n".join(f'<span class="{PREFIX}{name}">{line}</span>' if line else "" for line in lines)


@cache
def _name(kind: str) -> str | None:
    """Return our word for a Pygments token, e.g. "Token.Literal.String.Doc" -> "string"; None: not coloured."""
    for start, name in (
        ("Token.Comment.Preproc", "keyword"), ("Token.Comment", "comment"), ("Token.Keyword", "keyword"),
        ("Token.Literal.String", "string"), ("Token.Literal.Number", "number"), ("Token.Name.Class", "name"),
        ("Token.Name.Function", "name"), ("Token.Name.Tag", "keyword"), ("Token.Name.Attribute", "name"),
        ("Token.Name.Decorator", "name"), ("Token.Operator.Word", "keyword"), ("Token.Generic.Inserted", "string"),
        ("Token.Generic.Deleted", "number"),
    ):  # fmt: skip
        if kind.startswith(start):
            return name
    return None


@cache
def _find_lexer(language: str) -> "Lexer | None":
    name = OTHER_NAMES.get(language, language)
    if not name or name not in {*BY_SUFFIX.values(), *OTHER_NAMES.values()}:
        return None
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)
