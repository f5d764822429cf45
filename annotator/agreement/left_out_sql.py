"""Count and list the judgments that do not count for agreement, each under exactly one reason.

A judgment counts if it is current and independent, has a grade, and somebody else judged the same pair of the
pool so (`docs/statistics.md`). One made under an older guideline or text counts until its annotator confirms
or changes it. The judgments that count and those left out are together all that are stored. The counts come
from indexes and `pair.judged` and take a fraction of a second for a million judgments.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select, text
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.agreement.records import ExcludedJudgment, ExclusionCount
from annotator.domain.errors import ValidationError
from annotator.domain.judgments import CHECK_PURPOSES, COUNTED_PURPOSE, CURRENT_PURPOSES, FURTHER_PURPOSE
from annotator.domain.messages import Message, say
from annotator.storage.judgments.outdated import write_stale
from annotator.storage.logs.disclosures import is_listed
from annotator.storage.sql import fetch_tuples, prepare_sql, quote_texts
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    QueryRow,
)

Columns = TypeVarTuple("Columns")
WHY: Mapping[str, Message] = {
    "unrateable": say("“cannot rate”, so there is no grade"),
    "later": say("set to later and not judged yet"),
    "single": say("only graded judgment of its pair"),
    "conditional": say(
        "beyond the judgments that the pair needed: requested because two annotators differed, or too late"
    ),
    "training": say("training"),
    "gold": say("gold pair, to check the annotator"),
    "repeat": say("repeat, to check the annotator"),
    "quality": say("quality control of a settled pair"),
    "revised": say("replaced by a later judgment of the same annotator"),
    "left_pool": say("pair no longer in the pool"),
    "other": say("other purpose"),
}
"""Why a judgment is left out, by kind, in the order of reports."""


_CHECKS = prepare_sql(f"""
SELECT j.purpose AS purpose, count(*) AS judgments
FROM judgment j CROSS JOIN pair p  -- in this order: few judgments are checks
WHERE j.purpose NOT IN {quote_texts(CURRENT_PURPOSES)} AND p.pk = j.pair_pk AND p.dataset_pk = :dataset_pk
  AND p.retired_at IS NULL
GROUP BY j.purpose
""")


def check_kind(kind: str) -> None:
    """Raise ValidationError unless the kind exists."""
    if kind not in WHY:
        raise ValidationError(
            say(
                "Unknown reason {kind!r} for excluding judgments: choose one of {known}.",
                kind=kind,
                known=", ".join(WHY),
            )
        )


def count_left_out(
    session: Session, dataset_pk: int, blind: Collection[int] = frozenset()
) -> list[ExclusionCount]:
    """Return how many judgments of this dataset are left out, by reason; reasons without any are absent.

    `blind`: pairs that the reader may still judge (`list_blind_pairs`); their judgments are not counted.
    """
    stored, gone = _count_stored(session, dataset_pk)
    current = _count(session, CurrentJudgmentRow, col(CurrentJudgmentRow.dataset_pk) == dataset_pk)
    judged = session.scalar(
        select(func.sum(col(PairRow.judged))).where(col(PairRow.dataset_pk) == dataset_pk)
    )
    named = _count_checks(session, dataset_pk) | _count_ungraded(session, dataset_pk)
    checks = sum(named[kind] for kind in (*CHECK_PURPOSES, "other"))
    named |= {
        "conditional": current - named["later"] - (judged or 0),
        "left_pool": gone,
        "revised": stored - gone - checks - current,
    }
    if blind:
        hidden = _count_of_pairs(session, dataset_pk, blind)
        named = {kind: number - hidden[kind] for kind, number in named.items()}
    return [ExclusionCount(kind, why, named[kind]) for kind, why in WHY.items() if named[kind]]


def _count_of_pairs(session: Session, dataset_pk: int, pair_pks: Collection[int]) -> Counter[str]:
    """Return how many judgments of these pairs are left out, by reason."""
    kind = case(*((and_(*_holds(name)), name) for name in WHY)).label("kind")
    statement = (
        _join_current(select(kind, func.count()).select_from(JudgmentRow))
        .where(col(PairRow.dataset_pk) == dataset_pk, is_listed(session, col(JudgmentRow.pair_pk), pair_pks))
        .group_by(kind)
    )
    return Counter({name: number for name, number in session.execute(statement) if name})


def count_outdated(session: Session, dataset_pk: int, blind: Collection[int] = frozenset()) -> int:
    """Return how many grades that count were made under an older guideline or on an older text.

    `blind`: pairs to leave out.
    """
    stale = write_stale(session, dataset_pk, "current_judgment")
    statement = select(func.count()).where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
        text(f"{stale} > 0"),
        col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
        col(CurrentJudgmentRow.outcome) == "graded",
    )
    if blind:
        statement = statement.where(~is_listed(session, col(CurrentJudgmentRow.pair_pk), blind))
    return session.scalar(statement) or 0


def list_left_out(
    session: Session,
    dataset_pk: int,
    kind: str,
    *,
    limit: int,
    offset: int = 0,
    blind: Collection[int] = frozenset(),
) -> list[ExcludedJudgment]:
    """Return the judgments left out for this reason, in the order in which they were stored.

    `blind`: pairs to leave out. Raises ValidationError for an unknown kind.
    """
    check_kind(kind)
    statement = (
        _join_current(
            select(
                col(JudgmentRow.event_id),
                col(PairRow.key),
                col(QueryRow.query_id),
                col(DocumentRow.doc_id),
                col(PersonRow.username),
                col(JudgmentRow.outcome),
                col(JudgmentRow.grade),
                col(JudgmentRow.purpose),
                col(JudgmentRow.judged_at),
            ).select_from(JudgmentRow)
        )
        .where(col(PairRow.dataset_pk) == dataset_pk, *_holds(kind))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .join(PersonRow, col(PersonRow.pk) == col(JudgmentRow.annotator_pk))
        .order_by(col(JudgmentRow.pk))
        .limit(limit)
        .offset(offset)
    )
    if blind:
        statement = statement.where(~is_listed(session, col(PairRow.pk), blind))
    return [ExcludedJudgment(*row) for row in session.execute(statement)]


def _join_current(statement: Select[*Columns]) -> Select[*Columns]:
    """Join each judgment's pair, and its row in current_judgment: null if the judgment is not current."""
    return statement.join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk)).outerjoin(
        CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == col(JudgmentRow.pk)
    )


