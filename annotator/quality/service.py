"""Check settled grades: draw a sample for a third expert, and report the result. For leads.

The expert judges the drawn pairs blind, in the labeling panel. `sampling.py` draws, `report.py` counts. A
drawn pair is never drawn again. A refused draw says why and what would help.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import Message, say, say_n
from annotator.domain.people import Actor, includes
from annotator.domain.settling import PAIR_STATUSES
from annotator.domain.shuffling import Seed, mix_secret
from annotator.people.roles_service import enter_dataset, list_active_roles, list_dataset_people, open_dataset
from annotator.quality.quality_sql import (
    SettledPairs,
    add_draw,
    count_settled_since,
    count_unanswered,
    find_free,
    list_categories,
    list_draws,
    list_keys,
    list_known,
    list_sample,
    list_settled,
    list_their_queries,
)
from annotator.quality.records import (
    DEFAULT_RATE,
    ERROR_KINDS,
    RULES,
    ErrorRate,
    QualityDraw,
    QualityExpert,
    QualityPreview,
    QualityRule,
    QualityStatus,
    SampledPair,
)
from annotator.quality.report import (
    CheckedSample,
    compute_rates,
    count_draw_results,
    describe_status,
    find_further,
    judge_by_bound,
    judge_by_rate,
    list_errors,
    list_undecided,
)
from annotator.quality.sampling import (
    DrawablePair,
    Stratum,
    count_strata,
    draw_pairs,
    find_seats,
    find_target,
    project,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import find_pair_pks, list_blind_pairs, note_seen
from annotator.storage.lookup import find_person, key_of
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.tables.central import DatasetRow

MOST_SEED = 2**31 - 1


def check_numbers(rate: float, size: int | None, seed: int) -> None:
    """Raise ValidationError for an invalid share, number of pairs or seed."""
    if not 0 < rate <= 1:
        raise ValidationError(
            say("The share must be above 0 and at most 1, such as 0.1, not {found}.", found=rate)
        )
    if size is not None and size < 1:
        raise ValidationError(say("The sample size must be 1 or more, not {found}.", found=size))
    if not 0 <= seed <= MOST_SEED:
        raise ValidationError(
            say("The seed must be a number from 0 to {most}, not {found}.", most=MOST_SEED, found=seed)
        )


def describe_complete_sample(preview: QualityPreview) -> Message:
    """Say that the round's sample is already as large as requested: drawn pairs are not drawn again."""
    if preview.drawn >= preview.population:
        return say_n(
            "No pairs to draw: the sample of round {round} already contains {n:,} pair, all that "
            "{annotator} can check. Begin a new round or choose someone else.",
            "No pairs to draw: the sample of round {round} already contains all {n:,} pairs that "
            "{annotator} can check. Begin a new round or choose someone else.",
            preview.drawn,
            round=preview.round,
            annotator=preview.annotator,
        )
    return say_n(
        "No pairs to draw: the sample of round {round} already contains {drawn:,} of {n:,} pair. "
        "Choose a share of {rate} or more or a size of {size} or more, or begin a new round.",
        "No pairs to draw: the sample of round {round} already contains {drawn:,} of {n:,} pairs. "
        "Choose a share of {rate} or more or a size of {size} or more, or begin a new round.",
        preview.population,
        drawn=preview.drawn,
        round=preview.round,
        size=preview.drawn + 1,
        rate=find_higher_rate(preview.drawn, preview.population),
    )


def describe_nothing_to_draw(blind: Collection[int]) -> Message:
    """Say why a lead can draw no pair. `blind`: pairs that the lead may still judge.

    The sentence must not reveal whether a pair of `blind` is settled.
    """
    if blind:
        return say(
            "None of the pairs that you can draw is settled yet. You cannot draw pairs that you may still judge yourself: "
            "that would tell you which of them are settled. Judge them first, or ask another lead to draw."
        )
    return say(
        "No pair is settled yet, so there is nothing to check. Continue when judgments agree or a "
        "lead has decided."
    )


