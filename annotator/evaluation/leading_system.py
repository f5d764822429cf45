"""Say which system leads on one measure, and which others cannot be told apart from it.

Two systems can be told apart if their difference is significant after Holm's correction
(`differences/comparison.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.messages import Message, say
from annotator.evaluation.evaluate import NOT_COMPARED, SystemRanking, choose_main_measure
from annotator.evaluation.profiles.profile import Profile

NO_RUNS = say("No run is imported: there is no system to compare.")
NO_GRADES = say("No pair has a settled grade yet.")


@dataclass(frozen=True, slots=True)
class LeadingSystem:
    """The system with the highest mean of `measure`; None if there is none, and `why`.

    `close`: the systems that cannot be told apart from it, best first. `systems`: the number of systems
    compared.
    """

    system: str | None
    measure: str = ""
    score: float | None = None
    ci95: tuple[float, float] | None = None
    queries: int = 0
    systems: int = 0
    close: tuple[str, ...] = ()
    why: Message | None = None


def choose_ranking_measure(profile: Profile) -> str:
    """Return the profile's measure to rank systems: its first nDCG, or else its first measure of quality."""
    measures = [profile.parse(name, None, "truth") for name in profile.measures]
    names = [measure.name for measure in measures if measure.kind not in NOT_COMPARED]
    return choose_main_measure(names) or measures[0].name


def find_leading_system(ranking: SystemRanking, measure: str) -> LeadingSystem:
    """Return the system with the highest mean, and the systems that cannot be told apart from it."""
    scored = [
        (summary.score.value, system.system, summary)
        for system in ranking.systems
        if (summary := system.measures[measure]).score.value is not None
    ]
    if not scored:
        reasons = [system.measures[measure].score.why for system in ranking.systems]
        why = next((reason for reason in reasons if reason), None)
        return LeadingSystem(None, measure, why=say("No system has a score: {why}.", why=why or "–"))
    ranked = sorted(scored, key=lambda entry: -(entry[0] or 0.0))
    _, leader, summary = ranked[0]
    others = [system for _, system, _ in ranked[1:]]
    return LeadingSystem(
        leader,
        measure,
        summary.score.value,
        summary.ci95,
        summary.score.queries,
        len(ranked),
        _list_close(ranking, measure, leader, others),
    )


def _list_close(ranking: SystemRanking, measure: str, leader: str, others: Sequence[str]) -> tuple[str, ...]:
    """Return the other systems without those that differ significantly from the leader."""
    apart = {
        system
        for comparison in ranking.comparisons
        if comparison.measure == measure and comparison.significant
        for system in (comparison.a, comparison.b)
        if leader in (comparison.a, comparison.b)
    }
    return tuple(system for system in others if system not in apart)
