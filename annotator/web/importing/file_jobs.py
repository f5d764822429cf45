"""Keep the uploaded files of each person, and run tasks on them in separate processes.

A process can be killed at any moment: its transaction is rolled back and its memory is freed. Files are on
disk, not in memory, until other files replace them, the person discards them, or nobody looked at them for
IDLE_SECONDS. Tasks that write into a dataset run one after another; waiting tasks show whom they wait for.
Fetches for the same dataset also run one after another. The database decides whether a task stored anything,
not an answer of its process. Tasks that send requests to other servers have a small number of processes of
their own. Tasks get processes in order of arrival, and each person has at most one of each kind: nobody can
occupy all.

Each process has limits of memory, computing time and time (`TaskLimits`, from ANNOTATOR_IMPORT_…). A process
that reaches one is killed; the system also kills one if the machine runs out of memory. Its temporary files
are in the job's folder, and are deleted with it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import structlog

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.formats.syntax.partial_files import hold_temporary_folder, remove_abandoned
from annotator.importing.search_endpoint.server_rules import MOST_SECONDS
from annotator.importing.uploads.staging import stage_files
from annotator.storage.database import Database, find_sqlite_file
from annotator.web.importing.words import read_message
from annotator.web.server.figures import note_task_begun, note_task_ended

State = Literal["idle", "waiting", "running"]
COMMAND = (sys.executable, "-P", "-m", "annotator.web.importing.worker")
IDLE_SECONDS = 3_600
MOST_JOBS = 40
MOST_FETCHES = 2  # processes of the whole server that fetch runs, so that nobody else waits for them
MOST_TRIES = 2
OWN_PROCESSES: Mapping[str, int] = {"fetch": MOST_FETCHES, "try_endpoint": MOST_TRIES}
"""Tasks with processes of their own. All others share those of imports."""
MOST_TASK_SECONDS: Mapping[str, float] = {"try_endpoint": 300, "fetch": MOST_SECONDS + 600}
"""Tasks with a time of their own. All others have that of an import."""
MOST_MEMORY_MB: Mapping[str, int] = {"try_endpoint": 750}
"""Tasks that need less memory than an import: one answer has at most 16 MB."""
WRITING = ("import", "remap", "checks")
MOST_BYTES = 4_000_000_000  # of all uploaded files on disk
MOST_BYTES_OF_A_PERSON = 1_500_000_000  # the largest upload and a half; older files go for newer ones
MOST_JOBS_OF_A_PERSON = 8
POLL_SECONDS = 0.2
log = structlog.stdlib.get_logger("annotator.web")


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Limits of a server's processes: how many at a time, and the memory and time of each."""

    processes: int = 2
    memory_mb: int = 1_500
    seconds: float = 1_800


@dataclass(eq=False)
class FileJob:
    """The uploaded files of a person for one purpose on a dataset, and the task on them.

    `results`: {task: result}. `ended`: how the latest task ended: done, cancelled, late (over its time
    limit), failed or no_memory.
    """

    person_id: int | None
    person: str
    dataset: str
    purpose: str
    folder: Path
    held: ExitStack
    number: int
    state: State = "idle"
    task: str = ""
    step: str = ""
    waits_for: str = ""
    begun: float = 0.0
    seconds: float = 0.0
    ended: str = ""
    error_id: str = ""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    last_seen: float = 0.0
    thread: threading.Thread | None = None
    process: subprocess.Popen[bytes] | None = None
    is_cancelled: bool = False
    is_late: bool = False
    limits: TaskLimits = field(default_factory=TaskLimits)

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def temporary(self) -> Path:
        """Return the folder for the temporary files of the job's process."""
        return self.folder / "temporary"

    def died_of(self, *signals: signal.Signals) -> bool:
        """Check whether one of these signals ended the process."""
        return self.process is not None and self.process.returncode in [-number for number in signals]

    @property
    def is_busy(self) -> bool:
        return self.state != "idle"

    @property
    def processes(self) -> str:
        return self.task if self.task in OWN_PROCESSES else "import"

    @property
    def turn(self) -> tuple[str, str] | None:
        """Return (dataset, exclusive activity) if such tasks run one at a time; None if the task can run in
        parallel.
        """
        if self.task in WRITING:
            return self.dataset, "write"
        return (self.dataset, "fetch") if self.task == "fetch" else None


