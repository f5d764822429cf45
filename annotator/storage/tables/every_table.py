"""Every table of the database: importing this module defines them all, for code that copies, migrates or
exports everything."""

from annotator.storage.tables import adjudication, audit, central, labeling, pooling, releases, sign_in

TABLES = (central, sign_in, labeling, adjudication, releases, pooling, audit)
"""The modules that define them."""
