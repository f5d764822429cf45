"""What a lead does about disagreements: find them, look at one, decide it, decide many from a file.

A decision is append-only: deciding again adds a revision. Refuses whoever is not a lead, a lead who judged the pair,
a blank rationale, a pair that nobody disagrees on, and a decision on judgments that have changed since they were seen.
A pair that quality control reopened is decided in the same way, and its expert is one of those who judged it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.adjudication.case import Case, Decision, digest_seen, hide_names
from annotator.adjudication.decisions_file import DecisionLine, read_decisions
from annotator.adjudication.queue import (
    Disagreement,
    compute_distance,
    compute_impact,
    find_since,
    sort_disagreements,
)
from annotator.datasets.service import to_rubric
from annotator.domain.answers import Answer
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, Problems, StateError
from annotator.domain.grades import check_grade
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import OPEN
from annotator.domain.texts import NO_WORDS, check_text
from annotator.storage.cases import (
    add_decisions,
    find_text,
    list_answers,
    list_best_ranks,
    list_decisions,
    list_judged_by,
    list_pairs_named,
)
from annotator.storage.current import list_current_adjudications
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disclosing import note_seen
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.pairs import PairState, list_contested_pairs, list_pair_states
from annotator.storage.tables import AdjudicationRow, DocumentRow, PairRow, QueryRow

DECIDABLE = (*OPEN, "adjudicated")
BARRED = say("you judged this pair yourself; another lead must decide it")


@dataclass(frozen=True, slots=True)
class FileDecisions:
    """What a file of decisions did: pairs decided first, decided anew, and decided just so before."""

    decided: int
    revised: int
    unchanged: int
    dry_run: bool


def find_disagreements(
    database: Database, actor: Actor, dataset: str, *, sort: str = "distance"
) -> list[Disagreement]:
    """Every pair whose judgments differ or that quality control reopened, and every decided pair; open ones first,
    then as `sort` says.

    `sort`: "distance" (furthest apart first), "impact" or "age". Needs the role lead.
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        contested = list_pair_states(session, dataset_pk, list_contested_pairs(session, dataset_pk))
        states = [state for state in contested if state.settlement.status in DECIDABLE]
        pks = [state.pair_pk for state in states]
        answers, ranks = list_answers(session, pks), list_best_ranks(session, pks)
        decisions = list_current_adjudications(session, dataset_pk)
        own = list_judged_by(session, actor.person_id, pks)
    found = []
    for state in states:
        pk = state.pair_pk
        item = _disagreement(state, answers.get(pk, []), ranks.get(pk), decisions.get(pk))
        found.append(replace(item, yours=pk in own))
    return sort_disagreements(found, sort)


