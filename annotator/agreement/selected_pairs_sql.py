"""Find and read the pairs that a figure or a sentence of agreement is about.

The same judgments count as in `agreement/service.py`. Queries start from the smallest set: the judgments of
the named annotators, else the pairs of the group, else all. Only one page of pairs is read in full.
Annotators appear under the pair's letters unless the reader asked for them by name. The caller notes what was
shown (`storage/logs/disclosures.py`). Pairs of failed checks come from `labeling/calibration_sql.py`. Raises
ValidationError for an unknown group or kind, NotFound for an unknown person.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.diagnosis.careless_work import limit_quick
from annotator.agreement.grades_sql import DOCUMENT, read_document_labels, read_query_labels
from annotator.agreement.records import PairSelection, SelectedPair
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import Message, say
from annotator.domain.shuffling import Seed, give_letters, name_checker
from annotator.labeling.calibration_sql import list_check_answers, list_repeats
from annotator.people.roles_service import list_dataset_people
from annotator.storage.logs.disclosures import LISTED
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import PairState, list_pair_states
from annotator.storage.sql import fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.central import DocumentRow, PersonRow, QueryRow

_COUNTS = (
    f"{{c}}.dataset_pk = :dataset_pk AND {{c}}.purpose = '{COUNTED_PURPOSE}' AND {{c}}.outcome = 'graded'"
)
_ALL = """
SELECT c.pair_pk, max(c.grade) - min(c.grade) AS distance FROM {driving_table}current_judgment c
WHERE {counts_c}{within} GROUP BY c.pair_pk HAVING count(*) >= {least}"""
_OF_ONE = """
SELECT a.pair_pk, max(c.grade) - min(c.grade) AS distance FROM current_judgment a CROSS JOIN current_judgment c
WHERE {counts_a} AND a.annotator_pk = :first AND c.pair_pk = a.pair_pk AND {counts_c}{within}
GROUP BY a.pair_pk, a.grade HAVING count(*) >= {least}"""
_OF_TWO = """
SELECT a.pair_pk, abs(a.grade - c.grade) AS distance FROM current_judgment a CROSS JOIN current_judgment c
WHERE {counts_a} AND a.annotator_pk = :first
  AND c.pair_pk = a.pair_pk AND c.annotator_pk = :second AND {counts_c}{within}"""
_QUICK = """
SELECT a.pair_pk, coalesce((SELECT max(c.grade) - min(c.grade) FROM current_judgment c WHERE c.pair_pk = a.pair_pk
  AND {counts_c}), 0) AS distance FROM current_judgment a
