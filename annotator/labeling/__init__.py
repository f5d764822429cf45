"""Which pair comes next, submitted judgments, assignment, calibration, questions and one's own work."""
