"""Draw the curves of `adaptive_pooling` as one SVG: a panel for each collection, a line for each method."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, TOP, GAP = 380, 230, 60, 40, 70
LOWEST, HIGHEST = 0.7, 1.0
SHOWN = {
    "swaps, estimate": ("#0f766e", "", 2.5),
    "depth, usual": ("#6b7280", "", 1.5),
    "depth, estimate": ("#6b7280", "5 3", 1.5),
    "move-to-front, usual": ("#b45309", "", 1.5),
    "max-mean, usual": ("#7c3aed", "", 1.5),
    "stratified, strata": ("#be185d", "2 3", 1.5),
}
"""Methods in the chart: colour, dashes, width. The others are in the table only."""


@dataclass(frozen=True, slots=True)
class SwapCheck:
    """What a report said of the pairs of systems, and what came of it with everything judged."""

    listed: int  # pairs that could still swap
    expected: float  # swaps of these, by the stated probabilities
    swapped: int
    others: int  # pairs that the report did not list
    others_swapped: int
    furthest: float  # the largest final difference of one of these; 0 if none has swapped


@dataclass(frozen=True, slots=True)
class Curve:
    """Tau by the share of the pool that is judged, for one seed; `swaps` are the reports of the rounds, if there are any."""

    collection: str
    seed: int
    method: str
    shares: tuple[float, ...]
    taus: tuple[float, ...]
    swaps: tuple[SwapCheck, ...] = ()


def draw_curves(curves: Sequence[Curve]) -> str:
    """Return the chart, means over the seeds."""
    names = list(dict.fromkeys(curve.collection for curve in curves))
    rows = -(-len(names) // 2)
    height = TOP + rows * (HEIGHT + GAP) + 60
    label = "Kendall's tau by the share of the pool that is judged"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * (WIDTH + LEFT + 20)} {height}" font-family="sans-serif" font-size="12" role="img" aria-label="{label}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, name in enumerate(names):
        x = LEFT + (number % 2) * (WIDTH + LEFT + 20)
        y = TOP + (number // 2) * (HEIGHT + GAP)
        parts += _draw_panel(name, [curve for curve in curves if curve.collection == name], x, y)
    parts += _draw_legend(height - 44)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _draw_panel(name: str, curves: Sequence[Curve], x: int, y: int) -> Iterator[str]:
    yield f'<text x="{x}" y="{y - 12}" font-weight="bold">{escape(name)}</text>'
    for tau in (0.7, 0.8, 0.9, 0.95, 0.99):
        line = y + _scale(tau)
        yield f'<line x1="{x}" y1="{line:.1f}" x2="{x + WIDTH}" y2="{line:.1f}" stroke="#d1d5db" stroke-width="1"/>'
        yield f'<text x="{x - 6}" y="{line + 4:.1f}" text-anchor="end">{tau:.2f}</text>'
    for share in range(0, 101, 20):
        yield f'<text x="{x + WIDTH * share / 100:.0f}" y="{y + HEIGHT + 16}" text-anchor="middle">{share} %</text>'
    yield f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT + 34}" text-anchor="middle">judged share of the pool</text>'
    yield f'<text x="{x - 44}" y="{y + HEIGHT / 2:.0f}">τ</text>'
    for method, (colour, dashes, width) in SHOWN.items():
        same = [curve for curve in curves if curve.method == method]
        if not same:
            continue
        taus = np.mean([curve.taus for curve in same], axis=0)
        drawn = [
            f"{x + WIDTH * share:.1f},{y + _scale(float(tau)):.1f}"
            for share, tau in zip([*same[0].shares, 1.0], [*taus, 1.0], strict=True)
            if tau >= LOWEST
        ]
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        points = " ".join(drawn)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>'


def _scale(tau: float) -> float:
    return HEIGHT * (HIGHEST - tau) / (HIGHEST - LOWEST)


def _draw_legend(y: int) -> Iterator[str]:
    for number, (method, (colour, dashes, width)) in enumerate(SHOWN.items()):
        x = LEFT + (number % 3) * 270
        line = y + (number // 3) * 20
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        yield f'<line x1="{x}" y1="{line}" x2="{x + 28}" y2="{line}" stroke="{colour}" stroke-width="{width}"{dash}/>'
        yield f'<text x="{x + 36}" y="{line + 4}">{escape(method)}</text>'
