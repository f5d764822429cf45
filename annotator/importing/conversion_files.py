"""Where a conversion is to go: which format a name means, and whether something may be written there.

Comes first, before anything is read. A format is taken from the name only where it can mean one alone:
`qrels.trec.txt`, `law-compact.json`, `x.jsonl`; `x.json` could be three. Refused: what is there already (unless
it is to be overwritten, and then never a folder that is no BEIR folder), a place that is no folder.
"""

import os
from pathlib import Path

from annotator.domain.errors import ConflictError, ValidationError
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, find_format, list_formats

FOLDER_FORMAT = "beir"
_BEIR_NAMES = frozenset({"queries.jsonl", "corpus.jsonl", "qrels"})


def choose_format(target: str, name: str | None) -> Format:
    """The format that is named, else the one that the target's name means. ValidationError asks for `--to`."""
    if name is not None:
        return find_format(name)
    if target.endswith(("/", os.sep)) or Path(target).is_dir():
        return find_format(FOLDER_FORMAT)
    file = Path(target).name
    named = [known for known in FORMATS if known.name == file.split(".")[0]]
    if named:
        return named[0]
    likely = [known for known in FORMATS if file.lower().endswith(known.suffixes) and not is_folder(known)]
    if len(likely) == 1:
        return likely[0]
    names = ", ".join(known.name for known in likely or FORMATS)
    raise ValidationError(
        f"{target}: the name does not say which format to write; say --to, one of: {names}\n"
        f"{list_formats(likely or FORMATS)}"
    )


def is_folder(known: Format) -> bool:
    """Whether the format is a folder of files."""
    return any(writer.path for writer in known.files)


def check_target(target: Path, known: Format, *, overwrite: bool) -> None:
    """Refuse what must not be written over: ConflictError; a place where nothing can be: ValidationError."""
    if not target.absolute().parent.is_dir():
        raise ValidationError(f"{target}: expected its folder to be there, found none: {target.parent}")
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise ConflictError(f"{target} is there already; say --overwrite, or choose another name")
    if is_folder(known):
        _check_folder(target, known)
    elif not target.is_file():
        raise ValidationError(
            f"{target}: expected a file to write {known.name} over, found a folder or something else"
        )


def _check_folder(target: Path, known: Format) -> None:
    if target.is_symlink() or not target.is_dir():
        raise ValidationError(f"{target}: expected a folder to write {known.name} over, found something else")
    others = sorted({path.name for path in target.iterdir()} - _BEIR_NAMES)
    if others:
        raise ValidationError(
            f"{target}: expected a folder with nothing but {known.name} in it, found {others[0]} too; "
            "nothing is overwritten"
        )
