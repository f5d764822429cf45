"""Makes the screenshots of the README from the demo dataset, in a real Chromium: `make screenshots`.

    .venv/bin/python docs/make_screenshots.py [--all FOLDER] [--language ja] [--only NAME,NAME] [--height 2400]

Serves a fresh demo dataset with its simulated judgments, signs in as a lead and as an annotator, and writes
docs/screenshots/*.png. With `--all` it writes every page at 1280 and 400 pixels, light and dark, into FOLDER instead:
for looking at, not for the README. Each picture then shows the page down to its end, and a page that scrolls sideways is
named. Of a path that ends with `&choose` the first qrel is chosen; after `#` stand the keys that are pressed on the
labeling panel. A path may name its dataset: `five` is judged by five annotators, `crowd` by twelve, `empty` holds nothing.
"""

import argparse
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import OPERATOR, Actor
from annotator.evaluation.rankings_service import show_query_rankings
from annotator.labeling.calibration_service import list_checks
from annotator.labeling.questions_service import ask_question
from annotator.labeling.service import submit_judgments
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.quality.service import draw_sample
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import QualityPairRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import LeaseRow

HERE = Path(__file__).parent
ANNOTATOR = (sys.executable, "-c", "from annotator.cli.main import run; run()")
README = (
    ("label", "demo-hana", "/label", 1280, "light"),
    ("label-dark-narrow", "demo-hana", "/label", 400, "dark"),
    ("label-list", "demo-hana", "/label#w", 1280, "light"),
    ("guideline", "demo-sora", "/guideline", 1280, "light"),
    ("assignment", "demo-sora", "/assignment", 1280, "light"),
    ("overview", "demo-sora", "/overview", 1280, "light"),
    ("agreement", "demo-sora", "/agreement", 1280, "light"),
    ("agreement-pairs", "demo-sora", "/agreement?pairs=differing", 1280, "light"),
    ("disagreements", "demo-sora", "/disagreements", 1280, "light"),
    ("pool", "demo-sora", "/pool?tab=Overlap", 1280, "light"),
    ("quality", "demo-sora", "/quality", 1280, "light"),
    ("releases", "demo-sora", "/releases", 1280, "light"),
    ("published", "demo-sora", "/releases?tab=Published&origin=adjudicated&choose", 1280, "light"),
    ("evaluation", "demo-sora", "/evaluation", 1280, "light"),
    ("evaluation-query", "demo-sora", "/evaluation?query=D03", 1280, "light"),
)
PAGES = {
    **{name: f"/{name}" for name in (
        "overview", "label", "work", "guideline", "agreement", "disagreements", "quality", "pool", "assignment",
        "calibration", "releases", "evaluation", "people", "help", "account",
    )},
    "sign-in": "/login",
    **{f"agreement-{tab.split()[-1].lower()}": f"/agreement?tab={tab.replace(' ', '+')}" for tab in (
        "Groups", "Over time", "Guideline versions", "Grades", "All figures", "Excluded",
    )},
    **{f"evaluation-{tab.split()[-1].lower()}": f"/evaluation?by=category&tab={tab.replace(' ', '+')}" for tab in (
        "Differences", "Groups", "Reliability", "Two releases",
    )},
    **{f"pool-{tab.split()[-1].lower()}": f"/pool?tab={tab.replace(' ', '+')}" for tab in (
        "Overlap", "Depth", "Rounds", "New round", "Near duplicates", "Proposals", "Pairs",
    )},
    "evaluation-by-query": "/evaluation?tab=Query+by+query",
    "evaluation-query": "/evaluation?query=D01&document=guide/web/handler-queue.md%23order",
    "agreement-five": "/agreement?dataset=five",
    "agreement-crowd": "/agreement?dataset=crowd",
    "agreement-pairs": "/agreement?pairs=differing",
    "decided": "/disagreements?show=decided",
    "deciding": "/disagreements?pair=next",
    "deciding-error": "/disagreements?pair=next#2⏎",
    "deciding-names": "/disagreements?pair=next#o",
    **{f"empty-{name}": f"/{name}?dataset=empty" for name in (
        "overview", "label", "agreement", "disagreements", "quality", "pool", "assignment", "calibration", "releases",
        "evaluation",
    )},
    "questions": "/questions",
    "read-questions": "/questions",
    "write-guideline": "/guideline?standard=Next+version",
    "versions": "/guideline?standard=Versions",
    "label-help": "/label#?",
    "label-unrateable": "/label#u",
    "label-find": "/label#/",
    "label-list": "/label#w",
    "train": "/label",
    "label-propose": "/label#p",
    "label-ask": "/label#q",
    "read-guideline": "/guideline",
    "read-help": "/help",
    "published": "/releases?tab=Published",
    "trail": "/releases?tab=Published&origin=adjudicated&choose",
    "gates": "/releases?tab=Published&part=Gates",
    "datasheet": "/releases?tab=Published&part=Datasheet",
    "changes": "/releases?tab=Published&part=Changes",
    "files": "/releases?tab=Published&part=Files",
    "compare": "/releases?tab=Compare",
}  # fmt: skip
OF_ANNOTATORS = ("label", "work", "read-")
DECISION = "It answers a part of the question: both annotators are half right."
UNMET = ("disagreements", "overlap", "quality_control")
REASON = "a demo: half of the pairs are left to label"
QUESTION = "このひな形は別の目的のものですが、設問の半分はそのまま使えます。1 と 2 のどちらでしょうか。"
OTHERWISE = "It names the part, but does not say how it is used."
AT_HAND = ("D07", "시행령_제70조")
SCROLLING = "document.scrollingElement, document.querySelector('.stMain')"
TALLEST = 6_000
HEIGHTS = {
    "evaluation": 1_045,
    "evaluation-query": 1_010,
}  # of pictures of the README that need more than 800
SHARED = {"five": 5, "crowd": 12}  # further datasets, and by how many people they are judged
FLAGS = "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"


