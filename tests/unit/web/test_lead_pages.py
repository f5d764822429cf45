"""The leads' pages as Streamlit runs them, without a browser: what they show, say and do."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Four pairs: two unanimous, one a grade apart, one three grades apart with markup in its text."""
    made = JudgedWorld(database)
    hanako, minjun = made.person("花子"), made.person("simulated_1", simulated=True)
    made.person("lead", "lead")
    made.query("Q1", "ハンドラキュー <b>🔎", category="設定", narrative="順序を知りたい *今*")
    made.query("Q2", "법령 :red[검색]", category="법")
    for query_id, doc_id, grades, text in (
        ("Q1", "同じ", (0, 0), "本文"),
        ("Q1", "遠い", (0, 3), "<script>alert(1)</script> __init__ $5 <mark>x</mark>"),
        ("Q2", "近い", (2, 3), None),
        ("Q2", "같은", (3, 3), "본문"),
    ):
        made.pair(query_id, doc_id, rank=2, title=f"題 {doc_id}", text=text)
        made.judge(hanako, query_id, doc_id, grades[0], note=f"ノート <i>{doc_id}")
        made.judge(minjun, query_id, doc_id, grades[1])
    return made


def run_page(url: str, page: str, username: str, person_id: int, dataset: str | None, exports: str) -> None:
    from datetime import UTC, datetime
    from importlib import import_module
    from pathlib import Path

    from annotator.datasets.service import list_datasets
    from annotator.domain.accounts import Membership, SignedIn
    from annotator.domain.people import Actor
    from annotator.settings import Settings
    from annotator.storage.database import Database
    from annotator.web.page_context import PageContext

    database, actor = Database(url), Actor(person_id, username)
    now = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)
    held = (Membership(dataset, "lead"),)
    context = PageContext(
        database=database,
        settings=Settings(exports_dir=Path(exports)),
        person=SignedIn(actor, username, held, False, now),
        token="",
        datasets=tuple(list_datasets(database, actor)),
        dataset=dataset,
        now=now,
    )
    import_module(f"annotator.web.pages.{page}").draw(context)


def open_page(
    world: JudgedWorld, page: str, actor: Actor | None = None, *, dataset: str | None = "d"
) -> AppTest:
    """The page as the lead (or somebody) sees it."""
    lead = actor or find(world, "lead")
    url = world.database.url.render_as_string(hide_password=False)
    app = AppTest.from_function(
        run_page, args=(url, page, lead.username, lead.person_id, dataset, str(exports_of(world)))
    )
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run(timeout=20)
    assert [str(error.value) for error in app.exception] == []
    return app


def find(world: JudgedWorld, username: str) -> Actor:
    from annotator.accounts.service import find_actor

    with world.database.read() as session:
        return find_actor(session, username)


def exports_of(world: JudgedWorld) -> Path:
    return Path(str(world.database.url.database)).parent / "exports"


def words(app: AppTest) -> str:
    """Everything that is written on the page, in its order by kind."""
    kinds = ("title", "subheader", "text", "markdown", "html", "info", "success", "warning", "error", "code")
    return "\n".join(
        str(item.value if kind != "html" else item.proto.body) for kind in kinds for item in app.get(kind)
    )


def headings(app: AppTest) -> list[str]:
    return [item.value for item in (*app.title, *app.subheader)]


def alternatives(app: AppTest) -> list[str]:
    return [item.proto.alt for item in app.get("vega_lite_chart")]


@pytest.mark.parametrize("page", ["overview", "agreement"])
def test_without_a_dataset_a_page_says_how_to_make_one(world: JudgedWorld, page: str) -> None:
    app = open_page(world, page, dataset=None)
    assert app.info[0].value.startswith("There is no dataset yet")
    assert app.code[0].value == "annotator dataset create NAME"


def links(app: AppTest) -> list[tuple[str, str]]:
    return [(item.proto.page, item.proto.query_string) for item in app.get("page_link")]


