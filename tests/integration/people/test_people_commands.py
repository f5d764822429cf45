"""`annotator people …` and the refusals of `annotator serve`, as a user types them."""

import json
import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.errors import AnnotatorError, StateError
from annotator.domain.people import OPERATOR
from annotator.people.invitations_service import look_at_link
from annotator.people.setup_service import check_setup_link
from annotator.people.sign_in_service import sign_in
from annotator.storage.database import Database
from annotator.storage.lookup import find_person
from annotator.storage.tables.sign_in import SecondFactorRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def run(database: Database, *words: str, given: str | bytes = "") -> Result:
    url = database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, *words], input=given, catch_exceptions=True)


def run_json(database: Database, *words: str, given: str = ""):  # type: ignore[no-untyped-def]
    done = run(database, *words, "--json", given=given)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def enter(database: Database, username: str, password: str) -> str:
    return sign_in(database, username, password, address="192.0.2.1", now=datetime.now(UTC))


def test_somebody_is_added_with_a_one_time_password_that_signs_in(database: Database) -> None:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    made = run_json(
        database, "people", "add", "花子", "--name", "山田 花子", "--role", "lead", "--dataset", "demo"
    )
    assert made["memberships"] == [{"dataset": "demo", "role": "lead", "categories": None, "languages": None}]
    assert made["must_change_password"] is True
    assert enter(database, "花子", made["one_time_password"])


def test_without_json_the_password_is_printed_with_what_it_is(database: Database) -> None:
    done = run(database, "people", "add", "hanako")
    assert "Added hanako: annotator on every dataset." in done.stdout
    assert "One-time password: " in done.stdout
    password = done.stdout.split("One-time password: ")[1].splitlines()[0]
    assert enter(database, "hanako", password)


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_a_password_is_read_from_standard_input_and_never_printed(database: Database, ending: str) -> None:
    done = run(database, "people", "add", "hanako", "--password-stdin", given=f"正しい馬 バッテリー{ending}")
    assert done.exit_code == 0, done.output
    assert "バッテリー" not in done.output
    assert "One-time" not in done.output
    assert enter(database, "hanako", "正しい馬 バッテリー")


def test_a_password_that_is_not_utf8_or_too_short_is_refused(database: Database) -> None:
    for given in ("正しい馬 バッテリー".encode("cp932"), b"short\n"):
        done = run(database, "people", "add", "hanako", "--password-stdin", given=given)
        assert isinstance(done.exception, AnnotatorError)
    assert run_json(database, "people", "list") == []


def test_people_are_listed_with_their_roles(database: Database) -> None:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    assert "Add the first admin" in run(database, "people", "list").stdout
    run(database, "people", "add", "ada", "--role", "admin")
    run(database, "people", "add", "민준", "--dataset", "demo")
    listed = run(database, "people", "list").stdout
    assert "admin on every dataset" in listed
    assert "annotator on demo" in listed
    body = run_json(database, "people", "list", "--dataset", "demo")
    assert [person["username"] for person in body] == ["ada", "민준"]
    assert "password_hash" not in json.dumps(body)


def test_name_role_and_password_are_changed_together_or_not_at_all(database: Database) -> None:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    run(database, "people", "add", "hanako", "--password-stdin", given="correct horse")
    changed = run_json(
        database,
        "people",
        "set",
        "hanako",
        "--name",
        "花子",
        "--role",
        "lead",
        "--dataset",
        "demo",
        "--new-password",
    )
    assert changed["name"] == "花子"
    assert ("demo", "lead") in {(held["dataset"], held["role"]) for held in changed["memberships"]}
    assert enter(database, "hanako", changed["one_time_password"])
    done = run(
        database, "people", "set", "hanako", "--name", "other", "--role", "lead", "--dataset", "nowhere"
    )
    assert "no dataset named 'nowhere'" in str(done.exception)
    assert run_json(database, "people", "list")[0]["name"] == "花子"


def test_a_role_is_taken_away_and_disabling_is_undone(database: Database) -> None:
    run(database, "people", "add", "hanako", "--password-stdin", given="correct horse")
    assert run_json(database, "people", "set", "hanako", "--no-role")["memberships"] == []
    assert run_json(database, "people", "disable", "hanako")["disabled"] is True
    with pytest.raises(AnnotatorError):
        enter(database, "hanako", "correct horse")
    assert run_json(database, "people", "set", "hanako", "--enable")["can_sign_in"] is True
    assert enter(database, "hanako", "correct horse")