def main() -> None:
    """Serve the demo, and take the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    parser.add_argument("--language", default="en-US")
    parser.add_argument("--only", default="", metavar="NAME,NAME")
    parser.add_argument("--height", type=int, default=800, metavar="PIXELS")
    asked = parser.parse_args()
    folder, only = asked.all, set(filter(None, asked.only.split(",")))
    chosen = tuple(shot for shot in README if not only or shot[0] in only)
    shots = chosen if folder is None else tuple(list_all(only))
    target = folder or HERE / "screenshots"
    target.mkdir(parents=True, exist_ok=True)
    with serve_demo(more=folder is not None) as (address, passwords), sync_playwright() as playwright:
        names = ("chromium", "google-chrome", "chromium-headless-shell")
        chromium = os.environ.get("ANNOTATOR_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), *sandbox])
        for name, person, path, width, scheme in shots:
            height = asked.height if folder else HEIGHTS.get(name, asked.height)
            with open_page(browser, width, height, scheme, asked.language) as page:
                if path != "/login":
                    sign_in(page, address, person, passwords[person])
                bare, _, keys = path.partition("#")
                page.goto(f"{address}{bare}{add_dataset(bare)}")
                wait_until_drawn(page, bare)
                for key in keys:
                    page.keyboard.press("Enter" if key == "⏎" else key)
                    page.wait_for_timeout(1500)
                    page.wait_for_selector('.panel:not([data-pair-id=""])')
                sideways = fit_height(page, width) if folder else 0
                page.screenshot(path=target / f"{name}.png")
                print(
                    target / f"{name}.png",
                    f"scrolls sideways by {sideways} px" if sideways else "",
                    flush=True,
                )
        browser.close()


def list_all(only: set[str]) -> Iterator[tuple[str, str, str, int, str]]:
    for name, path in PAGES.items():
        if only and name not in only:
            continue
        person = "demo-hana" if name.startswith(OF_ANNOTATORS) else "demo-sora"
        person = "demo-jun" if name == "train" else person
        for width in (1280, 400):
            for scheme in ("light", "dark"):
                yield f"{name}-{width}-{scheme}", person, path, width, scheme


def add_dataset(path: str) -> str:
    """What makes the path one of the demo dataset, unless it names another."""
    return "" if "dataset=" in path else f"{'&' if '?' in path else '?'}dataset=demo"


def fit_height(page: Page, width: int) -> int:
    """Make the window as high as its page; returns by how many pixels the page scrolls sideways."""
    height = page.evaluate(f"Math.max(0, ...[{SCROLLING}].map(e => e?.scrollHeight ?? 0))")
    page.set_viewport_size({"width": width, "height": min(max(int(height), 500), TALLEST)})
    page.wait_for_timeout(800)
    return int(
        page.evaluate(f"Math.max(0, ...[{SCROLLING}].map(e => e ? e.scrollWidth - e.clientWidth : 0))")
    )


@contextmanager
def serve_demo(*, more: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a served demo with simulated judgments, and the passwords it printed. `more`: with the datasets of
    `judge_together` too."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="annotator-screenshots-") as name:
        database = f"sqlite:///{Path(name) / 'annotator.db'}"
        command = [*ANNOTATOR, "demo", "--with-judgments", "--no-browser", "--port", str(port)]
        command += ["--database", database]
        output = Path(name) / "demo.log"
        with output.open("wb") as log:
            server = subprocess.Popen(command, cwd=name, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz")
            printed = output.read_text(encoding="utf-8")
            publish_demo(Path(name), database)
            work_as_hana(database)
            check_quality(database)
            if more:
                judge_together(Path(name), database)
            yield (
                f"http://127.0.0.1:{port}",
                dict(re.findall(r"^(demo-\w+) +(\S+) +(?:annotator|lead)", printed, re.MULTILINE)),
            )
        finally:
            server.terminate()
            server.wait()


def judge_together(folder: Path, database: str) -> None:
    """Datasets judged by five and by twelve people, by whom each pair is judged three times; and one that is empty."""

    def annotator(*words: str) -> None:
        subprocess.run(
            [*ANNOTATOR, *words, "--database", database], cwd=folder, capture_output=True, check=True
        )

    for dataset, people in SHARED.items():
        annotator("dataset", "create", dataset, "--title", f"Judged by {people}", "--overlap", "3")
        queries = [
            {"query_id": f"q{at:02d}", "text": f"Query {at}", "category": f"kind {at % 3}"}
            for at in range(12)
        ]
        judged = [
            {
                "query_id": query["query_id"], "doc_id": f"d{at}-{place}", "annotator": f"expert-{who + 1}",
                "grade": (at + place + (who == 0) * (place % 2) + (place == who)) % 4,
                "judged_at": f"2026-0{1 + (at + place) % 6}-1{place % 9}T08:{place:02d}:{who:02d}Z",
            }
            for at, query in enumerate(queries)
            for place in range(20)
            for who in sorted({(at + place) % people, (at + 2 * place + 1) % people, (3 * place + at + 2) % people})
        ]  # fmt: skip
        for name, rows in (("queries", queries), ("judgments", judged)):
            file = folder / f"{dataset}-{name}.csv"
            with file.open("w", encoding="utf-8", newline="") as opened:
                writer = csv.DictWriter(opened, fieldnames=list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            annotator("import", name, dataset, str(file))
        annotator("people", "set", "demo-sora", "--dataset", dataset, "--role", "lead")
    annotator("dataset", "create", "empty", "--title", "Empty")
    annotator("people", "set", "demo-sora", "--dataset", "empty", "--role", "lead")


def publish_demo(folder: Path, database: str) -> None:
    """Two releases with a decision between them, so that there is something to look up and to compare."""

    def annotator(*words: str) -> str:
        command = [*ANNOTATOR, *words, "--database", database]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout

    def publish(version: str, note: str) -> None:
        overrides = [word for gate in UNMET for word in ("--override", f"{gate}={REASON}")]
        annotator("release", "publish", "demo", version, "--as", "demo-sora", "--note", note, *overrides)

    publish("1.0.0", "The first half of the pool")
    first = json.loads(annotator("disagreements", "demo", "--json"))[0]
    file = folder / "decisions.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        columns = ("query_id", "doc_id", "grade", "rationale")
        csv.writer(opened).writerows([columns, (first["query_id"], first["doc_id"], 2, DECISION)])
    annotator("adjudicate", "demo", str(file), "--as", "demo-sora")
    publish("1.1.0", "With the first disagreement settled")


def work_as_hana(address: str) -> None:
    """Hana has passed training, judged some pairs and asked about one; Jun is still to be trained."""
    database, now = Database(address), datetime.now(UTC)
    with database.read() as session:
        hana = find_actor(session, "demo-hana")
    trained = train(database, hana, now)
    handed = submit_judgments(database, hana, "demo", events=trained, have=[], want=6, now=now).pairs
    judged = [answer(one.pair, place % 4, now) for place, one in enumerate(handed[:5])]
    at_hand = pair_key("demo", *AT_HAND)
    hand_out(database, hana, [at_hand], now)
    judged.append(answer(at_hand, 0, now))  # so that this query is the one at hand
    submit_judgments(database, hana, "demo", events=judged, have=[], want=1, now=now)
    ask_question(
        database, hana, "demo", pair=handed[0].pair, text=QUESTION, event_id=str(uuid.uuid4()), now=now
    )
    database.dispose()


def check_quality(address: str) -> None:
    """Mei, who has judged nothing, is through most of a sample of settled pairs and sees two of them otherwise."""
    database, now = Database(address), datetime.now(UTC)
    add_person(database, OPERATOR, "demo-mei", name="Mei", role="annotator", dataset="demo", now=now)
    with database.read() as session:
        mei, sora = find_actor(session, "demo-mei"), find_actor(session, "demo-sora")
    trained = train(database, mei, now)
    submit_judgments(database, mei, "demo", events=trained, have=[], want=1, now=now)
    draw_sample(database, sora, "demo", annotator="demo-mei", rate=0.5, now=now)
    with database.read() as session:
        drawn = session.execute(
            select(col(PairRow.key), col(QualityPairRow.settled_grade))
            .join(QualityPairRow, col(QualityPairRow.pair_pk) == col(PairRow.pk))
            .order_by(col(PairRow.key))
        ).all()
    hand_out(database, mei, [key for key, _grade in drawn], now)
    seen = [
        {**answer(key, (grade + 2) % 4, now), "note": OTHERWISE}
        if place in (2, 9)
        else answer(key, grade, now)
        for place, (key, grade) in enumerate(drawn[: len(drawn) * 4 // 5])
    ]
    submit_judgments(database, mei, "demo", events=seen, have=[], want=1, now=now)
    for query_id in ("D01", "D03"):  # whose ranked lists are in the pictures
        show_query_rankings(database, sora, "demo", query_id, reveal=True, now=now)
    database.dispose()


def train(database: Database, person: Actor, now: datetime) -> list[dict[str, Any]]:
    """The right answers on the training pairs, which the person has on the screen."""
    checks = [one for one in list_checks(database, OPERATOR, "demo", now=now) if one.kind == "training"]
    hand_out(database, person, [one.pair for one in checks], now)
    return [answer(one.pair, one.grade, now) for one in checks]


def hand_out(database: Database, person: Actor, keys: Collection[str], now: datetime) -> None:
    """Note that these pairs were on the person's screen: only such pairs can be answered."""
    with database.write() as session:
        for pair_pk in session.scalars(select(col(PairRow.pk)).where(col(PairRow.key).in_(keys))):
            session.add(LeaseRow(pair_pk=pair_pk, annotator_pk=person.person_id, expires_at=now, tab=""))


