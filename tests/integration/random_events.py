"""A world in which random people do random things: judge through the panel's own route, decide, discuss, object, look.

Whatever is shown to an annotator is checked against an account of its own of what was still theirs to answer: what the
hand-out gives them then, and what it gave them before and they have not answered.
"""

import contextlib
import random
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.discussion.discussion_service import (
    ask_to_discuss,
    list_own_decisions,
    list_own_discussions,
    object_to_decision,
    take_discussion_turn,
)
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.errors import AnnotatorError
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.tables.central import PairRow, QueryRow
from tests.integration.labeling_world import World


@dataclass
class Play:
    """What happened. `looked`: how often somebody looked; `shown`: pairs that were; `shown_too_early`:
    (who, query) of what was shown against the rule. `undisputed`: a pair that nobody disputes."""

    looked: int = 0
    shown: int = 0
    shown_too_early: list[tuple[str, str]] = field(default_factory=list)


class Game:
    """The dice, the world, and what each annotator has in hand (pair keys)."""

    def __init__(self, database: Database, seed: int) -> None:
        self.dice = random.Random(seed)
        self.world = World(database, queries=2, documents=4)
        self.database = database
        self.lead = self.world.person("lead", "lead")
        self.annotators = [self.world.person(name) for name in ("a", "b", "c")[: self.dice.choice((2, 2, 3))]]
        self.hand: dict[str, list[str]] = {annotator.username: [] for annotator in self.annotators}
        with database.read() as session:
            rows = session.execute(
                select(col(PairRow.key), col(QueryRow.query_id)).join(
                    QueryRow, col(QueryRow.pk) == col(PairRow.query_pk)
                )
            )
            self.query_of = {str(row[0]): str(row[1]) for row in rows}
        self.play = Play()

    def take(self, who: Actor) -> None:
        given = self.world.send(who, want=self.dice.choice((1, 2, 4)), have=self.hand[who.username], tab="t")
        hand = [key for key in self.hand[who.username] if key not in given.judged]
        self.hand[who.username] = hand + [pair.pair for pair in given.pairs if pair.pair not in hand]

    def judge(self, who: Actor) -> None:
        if not self.hand[who.username]:
            self.take(who)
        if self.hand[who.username]:
            pair = self.dice.choice(self.hand[who.username])
            event = self.world.event(pair, self.dice.choice((0, 1, 2, 3, None)))
            if self.dice.random() < 0.1:
                event.update(outcome="later", grade=None)
            done = self.world.send(who, event, tab="t")
            if (done.acknowledged and event["outcome"] != "later") or done.refused:
                self.hand[who.username].remove(pair)

    def decide(self, _who: Actor) -> None:
        pair = self.disputed()
        disagreement = show_disagreement(self.database, self.lead, "d", pair, now=self.world.now)
        adjudicate(
            self.database, self.lead, "d", pair, grade=self.dice.choice((0, 1, 2, 3)), rationale="r", seen=disagreement.seen,
            now=self.world.now,
        )  # fmt: skip

    def disputed(self) -> str:
        """A pair that waits for a lead, or any where none does."""
        disagreements = find_disagreements(self.database, self.lead, "d", now=self.world.now)
        return self.dice.choice(
            [disagreement.pair for disagreement in disagreements if disagreement.status == "open"]
            or list(self.query_of)
        )

    def ask(self, _who: Actor) -> None:
        ask_to_discuss(
            self.database, self.lead, "d", self.dice.choice(list(self.query_of)), now=self.world.now
        )

    def discuss(self, who: Actor) -> None:
        waiting = list_own_discussions(self.database, who, "d", now=self.world.now).discussions
        if not waiting:
            return
        discussion = self.dice.choice(waiting)
        self.see(who, discussion.query_id)
        take_discussion_turn(
            self.database, who, "d", discussion.pair, decided=self.dice.choice((0, 3)), note="", seen=discussion.seen,
            now=self.world.now,
        )  # fmt: skip

    def look(self, who: Actor) -> None:
        self.play.looked += 1
        own_decisions = list_own_decisions(self.database, who, "d", now=self.world.now)
        for decision in own_decisions.decisions:
            self.see(who, decision.query_id)
        for talk in list_own_discussions(self.database, who, "d", now=self.world.now).discussions:
            self.see(who, talk.query_id)
        if own_decisions.decisions and self.dice.random() < 0.3:
            shown = self.dice.choice(own_decisions.decisions)
            object_to_decision(
                self.database, who, "d", shown.pair, text="no", seen=shown.revision, now=self.world.now
            )

    def see(self, who: Actor, query_id: str) -> None:
        """Something of this query was shown: nothing of it may be theirs to answer."""
        self.play.shown += 1
        held = set(self.hand[who.username])
        given = self.world.send(who, want=50, have=list(held), tab="t")
        held = (held - set(given.judged)) | {pair.pair for pair in given.pairs}
        if any(self.query_of[key] == query_id for key in held):
            self.play.shown_too_early.append((who.username, query_id))
        self.hand[who.username] = sorted(held)


def play(database: Database, seed: int, *, steps: int = 45) -> Play:
    """A random world, played."""
    game = Game(database, seed)
    acts = [game.judge] * 8 + [
        game.take,
        game.decide,
        game.decide,
        game.ask,
        game.discuss,
        game.look,
        game.look,
    ]
    for _ in range(steps):
        game.world.later(seconds=20)
        with contextlib.suppress(AnnotatorError):
            game.dice.choice(acts)(game.dice.choice(game.annotators))
    for who in game.annotators:
        game.look(who)
    return game.play
