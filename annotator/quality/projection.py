"""How the bound falls if no more errors come: what a lead sees of how many further pairs would decide it."""

from math import ceil

from annotator.quality.bounds import compute_bound

BEYOND = 1.25  # how far past the deciding number the curve goes
STEPS = 32


def project(errors: int, checked: int, population: int, further: int) -> tuple[tuple[int, float], ...]:
    """(further pairs without an error, bound) from none on, past `further`, which is one of them; evenly apart."""
    last = min(population - checked, max(further + 1, ceil(BEYOND * further)))
    step = max(1, ceil(last / STEPS))
    numbers = sorted({*range(0, last, step), further, last})
    return tuple((number, compute_bound(errors, checked + number, population)) for number in numbers)
