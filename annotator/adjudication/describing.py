"""From what is stored of a pair to the case that a lead sees: the one place where names become letters.

Called by `service.py` for every case that is handed out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotator.adjudication.case import (
    Case,
    CaseDiscussion,
    CaseImpact,
    CaseObjection,
    CaseProposal,
    CaseQuestion,
    Neighbour,
    hide_names,
    list_letters,
)
from annotator.adjudication.cases import CaseFacts, HowFar, Known
from annotator.adjudication.decisions import Decision
from annotator.adjudication.discussion import say_wait
from annotator.adjudication.likeness import Sketches
from annotator.adjudication.seconding import list_visible, takes_two
from annotator.adjudication.seen import digest_seen
from annotator.domain.disputes import Reason
from annotator.domain.grades import Rubric
from annotator.domain.messages import say

BARRED = say("you judged this pair yourself; another lead must decide it")
MOST_NEIGHBOURS = 100


@dataclass(frozen=True, slots=True)
class Setting:
    """What the cases of one answer share. `reader_pk`: the lead who asks (None: the operator)."""

    reader_pk: int | None
    seed: int
    second_adjudicator: bool
    version: int
    rubric: Rubric


def describe_case(facts: CaseFacts, far: HowFar, neighbours: Sequence[Neighbour], setting: Setting) -> Case:
    """The case of one pair."""
    row = facts.row
    turns = facts.discussion.turns if facts.discussion else {}
    others = [one.by_name for one in (*facts.objections, *facts.questions)]
    letters = list_letters(facts.answers, others, seed=setting.seed, pair=row.key)
    decisions = list_decisions(facts)
    waiting = Reason(row.waiting)
    return Case(
        pair=row.key,
        query_id=row.query_id,
        query=row.query,
        narrative=row.narrative,
        category=row.category,
        doc_id=row.doc_id,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        document_text=row.text,
        text_changed=any(answer.document_sha256 != row.text_sha256 for answer in facts.answers),
        status=far.stage,
        judgments=hide_names(facts.answers, letters, turns),
        decisions=decisions,
        decided_by=tuple(one.by_name for one in facts.decisions),
        rubric_version=setting.version,
        rubric=setting.rubric,
        seen=digest_case(facts),
        barred=BARRED if row.judged else None,
        contested_grade=far.contested_grade,
        waiting=waiting,
        distance=row.distance,
        language=row.language,
        length=row.length or 0,
        sha256=row.text_sha256,
        metadata=facts.metadata,
        taste=bool(row.taste),
        since=read_moment(row.since),
        held_by=row.held_by if row.holder_pk != setting.reader_pk else None,
        assigned_to=row.assigned_to,
        impact=_find_impact(row),
        proposals=_list_proposals(facts, setting),
        needs_second=takes_two(setting.second_adjudicator, row.distance),
        discussion=_show_discussion(facts, letters),
        objections=tuple(
            CaseObjection(letters[one.by_name], one.text, read_moment(one.objected_at))
            for one in facts.objections
        ),
        questions=tuple(
            CaseQuestion(one.pk, letters[one.by_name], one.text, read_moment(one.asked_at), one.answer)
            for one in facts.questions
        ),
        neighbours=tuple(neighbours),
        lacking=row.lacking,
    )


def digest_case(facts: CaseFacts) -> str:
    """What is seen of the pair."""
    return digest_seen([answer.event_id for answer in facts.answers], len(facts.decisions))


def list_decisions(facts: CaseFacts) -> tuple[Decision, ...]:
    """Every decision on the pair, the first one first."""
    return tuple(
        Decision(
            facts.row.key, one.revision, one.outcome, one.grade, one.rationale, one.reason, read_moment(one.decided_at),
            one.cause, bool(one.in_guideline), one.seconds,
        )
        for one in facts.decisions
    )  # fmt: skip


def find_neighbours(row: Any, known: Iterable[Known], sketches: Sketches) -> list[Neighbour]:
    """For a pair (`pk`, `query_pk`, `text_sha256`) the other judged documents of the pair's query: near-duplicates first, then those that are settled, as they come."""
    found = [
        Neighbour(
            one.pair,
            one.doc_id,
            one.title,
            one.grade,
            one.stage,
            sketches.compare(row.text_sha256, one.sha256),
        )
        for one in known
        if one.query_pk == row.query_pk and one.pair_pk != row.pk
    ]
    found.sort(key=lambda one: (-(one.near or 0), one.grade is None))
    return found[:MOST_NEIGHBOURS]


def read_moment(found: Any) -> Any:
    """A time as the database gave it; None where there is none."""
    if found is None:
        return None
    time = datetime.fromisoformat(found) if isinstance(found, str) else found
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _show_discussion(facts: CaseFacts, letters: Mapping[str, str]) -> CaseDiscussion | None:
    found = facts.discussion
    if found is None:
        return None
    waiting = [say_wait(letters[name], facts.row.query_id, wait) for name, wait in found.waits.items()]
    return CaseDiscussion(found.state, found.asked_at, tuple(waiting))


def _find_impact(row: Any) -> CaseImpact | None:
    """None without runs: then there is nothing that a choice moves."""
    if row.recall_impact is None or row.mrr_impact is None:
        return None
    return CaseImpact(row.impact, row.recall_impact, row.mrr_impact, row.flips or 0)


def _list_proposals(facts: CaseFacts, setting: Setting) -> tuple[CaseProposal, ...]:
    by_lead = {one.lead_pk: one.decided for one in facts.proposals}
    visible = list_visible(setting.reader_pk, by_lead)
    return tuple(
        CaseProposal(one.by, one.outcome, one.grade, one.rationale, one.cause)
        for one in facts.proposals
        if one.lead_pk in visible
    )
