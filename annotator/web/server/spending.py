"""What each person has used up lately: processor seconds, or bytes of text. It is forgiven with time.

The figures are those of one process, and are forgotten when it ends. The clock is an argument; threads may share one object.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much somebody may use at once, how much of it is forgiven per second, and by how much it may be exceeded at most."""

    at_once: float
    per_second: float
    most_over: float = float("inf")


class Spending:
    """Who has used how much. People whose use is forgiven are forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._used: dict[Hashable, tuple[float, float, float]] = {}  # how much, when, forgiven per second
        self._sweep_at = 100

    def __len__(self) -> int:
        return len(self._used)

    def find_wait(self, who: Hashable, allowance: Allowance) -> float:
        """Return for how many seconds they have to wait before they may use more; 0 within the allowance."""
        with self._lock:
            over = self._read(who, self._clock()) - allowance.at_once
        return max(0.0, over / allowance.per_second)

    def spend(self, who: Hashable, amount: float, allowance: Allowance) -> None:
        """Count what they have used; a negative amount takes back what was counted."""
        now = self._clock()
        with self._lock:
            used = self._read(who, now) + amount
            most = max(allowance.at_once + allowance.most_over, used - amount)
            self._used[who] = (max(0.0, min(used, most)), now, allowance.per_second)
            if len(self._used) > self._sweep_at:
                self._used = {key: kept for key, kept in self._used.items() if self._read(key, now) > 0}
                self._sweep_at = 2 * len(self._used) + 100

    def _read(self, who: Hashable, now: float) -> float:
        used, at, per_second = self._used.get(who, (0.0, now, 0.0))
        return max(0.0, used - (now - at) * per_second)
