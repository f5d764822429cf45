"""What leads do to check settled grades: draw a random sample for a third expert, and read what it proves.

Stands after adjudication: what is settled is drawn (`sampling.py`), judged once more in the labeling panel, blind, and
counted here (`reading.py`, `wording.py`). Whoever is not a lead is refused, an expert who cannot judge here, and a draw
that would add nothing: what was drawn is never drawn again.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.accounts.service import require_role
from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.quality import (
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
    Verdict,
)
from annotator.quality.projection import project
from annotator.quality.reading import Checked, compute_rates, find_further, judge_by_bound, judge_by_rate
from annotator.quality.refusals import check_numbers, say_all_outside, say_nothing_missing, say_too_many
from annotator.quality.sampling import Settled, count_strata, draw_pairs, find_target
from annotator.quality.trail import list_errors, list_undecided, tell_draws
from annotator.quality.wording import say_nothing_drawn, say_status
from annotator.storage.assigning import list_people_here
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, find_person, key_of
from annotator.storage.pairs import PairState, list_pair_states
from annotator.storage.people import list_present_roles
from annotator.storage.quality import (
    Known,
    add_draw,
    list_draws,
    list_known,
    list_sample,
    list_settled,
    list_their_queries,
)
from annotator.storage.quality_since import count_settled_since
from annotator.storage.tables import DatasetRow


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a draw would write: `held` is in the round's sample already, `drawn` would be added."""

    preview: QualityPreview
    annotator_pk: int
    drawn: tuple[PairState, ...]


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
    """Draw settled pairs for that person until the round's sample is `rate` of the population, rounded up (or `size`
    pairs). What the round holds already counts and is never drawn again. For leads."""
    check_numbers(rate, size, seed)
    with database.write() as session:
        dataset_pk = _require_lead(session, actor, dataset)
        lock_dataset(session, dataset_pk)
        plan = _plan(session, dataset_pk, annotator, rate=rate, size=size, seed=seed, new_round=new_round)
        found = plan.preview
        if not found.pairs:
            raise StateError(say_nothing_missing(found))
        values = {
            "number": len(list_draws(session, dataset_pk)) + 1,
            "round": found.round,
            "annotator_pk": plan.annotator_pk,
            "drawn_by_pk": actor.person_id,
            "rate": found.rate,
            "seed": seed,
            "population": found.population,
            "outside": found.outside,
            "drawn_at": now,
        }
        add_draw(session, dataset_pk, values, plan.drawn)
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
    """What `draw_sample` would draw, by category and settled grade; nothing is written. For leads."""
    check_numbers(rate, size, seed)
    with database.read() as session:
        dataset_pk = _require_lead(session, actor, dataset)
        plan = _plan(session, dataset_pk, annotator, rate=rate, size=size, seed=seed, new_round=new_round)
        return plan.preview


def list_experts(database: Database, actor: Actor, dataset: str) -> list[QualityExpert]:
    """Who could check the settled grades: everybody with a role here who can sign in, by username. For leads."""
    with database.read() as session:
        dataset_pk = _require_lead(session, actor, dataset)
        frame, known = list_settled(session, dataset_pk), list_known(session, dataset_pk)
        experts = []
        for person in list_people_here(session, dataset_pk):
            if not person.can_sign_in or not person.roles or find_person(session, person.username).simulated:
                continue
            theirs = known.get(person.pk, Known())
            free = _list_free(frame, theirs, list_their_queries(session, dataset_pk, person.pk))
            judged = sum(state.pair_pk in theirs.judged for state in frame)
            experts.append(QualityExpert(person.username, person.name, judged, len(free)))
        return experts


def show_quality(database: Database, actor: Actor, dataset: str) -> QualityStatus:
    """How the quality control of the dataset stands. For leads."""
    with database.read() as session:
        return compute_quality(session, _require_lead(session, actor, dataset))


