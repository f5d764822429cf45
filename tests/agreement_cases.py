"""Datasets that agreement must have words for: what each holds, and what is said instead of a crash, a NaN or a 1.0.

Held at three levels: the measurement, the service on both databases, and the command's JSON.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

Row = tuple[str, str, str, int | None]
"""Query, document, annotator, grade; None is unrateable."""

NO_PAIR = "no pair has independent judgments of two annotators"
NO_VARIATION = "(observed agreement 100 %), so agreement beyond chance is undefined"
ONE_QUERY = "a confidence interval needs shared pairs of two or more queries"


@dataclass(frozen=True)
class Case:
    """`rows` make `pairs` shared pairs of which `observed` agree. `why`: what stands for kappa, or for its interval
    where `kappa` is a number. `said`: a sentence of the diagnosis holds this."""

    rows: tuple[Row, ...]
    pairs: int
    observed: float | None
    kappa: float | None = None
    why: str | None = None
    said: str = ""
    people: tuple[str, ...] = field(default=("김", "高橋"))


def _judge(grades: Mapping[str, str], queries: int = 3) -> tuple[Row, ...]:
    """One character for each pair: a grade, `-` unrateable, a blank for nothing; the pairs spread over the queries."""
    return tuple(
        (f"Q{pair % queries}", f"文書{pair}", annotator, None if given == "-" else int(given))
        for annotator, row in grades.items()
        for pair, given in enumerate(row)
        if given != " "
    )


def _hand_round(annotators: int) -> tuple[Row, ...]:
    """Each pair judged by one annotator and the next: every annotator shares one pair with two others."""
    return tuple(
        (
            f"Q{pair % 20}",
            f"d{pair:03}",
            f"person{who % annotators:03}",
            pair % 4 if who == pair else pair // 4 % 4,
        )
        for pair in range(annotators)
        for who in (pair, pair + 1)
    )


CASES: dict[str, Case] = {
    "one annotator only": Case(
        _judge({"김": "012312"}), 0, None, why=NO_PAIR, said="no pair has two judgments", people=("김",)
    ),
    "two who share no pair": Case(
        _judge({"김": "012   ", "高橋": "   312"}), 0, None, why=NO_PAIR, said="no pair has two judgments"
    ),
    "all grades equal": Case(
        _judge({"김": "222222", "高橋": "222222"}), 6, 1.0, why=NO_VARIATION, said="The target of"
    ),
    "one query only": Case(
        _judge({"김": "012301", "高橋": "012310"}, queries=1),
        6,
        4 / 6,
        0.5384615384615384,
        ONE_QUERY,
        "1 query",
    ),
    "an annotator with a single judgment": Case(
        _judge({"김": "012301", "高橋": "012310", "zoë": "3     "}),
        6,
        4 / 8,
        6 / 8 * 0.5384615384615384,
        people=("zoë", "高橋", "김"),
    ),
    "an annotator with a single judgment that nobody shares": Case(
        (*_judge({"김": "012301", "高橋": "012310"}), ("Q0", "別", "zoë", 3)),
        6,
        4 / 6,
        0.5384615384615384,
        people=("zoë", "高橋", "김"),
    ),
    "all unrateable": Case(
        _judge({"김": "------", "高橋": "------"}),
        0,
        None,
        why=NO_PAIR,
        said="There is no agreement to measure",
        people=(),
    ),
    "nothing judged": Case((), 0, None, why=NO_PAIR, said="There are no judgments yet", people=()),
    "200 annotators": Case(
        _hand_round(200), 200, 0.25, 0.0, people=tuple(f"person{number:03}" for number in range(200))
    ),
}


def check(case: Case, figures: Mapping[str, Any]) -> None:
    """What `agreement --json` says of this case."""
    json.dumps(figures, allow_nan=False)
    assert figures["pairs"] == case.pairs
    assert figures["observed_agreement"] == case.observed
    kappa = figures["cohen_kappa"]["unweighted"]
    if case.kappa is None:
        assert kappa["value"] is None
        for value in list_values(figures):
            assert case.why is not None and case.why in value["why"]
            assert set(value) == {"value", "why"}
    else:
        assert abs(kappa["value"] - case.kappa) < 1e-12
        assert kappa.get("why") == case.why
    for value in chain(list_values(figures), *(list_values(part) for part in figures["annotator_pairs"])):
        check_value(value)
    for group in figures.get("groups", ()):
        for value in list_values(group):
            check_value(value)


def check_value(value: Mapping[str, Any]) -> None:
    """A number with an interval around nothing but numbers, or the reason why there is none."""
    if value["value"] is None or value["ci95"] is None:
        assert isinstance(value["why"], str) and len(value["why"]) > 20
        return
    low, high = value["ci95"]
    assert -1e9 < low <= high <= 1 + 1e-12
    assert value["value"] <= 1 + 1e-12


def list_values(figures: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every coefficient of a report, a group or an annotator pair."""
    for name, value in figures.items():
        if name in {"cohen_kappa", "krippendorff_alpha"}:
            yield from value.values()
        elif name in {"fleiss_kappa", "gwet_ac1", "gwet_ac2"}:
            yield value
        elif name == "cut_points":
            yield from (cut["cohen_kappa"] for cut in value)
