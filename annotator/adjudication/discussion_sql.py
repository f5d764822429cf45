"""Read and write discussions of pairs, and find the queries on which an annotator still has work.

A discussion begins when a lead asks for it (a row) or, without a row, when grades differ by the dataset's
`discuss_from`, as long as the pair waits for a lead. Others' turns are shown only to annotators who have taken their
own. Refuses nothing.

Open work decides whether others' judgments may be shown, for whole queries, since one document hints at the others. It
is all that an annotator holds or may still get (also when others' leases run out), put off, must redo or answer again,
or checks for quality control.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_answers
from annotator.adjudication.records import (
    DiscussionJudgment,
    DiscussionTurn,
    IndependentJudgment,
    OwnDiscussion,
    PairDiscussion,
    State,
    Wait,
    compute_case_version,
)
from annotator.domain.clock import CLOCK_SLACK
from annotator.domain.settling import LASTING
from annotator.domain.shuffling import give_letters
from annotator.storage.adjudication_tables import DiscussionRow, DiscussionTurnRow, DisputeRow
from annotator.storage.disagreements import list_disputes
from annotator.storage.disclosures import has_seen
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import MAY_COME, OpenPairsRequest, find_eligibility, make_worklist
from annotator.storage.outdated import STILL_THEIRS
from annotator.storage.quality_pairs import CAN_JUDGE
from annotator.storage.sql import PreparedSql, execute_sql, prepare_sql, read_time
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)

CHUNK = 500
_JUDGED = prepare_sql("""
SELECT count(*) FROM (SELECT 1 FROM current_judgment
WHERE dataset_pk = :dataset_pk AND annotator_pk = :annotator_pk LIMIT :most) x""")
_BUSY = f"""
SELECT p.query_pk FROM pair p LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk IN :chosen AND {MAY_COME}
UNION SELECT p.query_pk FROM lease h CROSS JOIN pair p
WHERE h.annotator_pk = :annotator_pk AND h.expires_at > :now AND h.expires_at <= :latest AND p.pk = h.pair_pk AND p.query_pk IN :chosen
  AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
    OR NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk))
  AND NOT EXISTS (SELECT 1 FROM current_judgment c
    WHERE c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later')
  AND NOT EXISTS (SELECT 1 FROM check_pair k CROSS JOIN judgment j WHERE k.pair_pk = p.pk AND j.pair_pk = p.pk
    AND j.annotator_pk = :annotator_pk AND j.purpose = k.kind AND j.outcome <> 'later')
UNION SELECT p.query_pk FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk IN :chosen AND EXISTS (SELECT 1 FROM current_judgment o
    WHERE o.dataset_pk = :dataset_pk AND o.annotator_pk = :annotator_pk AND o.stale > 0) AND {STILL_THEIRS}
UNION SELECT p.query_pk FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND p.pk = x.pair_pk
  AND p.query_pk IN :chosen AND x.outcome IS NULL
  AND w.round = (SELECT max(l.round) FROM quality_draw l WHERE l.dataset_pk = :dataset_pk) AND {CAN_JUDGE}
UNION SELECT p.query_pk FROM repeated_pair r CROSS JOIN pair p
WHERE r.annotator_pk = :annotator_pk AND r.answered_at IS NULL AND r.handed_at > :handed_since AND r.handed_at <= :handed_until
  AND p.pk = r.pair_pk AND p.query_pk IN :chosen AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)"""


def list_busy_queries(
    session: Session, worklist: OpenPairsRequest, dataset: DatasetRow, query_pks: Collection[int]
) -> set[int]:
    """Those of the queries (query_pk) of which the annotator still has something to answer."""
    found: set[int] = set()
    if not query_pks:
        return found
    session.flush()
    eligibility = find_eligibility(session, key_of(dataset.pk), worklist.annotator_pk)
    statement = eligibility.prepare(_BUSY, query="p.query_pk")
    since = worklist.now - timedelta(minutes=dataset.lease_minutes)
    values = {
        **worklist.values,
        **eligibility.values,
        "handed_since": since,
        "handed_until": worklist.now + CLOCK_SLACK,
    }
    ordered = sorted(set(query_pks))
    for start in range(0, len(ordered), CHUNK):
        chosen = ordered[start : start + CHUNK]
        found.update(execute_sql(session, statement, {**values, "chosen": chosen}).scalars())
    return found


def count_judged(session: Session, worklist: OpenPairsRequest, *, most: int) -> int:
    """Of how many pairs there is an answer of the annotator, at most so many."""
    return int(execute_sql(session, _JUDGED, {**worklist.values, "most": most}).scalar_one())


FEW = 5_000
"""Whoever judged no more pairs than this has each looked up; otherwise the disputes are gone through until enough are found."""
_SAID = """EXISTS (SELECT 1 FROM discussion_turn t
    WHERE t.pair_pk = c.pair_pk AND t.annotator_pk = :annotator_pk)"""
_MINE = """
SELECT s.pair_pk, s.query_pk{columns} FROM {source}
WHERE s.dataset_pk = :dataset_pk AND s.open = true AND c.pair_pk = s.pair_pk AND c.annotator_pk = :annotator_pk
  AND c.dataset_pk = :dataset_pk AND c.outcome <> 'later' AND c.purpose = 'independent' AND {asked}"""
_BY_ROW = (
    "discussion n CROSS JOIN dispute s CROSS JOIN current_judgment c",
    "n.pair_pk = s.pair_pk AND n.closed_at IS NULL",
)
_APART = f"""s.distance >= :distance AND (s.waiting & {int(LASTING)}) <> 0
  AND NOT EXISTS (SELECT 1 FROM discussion n WHERE n.pair_pk = c.pair_pk)"""
_BY_DISPUTE = ("dispute s CROSS JOIN current_judgment c", _APART)
_BY_JUDGMENT = ("current_judgment c CROSS JOIN dispute s", _APART)


def _write(parts: Sequence[tuple[str, str]], *, waiting: bool) -> PreparedSql:
    """`waiting`: any of those in which the annotator has not spoken, without their age."""
    written = []
    for source, asked in parts:
        since = "n.asked_at" if asked is not _APART else "s.since"
        columns = "" if waiting else f", {since}, {_SAID}"
        said = f" AND NOT {_SAID}" if waiting else ""
        written.append(_MINE.format(columns=columns, source=source, asked=asked + said))
    return prepare_sql(
        " UNION ALL ".join(written) + ("" if waiting else " ORDER BY 4, 3, 1") + " LIMIT :most"
    )


_WAYS: Mapping[bool | None, list[tuple[str, str]]] = {
    None: [_BY_ROW],
    False: [_BY_ROW, _BY_DISPUTE],
    True: [_BY_ROW, _BY_JUDGMENT],
}
"""By whether the annotator has judged few pairs; None: nothing is asked by itself."""
_OWN = {few: _write(parts, waiting=False) for few, parts in _WAYS.items()}
_WAITING = {few: _write(parts, waiting=True) for few, parts in _WAYS.items()}


@dataclass(frozen=True, slots=True)
class PairAnnotator:
    """Somebody who judged a pair; `able`: can be asked (a person, not disabled, with a role)."""

    person_pk: int
    username: str
    able: bool


def list_own(session: Session, worklist: OpenPairsRequest, dataset: DatasetRow, *, most: int) -> list[Any]:
    """The discussions that wait for a lead's decision and whose pair the annotator judged: rows (pair_pk, query_pk,
    asked_at), first those in which they have not spoken, the oldest first. One read where nothing is asked by itself."""
    rows = _run(session, _OWN, worklist, dataset, most)
    return [(pair_pk, query_pk, read_time(asked_at)) for pair_pk, query_pk, asked_at, _said in rows]


def list_waiting(
    session: Session, worklist: OpenPairsRequest, dataset: DatasetRow, *, most: int
) -> list[int]:
    """Some of them (pair_pk) in which the annotator may speak and has not."""
    left = dict(_run(session, _WAITING, worklist, dataset, most).all())
    busy = list_busy_queries(session, worklist, dataset, left.values())
    return [pair_pk for pair_pk, query_pk in left.items() if query_pk not in busy]


def read_discussions(
    session: Session, dataset: DatasetRow, pair_pks: Collection[int], *, now: datetime
) -> dict[int, PairDiscussion]:
    """The discussions of these pairs, by pair_pk, with who is still waited for and why."""
    rows = _list_rows(session, pair_pks)
    asked_for = pair_pks if dataset.discuss_from is not None else rows
    disputes = list_disputes(session, asked_for) if asked_for else {}
    asked = {pk: _find_asked(dataset, rows.get(pk), disputes.get(pk)) for pk in asked_for}
    there = {pk: one for pk, one in asked.items() if one is not None}
    if not there:
        return {}
    turns, judges = list_turns(session, list(there)), list_judges(session, key_of(dataset.pk), list(there))
    lacking = {
        pk: [one for one in judges.get(pk, ()) if one.username not in turns.get(pk, {})] for pk in there
    }
    waited = {pk: lacking[pk] if is_open else [] for pk, (_at, is_open) in there.items()}
    busy = _list_busy(session, dataset, waited, disputes, now)
    found: dict[int, PairDiscussion] = {}
    for pk, (asked_at, is_open) in there.items():
        waits = {one.username: _find_wait(one, busy, disputes.get(pk)) for one in waited[pk]}
        left = any(wait != "gone" for wait in waits.values())
        state: State = "closed" if not is_open else "asked" if left else "answered"
        found[pk] = PairDiscussion(state, asked_at, pk not in rows, turns.get(pk, {}), waits)
    return found


def list_judges(
    session: Session, dataset_pk: int, pair_pks: Collection[int]
) -> dict[int, list[PairAnnotator]]:
    """By pair_pk those whose independent judgments hold, by username."""
    role = (
        select(col(MembershipRow.pk))
        .where(
            col(MembershipRow.person_pk) == col(PersonRow.pk),
            or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None)),
        )
        .exists()
    )
    able = col(PersonRow.disabled_at).is_(None) & ~col(PersonRow.simulated) & role
    statement = (
        select(col(CurrentJudgmentRow.pair_pk), col(PersonRow.pk), col(PersonRow.username), able)
        .join(PersonRow, col(PersonRow.pk) == col(CurrentJudgmentRow.annotator_pk))
        .where(
            col(CurrentJudgmentRow.pair_pk).in_(pair_pks),
            col(CurrentJudgmentRow.purpose) == "independent",
            col(CurrentJudgmentRow.outcome) != "later",
        )
        .order_by(col(PersonRow.username))
    )
    found: dict[int, list[PairAnnotator]] = {}
    for pair_pk, person_pk, username, is_able in session.execute(statement):
        found.setdefault(pair_pk, []).append(PairAnnotator(key_of(person_pk), username, bool(is_able)))
    return found


def list_turns(session: Session, pair_pks: Collection[int]) -> dict[int, dict[str, DiscussionTurn]]:
    """By pair_pk and username what was said."""
    statement = (
        select(DiscussionTurnRow, col(PersonRow.username))
        .join(PersonRow, col(PersonRow.pk) == col(DiscussionTurnRow.annotator_pk))
        .where(col(DiscussionTurnRow.pair_pk).in_(pair_pks))
    )
    found: dict[int, dict[str, DiscussionTurn]] = {}
    for row, username in session.execute(statement):
        turn = DiscussionTurn(row.outcome, row.grade, row.note, row.revised, row.said_at)
        found.setdefault(row.pair_pk, {})[username] = turn
    return found


def is_discussed(session: Session, dataset: DatasetRow, pair_pk: int) -> bool:
    """Whether the pair's discussion goes on: asked for, not closed, and not decided yet."""
    asked = _find_asked(
        dataset, session.get(DiscussionRow, pair_pk), list_disputes(session, [pair_pk]).get(pair_pk)
    )
    return asked is not None and asked[1]


