"""Read the facts for deciding about a submission, and append the accepted judgments, each key press once.

Runs in the transaction of `labeling/service.py`; `labeling/submission.py` decides.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import StateError
from annotator.domain.judgments import AnsweredPair, PresentJudgment, TrainingFeedback, TrainingState
from annotator.labeling.exchange_sql import ExchangeContext
from annotator.labeling.next_pairs_sql import (
    find_repeats,
    find_training,
    note_repeats_answered,
    read_explanations,
)
from annotator.labeling.open_pairs_sql import Eligibility
from annotator.labeling.records import AnnotatorPairState, StoredEvent
from annotator.labeling.submission import AcceptedAnswer, SubmissionPlan
from annotator.storage.judgments.answers import AnswerRules, NewAnswer, mark_late, store_answers
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import forget_unanswered_queries, lock_counters
from annotator.storage.judgments.outdated import STALE_ANSWERS
from annotator.storage.judgments.quality_pairs import DECIDED_SINCE, NOT_PUT_OFF, follow_answers
from annotator.storage.lookup import HANDED_OUT, IS_FREED, OpenPairsRequest
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.sql import fetch_tuples, prepare_sql, read_json, read_time
from annotator.storage.tables.labeling import RepeatRow

_COLUMNS = """
SELECT p.key, {freed}, (
    SELECT max(CASE WHEN x.outcome IS NULL THEN 'waiting' WHEN {decided_since} THEN 'decided' ELSE x.outcome END)
    FROM quality_pair x CROSS JOIN quality_draw w
    WHERE x.pair_pk = p.pk AND w.pk = x.draw_pk AND w.annotator_pk = :annotator_pk
      AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)), {stored},
  p.pk, p.query_pk, p.document_pk, p.retired_at IS NOT NULL, p.kept AND p.judged = 0, p.wanted, p.lacking,
  p.judged, k.kind, EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk),
  EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk),
  l.pair_pk IS NOT NULL, coalesce(l.expires_at > :now AND l.expires_at <= :latest, FALSE), ({{eligible}}),
  c.outcome, c.purpose, coalesce(c.stale, 0)
