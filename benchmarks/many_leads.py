"""20 leads deciding at once through the real HTTP route: decisions per second, and what the database says afterwards.

    .venv/bin/python -m benchmarks.many_leads [--leads 20] [--seconds 20] [--queue 50000] [--kind sqlite postgresql]

A real server; each lead keeps 3 disagreements ahead and decides one per request without a pause, which no person can. One decision in
ten is a collision: another lead decides the same pair on the same state at the same moment, and one of the two must be refused.
Afterwards the database is asked: every decision that was acknowledged is there once and as it was sent, none was refused but the
injected ones, and each pair has as many revisions as were acknowledged. Exits with 1 unless all of that holds.
"""

import argparse
import http.client
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from benchmarks.labeling_load import DATASET, fill, open_database, read_cpu, serve, show

SMALL = "--leads 2 --seconds 4 --queue 100 --kind sqlite"  # what the tests start it with
DEPTH, JUDGES, ANNOTATORS = 50, 2, 20
COLLIDE = 10
"""One decision in so many is posted by a second lead as well."""
AHEAD = 3


@dataclass(slots=True)
class Lead:
    """A signed-in browser with the decision panel."""

    port: int
    number: int
    held: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    stored: list[tuple[str, str, int]] = field(default_factory=list)
    refused: int = 0
    injected: int = 0
    errors: list[str] = field(default_factory=list)

    def decide(self, disagreement: dict[str, Any], *, want: int) -> bool:
        """Post a decision on the disagreement as it was seen; return whether it was stored."""
        grade = self.number % 4
        rationale = str(uuid4())
        body = {
            "dataset": DATASET, "tab": str(self.number), "pair": disagreement["pair"], "seen": disagreement["seen"], "decided": grade,
            "rationale": rationale, "cause": "slip", "in_guideline": False, "seconds": 3.0, "filter": {},
            "have": [waiting["pair"] for waiting in self.held], "want": want,
        }  # fmt: skip
        start = time.perf_counter()
        status, response = self._send("POST", "/api/decisions", json.dumps(body))
        self.seconds.append(time.perf_counter() - start)
        if status == 409 and response.get("code") == "changed":
            self.refused += 1
            return False
        if status != 200:
            self.errors.append(f"{status} {str(response)[:200]}")
            return False
        self.stored.append((disagreement["pair"], rationale, grade))
        self.held += response["cases"]
        return True

    def fill_up(self) -> None:
        """Get what is missing."""
        have = ",".join(waiting["pair"] for waiting in self.held)
        want = AHEAD - len(self.held)
        path = f"/api/cases?dataset={DATASET}&tab={self.number}&want={want}&have={have}"
        status, response = self._send("GET", path, None)
        if status == 200:
            self.held += response["cases"]
        else:
            self.errors.append(f"{status} {str(response)[:200]}")

    def _send(self, method: str, path: str, body: str | None) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {
            "Sec-Fetch-Site": "same-origin",
            "Cookie": f"annotator_session=token{ANNOTATORS + self.number}",
            "Content-Type": "application/json",
        }
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        response: dict[str, Any] = json.loads(answer.read())
        connection.close()
        return answer.status, response


def main() -> None:
    """Measure, print, and check."""
    parser = argparse.ArgumentParser(description="Many leads at once.")
    parser.add_argument("--leads", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--queue", type=int, default=50_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    print(
        f"{'':<22} {'decided/s':>9} {'median ms':>9} {'p95 ms':>8} {'longest':>8} {'CPU ms':>7} {'lost':>5} {'over':>5}"
        f" {'refused':>8} {'injected':>8} {'errors':>6}"
    )
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            wrong += measure(kind, Path(folder) / kind, chosen.leads, chosen.queue, chosen.seconds)
    sys.exit(1 if wrong else 0)


