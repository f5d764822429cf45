"""Store decisions and proposals with their audit log, and read what they rest on.

The only way to store a decision, be it single, from a file or by a policy. The caller has checked the role, the
rationale, what was seen, and that the lead judged none of the pairs. Whether a decision needs two leads is decided here
(`adjudication/second_lead.py`). `current_adjudication` is derived from the append-only decisions in the same
transaction: the highest revision holds, and none does if that one is a withdrawal. Reads in chunks, so that a queue of
any length costs a few statements.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.records import (
    Decision,
    DecisionContent,
    DecisionProposal,
    IndependentJudgment,
    NewDecision,
    Outcome,
)
from annotator.adjudication.second_lead import (
    EXPORTED,
    find_visible_proposals,
    map_by_lead,
    needs_two_leads,
    settles_pair,
)
from annotator.domain.errors import NotAllowed
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import Decided, read_decision
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.judgments.missing_judgments import derive_lacking
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events
from annotator.storage.logs.disclosures import add_seen
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.sql import PreparedSql, Row, execute_sql, fetch, prepare_sql, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow, QualityPairRow
from annotator.storage.tables.central import CurrentJudgmentRow, DatasetRow, JudgmentRow, PersonRow, RubricRow

CHUNK = 500


def list_judgments(session: Session, pair_pks: Collection[int]) -> dict[int, list[IndependentJudgment]]:
    """Return, by pair_pk, the current independent judgments and those of quality control, each list by username."""
    judged = (
        select(JudgmentRow, col(PersonRow.username), col(PersonRow.simulated), col(RubricRow.version))
        .join(PersonRow, col(PersonRow.pk) == JudgmentRow.annotator_pk)
        .join(RubricRow, col(RubricRow.pk) == JudgmentRow.rubric_pk)
    )
    independent = judged.join(
        CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == JudgmentRow.pk
    ).where(
        col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
        col(CurrentJudgmentRow.outcome) != "later",
    )
    checked = judged.join(QualityPairRow, col(QualityPairRow.judgment_pk) == JudgmentRow.pk).where(
        col(QualityPairRow.outcome).is_not(None)
    )
    by_pair: dict[int, list[IndependentJudgment]] = {}
    for chunk in split_into_chunks(list(pair_pks), CHUNK):
        for quality, pair_pk, statement in (
            (False, CurrentJudgmentRow.pair_pk, independent),
            (True, QualityPairRow.pair_pk, checked),
        ):
            for row, username, simulated, version in session.execute(
                statement.where(col(pair_pk).in_(chunk))
            ):
                judgment = IndependentJudgment(
                    event_id=row.event_id,
                    annotator=username,
                    outcome=row.outcome,
                    grade=row.grade,
                    note=row.note,
                    judged_at=row.judged_at,
                    document_sha256=row.document_sha256,
                    guideline_version=version,
                    simulated=simulated,
                    quality=quality,
                )
                by_pair.setdefault(row.pair_pk, []).append(judgment)
    for judgments in by_pair.values():
        judgments.sort(key=lambda judgment: (judgment.annotator, judgment.quality))
    return by_pair


def count_revisions(session: Session, pair_pks: Collection[int]) -> dict[int, int]:
    """Return how many decisions each of these pairs has, withdrawn ones included; pairs without one are absent."""
    revisions: dict[int, int] = {}
    for chunk in split_into_chunks(list(pair_pks), CHUNK):
        pair_pk = col(AdjudicationRow.pair_pk)
        statement = select(pair_pk, func.max(col(AdjudicationRow.revision))).where(pair_pk.in_(chunk))
        revisions.update((pk, revision) for pk, revision in session.execute(statement.group_by(pair_pk)))
    return revisions


def list_judged_by(session: Session, person_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Return those of these pairs that this person ever judged, for whatever purpose. Putting off is not judging."""
    judged: set[int] = set()
    for chunk in split_into_chunks(list(pair_pks), CHUNK):
        statement = select(col(JudgmentRow.pair_pk)).where(
            col(JudgmentRow.annotator_pk) == person_pk,
            col(JudgmentRow.pair_pk).in_(chunk),
            col(JudgmentRow.outcome) != "later",
        )
        judged.update(session.scalars(statement))
    return judged


