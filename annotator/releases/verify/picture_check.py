"""Compare the numbers in the pictures of a release with its manifest.

The pictures are drawn again. Another version of the program may draw them differently, so only their texts are compared:
every number in them, and a share to the digit shown.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotator.releases.verify.read_back import ReleaseFault, is_plain
from annotator.releases.writing.files import CONFUSION_PICTURE, GRADES_PICTURE, MANIFEST
from annotator.releases.writing.pictures import draw_confusion, draw_grades

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_TEXT = re.compile(r">([^<]+)<")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def compare_pictures(folder: Path, manifest: Mapping[str, Any]) -> tuple[list[ReleaseFault], list[str]]:
    """Return where a picture shows other numbers than the manifest, and sentences about pictures drawn in another way."""
    faults, notes = [], []
    for path in (GRADES_PICTURE, CONFUSION_PICTURE):
        if not is_plain(folder / path):
            continue
        names = [str(item["name"]) for item in manifest["scale"]]
        drawn = (
            draw_grades(manifest["counts"]["by_grade"], names)
            if path == GRADES_PICTURE
            else draw_confusion(manifest["agreement"]["annotator_pairs"], names)
        )
        try:
            picture = (folder / path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            faults.append(ReleaseFault(path, "a readable text", type(error).__name__))
            continue
        expected, shown = _list_numbers(drawn), _list_numbers(picture)
        wrong = [pair for pair in zip(expected, shown, strict=False) if not _is_same(*pair)]
        if len(expected) != len(shown):
            faults.append(
                ReleaseFault(path, f"{len(expected):,} numbers as in {MANIFEST}", f"{len(shown):,}")
            )
        elif wrong:
            faults.append(ReleaseFault(path, f"{wrong[0][0]} as in {MANIFEST}", wrong[0][1]))
        elif picture != drawn:
            notes.append(f"{path} has the numbers of {MANIFEST}, but this program draws it differently")
    return faults, notes


def _list_numbers(picture: str) -> list[str]:
    texts = _TEXT.findall(_STYLE.sub("", picture))
    return [number for text in texts for number in _NUMBER.findall(text)]


def _is_same(expected: str, shown: str) -> bool:
    step = 0.11 if "." in expected and "." in shown else 0.0
    return abs(float(expected.replace(",", "")) - float(shown.replace(",", ""))) <= step