def measure(kind: str, folder: Path, leads: int, queue: int, seconds: float) -> int:
    """How much went wrong."""
    with open_database(kind, folder) as (database, _there):
        disagreements = make_disagreements(database, queue, leads)
        with serve(database, folder.parent) as (port, pid):
            everybody = [Lead(port, number) for number in range(leads)]
            start, before = time.perf_counter(), read_cpu(pid)
            until = start + seconds
            threads = [Thread(target=work, args=(lead, everybody, until)) for lead in everybody]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            passed, cpu = time.perf_counter() - start, read_cpu(pid) - before
        lost, over = check(database, everybody)
        requests = sum(len(lead.seconds) for lead in everybody)
        stored, refused, injected, errors = (
            sum(len(lead.stored) for lead in everybody), sum(lead.refused for lead in everybody),
            sum(lead.injected for lead in everybody), [error for lead in everybody for error in lead.errors],
        )  # fmt: skip
        times = [value for lead in everybody for value in lead.seconds]
        print(
            f"{f'{kind}, {disagreements:,} open':<22} {stored / passed:>9.1f}  {show(times)} {cpu / requests * 1000:>7.1f}"
            f" {lost:>5} {over:>5} {refused:>8} {injected:>8} {len(errors):>6}", *errors[:1], flush=True,
        )  # fmt: skip
        database.dispose()
    return lost + over + len(errors) + abs(refused - injected)


def make_disagreements(database: Database, queue: int, leads: int) -> int:
    """A dataset in which about `queue` pairs are disputed, and as many leads; how many there are."""
    pairs = queue * 4 // 3  # of two drawn grades three couples in four differ
    queries = -(-pairs // DEPTH)
    fill(database, queries=queries, depth=DEPTH, judged_by=JUDGES, overlap=JUDGES, people=ANNOTATORS + leads)
    with database.write() as session:
        session.execute(
            text("UPDATE membership SET role = 'lead' WHERE person_pk > :n AND role = 'annotator'"),
            {"n": ANNOTATORS},
        )
        derive_disagreements(session, key_of(find_dataset(session, DATASET).pk))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    with database.read() as session:
        return int(session.execute(text("SELECT count(*) FROM dispute WHERE open")).scalar_one())


def work(lead: Lead, everybody: list[Lead], until: float) -> None:
    """Decide, be given the next; now and then another lead decides the same at the same moment."""
    other = everybody[(lead.number + 1) % len(everybody)]
    drawn = random.Random(lead.number)
    lead.fill_up()
    while time.perf_counter() < until and lead.held:
        disagreement = lead.held.pop(0)
        if drawn.randrange(COLLIDE):
            lead.decide(disagreement, want=AHEAD - len(lead.held))
        else:
            lead.injected += 1
            second = Thread(target=other.decide, args=(disagreement,), kwargs={"want": 0})
            second.start()
            lead.decide(disagreement, want=AHEAD - len(lead.held))
            second.join()
        if len(lead.held) < 2:
            lead.fill_up()


def check(database: Database, everybody: list[Lead]) -> tuple[int, int]:
    """How many acknowledged decisions are not there as they were sent, and how many pairs were decided more than once."""
    sent = [decision for lead in everybody for decision in lead.stored]
    with database.read() as session:
        rows = session.execute(
            text(
                "SELECT p.key, a.rationale, a.grade, c.grade FROM adjudication a JOIN pair p ON p.pk = a.pair_pk "
                "JOIN current_adjudication c ON c.adjudication_pk = a.pk"
            )
        ).all()
        everything = session.execute(text("SELECT count(*) FROM adjudication")).scalar_one()
        recorded = session.execute(
            text("SELECT count(*) FROM audit_event WHERE action = 'decided'")
        ).scalar_one()
    kept = {(key, rationale, grade) for key, rationale, grade, holds in rows if grade == holds}
    lost = (
        sum(decision not in kept for decision in sent)
        + abs(len(sent) - everything)
        + abs(recorded - everything)
    )
    return lost, everything - len({key for key, *_ in rows})


if __name__ == "__main__":
    main()
