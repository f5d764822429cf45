"""Publish, compare and merge guideline versions for leads; explain changes since an answer to annotators.

Every judgment keeps its version and text. A version holds all languages, so a new or corrected translation is
also a new version, and earlier judgments keep their texts. The scale, grades 0 to 3, is the same in every
version. A version that is not based on the latest version is refused, so nothing is overwritten.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError, NotFound, StateError
from annotator.domain.grades import Rubric
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.guideline.compare import (
    GuidelineComparison,
    LineDiff,
    compare_lines,
    compare_readings,
    compare_rubrics,
)
from annotator.guideline.feedback_sql import DecisionKey, add_decisions_behind, unmark_questions
from annotator.guideline.merge import GuidelineMerge, merge_rubrics
from annotator.guideline.validation import check_change, check_rubric, clean_rubric
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.outdated import (
    OLDER_GUIDELINE,
    OLDER_TEXT,
    OutdatedCount,
    begin_marking,
    count_changeable,
    count_outdated_by_annotator,
    find_judgment_basis,
    find_text,
    finish_marking,
)
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.lookup import (
    find_handed_out,
    find_rubric,
    key_of,
    make_rubric_row,
    to_rubric,
)
from annotator.storage.tables.central import PersonRow, RubricRow


@dataclass(frozen=True, slots=True)
class GuidelineVersion:
    """A published version of a dataset's guideline."""

    version: int
    rubric: Rubric
    change: str  # against the version before: "minor" or "semantic"
    why: str
    author: str | None  # None: the operator
    created_at: datetime


class VersionConflict(ConflictError):
    """Another version, `published`, came after `base`, from which `draft` started. `merge`: both merged."""

    def __init__(self, base: GuidelineVersion, published: GuidelineVersion, draft: Rubric) -> None:
        self.base, self.published, self.draft = base, published, draft
        self.merge = merge_rubrics(base.rubric, published.rubric, draft)
        super().__init__(
            say(
                "Version {theirs} was published while you were changing version {base}. Combine both, then "
                "publish again.",
                theirs=published.version,
                base=base.version,
            )
        )


@dataclass(frozen=True, slots=True)
class GuidelineChange:
    """The changes between two versions of the guideline, for a reader of one language."""

    from_version: int
    to_version: int
    why: str  # the reasons given, one per line, oldest first
    comparison: GuidelineComparison
    shown_since_in: str | None = None  # the language that the reader sees now, if it changed


@dataclass(frozen=True, slots=True)
class OutdatedExplanation:
    """Why an annotator is asked again: the changes since their judgment, or None."""

    guideline: GuidelineChange | None
    text: LineDiff | None


def check_new_rubric(rubric: Rubric) -> None:
    """Raise the same errors for these texts as `publish_version`."""
    check_rubric(clean_rubric(rubric))


def publish_version(
    database: Database,
    actor: Actor,
    dataset: str,
    rubric: Rubric,
    *,
    base_version: int,
    change: str,
    why: str = "",
    decisions: Collection[DecisionKey] = (),
    questions: Collection[int] = (),
    may_remove_languages: bool = False,
    now: datetime,
) -> GuidelineVersion:
    """Append a version that was written from `base_version`. It applies immediately.

    After a "semantic" change (meaning of a grade), annotators must confirm or change all earlier judgments;
    after a "minor" change (wording) not. Judgments are marked as outdated in batches, so others can label at
    the same time (`storage/judgments/outdated.py`). `decisions` led to this version. `questions` are
    answered by it and lose their mark. Raises VersionConflict if another version was published in the
    meantime. Raises StateError if nothing changed, if conflict marks remain, or if a language is missing
    without the request to remove it.
    """
    cleaned = clean_rubric(rubric)
    check_rubric(cleaned)
    check_change(change, why)
    finish_marking(database)  # of an earlier change with a killed process
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        lock_dataset(session, dataset_pk)
        current = find_rubric(session, dataset_pk)
        if current.version != base_version:
            base = _find_version(session, dataset_pk, base_version)
            raise VersionConflict(_to_version(session, base), _to_version(session, current), cleaned)
        if cleaned == _read_rubric(current):
            raise StateError(
                say(
                    "There is nothing to publish: the draft is the same as version {version}.",
                    version=base_version,
                )
            )
        if not may_remove_languages:
            _require_languages(_read_rubric(current), cleaned)
        reason = {"change": change, "why": why.strip() or None, "author_pk": actor.person_id}
        published = make_rubric_row(dataset_pk, cleaned, base_version + 1, now=now, **reason)
        session.add(published)
        session.flush()
        _note_published(session, published, actor, decisions, questions)
        if change == "semantic":
            begin_marking(session, dataset_pk, key_of(published.pk))
        version = _to_version(session, published)
    finish_marking(database)
    return version


