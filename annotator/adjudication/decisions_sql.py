"""Write decisions and proposals with their audit log, and read what they rest on.

The only way to store a decision, be it single, from a file or by a policy. The caller has checked the role, the
rationale, what was seen, and that the lead judged none of the pairs; whether two leads are needed is decided here
(`adjudication/records.py`). `current_adjudication` is derived from the append-only decisions in the same transaction:
the highest revision holds, and none does where that one is a withdrawal. Reads in chunks, so that a queue of any length
costs a few statements.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.records import Decision, IndependentJudgment, Outcome, is_decision, takes_two
from annotator.adjudication.records import DecisionProposal as DecisionProposal
from annotator.domain.settling import Decided, read_decision
from annotator.storage.adjudication_tables import AdjudicationRow, QualityPairRow
from annotator.storage.audit_log import Action, AuditEvent, add_events
from annotator.storage.disagreements import derive_disputes
from annotator.storage.disclosures import add_seen
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.missing_judgments import derive_lacking
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PersonRow,
    RubricRow,
)

_DROP = "DELETE FROM current_adjudication WHERE pair_pk IN {pairs}"
_DERIVE = """
INSERT INTO current_adjudication (pair_pk, dataset_pk, adjudication_pk, lead_pk, outcome, grade, decided_at)
SELECT a.pair_pk, p.dataset_pk, a.pk, a.lead_pk, a.outcome, a.grade, a.decided_at
FROM adjudication a JOIN pair p ON p.pk = a.pair_pk
WHERE a.pair_pk IN {pairs} AND a.outcome <> 'withdrawn'
  AND NOT EXISTS (SELECT 1 FROM adjudication n WHERE n.pair_pk = a.pair_pk AND n.revision > a.revision)"""
_OF_SOME = [prepare_sql(statement.format(pairs=":pairs"), lists=["pairs"]) for statement in (_DROP, _DERIVE)]


def derive_decided(session: Session, pair_pks: Iterable[int]) -> None:
    """Bring `current_adjudication` in line for these pairs."""
    session.flush()
    pks = sorted(set(pair_pks))
    for start in range(0, len(pks), CHUNK):
        for statement in _OF_SOME:
            execute_sql(session, statement, {"pairs": pks[start : start + CHUNK]})


Item = TypeVar("Item")


def list_answers(session: Session, pair_pks: Collection[int]) -> dict[int, list[IndependentJudgment]]:
    """The current independent judgments of these pairs, and quality control's, by pair_pk, each list by username."""
    judged = (
        select(JudgmentRow, col(PersonRow.username), col(PersonRow.simulated), col(RubricRow.version))
        .join(PersonRow, col(PersonRow.pk) == JudgmentRow.annotator_pk)
        .join(RubricRow, col(RubricRow.pk) == JudgmentRow.rubric_pk)
    )
    independent = judged.join(
        CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == JudgmentRow.pk
    ).where(
        col(CurrentJudgmentRow.purpose) == "independent",
        col(CurrentJudgmentRow.outcome) != "later",
    )
    checked = judged.join(QualityPairRow, col(QualityPairRow.judgment_pk) == JudgmentRow.pk).where(
        col(QualityPairRow.outcome).is_not(None)
    )
    found: dict[int, list[IndependentJudgment]] = {}
    for some in _chunks(pair_pks):
        for quality, pair_pk, statement in (
            (False, CurrentJudgmentRow.pair_pk, independent),
            (True, QualityPairRow.pair_pk, checked),
        ):
            for row, username, simulated, version in session.execute(statement.where(col(pair_pk).in_(some))):
                answer = IndependentJudgment(
                    row.event_id,
                    username,
                    row.outcome,
                    row.grade,
                    row.note,
                    row.judged_at,
                    row.document_sha256,
                    version,
                    simulated,
                    quality,
                )
                found.setdefault(row.pair_pk, []).append(answer)
    for answers in found.values():
        answers.sort(key=lambda answer: (answer.annotator, answer.quality))
    return found


def list_decisions(session: Session, pair_pk: int) -> list[AdjudicationRow]:
    """Every decision on a pair, the first one first."""
    statement = select(AdjudicationRow).where(col(AdjudicationRow.pair_pk) == pair_pk)
    return list(session.scalars(statement.order_by(col(AdjudicationRow.revision))))