def test_the_overview_begins_with_what_to_do_next_and_links_keep_the_dataset(world: JudgedWorld) -> None:
    app = open_page(world, "overview")
    assert headings(app)[:2] == ["Overview", "What to do next"]
    assert "1. Raise agreement: κ is 0.27, its target 0.70" in words(app)
    assert links(app) == [("agreement", "dataset=d"), ("disagreements", "dataset=d")]


def test_the_overview_says_every_figure_in_words_and_marks_who_is_simulated(world: JudgedWorld) -> None:
    app = open_page(world, "overview")
    assert alternatives(app) == [
        "Cohen's kappa, target 0.7: κ 0.27 [0.00, 0.27].",
        "4 pairs: unanimous 2, disagreement 2.",
        "Pairs judged, of 4: simulated_1 (simulated) 4, 花子 4.",
        (
            "2 of 2 queries are complete: each of their pairs has the 2 judgments it needs. "
            "4 pairs are complete, 0 begun, 0 untouched."
        ),
    ]
    assert "Simulated judgments are included (simulated_1)" in words(app)
    people, queries = (item.value for item in app.dataframe)
    assert list(people["annotator"]) == ["simulated_1 (simulated)", "花子"]
    assert list(queries["complete"]) == [2, 2]


def test_the_overview_of_an_empty_dataset_is_nothing_but_the_next_step(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "overview")
    assert headings(app) == ["Overview", "What to do next"]
    assert [item.value for item in app.code] == ["annotator import queries d FILE"]
    assert alternatives(app) == []


def test_agreement_begins_with_sentences_and_its_intervals_can_be_traced(world: JudgedWorld) -> None:
    app = open_page(world, "agreement")
    assert app.text[0].value.startswith("Simulated judgments are included")
    assert app.text[1].value.startswith("Cohen's kappa is 0.27")
    assert "1,000 bootstrap resamples of the queries, seed 0" in words(app)
    coefficients = app.dataframe[0].value
    assert "Krippendorff's α, ordinal" in list(coefficients["coefficient"])
    assert list(coefficients["value"])[:2] == [0.5, 0.273]


def test_the_confusion_matrix_stands_as_a_table_beside_the_heat_map(world: JudgedWorld) -> None:
    app = open_page(world, "agreement")
    assert "the same grade on 2, different grades on 2" in alternatives(app)[1]
    table = app.dataframe[1].value
    assert table.values.tolist() == [
        ["0 Not relevant", 1, 0, 0, 0],
        ["1 Marginally relevant", 0, 0, 0, 0],
        ["2 Highly relevant", 0, 0, 0, 0],
        ["3 Perfect", 1, 0, 1, 1],
    ]


def test_agreement_is_grouped_on_demand_and_what_is_undefined_says_why(world: JudgedWorld) -> None:
    app = open_page(world, "agreement")
    assert "Choose a field" in words(app)
    app.selectbox(key="by").set_value("category")
    run(app)
    table = app.dataframe[-1].value
    assert list(table["category"]) == ["設定", "법"]
    assert alternatives(app)[-1].startswith("Cohen's kappa, target 0.7:")
    app.selectbox(key="by").set_value("difficulty")
    run(app)
    assert "No query has a difficulty." in words(app)


def test_an_undefined_kappa_is_explained_and_not_drawn(database: Database) -> None:
    world = JudgedWorld(database)
    first, second = world.person("花子"), world.person("민준")
    world.person("lead", "lead")
    world.query("Q1", "検索")
    world.pair("Q1", "文書")
    for annotator in (first, second):
        world.judge(annotator, "Q1", "文書", 3)
    app = open_page(world, "agreement")
    assert "unweighted: undefined, " in words(app)
    assert len(alternatives(app)) == 1


def test_before_anything_is_shared_agreement_says_so(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "agreement")
    assert "Nothing is judged yet" in words(app)
    assert links(app) == [("overview", "dataset=d")]