FROM pair p LEFT JOIN check_pair k ON k.pair_pk = p.pk
LEFT JOIN lease l ON l.pair_pk = p.pk AND l.annotator_pk = :annotator_pk
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.dataset_pk + 0 = :dataset_pk AND {handed_out}"""
_HANDED_OUT = {
    "key": f"p.key IN :named AND {HANDED_OUT}",
    "pk": "p.pk IN :named",
}  # the latter of own repeats
_OF_ANSWERED = """
  CASE WHEN p.{column} IN :answered THEN {list}(
    (SELECT d.text_sha256 FROM document d WHERE d.pk = p.document_pk),
    {nest}((SELECT {list_all}(t.sha256) FROM document_text t WHERE t.document_pk = p.document_pk)),
    {nest}((SELECT {list_all}({list}(o.annotator_pk, o.outcome, o.grade, o.purpose, o.made_at, o.stale,
      (SELECT r.version FROM rubric r WHERE r.pk = o.rubric_pk))) FROM current_judgment o WHERE o.pair_pk = p.pk)),
    (SELECT count(*) FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk),
    NOT (p.kept OR p.retired_at IS NOT NULL OR k.kind IS NOT NULL
      OR EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)
      OR EXISTS (SELECT 1 FROM quality_pair x WHERE x.pair_pk = p.pk)
      OR EXISTS (SELECT 1 FROM question u WHERE u.pair_pk = p.pk AND u.answered_at IS NULL)
      OR EXISTS (SELECT 1 FROM objection b WHERE b.pair_pk = p.pk)
      OR EXISTS (SELECT 1 FROM proposal v WHERE v.pair_pk = p.pk)
      OR EXISTS (SELECT 1 FROM imported_qrel i WHERE i.pair_pk = p.pk)),
    EXISTS (SELECT 1 FROM dispute s WHERE s.pair_pk = p.pk)) END"""
_JSON = {
    "sqlite": {"list_all": "json_group_array", "list": "json_array", "nest": "json"},
    "postgresql": {"list_all": "json_agg", "list": "json_build_array", "nest": ""},
}


def _write_states(column: str, dialect: str, *, answered: bool) -> str:
    stored = _OF_ANSWERED.format(column=column, **_JSON[dialect]) if answered else "NULL"
    return _COLUMNS.format(
        handed_out=_HANDED_OUT[column], decided_since=DECIDED_SINCE, freed=IS_FREED, stored=stored
    )


_STATES = {
    (column, dialect, answered): _write_states(column, dialect, answered=answered)
    for column in ("key", "pk")
    for dialect in _JSON
    for answered in (True, False)
}
_TRIED = prepare_sql(
    "SELECT DISTINCT j.pair_pk FROM judgment j WHERE j.pair_pk IN :named AND j.annotator_pk = :annotator_pk "
    f"AND j.purpose = :kind AND {NOT_PUT_OFF}",
    lists=["named"],
)


_PRESSES = prepare_sql(
    "SELECT j.browser, j.browser_number, j.judged_at, r.version FROM (SELECT browser, browser_number, judged_at, rubric_pk, "
    "annotator_pk, line_id FROM judgment ORDER BY pk DESC LIMIT 10000) j JOIN rubric r ON r.pk = j.rubric_pk "
    "WHERE j.annotator_pk = :annotator_pk AND r.dataset_pk = :dataset_pk AND j.line_id IS NULL"
)  # the latest are enough, and read at once
_VERSIONS = prepare_sql("SELECT version, pk FROM rubric WHERE dataset_pk = :dataset_pk")
_TEXTS = prepare_sql(
    "SELECT d.pk, d.text_sha256, t.sha256 FROM document d LEFT JOIN document_text t ON t.document_pk = d.pk "
    "WHERE d.pk IN :documents",
    lists=["documents"],
)
_STORED = prepare_sql(
    "SELECT event_id, pair_pk, annotator_pk, outcome, grade FROM judgment WHERE event_id IN :events",
    lists=["events"],
)


class DocumentTexts(NamedTuple):
    """The texts of a document by their SHA-256."""

    present: str | None
    all: set[str]  # that it has or had


def read_pair_states(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    keys: Collection[str],
    answered: Collection[str] = (),
) -> dict[str, AnnotatorPairState]:
    """Return {key: state of the pair} for the keys that the browser sent.

    A repeat has its own key. Unknown keys, and keys of pairs that were not handed to the annotator, are
    absent. `answered`: the keys that come with an answer; their states have `stored`.
    """
    if not keys:
        return {}
    states = dict(_fetch_pair_states(session, request, eligibility, "key", keys, answered))
    unknown = [key for key in keys if key not in states]
    repeats = find_repeats(session, request, unknown) if unknown else {}
    if repeats:
        pair_pks = {repeat.pair_pk for repeat in repeats.values()}
        found = _fetch_pair_states(session, request, eligibility, "pk", pair_pks, pair_pks)
        repeated = {state.pair_pk: state for _, state in found}
        tried = _list_answered_repeats(session, [repeat.repeat_pk for repeat in repeats.values()])
        for key, repeat in repeats.items():
            states[key] = replace(
                repeated[repeat.pair_pk],
                repeat_pk=repeat.repeat_pk,
                tried=repeat.repeat_pk in tried,
                leased=False,
                held=False,
            )
    return _note_tried(session, request, states)


def _fetch_pair_states(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    column: str,
    named: Collection[object],
    answered: Collection[object],
) -> list[tuple[str, AnnotatorPairState]]:
    written = _STATES[column, session.get_bind().dialect.name, bool(answered)]
    statement = eligibility.prepare(written, query="p.query_pk")
    values = {**request.values, **eligibility.values, "named": list(named), "answered": list(answered)}
    return [(key, _to_state(*row)) for key, *row in fetch_tuples(session, statement, values)]


def _to_state(freed: bool | int | None, drawn: str | None, stored: Any, *facts: Any) -> AnnotatorPairState:
    """Return the state of a row of _COLUMNS. Flags are 0 or 1 on SQLite, Booleans on PostgreSQL.

    `drawn`: by quality control for this annotator: "waiting", "decided", or the outcome of the answer.
    `stored`: JSON of an AnsweredPair; None for a pair that is not answered.
    """
    answered = None if stored is None else _read_answered(read_json(stored))
    state = replace(AnnotatorPairState(*facts), freed=bool(freed), stored=answered)
    if drawn is None or state.kind is not None or state.answered:
        return state
    return replace(
        state,
        settled=drawn == "decided",
        outcome=None if drawn == "waiting" else drawn,
        purpose="quality",
        stale=0,
        drawn=True,
    )


def _read_answered(stored: Sequence[Any]) -> AnsweredPair:
    present_text, texts, judgments, given, plain, in_queue = stored
    return AnsweredPair(
        present_text,
        frozenset(texts or ()),
        tuple(PresentJudgment(*judgment) for judgment in judgments or ()),
        given,
        bool(plain),
        bool(in_queue),
    )


def _list_answered_repeats(session: Session, repeat_pks: Collection[int]) -> set[int]:
    answered = select(col(RepeatRow.pk)).where(
        col(RepeatRow.pk).in_(repeat_pks), col(RepeatRow.answered_at).is_not(None)
    )
    return {pk for pk in session.scalars(answered) if pk is not None}


def _note_tried(
    session: Session, request: OpenPairsRequest, states: dict[str, AnnotatorPairState]
) -> dict[str, AnnotatorPairState]:
    """Mark the checks that the annotator has answered before, and which of these answers are outdated."""
    for kind in ("training", "gold"):
        pair_pks = [
            state.pair_pk for state in states.values() if state.kind == kind and state.repeat_pk is None
        ]
        if pair_pks:
            values = {"annotator_pk": request.annotator_pk, "kind": kind, "named": pair_pks}
            tried = {pair_pk for (pair_pk,) in fetch_tuples(session, _TRIED, values)}
            for key, state in states.items():
                if state.pair_pk in tried and state.repeat_pk is None:
                    states[key] = replace(state, tried=True)
    checked = {
        key: state
        for key, state in states.items()
        if state.repeat_pk is None
        and ((state.drawn and state.answered) or (state.tried and not state.answered))
    }
    if checked:
        values = {
            "annotator_pk": request.annotator_pk,
            "pairs": [state.pair_pk for state in checked.values()],
        }
        stale = dict(fetch_tuples(session, STALE_ANSWERS, values))
        states |= {key: replace(state, stale=stale.get(state.pair_pk, 0)) for key, state in checked.items()}
    return states


class StoredFacts:
    """Reads the facts of `SubmissionLookups` lazily."""

    def __init__(self, session: Session, request: OpenPairsRequest, context: ExchangeContext) -> None:
        self.session, self.request, self.context = session, request, context
        self.has_training = context.has_training  # False as well once it is known that the annotator has none
        self.in_training: bool | None = None

    def find_training(self) -> TrainingState | None:
        """Return the state of the annotator's training, or None without training."""
        if not self.has_training:
            return None
        training = find_training(self.session, self.request, self.context.dataset, self.context.eligibility)
        self.has_training = training is not None
        return training

    def is_in_training(self) -> bool:
        """Return whether the annotator must pass a training before ordinary pairs come."""
        if self.in_training is None:
            training = self.find_training()
            self.in_training = training is not None and not training.passed
        return self.in_training


