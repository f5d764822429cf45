"""A dataset as a whole: settings, rubric file and required coverage."""
