"""Serve the files of tasks over HTTP: the list of problems, and a converted file. Each person gets only their
own.

    GET /api/import?dataset=…&purpose=import|try|remap|checks|fetch&file=problems|converted
"""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.storage.database import Database
from annotator.web.downloads import name_as
from annotator.web.importing.file_jobs import FILE_JOBS
from annotator.web.importing.file_tasks import PROBLEM_FILE
from annotator.web.importing.result_view import FILES_ADDRESS
from annotator.web.session import require_same_origin, require_signed_in

NOTHING = say("This file is no longer available. Upload it again.")


def routes(database: Database) -> list[Route]:
    async def get_file(request: Request) -> Response:
        from annotator.importing.uploads.import_service import show_contents

        query, actor = request.query_params, require_signed_in(request).actor
        require_same_origin(request)
        dataset, purpose, wanted = query.get("dataset", ""), query.get("purpose", ""), query.get("file", "")
        await run_in_threadpool(show_contents, database, actor, dataset)  # refuses whoever does not lead it
        path = _find(actor.person_id, dataset, purpose, wanted)
        media_type = "text/csv" if wanted == "problems" else "application/octet-stream"
        return FileResponse(path, media_type=media_type, headers=name_as(path.name))

    return [Route(FILES_ADDRESS, get_file, methods=["GET"])]


def _find(person_id: int | None, dataset: str, purpose: str, wanted: str) -> Path:
    job = FILE_JOBS.find(person_id, dataset, purpose)
    if job is None:
        raise NotFound(NOTHING)
    name = PROBLEM_FILE if wanted == "problems" else job.results.get("convert", {}).get("converted")
    path = job.out / name if isinstance(name, str) else None
    if path is None or wanted not in ("problems", "converted") or not path.is_file():
        raise NotFound(NOTHING)
    return path
