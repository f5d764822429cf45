"""Records of suggestions by relations: the rules, what they suggest, and how often each rule was right.

For leads only. Annotators see no suggestion before they judge the pair.
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
    """One rule of a file: from a document settled at grade 3, suggest the documents at the end of this relation."""

    name: str
    relation: str
    follow: Follow
    grade: int


@dataclass(frozen=True, slots=True)
class RelationSuggestion:
    """A document that a rule suggests for a query, and the documents at grade 3 where the relation starts."""

    query_id: str
    doc_id: str
    rule: str
    relation: str
    grade: int
    from_doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """The pairs that one rule suggests: `pairs` = `new` + `waiting` + `judged_before` + `suggested_before`."""

    rule: str
    relation: str
    grade: int
    pairs: int
    new: int  # not in the pool before
    waiting: int  # in the pool and unjudged: they get the suggestion
    judged_before: int  # judged or settled without this suggestion: they get none
    suggested_before: int  # they already have this suggestion of this rule
    settled_before: int  # of `judged_before`, with a settled grade: they show how good the rule is
    exact_before: int  # of `settled_before`, settled at the suggested grade
    relevant_before: int  # of `settled_before`, settled as relevant (grade 1 or higher)


@dataclass(frozen=True, slots=True)
class SuggestReport:
    """The result of `annotator suggest`. With `dry_run` nothing was stored.

    `queries`: those with a document settled at grade 3. `new_pairs`, `suggestions`: the stored numbers, or
    those that would be stored. `queries_widened`: those with a new pair. `unused_relations`: {relation that
    no rule follows: its count}.
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
    unknown_documents: int  # documents of the file that the dataset lacks, skipped on request
    outdated: int  # stored suggestions without a starting document at grade 3 today
    round: int | None  # the number of the round with the new pairs; None without any


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """A count, its share (None of 0), and the exact 95 % interval. Pairs count as independent."""

    count: int
    of: int
    share: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RuleAccuracy:
    """How often one rule was right at one suggested grade."""

    rule: str
    relation: str
    grade: int
    suggested: int
    open: int  # not settled yet
    unrateable: int
    settled_at: Mapping[int, int]  # settled pairs by grade, for every grade
    exact: MeasuredShare  # settled at the suggested grade
    relevant: MeasuredShare  # settled as relevant (grade 1 or higher)
    outdated: int  # suggestions without a starting document at grade 3 today


@dataclass(frozen=True, slots=True)
class SuggestedPair:
    """A pair with a suggestion. `pair`: its id in the app. `settled`: its settled grade, or None."""

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
    """How often suggestions were right. `hidden`: those for pairs that the reader must still judge; only `rules` count them."""

    dataset: str
    rules: tuple[RuleAccuracy, ...]
    pairs: tuple[SuggestedPair, ...]
    hidden: int
