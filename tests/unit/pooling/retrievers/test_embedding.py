"""Vectors from a model in a local folder: a tiny static one that the test makes, and what is refused without a download."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers

from annotator.domain.errors import StateError, ValidationError
from annotator.pooling.retrievers.records import (
    RetrievalOptions,
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
)
from annotator.pooling.retrievers.registry import retrieve_candidates
from annotator.pooling.retrievers.vector_files import OFFLINE, load_model

WORDS = {"[UNK]": [0, 0], "ship": [1, 0], "vessel": [1, 0.1], "farm": [0, 1], "농지": [0.1, 1]}
TEXTS = {"a": "farm farm ship", "b": "ship", "c": "unheard of", "d": "농지"}
QUERIES = [SearchedQuery("Q1", "vessel"), SearchedQuery("Q2", "farm"), SearchedQuery("Q3", "nothing here")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.array(list(WORDS.values()), dtype=np.float32)
    config = {"model_type": "model2vec", "normalize": False, "hidden_dim": 2}
    StaticModel(vectors, tokenizer, config=config).save_pretrained(str(tmp_path / "tiny"))
    return tmp_path / "tiny"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("nothing is downloaded")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def _read() -> Iterator[SearchedDocument]:
    return (SearchedDocument(doc_id, "", text) for doc_id, text in TEXTS.items())


def test_a_model_in_a_folder_makes_the_vectors(folder: Path) -> None:
    retrieval = retrieve_candidates(
        ["vectors"], QUERIES, _read, RetrievalOptions(embed=folder), depth=2, runs={}
    )
    assert [(item.query_id, item.doc_id, item.rank) for item in retrieval.candidates] == [
        ("Q1", "b", 1),
        ("Q1", "a", 2),
        ("Q2", "d", 1),
        ("Q2", "a", 2),
    ]
    assert retrieval.candidates[2].score == pytest.approx(1 / np.hypot(1, 0.1))
    assert retrieval.notes == (
        RetrieverNote("annotator:vectors", "no_vector", ("c",)),
        RetrieverNote("annotator:vectors", "no_candidate", ("Q3",)),
    )


def test_a_model_that_knows_no_word_returns_no_hit_and_reports_it(folder: Path) -> None:
    queries = [SearchedQuery("Q1", "ship")]
    documents = [SearchedDocument("a", "", "unheard"), SearchedDocument("b", "", "of")]
    retrieval = retrieve_candidates(
        ["vectors"], queries, lambda: documents, RetrievalOptions(embed=folder), depth=2, runs={}
    )
    assert retrieval.candidates == ()
    assert [(note.kind, note.names) for note in retrieval.notes] == [
        ("no_vector", ("a", "b")),
        ("no_candidate", ("Q1",)),
    ]


def test_a_folder_that_holds_no_model_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(
        ValidationError, match=r"--embed: expected the folder of a model, found none at .*/bge-m3"
    ):
        load_model(tmp_path / "bge-m3")
    with pytest.raises(
        ValidationError, match="expected a model of model2vec or sentence-transformers, found neither"
    ):
        load_model(tmp_path)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValidationError, match=r"--embed: the model in .*/tiny cannot be loaded"):
        load_model(folder)


def test_a_model_of_sentence_transformers_needs_its_library(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(StateError, match="which is not installed: pip install 'sentence-transformers'"):
        load_model(folder)


def test_a_model_of_sentence_transformers_is_loaded_offline_from_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    for name in OFFLINE:
        monkeypatch.delenv(name, raising=False)
    seen: list[object] = []

    class FakeTransformer:
        def __init__(self, path: str, *, local_files_only: bool) -> None:
            seen.extend([path, local_files_only, *(os.environ[name] for name in OFFLINE)])

        def encode(self, texts: list[str]) -> list[list[float]]:
            seen.extend(os.environ[name] for name in OFFLINE)
            return [[len(text), 1.0] for text in texts]

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=FakeTransformer)
    )
    assert load_model(folder)(["ab", "a"]) == [[2, 1.0], [1, 1.0]]
    assert seen == [str(folder), True, "1", "1", "1", "1"]
    assert [name for name in OFFLINE if name in os.environ] == []
