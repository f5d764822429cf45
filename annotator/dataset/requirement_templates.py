"""Names of the coverage requirements that come with the program.

In a module of its own, because most commands and pages need the names only, without the file readers.
"""

TEMPLATES: tuple[str, ...] = ("nablarch", "law")
