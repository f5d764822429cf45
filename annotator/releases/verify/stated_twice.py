"""Compare what a release states twice, in its manifest and in its pictures, and name the keys that a manifest lacks.

Paths are keys joined by dots. In a list they lead to the entry with this name, or else to every entry: `gates.kappa.met`,
`agreement.groups.pairs`. The pictures are drawn again. Another version of the program may draw them differently, so only
their texts are compared: every number in them, and a share to the digit shown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotator.releases.verify.read_back import ReleaseFault, is_plain
from annotator.releases.verify.recompute import ROUNDED
from annotator.releases.writing.files import CONFUSION_PICTURE, GRADES_PICTURE, MANIFEST
from annotator.releases.writing.pictures import draw_confusion, draw_grades

_GATES = ("kappa", "disagreements", "overlap", "quality_control", "coverage", "relevant", "stale")
_OF_A_GATE = ("required", "measured", "met", "override")
_KEYS: Sequence[Sequence[str]] = (
    (
        *(
            "dataset",
            "version",
            "created_at",
            "published_by",
            "note",
            "scale",
            "guideline_version",
            "previous",
        ),
        *("content_sha256", "counts", "agreement", "files"),
        *(f"gates.{name}.{key}" for name in _GATES for key in _OF_A_GATE),
    ),
    ("list_grade_0",),
    tuple(f"gates.unjudged_queries.{key}" for key in _OF_A_GATE),
    ("order",),
    ("authors", "contact", "licence", "source", "agreement.groups"),
    tuple(f"gates.ids.{key}" for key in _OF_A_GATE),
)
"""The keys of every manifest, then the keys that later versions of the program added, oldest first.

