"""Store decisions and proposals with audit entries; read judgments, decisions and proposals.

`settle_pairs` stores every decision: single, from a file or by a policy. The caller has checked the role, the
rationale, the digest of what was seen, and that the lead judged none of the pairs. `settle_pairs` finds out
whether a decision needs two leads (`adjudication/decision_check.py`). `current_adjudication` is derived in the
same transaction: the decision with the highest revision holds, unless it is a withdrawal.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from annotator.adjudication.decision_check import (
    EXPORTED,
    find_visible_proposals,
    map_by_lead,
    needs_two_leads,
    settles_pair,
)
from annotator.adjudication.records import (
    Decision,
    DecisionContent,
    DecisionProposal,
    IndependentJudgment,
    NewDecision,
)
from annotator.domain.errors import NotAllowed
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import Decided
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.judgments.missing_judgments import derive_lacking
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events
from annotator.storage.logs.disclosures import add_seen
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.sql import (
    PreparedSql,
    execute_sql,
    fetch_by_pair,
    fetch_tuples,
    prepare_sql,
    split_into_chunks,
)
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import DatasetRow, PersonRow

CHUNK = 500


_JUDGED = "j.event_id, p.username AS annotator, j.outcome, j.grade, j.note, j.judged_at, j.document_sha256, r.version AS guideline_version, p.simulated"
_JUDGE = "JOIN person p ON p.pk = j.annotator_pk JOIN rubric r ON r.pk = j.rubric_pk"
_JUDGMENTS = prepare_sql(
    f"""
SELECT c.pair_pk, {_JUDGED}, false AS quality FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk {_JUDGE}
WHERE c.pair_pk IN :pairs AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'
UNION ALL SELECT x.pair_pk, {_JUDGED}, true FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk {_JUDGE}
WHERE x.pair_pk IN :pairs AND x.outcome IS NOT NULL""",
    lists=["pairs"],
)


def list_judgments(session: Session, pair_pks: Collection[int]) -> dict[int, list[IndependentJudgment]]:
    """Return the current independent and quality control judgments by pair_pk, sorted by username."""
    by_pair = fetch_by_pair(session, _JUDGMENTS, IndependentJudgment, pair_pks)
    for judgments in by_pair.values():
        judgments.sort(key=lambda judgment: (judgment.annotator, judgment.quality))
    return by_pair


_JUDGED_BY = prepare_sql(
    "SELECT pair_pk FROM judgment WHERE annotator_pk = :person_pk AND pair_pk IN :pairs AND outcome <> 'later'",
    lists=["pairs"],
)


def list_judged_by(session: Session, person_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Return the pairs that this person ever judged, for any purpose. Putting off is not judging."""
    return find_pairs_among(session, _JUDGED_BY, pair_pks, person_pk=person_pk)


