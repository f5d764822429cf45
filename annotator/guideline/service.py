"""Publish, compare and merge guideline versions for leads, and explain to annotators what changed since an answer.

Every judgment keeps its version and the text it was made on. The scale, grades 0 to 3, is the same in every version. Refuses
a version based on one that is no longer the latest, so nothing is overwritten.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError, NotFound, StateError
from annotator.domain.grades import Rubric
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.guideline.compare import DiffLine as DiffLine
from annotator.guideline.compare import GradeChange as GradeChange
from annotator.guideline.compare import GuidelineComparison as GuidelineComparison
from annotator.guideline.compare import LineDiff as LineDiff
from annotator.guideline.compare import compare_lines, compare_standards
from annotator.guideline.compare import propose_change as propose_change
from annotator.guideline.feedback_sql import Named, add_led, take_marks_off
from annotator.guideline.merge import GuidelineMerge as GuidelineMerge
from annotator.guideline.merge import find_conflicts as find_conflicts
from annotator.guideline.merge import merge_standards
from annotator.guideline.validation import check_change, check_standard, clean_standard
from annotator.guideline.validation import read_examples as read_examples
from annotator.guideline.validation import write_examples as write_examples
from annotator.people.service import require_person, require_role
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disagreements import mark_disputes_stale
from annotator.storage.lookup import find_dataset, find_pair_pk, find_rubric, key_of, to_rubric
from annotator.storage.outdated import (
    OLDER_STANDARD,
    OLDER_TEXT,
    JudgmentBasis,
    count_changeable,
    count_outdated_by_annotator,
    find_own_standing,
    find_text,
    mark_older_standard,
)
from annotator.storage.outdated import OutdatedCount as OutdatedCount
from annotator.storage.tables import PersonRow, RubricRow


@dataclass(frozen=True, slots=True)
class GuidelineVersion:
    """A version of a dataset's standard. `change` ("minor", "semantic") is against the version before; `author` None:
    the operator."""

    version: int
    rubric: Rubric
    change: str
    why: str
    author: str | None
    created_at: datetime


class VersionConflict(ConflictError):
    """Somebody published while this version was being written. `merge` holds both, `theirs` is what is published
    now, `base` what both began with."""

    def __init__(self, base: GuidelineVersion, theirs: GuidelineVersion, mine: Rubric) -> None:
        self.base, self.theirs, self.mine = base, theirs, mine
        self.merge = merge_standards(base.rubric, theirs.rubric, mine)
        super().__init__(
            say(
                "version {theirs} was published while this change of version {base} was being written; "
                "look at both, and publish what they make together",
                theirs=theirs.version,
                base=base.version,
            )
        )


@dataclass(frozen=True, slots=True)
class GuidelineChange:
    """What changed in the standard between two versions; `why`: the reasons given, oldest first."""

    from_version: int
    to_version: int
    why: str
    comparison: GuidelineComparison


@dataclass(frozen=True, slots=True)
class OutdatedExplanation:
    """Why an own answer is asked for again: what changed in the standard, and in the document's text. None: nothing
    that matters did."""

    standard: GuidelineChange | None
    text: LineDiff | None


def publish_version(
    database: Database,
    actor: Actor,
    dataset: str,
    rubric: Rubric,
    *,
    base_version: int,
    change: str,
    why: str = "",
    decisions: Collection[Named] = (),
    questions: Collection[int] = (),
    now: datetime,
) -> GuidelineVersion:
    """Append a version that was written from `base_version`. "semantic" (what a grade means) puts every answer given
    so far on its author's list; "minor" (wording) none. `decisions` (pair and revision) led to it; `questions` that were
    marked for the guideline are answered by it, and no longer marked.

    VersionConflict when another version was published in between; StateError when nothing is changed, or when the
    marks of a merge are left in it.
    """
    mine = clean_standard(rubric)
    check_standard(mine)
    check_change(change, why)
    with database.write() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        lock_dataset(session, dataset_pk)
        current = find_rubric(session, dataset_pk)
        if current.version != base_version:
            base = _find_version(session, dataset_pk, base_version)
            raise VersionConflict(_record(session, base), _record(session, current), mine)
        if mine == _standard(current):
            raise StateError(
                say(
                    "nothing differs from version {version}, so there is nothing to publish",
                    version=base_version,
                )
            )
        made = _version_row(dataset_pk, mine, base_version + 1, change, why.strip(), actor, now)
        session.add(made)
        session.flush()
        _note_lessons(session, made, actor, decisions, questions)
        if change == "semantic":
            mark_older_standard(session, dataset_pk)
            mark_disputes_stale(session, dataset_pk)
        return _record(session, made)


def list_versions(database: Database, actor: Actor, dataset: str) -> list[GuidelineVersion]:
    """Every version of the standard, the newest first."""
    with database.read() as session:
        dataset_pk = _open(session, actor, dataset)
        statement = select(RubricRow).where(col(RubricRow.dataset_pk) == dataset_pk)
        rows = session.scalars(statement.order_by(col(RubricRow.version).desc())).all()
        return [_record(session, row) for row in rows]


def read_version(
    database: Database, actor: Actor, dataset: str, version: int | None = None
) -> GuidelineVersion:
    """One version of the standard; the one in force when none is named."""
    with database.read() as session:
        return _record(session, _find_version(session, _open(session, actor, dataset), version))


def compare_versions(
    database: Database, actor: Actor, dataset: str, before: int, after: int
) -> GuidelineComparison:
    """What differs between two versions, grade by grade and line by line of the guideline."""
    with database.read() as session:
        dataset_pk = _open(session, actor, dataset)
        old, new = (_find_version(session, dataset_pk, version) for version in (before, after))
        return compare_standards(_standard(old), _standard(new))


def compare_draft(base: Rubric, draft: Rubric) -> GuidelineComparison:
    """What publishing a draft would change."""
    return compare_standards(clean_standard(base), clean_standard(draft))


def merge_draft(
    database: Database, actor: Actor, dataset: str, rubric: Rubric, base_version: int
) -> tuple[GuidelineVersion, GuidelineMerge]:
    """A draft that was begun from `base_version`, together with the version in force; and that version. For leads."""
    with database.read() as session:
        dataset_pk = _open(session, actor, dataset, role="lead")
        base = _standard(_find_version(session, dataset_pk, base_version))
        theirs = _record(session, find_rubric(session, dataset_pk))
    return theirs, merge_standards(base, theirs.rubric, clean_standard(rubric))


def explain_change(database: Database, actor: Actor, dataset: str, pair: str) -> OutdatedExplanation:
    """What changed since the actor's own answer on a pair (by its key). NotFound without an own answer."""
    with database.read() as session:
        dataset_pk, person_pk = _open(session, actor, dataset), require_person(actor)
        pair_pk = find_pair_pk(session, dataset_pk, person_pk, pair)
        own = None if pair_pk is None else find_own_standing(session, pair_pk, person_pk)
        if own is None:
            raise NotFound(say("you have not judged this pair"))
        standard = _explain_standard(session, dataset_pk, own) if own.stale & OLDER_STANDARD else None
        texts = [
            find_text(session, own.document_pk, name) for name in (own.judged_sha256, own.present_sha256)
        ]
    changed = compare_lines(texts[0], texts[1]) if own.stale & OLDER_TEXT else None
    return OutdatedExplanation(standard, changed)


