"""Read and write discussions of pairs, and find the queries on which an annotator still has work.

A discussion begins when a lead asks for it (then it has a row), or, without a row, when the grades of an open
disagreement differ by at least the dataset's `discuss_from`. Annotators see others' turns only after their
own.

Others' judgments are shown only if the annotator has no open work on the whole query, because one document
hints at the others. Open work is everything that an annotator holds, may still get (also when others' leases
end), put off, must judge again, or checks for quality control.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_judgments
from annotator.adjudication.disagreement_records import (
    DiscussionState,
    DiscussionTurn,
    OwnDiscussion,
    PairDiscussion,
    WaitReason,
)
from annotator.adjudication.disagreement_view import assign_letters, hide_names
from annotator.adjudication.records import IndependentJudgment, digest_seen_state
from annotator.domain.excerpts import EXCERPT_OF, cut_excerpt
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import LASTING
from annotator.domain.shuffling import Seed
from annotator.labeling.open_pairs_sql import MAY_COME, find_eligibility
from annotator.storage.judgments.outdated import OUTDATED_CHECKS, STILL_THEIRS
from annotator.storage.judgments.quality_pairs import CAN_JUDGE, WAITING_CHECKS
from annotator.storage.lookup import CLOCK_SLACK, OpenPairsRequest, key_of, make_open_pairs_request
from annotator.storage.pairs.disagreements import list_disagreements
from annotator.storage.sql import PreparedSql, fetch, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.adjudication import DisagreementRow, DiscussionRow, DiscussionTurnRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    MembershipRow,
    PersonRow,
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
UNION SELECT z.query_pk FROM ({OUTDATED_CHECKS}) z WHERE z.query_pk IN :chosen
UNION SELECT p.query_pk FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND p.pk = x.pair_pk
  AND p.query_pk IN :chosen AND x.outcome IS NULL
  AND w.round = (SELECT max(l.round) FROM quality_draw l WHERE l.dataset_pk = :dataset_pk) AND {CAN_JUDGE}
UNION SELECT z.query_pk FROM ({WAITING_CHECKS}) z WHERE z.query_pk IN :chosen AND NOT z.is_repeat
UNION SELECT p.query_pk FROM repeated_pair r CROSS JOIN pair p
WHERE r.annotator_pk = :annotator_pk AND r.answered_at IS NULL AND r.handed_at > :handed_since AND r.handed_at <= :handed_until
  AND p.pk = r.pair_pk AND p.query_pk IN :chosen AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)"""


def list_busy_queries(
    session: Session, request: OpenPairsRequest, dataset: DatasetRow, query_pks: Collection[int]
) -> set[int]:
    """Return the queries (query_pk) among these on which the annotator still has open work."""
    busy: set[int] = set()
    if not query_pks:
        return busy
    session.flush()
    eligibility = find_eligibility(session, key_of(dataset.pk), request.annotator_pk)
    statement = eligibility.prepare(_BUSY, query="p.query_pk")
    values = {
        **request.values,
        **eligibility.values,
        "handed_since": request.now - timedelta(minutes=dataset.lease_minutes),
        "handed_until": request.now + CLOCK_SLACK,
    }
    for chunk in split_into_chunks(sorted(set(query_pks)), CHUNK):
        rows = fetch_tuples(session, statement, {**values, "chosen": chunk})
        busy.update(query_pk for (query_pk,) in rows)
    return busy


def leave_out_busy(
    session: Session, request: OpenPairsRequest, dataset: DatasetRow, query_pks: Mapping[int, int]
) -> list[int]:
    """Return the pairs of queries on which the annotator has no open work. `query_pks`: by pair_pk."""
    busy = list_busy_queries(session, request, dataset, query_pks.values())
    return [pair_pk for pair_pk, query_pk in query_pks.items() if query_pk not in busy]


def count_judged(session: Session, request: OpenPairsRequest, *, most: int) -> int:
    """Return the number of pairs that the annotator judged, up to `most`."""
    ((judged,),) = fetch_tuples(session, _JUDGED, {**request.values, "most": most})
    return int(judged)


FEW = 5_000
"""Up to so many judged pairs, each is looked up; with more, the disagreements are read until enough are found."""
_HAS_SPOKEN = """EXISTS (SELECT 1 FROM discussion_turn t
    WHERE t.pair_pk = c.pair_pk AND t.annotator_pk = :annotator_pk)"""
