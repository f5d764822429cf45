"""Who may upload a file, how much of it is taken, and when it is freed."""

import asyncio
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from structlog.testing import capture_logs

from annotator.web.server import uploads
from annotator.web.server.uploads import MOST_BYTES, UploadRefused, Uploads


class Sessions:
    """As much of Streamlit's runtime as is asked here."""

    def __init__(self, files: MemoryUploadedFileManager, *active: str) -> None:
        self.uploaded_file_mgr, self.active, self.closed = files, set(active), list[str]()

    def is_active_session(self, session_id: str) -> bool:
        return session_id in self.active

    def close_session(self, session_id: str) -> None:
        self.closed.append(session_id)


@pytest.fixture
def files() -> MemoryUploadedFileManager:
    return MemoryUploadedFileManager("/_stcore/upload_file")


def put(
    taken: Uploads, files: MemoryUploadedFileManager, file_id: str, *, data: bytes = b"x", **options: Any
) -> None:
    """As the guard and Streamlit do it."""
    session, person = options.pop("session", "s"), options.pop("person", 1)
    with taken.receive(session, person, options.pop("length", len(data)), files):
        files.add_file(session, UploadedFileRec(file_id, "a.csv", "text/csv", data))


def refusal(
    taken: Uploads, files: MemoryUploadedFileManager, file_id: str = "f", **options: Any
) -> tuple[int, str]:
    with pytest.raises(UploadRefused) as refused:
        put(taken, files, file_id, **options)
    return refused.value.status, str(refused.value)


def ask(person: int = 1, session: str = "s", *, taken: Uploads | None = None, now: float = 0.0) -> Uploads:
    """A run of that session's page that shows a field."""
    made = taken or Uploads()
    made.begin_run(session)
    made.ask(session, person, now=now)
    made.end_run(session, None)
    return made


def test_a_session_whose_page_asks_for_a_file_may_send_one(files: MemoryUploadedFileManager) -> None:
    put(ask(), files, "f")
    assert [file.data for file in files.get_files("s", ["f"])] == [b"x"]


def test_no_other_session_and_no_other_person_may(files: MemoryUploadedFileManager) -> None:
    assert refusal(Uploads(), files)[0] == 403
    assert refusal(ask(), files, session="t")[0] == 403
    assert refusal(ask(person=2), files)[0] == 403
    assert files.file_storage == {}


def test_once_the_page_no_longer_asks_nothing_more_is_taken(files: MemoryUploadedFileManager) -> None:
    taken = ask()
    taken.begin_run("s")
    put(taken, files, "f")  # while the page is drawn again, the field that it showed stands
    taken.end_run("s", files)
    assert refusal(taken, files)[0] == 403
    assert taken.owns("s", 1) and not taken.owns("s", 2) and not taken.owns("t", 1)


def test_a_page_that_asks_for_nothing_frees_also_what_no_field_has_shown(
    files: MemoryUploadedFileManager,
) -> None:
    taken = ask()
    put(taken, files, "f")
    ask(session="t", taken=taken)
    put(taken, files, "g", session="t")
    taken.begin_run("s")
    taken.end_run("s", files)
    assert list(files.file_storage) == ["t"]


def test_a_file_that_comes_after_the_page_has_gone_on_is_not_kept(files: MemoryUploadedFileManager) -> None:
    taken = ask()
    with taken.receive("s", 1, 1, files):
        taken.begin_run("s")
        taken.end_run("s", files)
        files.add_file("s", UploadedFileRec("f", "a.csv", "text/csv", b"x"))
    assert files.file_storage == {}