WHERE {counts_a} AND a.annotator_pk = :first AND a.seconds > 0 AND a.seconds < :below{within}"""
_PAGE = """
SELECT f.pair_pk, f.distance, count(*) OVER () FROM ({found}) f JOIN pair p ON p.pk = f.pair_pk JOIN query q ON q.pk = p.query_pk
WHERE p.retired_at IS NULL ORDER BY f.distance DESC, q.position, f.pair_pk LIMIT :limit OFFSET :offset"""
_COUNT = "SELECT count(*) FROM ({found}) f JOIN pair p ON p.pk = f.pair_pk WHERE p.retired_at IS NULL"
_SECONDS = prepare_sql(f"""
SELECT a.pair_pk, a.seconds AS seconds FROM current_judgment a
WHERE {_COUNTS.format(c="a")} AND a.annotator_pk = :first AND a.seconds IS NOT NULL""")
_OF_VERSIONS = """
SELECT w.pair_pk FROM current_judgment w JOIN rubric r ON r.pk = w.rubric_pk WHERE {counts}
GROUP BY w.pair_pk HAVING min(CASE WHEN w.imported = 0 THEN r.version ELSE 0 END) = :version_low
  AND (max(r.version) = :version_high OR :version_low = 0)"""
_UNTIMED = """
SELECT w.pair_pk FROM current_judgment w WHERE {counts}
GROUP BY w.pair_pk HAVING sum(CASE WHEN w.imported < 2 THEN 1 ELSE 0 END) < 2"""
_IN_SPAN = (
    "sum(CASE WHEN {c}.imported < 2 AND {c}.made_at < :begin_{at} THEN 1 ELSE 0 END) < 2 "
    "AND sum(CASE WHEN {c}.imported < 2 AND {c}.made_at <= :end_{at} THEN 1 ELSE 0 END) >= 2"
)
_OF_SPAN = f"""
SELECT w.pair_pk FROM current_judgment w WHERE {{counts}} GROUP BY w.pair_pk HAVING {_IN_SPAN.format(c="w", at="{at}")}"""


class PairDistance(NamedTuple):
    """A selected pair and how far apart its grades are."""

    pair_pk: int
    distance: int


@dataclass(frozen=True, slots=True)
class PairGroup:
    """The pairs of one group; by default all pairs."""

    queries: Collection[int] | None = None  # query_pks; None: all
    documents: Collection[int] | None = None  # document_pks; None: all
    versions: tuple[int, int] | None = None
    """First and last guideline version that a pair was judged under; 0 if unknown for one of its judgments."""
    untimed: bool = False  # whether to keep only pairs without a known time of the second judgment
    spans: Sequence[tuple[int, int]] = ()
    """First and last second (since 1970, UTC); the second judgment lies in each span."""


@dataclass(frozen=True, slots=True)
class SelectionKeys:
    """A selection with primary keys instead of names."""

    dataset_pk: int
    annotators: tuple[int, ...] = ()  # none, one or two
    grades: tuple[int, int] | None = None
    differing: bool = False
    below: float | None = None
    """Only judgments of the first annotator that took fewer seconds; the pair need not be shared."""
    given: int | None = None
    """Only judgments with this grade, of the first annotator or of anybody; the pair need not be shared."""
    group: PairGroup = PairGroup()
    without: tuple[int, ...] = ()  # annotators whose judgments do not count
    blind: Collection[int] = ()  # pairs that the reader may still judge: their judgments do not count


def find_pair_distances(
    session: Session, keys: SelectionKeys, *, limit: int | None, offset: int = 0
) -> tuple[int, list[PairDistance]]:
    """Return the number of pairs in a selection, and some of them, the largest distance first."""
    statement, values = _write_selection(session, keys)
    row_limit = -1 if limit is None and _is_sqlite(session) else limit
    rows = session.execute(
        text(_PAGE.format(found=statement)), {**values, "limit": row_limit, "offset": offset}
    ).all()
    if rows:
        return rows[0][2], [PairDistance(pair_pk, distance) for pair_pk, distance, _total in rows]
    return session.execute(text(_COUNT.format(found=statement)), values).scalar_one() if offset else 0, []


def list_seconds(
    session: Session, dataset_pk: int, annotator_pk: int, blind: Collection[int] = frozenset()
) -> list[float]:
    """Return the seconds of each of the annotator's judgments that count, where they are known."""
    rows = fetch_tuples(session, _SECONDS, {"dataset_pk": dataset_pk, "first": annotator_pk})
    return [round(seconds, 2) for pair_pk, seconds in rows if pair_pk not in blind]