@pytest.mark.parametrize(
    "words",
    [["set", "hanako"], ["set", "hanako", "--no-role", "--role", "lead"], ["add", "x", "--role", "root"], ["add"],
     ["set", "hanako", "--new-password", "--password-stdin"]],
)  # fmt: skip
def test_wrong_usage_ends_with_2(database: Database, words: list[str]) -> None:
    assert run(database, "people", *words).exit_code == 2


def test_a_port_in_use_is_refused_with_another_to_try(database: Database) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(database, "serve", "--port", str(port))
    assert isinstance(done.exception, StateError)
    assert f"cannot listen on 127.0.0.1:{port}" in str(done.exception)
    assert "/setup#" not in done.output


def test_several_processes_are_refused_with_where_to_read_how(database: Database) -> None:
    done = run(database, "serve", "--workers", "2")
    assert isinstance(done.exception, StateError)
    assert "--workers 2: " in str(done.exception)
    page, _, heading = str(done.exception).rpartition(" ")[2].removesuffix(".").partition("#")
    headings = re.findall(
        r"^## (.*)$", (Path(__file__).parents[3] / page).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert heading in [each.lower().replace(" ", "-") for each in headings]
    assert "/setup#" not in done.output


@pytest.mark.parametrize(
    ("host", "secure", "warned"),
    [("127.0.0.1", "", False), ("0.0.0.0", "", True), ("0.0.0.0", "true", False)],
)
def test_an_address_that_others_reach_is_warned_about_unless_https_is_before_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, host: str, secure: str, warned: bool
) -> None:
    if secure:
        monkeypatch.setenv("ANNOTATOR_SECURE_COOKIE", secure)
    monkeypatch.setattr("annotator.web.server.serve.serve_app", lambda *_args, **_kwargs: None)
    done = run(database, "serve", "--host", host)
    assert done.exit_code == 0, done.exception
    assert ("passwords and sign-ins travel in the clear" in " ".join(done.stderr.split())) is warned


@pytest.mark.parametrize(
    ("address", "shown"),
    [("http://127.0.0.1:8501", "http://127.0.0.1:8501"), ("http://0.0.0.0:8501", "http://localhost:8501"),
     ("http://[::]:8501", "http://localhost:8501")],
)  # fmt: skip
def test_the_server_prints_an_address_for_the_first_admin_until_there_is_an_account(
    database: Database, monkeypatch: pytest.MonkeyPatch, address: str, shown: str
) -> None:
    monkeypatch.setattr(
        "annotator.web.server.serve.serve_app", lambda *_args, ready, **_kwargs: ready(address)
    )
    done = run(database, "serve")
    found = re.search(r"^  (http\S+)/setup#([\w-]{43})$", done.stdout, re.MULTILINE)
    assert found is not None, done.output
    assert found[1] == shown
    assert ("in place of localhost" in done.stdout) is (shown != address)
    check_setup_link(database, found[2], address="192.0.2.1", now=datetime.now(UTC))
    run(database, "people", "add", "hanako")
    assert "/setup" not in run(database, "serve").output


@pytest.mark.parametrize("by_option", [True, False])
def test_links_begin_with_the_address_that_the_operator_names(
    database: Database, monkeypatch: pytest.MonkeyPatch, by_option: bool
) -> None:
    monkeypatch.setattr(
        "annotator.web.server.serve.serve_app",
        lambda *_args, ready, **_kwargs: ready("http://127.0.0.1:8501"),
    )
    option = ["--address", "https://a.example"] if by_option else []
    if not by_option:
        monkeypatch.setenv("ANNOTATOR_ADDRESS", "https://a.example/")
    assert "\n  https://a.example/setup#" in run(database, "serve", *option).stdout
    run(database, "people", "add", "hanako")
    done = run(database, "people", "link", "hanako", *option)
    assert "\n  https://a.example/join#" in done.stdout
    assert "Only this computer" not in done.stderr
    refused = run(database, "people", "link", "hanako", "--address", "a.example")
    assert "--address: Expected an address such as" in str(refused.exception)


