"""Finds the headings h1-h6 of an HTML page and its <title>, with the standard library's tolerant parser.

Headings inside comments, <script>, <style> and <template> are none. The page's text stays its source.
"""

from html.parser import HTMLParser

from annotator.importing.headings import Heading

_LEVELS = {f"h{level}": level for level in range(1, 7)}


def find_html_headings(text: str) -> tuple[list[Heading], str]:
    """The headings in order, and the content of <title> ("" when there is none)."""
    finder = _Finder(text)
    finder.feed(text)
    finder.close()
    return finder.headings, " ".join(finder.title.split())


class _Finder(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.headings: list[Heading] = []
        self.title = ""
        self.text = text
        self.line_starts = [0]
        for index, character in enumerate(text):
            if character == "\n":
                self.line_starts.append(index + 1)
        self.open: tuple[int, int] | None = None  # (offset, level)
        self.words: list[str] = []
        self.in_title = False
        self.templates = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "template":
            self.templates += 1
        if tag == "title" and not self.title:
            self.in_title = True
        if tag in _LEVELS and not self.templates:
            self._finish(self._offset())
            self.open, self.words = (self._offset(), _LEVELS[tag]), []

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self.templates = max(0, self.templates - 1)
        if tag == "title":
            self.in_title = False
        if tag in _LEVELS and self.open is not None:
            self._finish(self._end_of_tag())

    def handle_data(self, data: str) -> None:
        if self.in_title:
            self.title += data
        if self.open is not None:
            self.words.append(data)

    def _finish(self, body: int) -> None:
        if self.open is not None:
            start, level = self.open
            self.headings.append(Heading(start, body, level, " ".join("".join(self.words).split())))
        self.open = None

    def _offset(self) -> int:
        line, column = self.getpos()
        return self.line_starts[line - 1] + column

    def _end_of_tag(self) -> int:
        return self.text.find(">", self._offset()) + 1 or len(self.text)
