"""A figure beside the one that it is compared with, shown so that both can be told apart."""


def show_decimals(figure: float, digits: int = 2) -> str:
    """A figure with at most so many decimals, without zeros at its end: 6.5, 12, 0.07."""
    shown = f"{figure:,.{digits}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def show_figure(figure: float) -> str:
    """A figure for reading, with at most three digits that say something: 0.0202, 0.747, 12.3, 1,200."""
    size = abs(figure)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    while digits < 6 and 0 < size < 10.0 ** (2 - digits):
        digits += 1
    return show_decimals(figure, digits)


def show_beside(measured: float, target: float) -> tuple[str, str]:
    """Both figures with two digits, or with as many as it takes to tell them apart (six at most)."""
    for digits in range(2, 6):
        shown = f"{measured:.{digits}f}", f"{target:.{digits}f}"
        if shown[0] != shown[1] or measured == target:
            return shown
    return f"{measured:.6f}", f"{target:.6f}"
