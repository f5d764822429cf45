"""Do long work in the background of the server, with progress and a way to stop it.

One piece of work at a time for each key (a dataset), so that two tabs or two leads never do the same twice. What it came to is
kept for the person who began it, until they begin something else. Nothing of it outlives the server: work that stores
something does so in one transaction.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import structlog

from annotator.domain.errors import AnnotatorError, StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor

MOST_KEPT = 32
LEAST_TO_ESTIMATE = 0.05  # of the work: before that the time left is not worth saying
log = structlog.stdlib.get_logger("annotator.web")
ReportStep = Callable[[str, float], None]


class WorkStopped(Exception):
    """Somebody has stopped the work. Raised where the work reports how far it is."""


@dataclass(slots=True, eq=False)
class BackgroundWork:
    """A piece of work. `request`: what it is about, compared with what a page asks for now. `share`: of the present step.

    Afterwards it has either a `result` or a `failure`, or was `stopped`. `seconds`: how long it took.
    """

    request: Any
    actor: Actor
    begun_at: datetime
    step: str = ""
    share: float = 0.0
    result: Any = None
    failure: AnnotatorError | None = None
    stopped: bool = False
    seconds: float | None = None
    stop_requested: bool = False
    ended: Event = field(default_factory=Event)
    begun: float = field(default_factory=monotonic)
    step_begun: float = field(default_factory=monotonic)

    def report(self, step: str, share: float) -> None:
        """Note how far the work is. Raises WorkStopped once somebody wants it to stop."""
        if self.stop_requested:
            raise WorkStopped
        if step != self.step:
            self.step, self.step_begun = step, monotonic()
        self.share = min(max(share, 0.0), 1.0)

    def estimate_left(self) -> float | None:
        """Return the seconds that are left of the present step, None while nothing can be said."""
        if self.share < LEAST_TO_ESTIMATE:
            return None
        return (monotonic() - self.step_begun) * (1 - self.share) / self.share


class WorkBoard:
    """The work that is under way, and what ended, by key. Threads share it."""

    def __init__(self) -> None:
        self._running: dict[Hashable, BackgroundWork] = {}
        self._ended: dict[Hashable, BackgroundWork] = {}
        self._lock = Lock()

    def start(
        self, key: Hashable, actor: Actor, request: Any, act: Callable[[ReportStep], Any], *, now: datetime
    ) -> BackgroundWork:
        """Begin `act(report)` in a thread of its own. StateError while other work of this key is under way."""
        work = BackgroundWork(request, actor, now)
        with self._lock:
            if key in self._running:
                raise StateError(
                    say(
                        "{person} is already working on this: wait, or stop it",
                        person=self._running[key].actor.username,
                    )
                )
            self._running[key] = work
            self._ended.pop((key, actor.person_id), None)
        Thread(target=self._do, args=(key, work, act), name="background work", daemon=True).start()
        return work

    def find_running(self, key: Hashable) -> BackgroundWork | None:
        """Return the work of this key that is under way."""
        with self._lock:
            return self._running.get(key)

    def find_ended(self, key: Hashable, actor: Actor) -> BackgroundWork | None:
        """Return this person's last work of this key, if it has ended."""
        with self._lock:
            return self._ended.get((key, actor.person_id))

    def stop(self, key: Hashable, *, wait: float = 0.0) -> None:
        """Ask the work of this key to stop, and wait for it at most so many seconds."""
        work = self.find_running(key)
        if work is not None:
            work.stop_requested = True
            work.ended.wait(wait)

    def _do(self, key: Hashable, work: BackgroundWork, act: Callable[[ReportStep], Any]) -> None:
        try:
            work.result = act(work.report)
        except WorkStopped:
            work.stopped = True
        except AnnotatorError as error:
            work.failure = error
        except Exception:
            log.exception("work in the background failed")
            work.failure = StateError(say("Something went wrong. See the server's log."))
        finally:
            work.seconds = monotonic() - work.begun
            with self._lock:
                self._running.pop(key, None)
                self._ended[key, work.actor.person_id] = work
                for old in list(self._ended)[:-MOST_KEPT]:
                    del self._ended[old]
            work.ended.set()
