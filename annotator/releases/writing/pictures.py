"""Draw the pictures of a release as SVG text: the distribution of grades, and the agreement of annotators.

Deterministic. No scripts, fonts or links, so that it renders wherever Markdown does. Its own background follows the reader's
colour scheme; text contrast is at least 4.5:1; a title and a description hold every number.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotator.domain.figures import show_number, show_percent
from annotator.domain.grades import GRADES
from annotator.domain.messages import count_of
from annotator.domain.svg import clean, colour_cell, cut, draw_text, frame_picture

STYLE = (
    "<style>text{font-family:system-ui,sans-serif;font-size:14px;fill:#1c2326}.head{font-size:16px;font-weight:600}"
    ".quiet{fill:#4c5559}.ground{fill:#ffffff}.bar{fill:#19616b}.rest{fill:#eceee9}"
    "@media(prefers-color-scheme:dark){text{fill:#e8ebe8}.quiet{fill:#aab3ae}.ground{fill:#14181a}.bar{fill:#3fa3b0}"
    ".rest{fill:#2b3438}}.black{fill:#000000}.white{fill:#ffffff}</style>"
)
MARGIN, WIDTH, BAR = 20, 640, 440
CELL, PANEL_WIDTH, PANEL_HEIGHT, PANELS = 60, 330, 330, 4


def draw_grades(by_grade: Mapping[str, int], grade_names: Sequence[str]) -> str:
    """Draw how many qrels have each grade. `by_grade`: the manifest's counts, {"0": n, …, "3": n}."""
    counts = [by_grade[str(grade)] for grade in GRADES]
    total = sum(counts)
    grade_texts = [
        f"grade {grade} ({clean(grade_names[grade])}): {count:,}"
        for grade, count in zip(GRADES, counts, strict=True)
    ]
    parts = [draw_text(MARGIN, 32, f"{count_of(total, 'qrel')} by grade", "head")]
    for grade, count in zip(GRADES, counts, strict=True):
        top = 52 + grade * 52
        share = count / total if total else 0.0
        parts.append(draw_text(MARGIN, top + 14, cut(f"{grade} {grade_names[grade]}"), ""))
        parts.append(f'<rect class="rest" x="{MARGIN}" y="{top + 22}" width="{BAR}" height="14" rx="2"/>')
        if count:
            width = f"{max(share * BAR, 1):.1f}"
            parts.append(
                f'<rect class="bar" x="{MARGIN}" y="{top + 22}" width="{width}" height="14" rx="2"/>'
            )
        parts.append(
            draw_text(MARGIN + BAR + 12, top + 34, f"{show_number(count)} ({show_percent(share)})", "")
        )
    return frame_picture(
        WIDTH,
        270,
        "Distribution of grades",
        f"Of {count_of(total, 'qrel')}, {'; '.join(grade_texts)}.",
        parts,
        style=STYLE,
    )


def draw_confusion(annotator_pairs: Sequence[Mapping[str, Any]], grade_names: Sequence[str]) -> str:
    """Draw the grades of every two annotators on the pairs they share.

    `annotator_pairs`: as in the manifest's `agreement`; of more than four, the four that share most are drawn.
    """
    order = sorted(range(len(annotator_pairs)), key=lambda index: (-annotator_pairs[index]["pairs"], index))
    shown = [annotator_pairs[index] for index in order[:PANELS]]
    title = "What two annotators gave on the pairs they share"
    if not shown:
        sentence = "No two annotators judged the same pair."
        return frame_picture(WIDTH, 60, title, sentence, [draw_text(MARGIN, 36, sentence, "")], style=STYLE)
    parts: list[str] = []
    for index, pair in enumerate(shown):
        left, top = (index % 2) * PANEL_WIDTH, (index // 2) * PANEL_HEIGHT
        parts += [f'<g transform="translate({left} {top})">', *_draw_panel(pair), "</g>"]
    below = -(-len(shown) // 2) * PANEL_HEIGHT
    legend = [f"{grade} {grade_names[grade]}" for grade in GRADES]
    if len(annotator_pairs) > PANELS:
        legend.append(
            f"Drawn: the {PANELS} who share most of {len(annotator_pairs):,}; all are in manifest.json."
        )
    parts += [draw_text(MARGIN, below + 20 * row, cut(line), "quiet") for row, line in enumerate(legend, 1)]
    described = " ".join(_describe(pair) for pair in shown)
    return frame_picture(
        2 * PANEL_WIDTH, below + 20 * len(legend) + MARGIN, title, described, parts, style=STYLE
    )


def _draw_panel(pair: Mapping[str, Any]) -> Iterator[str]:
    """Draw one matrix: rows the first annotator's grades, columns the second's, the number in each cell."""
    first, second = pair["annotators"]
    most = max(count for row in pair["confusion"] for count in row) or 1
    left, top, side = 54, 72, CELL * len(GRADES)
    yield draw_text(
        MARGIN,
        26,
        f"{count_of(pair['pairs'], 'pair')}, {show_percent(pair['observed_agreement'])} the same",
        "head",
    )
    yield draw_text(left + side / 2, 48, clean(second), "", anchor="middle")
    yield draw_text(
        0,
        0,
        clean(first),
        "",
        anchor="middle",
        transform=f'transform="translate(22 {top + side / 2:g}) rotate(-90)"',
    )
    for grade in GRADES:
        yield draw_text(left + CELL * (grade + 0.5), top - 6, str(grade), "quiet", anchor="middle")
        yield draw_text(left - 12, top + CELL * (grade + 0.5) + 5, str(grade), "quiet", anchor="middle")
    for r, row in enumerate(pair["confusion"]):
        for c, count in enumerate(row):
            x, y = left + CELL * c, top + CELL * r
            ground, ink = _colour(count, most, same=r == c)
            size = CELL - 2
            yield f'<rect x="{x + 1}" y="{y + 1}" width="{size}" height="{size}" rx="2" {ground}/>'
            yield draw_text(x + CELL / 2, y + CELL / 2 + 5, f"{count:,}", ink, anchor="middle")


def _colour(count: int, most: int, *, same: bool) -> tuple[str, str]:
    """Return a cell's background as an attribute, and the class of its text colour: the more pairs, the deeper."""
    if not count:
        return 'class="rest"', "quiet"
    fill, black = colour_cell(count, most, same=same)
    return f'fill="{fill}"', "black" if black else "white"


def _describe(pair: Mapping[str, Any]) -> str:
    first, second = (clean(name) for name in pair["annotators"])
    rows = "; ".join(
        f"{first} {grade}: {', '.join(f'{count:,}' for count in row)}"
        for grade, row in zip(GRADES, pair["confusion"], strict=True)
    )
    return (
        f"{count_of(pair['pairs'], 'pair')} of {first} (rows) and {second} (columns, grades 0 to 3): {rows}."
    )
