"""The panels choose the same Korean particles as the pages."""

from pathlib import Path

from playwright.sync_api import Page

from annotator.web import kit
from annotator.web.kit.components import join_modules
from tests.unit.web.kit.test_korean_particles import CASES


def test_the_panels_choose_the_particles_that_the_pages_choose(page: Page) -> None:
    script = join_modules(Path(kit.__file__).parent / "panel/sentences.js")
    page.set_content("<p>한국어</p>")
    written = [written for written, _ in CASES if "(이)라" not in written]
    chosen = page.evaluate(
        f"(texts) => {{ {script}; return texts.map((text) => fill('{{text}}', {{ text }})); }}", written
    )
    assert dict(zip(written, chosen, strict=True)) == {w: read for w, read in CASES if w in written}