def explain_nothing_to_draw(database: Database, actor: Actor, dataset: str) -> Message:
    """Say on the page why the lead can draw no pair. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return describe_nothing_to_draw(list_blind_pairs(session, dataset_pk, actor.person_id))


def describe_all_outside(annotator: str, settled: int) -> Message:
    """Say that there are settled pairs, but none for this person to check."""
    return say_n(
        "{annotator} cannot check the {n:,} settled pair: {annotator} has judged, proposed or seen "
        "it, or does not judge its query. Choose someone else.",
        "{annotator} cannot check any of the {n:,} settled pairs: {annotator} has judged, proposed "
        "or seen them, or does not judge their queries. Choose someone else.",
        settled,
        annotator=annotator,
    )


def describe_too_many(annotator: str, size: int, population: int) -> Message:
    """Say that more pairs were requested than there are."""
    return say_n(
        "The sample size must be at most {n:,}, the number of pairs that {annotator} can check; "
        "{size:,} was given.",
        "The sample size must be at most {n:,}, the number of pairs that {annotator} can check; "
        "{size:,} was given.",
        population,
        annotator=annotator,
        size=size,
    )


def find_higher_rate(drawn: int, population: int) -> str:
    """Return a short decimal share of the population that is more than what is drawn."""
    for digits in (2, 3, 4, 5, 6, 7):
        rate = (drawn * 10**digits // population + 1) / 10**digits
        if rate <= 1 and (digits > 2 or rate < 1):
            return f"{rate:g}"
    return "1"


@dataclass(frozen=True, slots=True)
class _DrawPlan:
    """The rows that a draw would write."""

    preview: QualityPreview
    annotator_pk: int
    settled: SettledPairs
    free: list[int]  # indexes of the settled pairs that could be drawn
    strata: list[Stratum]  # of the free pairs
    draw_seed: Seed  # the preview's, with the secret of the dataset


def draw_sample(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    annotator: str,
    rate: float = DEFAULT_RATE,
    size: int | None = None,
    seed: int = 0,
    new_round: bool = False,
    now: datetime,
) -> QualityDraw:
    """Draw settled pairs until the round's sample has `rate` of the population, or `size` pairs. For leads.

    `rate` is rounded up to whole pairs. Pairs that the round already has count. Pairs that the lead may still
    judge are not drawn, because their number would reveal which of them are settled.
    """
    check_numbers(rate, size, seed)
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        lock_dataset(session, dataset_pk)
        plan = _plan(session, dataset_pk, actor, annotator, rate, size, seed, new_round=new_round)
        preview = plan.preview
        if not preview.pairs:
            raise StateError(describe_complete_sample(preview))
        values = {
            "number": len(list_draws(session, dataset_pk)) + 1,
            "round": preview.round,
            "annotator_pk": plan.annotator_pk,
            "drawn_by_pk": actor.person_id,
            "rate": preview.rate,
            "seed": seed,
            "population": preview.population,
            "outside": preview.outside,
            "drawn_at": now,
        }
        add_draw(session, dataset_pk, values, _choose(plan, list_keys(session, dataset_pk)))
        details = {
            "round": preview.round,
            "pairs": preview.pairs,
            "population": preview.population,
            "seed": seed,
        }
        note_act(
            session,
            AuditAction.quality_drawn,
            actor,
            at=now,
            dataset=dataset_pk,
            subject=plan.annotator_pk,
            details=details,
        )
        return list_draws(session, dataset_pk)[-1]


def preview_sample(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    annotator: str,
    rate: float = DEFAULT_RATE,
    size: int | None = None,
    seed: int = 0,
    new_round: bool = False,
) -> QualityPreview:
    """Return how many pairs `draw_sample` would draw, by category and settled grade. For leads."""
    check_numbers(rate, size, seed)
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return _plan(session, dataset_pk, actor, annotator, rate, size, seed, new_round=new_round).preview


def list_experts(database: Database, actor: Actor, dataset: str) -> list[QualityExpert]:
    """Return the people who could check settled grades: with a role and a sign-in, by username. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        settled = list_settled(session, dataset_pk, list_blind_pairs(session, dataset_pk, actor.person_id))
        know = list_known(session, dataset_pk, settled)
        experts = []
        people = [person for person in list_dataset_people(session, dataset_pk) if person.can_sign_in]
        leads = {
            person.pk: person.name or person.username
            for person in people
            if any(includes(scope.role, "lead") for scope in person.roles)
        }
        for person in people:
            if not person.roles or find_person(session, person.username).simulated:
                continue
            known_pairs = know(person.pk)
            free = find_free(settled, known_pairs, list_their_queries(session, dataset_pk, person.pk))
            experts.append(
                QualityExpert(
                    person.username,
                    person.name,
                    len(known_pairs.judged),
                    int(free.sum()),
                    is_lead=person.pk in leads,
                    other_leads=tuple(name for pk, name in leads.items() if pk != person.pk),
                )
            )
        return experts


