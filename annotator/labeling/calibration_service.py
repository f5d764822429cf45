"""Store which pairs are checks, and compute the results of annotators on them. For leads.

These judgments never enter agreement or qrels. Annotators know that checks exist, but never which pairs are
checks. Refuses a pair that is not in the pool, and a training pair without an explanation.

Read the file of training and gold pairs, and score the answers on checks. The CSV has the columns query_id,
doc_id, kind, grade, explanation. Collects every bad line: an unknown kind or column, a grade that is not 0-3,
a training pair without an explanation, a pair twice. Scores are: training, closeness to gold, and consistency
with one's own earlier grades. Of several answers on a pair the latest counts; training also uses the first.
"Cannot be rated" is an answer: it is never right and has no distance.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.errors import NotFound, Problems, ValidationError
from annotator.domain.grades import check_grade
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import TextFault, check_text, find_fault
from annotator.formats.input_tables import read_grade, read_pair_table, take_pair
from annotator.formats.syntax.tables import TableLine
from annotator.labeling.calibration_sql import (
    CheckAnswer,
    PairCheck,
    count_checks_by_kind,
    delete_checks,
    find_by_names,
    list_check_answers,
    list_checked_people,
    list_checks_of,
    list_judged_pairs,
    list_repeat_answers,
    search_pairs,
    store_checks,
)
from annotator.labeling.checks import draw_number
from annotator.labeling.next_pairs_sql import find_training
from annotator.labeling.open_pairs_sql import take_leases
from annotator.labeling.records import (
    KINDS,
    AnnotatorResult,
    CheckCandidate,
    CheckChanges,
    CheckPair,
    GoldMiss,
    GoldResult,
    OwnChecks,
    RepeatConsistency,
    TrainingResult,
)
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import add_seen, list_to_judge, note_seen
from annotator.storage.lookup import find_pair_pk, key_of, make_open_pairs_request
from annotator.storage.pairs.pair_states import PairState, list_pair_states, list_query_pks
from annotator.storage.tables.central import (
    DatasetRow,
    DocumentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import CheckRow

COLUMNS = ("query_id", "doc_id", "kind", "grade", "explanation")
UNEXPLAINED = TextFault(
    "some words for a training pair", "nothing", say("a training pair needs an explanation")
)


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line of the file."""

    line: int  # where it begins, from 1
    query_id: str
    doc_id: str
    kind: str
    grade: int
    explanation: str


def check_explanation(kind: str, explanation: str) -> str:
    """Return the explanation without the white space around it.

    Raises ValidationError for it, or for the kind.
    """
    if kind not in KINDS:
        raise ValidationError(f"kind: expected one of {', '.join(KINDS)}, found {kind!r}")
    return check_text(say("explanation"), explanation, empty=_choose_empty_fault(kind))


def read_check_lines(data: bytes, path: str, problems: Problems) -> list[CheckLine]:
    """Return the good lines of a CSV file; bad lines are noted in `problems`.

    Raises BadInput for wrong columns.
    """
    return read_pair_table(data, path, problems, _read_row, columns=COLUMNS)


def _read_row(row: TableLine, problems: Problems) -> CheckLine | None:
    noted = problems.noted
    pair, kind = take_pair(row, problems), row.cells.get("kind", "").strip()
    if kind not in KINDS:
        problems.add(row.line, f"a kind {' or '.join(KINDS)}", repr(row.cells.get("kind", "")))
    grade, explanation = read_grade(row, problems), row.cells.get("explanation", "")
    fault = find_fault(explanation, empty=_choose_empty_fault(kind))
    if fault is not None:
        problems.add(row.line, f"an explanation of {fault.expected}", fault.found)
    if pair is None or grade is None or problems.noted > noted:
        return None
    return CheckLine(row.line, *pair, kind, grade, explanation.strip())


def _choose_empty_fault(kind: str) -> TextFault | None:
    """Return the fault of an empty explanation; None unless the check is a training pair, which needs one."""
    return UNEXPLAINED if kind == "training" else None


@dataclass(frozen=True, slots=True)
class CheckTries:
    """An annotator's first and latest answer on a check, each a grade or None (cannot be rated)."""

    query_id: str
    doc_id: str
    right: int
    first: int | None
    latest: int | None