def _run(
    session: Session,
    statements: Mapping[bool | None, PreparedSql],
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    most: int,
) -> Any:
    apart = dataset.discuss_from
    few = None if apart is None else count_judged(session, worklist, most=FEW + 1) <= FEW
    return execute_sql(session, statements[few], {**worklist.values, "distance": apart, "most": most})


def _list_rows(session: Session, pair_pks: Collection[int]) -> dict[int, DiscussionRow]:
    statement = select(DiscussionRow).where(col(DiscussionRow.pair_pk).in_(pair_pks))
    return {row.pair_pk: row for row in session.scalars(statement)}


def _find_asked(
    dataset: DatasetRow, row: DiscussionRow | None, dispute: DisputeRow | None
) -> tuple[datetime, bool] | None:
    """When it was asked for, and whether it goes on; None where there is none."""
    waits = dispute is not None and dispute.open
    if row is not None:
        return row.asked_at, waits and row.closed_at is None
    apart = dataset.discuss_from
    if dispute is None or apart is None or not waits:
        return None
    by_itself = dispute.distance >= apart and dispute.waiting & LASTING
    return (dispute.since, True) if by_itself else None


def _list_busy(
    session: Session,
    dataset: DatasetRow,
    waited: Mapping[int, Sequence[PairAnnotator]],
    disputes: Mapping[int, DisputeRow],
    now: datetime,
) -> set[tuple[int, int]]:
    """(person_pk, query_pk) of those who still have something to answer of the query."""
    queries: dict[int, set[int]] = {}
    for pair_pk, judges in waited.items():
        for one in judges:
            if one.able:
                queries.setdefault(one.person_pk, set()).add(disputes[pair_pk].query_pk)
    found: set[tuple[int, int]] = set()
    for person_pk, query_pks in queries.items():
        worklist = make_worklist(dataset, person_pk, now)
        busy = list_busy_queries(session, worklist, dataset, query_pks)
        found.update((person_pk, query_pk) for query_pk in busy)
    return found


