"""Draw the tab "Fetch a run", for leads: the server sends the queries to a search endpoint and imports the
answers.

A spec is tried with one query first; only a tried spec can be fetched. Another process (`endpoint_tasks.py`)
sends the requests, to hosts that both the server's operator and this dataset allow (`server_rules.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from annotator.dataset.service import read_operator_hosts, show_search_hosts
from annotator.domain.errors import ValidationError
from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.importing.runs.run_plan import check_system
from annotator.importing.search_endpoint.server_rules import (
    MOST_DEPTH,
    VARIABLE_PREFIX,
)
from annotator.importing.search_endpoint.spec import MAX_BYTES, TEMPLATES, show_template
from annotator.importing.uploads.import_service import was_imported
from annotator.web.importing.file_jobs import FILE_JOBS, FileJob
from annotator.web.importing.file_upload import POLL_SECONDS, end, find_job, start_task
from annotator.web.importing.result_view import SHOWN_AT_ONCE, draw_changes, draw_problems, list_file_address
from annotator.web.importing.words import show_text
from annotator.web.kit.controls import KeptFields, note_press
from annotator.web.kit.messages import show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import draw_file_link, draw_table
from annotator.web.kit.text import escape_markdown
from annotator.web.page_context import PageContext, require_context

PURPOSE = "fetch"
FIELDS = KeptFields("fetch")
TEMPLATE_NAMES = {
    "opensearch": say("OpenSearch or Elasticsearch"),
    "solr": say("Apache Solr"),
    "qdrant": say("Qdrant (vectors)"),
    "json-api": say("Another system that answers with JSON"),
}
SAME = ("spec", "system", "depth", "order", "duplicates")
"""Values that a try and its fetch must share."""
LONGEST_SIGNAL = 60


def draw(context: PageContext, dataset: str) -> None:
    operator = read_operator_hosts(context.settings.search_hosts)
    allowed = [host for host in context.call(show_search_hosts, dataset) if host in operator]
    if not _draw_hosts(context, operator, allowed):
        return
    job = find_job(context, dataset, PURPOSE)
    request = _draw_form({} if job is None else job.requests.get(job.task, {}))
    if job is not None and job.is_busy:
        st.fragment(_draw_progress, run_every=POLL_SECONDS)(dataset)
        return
    if request is None:
        return
    tried = None if job is None else job.requests.get("try_endpoint")
    is_tried = tried is not None and all(tried[name] == request[name] for name in SAME)
    if job is None or not is_tried:
        _draw_button(
            tr("Try with one query"), "try", dataset, {**request, "task": "try_endpoint"}, primary=True
        )
        return
    if job.task == "fetch":
        _draw_fetched(context, job, request)
    else:
        _draw_tried(job, request)


def _draw_hosts(context: PageContext, operator: Sequence[str], allowed: Sequence[str]) -> bool:
    draw_note(
        tr(
            "The server sends every query of this dataset to a search system and imports the results as a run. The texts of the queries leave this server; documents, grades and names do not."
        )
    )
    if not operator:
        st.info(
            tr(
                "This server may not send requests yet. Its operator allows search systems with the environment variable {name}, such as {example}.",
                name="ANNOTATOR_SEARCH_HOSTS",
                example="search.example.org:9200",
            ),
            icon=":material/lock:",
        )
        return False
    if not allowed:
        st.info(
            tr(
                "This dataset allows no host yet. The operator of the server allows {hosts}; enter those that this dataset needs under "
                "Search hosts in the settings.",
                hosts=", ".join(operator),
            ),
            icon=":material/lock:",
        )
        draw_link(context, "settings")
        return False
    draw_note(tr("Allowed hosts: {hosts}", hosts=", ".join(allowed)))
    return True


def _draw_form(latest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Draw the fields, and return the request; None while a field is invalid.

    `latest`: the request of the latest task, used as initial values after a reload.
    """
    FIELDS.begin("template")
    template, spec = _draw_spec(latest)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        system = FIELDS.ask_text(
            tr("Name of the system"),
            "system",
            latest.get("system", ""),
            max_chars=100,
            width=260,
            help=tr("The run is compared with others under this name."),
        )
        depth = FIELDS.ask_number(tr("Results per query"), "depth", latest.get("depth", 20), 1, MOST_DEPTH)
    with st.expander(tr("More options")):
        by_rank = FIELDS.ask_flag(
            tr("Order by the ranks in the answers, not by score"),
            "rank",
            default=latest.get("order") == "rank",
        )
        first = FIELDS.ask_flag(
            tr("If a query lists a document twice, keep the better rank"),
            "first",
            default=latest.get("duplicates") == "first",
        )
    if not system:
        draw_note(tr("Give the system a name, then try the specification with one query."))
        return None
    try:
        check_system(system)
    except ValidationError as error:
        st.error(escape_markdown(show_refusal(error)), icon=":material/block:")
        return None
    return {
        "template": template,
        "spec": spec,
        "system": system,
        "depth": int(depth),
        "order": "rank" if by_rank else "score",
        "duplicates": "first" if first else "refuse",
    }


