"""From an empty database to a published release in the browser alone, as a lead who has never seen the program does it.

    .venv/bin/python -m benchmarks.first_release [--documents FOLDER] [--pairs 40] [--pictures FOLDER]

After `annotator serve`: open the address that it prints, make the first account, a dataset and the pool of the 50 Nablarch
queries, invite two annotators, who label, then decide, import two runs, evaluate and publish. Printed for each step: clicks,
typed fields, single keys, and seconds by the clock, in which nobody reads or thinks. `--documents`: a folder of texts; without
it, made-up ones. `--pictures`: where to put a picture of the page after each step.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from annotator.domain.people import OPERATOR
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from benchmarks.labeling_load import wait_for_server
from benchmarks.press_to_paint import find_free_port, launch

SMALL = "--pairs 3 --queries 4"  # what the tests start it with
QUERIES = Path(__file__).parents[1] / "datasets/nablarch/queries.yaml"
DATASET, VERSION = "nablarch-docs", "0.1.0"
PASSWORD = "correct horse 電池 staple"
PEOPLE = (("花子", "hanako"), ("민준", "minjun"))
SYSTEMS = ("first", "second")
WAIT_MS = 60_000


class Walk:
    """What the people do, counted by step."""

    def __init__(self, pictures: Path | None) -> None:
        self.pictures = pictures
        self.clicks = self.fields = self.keys = 0
        self.steps: list[tuple[str, int, int, int, float]] = []

    @contextmanager
    def step(self, name: str, page: Page) -> Iterator[None]:
        """Count what happens inside, and take a picture at the end."""
        before, begun = (self.clicks, self.fields, self.keys), perf_counter()
        yield
        seconds = perf_counter() - begun
        clicks, fields, keys = (
            now - then for now, then in zip((self.clicks, self.fields, self.keys), before, strict=True)
        )
        self.steps.append((name, clicks, fields, keys, seconds))
        print(f"{name:<34} {clicks:3d} clicks {fields:3d} fields {keys:4d} keys {seconds:7.1f} s", flush=True)
        if self.pictures is not None:
            page.screenshot(path=self.pictures / f"{len(self.steps):02d} {name}.png", full_page=True)

    def click(self, target: Locator) -> None:
        """Click, when it is there."""
        target.click()
        self.clicks += 1

    def fill(self, field: Locator, text: str) -> None:
        """Type into a field."""
        field.fill(text)
        field.press("Tab")
        self.fields += 1

    def upload(self, page: Page, *paths: Path) -> None:
        """Choose files or a folder."""
        page.locator("input[type=file]").set_input_files(list(paths) if len(paths) > 1 else paths[0])
        self.clicks += 1

    def press(self, page: Page, key: str) -> None:
        """Press a key."""
        page.keyboard.press(key)
        self.keys += 1

    def show_total(self) -> None:
        """Print the sums."""
        seconds = sum(step[4] for step in self.steps)
        print(
            f"{'together':<34} {self.clicks:3d} clicks {self.fields:3d} fields {self.keys:4d} keys {seconds:7.1f} s"
        )


def main() -> None:
    """Walk the whole way, and print."""
    parser = argparse.ArgumentParser(description="From an empty database to a release, in the browser.")
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--queries", type=int, default=50, help="so many of the 50 queries")
    parser.add_argument("--pairs", type=int, default=40, help="pairs that each annotator labels")
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    if chosen.pictures is not None:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = launch(playwright)
        with serve_empty(folder) as address:
            walk = Walk(chosen.pictures)
            queries = write_queries(folder, chosen.queries)
            documents = chosen.documents or write_documents(folder, queries)
            walk_all(walk, browser, address, folder, queries, documents, chosen.pairs)
            walk.show_total()
        browser.close()


def walk_all(
    walk: Walk, browser: Browser, address: str, folder: Path, queries: Path, documents: Path, pairs: int
) -> None:
    """Do every step."""
    lead = open_tab(browser)
    with walk.step("first account", lead):
        make_account(walk, lead, address, "Léa", "lea")
        lead.get_by_role("heading", name="New dataset", level=1).wait_for()
    with walk.step("new dataset", lead):
        make_dataset(walk, lead)
    with walk.step("import queries", lead):
        import_files(walk, lead, queries)
    with walk.step("import documents", lead):
        walk.click(lead.get_by_text("Upload a whole folder"))
        lead.locator("input[type=file][webkitdirectory]").wait_for(state="attached")
        import_files(walk, lead, documents)
    with walk.step("make the pool", lead):
        open_by_sidebar(walk, lead, "Pool")
        walk.click(lead.get_by_role("button", name=re.compile(r"^Add .* pairs? to the pool")))
        lead.get_by_text(re.compile(r"^Round 1: .* added")).wait_for()
    with walk.step("invite two annotators", lead):
        links = invite(walk, lead)
    annotators = [open_tab(browser) for _ in PEOPLE]
    for tab, link, (name, username) in zip(annotators, links, PEOPLE, strict=True):
        with walk.step(f"{username} accepts", tab):
            make_account(walk, tab, link, name, username)
            walk.click(tab.get_by_role("button", name="Start", exact=True))
    for number, (tab, (_name, username)) in enumerate(zip(annotators, PEOPLE, strict=True)):
        with walk.step(f"{username} labels {pairs} pairs", tab):
            label(walk, tab, pairs, random.Random(number))
    with walk.step("decide disagreements", lead):
        decide(walk, lead)
    with walk.step("import two runs", lead):
        open_by_sidebar(walk, lead, "Queries and documents")
        lead.locator("input[type=file]:not([webkitdirectory])").wait_for(state="attached")
        import_files(walk, lead, *write_runs(folder))
    with walk.step("evaluate", lead):
        open_by_sidebar(walk, lead, "Evaluation")
        scores = lead.get_by_role("table", name="All measures")
        include = lead.get_by_role("button", name="Include them; I will not judge them")
        scores.or_(include).first.wait_for()
        if include.is_visible():  # pairs that the lead may still judge are left out until then
            walk.click(include)
        scores.wait_for()
    with walk.step("publish", lead):
        publish(walk, lead)


def make_account(walk: Walk, page: Page, address: str, name: str, username: str) -> None:
    """Open a one-time address, and choose name, username and password."""
    page.goto(address)
    walk.fill(page.get_by_label("Name, as others see it"), name)
    walk.fill(page.get_by_label("Username, to sign in with"), username)
    walk.fill(page.locator("#password"), PASSWORD)
    walk.click(page.get_by_role("button", name="Create account"))


def make_dataset(walk: Walk, page: Page) -> None:
    """Make the dataset from the template for framework documentation."""
    walk.click(page.get_by_text("Framework documentation (Nablarch)"))
    walk.fill(page.get_by_label("Name", exact=True), DATASET)
    walk.click(page.get_by_role("button", name="Create dataset"))
    page.get_by_role("heading", name="Queries and documents", level=1).wait_for()


def import_files(walk: Walk, page: Page, *paths: Path) -> None:
    """Upload, and import each file that was recognised."""
    expect(page.locator("input[type=file]")).to_have_count(
        1, timeout=60_000
    )  # the other kind of choice may still be there
    walk.upload(page, *paths)
    for path in paths:
        button = page.get_by_role("button", name=re.compile(r"^Import .* records?$"))
        button.wait_for()
        page.get_by_role("heading", name=re.compile("^" + re.escape(path.name))).wait_for()
        walk.click(button)
        page.get_by_text(re.compile(re.escape(path.name) + " is imported")).wait_for()


def open_by_sidebar(walk: Walk, page: Page, name: str) -> None:
    """Go to a page."""
    link = page.locator("[data-testid=stSidebar]").get_by_role("link", name=name).first
    opener = page.get_by_role("button", name="Open the sidebar")
    link.or_(opener).first.wait_for()
    if opener.count() and opener.is_visible():  # closed while somebody decides
        walk.click(opener)
    walk.click(link)
    page.get_by_role("heading", name=name, level=1).wait_for()


def invite(walk: Walk, page: Page) -> list[str]:
    """Make an invitation for each annotator, and return their links."""
    open_by_sidebar(walk, page, "People")
    walk.click(page.get_by_role("button", name="Invite a person"))
    links: list[str] = []
    for name, _username in PEOPLE:
        dialog = page.get_by_role("dialog")
        walk.fill(dialog.get_by_label("For whom"), name)
        walk.click(dialog.get_by_role("button", name="Make the link"))
        links.append(wait_for_link(page, links))
    walk.press(page, "Escape")
    return links


def wait_for_link(page: Page, before: list[str]) -> str:
    """Return the link that the dialog shows, when it is a new one."""
    for _ in range(600):
        values: list[str] = (
            page.get_by_role("dialog").locator("input").evaluate_all("all => all.map(x => x.value)")
        )
        new = [value for value in values if "/join#" in value and value not in before]
        if new:
            return new[0]
        sleep(0.1)
    sys.exit("no link was shown")


def label(walk: Walk, page: Page, pairs: int, draw: random.Random) -> None:
    """Judge pairs by key: mostly grade 2, so that some pairs end in disagreement and others not."""
    panel = page.locator("[data-pair-id]").first
    for _ in range(pairs):
        before = panel.get_attribute("data-pair-id")
        key = str(draw.randrange(4)) if draw.random() < 0.35 else "2"
        while panel.get_attribute("data-pair-id") == before:
            walk.press(page, key)
            sleep(0.15)
    page.locator("[data-unsaved='0']").first.wait_for()


def decide(walk: Walk, page: Page) -> None:
    """Decide every disagreement for grade 2, as a simple mistake, with a rationale."""
    open_by_sidebar(walk, page, "Disagreements")
    begin = page.get_by_text("Decide next pair")
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for()
    if not begin.count():
        return
    walk.click(begin)
    panel = page.locator("[data-pair-id]")
    page.locator("[data-pair-id]:not([data-pair-id=''])").first.wait_for()
    while before := panel.first.get_attribute("data-pair-id"):
        for key in ("2", "s", "n"):
            walk.press(page, key)
        page.keyboard.type("Names the class and shows how to use it.")
        walk.fields += 1
        for key in ("Escape", "Enter"):
            walk.press(page, key)
        for _ in range(300):
            if panel.first.get_attribute("data-pair-id") != before:
                break
            sleep(0.1)
    page.get_by_text("All saved").first.wait_for()


def publish(walk: Walk, page: Page) -> None:
    """Publish, with a reason for every gate that is not met."""
    open_by_sidebar(walk, page, "Releases")
    walk.fill(page.get_by_label("Version", exact=True), VERSION)
    reasons = page.get_by_role("textbox", name=re.compile("^Override reason"))
    for index in range(reasons.count()):
        walk.fill(reasons.nth(index), "First trial of the whole line.")
    walk.click(page.get_by_role("button", name=re.compile("^Publish")).last)
    page.get_by_text(f"Version {VERSION} published").wait_for()


def open_tab(browser: Browser) -> Page:
    """Return the first tab of a new person."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(WAIT_MS)
    return page