def score_training(tries: Sequence[CheckTries], total: int, required: float) -> TrainingResult | None:
    """Score the training of `total` training pairs, or return None if `total` is 0."""
    if not total:
        return None
    done = len(tries)
    first, latest = (
        sum(check.first == check.right for check in tries),
        sum(check.latest == check.right for check in tries),
    )
    passed = done == total and latest >= required * total - 1e-9
    shares = (first / done, latest / done) if done else (None, None)
    return TrainingResult(done, total, shares[0], shares[1], required, passed)


def score_gold(tries: Sequence[CheckTries]) -> GoldResult:
    """Measure how close the answers on gold pairs are to the right grades."""
    if not tries:
        return GoldResult(0, None, None, why=say("no gold pair has been judged"))
    graded = [check.latest - check.right for check in tries if check.latest is not None]
    misses = tuple(
        GoldMiss(check.query_id, check.doc_id, check.right, check.latest)
        for check in tries
        if check.latest != check.right
    )
    exact = 1 - len(misses) / len(tries)
    if not graded:
        why = say("no gold pair has a grade yet")
        return GoldResult(len(tries), exact, None, misses, why)
    return GoldResult(len(tries), exact, sum(graded) / len(graded), misses)


def score_repeats(answers: Sequence[tuple[int | None, int | None]]) -> RepeatConsistency:
    """Measure self-consistency from (first answer, answer on the repeat), each a grade or None."""
    if not answers:
        return RepeatConsistency(0, None, None, say("no pair has been judged a second time"))
    equal = sum(first == again for first, again in answers) / len(answers)
    graded = [abs(first - again) for first, again in answers if first is not None and again is not None]
    if not graded:
        why = say("no pair has a grade from both times")
        return RepeatConsistency(len(answers), equal, None, why)
    return RepeatConsistency(len(answers), equal, sum(graded) / len(graded))


AS_CANDIDATES = ("unanimous", "adjudicated")
QUERIES_SAMPLED = 60


def set_check(
    database: Database,
    actor: Actor,
    dataset: str,
    pair: str,
    *,
    kind: str,
    grade: int,
    explanation: str,
    now: datetime,
) -> CheckChanges:
    """Make one pair (by its key) a training or gold pair with its right grade, or change it.

    A training pair needs an explanation: it is shown after the answer.
    """
    check = PairCheck(kind, check_grade(grade), check_explanation(kind, explanation))
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        pair_pk = _find_pair(session, dataset_pk, pair)
        return _write(session, dataset_pk, actor, {pair_pk: check}, now=now)


def import_checks(
    database: Database,
    actor: Actor,
    dataset: str,
    data: bytes,
    path: str,
    *,
    now: datetime,
    dry_run: bool = False,
) -> CheckChanges:
    """Make pairs checks from a CSV file: every line, or none.

    Raises BadInput that names every bad line. `dry_run`: change nothing.
    """
    problems = Problems(path)
    lines = read_check_lines(data, path, problems)
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        pairs = find_by_names(session, dataset_pk, [(line.query_id, line.doc_id) for line in lines])
        for line in lines:
            if (line.query_id, line.doc_id) not in pairs:
                problems.add(line.line, "a pair of the pool", f"{line.query_id} {line.doc_id}")
        problems.raise_if_any()
        checks = {
            pairs[line.query_id, line.doc_id]: PairCheck(line.kind, line.grade, line.explanation)
            for line in lines
        }
        return _write(session, dataset_pk, actor, checks, now=now, dry_run=dry_run)


