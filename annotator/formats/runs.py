"""Reads a run file of any kind, and makes one system's run of its results.

Refused: an empty file, several systems in one file unless one name is given for all, options that are for JSON where
the file is none. In which order the results stand is for `importing/run_order.py` to say.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from annotator.domain.errors import BadInput, FormatError, Problems, ValidationError
from annotator.domain.ground_truth import RunEntry
from annotator.formats.json_text import is_comment
from annotator.formats.run_json import TIME_UNITS, TimeUnit, read_json_run
from annotator.formats.run_lines import RunFile, RunLine
from annotator.formats.text import describe, read_text
from annotator.formats.trec_run import read_trec_run

KINDS = ("trec", "jsonl", "json")


def read_run_file(
    data: bytes,
    path: str,
    *,
    kind: str | None = None,
    id_field: str | None = None,
    response_time_unit: str | None = None,
) -> RunFile:
    """The results of a run file with their lines. `kind`: one of KINDS, None: by content.

    BadInput names every bad line. The other options are those of `read_json_run`.
    """
    if kind not in (None, *KINDS):
        raise ValidationError(f"no run format named {kind!r}; there are: {', '.join(KINDS)}")
    unit = _check_unit(response_time_unit)
    text, problems = read_text(data, path), Problems(path)
    if kind in ("jsonl", "json") or (kind is None and _is_json(text[:1_000], path)):
        file = read_json_run(text, problems, id_field=id_field, response_time_unit=unit)
    elif id_field or unit:
        option = "--id-field" if id_field else "--response-time-unit"
        raise ValidationError(f"{option}: {path} is no JSON")
    else:
        file = RunFile(tuple(read_trec_run(text, problems)))
    if not file.lines and not problems:
        found = "an empty file" if not file.answers else "none"
        expected = (
            "lines of query_id Q0 doc_id rank score tag"
            if not file.answers
            else "a result of at least one query"
        )
        problems.add(None, expected, found)
    problems.raise_if_any()
    return file


def _is_json(head: str, path: str) -> bool:
    """Whether a file begins as JSON does; a comment before it is refused as one where the name says that it is JSON."""
    named = path.lower().endswith((".json", ".jsonl"))
    return head.lstrip()[:1] in ("{", "[") or (named and is_comment(head))


def find_system(file: RunFile, path: str) -> str | None:
    """The one system that a file names; None when it names none. BadInput when it names several."""
    tags: dict[str | None, int] = {}
    for tag, line in chain(
        ((line.tag, line.line) for line in file.lines), ((answer.tag, answer.line) for answer in file.answers)
    ):
        tags.setdefault(tag, line)
    if len(tags) > 1:
        names = ", ".join(describe(tag) for tag in list(tags)[:5])
        expected = "one system in a file (or --system NAME for all of it)"
        raise BadInput([FormatError(path, list(tags.values())[1], expected, names)])
    return next(iter(tags))


def require_system(file: RunFile, path: str) -> str:
    """The one system that a file names. BadInput when it names none, or several."""
    system = find_system(file, path)
    if system is None:
        raise BadInput([FormatError(path, None, "the system's name: --system NAME", "none in the file")])
    return system


def keep_tags(lines: Iterable[RunLine], system: str) -> list[RunLine]:
    """The lines of a run of that name; a tag that is another is kept as the signal `tag`."""
    return [
        line if line.tag in (None, system) else line._replace(entry=_keep_tag(line.entry, line.tag))
        for line in lines
    ]


def _keep_tag(entry: RunEntry, tag: str | None) -> RunEntry:
    return replace(entry, signals={**entry.signals, "tag": tag})


def _check_unit(unit: str | None) -> TimeUnit | None:
    for known in TIME_UNITS:
        if unit == known:
            return known
    if unit is None:
        return None
    raise ValidationError(f"--response-time-unit: expected one of {', '.join(TIME_UNITS)}, found {unit!r}")
