"""Random worlds labeled to the end: nobody runs dry while work is left that they may do, nobody gets a pair twice but as a
declared repeat, no overlap is overshot but by what is named as surplus. Who may do what is decided here in plain words."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from sqlmodel import col

from annotator.adjudication.decisions_sql import add_decisions
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.judgments import PairView
from annotator.domain.people import OPERATOR, Actor
from annotator.domain.settling import allows_further, conditional_distance, find_overlap
from annotator.guideline.service import publish_version
from annotator.importing.remapping.remapping_sql import retire_pairs
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    QueryRow,
)
from annotator.storage.tables.labeling import (
    AssignmentRow,
    CheckRow,
    DisclosureRow,
    ProposalRow,
    RepeatRow,
)
from tests.integration.labeling_world import NOW, World

CATEGORIES, LANGUAGES = ("howto", "判例", None), ("ja", "ko", None)
RULES: tuple[dict[str, Any] | None, ...] = (
    None,
    {"conditional": 1},
    {"conditional": 2, "cap": 3},
    {"category": {"判例": 3}},
    {"share": {"share": 0.3, "overlap": 2}, "conditional": 3},
    {"category": {"howto": 1}, "share": {"share": 0.5, "overlap": 3}, "cap": 3},
)
REPEAT_AFTER, LEASE = 3, timedelta(minutes=60)


@dataclass
class Browser:
    """What one annotator's browser shows and has pressed. `asked`: when each key was
    last named to the server, which prolongs its lease."""

    actor: Actor
    shows: list[PairView] = field(default_factory=list)
    tab: str = "one"
    answered: set[str] = field(default_factory=set)
    put_off: set[str] = field(default_factory=set)
    asked: dict[str, datetime] = field(default_factory=dict)


class Town(World):
    """A dataset drawn by a seed, its annotators with what they may judge, and what happens to it meanwhile."""

    def __init__(self, database: Database, seed: int) -> None:
        self.drawn = random.Random(seed)
        super().__init__(database, queries=4, documents=5, overlap=self.drawn.randint(1, 2))
        self.browsers = [Browser(self.person(name)) for name in ("花子", "민준", "ann", "bo", "cy")]
        self.most: Counter[int] = Counter()
        self.surplus: set[str] = set()
        self.lost: set[str] = set()  # keys whose lease ran out in some browser that shows them
        self.changed_at = self.now - LEASE
        self.handed_at: dict[tuple[int, str], int] = {}
        with database.write() as session:
            self.dataset_pk = key_of(find_dataset(session, "d").pk)
            self._draw(session)
            derive_work(session, self.dataset_pk)
        self.note_wanted()

    def _draw(self, session: Any) -> None:
        """Expertise, queries given to people, checks, disclosures and the rules, at random."""
        drawn, people = self.drawn, [key_of(browser.actor.person_id) for browser in self.browsers]
        settings = {"gold_rate": 0.2, "repeat_rate": 0.4, "repeat_after": REPEAT_AFTER, "training_score": 0.6}
        changed = {**settings, "overlap_rules": drawn.choice(RULES), "seed": drawn.randint(0, 99)}
        session.execute(update(DatasetRow).values(**changed))
        for query in session.scalars(select(QueryRow)).all():
            query.category, query.language = drawn.choice(CATEGORIES), drawn.choice(LANGUAGES)
            if drawn.random() < 0.3:
                for person in drawn.sample(people, drawn.randint(1, 2)):
                    given = {"query_pk": query.pk, "person_pk": person, "assigned_at": NOW}
                    session.execute(insert(AssignmentRow), [given])
        for membership in session.scalars(select(MembershipRow)).all():
            if drawn.random() < 0.5:
                membership.categories = drawn.sample(["howto", "判例"], drawn.randint(1, 2))
            if drawn.random() < 0.3:
                membership.languages = drawn.sample(["ja", "ko"], drawn.randint(1, 2))
            if drawn.random() < 0.2:
                wide = {"person_pk": membership.person_pk, "dataset_pk": None, "role": "annotator"}
                session.execute(insert(MembershipRow), [{**wide, "languages": ["ja"], "categories": None}])
        pairs = session.scalars(select(col(PairRow.pk)).order_by(col(PairRow.pk))).all()
        for kind, pair in zip(("training", "gold", "gold", "gold"), drawn.sample(pairs, 4), strict=True):
            row = {"pair_pk": pair, "kind": kind, "grade": 2, "explanation": "x", "marked_at": NOW}
            session.execute(insert(CheckRow), [row])
        for pair, person in {(drawn.choice(pairs), drawn.choice(people)) for _ in range(4)}:
            seen = {"pair_pk": pair, "person_pk": person, "disclosed_at": NOW}
            session.execute(insert(DisclosureRow), [seen])
        proposed = {"pair_pk": drawn.choice(pairs), "annotator_pk": drawn.choice(people), "proposed_at": NOW}
        session.execute(insert(ProposalRow), [proposed])

    def note_wanted(self) -> None:
        """The most that each pair has wanted so far, a further answer included."""
        with self.database.read() as session:
            dataset = session.get_one(DatasetRow, self.dataset_pk)
            categories = {query.pk: query.category for query in session.scalars(select(QueryRow))}
            for pair in session.scalars(select(PairRow)):
                wanted = find_overlap(
                    dataset.overlap, dataset.overlap_rules,
                    seed=dataset.seed, key=pair.key, category=categories[pair.query_pk],
                )  # fmt: skip
                rules = dataset.overlap_rules
                further = conditional_distance(rules) is not None and allows_further(rules, wanted)
                self.most[key_of(pair.pk)] = max(self.most[key_of(pair.pk)], wanted + further)

    def ask(self, browser: Browser, *events: dict[str, Any], want: int, whole: bool = False) -> int:
        """One exchange; what was handed is on the screen then. How many pairs that was."""
        shown = [pair.pair for pair in browser.shows]
        for key in [*shown, *(event["pair"] for event in events)]:
            if self.now - browser.asked[key] >= LEASE:
                self.lost.add(key)
        response = self.send(browser.actor, *events, have=shown, want=want, tab=browser.tab, whole=whole)
        assert {refusal.code for refusal in response.refused} <= {"settled"}, "a lead decided meanwhile"
        for event in events:
            if event["id"] in response.surplus:
                free = event["pair"] in self.lost or self.changed_at >= browser.asked[event["pair"]]
                assert free, "while all leases run, nobody does what another is at"
        self.surplus.update(response.surplus)
        browser.shows = [pair for pair in browser.shows if pair.pair not in response.judged]
        fresh = [
            pair for pair in response.pairs if not (whole and pair.answer and pair.answer.outcome != "later")
        ]
        for pair in fresh:
            assert pair.pair not in shown, "what the browser shows is not handed out once more"
            again = pair.outdated is not None or pair.training
            assert again or pair.pair not in browser.answered, (browser.actor.username, pair)
            self.handed_at[key_of(browser.actor.person_id), pair.pair] = self.sent
        browser.shows += fresh
        browser.asked.update({pair.pair: self.now for pair in browser.shows})
        return len(response.pairs)

    def press(self, browser: Browser) -> dict[str, Any]:
        """An answer on the pair on the screen."""
        pair, drawn = browser.shows.pop(0), self.drawn
        first = not pair.training and pair.outdated is None
        if first and pair.pair not in browser.put_off | browser.answered and drawn.random() < 0.2:
            browser.put_off.add(pair.pair)
            return self.event(pair.pair, None, outcome="later")
        browser.answered.add(pair.pair)
        grade = None if drawn.random() < 0.1 else drawn.choice((2, 2, 0, 1, 3))
        return self.event(pair.pair, grade, guideline_version=pair.guideline_version)

    def happen(self) -> None:
        """Something that changes what is left: a crash of a browser, another rule, a decision, a pair that leaves."""
        kind = self.drawn.choice(("crash", "wait", "wait", "rules", "decide", "retire", "standard"))
        if kind == "crash":
            browser = self.drawn.choice(self.browsers)
            browser.shows, browser.tab = [], f"tab {self.sent}"
        elif kind == "wait":
            self.later(minutes=self.drawn.choice((30, 70)))
        elif kind == "standard":
            self._change_guideline()
        else:
            self.changed_at = self.now
            with self.database.write() as session:
                pair = self.drawn.choice(session.scalars(select(PairRow).order_by(col(PairRow.pk))).all())
                if kind == "rules":
                    rules = self.drawn.choice(RULES)
                    session.execute(update(DatasetRow).values(overlap_rules=rules))
                    derive_work(session, self.dataset_pk)
                elif kind == "retire":
                    retire_pairs(session, self.dataset_pk, [key_of(pair.pk)], now=self.now)
                else:
                    add_decisions(session, self.dataset_pk, [self._decision(session, pair)])
            self.note_wanted()

    def _decision(self, session: Any, pair: PairRow) -> dict[str, Any]:
        return {
            "pair_pk": pair.pk, "revision": 1 + self.sent, "lead_pk": self.browsers[0].actor.person_id,
            "rubric_pk": find_rubric(session, self.dataset_pk).pk, "grade": 1, "rationale": "r",
            "reason": None, "decided_at": self.now,
        }  # fmt: skip

    def _change_guideline(self) -> None:
        with self.database.read() as session:
            version = find_rubric(session, self.dataset_pk).version
        new = replace(DEFAULT_RUBRIC, guideline=f"# {version + 1}")
        publish_version(
            self.database, OPERATOR, "d", new, base_version=version, change="semantic", why="w", now=self.now
        )

    def label(self) -> None:
        """By turns until nobody is handed anything any more, with every lease of a crashed browser run out."""
        for _turn in range(50):
            self.later(seconds=self.drawn.randint(1, 60))
            self.take_turn(self.drawn.choice(self.browsers))
            if self.drawn.random() < 0.15:
                self.happen()
        left = 1
        while left:
            self.later(minutes=61)
            left = sum(self.finish(browser) for browser in self.browsers)

    def take_turn(self, browser: Browser) -> None:
        """Some pairs, some answers; or the answers of somebody who was offline, perhaps longer than a lease runs."""
        if not browser.shows or self.drawn.random() < 0.5:
            whole = not browser.shows and self.drawn.random() < 0.2
            self.ask(browser, want=self.drawn.randint(1, 5), whole=whole)
        self.ask(browser, *self.press_some(browser), want=self.drawn.choice((0, 1)))

    def finish(self, browser: Browser) -> int:
        """All that there is for one; how many pairs that was."""
        handed = self.ask(browser, want=8)
        while browser.shows:
            handed += self.ask(browser, *self.press_some(browser), want=self.drawn.choice((0, 3)))
        return handed

    def press_some(self, browser: Browser) -> list[dict[str, Any]]:
        """One to three answers, a second apart, submitted together."""
        pressed = []
        for _press in range(min(self.drawn.randint(1, 3), len(browser.shows))):
            self.later(seconds=1)
            pressed.append(self.press(browser))
        return pressed


def list_allowed(town: Town) -> set[tuple[int, int]]:
    """(person, pair) for whatever somebody may judge, answered or not: from the tables, in plain words."""
    with town.database.read() as session:
        queries = {query.pk: query for query in session.scalars(select(QueryRow))}
        given: dict[int, set[int]] = defaultdict(set)
        for row in session.scalars(select(AssignmentRow)):
            given[row.query_pk].add(row.person_pk)
        barred = {(row.person_pk, row.pair_pk) for row in session.scalars(select(DisclosureRow))}
        barred |= {(row.annotator_pk, row.pair_pk) for row in session.scalars(select(ProposalRow))}
        allowed = {
            (role.person_pk, key_of(pair.pk))
            for role in session.scalars(select(MembershipRow)).all()
            for pair in session.scalars(select(PairRow)).all()
            for query in [queries[pair.query_pk]]
            if (role.categories is None or query.category in role.categories)
            and (role.languages is None or query.language in role.languages)
            and (not given[pair.query_pk] or role.person_pk in given[pair.query_pk])
        }
        return allowed - barred


def check_nobody_ran_dry(town: Town) -> None:
    """Whatever pair lacks an answer still, everybody who may judge it has done so."""
    with town.database.read() as session:
        current = select(CurrentJudgmentRow).where(col(CurrentJudgmentRow.outcome) != "later")
        given = {(row.annotator_pk, row.pair_pk) for row in session.scalars(current)}
        lacking = set(session.scalars(select(col(PairRow.pk)).where(col(PairRow.lacking) > 0)))
        settled = set(session.scalars(select(col(AdjudicationRow.pair_pk))))
    assert not lacking & settled
    assert not {pair for pair in list_allowed(town) - given if pair[1] in lacking}


def check_only_what_is_allowed(town: Town) -> None:
    """Nobody was given a pair outside their expertise, of others' queries, proposed by them, or whose grades they saw."""
    real = {pair for pair, rows in list_answers(town).items() if rows[0].purpose != "training"}
    assert real <= list_allowed(town)


