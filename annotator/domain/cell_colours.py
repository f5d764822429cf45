"""The colours of a confusion matrix, on a page and in a release: the more pairs, the deeper; differences in another hue."""

from math import sqrt

Colour = tuple[int, int, int]
AGREED: tuple[Colour, Colour] = (227, 240, 241), (25, 97, 107)
DIFFERED: tuple[Colour, Colour] = (251, 240, 228), (156, 74, 26)
MIDDLE = 0.179  # of the luminance: there black and white have the same contrast, 4.58:1


def colour_cell(count: float, most: float, *, same: bool) -> tuple[str, bool]:
    """The ground of a cell (#rrggbb) with `count` of at most `most` pairs, and whether black reads better on it."""
    return colour_share(sqrt(count / most), same=same)


def colour_share(share: float, *, same: bool) -> tuple[str, bool]:
    """The same for how deep the colour shall be, 0 to 1."""
    low, high = AGREED if same else DIFFERED
    ground = [round(a + (b - a) * share) for a, b in zip(low, high, strict=True)]
    return "#{:02x}{:02x}{:02x}".format(*ground), _compute_luminance(ground) > MIDDLE


def _compute_luminance(ground: list[int]) -> float:
    """The relative luminance. Source: WCAG 2.2."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in ground)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
