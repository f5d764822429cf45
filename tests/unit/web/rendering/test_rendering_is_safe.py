"""Whatever a document holds, its rendering runs nothing, fetches nothing and looks like nothing of the page's own.

The samples are those of OWASP's list against filters, and what has got through sanitizers before (mutations). What
comes out is read by an HTML parser: every element and attribute must be one of those allowed.
"""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.web.rendering.documents import write_safe
from annotator.web.rendering.safe_html import BLOCKS, INLINE

HOSTILE = (
    "<script>alert(1)</script>", "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>", "<scr<script>ipt>alert(1)</script>",
    "<IMG SRC=\"javascript:alert('XSS');\">", "<img src=x onerror=alert(1)>", "<img src='a' alt='\"><script>alert(1)</script>'>",
    "<img/src=x/onerror=alert(1)>", "<IMG \"\"\"><SCRIPT>alert(1)</SCRIPT>\"\\>", "<img alt='<img alt=\"' title='x'>",
    "<a href='javascript:alert(1)'>x</a>", "<a href='java\tscript:alert(1)'>x</a>", "<a href=' &#14;  javascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>", "<a href='vbscript:x'>x</a>", "<a href='//evil.example'>x</a>",
    "<a href='https://x.example/<img alt=\"\">' onclick=alert(1) style='color:red' id=grades class='panel dx-a judging'>x</a>",
    "<svg/onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>", "<object data=x></object>", "<embed src=x>", "<base href=//evil.example>",
    "<link rel=stylesheet href=//evil.example/x.css>", "<style>@import'//evil.example';</style>", "<meta http-equiv=refresh content=0>",
    "<body onload=alert(1) background=//evil.example/x>", "<table background=//evil.example/x><td background=x>", "<div style=\"background:url(//evil.example)\">",
    "<input onfocus=alert(1) autofocus>", "<video src=//evil.example><source onerror=alert(1)></video>", "<details open ontoggle=alert(1)>",
    "<textarea><script>alert(1)</script>", "<xmp><script>alert(1)</script></xmp>", "<template><script>alert(1)</script></template>",
    "<p lang=x slot=y part=z tabindex=1 contenteditable accesskey=1 draggable=true popover>", "<![CDATA[<script>alert(1)</script>]]>", "<!--><script>alert(1)</script>-->",
    "<ol start=99999999999><td colspan=1000000 rowspan=9999999>x", "\x00<scr\x00ipt>alert(1)</script>", "<a href=\"https://x.example/\nonclick=alert(1)\">x</a>",
    "![x](javascript:alert(1))", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "<javascript:alert(1)>", "[a]: javascript:alert(1)\n\n[a]",
    "[x](<data:text/html;base64,PHNjcmlwdD4=>)", "`x <javascript:alert(1)>`_", ".. image:: javascript:alert(1)\n   :target: javascript:alert(1)\n",
    ".. raw:: html\n\n   <script>alert(1)</script>\n", ".. image:: a.png\n   :alt: \"><script>alert(1)</script>\n", ":foo:`<script>alert(1)</script>`",
    ".. code-block:: \"><script>\n\n   </code><script>alert(1)</script>\n", "```\"><script>\n</code><script>alert(1)</script>\n```",
    ".. container:: panel judging\n\n   x\n", ".. _javascript: javascript:alert(1)\n\njavascript_\n", ".. class:: judging\n\nx\n",
)  # fmt: skip
ALLOWED = {
    "a": {"href", "target", "rel"}, "ol": {"start"}, "th": {"colspan", "rowspan", "scope"}, "td": {"colspan", "rowspan"},
}  # fmt: skip


class Reader(HTMLParser):
    """Notes what a browser must not be given."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in BLOCKS | INLINE:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name == "class" and value and all(word.startswith("dx-") for word in value.split()):
                continue
            if name == "dir" and value in ("ltr", "rtl", "auto"):
                continue
            if name not in ALLOWED.get(tag, set()):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if name == "href" and not (value or "").lower().startswith(("http://", "https://", "mailto:")):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if name in ("colspan", "rowspan", "start") and int(value or 0) > 100:
                self.wrong.append(f"<{tag} {name}={value!r}>")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"<!{decl}")


def list_wrong(text: str, kind: str) -> list[str]:
    reader = Reader()
    reader.feed(write_safe(text, kind, "a.java")[0])
    reader.close()
    return reader.wrong


KINDS = ("markdown", "rst", "html", "code")


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_samples_become_harmless(kind: str) -> None:
    for sample in (*HOSTILE, "\n\n".join(HOSTILE)):
        assert list_wrong(sample, kind) == [], sample


pieces = st.lists(
    st.one_of(
        st.sampled_from(HOSTILE), st.text(max_size=12),
        st.sampled_from(("<", ">", '"', "'", "&", "=", "`", "\n", "\n\n", "   ", "*", "|", "[", "](", ")", ".. ", "::", "</p>", "<p ", "<b>", "on", "=x ", "<img ", "alt=")),
    ),
    max_size=14,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(pieces, st.sampled_from(KINDS))
def test_no_text_at_all_becomes_anything_active(parts: list[str], kind: str) -> None:
    assert list_wrong("".join(parts), kind) == []
