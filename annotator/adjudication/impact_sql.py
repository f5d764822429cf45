"""Read where the imported runs rank the documents of a query, and the state of its pairs, to compute their impact.

Reads columns of numbers for some queries at a time, since there can be ten million results. Settled grades come from
`domain/settling.py`.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.impact_scores import KnownPair
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

DEEPEST = 100
"""Results below this rank are not read: there a first relevant document is worth less than a hundredth."""
KEYS, RANKS, COUNTS = 2**31, 2**7, 2**8  # more than a key, a rank and a number of judgments can be
_SYSTEMS = prepare_sql("SELECT pk, system FROM run WHERE dataset_pk = :dataset_pk ORDER BY pk")
_STAMP = prepare_sql(
    "SELECT (SELECT max(pk) FROM run), (SELECT max(import_record_pk) FROM run), (SELECT max(pk) FROM remap)"
)
_PLACE = f"CAST(e.query_pk AS BIGINT) * {KEYS} + e.document_pk"
_RANK = f"CAST(e.run_pk AS BIGINT) * {RANKS} + e.rank"
_WANTED = f"e.run_pk = r.pk AND e.query_pk IN :queries AND e.rank BETWEEN 0 AND {DEEPEST}"
_ENTRIES = f"FROM run r CROSS JOIN run_entry e WHERE r.dataset_pk = :dataset_pk AND {_WANTED}"
# Run by run, each by its index: for many queries PostgreSQL would read the whole table instead, which takes three times as long.
_BY_RUN = f"""
FROM run r CROSS JOIN LATERAL (SELECT run_pk, query_pk, document_pk, rank FROM run_entry e WHERE {_WANTED} OFFSET 0) e WHERE r.dataset_pk = :dataset_pk"""
_RANKED = {
    "sqlite": prepare_sql(f"SELECT {_PLACE}, {_RANK} {_ENTRIES}", lists=["queries"]),
    "postgresql": prepare_sql(
        f"SELECT string_agg(int8send({_PLACE}) || int8send({_RANK}), CAST('' AS BYTEA)) {_BY_RUN}",
        lists=["queries"],
    ),
}
_PAIRS = "FROM pair p CROSS JOIN {} WHERE p.query_pk IN :queries AND p.retired_at IS NULL"
_ANSWERED = prepare_sql(
    f"""
SELECT p.query_pk, p.document_pk, p.pk, CAST(sum(CASE c.grade WHEN 0 THEN 1 WHEN 1 THEN {COUNTS} WHEN 2 THEN {COUNTS**2}
  WHEN 3 THEN {COUNTS**3} ELSE {COUNTS**4} END) AS BIGINT)
{_PAIRS.format("current_judgment c")} AND c.pair_pk = p.pk AND c.purpose = 'independent' AND c.outcome <> 'later'
GROUP BY p.query_pk, p.document_pk, p.pk""",
    lists=["queries"],
)
_OTHER = prepare_sql(
    f"""
SELECT p.query_pk, p.document_pk, p.pk, 'dispute', NULL, 0 {_PAIRS.format("dispute s")} AND s.pair_pk = p.pk
UNION ALL SELECT p.query_pk, p.document_pk, p.pk, a.outcome, a.grade, 0
{_PAIRS.format("current_adjudication a")} AND a.pair_pk = p.pk
UNION ALL SELECT p.query_pk, p.document_pk, p.pk, 'imported', i.grade, 0
{_PAIRS.format("imported_qrel i")} AND i.pair_pk = p.pk AND p.kept AND i.keep
  AND NOT EXISTS (SELECT 1 FROM imported_qrel n WHERE n.pair_pk = i.pair_pk AND n.keep AND n.pk > i.pk)""",
    lists=["queries"],
)
_ERRORS = prepare_sql(
    """
