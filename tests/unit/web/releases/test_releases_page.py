"""The Releases page as Streamlit runs it, without a browser: gates, preview, publishing, and what is out."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.dataset.service import change_settings, show_dataset
from annotator.domain.people import OPERATOR
from annotator.releases.gates_service import check_release
from annotator.releases.published_service import count_withheld
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.pairs.pool import pair_key
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import DatasetRow
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import (
    exports_of,
    find,
    headings,
    html_rows,
    links,
    make_world,
    open_page,
    run,
    words,
)

LATER = NOW + timedelta(days=1)
REASON = "まだ <b>半分</b> 🙂 مرحبا"
PLACE = "d 1.0.0"
ABOUT = {"authors": "하나", "contact": "hana@example.org", "licence": "CC0-1.0"}
WAYS = ["agreement", "disagreements", "quality"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_described)


def make_described(database: Database) -> JudgedWorld:
    world = make_world(database)
    change_settings(database, OPERATOR, "d", ABOUT, now=NOW)
    return world


def make_published(database: Database) -> JudgedWorld:
    """Two releases: between them Q1 遠い was decided, and Q2's text changed nothing."""
    world = make_described(database)
    publish_by_service(world, "1.0.0")
    decide(world, "Q1", "遠い", 2)
    publish_by_service(world, "1.1.0")
    return world


@pytest.fixture
def published(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_published)


def publish_by_service(world: JudgedWorld, version: str) -> None:
    lead = find(world, "lead")
    gates = check_release(world.database, lead, "d").gates
    publish_release(
        world.database, lead, "d", version, exports_dir=exports_of(world), now=LATER,
        note=f"第{version}版 <i>x</i>", overrides={gate.name: REASON for gate in gates if not gate.met},
    )  # fmt: skip


def decide(world: JudgedWorld, query_id: str, doc_id: str, grade: int) -> None:
    lead, pair = find(world, "lead"), pair_key("d", query_id, doc_id)
    seen = show_disagreement(world.database, lead, "d", pair, now=NOW).seen
    adjudicate(
        world.database, lead, "d", pair, grade=grade, rationale="第17条 <u>直接</u> $x$ 🎯", seen=seen, now=LATER
    )  # fmt: skip


def publish(app: AppTest, version: str = "1.0.0") -> AppTest:
    app.button(key=f"publish d {version}").click()
    return run(app)


def give_reasons(app: AppTest) -> None:
    for field in app.text_input:
        if field.key and field.key.startswith("reason "):
            field.set_value(REASON)


def tables(app: AppTest) -> list[dict[str, Any]]:
    """What the tables of rows on the page are told."""
    return [json.loads(json.loads(item.proto.json)["message"]) for item in app.get("bidi_component")]


def rows(app: AppTest, index: int = -1) -> list[list[str]]:
    return [row["cells"] for row in tables(app)[index]["rows"]]


def grouped_rows(app: AppTest) -> list[tuple[str, ...]]:
    """The qrels on the page, each under the id of the query that it is grouped by; the document by its id."""
    table = tables(app)[-1]
    return [
        (group.split("  ")[0], row["cells"][0].split("\n")[-1], *row["cells"][1:])
        for group, row in zip(table["groups"], table["rows"], strict=True)
    ]


def tab_of(app: AppTest) -> str:
    return str(app.session_state["tab"])