@contextmanager
def serve_empty(folder: Path) -> Iterator[str]:
    """Run `annotator serve` on a new database, and yield the address that it prints for the first admin."""
    port = find_free_port()
    command = [
        sys.executable,
        "-c",
        "from annotator.cli.main import run; run()",
        "serve",
        "--port",
        str(port),
    ]
    log = folder / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(command, cwd=folder, stdout=written, stderr=written)
    try:
        wait_for_server(port)
        yield re.findall(r"http://\S+/setup#\S+", log.read_text(encoding="utf-8"))[-1]
    finally:
        server.terminate()
        server.wait(30)


def write_queries(folder: Path, most: int) -> Path:
    """Write the first of the 50 Nablarch queries."""
    text = QUERIES.read_text(encoding="utf-8")
    path = folder / "queries.yaml"
    entries = re.split(r"(?m)^(?=  - )", text)
    kept = "".join(entries[: 1 + most])
    kept = re.sub(r"total_queries: \d+", f"total_queries: {len(entries[1 : 1 + most])}", kept)
    path.write_text(kept, encoding="utf-8")
    return path


def write_documents(folder: Path, queries: Path) -> Path:
    """Write made-up texts from the words of the queries, a few for each."""
    documents = folder / "documents"
    documents.mkdir()
    asked = re.findall(r'(?m)^\s+(?:query|text): *"?(.+?)"?$', queries.read_text(encoding="utf-8"))
    for number, query in enumerate(asked):
        for part in range(3):
            title = f"{query} ({part + 1})"
            words = f"{query} の説明。" * (part + 1)
            path = documents / f"{number:02d}-{part}.md"
            path.write_text(f"# {title}\n\n{words}\n", encoding="utf-8")
    return documents


def write_runs(folder: Path) -> list[Path]:
    """Write the pool's documents as two systems would rank them: in the order of the pool, and at random."""
    database, draw = Database(f"sqlite:///{folder / 'annotator.db'}"), random.Random(7)
    by_query: dict[str, list[str]] = {}
    for pair in list_pairs(database, OPERATOR, DATASET):
        by_query.setdefault(pair.query_id, []).append(pair.doc_id)
    database.dispose()
    paths = []
    for system in SYSTEMS:
        lines = []
        for query_id, doc_ids in by_query.items():
            ranked = doc_ids if system == SYSTEMS[0] else draw.sample(doc_ids, len(doc_ids))
            lines += [
                f"{query_id} Q0 {doc_id} {rank} {100 - rank} {system}"
                for rank, doc_id in enumerate(ranked, 1)
            ]
        paths.append(folder / f"{system}.txt")
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


if __name__ == "__main__":
    main()
