"""Read and verify the audit log, and remove personal data from it. `storage/logs/audit_log.py` writes it."""