def compute_quality(session: Session, dataset_pk: int) -> QualityStatus:
    """`show_quality` within a transaction, for other stages."""
    row = session.get_one(DatasetRow, dataset_pk)
    rule: QualityRule = "rate" if row.quality_rule == "rate" else "bound"
    draws = list_draws(session, dataset_pk)
    if not draws:
        nothing = ErrorRate(0, 0, None, None, None)
        return QualityStatus(
            dataset=row.name, rule=rule, round=0, population=0, outside=0, settled_since=0, drawn=0, checked=0,
            unrateable=0, barred=0, waiting=0, rates=dict.fromkeys(ERROR_KINDS, nothing),
            verdicts=dict.fromkeys(RULES, "undecided"), further=None, sentences=say_nothing_drawn(row.name),
            draws=(), errors=(),
        )  # fmt: skip
    last = draws[-1]
    every = list_sample(session, dataset_pk)
    pairs = [pair for pair in every if pair.round == last.round]
    since = count_settled_since(session, dataset_pk, last.drawn_at, {pair.pair_pk for pair in pairs})
    sample = _count(last.population, pairs)
    rates, further = compute_rates(sample), find_further(sample)
    verdicts: dict[str, Verdict] = {"bound": judge_by_bound(sample), "rate": judge_by_rate(sample)}
    undecided = list_pair_states(session, dataset_pk, list_undecided(every))
    errors = list_errors(every, {state.pair_pk: state.settlement.grade for state in undecided})
    sentences = say_status(
        row.name, rule, sample, rates["any"],
        verdicts=verdicts, further=further, draws=[draw for draw in draws if draw.round == last.round], errors=errors, since=since,
    )  # fmt: skip
    return QualityStatus(
        dataset=row.name, rule=rule, round=last.round, population=last.population, outside=last.outside,
        settled_since=since, drawn=sample.drawn, checked=len(sample.grades), unrateable=sample.unrateable,
        barred=sample.barred, waiting=sample.waiting, rates=rates, verdicts=verdicts, further=further,
        sentences=sentences, draws=tell_draws(draws, every), errors=errors,
    )  # fmt: skip


def project_bound(status: QualityStatus) -> tuple[tuple[int, float], ...]:
    """How the bound falls with further pairs without an error: (further pairs, bound). Empty where none is needed, or
    none helps."""
    if not status.further:
        return ()
    return project(status.rates["any"].errors, status.checked, status.population, status.further)


def _plan(
    session: Session,
    dataset_pk: int,
    annotator: str,
    *,
    rate: float,
    size: int | None,
    seed: int,
    new_round: bool,
) -> _Plan:
    """What is to be drawn of what is settled now."""
    person_pk = _find_expert(session, dataset_pk, annotator)
    latest = max((draw.round for draw in list_draws(session, dataset_pk)), default=0)
    sample_round = latest + 1 if new_round or not latest else latest
    held = list_sample(session, dataset_pk, sample_round)
    sampled = {pair.pair_pk for pair in held}
    others = [state for state in list_settled(session, dataset_pk) if state.pair_pk not in sampled]
    if not others and not held:
        raise StateError(
            say("no pair is settled yet: there is nothing to check before judgments agree or a lead decides")
        )
    known = list_known(session, dataset_pk, person_pk).get(person_pk, Known())
    free = _list_free(others, known, list_their_queries(session, dataset_pk, person_pk))
    population = len(free) + len(held)
    if not population:
        raise StateError(say_all_outside(annotator, len(others)))
    if size is not None and size > population:
        raise StateError(say_too_many(annotator, size, population))
    by_key = {state.key: state for state in free}
    ready = [Settled(pair.key, pair.category, pair.settled_grade) for pair in held]
    left = [Settled(state.key, state.category, state.settlement.grade or 0) for state in free]
    target = size or find_target(population, rate)
    drawn = draw_pairs(left, ready, target, seed=seed, sample_round=sample_round)
    preview = QualityPreview(
        sample_round, annotator, rate if size is None else size / population, seed, population,
        len(others) - len(free), len(held), len(drawn), count_strata(left, ready, drawn),
    )  # fmt: skip
    return _Plan(preview, person_pk, tuple(by_key[pair.key] for pair in drawn))


def _find_expert(session: Session, dataset_pk: int, username: str) -> int:
    """The person who is to check. StateError when they cannot judge here."""
    person = find_person(session, username)
    if person.disabled_at is not None:
        raise StateError(say("{username} is disabled and cannot judge", username=username))
    if person.simulated:
        raise StateError(
            say("{username} is simulated: settled grades are checked by a person", username=username)
        )
    roles = list_present_roles(session, key_of(person.pk))
    if not any(where in (None, dataset_pk) for where, _role in roles):
        raise StateError(
            say("{username} has no role on this dataset; give them one first", username=username)
        )
    return key_of(person.pk)


def _list_free(frame: list[PairState], known: Known, queries: set[int] | None) -> list[PairState]:
    """Those that somebody who knows this and judges these queries (None: all) can check."""
    return [
        state
        for state in frame
        if state.pair_pk not in known.judged
        and state.pair_pk not in known.seen
        and (queries is None or state.query_pk in queries)
    ]


def _count(population: int, pairs: list[SampledPair]) -> Checked:
    return Checked(
        population,
        len(pairs),
        sum(pair.outcome == "unrateable" for pair in pairs),
        sum(pair.barred for pair in pairs),
        [(pair.settled_grade, pair.grade) for pair in pairs if pair.grade is not None],
    )


def _require_lead(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    return dataset_pk