def add_decisions(session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append decisions; each row holds the columns of `adjudication` except its key. The pairs then lack no judgment."""
    session.execute(insert(AdjudicationRow), list(rows))
    pair_pks = [row["pair_pk"] for row in rows]
    derive_decided(session, pair_pks)
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disagreements(session, dataset_pk, pair_pks)


_CURRENT = prepare_sql(
    """
SELECT c.pair_pk, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.cause, a.in_guideline
FROM current_adjudication c JOIN adjudication a ON a.pk = c.adjudication_pk WHERE c.pair_pk IN :pairs""",
    lists=["pairs"],
)
_DISTANCES = prepare_sql("SELECT pair_pk, distance FROM dispute WHERE pair_pk IN :pairs", lists=["pairs"])
_PROPOSALS = prepare_sql(
    """
SELECT o.pair_pk, o.lead_pk, p.username AS lead, coalesce(nullif(p.name, ''), p.username) AS lead_name, o.outcome, o.grade, o.rationale, o.cause, o.in_guideline
FROM decision_proposal o JOIN person p ON p.pk = o.lead_pk WHERE o.pair_pk IN :pairs ORDER BY o.pair_pk, o.proposed_at, o.lead_pk""",
    lists=["pairs"],
)
_DECIDED = prepare_sql("SELECT pair_pk FROM current_adjudication WHERE pair_pk IN :pairs", lists=["pairs"])
_EXPORTED = prepare_sql(
    """
SELECT DISTINCT o.pair_pk FROM decision_proposal o
JOIN audit_event e ON e.pair_pk = o.pair_pk AND e.person_pk = o.lead_pk AND e.action = 'proposed'
JOIN audit_event x ON x.dataset_pk = e.dataset_pk AND x.pk > e.pk AND x.person_pk = :lead_pk AND x.action = 'exported dataset'
WHERE o.pair_pk IN :pairs AND o.lead_pk <> :lead_pk AND NOT EXISTS (
  SELECT 1 FROM adjudication a WHERE a.pair_pk = o.pair_pk AND a.outcome <> 'withdrawn' AND a.decided_at > e.at)""",
    lists=["pairs"],
)
_PROPOSE = prepare_sql("""
INSERT INTO decision_proposal (pair_pk, lead_pk, outcome, grade, rationale, cause, in_guideline, proposed_at)
VALUES (:pair_pk, :lead_pk, :outcome, :grade, :rationale, :cause, :in_guideline, :now)
ON CONFLICT (pair_pk, lead_pk) DO UPDATE SET outcome = excluded.outcome, grade = excluded.grade,
  rationale = excluded.rationale, cause = excluded.cause, in_guideline = excluded.in_guideline, proposed_at = excluded.proposed_at""")
_DROP_OWN_PROPOSAL = prepare_sql(
    "DELETE FROM decision_proposal WHERE lead_pk = :lead_pk AND pair_pk IN :pairs", lists=["pairs"]
)
_DROP_OWN_HOLD = prepare_sql(
    "DELETE FROM case_hold WHERE lead_pk = :lead_pk AND pair_pk IN :pairs", lists=["pairs"]
)
_DROP_WHAT_WAITED = [
    prepare_sql(f"DELETE FROM {table} WHERE pair_pk IN :pairs", lists=["pairs"])
    for table in ("decision_proposal", "case_assignment", "case_later", "case_hold")
]


class _CurrentDecision(NamedTuple):
    pair_pk: int
    revision: int
    outcome: Outcome
    grade: int | None
    rationale: str
    reason: str | None
    cause: str | None
    in_guideline: bool

    @property
    def content(self) -> DecisionContent:
        return DecisionContent(
            outcome=self.outcome,
            grade=self.grade,
            rationale=self.rationale,
            cause=self.cause,
            reason=self.reason,
            in_guideline=self.in_guideline,
        )


class _PairDistance(NamedTuple):
    pair_pk: int
    distance: int


class _ProposalRow(NamedTuple):
    pair_pk: int
    lead_pk: int
    lead: str
    lead_name: str
    outcome: Outcome
    grade: int | None
    rationale: str
    cause: str | None
    in_guideline: bool


def list_proposals(session: Session, pair_pks: Collection[int]) -> dict[int, tuple[DecisionProposal, ...]]:
    """Return what leads propose for these pairs, by pair_pk, the earliest first; pairs without a proposal are absent."""
    proposals: dict[int, tuple[DecisionProposal, ...]] = {}
    for row in _fetch_all(session, _PROPOSALS, _ProposalRow, pair_pks):
        proposal = DecisionProposal(
            outcome=row.outcome,
            grade=row.grade,
            rationale=row.rationale,
            cause=row.cause,
            in_guideline=row.in_guideline,
            lead_pk=row.lead_pk,
            lead=row.lead,
            lead_name=row.lead_name,
        )
        proposals[row.pair_pk] = (*proposals.get(row.pair_pk, ()), proposal)
    return proposals


def list_hidden_proposals(session: Session, lead_pk: int, pair_pks: Collection[int]) -> set[int]:
    """Return the undecided pairs with a present or withdrawn proposal that this lead may not see."""
    proposals = list_proposals(session, pair_pks)
    decided: set[int] = set()
    for chunk in split_into_chunks(sorted(pair_pks), CHUNK):
        decided.update(execute_sql(session, _DECIDED, {"pairs": chunk}).scalars())
    return {
        pair_pk
        for pair_pk in pair_pks
        if pair_pk not in decided
        and not find_visible_proposals(lead_pk, map_by_lead(proposals.get(pair_pk, ())))
    }


def list_exported_proposals(session: Session, lead_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Return the pairs for which this lead may not be the second one.

    The whole dataset, which the lead exported, held another lead's proposal that the lead may not see yet.
    """
    exported: set[int] = set()
    if lead_pk is None:
        return exported
    for chunk in split_into_chunks(sorted(pair_pks), CHUNK):
        exported.update(execute_sql(session, _EXPORTED, {"pairs": chunk, "lead_pk": lead_pk}).scalars())
    return list_hidden_proposals(session, lead_pk, exported) if exported else exported


def settle_pairs(
    session: Session,
    dataset_pk: int,
    lead_pk: int,
    decisions: Sequence[NewDecision],
    *,
    now: datetime,
    action: Action = "decided",
) -> list[Decision | None]:
    """Store each of these, in their order, as a decision, or as a proposal if it needs two leads and this is the first.

    Returns None for each that became a proposal, or withdrew one. No pair may occur twice. `action`: how the audit log
    names it.
    """
    writer = _DecisionWriter(session, dataset_pk, lead_pk, decisions, now, action)
    stored = [writer.add(decision) for decision in decisions]
    writer.write()
    return stored


class _DecisionWriter:
    """The rows and audit events of one call of `settle_pairs`, collected before they are written."""

    def __init__(
        self,
        session: Session,
        dataset_pk: int,
        lead_pk: int,
        decisions: Sequence[NewDecision],
        now: datetime,
        action: Action,
    ) -> None:
        self.session, self.dataset_pk, self.lead_pk = session, dataset_pk, lead_pk
        self.lead = session.get_one(PersonRow, lead_pk).username
        self.now, self.action = now, action
        self.pair_pks = [decision.pair_pk for decision in decisions]
        self.second_adjudicator = session.get_one(DatasetRow, dataset_pk).second_adjudicator
        self.revisions = count_revisions(session, self.pair_pks)
        self.current = {
            row.pair_pk: row for row in _fetch_all(session, _CURRENT, _CurrentDecision, self.pair_pks)
        }
        self.proposals = list_proposals(session, self.pair_pks)
        self.distances: dict[int, int] = (
            dict(_fetch_all(session, _DISTANCES, _PairDistance, self.pair_pks))
            if self.second_adjudicator
            else {}
        )
        self.exported = list_exported_proposals(session, lead_pk, self.proposals)
        self.rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        self.rows: list[dict[str, Any]] = []
        self.events: list[AuditEvent] = []
        self.settled_pks: list[int] = []
        self.withdrawn_proposal_pks: list[int] = []

    def add(self, new: NewDecision) -> Decision | None:
        """Collect what is to be written for one pair; return its decision, None for a proposal."""
        proposals = self.proposals.get(new.pair_pk, ())
        if new.decided is None:
            return self._withdraw(new, proposals)
        if not self._settles(new, new.decided, proposals):
            return self._propose(new, proposals)
        agreed = (
            proposal.lead
            for proposal in proposals
            if proposal.lead_pk != self.lead_pk and proposal.decided == new.decided
        )
        self.settled_pks.append(new.pair_pk)
        return self._decide(new, self.action, agreed_with=next(agreed, None))

    def write(self) -> None:
        """Write everything, and derive what follows for the pairs."""
        if self.rows:
            add_decisions(self.session, self.dataset_pk, self.rows)
        for statement, pair_pks in (
            *((statement, self.settled_pks) for statement in _DROP_WHAT_WAITED),
            (_DROP_OWN_PROPOSAL, self.withdrawn_proposal_pks),
            (_DROP_OWN_HOLD, self.pair_pks),
        ):
            for chunk in split_into_chunks(pair_pks, CHUNK):
                execute_sql(self.session, statement, {"pairs": chunk, "lead_pk": self.lead_pk})
        # who decided a pair no longer judges it
        add_seen(self.session, self.pair_pks, self.lead_pk, now=self.now)
        add_events(self.session, self.events)

    def _settles(self, new: NewDecision, decided: Decided, proposals: Sequence[DecisionProposal]) -> bool:
        if not needs_two_leads(self.second_adjudicator, self.distances.get(new.pair_pk, 0)):
            return True
        if new.pair_pk in self.exported:
            raise NotAllowed(EXPORTED)
        current = self.current.get(new.pair_pk)
        return settles_pair(
            decided,
            self.lead_pk,
            map_by_lead(proposals),
            read_decision(current.outcome, current.grade) if current else None,
        )

    def _decide(self, new: NewDecision, action: Action, *, agreed_with: str | None = None) -> Decision:
        revision = self.revisions.get(new.pair_pk, 0) + 1
        decision = Decision(
            pair=new.pair,
            revision=revision,
            decided_at=self.now,
            lead_pk=self.lead_pk,
            lead=self.lead,
            outcome=new.outcome,
            grade=new.grade,
            rationale=new.rationale,
            cause=new.cause,
            reason=new.reason,
            in_guideline=new.in_guideline,
            seconds=new.seconds,
        )
        self.rows.append(
            {
                "pair_pk": new.pair_pk,
                "lead_pk": self.lead_pk,
                "rubric_pk": self.rubric_pk,
                "revision": revision,
                "outcome": new.outcome,
                "grade": new.grade,
                "rationale": new.rationale,
                "reason": new.reason,
                "decided_at": self.now,
                "cause": new.cause,
                "in_guideline": new.in_guideline,
                "seconds": new.seconds,
                "batch_pk": new.batch_pk,
            }
        )
        after = {**_to_audit_values(new), "revision": revision}
        if agreed_with is not None:
            after["agreed_with"] = agreed_with
        if new.unlike:
            after["unlike"] = [asdict(document) for document in new.unlike]
        if new.batch_pk is not None:
            after["batch"] = new.batch_pk
        current = self.current.get(new.pair_pk)
        before = {**_to_audit_values(current.content), "revision": current.revision} if current else None
        self._log(action, new.pair_pk, before, after)
        return decision

    def _withdraw(self, new: NewDecision, proposals: Sequence[DecisionProposal]) -> Decision | None:
        """Withdraw the decision that holds; if none does, the lead's own proposal."""
        if new.pair_pk in self.current:
            action: Action = self.action if self.action == "undid policy" else "withdrew"
            return self._decide(new, action)
        own = self._find_own(proposals)
        if own is not None:
            self.withdrawn_proposal_pks.append(new.pair_pk)
            after = {"outcome": "withdrawn", "grade": None}
            self._log("withdrew", new.pair_pk, _to_audit_values(own), after)
        return None

    def _propose(self, new: NewDecision, proposals: Sequence[DecisionProposal]) -> Decision | None:
        """Keep a proposal until another lead agrees. A decision that says otherwise is withdrawn meanwhile.

        The withdrawal has no rationale: other leads read it, and must not read the proposal's.
        """
        if new.pair_pk in self.current:
            withdrawal = NewDecision(
                pair_pk=new.pair_pk, pair=new.pair, outcome="withdrawn", grade=None, rationale=""
            )
            self._decide(withdrawal, "withdrew")
        values = {
            "pair_pk": new.pair_pk,
            "lead_pk": self.lead_pk,
            "outcome": new.outcome,
            "grade": new.grade,
            "rationale": new.rationale,
            "cause": new.cause,
            "in_guideline": new.in_guideline,
            "now": self.now,
        }
        execute_sql(self.session, _PROPOSE, values)
        own = self._find_own(proposals)
        self._log("proposed", new.pair_pk, _to_audit_values(own) if own else None, _to_audit_values(new))
        return None

    def _find_own(self, proposals: Sequence[DecisionProposal]) -> DecisionProposal | None:
        return next((proposal for proposal in proposals if proposal.lead_pk == self.lead_pk), None)

    def _log(
        self,
        action: Action,
        pair_pk: int,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any],
    ) -> None:
        self.events.append(
            AuditEvent(action, self.dataset_pk, self.lead_pk, self.now, pair_pk, before, after)
        )


def _to_audit_values(content: DecisionContent) -> dict[str, Any]:
    """Return a decision or proposal as the audit log keeps it."""
    return {
        "outcome": content.outcome,
        "grade": content.grade,
        "rationale": content.rationale,
        "reason": content.reason,
        "cause": content.cause,
        "in_guideline": content.in_guideline,
    }


def _fetch_all(
    session: Session, statement: PreparedSql, row_type: type[Row], pair_pks: Collection[int]
) -> Iterator[Row]:
    for chunk in split_into_chunks(sorted(pair_pks), CHUNK):
        yield from fetch(session, statement, row_type, {"pairs": chunk})
