"""Our own retrievers over 100,000 documents: seconds and peak memory of each, in a process of its own.

    .venv/bin/python -m benchmarks.retrievers [--documents 100000] [--queries 1000] [--depth 100] [--only bm25,lsa]

The documents are those of `search_as_you_type`: some 500 characters each of 14,000 Japanese and English words whose
frequencies fall as in real text; a query is five such words. The vectors are drawn around 200 centres. `bm25s` is that
library alone with the same grams, all of them indexed. `read` only reads the documents: what every other process needs as well.
The aim for `vectors` with 768 dimensions: 10 s and 1 GB.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from annotator.pooling.retrievers.records import RetrievalOptions, SearchedDocument, SearchedQuery
from benchmarks.search_as_you_type import make_words

SMALL = "--documents 60 --queries 3 --depth 10 --dimensions 8 --here --only read,bm25,bm25s,tfidf,vectors"  # what the tests start it with
NAMES = ("read", "bm25", "bm25s", "tfidf", "lsa", "hybrid", "vectors")
CENTRES = 200


def main() -> None:
    """Make the data, then measure one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--dimensions", type=int, default=768)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--here", action="store_true", help="all in this process: the memory is that of all")
    parser.add_argument("--folder", help="of the data; with it, one retriever is measured")
    options = parser.parse_args()
    if options.folder:
        print(measure(options.only, Path(options.folder), options.depth))
        return
    print(f"{options.documents:,} documents, {options.queries:,} queries, depth {options.depth}")
    with tempfile.TemporaryDirectory() as name:
        make_texts(Path(name), options.documents, options.queries)
        if "vectors" in options.only.split(","):
            make_vectors(Path(name), options.documents, options.queries, options.dimensions)
        for retriever in options.only.split(","):
            words = ["--only", retriever, "--depth", str(options.depth), "--folder", name]
            if options.here:
                print(measure(retriever, Path(name), options.depth))
            else:
                subprocess.run([sys.executable, "-m", "benchmarks.retrievers", *words], check=True)


def make_texts(folder: Path, documents: int, queries: int) -> None:
    """Write a document per line, and a query per line."""
    draw = random.Random(0)
    words, weights = make_words(draw)
    for name, number, length in (("documents", documents, 94), ("queries", queries, 5)):
        with (folder / f"{name}.txt").open("w", encoding="utf-8") as file:
            for _ in range(number):
                file.write(" ".join(draw.choices(words, weights, k=length)) + "\n")


def make_vectors(folder: Path, documents: int, queries: int, dimensions: int) -> None:
    """Write vectors for all of them, drawn around the same centres."""
    draw = np.random.default_rng(0)
    centres = draw.standard_normal((CENTRES, dimensions), dtype=np.float32)
    for name, number in (("documents", documents), ("queries", queries)):
        path = folder / f"{name}.npy"
        rows = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(number, dimensions))
        for start in range(0, number, 10_000):
            size = min(10_000, number - start)
            noise = draw.standard_normal((size, dimensions), dtype=np.float32)
            rows[start : start + size] = centres[draw.integers(0, CENTRES, size)] + 2 * noise
        rows.flush()
        path.with_suffix(".ids").write_text("".join(f"{number}\n" for number in range(number)))


def read_texts(path: Path) -> Iterator[str]:
    """Yield the lines, of which only one is in memory."""
    with path.open(encoding="utf-8") as file:
        yield from file


def measure(name: str, folder: Path, depth: int) -> str:
    """Retrieve, and say how long it took by the clock and by the processor, and the most memory that the process has had."""
    began, busy = time.perf_counter(), time.process_time()
    if name == "read":
        found = sum(1 for _ in read_texts(folder / "documents.txt"))
    elif name == "bm25s":
        found = retrieve_by_bm25s(folder, depth)
    else:
        found = retrieve(name, folder, depth)
    seconds = time.perf_counter() - began
    processor = time.process_time() - busy
    return f"{name:<8} {seconds:7.1f} s {processor:7.1f} s of the processor {read_peak_memory():7,} MB   {found:,} results"


def retrieve(name: str, folder: Path, depth: int) -> int:
    """Return how many candidates the retriever has."""
    from annotator.pooling.retrievers.registry import retrieve_candidates

    queries = [
        SearchedQuery(str(number), text) for number, text in enumerate(read_texts(folder / "queries.txt"))
    ]
    options = RetrievalOptions()
    if name == "vectors":
        options = RetrievalOptions(vectors=folder / "documents.npy", query_vectors=folder / "queries.npy")
    retrieval = retrieve_candidates(
        [name],
        queries,
        lambda: (
            SearchedDocument(str(number), "", text)
            for number, text in enumerate(read_texts(folder / "documents.txt"))
        ),
        options,
        depth=depth,
        runs={},
    )
    return len(retrieval.candidates)


def retrieve_by_bm25s(folder: Path, depth: int) -> int:
    """Return how many results bm25s alone has, with the same grams."""
    import bm25s

    from annotator.pooling.retrievers.grams import cut_query

    codes = [cut_query(text) for text in read_texts(folder / "documents.txt")]
    vocabulary = np.unique(np.concatenate(codes))
    tokens = [np.searchsorted(vocabulary, part).tolist() for part in codes]
    index = bm25s.BM25(backend="numpy", csc_backend="numpy")
    index.index((tokens, {str(number): number for number in range(len(vocabulary))}), show_progress=False)
    found = 0
    for text in read_texts(folder / "queries.txt"):
        part = cut_query(text)
        part = part[np.isin(part, vocabulary)]
        scores = index.get_scores_from_ids(np.searchsorted(vocabulary, part))
        best = np.argpartition(-scores, min(depth, len(scores) - 1))[:depth]
        found += len(best[np.argsort(-scores[best])])
    return found


def read_peak_memory() -> int:
    """The largest resident memory of this process so far, in megabytes; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1000 for line in lines if line.startswith("VmHWM")), 0)


if __name__ == "__main__":
    main()
