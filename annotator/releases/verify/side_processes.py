"""Read the slow files of a release in other processes, while the command goes on.

Each process is a fork of this one, so it has the qrels without a transfer. If a fork is not safe or does not pay (other
threads, not Linux, one processor), or a process dies, the work is done here on demand. The result is the same.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SideProcesses(Generic[Result]):
    """Computes `compute(name)` for some names in other processes."""

    def __init__(self, compute: Callable[[str], Result]) -> None:
        self.names: tuple[str, ...] = ()
        self._compute = compute
        self._processes: list[Any] = []
        self._results: dict[str, Connection] = {}

    def start(self, names: Sequence[str]) -> None:
        """Start to compute these names, in one process for each further processor."""
        self.names = tuple(names)
        processes = min(len(names), count_processors() - 1)
        if processes < 1 or sys.platform != "linux" or threading.active_count() > 1:
            return
        context = multiprocessing.get_context("fork")
        gc.freeze()  # or the first search for cycles in a process would copy all memory
        for number in range(processes):
            pipes = {name: context.Pipe(duplex=False) for name in names[number::processes]}
            senders = {name: sender for name, (_, sender) in pipes.items()}
            process = context.Process(target=self._run, args=(senders,), daemon=True)
            process.start()
            self._processes.append(process)
            for name, (receiver, sender) in pipes.items():
                sender.close()
                self._results[name] = receiver

    def wait_for(self, name: str) -> Result:
        """Return the result for this name."""
        if name in self._results:
            try:
                result: Result = self._results[name].recv()
            except (EOFError, OSError):  # the process died
                return self._compute(name)
            return result
        return self._compute(name)

    def stop(self) -> None:
        """End what still runs."""
        for process in self._processes:
            process.terminate()
            process.join()
        for receiver in self._results.values():
            receiver.close()
        if self._processes:
            gc.unfreeze()

    def _run(self, senders: dict[str, Connection]) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it without a word
        for name, sender in senders.items():
            # A pipe holds 64 kB: to send more here would wait until the other process asks for it.
            threading.Thread(target=_send, args=(sender, self._compute(name))).start()


def _send(sender: Connection, result: Any) -> None:
    sender.send(result)
    sender.close()


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