def store_plan(
    session: Session, request: OpenPairsRequest, context: ExchangeContext, plan: SubmissionPlan
) -> None:
    """Store the accepted answers in order, update the derived rows, and end the leases."""
    if not plan.answers:
        return
    dataset = context.dataset
    versions = {pk: version for version, pk in context.versions.items()}
    rules = AnswerRules(dataset.pk, dataset.overlap_rules, versions, context.meanings)
    shown = _find_shown_versions(session, request, plan.answers, context.versions)
    rows = [
        _to_row(request, answer, context.versions[shown[answer.event.event_id]]) for answer in plan.answers
    ]
    known = {answer.pair.pair_pk for answer in plan.answers if _get_stored(answer).given}
    by_event = {answer.event.event_id: answer for answer in plan.answers}
    answers = []
    for row in mark_late(session, rows, known=known):
        answer = by_event[row["event_id"]]
        pair = answer.pair
        answers.append(
            NewAnswer(row, pair.query_pk, pair.wanted, pair.judged, pair.lacking, _get_stored(answer))
        )
    left = store_answers(session, rules, answers)
    _derive_from(session, request, plan, left)


def _get_stored(answer: AcceptedAnswer) -> AnsweredPair:
    if answer.pair.stored is None:
        raise StateError(f"an answer on the pair {answer.event.pair}, of which too little was read")
    return answer.pair.stored


