"""A lead's pages as Streamlit runs them, without a browser: a small world, and how a test opens and reads a page."""

import re
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest

from annotator.domain.people import Actor
from annotator.storage.database import Database
from tests.integration.judged_world import JudgedWorld


def make_world(database: Database) -> JudgedWorld:
    """Four pairs: two unanimous, one a grade apart, one three grades apart with markup in its text."""
    made = JudgedWorld(database)
    hanako, minjun = made.person("花子"), made.person("simulated_1", simulated=True)
    made.person("lead", "lead")
    with made.at_once():
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

    from annotator.dataset.service import list_datasets
    from annotator.domain.people import Actor, Membership, SignedIn
    from annotator.overview.service import keep_answers
    from annotator.settings import Settings
    from annotator.storage.database import Database
    from annotator.web.navigation import PAGES
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
    opened = next(listed_page for listed_page in PAGES if listed_page.address == page)
    if dataset is not None and opened.shows_figures:
        keep_answers(database, actor, dataset, now=now)
    import_module(opened.module).draw(context)


def open_page(
    world: JudgedWorld, page: str, actor: Actor | None = None, /, *, dataset: str | None = "d", **address: str
) -> AppTest:
    """The page as the lead (or somebody) sees it; `address`: further query parameters."""
    lead = actor or find(world, "lead")
    url = world.database.url.render_as_string(hide_password=False)
    app = AppTest.from_function(
        run_page, args=(url, page, lead.username, lead.person_id, dataset, str(exports_of(world)))
    )
    for name, value in address.items():
        app.query_params[name] = value
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run(timeout=20)
    assert [str(error.value) for error in app.exception] == []
    return app


def find(world: JudgedWorld, username: str) -> Actor:
    from annotator.people.roles_service import find_actor

    with world.database.read() as session:
        return find_actor(session, username)


def exports_of(world: JudgedWorld) -> Path:
    return Path(str(world.database.url.database)).parent / "exports"


def words(app: AppTest) -> str:
    """Everything that is written on the page, in its order by kind; a space that does not break is a space."""
    kinds = ("title", "header", "text", "markdown", "html", "info", "success", "warning", "error", "code")
    return "\n".join(
        str(item.value if kind != "html" else item.proto.body) for kind in kinds for item in app.get(kind)
    ).replace("\N{NO-BREAK SPACE}", " ")


def html_rows(app: AppTest) -> list[list[str]]:
    """The text of every row of the page's HTML tables, cell by cell."""
    cells = [
        re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", words(app))
    ]
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells]


def headings(app: AppTest) -> list[str]:
    return [item.value for item in (*app.title, *app.header)]


def alternatives(app: AppTest) -> list[str]:
    return [item.proto.alt for item in app.get("vega_lite_chart")]


def links(app: AppTest) -> list[tuple[str, str]]:
    return [(item.proto.page, item.proto.query_string) for item in app.get("page_link")]
