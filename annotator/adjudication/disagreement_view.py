"""Describe one disagreement for a lead, with letters for annotators.

Only here do usernames become letters (`domain/shuffling.py`).
"""

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
from annotator.adjudication.near_duplicates import WARN_FROM
from annotator.adjudication.records import (
    DecisionContent,
    IndependentJudgment,
    UnlikeDocument,
)
from annotator.domain.messages import say
from annotator.domain.shuffling import Seed, give_letters, name_checker

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
