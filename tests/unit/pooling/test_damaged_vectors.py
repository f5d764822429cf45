"""A damaged file of vectors is refused in words."""

import io
from pathlib import Path

import numpy as np
import pytest

from annotator.domain.errors import BadInput
from annotator.pooling.retrievers.vector_files import open_vectors


@pytest.mark.parametrize(
    "damage", [b"'shape'\0", b"@lse(((", b"'\n("], ids=["a zero", "a bracket", "a quote"]
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_an_array_with_a_damaged_header_is_refused(suffix: str, damage: bytes, tmp_path: Path) -> None:
    file, path = io.BytesIO(), tmp_path / f"v{suffix}"
    rows = np.ones((2, 2), dtype=np.float32)
    np.save(file, rows) if suffix == ".npy" else np.savez(file, ids=np.array(["a", "b"]), vectors=rows)
    path.write_bytes(file.getvalue().replace(b"False", damage[:5].ljust(5), 9))
    with pytest.raises(BadInput), open_vectors(path):
        pass