def _draw_spec(latest: Mapping[str, Any]) -> tuple[str, str]:
    template = (
        FIELDS.choose(
            tr("Search system"),
            TEMPLATES,
            "template",
            TEMPLATES.index(latest.get("template", TEMPLATES[0])),
            format_func=lambda name: tr(TEMPLATE_NAMES[name]),
            width=420,
        )
        or TEMPLATES[0]
    )
    initial = str(latest["spec"]) if latest.get("template") == template else show_template(template)
    spec = FIELDS.keep(
        f"spec {template}",
        st.text_area(
            tr("Specification (YAML)"),
            FIELDS.find_default(f"spec {template}", initial),
            key=FIELDS.find_key(f"spec {template}"),
            height=320,
            max_chars=MAX_BYTES // 4,
            help=tr(
                "Change the address, the index and the fields, or paste a specification of your own. Secrets are never written here: "
                "name a variable of the server as ${example}.",
                example=f"{{{VARIABLE_PREFIX}TOKEN}}",
            ),
        ),
    )
    return template, spec


def _draw_button(
    label: str, name: str, dataset: str, request: dict[str, Any], *, primary: bool = False
) -> None:
    st.button(
        label,
        type="primary" if primary else "secondary",
        key=f"fetch {name}",
        on_click=_start,
        args=(dataset, request),
    )


def _start(dataset: str, request: dict[str, Any]) -> None:
    context = require_context()
    job = FILE_JOBS.open(context.actor.person_id, context.person.name, dataset, PURPOSE)
    settings, database, actor, now = context.settings, context.database, context.actor, context.now
    whole = {
        **request,
        "hosts": list(read_operator_hosts(settings.search_hosts)),
        "runs_dir": str(settings.fetched_runs_dir.absolute()),
    }
    was_stored = None
    if request["task"] == "fetch":

        def was_stored() -> bool:
            return was_imported(database, actor, dataset, at=now)

    start_task(context, job, whole, was_stored=was_stored)
    note_press()


def _draw_progress(dataset: str) -> None:
    context = require_context()
    job = find_job(context, dataset, PURPOSE)
    if job is None or not job.is_busy:
        st.rerun()
        return
    share, words = _describe_progress(job)
    with st.container(border=True):
        st.html('<div role="status" aria-live="polite" class="annotator-unseen"></div>')
        st.progress(share, text=escape_markdown(words[:1].upper() + words[1:]))
        st.button(tr("Stop"), key="fetch stop", on_click=end, args=(dataset, PURPOSE, FILE_JOBS.cancel))


