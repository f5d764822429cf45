"""The decision that holds on a pair: derives `current_adjudication` from the append-only decisions.

The highest revision holds; where that one withdrew what was decided, none does. For whoever asks whether, how and when a pair
was decided. Called with every decision, in its transaction.
"""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from annotator.storage.sql import prepare, run

CHUNK = 500
_DROP = "DELETE FROM current_adjudication WHERE pair_pk IN {pairs}"
_DERIVE = """
INSERT INTO current_adjudication (pair_pk, dataset_pk, adjudication_pk, lead_pk, outcome, grade, decided_at)
SELECT a.pair_pk, p.dataset_pk, a.pk, a.lead_pk, a.outcome, a.grade, a.decided_at
FROM adjudication a JOIN pair p ON p.pk = a.pair_pk
WHERE a.pair_pk IN {pairs} AND a.outcome <> 'withdrawn'
  AND NOT EXISTS (SELECT 1 FROM adjudication n WHERE n.pair_pk = a.pair_pk AND n.revision > a.revision)"""
_OF_SOME = [prepare(statement.format(pairs=":pairs"), lists=["pairs"]) for statement in (_DROP, _DERIVE)]


def derive_decided(session: Session, pair_pks: Iterable[int]) -> None:
    """Bring `current_adjudication` in line for these pairs."""
    session.flush()
    pks = sorted(set(pair_pks))
    for start in range(0, len(pks), CHUNK):
        for statement in _OF_SOME:
            run(session, statement, {"pairs": pks[start : start + CHUNK]})
