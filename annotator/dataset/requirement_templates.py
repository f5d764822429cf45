"""Name the ready requirements on what a dataset must cover; `coverage_service.read_requirements` reads them.

Apart from the readers of files: most commands and pages know these names only.
"""

TEMPLATES: tuple[str, ...] = ("nablarch", "law")