def list_answers(town: Town) -> dict[tuple[int, int], list[JudgmentRow]]:
    """By (person, pair), in the order of pressing; what was put off is no answer."""
    answers: dict[tuple[int, int], list[JudgmentRow]] = defaultdict(list)
    with town.database.read() as session:
        for row in session.scalars(select(JudgmentRow).order_by(col(JudgmentRow.pk))):
            if row.outcome != "later":
                answers[row.annotator_pk, row.pair_pk].append(row)
    return answers


def check_nothing_twice(town: Town) -> None:
    """One answer of a person on a pair, but for a repeat (one), what an older guideline asks again, and training."""
    for (_person, _pair), rows in list_answers(town).items():
        kinds = Counter(row.purpose for row in rows)
        assert kinds["repeat"] <= 1
        assert kinds["gold"] <= 1
        assert len({*kinds} - {"repeat"}) <= 1, "a pair is ordinary work or a check"
        ordinary = [row.rubric_pk for row in rows if row.purpose in ("independent", "conditional")]
        assert all(earlier < other for earlier, other in pairwise(ordinary)), (
            "again under a newer standard only"
        )


def check_repeats(town: Town) -> int:
    """Each after at least REPEAT_AFTER other pairs; how many there were."""
    with town.database.read() as session:
        repeats = [row for row in session.scalars(select(RepeatRow)) if row.answered_at]
    rows = sorted(
        (row for some in list_answers(town).values() for row in some), key=lambda row: key_of(row.pk)
    )
    number = {row.event_id: index for index, row in enumerate(rows)}
    assert len(number) == len(rows)
    for repeat in repeats:
        own_rows = [row for row in rows if row.annotator_pk == repeat.annotator_pk]
        handed = town.handed_at[repeat.annotator_pk, repeat.key]
        before = [row for row in own_rows if int(row.event_id[-12:], 16) <= handed]
        first = max(
            index
            for index, row in enumerate(before)
            if row.pair_pk == repeat.pair_pk and row.purpose == "independent"
        )
        others = {row.pair_pk for row in before[first + 1 :]} - {repeat.pair_pk}
        assert len(others) >= REPEAT_AFTER
    return len(repeats)