def show_quality(database: Database, actor: Actor, dataset: str, *, now: datetime) -> QualityStatus:
    """Return the state of quality control of the dataset. For leads.

    The lead may no longer judge the listed errors. Checked pairs that the lead may still judge are left out
    of every figure.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        status = compute_quality(session, dataset_pk, list_blind_pairs(session, dataset_pk, actor.person_id))
        pks = find_pair_pks(session, {error.pair for error in status.errors})
    note_seen(database, set(pks.values()), actor.person_id, now=now)
    return status


def count_open_checks(database: Database, actor: Actor, dataset: str) -> int:
    """Count the pairs of the latest sample that its expert has not judged yet. For leads."""
    with database.read() as session:
        return count_unanswered(session, key_of(enter_dataset(session, actor, dataset, "lead").pk))


def compute_quality(session: Session, dataset_pk: int, blind: Collection[int] = frozenset()) -> QualityStatus:
    """Return the state of quality control, in an open transaction.

    `blind`: pairs that the reader may still judge; their checks are left out.
    """
    row = session.get_one(DatasetRow, dataset_pk)
    rule: QualityRule = "rate" if row.quality_rule == "rate" else "bound"
    draws = list_draws(session, dataset_pk)
    if not draws:
        nothing = ErrorRate(0, 0, None, None, None)
        return QualityStatus(
            dataset=row.name,
            rule=rule,
            rates=dict.fromkeys(ERROR_KINDS, nothing),
            verdicts=dict.fromkeys(RULES, "undecided"),
            sentences=describe_missing_draw(row.name),
        )
    last = draws[-1]
    drawn = list_sample(session, dataset_pk)
    every = [pair for pair in drawn if pair.outcome is None or pair.pair_pk not in blind]
    pairs = [pair for pair in every if pair.round == last.round]
    not_counted = {pair.pair_pk for pair in pairs}.union(blind)
    since = count_settled_since(session, dataset_pk, last.drawn_at, not_counted)
    sample = _count(last.population, pairs)
    undecided = list_pair_states(session, dataset_pk, list_undecided(every))
    status = QualityStatus(
        dataset=row.name,
        rule=rule,
        round=last.round,
        population=last.population,
        outside=last.outside,
        settled_since=since,
        drawn=sample.drawn,
        checked=len(sample.grades),
        unrateable=sample.unrateable,
        barred=sample.barred,
        waiting=sample.waiting,
        rates=compute_rates(sample),
        verdicts={"bound": judge_by_bound(sample), "rate": judge_by_rate(sample)},
        further=find_further(sample),
        sentences=(),
        draws=count_draw_results(draws, every),
        errors=list_errors(every, {state.pair_pk: state.settlement.grade for state in undecided}),
        hidden=len(drawn) - len(every),
    )
    return replace(status, sentences=describe_status(status))


def project_bound(status: QualityStatus) -> tuple[tuple[int, float], ...]:
    """Return the bound after further pairs without an error, as (further pairs, bound).

    Empty if no further pair is needed, or none helps.
    """
    if not status.further:
        return ()
    return project(status.rates["any"].errors, status.checked, status.population, status.further)


def _plan(
    session: Session,
    dataset_pk: int,
    actor: Actor,
    annotator: str,
    rate: float,
    size: int | None,
    seed: int,
    *,
    new_round: bool,
) -> _DrawPlan:
    """Plan what to draw from the pairs that are settled now, without those that the lead may still judge."""
    import numpy as np

    blind = list_blind_pairs(session, dataset_pk, actor.person_id)
    person_pk = _find_expert(session, dataset_pk, annotator)
    latest = max((draw.round for draw in list_draws(session, dataset_pk)), default=0)
    sample_round = latest + 1 if new_round or not latest else latest
    held = list_sample(session, dataset_pk, sample_round)
    settled = list_settled(session, dataset_pk, blind)
    others = np.isin(settled.pair, [pair.pair_pk for pair in held], invert=True)
    if not others.any() and not held:
        raise StateError(describe_nothing_to_draw(blind))
    known_pairs = list_known(session, dataset_pk, settled)(person_pk)
    free = others & find_free(settled, known_pairs, list_their_queries(session, dataset_pk, person_pk))
    outside = int(others.sum()) - int(free.sum())
    population = int(free.sum()) + len(held)
    if not population:
        raise StateError(describe_all_outside(annotator, outside))
    if size is not None and size > population:
        raise StateError(describe_too_many(annotator, size, population))
    categories = list_categories(session, dataset_pk)
    strata = [
        (categories[query] or "", grade)
        for query, grade in zip(settled.query[free].tolist(), settled.grade[free].tolist(), strict=True)
    ]
    left, already = Counter(strata), Counter((pair.category or "", pair.settled_grade) for pair in held)
    target = size or find_target(population, rate)
    draw_seed = mix_secret(seed, session.get_one(DatasetRow, dataset_pk).check_secret)
    seats = find_seats(left, len(held), target, seed=draw_seed, sample_round=sample_round)
    preview = QualityPreview(
        sample_round,
        annotator,
        rate if size is None else size / population,
        seed,
        population,
        outside,
        len(held),
        sum(seats.values()),
        count_strata(left, already, seats),
    )
    return _DrawPlan(preview, person_pk, settled, np.flatnonzero(free).tolist(), strata, draw_seed)


def _choose(plan: _DrawPlan, keys: Mapping[int, str]) -> list[tuple[int, int, str]]:
    preview, settled = plan.preview, plan.settled
    index_by_key = {
        keys[pk]: index for index, pk in zip(plan.free, settled.pair[plan.free].tolist(), strict=True)
    }
    free = [
        DrawablePair(key, category or None, grade)
        for key, (category, grade) in zip(index_by_key, plan.strata, strict=True)
    ]
    drawn = draw_pairs(
        free, preview.drawn, preview.drawn + preview.pairs, seed=plan.draw_seed, sample_round=preview.round
    )
    return [
        (int(settled.pair[index]), int(settled.grade[index]), PAIR_STATUSES[settled.status[index]])
        for index in (index_by_key[pair.key] for pair in drawn)
    ]


def _find_expert(session: Session, dataset_pk: int, username: str) -> int:
    """Return the person_pk of the chosen expert. Raises StateError if the person cannot judge here."""
    person = find_person(session, username)
    if person.disabled_at is not None:
        raise StateError(
            say("{username} is disabled and cannot judge. Choose someone else.", username=username)
        )
    if person.simulated:
        raise StateError(
            say("{username} is simulated. Choose a person to check settled grades.", username=username)
        )
    roles = list_active_roles(session, key_of(person.pk))
    if not any(where in (None, dataset_pk) for where, _role in roles):
        raise StateError(
            say("{username} has no role in this dataset. Give {username} a role first.", username=username)
        )
    return key_of(person.pk)


def _count(population: int, pairs: list[SampledPair]) -> CheckedSample:
    return CheckedSample(
        population,
        len(pairs),
        sum(pair.outcome == "unrateable" for pair in pairs),
        sum(pair.barred for pair in pairs),
        [(pair.settled_grade, pair.grade) for pair in pairs if pair.grade is not None],
    )


def describe_missing_draw(dataset: str) -> tuple[Message, ...]:
    """Return the sentences before the first draw."""
    return (
        say("No sample has been drawn yet, so the error rate of the settled grades is unknown."),
        say(
            "Draw a sample for someone who has judged none of the pairs: {command}",
            command=f"annotator qc draw {dataset} --annotator USER",
        ),
    )
