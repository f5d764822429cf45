"""Feed every reader damaged and contrived files: `python -m tests.fuzz.readers --minutes 60 --seed 0 [--only NAME]`.

A reader may do two things: return its records, or raise one of the project's errors; BadInput names for every bad place a
line of the file (or none), what was expected and what was found. Everything else is a failure: another exception, more than
MOST_SECONDS of processor time, more than MOST_BYTES of memory. Case n of a seed is the same on every machine. A failing case is written to
.test-artifacts/fuzz/ and named with its traceback; the program then ends with 1.
"""

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from annotator.adjudication.bulk.bulk_files import read_decisions, read_order
from annotator.dataset.coverage_requirements import read_requirements
from annotator.dataset.coverage_service import check_file
from annotator.dataset.rubric_file import read_rubric
from annotator.domain.errors import AnnotatorError, BadInput, Problems
from annotator.formats.input_tables import read_documents, read_pairs, read_queries
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import FORMATS, read_truth
from annotator.formats.runs import read_run_file
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import read_text
from annotator.importing.judgments.provenance import read_provenance
from annotator.importing.remapping.remapping import read_remap
from annotator.importing.texts.law_articles import CUTS, cut_law
from annotator.importing.texts.sections import read_page, split_sections
from annotator.labeling.calibration_service import read_check_lines
from tests.fuzz.further_targets import list_further_targets
from tests.fuzz.target import PROJECT, Read, Target

SAMPLES = PROJECT / "annotator" / "formats" / "samples"
KOREAN_LAW = """##### 제1조 (목적)

**①** 법 제17조의2제1항에 따른다.

  1\\. 가

**②** 삭제 <2011.4.14>

## 부칙

부칙 <제6655호,2002.2.4>
"""
JAPANESE_LAW = "（目的）\n第一条　この法律は次による。\n一　市街地\n２　前項の区域。\n附　則　（平成二年法律第六十一号）\n第三条　削除\n"
FAILURES = PROJECT / ".test-artifacts" / "fuzz"
MOST_SECONDS = 10
MOST_BYTES = 3_000_000_000
MOST_LENGTH = 200_000


def list_targets() -> list[Target]:
    """Every reader of the program, each with at least one good file."""
    targets = [*_list_formats(), *_list_tables(), *list_further_targets()]
    pages = (
        b"# Title\n\ntext\n\n## Part\n",
        "제목\n====\n\n본문 🔎\n\n절\n--\n".encode(),
        b"<h1>a</h1><p>b<h2 id=x>c</h2>",
    )
    for suffix, media_type in ((".md", "text/markdown"), (".rst", "text/x-rst"), (".html", "text/html")):
        targets.append(Target(f"page{suffix}", suffix, _read_page_as(media_type), pages))
    targets.append(
        Target("law articles", ".md", _cut_law, tuple(law.encode() for law in (KOREAN_LAW, JAPANESE_LAW)))
    )
    rubric = (PROJECT / "datasets" / "demo" / "rubric.yaml").read_bytes()
    templates = sorted((PROJECT / "annotator" / "dataset" / "templates").glob("*.yaml"))
    provenance = b'who: two experts\nwhen: "2019"\nhow: "\xe7\xb4\x99"\nblind: true\nlicence: CC0\n'
    targets += [
        Target("rubric", ".yaml", lambda data, path: read_rubric(data, str(path)), (rubric,)),
        Target(
            "requirements", ".yaml", lambda data, path: read_requirements(data, str(path)),
            tuple(template.read_bytes() for template in templates),
        ),
        Target("provenance", ".yaml", _read_provenance_file, (provenance,)),
        Target("provenance.json", ".json", _read_provenance_file, (b'{"who": "a", "blind": true}',)),
    ]  # fmt: skip
    return targets


def _list_formats() -> Iterator[Target]:
    for file_format in FORMATS:
        if file_format.name == "beir":
            continue  # a folder; its files are the tables below
        seeds = tuple(
            path.read_bytes() for path in sorted(SAMPLES.glob(f"{file_format.name}.*")) if path.is_file()
        )
        if not seeds:
            raise ValueError(f"no sample of {file_format.name}")
        name = file_format.name
        yield Target(name, file_format.suffixes[0], _check_as(name), seeds)
        yield Target(f"{name}?", file_format.suffixes[0], _check_as(None), seeds)


def _check_as(name: str | None) -> Read:
    def read(data: bytes, path: Path) -> object:
        source = InputSource(str(path), data)
        report = check_file(source, format_name=name)
        for problem in report.problems:
            check_problem(problem.line, problem.expected, problem.found, data)
        if report.valid:
            read_truth(source, format_name=report.format, grades_by=report.grades_by)
        return report

    return read


