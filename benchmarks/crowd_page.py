"""What a crowd makes of the pages: 762 annotators, about 80,000 judgments of 20,000 pairs (`crowd.py`), in a real Chromium.

    .venv/bin/python -m benchmarks.crowd_page [--pairs 20000] [--people 762] [--judgments 100000] [--folder DIR] [--pictures DIR]

Printed: the Agreement page from opening its address to the first figures and to the verdict; the size of `agreement --html`, its
seconds and its height; the heights of the pages Agreement, People and Assignment. With --folder the database is used again; with
--pictures each page is kept as a picture, 1280 and 400 wide, light and dark. The aims: first figures 2 s, the verdict
10 s, a report below 1 MB, no page higher than 8,000 px.
"""

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Page

from annotator.agreement.html_report import render_report
from annotator.agreement.report_files import write_file
from annotator.agreement.service import compute_agreement
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from benchmarks.agreement_load import make_lead
from benchmarks.agreement_page import FIRST_FIGURES, VERDICT
from benchmarks.crowd import draw_crowd, fill
from benchmarks.labeling_load import DATASET, open_database, serve
from benchmarks.press_to_paint import open_page

SMALL = "--pairs 400 --people 60 --judgments 1600"  # what the tests start it with
HEIGHT = "Math.max(...[document.documentElement, ...document.querySelectorAll('main, section')].map(one => one.scrollHeight))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The pages of a crowd.")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--people", type=int, default=762)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        folder_path = (chosen.folder or Path(folder)) / f"crowd-{chosen.people}"
        with open_database("sqlite", folder_path) as (database, there):
            if not there:
                fill(
                    database, draw_crowd(pairs=chosen.pairs, people=chosen.people, judgments=chosen.judgments)
                )
                make_lead(database)
            upgrade_schema(database)
            with open_page() as page:
                measure_report(database, page, folder_path / "report.html", chosen.pictures)
                with serve(database, folder_path.parent) as (port, _pid):
                    measure_pages(page, f"http://127.0.0.1:{port}", chosen.pictures)
            database.dispose()


def measure_report(database: Database, page: Page, target: Path, pictures: Path | None) -> None:
    """The report as a file."""
    begun = time.perf_counter()
    report = compute_agreement(database, OPERATOR, DATASET)
    computed = time.perf_counter() - begun
    write_file(target, [render_report(report, made_at=datetime.now(UTC), program="annotator")])
    page.goto(target.absolute().as_uri())
    print(
        f"report: computed in {computed:.1f} s, {target.stat().st_size / 1e6:.2f} MB, {page.evaluate(HEIGHT):,} px high, "
        f"{len(report.measured.annotator_pairs):,} annotator pairs",
        flush=True,
    )
    keep_pictures(page, "report", pictures)


def measure_pages(page: Page, address: str, pictures: Path | None) -> None:
    """The pages, each opened by its address."""
    page.context.add_cookies([{"name": "annotator_session", "value": "token0", "url": address}])
    page.goto(f"{address}/help?dataset={DATASET}")
    page.wait_for_timeout(3000)
    begun = time.perf_counter()
    page.goto(f"{address}/agreement?dataset={DATASET}")
    page.wait_for_selector(FIRST_FIGURES, timeout=120_000)
    first = time.perf_counter() - begun
    page.wait_for_selector(VERDICT, timeout=120_000)
    print(f"Agreement: first figures {first:.2f} s, verdict {time.perf_counter() - begun:.2f} s", flush=True)
    for name in ("agreement", "people", "assignment"):
        page.goto(f"{address}/{name}?dataset={DATASET}")
        page.wait_for_selector("h1", timeout=60_000)
        page.wait_for_timeout(6000)
        print(f"{name}: {page.evaluate(HEIGHT):,} px high", flush=True)
        keep_pictures(page, name, pictures)


def keep_pictures(page: Page, name: str, pictures: Path | None) -> None:
    """The page as it looks, where a folder was named."""
    if pictures is None:
        return
    pictures.mkdir(parents=True, exist_ok=True)
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 2400})
            page.wait_for_timeout(1500)
            page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    main()