Key = tuple[int | None, str, str]


class FileJobs:
    """The jobs of a server. Locked, because pages run on Streamlit's threads and tasks on their own."""

    def __init__(self, limits: TaskLimits = TaskLimits()) -> None:
        self.limits = limits
        self._jobs: dict[Key, FileJob] = {}
        self._lock = threading.RLock()
        self._ended = threading.Condition(self._lock)
        self._waiting: list[FileJob] = []
        self._working: list[FileJob] = []
        self._begun_at: dict[int | None, float] = {}  # when each person's latest task began
        self._number = 0

    def find(self, person_id: int | None, dataset: str, purpose: str) -> FileJob | None:
        """Return the person's files for this purpose, and restart their idle time."""
        with self._lock:
            job = self._jobs.get((person_id, dataset, purpose))
            if job is not None:
                job.last_seen = time.monotonic()
            return job

    def stage(
        self,
        person_id: int | None,
        person: str,
        dataset: str,
        purpose: str,
        uploads: Iterable[tuple[str, BinaryIO]],
    ) -> FileJob:
        """Store uploaded files in place of earlier ones. ValidationError if refused; the earlier files then
        stay.
        """
        self.free_idle(now=time.monotonic())
        earlier = self.find(person_id, dataset, purpose)
        if earlier is not None and earlier.is_busy:
            raise ValidationError(
                say("Earlier files are still being read. Wait until they are done, or cancel.")
            )
        folder, held = _make_folder()
        try:
            stage_files(uploads, folder / "files")
            self._make_room(person_id, folder, earlier)
        except BaseException:
            held.close()
            raise
        if earlier is not None:
            self.discard(earlier)
        return self._add(person_id, person, dataset, purpose, folder, held)

    def open(self, person_id: int | None, person: str, dataset: str, purpose: str) -> FileJob:
        """Return the person's job for a purpose without uploaded files; a new one if needed."""
        job = self.find(person_id, dataset, purpose)
        if job is not None:
            return job
        self.free_idle(now=time.monotonic())
        return self._add(person_id, person, dataset, purpose, *_make_folder())

    def _add(
        self, person_id: int | None, person: str, dataset: str, purpose: str, folder: Path, held: ExitStack
    ) -> FileJob:
        with self._lock:
            self._number += 1
            job = FileJob(person_id, person, dataset, purpose, folder, held, self._number)
            job.last_seen = time.monotonic()
            self._jobs[person_id, dataset, purpose] = job
        return job

    def _make_room(self, person_id: int | None, folder: Path, earlier: FileJob | None) -> None:
        """Discard the person's older files above MOST_BYTES_OF_A_PERSON. `earlier` will be replaced anyway.

        Raises ValidationError if all uploaded files together would still exceed MOST_BYTES.
        """
        with self._lock:
            sizes = {job: _measure(job.folder) for job in self._jobs.values() if job is not earlier}
        own = sorted((job for job in sizes if job.person_id == person_id), key=lambda job: job.last_seen)
        new = _measure(folder)
        left = new + sum(sizes[job] for job in own)
        for job in own:
            if left > MOST_BYTES_OF_A_PERSON and not job.is_busy:
                left -= sizes.pop(job)
                self.discard(job)
        if left > MOST_BYTES_OF_A_PERSON or new + sum(sizes.values()) > MOST_BYTES:
            raise ValidationError(
                say("There are too many uploaded files on the server at the moment. Try again later.")
            )

    def start(
        self,
        job: FileJob,
        request: Mapping[str, Any],
        *,
        database: Database,
        was_stored: Callable[[], bool] | None = None,
    ) -> None:
        """Start a task on the files. `was_stored`: for a task that writes; asks the database whether it did."""
        with self._lock:
            if job.is_busy:
                return
            job.state, job.task, job.step, job.ended, job.error_id = "waiting", request["task"], "", "", ""
            job.is_cancelled, job.is_late, job.begun = False, False, time.monotonic()
            job.requests[job.task] = dict(request)
            job.limits = self._find_limits(job.task)
            whole = {
                **request,
                "folder": str(job.files),
                "database": find_url(database),
                "memory_mb": job.limits.memory_mb,
                "seconds": job.limits.seconds,
            }
            job.thread = threading.Thread(target=self._run, args=(job, whole, was_stored), daemon=True)
            job.thread.start()

    def _find_limits(self, task: str) -> TaskLimits:
        return TaskLimits(
            self.limits.processes,
            min(self.limits.memory_mb, MOST_MEMORY_MB.get(task, self.limits.memory_mb)),
            MOST_TASK_SECONDS.get(task, self.limits.seconds),
        )

    def cancel(self, job: FileJob) -> None:
        """Stop the task: uncommitted changes are rolled back."""
        with self._lock:
            job.is_cancelled = True
            if job.process is not None:
                job.process.kill()

    def discard(self, job: FileJob) -> None:
        self.cancel(job)
        with self._lock:
            key = job.person_id, job.dataset, job.purpose
            if self._jobs.get(key) is job:
                del self._jobs[key]
        if job.thread is not None:
            job.thread.join(5)
        job.held.close()

    def discard_all(self) -> None:
        for job in list(self._jobs.values()):
            self.discard(job)

    def free_idle(self, *, now: float) -> None:
        """Discard files that nobody looked at for IDLE_SECONDS, and the oldest above a limit. Busy jobs stay.

        The limits: MOST_JOBS_OF_A_PERSON for each person, so one person cannot displace others, and MOST_JOBS
        for all.
        """
        with self._lock:
            by_age = sorted(self._jobs.values(), key=lambda job: job.last_seen)
        of_person = Counter(job.person_id for job in by_age)
        left = len(by_age)
        for job in by_age:
            is_surplus = left >= MOST_JOBS or of_person[job.person_id] > MOST_JOBS_OF_A_PERSON
            if not job.is_busy and (is_surplus or now - job.last_seen > IDLE_SECONDS):
                self.discard(job)
                of_person[job.person_id] -= 1
                left -= 1

    def _run(self, job: FileJob, request: dict[str, Any], was_stored: Callable[[], bool] | None) -> None:
        try:
            if self._wait(job):
                try:
                    self._work(job, request, was_stored)
                finally:
                    with self._ended:
                        self._working.remove(job)
                        self._ended.notify_all()
        finally:
            with self._lock:
                job.seconds = time.monotonic() - job.begun
                job.process, job.state = None, "idle"
                job.ended = job.ended or ("cancelled" if job.is_cancelled else "failed")

    def _wait(self, job: FileJob) -> bool:
        """Wait until the task may start; return False if it was cancelled meanwhile."""
        with self._ended:
            self._waiting.append(job)
            try:
                while not job.is_cancelled:
                    if self._may_begin(job):
                        self._working.append(job)
                        self._begun_at[job.person_id] = time.monotonic()
                        return True
                    job.waits_for = self._name_who_has(job.turn)
                    self._ended.wait(POLL_SECONDS)
                return False
            finally:
                job.waits_for = ""
                self._waiting.remove(job)

    def _may_begin(self, job: FileJob) -> bool:
        """Check whether a process is free for the task after all tasks before it.

        Order: people whose latest task started earlier, then tasks that arrived earlier.
        """
        begun = list(self._working)
        for waiting in sorted(self._waiting, key=lambda each: self._begun_at.get(each.person_id, 0.0)):
            if self._has_room(begun, waiting):
                begun.append(waiting)
        return job in begun

    def _has_room(self, begun: Sequence[FileJob], job: FileJob) -> bool:
        alike = [other for other in begun if other.processes == job.processes]
        return (
            len(alike) < OWN_PROCESSES.get(job.processes, self.limits.processes)
            and job.person_id not in {other.person_id for other in alike}
            and (job.turn is None or job.turn not in {other.turn for other in begun})
        )

    def _name_who_has(self, turn: tuple[str, str] | None) -> str:
        return next((job.person for job in self._working if turn is not None and job.turn == turn), "")

    def _work(self, job: FileJob, request: dict[str, Any], was_stored: Callable[[], bool] | None) -> None:
        with self._lock:
            if job.is_cancelled:
                return
            shutil.rmtree(job.temporary, ignore_errors=True)
            job.temporary.mkdir()
            job.process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": str(job.temporary)},
            )
            job.state = "running"
        note_task_begun(job.task)
        try:
            self._talk(job, request, was_stored)
        finally:
            shutil.rmtree(job.temporary, ignore_errors=True)
            note_task_ended(job.task, job.ended or "failed")

    def _talk(self, job: FileJob, request: dict[str, Any], was_stored: Callable[[], bool] | None) -> None:
        answer: dict[str, Any] = {}
        late = threading.Timer(job.limits.seconds, self._end_late, args=(job, job.process))
        late.daemon = True
        late.start()
        try:
            answer = self._read_answers(job, request)
        finally:
            late.cancel()
        self._note_end(job, answer, was_stored)

    @staticmethod
    def _end_late(job: FileJob, process: subprocess.Popen[bytes] | None) -> None:
        job.is_late = True
        if process is not None:
            process.kill()

    @staticmethod
    def _read_answers(job: FileJob, request: dict[str, Any]) -> dict[str, Any]:
        """Send the task to the process, record its steps, and return its last answer."""
        answer: dict[str, Any] = {}
        if job.process is None:
            return answer
        with suppress(OSError, ValueError), job.process as process:
            if process.stdin is None or process.stdout is None:
                return answer
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if "step" not in answer:
                    break
                job.step = read_message(answer["step"])
            process.kill()  # it waits for the end of its input; the task has ended
        return answer

    def _note_end(self, job: FileJob, answer: dict[str, Any], was_stored: Callable[[], bool] | None) -> None:
        if "result" in answer:
            result = answer["result"]
            if "then" in result:
                following, checked = result.pop("then")
                job.requests[following["task"]], job.results[following["task"]] = following, checked
            job.results[job.task], job.ended = result, "done"
            return
        if was_stored is not None and was_stored():
            job.results[job.task], job.ended = {"stored": True}, "done"
        elif job.is_cancelled:
            job.ended = "cancelled"
        elif job.is_late or (not answer and job.died_of(signal.SIGXCPU)):
            job.ended = "late"
        elif "no_memory" in answer or (not answer and job.died_of(signal.SIGKILL, signal.SIGABRT)):
            job.ended = "no_memory"  # SIGKILL: by the system, which has no memory left; SIGABRT: by a library that gets none
        else:
            job.ended, job.error_id = "failed", os.urandom(4).hex()
        if job.ended in ("failed", "no_memory", "late"):
            log.error(
                "task on files failed",
                error_id=job.error_id,
                task=job.task,
                ended=job.ended,
                status=job.process.returncode if job.process is not None else None,
                detail=answer.get("failed", ""),
            )


FILE_JOBS = FileJobs()


def _make_folder() -> tuple[Path, ExitStack]:
    """Make a folder for a job, readable only by the server's user. Closing the stack removes it; after a kill the next server does."""
    held = ExitStack()
    folder = held.enter_context(hold_temporary_folder("files"))
    (folder / "files").mkdir()
    (folder / "out").mkdir()
    return folder, held


def _measure(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def find_url(database: Database) -> str:
    """Return the database's URL for a process with another working directory."""
    file = find_sqlite_file(database.url)
    url = database.url if file is None else database.url.set(database=str(file))
    return url.render_as_string(hide_password=False)


def delete_left_behind() -> None:
    remove_abandoned(Path(tempfile.gettempdir()))