def finish_guideline_changes(database: Database) -> None:
    """Finish marking outdated judgments after a killed publish. Called when the program starts."""
    finish_marking(database)


def list_versions(database: Database, actor: Actor, dataset: str) -> list[GuidelineVersion]:
    """Return every version of the guideline, the newest first."""
    with database.read() as session:
        dataset_pk = _require_dataset(session, actor, dataset)
        statement = select(RubricRow).where(col(RubricRow.dataset_pk) == dataset_pk)
        rows = session.scalars(statement.order_by(col(RubricRow.version).desc())).all()
        return [_to_version(session, row) for row in rows]


def read_version(
    database: Database, actor: Actor, dataset: str, version: int | None = None
) -> GuidelineVersion:
    """Return one version of the guideline; the latest if none is named."""
    with database.read() as session:
        return _to_version(
            session, _find_version(session, _require_dataset(session, actor, dataset), version)
        )


def compare_versions(
    database: Database, actor: Actor, dataset: str, before: int, after: int
) -> GuidelineComparison:
    """Compare two versions, grade by grade and line by line."""
    with database.read() as session:
        dataset_pk = _require_dataset(session, actor, dataset)
        old, new = (_find_version(session, dataset_pk, version) for version in (before, after))
        return compare_rubrics(_read_rubric(old), _read_rubric(new))


def compare_draft(base: Rubric, draft: Rubric) -> GuidelineComparison:
    """Compare a draft with the current version."""
    return compare_rubrics(clean_rubric(base), clean_rubric(draft))


def merge_draft(
    database: Database, actor: Actor, dataset: str, rubric: Rubric, base_version: int
) -> tuple[GuidelineVersion, GuidelineMerge]:
    """Return (latest version, its merge with a draft based on `base_version`). For leads."""
    with database.read() as session:
        dataset_pk = _require_dataset(session, actor, dataset, role="lead")
        base = _read_rubric(_find_version(session, dataset_pk, base_version))
        latest = _to_version(session, find_rubric(session, dataset_pk))
    return latest, merge_rubrics(base, latest.rubric, clean_rubric(rubric))


def explain_change(
    database: Database, actor: Actor, dataset: str, pair: str, *, language: str = ""
) -> OutdatedExplanation:
    """Return the guideline's changes since the actor judged this pair, in this language.

    Works for answers on checks too. Raises NotFound if the actor never received the pair.
    """
    with database.read() as session:
        dataset_pk, person_pk = _require_dataset(session, actor, dataset), require_person(actor)
        pair_pk = find_handed_out(session, dataset_pk, person_pk, pair)
        if pair_pk is None:
            raise NotFound(say("You have not judged this pair."))
        own = find_judgment_basis(session, pair_pk, person_pk)
        if own is None:
            return OutdatedExplanation(None, None)
        guideline = (
            _explain_guideline_change(session, dataset_pk, own.version, language)
            if own.stale & OLDER_GUIDELINE
            else None
        )
        texts = [
            find_text(session, own.document_pk, name) for name in (own.judged_sha256, own.present_sha256)
        ]
    changed = compare_lines(texts[0], texts[1]) if own.stale & OLDER_TEXT else None
    return OutdatedExplanation(guideline, changed)