def show_case(
    database: Database, actor: Actor, dataset: str, pair: str, *, seed: int | None = None, now: datetime
) -> Case:
    """One pair as a lead decides on it: anonymous, shuffled by `seed` (None: the dataset's own) and pair.

    The same on every look, until a judgment or a decision changes. Who has looked can no longer judge it. For leads.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        state = _find_state(session, key_of(row.pk), pair)
        query = session.get_one(QueryRow, state.query_pk)
        document = session.get_one(DocumentRow, state.document_pk)
        answers = list_answers(session, [state.pair_pk]).get(state.pair_pk, [])
        decisions = _to_decisions(state, list_decisions(session, state.pair_pk))
        rubric = find_rubric(session, key_of(row.pk))
        case = Case(
            pair=state.key,
            query_id=state.query_id,
            query=query.text,
            narrative=query.narrative,
            category=query.category,
            doc_id=state.doc_id,
            title=document.title,
            url=document.url,
            media_type=document.media_type,
            document_text=find_text(session, document),
            text_changed=any(answer.document_sha256 != document.text_sha256 for answer in answers),
            status=state.settlement.status,
            judgments=hide_names(answers, seed=row.seed if seed is None else seed, pair=state.key),
            decisions=decisions,
            rubric_version=rubric.version,
            rubric=to_rubric(rubric),
            seen=_digest(answers, decisions),
            barred=BARRED if list_judged_by(session, actor.person_id, [state.pair_pk]) else None,
            contested_grade=state.contested_grade,
        )
    note_seen(database, state.pair_pk, actor.person_id, now=now)
    return case


def adjudicate(
    database: Database,
    actor: Actor,
    dataset: str,
    pair: str,
    *,
    grade: int,
    rationale: str,
    seen: str,
    now: datetime,
    reason: str | None = None,
) -> Decision:
    """Settle a disagreement or a reopened pair, or decide it anew: append a revision and return it.

    `seen` is the case's digest. ConflictError when the judgments or the decision changed since; of two leads
    who decide at once, one gets it. The same decision sent twice is one. NotAllowed for anybody but a lead
    who did not judge the pair; StateError when nobody disagrees; ValidationError for the grade or the texts.
    """
    lead_pk = require_person(actor)
    check_grade(grade)
    rationale = check_text(say("rationale"), rationale, empty=NO_WORDS)
    reason = check_text(say("reason"), reason or "", empty=None) or None
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        state = _find_state(session, dataset_pk, pair)
        if list_judged_by(session, lead_pk, [state.pair_pk]):
            raise NotAllowed(BARRED)
        rows = list_decisions(session, state.pair_pk)
        decisions = _to_decisions(state, rows)
        answers = list_answers(session, [state.pair_pk]).get(state.pair_pk, [])
        if _digest(answers, decisions) != seen:
            same = (lead_pk, grade, rationale, reason)
            if rows and _digest(answers, decisions[:-1]) == seen and _content(rows[-1]) == same:
                return decisions[-1]
            raise ConflictError(say("somebody judged or decided this pair meanwhile; look at it again"))
        if state.settlement.status not in DECIDABLE:
            raise StateError(say("the judgments of this pair do not differ, so there is nothing to decide"))
        made = Decision(state.key, len(rows) + 1, grade, rationale, reason, now)
        _add(session, dataset_pk, lead_pk, [(state.pair_pk, made)])
        return made


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
        _check_lines(lines, states, list_judged_by(session, lead_pk, pks), problems)
        problems.found.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        decisions = list_current_adjudications(session, dataset_pk)
        made = []
        for line in lines:
            state = states[line.query_id, line.doc_id]
            last = decisions.get(state.pair_pk)
            same = last is not None and _content(last)[1:] == (line.grade, line.rationale, line.reason)
            if not same or state.settlement.status == "reopened":
                revision = last.revision + 1 if last else 1
                decision = Decision(state.key, revision, line.grade, line.rationale, line.reason, now)
                made.append((state.pair_pk, decision))
        if not dry_run:
            _add(session, dataset_pk, lead_pk, made)
    decided = sum(decision.revision == 1 for _, decision in made)
    return FileDecisions(decided, len(made) - decided, len(lines) - len(made), dry_run)


def _disagreement(
    state: PairState, answers: Sequence[Answer], best_rank: int | None, decision: AdjudicationRow | None
) -> Disagreement:
    grades = {answer.annotator: answer.grade for answer in answers if answer.grade is not None}
    times = [(one.judged_at, one.grade) for one in answers if one.grade is not None and not one.quality]
    apart, since = list(grades.values()), find_since(times) or (decision.decided_at if decision else None)
    reopened = state.settlement.status == "reopened"
    if reopened:
        since = state.errors[0].answered_at
        apart += [] if state.contested_grade is None else [state.contested_grade]
    if since is None:
        raise StateError(say("{pair} is neither in disagreement nor decided", pair=f"{state.query_id} {state.doc_id}"))  # fmt: skip
    return Disagreement(
        pair=state.key,
        query_id=state.query_id,
        doc_id=state.doc_id,
        category=state.category,
        grades=grades,
        distance=compute_distance(apart),
        impact=compute_impact(apart, best_rank),
        status="open" if state.settlement.status in OPEN else "decided",
        since=since,
        simulated=any(answer.simulated for answer in answers),
        reopened=reopened,
    )


def _lock_for_lead(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    lock_dataset(session, dataset_pk)
    return dataset_pk


def _find_state(session: Session, dataset_pk: int, pair: str) -> PairState:
    of_dataset = (col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == pair, *of_dataset))
    if pk is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return list_pair_states(session, dataset_pk, [pk])[0]


def _check_lines(
    lines: Sequence[DecisionLine],
    states: Mapping[tuple[str, str], PairState],
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
        elif state.settlement.status not in DECIDABLE:
            problems.add(line.line, "a pair whose judgments differ", f"{named} ({state.settlement.status})")


def _to_decisions(state: PairState, rows: Sequence[AdjudicationRow]) -> tuple[Decision, ...]:
    return tuple(
        Decision(state.key, row.revision, row.grade, row.rationale, row.reason, row.decided_at)
        for row in rows
    )


def _digest(answers: Sequence[Answer], decisions: Sequence[Decision]) -> str:
    return digest_seen([answer.event_id for answer in answers], len(decisions))


def _content(row: AdjudicationRow) -> tuple[int, int, str, str | None]:
    return row.lead_pk, row.grade, row.rationale, row.reason


def _add(session: Session, dataset_pk: int, lead_pk: int, made: Sequence[tuple[int, Decision]]) -> None:
    rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
    rows = [
        {
            "pair_pk": pair_pk, "lead_pk": lead_pk, "rubric_pk": rubric_pk,
            "revision": decision.revision, "grade": decision.grade, "rationale": decision.rationale,
            "reason": decision.reason, "decided_at": decision.decided_at,
        }
        for pair_pk, decision in made
    ]  # fmt: skip
    if rows:
        add_decisions(session, dataset_pk, rows)
