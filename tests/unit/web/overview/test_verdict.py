"""Whether a release is possible, in the words of the page Overview: each unmet gate with its effort, and the date."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from annotator.agreement.records import AgreementVerdict, CoefficientValue
from annotator.domain.messages import say
from annotator.overview.records import ReleaseForecast, RemainingWork
from annotator.releases.records import GATE_NAMES, ReleaseGate
from annotator.web.overview.verdict import describe_date, describe_days, describe_effort, find_page

NOW = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)
DONE = RemainingWork(0, 70, 2, 0, 12, 7, 0)
IN_TEN_DAYS = ReleaseForecast((), NOW + timedelta(days=10), DONE)
MEASURED = {
    "kappa": (0.7, 0.41),
    "disagreements": (0, 48),
    "overlap": (0, 71),
    "quality_control": (0.05, None),
    "coverage": (19, 6),
    "unjudged_queries": (0, 3),
    "relevant": (0, 2),
    "stale": (0, 5),
    "ids": (0, 1),
}


def judge(state: Any, kappa: float | None, further: int | None) -> AgreementVerdict:
    return AgreementVerdict(state, CoefficientValue(kappa), 0.7, further, "")


def make_overview(
    *missing: str,
    verdict: AgreementVerdict | None = None,
    shared: int = 40,
    overlap: int = 2,
    to_judge: int = 71,
    pooled: tuple[int, ...] = (3, 2),
    **facts: Any,
) -> Any:
    """A dataset of which these gates are not met. `pooled`: pairs of each query."""
    gates = tuple(
        ReleaseGate(name, required, measured, name not in missing)
        for name, (required, measured) in MEASURED.items()
    )
    agreement = SimpleNamespace(
        verdict=verdict or judge("not met", 0.41, None), measured=SimpleNamespace(pairs=shared)
    )
    return SimpleNamespace(
        gates=gates,
        dataset=SimpleNamespace(name="d", overlap=overlap),
        agreement=agreement,
        pairs=SimpleNamespace(to_judge=to_judge, disagreements=48),
        progress=SimpleNamespace(queries=[SimpleNamespace(pairs=n) for n in pooled]),
        **{"lacking": 141, "checks": 46, "missing": (), "steps": (), **facts},
    )


def say_effort(name: str, *, forecast: ReleaseForecast = IN_TEN_DAYS, **facts: Any) -> str:
    overview = make_overview(name, **facts)
    (gate,) = [gate for gate in overview.gates if not gate.met]
    return describe_effort(gate, overview, forecast)


NOTHING_JUDGED = {"verdict": judge("unknown", None, None), "shared": 0}


@pytest.mark.parametrize(
    ("name", "facts", "effort"),
    [
        ("kappa", {}, "clarify the guideline first; more judgments alone do not raise it"),
        (
            "kappa",
            {"verdict": judge("unknown", 0.75, 30)},
            "about 60 more judgments until it is known",
        ),
        ("kappa", NOTHING_JUDGED, "measured from the missing judgments"),
        (
            "kappa",
            {"verdict": judge("unknown", 0.7, None), "to_judge": 0},
            "not known; the page says why",
        ),
        ("kappa", {"overlap": 1}, "each pair needs two judgments"),
        ("overlap", {}, "141 more judgments"),
        ("overlap", {"lacking": 1}, "1 more judgment"),
        ("disagreements", {}, "time not known, because few decisions were timed in the last 7 days"),
        ("quality_control", {}, "about 46 pairs to check"),
        ("quality_control", {"checks": None}, "failed: improve the grades, then begin a new round"),
        ("coverage", {}, "the missing judgments may meet them"),
        ("coverage", {"missing": tuple("abcdefghijklm")}, "13 need other queries or documents"),
        (
            "coverage",
            {"missing": ("a",)},
            "1 needs other queries or documents; judging may meet the others",
        ),
        ("unjudged_queries", {}, "included in the judgments and decisions above"),
        ("unjudged_queries", {"pooled": (3, 0)}, "more documents for 3 queries"),
        ("relevant", {}, "a deeper pool for 2 queries, or list them as having none"),
        ("stale", {}, "5 pairs to judge or decide again"),
        ("ids", {}, "1 id to rename"),
    ],
)
def test_each_unmet_gate_has_its_effort(name: str, facts: dict[str, Any], effort: str) -> None:
    assert say_effort(name, **facts) == effort


def test_the_time_of_deciding_is_that_of_the_last_days() -> None:
    timed = replace(IN_TEN_DAYS, remains=replace(DONE, seconds=75.0))
    assert say_effort("disagreements", forecast=timed) == "about 60 minutes of deciding"


def test_each_gate_leads_to_a_page() -> None:
    overview = make_overview(*GATE_NAMES)
    assert {gate.name: find_page(gate, overview) for gate in overview.gates} == {
        "kappa": "agreement",
        "disagreements": "disagreements",
        "overlap": "label",
        "quality_control": "quality",
        "coverage": "pool",
        "unjudged_queries": "label",
        "relevant": "pool",
        "stale": "label",
        "ids": "import",
    }
    assert find_page(overview.gates[0], make_overview("kappa", overlap=1)) == "settings"


@pytest.mark.parametrize(
    ("missing", "facts", "begin"),
    [
        (("overlap", "disagreements"), {}, "Possible about Mar 15, at the pace of the last 7 days."),
        (
            ("overlap", "quality_control"),
            {},
            "Possible about Mar 15, at the pace of the last 7 days, if quality control passes.",
        ),
        (("overlap", "unjudged_queries"), {}, "Possible about Mar 15"),
        (("overlap", "kappa", "coverage"), {}, "No date yet. In the way: Cohen's κ, requirements."),
        (("overlap", "kappa"), {"verdict": judge("unknown", 0.75, 30)}, "Possible about Mar 15"),
        (("overlap", "kappa"), {"verdict": judge("unknown", 0.75, 72)}, "No date yet."),
        (("overlap", "kappa"), {"verdict": judge("unknown", 0.65, 30)}, "No date yet."),
        (("overlap", "kappa"), NOTHING_JUDGED, "No date yet. In the way: Cohen's κ."),
    ],
)
def test_a_date_is_given_only_if_the_work_that_is_left_meets_every_gate(
    missing: tuple[str, ...], facts: dict[str, Any], begin: str
) -> None:
    assert describe_date(make_overview(*missing, **facts), IN_TEN_DAYS, now=NOW).startswith(begin)


@pytest.mark.parametrize(
    ("days", "begin"),
    [(365, "Possible about Mar 5, 2027,"), (366, "Not within a year, at the pace of the last 7 days.")],
)
def test_a_day_is_named_only_within_a_year(days: int, begin: str) -> None:
    forecast = replace(IN_TEN_DAYS, day=NOW + timedelta(days=days))
    assert describe_date(make_overview("overlap"), forecast, now=NOW).startswith(begin)


def test_without_a_pace_the_date_says_why_it_is_unknown() -> None:
    why = say("Cannot estimate yet: no decisions in 7 days.")
    assert describe_date(make_overview("overlap"), ReleaseForecast((), None, DONE, why), now=NOW) == why


def test_the_last_days_are_summed_up() -> None:
    assert describe_days(IN_TEN_DAYS) == "Last 7 days: 70 judgments, 7 decisions, 12 new disagreements."
    idle = replace(IN_TEN_DAYS, remains=RemainingWork(0, 0, 0, 0, 0, 0, 0))
    assert describe_days(idle) == "Nothing was judged or decided in the last 7 days."