A manifest that has a key of one line must have all keys of the lines above.
"""
_INTERVAL = "agreement.cohen_kappa.unweighted.ci95"
_BY_INTERVAL = 2  # manifests from this line of _KEYS on: the whole interval must reach the target of kappa
_EQUAL: Mapping[str, Sequence[str]] = {
    "gates.kappa.measured": ("agreement.cohen_kappa.unweighted.value",),
    "gates.disagreements.measured": ("counts.disagreement", "counts.reopened"),
    "gates.unjudged_queries.measured": ("counts.queries_without_qrels",),
    "agreement.pairs": ("agreement.groups.pairs",),
}  # each figure, and those that add up to it
_AT_MOST = {
    "gates.relevant.measured": "order.queries_without_relevant",
    "gates.overlap.measured": "counts.pairs",
    "gates.stale.measured": "counts.qrels",
}
_COUNTED = ("disagreements", "overlap", "unjudged_queries", "relevant", "stale", "ids")  # 0 is required
_MORE_IS_BETTER = ("kappa", "coverage")
_NEEDS_MORE = ("kappa", "quality_control")  # a good figure alone does not meet these


def compare_manifest(manifest: Mapping[str, Any]) -> Iterator[ReleaseFault]:
    """Yield the keys that a manifest lacks, and where it contradicts itself. TypeError if a count is no number."""
    latest = max(
        (place for place, paths in enumerate(_KEYS) if any(find_values(manifest, path) for path in paths)),
        default=0,
    )
    missing = [_cut_to_missing(manifest, path) for paths in _KEYS[: latest + 1] for path in paths]
    for path in filter(None, dict.fromkeys(missing)):
        yield ReleaseFault(MANIFEST, f"the key {path}", "none")
    for path, parts in _EQUAL.items():
        values = [value for part in parts for value in find_values(manifest, part)]
        value = values[0] if len(values) == 1 else sum(values)
        for number in find_values(manifest, path) if values else ():
            if number != value:
                yield ReleaseFault(MANIFEST, f"{path} {value} as {' + '.join(parts)}", str(number))
    for path, most in _AT_MOST.items():
        for number in find_values(manifest, path):
            for limit in find_values(manifest, most):
                if number > limit:
                    yield ReleaseFault(MANIFEST, f"{path} at most {limit}, as {most}", str(number))
    intervals = find_values(manifest, _INTERVAL) or [None]
    targets = find_values(manifest, "gates.kappa.required")
    for interval, target in zip(intervals, targets, strict=False):
        is_below = not interval or interval[0] < target - ROUNDED
        if is_below and latest >= _BY_INTERVAL and True in find_values(manifest, "gates.kappa.met"):
            yield ReleaseFault(MANIFEST, f"gates.kappa.met False, as {_INTERVAL} {interval}", "True")
    for gate in find_values(manifest, "gates"):
        for entry in gate if isinstance(gate, list) else ():
            yield from _compare_gate(entry)


def _compare_gate(gate: Any) -> Iterator[ReleaseFault]:
    """Find a gate that its own figures contradict, or that was neither met nor overridden: it stops a release."""
    if not isinstance(gate, dict):
        return
    name, met = gate.get("name"), gate.get("met")
    measured, required = gate.get("measured"), gate.get("required")
    if met is not True and not isinstance(gate.get("override"), dict):
        yield ReleaseFault(MANIFEST, f"the gate {name} met, or overridden with a reason", "neither")
    if name in _COUNTED and required != 0:
        yield ReleaseFault(MANIFEST, f"gates.{name}.required 0", str(required))
    if name not in (*_COUNTED, *_MORE_IS_BETTER, *_NEEDS_MORE) or required is None:
        return
    is_good = measured is not None and (
        measured >= required - ROUNDED if name in _MORE_IS_BETTER else measured <= required + ROUNDED
    )
    if met is not is_good and (met or name not in _NEEDS_MORE):
        expected = f"gates.{name}.met {is_good}, as its figures: measured {measured}, required {required}"
        yield ReleaseFault(MANIFEST, expected, str(met))


def find_values(value: Any, path: str) -> list[Any]:
    """Return every value at a path."""
    if not path:
        return [value]
    key, _, rest = path.partition(".")
    if isinstance(value, dict):
        return find_values(value[key], rest) if key in value else []
    entries = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    named = [item for item in entries if item.get("name") == key]
    if named:
        return [found for item in named for found in find_values(item, rest)]
    return [found for item in entries if "name" not in item for found in find_values(item, path)]


def _cut_to_missing(manifest: Mapping[str, Any], path: str) -> str | None:
    """Return the shortest part of the path, from its start, that the manifest lacks; None if it has the path."""
    keys = path.split(".")
    beginnings = (".".join(keys[:length]) for length in range(1, len(keys) + 1))
    return next((beginning for beginning in beginnings if not find_values(manifest, beginning)), None)


_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_TEXT = re.compile(r">([^<]+)<")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def compare_pictures(folder: Path, manifest: Mapping[str, Any]) -> tuple[list[ReleaseFault], list[str]]:
    """Return where a picture shows other numbers than the manifest, and sentences about pictures drawn in another way."""
    faults, notes = [], []
    for path in (GRADES_PICTURE, CONFUSION_PICTURE):
        if not is_plain(folder / path):
            continue
        names = [str(item["name"]) for item in manifest["scale"]]
        drawn = (
            draw_grades(manifest["counts"]["by_grade"], names)
            if path == GRADES_PICTURE
            else draw_confusion(manifest["agreement"]["annotator_pairs"], names)
        )
        try:
            picture = (folder / path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            faults.append(ReleaseFault(path, "a readable text", type(error).__name__))
            continue
        expected, shown = _list_numbers(drawn), _list_numbers(picture)
        wrong = [pair for pair in zip(expected, shown, strict=False) if not _is_same(*pair)]
        if len(expected) != len(shown):
            faults.append(
                ReleaseFault(path, f"{len(expected):,} numbers as in {MANIFEST}", f"{len(shown):,}")
            )
        elif wrong:
            faults.append(ReleaseFault(path, f"{wrong[0][0]} as in {MANIFEST}", wrong[0][1]))
        elif picture != drawn:
            notes.append(f"{path} has the numbers of {MANIFEST}, but this program draws it differently")
    return faults, notes


def _list_numbers(picture: str) -> list[str]:
    texts = _TEXT.findall(_STYLE.sub("", picture))
    return [number for text in texts for number in _NUMBER.findall(text)]


def _is_same(expected: str, shown: str) -> bool:
    step = 0.11 if "." in expected and "." in shown else 0.0
    return abs(float(expected.replace(",", "")) - float(shown.replace(",", ""))) <= step
