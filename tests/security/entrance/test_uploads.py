"""Nobody fills the server's memory with files that no page has asked for."""

import pytest
from playwright.sync_api import Page, Request, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import Server, SignIn
from tests.integration.judged_world import NOW, JudgedWorld
from tests.security.entrance.conftest import Attacker

OWN_PAGE = {"origin": "http://testserver"}
FORBIDDEN = (403, {"error": "this page asks for no file"})


@pytest.mark.parametrize("username", ["hanako", "lea", "ada"])
def test_a_session_without_a_page_that_asks_for_a_file_uploads_nothing(
    visitor: Attacker, username: str
) -> None:
    visitor.sign_in(username)
    visitor.http.get("/_stcore/health")
    token = {"X-Xsrftoken": visitor.http.cookies["_streamlit_xsrf"]}
    with visitor.http.websocket_connect(
        "/_stcore/stream", headers=OWN_PAGE, subprotocols=["streamlit"]
    ) as tab:
        request = BackMsg()
        request.file_urls_request.request_id = "r"
        request.file_urls_request.file_names.append("a.csv")
        tab.send_bytes(request.SerializeToString())
        response = ForwardMsg()
        while response.WhichOneof("type") != "file_urls_response":
            response = ForwardMsg.FromString(tab.receive_bytes())
        address = response.file_urls_response.file_urls[0].upload_url
        assert address.startswith("/_stcore/upload_file/")
        for path in (address, "/_stcore/upload_file/someone-elses/f"):
            answer = visitor.http.put(path, files={"file": b"x" * 1000}, headers=token)
            assert (answer.status_code, answer.json()) == FORBIDDEN
            answer = visitor.http.delete(path, headers=token)
            assert (answer.status_code, answer.json()) == FORBIDDEN


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """A disagreement in the dataset `d`, which lea leads."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    made.query("Q1", "ログ")
    made.pair("Q1", "遠い", rank=1)
    for name, grade in (("first", 0), ("second", 3)):
        made.judge(made.person(name), "Q1", "遠い", grade)
    return made


PUT = """([address, token, bytes]) => {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(bytes)]), "a.csv");
    return fetch(address, {method: "PUT", body: form, headers: {"X-Xsrftoken": token}}).then(answer => answer.status);
}"""
MB = 1024 * 1024


def test_a_page_that_asks_for_a_file_takes_it_within_limits_and_frees_it(
    world: JudgedWorld, page: Page, server: Server, sign_in: SignIn
) -> None:
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "PUT" else None)
    sign_in(page, "lea", to="/disagreements?dataset=d")
    page.get_by_role("tab", name="Meeting file").click()
    for content, message in (
        ("query_id,doc_id,grade,rationale\nQ1,無い,3,\n", "Nothing was decided."),
        ("query_id,doc_id,grade,rationale\nQ1,遠い,2,第17条\n", "new decisions: 1"),
    ):
        page.locator("input[type=file]").set_input_files(
            {"name": "会議.csv", "mimeType": "text/csv", "buffer": content.encode()}
        )
        expect(page.get_by_text(message)).to_be_visible()
    session, token = sent[0].url.split("/")[-2], sent[0].headers["x-xsrftoken"]

    def put(name: str, size: int) -> int:
        status: int = page.evaluate(PUT, [f"/_stcore/upload_file/{session}/{name}", token, size])
        return status

    assert [put(name, 4 * MB) for name in "abc"] == [204, 204, 413], "two at most, by their bytes"
    assert put("d", 6 * MB) == 413
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_attached()
    assert put("e", 10) == 403