def _holds(kind: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for a judgment of this kind. For statements of `_join_current`."""
    purpose, outcome = col(JudgmentRow.purpose), col(JudgmentRow.outcome)
    if kind == "left_pool":
        return (col(PairRow.retired_at).is_not(None),)
    current = col(CurrentJudgmentRow.judgment_pk).is_not(None)
    marks: dict[str, tuple[ColumnElement[bool], ...]] = {
        "later": (current, outcome == "later"),
        "conditional": (current, purpose == FURTHER_PURPOSE, outcome != "later"),
        "unrateable": (current, purpose == COUNTED_PURPOSE, outcome == "unrateable"),
        "single": (current, purpose == COUNTED_PURPOSE, outcome == "graded", ~_another()),
        "revised": (purpose.in_(CURRENT_PURPOSES), ~current),
        "other": (purpose.not_in((*CURRENT_PURPOSES, *CHECK_PURPOSES)),),
    }
    return (col(PairRow.retired_at).is_(None), *marks.get(kind, (purpose == kind,)))


def _another() -> ColumnElement[bool]:
    """Return the condition that somebody else graded the judgment's pair independently."""
    other = aliased(CurrentJudgmentRow)
    return (
        select(col(other.pair_pk))
        .where(
            col(other.pair_pk) == col(JudgmentRow.pair_pk),
            col(other.annotator_pk) != col(JudgmentRow.annotator_pk),
            col(other.purpose) == COUNTED_PURPOSE,
            col(other.outcome) == "graded",
        )
        .exists()
    )


def _count(
    session: Session, table: type[CurrentJudgmentRow | JudgmentRow | PairRow], *marks: ColumnElement[bool]
) -> int:
    return session.scalar(select(func.count()).select_from(table).where(*marks)) or 0


def _count_stored(session: Session, dataset_pk: int) -> tuple[int, int]:
    """Return the number of the dataset's judgments, and of those on pairs that left the pool.

    Counts the smaller part of the database: this dataset, or the others. Pairs that left the pool have
    `judged` 0.
    """
    own = col(PairRow.dataset_pk) == dataset_pk
    joined = select(func.count()).join_from(JudgmentRow, PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
    retired = joined.where(own, col(PairRow.judged) == 0, col(PairRow.retired_at).is_not(None))
    if _count(session, PairRow, own) <= _count(session, PairRow, ~own):
        stored = session.scalar(joined.where(own)) or 0
    else:
        stored = _count(session, JudgmentRow) - (session.scalar(joined.where(~own)) or 0)
    return stored, session.scalar(retired) or 0


def _count_checks(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return how many judgments on pairs in the pool were given for checks or other purposes, by kind."""
    counts = dict.fromkeys((*CHECK_PURPOSES, "other"), 0)
    for purpose, judgments in fetch_tuples(session, _CHECKS, {"dataset_pk": dataset_pk}):
        counts[purpose if purpose in CHECK_PURPOSES else "other"] += judgments
    return counts


def _count_ungraded(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return how many judgments are put off, unrateable, or the only grade of their pair.

    `pair.judged` counts both grades and “cannot rate”. So single grades are read from it, and corrected for
    the pairs that somebody could not rate.
    """
    current = aliased(CurrentJudgmentRow)
    later = func.sum(case((col(current.outcome) == "later", 1), else_=0))
    refused = func.sum(
        case(((col(current.outcome) == "unrateable") & (col(current.purpose) == COUNTED_PURPOSE), 1), else_=0)
    )
    by_pair = (
        select(col(current.pair_pk).label("pair_pk"), later.label("later"), refused.label("refused"))
        .where(col(current.dataset_pk) == dataset_pk, col(current.outcome) != "graded")
        .group_by(col(current.pair_pk))
        .subquery()
    )
    counts, judged = by_pair.c, col(PairRow.judged)
    alone = (counts.refused > 0) & (judged - counts.refused == 1)
    nobody = (counts.refused > 0) & (judged == 1)
    statement = select(
        func.sum(counts.later),
        func.sum(counts.refused),
        func.sum(case((alone, 1), (nobody, -1), else_=0)),
    ).join_from(by_pair, PairRow, col(PairRow.pk) == counts.pair_pk)
    put_off, unrateable, correction = (int(count or 0) for count in session.execute(statement).one())
    single = _count(session, PairRow, col(PairRow.dataset_pk) == dataset_pk, judged == 1)
    return {"later": put_off, "unrateable": unrateable, "single": single + correction}
