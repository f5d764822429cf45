"""The tasks that send requests to a search endpoint: try a spec with one query, and fetch a run.

They run in their own process (`worker.py`), which is killed to stop them. A fetch stores every answer on disk
at once, so the next fetch continues there. The name of the run's folder is a hash of what is fetched; no URL
leads to it. A spec can name only variables SEARCH_… of the server's environment; no code here returns or logs
their values.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.dataset.service import show_search_hosts
from annotator.domain.people import Actor
from annotator.importing.runs.run_plan import check_system
from annotator.importing.search_endpoint.endpoint_records import EndpointSpec, FetchReport
from annotator.importing.search_endpoint.search_endpoint_service import (
    FetchEnvironment,
    UnansweredQueries,
    fetch_run,
)
from annotator.importing.search_endpoint.server_rules import ServerRules, name_host
from annotator.importing.search_endpoint.spec import hash_spec, read_spec
from annotator.storage.database import Database
from annotator.web.importing.words import to_json

SPEC = "specification"
"""The name of the spec in errors: there is no file."""
Progress = Callable[[str], None]
Result = dict[str, Any]


def try_endpoint(request: Mapping[str, Any], report_progress: Progress) -> Result:
    """Send one query, and return what was recognized in the answer. Stores nothing."""
    report = _fetch(request, report_progress, dry_run=True)
    figures = asdict(report)
    tried = {name: figures[name] for name in TRIED}
    return {"tried": {**tried, "results": report.sample_results, "documents": report.sample_documents}}


def fetch_from_endpoint(
    request: Mapping[str, Any], report_progress: Progress, describe_problems: Callable[..., Result]
) -> Result:
    """Fetch the missing answers and import the run. `failed` lists queries without an answer; the file has
    all of them.
    """
    database, actor = _open(request)
    show_search_hosts(database, actor, request["dataset"])  # for leads: nobody else makes a folder
    check_system(request["system"])
    spec = read_spec(request["spec"].encode("utf-8"), SPEC)
    folder = Path(request["runs_dir"]) / name_folder(database, request, spec)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with chdir(folder):
            report = _fetch(request, report_progress, dry_run=False)
    except UnansweredQueries as error:
        told = describe_problems(error.problems, "")
        return {
            "failed": [[query.query_id, to_json(query.reason)] for query in error.failed[:MOST_FAILED]],
            "failed_count": told["problem_count"],
            "answered": error.answered,
            "queries": error.queries,
            "stopped": to_json(error.stopped),
        }
    figures = asdict(report)
    run = report.run
    counts = {} if run is None else {"added": run.added, "changed": run.changed, "unchanged": run.unchanged}
    return {
        "fetched": {name: figures[name] for name in FETCHED} | {"failed": len(report.failed)},
        **counts,
        "read": 0 if run is None else run.read,
        "notes": [] if run is None else to_json(run.notes),
        "stored": True,
    }


TRIED = (
    "host",
    "depth",
    "queries",
    "median_latency_ms",
    "missing_signals",
    "sample",
)
FETCHED = (
    "system",
    "host",
    "queries",
    "fetched",
    "kept",
    "without_results",
    "shorter",
    "median_latency_ms",
    "missing_signals",
)
MOST_FAILED = 2_000


def name_folder(database: Database, request: Mapping[str, Any], spec: EndpointSpec) -> str:
    """Return the name of a run's folder: a hash of everything that its answers depend on."""
    parts = [
        database.url.render_as_string(hide_password=True),
        request["dataset"],
        request["system"],
        name_host(spec.url)[0],
        request["depth"],
        hash_spec(spec),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _fetch(request: Mapping[str, Any], report_progress: Progress, *, dry_run: bool) -> FetchReport:
    database, actor = _open(request)
    return fetch_run(
        database,
        actor,
        request["dataset"],
        read_spec(request["spec"].encode("utf-8"), SPEC),
        system=request["system"],
        depth=request["depth"],
        now=datetime.fromisoformat(request["now"]),
        environment=FetchEnvironment(time.monotonic, time.sleep, os.environ),
        allow_failures=request.get("allow_failures", False),
        order=request["order"],
        duplicates=request["duplicates"],
        dry_run=dry_run,
        rules=ServerRules(tuple(request["hosts"])),
        report_progress=report_progress,
    )


def _open(request: Mapping[str, Any]) -> tuple[Database, Actor]:
    return Database(request["database"]), Actor(request["person_id"], request["username"])