def count_outdated(database: Database, actor: Actor, dataset: str) -> list[OutdatedCount]:
    """For each annotator with answers to confirm or change, how many. For leads."""
    with database.read() as session:
        dataset_pk = _open(session, actor, dataset, role="lead")
        return count_outdated_by_annotator(session, dataset_pk)


def count_asked_again(database: Database, actor: Actor, dataset: str) -> int:
    """How many answers a semantic change would put on their authors' lists. For leads."""
    with database.read() as session:
        return count_changeable(session, _open(session, actor, dataset, role="lead"))


def _note_lessons(
    session: Session,
    made: RubricRow,
    actor: Actor,
    decisions: Collection[Named],
    questions: Collection[int],
) -> None:
    """What led to a version, and that it was published, in the trail."""
    told: dict[str, object] = {"version": made.version, "change": made.change, "why": made.why}
    if decisions:
        told["decisions"] = len(set(decisions))
    before, at, person_pk = {"version": made.version - 1}, made.created_at, actor.person_id
    event = AuditEvent("published guideline", made.dataset_pk, person_pk, at, before=before, after=told)
    add_events(session, [event])
    rubric_pk = key_of(made.pk)
    add_led(session, made.dataset_pk, rubric_pk, made.version, decisions, person_pk=person_pk, now=at)
    take_marks_off(session, made.dataset_pk, questions)


def _open(session: Session, actor: Actor, dataset: str, *, role: str = "annotator") -> int:
    """The dataset's key, for somebody who has the role on it."""
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, role)
    return dataset_pk


def _find_version(session: Session, dataset_pk: int, version: int | None) -> RubricRow:
    if version is None:
        return find_rubric(session, dataset_pk)
    named = select(RubricRow).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.version) == version
    )
    found = session.scalars(named).first()
    if found is None:
        latest = find_rubric(session, dataset_pk).version
        raise NotFound(say("no version {version}; there are 1 to {latest}", version=version, latest=latest))
    return found


def _explain_standard(session: Session, dataset_pk: int, own: JudgmentBasis) -> GuidelineChange:
    since = select(RubricRow).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.version) >= own.version
    )
    rows = session.scalars(since.order_by(col(RubricRow.version))).all()
    why = "\n".join(row.why for row in rows[1:] if row.why)
    comparison = compare_standards(_standard(rows[0]), _standard(rows[-1]))
    return GuidelineChange(rows[0].version, rows[-1].version, why, comparison)


def _version_row(
    dataset_pk: int, rubric: Rubric, version: int, change: str, why: str, actor: Actor, now: datetime
) -> RubricRow:
    return RubricRow.model_validate(
        {
            "dataset_pk": dataset_pk,
            "version": version,
            "title": rubric.title,
            "guideline": rubric.guideline,
            "grades": [asdict(definition) for definition in rubric.grades],
            "change": change,
            "why": why or None,
            "author_pk": actor.person_id,
            "created_at": now,
        }
    )


def _record(session: Session, row: RubricRow) -> GuidelineVersion:
    author = session.get(PersonRow, row.author_pk) if row.author_pk is not None else None
    name = None if author is None else author.name or author.username
    return GuidelineVersion(row.version, _standard(row), row.change, row.why or "", name, row.created_at)


def _standard(row: RubricRow) -> Rubric:
    """As it would be published today: earlier versions may hold spaces that nobody sees."""
    return clean_standard(to_rubric(row))