SELECT p.query_pk, p.document_pk, p.pk, 'error', x.grade, CASE WHEN a.decided_at >= x.answered_at THEN 1 ELSE 0 END
FROM quality_pair x JOIN pair p ON p.pk = x.pair_pk LEFT JOIN current_adjudication a ON a.pair_pk = x.pair_pk
WHERE p.query_pk IN :queries AND p.retired_at IS NULL AND x.grade <> x.settled_grade""",
    lists=["queries"],
)


_PATTERNS: dict[int, tuple[tuple[int, ...], int]] = {}
_DOCUMENT = itemgetter(1)


class Rankings(NamedTuple):
    """Of each of these queries (by query_pk), the results of all runs: documents (document_pk), the runs' places among
    `systems`, and ranks from 1."""

    systems: list[str]
    results: "Mapping[int, tuple[Ints, Ints, Ints]]"
    stamp: tuple[Any, ...]


def list_systems(session: Session, dataset_pk: int) -> dict[int, str]:
    """The systems that have a run, by run_pk."""
    return dict(fetch_tuples(session, _SYSTEMS, {"dataset_pk": dataset_pk}))


def find_stamp(session: Session) -> tuple[Any, ...]:
    """What changes when runs come or are stored in another order, or their documents get other ids."""
    return tuple(execute_sql(session, _STAMP, {}).one())


def read_rankings(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> Rankings:
    """Where the runs rank the documents of these queries. A run whose ranks begin at 0 is read as if they began at 1."""
    import numpy as np

    stamp, systems = find_stamp(session), list_systems(session, dataset_pk)
    if not systems or not query_pks:
        return Rankings(list(systems.values()), {}, stamp)
    read = _read_numbers(session, {"dataset_pk": dataset_pk, "queries": query_pks})
    place, rank = read[:, 0], read[:, 1]
    order = np.argsort(place, kind="stable")
    query, document = np.divmod(place[order], KEYS)
    run_pk, ranked = np.divmod(rank[order], RANKS)
    system = np.searchsorted(np.array(list(systems), dtype=np.int64), run_pk)
    found, starts = np.unique(query, return_index=True)
    ends = [*starts[1:].tolist(), len(query)] if len(query) else []
    results = {
        key: (document[start:end], system[start:end], _begin_at_1(system[start:end], ranked[start:end]))
        for key, start, end in zip(found.tolist(), starts.tolist(), ends, strict=True)
    }
    return Rankings(list(systems.values()), results, stamp)


class JudgedRows(NamedTuple):
    """What is known of the pairs of some queries, as it was read."""

    other: list[Any]
    errors: list[Any]
    answered: list[Any]

    def digest(self) -> int:
        """The same as long as the same is known (in this process), in whatever order a database gives it."""
        return hash(tuple(sum(map(hash, rows)) for rows in self))

    def by_query(self, query_pks: Sequence[int]) -> dict[int, list[KnownPair]]:
        """The pairs of each query in the order of their documents; pairs of which nothing is known are absent."""
        found: dict[int, list[KnownPair]] = {query_pk: [] for query_pk in query_pks}
        others: dict[int, KnownPair] = {}
        for query_pk, document_pk, pair_pk, kind, grade, flag in chain(self.other, self.errors):
            before = others.get(pair_pk)
            if before is None:
                before = KnownPair(pair_pk, document_pk)
                found[query_pk].append(before)
            others[pair_pk] = _note(before, kind, grade, flag)
        known, nothing = others.keys(), (None, None, (), ())
        make = tuple.__new__  # what the class's own call comes to, without its keywords
        for query_pk, document_pk, pair_pk, pattern in self.answered:
            answers = _PATTERNS.get(pattern) or _read_pattern(pattern)
            if pair_pk in known:
                others[pair_pk] = others[pair_pk]._replace(grades=answers[0], unrateable=answers[1])
            else:
                found[query_pk].append(make(KnownPair, (pair_pk, document_pk, False, *answers, *nothing)))
        return {
            query_pk: sorted((others.get(one[0], one) for one in pairs), key=_DOCUMENT)
            for query_pk, pairs in found.items()
        }


def read_judged(session: Session, query_pks: Sequence[int]) -> JudgedRows:
    """What is known of the pairs of these queries."""
    values = {"queries": query_pks}
    return JudgedRows(
        *(fetch_tuples(session, statement, values) for statement in (_OTHER, _ERRORS, _ANSWERED))
    )


def _note(pair: KnownPair, kind: str, grade: int | None, flag: int) -> KnownPair:
    if kind == "dispute":
        return pair._replace(disputed=True)
    if kind == "imported":
        return pair._replace(imported=grade)
    if kind == "error" and grade is not None:
        if flag:
            return pair._replace(answered=tuple(sorted((*pair.answered, grade))))
        return pair._replace(errors=tuple(sorted((*pair.errors, grade))))
    return pair._replace(decided="unrateable" if grade is None else grade)


def _read_pattern(pattern: int) -> tuple[tuple[int, ...], int]:
    """The grades, and how many said that it cannot be rated, from the number that the statement makes of them."""
    numbers = [pattern // COUNTS**place % COUNTS for place in range(5)]
    grades = tuple(grade for grade, number in enumerate(numbers[:4]) for _ in range(number))
    return _PATTERNS.setdefault(pattern, (grades, numbers[4]))


def _begin_at_1(system: "Ints", rank: "Ints") -> "Ints":
    import numpy as np

    first = np.unique(system[rank == 0])
    return rank + np.isin(system, first) if len(first) else rank


def _read_numbers(session: Session, values: Mapping[str, Any]) -> "Ints":
    """Two numbers for each result: one after the other from SQLite, in one long value from PostgreSQL."""
    import numpy as np

    dialect = session.connection().dialect.name
    if dialect != "postgresql":
        rows: Any = execute_sql(session, _RANKED[dialect], values).cursor
        return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 2)
    driver: Any = session.connection().connection.driver_connection
    dataset_pk, queries = int(values["dataset_pk"]), ", ".join(str(int(pk)) for pk in values["queries"])
    statement = (
        _RANKED[dialect].text.replace(":dataset_pk", f"{dataset_pk:d}").replace(":queries", f"({queries})")
    )
    with driver.cursor(binary=True) as cursor:
        ((sent,),) = cursor.execute(statement).fetchall()
    return np.frombuffer(sent or b"", dtype=">i8").astype(np.int64).reshape(-1, 2)
