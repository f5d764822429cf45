"""Send the files of a release over HTTP, for leads: one by one, or all in a zip made while it is sent.

`GET /api/release?dataset=…&version=…` is the zip; `&file=…` is one file. Sends only files of the release's manifest with
the bytes that were published (`releases/writing/folder.py`). Holds no whole file in memory. The zip of a release is
the same every time: files in their order, with the release's time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from annotator.domain.errors import ConflictError
from annotator.releases.files_service import OpenedRelease, open_release, shows_grades
from annotator.releases.published_service import note_downloaded
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.navigation import make_url
from annotator.web.session import require_same_origin, require_signed_in

if TYPE_CHECKING:
    from annotator.releases.writing.folder import VerifiedFile

ADDRESS = "/api/release"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)  # that a zip can name
READ_ONLY_FILE = 0o100444
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.IGNORECASE)

log = structlog.stdlib.get_logger("annotator.web")


def routes(database: Database, settings: Settings) -> list[Route]:
    async def get_release(request: Request) -> Response:
        parameters = request.query_params
        opened = await run_in_threadpool(
            open_release,
            database,
            require_signed_in(request).actor,
            parameters.get("dataset", ""),
            parameters.get("version", ""),
            parameters.get("file"),
            exports_dir=settings.exports_dir,
        )
        if request.method == "HEAD":
            return _describe_only(opened, parameters.get("file"))
        await run_in_threadpool(_note_sent, database, request, opened)
        return _send_zip(opened) if parameters.get("file") is None else _send_file(opened, request)

    return [Route(ADDRESS, get_release, methods=["GET"])]


def _describe_only(opened: OpenedRelease, file: str | None) -> Response:
    """Answer a HEAD request, which records nothing, without the length and the checksum: they tell grades."""
    opened.close()
    return Response(headers=_name_as(_name_file(opened, file)))


def _note_sent(database: Database, request: Request, opened: OpenedRelease) -> None:
    """Note that the lead has seen the grades of the release's pairs; refuse a request from another site."""
    if not any(map(shows_grades, opened.files)):
        return
    try:
        require_same_origin(request)
        person, release = require_signed_in(request).actor, opened.release
        file = request.query_params.get("file")
        note_downloaded(database, person, release.dataset, release.version, file, now=datetime.now(UTC))
    except BaseException:
        opened.close()
        raise


def list_address(dataset: str, version: str, file: str | None = None) -> str:
    """Return the address of a release's zip, or of one of its files."""
    return make_url(ADDRESS, dataset=dataset, version=version, file=file)


class VerifiedResponse(StreamingResponse):
    """Send pieces of verified files, and close the files whatever happens.

    A file that is rewritten while it is sent ends the connection before the response is complete, so that the browser
    says the download failed.
    """

    def __init__(self, opened: OpenedRelease, pieces: Iterable[bytes], **options: Any) -> None:
        super().__init__(pieces, **options)
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except ConflictError as error:
            release = self._opened.release
            log.error(
                "a release was changed while it was sent",
                dataset=release.dataset,
                version=release.version,
                why=str(error),
            )
        finally:
            self._opened.close()


def _send_file(opened: OpenedRelease, request: Request) -> Response:
    ((name, file),) = opened.files.items()
    media_type = MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain")
    headers = {
        **_name_as(_name_file(opened, name)),
        "Accept-Ranges": "bytes",
        "ETag": f'"{file.sha256}"',
    }
    part = _read_range(request, file)
    if part is None:
        headers["Content-Length"] = str(file.size)
        pieces = file.read(0, file.size)
        return VerifiedResponse(opened, pieces, headers=headers, media_type=media_type)
    start, stop = part
    if start >= stop:
        opened.close()
        return Response(status_code=416, headers={"Content-Range": f"bytes */{file.size}"})
    headers |= {
        "Content-Length": str(stop - start),
        "Content-Range": f"bytes {start}-{stop - 1}/{file.size}",
    }
    pieces = file.read(start, stop)
    return VerifiedResponse(opened, pieces, status_code=206, headers=headers, media_type=media_type)


def _read_range(request: Request, file: "VerifiedFile") -> tuple[int, int] | None:
    """Return the first byte to send and the one after the last, from the request's range (RFC 9110, 14.2); None for all.

    Nothing lies between the two if the file does not reach that far. Several ranges, other units, and a range of another
    version of the file (`If-Range`) get the whole file.
    """
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None or request.headers.get("if-range", f'"{file.sha256}"') != f'"{file.sha256}"':
        return None
    first, last = (int(digits) if digits else None for digits in match.groups())
    if first is None:
        return None if last is None else (max(file.size - last, 0), file.size)
    if last is not None and last < first:
        return None
    return first, file.size if last is None else min(last + 1, file.size)


def _send_zip(opened: OpenedRelease) -> Response:
    headers = _name_as(_name_file(opened, None))
    pieces = zip_pieces(opened.files, folder=_stem(opened), at=opened.release.created_at)
    return VerifiedResponse(opened, pieces, media_type="application/zip", headers=headers)


def _stem(opened: OpenedRelease) -> str:
    return f"{opened.release.dataset}-{opened.release.version}"


def _name_file(opened: OpenedRelease, file: str | None) -> str:
    """Return the name that a browser stores the file under; without a file, the zip's."""
    return f"{_stem(opened)}.zip" if file is None else f"{_stem(opened)}-{file.replace('/', '-')}"


def _name_as(name: str) -> dict[str, str]:
    """Return the header that names the downloaded file, whatever its letters (RFC 6266, RFC 5987)."""
    plain = "".join(letter if " " <= letter <= "~" and letter not in '"\\%' else "_" for letter in name)
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    }


def zip_pieces(files: Mapping[str, "VerifiedFile"], *, folder: str, at: datetime) -> Iterator[bytes]:
    """Yield a zip of the files below `folder/`, piece by piece while they are read.

    `at`: the time of its entries.
    """
    sink = _ZipSink()
    moment = max(at.astimezone(UTC), EARLIEST).timetuple()[:6]
    archive = ZipFile(sink, "w")
    for name, file in files.items():
        info = ZipInfo(f"{folder}/{name}", moment)
        info.compress_type, info.create_system = ZIP_DEFLATED, 3
        info.external_attr, info.file_size = READ_ONLY_FILE << 16, file.size
        with archive.open(info, "w") as entry:
            for piece in file.read():
                entry.write(piece)
                yield from sink.take()
    archive.close()  # not where a file was changed meanwhile: the zip then has no directory, and cannot be opened
    yield from sink.take()


class _ZipSink:
    """A file for ZipFile to write to, from which the pieces written so far are taken."""

    def __init__(self) -> None:
        self.held: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: no piece waits elsewhere."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def take(self) -> Iterator[bytes]:
        """Yield the pieces written since the last call, joined; nothing if there are none."""
        if self.held:
            piece, self.held = b"".join(self.held), []
            yield piece
