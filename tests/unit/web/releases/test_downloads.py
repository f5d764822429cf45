"""The files of a release over HTTP: who gets them, which, under what name, and how little is held in memory."""

import hashlib
import io
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

from annotator.releases.writing.folder import open_verified
from annotator.web.releases.downloads import list_address, zip_pieces
from tests.integration.judged_world import NOW
from tests.unit.web.served_release import NAME, Served


def test_every_file_of_a_release_is_sent_as_it_was_published(served: Served) -> None:
    browser = served.visit()
    for name in served.release.files:
        answer = browser.get(served.address(name))
        assert answer.status_code == 200, name
        assert answer.content == (served.release.path / name).read_bytes()
        assert answer.headers["content-length"] == str(len(answer.content))


def test_a_download_bears_a_name_in_any_script_and_a_plain_one_beside_it(served: Served) -> None:
    header = served.visit().get(served.address("qrels.trec.txt")).headers["content-disposition"]
    kind, plain, extended = header.split("; ")
    assert kind == "attachment"
    assert plain == 'filename="__-___-1.0.0-qrels.trec.txt"'
    assert unquote(extended.removeprefix("filename*=UTF-8''")) == f"{NAME}-1.0.0-qrels.trec.txt"
    assert extended.isascii()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("manifest.json", "application/json"), ("judgments.csv", "text/csv; charset=utf-8"),
        ("qrels.trec.txt", "text/plain; charset=utf-8"), ("SHA256SUMS", "text/plain; charset=utf-8"),
        ("nablarch.yaml", "application/yaml"), (None, "application/zip"),
    ],
)  # fmt: skip
def test_a_download_says_what_it_is_and_is_never_run_or_kept(
    served: Served, file: str | None, expected: str
) -> None:
    headers = served.visit().get(served.address(file)).headers
    assert headers["content-type"] == expected
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["content-disposition"].startswith("attachment")


def test_the_zip_holds_every_file_below_a_folder_of_the_releases_name(served: Served) -> None:
    answer = served.visit().get(served.address())
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"{NAME}-1.0.0/{name}" for name in served.release.files]
        for name in served.release.files:
            assert archive.read(f"{NAME}-1.0.0/{name}") == (served.release.path / name).read_bytes()
        assert {info.date_time for info in archive.infolist()} == {(2026, 3, 5, 5, 6, 6)}


def test_the_zip_of_a_release_is_the_same_every_time(served: Served) -> None:
    first = served.visit().get(served.address()).content
    (served.release.path / "manifest.json").touch()
    assert hashlib.sha256(served.visit("ada").get(served.address()).content).digest() == (
        hashlib.sha256(first).digest()
    )


def test_a_head_request_gets_the_headers_alone(served: Served) -> None:
    for file in (None, "nablarch.yaml"):
        answer = served.visit().head(served.address(file))
        assert (answer.status_code, answer.content) == (200, b"")
        assert "attachment" in answer.headers["content-disposition"]


def test_a_head_request_tells_no_checksum_to_guess_grades_by(served: Served) -> None:
    """It records nothing, so neither length, checksum nor whether a checksum fits are told."""
    whole = served.visit().get(served.address("nablarch.yaml"))
    guess = {"range": "bytes=0-9", "if-range": whole.headers["etag"]}
    answer = served.visit().head(served.address("nablarch.yaml"), headers=guess)
    assert answer.status_code == 200
    assert not {"etag", "content-range"} & set(answer.headers)
    assert answer.headers.get("content-length", "0") == "0"


def test_a_download_that_broke_off_can_be_taken_up_again(served: Served) -> None:
    whole = (served.release.path / "manifest.json").read_bytes()
    answer = served.visit().get(served.address("manifest.json"), headers={"range": "bytes=10-19"})
    assert (answer.status_code, answer.content) == (206, whole[10:20])


@pytest.mark.parametrize(
    ("username", "status"), [(None, 401), ("hana", 403), ("other", 403), ("lea", 200), ("ada", 200)]
)
def test_only_leads_of_the_dataset_get_anything(served: Served, username: str | None, status: int) -> None:
    browser = served.visit(username)
    for file in (None, "manifest.json"):
        assert browser.get(served.address(file)).status_code == status


@pytest.mark.parametrize(
    "file",
    [
        "../1.0.0/manifest.json", "../../../annotator.db", "/etc/passwd", "beir", "", ".", "manifest.json/", "x\0y",
        "..%2f..%2fannotator.db", "MANIFEST.JSON", "qrels", "\\..\\manifest.json", "存在しない.yaml",
    ],
)  # fmt: skip
def test_nothing_but_a_file_of_the_manifest_is_sent(served: Served, file: str) -> None:
    answer = served.visit().get(served.address(file))
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("검색-データ 1.0.0 has no file ")


@pytest.mark.parametrize(
    ("dataset", "version", "status"),
    [(NAME, "9.9.9", 404), (NAME, "", 404), (NAME, "../..", 404), ("none", "1.0.0", 403), ("", "", 403)],
)
def test_what_is_not_there_is_not_found(served: Served, dataset: str, version: str, status: int) -> None:
    assert served.visit().get(list_address(dataset, version)).status_code == status


def test_a_file_that_leads_out_of_the_folder_is_refused(served: Served) -> None:
    inside = served.release.path / "nablarch.yaml"
    inside.unlink()
    inside.symlink_to(served.exports.parent / "annotator.db")
    for file in ("nablarch.yaml", None):
        answer = served.visit().get(served.address(file))
        assert answer.status_code == 409
        assert answer.json() == {"error": "The file nablarch.yaml has changed since it was published."}


def test_a_folder_that_is_gone_or_changed_is_said_so(served: Served) -> None:
    sums = served.release.path / "SHA256SUMS"
    sums.chmod(0o644)
    sums.write_text("", encoding="utf-8")
    assert served.visit().get(served.address()).status_code == 409
    served.release.path.rename(served.exports / "elsewhere")
    answer = served.visit().get(served.address())
    assert answer.status_code == 404
    assert answer.json()["error"] == f"The folder of {NAME} 1.0.0 is missing on this server."


def test_a_large_file_is_zipped_piece_by_piece(tmp_path: Path) -> None:
    big = tmp_path / "big.csv"
    with big.open("wb") as file:
        for number in range(16):
            file.write(hashlib.shake_256(bytes([number])).digest(1_000_000))
    largest = 0
    with (
        closing(open_verified(tmp_path, "big.csv", hashlib.sha256(big.read_bytes()).hexdigest())) as opened,
        (tmp_path / "out.zip").open("wb") as out,
    ):
        for piece in zip_pieces({"big.csv": opened}, folder="x-1.0.0", at=NOW):
            largest = max(largest, len(piece))
            out.write(piece)
    assert largest < 2_000_000
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.read("x-1.0.0/big.csv") == big.read_bytes()
