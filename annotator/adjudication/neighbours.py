"""The other documents of a query that were judged, with how each of them stands: what a decision has to agree with.

Read for the decision panel, for the queries of a few pairs at once. Capped: MOST documents of a query, those of which most is
known; the texts of as many, and of each its beginning. A grade is told only where a pair is settled and the reading lead can no
longer be handed it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from annotator.adjudication.cases import HowFar, Known
from annotator.domain.disputes import Reason, find_stage
from annotator.storage.bulk import split
from annotator.storage.pair_states import FEW, PairState, list_pair_states
from annotator.storage.sql import prepare, run

MOST = 200
AT_ONCE = 100
_PLACE = prepare(
    "SELECT p.pk, p.query_pk, p.document_pk, d.text_sha256 FROM pair p JOIN document d ON d.pk = p.document_pk WHERE p.pk = :pair_pk"
)
_KNOWN = prepare(
    """
SELECT p.pk, p.query_pk, d.title, d.pk AS document_pk, d.text_sha256, coalesce(x.waiting, 0) AS waiting, a.pair_pk IS NOT NULL AS decided,
  EXISTS (SELECT 1 FROM quality_pair y JOIN quality_draw w ON w.pk = y.draw_pk
    WHERE y.pair_pk = p.pk AND y.outcome IS NULL AND w.annotator_pk = :lead_pk) AS to_check
FROM pair p JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute x ON x.pair_pk = p.pk AND x.open LEFT JOIN current_adjudication a ON a.pair_pk = p.pk
WHERE p.query_pk IN :queries AND p.retired_at IS NULL AND (p.judged > 0 OR p.kept OR a.pair_pk IS NOT NULL)
ORDER BY p.query_pk, a.pair_pk IS NULL, p.judged DESC, p.pk""",
    lists=["queries"],
)
_TEXTS = prepare(
    "SELECT sha256, substr(text, 1, :most) FROM document_text WHERE document_pk IN :documents AND sha256 IN :hashes",
    lists=["documents", "hashes"],
)


def read_place(session: Session, pair_pk: int) -> Any:
    """Of which query a pair is, and which text its document has: `pk`, `query_pk`, `document_pk`, `text_sha256`."""
    return run(session, _PLACE, {"pair_pk": pair_pk}).one()


def list_documents(session: Session, lead_pk: int | None, query_pks: Collection[int]) -> list[Any]:
    """The judged documents of these queries, at most MOST of each: rows with the columns of `_KNOWN`."""
    rows, counted = [], dict[int, int]()
    for row in run(session, _KNOWN, {"queries": sorted(query_pks), "lead_pk": lead_pk or 0}):
        counted[row.query_pk] = counted.get(row.query_pk, 0) + 1
        if counted[row.query_pk] <= MOST:
            rows.append(row)
    return rows


def read_how_far(
    session: Session, dataset_pk: int, waiting: Mapping[int, int]
) -> dict[int, tuple[PairState, HowFar]]:
    """How far these pairs have come, by pair_pk. `waiting`: why each of them waits for a lead."""
    found = {}
    for some in split(sorted(waiting), FEW):
        for state in list_pair_states(session, dataset_pk, some):
            decided, reasons = state.adjudicated is not None, Reason(waiting[state.pair_pk])
            stage = find_stage(state.settlement, reasons, decided=decided, lacking=state.lacking)
            found[state.pair_pk] = state, HowFar(stage, state.settlement.grade, state.contested_grade)
    return found


def describe_documents(rows: Sequence[Any], far: Mapping[int, tuple[PairState, HowFar]]) -> list[Known]:
    """The rows of `list_documents` with how far each has come."""
    return [_describe(row, *far[row.pk]) for row in rows if row.pk in far]


def read_texts(session: Session, wanted: Iterable[tuple[int, str]], *, most: int) -> dict[str, str]:
    """The beginnings of texts, named by document and SHA-256, by SHA-256."""
    found: dict[str, str] = {}
    for some in split(sorted(set(wanted)), AT_ONCE):
        named = {"documents": [pk for pk, _ in some], "hashes": [sha256 for _, sha256 in some], "most": most}
        found.update((sha256, text) for sha256, text in run(session, _TEXTS, named))
    return found


def _describe(row: Any, state: PairState, far: HowFar) -> Known:
    told = (
        far.stage in ("imported", "single", "agreed", "settled") and state.lacking == 0 and not row.to_check
    )
    return Known(
        pair_pk=row.pk,
        pair=state.key,
        query_pk=row.query_pk,
        document_pk=row.document_pk,
        doc_id=state.doc_id,
        title=row.title,
        sha256=row.text_sha256,
        stage=far.stage,
        grade=far.grade if told else None,
    )
