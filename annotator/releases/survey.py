"""What is counted over all pairs before a release is written: for the gates, the counts and the datasheet. Pure.

The first of a release's two passes over its pairs; it keeps counts and the first few examples, never the pairs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from annotator.domain.coverage import Coverage, QueryFacts
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import Query
from annotator.domain.settling import Settlement
from annotator.releases.gates import GateFigures, is_short, is_stale

SHOWN = 20
DECLARED = "queries_without_relevant"
Names = tuple[str, str]


class Found:
    """How many there are, and the first 20."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Names] = []

    def add(self, names: Names) -> None:
        """One more, as (query_id, doc_id)."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(names)


class Survey:
    """Figures over a dataset's pairs, filled by `add`, one pair after the other in the dataset's order.

    `meaning_since`: see `gates.find_meaning_since`. `judged_under` and `decided_under`: guideline versions by pair_pk,
    the lowest of its judgments (needed only where it is older), and that of its decision.
    """

    def __init__(
        self,
        *,
        overlap: int,
        meaning_since: int | None = None,
        judged_under: Mapping[int, int] | None = None,
        decided_under: Mapping[int, int] | None = None,
    ) -> None:
        self.overlap, self.meaning_since = overlap, meaning_since
        self._judged_under, self._decided_under = judged_under or {}, decided_under or {}
        self.statuses: Counter[str] = Counter()
        self.by_grade: Counter[int] = Counter()
        self.of_query: dict[int, list[int]] = {}
        self.opened, self.short, self.stale = Found(), Found(), Found()

    def add(
        self, names: Names, query_pk: int, pair_pk: int, settlement: Settlement, *, judgments: int
    ) -> None:
        """Count a pair. `names`: (query_id, doc_id); `judgments`: of how many annotators, unrateable included."""
        status, grade = settlement.status, settlement.grade
        self.statuses[status] += 1
        if is_short(status, judgments, self.overlap):
            self.short.add(names)
        if grade is None:
            if status == "disagreement":
                self.opened.add(names)
            return
        self.by_grade[grade] += 1
        counts = self.of_query.get(query_pk)
        if counts is None:
            counts = self.of_query[query_pk] = [0, 0, 0, 0]
        counts[grade] += 1
        if self.meaning_since is not None and self._is_stale(pair_pk, status):
            self.stale.add(names)

    def list_facts(self, queries: Mapping[int, Query]) -> Iterable[QueryFacts]:
        """Every query (by query_pk, in order) with its settled grades, for the coverage."""
        for query_pk, query in queries.items():
            zero, one, two, three = self.of_query.get(query_pk, (0, 0, 0, 0))
            yield QueryFacts(query, (zero, one, two, three))

    def list_without_relevant(self, queries: Mapping[int, Query]) -> list[str]:
        """The query_ids with a settled grade, but none from 1 on, in the queries' order."""
        return [
            query.query_id
            for query_pk, query in queries.items()
            if query_pk in self.of_query and not any(self.of_query[query_pk][RELEVANT_FROM:])
        ]

    def list_without_qrels(self, queries: Mapping[int, Query]) -> list[str]:
        """The query_ids without any settled grade."""
        return [query.query_id for query_pk, query in queries.items() if query_pk not in self.of_query]

    def _is_stale(self, pair_pk: int, status: str) -> bool:
        lowest = self._judged_under.get(pair_pk)
        return is_stale(
            self.meaning_since,
            status=status,
            judged_under=() if lowest is None else (lowest,),
            decided_under=self._decided_under.get(pair_pk),
        )


def list_figures(
    survey: Survey,
    *,
    dataset: str,
    kappa_target: float,
    kappa: float | None,
    kappa_why: str | None,
    coverage: Coverage,
    without_relevant: Iterable[str],
    requirements: Mapping[str, object] | None,
) -> GateFigures:
    """What the gates compare."""
    declared = (requirements or {}).get(DECLARED)
    known = set(declared) if isinstance(declared, list) else set()
    missing = [query_id for query_id in without_relevant if query_id not in known]
    return GateFigures(
        dataset=dataset,
        kappa_target=kappa_target,
        kappa=kappa,
        kappa_why=kappa_why,
        disagreements=survey.opened.count,
        open_pairs=survey.opened.first,
        overlap=survey.overlap,
        short=survey.short.count,
        short_pairs=survey.short.first,
        requirements=coverage.required,
        requirements_met=coverage.met,
        unmet=[(row.name, row.required, row.measured) for row in coverage.rows if row.met is False],
        without_relevant=len(missing),
        without_relevant_queries=missing[:SHOWN],
        stale=survey.stale.count,
        stale_pairs=survey.stale.first,
        meaning_since=survey.meaning_since,
    )
