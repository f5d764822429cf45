"""The trail: what leads did, record by record, and the story of each pair."""
