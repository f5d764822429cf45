"""Searching 100,000 documents as one types, through the HTTP route of a real `annotator serve` over SQLite.

    .venv/bin/python -m benchmarks.search_as_you_type [--documents 100000] [--searches 60] [--seed 0]

The documents are made with a seed: some 500 characters each of 14,000 Japanese and English words whose frequencies fall
as in real text. Each search is a few words, typed character by character from the second on; every key press is one
request, on one kept connection, with its snippets and the state of each document. The aim is a 95th percentile of at
most 100 ms. Also printed: how long the search takes to be prepared after the first request, and the server's memory.
"""

import argparse
import http.client
import json
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from benchmarks.press_to_paint import PASSWORD, find_free_port, start_server

SMALL = "--documents 300 --searches 1"  # what the tests start it with
KANJI = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 900))
KANA = "".join(chr(code) for code in (*range(0x3041, 0x3094), *range(0x30A1, 0x30F4)))
LATIN = "etaoinshrdlucmfwypvbgk"


def main() -> None:
    """Make the documents, serve them, and type."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    words, weights = make_words(draw)
    with tempfile.TemporaryDirectory() as name:
        database = make_documents(Path(name), draw, words, weights, number=options.documents)
        port = find_free_port()
        server = start_server(Path(name), database, port)
        try:
            connection, cookie = sign_in(port)
            seconds = prepare(connection, cookie)
            before = read_memory(server.pid)
            typed = [
                " ".join(draw.choices(words, weights, k=draw.randint(1, 5))) for _ in range(options.searches)
            ]
            report(type_all(connection, cookie, typed), seconds, before, documents=options.documents)
        finally:
            server.terminate()
            server.wait()


def make_words(draw: random.Random) -> tuple[list[str], list[float]]:
    """Words, and how often each comes."""
    words = ["".join(draw.choices(KANJI + KANA * 4, k=draw.randint(1, 5))) for _ in range(8_000)]
    words += ["".join(draw.choices(LATIN, k=draw.randint(3, 9))) for _ in range(6_000)]
    draw.shuffle(words)
    return words, [1 / (rank + 10) for rank in range(len(words))]


def make_documents(
    folder: Path, draw: random.Random, words: list[str], weights: list[float], *, number: int
) -> Database:
    """A dataset of so many documents, with one query, some pairs of it and one annotator."""
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        for index in range(number):
            drawn = draw.choices(words, weights, k=94)
            row = {"doc_id": f"doc/{index:07}", "title": " ".join(drawn[:4]), "text": " ".join(drawn[4:])}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    (folder / "queries.csv").write_text("query_id,text\nQ1,query\n", encoding="utf-8")
    pairs = "".join(f"Q1,doc/{index:07}\n" for index in range(0, number, 100))
    (folder / "pairs.csv").write_text(f"query_id,doc_id\n{pairs}", encoding="utf-8")
    database, now = Database(f"sqlite:///{folder / 'annotator.db'}"), datetime.now(UTC)
    upgrade_schema(database)
    create_dataset(database, OPERATOR, "big", now=now)
    import_queries(database, OPERATOR, "big", folder / "queries.csv", now=now)
    import_documents(database, OPERATOR, "big", folder / "documents.jsonl", now=now)
    import_pairs(database, OPERATOR, "big", folder / "pairs.csv", now=now)
    add_person(database, OPERATOR, "ann", role="annotator", dataset="big", password=PASSWORD, now=now)
    return database


def sign_in(port: int) -> tuple[http.client.HTTPConnection, str]:
    """A connection, and the session's cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = urlencode({"username": "ann", "password": PASSWORD})
    connection.request("POST", "/login", body, {"Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    answer.read()
    return connection, (answer.headers["set-cookie"] or "").split(";")[0]


def search(connection: http.client.HTTPConnection, cookie: str, typed: str) -> dict[str, object]:
    """One request of the dialog."""
    parameters = urlencode({"dataset": "big", "query": "Q1", "q": typed})
    connection.request(
        "GET", f"/api/search?{parameters}", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
    )
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"{answer.status}: {body!r}")
    found: dict[str, object] = json.loads(body)
    return found


def prepare(connection: http.client.HTTPConnection, cookie: str) -> float:
    """Seconds until the search is ready after somebody first asked for it."""
    began = time.perf_counter()
    while search(connection, cookie, "")["preparing"] is not None:
        time.sleep(0.2)
    return time.perf_counter() - began


def type_all(connection: http.client.HTTPConnection, cookie: str, searches: list[str]) -> list[float]:
    """Milliseconds of each key press."""
    times = []
    for words in searches:
        for end in range(2, len(words) + 1):
            began = time.perf_counter()
            search(connection, cookie, words[:end])
            times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


def read_memory(pid: int) -> int:
    """The server's resident memory in megabytes; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1000 for line in lines if line.startswith("VmRSS")), 0)


def report(times: list[float], seconds: float, memory: int, *, documents: int) -> None:
    """Print the figures; exit with 1 when the aim is missed."""
    p95 = times[int(len(times) * 0.95) - 1]
    print(
        f"{documents:,} documents, {len(times):,} key presses; prepared in {seconds:.1f} s, server {memory} MB"
    )
    print(
        f"key press to answer: median {statistics.median(times):.1f} ms, p95 {p95:.1f} ms, max {times[-1]:.1f} ms"
    )
    sys.exit(0 if p95 <= 100 else 1)


if __name__ == "__main__":
    main()