_MINE = f"""
SELECT s.pair_pk, s.query_pk{{columns}} FROM {{source}}
WHERE s.dataset_pk = :dataset_pk AND s.open = true AND c.pair_pk = s.pair_pk AND c.annotator_pk = :annotator_pk
  AND c.dataset_pk = :dataset_pk AND c.outcome <> 'later' AND c.purpose = '{COUNTED_PURPOSE}' AND {{asked}}"""
_BY_ROW = (
    "discussion n CROSS JOIN dispute s CROSS JOIN current_judgment c",
    "n.pair_pk = s.pair_pk AND n.closed_at IS NULL",
)
_FAR_APART = f"""s.distance >= :distance AND (s.waiting & {int(LASTING)}) <> 0
  AND NOT EXISTS (SELECT 1 FROM discussion n WHERE n.pair_pk = c.pair_pk)"""
_BY_DISAGREEMENT = ("dispute s CROSS JOIN current_judgment c", _FAR_APART)
_BY_JUDGMENT = ("current_judgment c CROSS JOIN dispute s", _FAR_APART)


_PAGE = "SELECT x.pair_pk, x.query_pk FROM ({own}) x ORDER BY x.spoken, x.asked_at, x.pair_pk"


def _join_parts(parts: Sequence[tuple[str, str]], *, condition: str = "", details: bool = False) -> str:
    """Return the SQL of the annotator's open discussions. `details`: with the columns for sorting."""
    selects = []
    for source, clause in parts:
        asked_at = "n.asked_at" if clause is not _FAR_APART else "s.since"
        columns = f", {asked_at} AS asked_at, {_HAS_SPOKEN} AS spoken"
        selects.append(
            _MINE.format(columns=columns if details else "", source=source, asked=clause + condition)
        )
    return " UNION ALL ".join(selects)


_PARTS: Mapping[bool | None, list[tuple[str, str]]] = {
    None: [_BY_ROW],
    False: [_BY_ROW, _BY_DISAGREEMENT],
    True: [_BY_ROW, _BY_JUDGMENT],
}
"""By whether the annotator has judged few pairs; None: the dataset's setting asks for no discussion."""
_OWN = {few: prepare_sql(_PAGE.format(own=_join_parts(parts, details=True))) for few, parts in _PARTS.items()}
_UNSPOKEN = {
    few: prepare_sql(_join_parts(parts, condition=f" AND NOT {_HAS_SPOKEN}") + " LIMIT :most")
    for few, parts in _PARTS.items()
}


@dataclass(frozen=True, slots=True)
class PairAnnotator:
    """Somebody who judged a pair. `able`: can be asked (a person, not disabled, with a role)."""

    person_pk: int
    username: str
    able: bool


def list_own_discussed_pairs(session: Session, request: OpenPairsRequest, dataset: DatasetRow) -> list[int]:
    """Return the pair_pks of the annotator's discussions. Skips queries on which the annotator has open work.

    Order: first the discussions without a turn of the annotator, then by age, oldest first. Runs one statement
    if there are no discussions.
    """
    return _list_pairs(session, _OWN, request, dataset)


def list_unspoken(
    session: Session, request: OpenPairsRequest, dataset: DatasetRow, *, most: int
) -> list[int]:
    """Return some pairs (pair_pk) under discussion on which the annotator may speak and has not spoken."""
    return _list_pairs(session, _UNSPOKEN, request, dataset, most=most)


def read_discussions(
    session: Session, dataset: DatasetRow, pair_pks: Collection[int], *, now: datetime
) -> dict[int, PairDiscussion]:
    """Return the discussions of these pairs, by pair_pk, with who has not spoken yet and why."""
    rows = _list_rows(session, pair_pks)
    possible = pair_pks if dataset.discuss_from is not None else rows
    disagreements = list_disagreements(session, possible) if possible else {}
    begun = {
        pair_pk: begin
        for pair_pk in possible
        if (begin := _find_begin(dataset, rows.get(pair_pk), disagreements.get(pair_pk))) is not None
    }
    if not begun:
        return {}
    turns = list_turns(session, list(begun))
    judges = list_judges(session, key_of(dataset.pk), list(begun))
    silent = {
        pair_pk: [
            judge
            for judge in judges.get(pair_pk, ())
            if begin.is_open and judge.username not in turns.get(pair_pk, {})
        ]
        for pair_pk, begin in begun.items()
    }
    busy = _list_busy(session, dataset, silent, disagreements, now)
    discussions: dict[int, PairDiscussion] = {}
    for pair_pk, begin in begun.items():
        waiting = {
            judge.username: _find_wait_reason(judge, busy, disagreements.get(pair_pk))
            for judge in silent[pair_pk]
        }
        discussions[pair_pk] = PairDiscussion(
            state=_find_state(is_open=begin.is_open, waiting=waiting.values()),
            asked_at=begin.asked_at,
            turns=turns.get(pair_pk, {}),
            waiting=waiting,
        )
    return discussions