def _write_selection(session: Session, keys: SelectionKeys) -> tuple[str, dict[str, Any]]:
    """Return the statement that selects pair_pk and distance, and its values."""
    counts = {f"counts_{name}": _COUNTS.format(c=name) for name in ("a", "c")}
    values: dict[str, Any] = {"dataset_pk": keys.dataset_pk}
    values.update(zip(("first", "second"), keys.annotators, strict=False))
    if keys.without:
        values["without"] = json.dumps(sorted(keys.without))
        listed = LISTED[session.get_bind().dialect.name].format(name="without")
        counts["counts_c"] += f" AND c.annotator_pk NOT IN {listed}"
    if keys.blind:
        values["blind"] = json.dumps(sorted(keys.blind))
        listed = LISTED[session.get_bind().dialect.name].format(name="blind")
        for name in ("a", "c"):
            counts[f"counts_{name}"] += f" AND {name}.pair_pk NOT IN {listed}"
    subject = "c" if not keys.annotators else "a"
    within, driving_table = _write_within(session, keys, subject, values)
    if keys.below is not None:
        values["below"] = keys.below
        return _QUICK.format(**counts, within=within), values
    if keys.grades is not None:
        values.update(zip(("low", "high"), keys.grades, strict=True))
    kind = min(len(keys.annotators), 2)
    least = 2 if keys.given is None else 1
    statement = (_ALL, _OF_ONE, _OF_TWO)[kind].format(
        **counts, within=within, driving_table=driving_table, least=least
    )
    conditions = [_GRADES_MET[kind]] if keys.grades is not None and not _is_twice(keys) else []
    conditions += [_GRADE_TWICE[kind]] if _is_twice(keys) else []
    conditions += [_DIFFER[kind]] if keys.differing else []
    if keys.given is not None:
        values["given"] = keys.given
        conditions.append(_GIVEN[kind])
    if kind < 2:  # each pair's judgments are at hand: no need to look for them again
        conditions += [_IN_SPAN.format(c="c", at=at) for at in range(len(keys.group.spans))]
    return statement + "".join(f" AND ({condition})" for condition in conditions), values


_DIFFER = ("min(c.grade) < max(c.grade)", "min(c.grade) < max(c.grade)", "a.grade <> c.grade")
_GIVEN = ("sum(CASE WHEN c.grade = :given THEN 1 ELSE 0 END) > 0", "a.grade = :given", "a.grade = :given")
_GIVEN_BY_OTHERS = "sum(CASE WHEN c.annotator_pk <> :first AND c.grade = :{name} THEN 1 ELSE 0 END) > 0"
_GRADES_MET = (
    (
        "sum(CASE WHEN c.grade = :low THEN 1 ELSE 0 END) > 0 AND sum(CASE WHEN c.grade = :high THEN 1 ELSE 0 END) > 0"
    ),
    (
        f"a.grade = :low AND {_GIVEN_BY_OTHERS.format(name='high')} "
        f"OR a.grade = :high AND {_GIVEN_BY_OTHERS.format(name='low')}"
    ),
    "a.grade = :low AND c.grade = :high",
)
_GRADE_TWICE = (
    "sum(CASE WHEN c.grade = :low THEN 1 ELSE 0 END) > 1 AND :low = :high",
    f"a.grade = :low AND {_GIVEN_BY_OTHERS.format(name='high')}",
    _GRADES_MET[2],
)


def _is_twice(keys: SelectionKeys) -> bool:
    return keys.grades is not None and keys.grades[0] == keys.grades[1]


def _write_within(
    session: Session, keys: SelectionKeys, subject: str, values: dict[str, Any]
) -> tuple[str, str]:
    """Return the condition for the group's pairs, and the table with which a search through all pairs starts."""
    within = driving_table = ""
    for name, column, pks in (
        ("queries", "query_pk", keys.group.queries),
        ("documents", "document_pk", keys.group.documents),
    ):
        if pks is None:
            continue
        values[name] = json.dumps(sorted(pks))
        listed = LISTED[session.get_bind().dialect.name].format(name=name)
        if subject == "c":
            driving_table = "pair g CROSS JOIN "
            within += f" AND g.{column} IN {listed} AND c.pair_pk = g.pk"
        else:
            within += f" AND EXISTS (SELECT 1 FROM pair g WHERE g.pk = a.pair_pk AND g.{column} IN {listed})"
    counts = _COUNTS.format(c="w")
    if keys.group.versions is not None:
        values.update(zip(("version_low", "version_high"), keys.group.versions, strict=True))
        within += f" AND {subject}.pair_pk IN ({_OF_VERSIONS.format(counts=counts)})"
    if keys.group.untimed:
        within += f" AND {subject}.pair_pk IN ({_UNTIMED.format(counts=counts)})"
    for at, span in enumerate(keys.group.spans):
        values.update(zip((f"begin_{at}", f"end_{at}"), span, strict=True))
        if len(keys.annotators) == 2 or keys.below is not None:
            within += f" AND {subject}.pair_pk IN ({_OF_SPAN.format(counts=counts, at=at)})"
    return within, driving_table


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"


