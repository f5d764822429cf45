"""The installation as a whole: backup, restore, moving to another database, and what an upgrade would do."""
