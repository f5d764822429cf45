"""Embed texts with a model in a local folder, by model2vec or sentence-transformers.

One of these libraries must be installed. Nothing is downloaded: the folder must exist, and the libraries run
offline. The folder shows which library is needed: it has a `config.json` of model2vec, or the `modules.json`
of sentence-transformers.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from annotator.domain.errors import StateError, ValidationError
from annotator.pooling.retrievers.vector_files import VectorSpool, VectorTable
from annotator.pooling.retrievers.vectors import has_direction

BATCH = 1_024  # texts at once
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
Encode = Callable[[list[str]], Any]


def load_model(folder: Path) -> Encode:
    """Return the function that embeds texts. ValidationError without such a model, StateError without its library."""
    if not folder.is_dir():
        raise ValidationError(
            f"--embed: expected the folder of a model, found none at {folder} (nothing is downloaded)"
        )
    is_static = _read_model_type(folder) == "model2vec"
    if not is_static and not (folder / "modules.json").is_file():
        raise ValidationError(
            f"--embed: expected a model of model2vec or sentence-transformers, found neither in {folder}"
        )
    library = "model2vec" if is_static else "sentence_transformers"
    with _stay_offline():
        try:
            module = import_module(library)
        except ImportError:
            package = "annotator[embed]" if is_static else "sentence-transformers"
            raise StateError(
                f"--embed: the model in {folder} needs {library}, which is not installed: pip install '{package}'"
            ) from None
        try:
            if is_static:
                return _take_encode(module.StaticModel.from_pretrained(folder))
            return _take_encode(module.SentenceTransformer(str(folder), local_files_only=True))
        except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
            raise ValidationError(f"--embed: the model in {folder} cannot be loaded: {error}") from None


def embed_texts(
    encode: Encode, texts: Iterable[tuple[str, str]], spool: VectorSpool, *, path: str
) -> VectorTable:
    """Return the vectors of the texts (id, text), written to the spool; none for a text of unknown words only."""
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        rows = np.asarray(encode([text for _, text in batch]), dtype=np.float32)
        is_usable = has_direction(rows)
        if is_usable.any():
            spool.add(
                [name for (name, _), kept in zip(batch, is_usable, strict=True) if kept], rows[is_usable]
            )
    return spool.make_table(path)


def _read_model_type(folder: Path) -> object:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return config.get("model_type") if isinstance(config, dict) else None


def _take_encode(model: Any) -> Encode:
    def encode(texts: list[str]) -> Any:
        with _stay_offline():
            return model.encode(texts)

    return encode


@contextmanager
def _stay_offline() -> Iterator[None]:
    earlier = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
