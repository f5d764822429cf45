"""The audit log of the installation: read, verified and freed of personal data. `storage/logs/audit_entries.py` writes it."""
