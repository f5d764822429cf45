"""Load what an annotator sees of a pair.

Never loads ranks, scores, system names or other people's grades.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.judgments import OutdatedReason, OwnAnswer, PairView
from annotator.labeling.next_pairs import QueryCount
from annotator.labeling.open_pairs_sql import COUNT_WORK, DONE, Eligibility, WorkCount
from annotator.labeling.records import NextPair
from annotator.storage.judgments.leases import OpenPairsRequest
from annotator.storage.judgments.outdated import OWN_ANSWER, OWN_STALE, describe_outdated
from annotator.storage.pairs.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.sql import fetch_tuples, prepare_sql, read_json

_COLUMNS = f"""p.pk, p.query_pk, {OWN_STALE}, d.extra, j.outcome, j.grade, j.note, j.reason,
  p.key, q.query_id, q.text, q.narrative, q.language, d.doc_id, d.title, d.url, d.media_type, substr(t.text, 1, :most),
  length(t.text), d.text_sha256, (SELECT max(r.version) FROM rubric r WHERE r.dataset_pk = p.dataset_pk)"""
_SIZE = 21  # columns
_JOINED = f"""
LEFT JOIN query q ON q.pk = p.query_pk LEFT JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN judgment j ON j.pk = {OWN_ANSWER}"""
_VIEWS = prepare_sql(f"SELECT {_COLUMNS} FROM pair p {_JOINED} WHERE p.pk IN :pairs", lists=["pairs"])
_HANDED_OUT = f"""
SELECT {_COLUMNS}, n.in_pool, n.answered, g.*
FROM (SELECT ({DONE}) AS done) g LEFT JOIN pair p ON p.pk IN :pks {_JOINED}
LEFT JOIN (
  SELECT v.query_pk, count(*) AS in_pool,
    count((SELECT 1 FROM judgment y
      WHERE y.pair_pk = v.pk AND y.annotator_pk = :annotator_pk AND y.outcome <> 'later' LIMIT 1))
    + count((SELECT 1 FROM repeated_pair y
      WHERE y.pair_pk = v.pk AND y.annotator_pk = :annotator_pk AND y.answered_at IS NOT NULL LIMIT 1)) AS answered
  FROM pair v WHERE v.query_pk IN (SELECT z.query_pk FROM pair z WHERE z.pk IN :pks) AND v.retired_at IS NULL
  GROUP BY v.query_pk) n ON n.query_pk = p.query_pk"""
_HANDED_OUT_AND_WORK = _HANDED_OUT.replace(" AS done)", f" AS done, u.* FROM ({COUNT_WORK}) u)")


class _ViewRow(NamedTuple):
    """A row of _VIEWS."""

    pair_pk: int
    query_pk: int
    stale: int | None
    extra: Any  # JSON as the driver gives it
    answer: Sequence[Any]  # the fields of the annotator's own answer, all None without one
    facts: Sequence[Any]  # the first fields of a PairView


def _to_row(row: Sequence[Any]) -> _ViewRow:
    return _ViewRow._make((*row[:4], row[4:8], row[8:_SIZE]))


@dataclass(frozen=True, slots=True)
class HandedOut:
    """The pairs that are handed out, and how many the annotator has done."""

    views: tuple[PairView, ...]
    queries: tuple[tuple[int, int], ...]  # (pair_pk, query_pk) of each view
    counts: Mapping[int, QueryCount]  # by query_pk
    done: int  # pairs with a current judgment of the annotator
    work: WorkCount | None  # None if it was not counted


def read_handed_out(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    pairs: Sequence[NextPair],
    *,
    columns: Sequence[str],
    count_work: bool,
) -> HandedOut:
    """Return the view of each pair in this order, and the number of pairs the annotator has done.

    `columns`: the shown metadata columns of documents. `count_work`: also count the annotator's work.
    """
    text = _HANDED_OUT_AND_WORK if count_work else _HANDED_OUT
    statement = eligibility.prepare(text, query="w.query_pk")
    chosen = [pair.pair_pk for pair in pairs]
    values = {**request.values, **eligibility.values, "pks": chosen, "most": SHOWN_CHARACTERS}
    rows = fetch_tuples(session, statement, values)
    views, counts = {}, {}
    for row in rows:
        if row[0] is not None:  # without pairs there is one row, with the counts alone
            view = _to_row(row)
            views[view.pair_pk] = view
            counts[view.query_pk] = QueryCount(row[_SIZE] or 0, row[_SIZE + 1] or 0)
    _, _, done, *work = rows[0][_SIZE:]
    return HandedOut(
        tuple(_to_views(session, request, pairs, views, columns)),
        tuple((pair.pair_pk, views[pair.pair_pk].query_pk) for pair in pairs),
        counts,
        int(done),
        WorkCount._make(map(int, work)) if count_work else None,
    )


def read_pair_views(
    session: Session, request: OpenPairsRequest, pairs: Sequence[NextPair], *, columns: Sequence[str]
) -> list[PairView]:
    """Return the annotator's view of each pair, in this order. `columns`: see `read_handed_out`."""
    values = {
        "annotator_pk": request.annotator_pk,
        "most": SHOWN_CHARACTERS,
        "pairs": [pair.pair_pk for pair in pairs],
    }
    rows = {row.pair_pk: row for row in map(_to_row, fetch_tuples(session, _VIEWS, values))}
    return _to_views(session, request, pairs, rows, columns)


def _to_views(
    session: Session,
    request: OpenPairsRequest,
    pairs: Sequence[NextPair],
    rows: Mapping[int, _ViewRow],
    columns: Sequence[str],
) -> list[PairView]:
    """Return the views. A repeat and a training pair do not show the annotator's earlier answer."""
    with_answer = {pair.pair_pk for pair in pairs if pair.key is None and not pair.training}
    outdated = describe_outdated(session, request, [pk for pk in with_answer if rows[pk].stale])
    return [
        _to_view(rows[pair.pair_pk], pair, columns, outdated, with_answer=pair.pair_pk in with_answer)
        for pair in pairs
    ]


def _to_view(
    row: _ViewRow,
    pair: NextPair,
    columns: Sequence[str],
    outdated: Mapping[int, OutdatedReason],
    *,
    with_answer: bool,
) -> PairView:
    key, *facts, length, document_sha256, guideline_version = row.facts
    shown = (pair.key or key, *facts, length or 0, document_sha256, guideline_version)
    return replace(
        PairView(*shown),
        metadata=choose_metadata(read_json(row.extra), columns),
        training=pair.training,
        answer=OwnAnswer(*row.answer) if with_answer and row.answer[0] else None,
        outdated=outdated.get(pair.pair_pk) if with_answer else None,
    )
