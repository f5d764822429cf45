"""Gates, build, verify and diff of releases, and what is published."""