DETAILED_AT_ONCE = 400
CASES = ("disagreement", "adjudicated", "reopened")
_GRADES = f"""
SELECT c.pair_pk, c.annotator_pk, c.grade FROM current_judgment c
WHERE c.pair_pk IN {{pairs}} AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'"""
_CHECKED = """
SELECT x.pair_pk, j.annotator_pk FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk
WHERE x.pair_pk IN {pairs} AND x.outcome IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class PairReader:
    """The person who reads the pairs, and what this person may see."""

    person_pk: int | None  # None: the operator, who sees every name
    named: Collection[str]  # usernames that the reader asked for
    seed: Seed  # the dataset's, which decides the letters


def sort_by_distance(
    session: Session, dataset_pk: int, distances: Collection[PairDistance]
) -> list[PairDistance]:
    """Sort pairs that were selected in another way into the same order, without those that left the pool."""
    states = list_pair_states(session, dataset_pk, [distance.pair_pk for distance in distances])
    order = {state.pair_pk: index for index, state in enumerate(states)}
    return sorted(
        (distance for distance in distances if distance.pair_pk in order),
        key=lambda distance: (-distance.distance, order[distance.pair_pk]),
    )


def read_selected_pairs(
    session: Session,
    dataset_pk: int,
    reader: PairReader,
    distances: Sequence[PairDistance],
    notes: Mapping[int, Message],
) -> list[SelectedPair]:
    """Return these pairs in full, in their order, without those that left the pool."""
    shown: list[SelectedPair] = []
    for chunk in split_into_chunks(distances, DETAILED_AT_ONCE):
        pks = [distance.pair_pk for distance in chunk]
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        grades = _list_grades(session, reader, {state.pair_pk: state.key for state in states.values()})
        texts = _list_texts(session, states.values())
        for pk, distance in chunk:
            if pk in states:
                state, status = states[pk], states[pk].settlement.status
                pair = SelectedPair(
                    state.key,
                    state.query_id,
                    texts["query", state.query_pk],
                    state.doc_id,
                    texts["document", state.document_pk],
                    tuple(sorted(grades.get(pk, ()))),
                    distance,
                    status,
                    status in CASES,
                    notes.get(pk),
                )
                shown.append(pair)
    return shown


def _list_grades(
    session: Session, reader: PairReader, keys: Mapping[int, str]
) -> dict[int, list[tuple[str, int]]]:
    """Return the annotators, by the name that the reader sees, and their grades, by pair_pk.

    `keys`: pair keys by pair_pk.
    """
    judged = list(_execute_on_pairs(session, _GRADES, keys))
    checked = [] if reader.person_pk is None else list(_execute_on_pairs(session, _CHECKED, keys))
    people = {row.annotator_pk for row in (*judged, *checked)}
    named = select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people))
    names = {key_of(pk): username for pk, username in session.execute(named)}
    letters = {} if reader.person_pk is None else _give_letters(reader, keys, judged, checked, names)
    grades_by_pair: dict[int, list[tuple[str, int]]] = {}
    for row in judged:
        if row.grade is None:
            continue
        name = names[row.annotator_pk]
        if row.pair_pk in letters and name not in reader.named:
            name = letters[row.pair_pk][name]
        grades_by_pair.setdefault(row.pair_pk, []).append((name, row.grade))
    return grades_by_pair


def _give_letters(
    reader: PairReader,
    keys: Mapping[int, str],
    judged: Sequence[Row[Any]],
    checked: Sequence[Row[Any]],
    names: Mapping[int, str],
) -> dict[int, dict[str, str]]:
    """Return the letter of each person by pair_pk, the same as on the page of the disagreement.

    See `adjudication/disagreement_view.py`.
    """
    people: dict[int, set[str]] = {pair_pk: set() for pair_pk in keys}
    for judgment in judged:
        people[judgment.pair_pk].add(names[judgment.annotator_pk])
    for check in checked:
        people[check.pair_pk].add(name_checker(names[check.annotator_pk]))
    return {
        pk: give_letters(names_of_pair, seed=reader.seed, pair=keys[pk])
        for pk, names_of_pair in people.items()
    }


def _list_texts(session: Session, states: Collection[PairState]) -> dict[tuple[str, int], str]:
    """Return the texts of queries and the titles of documents."""
    texts: dict[tuple[str, int], str] = {}
    queries = select(col(QueryRow.pk), col(QueryRow.text)).where(
        col(QueryRow.pk).in_({state.query_pk for state in states})
    )
    documents = select(col(DocumentRow.pk), col(DocumentRow.title)).where(
        col(DocumentRow.pk).in_({state.document_pk for state in states})
    )
    for kind, statement in (("query", queries), ("document", documents)):
        texts.update(((kind, pk), value) for pk, value in session.execute(statement) if pk is not None)
    return texts


def _execute_on_pairs(session: Session, statement: str, pair_pks: Collection[int]) -> Iterable[Row[Any]]:
    listed = LISTED[session.get_bind().dialect.name].format(name="pairs")
    return session.execute(text(statement.format(pairs=listed)), {"pairs": json.dumps(sorted(pair_pks))})


CHECKS = ("repeat", "gold")
KINDS = ("shared", "differing", "given", *CHECKS, "quick")


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """Some or all pairs of a selection."""

    total: int  # how many pairs the selection has
    distances: Sequence[PairDistance]
    notes: Mapping[int, Message]  # what is shown beside a pair, by pair_pk
    named: tuple[str, ...]  # usernames in the selection


def select_pairs(
    session: Session,
    dataset_pk: int,
    selection: PairSelection,
    *,
    limit: int | None,
    offset: int = 0,
    blind: Collection[int] = frozenset(),
) -> SelectionResult:
    """Return the selection's pairs from `offset` on, without those in `blind`. `limit` None: all of them."""
    check_selection(selection)
    names = selection.annotators
    if selection.by == "annotator" and selection.value is not None:
        names = (*names, selection.value)
    names = tuple(dict.fromkeys(names))
    annotators = _find_people(session, dataset_pk, names)
    without = _find_people(session, dataset_pk, selection.without)
    names = tuple(dict.fromkeys((*names, *selection.without)))
    if selection.kind in CHECKS:
        checks = _list_checks(session, dataset_pk, annotators[0], selection.kind)
        distances = sort_by_distance(
            session, dataset_pk, [pair for pair in checks if pair.pair_pk not in blind]
        )
        notes = {distance.pair_pk: note for distance, note in checks.items()}
        return SelectionResult(len(distances), distances[offset:][:limit], notes, names)
    below = None
    if selection.kind == "quick":
        below = limit_quick(list_seconds(session, dataset_pk, annotators[0], blind))
        if below is None:
            return SelectionResult(0, (), {}, names)
    group = _find_group(session, dataset_pk, selection.by, selection.value)
    if selection.span is not None:
        group = replace(group, spans=(*group.spans, selection.span))
    differing = selection.kind == "differing"
    keys = SelectionKeys(
        dataset_pk, annotators, selection.grades, differing, below, selection.grade, group, without, blind
    )
    return SelectionResult(*find_pair_distances(session, keys, limit=limit, offset=offset), {}, names)


