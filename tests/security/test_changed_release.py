"""A release whose files were changed after it was published: no way of reading it gives other bytes than were published."""

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from annotator.domain.errors import ConflictError
from annotator.domain.people import OPERATOR
from annotator.releases.files_service import OpenedRelease, list_releases, open_release
from annotator.releases.writing import folder as release_folder
from annotator.web.releases import downloads
from annotator.web.releases.files import read_published
from tests.unit.web.served_release import NAME, Served


def flip(path: Path, index: int = -2) -> None:
    """Change one byte, and leave size and times as they were."""
    before = path.stat()
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[index] ^= 1
    with path.open("r+b") as file:
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def find_state(served: Served) -> str:
    return list_releases(served.world.database, OPERATOR, NAME, exports_dir=served.exports)[0].folder


def test_one_changed_byte_is_never_sent_alone_or_in_the_zip(served: Served) -> None:
    browser = served.visit()
    for name in served.release.files:
        path = served.release.path / name
        published = path.read_bytes()
        flip(path)
        for file in (name, None):
            answer = browser.get(served.address(file))
            assert answer.status_code == 409, name
            assert "changed since" in answer.json()["error"]
            assert browser.head(served.address(file)).status_code == 409
        part = browser.get(served.address(name), headers={"range": "bytes=0-3"})
        assert part.status_code == 409, name
        path.write_bytes(published)
        assert browser.get(served.address(name)).content == published


def test_other_files_are_still_sent_beside_a_changed_one(served: Served) -> None:
    flip(served.release.path / "qrels.trec.txt")
    answer = served.visit().get(served.address("law.json"))
    assert (answer.status_code, answer.content) == (200, (served.release.path / "law.json").read_bytes())


