"""Build the ASGI application: the gate, the REST routes, and Streamlit behind them (`main_page.py`).

Replaces Streamlit's `host-config`, because no option disables its connection dialog. That dialog blocks the
page while the server is unreachable, but the labeling panel works without a server and shows its own notice.
Other pages show a line (app.css). `allowedOrigins` is empty, so no other site can control a page by messages.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from anyio import to_thread
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.starlette import App

from annotator.domain.errors import AnnotatorError, DatabaseUnavailable
from annotator.log import take_over_loggers
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web import auth, single_sign_on
from annotator.web.adjudication import api as adjudication_api
from annotator.web.adjudication import downloads as adjudication_downloads
from annotator.web.audit import downloads as audit_downloads
from annotator.web.dataset import downloads as dataset_downloads
from annotator.web.downloads import list_late_routes
from annotator.web.guideline import api as guideline_api
from annotator.web.importing import result_view as importing_files
from annotator.web.importing.file_jobs import FILE_JOBS, TaskLimits, delete_left_behind
from annotator.web.kit.messages import show_refusal, tr
from annotator.web.kit.text import escape_markdown
from annotator.web.labeling import api as labeling_api
from annotator.web.navigation import find_home
from annotator.web.page_context import set_served
from annotator.web.people import link_pages, second_factor_page
from annotator.web.pooling import api as pooling_api
from annotator.web.quality import downloads as quality_downloads
from annotator.web.releases import downloads as releases_downloads
from annotator.web.rendering import api as rendering_api
from annotator.web.server import figures, health
from annotator.web.server.admission import Admission
from annotator.web.server.budgets import BudgetGuard, Budgets, count_page_runs
from annotator.web.server.gate import RequestGate
from annotator.web.server.outage import describe_outage, note_outage
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from annotator.web.server.request_id import current_request_id
from annotator.web.server.start_page import StartPage, prepare_first_run
from annotator.web.server.streamlit_options import (
    drop_other_messages,
    forbid_outgoing_requests,
    ignore_components_of_packages,
)
from annotator.web.server.uploads import UploadGuard, free_files_of_ended_sessions
from annotator.web.session import require_signed_in
from annotator.web.single_sign_on import make_provider

PATH = "/_stcore/host-config"
CONFIG = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": True,
    "resourceCrossOriginMode": None,
}


class HostConfig:
    """ASGI middleware that answers PATH and passes on all other requests."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            await JSONResponse(CONFIG)(scope, receive, send)
            return
        await self.app(scope, receive, send)


SCRIPT = Path(__file__).parent / "script" / "main.py"

log = structlog.stdlib.get_logger("annotator.web")


def make_app(database: Database, settings: Settings) -> App:
    """Return the application. The database schema must be up to date. One per process."""
    set_served(database, settings)
    FILE_JOBS.limits = TaskLimits(
        settings.import_processes, settings.import_memory_mb, settings.import_minutes * 60
    )
    forbid_outgoing_requests()
    drop_other_messages()
    ignore_components_of_packages()
    own = list_own_routes(database, settings)
    budgets = Budgets()
    count_page_runs(budgets)
    return App(
        SCRIPT,
        routes=own,
        middleware=list_middleware(database, settings, own, budgets),
        exception_handlers=EXCEPTION_HANDLERS,
        on_script_error=show_error,
        lifespan=_run_lifespan,
    )


def list_middleware(
    database: Database, settings: Settings, own: list[Route], budgets: Budgets
) -> list[Middleware]:
    """Return what each request passes before its route, in this order. `own`: our own routes."""
    return [
        Middleware(RequestGate, database=database, settings=settings, own=[route.path for route in own]),
        Middleware(BudgetGuard, budgets=budgets),
        Middleware(Admission, own=own),
        Middleware(HostConfig),
        Middleware(StartPage, database=database),
        Middleware(UploadGuard),
    ]


def list_own_routes(database: Database, settings: Settings) -> list[Route]:
    """Return our own routes. Each route checks access itself."""
    provider = make_provider(settings)
    return [
        *labeling_api.routes(database),  # the first that is compared: of most requests
        *health.routes(database),
        *figures.routes(settings),
        *auth.routes(database, settings, provider),
        *single_sign_on.routes(database, settings, provider),
        *second_factor_page.routes(database, settings),
        *link_pages.routes(database, settings),
        *_home_routes(database),
        *list_late_routes(database, "agreement", ("figures", "pairs", "left-out", "since")),
        *list_late_routes(database, "evaluation", ("figures", "scores", "report")),
        *adjudication_api.routes(database),
        *guideline_api.routes(database),
        *pooling_api.routes(database),
        *importing_files.routes(database),
        *quality_downloads.routes(database),
        *adjudication_downloads.routes(database),
        *labeling_api.question_routes(database),
        *rendering_api.routes(database),
        *labeling_api.own_work_routes(database),
        *releases_downloads.routes(database, settings),
        *dataset_downloads.routes(database),
        *audit_downloads.routes(database),
    ]


def show_error(error: Exception) -> bool:
    """Show a refusal on the page, or the number of an unexpected error in the log."""
    import streamlit as st

    if isinstance(error, DatabaseUnavailable):
        note_outage(error)
        st.error(tr(describe_outage(error)), icon=":material/cloud_off:")
        st.button(tr("Try again"), key="outage")
        return True
    if isinstance(error, AnnotatorError):
        lines = (escape_markdown(line) for line in show_refusal(error).splitlines())
        st.error("\n\n".join(lines), icon=":material/block:")
        return True
    number = current_request_id()
    log.error("page failed", error_id=number, exc_info=error)
    message = tr(
        "Something went wrong on this page. Give your admin this error number: {number}.", number=number
    )
    st.error(message, icon=":material/error:")
    return True


def _home_routes(database: Database) -> list[Route]:
    async def go(request: Request) -> Response:
        person, wanted = require_signed_in(request), request.query_params.get("dataset")
        return RedirectResponse(await to_thread.run_sync(lambda: find_home(database, person, wanted)), 303)

    return [Route("/", go, methods=["GET"])]


@asynccontextmanager
async def _run_lifespan(_app: App) -> AsyncIterator[None]:
    take_over_loggers()
    delete_left_behind()
    prepare_first_run()
    freeing = asyncio.create_task(free_files_of_ended_sessions())
    try:
        yield
    finally:
        freeing.cancel()
        FILE_JOBS.discard_all()
