"""The server's memory while files are uploaded: by an annotator, whose pages ask for none, and by a lead, up to the limit of a person.

    .venv/bin/python -m benchmarks.upload_memory [--sessions 20] [--megabytes 4] [--at-once 4]

An annotator sends 12 files of 45 MB. Then that many tabs of a lead in Chromium open the field for a meeting's file, and each
is sent two files: once the server holds 139 MB of that person, it refuses the rest. Then half of the tabs go to another page, which frees
theirs at once, and all are closed; what the others held is freed 90 to 105 seconds later. All of it twice: the second time shows what stayed behind. Exits with 1 if a file
of the annotator was taken, more was held than the limit, or more than 100 MB stayed behind.
"""

import argparse
import contextlib
import http.client
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

from playwright.sync_api import Browser, Page, Request

from annotator.storage.database import Database
from annotator.web.server.uploads import KEPT_SECONDS, MOST_BYTES_OF_A_PERSON, SWEEP_SECONDS
from annotator.web.session import COOKIE
from benchmarks.disagreements_load import LEADS, PEOPLE, fill
from benchmarks.labeling_load import DATASET, serve
from benchmarks.press_to_paint import open_page

SMALL = "--sessions 1 --megabytes 1 --times 1 --leave"  # what the tests start it with
MB = 1024 * 1024
LEAD, ANNOTATOR = f"token{PEOPLE - LEADS}", "token0"
MOST_LEFT = 100.0  # MB


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory of a server that is sent files.")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--megabytes", type=int, default=4, help="of a file of a lead")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument(
        "--leave", action="store_true", help="no tab is closed, so that nothing is waited for"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as name:
        database = Database(f"sqlite:///{Path(name) / 'annotator.db'}")
        fill(database, queries=20)
        with serve(database, Path(name)) as (port, pid), open_page() as page:
            wrong = measure(page, port, pid, chosen)
        database.dispose()
    sys.exit(1 if wrong else 0)


def measure(page: Page, port: int, pid: int, chosen: argparse.Namespace) -> bool:
    """Print the memory at each step; whether something went wrong."""
    browser = page.context.browser
    assert browser is not None
    open_tab(browser, port)[0].close()  # what the first page of all imports is not counted
    before = read_memory(pid)
    print(f"before: {before:.0f} MB", flush=True)
    xsrf = open_xsrf(port)
    with watch_memory(pid) as most:
        answers = Counter(put(port, ANNOTATOR, xsrf, f"none/{n}", 45 * MB) for n in range(12))
    print(f"annotator, 12 files of 45 MB: {dict(answers)}; at most {most[0]:.0f}, then {read_memory(pid):.0f} MB", flush=True)  # fmt: skip
    wrong = set(answers) - {403, 413} != set()
    for _ in range(chosen.times):
        tabs = [open_tab(browser, port) for _ in range(chosen.sessions)]
        addresses = [f"{session}/{n}" for _, session, _ in tabs for n in range(2)]
        with watch_memory(pid) as most, ThreadPoolExecutor(chosen.at_once) as pool:
            size, xsrf = chosen.megabytes * MB, tabs[0][2]
            sending = [pool.submit(put, port, LEAD, xsrf, there, size) for there in addresses]
            answers = Counter(future.result() for future in sending)
        held = answers[204] * chosen.megabytes * MB
        print(f"{chosen.sessions} tabs of a lead, {len(addresses)} files of {chosen.megabytes} MB: {dict(answers)}; "
              f"at most {most[0]:.0f}, then {read_memory(pid):.0f} MB, of which files {held / MB:.0f}", flush=True)  # fmt: skip
        for number, (tab, _, _) in enumerate(tabs):
            if number % 2 == 0 or chosen.leave:
                tab.get_by_role("link", name="Help").click()
                tab.get_by_role("heading", name="Help", exact=True).wait_for()
        time.sleep(1)
        print(f"    half of the tabs on another page: {read_memory(pid):.0f} MB", flush=True)
        for tab, _, _ in tabs:
            tab.close()
        if not chosen.leave:
            time.sleep(KEPT_SECONDS + 2 * SWEEP_SECONDS)
        left = read_memory(pid) - before
        print(f"    all closed and freed: {read_memory(pid):.0f} MB ({left:+.0f})", flush=True)
        wrong = wrong or left > MOST_LEFT or held > MOST_BYTES_OF_A_PERSON
    return wrong


def open_tab(browser: Browser, port: int) -> tuple[Page, str, str]:
    """A tab of a lead whose page asks for a file; its session and the token against forged requests."""
    address, sent = f"http://127.0.0.1:{port}", list[Request]()
    tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    tab.context.add_cookies([{"name": COOKIE, "value": LEAD, "url": address}])
    tab.on("request", lambda request: sent.append(request) if request.method == "PUT" else None)
    tab.goto(f"{address}/disagreements?dataset={DATASET}")
    tab.get_by_role("tab", name="Meeting file").click()
    tab.locator("input[type=file]").set_input_files(
        {"name": "none.csv", "mimeType": "text/csv", "buffer": b"query_id,doc_id,grade,rationale\n"}
    )
    tab.get_by_text("The file contains no decisions.").wait_for()
    return tab, sent[0].url.split("/")[-2], sent[0].headers["x-xsrftoken"]


def open_xsrf(port: int) -> str:
    """The token against forged requests that Streamlit gives an annotator."""
    browser = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    browser.request("GET", "/_stcore/health", headers={"Cookie": f"{COOKIE}={ANNOTATOR}"})
    cookies = browser.getresponse().getheader("Set-Cookie") or ""
    browser.close()
    return cookies.partition("_streamlit_xsrf=")[2].partition(";")[0]


def put(port: int, token: str, xsrf: str, there: str, size: int) -> int:
    """The answer's status; it may come before everything was sent."""
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    browser = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    browser.putrequest("PUT", f"/_stcore/upload_file/{there}")
    browser.putheader("Cookie", f"{COOKIE}={token}; _streamlit_xsrf={xsrf}")
    browser.putheader("X-Xsrftoken", xsrf)
    browser.putheader("Origin", f"http://127.0.0.1:{port}")
    browser.putheader("Content-Type", "multipart/form-data; boundary=x")
    browser.putheader("Content-Length", str(len(head) + size + len(b"\r\n--x--\r\n")))
    browser.endheaders(head)
    with contextlib.suppress(OSError):  # refused already
        for _ in range(size // MB):
            browser.send(b"x" * MB)
        browser.send(b"\r\n--x--\r\n")
    try:
        return browser.getresponse().status
    finally:
        browser.close()


@contextlib.contextmanager
def watch_memory(pid: int) -> Iterator[list[float]]:
    """The most that the process had inside, in a list of one."""
    most, ended = [read_memory(pid)], Event()

    def look() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], read_memory(pid))

    thread = Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


def read_memory(pid: int) -> float:
    """The memory of a process now, in MB (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
