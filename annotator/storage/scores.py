"""What each system scores on each query, and which queries' scores are to be computed anew.

Stands between whatever changes a grade, which notes the query as due, and the queue, which computes what is due before it
sorts by impact.
"""

from collections.abc import Collection

from sqlalchemy.orm import Session

from annotator.storage.statements import prepare, run

CHUNK = 500
# An update that changes nothing: it waits for whoever computes the query's scores just now, and outlasts their removal.
_NOTE = prepare(
    """
INSERT INTO score_due (query_pk, dataset_pk) SELECT pk, dataset_pk FROM query WHERE pk IN :queries
ORDER BY pk ON CONFLICT (query_pk) DO UPDATE SET dataset_pk = excluded.dataset_pk""",
    lists=["queries"],
)


def note_due(session: Session, query_pks: Collection[int]) -> None:
    """The grades or the ranks of these queries have changed."""
    ordered = sorted(query_pks)
    for start in range(0, len(ordered), CHUNK):
        run(session, _NOTE, {"queries": ordered[start : start + CHUNK]})