def explain_versions_since(
    database: Database, actor: Actor, dataset: str, version: int, *, language: str = ""
) -> GuidelineChange:
    """Return the guideline's changes since that version, in this language. Raises NotFound."""
    with database.read() as session:
        dataset_pk = _require_dataset(session, actor, dataset)
        _find_version(session, dataset_pk, version)
        return _explain_guideline_change(session, dataset_pk, version, language)


def count_outdated(database: Database, actor: Actor, dataset: str) -> list[OutdatedCount]:
    """Count the judgments that each annotator is asked to confirm or change. For leads."""
    with database.read() as session:
        dataset_pk = _require_dataset(session, actor, dataset, role="lead")
        return count_outdated_by_annotator(session, dataset_pk)


def count_judgments_made_outdated(database: Database, actor: Actor, dataset: str) -> int:
    """Count the judgments that a semantic change would make outdated. For leads."""
    with database.read() as session:
        return count_changeable(session, _require_dataset(session, actor, dataset, role="lead"))


def _require_languages(before: Rubric, after: Rubric) -> None:
    missing = [tag for tag in before.languages if tag not in after.languages]
    if missing:
        raise StateError(
            say(
                "The guideline is given in {languages}. This version lacks {missing}: add it, or ask for its removal.",
                languages=", ".join(before.languages),
                missing=", ".join(missing),
            )
        )


def _note_published(
    session: Session,
    published: RubricRow,
    actor: Actor,
    decisions: Collection[DecisionKey],
    questions: Collection[int],
) -> None:
    """Note the version in the audit log, store the decisions behind it, and unmark the answered questions."""
    after: dict[str, object] = {
        "version": published.version,
        "change": published.change,
        "why": published.why,
    }
    languages = _read_rubric(published).languages
    if len(languages) > 1:
        after["languages"] = list(languages)
    if decisions:
        after["decisions"] = len(set(decisions))
    before, at, person_pk = {"version": published.version - 1}, published.created_at, actor.person_id
    event = AuditEvent("published guideline", published.dataset_pk, person_pk, at, before=before, after=after)
    add_events(session, [event])
    rubric_pk = key_of(published.pk)
    add_decisions_behind(
        session, published.dataset_pk, rubric_pk, published.version, decisions, person_pk=person_pk, now=at
    )
    unmark_questions(session, published.dataset_pk, questions)


def _require_dataset(session: Session, actor: Actor, dataset: str, *, role: str = "annotator") -> int:
    """Return dataset_pk. Raises NotAllowed without the role on the dataset."""
    return key_of(enter_dataset(session, actor, dataset, role).pk)


def _find_version(session: Session, dataset_pk: int, version: int | None) -> RubricRow:
    if version is None:
        return find_rubric(session, dataset_pk)
    statement = select(RubricRow).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.version) == version
    )
    row = session.scalars(statement).first()
    if row is None:
        latest = find_rubric(session, dataset_pk).version
        raise NotFound(
            say(
                "There is no version {version}. Choose one from 1 to {latest}.",
                version=version,
                latest=latest,
            )
        )
    return row


def _explain_guideline_change(
    session: Session, dataset_pk: int, version: int, language: str
) -> GuidelineChange:
    since = select(RubricRow).where(
        col(RubricRow.dataset_pk) == dataset_pk, col(RubricRow.version) >= version
    )
    rows = session.scalars(since.order_by(col(RubricRow.version))).all()
    why = "\n".join(row.why for row in rows[1:] if row.why)
    comparison, since_in = compare_readings(_read_rubric(rows[0]), _read_rubric(rows[-1]), language)
    return GuidelineChange(rows[0].version, rows[-1].version, why, comparison, since_in)


def _to_version(session: Session, row: RubricRow) -> GuidelineVersion:
    author = session.get(PersonRow, row.author_pk) if row.author_pk is not None else None
    name = None if author is None else author.name or author.username
    return GuidelineVersion(row.version, _read_rubric(row), row.change, row.why or "", name, row.created_at)


def _read_rubric(row: RubricRow) -> Rubric:
    """Return the rubric with today's cleaning: earlier versions may contain invisible spaces."""
    return clean_rubric(to_rubric(row))