def _find_shown_versions(
    session: Session,
    request: OpenPairsRequest,
    answers: Sequence[AcceptedAnswer],
    versions: Collection[int],
) -> dict[str, int]:
    """Return {event_id: guideline version on the screen at the answer}.

    The browser names the version, which may be old after waiting without a connection. But a browser never
    goes back to an older version than it named at an earlier press.
    """
    latest = max(versions)
    events = [answer.event for answer in answers]
    named = {
        event.event_id: event.guideline_version if event.guideline_version in versions else latest
        for event in events
    }
    shown = {event_id: version or latest for event_id, version in named.items()}
    if all(version == latest for version in shown.values()):
        return shown
    first: dict[str | None, dict[int, Any]] = {}  # press of each browser at each version
    presses = [
        (browser, browser_number, read_time(judged_at), version)
        for browser, browser_number, judged_at, version in fetch_tuples(session, _PRESSES, request.values)
    ]
    presses += [(event.browser, event.number, event.pressed_at, shown[event.event_id]) for event in events]
    for browser, number, pressed_at, version in presses:
        press = pressed_at if browser is None else number
        of_browser = first.setdefault(browser, {})
        of_browser[version] = min(of_browser.get(version, press), press)
    for event in events:
        press = event.pressed_at if event.browser is None else event.number
        shown[event.event_id] = max(
            version for version, first_press in first[event.browser].items() if first_press <= press
        )
    return shown


def _to_row(request: OpenPairsRequest, answer: AcceptedAnswer, rubric_pk: int) -> dict[str, Any]:
    event, stored = answer.event, _get_stored(answer)
    return {
        "event_id": event.event_id,
        "pair_pk": answer.pair.pair_pk,
        "annotator_pk": request.annotator_pk,
        "rubric_pk": rubric_pk,
        "outcome": event.outcome,
        "grade": event.grade,
        "note": event.note,
        "reason": event.reason,
        "purpose": answer.purpose,
        "document_sha256": event.document_sha256
        if event.document_sha256 in stored.texts
        else stored.present_text,
        "judged_at": min(event.pressed_at, request.now),
        "received_at": request.now,
        "seconds": event.seconds,
        "browser": event.browser,
        "browser_number": event.number,
    }


def _derive_from(
    session: Session, request: OpenPairsRequest, plan: SubmissionPlan, left: Collection[int]
) -> None:
    """Update the rows that depend on special judgments, and the pairs that `store_answers` returned
    (`left`)."""
    recounted = plan.quality_pairs.union(left)
    if recounted:
        lock_counters(
            session, {answer.pair.query_pk for answer in plan.answers if answer.pair.pair_pk in recounted}
        )
    if left:
        derive_current(session, request.dataset_pk, left)
    if plan.quality_pairs:
        follow_answers(session, request.annotator_pk, plan.quality_pairs)
        derive_disagreements(session, request.dataset_pk, plan.quality_pairs)
    if plan.answered_repeats:
        note_repeats_answered(session, request, plan.answered_repeats)
    if plan.reopened_queries:
        forget_unanswered_queries(session, request.annotator_pk, plan.reopened_queries)


def read_feedback(session: Session, plan: SubmissionPlan) -> list[TrainingFeedback]:
    """Return the right grades and explanations of the answers in training."""
    explained = list(plan.list_explained())
    if not explained:
        return []
    right = read_explanations(session, {pair_pk for _event, pair_pk in explained})
    return [TrainingFeedback(event.event_id, event.pair, *right[pair_pk]) for event, pair_pk in explained]


def list_rubric_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return the primary key of each version of the guideline."""
    return dict(fetch_tuples(session, _VERSIONS, {"dataset_pk": dataset_pk}))


def list_text_hashes(session: Session, document_pks: Collection[int]) -> dict[int, DocumentTexts]:
    """Return the hashes of each document's texts, by document_pk."""
    by_document: dict[int, DocumentTexts] = {}
    for document_pk, present, sha256 in fetch_tuples(session, _TEXTS, {"documents": list(document_pks)}):
        texts = by_document.setdefault(document_pk, DocumentTexts(present, set()))
        if sha256 is not None:
            texts.all.add(sha256)
    return by_document


def find_stored(session: Session, event_ids: Iterable[str]) -> dict[str, StoredEvent]:
    """Return {event_id: stored event} for the stored ones of these ids."""
    rows = fetch_tuples(session, _STORED, {"events": list(event_ids)})
    return {event_id: StoredEvent(*judgment) for event_id, *judgment in rows}
