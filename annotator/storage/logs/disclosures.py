"""Record permanently who has seen others' judgments of a pair: these people no longer judge it.

Every page that shows who gave which grade, or a pair's settled grade, must use this file. Pairs in
`list_to_judge` must not be shown; shown pairs are recorded before they are sent. Figures over many pairs
treat the pairs of `list_blind_pairs` as not judged, so comparing figures reveals no grade. A pair that the
person has answered is among them until `overview/service.keep_answers` records that the answer is final. A
person who has seen a pair has also seen the pairs that replaced it when its document got other ids.
docs/security.md lists every way.
"""

import json
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, bindparam, text
from sqlalchemy.orm import Session

from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import LATEST
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.sql import fetch_tuples, prepare_sql
from annotator.storage.tables.columns import UtcDateTime
from annotator.storage.tables.labeling import DisclosureRow

LISTED = {
    "sqlite": "(SELECT value FROM json_each(:{name}))",
    "postgresql": "(SELECT CAST(value AS INTEGER) FROM json_array_elements_text(CAST(:{name} AS JSON)))",
}
"""A list of whole numbers of any length as one value, sent as JSON: a subquery with the column `value`."""
LISTED_TEXTS = {
    "sqlite": "(SELECT value FROM json_each(:{name}))",
    "postgresql": "(SELECT value FROM json_array_elements_text(CAST(:{name} AS JSON)))",
}
_NEW = """
SELECT x.value FROM {pairs} x WHERE NOT EXISTS (
  SELECT 1 FROM disclosure d WHERE d.pair_pk = x.value AND d.person_pk = :person_pk)"""
_NOTE = """
INSERT INTO disclosure (pair_pk, person_pk, disclosed_at)
SELECT x.value, :person_pk, :now FROM {pairs} x WHERE true
ON CONFLICT (pair_pk, person_pk) DO NOTHING"""
_PKS = "SELECT p.key, p.pk FROM pair p WHERE p.key IN {keys}"
_UNSEEN = "NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :person_pk)"
_JUDGED = """EXISTS (SELECT 1 FROM current_judgment c
  WHERE c.pair_pk = p.pk AND c.annotator_pk = :person_pk AND c.outcome <> 'later')"""
_DRAWN = """EXISTS (SELECT 1 FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk
  WHERE x.pair_pk = p.pk AND w.annotator_pk = :person_pk AND x.outcome IS {answer})"""
# The person has answered the pair and may change the answer, and other people have judged it or written about it.
_CHANGEABLE = f"""({_JUDGED} OR {_DRAWN.format(answer="NOT NULL")}) AND (
  EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk <> :person_pk AND j.outcome <> 'later')
  OR EXISTS (SELECT 1 FROM imported_qrel i WHERE i.pair_pk = p.pk))"""
_TO_JUDGE = f"""
SELECT p.pk FROM pair p WHERE p.pk IN {{pairs}} AND {_UNSEEN}
  AND (p.lacking > 0 AND NOT {_JUDGED} OR {_DRAWN.format(answer="NULL")} OR {_CHANGEABLE})"""
_OWN = """
  SELECT m.pair_pk FROM current_judgment m
  WHERE m.dataset_pk = :dataset_pk AND m.annotator_pk = :person_pk AND m.outcome <> 'later'
  UNION SELECT y.pair_pk FROM quality_draw v JOIN quality_pair y ON y.draw_pk = v.pk
  WHERE v.dataset_pk = :dataset_pk AND v.annotator_pk = :person_pk"""
