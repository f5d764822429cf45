"""Describe one disagreement for a lead, with letters for annotators.

Only here do usernames become letters (`domain/shuffling.py`).

Also compares the texts of documents, to find near-duplicates. Texts are compared by runs of characters, as in a
pool (`pooling/filters/near_duplicates.py`). The sketch of a text has its smallest hashes (bottom-k: Cohen and
Kaplan, 2007), from which the Jaccard similarity is estimated. The estimate is exact if both texts have few
runs. Only the first 50,000 characters of a text count.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.adjudication.decision_check import (
    EXPORTED,
    find_visible_proposals,
    map_by_lead,
    needs_two_leads,
)
from annotator.adjudication.disagreement_records import (
    AnonymousJudgment,
    AnonymousObjection,
    AnonymousQuestion,
    DisagreementFacts,
    DisagreementView,
    DiscussionProgress,
    DiscussionTurn,
    NeighbourDocument,
    PairStage,
    explain_wait,
)
from annotator.adjudication.records import (
    DecisionContent,
    IndependentJudgment,
    UnlikeDocument,
)
from annotator.domain.messages import say
from annotator.domain.shuffling import Seed, give_letters, name_checker
from annotator.pooling.filters.near_duplicates import hash_runs, normalize_text

SKETCH_SIZE = 512
MOST_CHARACTERS = 50_000
SIMILAR_FROM = 0.8
"""From this similarity on, two documents are shown as near-duplicates."""
WARN_FROM = 0.9
"""From this similarity on, the panel warns of another grade than the near-duplicate's, and the audit log keeps it."""
MOST_SKETCHES = 5_000

Sketch = tuple[int, ...]


def make_sketch(text: str) -> Sketch:
    """Return the smallest hashes of a text's runs, ascending; () if the text has no words."""
    import numpy as np

    hashes = hash_runs(normalize_text(text[:MOST_CHARACTERS]))
    return tuple(int(value) for value in np.unique(hashes)[:SKETCH_SIZE])


def compare_sketches(first: Sketch, second: Sketch) -> float:
    """Return the Jaccard similarity of two texts, 0 to 1; below 1 unless the sketches are equal."""
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    hashes, other_hashes = set(first), set(second)
    union = hashes | other_hashes
    smallest = sorted(union)[: SKETCH_SIZE if SKETCH_SIZE in (len(first), len(second)) else len(union)]
    shared = sum(value in hashes and value in other_hashes for value in smallest)
    return min(shared / len(smallest), 0.99)


class TextSketches:
    """The sketches of the latest texts by SHA-256."""

    def __init__(self, most: int = MOST_SKETCHES) -> None:
        self._most, self._sketches, self._lock = most, OrderedDict[str, Sketch](), threading.Lock()

    def list_missing(self, hashes: Iterable[str]) -> set[str]:
        """Return the hashes (SHA-256) that have no sketch here."""
        with self._lock:
            return {sha256 for sha256 in hashes if sha256 not in self._sketches}

    def add_texts(self, texts: Mapping[str, str]) -> None:
        """Keep the sketches of these texts, by SHA-256."""
        sketches = {sha256: make_sketch(text) for sha256, text in texts.items()}
        with self._lock:
            self._sketches.update(sketches)
            while len(self._sketches) > self._most:
                self._sketches.popitem(last=False)

    def compare(self, sha256: str | None, other_sha256: str | None) -> float | None:
        """Return the similarity of two texts; None below SIMILAR_FROM, or if one of them is unknown."""
        if sha256 is None or other_sha256 is None:
            return None
        if sha256 == other_sha256:
            return 1.0
        with self._lock:
            sketch, other = self._sketches.get(sha256), self._sketches.get(other_sha256)
        if sketch is None or other is None:
            return None
        similarity = compare_sketches(sketch, other)
        return round(similarity, 2) if similarity >= SIMILAR_FROM else None


BARRED = say("You judged this pair yourself, so another lead must decide it.")


@dataclass(frozen=True, slots=True)
class ViewContext:
    """The values that all disagreements of one response share."""

    lead_pk: int | None  # the lead who asks; None: the operator
    seed: Seed  # of the letters
    second_adjudicator: bool  # the dataset asks for two leads
    guideline_version: int


