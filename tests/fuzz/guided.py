"""Fuzz every reader by what its code did with the cases before: `make fuzz`, or `python -m tests.fuzz.guided --seconds 600 [--only NAME]`.

Atheris (libFuzzer) keeps each case that reaches a branch of annotator/ not reached before, and changes it further: as bytes, and every second time as
`damage` does, which knows the grammar of the files. Each target has a process of its own, forked after the instrumented import, and its
share of the time. Its cases stay in .test-artifacts/fuzz/corpus/NAME for the next run. A failing case is kept in .test-artifacts/fuzz/, and
the program then ends with 1.
"""

import argparse
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path

from tests.fuzz.target import PROJECT, Target

FAILURES = PROJECT / ".test-artifacts" / "fuzz"
MOST_SECONDS = 20  # of one case; the instrumented code takes longer
MOST_MEGABYTES = 3_000


def fuzz_target(target: Target, seconds: int) -> None:
    """Fuzz one target in this process; libFuzzer ends the process."""
    import atheris

    from tests.fuzz.readers import damage, name_file, run_case

    corpus = FAILURES / "corpus" / name_file(target)
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    folder = Path(tempfile.mkdtemp(prefix="guided-", dir=FAILURES))

    def change(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        if draw.random() < 0.5:
            return bytes(damage(draw, (data, *target.seeds), target.suffix)[:most])
        return bytes(atheris.Mutate(data, most))

    options = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={seconds}",
        f"-timeout={MOST_SECONDS}",
        f"-rss_limit_mb={MOST_MEGABYTES}",
        f"-malloc_limit_mb={MOST_MEGABYTES}",
        "-max_len=100000",
        f"-artifact_prefix={FAILURES}/{name_file(target)}-",
        "-verbosity=0",
    ]
    atheris.Setup(options, lambda data: run_case(target, data, folder), custom_mutator=change)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3_600)
    parser.add_argument("--only", default="", help="the targets whose names begin so")
    chosen = parser.parse_args()
    FAILURES.mkdir(parents=True, exist_ok=True)
    import atheris

    with atheris.instrument_imports(include=["annotator"], enable_loader_override=False):
        from tests.fuzz.readers import list_targets

        targets = [target for target in list_targets() if target.name.startswith(chosen.only)]
    share, failed = max(5, chosen.seconds // len(targets)), []
    for target in targets:
        print(f"{target.name}: {share} s", file=sys.stderr, flush=True)
        process = multiprocessing.get_context("fork").Process(target=fuzz_target, args=(target, share))
        process.start()
        process.join()
        if process.exitcode:
            failed.append(target.name)
    print(f"{len(targets)} readers, {len(failed)} with failures{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
