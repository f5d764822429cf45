"""Serve one port with several processes: `annotator serve --workers N`.

The first process accepts connections and gives each of them to a worker, which is a process of its own with the whole
application. It looks at the head of a connection's first request without taking it, and never sees what is sent later.
A browser keeps its worker by a cookie, because Streamlit keeps a page's state and its uploaded files in one process.
Requests without that cookie go to the workers in turn. A worker that ends is replaced under the same number.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from starlette.requests import cookie_parser

from annotator.web.server.worker_place import find_worker

HEAD_BYTES = 64 * 1024  # of a request's head that are looked at
HEAD_SECONDS = (
    1.0  # that the rest of a head has to come; then any worker gets the connection, with its limits
)
LOOK_AGAIN_SECONDS = 0.05
SILENT_SECONDS = 20.0  # that a connection may say nothing: browsers open some in advance
MOST_SILENT = 400  # beyond it, the oldest goes to a worker, which has limits for each address
ACCEPTED_AT_ONCE = 32
PAUSE_SECONDS = 0.1  # after a connection could not be accepted, for want of open files
LOG_EVERY = 60.0
LIVED_SECONDS = 5.0  # a worker that ends sooner is replaced only after RESTART_SECONDS
RESTART_SECONDS = 1.0
ENDING_SECONDS = 10.0  # that the workers have to end, before they are killed; each ends itself after 8

log = structlog.stdlib.get_logger("annotator.web")


@dataclass
class Worker:
    """A process. `control`: this end of the pair of sockets by which it is given connections; None while there is none."""

    number: int
    pid: int = 0
    control: socket.socket | None = None
    started: float = 0.0
    restart_at: float = 0.0
    queue: deque[socket.socket] = field(default_factory=deque)


@dataclass
class Caller:
    """An accepted connection that no worker has yet. `deadline`: until when this process waits for its first words."""

    connection: socket.socket
    deadline: float
    begun: bool = False


class Workers:
    """The workers, and the connections that wait for one. `run_worker` is called in each new process; it returns when it ends.
    `note_ended` is called with the process id of each that has ended."""

    def __init__(
        self,
        bound: socket.socket,
        number: int,
        run_worker: Callable[[int, socket.socket], None],
        note_ended: Callable[[int], None] | None = None,
    ) -> None:
        self._bound, self._run_worker, self._note_ended = bound, run_worker, note_ended
        self._workers = [Worker(each) for each in range(number)]
        self._selector = selectors.DefaultSelector()
        self._callers: dict[socket.socket, Caller] = {}
        self._turn, self._ending = 0, False
        self._paused_until, self._logged = 0.0, float("-inf")
        self._woken, self._wake = socket.socketpair()

    def run(self) -> None:
        """Accept and give away connections until SIGINT or SIGTERM; then end the workers."""
        self._woken.setblocking(False)
        self._wake.setblocking(False)
        self._bound.setblocking(False)
        self._selector.register(self._bound, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        handlers = {
            each: signal.signal(each, self._note) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
        }
        earlier = signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        try:
            self._start_missing()
            while not self._ending:
                self._look()
        finally:
            self._end()
            signal.set_wakeup_fd(earlier)
            for each, handler in handlers.items():
                signal.signal(each, handler)

    def _note(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self._ending = True

    def _look(self) -> None:
        """Wait for the next connection, word or signal, and deal with it."""
        for key, _events in self._selector.select(self._find_wait()):
            if key.fileobj is self._bound:
                self._accept()
            elif key.fileobj is self._woken:
                with suppress(BlockingIOError):
                    while self._woken.recv(4096):
                        pass
            elif isinstance(key.data, Caller):
                self._hear(key.data)
            elif isinstance(key.data, Worker):
                self._give_queued(key.data)
        self._look_at_the_clock()
        self._collect_ended()
        self._start_missing()

    def _find_wait(self) -> float | None:
        """Return how long nothing can be due: seconds, or None."""
        due = [caller.deadline for caller in self._callers.values()]
        due += [worker.restart_at for worker in self._workers if worker.control is None]
        if any(caller.begun for caller in self._callers.values()):
            due.append(time.monotonic() + LOOK_AGAIN_SECONDS)
        if self._paused_until:
            due.append(self._paused_until)
        return max(0.0, min(due) - time.monotonic()) if due else None

    # --- connections -----------------------------------------------------------------------------------

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, _address = self._bound.accept()
            except BlockingIOError:
                return
            except OSError as error:
                self._pause(error)
                return
            connection.setblocking(False)
            caller = Caller(connection, time.monotonic() + SILENT_SECONDS)
            self._callers[connection] = caller
            self._selector.register(connection, selectors.EVENT_READ, caller)
            if len(self._callers) > MOST_SILENT:
                self._give(next(iter(self._callers.values())), None)

    def _pause(self, error: OSError) -> None:
        """Accept nothing for a moment: the system has no room, and would say so again at once."""
        now = time.monotonic()
        self._selector.unregister(self._bound)
        self._paused_until = now + PAUSE_SECONDS
        if now - self._logged >= LOG_EVERY:
            self._logged = now
            log.error("new connections wait", error=str(error), mend="raise ulimit -n")

    def _hear(self, caller: Caller) -> None:
        """Look at what has come, without taking it: give the connection away if its first head is whole."""
        try:
            head = caller.connection.recv(HEAD_BYTES, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            head = b""
        if not head:
            self._forget(caller)
            caller.connection.close()
        elif b"\r\n\r\n" in head or len(head) == HEAD_BYTES:
            self._give(caller, read_worker_number(head, len(self._workers)))
        elif not caller.begun:  # the selector would call for the same bytes again and again
            caller.begun = True
            caller.deadline = time.monotonic() + HEAD_SECONDS
            self._selector.unregister(caller.connection)

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._paused_until and now >= self._paused_until:
            self._paused_until = 0.0
            self._selector.register(self._bound, selectors.EVENT_READ)
        for caller in list(self._callers.values()):
            if caller.begun:
                self._hear(caller)
            if caller.connection in self._callers and now >= caller.deadline:
                if caller.begun:
                    self._give(caller, None)
                else:
                    self._forget(caller)
                    caller.connection.close()

    def _forget(self, caller: Caller) -> None:
        del self._callers[caller.connection]
        if not caller.begun:
            self._selector.unregister(caller.connection)

    def _give(self, caller: Caller, number: int | None) -> None:
        """Give the connection to this worker, or to the next in turn. While none runs, it waits for the first."""
        self._forget(caller)
        worker = self._workers[number] if number is not None else self._find_next()
        if worker.control is None:
            worker = self._find_next()
        worker.queue.append(caller.connection)
        self._give_queued(worker)

    def _find_next(self) -> Worker:
        for _ in self._workers:
            self._turn = (self._turn + 1) % len(self._workers)
            if self._workers[self._turn].control is not None:
                break
        return self._workers[self._turn]

    def _give_queued(self, worker: Worker) -> None:
        """Send it the connections that wait for it, as many as it takes; the rest when it has read these."""
        if worker.control is None:
            return
        is_full = False
        while worker.queue and not is_full:
            connection = worker.queue[0]
            try:
                socket.send_fds(worker.control, [b"."], [connection.fileno()])
            except BlockingIOError:
                is_full = True
                continue
            except OSError:  # it has ended: the worker that replaces it is given them
                break
            worker.queue.popleft()
            connection.close()
        self._watch(worker.control, worker if is_full else None)

    def _watch(self, control: socket.socket, full: Worker | None) -> None:
        """Wait until a full worker can take more. That a worker has ended is learned from SIGCHLD."""
        watched = control in self._selector.get_map()
        if full is not None and not watched:
            self._selector.register(control, selectors.EVENT_WRITE, full)
        elif full is None and watched:
            self._selector.unregister(control)

    # --- processes -------------------------------------------------------------------------------------

    def _start_missing(self) -> None:
        for worker in self._workers:
            if worker.control is None and time.monotonic() >= worker.restart_at:
                self._start(worker)
                self._give_queued(worker)

    def _start(self, worker: Worker) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        signals = {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # or the new process runs this one's handlers
        pid = os.fork()
        if pid == 0:
            self._become(worker.number, theirs, ours)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        theirs.close()
        worker.pid, worker.control, worker.started = pid, ours, time.monotonic()

    def _become(self, number: int, control: socket.socket, other_end: socket.socket) -> None:
        """In the new process: leave everything that belongs to the first, serve, and end without its clean-up."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for each in (signal.SIGTERM, signal.SIGCHLD):
                signal.signal(each, signal.SIG_DFL)
            self._selector.close()
            mine = [self._bound, self._woken, self._wake, other_end, *self._callers]
            for worker in self._workers:
                mine += [*worker.queue, *([worker.control] if worker.control else [])]
            for leftover in mine:
                leftover.close()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})
            self._run_worker(number, control)
            code = 0
        except KeyboardInterrupt:
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0
        except BaseException:
            log.exception("a worker failed", worker=number)
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _collect_ended(self) -> None:
        """Note which workers have ended; their places are taken by new ones, unless the server ends."""
        for worker in self._workers:
            if worker.control is None or os.waitpid(worker.pid, os.WNOHANG)[0] == 0:
                continue
            self._watch(worker.control, None)
            worker.control.close()
            worker.control = None
            if self._note_ended is not None:
                self._note_ended(worker.pid)
            now = time.monotonic()
            worker.restart_at = now + (RESTART_SECONDS if now - worker.started < LIVED_SECONDS else 0.0)
            if not self._ending:
                log.error("a worker has ended and is replaced", worker=worker.number, pid=worker.pid)

    def _end(self) -> None:
        """Accept nothing more, let the workers end, and kill those that do not."""
        self._ending = True
        with suppress(KeyError):
            self._selector.unregister(self._bound)
        self._bound.close()
        for caller in list(self._callers.values()):
            self._forget(caller)
            caller.connection.close()
        for sent in (signal.SIGTERM, signal.SIGKILL):
            running = [worker for worker in self._workers if worker.control is not None]
            for worker in running:
                with suppress(ProcessLookupError):
                    os.kill(worker.pid, sent)
            deadline = time.monotonic() + ENDING_SECONDS
            while any(worker.control is not None for worker in self._workers) and time.monotonic() < deadline:
                self._selector.select(LOOK_AGAIN_SECONDS)
                with suppress(BlockingIOError):
                    self._woken.recv(4096)
                self._collect_ended()
        self._selector.close()
        self._woken.close()
        self._wake.close()


def read_worker_number(head: bytes, workers: int) -> int | None:
    """Return the number of the worker that the browser's cookie names in this head; None without one of `workers`."""
    fields: dict[str, str] = {}
    for line in head.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    return find_worker(cookie_parser(fields.get("cookie", "")), fields.get("host", ""), workers)
