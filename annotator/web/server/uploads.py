"""Limit uploads: who may send a file, how large, and how long it stays in memory.

Streamlit accepts any file below its limit from anybody signed in, for every session, and does not free it when a session
ends silently. Here a session may upload only while its page shows a field of `draw_file_field`, and only the person who
looks at that page; each session and the server have a limit. A file is freed when another replaces it, when the page no
longer shows the field, and when the session has been away for KEPT_SECONDS. The page of imports takes larger files, and many
(`draw_import_field`); it stores them on disk at once, and a new field frees them here.
"""

import asyncio
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from annotator.web.session import require_signed_in

MOST_MB = 5  # a file, which the server itself reads: short rows need sixty times as much memory
FORM_BYTES = 10_000  # what the form around a file may add
MOST_BYTES = MOST_MB * 1024 * 1024 + FORM_BYTES
MOST_BYTES_OF_A_SESSION = 2 * MOST_BYTES  # the file, and the one that replaces it
MOST_FILES_OF_A_SESSION = 10
MOST_IMPORT_MB = 100  # a file of an import, and all files that come with it
MOST_IMPORT_FILES = 3_000
MOST_IMPORT_BYTES = MOST_IMPORT_MB * 1024 * 1024 + FORM_BYTES * MOST_IMPORT_FILES
MOST_BYTES_OF_A_PERSON = (
    MOST_IMPORT_BYTES + MOST_BYTES_OF_A_SESSION
)  # in all browser tabs, also what has not come yet
MOST_BYTES_OF_ALL = 400 * 1024 * 1024
KEPT_SECONDS = 90  # after the connection broke; Streamlit itself keeps a session for 120
SWEEP_SECONDS = 15
log = structlog.stdlib.get_logger("annotator.web")
UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)")


@dataclass
class UploadingSession:
    """A session whose page has asked for a file. `shown`: the files that the field has held; `now`: those of this run."""

    person_id: int | None
    asks: bool = False
    imports: bool = False  # its page takes the larger files of an import
    requested_in_run: bool = False
    shown: set[str] = field(default_factory=set)
    now: set[str] = field(default_factory=set)
    coming: int = 0
    last_seen: float = 0.0


class UploadRefused(Exception):
    """The file is refused, with an HTTP status and a reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Uploads:
    """The sessions that may upload. Streamlit's scripts run on threads, requests on the event loop: hence the lock."""

    def __init__(self) -> None:
        self._sessions: dict[str, UploadingSession] = {}
        self._lock = threading.RLock()

    def ask(self, session_id: str, person_id: int | None, *, now: float, imports: bool = False) -> None:
        """Allow uploads from this browser tab: its page shows the person a field for a file, or for those of an import."""
        with self._lock:
            fields = self._sessions.get(session_id)
            if fields is None or fields.person_id != person_id:
                fields = self._sessions[session_id] = UploadingSession(person_id)
            fields.asks = fields.requested_in_run = True
            fields.imports = imports
            fields.last_seen = now

    def show(self, session_id: str, file_id: str) -> None:
        """Keep this file, which a field holds in the current run of the script."""
        with self._lock:
            fields = self._sessions[session_id]
            fields.shown.add(file_id)
            fields.now.add(file_id)

    def begin_run(self, session_id: str) -> None:
        """Begin a run of the session's script, in which no page has asked for a file yet."""
        with self._lock:
            if session_id in self._sessions:
                self._sessions[session_id].requested_in_run = False
                self._sessions[session_id].now = set()

    def end_run(self, session_id: str, files: MemoryUploadedFileManager | None) -> None:
        """End the run: free the files that no field holds any more.

        If no page asked for a file in it, uploads stop and all files of the session are freed.
        """
        with self._lock:
            fields = self._sessions.get(session_id)
            if fields is None:
                return
            fields.asks = fields.requested_in_run
            asks = fields.asks
            gone, fields.shown = fields.shown - fields.now, fields.shown & fields.now
        if files is None:
            return
        if not asks:
            files.remove_session_files(session_id)
        else:
            for file_id in gone:
                files.remove_file(session_id, file_id)

    def owns(self, session_id: str, person_id: int | None) -> bool:
        """Return whether a page of this person asked for files in this browser tab."""
        with self._lock:
            fields = self._sessions.get(session_id)
            return fields is not None and fields.person_id == person_id

    @contextmanager
    def receive(
        self, session_id: str, person_id: int | None, length: int | None, files: MemoryUploadedFileManager
    ) -> Iterator[None]:
        """Reserve room for a file of `length` bytes during its upload. Raises UploadRefused if it is not requested or too large."""
        with self._lock:
            fields = self._sessions.get(session_id)
            if fields is None or fields.person_id != person_id or not fields.asks:
                raise UploadRefused(403, "this page asks for no file")
            if length is None:
                raise UploadRefused(411, "say how long the file is")
            imports = fields.imports
            if length > (MOST_IMPORT_BYTES if imports else MOST_BYTES):
                raise UploadRefused(413, f"a file has at most {MOST_IMPORT_MB if imports else MOST_MB} MB")
            held = _measure(files)
            there, count = held.get(session_id, (0, 0))
            most_bytes = MOST_IMPORT_BYTES if imports else MOST_BYTES_OF_A_SESSION
            most_files = MOST_IMPORT_FILES if imports else MOST_FILES_OF_A_SESSION
            if there + fields.coming + length > most_bytes or count >= most_files:
                raise UploadRefused(413, "this page has too many uploaded files already")
            own = [key for key, other in self._sessions.items() if other.person_id == person_id]
            if self._count_bytes(own, held) + length > MOST_BYTES_OF_A_PERSON:
                raise UploadRefused(413, "your other pages have too many uploaded files already")
            if self._count_bytes({*held, *self._sessions}, held) + length > MOST_BYTES_OF_ALL:
                raise UploadRefused(503, "there are too many uploaded files on the server at the moment")
            fields.coming += length
        try:
            yield
        finally:
            with self._lock:
                fields.coming -= length
                left = self._sessions.get(session_id) is not fields or not fields.asks
            if left:  # the page has gone on while the file came
                files.remove_session_files(session_id)

    def _count_bytes(self, session_ids: Iterable[str], held: Mapping[str, tuple[int, int]]) -> int:
        """Return the bytes of the files of these sessions, those that still come included."""
        coming = {key: session.coming for key, session in self._sessions.items()}
        return sum(held.get(key, (0, 0))[0] + coming.get(key, 0) for key in session_ids)

    def free_ended(self, runtime: Runtime, *, now: float) -> list[str]:
        """Close the sessions that have been away for KEPT_SECONDS, free their files, and return their ids."""
        with self._lock:
            for session_id, fields in self._sessions.items():
                if runtime.is_active_session(session_id):
                    fields.last_seen = now
            gone = [key for key, fields in self._sessions.items() if now - fields.last_seen > KEPT_SECONDS]
            for session_id in gone:
                del self._sessions[session_id]
        for session_id in gone:
            runtime.close_session(session_id)
            runtime.uploaded_file_mgr.remove_session_files(session_id)  # also of one that Streamlit has lost
        return gone