def _describe_progress(job: FileJob) -> tuple[float, str]:
    if job.waits_for:
        return 0.0, tr(
            "{name} is fetching a run for this dataset. Yours starts afterwards.", name=job.waits_for
        )
    if job.state == "waiting":
        return 0.0, tr("Waiting for other fetches of this server to end.")
    if not job.step:
        return 0.0, tr("The first query is being sent.")
    values = getattr(job.step, "values", {})
    queries = values.get("n", 0)
    share = (values.get("answered", 0) + values.get("failed", 0)) / queries if queries else 1.0
    return min(share, 1.0), tr(job.step)


# What one query showed ----------------------------------------------------------------------------------


def _draw_tried(job: FileJob, request: dict[str, Any]) -> None:
    result = job.results.get("try_endpoint", {})
    if job.ended != "done" or "tried" not in result:
        _draw_no_answer(job, result)
        _draw_button(tr("Try again"), "try", job.dataset, {**request, "task": "try_endpoint"}, primary=True)
        return
    tried = result["tried"]
    _draw_recognised(tried)
    with st.container(horizontal=True):
        if tried["results"]:
            label = tr_n(
                "Fetch the answer to {n:,} query", "Fetch the answers to {n:,} queries", tried["queries"]
            )
            _draw_button(label, "begin", job.dataset, {**request, "task": "fetch"}, primary=True)
        _draw_button(tr("Try again"), "try", job.dataset, {**request, "task": "try_endpoint"})


def _draw_no_answer(job: FileJob, result: Mapping[str, Any]) -> None:
    """Draw why there is no answer: lines of a wrong spec, a refusal, or the system's message."""
    if "refused" in result:
        st.error(escape_markdown(show_text(result["refused"])), icon=":material/block:")
    elif "problems" in result:
        st.error(tr("This cannot be fetched. Nothing is stored."), icon=":material/block:")
        draw_problems(result["problems"][:SHOWN_AT_ONCE], with_file=False)
    else:
        _draw_ended(job)


def _draw_ended(job: FileJob) -> None:
    if job.ended == "cancelled":
        st.info(tr("Stopped. The answers received so far are kept."), icon=":material/block:")
    elif job.ended == "late":
        st.warning(
            tr("Stopped: it took longer than the server allows. The answers received so far are kept."),
            icon=":material/timer:",
        )
    elif job.ended == "no_memory":
        st.error(tr("The answers need more memory than the server allows."), icon=":material/error:")
    elif job.ended == "failed":
        st.error(
            tr(
                "The fetch failed. Nothing was imported. Error number in the log: {number}.",
                number=job.error_id,
            ),
            icon=":material/error:",
        )


def _draw_recognised(tried: Mapping[str, Any]) -> None:
    """Draw the first answer as recognized: ids, scores, ranks, signals, and doubtful points."""
    sample, count = tried["sample"], tried["results"]
    st.subheader(tr("What was recognised"))
    st.text(
        tr_n(
            "{host} answered query {query} in {ms} ms with {n:,} result.",
            "{host} answered query {query} in {ms} ms with {n:,} results.",
            count,
            host=tried["host"],
            query=sample["query_id"],
            ms=show_number(tried["median_latency_ms"]),
        )
    )
    if not count:
        st.warning(
            tr("The answer has no result. Try it with a query that has some, or check the specification."),
            icon=":material/help:",
        )
        return
    known = tried["documents"]
    says = tr_n(
        "{known} of {n:,} id is a document of this dataset.",
        "{known} of {n:,} ids are documents of this dataset.",
        count,
        known=show_number(known),
    )
    if known:
        draw_note(says)
    else:
        st.warning(
            says + " " + tr("Does the path of the id lead to the ids of your documents?"),
            icon=":material/help:",
        )
    results = sample["results"]
    names = list(dict.fromkeys(name for result in results for name in result.get("signals", {})))
    draw_table(
        tr("What was recognised"),
        (tr("rank"), tr("document"), tr("score"), *names),
        [
            (
                str(result["rank"]),
                result["doc_id"],
                "–" if "score" not in result else show_number(result["score"], 4),
                *(_show_signal(result.get("signals", {}).get(name)) for name in names),
            )
            for result in results
        ],
    )
    further = {
        name: value for name, value in sample.items() if name not in ("query_id", "results", "latency_ms")
    }
    if further:
        listed = ", ".join(f"{name} {_show_signal(value)}" for name, value in further.items())
        draw_note(tr("From the whole answer: {values}", values=listed))
    if tried["missing_signals"]:
        st.warning(
            tr(
                "No result contains {names}. Check these paths in the specification.",
                names=", ".join(tried["missing_signals"]),
            ),
            icon=":material/help:",
        )


