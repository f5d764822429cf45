"""Append-only records: the audit log, the activity log, imports, and disclosures."""