def add_decisions(session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append decisions (rows of `adjudication` without their key), and derive the state of their pairs."""
    session.execute(insert(AdjudicationRow), list(rows))
    pair_pks = [row["pair_pk"] for row in rows]
    derive_decided(session, pair_pks)
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disagreements(session, dataset_pk, pair_pks)


_DECISIONS = prepare_sql(
    """
SELECT a.pair_pk, x.key AS pair, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.cause, a.in_guideline, a.seconds,
  a.decided_at, a.lead_pk, p.username AS lead, coalesce(nullif(p.name, ''), p.username) AS lead_name
FROM adjudication a JOIN person p ON p.pk = a.lead_pk JOIN pair x ON x.pk = a.pair_pk WHERE a.pair_pk IN :pairs ORDER BY a.pair_pk, a.revision""",
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


def list_decisions(session: Session, pair_pks: Collection[int]) -> dict[int, list[Decision]]:
    """Return every decision on these pairs by pair_pk, the oldest first, withdrawals included."""
    return fetch_by_pair(session, _DECISIONS, Decision, pair_pks)


def list_last_decisions(session: Session, pair_pks: Collection[int]) -> dict[int, Decision]:
    """Return the last decision on each pair by pair_pk, which may be a withdrawal."""
    return {pair_pk: decisions[-1] for pair_pk, decisions in list_decisions(session, pair_pks).items()}


def list_proposals(session: Session, pair_pks: Collection[int]) -> dict[int, list[DecisionProposal]]:
    """Return the proposals for these pairs by pair_pk, the earliest first."""
    return fetch_by_pair(session, _PROPOSALS, DecisionProposal, pair_pks)


def find_pairs_among(
    session: Session, statement: PreparedSql, pair_pks: Collection[int], **values: Any
) -> set[int]:
    """Return the pair_pks that the statement selects from the list `:pairs`."""
    selected: set[int] = set()
    for chunk in split_into_chunks(sorted(pair_pks), CHUNK):
        rows = fetch_tuples(session, statement, {**values, "pairs": chunk})
        selected.update(pair_pk for (pair_pk,) in rows)
    return selected


def list_hidden_proposals(session: Session, lead_pk: int, pair_pks: Collection[int]) -> set[int]:
    """Return the undecided pairs among these that may have a proposal which this lead may not see."""
    proposals, decided = list_proposals(session, pair_pks), find_pairs_among(session, _DECIDED, pair_pks)
    return {
        pair_pk
        for pair_pk in pair_pks
        if pair_pk not in decided
        and not find_visible_proposals(lead_pk, map_by_lead(proposals.get(pair_pk, ())))
    }


def list_exported_proposals(session: Session, lead_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Return the pairs that this lead must not decide as the second lead.

    The lead exported the whole dataset while it had another lead's proposal for the pair, which is still
    hidden.
    """
    if lead_pk is None:
        return set()
    exported = find_pairs_among(session, _EXPORTED, pair_pks, lead_pk=lead_pk)
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
    """Store each decision, or a proposal if the pair needs two leads and this is the first.

    Returns the stored decisions; None for a proposal or a withdrawn proposal. Each pair occurs once.
    `action`: its name in the audit log.
    """
    writer = _DecisionWriter(session, dataset_pk, lead_pk, decisions, now, action)
    stored = [writer.add(decision) for decision in decisions]
    writer.write()
    return stored


class _DecisionWriter:
    """Collects the rows and audit events of one call of `settle_pairs`, and writes them."""

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
        self.last = list_last_decisions(session, self.pair_pks)
        self.proposals = list_proposals(session, self.pair_pks)
        self.distances: dict[int, list[int]] = (
            fetch_by_pair(session, _DISTANCES, int, self.pair_pks) if self.second_adjudicator else {}
        )
        self.exported = list_exported_proposals(session, lead_pk, self.proposals)
        self.rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        self.rows: list[dict[str, Any]] = []
        self.events: list[AuditEvent] = []
        self.settled_pks: list[int] = []
        self.withdrawn_proposal_pks: list[int] = []

    def add(self, new: NewDecision) -> Decision | None:
        """Collect the rows for one pair and return its decision; None for a proposal."""
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
        """Write the collected rows, and derive the state of the pairs."""
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
        (distance,) = self.distances.get(new.pair_pk, [0])
        if not needs_two_leads(self.second_adjudicator, distance):
            return True
        if new.pair_pk in self.exported:
            raise NotAllowed(EXPORTED)
        current = self._find_current(new.pair_pk)
        return settles_pair(
            decided, self.lead_pk, map_by_lead(proposals), current.decided if current else None
        )

    def _find_current(self, pair_pk: int) -> Decision | None:
        """Return the decision that holds now."""
        last = self.last.get(pair_pk)
        return None if last is None or last.outcome == "withdrawn" else last

    def _decide(self, new: NewDecision, action: Action, *, agreed_with: str | None = None) -> Decision:
        last = self.last.get(new.pair_pk)
        revision = last.revision + 1 if last else 1
        content = _to_audit_values(new)
        stored = {
            **content,
            "revision": revision,
            "decided_at": self.now,
            "lead_pk": self.lead_pk,
            "seconds": new.seconds,
        }
        self.rows.append(
            {**stored, "pair_pk": new.pair_pk, "rubric_pk": self.rubric_pk, "batch_pk": new.batch_pk}
        )
        after = {**content, "revision": revision}
        if agreed_with is not None:
            after["agreed_with"] = agreed_with
        if new.unlike:
            after["unlike"] = [asdict(document) for document in new.unlike]
        if new.batch_pk is not None:
            after["batch"] = new.batch_pk
        current = self._find_current(new.pair_pk)
        before = {**_to_audit_values(current), "revision": current.revision} if current else None
        self._log(action, new.pair_pk, before, after)
        return Decision(pair=new.pair, lead=self.lead, **stored)

    def _withdraw(self, new: NewDecision, proposals: Sequence[DecisionProposal]) -> Decision | None:
        """Withdraw the decision that holds, or else the lead's own proposal."""
        if self._find_current(new.pair_pk):
            action: Action = self.action if self.action == "undid policy" else "withdrew"
            return self._decide(new, action)
        own = self._find_own(proposals)
        if own is not None:
            self.withdrawn_proposal_pks.append(new.pair_pk)
            after = {"outcome": "withdrawn", "grade": None}
            self._log("withdrew", new.pair_pk, _to_audit_values(own), after)
        return None

    def _propose(self, new: NewDecision, proposals: Sequence[DecisionProposal]) -> Decision | None:
        """Store a proposal, and withdraw the present decision, which differs.

        The withdrawal has no rationale, because other leads read it and must not learn the proposal's.
        """
        if self._find_current(new.pair_pk):
            withdrawal = NewDecision(
                pair_pk=new.pair_pk, pair=new.pair, outcome="withdrawn", grade=None, rationale=""
            )
            self._decide(withdrawal, "withdrew")
        values = {"pair_pk": new.pair_pk, "lead_pk": self.lead_pk, "now": self.now}
        execute_sql(self.session, _PROPOSE, {**_to_audit_values(new), **values})
        own = self._find_own(proposals)
        self._log("proposed", new.pair_pk, _to_audit_values(own) if own else None, _to_audit_values(new))
        return None

    def _find_own(self, proposals: Sequence[DecisionProposal]) -> DecisionProposal | None:
        return next((proposal for proposal in proposals if proposal.lead_pk == self.lead_pk), None)

    def _log(self, action: Action, pair_pk: int, *values: Mapping[str, Any] | None) -> None:
        """Add an audit event. `values`: before and after."""
        self.events.append(AuditEvent(action, self.dataset_pk, self.lead_pk, self.now, pair_pk, *values))


def _to_audit_values(content: DecisionContent) -> dict[str, Any]:
    """Return a decision or proposal for the audit log. The keys are also columns of their tables."""
    names = ("outcome", "grade", "rationale", "reason", "cause", "in_guideline")
    return {name: getattr(content, name) for name in names}
