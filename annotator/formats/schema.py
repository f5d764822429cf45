"""The JSON Schemas (draft 2020-12) of the formats that are JSON or YAML, as they ship with the program.

A schema says what a file must look like; its reader says the rest (ids given once). For a format of lines the
schema is that of one line. YAML is held to its schema after unquoted numbers and null were read as those.
"""

import json
from importlib.resources import files
from typing import Any

from annotator.domain.errors import NotFound

SUFFIX = ".schema.json"


def list_schemas() -> list[str]:
    """The file names of all schemas, sorted."""
    folder = files("annotator.formats") / "schemas"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(SUFFIX))


def read_schema(name: str) -> dict[str, Any]:
    """A schema by its file name, for instance `law.schema.json`. NotFound lists the ones there are."""
    known = list_schemas()
    if name not in known:
        raise NotFound(f"no schema named {name!r}; there are: {', '.join(known)}")
    schema: dict[str, Any] = json.loads((files("annotator.formats") / "schemas" / name).read_text("utf-8"))
    return schema
