"""How well annotators agree: the measurement a lead asks for, and the one figure that gates compare.

Stands after labeling and before adjudication. Only current independent judgments that carry a grade count:
quality control, third judgments asked for because two differed, and adjudications do not; unrateable is
absence; a pair that one annotator judged adds nothing to agreement.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.agreement.assess import assess
from annotator.agreement.judged import CATEGORIES, Floats, Ints, Judged, sort_judged
from annotator.agreement.measure import mean_kappas, measure
from annotator.agreement.own import measure_own
from annotator.agreement.speed import limit_quick
from annotator.domain.agreement import AgreementReport, GroupAgreement, Selection, Value
from annotator.domain.behind import OwnAgreement, PairsBehind
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.ground_truth import QUERY_FIELDS
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.storage.behind_selection import list_selected
from annotator.storage.database import Database
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.left_out import LeftOutJudgment, list_left_out
from annotator.storage.own_agreement import list_own_couples
from annotator.storage.tables import CurrentJudgmentRow, DatasetRow, PairRow, PersonRow, QueryRow

MAX_RESAMPLES = 100_000
ROWS_AT_ONCE = 50_000
GROUP_FIELDS: tuple[str, ...] = tuple(name for name in QUERY_FIELDS if name != "narrative")


def compute_agreement(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> AgreementReport:
    """Every coefficient with its 95 % interval, per annotator pair, for the dataset, and by group.

    `by`: "annotator", a field of the queries (category, language, query_type, difficulty, primary_domain),
    or a key of their metadata. `resamples` 0 leaves the intervals out. Real usernames: for leads only.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        return measure_agreement(session, row, by=by, resamples=resamples, seed=seed)


def measure_agreement(
    session: Session,
    row: DatasetRow,
    *,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    pseudonyms: Mapping[int, str] | None = None,
    columns: "GradeColumns | None" = None,
) -> AgreementReport:
    """The same within a transaction that is open already; whoever calls it has checked the role.

    `pseudonyms` (by annotator_pk) stand for the usernames, in the diagnosis too; releases use them. `columns`: the
    grades where the caller has read them already; they are read otherwise.
    """
    if not 0 <= resamples <= MAX_RESAMPLES:
        raise ValidationError(f"resamples: expected 0 to {MAX_RESAMPLES}, found {resamples}")
    if seed < 0:
        raise ValidationError(f"seed: expected 0 or more, found {seed}")
    columns = _read_grades(session, key_of(row.pk)) if columns is None else columns
    found = _name_judged(session, columns.take(), pseudonyms)
    labels = _read_groups(session, key_of(row.pk), by)
    measured = measure(found.judged, found.names, resamples=resamples, seed=seed)
    rubric = find_rubric(session, key_of(row.pk))
    groups = _measure_groups(found, by, labels, resamples=resamples, seed=seed)
    assessed = assess(
        found.judged,
        names=found.names,
        measured=measured,
        target=row.kappa_target,
        grade_names=[entry["name"] for entry in rubric.grades],
        groups=groups if by == "category" else (),
        simulated=found.simulated,
    )
    return AgreementReport(
        dataset=row.name,
        annotators=found.names,
        simulated=bool(found.simulated),
        kappa_target=row.kappa_target,
        resamples=resamples,
        seed=seed,
        measured=replace(measured, leanings=assessed.leanings),
        groups=groups,
        findings=assessed.findings,
        verdict=assessed.verdict,
    )


def list_pairs_behind(
    database: Database, actor: Actor, dataset: str, selection: Selection, *, limit: int, offset: int = 0
) -> PairsBehind:
    """The pairs that a figure or a sentence is about: the furthest apart first, then in the queries' order. For leads,
    who see nothing of a pair that they have still to judge themselves."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        person = actor.person_id
        return list_selected(session, dataset_pk, person, selection, limit=limit, offset=offset, limit_quick=limit_quick)  # fmt: skip


def list_left_out_judgments(
    database: Database, actor: Actor, dataset: str, kind: str, *, limit: int, offset: int = 0
) -> list[LeftOutJudgment]:
    """Judgments that are left out for this reason (`LeftOut.kind`), in the order in which they came in. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return list_left_out(session, dataset_pk, kind, limit=limit, offset=offset)


