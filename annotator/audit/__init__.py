"""Read and verify the audit log, and remove personal data from it. `storage/logs/audit_entries.py` writes it."""
