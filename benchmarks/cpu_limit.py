"""Hold a process and its threads to a share of one core, as a smaller machine would (Linux control groups; needs root)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
PERIOD = 10_000  # microseconds; short, so that waiting for the next one hardly shows in the times of single requests


@contextmanager
def limit_cpu(pid: int, cores: float) -> Iterator[None]:
    """The process `pid` gets at most so much processor time in each second; exits with a message where that is impossible."""
    quota = round(cores * PERIOD)
    older = (GROUPS / "cpu").is_dir()
    group = (GROUPS / "cpu" if older else GROUPS) / f"annotator-benchmark-{pid}"
    limits = (
        {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)}
        if older
        else {"cpu.max": f"{quota} {PERIOD}"}
    )
    try:
        if not older:
            (GROUPS / "cgroup.subtree_control").write_text("+cpu")
        group.mkdir()
        for name, value in limits.items():
            (group / name).write_text(value)
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        sys.exit(f"cannot limit the processor time of a server: {error} (needs root and the cpu controller)")
    try:
        yield
    finally:
        if Path(f"/proc/{pid}").exists():
            (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()
