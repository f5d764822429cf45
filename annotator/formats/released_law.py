"""Says whether a released `law.json` puts grades of several people into one place.

Its `annotator_1` and `annotator_2` are the first two annotators of each pair by pseudonym. Where a release has others than two
annotators, the places stand for nobody; only the manifest beside the file can tell.
"""

import json
from pathlib import Path
from typing import Any

from annotator.formats.source import InputSource

PLACES = {"annotator_1", "annotator_2"}
MANIFEST = "manifest.json"
MOST_BYTES = 50_000_000


def has_mixed_places(source: InputSource) -> bool:
    """Whether a manifest beside the file names it, and annotators who are not those of the two places."""
    path = Path(source.path)
    if source.data is not None:
        return False
    manifest = _read(path.with_name(MANIFEST))
    files, agreement = manifest.get("files"), manifest.get("agreement")
    listed = isinstance(files, list) and any(
        isinstance(file, dict) and file.get("path") == path.name for file in files
    )
    annotators = agreement.get("annotators") if isinstance(agreement, dict) else None
    return listed and isinstance(annotators, list) and any(name not in PLACES for name in annotators)


def _read(path: Path) -> dict[str, Any]:
    """A manifest's content; empty where there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