def _find_people(session: Session, dataset_pk: int, usernames: Sequence[str]) -> tuple[int, ...]:
    """Return the person_pk of each username. NotFound for people of other datasets only."""
    if not usernames:
        return ()
    pks = {person.username: person.pk for person in list_dataset_people(session, dataset_pk)}
    for username in usernames:
        if username not in pks:
            raise NotFound(say("there is no person named {username!r}", username=username))
    return tuple(pks[username] for username in usernames)


def check_selection(selection: PairSelection) -> None:
    """Raise ValidationError if the selection's fields do not fit its kind."""
    if selection.kind not in KINDS:
        raise ValidationError(
            say(
                "Unknown kind of pairs {kind!r}: choose one of {kinds}.",
                kinds=", ".join(KINDS),
                kind=selection.kind,
            )
        )
    if selection.kind in (*CHECKS, "quick") and len(selection.annotators) != 1:
        raise ValidationError(
            say("These pairs belong to one annotator: name one, not {n}.", n=len(selection.annotators))
        )
    if selection.kind == "given" and (len(selection.annotators) > 1 or selection.grade is None):
        raise ValidationError(say("These pairs have one grade: give one grade and at most one annotator."))
    if len(selection.annotators) > 2:
        raise ValidationError(say("Name at most two annotators, not {n}.", n=len(selection.annotators)))
    grades = (*(selection.grades or ()), *([] if selection.grade is None else [selection.grade]))
    if not set(grades) <= set(GRADES):
        raise ValidationError(say("Grades are 0 to 3, not {grades}.", grades=", ".join(map(str, grades))))