def test_a_link_that_only_this_computer_can_open_is_warned_about(database: Database) -> None:
    run(database, "people", "add", "hanako")
    done = run(database, "people", "link", "hanako")
    assert "Only this computer can open http://127.0.0.1:8501. For others, name the server" in done.stderr


def test_the_server_says_how_to_go_on_when_every_account_is_disabled(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.server.serve.serve_app", lambda *_args, **_kwargs: None)
    run(database, "people", "add", "hanako")
    assert "every account is disabled" not in run(database, "serve").stderr
    run(database, "people", "disable", "hanako")
    assert "Enable one: annotator people set USER --enable" in run(database, "serve").stderr


def test_an_invitation_is_made_listed_and_revoked_by_commands(database: Database) -> None:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    made = run_json(
        database, "people", "invite", "--dataset", "demo", "--note", "Hana", "--days", "2", "--address", "https://a.example/"
    )  # fmt: skip
    address, token = made["link"].split("/join#")
    assert (address, made["role"], made["dataset"], made["state"]) == (
        "https://a.example",
        "annotator",
        "demo",
        "open",
    )
    assert look_at_link(database, token, address="192.0.2.1", now=datetime.now(UTC)).dataset == "demo"
    listed = run(database, "people", "invitations", "--dataset", "demo")
    assert re.search(r"1 +Hana +annotator on demo +open +operator", listed.stdout)
    assert token not in listed.output
    assert run(database, "people", "revoke", "1").stdout == "Invitation 1 is revoked.\n"
    assert run_json(database, "people", "invitations")[0]["state"] == "revoked"


def test_a_lead_invites_by_command_with_her_own_rights(database: Database) -> None:
    create_dataset(database, OPERATOR, "demo", now=NOW)
    run(database, "people", "add", "lea", "--role", "lead", "--dataset", "demo")
    assert "/join#" in run(database, "people", "invite", "--dataset", "demo", "--as", "lea").stdout
    for words in (
        ["invite", "--dataset", "demo", "--role", "lead"],
        ["invite"],
        ["invitations"],
        ["link", "lea"],
    ):
        assert isinstance(run(database, "people", *words, "--as", "lea").exception, AnnotatorError), words


def test_a_link_for_a_new_password_is_printed_and_the_old_one_works_until_then(database: Database) -> None:
    password = run_json(database, "people", "add", "hanako")["one_time_password"]
    made = run_json(database, "people", "link", "hanako")
    assert enter(database, "hanako", password)
    token = made["link"].partition("/join#")[2]
    assert look_at_link(database, token, address="192.0.2.1", now=datetime.now(UTC)).username == "hanako"


def test_an_identity_of_the_provider_is_linked_to_one_account_until_it_is_moved(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for username in ("hanako", "minji"):
        assert run(database, "people", "add", username).exit_code == 0
    words = ("people", "link-identity", "hanako", "--subject", "1001")
    assert "expected the issuer" in str(run(database, *words).exception)
    monkeypatch.setenv("ANNOTATOR_OIDC_ISSUER", "https://login.example.org")
    linked = run_json(database, *words)
    assert linked == {"username": "hanako", "issuer": "https://login.example.org", "subject": "1001"}
    moved = ("people", "link-identity", "minji", "--subject", "1001")
    assert "account of hanako" in str(run(database, *moved).exception)
    assert "signs in as minji" in run(database, *moved, "--move").stdout


def test_a_lost_second_factor_is_reset(database: Database) -> None:
    assert run(database, "people", "add", "hanako").exit_code == 0
    assert "has no second factor" in str(run(database, "people", "reset-second-factor", "hanako").exception)
    with database.write() as session:
        pk = find_person(session, "hanako").pk
        at = datetime.now(UTC)
        values = {"person_pk": pk, "secret": "plain:A", "confirmed_at": at}
        session.add(SecondFactorRow.model_validate(values))
    assert [person["second_factor"] for person in run_json(database, "people", "list")] == [True]
    reset = run_json(database, "people", "reset-second-factor", "hanako")
    assert reset == {"username": "hanako", "second_factor": False}
    assert [person["second_factor"] for person in run_json(database, "people", "list")] == [False]
