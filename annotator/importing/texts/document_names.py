"""Make the ids and titles of documents from files by a pattern: `{stem}`, `{front.제목}`, `{own_heading|name}`.

`{path}`: the path in the folder; `{stem}`: without its suffix; `{name}`: the file's name without folder and
suffix; `{heading}`: the first heading; `{own_heading}`: the first heading that no other file of the folder
has (files from one template share their first one); `{front.KEY}`: a field of the front matter. The first
alternative (`|`) with a value is used. Refused: an unknown name, a file without a value for any alternative,
two files with the same id.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.messages import CommandWords, refuse_option, say
from annotator.importing.texts.sections import SectionedPage

_PART = re.compile(r"\{([^{}]*)\}")
NAMES = ("path", "stem", "name", "heading", "own_heading")
FRONT = "front."


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A checked pattern from the user; `option` is its option."""

    option: CommandWords
    pattern: str

    def __post_init__(self) -> None:
        parts = _PART.findall(self.pattern)
        rest = _PART.sub("", self.pattern)
        if "{" in rest or "}" in rest or not parts:
            raise ValidationError(
                refuse_option(self.option, say('a pattern such as "{{stem}}"'), f"{self.pattern!r:.80}")
            )
        for part in parts:
            for name in part.split("|"):
                if name not in NAMES and not (name.startswith(FRONT) and name != FRONT):
                    raise ValidationError(
                        refuse_option(
                            self.option,
                            say("{names} or front.KEY in braces", names=", ".join(NAMES)),
                            f"{name!r:.80}",
                        )
                    )

    def fill(self, values: Mapping[str, str]) -> tuple[str, list[str]]:
        """Return the text for one file, and the pattern parts without a value."""
        missing: list[str] = []

        def choose(match: re.Match[str]) -> str:
            value = next((values[name] for name in match[1].split("|") if values.get(name)), "")
            if not value:
                missing.append(match[0])
            return value

        return _PART.sub(choose, self.pattern).strip(), missing


def rename_pages(
    pages: Sequence[tuple[str, SectionedPage]],
    *,
    doc_id: NamePattern | None,
    title: NamePattern | None,
    problems: Problems,
) -> list[tuple[str, SectionedPage]]:
    """Return the pages with ids and titles by pattern. `pages`: each with its path for errors."""
    if doc_id is None and title is None:
        return list(pages)
    shared = Counter(name for _, page in pages for name in {heading.title for heading in page.headings})
    renamed: list[tuple[str, SectionedPage]] = []
    first_with: dict[str, str] = {}
    for shown, page in pages:
        values = _list_values(page, shared)
        document = page.document
        if doc_id is not None:
            new_id = _fill(doc_id, values, problems, shown)
            if new_id and new_id in first_with:
                expected = say(
                    "an id of its own by {option} (not that of {file})",
                    option=doc_id.option,
                    file=first_with[new_id],
                )
                problems.add(None, expected, new_id, path=shown)
            first_with.setdefault(new_id, shown)
            document = replace(document, doc_id=new_id)
        if title is not None:
            document = replace(document, title=_fill(title, values, problems, shown))
        renamed.append((shown, replace(page, document=document)))
    return renamed


def _fill(pattern: NamePattern, values: Mapping[str, str], problems: Problems, shown: str) -> str:
    """Return the pattern's text for one file; "" after noting a missing value."""
    text, missing = pattern.fill(values)
    if missing:
        problems.add(
            None,
            say("a value for {names} of {option}", names=", ".join(missing), option=pattern.option),
            say("none"),
            path=shown,
        )
        return ""
    return text


def _list_values(page: SectionedPage, shared: Mapping[str, int]) -> dict[str, str]:
    path = PurePosixPath(page.document.doc_id)
    titles = [heading.title for heading in page.headings if heading.title]
    values = {
        "path": str(path),
        "stem": str(path.with_suffix("")),
        "name": path.stem,
        "heading": next(iter(titles), ""),
        "own_heading": next((title for title in titles if shared[title] == 1), ""),
    }
    for key, value in page.document.metadata.items():
        if isinstance(value, str | int | float):
            values[f"{FRONT}{key}"] = str(value).strip()
    return values