class TestTheNextRelease:
    def test_the_gates_are_a_checklist_with_the_way_to_the_work(self, world: JudgedWorld) -> None:
        app = open_page(world, "releases")
        shown = words(app)
        assert "6 of 9 gates are met." in shown
        assert "κ 0.27 (target 0.70)" in shown
        assert "2 open disagreements" in shown
        assert "every pair has enough judgments" in shown
        assert [address for address, _ in links(app)] == WAYS
        assert {query for _, query in links(app)} == {"dataset=d"}
        assert (
            "The release will contain 2 pairs (unanimous 2). 2 pairs are left out (disagreement 2)." in shown
        )

    def test_what_was_not_measured_is_never_a_bare_0(self, world: JudgedWorld) -> None:
        shown = words(open_page(world, "releases"))
        assert "quality control not done" in shown
        assert "No requirements are declared" in shown
        assert "none declared" in shown

    def test_an_undefined_kappa_says_why(self, database: Database) -> None:
        world = JudgedWorld(database)
        first, second = world.person("花子"), world.person("민준")
        world.person("lead", "lead")
        world.query("Q1", "検索")
        world.pair("Q1", "文書")
        for annotator in (first, second):
            world.judge(annotator, "Q1", "文書", 3)
        shown = words(open_page(world, "releases"))
        assert "κ undefined (target 0.70)" in shown

    def test_a_gate_names_some_of_what_is_missing(self, world: JudgedWorld) -> None:
        app = open_page(world, "releases")
        assert "First 2" in [item.label for item in app.expander]
        assert ["Q1", "遠い"] in [row[:2] for row in html_rows(app)]

    def test_a_preview_says_what_would_change_and_offers_the_version_it_calls_for(
        self, world: JudgedWorld
    ) -> None:
        publish_by_service(world, "1.0.0")
        app = open_page(world, "releases")
        assert "Compared with 1.0.0: no changes." in words(app)
        decide(world, "Q1", "遠い", 2)
        run(app)
        assert "Compared with 1.0.0: 1 added pair." in words(app)
        assert "Recommended step: minor" in words(app)
        assert app.text_input(key="version d 1.1.0").value == "1.1.0"

    def test_a_changed_grade_stands_with_both_grades_and_the_reason(self, world: JudgedWorld) -> None:
        publish_by_service(world, "1.0.0")
        for person in ("花子", "simulated_1"):
            world.judge(find(world, person), "Q1", "同じ", 1)
        app = open_page(world, "releases")
        assert "Compared with 1.0.0: 1 changed grade." in words(app)
        assert ["Q1", "同じ", "0", "1", "revision"] in html_rows(app)

    def test_without_reasons_publishing_is_refused_and_the_note_stays(self, world: JudgedWorld) -> None:
        app = open_page(world, "releases")
        app.text_area(key=f"note {PLACE}").set_value("第一版")
        publish(app)
        assert app.error[0].value == "Not published yet: look at the fields marked above."
        assert words(app).count("Enter a reason, or finish the work of this gate first.") == 3
        app.text_input(key=f"reason {PLACE} kappa").set_value(REASON)
        publish(app)
        assert words(app).count("Enter a reason, or finish the work of this gate first.") == 2
        assert app.text_area(key=f"note {PLACE}").value == "第一版"
        assert not exports_of(world).exists()

    def test_a_release_is_published_with_reasons_and_then_shown(self, world: JudgedWorld) -> None:
        app = open_page(world, "releases")
        give_reasons(app)
        app.text_area(key=f"note {PLACE}").set_value("第一版 <b>")
        publish(app)
        assert app.success[0].value.startswith("Version 1.0.0 published")
        assert tab_of(app) == "Published"
        assert app.query_params["version"] in ("1.0.0", ["1.0.0"])
        assert (exports_of(world) / "d" / "1.0.0" / "manifest.json").is_file()
        assert "第一版 &lt;b&gt;" in words(app)
        ((_, _, _, _, note, marks),) = rows(app, 0)
        assert note == "第一版 <b>"
        assert marks == "overridden: Cohen's κ, disagreements, quality control; simulated judgments"

    def test_who_made_it_is_asked_once_and_kept_in_the_settings(self, world: JudgedWorld) -> None:
        unsaid = dict.fromkeys(ABOUT, "none")
        change_settings(world.database, OPERATOR, "d", unsaid, now=NOW)
        app = open_page(world, "releases")
        give_reasons(app)
        app.text_input(key=f"licence {PLACE}").set_value("CC0-1.0")
        publish(app)
        assert words(app).count("Empty. Press Publish again to publish without it.") == 2
        assert not exports_of(world).exists()
        app.text_input(key=f"authors {PLACE}").set_value("하나")
        app.button(key=f"publish {PLACE} again").click()
        assert run(app).success[0].value.startswith("Version 1.0.0 published")
        manifest = json.loads((exports_of(world) / "d" / "1.0.0" / "manifest.json").read_bytes())
        assert (manifest["authors"], manifest["licence"], manifest["contact"]) == ("하나", "CC0-1.0", None)
        dataset, _ = show_dataset(world.database, OPERATOR, "d")
        assert (dataset.authors, dataset.licence, dataset.contact) == ("하나", "CC0-1.0", None)

    def test_what_the_service_refuses_is_said_as_it_is(self, world: JudgedWorld) -> None:
        app = open_page(world, "releases")
        give_reasons(app)
        app.text_input(key=f"version {PLACE}").set_value("v1 *x*")
        publish(app)
        assert (
            app.error[0]
            .value.replace("\\", "")
            .startswith("Not published: Enter a version such as 1.0.0 (MAJOR.MINOR.PATCH), not 'v1 *x*'")
        )

    def test_where_nothing_is_settled_there_is_no_form(self, database: Database) -> None:
        world = JudgedWorld(database)
        world.person("lead", "lead")
        world.query("Q1", "検索")
        world.pair("Q1", "文書")
        app = open_page(world, "releases")
        assert "There is nothing to publish: no pair is settled yet." in words(app)
        assert len(app.button) == 0

    def test_without_a_pair_the_page_says_what_comes_first(self, database: Database) -> None:
        world = JudgedWorld(database)
        world.person("lead", "lead")
        app = open_page(world, "releases")
        assert not app.code, "no command on a page"