def _list_checks(
    session: Session, dataset_pk: int, annotator_pk: int, kind: str
) -> dict[PairDistance, Message]:
    """Return the repeats or gold pairs that this annotator answered differently or wrong, with both answers."""
    answers: dict[int, tuple[int | None, int | None]] = {}
    if kind == "repeat":
        repeats = list_repeats(session, dataset_pk, annotator_pk)
        answers = {pair_pk: both for (_annotator, pair_pk), both in repeats.items()}
    else:
        for answer in list_check_answers(session, dataset_pk, annotator_pk):
            if answer.kind == "gold":
                answers[answer.pair_pk] = (answer.right, answer.given)
    return {
        PairDistance(pair_pk, 0 if first is None or given is None else abs(first - given)): say(
            "correct: {before}, given: {given}" if kind == "gold" else "first {before}, then {given}",
            before=_name(first),
            given=_name(given),
        )
        for pair_pk, (first, given) in answers.items()
        if first != given
    }


def _name(grade: int | None) -> str:
    return say("cannot rate") if grade is None else str(grade)


def _find_group(session: Session, dataset_pk: int, by: str | None, value: str | None) -> PairGroup:
    """Return the group's pairs, by the rules of `agreement/judgment_table.py`."""
    if by is None or by == "annotator":
        return PairGroup()
    if by == "guideline_version" and value is None:
        return PairGroup(versions=(0, 0))
    if by == "guideline_version":
        low, _, high = (value or "").partition("–")
        return PairGroup(versions=(int(low), int(high or low))) if low.isdecimal() else PairGroup(queries=())
    if by == "week":
        return PairGroup(untimed=True) if value is None else PairGroup(spans=(_find_week(value),))
    if by.startswith(DOCUMENT):
        _pairs, attributes = read_document_labels(session, dataset_pk, by)
        return PairGroup(documents=[pk for pk, label in attributes.items() if label == value])
    labels = read_query_labels(session, dataset_pk, by)
    return PairGroup(queries=[pk for pk, label in labels.items() if label == value])


def _find_week(name: str) -> tuple[int, int]:
    """Return the first and the last second (since 1970, UTC) of an ISO week such as "2026-W09"."""
    try:
        begin = datetime.strptime(f"{name}-1 +0000", "%G-W%V-%u %z")
    except ValueError:
        raise ValidationError(say("Unknown week {name!r}: write it like 2026-W09.", name=name)) from None
    return int(begin.timestamp()), int((begin + timedelta(weeks=1)).timestamp()) - 1