def name_judge(judgment: IndependentJudgment) -> str:
    """Return the name that a letter replaces; an expert of quality control has another letter."""
    return name_checker(judgment.annotator) if judgment.quality else judgment.annotator


def assign_letters(
    judgments: Iterable[IndependentJudgment], others: Iterable[str] = (), *, seed: Seed, pair: str
) -> dict[str, str]:
    """Return {name: letter} for a pair in the order of letters: its annotators, then the `others`."""
    return give_letters({name_judge(judgment) for judgment in judgments}, others, seed=seed, pair=pair)


def hide_names(
    judgments: Sequence[IndependentJudgment],
    letters: Mapping[str, str],
    turns: Mapping[str, DiscussionTurn],
) -> tuple[AnonymousJudgment, ...]:
    """Return the judgments with letters for names, in the order of letters. `turns`: by username."""
    by_name = {name_judge(judgment): judgment for judgment in judgments}
    return tuple(
        AnonymousJudgment(
            letter=letter,
            outcome=judgment.outcome,
            grade=judgment.grade,
            note=judgment.note,
            guideline_version=judgment.guideline_version,
            simulated=judgment.simulated,
            quality=judgment.quality,
            turn=None if judgment.quality else turns.get(judgment.annotator),
        )
        for name, letter in letters.items()
        if (judgment := by_name.get(name)) is not None
    )


def describe_disagreement(
    facts: DisagreementFacts,
    progress: PairStage,
    neighbours: Iterable[NeighbourDocument],
    context: ViewContext,
) -> DisagreementView:
    """Return one pair as the lead sees it."""
    others = [objection.annotator for objection in facts.objections]
    others += [question.annotator for question in facts.questions]
    letters = assign_letters(facts.judgments, others, seed=context.seed, pair=facts.pair)
    proposers = find_visible_proposals(context.lead_pk, map_by_lead(facts.proposals))
    text_hashes = {judgment.document_sha256 for judgment in facts.judgments}
    return DisagreementView(
        pair=facts.pair,
        seen=facts.seen,
        query=facts.query,
        document=facts.document,
        status=facts.status,
        progress=progress,
        guideline_version=context.guideline_version,
        judgments=hide_names(facts.judgments, letters, facts.discussion.turns if facts.discussion else {}),
        text_changed=bool(text_hashes - {facts.document.sha256}),
        decisions=facts.decisions,
        proposals=tuple(proposal for proposal in facts.proposals if proposal.lead_pk in proposers),
        needs_two_leads=needs_two_leads(context.second_adjudicator, facts.status.distance),
        barred=BARRED if facts.judged_by_reader else EXPORTED if facts.proposal_exported else None,
        discussion=_describe_discussion(facts, letters),
        objections=tuple(
            AnonymousObjection(letters[objection.annotator], objection.text, objection.objected_at)
            for objection in facts.objections
        ),
        questions=tuple(
            AnonymousQuestion(
                question.number,
                letters[question.annotator],
                question.text,
                question.asked_at,
                question.answer,
            )
            for question in facts.questions
        ),
        neighbours=tuple(neighbours),
    )


def list_unlike(neighbours: Iterable[NeighbourDocument], content: DecisionContent) -> list[UnlikeDocument]:
    """Return the near-duplicates that are settled at another grade than this decision's."""
    return [
        UnlikeDocument(neighbour.doc_id, neighbour.grade, neighbour.near)
        for neighbour in neighbours
        if neighbour.near is not None
        and neighbour.near >= WARN_FROM
        and neighbour.grade is not None
        and neighbour.grade != content.grade
    ]


def _describe_discussion(facts: DisagreementFacts, letters: Mapping[str, str]) -> DiscussionProgress | None:
    discussion = facts.discussion
    if discussion is None:
        return None
    waiting = tuple(
        explain_wait(letters[username], facts.query.query_id, reason)
        for username, reason in discussion.waiting.items()
    )
    return DiscussionProgress(discussion.state, discussion.asked_at, waiting)
