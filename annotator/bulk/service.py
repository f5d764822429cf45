"""What a lead decides on many pairs at once: from a file.

All or nothing: one bad line, and nothing is stored. Refuses, with the line, whatever a single decision would be refused for:
a pair that the lead judged, one that is in no dispute, a blank rationale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.accounts.service import require_person, require_role
from annotator.bulk.decisions_file import DecisionLine, read_decisions
from annotator.domain.decisions import Decision
from annotator.domain.errors import Problems
from annotator.domain.people import Actor
from annotator.storage.cases import (
    add_decisions,
    list_judged_by,
    list_pairs_named,
    list_revisions,
)
from annotator.storage.current import list_current_adjudications
from annotator.storage.database import Database, lock_dataset
from annotator.storage.dispute_tables import DisputeRow
from annotator.storage.disputes import list_disputes
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.pairs import PairState, list_pair_states


@dataclass(frozen=True, slots=True)
class FileDecisions:
    """What a file of decisions did: pairs decided first, decided anew, and decided just so before."""

    decided: int
    revised: int
    unchanged: int
    dry_run: bool


def adjudicate_file(
    database: Database,
    actor: Actor,
    dataset: str,
    data: bytes,
    path: str,
    *,
    now: datetime,
    dry_run: bool = False,
) -> FileDecisions:
    """Decide every pair of a CSV file (`query_id,doc_id,grade,rationale[,reason]`), or none of them.

    A line that says what is decided already changes nothing, unless quality control reopened the pair since; one that
    says otherwise adds a revision.
    BadInput names every bad line. `path` is the file as the user named it.
    """
    lead_pk = require_person(actor)
    problems = Problems(path)
    lines = read_decisions(data, path, problems)
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        pks = list_pairs_named(session, dataset_pk, [(line.query_id, line.doc_id) for line in lines])
        states = {(one.query_id, one.doc_id): one for one in list_pair_states(session, dataset_pk, pks)}
        disputes = list_disputes(session, pks)
        _check_lines(lines, states, disputes, list_judged_by(session, lead_pk, pks), problems)
        problems.found.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        decisions, revisions = list_current_adjudications(session, dataset_pk), list_revisions(session, pks)
        made = []
        for line in lines:
            state = states[line.query_id, line.doc_id]
            last = decisions.get(state.pair_pk)
            same = last is not None and (last.grade, last.rationale, last.reason) == (
                line.grade,
                line.rationale,
                line.reason,
            )
            if not same or disputes[state.pair_pk].open:
                revision = revisions.get(state.pair_pk, 0) + 1
                decision = Decision(
                    state.key, revision, "graded", line.grade, line.rationale, line.reason, now
                )
                made.append((state.pair_pk, decision))
        if not dry_run:
            _add(session, dataset_pk, lead_pk, made)
    decided = sum(decision.revision == 1 for _, decision in made)
    return FileDecisions(decided, len(made) - decided, len(lines) - len(made), dry_run)


def _check_lines(
    lines: Sequence[DecisionLine],
    states: Mapping[tuple[str, str], PairState],
    disputes: Mapping[int, DisputeRow],
    own: set[int],
    problems: Problems,
) -> None:
    for line in lines:
        named = f"{line.query_id} {line.doc_id}"
        state = states.get((line.query_id, line.doc_id))
        if state is None:
            problems.add(line.line, "a pair of the pool", named)
        elif state.pair_pk in own:
            problems.add(line.line, "a pair that the deciding lead did not judge", named)
        elif state.pair_pk not in disputes:
            problems.add(line.line, "a pair whose judgments differ", f"{named} ({state.settlement.status})")


def _lock_for_lead(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    lock_dataset(session, dataset_pk)
    return dataset_pk


def _add(session: Session, dataset_pk: int, lead_pk: int, made: Sequence[tuple[int, Decision]]) -> None:
    rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
    rows = [
        {
            "pair_pk": pair_pk, "lead_pk": lead_pk, "rubric_pk": rubric_pk,
            "revision": decision.revision, "outcome": decision.outcome, "grade": decision.grade,
            "rationale": decision.rationale, "reason": decision.reason, "decided_at": decision.decided_at,
        }
        for pair_pk, decision in made
    ]  # fmt: skip
    if rows:
        add_decisions(session, dataset_pk, rows)
