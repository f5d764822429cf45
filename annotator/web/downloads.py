"""The files of a release over HTTP: one by one, or all of them in a zip that is made while it is sent.

`GET /api/release?dataset=…&version=…` is the zip, with `&file=…` one file. For leads of the dataset. Only what the
release's manifest names is sent, and only as it stands inside the release's folder; nothing is held in memory as a
whole. The zip of a release is the same every time: its files in their order, at the time of the release.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlencode
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from annotator.domain.errors import AnnotatorError, ConflictError, NotFound
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.releases.service import Release, list_releases
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.api import refuse
from annotator.web.signed_in import require_signed_in

ADDRESS = "/api/release"
CHUNK = 256 * 1024
MEDIA_TYPES = {
    ".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown",
    ".svg": "image/svg+xml", ".tsv": "text/tab-separated-values", ".yaml": "application/yaml",
}  # fmt: skip
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)  # that a zip can name
READ_ONLY_FILE = 0o100444


@dataclass(frozen=True, slots=True)
class Download:
    """What to send: files of a release, by their names in it. One alone, unless `whole`."""

    release: Release
    files: dict[str, Path]
    whole: bool


def routes(database: Database, settings: Settings) -> list[Route]:
    """The route, for `web/app.py`."""

    async def get_release(request: Request) -> Response:
        asked = request.query_params
        try:
            found = await run_in_threadpool(
                find_download,
                database,
                require_signed_in(request).actor,
                asked.get("dataset", ""),
                asked.get("version", ""),
                asked.get("file"),
                exports_dir=settings.exports_dir,
            )
        except AnnotatorError as error:
            return refuse(error)
        return _send_zip(found, request) if found.whole else _send_file(found)

    return [Route(ADDRESS, get_release, methods=["GET"])]


def list_address(dataset: str, version: str, file: str | None = None) -> str:
    """The address of a release's zip, or of one of its files."""
    asked = {"dataset": dataset, "version": version, **({} if file is None else {"file": file})}
    return f"{ADDRESS}?{urlencode(asked)}"


def find_download(
    database: Database, actor: Actor, dataset: str, version: str, file: str | None, *, exports_dir: Path
) -> Download:
    """The files to send. NotFound: no such release, or none of that name in it, or its folder is elsewhere;
    ConflictError: the folder is not as it was published; NotAllowed: for leads only."""
    listed = list_releases(database, actor, dataset, exports_dir=exports_dir)
    release = next((one for one in listed if one.version == version), None)
    if release is None:
        raise NotFound(say("no release {version!r} of {dataset}", version=version, dataset=dataset))
    if release.folder == "missing":
        raise NotFound(
            say("the folder of {dataset} {version} is not on this machine", dataset=dataset, version=version)
        )
    if release.folder == "changed":
        raise ConflictError(
            say(
                "the folder of {dataset} {version} is not as it was published",
                dataset=dataset,
                version=version,
            )
        )
    if file is not None and file not in release.files:
        raise NotFound(
            say("no file {file!r} in {dataset} {version}", file=file, dataset=dataset, version=version)
        )
    names = release.files if file is None else (file,)
    return Download(release, {name: _confine(release.path, name) for name in names}, file is None)


def _confine(folder: Path, name: str) -> Path:
    """The file of that name, which must be one, and inside the folder."""
    inside, path = folder.resolve(), (folder / name).resolve()
    if not path.is_relative_to(inside) or not path.is_file():
        raise ConflictError(say("{name} is not as it was published", name=name))
    return path


def _send_file(found: Download) -> Response:
    ((name, path),) = found.files.items()
    media_type = MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain")
    return FileResponse(
        path, media_type=media_type, headers=_name_as(f"{_stem(found)}-{name.replace('/', '-')}")
    )


def _send_zip(found: Download, request: Request) -> Response:
    headers = _name_as(f"{_stem(found)}.zip")
    if request.method == "HEAD":
        return Response(media_type="application/zip", headers=headers)
    pieces = zip_pieces(found.files, folder=_stem(found), at=found.release.created_at)
    return StreamingResponse(pieces, media_type="application/zip", headers=headers)


def _stem(found: Download) -> str:
    return f"{found.release.dataset}-{found.release.version}"


def _name_as(name: str) -> dict[str, str]:
    """The header by which a browser keeps it under that name, whatever the letters (RFC 6266, RFC 5987)."""
    plain = "".join(letter if " " <= letter <= "~" and letter not in '"\\%' else "_" for letter in name)
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    }


def zip_pieces(files: dict[str, Path], *, folder: str, at: datetime) -> Iterator[bytes]:
    """A zip of the files below `folder/`, piece by piece while they are read. `at`: the time they bear."""
    sink = _Sink()
    moment = max(at.astimezone(UTC), EARLIEST).timetuple()[:6]
    with ZipFile(sink, "w") as archive:
        for name, path in files.items():
            info = ZipInfo(f"{folder}/{name}", moment)
            info.compress_type, info.create_system = ZIP_DEFLATED, 3
            info.external_attr, info.file_size = READ_ONLY_FILE << 16, path.stat().st_size
            with path.open("rb") as file, archive.open(info, "w") as entry:
                while piece := file.read(CHUNK):
                    entry.write(piece)
                    yield from sink.take()
    yield from sink.take()


class _Sink:
    """What has been written and not been taken yet."""

    def __init__(self) -> None:
        self.held: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits elsewhere."""

    def close(self) -> None:
        """Nothing to close."""

    def take(self) -> Iterator[bytes]:
        """The pieces held, as one; nothing when there are none."""
        if self.held:
            piece, self.held = b"".join(self.held), []
            yield piece
