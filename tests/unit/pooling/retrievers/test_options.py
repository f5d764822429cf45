"""Options of retrievers: how weights are written, and what does not go together."""

from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.pooling.retrievers.records import (
    RetrievalOptions,
    check_options,
    choose_fused,
    describe_options,
    list_fused_runs,
    read_weights,
)

FILE = Path("vectors/documents.npy")


def test_weights_are_read_by_name() -> None:
    text = "bm25=0.6, vectors=1,run:벡터 = v2=.8"
    assert read_weights(text, option="--weights") == {"bm25": 0.6, "vectors": 1.0, "run:벡터 = v2": 0.8}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm25", "expected NAME=WEIGHT with a weight above 0, found 'bm25'"),
        ("bm25=", "found 'bm25='"),
        ("=1", "found '=1'"),
        ("bm25=x", "found 'bm25=x'"),
        ("bm25=0", "found 'bm25=0'"),
        ("bm25=-1", "found 'bm25=-1'"),
        ("bm25=nan", "found 'bm25=nan'"),
        ("bm25=inf", "found 'bm25=inf'"),
        ("bm25=1,bm25=2", "expected each name once, found 'bm25' twice"),
        (" , ", "expected NAME=WEIGHT, found ' , '"),
    ],
)
def test_a_wrong_weight_is_named_in_the_error(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=f"--weights: .*{message}"):
        read_weights(text, option="--weights")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["lsi"], RetrievalOptions(), "there is no retriever 'lsi'; there is: bm25, tfidf, lsa"),
        (["bm25"], RetrievalOptions(weights={"bm25": 1}), "--weights goes with --retrieve hybrid"),
        (["bm25"], RetrievalOptions(title_boost={"exact": 1}), "--title-boost goes with --retrieve hybrid"),
        (
            ["hybrid"],
            RetrievalOptions(weights={"s": 1}),
            "--weights: expected bm25, .* or run:SYSTEM, found 's'",
        ),
        (["hybrid"], RetrievalOptions(weights={"hybrid": 1}), "--weights: .*found 'hybrid'"),
        (["hybrid"], RetrievalOptions(weights={"run:": 1}), "--weights: .*found 'run:'"),
        (
            ["vectors"],
            RetrievalOptions(),
            "'vectors' needs --vectors FILE and --query-vectors FILE, or --embed FOLDER",
        ),
        (["hybrid"], RetrievalOptions(weights={"vectors": 1}), "'vectors' needs --vectors FILE"),
        (["vectors"], RetrievalOptions(vectors=FILE), "--vectors and --query-vectors go together"),
        (["vectors"], RetrievalOptions(query_vectors=FILE), "--vectors and --query-vectors go together"),
        (
            ["vectors"],
            RetrievalOptions(query_vectors=FILE, embed=FILE),
            "--embed makes the vectors: leave --vectors",
        ),
        (
            ["bm25"],
            RetrievalOptions(vectors=FILE, query_vectors=FILE),
            "--vectors goes with --retrieve vectors",
        ),
        (["bm25", "hybrid"], RetrievalOptions(embed=FILE), "--embed goes with --retrieve vectors"),
        (
            ["hybrid"],
            RetrievalOptions(title_boost={"whole": 1}),
            "--title-boost: expected exact or partial, found 'whole'",
        ),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    names: list[str], options: RetrievalOptions, message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        check_options(names, options)


@pytest.mark.parametrize(
    ("names", "weights", "fused"),
    [
        (["bm25"], {}, {}),
        (["hybrid"], {}, {"bm25": 1.0, "lsa": 1.0}),
        (["tfidf", "hybrid", "lsa"], {}, {"tfidf": 1.0, "lsa": 1.0}),
        (["lsa", "hybrid"], {"bm25": 0.6, "run:s": 0.8}, {"bm25": 0.6, "run:s": 0.8}),
    ],
)
def test_hybrid_fuses_the_weighted_lists_or_the_other_retrievers(
    names: list[str], weights: dict[str, float], fused: dict[str, float]
) -> None:
    options = RetrievalOptions(weights=weights)
    check_options(names, options)
    assert choose_fused(names, options) == fused
    assert list_fused_runs(names, options) == (("s",) if "run:s" in fused else ())


def test_hybrid_alone_fuses_vectors_if_there_are_any() -> None:
    options = RetrievalOptions(embed=FILE)
    check_options(["hybrid"], options)
    assert choose_fused(["hybrid"], options) == {"bm25": 1.0, "vectors": 1.0}


def test_the_record_of_a_round_has_the_options_of_its_retrievers() -> None:
    assert describe_options(["bm25"], RetrievalOptions(seed=3)) == {}
    options = RetrievalOptions(seed=3, title_boost={"exact": 1.2})
    assert describe_options(["hybrid"], options) == {
        "weights": {"bm25": 1.0, "lsa": 1.0},
        "title_boost": {"exact": 1.2},
        "lsa_seed": 3,
    }
    files = RetrievalOptions(vectors=FILE, query_vectors=Path("q.npz"))
    assert describe_options(["vectors"], files) == {"vectors": "documents.npy", "query_vectors": "q.npz"}
