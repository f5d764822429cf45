"""The list of coefficients, with keys and names, for every page, command, report and release.

A new kind of κ or α is one line here. A new family also needs a field of `MeasuredAgreement` and its formula
in `agreement/measure.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotator.domain.messages import Message, say

CUT_POINTS = "cut_points"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a whole dataset."""

    key: str  # its family: a field of `MeasuredAgreement`, and the key in JSON and manifests
    kind: (
        str | int | None
    )  # within its family; of a cut point the first relevant grade; None in a family of one
    name: Message  # on pages and in the HTML report
    plain_name: str  # in commands
    published_name: str  # in datasheets


COEFFICIENTS: tuple[Coefficient, ...] = (
    *(
        Coefficient(
            "cohen_kappa",
            str(kind),
            say("Cohen's κ, {kind}", kind=kind),
            f"Cohen's kappa, {kind}",
            f"Cohen's κ{weights}",
        )
        for kind, weights in (
            (say("unweighted"), ""),
            (say("linear"), ", linear weights"),
            (say("quadratic"), ", quadratic weights"),
        )
    ),
    Coefficient("fleiss_kappa", None, say("Fleiss' κ"), "Fleiss' kappa", "Fleiss' κ"),
    *(
        Coefficient(
            "krippendorff_alpha",
            str(kind),
            say("Krippendorff's α, {kind}", kind=kind),
            f"Krippendorff's alpha, {kind}",
            f"Krippendorff's α, {kind}",
        )
        for kind in (say("nominal"), say("ordinal"), say("interval"))
    ),
    Coefficient("gwet_ac1", None, say("Gwet's AC1"), "Gwet's AC1", "Gwet's AC1"),
    Coefficient("gwet_ac2", None, say("Gwet's AC2, quadratic"), "Gwet's AC2, quadratic", "Gwet's AC2"),
    *(
        Coefficient(
            CUT_POINTS,
            grade,
            say("Cohen's κ, relevant from grade {grade}", grade=grade),
            f"kappa of relevant from {grade}",
            f"Cohen's κ, relevant from grade {grade} on",
        )
        for grade in (1, 2, 3)
    ),
)
COEFFICIENT_KEYS: tuple[str, ...] = tuple(dict.fromkeys(coefficient.key for coefficient in COEFFICIENTS))
KAPPA_KINDS: tuple[str, ...] = tuple(
    str(coefficient.kind) for coefficient in COEFFICIENTS if coefficient.key == "cohen_kappa"
)
_SINGLE = frozenset(coefficient.key for coefficient in COEFFICIENTS if coefficient.kind is None)


def group_by_family(compute: Callable[[Coefficient], Any]) -> dict[str, Any]:
    """Call `compute` for each coefficient. Return {field of `MeasuredAgreement`: value or values by kind}."""
    families: dict[str, dict[Any, Any]] = {}
    for coefficient in COEFFICIENTS:
        families.setdefault(coefficient.key, {})[coefficient.kind] = compute(coefficient)
    return {
        key: values[None] if key in _SINGLE else tuple(values.items()) if key == CUT_POINTS else values
        for key, values in families.items()
    }


def list_stated(
    figures: Mapping[str, Any],
) -> Iterator[tuple[str, str | int | None, Mapping[str, Any]]]:
    """Yield key, kind and value of each coefficient in the JSON of `MeasuredAgreement.figures_as_json`.

    In the order of datasheets: families of several kinds, single coefficients, cut points. Also yields kinds
    that this program does not know. KeyError without the key of a family.
    """
    for key in sorted(COEFFICIENT_KEYS, key=lambda key: (key == CUT_POINTS, key in _SINGLE)):
        stated = figures[key]
        if key == CUT_POINTS:
            for item in stated or ():
                yield key, item.get("relevant_from"), item.get("cohen_kappa") or {}
        elif key in _SINGLE:
            if isinstance(stated, dict):
                yield key, None, stated
        else:
            for kind, value in (stated or {}).items():
                yield key, kind, value