def show_own_agreement(
    database: Database, actor: Actor, dataset: str, *, resamples: int = 1000, seed: int = 0
) -> OwnAgreement:
    """How well the annotator agrees with all others together. NotAllowed unless the dataset's leads allow it."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "annotator")
        if not row.show_own_agreement:
            raise NotAllowed(
                say("the leads of {dataset} have not opened this to annotators", dataset=dataset)
            )
        person = require_person(actor)
        rows = list_own_couples(session, key_of(row.pk), person)
    return measure_own(rows, person, resamples=resamples, seed=seed)


def compute_kappa(session: Session, dataset_pk: int) -> Value:
    """Cohen's kappa of the dataset (unweighted), without interval: what gates compare with `kappa_target`.

    The same figure as `cohen_kappa.unweighted` of the report, cheap enough for every page: the database
    counts the tables of the annotator pairs. Undefined: `why`.
    """
    one, other = aliased(CurrentJudgmentRow), aliased(CurrentJudgmentRow)
    columns = (col(one.annotator_pk), col(other.annotator_pk), col(one.grade), col(other.grade))
    statement = (
        select(*columns, func.count())
        .join(other, col(other.pair_pk) == col(one.pair_pk))
        .join(PairRow, col(PairRow.pk) == col(one.pair_pk))
        .where(*_counting(one, dataset_pk), *_counting(other, dataset_pk))
        .where(col(one.annotator_pk) < col(other.annotator_pk), col(PairRow.retired_at).is_(None))
        .group_by(*columns)
    )
    tables: dict[tuple[int, int], Floats] = {}
    for first, second, row, column, count in session.execute(statement):
        table = tables.setdefault((first, second), np.zeros((CATEGORIES, CATEGORIES)))
        table[row, column] = count
    stacked = [table for _, table in sorted(tables.items())]
    return mean_kappas(np.array(stacked).reshape(-1, CATEGORIES, CATEGORIES))["unweighted"]


def _counting(row: type[CurrentJudgmentRow], dataset_pk: int) -> tuple[ColumnElement[bool], ...]:
    """What counts: the current independent judgments of the dataset that carry a grade. Pairs that have left the
    pool do not count: whoever asks leaves them out."""
    return (
        col(row.dataset_pk) == dataset_pk,
        col(row.purpose) == "independent",
        col(row.outcome) == "graded",
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The judgments as columns (query: query_pk; annotator: place in `names`), and who the annotators are."""

    judged: Judged
    names: tuple[str, ...]
    simulated: tuple[str, ...]


class GradeColumns:
    """The current independent grades of a dataset, collected pair by pair by somebody who reads them anyway."""

    def __init__(self) -> None:
        self._query, self._pair, self._annotator, self._grade = (array("q") for _ in range(4))

    def add(self, query_pk: int, pair_pk: int, grades: Mapping[int, int]) -> None:
        """A pair's grades by annotator_pk."""
        for annotator_pk, grade in grades.items():
            self._query.append(query_pk)
            self._pair.append(pair_pk)
            self._annotator.append(annotator_pk)
            self._grade.append(grade)

    def extend(self, columns: Sequence[Iterable[int]]) -> None:
        """Many judgments as four columns: query_pk, pair_pk, annotator_pk, grade."""
        for kept, more in zip((self._query, self._pair, self._annotator, self._grade), columns, strict=True):
            kept.extend(more)

    def take(self) -> tuple[Ints, Ints, Ints, Ints]:
        """query_pk, pair_pk, annotator_pk and grade of every judgment, handed over: nothing is left here."""
        columns = (self._query, self._pair, self._annotator, self._grade)
        self._query, self._pair, self._annotator, self._grade = (array("q") for _ in range(4))
        query, pair, annotator, grade = (
            np.frombuffer(column, dtype=np.int64) if column else np.zeros(0, dtype=np.int64)
            for column in columns
        )
        return query, pair, annotator, grade


