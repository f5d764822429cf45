"""The sample release in `exports/` is what this program makes today, byte for byte, on both databases."""

import importlib.util
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from annotator.releases.files_service import verify_release
from annotator.storage.database import Database

EXPORTS = Path(__file__).parents[3] / "exports"
SAMPLE = EXPORTS / "sample" / "demo" / "1.0.0"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample", EXPORTS / "make_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_files(folder: Path) -> dict[str, bytes]:
    below = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in below}


def test_the_sample_is_made_again_byte_for_byte(
    database: Database, tmp_path: Path, script: ModuleType
) -> None:
    made = script.make_sample(database, tmp_path, now=datetime.fromtimestamp(script.EPOCH, UTC))
    if os.environ.get("WRITE_GOLDEN"):
        shutil.rmtree(SAMPLE, ignore_errors=True)
        shutil.copytree(made.path, SAMPLE)
    assert read_files(made.path) == read_files(SAMPLE)


def test_the_sample_is_whole_and_says_that_its_judgments_are_simulated() -> None:
    verification = verify_release(SAMPLE)
    assert (verification.whole, verification.dataset, verification.version) == (True, "demo", "1.0.0")
    assert b"simulated annotators" in (SAMPLE / "manifest.json").read_bytes()
