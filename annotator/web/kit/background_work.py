"""Do long work in the background of the server, with progress and a way to stop it.

Each key (a dataset) has at most one running work, so two tabs or two leads never do the same twice. The
result is kept for the person who started it, until they start other work. Everything is lost when the server
stops, so work that stores something uses one transaction.
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
LEAST_TO_ESTIMATE = 0.05  # of the step: earlier estimates are too uncertain
log = structlog.stdlib.get_logger("annotator.web")
ReportStep = Callable[[str, float], None]


class WorkStopped(Exception):
    """The work was stopped. Raised when the work reports its progress."""


@dataclass(slots=True, eq=False)
class BackgroundWork:
    """A piece of work. `request`: its input, which a page compares with its own. `share`: 0 to 1, of the current step.

    At the end it has a `result` or a `failure`, or is `stopped`. `seconds`: its duration.
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
        """Note the progress. Raises WorkStopped after a request to stop."""
        if self.stop_requested:
            raise WorkStopped
        if step != self.step:
            self.step, self.step_begun = step, monotonic()
        self.share = min(max(share, 0.0), 1.0)

    def estimate_left(self) -> float | None:
        """Return the remaining seconds of the current step; None at its beginning."""
        if self.share < LEAST_TO_ESTIMATE:
            return None
        return (monotonic() - self.step_begun) * (1 - self.share) / self.share


class WorkBoard:
    """Running and ended work by key. Threads share it."""

    def __init__(self) -> None:
        self._running: dict[Hashable, BackgroundWork] = {}
        self._ended: dict[Hashable, BackgroundWork] = {}
        self._lock = Lock()

    def start(
        self, key: Hashable, actor: Actor, request: Any, act: Callable[[ReportStep], Any], *, now: datetime
    ) -> BackgroundWork:
        """Start `act(report)` in its own thread. Raises StateError while other work of this key is running."""
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
        with self._lock:
            return self._running.get(key)

    def find_ended(self, key: Hashable, actor: Actor) -> BackgroundWork | None:
        with self._lock:
            return self._ended.get((key, actor.person_id))

    def stop(self, key: Hashable, *, wait: float = 0.0) -> None:
        """Ask the work of this key to stop, and wait at most `wait` seconds for it."""
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