def answer(pair: str, grade: int, now: datetime) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()), "pair": pair, "outcome": "graded", "grade": grade, "seconds": 12 + 5 * grade,
        "pressed_at": now.isoformat(),
    }  # fmt: skip


def wait_for(address: str) -> None:
    for _ in range(6_000):  # five minutes: a busy machine is slow
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    sys.exit("the demo did not start")


@contextmanager
def open_page(browser: Browser, width: int, height: int, scheme: str, language: str) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=language,
        device_scale_factor=1,
    )
    yield context.new_page()
    context.close()


def sign_in(page: Page, address: str, username: str, password: str) -> None:
    page.goto(f"{address}/login")
    page.fill("#username", username)
    page.fill("#password", password)
    page.press("#password", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)


def wait_until_drawn(page: Page, path: str) -> None:
    if path == "/login":
        page.wait_for_selector("#username")
        return
    if path == "/label":
        page.wait_for_selector('.panel:not([data-pair-id=""])')
        page.keyboard.press("Escape")  # closes the sheet of the first visit
        page.wait_for_timeout(1500)  # for the formatted view of the document
    else:
        page.wait_for_selector("h1")
        page.wait_for_selector('[data-testid="stStatusWidget"]', state="detached")
        page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    if path.endswith("&choose"):
        page.locator(".rows").nth(1).locator("tbody button").first.click()
        page.wait_for_selector(".annotator-trail")
        page.set_viewport_size({"width": page.evaluate("innerWidth"), "height": 1100})
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=30_000)  # the charts are drawn
    page.wait_for_timeout(1200)


if __name__ == "__main__":
    main()