class TestWhatIsOut:
    def test_before_the_first_release_it_says_where_to_look(self, world: JudgedWorld) -> None:
        assert "No releases yet." in words(open_page(world, "releases", tab="Published"))
        assert "No releases yet." in words(open_page(world, "releases", tab="Compare"))

    def test_the_latest_comes_first_and_is_shown(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published")
        assert [row[0] for row in rows(app, 0)] == ["1.1.0", "1.0.0"]
        assert tables(app)[0]["chosen"] == "1.1.0"
        assert "<h2>d 1.1.0</h2>" in words(app)
        assert "第1.1.0版 &lt;i&gt;x&lt;/i&gt;" in words(app)

    def test_the_address_chooses_the_release(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", version="1.0.0")
        assert "<h2>d 1.0.0</h2>" in words(app)
        assert len(rows(app)) == 2
        app = open_page(published, "releases", tab="Published", version="9.9.9")
        assert app.warning[0].value.startswith("This version does not exist.")
        assert "<h2>d 1.1.0</h2>" in words(app)

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({}, [("Q1", "同じ", "0", "unanimous"), ("Q1", "遠い", "2", "adjudicated"), ("Q2", "같은", "3", "unanimous")]),
            ({"grade": "0"}, [("Q1", "同じ", "0", "unanimous")]),
            ({"origin": "adjudicated"}, [("Q1", "遠い", "2", "adjudicated")]),
            ({"search": "같은"}, [("Q2", "같은", "3", "unanimous")]),
            ({"search": "법령 :red"}, [("Q2", "같은", "3", "unanimous")]),
        ],
    )  # fmt: skip
    def test_qrels_are_filtered_by_the_address(
        self, published: JudgedWorld, filters: dict[str, str], expected: list[tuple[str, ...]]
    ) -> None:
        app = open_page(published, "releases", tab="Published", **filters)
        assert sorted(grouped_rows(app)) == sorted(expected)
        qrels = "qrel" if len(expected) == 1 else "qrels"
        assert f"1 to {len(expected)} of {len(expected)} {qrels}." in words(app)

    def test_what_changed_since_a_release_stands_with_the_grade_before(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", since="1.0.0")
        assert grouped_rows(app) == [("Q1", "遠い", "2", "–", "adjudicated")]

    def test_qrels_are_grouped_by_query_and_documents_have_their_titles(self, published: JudgedWorld) -> None:
        table = tables(open_page(published, "releases", tab="Published"))[-1]
        assert table["groups"] == [
            "Q1  ハンドラキュー <b>🔎",
            "Q1  ハンドラキュー <b>🔎",
            "Q2  법령 :red[검색]",
        ]
        assert {row["cells"][0] for row in table["rows"]} == {
            "題 同じ\n同じ",
            "題 遠い\n遠い",
            "題 같은\n같은",
        }

    def test_a_page_that_is_not_there_is_the_first(self, published: JudgedWorld) -> None:
        for page in ("7", "0", "-1", "x", "٣", "9" * 30):
            app = open_page(published, "releases", tab="Published", page=page)
            assert len(rows(app)) == 3

    def test_filters_that_leave_nothing_say_so(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", search="存在しない <b>")
        assert "No qrels match." in words(app)

    def test_a_chosen_qrel_shows_its_judgments_and_its_decision_under_pseudonyms(
        self, published: JudgedWorld
    ) -> None:
        app = open_page(published, "releases", tab="Published", query="Q1", document="遠い")
        shown = words(app)
        assert "Why grade 2" in shown
        assert "ハンドラキュー &lt;b&gt;🔎" in shown
        assert shown.count("annotator_") == 2
        assert "ノート &lt;i&gt;遠い" in shown
        assert "第17条 &lt;u&gt;直接&lt;/u&gt; $x$ 🎯" in shown
        assert "guideline 1" in shown
        assert ">simulated<" in shown
        for secret in ("花子", "simulated_1", "<i>遠い", "<u>"):
            assert secret not in shown

    def test_a_qrel_that_a_release_does_not_hold_is_said_so(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", version="1.0.0", query="Q1", document="遠い")
        assert [item.value for item in app.info] == ["1.0.0 does not contain this qrel."]

    def test_the_gates_of_a_release_keep_who_overrode_them_and_why(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", version="1.0.0", part="Gates")
        shown = words(app)
        assert shown.count(">not met, overridden<") == 3
        assert "Published without it by lead_3: まだ &lt;b&gt;半分&lt;/b&gt; 🙂 مرحبا" in shown
        assert links(app) == []

    @pytest.mark.parametrize(
        ("part", "expected"), [("Datasheet", "<h3>"), ("Changes", "<h3>Changes in d 1.1.0</h3>")]
    )
    def test_the_texts_of_a_release_are_shown_as_pages(
        self, published: JudgedWorld, part: str, expected: str
    ) -> None:
        shown = words(open_page(published, "releases", tab="Published", part=part))
        assert '<div class="annotator-published" dir="auto">' in shown
        assert expected in shown

    def test_every_file_has_its_link_and_all_of_them_one(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Published", version="1.0.0", part="Files")
        shown = words(app)
        assert 'href="/api/release?dataset=d&amp;version=1.0.0"' in shown
        folder = exports_of(published) / "d" / "1.0.0"
        files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        assert shown.count("annotator-link") == len(files) + 1
        for name in files:
            assert f">{name}</a>" in shown
        assert "Further files" not in [
            item.value for item in app.subheader
        ]  # what each of them is for is said
        assert "For readers: how the ground truth was made" in shown
        assert str(folder) in [item.value for item in app.code]

    def test_a_folder_that_was_changed_is_said_so_and_not_offered(self, published: JudgedWorld) -> None:
        sums = exports_of(published) / "d" / "1.1.0" / "SHA256SUMS"
        sums.chmod(0o644)
        sums.write_text("", encoding="utf-8")
        app = open_page(published, "releases", tab="Published", part="Files")
        assert "have changed since they were published" in words(app)
        assert "annotator-link" not in words(app)
        app = open_page(published, "releases", tab="Published", part="Datasheet")
        assert "The published file DATASHEET.md is missing or changed on this server." in words(app)


class TestComparing:
    def test_the_last_two_are_compared_unless_others_are_asked_for(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Compare")
        assert (app.selectbox(key="from").value, app.selectbox(key="to").value) == ("1.0.0", "1.1.0")
        assert "Compared with 1.0.0: 1 added pair." in words(app)
        assert "Recommended step: minor" in words(app)
        app = open_page(published, "releases", tab="Compare", **{"from": "1.1.0", "to": "1.0.0"})
        assert "Compared with 1.1.0: 1 removed pair." in words(app)
        assert '<td dir="auto">遠い</td>' in words(app)

    def test_a_release_is_not_compared_with_itself(self, published: JudgedWorld) -> None:
        app = open_page(published, "releases", tab="Compare", **{"from": "1.1.0"})
        assert "Choose two different versions." in words(app)

    def test_one_release_alone_says_what_to_do(self, world: JudgedWorld) -> None:
        publish_by_service(world, "1.0.0")
        shown = words(open_page(world, "releases", tab="Compare"))
        assert "There is only one release: 1.0.0. A comparison needs two releases." in shown


def test_only_the_open_tab_is_worked_out(published: JudgedWorld) -> None:
    app = open_page(published, "releases", tab="Compare")
    assert headings(app) == ["Releases"]
    assert len(app.get("bidi_component")) == 0


@pytest.mark.parametrize("part", ["Gates", "Datasheet", "Changes", "Files"])
def test_what_can_tell_grades_is_shown_once_a_lead_gives_up_the_pairs_of_the_release(
    published: JudgedWorld, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few unknown grades, a checksum, a count or a text tells them: one tries all grades until they fit."""
    other = published.person("other", "lead")
    with published.database.write() as session:
        session.get_one(DatasetRow, published.dataset_pk).overlap = 3
        derive_work(session, published.dataset_pk)
    context = GivenContext(database=published.database, actor=other, now=NOW)
    monkeypatch.setattr("annotator.web.blind_pairs.require_context", lambda: context)
    address = {"tab": "Published", "version": "1.0.0", "part": part}
    app = open_page(published, "releases", other, **address)
    assert "that you may still judge, so it is not shown." in words(app)
    (include,) = [button for button in app.button if button.label == "Include them; I will not judge them"]
    include.click()
    shown = words(run(app))
    assert "so it is not shown" not in shown
    assert count_withheld(published.database, other, "d", "1.0.0") == 0