_OWN_CHANGEABLE = f"SELECT p.pk FROM pair p WHERE p.pk IN ({_OWN}) AND {_UNSEEN} AND {_CHANGEABLE}"
_ANSWERED = text(_OWN_CHANGEABLE)
_SOMETHING_TO_JUDGE = text(f"""
SELECT 1 FROM query_work w WHERE w.dataset_pk = :dataset_pk AND w.open_pairs > 0
UNION ALL SELECT 1 FROM quality_draw v JOIN quality_pair y ON y.draw_pk = v.pk
WHERE v.dataset_pk = :dataset_pk AND v.annotator_pk = :person_pk AND y.outcome IS NULL
UNION ALL {_OWN_CHANGEABLE} LIMIT 1""")
_BLIND = f"""
SELECT o.pk, o.query_pk FROM query_work w CROSS JOIN pair o  -- in this order: counters tell quickly that there is none
WHERE CAST(:person_pk AS INTEGER) > 0 AND w.dataset_pk = :dataset_pk AND w.open_pairs > 0
  AND o.query_pk = w.query_pk AND o.lacking > 0 AND o.judged > 0
  AND o.pk NOT IN (SELECT c.pair_pk FROM current_judgment c
    WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :person_pk AND c.outcome <> 'later')
  AND o.pk NOT IN (SELECT d.pair_pk FROM disclosure d WHERE d.person_pk = :person_pk)
UNION
SELECT p.pk, p.query_pk FROM pair p
WHERE p.pk IN ({_OWN}) AND {_UNSEEN} AND ({_DRAWN.format(answer="NULL")} OR {_CHANGEABLE})"""
BLIND_PAIRS = f"SELECT b.pk FROM ({_BLIND}) b"
"""The pairs of `list_blind_pairs` as a subquery with the values dataset_pk and person_pk (None: the
operator)."""
PAIRS_TO_JUDGE = BLIND_PAIRS.replace(" AND o.judged > 0", "")
"""These pairs and the unjudged ones are all that the person may still judge, by the rule of
`list_to_judge`."""
_LIST_BLIND = prepare_sql(_BLIND)
_BLIND_STAMP = prepare_sql(f"""
SELECT {LATEST}, (SELECT coalesce(max(pk), 0) FROM adjudication), (SELECT coalesce(max(pk), 0) FROM pair),
  (SELECT coalesce(max(pk), 0) FROM remap), (SELECT coalesce(max(pk), 0) FROM quality_draw),
  (SELECT coalesce(max(pk), 0) FROM imported_qrel),
  (SELECT count(*) FROM disclosure WHERE person_pk = :person_pk),
  (SELECT coalesce(sum(open_pairs * (1 + query_pk % 9973)), 0) FROM query_work WHERE dataset_pk = :dataset_pk),
  (SELECT coalesce(sum(begun_pairs * (1 + query_pk % 9973)), 0) FROM query_work WHERE dataset_pk = :dataset_pk)""")
_KEPT_BLIND = 4  # lists of blind pairs; one takes about 80 MB for a million pairs
_NAMES_OF = """
SELECT q.query_id, d.doc_id FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
WHERE p.pk IN {pairs}"""
# Pairs by the names that a release has for them: a document that was renamed since is followed to the name that it has now.
# MATERIALIZED: SQLite then makes an index of `link`. Otherwise each link would be compared with all others.
_BY_NAMES = """
WITH RECURSIVE link (old, new) AS MATERIALIZED (
  SELECT r.old_doc_id, r.new_doc_id FROM remap r WHERE r.dataset_pk = :dataset_pk
), called (old, new) AS (
  SELECT l.old, l.new FROM link l UNION SELECT c.old, l.new FROM called c JOIN link l ON l.old = c.new
), given (query_id, doc_id) AS ({given}), published (query_id, doc_id, name) AS (
  SELECT g.query_id, g.doc_id, g.doc_id FROM given g
  UNION ALL SELECT g.query_id, c.new, g.doc_id FROM called c JOIN given g ON g.doc_id = c.old
)
SELECT p.pk, x.query_id, x.name FROM published x
JOIN query q ON q.dataset_pk = :dataset_pk AND q.query_id = x.query_id
JOIN document d ON d.dataset_pk = :dataset_pk AND d.doc_id = x.doc_id
JOIN pair p ON p.query_pk = q.pk AND p.document_pk = d.pk"""
_LEFT = """
SELECT p.dataset_pk, q.query_id, d.doc_id FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
WHERE p.pk IN {pairs} AND p.retired_at IS NOT NULL"""
_SEEN = "SELECT s.pair_pk, s.person_pk FROM disclosure s WHERE s.pair_pk IN {pairs}"
RETIRED = re.compile(r" \(retired \d{4}-\d\d-\d\d(?:, \d+)?\)$")
"""The end of the name of a document that has lost its id, as `remapping.name_retired` writes it."""
_RELEASED = "SELECT r.query_id, r.doc_id FROM release_qrel r WHERE r.release_pk = :release_pk"
_NAMES = {
    "sqlite": "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:names)",
    "postgresql": "SELECT value ->> 0, value ->> 1 FROM json_array_elements(CAST(:names AS JSON))",
}


