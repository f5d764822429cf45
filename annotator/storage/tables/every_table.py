"""Import every table, for code that copies, migrates or exports the whole database."""

from annotator.storage.tables import adjudication, audit, central, labeling, pooling, releases, sign_in

TABLES = (central, sign_in, labeling, adjudication, releases, pooling, audit)
"""The modules that define them."""
