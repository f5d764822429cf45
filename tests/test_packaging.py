"""What `pip install` brings: everything the program reads at run time is inside, and every pin has its hash."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
BUILD = """
import sys
from setuptools import build_meta
kind, folder = sys.argv[1:]
print(build_meta.build_wheel(folder) if kind == "wheel" else build_meta.build_sdist(folder))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed to build, so that building leaves nothing behind in the checkout."""
    folder = tmp_path_factory.mktemp("packaging") / "annotator"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("annotator", "datasets"):
        shutil.copytree(PROJECT / name, folder / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, folder / name)
    return folder


def build(kind: str, source: Path, target: Path) -> Path:
    target.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(target)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


def list_program(folder: Path) -> set[str]:
    """Every file of the program, the demo dataset's among them."""
    packages = {
        path.relative_to(folder).as_posix() for path in (folder / "annotator").rglob("*") if path.is_file()
    }
    demo = {f"annotator/demo_data/{path.name}" for path in (folder / "datasets" / "demo").iterdir()}
    return packages | demo


def test_a_wheel_holds_every_file_of_the_program(copied: Path, tmp_path: Path) -> None:
    expected = list_program(copied)
    with zipfile.ZipFile(build("wheel", copied, tmp_path)) as wheel:
        assert expected - set(wheel.namelist()) == set()


@pytest.mark.long("test_packaging.py::test_a_wheel_holds_every_file_of_the_program")
def test_a_wheel_from_the_source_package_is_as_complete(copied: Path, tmp_path: Path) -> None:
    expected = list_program(copied)
    with tarfile.open(build("sdist", copied, tmp_path / "sdist")) as source:
        source.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    with zipfile.ZipFile(build("wheel", unpacked, tmp_path / "wheel")) as wheel:
        assert expected - set(wheel.namelist()) == set()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_a_lock_pins_everything_with_its_hashes_and_names_no_address(name: str) -> None:
    text = (PROJECT / name).read_text(encoding="utf-8")
    assert not re.search(r"https?:|://|--(index|extra-index|find-links|trusted-host)", text)
    pins = [line for line in text.replace("\\\n", "").splitlines() if not line.startswith("#")]
    assert len(pins) > 50
    assert [
        pin
        for pin in pins
        if not re.fullmatch(r"[\w.-]+==\S+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+", pin)
    ] == []


def test_the_lock_of_typescript_pins_by_content_and_names_no_address() -> None:
    text = (PROJECT / "package-lock.json").read_text(encoding="utf-8")
    assert not re.search(r"https?:|://|resolved", text)
    packages = {name: pin for name, pin in json.loads(text)["packages"].items() if name}
    assert {"node_modules/typescript", "node_modules/oidc-provider"} <= set(packages)
    assert [name for name, pin in packages.items() if not pin["integrity"].startswith("sha512-")] == []


def test_the_locks_agree() -> None:
    """The tests run on the versions that users get."""

    def list_pins(name: str) -> set[str]:
        return set(re.findall(r"^[\w.-]+==\S+", (PROJECT / name).read_text(encoding="utf-8"), re.MULTILINE))

    assert list_pins("requirements.lock") < list_pins("requirements-test.lock")


def test_the_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    for name, wanted in (
        ("requirements.lock", project["project"]["dependencies"] + project["dependency-groups"]["build"]),
        ("requirements-test.lock", project["project"]["optional-dependencies"]["test"]),
    ):
        locked = set(re.findall(r"^([\w.-]+)==", (PROJECT / name).read_text(encoding="utf-8"), re.MULTILINE))
        names = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in wanted}
        assert names - {pin.lower() for pin in locked} == set()