def test_a_manifest_and_checksums_made_anew_do_not_pass(served: Served) -> None:
    folder = served.release.path
    flip(folder / "qrels.trec.txt")
    lines = []
    for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines():
        name = line.split("  ")[1]
        lines.append(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n")
    (folder / "SHA256SUMS").chmod(0o644)
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    assert find_state(served) == "changed"
    for file in (None, "qrels.trec.txt", "SHA256SUMS", "law.json"):
        assert served.visit().get(served.address(file)).status_code == 409


def add_file(folder: Path) -> None:
    (folder / "beir" / "more.jsonl").write_text("{}")


def remove_file(folder: Path) -> None:
    (folder / "CHANGES.md").unlink()


def add_file_with_a_name_in_euc_kr(folder: Path) -> None:
    (folder / os.fsdecode("나.txt".encode("euc-kr"))).write_text("{}")


def link_file(folder: Path) -> None:
    (folder / "ranked.json").rename(folder.parent / "same.json")
    (folder / "ranked.json").symlink_to(folder.parent / "same.json")


def link_folder(folder: Path) -> None:
    (folder / "beir").rename(folder.parent / "same")
    (folder / "beir").symlink_to(folder.parent / "same", target_is_directory=True)


def put_pipe(folder: Path) -> None:
    (folder / "ranked.json").unlink()
    os.mkfifo(folder / "ranked.json")


def put_folder(folder: Path) -> None:
    (folder / "ranked.json").unlink()
    (folder / "ranked.json").mkdir()


def take_sums(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()


@pytest.mark.parametrize(
    "change",
    [
        add_file,
        add_file_with_a_name_in_euc_kr,
        remove_file,
        link_file,
        link_folder,
        put_pipe,
        put_folder,
        take_sums,
    ],
)
def test_a_folder_with_other_files_than_the_manifest_names_is_not_served(
    served: Served, change: Callable[[Path], None]
) -> None:
    change(served.release.path)
    assert find_state(served) == "changed"
    for file in (None, "law.json", "ranked.json"):
        assert served.visit().get(served.address(file)).status_code == 409


def test_a_file_replaced_after_the_check_is_sent_as_it_was_published(served: Served) -> None:
    path = served.release.path / "qrels.trec.txt"
    published = path.read_bytes()
    opened = open_release(
        served.world.database, OPERATOR, NAME, "1.0.0", path.name, exports_dir=served.exports
    )
    path.with_suffix(".new").write_bytes(b"Q1 0 x 3\n")
    path.with_suffix(".new").replace(path)
    assert b"".join(opened.files[path.name].read()) == published
    opened.close()


def test_a_file_rewritten_in_place_after_the_check_ends_the_download(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = served.release.path / "judgments.csv"
    published, seen = path.read_bytes(), []

    def open_then_rewrite(*arguments: object, **options: Path) -> OpenedRelease:
        opened = open_release(*arguments, **options)  # type: ignore[arg-type]
        seen.append(opened)
        flip(path)
        return opened

    monkeypatch.setattr(downloads, "open_release", open_then_rewrite)
    answer = served.visit().get(served.address(path.name))
    assert int(answer.headers["content-length"]) == len(published)
    assert answer.content == b""
    path.write_bytes(published)
    answer = served.visit().get(served.address())
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(answer.content))
    assert all(file._file.closed for opened in seen for file in opened.files.values())


def test_only_verified_pieces_are_read_from_a_large_file(tmp_path: Path) -> None:
    path, size = tmp_path / "large", 3 * release_folder.PIECE + 17
    path.write_bytes(os.urandom(size))
    published = path.read_bytes()
    sha256 = hashlib.sha256(published).hexdigest()
    with closing(release_folder.open_verified(tmp_path, "large", sha256)) as file:
        for start, stop in (
            (0, None),
            (5, size),
            (release_folder.PIECE, 2 * release_folder.PIECE),
            (size - 1, size),
            (3, release_folder.PIECE + 5),
            (release_folder.PIECE + 3, 2 * release_folder.PIECE + 5),
            (7, 7),
        ):
            assert b"".join(file.read(start, stop)) == published[start:stop]
        flip(path, 2 * release_folder.PIECE + 3)
        pieces = file.read()
        assert next(pieces) + next(pieces) == published[: 2 * release_folder.PIECE]
        with pytest.raises(ConflictError):
            next(pieces)
        path.write_bytes(published[:10])
        with pytest.raises(ConflictError):
            list(file.read())


class GivesLittle(io.BytesIO):
    """A file that gives less than it is asked for, as a file on a network may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1_000))


def test_a_file_that_is_given_in_small_parts_is_read_whole() -> None:
    published = os.urandom(release_folder.PIECE + 17)
    opened = release_folder.VerifiedFile(
        "large", GivesLittle(published), hashlib.sha256(published).hexdigest()
    )
    with closing(opened) as file:
        assert b"".join(file.read()) == published
        assert b"".join(file.read(3, release_folder.PIECE + 5)) == published[3 : release_folder.PIECE + 5]


def test_files_are_closed_after_every_answer(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[OpenedRelease] = []

    def keep(*arguments: object, **options: Path) -> OpenedRelease:
        seen.append(open_release(*arguments, **options))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(downloads, "open_release", keep)
    browser = served.visit()
    for file, headers in (
        (None, {}),
        ("law.json", {}),
        ("law.json", {"range": "bytes=2-5"}),
        ("law.json", {"range": "bytes=9999999-"}),
    ):
        browser.get(served.address(file), headers=headers)
        browser.head(served.address(file), headers=headers)
    assert len(seen) == 8
    assert all(file._file.closed for opened in seen for file in opened.files.values())


@pytest.mark.parametrize(
    ("byte_range", "status", "part"),
    [
        ("bytes=0-0", 206, slice(0, 1)), ("bytes=5-", 206, slice(5, None)), ("bytes=-4", 206, slice(-4, None)),
        ("bytes=3-99999999", 206, slice(3, None)), ("bytes=5-2", 200, slice(None)), ("bytes=0-1,3-4", 200, slice(None)),
        ("bytes=-", 200, slice(None)), ("lines=1-2", 200, slice(None)), ("bytes=99999999-", 416, slice(0, 0)),
    ],
)  # fmt: skip
def test_a_part_of_a_file_is_sent_when_one_range_is_asked_for(
    served: Served, byte_range: str, status: int, part: slice
) -> None:
    answer = served.visit().get(served.address("law.json"), headers={"range": byte_range})
    assert answer.status_code == status
    assert answer.content == (served.release.path / "law.json").read_bytes()[part]


def test_a_part_of_another_state_of_a_file_is_never_mixed_in(served: Served) -> None:
    headers = {"range": "bytes=2-5", "if-range": '"of another file"'}
    answer = served.visit().get(served.address("law.json"), headers=headers)
    assert (answer.status_code, answer.content) == (200, (served.release.path / "law.json").read_bytes())
    headers["if-range"] = answer.headers["etag"]
    assert served.visit().get(served.address("law.json"), headers=headers).status_code == 206


def test_the_page_does_not_show_a_changed_datasheet(served: Served) -> None:
    arguments = (served.world.database, OPERATOR, served.release, "DATASHEET.md", served.exports)
    assert read_published(*arguments).startswith("# ")
    flip(served.release.path / "DATASHEET.md")
    with pytest.raises(ConflictError):
        read_published(*arguments)