def _find_state(*, is_open: bool, waiting: Iterable[WaitReason]) -> DiscussionState:
    if not is_open:
        return "closed"
    return "asked" if any(reason != "gone" for reason in waiting) else "answered"


def list_judges(
    session: Session, dataset_pk: int, pair_pks: Collection[int]
) -> dict[int, list[PairAnnotator]]:
    """Return the annotators with a current independent judgment by pair_pk, sorted by username."""
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
            col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
            col(CurrentJudgmentRow.outcome) != "later",
        )
        .order_by(col(PersonRow.username))
    )
    judges: dict[int, list[PairAnnotator]] = {}
    for pair_pk, person_pk, username, is_able in session.execute(statement):
        judges.setdefault(pair_pk, []).append(PairAnnotator(key_of(person_pk), username, bool(is_able)))
    return judges


def list_turns(session: Session, pair_pks: Collection[int]) -> dict[int, dict[str, DiscussionTurn]]:
    """Return what was said in the discussions of these pairs, by pair_pk and username."""
    statement = (
        select(DiscussionTurnRow, col(PersonRow.username))
        .join(PersonRow, col(PersonRow.pk) == col(DiscussionTurnRow.annotator_pk))
        .where(col(DiscussionTurnRow.pair_pk).in_(pair_pks))
    )
    turns: dict[int, dict[str, DiscussionTurn]] = {}
    for row, username in session.execute(statement):
        turn = DiscussionTurn(row.outcome, row.grade, row.note, row.revised, row.said_at)
        turns.setdefault(row.pair_pk, {})[username] = turn
    return turns


def is_discussed(session: Session, dataset: DatasetRow, pair_pk: int) -> bool:
    """Return whether the pair's discussion is open: begun, not closed, and the pair not decided."""
    disagreement = list_disagreements(session, [pair_pk]).get(pair_pk)
    begin = _find_begin(dataset, session.get(DiscussionRow, pair_pk), disagreement)
    return begin is not None and begin.is_open


def _list_pairs(
    session: Session,
    statements: Mapping[bool | None, PreparedSql],
    request: OpenPairsRequest,
    dataset: DatasetRow,
    **given: object,
) -> list[int]:
    distance = dataset.discuss_from
    few = None if distance is None else count_judged(session, request, most=FEW + 1) <= FEW
    values = {**request.values, "distance": distance, **given}
    return leave_out_busy(session, request, dataset, dict(fetch_tuples(session, statements[few], values)))


def _list_rows(session: Session, pair_pks: Collection[int]) -> dict[int, DiscussionRow]:
    statement = select(DiscussionRow).where(col(DiscussionRow.pair_pk).in_(pair_pks))
    return {row.pair_pk: row for row in session.scalars(statement)}


class _DiscussionBegin(NamedTuple):
    """When a discussion was asked for, and whether it goes on."""

    asked_at: datetime
    is_open: bool


def _find_begin(
    dataset: DatasetRow, row: DiscussionRow | None, disagreement: DisagreementRow | None
) -> _DiscussionBegin | None:
    """Return the begin of a discussion, by a lead's row or the dataset's setting; None without one."""
    is_open = disagreement is not None and disagreement.open
    if row is not None:
        return _DiscussionBegin(row.asked_at, is_open and row.closed_at is None)
    if disagreement is None or dataset.discuss_from is None or not is_open:
        return None
    asked_by_setting = disagreement.distance >= dataset.discuss_from and disagreement.waiting & LASTING
    return _DiscussionBegin(disagreement.since, is_open=True) if asked_by_setting else None


