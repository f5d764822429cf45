"""Read the near duplicates that rounds left out and their pairs, and store accepted grades."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.domain.ground_truth import TAKEN_OVER
from annotator.pooling.duplicates.duplicates import DuplicateGroup, DuplicatePair, LeftOutDuplicate
from annotator.pooling.filters.filter_records import NEAR_DUPLICATE
from annotator.storage.pairs.pair_states import bring_in, list_kept_imports, list_pair_states
from annotator.storage.pairs.pool import list_pair_pks
from annotator.storage.sql import fetch_tuples
from annotator.storage.tables.central import DocumentRow, QueryRow
from annotator.storage.tables.pooling import LeftOutRow, PoolRoundRow


def list_left_out_duplicates(session: Session, dataset_pk: int) -> list[LeftOutDuplicate]:
    """Return every near duplicate that a round left out for another document."""
    kept = aliased(DocumentRow)
    statement = (
        select(
            col(LeftOutRow.query_pk),
            col(QueryRow.query_id),
            col(LeftOutRow.document_pk),
            col(DocumentRow.doc_id),
            col(LeftOutRow.kept_document_pk),
            col(kept.doc_id),
            col(PoolRoundRow.number),
            col(LeftOutRow.rule),
        )
        .join(PoolRoundRow, col(PoolRoundRow.pk) == col(LeftOutRow.round_pk))
        .join(QueryRow, col(QueryRow.pk) == col(LeftOutRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(LeftOutRow.document_pk))
        .join(kept, col(kept.pk) == col(LeftOutRow.kept_document_pk))
        .where(col(PoolRoundRow.dataset_pk) == dataset_pk, col(LeftOutRow.rule).startswith(NEAR_DUPLICATE))
    )
    return [LeftOutDuplicate(*row) for row in fetch_tuples(session, statement)]


def list_duplicate_pairs(
    session: Session, dataset_pk: int, left_out: Sequence[LeftOutDuplicate]
) -> dict[tuple[int, int], DuplicatePair]:
    """Return the pairs of these documents and of those judged instead, by (query_pk, document_pk)."""
    keys = {(item.query_pk, pk) for item in left_out for pk in (item.document_pk, item.kept_pk)}
    pair_pks = list_pair_pks(session, dataset_pk, {query_pk for query_pk, _ in keys})
    chosen = sorted(pair_pks[key] for key in keys & pair_pks.keys())
    taken = {
        pair_pk: grade.imported_at
        for pair_pk, grade in list_kept_imports(session, dataset_pk).items()
        if grade.source.get("kind") == TAKEN_OVER
    }
    return {
        (state.query_pk, state.document_pk): DuplicatePair(
            state.key,
            state.settlement.status,
            state.settlement.grade,
            taken.get(state.pair_pk) if state.settlement.status == "imported" else None,
        )
        for state in list_pair_states(session, dataset_pk, chosen)
    }


def take_over(
    session: Session,
    dataset_pk: int,
    members: Mapping[int, tuple[DuplicateGroup, LeftOutDuplicate]],
    *,
    accepted_by: str,
    now: datetime,
) -> None:
    """Give each pair (by pair_pk) the grade of its group, which settles it until it is judged."""
    rows: list[Mapping[str, object]] = [
        {
            "pair_pk": pair_pk,
            "grade": group.grade,
            "keep": True,
            "source": {
                "kind": TAKEN_OVER,
                "of": group.doc_id,
                "of_pair": group.pair,
                "rule": item.rule,
                "round": item.round,
                "accepted_by": accepted_by,
            },
            "description": None,
            "note": f"near duplicate of {group.doc_id}, whose grade a lead accepted for it",
            "annotator_grades": [],
            "extra": {},
            "imported_at": now,
            "import_record_pk": None,
        }
        for pair_pk, (group, item) in members.items()
    ]
    bring_in(session, dataset_pk, rows)
