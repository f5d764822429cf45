"""The pictures: well-formed, deterministic, readable without seeing them, and without anything from elsewhere."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from annotator.releases.writing.pictures import draw_confusion, draw_grades

NAMES = ["Not <relevant>", "부분 & 관련", "とても 🙂\x07\u202e", "مستند " + "長い" * 60]
COUNTS = {"0": 1, "1": 1_234, "2": 0, "3": 765}
SVG = "{http://www.w3.org/2000/svg}"


def pair(first: str, second: str, pairs: int, **more: Any) -> dict[str, Any]:
    confusion = [[1, 0, 0, 0], [0, 12, 0, 3], [0, 0, 1_000, 0], [2, 0, 0, 4]]
    return {
        "annotators": [first, second],
        "pairs": pairs,
        "observed_agreement": 0.8,
        "confusion": confusion,
        **more,
    }


def read_texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "svg",
    [draw_grades(COUNTS, NAMES), draw_confusion([pair("annotator_1", "annotator_2", 7)], NAMES), draw_confusion([], NAMES)],
    ids=["grades", "confusion", "nothing shared"],
)  # fmt: skip
def test_a_picture_needs_nothing_from_elsewhere_and_tells_its_content(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    named = [root.find(f"{SVG}{name}") for name in ("title", "desc")]
    assert [element is not None and bool(element.text) for element in named] == [True, True]
    assert root.get("aria-labelledby") == " ".join(
        str(element.get("id")) for element in named if element is not None
    )
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "text", "g"}
    assert not re.search(r"url\(|@import|href|http(?!://www\.w3\.org/2000/svg)", svg)
    assert "prefers-color-scheme:dark" in svg
    assert "\x07" not in svg
    assert "\u202e" not in svg


def test_grades_are_drawn_by_their_share_and_told_in_numbers() -> None:
    svg = draw_grades(COUNTS, NAMES)
    texts = read_texts(svg)
    assert "2,000 qrels by grade" in texts
    assert "1,234 (61.7 %)" in texts
    assert "0 (0.0 %)" in texts
    assert "0 Not <relevant>" in texts
    assert any(text.startswith("3 مستند 長い") and text.endswith("…") and len(text) < 60 for text in texts)
    bars = re.findall(r'class="bar" [^>]*width="([0-9.]+)"', svg)
    assert bars == ["1.0", "271.5", "168.3"]
    assert "grade 1 (부분 &amp; 관련): 1,234" in svg
    assert svg == draw_grades(dict(reversed(COUNTS.items())), NAMES)


def test_no_qrels_at_all_draw_no_bar() -> None:
    assert 'class="bar"' not in draw_grades(dict.fromkeys("0123", 0), NAMES)


def test_every_cell_has_its_number_and_differences_have_another_hue() -> None:
    svg = draw_confusion([pair("annotator_1", "annotator_2", 7)], NAMES)
    texts = read_texts(svg)
    assert [texts.count(number) for number in ("1,000", "12", "annotator_1")] == [1, 1, 1]
    assert "7 pairs, 80.0 % the same" in texts
    assert "annotator_1 1: 0, 12, 0, 3" in svg
    deepest, lone = re.findall(r'fill="(#[0-9a-f]{6})"/>\n<text [^>]*class="\w+"[^>]*>(?:1,000|2)<', svg)
    assert deepest == "#19616b"
    assert lone[1:3] > lone[5:7]  # more red than blue


def test_of_many_annotators_those_who_share_most_are_drawn() -> None:
    pairs = [pair(f"annotator_{number}", "annotator_9", number) for number in range(1, 7)]
    svg = draw_confusion(pairs, NAMES)
    drawn = [text for text in read_texts(svg) if re.fullmatch(r"annotator_[1-6]", text)]
    assert drawn == ["annotator_6", "annotator_5", "annotator_4", "annotator_3"]
    assert "Drawn: the 4 who share most of 6; all are in manifest.json." in read_texts(svg)
