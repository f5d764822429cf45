"""Read the words of a document without its markup, and cut the excerpts that pages show. Pure rules.

A full parser would be slow for the hundreds of excerpts on a page, and an excerpt is cut anywhere, so markup is
removed by patterns. `web/labeling/panel/snippets.js` has the same rules for the list of a query's documents.
"""

import re
from html import unescape

EXCERPT_OF, EXCERPT = 1_500, 200
"""The characters of a document that an excerpt is cut from, and the longest excerpt."""
ITEM_NUMBER = re.compile(
    r"[0-9]{1,3}(?:[의の][0-9]{1,3})?[.)．] |\([0-9]{1,3}\)|（[0-9０-９一二三四五六七八九十]{1,3}）"
    r"|[\u2460-\u2473\u3251-\u325f\u32b1-\u32bf]|[가나다라마바사아자차카타파하][.)] |[a-z][.)] "
    r"|[一二三四五六七八九十]{1,4}[　、 ]|[イロハニホヘトチリヌ][　 ]|[제第][0-9０-９一二三四五六七八九十百]{1,6}[조항호条項号]"
)
"""The number of an item in a law: 1. 1의2. (1) （一） ① 가. a. 一　 イ　 제2항 第二項"""
_Rules = tuple[tuple[re.Pattern[str], str], ...]
_EMPHASIS = (re.compile(r"(\*{1,2}|``?)(?![\s*`])([^*`\n]*[^\s*`])\1"), r"\2")
_ANY: _Rules = (
    (re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|#{2,})", re.M), ""),
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.M), ""),
    (re.compile(r"^[\s=\-~^*#_+|:.`\"']+$", re.M), " "),
)
_HTML: _Rules = (
    (
        re.compile(
            r"<(script|style|head)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)|<[^<>]*(>|\Z)", re.DOTALL | re.IGNORECASE
        ),
        " ",
    ),
)
_MARKDOWN: _Rules = (
    (re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), " "),
    (re.compile(r"</?[a-zA-Z][^<>\n]*>"), " "),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)"), r"\1"),
    _EMPHASIS,
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)
_RST: _Rules = (
    # a substitution, a raw passage or a picture, with the lines that belong to it
    (re.compile(r"^\.\. (?:\||raw::|image::|figure::).*(?:\n[ \t]*$)*(?:\n[ \t]+\S.*)*", re.M), ""),
    (re.compile(r"^[ \t]*\.\.(?: .*)?$", re.M), ""),
    (re.compile(r"^[ \t]*:[\w-]+:(?:[ \t].*)?$", re.M), ""),
    (re.compile(r"(?::[\w:+.-]{1,60}:)?`([^`<>\n]*?)[ \t]*(?:<[^`<>\n]*>)?`_{0,2}(?!`)"), r"\1"),
    (re.compile(r"\|br\|", re.IGNORECASE), " "),
    (re.compile(r"\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}"), r"\1"),
    _EMPHASIS,
    (re.compile(r"\\ |\\(?=[^\w\s])"), ""),
)
_RULES = {"text/html": _HTML, "text/markdown": (*_MARKDOWN, *_ANY), "text/x-rst": (*_RST, *_ANY)}


def read_words(text: str, media_type: str) -> str:
    """Return the text without the signs of its markup. Line breaks stay."""
    for pattern, replacement in _RULES.get(media_type, _ANY):
        text = pattern.sub(replacement, text)
    return unescape(text) if media_type == "text/html" else text


def cut_excerpt(text: str | None, media_type: str, *, title: str = "") -> str:
    """Return the first words of a document without markup and title; "" without a text.

    `text`: its beginning; EXCERPT_OF characters are enough. The excerpt is on one line, but each item of a law
    begins a new one. It ends with "…" if the document continues.
    """
    lines = [" ".join(line.split()) for line in read_words(text or "", media_type).splitlines()]
    words = "".join(("\n" if ITEM_NUMBER.match(line) else " ") + line for line in lines if line).strip()
    heading = " ".join(title.split())
    if heading and words.startswith(heading):
        words = words[len(heading) :].lstrip()
    if len(words) <= EXCERPT and len(text or "") < EXCERPT_OF:
        return words
    return words[:EXCERPT].rstrip() + "…"
