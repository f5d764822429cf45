"""Hand out pairs and store judgments: next pairs, submission, assignment, calibration, questions and one's own work."""