def list_revisions(session: Session, pair_pks: Collection[int]) -> dict[int, int]:
    """How many decisions there are on each of these pairs, those withdrawn included; pairs without one are absent."""
    found: dict[int, int] = {}
    for some in _chunks(pair_pks):
        revision = func.max(col(AdjudicationRow.revision))
        statement = select(col(AdjudicationRow.pair_pk), revision).where(
            col(AdjudicationRow.pair_pk).in_(some)
        )
        found.update(
            (pair_pk, n) for pair_pk, n in session.execute(statement.group_by(col(AdjudicationRow.pair_pk)))
        )
    return found


def list_judged_by(session: Session, person_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Of these pairs the ones this person ever judged, for whatever purpose; putting off is not judging."""
    found: set[int] = set()
    for some in _chunks(pair_pks):
        statement = select(col(JudgmentRow.pair_pk)).where(
            col(JudgmentRow.annotator_pk) == person_pk,
            col(JudgmentRow.pair_pk).in_(some),
            col(JudgmentRow.outcome) != "later",
        )
        found.update(session.scalars(statement))
    return found


def add_decisions(session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append decisions; each row holds the columns of `adjudication` but its key. The pairs lack nothing any more."""
    session.execute(insert(AdjudicationRow), list(rows))
    pair_pks = [row["pair_pk"] for row in rows]
    derive_decided(session, pair_pks)
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disputes(session, dataset_pk, pair_pks)


def _chunks(items: Collection[Item]) -> Iterator[list[Item]]:
    ordered = list(items)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


def find_text(session: Session, document: DocumentRow) -> str | None:
    """The document's present text; None when only its id is known."""
    if document.text_sha256 is None:
        return None
    return session.get_one(DocumentTextRow, (document.pk, document.text_sha256)).text


CHUNK = 500
_HELD = prepare_sql(
    """
SELECT c.pair_pk, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.cause, a.in_guideline
FROM current_adjudication c JOIN adjudication a ON a.pk = c.adjudication_pk WHERE c.pair_pk IN :pairs""",
    lists=["pairs"],
)
_DISTANCES = prepare_sql("SELECT pair_pk, distance FROM dispute WHERE pair_pk IN :pairs", lists=["pairs"])
_PROPOSALS = prepare_sql(
    """
SELECT o.pair_pk, o.lead_pk, o.outcome, o.grade, o.rationale, o.cause, o.in_guideline, o.proposed_at, p.username
FROM decision_proposal o JOIN person p ON p.pk = o.lead_pk WHERE o.pair_pk IN :pairs ORDER BY o.pair_pk, o.proposed_at, o.lead_pk""",
    lists=["pairs"],
)
_PROPOSE = prepare_sql("""
INSERT INTO decision_proposal (pair_pk, lead_pk, outcome, grade, rationale, cause, in_guideline, proposed_at)
VALUES (:pair_pk, :lead_pk, :outcome, :grade, :rationale, :cause, :in_guideline, :now)
ON CONFLICT (pair_pk, lead_pk) DO UPDATE SET outcome = excluded.outcome, grade = excluded.grade,
  rationale = excluded.rationale, cause = excluded.cause, in_guideline = excluded.in_guideline, proposed_at = excluded.proposed_at""")
_TAKE_BACK = prepare_sql(
    "DELETE FROM decision_proposal WHERE lead_pk = :lead_pk AND pair_pk IN :pairs", lists=["pairs"]
)
_LET_GO = prepare_sql("DELETE FROM case_hold WHERE lead_pk = :lead_pk AND pair_pk IN :pairs", lists=["pairs"])
_END = [
    prepare_sql(f"DELETE FROM {table} WHERE pair_pk IN :pairs", lists=["pairs"])
    for table in ("decision_proposal", "case_assignment", "case_later", "case_hold")
]


@dataclass(frozen=True, slots=True)
class NewDecision:
    """What a lead says of a pair. `grade`: 0-3 where the outcome is "graded", None otherwise. `batch_pk`: of a policy.
    `unlike`: near-duplicates that are settled at another grade, for the trail."""

    pair_pk: int
    key: str
    outcome: Outcome
    grade: int | None
    rationale: str
    reason: str | None = None
    cause: str | None = None
    in_guideline: bool = False
    seconds: float | None = None
    batch_pk: int | None = None
    unlike: Sequence[Mapping[str, Any]] = ()

    @property
    def decided(self) -> Decided | None:
        """What the pair would be settled as; None for taking a decision back."""
        return read_decision(self.outcome, self.grade)


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """What became of a wish: a decision, or (None) a proposal that waits for another lead, or was taken back."""

    wish: NewDecision
    decision: Decision | None


def list_proposals(session: Session, pair_pks: Collection[int]) -> dict[int, tuple[DecisionProposal, ...]]:
    """What leads propose on these pairs, by pair_pk, the earliest first; pairs without a proposal are absent."""
    found: dict[int, tuple[DecisionProposal, ...]] = {}
    for row in _run_all(session, _PROPOSALS, pair_pks):
        made = DecisionProposal(
            row.lead_pk,
            row.username,
            row.outcome,
            row.grade,
            row.rationale,
            row.cause,
            bool(row.in_guideline),
        )
        found[row.pair_pk] = (*found.get(row.pair_pk, ()), made)
    return found


def settle_pairs(
    session: Session,
    dataset_pk: int,
    lead_pk: int,
    wishes: Sequence[NewDecision],
    *,
    now: datetime,
    action: Action = "decided",
) -> list[DecisionOutcome]:
    """Write each of these as a decision, or as a proposal where it takes two leads and this is the first; in their order.
    Each pair stands in it once."""
    writer = _DecisionWriter(session, dataset_pk, lead_pk, wishes, now, action)
    settled = [writer.write(wish) for wish in wishes]
    writer.end()
    return settled


class _DecisionWriter:
    """The rows and the trail of one call of `settle_pairs`, gathered before they are written."""

    def __init__(
        self,
        session: Session,
        dataset_pk: int,
        lead_pk: int,
        wishes: Sequence[NewDecision],
        now: datetime,
        action: Action,
    ) -> None:
        self.session, self.dataset_pk, self.lead_pk = session, dataset_pk, lead_pk
        self.now, self.action = now, action
        self.pks = [wish.pair_pk for wish in wishes]
        self.second = session.get_one(DatasetRow, dataset_pk).second_adjudicator
        self.revisions = list_revisions(session, self.pks)
        self.held = {row.pair_pk: row for row in _run_all(session, _HELD, self.pks)}
        self.proposals = list_proposals(session, self.pks)
        self.distances = (
            {row.pair_pk: row.distance for row in _run_all(session, _DISTANCES, self.pks)}
            if self.second
            else {}
        )
        self.rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        self.rows: list[dict[str, Any]] = []
        self.events: list[AuditEvent] = []
        self.ended: list[int] = []
        self.taken_back: list[int] = []

    def write(self, wish: NewDecision) -> DecisionOutcome:
        """Note what is to be written for one pair."""
        held = self.held.get(wish.pair_pk)
        decided = read_decision(held.outcome, held.grade) if held else None
        given = self.proposals.get(wish.pair_pk, ())
        if wish.decided is None:
            return self._withdraw(wish, given)
        by_lead = {one.lead_pk: one.decided for one in given}
        two = takes_two(self.second, self.distances.get(wish.pair_pk, 0))
        if two and not is_decision(wish.decided, self.lead_pk, by_lead, decided):
            return self._propose(wish, given)
        agreed = [one.by for one in given if one.lead_pk != self.lead_pk and one.decided == wish.decided]
        self.ended.append(wish.pair_pk)
        return DecisionOutcome(
            wish, self._decide(wish, self.action, agreed_with=agreed[0] if agreed else None)
        )

    def end(self) -> None:
        """Write it all; what holds of the pairs follows."""
        if self.rows:
            add_decisions(self.session, self.dataset_pk, self.rows)
        for statement, pks in (
            *((one, self.ended) for one in _END),
            (_TAKE_BACK, self.taken_back),
            (_LET_GO, self.pks),
        ):
            for start in range(0, len(pks), CHUNK):
                execute_sql(
                    self.session, statement, {"pairs": pks[start : start + CHUNK], "lead_pk": self.lead_pk}
                )
        add_seen(self.session, self.pks, self.lead_pk, now=self.now)  # who decided a pair no longer judges it
        add_events(self.session, self.events)

    def _decide(self, wish: NewDecision, action: Action, *, agreed_with: str | None = None) -> Decision:
        revision = self.revisions.get(wish.pair_pk, 0) + 1
        made = Decision(
            wish.key,
            revision,
            wish.outcome,
            wish.grade,
            wish.rationale,
            wish.reason,
            self.now,
            wish.cause,
            wish.in_guideline,
            wish.seconds,
        )
        self.rows.append(
            {
                "pair_pk": wish.pair_pk,
                "lead_pk": self.lead_pk,
                "rubric_pk": self.rubric_pk,
                "revision": revision,
                "outcome": wish.outcome,
                "grade": wish.grade,
                "rationale": wish.rationale,
                "reason": wish.reason,
                "decided_at": self.now,
                "cause": wish.cause,
                "in_guideline": wish.in_guideline,
                "seconds": wish.seconds,
                "batch_pk": wish.batch_pk,
            }
        )
        after = {**_tell(wish), "revision": revision}
        if agreed_with is not None:
            after["agreed_with"] = agreed_with
        if wish.unlike:
            after["unlike"] = [dict(one) for one in wish.unlike]
        if wish.batch_pk is not None:
            after["batch"] = wish.batch_pk
        held = self.held.get(wish.pair_pk)
        before = {**_tell(held), "revision": held.revision} if held else None
        self._tell(action, wish.pair_pk, before, after)
        return made

    def _withdraw(self, wish: NewDecision, given: Sequence[DecisionProposal]) -> DecisionOutcome:
        """Take back the decision that holds; where none does, the lead's own proposal."""
        if wish.pair_pk in self.held:
            action: Action = self.action if self.action == "undid policy" else "withdrew"
            return DecisionOutcome(wish, self._decide(wish, action))
        own = next((one for one in given if one.lead_pk == self.lead_pk), None)
        if own is not None:
            self.taken_back.append(wish.pair_pk)
            self._tell("withdrew", wish.pair_pk, _tell(own), {"outcome": "withdrawn", "grade": None})
        return DecisionOutcome(wish, None)

    def _propose(self, wish: NewDecision, given: Sequence[DecisionProposal]) -> DecisionOutcome:
        """Keep it until another lead says the same. What was decided otherwise does not hold meanwhile."""
        if wish.pair_pk in self.held:
            back = NewDecision(wish.pair_pk, wish.key, "withdrawn", None, wish.rationale, batch_pk=None)
            self._decide(back, "withdrew")
        values = {
            "pair_pk": wish.pair_pk,
            "lead_pk": self.lead_pk,
            "outcome": wish.outcome,
            "grade": wish.grade,
            "rationale": wish.rationale,
            "cause": wish.cause,
            "in_guideline": wish.in_guideline,
            "now": self.now,
        }
        execute_sql(self.session, _PROPOSE, values)
        own = next((one for one in given if one.lead_pk == self.lead_pk), None)
        self._tell("proposed", wish.pair_pk, _tell(own) if own else None, _tell(wish))
        return DecisionOutcome(wish, None)

    def _tell(self, action: Action, pair_pk: int, before: Any, after: Any) -> None:
        self.events.append(
            AuditEvent(action, self.dataset_pk, self.lead_pk, self.now, pair_pk, before, after)
        )


def _tell(of: Any) -> dict[str, Any]:
    """A decision or a proposal, as the trail keeps it."""
    return {
        "outcome": of.outcome,
        "grade": of.grade,
        "rationale": of.rationale,
        "reason": getattr(of, "reason", None),
        "cause": of.cause,
        "in_guideline": bool(of.in_guideline),
    }


def _run_all(session: Session, statement: Any, pair_pks: Collection[int]) -> list[Any]:
    session.flush()
    ordered = sorted(pair_pks)
    return [
        row
        for start in range(0, len(ordered), CHUNK)
        for row in execute_sql(session, statement, {"pairs": ordered[start : start + CHUNK]})
    ]