def test_a_file_and_a_session_have_a_size(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = ask()
    assert refusal(taken, files, length=None) == (411, "say how long the file is")
    assert refusal(taken, files, length=MOST_BYTES + 1)[0] == 413
    monkeypatch.setattr(uploads, "MOST_BYTES_OF_A_SESSION", 10)
    put(taken, files, "a", data=b"1234567")
    assert refusal(taken, files, data=b"1234")[0] == 413
    put(taken, files, "b", data=b"123")


def test_what_is_on_its_way_counts_too(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES_OF_A_SESSION", 10)
    taken = ask()
    with taken.receive("s", 1, 8, files):
        assert refusal(taken, files, data=b"1234")[0] == 413
    put(taken, files, "f", data=b"1234")


def test_a_session_holds_few_files_however_small(files: MemoryUploadedFileManager) -> None:
    taken = ask()
    for number in range(uploads.MOST_FILES_OF_A_SESSION):
        put(taken, files, str(number), data=b"")
    assert refusal(taken, files, data=b"")[0] == 413


def test_all_sessions_together_have_a_limit(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES_OF_ALL", 10)
    taken = ask(session="t", taken=ask())
    put(taken, files, "f", data=b"123456")
    assert refusal(taken, files, session="t", data=b"12345")[0] == 503


def test_the_sessions_of_one_person_leave_room_for_others(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES_OF_A_PERSON", 10)
    taken = ask(session="t", taken=ask())
    taken.ask("other", 2, now=0.0)
    with taken.receive("s", 1, 8, files):
        assert refusal(taken, files, session="t", data=b"123")[0] == 413
        with taken.receive("other", 2, 8, files):
            pass


def test_a_file_that_another_has_replaced_is_freed_and_one_that_has_just_come_is_not(
    files: MemoryUploadedFileManager,
) -> None:
    taken = ask()
    put(taken, files, "first")
    for held in ("first", "second"):
        taken.begin_run("s")
        taken.ask("s", 1, now=0.0)
        taken.show("s", held)
        put(taken, files, "second")  # comes while the page is drawn
        taken.end_run("s", files)
        assert set(files.file_storage["s"]) == ({"first", "second"} if held == "first" else {"second"})
    taken.begin_run("s")
    taken.end_run("s", files)
    assert set(files.file_storage["s"]) == set(), "the page shows no field any more"


def test_the_files_of_a_session_that_stays_away_are_freed_and_the_session_is_closed(
    files: MemoryUploadedFileManager,
) -> None:
    taken = ask(session="t", taken=ask(now=100.0), now=100.0)
    put(taken, files, "f")
    put(taken, files, "g", session="t")
    runtime: Any = Sessions(files, "s", "t")
    assert taken.free_ended(runtime, now=1_000.0) == []
    runtime.active = {"t"}
    assert taken.free_ended(runtime, now=1_000.0 + uploads.KEPT_SECONDS) == []
    assert taken.free_ended(runtime, now=1_000.1 + uploads.KEPT_SECONDS) == ["s"]
    assert runtime.closed == ["s"]
    assert list(files.file_storage) == ["t"]
    assert refusal(taken, files)[0] == 403


def test_no_page_asks_for_a_file_in_another_way(project: Path) -> None:
    fields = ("file_uploader(", "camera_input(", "audio_input(", "accept_file=")
    names = [
        path.name
        for path in (project / "annotator").rglob("*.py")
        if any(field in path.read_text(encoding="utf-8") for field in fields)
    ]
    assert names == ["uploads.py"]


def test_a_run_that_fails_ends_what_it_did_not_ask_for_and_one_cut_short_does_not(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = ask()
    monkeypatch.setattr(uploads, "UPLOADS", taken)
    monkeypatch.setattr(uploads, "_find_session", lambda: "s")
    monkeypatch.setattr(uploads, "_find_files", lambda: files)
    with pytest.raises(RerunException), uploads.watch_file_fields():
        raise RerunException(RerunData())
    put(taken, files, "f")
    with pytest.raises(ValueError, match="broken"), uploads.watch_file_fields():
        taken.ask("s", 1, now=0.0)
        raise ValueError("broken")
    put(taken, files, "g")
    with pytest.raises(ValueError, match="broken"), uploads.watch_file_fields():
        raise ValueError("broken")
    assert refusal(taken, files)[0] == 403


@pytest.mark.parametrize(("person", "status"), [(1, 204), (2, 403)])
def test_only_who_sent_a_file_may_take_it_back(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch, person: int, status: int
) -> None:
    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(status_code=204)(scope, receive, send)

    monkeypatch.setattr(uploads, "UPLOADS", ask(person=1))
    monkeypatch.setattr(uploads, "_find_files", lambda: files)
    signed_in = SimpleNamespace(actor=SimpleNamespace(person_id=person))
    monkeypatch.setattr(uploads, "require_signed_in", lambda _: signed_in)
    client = TestClient(uploads.UploadGuard(streamlit))
    assert client.delete("/_stcore/upload_file/s/f").status_code == status


def test_a_sweep_that_fails_is_logged_and_the_next_one_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps = 0

    def fail_first() -> bool:
        nonlocal sweeps
        sweeps += 1
        if sweeps == 1:
            raise RuntimeError("a session that cannot be closed")
        if sweeps == 3:
            raise asyncio.CancelledError
        return False

    monkeypatch.setattr(uploads, "SWEEP_SECONDS", 0)
    monkeypatch.setattr(Runtime, "exists", fail_first)
    with capture_logs() as lines, ThreadPoolExecutor(1) as apart:
        swept = apart.submit(asyncio.run, uploads.free_files_of_ended_sessions())
        with pytest.raises((asyncio.CancelledError, CancelledError)):
            swept.result()
    assert sweeps == 3
    assert [line["event"] for line in lines] == ["files of ended sessions were not freed"]


def test_only_the_page_of_imports_takes_more_and_larger_files(
    files: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = Uploads()
    taken.ask("s", 1, now=0.0, imports=True)
    put(taken, files, "large", length=MOST_BYTES + 1)
    assert refusal(taken, files, "larger", length=uploads.MOST_IMPORT_BYTES + 1)[0] == 413
    for number in range(uploads.MOST_FILES_OF_A_SESSION + 1):
        put(taken, files, f"{number}")
    monkeypatch.setattr(uploads, "MOST_IMPORT_FILES", uploads.MOST_FILES_OF_A_SESSION + 2)
    assert refusal(taken, files, "more") == (413, "this page has too many uploaded files already")
    taken.ask("s", 1, now=0.0)
    assert refusal(taken, files, "large again", length=MOST_BYTES + 1)[0] == 413
