"""How long it takes to find the near duplicates among many documents, and how many of those that were made are missed.

    .venv/bin/python -m benchmarks.near_duplicates [--documents 100000] [--threshold 0.9] [--seed 0]

Japanese, Korean and English documents of 300 to 3,000 characters, of words that are drawn as often as words are (Zipf). One
in ten is another one with some words changed, one in twenty a copy with other spacing. Half of the changed ones are about at
the threshold. All are looked at as the candidates of one query, the worst case; then as the candidates of 1,000 queries, 100
each. It fails if a document is missed that is as similar as the threshold to the one it was made from.
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from annotator.pooling.filters.near_duplicates import (
    SimilarTexts,
    hash_runs,
    measure_similarity,
    normalize_text,
)

SMALL = "--documents 300"  # what the tests start it with
KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん"
LETTERS = "eeeeeettttaaaaooooiiiinnnnsssshhhrrrdddlllcuumwfgypbvkjxqz"
WORDS = 20_000


def make_words(draw: random.Random, script: str) -> list[str]:
    """Return a vocabulary; the first words are the most frequent ones and the shortest."""
    words = []
    for number in range(WORDS):
        length = 1 + int(np.log10(number + 1)) + draw.randrange(2)
        if script == "ja":
            kanji = "".join(chr(0x4E00 + int(draw.random() ** 2 * 6_000)) for _ in range(length))
            words.append(kanji + "".join(draw.choice(KANA) for _ in range(draw.randrange(3))))
        elif script == "ko":
            words.append("".join(chr(0xAC00 + draw.randrange(11_172)) for _ in range(length)) + " ")
        else:
            words.append("".join(draw.choice(LETTERS) for _ in range(length + 2)) + " ")
    return words


def make_documents(count: int, threshold: float, seed: int) -> tuple[dict[int, str], dict[int, int]]:
    """Return texts by number, and for each text that was made from another one the number of that one."""
    draw = random.Random(seed)
    vocabularies = {script: make_words(draw, script) for script in ("ja", "ko", "en")}
    weights = np.cumsum(1 / np.arange(1, WORDS + 1)).tolist()
    documents: list[tuple[str, list[str]]] = []
    made_from: dict[int, int] = {}
    texts: dict[int, str] = {}
    for number in range(count):
        kind = draw.random()
        if kind < 0.15 and documents:
            origin = draw.randrange(len(documents))
            script, words = documents[origin]
            changed = list(words)
            if kind < 0.1:
                share = (1 - threshold) * draw.choice((0.02, 0.2))
                for place in draw.sample(range(len(changed)), max(1, int(share * len(changed)))):
                    changed[place] = draw.choice(vocabularies[script])
                texts[number] = "".join(changed)
            else:
                texts[number] = "\n".join(["", *"".join(words).split(" ")])
            made_from[number] = origin
        else:
            script = draw.choice(("ja", "ko", "en"))
            length = {"ja": 4, "ko": 4, "en": 6}[script]
            size = int(draw.lognormvariate(6.8, 0.6))
            words_needed = max(300, min(size, 3_000)) // length
            changed = draw.choices(vocabularies[script], cum_weights=weights, k=words_needed)
            texts[number] = "".join(changed)
        documents.append((script, changed))
    return texts, made_from


def measure(what: str, work: Callable[[], Any]) -> Any:
    """Do the work and print how long it took, and the most memory so far."""
    started, cpu = time.perf_counter(), time.process_time()
    result = work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<60} {seconds:>8.1f} {cpu:>8.1f} {memory:>8,.0f}")
    return result


def count_missed(
    texts: dict[int, str], made_from: dict[int, int], left_out: dict[int, int], threshold: float
) -> tuple[int, int]:
    """Return how many documents are as similar as the threshold to the kept one they were made from, and how many of them stay."""
    alike = missed = 0
    for number, origin in made_from.items():
        if origin in left_out:
            continue
        runs, others = (np.unique(hash_runs(normalize_text(texts[item]))) for item in (number, origin))
        if measure_similarity(runs, others) >= threshold:
            alike += 1
            missed += number not in left_out
    return alike, missed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    texts, made_from = make_documents(chosen.documents, chosen.threshold, chosen.seed)
    characters = sum(map(len, texts.values()))
    print(
        f"{len(texts):,} documents, {characters / len(texts):,.0f} characters on average, threshold {chosen.threshold}"
    )
    print(f"{'':<60} {'seconds':>8} {'CPU s':>8} {'peak MB':>8}")
    measure("the texts themselves", lambda: None)
    similar = measure("MinHash of every text", lambda: SimilarTexts(chosen.threshold, texts.items()))
    suspects = measure("which texts may be alike", lambda: similar.list_suspects(texts))
    ordered = sorted(suspects)
    left_out = measure("comparing them, one query", lambda: similar.find_duplicates(ordered, (), texts))
    draw = random.Random(chosen.seed)
    queries = [draw.sample(range(len(texts)), min(100, len(texts))) for _ in range(1_000)]

    def look_at_queries() -> int:
        duplicates = 0
        for documents in queries:
            alike = similar.list_suspects(documents)
            duplicates += len(
                similar.find_duplicates([item for item in documents if item in alike], (), texts)
            )
        return duplicates

    measure("1,000 queries of 100 candidates", look_at_queries)
    exact = measure("equal texts only", lambda: SimilarTexts(None, texts.items()))
    same = measure(
        "comparing them", lambda: exact.find_duplicates(sorted(exact.list_suspects(texts)), (), texts)
    )
    alike, missed = count_missed(texts, made_from, left_out, chosen.threshold)
    print(f"{len(suspects):,} compared, {len(left_out):,} near duplicates, {len(same):,} equal texts")
    print(f"of {alike:,} that were made as similar as the threshold {missed:,} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