def _list_tables() -> Iterator[Target]:
    rows = {
        "queries": ("query_id,text,category,language", "Q1,検索 🔎,a,ja", '"Q ""2""","질의\n둘",,ko'),
        "documents": ("doc_id,title,text,url", "d1,題,本文,https://example.org/x", "d2,,,"),
        "judgments": (
            "query_id,doc_id,annotator,grade,note,judged_at,seconds",
            "Q1,d1,花子,2,,2026-01-02T03:04:05+09:00,1.5", "Q1,d2,민준,unrateable,읽을 수 없음,,",
        ),
        "pairs": ("query_id,doc_id,why", "Q1,d1,x", "Q2,법/17조,"),
        "marks": ("query_id,doc_id,kind,grade,explanation", "Q1,d1,training,2,第17条", "Q2,d2,gold,0,"),
        "decisions": ("query_id,doc_id,grade,rationale,reason", "Q1,d1,2,第17条,guideline_gap", "Q2,d2,0,x,"),
        "order": ("query_id,doc_id", "Q1,d1", "Q1,d2"),
        "remap": ("old_doc_id,new_doc_id", "a,a#1", "a,a#2"),
    }  # fmt: skip
    readers: dict[str, Read] = {
        "queries": lambda data, path: read_queries(data, str(path)),
        "documents": lambda data, path: read_documents(data, str(path)),
        "judgments": lambda data, path: read_judgments(data, str(path)),
        "pairs": lambda data, path: read_pairs(data, str(path)),
        "marks": _collecting(read_check_lines),
        "decisions": _collecting(read_decisions),
        "order": _collecting(read_order),
        "remap": lambda data, path: read_remap(data, str(path)),
    }
    for name, lines in rows.items():
        table = "\n".join(lines).encode()
        yield Target(f"{name}.csv", ".csv", readers[name], (table,))
        yield Target(f"{name}.tsv", ".tsv", readers[name], (table.replace(b",", b"\t"),))
        columns = lines[0].split(",")
        objects = [dict.fromkeys(columns, "x"), {column: index for index, column in enumerate(columns)}]
        text = "\n".join(json.dumps(item) for item in objects)
        yield Target(f"{name}.jsonl", ".jsonl", readers[name], (text.encode(),))
    runs = (
        b"Q1 Q0 d1 1 2.5 bm25\nQ1 Q0 d2 2 2.5 bm25\nQ2 Q0 d1 1 -1e3 bm25\n",
        b'{"query_id": "Q1", "doc_id": "d1", "rank": 1, "score": 2.5, "signals": {"bm25": 3}}\n',
        b'[{"query": "Q1", "results": [{"hang_id": "d", "score": 1.0, "x": [1]}], "response_time": 0.2}]',
    )
    for suffix in (".txt", ".jsonl", ".json"):
        yield Target(f"run{suffix}", suffix, lambda data, path: read_run_file(data, str(path)), runs)


def _collecting(read: Callable[[bytes, str, Problems], object]) -> Read:
    def read_all(data: bytes, path: Path) -> object:
        problems = Problems(str(path))
        body = read(data, str(path), problems)
        problems.raise_if_any()
        return body

    return read_all


def _cut_law(data: bytes, path: Path) -> object:
    page = read_page(path.name, read_text(data, str(path)), "text/markdown")
    return [cut_law(page, cut) for cut in CUTS]


def _read_page_as(media_type: str) -> Read:
    def read(data: bytes, path: Path) -> object:
        return split_sections(read_page(path.name, read_text(data, str(path)), media_type))

    return read


def _read_provenance_file(data: bytes, path: Path) -> object:
    path.write_bytes(data)
    return read_provenance(path)


# Damage --------------------------------------------------------------------------------------------------

NASTY = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n\n", b"\t", b'"', b'""', b"'", b"{", b"}", b"[", b"]",
    b"[" * 200, b"[" * 20_000, b'{"a":' * 200, b'{"a":' * 3_000, b"- " * 200, b"- " * 5_000, b"{a: " * 2_000, b"&a [*a]", b"*x", b"!!python/object:os.system x", b"!!timestamp x", b"!!binary =", b"<<: *a",
    b"NaN", b"-Infinity", b"1e999", b"-0", b"0x1F", b"0o7", b"1_000", b"9" * 400, b"0.1e-400", b"true", b"null", b"~", b"yes", b"2001-13-99",
    b"\\u0000", b"\\ud800", "\u2028".encode(), "\u202e".encode(), "e\u0301".encode(), "🔎👩‍🚀".encode(), "제17조".encode(), b"%YAML 9.9\n---\n",
    b"---\n", b"...\n", b"// c\n", b"# c\n", b"/* c */", b",,,,", b"Q0", b"__proto__", b"=1+1", b"../../etc/passwd", b" ", b"\x85", b"\x1c",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 4, 10**30, 1.5, float("1e300"), "", " ", "0", "x" * 3_000, "\u0000", "제17조", [], {}, [[]], [None], {"": 1}, [{}],
    {"relevance": []}, ["a", "a"], {"d": {"relevance": 9}}, "2026-01-01T00:00:00Z", "unrateable",
)  # fmt: skip


def damage(draw: random.Random, seeds: tuple[bytes, ...], suffix: str) -> bytes:
    """A file made from the seeds: changed as data where it can be, then byte by byte."""
    data = draw.choice(seeds)
    if draw.random() < 0.5:
        data = _damage_tree(draw, data, suffix)
    for _ in range(draw.choice((0, 0, 1, 1, 2, 5, 20))):
        data = _damage_bytes(draw, data, seeds)
    return data[:MOST_LENGTH]


