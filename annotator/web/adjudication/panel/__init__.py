"""The decision panel: one dispute after the other before a lead."""
