"""Draw the page Audit log, and send the log as a file; for admins of every dataset."""