def _damage_tree(draw: random.Random, data: bytes, suffix: str) -> bytes:
    try:
        value = json.loads(data) if suffix == ".json" else yaml.safe_load(data) if suffix == ".yaml" else None
    except (
        ValueError,
        AttributeError,
        yaml.YAMLError,
        RecursionError,
    ):  # AttributeError: !!timestamp of no time
        return data
    if not isinstance(value, (dict, list)):
        return data
    for _ in range(draw.randint(1, 6)):
        _change_somewhere(draw, value)
    if suffix == ".json":
        return json.dumps(value, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1))).encode(
            "utf-8", "replace"
        )
    return yaml.safe_dump(
        value, allow_unicode=True, default_flow_style=draw.choice((None, True, False))
    ).encode("utf-8", "replace")


def _change_somewhere(draw: random.Random, value: Any) -> None:
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            break
        key = draw.choice(keys)
        if isinstance(value[key], (dict, list)) and draw.random() < 0.75:
            value = value[key]
            continue
        action = draw.random()
        if action < 0.6:
            value[key] = deepcopy(draw.choice(VALUES))
        elif action < 0.8:
            del value[key]
        elif isinstance(value, list):
            value.insert(key, deepcopy(value[key]))
        else:
            value[draw.choice(("query", "id", "doc_id", "relevance", "", "제", "annotator_1"))] = deepcopy(
                value[key]
            )
        return


def _damage_bytes(draw: random.Random, data: bytes, seeds: tuple[bytes, ...]) -> bytes:
    at, length = draw.randint(0, len(data)), draw.choice((1, 1, 2, 8, 40, 400))
    action = draw.randrange(7)
    if action == 0:
        return data[:at] + draw.choice(NASTY) + data[at:]
    if action == 1:
        return data[:at] + data[at + length :]
    if action == 2:
        return data[:at] + data[at : at + length] * draw.choice((2, 3, 50)) + data[at + length :]
    if action == 3:
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    if action == 4:
        other = draw.choice(seeds)
        start = draw.randint(0, len(other))
        return data[:at] + other[start : start + length * 10] + data[at:]
    if action == 5:
        return data[:at]
    lines = data.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines)


# Holding a reader to what it may do ------------------------------------------------------------------------


def check_problem(line: int | None, expected: str, found: str, data: bytes) -> None:
    """AssertionError unless the problem names a line of the file (or none), what was expected and what was found."""
    assert expected.strip(), "nothing is said to be expected"
    assert found.strip(), "nothing is said to be found"
    lines = len(data.splitlines()) + data.count(b"\r") + 2
    assert line is None or 1 <= line <= lines, f"line {line} of a file of {lines}"


def run_case(target: Target, data: bytes, folder: Path) -> None:
    """Let the reader read; any exception that is not the project's own leaves this function."""
    path = folder / f"fuzz{target.suffix}"
    try:
        target.read(data, path)
    except BadInput as error:
        assert error.problems, "BadInput without a problem"
        for problem in error.problems:
            check_problem(problem.line, problem.expected, problem.found, data)
    except AnnotatorError as error:
        assert str(error).strip(), "an error without a message"


def make_case(seed: int, number: int, targets: list[Target]) -> tuple[Target, bytes]:
    """Case `number` of this seed."""
    draw = random.Random(f"{seed}/{number}")
    target = targets[number % len(targets)]
    return target, damage(draw, target.seeds, target.suffix)


def name_file(target: Target) -> str:
    """Return the target's name as the name of a file."""
    return target.name.replace("?", "-any").replace(" ", "-").replace("/", "-")


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS} seconds of processor time")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the targets whose names begin so")
    parser.add_argument("--most", type=int, default=10, help="end after so many failures")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGPROF, _too_slow)
    targets = [target for target in list_targets() if target.name.startswith(chosen.only)]
    failures, number, cases, slowest = 0, 0, 0, (0.0, "")
    FAILURES.mkdir(parents=True, exist_ok=True)
    folder = Path(
        tempfile.mkdtemp(prefix=f"case-{chosen.seed}-", dir=FAILURES)
    )  # another run may go on beside this one
    end = time.monotonic() + 60 * chosen.minutes
    while time.monotonic() < end and failures < chosen.most:
        round_of_all, index = divmod(number, len(targets))
        if round_of_all % targets[index].every and not chosen.only:
            number += 1
            continue
        target, data = make_case(chosen.seed, number, targets)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            run_case(target, data, folder)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failures += 1
            name = FAILURES / f"{chosen.seed}-{number}-{name_file(target)}"
            name.write_bytes(data)
            print(f"case {number} of seed {chosen.seed}: {target.name}, kept in {name}", file=sys.stderr)
            traceback.print_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, (time.process_time() - began, f"case {number}, {target.name}"))
        number, cases = number + 1, cases + 1
    print(
        f"{cases:,} cases of {len(targets)} readers, {failures} failures; slowest {slowest[0]:.1f} s ({slowest[1]})"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
