"""Read systems named `name;k=60;alpha=0.3` as one family, and measure how its score depends on each parameter.

The sensitivity to a parameter: for each of its values, the mean score of the systems with this value. These
means are comparable only if every combination of values was run; `complete` says whether it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One system's mean of a measure; None where it is undefined."""

    score: float | None
    ci95: Interval | None


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """The systems of a family with one value of a parameter."""

    value: str
    mean: float
    systems: int


@dataclass(frozen=True, slots=True)
class ParameterSensitivity:
    """How the score depends on one parameter. Values are sorted if all of them are numbers."""

    name: str
    values: tuple[ParameterValue, ...]

    @property
    def range(self) -> float:
        """Return the highest mean minus the lowest."""
        means = [value.mean for value in self.values]
        return max(means) - min(means)


@dataclass(frozen=True, slots=True)
class Sweep:
    """One family on one measure. `parameters`: only those that vary, widest range first."""

    family: str
    measure: str
    systems: int
    complete: bool  # every combination of the parameters' values was run
    parameters: tuple[ParameterSensitivity, ...]
    best: str  # the system with the highest score
    best_score: float
    best_ci95: Interval | None


def parse_system_name(system: str) -> tuple[str, dict[str, str]] | None:
    """Return the family and the parameters of `name;k=60;alpha=0.3`; None for any other name."""
    family, *settings = system.split(";")
    pairs = [setting.partition("=") for setting in settings]
    parameters = {name.strip(): value.strip() for name, _, value in pairs}
    if not family or not pairs or len(parameters) < len(pairs):
        return None
    if any(not separator or not name.strip() for name, separator, _ in pairs):
        return None
    return family, parameters


def measure_sweeps(measure: str, cells: Mapping[str, SweepCell]) -> list[Sweep]:
    """Return a sweep for each family with at least two systems that differ in a parameter. `cells`: by system."""
    families: dict[str, dict[str, dict[str, str]]] = {}
    for system, cell in cells.items():
        parsed = parse_system_name(system)
        if parsed is not None and cell.score is not None:
            families.setdefault(parsed[0], {})[system] = parsed[1]
    sweeps = []
    for family, systems in families.items():
        scores = {system: score for system in systems if (score := cells[system].score) is not None}
        parameters = _list_sensitivities(systems, scores)
        if parameters:
            best = max(scores, key=lambda system: scores[system])
            sweeps.append(
                Sweep(
                    family,
                    measure,
                    len(systems),
                    len(systems) == prod(len(parameter.values) for parameter in parameters),
                    parameters,
                    best,
                    scores[best],
                    cells[best].ci95,
                )
            )
    return sweeps


def _list_sensitivities(
    systems: Mapping[str, Mapping[str, str]], scores: Mapping[str, float]
) -> tuple[ParameterSensitivity, ...]:
    names = dict.fromkeys(name for parameters in systems.values() for name in parameters)
    sensitivities = []
    for name in names:
        by_value: dict[str, list[float]] = {}
        for system, parameters in systems.items():
            if name in parameters:
                by_value.setdefault(parameters[name], []).append(scores[system])
        if len(by_value) > 1:
            values = tuple(
                ParameterValue(value, fmean(by_value[value]), len(by_value[value]))
                for value in _order_values(list(by_value))
            )
            sensitivities.append(ParameterSensitivity(name, values))
    return tuple(sorted(sensitivities, key=lambda sensitivity: -sensitivity.range))


def _order_values(values: Sequence[str]) -> Sequence[str]:
    try:
        return sorted(values, key=float)
    except ValueError:
        return values