def note_seen(database: Database, pair_pks: Collection[int], person_pk: int | None, *, now: datetime) -> None:
    """Record, in a separate transaction, that the person has seen others' judgments of these pairs.

    Writes nothing if everything is recorded already, or for the operator (None), who judges nothing.
    """
    if person_pk is None or not pair_pks:
        return
    with database.read() as session:
        new = _list_new(session, _follow(session, pair_pks), person_pk)
    if new:
        with database.write() as session:
            _add_disclosures(session, new, person_pk, now)


def add_seen(session: Session, pair_pks: Collection[int], person_pk: int, *, now: datetime) -> None:
    """Record that the person saw others' judgments of these pairs and of the pairs that replaced them."""
    if pair_pks:
        _add_disclosures(session, _follow(session, pair_pks), person_pk, now)


def _add_disclosures(session: Session, pair_pks: Collection[int], person_pk: int, now: datetime) -> None:
    statement = text(_NOTE.format(pairs=_name_list(session, "pairs")))
    statement = statement.bindparams(bindparam("now", type_=UtcDateTime))
    pairs = json.dumps(sorted(pair_pks))
    session.execute(statement, {"pairs": pairs, "person_pk": person_pk, "now": now})


def carry_seen(session: Session, left: Collection[int], *, now: datetime) -> None:
    """Copy the disclosures of these retired pairs to the pairs that replaced them."""
    pairs_by_person: dict[int, list[int]] = {}
    statement = text(_SEEN.format(pairs=_name_list(session, "pairs")))
    for pair_pk, person_pk in session.execute(statement, {"pairs": json.dumps(sorted(left))}):
        pairs_by_person.setdefault(person_pk, []).append(pair_pk)
    for person_pk, pair_pks in pairs_by_person.items():
        add_seen(session, pair_pks, person_pk, now=now)


def list_answered(session: Session, dataset_pk: int, person_pk: int | None) -> Collection[int]:
    """Return the pairs whose answer the person may still change, and that other people have judged."""
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    return () if person_pk is None else session.scalars(_ANSWERED, values).all()


def has_seen(session: Session, pair_pk: int, person_pk: int) -> bool:
    """Return whether it is recorded that the person has seen others' judgments of the pair."""
    return session.get(DisclosureRow, (pair_pk, person_pk)) is not None


def list_seen(session: Session, person_pk: int, pair_pks: Collection[int]) -> set[int]:
    """Return the pairs of `pair_pks` for which a disclosure to the person is recorded."""
    return set(pair_pks) - set(_list_new(session, pair_pks, person_pk)) if pair_pks else set()


