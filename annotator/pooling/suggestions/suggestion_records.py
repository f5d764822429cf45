"""Records of suggestions by relations: what a run of rules makes, and how often each rule was right.

For leads only: nothing of it reaches an annotator before the pair is judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Follow = Literal["forward", "backward", "both", "siblings"]
FOLLOWS: tuple[Follow, ...] = ("forward", "backward", "both", "siblings")
SETTLED_AT = 3
"""The settled grade from which relations are followed."""


@dataclass(frozen=True, slots=True)
class SuggestionRule:
    """One rule of a file: from a document at grade 3, suggest the documents that this relation leads to."""

    name: str
    relation: str
    follow: Follow
    grade: int


@dataclass(frozen=True, slots=True)
class RelationSuggestion:
    """A document that a rule suggests for a query, and the documents at grade 3 that the relation starts from."""

    query_id: str
    doc_id: str
    rule: str
    relation: str
    grade: int
    from_doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What one rule suggests. `pairs` = `new` + `waiting` + `judged_before` + `suggested_before`, all different pairs."""

    rule: str
    relation: str
    grade: int
    pairs: int
    new: int
    """Pairs that were not in the pool."""
    waiting: int
    """Pairs of the pool that nobody has judged yet: they get the suggestion."""
    judged_before: int
    """Pairs that were judged or settled without this suggestion: they get none."""
    suggested_before: int
    """Pairs that have this suggestion of this rule already."""
    settled_before: int
    """Of `judged_before`: those with a settled grade. They tell beforehand how good the rule is."""
    exact_before: int
    """Of `settled_before`: those settled at the suggested grade."""
    relevant_before: int
    """Of `settled_before`: those settled as relevant (grade 1 or higher)."""


@dataclass(frozen=True, slots=True)
class SuggestReport:
    """The result of `annotator suggest`. With `dry_run` nothing was stored.

    `queries`: those with a document settled at grade 3. `new_pairs` and `suggestions` are what is (or would be) stored;
    `queries_widened`: queries that got a new pair. `unused_relations`: relations of the file by name that no rule follows.
    """

    dataset: str
    dry_run: bool
    relations: int
    queries: int
    settled_documents: int
    new_pairs: int
    queries_widened: int
    suggestions: int
    rules: tuple[RuleCounts, ...]
    unused_relations: Mapping[str, int]
    unknown_documents: int
    """Documents of the file that the dataset does not have, left out on request."""
    outdated: int
    """Stored suggestions none of whose starting documents is settled at grade 3 any more."""
    round: int | None
    """The number of the pool's round in which the new pairs came; None without new pairs."""


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """How many of how many, the share (None of 0), and its exact 95 % interval, pairs taken as independent."""

    count: int
    of: int
    share: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RuleAccuracy:
    """How often one rule was right, at one suggested grade."""

    rule: str
    relation: str
    grade: int
    suggested: int
    open: int
    """Not settled yet."""
    unrateable: int
    settled_at: Mapping[int, int]
    """Settled pairs by grade, every grade named."""
    exact: MeasuredShare
    """Settled at the suggested grade."""
    relevant: MeasuredShare
    """Settled as relevant (grade 1 or higher)."""
    outdated: int
    """Suggestions none of whose starting documents is settled at grade 3 any more."""


@dataclass(frozen=True, slots=True)
class SuggestedPair:
    """A pair with a suggestion. `pair` is the id that the app uses. `settled`: its settled grade, None while it has none."""

    pair: str
    query_id: str
    doc_id: str
    rule: str
    grade: int
    status: str
    settled: int | None
    from_doc_ids: tuple[str, ...]
    outdated: bool


@dataclass(frozen=True, slots=True)
class SuggestionReport:
    """How often the suggestions were right: by rule, and pair by pair.

    `hidden`: suggestions for pairs that the reader has still to judge; they are counted in `rules` only.
    """

    dataset: str
    rules: tuple[RuleAccuracy, ...]
    pairs: tuple[SuggestedPair, ...]
    hidden: int
