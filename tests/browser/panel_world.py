"""What the panel's tests share: a pool to label, presses with what was on the screen, and what was stored."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, JudgmentRow, QueryRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUERIES = (
    "RESTful Webサービスのハンドラキュー構成",
    "토지거래허가구역의 지정 기간",
    "nablarch.fw.handler.RetryHandler usage",
)

# Notes every key press together with the pair on the screen at that moment, before the panel hears of it.
WATCH = """
window.pressed = [];
window.panel = () => [...document.querySelectorAll('*')].map((e) => e.shadowRoot?.querySelector('.panel')).find(Boolean);
window.addEventListener('keydown', (e) => window.pressed.push([window.panel()?.dataset.pairId ?? '', e.key]), true);
"""


def fill_pool(
    database: Database, *, documents: int = 30, queries: Sequence[str] = QUERIES, texts: Sequence[str] = ()
) -> None:
    """Give the dataset `demo` some queries, and `documents` pairs for each."""
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        candidates = []
        for number, text in enumerate(queries):
            query = QueryRow(
                dataset_pk=dataset_pk, position=number, query_id=f"Q{number}", text=text, language="ja"
            )
            session.add(query)
            session.flush()
            for index in range(documents):
                document = DocumentRow(
                    dataset_pk=dataset_pk,
                    doc_id=f"guide/{number}/{index}.md",
                    title=f"文書 {number}-{index}",
                    text_sha256="a",
                )
                session.add(document)
                session.flush()
                body = (
                    texts[index % len(texts)]
                    if texts
                    else f"本文 {number}-{index}: {text} について。\n\n두 번째 문단."
                )
                session.add(
                    DocumentTextRow(document_pk=key_of(document.pk), sha256="a", text=body, imported_at=NOW)
                )
                candidates.append(
                    PoolCandidate(
                        key_of(query.pk),
                        query.query_id,
                        key_of(document.pk),
                        document.doc_id,
                        "secret-system",
                        index + 1,
                        0.123,
                    )
                )
        add_candidates(session, dataset_pk, "demo", candidates, now=NOW)


def open_panel(page: Page, address: str | None = None) -> None:
    """Go to the panel (or stay), wait until a pair is on the screen, and close the sheet of the first visit."""
    if address:
        page.goto(address)
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    if page.locator(".sheet .welcome").is_visible():
        page.keyboard.press("Escape")
    if not page.evaluate("() => 'pressed' in window"):
        page.evaluate(WATCH)


def panel(page: Page) -> Any:
    return page.locator(".panel")


def press(page: Page, keys: str, *, pause: int = 50) -> None:
    """Press one key after the other, `pause` milliseconds apart, without looking."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(pause)


def pressed(page: Page) -> list[tuple[str, int]]:
    """The grades pressed so far, each with the pair that was on the screen."""
    return [(pair, int(key)) for pair, key in page.evaluate("() => window.pressed") if pair and key in "0123"]


def wait_saved(page: Page) -> None:
    """Wait until everything pressed has been acknowledged."""
    expect(panel(page)).to_have_attribute("data-unsaved", "0")


def stored(
    database: Database, annotator: str = "hanako", *, history: bool = True
) -> list[tuple[str, int | None]]:
    """What is in the database of one annotator, in the order of pressing."""
    judgments = [
        j for j in list_judgments(database, OPERATOR, "demo", history=history) if j.annotator == annotator
    ]
    with database.read() as session:
        numbers = dict(
            session.execute(select(col(JudgmentRow.event_id), col(JudgmentRow.browser_number))).all()
        )
    # by the browser's own numbers: the times of presses change with the clock, which the panel sets by the server's
    judgments.sort(key=lambda j: numbers[j.event_id] or j.judged_at.timestamp() * 1000)
    return [(j.pair_key, j.grade) for j in judgments]
