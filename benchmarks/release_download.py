"""Downloads a release of a million qrels from a server of its own, one file and the zip, and prints seconds and memory.

    .venv/bin/python -m benchmarks.release_download [--qrels 1000000] [--seed 0]

Seconds to the first byte (every byte that is sent was hashed before it), seconds in all, and the growth of the server's
peak memory. The release is a real one of 10,000 qrels (`benchmarks.release.fill`), each of whose data files is then
repeated until it has the size of the wanted one, with checksums and manifest made anew and recorded as published.
"""

import argparse
import hashlib
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.releases.writing.files import MANIFEST, SUMS, write_json
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset
from annotator.storage.tables.releases import ReleaseRow
from benchmarks.release import NOW, fill

SMALL = "--qrels 500"  # what the tests start it with
PASSWORD = "correct horse battery"
REAL = 10_000
REPEATED = (".csv", ".json", ".jsonl", ".tsv", ".txt", ".yaml")
PIECE = 1 << 20
GROWN = "2.0.0"


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds and memory of downloading a release.")
    parser.add_argument("--qrels", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        exports = Path(folder) / "exports"
        url = f"sqlite:///{folder}/annotator.db"
        path = make_release(url, exports, chosen.qrels, random.Random(chosen.seed))
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"{chosen.qrels:,} qrels, {size / 1e6:,.0f} MB in {path}", flush=True)
        port = find_port()
        server = subprocess.Popen(
            [str(Path(sys.executable).parent / "annotator"), "serve", "--port", str(port)],
            env={**os.environ, "ANNOTATOR_DATABASE_URL": url, "ANNOTATOR_EXPORTS_DIR": str(exports)},
            stderr=subprocess.DEVNULL,
        )
        try:
            browser = sign_in(port)
            measure(
                browser, port, server.pid, "CHANGES.md"
            )  # so that what is imported at first is not counted
            print(f"{'file':>16} {'MB':>7} {'first byte s':>12} {'all s':>7} {'peak memory MB':>15}")
            for file in ("qrels.trec.txt", "law.json", None):
                size, first, seconds, memory = measure(browser, port, server.pid, file)
                print(
                    f"{file or 'zip':>16} {size / 1e6:>7,.0f} {first:>12.3f} {seconds:>7.1f} {'+' + format(memory, ',.1f'):>15}",
                    flush=True,
                )
        finally:
            server.terminate()
            server.wait()


def make_release(url: str, exports: Path, qrels: int, drawn: random.Random) -> Path:
    """The folder of a published release of about so many qrels."""
    fill(url, "bench", min(qrels, REAL), drawn)
    database = Database(url)
    add_person(database, OPERATOR, "downloads", role="lead", dataset="bench", password=PASSWORD, now=NOW)
    with database.read() as session:
        lead = find_actor(session, "downloads")
    gates = check_release(database, lead, "bench").gates
    made = publish_release(
        database, lead, "bench", "1.0.0", exports_dir=exports, now=NOW,
        overrides={gate.name: "benchmark" for gate in gates if not gate.met},
    )  # fmt: skip
    grown = exports / "bench" / GROWN
    grow(database, made.path, grown, max(1, qrels // REAL))
    database.dispose()
    return grown


def grow(database: Database, source: Path, target: Path, times: int) -> None:
    """A copy of the release whose data files are repeated so many times, recorded as published."""
    with database.write() as session:
        row = session.scalars(select(ReleaseRow).where(col(ReleaseRow.version) == source.name)).one()
        manifest: dict[str, Any] = {**row.manifest, "version": target.name, "files": []}
        sums: dict[str, str] = {}
        for entry in row.manifest["files"]:
            data = (source / entry["path"]).read_bytes()
            repeats = times if Path(entry["path"]).suffix in REPEATED else 1
            path = target / entry["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with path.open("wb") as file:
                for _ in range(repeats):
                    file.write(data)
                    digest.update(data)
            sums[entry["path"]] = digest.hexdigest()
            manifest["files"].append(
                {"path": entry["path"], "sha256": digest.hexdigest(), "bytes": len(data) * repeats}
            )
        written = write_json(manifest).encode()
        (target / MANIFEST).write_bytes(written)
        sums[MANIFEST] = hashlib.sha256(written).hexdigest()
        text = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(sums.items()))
        (target / SUMS).write_text(text, encoding="utf-8")
        session.add(
            ReleaseRow.model_validate(
                {
                    "dataset_pk": find_dataset(session, "bench").pk, "version": target.name,
                    "published_by": row.published_by, "created_at": row.created_at, "note": "",
                    "content_sha256": row.content_sha256, "sums": text, "manifest": manifest,
                }
            )
        )  # fmt: skip


def measure(
    browser: urllib.request.OpenerDirector, port: int, pid: int, file: str | None
) -> tuple[int, float, float, float]:
    """Bytes, seconds to the first one, seconds in all, and by how many MB the server's peak memory grew."""
    parameters = {"dataset": "bench", "version": GROWN, **({} if file is None else {"file": file})}
    before, start = read_peak(pid), time.perf_counter()
    address = f"http://127.0.0.1:{port}/api/release?{urllib.parse.urlencode(parameters)}"
    request = urllib.request.Request(address, headers={"Sec-Fetch-Site": "same-origin"})
    with browser.open(request) as answer:
        size = len(answer.read(1))
        first = time.perf_counter() - start
        while piece := answer.read(PIECE):
            size += len(piece)
    return size, first, time.perf_counter() - start, read_peak(pid) - before


def read_peak(pid: int) -> float:
    """The peak memory of a process so far, in MB (Linux only; 0 elsewhere)."""
    path = Path(f"/proc/{pid}/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def sign_in(port: int) -> urllib.request.OpenerDirector:
    """A browser with a lead's cookie, once the server answers."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    for _ in range(120):
        try:
            browser.open(f"http://127.0.0.1:{port}/healthz").close()
            break
        except OSError:
            time.sleep(0.5)
    form = urllib.parse.urlencode({"username": "downloads", "password": PASSWORD}).encode()
    headers = {"Origin": f"http://127.0.0.1:{port}"}
    browser.open(urllib.request.Request(f"http://127.0.0.1:{port}/login", form, headers)).close()
    return browser


def find_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