def _read_grades(session: Session, dataset_pk: int) -> GradeColumns:
    """The same from the database."""
    statement = (
        select(
            col(PairRow.query_pk),
            col(CurrentJudgmentRow.pair_pk),
            col(CurrentJudgmentRow.annotator_pk),
            col(CurrentJudgmentRow.grade),
        )
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(*_counting(CurrentJudgmentRow, dataset_pk), col(PairRow.retired_at).is_(None))
    )
    found = GradeColumns()
    result = session.execute(statement, execution_options={"yield_per": ROWS_AT_ONCE})
    for rows in result.partitions():
        found.extend(list(zip(*rows, strict=True)))
    return found


def _name_judged(
    session: Session, columns: tuple[Ints, Ints, Ints, Ints], pseudonyms: Mapping[int, str] | None
) -> _Found:
    query, pair, person, grade = columns
    pks, annotator = np.unique(person, return_inverse=True)
    people = _read_people(session, pks.tolist())
    named = [(people[pk][0] if pseudonyms is None else pseudonyms[pk]) for pk in pks.tolist()]
    order = sorted(range(len(named)), key=lambda place: named[place])
    number = np.empty(len(named), dtype=np.int64)
    number[order] = np.arange(len(named))
    names = tuple(named[place] for place in order)
    simulated = tuple(named[place] for place in order if people[int(pks[place])][1])
    return _Found(sort_judged(query, pair, number[annotator], grade), names, simulated)


def _read_people(session: Session, pks: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Username and whether simulated, by person's key."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    people = session.execute(statement.where(col(PersonRow.pk).in_(pks)))
    return {key_of(pk): (username, simulated) for pk, username, simulated in people}


def _read_groups(session: Session, dataset_pk: int, by: str | None) -> dict[int, str | None]:
    """The value of this field or metadata key by query_pk. ValidationError when no query has such a one."""
    if by is None or by == "annotator":
        return {}
    column = col(getattr(QueryRow, by)) if by in GROUP_FIELDS else col(QueryRow.extra)
    rows = session.execute(
        select(col(QueryRow.pk), column).where(col(QueryRow.dataset_pk) == dataset_pk)
    ).all()
    if by in GROUP_FIELDS:
        return {key_of(pk): value for pk, value in rows}
    keys = sorted({key for _, extra in rows for key in extra})
    if by not in keys:
        known = ", ".join((*GROUP_FIELDS, "annotator", *keys))
        raise ValidationError(f"cannot group by {by!r}; there are: {known}")
    return {key_of(pk): None if extra.get(by) is None else str(extra[by]) for pk, extra in rows}


def _measure_groups(
    found: _Found, by: str | None, labels: Mapping[int, str | None], *, resamples: int, seed: int
) -> tuple[GroupAgreement, ...]:
    """One measurement per annotator or per value of the queries' field; queries without one come last."""
    options: dict[str, int] = {"resamples": resamples, "seed": seed}
    if by is None:
        return ()
    if by == "annotator":
        return tuple(
            GroupAgreement(by, name, measure(found.judged, found.names, only=number, **options))
            for number, name in enumerate(found.names)
        )
    groups = []
    for value in sorted(set(labels.values()), key=lambda label: (label is None, label or "")):
        queries = [pk for pk, label in labels.items() if label == value]
        judged = found.judged.where(np.isin(found.judged.query, queries))
        groups.append(GroupAgreement(by, value, measure(judged, found.names, **options)))
    return tuple(groups)
