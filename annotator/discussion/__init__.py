"""What annotators do about a dispute: discuss it before a lead decides, read what was decided, object once."""
