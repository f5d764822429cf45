"""Find out whether `annotator_1` of a released `law.json` can be several people.

`annotator_1` and `annotator_2` are the first two annotators of each pair by pseudonym. In a release with more
annotators they differ from pair to pair. Only the manifest in the same folder shows this.
"""

import json
from pathlib import Path
from typing import Any

from annotator.formats.syntax.source import InputSource

ANNOTATOR_KEYS = {"annotator_1", "annotator_2"}
MANIFEST = "manifest.json"
MOST_BYTES = 50_000_000


def has_mixed_annotators(source: InputSource) -> bool:
    """Check whether a manifest in the folder lists the file and more annotators than `annotator_1` and
    `annotator_2`.
    """
    path = Path(source.path)
    if source.data is not None:
        return False
    manifest = _read(path.with_name(MANIFEST))
    files, agreement = manifest.get("files"), manifest.get("agreement")
    listed = isinstance(files, list) and any(
        isinstance(file, dict) and file.get("path") == path.name for file in files
    )
    annotators = agreement.get("annotators") if isinstance(agreement, dict) else None
    return listed and isinstance(annotators, list) and any(name not in ANNOTATOR_KEYS for name in annotators)


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a manifest; empty if it does not exist or cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return {}
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
