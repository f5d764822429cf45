"""List the grade templates for new datasets. Each is a rubric file in `grade_templates/`."""

from pathlib import Path

from annotator.dataset.rubric_file import read_rubric
from annotator.domain.errors import ValidationError
from annotator.domain.grades import Rubric
from annotator.domain.messages import say

GENERAL = "general"
GRADE_TEMPLATES: tuple[str, ...] = (GENERAL, "nablarch", "law")
_FOLDER = Path(__file__).parent / "grade_templates"


def read_grade_template(name: str) -> Rubric:
    """Return a template's grades and guideline in every language of the pages. English is authoritative.

    Raises ValidationError with the known names.
    """
    if name not in GRADE_TEMPLATES:
        names = ", ".join(GRADE_TEMPLATES)
        raise ValidationError(say("no grades named {name!r}; there are: {names}", name=name, names=names))
    path = _FOLDER / f"{name}.yaml"
    return read_rubric(path.read_bytes(), path.name)