def _show_signal(value: Any) -> str:
    text = "–" if value is None else value if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST_SIGNAL else text[:LONGEST_SIGNAL].rstrip() + "…"


# What a fetch brought -----------------------------------------------------------------------------------


def _draw_fetched(context: PageContext, job: FileJob, request: dict[str, Any]) -> None:
    result = job.results.get("fetch", {}) if job.ended == "done" else {}
    again = {**request, "task": "fetch"}
    if "fetched" in result:
        _draw_run(result)
        draw_link(context, "pool")
        return
    if result.get("stored"):  # stopped after the import was stored
        st.success(tr("The run is imported."), icon=":material/check:")
        draw_link(context, "pool")
        return
    if "failed" in result:
        _draw_failed(job, result)
        with st.container(horizontal=True):
            _draw_button(tr("Fetch the rest again"), "begin", job.dataset, again, primary=True)
            if result["stopped"] is None and result["answered"]:
                _draw_button(
                    tr("Import without the failed queries"),
                    "partly",
                    job.dataset,
                    {**again, "allow_failures": True},
                )
        return
    _draw_no_answer(job, result)
    if job.step:
        draw_note(tr(job.step))
    _draw_button(tr("Go on"), "begin", job.dataset, again, primary=True)


def _draw_run(result: Mapping[str, Any]) -> None:
    fetched = result["fetched"]
    st.success(
        escape_markdown(tr("The run {system} is imported.", system=fetched["system"])),
        icon=":material/check:",
    )
    latency = fetched["median_latency_ms"]
    draw_table(
        tr("Answers"),
        (
            tr("queries"),
            tr("answered now"),
            tr("answered before"),
            tr("failed"),
            tr("without results"),
            tr("fewer results than asked for"),
            tr("median time of a query"),
        ),
        [
            (
                *(
                    show_number(fetched[name])
                    for name in ("queries", "fetched", "kept", "failed", "without_results", "shorter")
                ),
                "–" if latency is None else tr("{ms} ms", ms=show_number(latency)),
            )
        ],
    )
    if fetched["missing_signals"]:
        draw_note(
            tr(
                "No result contains {names}. Check these paths in the specification.",
                names=", ".join(fetched["missing_signals"]),
            )
        )
    draw_changes(result)


def _draw_failed(job: FileJob, result: Mapping[str, Any]) -> None:
    """Draw the queries without an answer. Nothing is imported until the lead decides about them."""
    st.error(
        tr_n(
            "{n:,} query has no answer. {answered} of {queries} are answered and kept; nothing is imported yet.",
            "{n:,} queries have no answer. {answered} of {queries} are answered and kept; nothing is imported yet.",
            result["failed_count"],
            answered=show_number(result["answered"]),
            queries=show_number(result["queries"]),
        ),
        icon=":material/block:",
    )
    if result["stopped"]:
        draw_note(tr("The fetch stopped early: {why}.", why=show_text(result["stopped"])))
    rows = [(query_id, show_text(reason)) for query_id, reason in result["failed"][:SHOWN_AT_ONCE]]
    draw_table(tr("Queries without an answer"), (tr("query"), tr("reason")), rows)
    draw_file_link(tr("All problems as a CSV file"), list_file_address(job, "problems"))
