"""Read a rubric from YAML: title, guideline (Markdown) and definitions of grades 0-3, in one or more languages.

The entries at the top are authoritative; `language` is their language. `translations` has the same entries
under the tag of each other language. Refuses, with the line: any grades except exactly 0-3 (also in a
translation), a grade without name or definition, an unknown language, translations without `language`, and
unsafe YAML (`formats/syntax/yaml_text.py`): tags, repeated keys, nesting deeper than 50, several documents.
"""

from pathlib import Path
from typing import Any

from annotator.domain.errors import ValidationError, refuse
from annotator.domain.grades import GRADES, GradeDefinition, Rubric
from annotator.domain.messages import LANGUAGES, say
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing
from annotator.formats.syntax.yaml_text import load_yaml

MAX_BYTES = 3_000_000
_KNOWN = f"{', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"


def read_rubric(data: bytes, path: str) -> Rubric:
    """Return the rubric of a YAML file's bytes. Raises BadInput with every missing or wrong entry."""
    if len(data) > MAX_BYTES:
        raise refuse(path, None, "a rubric of at most 3 MB", f"{len(data):,} bytes")
    tree = load_yaml(data, path)
    problems = TreeProblems(tree)
    if not isinstance(tree.value, dict):
        raise refuse(path, 1, "a mapping with 'grades'", type(tree.value).__name__)
    language = problems.optional_text(tree.value.get("language"), ("language",)) or ""
    _check_texts(tree.value, (), problems)
    translations = _check_translations(tree.value.get("translations"), language, problems)
    problems.raise_if_any()
    return _make_rubric(
        tree.value,
        language,
        tuple(_make_rubric(translations[tag], tag) for tag in LANGUAGES if tag in translations),
    )


def _check_translations(given: Any, language: str, problems: TreeProblems) -> dict[str, Any]:
    """Add the problems of the languages and translations. Return {tag: translation}."""
    translations = {} if is_nothing(given) else problems.mapping(given, ("translations",))
    if language and language not in LANGUAGES:
        problems.add(("language",), _KNOWN, language)
    if translations and not language:
        problems.add(
            ("language",), f"{_KNOWN}, since there are translations: of the entries at the top", None
        )
    for tag, texts in translations.items():
        location = ("translations", tag)
        if tag not in LANGUAGES:
            problems.add(("translations", tag), f"under the tag of a language: {_KNOWN}", tag)
        elif tag == language:
            problems.add(location, "another language than that of the entries at the top", tag)
        elif isinstance(texts, dict) and "translations" in texts:
            problems.add((*location, "translations"), "only at the top of the file", texts["translations"])
        _check_texts(problems.mapping(texts, location), location, problems)
    return translations


def _check_texts(entries: dict[str, Any], location: Location, problems: TreeProblems) -> None:
    """Add the problems of grades, guideline and title in one language."""
    before = len(problems.errors)
    grades = problems.list(entries.get("grades"), (*location, "grades"))
    for index, entry in enumerate(grades):
        _check_entry(entry, (*location, "grades", index), problems)
    for name in ("guideline", "title"):
        problems.optional_text(entries.get(name), (*location, name))
    numbers = [
        problems.grade(entry.get("grade"), (*location, "grades", index, "grade"))
        for index, entry in enumerate(grades)
        if isinstance(entry, dict)
    ]
    whole = sorted(number for number in numbers if number is not None) == list(GRADES)
    if len(problems.errors) == before and not whole:
        problems.add((*location, "grades"), "the grades 0, 1, 2, 3 once each", str(numbers))


def _make_rubric(entries: dict[str, Any], language: str, translations: tuple[Rubric, ...] = ()) -> Rubric:
    title, guideline = (
        "" if is_nothing(entries.get(name)) else str(entries[name]) for name in ("title", "guideline")
    )
    return Rubric(
        grades=tuple(
            _definition(entry) for entry in sorted(entries["grades"], key=lambda entry: int(entry["grade"]))
        ),
        guideline=guideline,
        title=title,
        language=language,
        translations=translations,
    )


def _check_entry(entry: Any, location: Location, problems: TreeProblems) -> None:
    entry = problems.mapping(entry, location)
    for key in ("name", "definition") if entry else ():
        if not problems.text(entry.get(key), (*location, key)).strip() and not problems:
            problems.add((*location, key), "a text that is not empty", entry.get(key))
    for key in ("positive_examples", "negative_examples"):
        given = entry.get(key)
        for index, example in enumerate([] if is_nothing(given) else problems.list(given, (*location, key))):
            problems.text(example, (*location, key, index))


def _definition(entry: dict[str, Any]) -> GradeDefinition:
    return GradeDefinition(
        grade=int(entry["grade"]),
        name=str(entry["name"]).strip(),
        definition=str(entry["definition"]).strip(),
        positive_examples=_list_examples(entry.get("positive_examples")),
        negative_examples=_list_examples(entry.get("negative_examples")),
    )


def _list_examples(given: Any) -> tuple[str, ...]:
    return () if is_nothing(given) else tuple(str(example) for example in given)


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
