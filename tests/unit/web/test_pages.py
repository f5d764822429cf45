"""The pages as a person of each role sees them, run by Streamlit's own AppTest: the session, the roles, the forms."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from annotator.domain.people import OPERATOR, LinkRefused, Membership
from annotator.people.invitations_service import invite, list_invitations, look_at_link, revoke_invitation
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, disable_person, list_people, remove_role
from annotator.people.sign_in_service import find_session, list_sessions, revoke_sessions, sign_in, sign_out
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import SCRIPT, show_error
from annotator.web.navigation import PAGES
from annotator.web.page_context import set_served
from annotator.web.server.streamlit_options import make_config
from annotator.web.sidebar import is_cut
from tests.unit.web.conftest import NOW, PASSWORD

Open = Callable[..., AppTest]
SIGNED_OUT = "You are signed out."
GIVE_UP = "Include them; I will not judge them"
PRESSED: list[str] = []  # who has pressed it


@pytest.fixture
def tokens() -> dict[str, str]:
    """The cookies of the browser."""
    return {}


@pytest.fixture
def open_page(database: Database, monkeypatch: pytest.MonkeyPatch, tokens: dict[str, str]) -> Open:
    """`open_page("lea", "people")`: that page, run once, for somebody who has just signed in."""
    set_served(database, Settings())
    monkeypatch.setattr(ContextProxy, "cookies", tokens)

    def do(username: str, address: str, *, password: str = PASSWORD, dataset: str | None = "demo") -> AppTest:
        tokens["annotator_session"] = sign_in(
            database, username, password, address="192.0.2.1", now=datetime.now(UTC)
        )
        app = AppTest.from_file(str(SCRIPT), default_timeout=30)
        if dataset is not None:
            app.query_params["dataset"] = dataset
        app._page_hash = calc_hash(address)  # AppTest switches to pages that are files only
        return app.run()

    return do


@pytest.fixture
def open_dialog(open_page: Open) -> Callable[..., AppTest]:
    """A dialog of the people page, left open: AppTest cannot run a dialog without the script around it."""

    def do(username: str, person: str | None = None) -> AppTest:
        open_page(username, "people")
        app = AppTest.from_function(_keep_open, default_timeout=30, kwargs={"person": person})
        app.query_params["dataset"] = "demo"
        return app.run()

    return do


@pytest.fixture
def open_invitation(open_page: Open) -> Callable[..., AppTest]:
    """The dialog that makes an invitation, left open."""

    def do(username: str) -> AppTest:
        open_page(username, "people")
        app = AppTest.from_function(_keep_invitation_open, default_timeout=30)
        app.query_params["dataset"] = "demo"
        return app.run()

    return do


def _keep_invitation_open() -> None:
    from annotator.web.people.page import invite_dialog

    invite_dialog()


def read_link(app: AppTest) -> str:
    """The link that is shown with a button to copy it."""
    return str(json.loads(json.loads(app.get("bidi_component")[0].proto.json)["message"])["text"])


def _keep_open(person: str | None) -> None:
    from annotator.web.people.page import add_dialog, change_dialog

    if person is None:
        add_dialog()
    else:
        change_dialog(person)


def _draw_parts() -> None:
    from annotator.web.blind_pairs import draw_give_up_button
    from annotator.web.kit.page_parts import draw_numbers_when_opened
    from tests.unit.web.test_pages import PRESSED

    draw_numbers_when_opened("Numbers", lambda _context: [{"n": 7}])
    draw_give_up_button(lambda context: PRESSED.append(context.actor.username))


def say(app: AppTest) -> str:
    """Every text on the page."""
    kinds = (
        *app.title,
        *app.text,
        *app.markdown,
        *app.caption,
        *app.info,
        *app.error,
        *app.success,
        *app.warning,
    )
    return "\n".join(
        [*(str(kind.value) for kind in kinds), *(str(item.proto.body) for item in app.get("html"))]
    )


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def fill(app: AppTest, label: str, value: str) -> None:
    next(field for field in app.text_input if field.label.startswith(label)).set_value(value)


class TestSession:
    def test_a_session_revoked_while_the_page_is_open_shows_nothing_at_the_next_run(
        self, database: Database, open_page: Open, tokens: dict[str, str]
    ) -> None:
        app = open_page("lea", "people")
        assert "hanako" in say(app)
        app.session_state["kept"] = "hanako"
        sign_out(database, tokens["annotator_session"], now=NOW)
        app.run()
        assert [item.value for item in app.info] == [SIGNED_OUT]
        assert "hanako" not in say(app)
        assert '<a href="/login"' in say(app)
        assert app.title == [] and len(app.sidebar) == 0
        assert "kept" not in app.session_state

    def test_an_expired_session_shows_nothing(
        self, database: Database, open_page: Open, tokens: dict[str, str]
    ) -> None:
        app = open_page("lea", "people")
        tokens["annotator_session"] = sign_in(
            database, "lea", PASSWORD, address="192.0.2.1", now=datetime.now(UTC) - timedelta(hours=12)
        )
        app.run()
        assert [item.value for item in app.info] == [SIGNED_OUT]

    def test_a_part_that_runs_without_its_page_shows_and_does_nothing_after_a_sign_out(
        self, database: Database, open_page: Open, tokens: dict[str, str]
    ) -> None:
        open_page("lea", "help")
        app = AppTest.from_function(_draw_parts, default_timeout=30)
        app.session_state["numbers Numbers"] = True
        assert [list(table.value["n"]) for table in app.run().dataframe] == [[7]]
        press(app, GIVE_UP)
        sign_out(database, tokens["annotator_session"], now=NOW)
        press(app, GIVE_UP)
        assert PRESSED == ["lea"]
        assert SIGNED_OUT in say(app) and len(app.dataframe) == 0

    def test_a_role_taken_away_closes_the_page_at_the_next_run(
        self, database: Database, open_page: Open
    ) -> None:
        add_person(database, OPERATOR, "brief", role="lead", dataset="demo", password=PASSWORD, now=NOW)
        app = open_page("brief", "people")
        assert "hanako" in say(app)
        change_person(database, OPERATOR, "brief", role="annotator", dataset="demo", now=NOW)
        app.run()
        assert "needs the role lead" in say(app)
        assert "hanako" not in say(app)

    def test_what_one_person_typed_is_gone_when_another_signs_in(
        self, database: Database, open_page: Open, tokens: dict[str, str]
    ) -> None:
        app = open_page("lea", "help")
        app.session_state["draft"] = "lea's"
        app.run()
        assert "draft" in app.session_state
        tokens["annotator_session"] = sign_in(
            database, "ada", PASSWORD, address="192.0.2.1", now=datetime.now(UTC)
        )
        app.run()
        assert "draft" not in app.session_state

    def test_a_dialog_left_open_does_nothing_once_signed_out(
        self, database: Database, open_dialog: Open, tokens: dict[str, str]
    ) -> None:
        app = open_dialog("ada")
        fill(app, "Username", "smuggled")
        revoke_sessions(database, _actor(database, tokens), now=NOW)
        press(app, "Add")
        assert [item.value for item in app.info] == [SIGNED_OUT]
        assert "smuggled" not in [person.username for person in list_people(database, OPERATOR)]


def _actor(database: Database, tokens: dict[str, str]):  # type: ignore[no-untyped-def]
    session = find_session(database, tokens["annotator_session"], now=datetime.now(UTC))
    assert session is not None
    return session.actor


class TestNavigation:
    @pytest.mark.parametrize(
        ("username", "seen", "unseen"),
        [("hanako", {"Help", "Guideline"}, {"People"}), ("lea", {"People", "Help"}, set())],
    )
    def test_the_sidebar_lists_the_pages_of_the_role(
        self, open_page: Open, username: str, seen: set[str], unseen: set[str]
    ) -> None:
        app = open_page(username, "help")
        labels = {link.proto.label for link in app.sidebar.get("page_link")}
        assert labels >= seen
        assert not labels & unseen

    def test_the_sidebar_groups_the_pages_of_a_lead(self, open_page: Open) -> None:
        app = open_page("lea", "help")
        names = [
            re.sub("<.*?>", "", part.proto.body if part.type == "html" else part.proto.label)
            for part in app.sidebar
            if part.type in ("html", "page_link")
        ]
        order = ["Overview", "Work", "Label", "Results", "Agreement", "Set-up", "Guideline", "Help"]
        assert [name for name in names if name in order] == order

    def test_an_annotator_finds_the_guideline_beside_their_work_without_headings(
        self, open_page: Open
    ) -> None:
        app = open_page("hanako", "help")
        labels = [link.proto.label for link in app.sidebar.get("page_link")]
        assert labels == ["Label", "My work", "Questions", "Guideline", "Help"]
        assert 'role="heading"' not in say(app)

    def test_a_page_of_another_role_says_why_it_is_closed(self, open_page: Open) -> None:
        app = open_page("hanako", "people")
        assert [item.value for item in app.error] == ["This page needs the role lead on this dataset."]

    def test_a_dataset_of_others_is_not_chosen_by_its_name(self, open_page: Open) -> None:
        app = open_page("hanako", "help", dataset="law")
        assert "demo データ" in say(app)
        assert "law" not in say(app)
        assert {link.proto.query_string for link in app.sidebar.get("page_link")} == {"dataset=demo"}

    @pytest.mark.parametrize("wanted", ["law", "*nowhere*"], ids=["of others", "of nobody"])
    def test_a_page_says_when_it_shows_another_dataset_than_its_address_names(
        self, open_page: Open, wanted: str
    ) -> None:
        shown = [
            item.value.replace("\\", "") for item in open_page("lea", "overview", dataset=wanted).warning
        ]
        assert shown == [
            f"There is no dataset named {wanted}, or you have no role on it. This page shows demo."
        ]
        for address, dataset in (("overview", "demo"), ("overview", None), ("help", wanted)):
            assert "There is no dataset" not in say(open_page("lea", address, dataset=dataset))

    def test_links_carry_the_dataset(self, open_page: Open) -> None:
        app = open_page("ada", "help", dataset="law")
        assert {link.proto.query_string for link in app.sidebar.get("page_link")} == {"dataset=law"}

    def test_every_page_of_the_table_can_be_drawn(self, open_page: Open) -> None:
        for page in PAGES:
            app = open_page("ada", page.address)
            assert not app.exception, (page.address, app.exception)

    def test_somebody_without_a_role_is_told(self, database: Database, open_page: Open) -> None:
        add_person(database, OPERATOR, "nora", role="annotator", dataset="demo", password=PASSWORD, now=NOW)
        remove_role(database, OPERATOR, "nora", dataset="demo", now=NOW)
        assert "no role yet" in say(open_page("nora", "help"))
        for page in ("help", "label", "people"):
            shown = say(open_page("nora", page)).replace("\\", "")
            assert "Ask one of these people: ada." in shown, "the admin of all datasets"
            assert "lea" not in re.split(r"\W+", shown), "no lead: who leads tells which datasets there are"
            assert "This page needs the role" not in shown


class TestPeople:
    def test_names_are_shown_as_text_not_as_markup(self, database: Database, open_page: Open) -> None:
        name = "<img src=x onerror=alert(1)> & 花子"
        add_person(
            database,
            OPERATOR,
            "marked",
            name=name,
            role="annotator",
            dataset="demo",
            password=PASSWORD,
            now=NOW,
        )
        shown = say(open_page("lea", "people"))
        assert "&lt;img src=x onerror=alert(1)&gt; &amp; 花子" in shown
        assert "<img src=x" not in shown

    def test_a_lead_sees_people_but_no_way_to_change_them(self, open_page: Open) -> None:
        app = open_page("lea", "people")
        assert "hanako" in say(app)
        assert "other" not in say(app).replace("annotator-set-other", "")  # a class of the style sheet
        assert [button.label for button in app.button] == ["Invite a person"]

    def test_an_admin_adds_a_person_and_sees_the_one_time_password_once(
        self, database: Database, open_page: Open, open_dialog: Open
    ) -> None:
        assert "Add a person" in [button.label for button in open_page("ada", "people").button]
        app = open_dialog("ada")
        fill(app, "Username", "민준")
        fill(app, "Name", "김민준")
        press(app, "Add")
        password = app.code[0].value
        assert sign_in(database, "민준", password, address="192.0.2.1", now=datetime.now(UTC))
        assert password not in repr(app.session_state._state.filtered_state)
        app.run()
        assert app.code == []
        assert "김민준" in say(open_page("lea", "people"))

    def test_a_lead_makes_a_link_for_an_annotator_of_her_dataset_and_revokes_it(
        self, database: Database, open_page: Open, open_invitation: Open
    ) -> None:
        app = open_invitation("lea")
        assert app.selectbox == [], "there is nothing to choose"
        press(app, "Make the link")
        assert "Write whom the link is for." in say(app)
        assert list_invitations(database, OPERATOR, dataset="demo", now=NOW) == []
        fill(app, "For whom", "Hana <b>")
        press(app, "Make the link")
        token = read_link(app).partition("/join#")[2]
        offer = look_at_link(database, token, address="192.0.2.1", now=datetime.now(UTC))
        assert (offer.dataset, offer.role) == ("demo", "annotator")
        assert token not in repr(app.session_state._state.filtered_state)
        app.run()
        assert app.get("bidi_component") == []
        listed = open_page("lea", "people")
        assert "Hana <b>: annotator on demo" in say(listed)
        press(listed, "Revoke")
        assert "No invitation is open." in say(listed)
        with pytest.raises(LinkRefused, match="revoked"):
            look_at_link(database, token, address="192.0.2.1", now=datetime.now(UTC))

    def test_an_invitation_names_its_author_as_others_know_them(
        self, database: Database, open_page: Open
    ) -> None:
        add_person(database, OPERATOR, "mia", name="Mia 미아", role="lead", dataset="demo", now=NOW)
        with database.read() as session:
            mia = find_actor(session, "mia")
        made = invite(database, mia, role="annotator", dataset="demo", note="Jun", now=datetime.now(UTC))
        assert "Made by Mia 미아." in say(open_page("lea", "people"))
        revoke_invitation(database, mia, made.invitation.number, now=datetime.now(UTC))

    def test_an_admin_makes_a_link_for_a_new_password(self, database: Database, open_dialog: Open) -> None:
        add_person(database, OPERATOR, "pia", role="annotator", dataset="demo", password=PASSWORD, now=NOW)
        app = press(open_dialog("ada", "pia"), "Make a link for a new password")
        token = read_link(app).partition("/join#")[2]
        offer = look_at_link(database, token, address="192.0.2.1", now=datetime.now(UTC))
        assert (offer.username, offer.role) == ("pia", None)
        disable_person(database, OPERATOR, "pia", now=NOW)
        labels = [button.label for button in open_dialog("ada", "pia").button]
        assert "Make a link for a new password" not in labels

    def test_nobody_is_called_idle_where_no_pair_is_left(self, open_page: Open) -> None:
        assert "idle" not in say(open_page("lea", "people")).lower()

    def test_an_admin_invites_for_every_role_and_is_told_what_it_may_do(self, open_invitation: Open) -> None:
        app = open_invitation("ada")
        where, role = app.selectbox
        assert (where.options, role.options) == (["demo", "every dataset"], ["annotator", "lead", "admin"])
        assert "Judges pairs" in say(app)
        role.set_value("lead").run()
        assert "settles disagreements, publishes" in say(app)

    def test_a_refusal_is_shown_in_the_dialog(self, open_dialog: Open) -> None:
        app = open_dialog("ada")
        fill(app, "Username", "two words")
        press(app, "Add")
        assert "expected a username without white space" in app.error[0].value

    def test_an_admin_of_one_dataset_is_offered_no_role_elsewhere(
        self, database: Database, open_dialog: Open
    ) -> None:
        add_person(database, OPERATOR, "chief", role="admin", dataset="demo", password=PASSWORD, now=NOW)
        dataset_box = next(box for box in open_dialog("chief").selectbox if box.label == "Dataset")
        assert dataset_box.options == ["demo"]
        dataset_box = next(box for box in open_dialog("ada").selectbox if box.label == "Dataset")
        assert dataset_box.options == ["demo", "every dataset"]

    def test_an_admin_changes_role_and_name_and_disables(self, database: Database, open_dialog: Open) -> None:
        add_person(database, OPERATOR, "clay", role="annotator", dataset="demo", password=PASSWORD, now=NOW)
        app = open_dialog("ada", "clay")
        next(box for box in app.selectbox if box.label == "Role").set_value("lead").run()
        assert "They can no longer judge a pair once they have seen its judgments." in say(app)
        assert _find(database, "clay").memberships == (Membership("demo", "annotator"),), (
            "not before it is set"
        )
        press(app, "Set role")
        assert _find(database, "clay").memberships == (Membership("demo", "lead"),)
        fill(app, "Name", "クレイ")
        press(app, "Set name")
        assert _find(database, "clay").name == "クレイ"
        next(box for box in app.multiselect if box.label == "Categories").set_value([])
        press(app, "Set what they judge")
        assert _find(database, "clay").memberships == (Membership("demo", "lead"),)
        press(app, "Disable")
        assert _find(database, "clay").disabled
        press(app, "Enable")
        assert not _find(database, "clay").disabled

    def test_a_lead_gets_nowhere_with_a_dialog(self, database: Database, open_dialog: Open) -> None:
        before = _find(database, "hanako")
        press(open_dialog("lea", "hanako"), "Disable")
        app = press(open_dialog("lea", "hanako"), "Make a one-time password")
        assert app.code == []
        assert "needs the role admin" in app.error[0].value
        assert _find(database, "hanako") == before


def _find(database: Database, username: str):  # type: ignore[no-untyped-def]
    return next(person for person in list_people(database, OPERATOR) if person.username == username)


class TestAccount:
    def test_a_one_time_password_is_replaced_before_anything_else(
        self, database: Database, open_page: Open
    ) -> None:
        made = add_person(database, OPERATOR, "newcomer", role="lead", dataset="demo", now=NOW)
        assert made.one_time_password is not None
        app = open_page("newcomer", "people", password=made.one_time_password)
        assert "Choose your own password first" in say(app)
        assert "hanako" not in say(app)
        app = open_page("newcomer", "account", password=made.one_time_password)
        assert not app.sidebar.get("page_link")
        assert [link.proto.label for link in app.get("page_link")] == ["Account"]
        assert [field.label for field in app.text_input] == ["New password (10 characters or more)"]
        for refused, why in (
            ("short", "at least 10 characters"),
            (made.one_time_password, "this is the one-time password"),
        ):
            fill(app, "New password (", refused)
            press(app, "Save and continue")
            assert why in say(app)
        fill(app, "New password (", PASSWORD)
        press(app, "Save and continue")
        assert not _find(database, "newcomer").must_change_password
        assert "People" in {link.proto.label for link in app.sidebar.get("page_link")}

    @pytest.mark.parametrize(
        ("old", "new", "again", "why"),
        [
            ("wrong", "another one 次", "another one 次", "The current password is wrong."),
            (PASSWORD, "another one 次", "another two 次", "the two new passwords differ"),
            (PASSWORD, "short", "short", "at least 10 characters"),
        ],
    )
    def test_a_refused_change_says_why(
        self, open_page: Open, old: str, new: str, again: str, why: str
    ) -> None:
        app = open_page("hanako", "account")
        for label, value in (
            ("Current password", old),
            ("New password (", new),
            ("New password again", again),
        ):
            fill(app, label, value)
        press(app, "Change password")
        assert why in app.error[0].value
        assert app.success == []

    def test_one_can_sign_out_everywhere_else(
        self, database: Database, open_page: Open, tokens: dict[str, str]
    ) -> None:
        sign_in(database, "lea", PASSWORD, address="192.0.2.1", now=datetime.now(UTC))
        app = press(open_page("lea", "account"), "Sign out everywhere else")
        actor = _actor(database, tokens)
        left = list_sessions(database, actor, token=tokens["annotator_session"], now=datetime.now(UTC))
        assert [item.current for item in left] == [True]
        assert not [button for button in app.button if "everywhere" in button.label]


class TestLanguage:
    def test_a_page_speaks_the_browsers_language_until_its_reader_chooses_one_and_again_when_asked_to(
        self, database: Database, open_page: Open, monkeypatch: pytest.MonkeyPatch, tokens: dict[str, str]
    ) -> None:
        monkeypatch.setattr(ContextProxy, "headers", {"Accept-Language": "ja,en;q=0.5"})
        add_person(database, OPERATOR, "mori", role="annotator", dataset="demo", password=PASSWORD, now=NOW)

        def find_chosen() -> str | None:
            session = find_session(database, tokens["annotator_session"], now=datetime.now(UTC))
            return session.language if session is not None else None

        page = open_page("mori", "account")
        assert (page.title[0].value, find_chosen()) == ("アカウント", None)
        page.selectbox(key="account_language 0").set_value("ko").run()
        assert (page.title[0].value, find_chosen()) == ("계정", "ko")
        press(page, "브라우저 언어 따르기").run()
        assert (page.title[0].value, find_chosen()) == ("アカウント", None)


class TestErrors:
    def test_a_refusal_is_shown_as_it_is(self) -> None:
        def script() -> None:
            from annotator.domain.errors import StateError
            from annotator.web.app import show_error

            show_error(StateError("the pool is empty\n__init__ costs $5 -> :red[x]"))

        app = AppTest.from_function(script).run()
        shown = r"the pool is empty" + "\n\n" + r"\_\_init\_\_ costs \$5 \-\> \:red\[x\]"
        assert [item.value for item in app.error] == [shown], "nothing in it is read as Markdown"

    def test_anything_else_is_a_number_that_the_log_knows(self) -> None:
        def script() -> None:
            from annotator.web.app import show_error

            show_error(KeyError("the secret of the house"))

        app = AppTest.from_function(script).run()
        assert "error number: " in app.error[0].value
        assert "secret" not in app.error[0].value

    def test_streamlit_is_told_not_to_show_it_again(self) -> None:
        assert show_error(KeyError("x")) is True

    def test_while_the_database_is_away_a_page_says_so_and_offers_to_try_again(self) -> None:
        def script() -> None:
            from annotator.domain.errors import DatabaseUnavailable
            from annotator.storage.database import UNREACHABLE
            from annotator.web.app import show_error

            show_error(DatabaseUnavailable(UNREACHABLE, database="postgresql://u@h/n", detail="refused by h"))

        page = AppTest.from_function(script).run()
        assert "unavailable: the database cannot be reached." in page.error[0].value
        assert "postgresql" not in page.error[0].value
        assert [button.label for button in page.button] == ["Try again"]

    def test_streamlit_prints_no_traceback_of_its_own_past_our_log(self) -> None:
        assert make_config("127.0.0.1", 8501)["logger.enableRich"] is False


@pytest.mark.parametrize(
    ("title", "cut"),
    [("Demo", False), ("Demo: frameworks, land planning", True), ("フレームワークの文書と法令", True)],
)
def test_a_title_that_the_field_of_the_sidebar_cuts_is_written_below_it(title: str, cut: bool) -> None:
    assert is_cut(title) is cut
