"""Write the files of a format at once, and the table of formats, to compare them in tests."""

from annotator.domain.ground_truth import GroundTruth
from annotator.formats.format import Format
from annotator.formats.registry import FORMATS, write_pieces


def write_files(file_format: Format, truth: GroundTruth, *, list_grade_0: bool = False) -> dict[str, bytes]:
    """Return {path: text} of the format's files; the path is "" for a single file. For small data."""
    texts: dict[str, list[str]] = {writer.path: [] for writer in file_format.files}
    for path, piece in write_pieces(file_format, truth, list_grade_0=list_grade_0):
        texts[path].append(piece)
    return {path: "".join(pieces).encode("utf-8") for path, pieces in texts.items()}


def write_table() -> str:
    """Return the table of formats in Markdown, as in docs/files.md."""
    lines = ["| format | what it is | suffixes | holds | cannot hold |", "|---|---|---|---|---|"]
    for file_format in FORMATS:
        cells = (
            f"`{file_format.name}`",
            file_format.about,
            " ".join(f"`{suffix}`" for suffix in file_format.suffixes),
            ", ".join(file_format.holds),
            ", ".join(file_format.cannot_hold) or "–",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
