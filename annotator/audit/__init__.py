"""The audit log of the installation: read, verified and freed of personal data. `storage/audit_entries.py` writes it."""
