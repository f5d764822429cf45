"""What is only ever added to: the audit log, the activity log, imports, and who has seen what."""
