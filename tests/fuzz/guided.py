"""Fuzz every reader by what its code did with the cases before: `make fuzz`, or `python -m tests.fuzz.guided --seconds 600 [--only NAME]`.

Atheris (libFuzzer) keeps each case that reaches a branch of annotator/ not reached before, and changes it further: as bytes, and every second time as
`damage` does, which knows the grammar of the files. Each target has a process of its own and its share of the time. Its cases stay in
.test-artifacts/fuzz/corpus/NAME for the next run. A failing case is kept in .test-artifacts/fuzz/, and the program then ends with 1.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.target import PROJECT

FAILURES = PROJECT / ".test-artifacts" / "fuzz"
MOST_SECONDS = 20  # of one case; the instrumented code takes longer
MOST_MEGABYTES = 3_000


def fuzz_target(name: str, seconds: int) -> None:
    """Fuzz one target in this process; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["annotator"], enable_loader_override=False):
        from tests.fuzz.readers import damage, list_targets, name_file, run_case

    (target,) = [target for target in list_targets() if target.name == name]
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
    parser.add_argument("--target", help="fuzz this one in this process")
    chosen = parser.parse_args()
    FAILURES.mkdir(parents=True, exist_ok=True)
    if chosen.target:
        fuzz_target(chosen.target, chosen.seconds)
        return 0
    from tests.fuzz.readers import list_targets

    names = [target.name for target in list_targets() if target.name.startswith(chosen.only)]
    share, failed = max(5, chosen.seconds // len(names)), []
    for name in names:
        print(f"{name}: {share} s", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "tests.fuzz.guided", "--target", name, "--seconds", str(share)]
        if subprocess.run(command, cwd=PROJECT, check=False).returncode:
            failed.append(name)
    print(f"{len(names)} readers, {len(failed)} with failures{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
