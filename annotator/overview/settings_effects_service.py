"""Preview the effects of a change of settings: missing judgments, and gates that open or close.

The change is made in a transaction and rolled back, so the preview equals the effect of saving.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.service import OVERLAP_SETTINGS, apply_settings, read_changes
from annotator.domain.messages import Message, say, say_n
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.releases.gates_service import compute_gates, survey_pairs
from annotator.releases.records import GATE_NAMES, ReleaseGate
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import is_listed, list_blind_pairs
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.tables.adjudication import DisagreementRow
from annotator.storage.tables.central import DatasetRow, PairRow

GATED = {
    "kappa_target": "kappa",
    "quality_rule": "quality_control",
    "requirements": "coverage",
} | dict.fromkeys(OVERLAP_SETTINGS, "overlap")
STATES = {True: say("met"), False: say("not met")}
FARTHEST = 3


def describe_effects(
    database: Database,
    actor: Actor,
    dataset: str,
    changes: Mapping[str, str],
    *,
    now: datetime,
    requirements: Mapping[str, Any] | None = None,
) -> tuple[Message, ...]:
    """Return sentences on the effects of these changes, the most important first. Stores nothing. For leads.

    Pairs that the lead may still judge count as not judged. Raises the same errors as `change_settings`.
    """
    from annotator.agreement.service import summarize_agreement

    values = read_changes(changes, requirements)
    gates = list(dict.fromkeys(GATED[name] for name in values if name in GATED))
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        verdict = summarize_agreement(session, row, blind=blind).verdict if gates else None
        target = values.get("kappa_target", row.kappa_target)
        verdict_after = (
            summarize_agreement(session, row, target=target, blind=blind).verdict
            if "kappa" in gates
            else verdict
        )
    with database.write() as session:
        row = find_dataset(session, dataset)
        missing = _read_missing(session, dataset_pk, blind)
        before = {} if verdict is None else _check(session, row, verdict, blind)
        apply_settings(session, actor, dataset, values, now=now, seen={})
        effects = _describe_judgments(
            missing, _read_missing(session, dataset_pk, blind), changed=set(OVERLAP_SETTINGS) & values.keys()
        )
        after = {} if verdict_after is None else _check(session, row, verdict_after, blind)
        effects += [_describe_gate(name, before[name], after[name]) for name in gates]
        effects += _describe_disagreements(session, dataset_pk, values, blind)
        session.rollback()
    return tuple(effects)


def _read_missing(session: Session, dataset_pk: int, blind: Collection[int]) -> dict[int, int]:
    """Return {pair_pk: missing judgments} of the pool, including further ones, without the pairs in `blind`."""
    session.flush()
    statement = select(col(PairRow.pk), col(PairRow.lacking)).where(
        col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None)
    )
    return {key_of(pk): lacking for pk, lacking in session.execute(statement) if pk not in blind}


def _check(session: Session, row: DatasetRow, verdict: Any, blind: Collection[int]) -> dict[str, ReleaseGate]:
    survey = survey_pairs(session, row, read_settlements(session, key_of(row.pk), blind), blind)
    return {gate.name: gate for gate in compute_gates(survey, row, verdict)}


def _describe_judgments(
    before: Mapping[int, int], after: Mapping[int, int], *, changed: set[str]
) -> list[Message]:
    if not changed:
        return []
    if not after:
        return [say("The pool is empty. The change applies to new pairs.")]
    differences = Counter(after[pk] - before[pk] for pk in after if after[pk] != before[pk])
    more = {n: pairs for n, pairs in differences.items() if n > 0}
    fewer = {-n: pairs for n, pairs in differences.items() if n < 0}
    described = []
    if set(more) == {1}:
        described.append(
            say_n("{n:,} pair needs one more judgment.", "{n:,} pairs need one more judgment.", more[1])
        )
    elif more:
        described.append(
            say_n(
                "{n:,} pair needs more judgments: {judgments:,} in all.",
                "{n:,} pairs need more judgments: {judgments:,} in all.",
                sum(more.values()),
                judgments=sum(n * pairs for n, pairs in more.items()),
            )
        )
    if fewer:
        described.append(
            say_n(
                "{n:,} pair needs fewer judgments: {judgments:,} fewer in all.",
                "{n:,} pairs need fewer judgments: {judgments:,} fewer in all.",
                sum(fewer.values()),
                judgments=sum(n * pairs for n, pairs in fewer.items()),
            )
        )
    return described or [say("No pair needs more or fewer judgments.")]


def _describe_gate(name: str, before: ReleaseGate, after: ReleaseGate) -> Message:
    values = {"gate": GATE_NAMES[name], "before": STATES[before.met], "after": STATES[after.met]}
    if before.met == after.met:
        return say(
            "Release gate {gate}: {before}, before and after.", gate=values["gate"], before=values["before"]
        )
    return say("Release gate {gate}: {before} now, {after} after this change.", **values)


def _describe_disagreements(
    session: Session, dataset_pk: int, values: Mapping[str, Any], blind: Collection[int]
) -> list[Message]:
    described = []
    if values.get("second_adjudicator"):
        n = _count_open(session, dataset_pk, FARTHEST, blind)
        described.append(
            say_n("{n:,} open disagreement needs two leads.", "{n:,} open disagreements need two leads.", n)
        )
    if values.get("discuss_from"):
        n = _count_open(session, dataset_pk, values["discuss_from"], blind)
        described.append(
            say_n(
                "{n:,} open disagreement is discussed before a lead decides.",
                "{n:,} open disagreements are discussed before a lead decides.",
                n,
            )
        )
    return described


def _count_open(session: Session, dataset_pk: int, distance: int, blind: Collection[int]) -> int:
    statement = (
        select(func.count())
        .select_from(DisagreementRow)
        .where(
            col(DisagreementRow.dataset_pk) == dataset_pk,
            col(DisagreementRow.open),
            col(DisagreementRow.distance) >= distance,
        )
    )
    if blind:
        statement = statement.where(~is_listed(session, col(DisagreementRow.pair_pk), blind))
    return session.scalar(statement) or 0