UPLOADS = Uploads()


def draw_file_field(label: str, *, person_id: int | None, key: str, **options: Any) -> UploadedFile | None:
    """Draw a field for one file of at most MOST_MB, and let this browser tab upload it. Every page asks for files here."""
    session_id = _find_session()
    UPLOADS.ask(session_id, person_id, now=time.monotonic())
    file: UploadedFile | None = st.file_uploader(label, key=key, max_upload_size=MOST_MB, **options)
    if file is not None:
        UPLOADS.show(session_id, file.file_id)
    return file


def draw_import_field(
    label: str, *, person_id: int | None, key: str, folder: bool = False, **options: Any
) -> list[UploadedFile]:
    """Draw a field for the files of an import, MOST_IMPORT_MB together; with `folder`, for a folder and all in it."""
    session_id = _find_session()
    UPLOADS.ask(session_id, person_id, now=time.monotonic(), imports=True)
    files: list[UploadedFile] = st.file_uploader(
        label,
        key=key,
        max_upload_size=MOST_IMPORT_MB,
        accept_multiple_files="directory" if folder else True,
        **options,
    )
    for file in files:
        UPLOADS.show(session_id, file.file_id)
    return files


@contextmanager
def watch_file_fields() -> Iterator[None]:
    """Around everything that a run draws."""
    session_id = _find_session()
    UPLOADS.begin_run(session_id)
    try:
        yield
    except RerunException:
        raise  # cut short: the next run, which follows at once, says what is shown
    except BaseException:
        UPLOADS.end_run(session_id, _find_files())
        raise
    UPLOADS.end_run(session_id, _find_files())


async def free_files_of_ended_sessions() -> None:
    """Until cancelled; a sweep that fails is logged, and the next one comes all the same."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            if Runtime.exists():
                UPLOADS.free_ended(Runtime.instance(), now=time.monotonic())
        except Exception:
            log.exception("files of ended sessions were not freed")


class UploadGuard:
    """ASGI middleware behind the gate: lets through to Streamlit only the files that a page asks for."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" else None
        files = _find_files()
        if match is None or files is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        session_id, person_id = match["session"], require_signed_in(request).actor.person_id
        try:
            if scope["method"] == "PUT":
                header = request.headers.get("content-length", "")
                length = int(header) if header.isascii() and header.isdigit() else None
                with UPLOADS.receive(session_id, person_id, length, files):
                    await self.app(scope, receive, send)
                return
            if not UPLOADS.owns(session_id, person_id):
                raise UploadRefused(403, "this page asks for no file")
        except UploadRefused as refused:
            await JSONResponse({"error": str(refused)}, refused.status)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _find_session() -> str:
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def _find_files() -> MemoryUploadedFileManager | None:
    files = Runtime.instance().uploaded_file_mgr if Runtime.exists() else None
    return files if isinstance(files, MemoryUploadedFileManager) else None


def _measure(files: MemoryUploadedFileManager) -> dict[str, tuple[int, int]]:
    """Return bytes and number of the files of each session."""
    measured = {}
    for session_id, held in list(files.file_storage.items()):
        sizes = [len(file.data) for file in list(held.values())]
        measured[session_id] = (sum(sizes), len(sizes))
    return measured