def hand_out_check(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Hand a check to a simulated annotator of the demo, who answers in the order of a file."""
    with open_dataset(database, actor, dataset, "annotator", writing=True) as (session, row, _):
        request = make_open_pairs_request(row, require_person(actor), now)
        pair_pk = _find_pair(session, request.dataset_pk, pair)
        if list_checks_of(session, [pair_pk]) and session.get_one(PersonRow, actor.person_id).simulated:
            take_leases(session, request, held=[pair_pk], chosen=(), until=now + request.lease, wait=True)


def remove_check(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Make a check an ordinary pair again, except for people who answered it or set its grade.

    Raises NotFound if the pair is not a check.
    """
    with database.write() as session:
        dataset_pk = _lock_for_lead(session, actor, dataset)
        pair_pk = _find_pair(session, dataset_pk, pair)
        if not list_checks_of(session, [pair_pk]):
            raise NotFound(say("This pair is not marked."))
        delete_checks(session, dataset_pk, [pair_pk], now=now)
        note_act(
            session, AuditAction.checks_changed, actor, at=now, dataset=dataset_pk, details={"removed": 1}
        )


def list_checks(database: Database, actor: Actor, dataset: str, *, now: datetime) -> list[CheckPair]:
    """Return the checks: training first, in the order of queries and doc_id. For leads.

    The lead now knows the right grades: these pairs no longer check the lead, who cannot judge them later.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        answered: dict[int, set[int]] = {}
        for answer in list_check_answers(session, dataset_pk):
            answered.setdefault(answer.pair_pk, set()).add(answer.annotator_pk)
        statement = (
            select(CheckRow, PairRow, QueryRow, DocumentRow, col(PersonRow.username))
            .join(PairRow, col(PairRow.pk) == col(CheckRow.pair_pk))
            .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
            .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
            .outerjoin(PersonRow, col(PersonRow.pk) == col(CheckRow.marked_by_pk))
            .where(col(PairRow.dataset_pk) + 0 == dataset_pk, col(PairRow.retired_at).is_(None))
        )
        rows = sorted(
            session.execute(statement),
            key=lambda row: (row[0].kind != "training", row[2].position, row[3].doc_id),
        )
        marked = [
            CheckPair(
                pair.key,
                query.query_id,
                query.text,
                document.doc_id,
                document.title,
                check.kind,
                check.grade,
                check.explanation,
                username,
                check.marked_at,
                len(answered.get(check.pair_pk, ())),
            )
            for check, pair, query, document, username in rows
        ]
    note_seen(database, {key_of(row[1].pk) for row in rows}, actor.person_id, now=now)
    return marked


def find_candidates(
    database: Database, actor: Actor, dataset: str, *, words: str = "", limit: int = 50, now: datetime
) -> list[CheckCandidate]:
    """Return pairs that could become checks. For leads.

    Without words: a sample, seeded by the dataset, of pairs that several people judged alike or a lead
    decided. With words: pairs in any state with these words in the query or document. The sample excludes
    pairs that the lead may still judge; a search hides their state. The lead no longer judges the other
    pairs.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        words = words.strip()
        search_hits = search_pairs(session, dataset_pk, words, limit=limit) if words else None
        pks = _sample(session, dataset_pk) if search_hits is None else search_hits
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        hidden = list_to_judge(session, actor.person_id, pks)
        chosen = [
            states[pk]
            for pk in pks
            if words or (pk not in hidden and states[pk].settlement.status in AS_CANDIDATES)
        ][:limit]
        checks = list_checks_of(session, [state.pair_pk for state in chosen])
        titles = _list_titles(session, [state.document_pk for state in chosen])
        texts = _list_texts(session, [state.query_pk for state in chosen])
        candidates = [
            CheckCandidate(
                state.key,
                state.query_id,
                texts[state.query_pk],
                state.doc_id,
                titles[state.document_pk],
                *(_describe_state(state) if state.pair_pk not in hidden else ("", None, 0)),
                checks[state.pair_pk].kind if state.pair_pk in checks else None,
                state.pair_pk in hidden,
            )
            for state in chosen
        ]
    shown = {state.pair_pk for state in chosen if state.settlement.status != "unjudged"} - hidden
    note_seen(database, shown, actor.person_id, now=now)
    return candidates


def _describe_state(state: PairState) -> tuple[str, int | None, int]:
    return state.settlement.status, state.settlement.grade, len(state.grades) + state.unrateable


def compute_results(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> list[AnnotatorResult]:
    """Return the results of each annotator's checks, by username. For leads.

    The lead can then no longer judge the gold pairs that are named.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        results = list(list_results(session, dataset_pk).values())
        gold = {answer.pair_pk for answer in list_check_answers(session, dataset_pk) if answer.kind == "gold"}
    note_seen(database, gold, actor.person_id, now=now)
    return results


def list_results(
    session: Session, dataset_pk: int, without: Collection[int] = ()
) -> dict[int, AnnotatorResult]:
    """Return the results of `compute_results` by person_pk, within an open transaction.

    The caller has checked the role. `without`: pairs (pair_pk) whose answers do not count.
    """
    row = session.get_one(DatasetRow, dataset_pk)
    marked = count_checks_by_kind(session, dataset_pk)
    answers = list_check_answers(session, dataset_pk)
    tries = _gather([answer for answer in answers if answer.pair_pk not in without])
    repeats = list_repeat_answers(session, dataset_pk)
    members = session.scalars(
        select(col(MembershipRow.person_pk)).where(
            col(MembershipRow.role) == "annotator", col(MembershipRow.dataset_pk) == dataset_pk
        )
    )
    results_by_person = {}
    for person in list_checked_people(session, {*members, *repeats, *(pk for pk, _kind in tries)}):
        pk = key_of(person.pk)
        results_by_person[pk] = AnnotatorResult(
            person.username,
            person.name,
            person.simulated,
            score_training(tries.get((pk, "training"), []), marked.get("training", 0), row.training_score),
            score_gold(tries.get((pk, "gold"), [])),
            score_repeats(repeats.get(pk, [])),
        )
    return results_by_person


def show_own_checks(database: Database, actor: Actor, dataset: str, *, now: datetime) -> OwnChecks:
    """Return the actor's own training result and self-consistency. Reveals no gold pairs or repeats."""
    with open_dataset(database, actor, dataset, "annotator") as (session, row, dataset_pk):
        person = require_person(actor)
        marked = count_checks_by_kind(session, dataset_pk)
        tries = _gather(list_check_answers(session, dataset_pk, person)).get((person, "training"), [])
        repeats = list_repeat_answers(session, dataset_pk, person).get(person, [])
        return OwnChecks(
            find_training(session, make_open_pairs_request(row, person, now), row),
            score_training(tries, marked.get("training", 0), row.training_score) if tries else None,
            score_repeats(repeats),
        )


def _write(
    session: Session,
    dataset_pk: int,
    actor: Actor,
    checks: Mapping[int, PairCheck],
    *,
    now: datetime,
    dry_run: bool = False,
) -> CheckChanges:
    """Store the checks, unless `dry_run`. The lead no longer judges the pairs that are checks already."""
    before = list_checks_of(session, checks)
    if actor.person_id is not None:
        add_seen(session, before, actor.person_id, now=now)
    new = {pk: check for pk, check in checks.items() if before.get(pk) != check}
    added = sum(pk not in before for pk in new)
    if not dry_run:
        store_checks(session, dataset_pk, new, person_pk=actor.person_id, now=now)
    if new and not dry_run:
        details = {"added": added, "changed": len(new) - added}
        note_act(session, AuditAction.checks_changed, actor, at=now, dataset=dataset_pk, details=details)
    return CheckChanges(added, len(new) - added, len(checks) - len(new), dry_run)


def _gather(answers: Sequence[CheckAnswer]) -> dict[tuple[int, str], list[CheckTries]]:
    """Return the first and the latest answer on each check, by (annotator_pk, kind)."""
    tries: dict[tuple[int, str], dict[int, CheckTries]] = {}
    for answer in answers:
        pairs = tries.setdefault((answer.annotator_pk, answer.kind), {})
        first = pairs[answer.pair_pk].first if answer.pair_pk in pairs else answer.given
        pairs[answer.pair_pk] = CheckTries(answer.query_id, answer.doc_id, answer.right, first, answer.given)
    return {who_and_kind: [pairs[pk] for pk in sorted(pairs)] for who_and_kind, pairs in tries.items()}


def _sample(session: Session, dataset_pk: int) -> list[int]:
    queries = list_query_pks(session, dataset_pk)
    seed = session.get_one(DatasetRow, dataset_pk).check_seed
    queries.sort(key=lambda pk: draw_number(seed, "", "candidates", str(pk)))
    some = queries[:QUERIES_SAMPLED]
    return list_judged_pairs(session, some, judged=2)


def _list_titles(session: Session, pks: Sequence[int]) -> dict[int, str]:
    statement = select(col(DocumentRow.pk), col(DocumentRow.title)).where(col(DocumentRow.pk).in_(pks))
    return {key_of(pk): title for pk, title in session.execute(statement)}


def _list_texts(session: Session, pks: Sequence[int]) -> dict[int, str]:
    statement = select(col(QueryRow.pk), col(QueryRow.text)).where(col(QueryRow.pk).in_(pks))
    return {key_of(pk): text for pk, text in session.execute(statement)}


def _find_pair(session: Session, dataset_pk: int, pair: str) -> int:
    pair_pk = find_pair_pk(session, dataset_pk, pair)
    if pair_pk is None or session.get_one(PairRow, pair_pk).retired_at is not None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return pair_pk


def _lock_for_lead(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(enter_dataset(session, actor, dataset, "lead").pk)
    lock_dataset(session, dataset_pk)
    return dataset_pk
