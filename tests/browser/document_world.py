"""The view of a document by itself, in a page without a server: what it shows and how it is moved about in.

`open_view(page)` makes the page; `show(page, text, …)` shows a document in it. What the server would answer is told
beforehand: `renderings` by pair, `texts` by pair.
"""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route

from annotator.web import kit
from annotator.web.kit.components import join_modules
from annotator.web.labeling.label_page import FOLDER, panel_words

ADDRESS = "http://view.test/"
PARTS = Path(kit.__file__).parent / "panel"
STYLES = ("panel.css", "document.css")


class Answers:
    """What the routes answer, and how often they were asked."""

    def __init__(self, language: str) -> None:
        self.language = language  # of the panel
        self.renderings: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}
        self.asked: list[str] = []

    def fulfill(self, route: Route) -> None:
        address = route.request.url
        self.asked.append(address)
        if "/api/rendering" in address:
            pair = address.rsplit("pair=", 1)[-1]
            rendering = self.renderings.get(pair)
            route.fulfill(status=200 if rendering else 404, json=rendering or {"error": "no"})
        elif "/api/text" in address:
            route.fulfill(
                body=self.texts[address.rsplit("pair=", 1)[-1]], content_type="text/plain; charset=utf-8"
            )
        elif address == ADDRESS:
            route.fulfill(body=_make_page(self.language), content_type="text/html; charset=utf-8")
        else:
            route.fulfill(status=404)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _make_page(language: str) -> str:
    style = "\n".join(_read(name) for name in STYLES)
    script = join_modules(PARTS / "document_view.js")
    words = json.dumps(panel_words())
    return f"""<!doctype html><html lang="en"><head><title>view</title><style>{style}</style></head><body>
<div class="panel" style="display: block; height: 600px"><div class="reading" style="height: 100%"><div class="viewer"></div></div></div>
<script>{script}
window.view = new DocumentView(document.querySelector(".viewer"), {{ dataset: "demo", language: "{language}", words: {words} }});
window.pairOf = (told) => ({{ pair: told.pair, query: {{ text: told.query }}, document: {{ doc_id: told.doc_id, title: told.title,
  url: told.url, media_type: told.media_type, text: told.text, length: told.length ?? [...(told.text ?? "")].length, metadata: told.metadata }} }});
</script></body></html>"""


def open_view(page: Page, language: str = "en") -> Answers:
    """Make the page."""
    answers = Answers(language)
    page.route("http://view.test/**", answers.fulfill)
    page.goto(ADDRESS)
    return answers


def tell(text: str | None, **changes: Any) -> dict[str, Any]:
    """A pair as the view is told of it."""
    return {
        "pair": "p1", "query": "", "doc_id": "d", "title": "題", "url": None, "media_type": "text/plain",
        "text": text, "metadata": {}, **changes,
    }  # fmt: skip


def show(page: Page, text: str | None, **changes: Any) -> None:
    """Show a document."""
    page.evaluate("(told) => window.view.show(window.pairOf(told))", tell(text, **changes))


def prepare(page: Page, text: str | None, **changes: Any) -> None:
    """Have a document prepared that is shown later, under the key `pair`."""
    page.evaluate(
        "(told) => { window.ahead = window.pairOf(told); window.view.prepare(window.ahead); }",
        tell(text, **changes),
    )


def list_marks(page: Page, kind: str = "mark") -> list[str]:
    """The texts of the marks that are painted, in order."""
    marks: list[str] = page.locator(f".document {kind}").all_text_contents()
    return marks