def _find_wait(one: PairAnnotator, busy: Collection[tuple[int, int]], dispute: DisputeRow | None) -> Wait:
    if not one.able:
        return "gone"
    if dispute is not None and (one.person_pk, dispute.query_pk) in busy:
        return "own_work"
    return "answer"


def show_discussion(
    session: Session, dataset: DatasetRow, person: tuple[int, str], pair_pk: int, *, busy: bool
) -> OwnDiscussion:
    """For the person (person_pk, username), who judged the pair. `busy`: something of its query is theirs to answer."""
    pair, query, document, length = _read_pair(session, pair_pk)
    answers = list_answers(session, [pair_pk]).get(pair_pk, [])
    letters = give_letters([_name(one) for one in answers], seed=dataset.seed, pair=pair.key)
    turns = list_turns(session, [pair_pk]).get(pair_pk, {})
    person_pk, username = person
    mine = turns.get(username)
    looked = not busy and has_seen(session, pair_pk, person_pk)

    def show(one: IndependentJudgment, *, with_turn: bool) -> DiscussionJudgment:
        turn = turns.get(one.annotator) if with_turn else None
        return DiscussionJudgment(letters[_name(one)], one.outcome, one.grade, one.note, turn)

    judged = [one for one in answers if not one.quality]
    own = next(one for one in judged if one.annotator == username)
    others = [show(one, with_turn=mine is not None) for one in judged if one is not own] if looked else []
    return OwnDiscussion(
        pair=pair.key,
        query_id=query.query_id,
        query=query.text,
        narrative=query.narrative,
        doc_id=document.doc_id,
        title=document.title,
        text_length=length,
        stage="own_work" if busy else "waiting" if not looked else "open" if mine is None else "said",
        own=show(own, with_turn=True),
        others=tuple(sorted(others, key=lambda said: (len(said.letter), said.letter))),
        seen=digest_answers(answers) if looked else "",
    )


def digest_answers(answers: Sequence[IndependentJudgment]) -> str:
    """What the annotators of a pair have judged, as a short text."""
    return compute_case_version([one.event_id for one in answers if not one.quality], 0)


def _name(one: IndependentJudgment) -> str:
    return f"quality {one.annotator}" if one.quality else one.annotator


def _read_pair(session: Session, pair_pk: int) -> tuple[PairRow, QueryRow, DocumentRow, int]:
    present = (col(DocumentTextRow.document_pk) == col(DocumentRow.pk)) & (
        col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)
    )
    statement = (
        select(PairRow, QueryRow, DocumentRow, func.length(col(DocumentTextRow.text)))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(DocumentTextRow, present)
        .where(col(PairRow.pk) == pair_pk)
    )
    pair, query, document, length = session.execute(statement).one()
    return pair, query, document, length or 0
