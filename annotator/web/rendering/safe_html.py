"""Make untrusted HTML safe by an allowlist (nh3): the last step of every rendering.

Removes scripts, styles, forms, frames, ids, and all classes except ours (`dx-`). Links may be http, https or
mailto and open in a new tab. Nothing is fetched: images and embedded content are removed and counted; an
image leaves its alternative text. Headings are moved below the page's own levels.
"""

import re

PREFIX = "dx-"
LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
BLOCKS = {
    "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre", "hr", "div", "figure",
    "figcaption", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td",
}  # fmt: skip
INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "br", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "rp",
    "rt", "ruby", "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var", "wbr",
}  # fmt: skip
DROPPED = {
    "script", "style", "template", "noscript", "title", "textarea", "select", "option", "iframe", "object", "embed",
    "svg", "math", "video", "audio", "canvas", "noframes", "noembed", "xmp", "plaintext", "head",
}  # fmt: skip
ATTRIBUTES = {
    "*": {"class", "dir"}, "a": {"href"}, "ol": {"start"}, "th": {"colspan", "rowspan", "scope"},
    "td": {"colspan", "rowspan"}, "img": {"alt"},
}  # fmt: skip
MOST_CELLS = 100
DEEPEST = 200
_EMBEDDED = re.compile(r"<(?:iframe|object|embed|svg|video|audio)[\s/>]", re.IGNORECASE)
_IMAGE = re.compile(r'<img(?: [a-z]+="[^"]*")+>')
_ALT = re.compile(r' alt="([^"]*)"')
_OPENED = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_HEADING = re.compile(r"(</?)(h[1-5])(?=[\s>])")
_VOID = {"br", "hr", "img", "wbr", "input", "meta", "link", "col", "area", "base", "source", "track", "embed"}


def make_safe(html: str, kind: str) -> tuple[str, int]:
    """Return (safe HTML, number of removed images and embedded items). Raises ValueError for very deep nesting."""
    if _is_too_deep(html):
        raise ValueError(f"expected HTML nested at most {DEEPEST} deep")
    embedded = len(_EMBEDDED.findall(html)) if kind in ("html", "markdown") else 0
    first = _clean(html, {*BLOCKS, *INLINE, "img", "h1", "h2"})
    # What nh3 writes is regular: no "<" in text, no quote in an attribute. So an image is found by its pattern.
    shown, images = _IMAGE.subn(_replace_image, first)
    if kind == "html":
        shown = _HEADING.sub(lambda tag: tag[1] + LOWER[tag[2]], shown)
    return _clean(shown, BLOCKS | INLINE), images + embedded


def _clean(html: str, tags: set[str]) -> str:
    import nh3

    return nh3.clean(
        html,
        tags=tags,
        clean_content_tags=DROPPED,
        attributes={tag: names for tag, names in ATTRIBUTES.items() if tag in tags or tag == "*"},
        attribute_filter=_filter,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}}
        | ({"img": {"class": "dx-i"}} if "img" in tags else {}),
        strip_comments=True,
    )


def _filter(_tag: str, name: str, value: str) -> str | None:
    """Return the allowed value of an attribute; None removes it."""
    if name == "class":
        return " ".join(word for word in value.split() if word.startswith(PREFIX)) or None
    if name == "href":
        return value if re.match(r"(?:https?://|mailto:)", value, re.IGNORECASE) else None
    if name in ("colspan", "rowspan", "start"):
        return value if value.isascii() and value.isdigit() and int(value[:9]) <= MOST_CELLS else None
    if name == "dir":
        return value if value in ("ltr", "rtl", "auto") else None
    return value


def _replace_image(tag: "re.Match[str]") -> str:
    alt = _ALT.search(tag[0])
    words = alt[1].replace("<", "&lt;").replace(">", "&gt;").strip() if alt else ""
    return f'<span class="dx-image">{words or "…"}</span>'


def _is_too_deep(html: str) -> bool:
    """Return whether the HTML is nested deeper than any real document. Counts tags, without HTML's closing rules."""
    depth = 0
    for closing, name in _OPENED.findall(html):
        if name.lower() in _VOID:
            continue
        depth += -1 if closing else 1
        depth = max(depth, 0)
        if depth > DEEPEST and name.lower() not in ("p", "li", "td", "tr", "th", "dt", "dd", "option"):
            return True
    return False
