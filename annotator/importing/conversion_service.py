"""One evaluator's file into another's, without a database: read, say what the target cannot hold, write.

Stands beside the walk. Two steps, so that a caller can say every loss before anything is written. Refused: a
conversion whose file would be wrong rather than smaller, and writing over what is there unless asked to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import GroundTruth
from annotator.formats.format import Format
from annotator.formats.losses import Loss, find_losses, list_wrong
from annotator.formats.registry import detect_format, find_format, read_truth, write_pieces
from annotator.formats.repeated_texts import list_repeated_texts, say_repeated_texts
from annotator.formats.source import Source
from annotator.formats.stated_counts import say_wrong_counts
from annotator.importing.conversion_files import check_target, choose_format
from annotator.importing.output import WrittenFile as WrittenFile
from annotator.importing.output import write_target
from annotator.importing.texts import read_query_file, supply_texts

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion that was read and not yet written. `losses`: what the target cannot hold, wrong ones first.

    `mapped_grades`: how often each value of `--map-grades` stands in the source. `notes`: what was mapped, counts that the source states wrongly, and what `--queries` did not fit. `can_be_written`: whether no loss is wrong.
    """

    source: str
    source_format: Format
    target: Path
    target_format: Format
    truth: GroundTruth
    losses: tuple[Loss, ...]
    notes: tuple[str, ...]
    list_grade_0: bool
    mapped_grades: Mapping[str, int] | None = None

    @property
    def can_be_written(self) -> bool:
        return not list_wrong(self.losses)


def prepare_conversion(
    source: Source,
    target: str,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    queries: Source | None = None,
    grades_by: str | None = None,
    list_grade_0: bool = False,
    overwrite: bool = False,
    tell: Tell = lambda _: None,
) -> Conversion:
    """Read the source, and find what the target's format cannot hold of it. Nothing is written.

    `queries`: a file with the queries' texts and fields, for a source that has ids only. `tell`: is told each step.
    BadInput with every bad place; ValidationError when a format has to be named; ConflictError when the target is
    there and not to be overwritten.
    """
    place = Path(target)
    wanted = choose_format(target, target_format)
    check_target(place, wanted, overwrite=overwrite)
    known = detect_format(source) if source_format is None else find_format(source_format)
    tell(f"reading {source.path} as {known.name}")
    _, truth = read_truth(source, format_name=known.name, grades_by=grades_by)
    mapped = source.scale.figures
    repeated = say_repeated_texts(source.path, list_repeated_texts(known, truth))
    notes = (*source.scale.note_mapped(), *say_wrong_counts(truth.wrong_counts), *repeated)
    if queries is not None:
        by_text = "query_ids" not in known.features
        truth, unfit = supply_texts(truth, read_query_file(queries), by_text=by_text)
        notes = (*notes, *unfit)
    tell(f"looking for what {wanted.name} cannot hold")
    losses = find_losses(truth, wanted, list_grade_0=list_grade_0)
    return Conversion(source.path, known, place, wanted, truth, losses, notes, list_grade_0, mapped or None)


def write_conversion(conversion: Conversion, *, tell: Tell = lambda _: None) -> tuple[WrittenFile, ...]:
    """Write what was prepared, all of it or nothing. ValidationError with every loss that would be wrong."""
    wrong = list_wrong(conversion.losses)
    if wrong:
        said = "\n".join(f"- {loss.what}" for loss in wrong)
        raise ValidationError(
            f"{conversion.target} would be wrong as {conversion.target_format.name}; nothing was written:\n{said}"
        )
    tell(f"writing {conversion.target} as {conversion.target_format.name}")
    pieces = write_pieces(conversion.target_format, conversion.truth, list_grade_0=conversion.list_grade_0)
    return write_target(conversion.target, pieces, tell=tell)
