"""Agreement before and since a version of the guideline, as the agreement page and its file show it."""

from dataclasses import dataclass
from typing import Literal

from annotator.agreement.records import Value

State = Literal["higher", "lower", "unknown"]


@dataclass(frozen=True, slots=True)
class Side:
    """Agreement on the pairs that were judged wholly before a version, or wholly since. `kappa`: Cohen's, unweighted;
    `alpha`: Krippendorff's, ordinal. `warning`: why so few say little."""

    pairs: int
    queries: int
    kappa: Value
    alpha: Value
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SincePart:
    """Both sides, in the whole dataset (`category` None) or in one category. `difference`: of the kappas, since less
    before. `state`: what is surely so of it."""

    category: str | None
    before: Side
    since: Side
    difference: Value
    state: State
    sentence: str


@dataclass(frozen=True, slots=True)
class SinceVersion:
    """Agreement before and since `version`. `versions`: those that can be asked for, with how many decisions led to each.
    `parts`: the whole dataset first, then the categories of those decisions. `between`: shared pairs that were judged partly
    before and partly since, and so are on neither side; neither are `unknown` shared pairs of which a judgment came with a file, since nobody knows its
    guideline. `simulated`: some of the annotators are not people."""

    dataset: str
    version: int
    versions: tuple[tuple[int, int], ...]
    parts: tuple[SincePart, ...]
    between: int
    simulated: bool = False
    unknown: int = 0