def list_to_judge(session: Session, person_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Return the pairs of `pair_pks` that the person may still judge. Never show them others' judgments.

    The person may still be handed the pair, was drawn to check it, or may change an answer on a pair that
    others judged too.
    """
    if person_pk is None or not pair_pks:
        return set()
    statement = text(_TO_JUDGE.format(pairs=_name_list(session, "pairs")))
    return set(session.scalars(statement, {"pairs": json.dumps(list(pair_pks)), "person_pk": person_pk}))


def require_not_to_judge(session: Session, person_pk: int, pair_pk: int) -> None:
    """Raise StateError if the person may still judge the pair. Any other answer would reveal its grades."""
    if list_to_judge(session, person_pk, [pair_pk]):
        raise StateError(say("You may still judge this pair. Judge it first, or look at its judgments."))


class BlindPairs(frozenset[int]):
    """The judged pairs (pair_pk) of a dataset that a person may still judge."""

    query_pks: frozenset[int] = frozenset()
    """The queries (query_pk) of these pairs."""

    @cached_property
    def as_json(self) -> str:
        """Return them as one value for `is_listed`."""
        return json.dumps(sorted(self))


_NO_BLIND_PAIRS = BlindPairs()


def list_blind_pairs(session: Session, dataset_pk: int, person_pk: int | None) -> BlindPairs:
    """Return the judged pairs of a dataset that the person may still judge or change (rule: `list_to_judge`).

    Figures for this person count them as not judged. Empty for the operator (None). A page asks many times,
    so a reading session caches the latest lists in its database's `kept`, with a stamp of everything that
    changes them.
    """
    if person_pk is None:
        return _NO_BLIND_PAIRS
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    kept: dict[Hashable, tuple[Hashable, BlindPairs]] | None = session.info.get("kept")
    if kept is None:
        session.flush()
        return _read_blind_pairs(session, values)
    key = ("blind pairs", dataset_pk, person_pk)
    stamp = tuple(fetch_tuples(session, _BLIND_STAMP, values))
    found = kept.pop(key, None)
    blind = found[1] if found and found[0] == stamp else _read_blind_pairs(session, values)
    kept[key] = stamp, blind
    for oldest in list(kept)[:-_KEPT_BLIND]:  # a copy: other threads may add lists at the same time
        kept.pop(oldest, None)
    return blind


def _read_blind_pairs(session: Session, values: Mapping[str, int]) -> BlindPairs:
    rows = fetch_tuples(session, _LIST_BLIND, values)
    blind = BlindPairs(pair_pk for pair_pk, _query_pk in rows)
    blind.query_pks = frozenset(query_pk for _pair_pk, query_pk in rows)
    return blind


def has_pairs_to_judge(session: Session, dataset_pk: int, person_pk: int | None) -> bool:
    """Return whether the dataset has a pair that lacks judgments, or that only this person may still judge.

    A quick answer: without such a pair the person may judge none.
    """
    if person_pk is None:
        return False
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    return session.execute(_SOMETHING_TO_JUDGE, values).first() is not None


class FigureStamp(NamedTuple):
    """A value that changes when a person's figures of a dataset change, for callers that cache figures.

    `reader`: the person_pk if the figures leave pairs out for this person, else None. Never show figures
    cached for one reader to another.
    """

    changes: Hashable
    blind: BlindPairs
    reader: int | None


def stamp_figures(session: Session, dataset_pk: int, person_pk: int | None, changes: Hashable) -> FigureStamp:
    """Return the stamp of this person's figures. `changes`: a value that changes with the data."""
    blind = list_blind_pairs(session, dataset_pk, person_pk)
    return FigureStamp((dataset_pk, changes), blind, person_pk if blind else None)


def is_listed(session: Session, column: Any, numbers: Collection[int]) -> ColumnElement[bool]:
    """Return the condition that a column is one of these whole numbers. Any number of them is allowed."""
    listed = text(_name_list(session, "listed").removeprefix("(").removesuffix(")"))
    as_json = numbers.as_json if isinstance(numbers, BlindPairs) else json.dumps(sorted(numbers))
    chosen = listed.bindparams(listed=as_json).columns(value=Integer)
    condition: ColumnElement[bool] = column.in_(chosen)
    return condition


def find_pair_pks(session: Session, keys: Collection[str]) -> dict[str, int]:
    """Return the pair_pk of each key, for any number of keys; unknown keys are absent."""
    if not keys:
        return {}
    listed = LISTED_TEXTS[session.get_bind().dialect.name].format(name="keys")
    rows = session.execute(text(_PKS.format(keys=listed)), {"keys": json.dumps(sorted(keys))})
    return dict(rows.all())


def list_pair_names(session: Session, pair_pks: Collection[int]) -> frozenset[tuple[str, str]]:
    """Return the (query_id, doc_id) of these pairs."""
    if not pair_pks:
        return frozenset()
    rows = session.execute(
        text(_NAMES_OF.format(pairs=_name_list(session, "pairs"))), {"pairs": json.dumps(sorted(pair_pks))}
    )
    return frozenset((query_id, doc_id) for query_id, doc_id in rows)


def find_released(session: Session, dataset_pk: int, release_pk: int) -> list[int]:
    """Return the pairs (pair_pk) of a release's qrels that are still in the dataset."""
    named = {"dataset_pk": dataset_pk, "release_pk": release_pk}
    return list(session.scalars(text(_BY_NAMES.format(given=_RELEASED)), named))


def list_released_names(
    session: Session, dataset_pk: int, release_pk: int, pair_pks: Collection[int]
) -> frozenset[tuple[str, str]]:
    """Return the (query_id, doc_id) that a release has for these pairs, also where their documents have other ids now."""
    if not pair_pks:
        return frozenset()
    named = {"dataset_pk": dataset_pk, "release_pk": release_pk}
    rows = session.execute(text(_BY_NAMES.format(given=_RELEASED)), named)
    return frozenset((query_id, doc_id) for pair_pk, query_id, doc_id in rows if pair_pk in pair_pks)


def list_withheld(
    session: Session, dataset_pk: int, person_pk: int | None, release_pk: int
) -> frozenset[tuple[str, str]]:
    """Return the pairs of a release that the person may still judge, as its (query_id, doc_id)."""
    if not has_pairs_to_judge(session, dataset_pk, person_pk):
        return frozenset()
    named = {"dataset_pk": dataset_pk, "release_pk": release_pk}
    rows = session.execute(text(_BY_NAMES.format(given=_RELEASED)), named).all()
    to_judge = list_to_judge(session, person_pk, {pair_pk for pair_pk, _, _ in rows})
    return frozenset((query_id, doc_id) for pair_pk, query_id, doc_id in rows if pair_pk in to_judge)


def find_published(
    session: Session, dataset_pk: int, names: Collection[tuple[str, str]]
) -> dict[tuple[str, str], set[int]]:
    """Return the pairs (pair_pk) that have or had each of these names (query_id, doc_id)."""
    pks_by_name: dict[tuple[str, str], set[int]] = {}
    if not names:
        return pks_by_name
    names_sql = _NAMES[session.get_bind().dialect.name]
    named = {"dataset_pk": dataset_pk, "names": json.dumps(sorted(names))}
    for pair_pk, query_id, doc_id in session.execute(text(_BY_NAMES.format(given=names_sql)), named):
        pks_by_name.setdefault((query_id, doc_id), set()).add(pair_pk)
    return pks_by_name


def split_published(
    session: Session, dataset_pk: int, person_pk: int | None, names: Collection[tuple[str, str]]
) -> tuple[set[tuple[str, str]], set[int]]:
    """Return the names (query_id, doc_id) of pairs that the person may still judge, and the other pairs (pair_pk)."""
    pks_by_name = find_published(session, dataset_pk, names)
    to_judge = list_to_judge(session, person_pk, {pk for pks in pks_by_name.values() for pk in pks})
    hidden = {name for name, pks in pks_by_name.items() if to_judge.intersection(pks)}
    return hidden, {pk for name, pks in pks_by_name.items() if name not in hidden for pk in pks}


def note_published(
    database: Database, actor: Actor, dataset: str, names: Collection[tuple[str, str]], *, now: datetime
) -> None:
    """Record that the lead is shown the published grades of these pairs and may no longer judge them."""
    if actor.person_id is None or not names:
        return
    with database.read() as session:
        pair_pks = find_published(session, key_of(find_dataset(session, dataset).pk), names)
    note_seen(database, {pk for pks in pair_pks.values() for pk in pks}, actor.person_id, now=now)


def _follow(session: Session, pair_pks: Collection[int]) -> set[int]:
    """Return these pairs, and the pairs that replaced the retired ones (`remap`)."""
    statement = text(_LEFT.format(pairs=_name_list(session, "pairs")))
    names_by_dataset: dict[int, set[tuple[str, str]]] = {}
    for dataset_pk, query_id, doc_id in session.execute(statement, {"pairs": json.dumps(sorted(pair_pks))}):
        names_by_dataset.setdefault(dataset_pk, set()).add((query_id, RETIRED.sub("", doc_id)))
    followed = set(pair_pks)
    for dataset_pk, names in names_by_dataset.items():
        followed.update(*find_published(session, dataset_pk, names).values())
    return followed


def _list_new(session: Session, pair_pks: Collection[int], person_pk: int) -> Sequence[int]:
    """Return the pairs for which nothing is recorded for the person yet."""
    statement = text(_NEW.format(pairs=_name_list(session, "pairs")))
    return session.scalars(statement, {"pairs": json.dumps(list(pair_pks)), "person_pk": person_pk}).all()


def _name_list(session: Session, name: str) -> str:
    return LISTED[session.get_bind().dialect.name].format(name=name)
