"""Gates, build, manifest, publish."""