def _list_busy(
    session: Session,
    dataset: DatasetRow,
    silent: Mapping[int, Sequence[PairAnnotator]],
    disagreements: Mapping[int, DisagreementRow],
    now: datetime,
) -> set[tuple[int, int]]:
    """Return (person_pk, query_pk) of annotators who have not spoken and still have open work on the query."""
    queries: dict[int, set[int]] = {}
    for pair_pk, judges in silent.items():
        for judge in judges:
            if judge.able:
                queries.setdefault(judge.person_pk, set()).add(disagreements[pair_pk].query_pk)
    busy: set[tuple[int, int]] = set()
    for person_pk, query_pks in queries.items():
        request = make_open_pairs_request(dataset, person_pk, now)
        busy.update(
            (person_pk, query_pk) for query_pk in list_busy_queries(session, request, dataset, query_pks)
        )
    return busy


def _find_wait_reason(
    judge: PairAnnotator, busy: Collection[tuple[int, int]], disagreement: DisagreementRow | None
) -> WaitReason:
    if not judge.able:
        return "gone"
    if disagreement is not None and (judge.person_pk, disagreement.query_pk) in busy:
        return "own_work"
    return "answer"


def read_own_discussions(
    session: Session, dataset: DatasetRow, username: str, pair_pks: Sequence[int]
) -> list[OwnDiscussion]:
    """Return the discussions of these pairs as this annotator, who judged them, sees them.

    The caller records that the annotator has seen others' judgments. Runs five statements for any number of pairs.
    """
    if not pair_pks:
        return []
    pairs = _read_pairs(session, pair_pks)
    judgments, turns = list_judgments(session, pair_pks), list_turns(session, pair_pks)
    return [
        _show_discussion(
            pairs[pair_pk],
            judgments.get(pair_pk, []),
            turns.get(pair_pk, {}),
            username,
            seed=dataset.order_seed,
        )
        for pair_pk in pair_pks
    ]


def _show_discussion(
    pair: "_DiscussedDocument",
    judgments: Sequence[IndependentJudgment],
    turns: Mapping[str, DiscussionTurn],
    username: str,
    *,
    seed: Seed,
) -> OwnDiscussion:
    letters = assign_letters(judgments, seed=seed, pair=pair.key)
    own_turn = turns.get(username)
    judged = [judgment for judgment in judgments if not judgment.quality]
    own = [judgment for judgment in judged if judgment.annotator == username]
    others = [judgment for judgment in judged if judgment.annotator != username]
    (own_judgment,) = hide_names(own, letters, turns)
    visible_turns = turns if own_turn is not None else {}  # only after the annotator's own turn
    shown = hide_names(others, letters, visible_turns)
    return OwnDiscussion(
        pair=pair.key,
        query_id=pair.query_id,
        query=pair.query,
        narrative=pair.narrative,
        doc_id=pair.doc_id,
        title=pair.title,
        excerpt=cut_excerpt(pair.beginning, pair.media_type, title=pair.title),
        text_length=pair.text_length or 0,
        has_spoken=own_turn is not None,
        own=own_judgment,
        others=tuple(sorted(shown, key=lambda judgment: (len(judgment.letter), judgment.letter))),
        seen=digest_judgments(judgments),
    )


def digest_judgments(judgments: Iterable[IndependentJudgment]) -> str:
    """Return the digest of what the annotators of a pair have judged.

    It is sent back with a turn: one that was written about other judgments is refused.
    """
    return digest_seen_state([judgment.event_id for judgment in judgments if not judgment.quality], 0)


class _DiscussedDocument(NamedTuple):
    pair_pk: int
    key: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    media_type: str
    beginning: str | None
    text_length: int | None


_DOCUMENTS = prepare_sql(
    f"""
SELECT p.pk AS pair_pk, p.key, q.query_id, q.text AS query, q.narrative, d.doc_id, d.title, d.media_type,
  substr(t.text, 1, {EXCERPT_OF}) AS beginning, length(t.text) AS text_length
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256 WHERE p.pk IN :pairs""",
    lists=["pairs"],
)


def _read_pairs(session: Session, pair_pks: Collection[int]) -> dict[int, _DiscussedDocument]:
    rows = fetch(session, _DOCUMENTS, _DiscussedDocument, {"pairs": list(pair_pks)})
    return {row.pair_pk: row for row in rows}