def check_overlap(town: Town) -> None:
    """No pair has more answers than it ever wanted, but by those that were named as surplus."""
    counted: Counter[int] = Counter()
    for (_person, pair), rows in list_answers(town).items():
        needed = [row for row in rows if row.purpose in ("independent", "conditional")]
        counted[pair] += bool(needed) and needed[0].event_id not in town.surplus
    assert not {pair: number for pair, number in counted.items() if number > town.most[pair]}


def check_training_first(town: Town) -> None:
    """Whoever has answered anything in training had answered nothing real before."""
    began: dict[int, int] = {}
    for (person, _pair), rows in list_answers(town).items():
        for row in rows:
            if row.purpose != "training":
                began[person] = min(began.get(person, 10**9), key_of(row.pk))
    for (person, _pair), rows in list_answers(town).items():
        for row in rows:
            assert row.purpose != "training" or key_of(row.pk) < began.get(person, 10**9)


@pytest.mark.parametrize("seed", [1, pytest.param(41, marks=pytest.mark.long), 45])
def test_nobody_runs_dry_nothing_comes_twice_and_nothing_is_overshot(database: Database, seed: int) -> None:
    town = Town(database, seed)
    town.label()
    check_nobody_ran_dry(town)
    check_only_what_is_allowed(town)
    check_nothing_twice(town)
    check_overlap(town)
    check_training_first(town)
    check_repeats(town)
