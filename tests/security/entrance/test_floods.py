"""One signed-in annotator who sends too much waits; the other people, and what was sent, do not suffer."""

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession

from annotator.domain.people import Actor, SignedIn
from annotator.web.server import budgets as module
from annotator.web.server.budgets import NOTES, Budgets
from tests.security.entrance.conftest import Attacker

PAGE = {"origin": "http://testserver"}


@pytest.fixture
def budgets(visitor: Attacker) -> Iterator[Budgets]:
    """Those of the application that `visitor` visits."""
    made = module._counting[0]
    assert made.places.is_idle
    yield made
    assert made.places.is_idle


def run_page(websocket: WebSocketTestSession, page: str = "help") -> None:
    """Let the page run, and wait for its end."""
    websocket.send_bytes(BackMsg(rerun_script=ClientState(page_name=page)).SerializeToString())
    receive_until(websocket, "script_finished")


def receive_until(websocket: WebSocketTestSession, last: str) -> list[str]:
    """Return the kinds of the messages up to the first one of this kind."""
    kinds: list[str] = []
    while last not in kinds:
        message = ForwardMsg()
        message.ParseFromString(websocket.receive_bytes())
        kinds.append(message.WhichOneof("type") or "")
    return kinds


def test_every_run_of_a_page_is_counted_for_its_person(
    visitor: Attacker, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    take_run = budgets.take_run

    def note(person: SignedIn, is_open: Callable[[], bool]) -> object:
        drawn.append(person.actor.username)
        return take_run(person, is_open)

    monkeypatch.setattr(budgets, "take_run", note)
    visitor.sign_in("hanako")
    with visitor.http.websocket_connect("/_stcore/stream", headers=PAGE, subprotocols=["streamlit"]) as page:
        run_page(page)
        run_page(page)
        assert sum(budgets.websockets.values()) == 1
    assert drawn[:2] == ["hanako", "hanako"]
    assert len(budgets.processor) == 1
    assert not budgets.websockets


def wait_for_runs(budgets: Budgets, person_id: int, number: int) -> None:
    """Wait until so many runs of the person go on or wait."""
    for _ in range(6_000):
        if len(budgets._runs.get(person_id, ())) == number:
            return
        time.sleep(0.01)
    pytest.fail(f"{len(budgets._runs.get(person_id, ()))} runs instead of {number}")


def test_the_runs_of_pages_that_are_opened_and_closed_do_not_pile_up(
    visitor: Attacker, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "pause_thread", lambda seconds: None)
    visitor.sign_in("hanako")
    with visitor.http.websocket_connect("/_stcore/stream", headers=PAGE, subprotocols=["streamlit"]) as page:
        run_page(page)
        (person_id,) = budgets.websockets
    rerun = BackMsg(rerun_script=ClientState(page_name="help")).SerializeToString()
    hanako = SignedIn(Actor(person_id, "hanako"), "Hanako", (), False, datetime(2030, 1, 1, tzinfo=UTC))
    with budgets.take_run(hanako, lambda: True):  # goes on all the time
        for _ in range(3):
            with visitor.http.websocket_connect(
                "/_stcore/stream", headers=PAGE, subprotocols=["streamlit"]
            ) as page:
                page.send_bytes(rerun)
                wait_for_runs(budgets, person_id, 2)
            wait_for_runs(budgets, person_id, 1)


def make_events(note: str) -> dict[str, object]:
    event = {
        "id": str(uuid.uuid4()),
        "pair": "0" * 24,
        "outcome": "graded",
        "grade": 1,
        "seconds": 1.0,
        "note": note,
    }
    return {"dataset": "demo", "tab": "t", "events": [event], "have": [], "want": 0}


def test_long_notes_are_taken_later_and_short_presses_at_once(visitor: Attacker, budgets: Budgets) -> None:
    visitor.sign_in("hanako")
    http: TestClient = visitor.http
    assert http.post("/api/judgments", json=make_events("ノ" * 10_000)).status_code == 200
    (spent,) = budgets.notes._used.values()
    assert spent[0] == pytest.approx(30_000, rel=0.01)
    (person_id,) = budgets.notes._used
    budgets.notes.spend(person_id, 2 * NOTES.at_once, NOTES)
    refused = http.post("/api/judgments", json=make_events("a note"))
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 60
    assert "long texts" in refused.json()["error"]
    assert http.post("/api/judgments", json=make_events("")).status_code == 200
    question = {"dataset": "demo", "pair": "0" * 24, "text": "why?", "id": str(uuid.uuid4())}
    assert http.post("/api/questions", json=question).status_code == 429


def test_signing_in_and_reading_pages_as_people_do_meets_no_budget(
    visitor: Attacker, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[str] = []
    monkeypatch.setattr(module, "note_budget", waits.append)
    visitor.sign_in("hanako")
    for _ in range(50):
        assert visitor.http.get("/work").status_code == 200
    assert waits == []


def test_a_websocket_takes_only_what_our_pages_send(
    visitor: Attacker, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[object] = []
    monkeypatch.setattr("streamlit.git_util._run_git", lambda *given, **_: programs.append(given))
    visitor.sign_in("hanako")
    with visitor.http.websocket_connect("/_stcore/stream", headers=PAGE, subprotocols=["streamlit"]) as page:
        run_page(page)
        for message in (
            BackMsg(load_git_info=True),
            BackMsg(clear_cache=True),
            BackMsg(set_run_on_save=True),
            BackMsg(backend_operation_request=BackendOperationRequest(request_id="r")),
            BackMsg(file_urls_request=FileURLsRequest(request_id="r", file_names=[""] * 3_001)),
            BackMsg(file_urls_request=FileURLsRequest(request_id="r", file_names=["a.csv"])),
            BackMsg(app_heartbeat=True),
        ):
            page.send_bytes(message.SerializeToString())
        kinds = receive_until(page, "heartbeat_ack")
        assert [kind for kind in kinds if kind != "session_status_changed"] == [
            "file_urls_response",
            "heartbeat_ack",
        ]
    assert programs == []


@pytest.mark.parametrize(("widgets", "runs"), [(10_000, 1), (10_001, 0)])
def test_a_page_with_more_fields_than_any_has_is_not_run(visitor: Attacker, widgets: int, runs: int) -> None:
    asked: list[object] = []
    session = SimpleNamespace(_handle_rerun_script_request=asked.append)
    states = WidgetStates(widgets=[WidgetState()] * widgets)
    AppSession.handle_backmsg(session, BackMsg(rerun_script=ClientState(widget_states=states)))  # type: ignore[arg-type]
    assert len(asked) == runs


def test_what_a_message_makes_the_server_do_is_counted_for_its_sender(
    visitor: Attacker, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledge = AppSession._handle_app_heartbeat_request

    def acknowledge_slowly(session: AppSession) -> None:
        time.sleep(0.3)
        acknowledge(session)

    monkeypatch.setattr(AppSession, "_handle_app_heartbeat_request", acknowledge_slowly)
    visitor.sign_in("hanako")
    with visitor.http.websocket_connect("/_stcore/stream", headers=PAGE, subprotocols=["streamlit"]) as page:
        for _ in range(3):
            page.send_bytes(BackMsg(app_heartbeat=True).SerializeToString())
            receive_until(page, "heartbeat_ack")
        (spent,) = budgets.processor._used.values()
        assert spent[0] > 0.6
